//===- IndexerShape.h - Sizes of an indexer kernel --------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_INDEXERSHAPE_H
#define PAGEDATTN_LIB_TRANSFORMS_INDEXERSHAPE_H

#include "LogitsShape.h"
#include "TopKSelect.h"

namespace mlir::pa {

/// Sizes of a `pa.indexer` op with one configuration.
struct IndexerShape {
  IndexerShape(IndexerOp op, IndexerConfigAttr config, const TargetInfo &target)
      : numQueries(op.getLogitsOperands().getNumQueries()),
        rows(config.getRows()), steps(config.getSteps()),
        waveColumns(steps * target.waveSize),
        tile(config.getWaves() * waveColumns), place(config.getQuery()),
        logits(op.getLogitsOperands(), getMmaInfo(config.getMma()), target,
               rows),
        select(op.getK(),
               TopKConfigAttr::get(op.getContext(), config.getWaves(),
                                   /*loads=*/1, config.getCandidates(),
                                   /*splits=*/1),
               target) {}

  int64_t numQueries, rows, steps;
  /// Columns that a wave, and a workgroup, scores before it looks at them.
  int64_t waveColumns, tile;
  QueryPlace place;
  LogitsShape logits;
  TopKShape select;

  /// Groups of query rows of a sequence.
  int64_t getGroups() const { return llvm::divideCeil(numQueries, rows); }
  /// Candidates that fit beside the k best and a tile.
  int64_t getRoom() const { return select.candidates - select.k - tile; }
  /// How many more than k may stay where dropping them would cost another pass.
  int64_t getSlack() const { return std::min(getRoom() / 2, select.k / 8); }
  /// Words that a row has in LDS: value and column of each candidate.
  int64_t getBufferSize() const {
    return std::max(select.candidates, select.getSortSize());
  }
  /// Bytes of LDS for all but keys and queries.
  int64_t getOwnLdsBytes() const {
    const int64_t others = select.getLdsBytes() - 8 * getBufferSize();
    // Each buffer is aligned to 16 bytes.
    return rows * 8 * getBufferSize() + others + select.waves * rows * 16 +
           rows * tile * 4 + 6 * 16;
  }
  /// Bytes that keys and queries may have where queries pass through LDS on
  /// their way to registers: so many that two workgroups still fit.
  int64_t getLdsForQueries(const TargetInfo &target) const {
    return target.ldsBytes / 2 - getOwnLdsBytes();
  }
  int64_t getLdsBytes(const TargetInfo &target) const {
    const int64_t keys = logits.getKeyLdsBytes(select.waves),
                  queries = logits.getQueryLdsBytes();
    const bool isStaged = place == QueryPlace::lds ||
                          (place == QueryPlace::registers && select.waves > 1 &&
                           keys + queries <= getLdsForQueries(target));
    return getOwnLdsBytes() + keys + (isStaged ? queries : 0);
  }
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_INDEXERSHAPE_H
