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
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
    if (!op.getUniform() && !op.getOpaque()) {
      rewriter.replaceOp(op, op.getValue());
      return success();
    }
    Location loc = op.getLoc();
    Value value = op.getValue();
    Type type = value.getType();
    // A lane's value is one vector register.
    const bool isNarrowed = !op.getUniform() && !type.isInteger(32);
    Type registers = isNarrowed || type.isInteger(32) ? rewriter.getI32Type()
                                                      : rewriter.getI64Type();
    auto convert = [&](Value from, Type to) -> Value {
      if (from.getType() == to)
        return from;
      if (from.getType().isIndex() || to.isIndex())
        return arith::IndexCastUIOp::create(rewriter, loc, to, from);
      if (to.isInteger(32))
        return arith::TruncIOp::create(rewriter, loc, to, from);
      return arith::ExtUIOp::create(rewriter, loc, to, from);
    };
    value = convert(value, registers);
    if (!op.getUniform())
      value = hideVector(rewriter, loc, value);
    else if (op.getOpaque())
      value = hideScalar(rewriter, loc, value);
    else
      value =
          ROCDL::ReadfirstlaneOp::create(rewriter, loc, value.getType(), value);
    rewriter.replaceOp(op, convert(value, type));
    return success();
  }

private:
  /// `value`, from a scalar register to the same register.
  static Value hideScalar(OpBuilder &b, Location loc, Value value) {
    return LLVM::InlineAsmOp::create(
               b, loc, TypeRange{value.getType()}, ValueRange{value}, "",
               "=s,0", /*has_side_effects=*/false,
               /*is_align_stack=*/false, LLVM::TailCallKind::None,
               LLVM::AsmDialectAttr::get(b.getContext(),
                                         LLVM::AsmDialect::AD_ATT),
               /*operand_attrs=*/ArrayAttr())
        .getRes();
  }

  /// The same for a vector register. Of those an inline asm takes the first 256
  /// only, which gfx1250 is short of: it spilled 26 registers. What a shader
  /// would take for the end of a whole quad mode is a copy here, which no pass
  /// looks through.
  static Value hideVector(OpBuilder &b, Location loc, Value value) {
    return LLVM::CallIntrinsicOp::create(b, loc, value.getType(),
                                         b.getStringAttr("llvm.amdgcn.softwqm"),
                                         ValueRange{value})
        .getResult(0);
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
