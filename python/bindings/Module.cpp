//===- Module.cpp - The Python module _pagedattn --------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The package in python/pagedattn is its only user: arguments are checked
// there, so that errors name what the user wrote.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

PYBIND11_MODULE(_pagedattn, module) {
  module.doc() = "compiler and emulator of PagedAttn, in process";
  pagedattn::python::bindCompiler(module);
  pagedattn::python::bindEmulator(module);
}
