//===- Configure.cpp - pa-configure ------------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Transforms/Passes.h"
#include "TileOps.h"

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

/// Registers of a lane for all queries of a sequence and their weights.
static int64_t getQueryRegisters(PagedLogitsOp op, const MmaInfo &mma) {
  int64_t tiles = op.getNumQueries() * op.getNumHeads() / mma.m;
  return tiles * (op.getKeyBytes() / mma.getGroups() / 4 + mma.getAccPerLane());
}

/// Bytes of LDS for the same.
static int64_t getQueryLdsBytes(PagedLogitsOp op) {
  return op.getNumQueries() * op.getNumHeads() * (op.getKeyBytes() + 4);
}

/// A tile has as many heads and tokens as a lane group has lanes.
static bool hasLogitsTile(const MmaInfo &mma) {
  return mma.m == 16 && mma.n == 16 && mma.aFormat == "fp8" &&
         mma.bFormat == "fp8" && !mma.isScaled();
}

static LogicalResult verifyHandConfig(PagedLogitsOp op,
                                      const TargetInfo &target) {
  LogitsConfigAttr config = op.getConfigAttr();
  const MmaInfo &mma = getMmaInfo(config.getMma());
  if (!llvm::is_contained(target.getMmas(), config.getMma()))
    return op.emitOpError() << target.getName() << " has no matrix instruction "
                            << stringifyMmaId(config.getMma());
  if (!hasLogitsTile(mma))
    return op.emitOpError()
           << "mma must multiply 16x16 tiles of fp8 without scales, found "
           << stringifyMmaId(config.getMma());
  if (op.getHeadDim() % mma.k != 0)
    return op.emitOpError()
           << "D must be a multiple of " << mma.k << " for "
           << stringifyMmaId(config.getMma()) << ", found " << op.getHeadDim();
  if (config.getQuery() == QueryPlace::lds &&
      getQueryLdsBytes(op) > target.ldsBytes)
    return op.emitOpError()
           << "queries and weights need " << getQueryLdsBytes(op)
           << " bytes of LDS, " << target.getName() << " has "
           << target.ldsBytes << "; use query = memory";
  if (config.getQuery() == QueryPlace::registers &&
      getQueryRegisters(op, mma) > target.vgprsPerLane / 2)
    return op.emitOpError()
           << "queries and weights need " << getQueryRegisters(op, mma)
           << " registers of each lane, at most " << target.vgprsPerLane / 2
           << " are allowed; use query = lds";
  return success();
}

/// The chip's first matrix instruction that fits the op.
static std::optional<MmaId> selectMma(PagedLogitsOp op,
                                      const TargetInfo &target) {
  for (MmaId id : target.getMmas()) {
    const MmaInfo &mma = getMmaInfo(id);
    if (hasLogitsTile(mma) && op.getHeadDim() % mma.k == 0)
      return id;
  }
  return std::nullopt;
}

static LogicalResult configure(PagedLogitsOp op, const TargetInfo &target) {
  if (op.getConfigAttr())
    return verifyHandConfig(op, target);
  if (op.getFormat() != KeyFormat::fp8)
    return op.emitOpError() << "format " << stringifyKeyFormat(op.getFormat())
                            << " has no lowering to " << target.getName()
                            << " yet, only fp8 has";
  std::optional<MmaId> mmaId = selectMma(op, target);
  if (!mmaId)
    return op.emitOpError()
           << target.getName()
           << " has no fp8 matrix instruction for D = " << op.getHeadDim();
  QueryPlace place = QueryPlace::registers;
  if (getQueryRegisters(op, getMmaInfo(*mmaId)) > kMaxQueryRegisters)
    place = getQueryLdsBytes(op) <= target.ldsBytes ? QueryPlace::lds
                                                    : QueryPlace::memory;
  int64_t tile = std::max<int64_t>(16, op.getPageSize());
  int64_t chunk = (kDefaultChunk + tile - 1) / tile * tile;
  op.setConfigAttr(LogitsConfigAttr::get(op.getContext(), *mmaId, chunk,
                                         /*waves=*/4, /*splits=*/0, place));
  return success();
}

namespace {
struct ConfigurePass : public pa::impl::PAConfigureBase<ConfigurePass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](PagedLogitsOp op) {
      const TargetInfo *target = getTargetOrError(op);
      if (!target || failed(configure(op, *target)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
