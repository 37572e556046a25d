//===- TopKKernel.cpp - The kernel of pa.topk --------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopKKernel.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kVector = TopKShape::kVector;

void TopKKernel::emitLaneIds() {
  thread = kernel.threadId();
  // The wave number is the same in all lanes, which nothing but this tells the
  // backend.
  waveI32 = uniform(toI32(div(thread, shape.lanes)));
  wave = toIndex(waveI32);
  lane = rem(thread, shape.lanes);
  laneI32 = toI32(lane);
  row = kernel.blockId(gpu::Dimension::x);
  if (role == TopKRole::split)
    split = kernel.blockId(gpu::Dimension::y);
}

void TopKKernel::emitBuffers() {
  auto addLds = [&](ArrayRef<int64_t> dims) {
    return kernel.addLds(MemRefType::get(
        dims, b.getI32Type(), MemRefLayoutAttrInterface(), kernel.ldsSpace()));
  };
  buffer = addLds({std::max(shape.candidates, shape.getSortSize()), 2});
  buckets = addLds({TopKShape::kPasses, TopKShape::kBuckets});
  picked = addLds({TopKShape::kPasses, 2});
  tileCounts = addLds({2, shape.waves + 1});
  candidateCounts = addLds({2, shape.waves + 1});
  waveHits = addLds({shape.waves});
}

void TopKKernel::emitRange() {
  Value zero = index(0);
  Value values = kernel.arg("values");
  Value columns = b.create<memref::DimOp>(values, 1);
  // Columns are fewer than 2^31.
  unknownZero = b.create<arith::ShRUIOp>(columns, index(32));
  start = op.getRowStarts()
              ? max(loadIndex(kernel.arg("row_starts"), {row}), zero)
              : zero;
  end = op.getRowEnds() ? min(loadIndex(kernel.arg("row_ends"), {row}), columns)
                        : columns;
  end = max(start, end);
  source = values;
  if (role != TopKRole::whole) {
    // All splits but the last one with a column have the same number of
    // columns.
    Value length = sub(end, start);
    share = max(b.create<arith::CeilDivUIOp>(length, index(splits)), index(1));
    if (role == TopKRole::split) {
      start = min(add(start, b.create<arith::MulIOp>(split, share)), end);
      end = min(add(start, share), end);
    } else {
      Value k = index(shape.k);
      Value full = b.create<arith::DivUIOp>(length, share);
      Value rest = b.create<arith::RemUIOp>(length, share);
      source = kernel.arg("work_values");
      start = zero;
      end = add(b.create<arith::MulIOp>(full, min(share, k)), min(rest, k));
    }
  }
  count = sub(end, start);
  wanted = toI32(min(count, index(shape.k)));

  // Tiles start where 16 bytes are aligned; tile 0 is what lies before.
  auto type = cast<MemRefType>(source.getType());
  auto metadata = b.create<memref::ExtractStridedMetadataOp>(source);
  Value pointer = b.create<memref::ExtractAlignedPointerAsIndexOp>(source);
  Value element = div(pointer, type.getElementTypeBitWidth() / 8);
  element = add(element, metadata.getOffset());
  element =
      add(element, b.create<arith::MulIOp>(row, metadata.getStrides().front()));
  Value past = rem(add(element, start), kVector);
  Value head = rem(sub(index(kVector), past), kVector);
  aligned = min(add(start, head), end);
  firstTile = select(equal(aligned, start), index(1), zero);
  lastTile = div(add(sub(end, aligned), shape.tile - 1), shape.tile);
}

/// First column of a tile, and its number of columns.
std::pair<Value, Value> TopKKernel::getTileRange(Value tileNumber) {
  Value isHead = equal(tileNumber, index(0));
  Value to = add(aligned, mul(tileNumber, shape.tile));
  Value from = select(isHead, start, sub(to, index(shape.tile)));
  to = select(isHead, aligned, min(to, end));
  return {from, max(sub(to, from), index(0))};
}

/// First column of the wave inside a tile. A wave has consecutive columns.
Value TopKKernel::getWaveOffset() {
  return mul(wave, shape.loads * shape.lanes * kVector);
}

/// Whether all columns of the wave are inside a tile of `size` columns.
Value TopKKernel::isWholeWave(Value size) {
  return compare(arith::CmpIPredicate::sle,
                 add(getWaveOffset(), shape.loads * shape.lanes * kVector),
                 size);
}

/// The lane's columns of a tile, one vector for each load; what lies outside
/// the tile is not read.
TopKKernel::Tile TopKKernel::loadTile(Value tileNumber) {
  auto [from, size] = getTileRange(tileNumber);
  auto type = VectorType::get({kVector}, b.getF32Type());
  Value first = add(getWaveOffset(), mul(lane, kVector));
  auto forEachLoad = [&](auto &&emit) {
    Tile tile;
    for (int64_t load = 0; load < shape.loads; ++load)
      tile.push_back(emit(add(first, load * shape.lanes * kVector)));
    return tile;
  };
  auto loadVectors = [&, from = from] {
    return forEachLoad([&](Value offset) -> Value {
      return b.create<vector::LoadOp>(type, source,
                                      ValueRange{row, add(from, offset)});
    });
  };
  auto zeros = [&] {
    Value zero = b.create<arith::ConstantOp>(type, b.getZeroAttr(type));
    return Tile(shape.loads, zero);
  };
  // Lanes behind the end read the last column.
  auto loadElements = [&, from = from, size = size] {
    Value last = sub(size, index(1));
    return forEachLoad([&](Value offset) -> Value {
      Value result = b.create<arith::ConstantOp>(type, b.getZeroAttr(type));
      for (int64_t i = 0; i < kVector; ++i) {
        Value position = max(min(add(offset, i), last), index(0));
        Value element = b.create<memref::LoadOp>(
            source, ValueRange{row, add(from, position)});
        result = b.create<vector::InsertOp>(element, result, i);
      }
      return result;
    });
  };
  return branch(isWholeWave(size), loadVectors, [&, size = size] {
    return branch(less(getWaveOffset(), size), loadElements, zeros);
  });
}

/// The masks of the lanes whose element of one load is not below the threshold,
/// one for each element of a lane. NaN always is a hit, the keys of candidates
/// rank it.
SmallVector<Value> TopKKernel::findHits(const Tile &tile, int64_t load,
                                        Value tileNumber, Value threshold) {
  Value size = getTileRange(tileNumber).second;
  Value sizeI32 = toI32(size);
  auto hitMask = [&](int64_t i) {
    Value element = b.create<vector::ExtractOp>(tile[load], i);
    return ballot(
        b.create<arith::CmpFOp>(arith::CmpFPredicate::UGE, element, threshold));
  };
  const int64_t perLoad = shape.lanes * kVector;
  return branch(
      isWholeWave(size),
      [&] {
        SmallVector<Value> masks;
        for (int64_t i = 0; i < kVector; ++i)
          masks.push_back(hitMask(i));
        return masks;
      },
      [&] {
        // A value that only exists here keeps the backend from computing what
        // follows for every tile: it would take more time than all else.
        Value size = uniform(sizeI32);
        SmallVector<Value> masks;
        for (int64_t i = 0; i < kVector; ++i) {
          Value mask = hitMask(i);
          Type type = mask.getType();
          auto constant = [&](int64_t value) -> Value {
            return b.create<arith::ConstantOp>(b.getIntegerAttr(type, value));
          };
          // Lanes whose element is inside the tile.
          Value first = add(mul(waveI32, shape.loads * perLoad),
                            load * perLoad + i - (kVector - 1));
          Value lanes = min(div(max(sub(size, first), i32(0)), kVector),
                            i32(shape.lanes));
          Value shift = min(lanes, i32(shape.lanes - 1));
          if (shape.lanes == 64)
            shift = b.create<arith::ExtUIOp>(type, shift);
          Value below = b.create<arith::SubIOp>(
              b.create<arith::ShLIOp>(constant(1), shift), constant(1));
          Value inside =
              select(equal(lanes, i32(shape.lanes)), constant(-1), below);
          masks.push_back(bitAnd(mask, inside));
        }
        return masks;
      });
}

/// Hits of the wave in a tile.
Value TopKKernel::countHits(const Tile &tile, Value tileNumber,
                            Value threshold) {
  Value sum = i32(0);
  for (int64_t load = 0; load < shape.loads; ++load)
    for (Value mask : findHits(tile, load, tileNumber, threshold))
      sum = add(sum, countBits(mask));
  return sum;
}

/// Appends the wave's hits to the candidates, from position `base` on. They are
/// found again: the masks of all elements would fill the scalar registers. The
/// threshold is read anew, so that the backend does not see that they are
/// known.
void TopKKernel::insertHits(const Tile &tile, Value tileNumber, Value threshold,
                            Value base) {
  Value from = getTileRange(tileNumber).first;
  const int64_t perLoad = shape.lanes * kVector;
  Value firstColumn =
      toI32(add(add(from, getWaveOffset()), mul(lane, kVector)));
  Value bits = b.create<arith::BitcastOp>(b.getI32Type(), threshold);
  threshold = b.create<arith::BitcastOp>(b.getF32Type(), uniform(bits));
  for (int64_t load = 0; load < shape.loads; ++load) {
    SmallVector<Value> masks = findHits(tile, load, tileNumber, threshold);
    Value any = masks[0];
    for (int64_t i = 1; i < kVector; ++i)
      any = bitOr(any, masks[i]);
    Value none =
        b.create<arith::ConstantOp>(b.getIntegerAttr(any.getType(), 0));
    branch(compare(arith::CmpIPredicate::ne, any, none), [&] {
      Value position = base;
      for (Value mask : masks)
        position = countBitsBelowLane(mask, position);
      for (int64_t i = 0; i < kVector; ++i) {
        position = branch(
            isSet(masks[i]),
            [&] {
              Value element = b.create<arith::BitcastOp>(
                  b.getI32Type(), b.create<vector::ExtractOp>(tile[load], i));
              Value column = add(firstColumn, load * perLoad + i);
              Value pair = b.create<vector::FromElementsOp>(
                  VectorType::get({2}, b.getI32Type()),
                  ValueRange{element, column});
              b.create<vector::StoreOp>(
                  pair, buffer, ValueRange{toIndex(position), index(0)});
              return SmallVector<Value>{add(position, 1)};
            },
            [&] { return SmallVector<Value>{position}; })[0];
      }
    });
    for (Value mask : masks)
      base = add(base, countBits(mask));
  }
}

/// A key that the k-th best of the row probably reaches, or 0.
Value TopKKernel::sampleThreshold() {
  return branch(
      compare(arith::CmpIPredicate::ugt, count, index(shape.candidates)),
      [&] {
        // Vectors from all over the row, about as many as threads.
        Value vectors =
            min(div(count, 32), max(index(shape.threads), div(count, 128)));
        vectors = min(vectors, index(shape.candidates / kVector));
        Value stride = b.create<arith::DivUIOp>(count, vectors);
        auto type = VectorType::get({kVector}, b.getF32Type());
        forEachItem(index(0), vectors, [&](Value item) {
          Value column = add(start, b.create<arith::MulIOp>(item, stride));
          Value loaded =
              b.create<vector::LoadOp>(type, source, ValueRange{row, column});
          for (int64_t i = 0; i < kVector; ++i) {
            Value bits = b.create<arith::BitcastOp>(
                b.getI32Type(), b.create<vector::ExtractOp>(loaded, i));
            b.create<memref::StoreOp>(
                toKey(bits), buffer,
                ValueRange{add(mul(item, kVector), i), index(0)});
          }
        });
        // As many as expected among them and a quarter and 16 more: the spread
        // of that number is about its root.
        Value samples = mul(vectors, kVector);
        Value expected = b.create<arith::DivUIOp>(mul(samples, shape.k), count);
        Value rank = add(add(expected, div(expected, 4)), 16);
        rank = min(rank, samples);
        return SmallVector<Value>{select(toI32(samples), toI32(rank)).key};
      },
      [&] { return SmallVector<Value>{i32(0)}; })[0];
}

/// Reads the row and returns the candidates with at least `floorKey`.
TopKKernel::Candidates TopKKernel::collect(Value floorKey) {
  Value zero = index(0), none = i32(0);
  barrier();
  branch(less(thread, index(2 * (shape.waves + 1))), [&] {
    b.create<memref::StoreOp>(
        none, tileCounts,
        ValueRange{div(thread, shape.waves + 1), rem(thread, shape.waves + 1)});
  });
  barrier();

  // The tile after the current one is on its way.
  SmallVector<Value> init{none, none, thresholdAt(floorKey), zero, none, none,
                          none, none};
  const size_t fixed = init.size();
  llvm::append_range(init, loadTile(firstTile));
  SmallVector<Value> result = loop(
      firstTile, add(lastTile, 1), index(1), init,
      [&](Value tileNumber, ValueRange args) {
        Value found = args[0], keyed = args[1], threshold = args[2],
              parity = args[3], lastBase = args[4], lastTotal = args[5],
              otherBase = args[6], otherTotal = args[7];
        Tile tile(args.drop_front(fixed));
        Tile next = loadTile(add(tileNumber, 1));
        Value own = countHits(tile, tileNumber, threshold);
        auto [base, total] = prefixOverWaves(tileCounts, parity, own);
        Value before = sub(base, lastBase), all = sub(total, lastTotal);

        // Hits that do not fit at once go in wave by wave.
        Value hitThreshold = threshold;
        Value capacity = i32(shape.candidates);
        Value fits =
            compare(arith::CmpIPredicate::sle, add(found, all), capacity);
        branch(b.create<arith::XOrIOp>(
                   fits, b.create<arith::ConstantOp>(b.getBoolAttr(true))),
               [&] {
                 branch(equal(lane, zero), [&] {
                   b.create<memref::StoreOp>(own, waveHits, ValueRange{wave});
                 });
                 barrier();
               });
        Value turns = select(fits, index(1), index(shape.waves));
        SmallVector<Value> state = loop(
            zero, turns, index(1), {found, keyed, threshold},
            [&](Value turn, ValueRange args) -> SmallVector<Value> {
              Value found = args[0], keyed = args[1], threshold = args[2];
              Value more = branch(
                  fits, [&] { return SmallVector<Value>{all}; },
                  [&] {
                    return SmallVector<Value>{uniform(
                        b.create<memref::LoadOp>(waveHits, ValueRange{turn}))};
                  })[0];
              SmallVector<Value> state = branch(
                  compare(arith::CmpIPredicate::sgt, add(found, more),
                          capacity),
                  [&]() -> SmallVector<Value> {
                    Value key = keepBestOf({found, keyed});
                    return {i32(shape.k), i32(shape.k),
                            thresholdAbove(key, floorKey)};
                  },
                  [&]() -> SmallVector<Value> {
                    return {found, keyed, threshold};
                  });
              Value isNow = bitOr(fits, equal(turn, wave));
              Value hasHits = compare(arith::CmpIPredicate::ne, own, none);
              branch(bitAnd(isNow, hasHits), [&] {
                insertHits(tile, tileNumber, hitThreshold,
                           add(state[0], select(fits, before, none)));
              });
              return {add(state[0], more), state[1], state[2]};
            });

        SmallVector<Value> yielded{
            state[0],  state[1],   state[2], sub(index(1), parity),
            otherBase, otherTotal, base,     total};
        llvm::append_range(yielded, next);
        return yielded;
      });
  return {result[0], result[1]};
}

/// The best columns of the range, at most k, in ascending order.
TopKKernel::Candidates TopKKernel::collectAll() {
  Type type = b.getI32Type();
  Value sampled = sampleThreshold();
  // Where fewer than k candidates reach the sampled key, once more without it.
  auto whileOp = b.create<scf::WhileOp>(TypeRange{type, type}, sampled);
  Block *before = b.createBlock(&whileOp.getBefore(), {}, type, {b.getLoc()});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(before);
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
  }
  Block *after = b.createBlock(&whileOp.getAfter(), {}, {type, type},
                               {b.getLoc(), b.getLoc()});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(after);
    b.create<scf::YieldOp>(i32(0));
  }
  b.setInsertionPointAfter(whileOp);
  return {whileOp.getResult(0), whileOp.getResult(1)};
}

void TopKKernel::writeResults(const Candidates &found) {
  Value indices = kernel.arg("indices");
  Value topValues = op.getTopValues() ? kernel.arg("top_values") : Value();
  // What is not there has column -1.
  forEachItem(toIndex(found.count), index(shape.k), [&](Value item) {
    b.create<memref::StoreOp>(i32(-1), buffer, ValueRange{item, index(1)});
  });
  barrier();
  forEachItem(index(0), index(shape.k), [&](Value item) {
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
  Value first = b.create<arith::MulIOp>(split, min(share, index(shape.k)));
  forEachItem(index(0), toIndex(found.count), [&](Value item) {
    Value key = b.create<memref::LoadOp>(buffer, ValueRange{item, index(0)});
    Value column = b.create<memref::LoadOp>(buffer, ValueRange{item, index(1)});
    Value to = add(first, item);
    b.create<memref::StoreOp>(
        b.create<arith::BitcastOp>(b.getF32Type(), fromKey(key)), values,
        ValueRange{row, to});
    b.create<memref::StoreOp>(column, columns, ValueRange{row, to});
  });
}

void TopKKernel::emit() {
  emitLaneIds();
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
