//===- MmaLayout.h - Where a lane holds which element -----------*- C++ -*-===//
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

/// A factor of the product.
enum class MmaOperand { a, b };

/// One operand of a matrix instruction; rows are those of A or of B^T.
struct MmaOperandInfo {
  /// fp8, fp4, bf16 or f16.
  StringRef format;
  /// Rows of the tile: M for A, N for B.
  int64_t rows;
  /// Lanes with consecutive rows.
  int64_t rowLanes;
  /// Consecutive values of K in a lane before it is the next lane group's turn.
  int64_t kBlock;
  /// Elements that a lane holds, over all of its rows.
  int64_t perLane;
};

/// A matrix instruction, as MmaIntrinsics.td describes it: it multiplies an
/// M x K tile of A by a K x N tile of B into M x N f32 accumulators.
struct MmaInfo {
  MmaId id;           ///< the name in the dialect
  StringRef mnemonic; ///< as in assembly, without suffixes
  /// Upstream op family: mfma, scaled_mfma, wmma, scaled_wmma.
  StringRef family;
  int64_t waveSize; ///< lanes that take part
  int64_t m;        ///< rows of A and of the accumulators
  int64_t n;        ///< rows of B^T, columns of the accumulators
  int64_t k;        ///< columns of A and of B^T
  /// fp8, fp4, bf16 or f16.
  StringRef aFormat;
  /// Likewise.
  StringRef bFormat;
  /// fp8 is e4m3fnuz instead of e4m3fn.
  bool isFnuz;
  /// Cycles that the matrix unit of one SIMD is busy with it.
  int64_t cycles;
  /// The K positions are those of the operation. Where false, only that A and B
  /// agree is known, which is all that the product depends on.
  bool isKOrderPhysical;
  /// Consecutive rows of accumulators in a lane.
  int64_t accRowBlock;
  /// E8M0 codes that a lane gives for each operand; 0 without scales.
  int64_t scalesPerLane;
  MmaOperandInfo a; ///< how lanes hold A
  MmaOperandInfo b; ///< how lanes hold B^T

  /// Takes an E8M0 scale for each block of K.
  bool isScaled() const { return scalesPerLane != 0; }
  /// The layout of `operand`.
  const MmaOperandInfo &get(MmaOperand operand) const {
    return operand == MmaOperand::a ? a : b;
  }
  /// Lanes that give scales for `operand`, from the first selected lane on.
  int64_t getScaleLanes(MmaOperand operand) const {
    return isScaled() ? get(operand).rows * (k / kScaleBlock) / scalesPerLane
                      : 0;
  }
  /// Values of K that one scale serves.
  static constexpr int64_t kScaleBlock = 32;

  /// Lane groups: lanes with the same row of A (column of B).
  int64_t getGroups() const { return waveSize / n; }
  /// Elements of one operand row that a lane holds.
  int64_t getKPerLane() const { return k / getGroups(); }
  /// Accumulators of a lane.
  int64_t getAccPerLane() const { return m * n / waveSize; }
  /// Operations of one SIMD in a cycle, a multiplication and an addition being
  /// two.
  double getFlopsPerCycle() const {
    return 2.0 * static_cast<double>(m * n * k) / static_cast<double>(cycles);
  }
};

/// The row of the table for `id`.
const MmaInfo &getMmaInfo(MmaId id);

/// What a lane holds of the tile: types of pa.mma's operands. fp4 fragments are
/// vectors of f4E2M1FN, as upstream's ops take them; bitcast the packed bytes.
struct FragmentTypes {
  VectorType a;   ///< `MmaOperandInfo::perLane` elements of A
  VectorType b;   ///< the same of B^T
  VectorType acc; ///< `MmaInfo::getAccPerLane` f32
};
/// The types for one instruction.
FragmentTypes getFragmentTypes(MLIRContext *context, MmaId id);

/// A position in a tile: row and column of A, B^T (both with K as column) or of
/// the accumulator.
struct TilePosition {
  int64_t row;    ///< from 0
  int64_t column; ///< from 0
};

/// Row of A (or column of B) and K index of element `element` of `lane`.
TilePosition getOperandPosition(MmaId id, int64_t lane, int64_t element,
                                MmaOperand operand = MmaOperand::a);

/// Row and column of accumulator `element` of `lane`.
TilePosition getAccPosition(MmaId id, int64_t lane, int64_t element);

/// Row of A (or column of B) and block of 32 K values that the E8M0 code `code`
/// of `lane` scales. The lane counts from the first that gives scales.
TilePosition getScalePosition(MmaId id, int64_t lane, int64_t code,
                              MmaOperand operand);

} // namespace mlir::pa

#endif // PAGEDATTN_TARGET_MMALAYOUT_H
