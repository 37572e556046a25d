//===- Bindings.h - Parts of the Python module ------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_PYTHON_BINDINGS_H
#define PAGEDATTN_PYTHON_BINDINGS_H

#include <pybind11/pybind11.h>

namespace pagedattn::python {

void bindCompiler(pybind11::module_ &module);
void bindEmulator(pybind11::module_ &module);

} // namespace pagedattn::python

#endif // PAGEDATTN_PYTHON_BINDINGS_H
