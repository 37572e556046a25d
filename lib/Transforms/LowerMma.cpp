//===- LowerMma.cpp - pa.mma to the chip's instruction -----------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerWaveOps.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

using namespace mlir;
using namespace mlir::pa;

namespace {
struct LowerMma : public OpRewritePattern<MmaOp> {
  LowerMma(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(MmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(target.getMmas(), op.getKind()))
      return op.emitOpError() << target.getName() << " has no instruction "
                              << stringifyMmaId(op.getKind());
    const MmaInfo &mma = getMmaInfo(op.getKind());
    auto size = [&](int64_t value) {
      return rewriter.getI32IntegerAttr(static_cast<int32_t>(value));
    };
    if (mma.family == "mfma") {
      rewriter.replaceOpWithNewOp<amdgpu::MFMAOp>(
          op, op.getAcc().getType(), size(mma.m), size(mma.n), size(mma.k),
          /*blocks=*/size(1), op.getA(), op.getB(), op.getAcc());
      return success();
    }
    if (mma.family == "wmma") {
      rewriter.replaceOpWithNewOp<amdgpu::WMMAOp>(
          op, op.getAcc().getType(), size(mma.m), size(mma.n), size(mma.k),
          op.getA(), op.getB(), op.getAcc());
      return success();
    }
    return op.emitOpError() << "family " << mma.family << " has no lowering";
  }

  const TargetInfo &target;
};
} // namespace

void mlir::pa::populateLowerMmaPatterns(RewritePatternSet &patterns,
                                        const TargetInfo &target) {
  patterns.add<LowerMma>(patterns.getContext(), target);
}
