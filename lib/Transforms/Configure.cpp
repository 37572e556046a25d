//===- Configure.cpp - pa-configure ------------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogitsShape.h"
#include "PagedAttn/Transforms/Passes.h"
#include "TileOps.h"
#include "TopKKernel.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PACONFIGURE
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

/// Registers of a lane that queries and weights may take. With the keys of two
/// steps, the accumulators and the addresses beside them, 48 keep the kernel of
/// 64 heads and one query under 128 registers, four waves on a SIMD.
constexpr int64_t kMaxQueryRegisters = 64;

/// Tokens dealt out at once: one step of each of four waves.
constexpr int64_t kDefaultChunk = 256;

/// A tile has as many heads and tokens as a lane group has lanes.
static bool hasLogitsTile(const LogitsOperands &in, const MmaInfo &mma) {
  bool isFp4 = in.format == KeyFormat::mxfp4;
  StringRef format = isFp4 ? "fp4" : "fp8";
  return mma.m == 16 && mma.n == 16 && mma.aFormat == format &&
         mma.bFormat == format && mma.isScaled() == isFp4;
}

/// Whether the instruction computes the whole of D: fp8 rows are cut evenly,
/// mxfp4 rows are filled up with zeros.
static bool fitsHeadDim(const LogitsOperands &in, const MmaInfo &mma) {
  return in.format == KeyFormat::mxfp4 || in.getHeadDim() % mma.k == 0;
}

LogicalResult mlir::pa::verifyLogitsMma(Operation *op, const LogitsOperands &in,
                                        MmaId id, const TargetInfo &target) {
  const MmaInfo &mma = getMmaInfo(id);
  if (!llvm::is_contained(target.getMmas(), id))
    return op->emitOpError()
           << target.getName() << " has no matrix instruction "
           << stringifyMmaId(id);
  if (!hasLogitsTile(in, mma))
    return op->emitOpError()
           << "mma must multiply 16x16 tiles of the op's format, found "
           << stringifyMmaId(id);
  if (!fitsHeadDim(in, mma))
    return op->emitOpError()
           << "D must be a multiple of " << mma.k << " for "
           << stringifyMmaId(id) << ", found " << in.getHeadDim();
  return success();
}

FailureOr<MmaId> mlir::pa::selectLogitsMma(Operation *op,
                                           const LogitsOperands &in,
                                           const TargetInfo &target) {
  for (MmaId id : target.getMmas()) {
    const MmaInfo &mma = getMmaInfo(id);
    if (hasLogitsTile(in, mma) && fitsHeadDim(in, mma))
      return id;
  }
  return op->emitOpError() << target.getName()
                           << " has no matrix instruction for "
                           << stringifyKeyFormat(in.format)
                           << " and D = " << in.getHeadDim();
}

static LogicalResult verifyHandConfig(PagedLogitsOp op,
                                      const TargetInfo &target) {
  LogitsConfigAttr config = op.getConfigAttr();
  const LogitsOperands in = op.getLogitsOperands();
  if (failed(verifyLogitsMma(op, in, config.getMma(), target)))
    return failure();
  LogitsShape shape(in, getMmaInfo(config.getMma()), target);
  const int64_t keyLdsBytes = shape.getKeyLdsBytes(config.getWaves());
  const int64_t ldsLeft = target.ldsBytes - keyLdsBytes;
  if (config.getQuery() == QueryPlace::lds &&
      shape.getQueryLdsBytes() > ldsLeft) {
    InFlightDiagnostic error =
        op.emitOpError() << "queries and weights need "
                         << shape.getQueryLdsBytes() << " bytes of LDS, "
                         << target.getName() << " has " << target.ldsBytes;
    if (keyLdsBytes > 0)
      error << " of which the keys take " << keyLdsBytes;
    return error << "; use query = memory";
  }
  if (config.getQuery() == QueryPlace::registers &&
      shape.getQueryRegisters() > target.maxVgprs / 2)
    return op.emitOpError()
           << "queries and weights need " << shape.getQueryRegisters()
           << " registers of each lane, at most " << target.maxVgprs / 2
           << " are allowed; use query = lds";
  return success();
}

static LogicalResult configure(PagedLogitsOp op, const TargetInfo &target) {
  if (op.getConfigAttr())
    return verifyHandConfig(op, target);
  const LogitsOperands in = op.getLogitsOperands();
  FailureOr<MmaId> mmaId = selectLogitsMma(op, in, target);
  if (failed(mmaId))
    return failure();
  LogitsShape shape(in, getMmaInfo(*mmaId), target);
  auto fitsLds = [&](int64_t waves) {
    return shape.getKeyLdsBytes(waves) + shape.getQueryLdsBytes() <=
           target.ldsBytes;
  };
  constexpr int64_t kWaves = 4;
  int64_t waves = kWaves;
  QueryPlace place = QueryPlace::registers;
  if (shape.getQueryRegisters() > kMaxQueryRegisters) {
    // Where keys have LDS too, fewer waves leave the queries more.
    while (waves > 1 && !fitsLds(waves))
      waves /= 2;
    place = fitsLds(waves) ? QueryPlace::lds : QueryPlace::memory;
    if (place == QueryPlace::memory)
      waves = kWaves;
    // Where the queries leave a compute unit fewer workgroups than it can hold
    // waves of, each has more of them: they read the same queries.
    const int64_t perCu = target.ldsBytes / shape.getQueryLdsBytes();
    if (place == QueryPlace::lds && !shape.usesDma &&
        perCu * waves < kWavesPerSimd * target.simdsPerCu)
      waves *= 2;
  }
  int64_t tile = std::max<int64_t>(16, op.getPageSize());
  int64_t chunk = std::max(kDefaultChunk, waves * target.waveSize);
  chunk = (chunk + tile - 1) / tile * tile;
  // One sequence alone has nobody to wait for.
  bool isAlone = cast<ShapedType>(op.getQ().getType()).getDimSize(0) == 1;
  op.setConfigAttr(LogitsConfigAttr::get(
      op.getContext(), *mmaId, chunk, waves, /*splits=*/0, place,
      isAlone ? LogitsSchedule::even : LogitsSchedule::ragged));
  return success();
}

TopKSchedule::TopKSchedule(TopKOp op, const TargetInfo &target)
    : context(op.getContext()), k(op.getK()), target(target),
      numCus(getNumCus(op, target)), minShare(std::max<int64_t>(16384, 2 * k)) {
  groupsPerCu = getGroupConfig(/*splits=*/1).getWaves() == kFewWaves ? 2 : 1;
}

TopKConfigAttr TopKSchedule::getWaveConfig() const {
  constexpr int64_t kLoads = 2, kMinPerCu = 4;
  auto config = TopKConfigAttr::get(context, /*waves=*/1, kLoads,
                                    k + 256 * kLoads, /*splits=*/1);
  TopKShape shape(k, config, target);
  return kMinPerCu * shape.getLdsBytes() <= target.ldsBytes ? config
                                                            : TopKConfigAttr();
}

TopKConfigAttr TopKSchedule::getGroupConfig(int64_t splits) const {
  // So many beside the k best that dropping the others is rare.
  int64_t candidates = k + std::max<int64_t>(4096, k);
  auto make = [&](int64_t waves) {
    return TopKConfigAttr::get(context, waves, /*loads=*/8, candidates, splits);
  };
  // A workgroup of fewer waves costs an eighth less for each column, as what
  // the waves have to agree on does; with eight of them a compute unit that has
  // room for no second workgroup is busy all the same.
  if (2 * TopKShape(k, make(kFewWaves), target).getLdsBytes() <=
      target.ldsBytes)
    return make(kFewWaves);
  while (TopKShape(k, make(kManyWaves), target).getLdsBytes() > target.ldsBytes)
    candidates -= 256;
  return make(kManyWaves);
}

static LogicalResult configure(TopKOp op, const TargetInfo &target) {
  TopKConfigAttr config = op.getConfigAttr();
  if (config) {
    TopKShape shape(op.getK(), config, target);
    if (shape.getLdsBytes() > target.ldsBytes)
      return op.emitOpError()
             << "candidates = " << config.getCandidates() << " needs "
             << shape.getLdsBytes() << " bytes of LDS, " << target.getName()
             << " has " << target.ldsBytes;
    return success();
  }
  const TopKSchedule schedule(op, target);
  auto type = cast<ShapedType>(op.getValues().getType());
  if (!type.hasStaticShape()) {
    op.setConfigAttr(schedule.getGroupConfig(/*splits=*/0));
    return success();
  }
  const int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  if (schedule.isForWaves(rows, columns))
    config = schedule.getWaveConfig();
  if (!config)
    config = schedule.getGroupConfig(schedule.getSplits(rows, columns));
  op.setConfigAttr(config);
  return success();
}

namespace {
struct ConfigurePass : public pa::impl::PAConfigureBase<ConfigurePass> {
  using PAConfigureBase::PAConfigureBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isa<PagedLogitsOp, TopKOp, IndexerOp, GroupedGemmOp>(op))
        return WalkResult::advance();
      const TargetInfo *target = getTargetOrError(op);
      if (!target)
        return WalkResult::interrupt();
      LogicalResult result =
          TypeSwitch<Operation *, LogicalResult>(op)
              .Case([&](PagedLogitsOp op) { return configure(op, *target); })
              .Case([&](TopKOp op) { return configure(op, *target); })
              .Case([&](IndexerOp op) { return configureIndexer(op, *target); })
              .Case([&](GroupedGemmOp op) {
                return configureGroupedGemm(op, *target, tune);
              });
      return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
