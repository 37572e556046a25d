//===- GemmShape.h - How a grouped GEMM lies on a wave ----------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_GEMMSHAPE_H
#define PAGEDATTN_LIB_TRANSFORMS_GEMMSHAPE_H

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"

namespace mlir::pa {

inline bool isE8M0(ScaleKind kind) {
  return kind == ScaleKind::e8m0_1x32 || kind == ScaleKind::e8m0_32x32;
}
/// Columns of K that one scale of `kind` serves.
inline int64_t getScaleColumns(ScaleKind kind, int64_t k) {
  if (isE8M0(kind))
    return 32;
  bool isBlock = kind == ScaleKind::f32_1x128 || kind == ScaleKind::f32_128x128;
  return isBlock ? 128 : k;
}
/// Rows of B that one scale of `kind` serves.
inline int64_t getScaleRows(ScaleKind kind) {
  if (kind == ScaleKind::e8m0_32x32)
    return 32;
  return kind == ScaleKind::f32_128x128 ? 128 : 1;
}

/// One operand in the lanes of a wave. A lane group g holds, of each of 16
/// rows, runs of consecutive elements of K: g, g + groups, ... of them in a
/// chunk.
struct GemmOperand {
  /// Bits of an element in memory; 4 for packed mxfp4.
  int64_t bits;
  /// Elements of a run, runs of a chunk in a lane.
  int64_t run, runs;

  int64_t getRunBytes() const { return run * bits / 8; }
  int64_t getRunWords() const { return getRunBytes() / 4; }
  /// Elements of the memref for so many of K.
  int64_t toColumns(int64_t elements) const {
    return bits == 4 ? elements / 2 : elements;
  }
};

/// Sizes of a `pa.grouped_gemm` on the waves of a workgroup. The weights are
/// the A operand of the matrix instruction, so that a lane has the results of
/// one output row and of consecutive columns: gate and up meet in one lane.
struct GemmShape {
  /// Rows of an operand that the lanes of one group hold.
  static constexpr int64_t kRows = 16;

  GemmShape(GroupedGemmOp op, const MmaInfo &mma, const TargetInfo &target)
      : lanes(target.waveSize), groups(lanes / kRows), k(op.getK()),
        n(op.getN()), accPerLane(mma.getAccPerLane()),
        blocksPerTile(mma.m / kRows) {
    int64_t aBits = getBits(op, op.hasFp4A());
    int64_t bBits = op.hasFp4B() ? 4 : aBits == 4 ? 8 : aBits;
    chunk = aBits == 16 ? 64 : 128;
    isConverted = aBits < 16 && (mma.aFormat == "bf16");
    hasMmaScales = mma.isScaled();
    fragments = chunk / mma.k;

    // What the matrix instruction cannot scale is scaled between sums of so
    // many elements of K.
    segment = 0;
    for (ScaleKind kind : {op.getAScale(), op.getBScale()}) {
      bool inMma = isE8M0(kind) && hasMmaScales;
      if (kind == ScaleKind::none || kind == ScaleKind::f32_row || inMma)
        continue;
      int64_t columns = getScaleColumns(kind, k);
      segment = segment == 0 ? columns : std::min(segment, columns);
    }

    int64_t aRun = getRun(mma.b, aBits), bRun = getRun(mma.a, bBits);
    // Where the instruction knows no blocks of K and both operands are alike,
    // only their agreement counts: 16 bytes serve several instructions.
    constexpr int64_t kRunBits = 128;
    if (!isConverted && !hasMmaScales && aBits == bBits && aRun == bRun &&
        segment % (groups * kRunBits / aBits) == 0)
      aRun = bRun = kRunBits / aBits;
    a = {aBits, aRun, chunk / (groups * aRun)};
    b = {bBits, bRun, chunk / (groups * bRun)};
  }

  /// The matrix instruction of a chip for an op, in its order of preference.
  static std::optional<MmaId> selectMma(GroupedGemmOp op,
                                        const TargetInfo &target);
  /// Whether the op can be computed with `mma`.
  static bool fits(GroupedGemmOp op, const MmaInfo &mma,
                   const TargetInfo &target);

  /// Elements that a row has to be a multiple of, so that every run of an
  /// operand is whole.
  int64_t getKUnit() const { return std::max(a.run, b.run); }
  int64_t getFullChunks() const { return k / chunk; }
  int64_t getTail() const { return k % chunk; }

  int64_t lanes, groups, k, n;
  int64_t accPerLane;
  /// Row blocks of the weights in one matrix tile.
  int64_t blocksPerTile;
  /// Elements of K that are loaded and multiplied together.
  int64_t chunk;
  /// The data are converted to the bf16 of the matrix instruction.
  bool isConverted;
  bool hasMmaScales;
  GemmOperand a, b;
  /// Matrix instructions of a chunk for one tile.
  int64_t fragments;
  /// Elements of K between scalings of the sums, 0 where there are none.
  int64_t segment;

private:
  static int64_t getBits(GroupedGemmOp op, bool isFp4) {
    if (op.getFormat() == GemmFormat::bf16 || op.getFormat() == GemmFormat::f16)
      return 16;
    return isFp4 ? 4 : 8;
  }
  int64_t getRun(const MmaOperandInfo &operand, int64_t bits) const {
    // A lane group has 8 elements of each block of 32 then, so that blocks can
    // be summed one by one.
    if (isConverted)
      return 8;
    return std::min<int64_t>(operand.kBlock, 128 / bits);
  }
};

/// How the tiles of a workgroup come to LDS, and where they lie in a stage.
struct GemmStages {
  /// One stage is multiplied while the other is filled.
  static constexpr int64_t kStages = 2;
  /// Bytes after each chunk of a row, against bank conflicts.
  static constexpr int64_t kPad = 16;

  enum class Way {
    /// One tensor copy of each wave. The rows of a linear operand lie one after
    /// another, shuffled blocks as in memory.
    dma,
    /// Loads that end in LDS, or pass through registers. Run by run, the bytes
    /// of all lanes: neither a copy nor a read meets a bank conflict.
    direct,
    registers,
    /// No way to LDS: every wave loads its own ones to registers. Weights that
    /// no other wave needs.
    lanes
  };
  struct Operand {
    const GemmOperand *operand;
    Way way;
    bool isShuffled;
    /// Blocks of 16 rows in a tile.
    int64_t blocks;
    /// Rows, or blocks of a shuffled operand, that one wave has of a tensor
    /// copy.
    int64_t share = 0;
    /// Bytes of a row of a chunk, chunks in a stage.
    int64_t chunkBytes, chunks;
    int64_t firstByte = 0, bytes = 0;

    int64_t getRowPitch() const { return chunks * (chunkBytes + kPad); }
  };

  GemmStages(GroupedGemmOp op, const GemmShape &shape, GemmConfigAttr config,
             const TargetInfo &target);

  /// Chunks of a step, bytes of one stage.
  int64_t chunks, bytes;
  Operand rows, weights;
};

/// Bytes of LDS of a workgroup: operands on their way, or the sums of waves
/// that share K.
int64_t getGemmLdsBytes(GroupedGemmOp op, const GemmShape &shape,
                        GemmConfigAttr config, const TargetInfo &target);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_GEMMSHAPE_H
