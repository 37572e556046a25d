//===- ConfigureGemm.cpp - Tiles of a grouped GEMM ------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmOutput.h"
#include "GemmShape.h"
#include "TileOps.h"

using namespace mlir;
using namespace mlir::pa;

/// Product columns that a wave must have together: those of a block of
/// requantised output.
static int64_t getColumnUnit(GroupedGemmOp op) {
  if (!op.getCScales())
    return 1;
  return op.getActivation() ? 2 * kOutputBlock : kOutputBlock;
}

static LogicalResult checkK(GroupedGemmOp op, const GemmShape &shape,
                            const TargetInfo &target) {
  if (shape.k % shape.getKUnit() == 0)
    return success();
  return op.emitOpError() << "K must be a multiple of " << shape.getKUnit()
                          << " for this format on " << target.getName()
                          << ", found " << shape.k;
}

static LogicalResult verifyHandConfig(GroupedGemmOp op,
                                      const TargetInfo &target) {
  GemmConfigAttr config = op.getConfigAttr();
  const MmaInfo &mma = getMmaInfo(config.getMma());
  if (!target.hasMma(config.getMma()))
    return op.emitOpError() << target.getName() << " has no matrix instruction "
                            << stringifyMmaId(config.getMma());
  if (!GemmShape::fits(op, mma, target))
    return op.emitOpError() << "mma must fit the formats and scales of the op, "
                               "found "
                            << stringifyMmaId(config.getMma());
  GemmShape shape(op, mma, target);
  if (failed(checkK(op, shape, target)))
    return failure();
  struct {
    StringRef name;
    int64_t tile, unit;
  } sizes[] = {
      {"tile_m", config.getTileM(), GemmShape::kRows * config.getWavesM()},
      {"tile_n", config.getTileN(),
       std::max(mma.m, getColumnUnit(op)) * config.getWavesN()},
      {"tile_k", config.getTileK(), shape.chunk}};
  for (auto &size : sizes)
    if (size.tile % size.unit != 0)
      return op.emitOpError() << size.name << " must be a multiple of "
                              << size.unit << ", found " << size.tile;
  const int64_t largest =
      std::max<int64_t>(1, llvm::divideCeil(shape.k, shape.chunk)) *
      shape.chunk;
  if (config.getTileK() > largest)
    return op.emitOpError()
           << "K = " << shape.k
           << " cannot be cut into tiles of tile_k = " << config.getTileK()
           << ", the largest legal tile_k "
           << "is " << largest;
  return success();
}

LogicalResult mlir::pa::configureGroupedGemm(GroupedGemmOp op,
                                             const TargetInfo &target) {
  if (op.getConfigAttr())
    return verifyHandConfig(op, target);
  std::optional<MmaId> id = GemmShape::selectMma(op, target);
  if (!id)
    return op.emitOpError()
           << target.getName() << " has no matrix instruction for format "
           << stringifyGemmFormat(op.getFormat()) << " with scales "
           << stringifyScaleKind(op.getAScale()) << " and "
           << stringifyScaleKind(op.getBScale());
  const MmaInfo &mma = getMmaInfo(*id);
  GemmShape shape(op, mma, target);
  if (failed(checkK(op, shape, target)))
    return failure();

  // Rows that a group has on average, where the type tells.
  int64_t rows = cast<ShapedType>(op.getC().getType()).getDimSize(0);
  int64_t groups = op.getNumGroups();
  constexpr int64_t kUnknownRows = 64;
  if (!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(groups))
    rows = llvm::divideCeil(rows, std::max<int64_t>(groups, 1));
  else
    rows = kUnknownRows;
  const int64_t columnUnit = std::max(mma.m, getColumnUnit(op));
  int64_t tileM = 16, wavesM = 1, wavesN = 1, wavesK = 4,
          tileN = std::max<int64_t>(32, columnUnit);
  if (rows > 16) {
    // Waves share K where there are few rows: the weights are read once, by
    // many waves. With more rows they share columns.
    wavesK = 1;
    wavesN = 4;
    tileM = rows > 32 ? 64 : 32;
    tileN = 4 * std::max<int64_t>(32, columnUnit);
  }
  op.setConfigAttr(GemmConfigAttr::get(op.getContext(), *id, tileM, tileN,
                                       shape.chunk, wavesM, wavesN, wavesK,
                                       /*stages=*/0));
  return success();
}
