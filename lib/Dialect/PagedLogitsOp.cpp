//===- PagedLogitsOp.cpp - The pa.paged_logits op -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"

using namespace mlir;
using namespace mlir::pa;

LogitsOperands PagedLogitsOp::getLogitsOperands() {
  return {getQ(),       getQueryScales(), getKeys(),        getKeyScales(),
          getWeights(), getBlockTable(),  getContextLens(), getRowEnds(),
          getLayout(),  getFormat()};
}
int64_t PagedLogitsOp::getNumQueries() {
  return getLogitsOperands().getNumQueries();
}
int64_t PagedLogitsOp::getNumHeads() {
  return getLogitsOperands().getNumHeads();
}
int64_t PagedLogitsOp::getHeadDim() { return getLogitsOperands().getHeadDim(); }
int64_t PagedLogitsOp::getPageSize() {
  return getLogitsOperands().getPageSize();
}
int64_t PagedLogitsOp::getKeyBytes() {
  return getLogitsOperands().getKeyBytes();
}

void PagedLogitsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationEffects(*this, effects);
}

/// C10: a configuration written by hand.
static LogicalResult verifyConfig(PagedLogitsOp op) {
  LogitsConfigAttr config = op.getConfigAttr();
  if (!config)
    return success();
  int64_t tile = std::max<int64_t>(16, op.getPageSize());
  if (config.getChunk() <= 0 || config.getChunk() % tile != 0)
    return op.emitOpError()
           << "chunk must be a positive multiple of max(16, P) = " << tile
           << ", found " << config.getChunk();
  // The grid has 31 bits, and a chunk near 2^63 would overflow the sum that
  // rounds a context up to whole chunks.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (config.getChunk() > kMost)
    return op.emitOpError() << "chunk must be at most " << kMost << ", found "
                            << config.getChunk();
  if (config.getSplits() > kMost)
    return op.emitOpError() << "splits must be at most " << kMost << ", found "
                            << config.getSplits();
  if (config.getWaves() < 1 || config.getWaves() > 16)
    return op.emitOpError()
           << "waves must be from 1 to 16, found " << config.getWaves();
  if (config.getSplits() < 0)
    return op.emitOpError()
           << "splits must not be negative, found " << config.getSplits();
  return success();
}

LogicalResult PagedLogitsOp::verify() {
  NamedOutput logits{{"logits", getLogits()}, Float32Type::get(getContext())};
  return success(
      succeeded(verifyLogitsOperands(*this, getLogitsOperands(), logits)) &&
      succeeded(verifyConfig(*this)));
}
