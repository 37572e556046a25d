//===- TestUniformity.cpp - test-pa-uniformity ----------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/GlobalAccess.h"
#include "PagedAttn/Analysis/Uniformity.h"
#include "TestPasses.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
/// Prints, for every op with a `tag`, which of its results and of the arguments
/// of its regions all lanes of a wave share.
struct TestUniformity
    : public PassWrapper<TestUniformity, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestUniformity)

  StringRef getArgument() const override { return "test-pa-uniformity"; }
  StringRef getDescription() const override {
    return "print the uniformity of ops with a tag";
  }

  void runOnOperation() override {
    for (FunctionOpInterface func : pa::getDeviceFunctions(getOperation())) {
      pa::UniformityAnalysis analysis(func);
      auto print = [&](ValueRange values) {
        for (Value value : values)
          llvm::outs() << (analysis.isUniform(value) ? " uniform"
                                                     : " divergent");
      };
      func.walk<WalkOrder::PreOrder>([&](Operation *op) {
        auto tag = op->getAttrOfType<StringAttr>("tag");
        if (!tag)
          return;
        llvm::outs() << tag.getValue() << ":";
        print(op->getResults());
        for (Region &region : op->getRegions()) {
          llvm::outs() << " |";
          for (Block &block : region)
            print(block.getArguments());
        }
        llvm::outs() << "\n";
      });
    }
  }
};
} // namespace

void pa::registerTestUniformityPass() { PassRegistration<TestUniformity>(); }
