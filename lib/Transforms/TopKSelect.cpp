//===- TopKSelect.cpp - The best of the candidates in LDS --------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopKKernel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pa;

/// Keys of -inf and +inf: between them lie those of all numbers.
constexpr int64_t kMinNumberKey = 0x007FFFFF;
constexpr int64_t kMaxNumberKey = 0xFF800000;
constexpr int64_t kSign = 0x80000000;

//===----------------------------------------------------------------------===//
// Structure and wave primitives
//===----------------------------------------------------------------------===//

SmallVector<Value>
TopKKernel::branch(Value condition,
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

void TopKKernel::branch(Value condition, llvm::function_ref<void()> onTrue) {
  auto op = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  onTrue();
}

SmallVector<Value> TopKKernel::loop(
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

void TopKKernel::forEachItem(Value from, Value count,
                             llvm::function_ref<void(Value)> body) {
  loop(add(from, thread), count, index(shape.threads), {},
       [&](Value item, ValueRange) {
         body(item);
         return SmallVector<Value>();
       });
}

/// Orders the accesses to LDS. Loads from memory in flight are not waited for.
void TopKKernel::barrier() { b.create<amdgpu::LDSBarrierOp>(); }

/// The mask of the lanes whose bit is set, in scalar registers.
Value TopKKernel::ballot(Value bit) {
  return b.create<ROCDL::BallotOp>(
      b.getIntegerType(static_cast<unsigned>(shape.lanes)), bit);
}

/// The lane's own bit of a mask in scalar registers.
Value TopKKernel::isSet(Value mask) {
  return b
      .create<LLVM::CallIntrinsicOp>(
          b.getI1Type(), b.getStringAttr("llvm.amdgcn.inverse.ballot"), mask)
      .getResult(0);
}

Value TopKKernel::countBits(Value mask) {
  Value bits = b.create<math::CtPopOp>(mask);
  return bits.getType().isInteger(32)
             ? bits
             : b.create<arith::TruncIOp>(b.getI32Type(), bits);
}

/// `start` and the set bits of lanes below the lane's own.
Value TopKKernel::countBitsBelowLane(Value mask, Value start) {
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

/// Adds `count`, which is uniform, to what the waves after this one read, and
/// to what all read; returns the two sums as this wave reads them. `counters`
/// has two turns, used alternately, which only grow: the caller subtracts what
/// it read in the turn before, so that one barrier is enough and nothing has to
/// be cleared between.
std::pair<Value, Value> TopKKernel::prefixOverWaves(Value counters,
                                                    Value parity, Value count) {
  // Lane j adds the count to what wave j, or with j = waves everyone, reads.
  Value isAfter = compare(arith::CmpIPredicate::ugt, laneI32, waveI32);
  Value isUsed = compare(arith::CmpIPredicate::ule, laneI32, i32(shape.waves));
  branch(bitAnd(isAfter, isUsed), [&] {
    b.create<memref::AtomicRMWOp>(arith::AtomicRMWKind::addi, count, counters,
                                  ValueRange{parity, lane});
  });
  barrier();
  Value base =
      uniform(b.create<memref::LoadOp>(counters, ValueRange{parity, wave}));
  Value total = uniform(b.create<memref::LoadOp>(
      counters, ValueRange{parity, index(shape.waves)}));
  return {base, total};
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Value TopKKernel::toKey(Value bits) {
  Value magnitude = bitAnd(bits, i32(0x7FFFFFFF));
  Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, i32(0x7F800000));
  Value spread = b.create<arith::ShRSIOp>(bits, i32(31));
  Value flip = bitOr(spread, i32(kSign));
  Value key = b.create<arith::XOrIOp>(bits, flip);
  return select(isNan, i32(0), key);
}

/// The bits of the value that has `key`; of NaN for 0.
Value TopKKernel::fromKey(Value key) {
  // The inverse of the sign, which is the greatest bit of the key.
  Value spread = b.create<arith::ShRSIOp>(key, i32(31));
  Value flip = bitOr(b.create<arith::XOrIOp>(spread, i32(-1)), i32(kSign));
  return b.create<arith::XOrIOp>(key, flip);
}

/// The least value with at least `key`, as f32. -inf for NaN: what is not less
/// than it is everything.
Value TopKKernel::thresholdAt(Value key) {
  Value number = b.create<arith::MaxUIOp>(key, i32(kMinNumberKey));
  number = b.create<arith::MinUIOp>(number, i32(kMaxNumberKey));
  return b.create<arith::BitcastOp>(b.getF32Type(), fromKey(number));
}

/// The least value that is better than `key` and has at least `floorKey`.
Value TopKKernel::thresholdAbove(Value key, Value floorKey) {
  return thresholdAt(b.create<arith::MaxUIOp>(add(key, 1), floorKey));
}

/// Turns the bits of the values of candidates `from` to `to` into their keys.
void TopKKernel::toKeys(Value from, Value to) {
  Value zero = index(0);
  forEachItem(toIndex(from), toIndex(to), [&](Value item) {
    Value bits = b.create<memref::LoadOp>(buffer, ValueRange{item, zero});
    b.create<memref::StoreOp>(toKey(bits), buffer, ValueRange{item, zero});
  });
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// The key of the `wanted`-th best of the first `count` candidates, which hold
/// keys. Eight bits in each pass: the candidates that agree with what is known
/// of the key are counted by their next bits.
TopKKernel::Cut TopKKernel::select(Value count, Value wanted) {
  const int64_t passes = TopKShape::kPasses, bucketCount = TopKShape::kBuckets;
  Value zero = index(0);
  forEachItem(zero, index(passes * bucketCount), [&](Value item) {
    b.create<memref::StoreOp>(
        i32(0), buckets,
        ValueRange{div(item, bucketCount), rem(item, bucketCount)});
  });
  branch(less(thread, index(2 * (shape.waves + 1))), [&] {
    b.create<memref::StoreOp>(
        i32(0), candidateCounts,
        ValueRange{div(thread, shape.waves + 1), rem(thread, shape.waves + 1)});
  });
  barrier();

  SmallVector<Value> result = loop(
      zero, add(unknownZero, passes), index(1),
      {i32(0), i32(0), i32(24), wanted},
      [&](Value pass, ValueRange args) -> SmallVector<Value> {
        Value known = args[0], knownMask = args[1], shift = args[2],
              rest = args[3];
        forEachItem(zero, toIndex(count), [&](Value item) {
          Value key = b.create<memref::LoadOp>(buffer, ValueRange{item, zero});
          Value differs =
              bitAnd(b.create<arith::XOrIOp>(key, known), knownMask);
          branch(equal(differs, i32(0)), [&] {
            Value bucket = bitAnd(b.create<arith::ShRUIOp>(key, shift),
                                  i32(bucketCount - 1));
            b.create<memref::AtomicRMWOp>(arith::AtomicRMWKind::addi, i32(1),
                                          buckets,
                                          ValueRange{pass, toIndex(bucket)});
          });
        });
        barrier();

        // The first wave finds the bucket: lane 0 has the greatest ones.
        branch(equal(wave, zero), [&] {
          const int64_t each = bucketCount / shape.lanes;
          Value first = sub(index(bucketCount - each), mul(lane, each));
          auto type = VectorType::get({each}, b.getI32Type());
          Value counts =
              b.create<vector::LoadOp>(type, buckets, ValueRange{pass, first});
          SmallVector<Value> own;
          Value sum = i32(0);
          for (int64_t i = each - 1; i >= 0; --i) {
            own.push_back(b.create<vector::ExtractOp>(counts, i));
            sum = add(sum, own.back());
          }
          Value upTo = loop(
              zero,
              add(unknownZero,
                  llvm::Log2_64(static_cast<uint64_t>(shape.lanes))),
              index(1), {sum, i32(1)},
              [&](Value, ValueRange args) -> SmallVector<Value> {
                Value partial = args[0], distance = args[1];
                auto shuffle = b.create<gpu::ShuffleOp>(
                    partial, distance, i32(shape.lanes), gpu::ShuffleMode::UP);
                Value received = select(less(laneI32, distance), i32(0),
                                        shuffle.getShuffleResult());
                return {add(partial, received), add(distance, distance)};
              })[0];
          Value before = sub(upTo, sum);
          Value isHere = bitAnd(less(before, rest),
                                compare(arith::CmpIPredicate::sle, rest, upTo));
          branch(isHere, [&] {
            Value bucket = add(toI32(first), each - 1),
                  left = sub(rest, before);
            Value isFound = b.create<arith::ConstantOp>(b.getBoolAttr(false));
            for (int64_t i = 0; i + 1 < each; ++i) {
              Value isBelow = compare(arith::CmpIPredicate::sgt, left, own[i]);
              Value goesOn = bitAnd(
                  isBelow,
                  b.create<arith::XOrIOp>(isFound, b.create<arith::ConstantOp>(
                                                       b.getBoolAttr(true))));
              isFound = b.create<arith::XOrIOp>(
                  goesOn, b.create<arith::ConstantOp>(b.getBoolAttr(true)));
              left = select(goesOn, sub(left, own[i]), left);
              bucket = select(goesOn, add(bucket, -1), bucket);
            }
            b.create<memref::StoreOp>(bucket, picked, ValueRange{pass, zero});
            b.create<memref::StoreOp>(left, picked, ValueRange{pass, index(1)});
          });
        });
        barrier();
        Value bucket =
            uniform(b.create<memref::LoadOp>(picked, ValueRange{pass, zero}));
        Value left = uniform(
            b.create<memref::LoadOp>(picked, ValueRange{pass, index(1)}));
        return {bitOr(known, b.create<arith::ShLIOp>(bucket, shift)),
                bitOr(knownMask,
                      b.create<arith::ShLIOp>(i32(bucketCount - 1), shift)),
                add(shift, -8), left};
      });
  return {result[0], result[3]};
}

/// Keeps of the first `count` candidates those better than the cut, and of
/// those that equal it the first ones. Their order stays.
void TopKKernel::keepBest(Value count, const Cut &cut) {
  Value zero = index(0), one = index(1);
  Value total = toIndex(count);
  Value none = i32(0);
  // Both counts of a tile in one word, neither of which has more than 16 bits.
  constexpr int64_t kHalf = 16;
  loop(zero, total, index(shape.threads),
       {none, none, zero, none, none, none, none},
       [&](Value first, ValueRange args) -> SmallVector<Value> {
         Value better = args[0], ties = args[1], parity = args[2],
               lastBase = args[3], lastTotal = args[4], otherBase = args[5],
               otherTotal = args[6];
         Value item = add(first, thread);
         Value isItem = less(item, total);
         Value position = min(item, sub(total, one));
         Value key =
             b.create<memref::LoadOp>(buffer, ValueRange{position, zero});
         Value column =
             b.create<memref::LoadOp>(buffer, ValueRange{position, one});
         Value isBetter =
             bitAnd(isItem, compare(arith::CmpIPredicate::ugt, key, cut.key));
         Value isTie = bitAnd(isItem, equal(key, cut.key));
         Value betterMask = ballot(isBetter), tieMask = ballot(isTie);
         Value both =
             bitOr(countBits(betterMask),
                   b.create<arith::ShLIOp>(countBits(tieMask), i32(kHalf)));
         auto [base, sum] = prefixOverWaves(candidateCounts, parity, both);
         Value before = sub(base, lastBase), inTile = sub(sum, lastTotal);
         Value low = i32(0xFFFF);
         Value betterBefore =
             countBitsBelowLane(betterMask, add(better, bitAnd(before, low)));
         Value tiesBefore = countBitsBelowLane(
             tieMask, add(ties, b.create<arith::ShRUIOp>(before, i32(kHalf))));
         Value isKept =
             bitOr(isBetter, bitAnd(isTie, less(tiesBefore, cut.ties)));
         branch(isKept, [&] {
           Value to = toIndex(add(betterBefore, min(tiesBefore, cut.ties)));
           b.create<memref::StoreOp>(key, buffer, ValueRange{to, zero});
           b.create<memref::StoreOp>(column, buffer, ValueRange{to, one});
         });
         return {add(better, bitAnd(inTile, low)),
                 add(ties, b.create<arith::ShRUIOp>(inTile, i32(kHalf))),
                 sub(one, parity),
                 otherBase,
                 otherTotal,
                 base,
                 sum};
       });
  barrier();
}

/// Keeps the k best, of at least k; returns the key of the last one.
Value TopKKernel::keepBestOf(const Candidates &all) {
  barrier();
  toKeys(all.keyed, all.count);
  Cut cut = select(all.count, i32(shape.k));
  keepBest(all.count, cut);
  return cut.key;
}

/// Sorts the first `count` candidates, which hold keys and stand in ascending
/// order of their columns, by descending key and ascending column.
void TopKKernel::sortByValue(Value count) {
  const int64_t size = shape.getSortSize();
  Value zero = index(0), one = index(1), two = index(2);
  // What fills up to the power of two comes last: no column is that great.
  forEachItem(toIndex(count), index(size), [&](Value item) {
    b.create<memref::StoreOp>(i32(0), buffer, ValueRange{item, zero});
    b.create<memref::StoreOp>(i32(0x7FFFFFFF), buffer, ValueRange{item, one});
  });
  const int64_t levels = llvm::Log2_64(static_cast<uint64_t>(size));
  loop(
      one, add(unknownZero, levels + 1), one, {}, [&](Value level, ValueRange) {
        Value runLength = b.create<arith::ShLIOp>(one, level);
        loop(zero, level, one, {}, [&](Value step, ValueRange) {
          barrier();
          Value shift = sub(sub(level, one), step);
          Value distance = b.create<arith::ShLIOp>(one, shift);
          forEachItem(zero, index(size / 2), [&](Value pair) {
            // The pair number with a 0 put in at the bit of the distance.
            Value inRun = bitAnd(pair, sub(distance, one));
            Value first =
                add(b.create<arith::MulIOp>(sub(pair, inRun), two), inRun);
            Value second = add(first, distance);
            auto load = [&](Value item, Value part) -> Value {
              return b.create<memref::LoadOp>(buffer, ValueRange{item, part});
            };
            Value keyA = load(first, zero), keyB = load(second, zero);
            Value columnA = load(first, one), columnB = load(second, one);
            Value isBehind = bitOr(
                compare(arith::CmpIPredicate::ult, keyA, keyB),
                bitAnd(equal(keyA, keyB),
                       compare(arith::CmpIPredicate::ugt, columnA, columnB)));
            Value isDescending = equal(bitAnd(first, runLength), zero);
            branch(equal(isBehind, isDescending), [&] {
              b.create<memref::StoreOp>(keyB, buffer, ValueRange{first, zero});
              b.create<memref::StoreOp>(columnB, buffer,
                                        ValueRange{first, one});
              b.create<memref::StoreOp>(keyA, buffer, ValueRange{second, zero});
              b.create<memref::StoreOp>(columnA, buffer,
                                        ValueRange{second, one});
            });
          });
          return SmallVector<Value>();
        });
        return SmallVector<Value>();
      });
  barrier();
}
