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
  // The sums of a wave stay in registers, which the waves of a SIMD share; a
  // quarter is left to everything else.
  const int64_t waves =
      config.getWavesM() * config.getWavesN() * config.getWavesK();
  const int64_t registers =
      std::min<int64_t>(target.maxVgprs,
                        target.vgprsPerLane /
                            llvm::divideCeil(waves, target.simdsPerCu)) *
      3 / 4;
  const int64_t sums =
      config.getTileM() * config.getTileN() /
      (config.getWavesM() * config.getWavesN() * target.waveSize);
  if (sums > registers)
    return op.emitOpError() << "the sums of a wave need " << sums
                            << " registers of each lane, at most " << registers
                            << " are allowed on " << target.getName()
                            << " with " << waves << " waves";
  if (config.getStages() != 0 && config.getStages() != 2)
    return op.emitOpError()
           << "stages must be 0 or 2, found " << config.getStages();
  const int64_t ldsBytes = getGemmLdsBytes(op, shape, config, target);
  if (ldsBytes > target.ldsBytes)
    return op.emitOpError() << "tiles need " << ldsBytes << " bytes of LDS, "
                            << target.getName() << " has " << target.ldsBytes;
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

namespace {
/// One way to tile, as candidates are written down.
struct Tiling {
  int64_t tileM, tileN, wavesM, wavesN, wavesK, stages;
};
} // namespace

/// From small to large. Waves share K where there are few rows: the weights are
/// read once, by many waves. Operands that several waves need go through LDS.
/// The sums of 128 by 128 in a wave, 256 registers, leave too few for the rest:
/// LLVM moves 80 of them about in each iteration of 128 matrix instructions.
static constexpr Tiling kTilings[] = {
    {16, 32, 1, 1, 4, 0},   {16, 64, 1, 1, 4, 0},   {32, 32, 1, 1, 4, 0},
    {32, 64, 1, 2, 2, 0},   {32, 128, 1, 4, 1, 2},  {64, 64, 2, 2, 1, 2},
    {64, 128, 2, 2, 1, 2},  {64, 256, 1, 4, 1, 2},  {128, 128, 2, 2, 1, 2},
    {128, 256, 2, 2, 1, 2}, {256, 128, 2, 2, 1, 2}, {192, 256, 2, 2, 1, 2},
    {256, 192, 2, 2, 1, 2}};

/// Registers of a lane: the sums, the operands of one chunk, its scales and
/// those of the next, and what addresses take.
static int64_t estimateRegisters(const GemmShape &shape, const MmaInfo &mma,
                                 const Tiling &t) {
  constexpr int64_t kOthers = 48;
  const int64_t rowBlocks = t.tileM / (GemmShape::kRows * t.wavesM);
  const int64_t columnBlocks = t.tileN / (GemmShape::kRows * t.wavesN);
  const int64_t sums = rowBlocks * columnBlocks * GemmShape::kRows *
                       GemmShape::kRows / shape.lanes;
  const int64_t operands = rowBlocks * shape.a.runs * shape.a.getRunWords() +
                           columnBlocks * shape.b.runs * shape.b.getRunWords();
  const int64_t copiesOfOperands = t.stages == 0 ? 2 : 1;
  const int64_t scales = 2 * (rowBlocks + columnBlocks);
  const int64_t segmentSums = shape.segment == 0 ? 0 : 4 * shape.accPerLane;
  return sums + operands * copiesOfOperands + scales + segmentSums + kOthers;
}

/// Cycles of a compute unit for all tiles, when `rows` rows of each group are
/// tiled like that: the matrix units and the copies of operands go on side by
/// side, and the slowest unit has the most tiles.
static double estimateCycles(const GemmShape &shape, const MmaInfo &mma,
                             const TargetInfo &target, int64_t numCus,
                             const Tiling &t, int64_t rows, int64_t groups) {
  // From the second-level cache to one compute unit in a cycle.
  constexpr double kBytesPerCycle = 64;
  const double tiles = static_cast<double>(llvm::divideCeil(rows, t.tileM)) *
                       static_cast<double>(llvm::divideCeil(shape.n, t.tileN)) *
                       static_cast<double>(groups);
  const double chunks =
      static_cast<double>(llvm::divideCeil(shape.k, shape.chunk));
  const double instructions = static_cast<double>(
      t.tileM / GemmShape::kRows * (t.tileN / mma.m) * shape.fragments);
  const double matrix = chunks * instructions *
                        static_cast<double>(mma.cycles) /
                        static_cast<double>(target.simdsPerCu);
  const double bytes =
      chunks * static_cast<double>(shape.chunk) *
      static_cast<double>(t.tileM * shape.a.bits + t.tileN * shape.b.bits) / 8;
  // What happens before the first and after the last chunk.
  constexpr double kTileOverhead = 1500;
  const double perTile =
      std::max(matrix, bytes / kBytesPerCycle) + kTileOverhead;
  const double rounds = std::ceil(tiles / static_cast<double>(numCus));
  return rounds * perTile;
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

  // Rows that a group has on average, where the types tell.
  constexpr int64_t kUnknownRows = 64, kUnknownGroups = 8;
  int64_t rows = cast<ShapedType>(op.getC().getType()).getDimSize(0);
  int64_t groups = op.getNumGroups();
  const bool isKnown =
      !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(groups);
  groups = ShapedType::isDynamic(groups) ? kUnknownGroups
                                         : std::max<int64_t>(groups, 1);
  // Fewer rows than groups leave the others empty.
  if (isKnown)
    groups = std::min(groups, std::max<int64_t>(rows, 1));
  rows = isKnown ? llvm::divideCeil(std::max<int64_t>(rows, 1), groups)
                 : kUnknownRows;

  const int64_t columnUnit = std::max(mma.m, getColumnUnit(op));
  GemmConfigAttr best;
  double bestCycles = std::numeric_limits<double>::infinity();
  for (Tiling t : kTilings) {
    t.tileN = llvm::alignTo(t.tileN, columnUnit * t.wavesN);
    auto config =
        GemmConfigAttr::get(op.getContext(), *id, t.tileM, t.tileN, shape.chunk,
                            t.wavesM, t.wavesN, t.wavesK, t.stages);
    // An eighth of the registers is left to the scheduler; the smallest tiling
    // fits always.
    const int64_t registers =
        std::min(target.maxVgprs, target.vgprsPerLane) * 7 / 8;
    const bool fits =
        estimateRegisters(shape, mma, t) <= registers &&
        getGemmLdsBytes(op, shape, config, target) <= target.ldsBytes;
    double cycles = estimateCycles(shape, mma, target, getNumCus(op, target), t,
                                   rows, groups);
    if (best && (!fits || cycles >= bestCycles))
      continue;
    best = config;
    bestCycles = cycles;
  }
  op.setConfigAttr(best);
  return success();
}
