//===- consumer.cpp - A compiler of its own with the pa dialect -----------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/InitAll.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::pa::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  module->walk([](mlir::pa::TopKOp op) {
    llvm::outs() << "selects " << op.getK() << " columns\n";
  });
  if (argc == 2)
    return 0;
  mlir::pa::LoweringOptions options;
  options.chip = argv[2];
  mlir::PassManager pm(&context);
  mlir::pa::buildLowerToBinaryPipeline(pm, options);
  if (failed(pm.run(*module)))
    return 1;
  for (auto binary : module->getOps<mlir::gpu::BinaryOp>())
    llvm::outs() << "code object " << binary.getName() << "\n";
  return 0;
}
