//===- PagedAttnPlugin.cpp - The dialect and passes for mlir-opt ----------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded by a stock tool:
//   mlir-opt --load-dialect-plugin=PagedAttnPlugin.so
//            --load-pass-plugin=PagedAttnPlugin.so
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "PagedAttn", LLVM_VERSION_STRING,
      [](DialectRegistry *registry) { pa::registerAllDialects(*registry); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "PagedAttn", LLVM_VERSION_STRING,
          [] { pa::registerAllPasses(); }};
}
