//===- ConfigureIndexer.cpp - pa-configure of pa.indexer --------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexerKernel.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pa;

/// Registers of a lane that queries and weights may take. A workgroup has two
/// waves on each SIMD, so that a wave may have twice as many as one of
/// pa.paged_logits.
constexpr int64_t kMaxQueryRegisters = 96;

/// Candidates of a row that are worth LDS: with so many, dropping all but the
/// best is rare.
static int64_t getWantedCandidates(int64_t k, int64_t tile) {
  return k + tile + std::max<int64_t>(4096, k);
}

/// The best of a row leave a split only where there are twenty times as many
/// columns: what it writes for the merge, and the merge reads, is then less
/// than a tenth of the logits.
constexpr int64_t kColumnsPerCandidate = 20;
constexpr int64_t kMinShare = 4096;

IndexerSchedule::IndexerSchedule(IndexerOp op, int64_t groups,
                                 const TargetInfo &target)
    : numCus(getNumCus(op, target)), groups(groups),
      minShare(std::max(kMinShare, kColumnsPerCandidate * op.getK())) {}

/// A limit of registers is known to the backend as a least number of waves on a
/// SIMD, which it ignores where LDS has no room for so many: a kernel of 128
/// heads and 4 rows had 264 registers then.
static bool hasWavesForRegisters(const IndexerShape &shape,
                                 const TargetInfo &target) {
  return target.getOccupancy(target.maxVgprs, shape.getLdsBytes(target),
                             shape.select.waves) >=
         target.vgprsPerLane / target.maxVgprs;
}

static LogicalResult verifyHandConfig(IndexerOp op, const TargetInfo &target) {
  IndexerConfigAttr config = op.getConfigAttr();
  const LogitsOperands in = op.getLogitsOperands();
  if (failed(verifyLogitsMma(op, in, config.getMma(), target)))
    return failure();
  const IndexerShape shape(op, config, target);
  if (shape.getRoom() < 0)
    return op.emitOpError()
           << "candidates must be at least k and a round of " << shape.tile
           << " columns, " << op.getK() + shape.tile << " in all, found "
           << config.getCandidates();
  if (shape.getLdsBytes(target) > target.ldsBytes)
    return op.emitOpError()
           << "rows = " << shape.rows
           << " and candidates = " << config.getCandidates() << " need "
           << shape.getLdsBytes(target) << " bytes of LDS, " << target.getName()
           << " has " << target.ldsBytes;
  if (shape.place == QueryPlace::registers &&
      shape.logits.getQueryRegisters() > target.maxVgprs / 2)
    return op.emitOpError()
           << "queries and weights need " << shape.logits.getQueryRegisters()
           << " registers of each lane, at most " << target.maxVgprs / 2
           << " are allowed; use query = lds";
  return success();
}

namespace {
/// Fits the rows and candidates of an op into the LDS of a chip.
class IndexerConfigurator {
public:
  IndexerConfigurator(IndexerOp op, MmaId mma, const TargetInfo &target)
      : op(op), in(op.getLogitsOperands()), mma(mma), target(target) {}

  /// Null where nothing fits.
  IndexerConfigAttr choose();
  /// Bytes of LDS that the least configuration needs.
  int64_t getLeastBytes();

private:
  IndexerConfigAttr make(int64_t waves, int64_t steps, QueryPlace place,
                         int64_t rows, int64_t candidates) {
    return IndexerConfigAttr::get(op.getContext(), mma, waves, steps, place,
                                  rows, candidates, /*splits=*/0);
  }
  bool fits(IndexerConfigAttr config) {
    const IndexerShape shape(op, config, target);
    return shape.getLdsBytes(target) <= target.ldsBytes &&
           hasWavesForRegisters(shape, target);
  }
  IndexerConfigAttr fit(int64_t waves, int64_t steps, int64_t rows,
                        int64_t leastRoom);

  IndexerOp op;
  const LogitsOperands in;
  const MmaId mma;
  const TargetInfo &target;
};
} // namespace

/// With so many waves, steps and rows: as many candidates as are worth it, of
/// which at least `leastRoom` beside the best and a round.
IndexerConfigAttr IndexerConfigurator::fit(int64_t waves, int64_t steps,
                                           int64_t rows, int64_t leastRoom) {
  constexpr int64_t kMaxCandidates = 32768, kGranule = 64;
  const int64_t k = op.getK(), tile = waves * steps * target.waveSize;
  const LogitsShape logits(in, getMmaInfo(mma), target, rows);
  SmallVector<QueryPlace> places{QueryPlace::lds};
  if (logits.getQueryRegisters() <= kMaxQueryRegisters)
    places = {QueryPlace::registers};
  for (QueryPlace place : places) {
    int64_t candidates = std::min(getWantedCandidates(k, tile), kMaxCandidates);
    for (; candidates >= k + tile + leastRoom; candidates -= kGranule)
      if (fits(make(waves, steps, place, rows, candidates)))
        return make(waves, steps, place, rows, candidates);
  }
  return IndexerConfigAttr();
}

IndexerConfigAttr IndexerConfigurator::choose() {
  const int64_t k = op.getK(), numQueries = in.getNumQueries();
  // All rows of a sequence, as each group of them reads the keys; but no more
  // than leave room for half of k, so that little time goes into dropping. A
  // round of 1024 columns shares its barriers among enough of them.
  constexpr int64_t kRound = 1024, kWaves = 8;
  for (int64_t groups = 1; groups <= numQueries; ++groups)
    for (int64_t waves : {kWaves, 2 * kWaves})
      for (int64_t steps = kRound / (waves * target.waveSize); steps >= 1;
           steps /= 2)
        if (IndexerConfigAttr config =
                fit(waves, steps, llvm::divideCeil(numQueries, groups), k / 2))
          return config;
  // What is left over is slow, but fits.
  for (int64_t waves = kWaves; waves >= 1; waves /= 2)
    if (IndexerConfigAttr config = fit(waves, /*steps=*/1, /*rows=*/1, 0))
      return config;
  IndexerConfigAttr last = make(/*waves=*/1, /*steps=*/1, QueryPlace::memory,
                                /*rows=*/1, k + target.waveSize);
  return fits(last) ? last : IndexerConfigAttr();
}

int64_t IndexerConfigurator::getLeastBytes() {
  return IndexerShape(op,
                      make(/*waves=*/1, /*steps=*/1, QueryPlace::memory,
                           /*rows=*/1, op.getK() + target.waveSize),
                      target)
      .getLdsBytes(target);
}

/// Splits where the sizes are known, else 0.
static int64_t getKnownSplits(IndexerOp op, const IndexerShape &shape,
                              const TargetInfo &target) {
  const IndexerSchedule schedule(op, shape.getGroups(), target);
  const int64_t sequences = cast<ShapedType>(op.getQ().getType()).getDimSize(0);
  APInt columns;
  if (ShapedType::isDynamic(sequences) ||
      !matchPattern(op.getColumns(), m_ConstantInt(&columns)))
    return 0;
  return schedule.getSplits(sequences,
                            std::max<int64_t>(0, columns.getSExtValue()));
}

LogicalResult mlir::pa::configureIndexer(IndexerOp op,
                                         const TargetInfo &target) {
  if (op.getConfigAttr())
    return verifyHandConfig(op, target);
  FailureOr<MmaId> mma = selectLogitsMma(op, op.getLogitsOperands(), target);
  if (failed(mma))
    return failure();
  IndexerConfigurator configurator(op, *mma, target);
  IndexerConfigAttr config = configurator.choose();
  if (!config)
    return op.emitOpError() << "k = " << op.getK() << " needs at least "
                            << configurator.getLeastBytes() << " bytes of LDS, "
                            << target.getName() << " has " << target.ldsBytes;
  const int64_t splits =
      getKnownSplits(op, IndexerShape(op, config, target), target);
  op.setConfigAttr(IndexerConfigAttr::get(
      op.getContext(), config.getMma(), config.getWaves(), config.getSteps(),
      config.getQuery(), config.getRows(), config.getCandidates(), splits));
  return success();
}
