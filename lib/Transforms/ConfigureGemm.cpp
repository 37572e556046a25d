//===- ConfigureGemm.cpp - Tiles of a grouped GEMM ------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmCost.h"
#include "TileOps.h"

using namespace mlir;
using namespace mlir::pa;

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
       std::max(mma.m, getGemmColumnUnit(op)) * config.getWavesN()},
      {"tile_k", config.getTileK(), shape.chunk}};
  for (auto &size : sizes)
    if (size.tile % size.unit != 0)
      return op.emitOpError() << size.name << " must be a multiple of "
                              << size.unit << ", found " << size.tile;
  // The sums of a wave stay in registers, which the waves of a SIMD share; a
  // quarter is left to everything else.
  const int64_t waves =
      config.getWavesM() * config.getWavesN() * config.getWavesK();
  const int64_t registers = getGemmRegisterLimit(waves, target) * 3 / 4;
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

LogicalResult mlir::pa::configureGroupedGemm(GroupedGemmOp op,
                                             const TargetInfo &target,
                                             unsigned tune) {
  if (op.getConfigAttr() && failed(verifyHandConfig(op, target)))
    return failure();
  if (op.getConfigAttr() && tune == 0)
    return success();
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

  const GemmWork work(op, getNumCus(op, target));
  const SmallVector<GemmCandidate> candidates =
      rankGemmConfigs(op, *id, target, work);
  for (auto [i, candidate] : llvm::enumerate(candidates)) {
    if (i >= tune || !candidate.fits)
      break;
    op.emitRemark() << i + 1 << ": "
                    << describe(candidate, mma, target, work.numCus);
  }
  if (!op.getConfigAttr())
    op.setConfigAttr(candidates.front().config);
  return success();
}
