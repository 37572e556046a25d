//===- IndexerKernel.h - The kernels of pa.indexer --------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_INDEXERKERNEL_H
#define PAGEDATTN_LIB_TRANSFORMS_INDEXERKERNEL_H

#include "IndexerRows.h"
#include "LogitsKernel.h"

namespace mlir::pa {

/// What one workgroup does.
enum class IndexerRole {
  whole, // scores the context of a sequence and writes the results
  split, // scores its share of the context for `merge`
  merge, // selects in what the splits of one row found and writes the results
};

/// What suits the sizes of an op, when they are known to the compiler or to the
/// launch.
struct IndexerSchedule {
  /// Workgroups that share the context of a sequence.
  static constexpr int64_t kMaxSplits = 256;

  IndexerSchedule(IndexerOp op, int64_t groups, const TargetInfo &target);

  /// As many as let few sequences fill the chip, where each has enough columns
  /// for what it leaves to the merge to be little beside the logits.
  int64_t getSplits(int64_t sequences, int64_t columns) const {
    const int64_t byGroups =
        std::min(numCus / std::max<int64_t>(sequences * groups, 1), kMaxSplits);
    return std::max<int64_t>(1, std::min(byGroups, columns / minShare));
  }

  int64_t numCus, groups, minShare;
};

/// Scores keys as LogitsKernel does, and keeps the best columns of each row in
/// place of the logits. A tile of logits is in LDS, of which a wave uses only
/// what it wrote.
class IndexerKernel : LogitsKernel {
public:
  IndexerKernel(KernelBuilder &kernel, IndexerOp op, const IndexerShape &shape,
                IndexerRole role, const TargetInfo &target);

  void emit();

private:
  void emitRounds();
  Step loadStepInside(Value token, ValueRange pages, Value buffer);
  SmallVector<Value> ifInside(Value token,
                              function_ref<SmallVector<Value>()> onTrue,
                              function_ref<SmallVector<Value>()> onFalse);
  SmallVector<Value> anyValues(ValueRange like);
  Step scoreAndLoad(Step &step, Value token, Value buffer, Value nextToken,
                    Value afterNext, SmallVectorImpl<Value> &pages);
  void awaitCopies();
  Value anyValue(Type type);
  void clearTile();
  Value emitEndOf(Value row);
  IndexerRows::Offer offer(Value row, int64_t step, Value end);
  void writeRow(Value local, Value count);
  void writeSplit(Value row, Value count);
  void storeRow(Value query, Value token, ValueRange sums, Value scale,
                bool isInside) override;

  IndexerOp op;
  const IndexerShape &sizes;
  const IndexerRole role;
  IndexerRows rows;
  /// LDS: logits, [waves, rows, columns of a wave].
  Value tile;
  /// First column of the wave in the round, and the number of its step.
  Value roundToken, stepInRound;
};

/// Merges what the splits of one row found.
class IndexerMergeKernel : KernelBody {
public:
  IndexerMergeKernel(KernelBuilder &kernel, IndexerOp op,
                     const IndexerShape &shape, const TargetInfo &target)
      : KernelBody(kernel, target), op(op), sizes(shape),
        rows(kernel, shape, /*rows=*/1) {}

  void emit();

private:
  IndexerRows::Offer offer(Value position, Value total);

  IndexerOp op;
  const IndexerShape &sizes;
  IndexerRows rows;
  Value row;
};

/// Writes the columns that `rows` found for `row` of the outputs.
void writeIndexerResults(ImplicitLocOpBuilder &b, KernelBuilder &kernel,
                         IndexerOp op, IndexerRows &rows, Value row,
                         Value count);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_INDEXERKERNEL_H
