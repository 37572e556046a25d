//===- MmaLayout.h - Where a lane holds which element ----------------------*-
// C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TARGET_MMALAYOUT_H
#define PAGEDATTN_TARGET_MMALAYOUT_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

#include "PagedAttn/Target/MmaEnums.h.inc"

namespace mlir::pa {

/// A matrix instruction, as MmaIntrinsics.td describes it: it multiplies an
/// M x K tile of A by a K x N tile of B into M x N f32 accumulators.
struct MmaInfo {
  MmaId id;
  StringRef mnemonic;
  /// Upstream op family: mfma, scaled_mfma, wmma, scaled_wmma.
  StringRef family;
  int64_t waveSize, m, n, k;
  /// fp8, fp4, bf16 or f16.
  StringRef aFormat, bFormat;
  bool isFnuz;
  /// Cycles that the matrix unit of one SIMD is busy with it.
  int64_t cycles;

  /// Lane groups: lanes with the same row of A (column of B).
  int64_t getGroups() const { return waveSize / n; }
  /// Elements of one operand row that a lane holds.
  int64_t getKPerLane() const { return k / getGroups(); }
  /// Accumulators of a lane.
  int64_t getAccPerLane() const { return m * n / waveSize; }
};

/// The row of the table for `id`.
const MmaInfo &getMmaInfo(MmaId id);

/// What a lane holds of the tile: types of pa.mma's operands.
struct FragmentTypes {
  VectorType a, b, acc;
};
FragmentTypes getFragmentTypes(MLIRContext *context, MmaId id);

/// A position in a tile: row and column of A, B^T (both with K as column) or of
/// the accumulator.
struct TilePosition {
  int64_t row, column;
};

/// Row of A (or column of B) and K index of element `element` of `lane`.
TilePosition getOperandPosition(MmaId id, int64_t lane, int64_t element);

/// Row and column of accumulator `element` of `lane`.
TilePosition getAccPosition(MmaId id, int64_t lane, int64_t element);

} // namespace mlir::pa

#endif // PAGEDATTN_TARGET_MMALAYOUT_H
