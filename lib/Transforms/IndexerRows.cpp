//===- IndexerRows.cpp - The best columns of some query rows ----*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexerRows.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::pa;

/// Words of a state: candidates, threshold, end, and one that is not used.
constexpr int64_t kStateWords = 4;
/// No number is below a NaN, so that as a threshold it lets in everything.
constexpr int64_t kNan = 0x7FC00000;

void IndexerRows::emitStart(Value hiddenZero,
                            function_ref<Value(Value row)> getEnd) {
  emitLaneIds();
  unknownZero = hiddenZero;
  // From 1 to `rows`, so that a loop over them has no guard.
  rowCount = min(max(add(hiddenZero, rows), i32(1)), i32(rows));
  if (rows == 1)
    allBuffers = addLds({shape.getBufferSize(), 2});
  else
    allBuffers = addLds({rows, shape.getBufferSize(), 2});
  emitSelectBuffers();
  states = addLds({shape.select.waves, rows, kStateWords});
  branch(less(lane, index(rows)), [&] {
    auto type = VectorType::get({kStateWords}, b.getI32Type());
    Value none = i32(0);
    Value state = b.create<vector::FromElementsOp>(
        type, ValueRange{none, i32(kNan), getEnd(lane), none});
    b.create<vector::StoreOp>(state, states, ValueRange{wave, lane, index(0)});
  });
  clearCounts(tileCounts);
  barrier();
}

/// Makes the candidates of `row` those that the selection works on.
void IndexerRows::takeRow(Value row) {
  if (rows == 1) {
    buffer = allBuffers;
    return;
  }
  auto type = cast<MemRefType>(allBuffers.getType());
  const int64_t size = shape.getBufferSize();
  SmallVector<OpFoldResult> offsets{row, b.getIndexAttr(0), b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), b.getIndexAttr(size),
                                  b.getIndexAttr(2)};
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  auto rowType = memref::SubViewOp::inferRankReducedResultType(
      {size, 2}, type, offsets, sizes, strides);
  buffer =
      b.create<memref::SubViewOp>(rowType, allBuffers, offsets, sizes, strides);
}

/// The rows one after another, with one value carried along.
Value IndexerRows::forEachRow(
    Value carried, function_ref<Value(Value row, Value carried)> body) {
  if (rows == 1)
    return body(index(0), carried);
  return loop(i32(0), rowCount, i32(1), carried,
              [&](Value row, ValueRange args) {
                return SmallVector<Value>{body(toIndex(row), args[0])};
              })[0];
}

void IndexerRows::renewNumbers() {
  threadI32 = b.create<AssumeOp>(b.getI32Type(), renew(threadI32, "=v,0"),
                                 b.getI64IntegerAttr(0),
                                 b.getI64IntegerAttr(shape.select.threads - 1),
                                 IntegerAttr(), UnitAttr(), UnitAttr());
  thread = toIndex(threadI32);
  laneI32 = rem(threadI32, shape.select.lanes);
  lane = toIndex(laneI32);
  waveI32 = renew(waveI32, "=s,0");
  wave = toIndex(waveI32);
  unknownZero = renew(i32(0), "=s,0");
}

IndexerRows::Numbers IndexerRows::getNumbers() {
  return {thread, threadI32, lane, laneI32, wave, waveI32, unknownZero};
}

void IndexerRows::setNumbers(const Numbers &numbers) {
  std::tie(thread, threadI32, lane, laneI32, wave, waveI32, unknownZero) =
      numbers;
}

/// Drops all but the k best of `count` candidates, and returns how many stayed
/// and the bits of the new threshold.
std::pair<Value, Value> IndexerRows::compact(Value count) {
  const Numbers outside = getNumbers();
  renewNumbers();
  Cut cut = findCut(count, i32(shape.select.k), i32(shape.getSlack()));
  keepBest(count, cut);
  // At least k of them have the key of the cut, so that a later column needs
  // more. Nothing is above +inf: what equals it comes in and is dropped again.
  Value key =
      b.create<arith::MinUIOp>(add(cut.key, 1), i32(TopKShape::kMaxNumberKey));
  Value threshold = fromKey(key);
  setNumbers(outside);
  return {cut.kept, threshold};
}

Value IndexerRows::emitRow(
    Value row, Value turn,
    function_ref<Offer(Value row, int64_t step, Value end)> offer) {
  takeRow(row);
  const Numbers outside = getNumbers();
  renewNumbers();
  auto stateType = VectorType::get({kStateWords}, b.getI32Type());
  Value state = b.create<vector::LoadOp>(stateType, states,
                                         ValueRange{wave, row, index(0)});
  Value found = uniform(b.create<vector::ExtractOp>(state, 0));
  Value bits = b.create<vector::ExtractOp>(state, 1);
  Value end = b.create<vector::ExtractOp>(state, 2);
  Value threshold = b.create<arith::BitcastOp>(b.getF32Type(), bits);

  struct Hits {
    Offer offer;
    Value isHit, mask, count;
  };
  SmallVector<Hits> steps;
  Value sum = i32(0);
  for (int64_t step = 0; step < shape.steps; ++step) {
    Hits hits;
    hits.offer = offer(row, step, end);
    // True for a NaN on either side.
    Value isAbove = b.create<arith::CmpFOp>(arith::CmpFPredicate::UGE,
                                            hits.offer.value, threshold);
    hits.isHit = bitAnd(isAbove, hits.offer.isOffered);
    // Of comparisons, which write masks: of their conjunction the backend makes
    // a mask by way of registers.
    hits.mask = bitAnd(ballot(isAbove), ballot(hits.offer.isOffered));
    hits.count = countBits(hits.mask);
    sum = add(sum, hits.count);
    steps.push_back(hits);
  }
  auto [before, all] = prefixOverWaves(tileCounts, turn, sum);
  Value overflows = compare(arith::CmpIPredicate::sgt, add(found, all),
                            i32(shape.select.candidates));
  SmallVector<Value> kept = branch(
      overflows,
      [&] {
        auto [count, newBits] = compact(found);
        return SmallVector<Value>{count, newBits};
      },
      [&] { return SmallVector<Value>{found, bits}; });

  auto pairType = VectorType::get({2}, b.getI32Type());
  Value position = add(kept[0], before);
  for (const Hits &hits : steps) {
    Value own = countBitsBelowLane(hits.mask, position);
    branch(hits.isHit, [&] {
      Value word = b.create<arith::BitcastOp>(b.getI32Type(), hits.offer.value);
      Value pair = b.create<vector::FromElementsOp>(
          pairType, ValueRange{word, hits.offer.column});
      b.create<vector::StoreOp>(pair, buffer,
                                ValueRange{toIndex(own), index(0)});
    });
    position = add(position, hits.count);
  }
  // All lanes store the same.
  Value newState = b.create<vector::FromElementsOp>(
      stateType, ValueRange{add(kept[0], all), kept[1], end, i32(0)});
  b.create<vector::StoreOp>(newState, states, ValueRange{wave, row, index(0)});
  setNumbers(outside);
  return nextTurn(turn);
}

Value IndexerRows::emitRound(
    Value turn, function_ref<Offer(Value row, int64_t step, Value end)> offer) {
  return forEachRow(
      turn, [&](Value row, Value turn) { return emitRow(row, turn, offer); });
}

void IndexerRows::emitFinish(Order order,
                             function_ref<void(Value row, Value count)> write) {
  Value k = i32(shape.select.k);
  forEachRow(i32(0), [&](Value row, Value none) {
    takeRow(row);
    renewNumbers();
    Value found = uniform(
        b.create<memref::LoadOp>(states, ValueRange{wave, row, index(0)}));
    barrier();
    branch(compare(arith::CmpIPredicate::sgt, found, k),
           [&] { keepBest(found, findCut(found, k, i32(0))); });
    Value count = max(min(found, k), i32(0));
    if (order == Order::by_value)
      sortByValue(count);
    write(row, count);
    return none;
  });
}

void IndexerRows::forEachFound(
    Value count,
    function_ref<void(Value item, Value bits, Value column)> body) {
  forEachItem(i32(0), count, [&](Value itemI32) {
    Value item = toIndex(itemI32);
    Value bits = b.create<memref::LoadOp>(buffer, ValueRange{item, index(0)});
    Value column = b.create<memref::LoadOp>(buffer, ValueRange{item, index(1)});
    body(item, bits, column);
  });
}

void IndexerRows::forEachMissing(Value count,
                                 function_ref<void(Value item)> body) {
  forEachItem(count, i32(shape.select.k),
              [&](Value item) { body(toIndex(item)); });
}

void IndexerRows::onFirstThread(function_ref<void()> body) {
  branch(equal(thread, index(0)), body);
}
