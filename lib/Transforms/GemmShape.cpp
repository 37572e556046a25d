//===- GemmShape.cpp - How a grouped GEMM lies on a wave ------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmShape.h"

using namespace mlir;
using namespace mlir::pa;

static StringRef getFormat(GroupedGemmOp op, bool isFp4) {
  if (op.getFormat() == GemmFormat::bf16)
    return "bf16";
  if (op.getFormat() == GemmFormat::f16)
    return "f16";
  return isFp4 ? "fp4" : "fp8";
}

static bool hasFnuz(GroupedGemmOp op) {
  return llvm::any_of(ValueRange{op.getA(), op.getB()}, [](Value value) {
    return isa<Float8E4M3FNUZType>(
        cast<ShapedType>(value.getType()).getElementType());
  });
}

/// fp8 and mxfp4 data that the matrix unit does not take fit its bf16 exactly.
static bool isConvertible(GroupedGemmOp op, const TargetInfo &target) {
  bool isNarrow =
      op.getFormat() != GemmFormat::bf16 && op.getFormat() != GemmFormat::f16;
  bool isForeign =
      op.hasFp4B() ? !target.hasScaledMma : hasFnuz(op) != target.isFp8Fnuz;
  return isNarrow && isForeign;
}

bool GemmShape::fits(GroupedGemmOp op, const MmaInfo &mma,
                     const TargetInfo &target) {
  if (!target.hasMma(mma.id) || mma.n != kRows ||
      (mma.m != kRows && mma.accRowBlock == mma.getAccPerLane()))
    return false;
  bool isConverted = isConvertible(op, target);
  StringRef formatA = isConverted ? "bf16" : getFormat(op, op.hasFp4A());
  StringRef formatB = isConverted ? "bf16" : getFormat(op, op.hasFp4B());
  if (mma.bFormat != formatA || mma.aFormat != formatB)
    return false;
  if (!isConverted && mma.isFnuz != hasFnuz(op))
    return false;
  bool wantsScales = isE8M0(op.getAScale()) || isE8M0(op.getBScale());
  if (wantsScales && target.hasScaledMma && !mma.isScaled())
    return false;
  GemmShape shape(op, mma, target);
  return shape.chunk % mma.k == 0 &&
         (shape.segment == 0 || shape.segment % mma.k == 0);
}

std::optional<MmaId> GemmShape::selectMma(GroupedGemmOp op,
                                          const TargetInfo &target) {
  bool wantsScales = isE8M0(op.getAScale()) || isE8M0(op.getBScale());
  std::optional<MmaId> found;
  for (MmaId id : target.getMmas()) {
    const MmaInfo &mma = getMmaInfo(id);
    if (!fits(op, mma, target))
      continue;
    // One with scales will do where none are wanted: neutral ones.
    if (mma.isScaled() == (wantsScales && target.hasScaledMma))
      return id;
    if (!found)
      found = id;
  }
  return found;
}

GemmStages::GemmStages(GroupedGemmOp op, const GemmShape &shape,
                       GemmConfigAttr config, const TargetInfo &target) {
  const int64_t waves = config.getWavesM() * config.getWavesN();
  chunks = config.getTileK() / shape.chunk;
  bytes = 0;
  auto place = [&](const GemmOperand &operand, int64_t tile, bool isShuffled,
                   bool canUseDma, bool isOwn) {
    Operand staged;
    staged.operand = &operand;
    staged.isShuffled = isShuffled;
    staged.blocks = tile / GemmShape::kRows;
    staged.chunkBytes = shape.chunk * operand.bits / 8;
    staged.chunks = chunks;
    staged.firstByte = bytes;
    if (isOwn) {
      staged.way = Way::lanes;
    } else if (target.hasTensorDma && canUseDma) {
      staged.way = Way::dma;
      staged.share = llvm::divideCeil(isShuffled ? staged.blocks : tile, waves);
      staged.bytes = staged.share * waves *
                     (isShuffled ? GemmShape::kRows * chunks * staged.chunkBytes
                                 : staged.getRowPitch());
    } else {
      staged.way = target.canLoadToLds(operand.getRunBytes()) ? Way::direct
                                                              : Way::registers;
      staged.bytes = chunks * staged.blocks * operand.runs * shape.lanes *
                     operand.getRunBytes();
    }
    bytes += staged.bytes;
    return staged;
  };
  // Rows that are gathered are no tensor.
  rows = place(shape.a, config.getTileM(), /*isShuffled=*/false,
               /*canUseDma=*/!op.getRowIds(), /*isOwn=*/false);
  weights = place(shape.b, config.getTileN(),
                  op.getWeightLayout() == WeightLayout::shuffled_16x16,
                  /*canUseDma=*/true, /*isOwn=*/config.getWavesM() == 1);
}

int64_t mlir::pa::getGemmLdsBytes(GroupedGemmOp op, const GemmShape &shape,
                                  GemmConfigAttr config,
                                  const TargetInfo &target) {
  if (config.getStages() > 0)
    return GemmStages::kStages * GemmStages(op, shape, config, target).bytes;
  return (config.getWavesK() - 1) * config.getTileM() * config.getTileN() * 4;
}
