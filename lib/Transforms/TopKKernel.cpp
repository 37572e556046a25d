//===- TopKKernel.cpp - The kernel of pa.topk --------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopKKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kVector = TopKShape::kVector;
constexpr int64_t kHalf = TopKShape::kHalf;
constexpr int64_t kMinNumberKey = TopKShape::kMinNumberKey;
constexpr int64_t kMaxNumberKey = TopKShape::kMaxNumberKey;

void TopKKernel::emitBuffers() {
  buffer = addLds({std::max(shape.candidates, shape.getSortSize()), 2});
  emitSelectBuffers();
  waveHits = addLds({shape.waves});
}

/// The value of an i32 operand for the row, the same in all lanes.
Value TopKKernel::loadForRow(StringRef name, Value position) {
  return uniform(
      b.create<memref::LoadOp>(kernel.arg(name), ValueRange{position}));
}

/// All columns fit i32, and scalar registers compare no more than that.
void TopKKernel::emitRange() {
  Value zero = i32(0);
  Value values = kernel.arg("values");
  Value columnCount = b.create<memref::DimOp>(values, 1);
  unknownZero = toI32(b.create<arith::ShRUIOp>(columnCount, index(32)));
  Value columns = toI32(columnCount);
  start = op.getRowStarts() ? max(loadForRow("row_starts", row), zero) : zero;
  end = columns;
  if (op.getRowEnds())
    end = min(loadForRow("row_ends", row), columns);
  if (op.getContextLens()) {
    // Row b * N + i ends N - 1 - i columns before its sequence.
    const int64_t nextN = *op.getNextN();
    Value length = max(loadForRow("context_lens", div(row, nextN)), zero);
    end = min(add(add(length, toI32(rem(row, nextN))), 1 - nextN), columns);
  }
  end = max(start, end);
  source = values;
  if (role != TopKRole::whole) {
    // All splits but the last one with a column have the same number of
    // columns.
    Value length = sub(end, start);
    Value parts = splits > 0 ? i32(splits) : toI32(kernel.arg("num_splits"));
    share = uniform(max(b.create<arith::CeilDivUIOp>(length, parts), i32(1)));
    if (role == TopKRole::split) {
      // Past the end the product may not fit.
      Value before = b.create<arith::MulIOp>(
          b.create<arith::ExtUIOp>(b.getI64Type(), toI32(split)),
          b.create<arith::ExtUIOp>(b.getI64Type(), share));
      Value most = b.create<arith::ExtUIOp>(b.getI64Type(), length);
      before = b.create<arith::TruncIOp>(
          b.getI32Type(), b.create<arith::MinUIOp>(before, most));
      start = uniform(add(start, before));
      end = add(start, min(share, sub(end, start)));
    } else {
      Value k = i32(shape.k);
      Value full = uniform(b.create<arith::DivUIOp>(length, share));
      Value rest = sub(length, b.create<arith::MulIOp>(full, share));
      source = kernel.arg("work_values");
      start = zero;
      end = add(b.create<arith::MulIOp>(full, min(share, k)), min(rest, k));
    }
  }
  count = sub(end, start);
  wanted = min(count, i32(shape.k));

  // Tiles start where 16 bytes are aligned; tile 0 is what lies before.
  auto type = cast<MemRefType>(source.getType());
  auto metadata = b.create<memref::ExtractStridedMetadataOp>(source);
  Value pointer = b.create<memref::ExtractAlignedPointerAsIndexOp>(source);
  Value element = div(pointer, type.getElementTypeBitWidth() / 8);
  element = add(element, metadata.getOffset());
  element =
      add(element, b.create<arith::MulIOp>(row, metadata.getStrides().front()));
  Value past = rem(add(toI32(element), start), kVector);
  Value head = rem(sub(i32(kVector), past), kVector);
  aligned = uniform(add(start, min(head, count)));
  firstTile = select(equal(aligned, start), i32(1), zero);
  lastTile = div(add(sub(end, aligned), shape.tile - 1), shape.tile);
}

/// The columns of a tile, none behind the last one.
TopKKernel::ColumnRange TopKKernel::getTileRange(Value tileNumber) {
  Value isHead = equal(tileNumber, i32(0));
  Value left = sub(end, aligned);
  Value before =
      b.create<arith::MinUIOp>(mul(sub(tileNumber, i32(1)), shape.tile), left);
  Value from = select(isHead, start, add(aligned, before));
  Value size = select(isHead, sub(aligned, start),
                      min(sub(left, before), i32(shape.tile)));
  return {uniform(from), uniform(size)};
}

/// The columns of a run of a tile.
TopKKernel::ColumnRange TopKKernel::getRun(const ColumnRange &tile,
                                           int64_t number) {
  if (shape.runs == 1)
    return tile;
  const int64_t before = number * shape.runColumns;
  Value size = max(sub(tile.size, i32(before)), i32(0));
  return {add(tile.from, before), min(size, i32(shape.runColumns))};
}

/// First column of the lane inside a run. A lane has consecutive columns, so
/// that the order of lanes is that of their columns.
Value TopKKernel::getLaneOffset() { return mul(thread, shape.laneColumns); }

/// Whether all columns of the wave are inside a run of `size` columns.
Value TopKKernel::isWholeWave(Value size) {
  const int64_t waveColumns = shape.lanes * shape.laneColumns;
  return compare(arith::CmpIPredicate::sle, mul(add(waveI32, 1), waveColumns),
                 size);
}

/// The first operand, of which the backend does not see that it is.
Value TopKKernel::hide(ValueRange operands, StringRef constraints) {
  return b
      .create<LLVM::InlineAsmOp>(
          operands[0].getType(), operands, /*asm_string=*/"", constraints,
          /*has_side_effects=*/false, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// The lane's columns of a run, one vector for each load; what lies outside the
/// run is not read.
TopKKernel::Run TopKKernel::loadRun(const ColumnRange &range) {
  Value from = range.from, size = range.size;
  auto type = VectorType::get({kVector}, b.getF32Type());
  Value first = getLaneOffset();
  auto forEachLoad = [&](auto &&emit) {
    Run run;
    for (int64_t load = 0; load < shape.runLoads; ++load)
      run.push_back(emit(add(first, load * kVector)));
    return run;
  };
  auto loadVectors = [&] {
    return forEachLoad([&](Value offset) -> Value {
      return b.create<vector::LoadOp>(
          type, source, ValueRange{row, add(toIndex(from), offset)});
    });
  };
  auto zeros = [&] {
    Value zero = b.create<arith::ConstantOp>(type, b.getZeroAttr(type));
    return Run(shape.runLoads, zero);
  };
  // Lanes behind the end read the last column.
  auto loadElements = [&] {
    Value last = toIndex(sub(size, i32(1)));
    return forEachLoad([&](Value offset) -> Value {
      Value result = b.create<arith::ConstantOp>(type, b.getZeroAttr(type));
      for (int64_t i = 0; i < kVector; ++i) {
        Value position = max(min(add(offset, i), last), index(0));
        Value element = b.create<memref::LoadOp>(
            source, ValueRange{row, add(toIndex(from), position)});
        result = b.create<vector::InsertOp>(element, result, i);
      }
      return result;
    });
  };
  return branch(isWholeWave(size), loadVectors, [&] {
    Value first = mul(waveI32, shape.lanes * shape.laneColumns);
    Run run = branch(less(first, size), loadElements, zeros);
    // Vectors that the backend does not take apart, so that those of the loads
    // are not copied element by element.
    for (Value &vector : run)
      vector = hide(vector, "=v,0");
    return run;
  });
}

/// A bit for each column of the lane, the first one in the lowest: whether it
/// is not below the threshold. That is the sign of the difference; a NaN may
/// have either.
Value TopKKernel::findHits(ArrayRef<Value> run, Value size,
                           const Threshold &threshold) {
  auto type = VectorType::get({kVector}, b.getF32Type());
  Value negated = b.create<vector::BroadcastOp>(
      type, b.create<arith::NegFOp>(threshold.value));
  Value misses = i32(0);
  for (Value vector : llvm::reverse(run)) {
    Value difference = b.create<arith::AddFOp>(vector, negated);
    difference = b.create<arith::BitcastOp>(
        VectorType::get({kVector}, b.getI32Type()), difference);
    for (int64_t i = kVector - 1; i >= 0; --i) {
      Value bits = b.create<vector::ExtractOp>(difference, i);
      misses = bitOr(b.create<arith::ShLIOp>(misses, i32(1)),
                     b.create<arith::ShRUIOp>(bits, i32(31)));
    }
  }
  Value hits = b.create<arith::XOrIOp>(misses, i32(-1));
  // Lanes have up to 16 columns inside the run.
  Value inside = sub(size, mul(threadI32, shape.laneColumns));
  inside = min(max(inside, i32(0)), i32(shape.laneColumns));
  Value mask = sub(b.create<arith::ShLIOp>(i32(1), inside), i32(1));
  return bitAnd(bitOr(hits, threshold.always), mask);
}

/// The hits in lanes below the lane, and those of the wave. One binary digit of
/// the counts of the lanes after another is added up; few lanes have more than
/// three.
std::pair<Value, Value> TopKKernel::prefixOverLanes(Value hits) {
  Value counts = b.create<math::CtPopOp>(hits);
  auto addDigits = [&](int64_t first, int64_t last, Value below, Value total) {
    for (int64_t digit = first; digit <= last; ++digit) {
      Value bit = bitAnd(counts, i32(int64_t(1) << digit));
      Value mask = ballot(compare(arith::CmpIPredicate::ne, bit, i32(0)));
      Value shift = i32(digit);
      below =
          add(below,
              b.create<arith::ShLIOp>(countBitsBelowLane(mask, i32(0)), shift));
      total = add(total, b.create<arith::ShLIOp>(countBits(mask), shift));
    }
    return SmallVector<Value>{below, total};
  };
  SmallVector<Value> sums = addDigits(0, 1, i32(0), i32(0));
  Value many = ballot(compare(arith::CmpIPredicate::ugt, counts, i32(3)));
  Value none = b.create<arith::ConstantOp>(b.getIntegerAttr(many.getType(), 0));
  const int64_t last = llvm::Log2_64(static_cast<uint64_t>(shape.laneColumns));
  sums = branch(
      equal(many, none), [&] { return sums; },
      [&] { return addDigits(2, last, sums[0], sums[1]); });
  return {sums[0], sums[1]};
}

/// Appends the lane's hits to the candidates, from position `position` on. Only
/// their columns: the few values that are needed are read again.
void TopKKernel::insertHits(Value hits, Value from, Value position) {
  Value first = add(from, mul(threadI32, shape.laneColumns));
  Type type = b.getI32Type();
  auto whileOp =
      b.create<scf::WhileOp>(TypeRange{type, type}, ValueRange{hits, position});
  SmallVector<Location> locs(2, b.getLoc());
  OpBuilder::InsertionGuard guard(b);
  Block *before =
      b.createBlock(&whileOp.getBefore(), {}, TypeRange{type, type}, locs);
  b.create<scf::ConditionOp>(
      compare(arith::CmpIPredicate::ne, before->getArgument(0), i32(0)),
      before->getArguments());
  Block *after =
      b.createBlock(&whileOp.getAfter(), {}, TypeRange{type, type}, locs);
  hits = after->getArgument(0);
  position = after->getArgument(1);
  Value bit = b.create<LLVM::CountTrailingZerosOp>(type, hits,
                                                   /*is_zero_poison=*/true);
  b.create<memref::StoreOp>(add(first, bit), buffer,
                            ValueRange{toIndex(position), index(1)});
  hits = bitAnd(hits, add(hits, -1));
  b.create<scf::YieldOp>(ValueRange{hits, add(position, 1)});
}

/// A key that the k-th best of the row probably reaches, or 0.
Value TopKKernel::sampleThreshold() {
  return branch(
      compare(arith::CmpIPredicate::sgt, count, i32(shape.candidates)),
      [&] {
        // Vectors from all over the row, about as many as threads.
        Value vectors =
            min(div(count, 32), max(i32(shape.threads), div(count, 256)));
        vectors = min(vectors, i32(shape.candidates / kVector));
        Value stride = uniform(b.create<arith::DivUIOp>(count, vectors));
        auto type = VectorType::get({kVector}, b.getF32Type());
        forEachItem(i32(0), vectors, [&](Value item) {
          Value column = add(start, b.create<arith::MulIOp>(item, stride));
          Value loaded = b.create<vector::LoadOp>(
              type, source, ValueRange{row, toIndex(column)});
          for (int64_t i = 0; i < kVector; ++i) {
            Value bits = b.create<arith::BitcastOp>(
                b.getI32Type(), b.create<vector::ExtractOp>(loaded, i));
            Value to = toIndex(add(mul(item, kVector), i));
            b.create<memref::StoreOp>(toKey(bits), buffer,
                                      ValueRange{to, index(0)});
          }
        });
        // As many as expected among them and an eighth and 12 more: the spread
        // of that number is about its root. An eighth more does no harm.
        Value samples = mul(vectors, kVector);
        Value expected =
            uniform(b.create<arith::DivUIOp>(mul(samples, shape.k), count));
        Value rank = add(add(expected, div(expected, 8)), 12);
        rank = min(rank, samples);
        Value key = findCut(samples, rank, div(rank, 8)).key;
        // What lets in -inf lets in everything.
        key =
            select(compare(arith::CmpIPredicate::ule, key, i32(kMinNumberKey)),
                   i32(0), key);
        return SmallVector<Value>{key};
      },
      [&] { return SmallVector<Value>{i32(0)}; })[0];
}

/// What lets in the values of at least `key`, and a few others. An infinity has
/// no difference from itself: for -inf or NaN everything is let in, for +inf
/// the greatest finite value too.
TopKKernel::Threshold TopKKernel::thresholdAt(Value key) {
  Value number = b.create<arith::MaxUIOp>(key, i32(kMinNumberKey));
  number = b.create<arith::MinUIOp>(number, i32(kMaxNumberKey - 1));
  Value always = select(equal(number, i32(kMinNumberKey)), i32(-1), i32(0));
  return {b.create<arith::BitcastOp>(b.getF32Type(), fromKey(number)), always};
}

/// What lets in the values that are better than `key` and have at least
/// `floorKey`.
TopKKernel::Threshold TopKKernel::thresholdAbove(Value key, Value floorKey) {
  return thresholdAt(b.create<arith::MaxUIOp>(add(key, 1), floorKey));
}

/// Reads the values of candidates `from` to `to` again and puts their keys
/// beside their columns.
void TopKKernel::toKeys(Value from, Value to) {
  forEachFour(from, to, [&](ArrayRef<Value> items) {
    SmallVector<Value> columns, values;
    for (Value item : items)
      columns.push_back(b.create<memref::LoadOp>(
          buffer, ValueRange{toIndex(item), index(1)}));
    for (Value column : columns)
      values.push_back(
          b.create<memref::LoadOp>(source, ValueRange{row, toIndex(column)}));
    for (auto [item, value] : llvm::zip(items, values)) {
      Value bits = b.create<arith::BitcastOp>(b.getI32Type(), value);
      b.create<memref::StoreOp>(toKey(bits), buffer,
                                ValueRange{toIndex(item), index(0)});
    }
  });
}

/// Keeps the k best, of at least k; returns the key of the last one.
Value TopKKernel::keepBestOf(const Candidates &all) {
  barrier();
  toKeys(all.keyed, all.count);
  Cut cut = findCut(all.count, i32(shape.k), i32(0));
  keepBest(all.count, cut);
  return cut.key;
}

/// Reads the row and returns the candidates, among them all columns that have
/// at least `floorKey` and may be among the best.
TopKKernel::Candidates TopKKernel::collect(Value floorKey) {
  Value none = i32(0);
  barrier();
  clearCounts(tileCounts);
  barrier();

  Threshold first = thresholdAt(floorKey);
  ColumnRange firstRange = getTileRange(firstTile);
  SmallVector<Value> init{none,           none, first.value,
                          first.always,   none, firstRange.from,
                          firstRange.size};
  const size_t fixed = init.size();
  auto loadTile = [&](const ColumnRange &range) {
    SmallVector<Value> tile;
    for (int64_t i = 0; i < shape.runs; ++i)
      llvm::append_range(tile, loadRun(getRun(range, i)));
    return tile;
  };
  llvm::append_range(init, loadTile(firstRange));
  SmallVector<Value> result = loop(
      firstTile, add(lastTile, 1), i32(1), init,
      [&](Value tileNumber, ValueRange args) {
        Value found = args[0], turn = args[4];
        Threshold threshold{args[2], args[3]};
        ColumnRange range{args[5], args[6]};
        SmallVector<Value> tile(args.drop_front(fixed)), hits;
        for (int64_t i = 0; i < shape.runs; ++i)
          hits.push_back(
              findHits(ArrayRef(tile).slice(i * shape.runLoads, shape.runLoads),
                       getRun(range, i).size, threshold));
        // The hits are all that is needed of a tile. The next one is loaded
        // into the same registers, not before they are known, and is on its way
        // while they are dealt with.
        ColumnRange nextRange = getTileRange(add(tileNumber, 1));
        SmallVector<Value> known{nextRange.from};
        llvm::append_range(known, hits);
        nextRange.from =
            uniform(hide(known, shape.runs == 1 ? "=s,0,v" : "=s,0,v,v"));
        SmallVector<Value> next = loadTile(nextRange);

        // The counts of two runs share a word.
        SmallVector<Value> below, own;
        Value counts = none;
        for (Value bits : hits) {
          auto [lanesBelow, sum] = prefixOverLanes(bits);
          counts = add(counts, below.empty()
                                   ? sum
                                   : b.create<arith::ShLIOp>(sum, i32(kHalf)));
          below.push_back(lanesBelow);
          own.push_back(sum);
        }
        auto [before, all] = prefixOverWaves(tileCounts, turn, counts);
        auto part = [&](Value sums, int64_t i) -> Value {
          if (shape.runs == 1)
            return sums;
          return i == 0 ? bitAnd(sums, i32(0xFFFF))
                        : b.create<arith::ShRUIOp>(sums, i32(kHalf));
        };
        Value foundThen = found;
        for (int64_t i = 0; i < shape.runs; ++i)
          foundThen = add(foundThen, part(all, i));
        Value fits = compare(arith::CmpIPredicate::sle, foundThen,
                             i32(shape.candidates));
        SmallVector<Value> state = branch(
            fits,
            [&, before = before, all = all]() -> SmallVector<Value> {
              Value position = found;
              for (int64_t i = 0; i < shape.runs; ++i) {
                Value first = add(add(position, part(before, i)), below[i]);
                insertHits(hits[i], getRun(range, i).from, first);
                position = add(position, part(all, i));
              }
              return {foundThen, args[1], args[2], args[3]};
            },
            [&] {
              SmallVector<Value> state(args.take_front(4));
              for (int64_t i = 0; i < shape.runs; ++i)
                state = insertInTurns(hits[i], below[i], own[i],
                                      getRun(range, i).from, state, floorKey);
              return state;
            });
        SmallVector<Value> yielded(state);
        yielded.append({nextTurn(turn), nextRange.from, nextRange.size});
        llvm::append_range(yielded, next);
        return yielded;
      });
  return {result[0], result[1]};
}

/// Inserts the hits of a run that do not fit at once wave by wave. `state` are
/// the candidates and the threshold; returns what they are then.
SmallVector<Value> TopKKernel::insertInTurns(Value hits, Value lanesBelow,
                                             Value own, Value from,
                                             ArrayRef<Value> state,
                                             Value floorKey) {
  barrier();
  branch(equal(lane, index(0)),
         [&] { b.create<memref::StoreOp>(own, waveHits, ValueRange{wave}); });
  barrier();
  return loop(
      index(0), index(shape.waves), index(1), state,
      [&](Value turn, ValueRange args) -> SmallVector<Value> {
        Value found = args[0], keyed = args[1];
        Value more =
            uniform(b.create<memref::LoadOp>(waveHits, ValueRange{turn}));
        SmallVector<Value> state = branch(
            compare(arith::CmpIPredicate::sgt, add(found, more),
                    i32(shape.candidates)),
            [&]() -> SmallVector<Value> {
              Threshold raised =
                  thresholdAbove(keepBestOf({found, keyed}), floorKey);
              return {i32(shape.k), i32(shape.k), raised.value, raised.always};
            },
            [&]() -> SmallVector<Value> {
              return {found, keyed, args[2], args[3]};
            });
        branch(equal(turn, wave),
               [&] { insertHits(hits, from, add(state[0], lanesBelow)); });
        return {add(state[0], more), state[1], state[2], state[3]};
      });
}

/// The best columns of the range, at most k, in ascending order.
TopKKernel::Candidates TopKKernel::collectAll() {
  Type type = b.getI32Type();
  Value sampled = sampleThreshold();
  // Where fewer than k candidates reach the sampled key, once more without it.
  auto whileOp = b.create<scf::WhileOp>(TypeRange{type, type}, sampled);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&whileOp.getBefore(), {}, type, {b.getLoc()});
  Value floorKey = before->getArgument(0);
  Candidates all = collect(floorKey);
  Value k = i32(shape.k);
  SmallVector<Value> state = branch(
      less(all.count, k),
      [&]() -> SmallVector<Value> {
        return {all.count, all.keyed, less(all.count, wanted)};
      },
      [&]() -> SmallVector<Value> {
        Value key = keepBestOf(all);
        return {k, k, compare(arith::CmpIPredicate::ult, key, floorKey)};
      });
  b.create<scf::ConditionOp>(state[2], ValueRange{state[0], state[1]});
  b.createBlock(&whileOp.getAfter(), {}, {type, type},
                {b.getLoc(), b.getLoc()});
  b.create<scf::YieldOp>(i32(0));
  return {whileOp.getResult(0), whileOp.getResult(1)};
}

void TopKKernel::writeResults(const Candidates &found) {
  Value indices = kernel.arg("indices");
  Value topValues = op.getTopValues() ? kernel.arg("top_values") : Value();
  // What is not there has column -1.
  forEachItem(found.count, i32(shape.k), [&](Value item) {
    b.create<memref::StoreOp>(i32(-1), buffer,
                              ValueRange{toIndex(item), index(1)});
  });
  barrier();
  forEachItem(i32(0), i32(shape.k), [&](Value itemI32) {
    Value item = toIndex(itemI32);
    Value column = b.create<memref::LoadOp>(buffer, ValueRange{item, index(1)});
    Value isThere = compare(arith::CmpIPredicate::ne, column, i32(-1));
    if (role == TopKRole::merge)
      column = branch(
          isThere,
          [&] {
            return SmallVector<Value>{b.create<memref::LoadOp>(
                kernel.arg("work_columns"), ValueRange{row, toIndex(column)})};
          },
          [&] { return SmallVector<Value>{i32(-1)}; })[0];
    b.create<memref::StoreOp>(column, indices, ValueRange{row, item});
    if (!topValues)
      return;
    Value value = branch(
        isThere,
        [&] {
          return SmallVector<Value>{b.create<memref::LoadOp>(
              kernel.arg("values"), ValueRange{row, toIndex(column)})};
        },
        [&] {
          return SmallVector<Value>{b.create<arith::ConstantFloatOp>(
              b.getF32Type(),
              APFloat(-std::numeric_limits<float>::infinity()))};
        })[0];
    b.create<memref::StoreOp>(value, topValues, ValueRange{row, item});
  });
}

/// Leaves what a split found where the merge finds it: one after another, in
/// ascending order.
void TopKKernel::writeSplit(const Candidates &found) {
  Value columns = kernel.arg("work_columns"),
        values = kernel.arg("work_values");
  Value first = b.create<arith::MulIOp>(toI32(split), min(share, i32(shape.k)));
  forEachItem(i32(0), found.count, [&](Value itemI32) {
    Value item = toIndex(itemI32);
    Value key = b.create<memref::LoadOp>(buffer, ValueRange{item, index(0)});
    Value column = b.create<memref::LoadOp>(buffer, ValueRange{item, index(1)});
    Value to = toIndex(add(first, itemI32));
    b.create<memref::StoreOp>(
        b.create<arith::BitcastOp>(b.getF32Type(), fromKey(key)), values,
        ValueRange{row, to});
    b.create<memref::StoreOp>(column, columns, ValueRange{row, to});
  });
}

void TopKKernel::emit() {
  emitLaneIds();
  row = kernel.blockId(gpu::Dimension::x);
  if (role == TopKRole::split)
    split = kernel.blockId(gpu::Dimension::y);
  emitBuffers();
  emitRange();
  Candidates found = collectAll();
  barrier();
  const bool isSorted =
      role != TopKRole::split && op.getOrder() == Order::by_value;
  if (role == TopKRole::split || isSorted) {
    toKeys(found.keyed, found.count);
    barrier();
  }
  if (isSorted)
    sortByValue(found.count);
  if (role == TopKRole::split)
    writeSplit(found);
  else
    writeResults(found);
}
