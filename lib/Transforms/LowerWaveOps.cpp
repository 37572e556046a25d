//===- LowerWaveOps.cpp - pa-lower-wave-ops ----------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerWaveOps.h"
#include "PagedAttn/Transforms/Passes.h"
#include "TileOps.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PALOWERWAVEOPS
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {

struct LowerAssume : public OpRewritePattern<AssumeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AssumeOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getUniform()) {
      rewriter.replaceOp(op, op.getValue());
      return success();
    }
    Location loc = op.getLoc();
    Value value = op.getValue();
    Type type = value.getType();
    Type i64 = rewriter.getI64Type();
    if (type.isIndex())
      value = arith::IndexCastOp::create(rewriter, loc, i64, value);
    Value first =
        ROCDL::ReadfirstlaneOp::create(rewriter, loc, value.getType(), value);
    if (type.isIndex())
      first = arith::IndexCastOp::create(rewriter, loc, type, first);
    rewriter.replaceOp(op, first);
    return success();
  }
};

struct LowerWaveOpsPass
    : public pa::impl::PALowerWaveOpsBase<LowerWaveOpsPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTargetOrError(getOperation());
    if (!target)
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateLowerMmaPatterns(patterns, *target);
    populateLowerGroupSumPatterns(patterns, *target);
    populateLowerAssumePatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    // A pattern that refused has said why.
    WalkResult result = getOperation()->walk([](Operation *op) {
      return isa<MmaOp, GroupSumOp, AssumeOp>(op) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

void mlir::pa::populateLowerAssumePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAssume>(patterns.getContext());
}
