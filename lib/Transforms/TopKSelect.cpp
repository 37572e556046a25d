//===- TopKSelect.cpp - The best of the candidates in LDS --------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopKSelect.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kNan = 0x7FC00000;
constexpr int64_t kSign = TopKShape::kSign;

//===----------------------------------------------------------------------===//
// Structure and wave primitives
//===----------------------------------------------------------------------===//

void TopKSelect::emitLaneIds() {
  thread = kernel.threadId();
  threadI32 = toI32(thread);
  // The wave number is the same in all lanes, which nothing but this tells the
  // backend.
  waveI32 = uniform(toI32(div(thread, shape.lanes)));
  wave = toIndex(waveI32);
  lane = rem(thread, shape.lanes);
  laneI32 = toI32(lane);
}

Value TopKSelect::addLds(ArrayRef<int64_t> dims) {
  return kernel.addLds(MemRefType::get(
      dims, b.getI32Type(), MemRefLayoutAttrInterface(), kernel.ldsSpace()));
}

void TopKSelect::emitSelectBuffers() {
  buckets = addLds({TopKShape::kPasses * TopKShape::kBuckets});
  picked = addLds({TopKShape::kPasses, 3});
  tileCounts = addLds({TopKShape::kTurns, shape.waves + 1});
  candidateCounts = addLds({TopKShape::kTurns, shape.waves + 1});
}

SmallVector<Value>
TopKSelect::branch(Value condition,
                   llvm::function_ref<SmallVector<Value>()> onTrue,
                   llvm::function_ref<SmallVector<Value>()> onFalse) {
  auto emitYield = [&](llvm::function_ref<SmallVector<Value>()> emit) {
    return [&b = b, emit](OpBuilder &nested, Location loc) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(nested.getInsertionBlock(),
                          nested.getInsertionPoint());
      SmallVector<Value> values = emit();
      b.create<scf::YieldOp>(values);
    };
  };
  auto op =
      b.create<scf::IfOp>(condition, emitYield(onTrue), emitYield(onFalse));
  return llvm::to_vector_of<Value>(op.getResults());
}

void TopKSelect::branch(Value condition, llvm::function_ref<void()> onTrue) {
  auto op = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  onTrue();
}

SmallVector<Value> TopKSelect::loop(
    Value from, Value to, Value step, ValueRange init,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = b.create<scf::ForOp>(from, to, step, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value> yielded =
      body(op.getInductionVar(), op.getRegionIterArgs());
  if (!init.empty())
    b.create<scf::YieldOp>(yielded);
  return llvm::to_vector_of<Value>(op.getResults());
}

void TopKSelect::forEachItem(Value from, Value count,
                             llvm::function_ref<void(Value)> body) {
  loop(add(from, threadI32), count, i32(shape.threads), {},
       [&](Value item, ValueRange) {
         body(item);
         return SmallVector<Value>();
       });
}

/// Orders the accesses to LDS. Loads from memory in flight are not waited for.
void TopKSelect::barrier() { b.create<amdgpu::LDSBarrierOp>(); }

/// The mask of the lanes whose bit is set, in scalar registers.
Value TopKSelect::ballot(Value bit) {
  return b.create<ROCDL::BallotOp>(
      b.getIntegerType(static_cast<unsigned>(shape.lanes)), bit);
}

Value TopKSelect::countBits(Value mask) {
  Value bits = b.create<math::CtPopOp>(mask);
  return bits.getType().isInteger(32)
             ? bits
             : b.create<arith::TruncIOp>(b.getI32Type(), bits);
}

/// `start` and the set bits of lanes below the lane's own.
Value TopKSelect::countBitsBelowLane(Value mask, Value start) {
  Type type = b.getI32Type();
  ArrayAttr none;
  if (shape.lanes == 32)
    return b.create<ROCDL::MbcntLoOp>(type, mask, start, none, none);
  Value low = b.create<arith::TruncIOp>(type, mask);
  Value shift = b.create<arith::ConstantOp>(b.getI64IntegerAttr(32));
  Value high =
      b.create<arith::TruncIOp>(type, b.create<arith::ShRUIOp>(mask, shift));
  Value inLow = b.create<ROCDL::MbcntLoOp>(type, low, start, none, none);
  return b.create<ROCDL::MbcntHiOp>(type, high, inLow, none, none);
}

/// Sets what prefixOverWaves counts with to 0.
void TopKSelect::clearCounts(Value counters) {
  const int64_t each = shape.waves + 1;
  branch(less(thread, index(TopKShape::kTurns * each)), [&] {
    b.create<memref::StoreOp>(i32(0), counters,
                              ValueRange{div(thread, each), rem(thread, each)});
  });
}

/// The sum of `count`, which is uniform, over the waves before this one, and
/// over all. One barrier is enough, as three turns of counters are used one
/// after another: what all have read in the turn before the last is set to 0
/// before the barrier, for those that add to it after the barrier.
std::pair<Value, Value> TopKSelect::prefixOverWaves(Value counters, Value turn,
                                                    Value count) {
  if (shape.waves == 1)
    return {i32(0), count};
  // Lane j adds the count to what wave j, or with j = waves everyone, reads.
  Value isAfter = compare(arith::CmpIPredicate::ugt, laneI32, waveI32);
  Value isUsed = compare(arith::CmpIPredicate::ule, laneI32, i32(shape.waves));
  Value now = toIndex(turn), next = toIndex(nextTurn(turn));
  branch(bitAnd(isAfter, isUsed), [&] {
    b.create<memref::AtomicRMWOp>(arith::AtomicRMWKind::addi, count, counters,
                                  ValueRange{now, lane});
  });
  branch(equal(waveI32, i32(0)), [&] {
    branch(isUsed, [&] {
      b.create<memref::StoreOp>(i32(0), counters, ValueRange{next, lane});
    });
  });
  barrier();
  Value before =
      uniform(b.create<memref::LoadOp>(counters, ValueRange{now, wave}));
  Value all = uniform(
      b.create<memref::LoadOp>(counters, ValueRange{now, index(shape.waves)}));
  return {before, all};
}

Value TopKSelect::nextTurn(Value turn) {
  return select(equal(turn, i32(TopKShape::kTurns - 1)), i32(0), add(turn, 1));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Value TopKSelect::toKey(Value bits) {
  Value magnitude = bitAnd(bits, i32(0x7FFFFFFF));
  Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, i32(0x7F800000));
  Value spread = b.create<arith::ShRSIOp>(bits, i32(31));
  Value flip = bitOr(spread, i32(kSign));
  Value key = b.create<arith::XOrIOp>(bits, flip);
  return select(isNan, i32(0), key);
}

Value TopKSelect::keyOf(Value candidateWord) {
  if (word == TopKWord::key)
    return candidateWord;
  // As toKey has it, in fewer instructions.
  Value spread = b.create<arith::ShRSIOp>(candidateWord, i32(31));
  Value key = b.create<arith::XOrIOp>(candidateWord, bitOr(spread, i32(kSign)));
  Value value = b.create<arith::BitcastOp>(b.getF32Type(), candidateWord);
  Value isNan =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  return select(isNan, i32(0), key);
}

Value TopKSelect::renew(Value value, StringRef constraints) {
  return b
      .create<LLVM::InlineAsmOp>(
          value.getType(), value, /*asm_string=*/"", constraints,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// The bits of the value that has `key`; of NaN for 0.
Value TopKSelect::fromKey(Value key) {
  // The inverse of the sign, which is the greatest bit of the key.
  Value spread = b.create<arith::ShRSIOp>(key, i32(31));
  Value flip = bitOr(b.create<arith::XOrIOp>(spread, i32(-1)), i32(kSign));
  return b.create<arith::XOrIOp>(key, flip);
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// Item i of `count` for each thread in turn, four at once, so that the loop
/// itself costs less and loads are under way together.
void TopKSelect::forEachFour(Value from, Value count,
                             llvm::function_ref<void(ArrayRef<Value>)> body) {
  constexpr int64_t kAtOnce = 4;
  const int64_t block = kAtOnce * shape.threads;
  Value whole = add(from, mul(div(sub(count, from), block), block));
  loop(add(from, threadI32), whole, i32(block), {},
       [&](Value item, ValueRange) {
         SmallVector<Value> items;
         for (int64_t i = 0; i < kAtOnce; ++i)
           items.push_back(add(item, i * shape.threads));
         body(items);
         return SmallVector<Value>();
       });
  forEachItem(whole, count, [&](Value item) { body(item); });
}

/// Where the buckets of a pass begin. Those of the pass before come behind
/// them, which nobody reads any more: a bucket number that is too great is one
/// of no use, and costs no branch.
Value TopKSelect::firstBucket(Value pass) {
  return mul(sub(i32(TopKShape::kPasses - 1), pass), TopKShape::kBuckets);
}

/// The key of the `wanted`-th best of the first `count` candidates, which hold
/// keys. Eight bits in each pass: the candidates that agree with what is known
/// of the key are counted by their next bits. Ends as soon as all that agree
/// are wanted, or up to `slack` more; the low bits of the key are then 0.
TopKSelect::Cut TopKSelect::findCut(Value count, Value wanted, Value slack) {
  const int64_t passes = TopKShape::kPasses, bucketCount = TopKShape::kBuckets;
  Value zero = index(0), none = i32(0);
  forEachItem(none, i32(passes * bucketCount), [&](Value item) {
    b.create<memref::StoreOp>(none, buckets, toIndex(item));
  });
  clearCounts(candidateCounts);
  barrier();

  // The pass, what is known of the key, how many are still wanted, and how many
  // agree.
  Type type = b.getI32Type();
  SmallVector<Type> types(4, type);
  SmallVector<Location> locs(4, b.getLoc());
  auto whileOp = b.create<scf::WhileOp>(
      types, ValueRange{none, none, wanted, i32(0x7FFFFFFF)});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&whileOp.getBefore(), {}, types, locs);
  Value isTooMany =
      compare(arith::CmpIPredicate::sgt,
              sub(before->getArgument(3), before->getArgument(2)), slack);
  Value pass0 = before->getArgument(0);
  // The key is compared with others, for which a byte of it is too coarse.
  b.create<scf::ConditionOp>(
      bitOr(less(pass0, i32(2)), bitAnd(isTooMany, less(pass0, i32(passes)))),
      before->getArguments());

  Block *after = b.createBlock(&whileOp.getAfter(), {}, types, locs);
  Value passI32 = uniform(after->getArgument(0));
  Value known = uniform(after->getArgument(1)),
        rest = uniform(after->getArgument(2));
  Value pass = toIndex(passI32);
  Value shift = sub(i32(24), mul(passI32, 8));
  // A candidate that does not agree counts in some bucket behind these: of
  // different lanes in different banks.
  Value first = firstBucket(passI32),
        noBucket = add(renew(laneI32, "=v,0"), bucketCount);
  forEachFour(none, count, [&](ArrayRef<Value> items) {
    SmallVector<Value> words;
    for (Value item : items)
      words.push_back(
          b.create<memref::LoadOp>(buffer, ValueRange{toIndex(item), zero}));
    for (Value word : words) {
      Value difference = b.create<arith::XOrIOp>(keyOf(word), known);
      Value bucket = b.create<arith::MinUIOp>(
          b.create<arith::ShRUIOp>(difference, shift), noBucket);
      b.create<memref::AtomicRMWOp>(arith::AtomicRMWKind::addi, i32(1), buckets,
                                    toIndex(add(first, bucket)));
    }
  });
  barrier();
  branch(equal(wave, zero), [&] { pickBucket(passI32, rest); });
  barrier();
  auto load = [&](int64_t i) {
    return uniform(
        b.create<memref::LoadOp>(picked, ValueRange{pass, index(i)}));
  };
  known = bitOr(known, b.create<arith::ShLIOp>(load(0), shift));
  b.create<scf::YieldOp>(ValueRange{add(passI32, 1), known, load(1), load(2)});
  b.setInsertionPointAfter(whileOp);
  Value key = uniform(whileOp.getResult(1)),
        left = uniform(whileOp.getResult(2)),
        agree = uniform(whileOp.getResult(3));
  // Where all that agree are wanted, or kept beside those, none of them is a
  // tie.
  Value isAll = compare(arith::CmpIPredicate::sle, agree, add(left, slack));
  Value kept = select(isAll, add(sub(wanted, left), agree), wanted);
  return {key, select(isAll, key, add(key, 1)), select(isAll, none, left),
          kept};
}

/// Stores the bucket of a pass that has the `rest`-th best, how many are wanted
/// of it, and how many it has. For one wave, whose lane 0 has the greatest
/// buckets.
void TopKSelect::pickBucket(Value passI32, Value rest) {
  const int64_t each = TopKShape::kBuckets / shape.lanes;
  Value zero = index(0), pass = toIndex(passI32);
  Value first = sub(i32(TopKShape::kBuckets - each), mul(laneI32, each));
  auto type = VectorType::get({each}, b.getI32Type());
  Value counts = b.create<vector::LoadOp>(
      type, buckets, toIndex(add(firstBucket(passI32), first)));
  SmallVector<Value> own;
  Value sum = i32(0);
  for (int64_t i = each - 1; i >= 0; --i) {
    own.push_back(b.create<vector::ExtractOp>(counts, i));
    sum = add(sum, own.back());
  }
  const auto steps = llvm::Log2_64(static_cast<uint64_t>(shape.lanes));
  Value upTo =
      loop(i32(0), add(unknownZero, steps), i32(1), {sum, i32(1)},
           [&](Value, ValueRange args) -> SmallVector<Value> {
             Value partial = args[0], distance = args[1];
             auto shuffle = b.create<gpu::ShuffleOp>(
                 partial, distance, i32(shape.lanes), gpu::ShuffleMode::UP);
             Value received = select(less(laneI32, distance), i32(0),
                                     shuffle.getShuffleResult());
             return {add(partial, received), add(distance, distance)};
           })[0];
  Value beforeLane = sub(upTo, sum);
  Value isHere = bitAnd(less(beforeLane, rest),
                        compare(arith::CmpIPredicate::sle, rest, upTo));
  branch(isHere, [&] {
    Value bucket = add(first, each - 1), left = sub(rest, beforeLane);
    Value size = own[0];
    Value isOpen = b.create<arith::ConstantOp>(b.getBoolAttr(true));
    for (int64_t i = 0; i + 1 < each; ++i) {
      isOpen = bitAnd(isOpen, compare(arith::CmpIPredicate::sgt, left, own[i]));
      left = select(isOpen, sub(left, own[i]), left);
      bucket = select(isOpen, add(bucket, -1), bucket);
      size = select(isOpen, own[i + 1], size);
    }
    b.create<memref::StoreOp>(bucket, picked, ValueRange{pass, zero});
    b.create<memref::StoreOp>(left, picked, ValueRange{pass, index(1)});
    b.create<memref::StoreOp>(size, picked, ValueRange{pass, index(2)});
  });
}

/// Keeps of the first `count` candidates those better than the cut, and of
/// those that equal it the first ones. Their order stays.
void TopKSelect::keepBest(Value count, const Cut &cut) {
  Value zero = index(0), one = index(1);
  Value none = i32(0);
  constexpr int64_t kHalf = TopKShape::kHalf;
  // A thread has consecutive items, so that their order is that of threads.
  constexpr int64_t kItems = 2;
  struct Item {
    Value word, column, isBetter, isTie, betterMask, tieMask;
  };
  loop(none, count, i32(kItems * shape.threads), {none, none, none},
       [&](Value first, ValueRange args) -> SmallVector<Value> {
         Value better = args[0], ties = args[1], turn = args[2];
         SmallVector<Item> items;
         Value both = none;
         for (int64_t i = 0; i < kItems; ++i) {
           Item item;
           Value number = add(first, add(mul(threadI32, kItems), i));
           Value isItem = less(number, count);
           Value position = toIndex(min(number, sub(count, i32(1))));
           item.word =
               b.create<memref::LoadOp>(buffer, ValueRange{position, zero});
           item.column =
               b.create<memref::LoadOp>(buffer, ValueRange{position, one});
           Value key = keyOf(item.word);
           item.isBetter = bitAnd(
               isItem, compare(arith::CmpIPredicate::uge, key, cut.bound));
           item.isTie = bitAnd(isItem, equal(key, cut.key));
           item.betterMask = ballot(item.isBetter);
           item.tieMask = ballot(item.isTie);
           both = add(both, countBits(item.betterMask));
           both = add(both, b.create<arith::ShLIOp>(countBits(item.tieMask),
                                                    i32(kHalf)));
           items.push_back(item);
         }
         auto [before, all] = prefixOverWaves(candidateCounts, turn, both);
         Value low = i32(0xFFFF);
         Value betterBefore = add(better, bitAnd(before, low));
         Value tiesBefore =
             add(ties, b.create<arith::ShRUIOp>(before, i32(kHalf)));
         for (const Item &item : items) {
           betterBefore = countBitsBelowLane(item.betterMask, betterBefore);
           tiesBefore = countBitsBelowLane(item.tieMask, tiesBefore);
         }
         for (const Item &item : items) {
           Value isKept = bitOr(item.isBetter,
                                bitAnd(item.isTie, less(tiesBefore, cut.ties)));
           Value to = toIndex(add(betterBefore, min(tiesBefore, cut.ties)));
           branch(isKept, [&] {
             b.create<memref::StoreOp>(item.word, buffer, ValueRange{to, zero});
             b.create<memref::StoreOp>(item.column, buffer,
                                       ValueRange{to, one});
           });
           Type type = b.getI32Type();
           betterBefore =
               add(betterBefore, b.create<arith::ExtUIOp>(type, item.isBetter));
           tiesBefore =
               add(tiesBefore, b.create<arith::ExtUIOp>(type, item.isTie));
         }
         return {add(better, bitAnd(all, low)),
                 add(ties, b.create<arith::ShRUIOp>(all, i32(kHalf))),
                 nextTurn(turn)};
       });
  barrier();
}

/// Sorts the first `count` candidates, which hold keys and stand in ascending
/// order of their columns, by descending key and ascending column.
void TopKSelect::sortByValue(Value count) {
  const int64_t size = shape.getSortSize();
  Value zero = index(0), one = index(1);
  // What fills up to the power of two comes last: no column is that great.
  forEachItem(count, i32(size), [&](Value itemI32) {
    Value item = toIndex(itemI32);
    Value worst = i32(word == TopKWord::key ? 0 : kNan);
    b.create<memref::StoreOp>(worst, buffer, ValueRange{item, zero});
    b.create<memref::StoreOp>(i32(0x7FFFFFFF), buffer, ValueRange{item, one});
  });
  const int64_t levels = llvm::Log2_64(static_cast<uint64_t>(size));
  loop(i32(1), add(unknownZero, levels + 1), i32(1), {},
       [&](Value level, ValueRange) {
         Value runLength = b.create<arith::ShLIOp>(i32(1), level);
         loop(i32(0), level, i32(1), {}, [&](Value step, ValueRange) {
           barrier();
           Value shift = sub(sub(level, i32(1)), step);
           sortStep(runLength, b.create<arith::ShLIOp>(i32(1), shift));
           return SmallVector<Value>();
         });
         return SmallVector<Value>();
       });
  barrier();
}

/// Orders the pairs of candidates `distance` apart, in runs of `runLength` by
/// turns descending and ascending.
void TopKSelect::sortStep(Value runLength, Value distance) {
  Value zero = index(0), one = index(1);
  forEachItem(i32(0), i32(shape.getSortSize() / 2), [&](Value pair) {
    // The pair number with a 0 put in at the bit of the distance.
    Value inRun = bitAnd(pair, sub(distance, i32(1)));
    Value lower = add(mul(sub(pair, inRun), 2), inRun);
    Value first = toIndex(lower), second = toIndex(add(lower, distance));
    auto load = [&](Value item, Value part) -> Value {
      return b.create<memref::LoadOp>(buffer, ValueRange{item, part});
    };
    Value wordA = load(first, zero), wordB = load(second, zero);
    Value keyA = keyOf(wordA), keyB = keyOf(wordB);
    Value columnA = load(first, one), columnB = load(second, one);
    Value isBehind =
        bitOr(compare(arith::CmpIPredicate::ult, keyA, keyB),
              bitAnd(equal(keyA, keyB),
                     compare(arith::CmpIPredicate::ugt, columnA, columnB)));
    Value isDescending = equal(bitAnd(lower, runLength), i32(0));
    branch(equal(isBehind, isDescending), [&] {
      b.create<memref::StoreOp>(wordB, buffer, ValueRange{first, zero});
      b.create<memref::StoreOp>(columnB, buffer, ValueRange{first, one});
      b.create<memref::StoreOp>(wordA, buffer, ValueRange{second, zero});
      b.create<memref::StoreOp>(columnA, buffer, ValueRange{second, one});
    });
  });
}
