//===- TopKSelect.h - The best of the candidates in LDS ---------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup holds candidates in LDS, pairs of a word and a column in
// ascending order of their columns, and keeps the k best of them. They are
// ranked by an unsigned key, the greater, the better: 0 for every NaN, the bits
// of the value with the sign inverted for a positive one, all bits inverted for
// a negative one. The word is the key, or the bits of the value where these
// must survive: those of a NaN would not. What is kept never depends on the
// order in which waves run.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_TOPKSELECT_H
#define PAGEDATTN_LIB_TRANSFORMS_TOPKSELECT_H

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

/// What the word of a candidate is.
enum class TopKWord { key, value };

/// Emits the work on the candidates of one row.
class TopKSelect {
protected:
  TopKSelect(KernelBuilder &kernel, const TopKShape &shape,
             TopKWord word = TopKWord::key)
      : b(kernel.body()), kernel(kernel), shape(shape), word(word) {}

  /// Sets what follows from the number of the thread.
  void emitLaneIds();
  Value addLds(ArrayRef<int64_t> dims);
  /// LDS for all but the candidates themselves.
  void emitSelectBuffers();

  /// A key that the last one that is selected has at least, from where on all
  /// are selected, and how many of the candidates with `key` are beside them.
  struct Cut {
    Value key, bound, ties;
    /// Candidates that the cut keeps.
    Value kept;
  };

  Cut findCut(Value count, Value wanted, Value slack);
  void forEachFour(Value from, Value count,
                   llvm::function_ref<void(ArrayRef<Value>)> body);
  Value firstBucket(Value pass);
  void pickBucket(Value passI32, Value rest);
  void keepBest(Value count, const Cut &cut);
  void sortByValue(Value count);
  void sortStep(Value runLength, Value distance);
  void clearCounts(Value counters);
  std::pair<Value, Value> prefixOverWaves(Value counters, Value turn,
                                          Value count);
  Value nextTurn(Value turn);
  Value toKey(Value bits);
  Value fromKey(Value key);
  /// The same number, anew: of what follows from it nothing is known before, so
  /// that no mask of lanes is made before the loop and held in scalar registers
  /// through all of it, and nothing else in vector registers.
  Value renew(Value value, StringRef constraints);
  /// The key of a candidate's word.
  Value keyOf(Value candidateWord);

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
  const TopKShape shape;
  const TopKWord word;

  Value thread, wave, lane, threadI32, waveI32, laneI32;
  /// 0, which the backend does not know. Added to the bound of a short loop it
  /// keeps the loop: unrolled, those of the selection make the kernel several
  /// times as long, and the masks of their lanes fill the scalar registers.
  Value unknownZero;
  /// LDS: pairs of word and column; buckets of each pass, the last one's first;
  /// bucket and rest that a pass picked; counts over waves for tiles and for
  /// candidates, three turns of each.
  Value buffer, buckets, picked, tileCounts, candidateCounts;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_TOPKSELECT_H
