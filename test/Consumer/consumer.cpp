//===- consumer.cpp - A compiler of its own with the pa dialect -----------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Dialect/PA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

int main(int, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::pa::PADialect>();
  mlir::pa::registerBufferizableOpInterfaceModels(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  module->walk([](mlir::pa::TopKOp op) {
    llvm::outs() << "selects " << op.getK() << " columns\n";
  });
  return 0;
}
