//===- TopKKernel.h - The kernel of pa.topk ----------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One workgroup finds the k best columns of a range of one row and reads every
// column once. It goes through the range tile by tile in ascending order and
// keeps in LDS, in ascending order too, the columns that may be among the best:
// those not below a threshold. Of a candidate only the column is kept at first,
// its value is read again when it has to be ranked. When they could overflow,
// all but the k best are dropped, and the threshold rises to what beats the
// worst of these. For long rows the first threshold is guessed from a sample; a
// guess that was too high is noticed, as fewer than k candidates reach it, and
// the row is read again.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_TOPKKERNEL_H
#define PAGEDATTN_LIB_TRANSFORMS_TOPKKERNEL_H

#include "TopKSelect.h"

namespace mlir::pa {

/// What suits the sizes of an op, when they are known to the compiler or to the
/// launch.
struct TopKSchedule {
  /// Rows of so many columns go to one wave each where there are enough of them
  /// to fill the chip.
  static constexpr int64_t kWaveColumns = 4096;
  /// Workgroups that share a row.
  static constexpr int64_t kMaxSplits = 256;
  /// Waves of a workgroup where two share a compute unit, and where one has it.
  static constexpr int64_t kFewWaves = 4, kManyWaves = 8;

  TopKSchedule(TopKOp op, const TargetInfo &target);

  /// Workgroups for each of `rows`: as many as let few rows fill the chip,
  /// where each has enough columns to itself.
  int64_t getSplits(int64_t rows, int64_t columns) const {
    const int64_t byRows =
        std::min(getSlots() / std::max<int64_t>(rows, 1), kMaxSplits);
    return std::max<int64_t>(1, std::min(byRows, columns / minShare));
  }
  bool isForWaves(int64_t rows, int64_t columns) const {
    return rows >= numCus && columns <= kWaveColumns;
  }
  /// The configuration of one wave for each row, or null where so few of them
  /// fit the LDS of a compute unit that a workgroup is better.
  TopKConfigAttr getWaveConfig() const;
  TopKConfigAttr getGroupConfig(int64_t splits) const;

  MLIRContext *context;
  int64_t k;
  const TargetInfo &target;
  int64_t numCus, groupsPerCu;
  /// Workgroups that keep the chip busy.
  int64_t getSlots() const { return numCus * groupsPerCu; }
  /// Columns that are worth a workgroup: the merge has less to read.
  int64_t minShare;
};

/// What one workgroup does with its row.
enum class TopKRole {
  whole, // selects in a row of `values` and writes the results
  split, // selects in its share of a row of `values` for `merge`
  merge, // selects in what the splits of one row found and writes the results
};

/// Emits the body of one kernel.
class TopKKernel : TopKSelect {
public:
  TopKKernel(KernelBuilder &kernel, TopKOp op, const TargetInfo &target,
             TopKRole role, TopKConfigAttr config)
      : TopKSelect(kernel, TopKShape(op.getK(), config, target)), op(op),
        role(role), splits(config.getSplits()) {}

  void emit();

private:
  /// The candidates in LDS: how many there are, and how many of them, from the
  /// front, have their key beside their column.
  struct Candidates {
    Value count, keyed;
  };
  /// What makes a hit: a value of at least `value`, or all bits of `always`.
  struct Threshold {
    Value value, always;
  };
  /// The first of some columns and their number.
  struct ColumnRange {
    Value from, size;
  };
  /// A lane's columns of a run.
  using Run = SmallVector<Value>;

  // TopKKernel.cpp: the row, and how candidates are collected.
  void emitBuffers();
  Value loadForRow(StringRef name, Value position);
  void emitRange();
  Value sampleThreshold();
  Candidates collect(Value floorKey);
  Value getLaneOffset();
  Value isWholeWave(Value size);
  Value hide(ValueRange operands, StringRef constraints);
  ColumnRange getTileRange(Value tileNumber);
  ColumnRange getRun(const ColumnRange &tile, int64_t number);
  Run loadRun(const ColumnRange &range);
  Value findHits(ArrayRef<Value> run, Value size, const Threshold &threshold);
  std::pair<Value, Value> prefixOverLanes(Value hits);
  void insertHits(Value hits, Value from, Value position);
  SmallVector<Value> insertInTurns(Value hits, Value lanesBelow, Value own,
                                   Value from, ArrayRef<Value> state,
                                   Value floorKey);
  Candidates collectAll();
  void writeResults(const Candidates &found);
  void writeSplit(const Candidates &found);

  Value keepBestOf(const Candidates &all);
  void toKeys(Value from, Value to);
  Threshold thresholdAbove(Value key, Value floorKey);
  Threshold thresholdAt(Value key);

  TopKOp op;
  const TopKRole role;
  /// 0 where the launch chooses.
  const int64_t splits;

  Value row, split;
  /// The memref that columns are selected in, and the range of the row.
  Value source, start, end, count, wanted;
  /// Columns of the row that a split has.
  Value share;
  /// First column that is aligned to 16 bytes, the first tile that there is (0
  /// is what lies before that column), and the last.
  Value aligned, firstTile, lastTile;
  /// LDS: hits of each wave in a crowded tile.
  Value waveHits;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_TOPKKERNEL_H
