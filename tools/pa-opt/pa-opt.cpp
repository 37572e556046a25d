//===- pa-opt.cpp - The optimizer driver ----------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/InitAll.h"
#include "TestPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::pa::registerAll(registry);
  mlir::pa::registerTestUniformityPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "PagedAttn optimizer driver\n", registry));
}
