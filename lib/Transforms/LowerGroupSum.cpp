//===- LowerGroupSum.cpp - pa.group_sum to lane exchanges --------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerWaveOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

/// Sums x and y over lanes that differ in bit `distance` of their number: lanes
/// without the bit get the sum of x, lanes with it the sum of y. One exchange
/// serves both.
class PairSum {
public:
  PairSum(PatternRewriter &rewriter, Location loc, const TargetInfo &target)
      : b(loc, rewriter), target(target) {}

  Value get(Value x, Value y, int64_t distance) {
    auto [kept, received] = target.hasPermlaneSwap
                                ? exchangeBySwap(x, y, distance)
                                : exchangeByShuffle(x, y, distance);
    return b.create<arith::AddFOp>(kept, received);
  }

private:
  /// One instruction swaps the upper lanes of x with the lower lanes of y.
  std::pair<Value, Value> exchangeBySwap(Value x, Value y, int64_t distance) {
    Type i32 = b.getI32Type();
    auto toInt = [&](Value v) -> Value {
      return b.create<arith::BitcastOp>(i32, v);
    };
    auto pair = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32});
    Value swapped;
    if (distance == 32)
      swapped = b.create<ROCDL::Permlane32SwapOp>(pair, toInt(x), toInt(y),
                                                  false, false);
    else
      swapped = b.create<ROCDL::Permlane16SwapOp>(pair, toInt(x), toInt(y),
                                                  false, false);
    auto part = [&](int64_t i) -> Value {
      Value bits = b.create<LLVM::ExtractValueOp>(swapped, i);
      return b.create<arith::BitcastOp>(b.getF32Type(), bits);
    };
    return {part(0), part(1)};
  }

  std::pair<Value, Value> exchangeByShuffle(Value x, Value y,
                                            int64_t distance) {
    Value lane = b.create<gpu::LaneIdOp>(b.getIndexAttr(target.waveSize));
    Value bit = b.create<arith::AndIOp>(
        lane, b.create<arith::ConstantIndexOp>(distance));
    Value isUpper = b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne, bit, b.create<arith::ConstantIndexOp>(0));
    Value kept = b.create<arith::SelectOp>(isUpper, y, x);
    Value sent = b.create<arith::SelectOp>(isUpper, x, y);
    auto shuffle = b.create<gpu::ShuffleOp>(
        sent, static_cast<int32_t>(distance),
        static_cast<int32_t>(target.waveSize), gpu::ShuffleMode::XOR);
    return {kept, shuffle.getShuffleResult()};
  }

  ImplicitLocOpBuilder b;
  const TargetInfo &target;
};

struct LowerGroupSum : public OpRewritePattern<GroupSumOp> {
  LowerGroupSum(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(GroupSumOp op,
                                PatternRewriter &rewriter) const override {
    int64_t groups = target.waveSize / 16;
    auto values = op.getValues();
    if (static_cast<int64_t>(values.size()) != groups)
      return op.emitOpError()
             << "needs " << groups << " operands on " << target.getName()
             << ", found " << values.size();
    PairSum sum(rewriter, op.getLoc(), target);
    if (groups == 2) {
      rewriter.replaceOp(op, sum.get(values[0], values[1], 16));
      return success();
    }
    Value even = sum.get(values[0], values[2], 32);
    Value odd = sum.get(values[1], values[3], 32);
    rewriter.replaceOp(op, sum.get(even, odd, 16));
    return success();
  }

  const TargetInfo &target;
};

} // namespace

void mlir::pa::populateLowerGroupSumPatterns(RewritePatternSet &patterns,
                                             const TargetInfo &target) {
  patterns.add<LowerGroupSum>(patterns.getContext(), target);
}
