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
// Candidates are ranked by an unsigned key, the greater, the better: 0 for
// every NaN, the bits of the value with the sign inverted for a positive one,
// all bits inverted for a negative one. What is kept never depends on the order
// in which waves run.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_TOPKKERNEL_H
#define PAGEDATTN_LIB_TRANSFORMS_TOPKKERNEL_H

#include "TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::pa {

/// Sizes of a top-k kernel.
struct TopKShape {
  /// Elements of one load of a lane.
  static constexpr int64_t kVector = 4;
  /// Passes of the radix selection, and the buckets of each.
  static constexpr int64_t kPasses = 4, kBuckets = 256;
  /// Bits of each of two counts that share a word: none has more.
  static constexpr int64_t kHalf = 16;
  /// Turns of the counters over waves.
  static constexpr int64_t kTurns = 3;
  /// Keys of -inf and +inf, between which lie those of all numbers, and of +0.
  static constexpr int64_t kMinNumberKey = 0x007FFFFF;
  static constexpr int64_t kMaxNumberKey = 0xFF800000;
  static constexpr int64_t kSign = 0x80000000;

  TopKShape(int64_t k, TopKConfigAttr config, const TargetInfo &target)
      : k(k), lanes(target.waveSize), waves(config.getWaves()),
        threads(waves * lanes), runs((config.getLoads() + 3) / 4),
        runLoads(config.getLoads() / runs), laneColumns(runLoads * kVector),
        runColumns(threads * laneColumns), candidates(config.getCandidates()),
        tile(runs * runColumns) {}

  int64_t k, lanes, waves, threads;
  /// A tile has runs, one after another, in each of which a lane has
  /// consecutive columns: as many as fit a cache line.
  int64_t runs, runLoads, laneColumns, runColumns;
  int64_t candidates;
  /// Columns that a workgroup looks at in one step.
  int64_t tile;

  /// Candidates to sort: the next power of two.
  int64_t getSortSize() const {
    return static_cast<int64_t>(llvm::PowerOf2Ceil(k));
  }
  int64_t getLdsBytes() const {
    int64_t words = 2 * std::max(candidates, getSortSize()) +
                    kPasses * kBuckets + kPasses * 3 +
                    2 * kTurns * (waves + 1) + waves;
    // Each buffer is aligned to 16 bytes.
    return 4 * words + 6 * 16;
  }
};

/// What suits the sizes of an op, when they are known to the compiler or to the
/// launch.
struct TopKSchedule {
  /// Rows of so many columns go to one wave each where there are enough of them
  /// to fill the chip.
  static constexpr int64_t kWaveColumns = 4096;
  /// Workgroups that share a row.
  static constexpr int64_t kMaxSplits = 256;

  TopKSchedule(TopKOp op, const TargetInfo &target);

  /// Workgroups for each of `rows`: as many as let few rows fill the chip,
  /// where each has enough columns to itself.
  int64_t getSplits(int64_t rows, int64_t columns) const {
    const int64_t byRows =
        std::min(numCus / std::max<int64_t>(rows, 1), kMaxSplits);
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
  int64_t numCus;
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
class TopKKernel {
public:
  TopKKernel(KernelBuilder &kernel, TopKOp op, const TargetInfo &target,
             TopKRole role, TopKConfigAttr config)
      : b(kernel.body()), kernel(kernel), op(op), role(role),
        splits(config.getSplits()), shape(op.getK(), config, target) {}

  void emit();

private:
  /// The candidates in LDS: how many there are, and how many of them, from the
  /// front, have their key beside their column.
  struct Candidates {
    Value count, keyed;
  };
  /// A key that the last one that is selected has at least, from where on all
  /// are selected, and how many of the candidates with `key` are beside them.
  struct Cut {
    Value key, bound, ties;
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
  void emitLaneIds();
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

  // TopKSelect.cpp: work on the candidates in LDS.
  void toKeys(Value from, Value to);
  Cut findCut(Value count, Value wanted, Value slack);
  void pickBucket(Value pass, Value rest);
  void keepBest(Value count, const Cut &cut);
  Value keepBestOf(const Candidates &all);
  void sortByValue(Value count);
  void sortStep(Value runLength, Value distance);
  void clearCounts(Value counters);
  std::pair<Value, Value> prefixOverWaves(Value counters, Value turn,
                                          Value count);
  Value nextTurn(Value turn);
  Threshold thresholdAbove(Value key, Value floorKey);
  Threshold thresholdAt(Value key);
  Value toKey(Value bits);
  Value fromKey(Value key);

  // Wave primitives.
  Value ballot(Value bit);
  Value countBits(Value mask);
  Value countBitsBelowLane(Value mask, Value start);
  Value uniform(Value value) {
    return b.create<AssumeOp>(value.getType(), value, IntegerAttr(),
                              IntegerAttr(), IntegerAttr(), b.getUnitAttr(),
                              UnitAttr());
  }
  void barrier();

  // Arithmetic on index and i32 alike.
  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }
  Value i32(int64_t value) {
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value constantLike(Value x, int64_t value) {
    return x.getType().isIndex() ? index(value) : i32(value);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return add(x, constantLike(x, y)); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value mul(Value x, int64_t y) {
    return b.createOrFold<arith::MulIOp>(x, constantLike(x, y));
  }
  Value div(Value x, int64_t y) {
    return b.createOrFold<arith::DivUIOp>(x, constantLike(x, y));
  }
  Value rem(Value x, int64_t y) {
    return b.createOrFold<arith::RemUIOp>(x, constantLike(x, y));
  }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }
  Value bitAnd(Value x, Value y) { return b.createOrFold<arith::AndIOp>(x, y); }
  Value bitOr(Value x, Value y) { return b.createOrFold<arith::OrIOp>(x, y); }
  Value select(Value condition, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(condition, x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.create<arith::CmpIOp>(predicate, x, y);
  }
  Value less(Value x, Value y) {
    return compare(arith::CmpIPredicate::slt, x, y);
  }
  Value equal(Value x, Value y) {
    return compare(arith::CmpIPredicate::eq, x, y);
  }
  Value toIndex(Value x) {
    return b.create<arith::IndexCastUIOp>(b.getIndexType(), x);
  }
  Value toI32(Value x) {
    return b.create<arith::IndexCastUIOp>(b.getI32Type(), x);
  }
  /// An scf.if that yields what the two callbacks return.
  SmallVector<Value> branch(Value condition,
                            llvm::function_ref<SmallVector<Value>()> onTrue,
                            llvm::function_ref<SmallVector<Value>()> onFalse);
  void branch(Value condition, llvm::function_ref<void()> onTrue);
  /// An scf.for over index or i32 with values carried along.
  SmallVector<Value>
  loop(Value from, Value to, Value step, ValueRange init,
       llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// Item i of `count` for each thread of the workgroup in turn; all i32.
  void forEachItem(Value from, Value count,
                   llvm::function_ref<void(Value)> body);

  ImplicitLocOpBuilder &b;
  KernelBuilder &kernel;
  TopKOp op;
  const TopKRole role;
  /// 0 where the launch chooses.
  const int64_t splits;
  const TopKShape shape;

  Value thread, wave, lane, threadI32, waveI32, laneI32, row, split;
  /// 0, which the backend does not know. Added to the bound of a short loop it
  /// keeps the loop: unrolled, those of the selection make the kernel several
  /// times as long, and the masks of their lanes fill the scalar registers.
  Value unknownZero;
  /// The memref that columns are selected in, and the range of the row.
  Value source, start, end, count, wanted;
  /// Columns of the row that a split has.
  Value share;
  /// First column that is aligned to 16 bytes, the first tile that there is (0
  /// is what lies before that column), and the last.
  Value aligned, firstTile, lastTile;
  /// LDS: pairs of key and column; buckets of each pass; bucket
  /// and rest that a pass picked; counts over waves for tiles and for
  /// candidates, three turns of each; hits of each wave in a crowded tile.
  Value buffer, buckets, picked, tileCounts, candidateCounts, waveHits;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_TOPKKERNEL_H
