//===- SetTarget.cpp - pa-set-target -----------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/TargetInfo.h"
#include "PagedAttn/Transforms/Passes.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PASETTARGET
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

/// The fp8 flavour of an operand is the chip's: bytes of the other flavour mean
/// half or twice the value, and are never reinterpreted.
static LogicalResult checkFp8(Operation *op, StringRef name, Value value,
                              const TargetInfo &target) {
  Type found = cast<ShapedType>(value.getType()).getElementType();
  if (!isa<Float8E4M3FNType, Float8E4M3FNUZType>(found))
    return success();
  Type wanted = target.isFp8Fnuz
                    ? Type(Float8E4M3FNUZType::get(op->getContext()))
                    : Type(Float8E4M3FNType::get(op->getContext()));
  if (found == wanted)
    return success();
  return op->emitOpError() << name << " must be " << wanted << " on "
                           << target.getName() << ", found " << found;
}

static LogicalResult checkLogits(Operation *op, const LogitsOperands &in,
                                 const TargetInfo &target) {
  if (failed(checkFp8(op, "q", in.q, target)) ||
      failed(checkFp8(op, "keys", in.keys, target)))
    return failure();
  if (in.format == KeyFormat::mxfp4 && !target.hasScaledMma)
    return op->emitOpError()
           << "format mxfp4 needs a scaled matrix instruction, which "
           << target.getName() << " has not";
  return success();
}

/// A chip of e4m3fnuz converts e4m3fn to what its matrix unit has; the others
/// have no use for e4m3fnuz.
static LogicalResult checkGemm(GroupedGemmOp op, const TargetInfo &target) {
  if (target.isFp8Fnuz)
    return success();
  return success(succeeded(checkFp8(op, "a", op.getA(), target)) &&
                 succeeded(checkFp8(op, "b", op.getB(), target)));
}

namespace {
struct SetTargetPass : public pa::impl::PASetTargetBase<SetTargetPass> {
  using PASetTargetBase::PASetTargetBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    if (chip.empty()) {
      root->emitError() << "pa-set-target needs chip=, known chips are "
                        << TargetInfo::knownChips();
      return signalPassFailure();
    }
    auto emitError = [&] { return root->emitError(); };
    TargetAttr target = TargetAttr::getChecked(
        emitError, &getContext(), StringRef(chip), numCus.getValue());
    if (!target)
      return signalPassFailure();
    const TargetInfo &info = *TargetInfo::lookup(target.getChip());
    root->setAttr(PADialect::kTargetAttrName, target);
    WalkResult result = root->walk([&](Operation *op) {
      LogicalResult isLegal = success();
      if (auto logits = dyn_cast<PagedLogitsOp>(op))
        isLegal = checkLogits(op, logits.getLogitsOperands(), info);
      else if (auto indexer = dyn_cast<IndexerOp>(op))
        isLegal = checkLogits(op, indexer.getLogitsOperands(), info);
      else if (auto gemm = dyn_cast<GroupedGemmOp>(op))
        isLegal = checkGemm(gemm, info);
      return failed(isLegal) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
