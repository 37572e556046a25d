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
    const MmaInfo &mma = getMmaInfo(op.getKind());
    if (!target.hasMma(op.getKind()))
      return op.emitOpError() << target.getName() << " has no instruction "
                              << stringifyMmaId(op.getKind());
    Type type = op.getAcc().getType();
    Value a = op.getA(), b = op.getB(), acc = op.getAcc();
    auto i32 = [&](int64_t value) {
      return rewriter.getI32IntegerAttr(static_cast<int32_t>(value));
    };
    IntegerAttr m = i32(mma.m), n = i32(mma.n), k = i32(mma.k);
    if (mma.family == "mfma") {
      rewriter.replaceOpWithNewOp<amdgpu::MFMAOp>(op, type, m, n, k,
                                                  /*blocks=*/i32(1), a, b, acc);
      return success();
    }
    if (mma.family == "scaled_mfma") {
      rewriter.replaceOpWithNewOp<amdgpu::ScaledMFMAOp>(
          op, type, m, n, k, a, b, acc, op.getAScales(), op.getBScales(),
          op.getASelectAttr(), op.getBSelectAttr());
      return success();
    }
    if (mma.family == "wmma") {
      rewriter.replaceOpWithNewOp<amdgpu::WMMAOp>(op, type, m, n, k, a, b, acc);
      return success();
    }
    if (mma.family == "scaled_wmma") {
      constexpr int64_t kHalf = 16;
      rewriter.replaceOpWithNewOp<amdgpu::ScaledWMMAOp>(
          op, type, m, n, k, a, b, acc, op.getAScales(),
          i32(op.getASelect() * kHalf), op.getBScales(),
          i32(op.getBSelect() * kHalf));
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
