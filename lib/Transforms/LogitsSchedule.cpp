//===- LogitsSchedule.cpp - Who scores which columns ------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogitsKernel.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kTile = LogitsShape::kTile;
/// Memory that does not change while the kernel runs, to LLVM.
constexpr int32_t kConstantSpace = 4;

/// Where a row ends, from 0 to the end of what any row of the sequence has.
Value LogitsKernel::emitRowEnd(Value query) {
  Value rowEnd;
  if (rowEnds)
    rowEnd = b.create<memref::LoadOp>(
        rowEnds, ValueRange{add(mul(sequence, numQueries), query)});
  else
    // No sum that does not fit: rows are 8 at most.
    rowEnd = add(sub(context, numQueries - 1), toI32(query));
  return max(min(rowEnd, capacity), i32(0));
}

/// Takes `newSequence` as the sequence and finds what its rows end at, in whole
/// chunks too.
void LogitsKernel::emitSequence(Value newSequence) {
  sequence = newSequence;
  context = b.create<memref::LoadOp>(contextLens, ValueRange{sequence});
  context = max(context, i32(0));
  capacity = minU(context, mostColumns);
  end = capacity;
  if (rowEnds) {
    end = i32(0);
    for (int64_t i = 0; i < numQueries; ++i)
      end = max(end, emitRowEnd(index(i)));
  }
  numChunks = div(add(end, config.getChunk() - 1), config.getChunk());
  // Columns at and beyond `end` are scored only where the fill has them in one
  // step with others, with keys of the last page: entries after it are never
  // read.
  scoredEnd = fill == Fill::neg_inf
                  ? minU(roundUpToStep(end), saturateToI32(columns))
                  : end;
  lastPage = sub(div(add(end, page - 1), page), 1);
}

/// The columns of `count` chunks from `first` on are this workgroup's.
void LogitsKernel::emitRange(Value first, Value count) {
  const int64_t chunk = config.getChunk();
  start = mul(first, chunk);
  limit = minU(mul(add(first, count), chunk), scoredEnd);
  stride = i32(config.getWaves() * lanes);
}

/// The part of `total` that part `number` of `parts` gets: as many as the
/// others or one more, the first ones more.
std::pair<Value, Value> LogitsKernel::emitShare(Value total, Value parts,
                                                Value number) {
  Value share = b.create<arith::DivUIOp>(total, parts);
  Value rest = b.create<arith::RemUIOp>(total, parts);
  Value first = add(mul(number, share), min(number, rest));
  Value count = add(share, select(less(number, rest), constantLike(total, 1),
                                  constantLike(total, 0)));
  return {first, count};
}

/// Every sequence has `numWorkers` workgroups, in x, which take its steps in
/// turn: that needs no division.
void LogitsKernel::emitEvenSchedule() {
  // The grid of no sequences has one workgroup, as a launch may refuse one of
  // none.
  auto hasSequence = b.create<scf::IfOp>(
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, dim(q, 0), index(0)),
      /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&hasSequence.getThenRegion().front());
  emitSequence(blockId(gpu::Dimension::y));
  // A launch has fewer than 2^32 work-items, which is what one step of all
  // workgroups has columns. A step of 2^31 columns or more is the only one, and
  // with a stride of no more than that nothing overflows.
  const int64_t round = config.getWaves() * lanes;
  start = mul(toI32(worker), round);
  stride = minU(mul(toI32(numWorkers), round),
                i32(std::numeric_limits<int32_t>::min()));
  limit = scoredEnd;
  emitTokenLoop();
  if (fill == Fill::neg_inf)
    emitFill(worker, numWorkers);
}

/// Chunks of the sequence `first + lane`, 0 beyond the last one. They have 32
/// bits where no wave has as many in all.
Value LogitsKernel::emitLaneChunks(Value first, Value batch) {
  Value number = add(first, lane);
  emitSequence(min(number, sub(batch, 1)));
  Value chunks = select(less(number, batch), numChunks, i32(0));
  // 2^31 - 1 columns have 2^31 / chunk chunks at most.
  return config.getChunk() > lanes ? chunks : toIndex(chunks);
}

/// All chunks of all sequences in a row are shared evenly: a workgroup goes
/// through the end of one sequence and the beginning of the next, a long one
/// has many workgroups, an empty one none.
void LogitsKernel::emitRaggedSchedule() {
  Value batch = b.create<memref::DimOp>(q, 0);
  auto toIndex = [&](Value value) -> Value {
    return value.getType().isIndex() ? value : KernelBody::toIndex(value);
  };
  auto sumLoop =
      b.create<scf::ForOp>(index(0), batch, index(lanes), ValueRange{index(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(sumLoop.getBody());
    Value chunks = emitLaneChunks(sumLoop.getInductionVar(), batch);
    b.create<scf::YieldOp>(ValueRange{
        add(sumLoop.getRegionIterArg(0), toIndex(emitWaveSum(chunks)))});
  }
  auto [first, count] = emitShare(sumLoop.getResult(0), numWorkers, worker);

  // The sequence of a chunk is the number of sequences that end at or before
  // it, and what they have is what to take off the chunk's number.
  Value last = sub(add(first, count), index(1));
  SmallVector<Value> zeros(4, index(0));
  auto findLoop = b.create<scf::ForOp>(index(0), batch, index(lanes), zeros);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(findLoop.getBody());
    ValueRange args = findLoop.getRegionIterArgs();
    Value before = args[0], firstSequence = args[1], chunksBefore = args[2],
          lastSequence = args[3];
    Value chunks = emitLaneChunks(findLoop.getInductionVar(), batch);
    Value inWave = emitWaveScan(chunks);
    Value upTo = add(before, toIndex(inWave));
    Value isInside = less(add(findLoop.getInductionVar(), lane), batch);
    // Lanes that end at or before a chunk are the first ones.
    auto countBefore = [&](Value chunk) -> Value {
      Value ends =
          b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, upTo, chunk);
      return countLanes(b.create<arith::AndIOp>(ends, isInside));
    };
    Value numBefore = countBefore(first);
    Value lastBefore = max(sub(numBefore, index(1)), index(0));
    Value added = select(less(index(0), numBefore),
                         toIndex(readLane(inWave, lastBefore)), index(0));
    Value all = toIndex(readLane(inWave, index(lanes - 1)));
    b.create<scf::YieldOp>(ValueRange{
        add(before, all), add(firstSequence, numBefore),
        add(chunksBefore, added), add(lastSequence, countBefore(last))});
  }
  Value position = sub(first, findLoop.getResult(2));
  auto hasWork =
      b.create<scf::IfOp>(less(index(0), count), /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&hasWork.getThenRegion().front());
    auto loop = b.create<scf::ForOp>(findLoop.getResult(1),
                                     add(findLoop.getResult(3), index(1)),
                                     index(1), ValueRange{position, count});
    b.setInsertionPointToStart(loop.getBody());
    Value from = loop.getRegionIterArg(0), left = loop.getRegionIterArg(1);
    emitSequence(loop.getInductionVar());
    Value taken = min(left, sub(toIndex(numChunks), from));
    emitRange(toI32(from), toI32(taken));
    emitTokenLoop();
    b.create<scf::YieldOp>(ValueRange{index(0), sub(left, taken)});
  }

  if (fill != Fill::neg_inf)
    return;
  auto fillLoop = b.create<scf::ForOp>(worker, batch, numWorkers);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(fillLoop.getBody());
  emitSequence(fillLoop.getInductionVar());
  emitFill(index(0), index(1));
}

/// Sets the columns that no step covers to -inf. Worker `number` of `parts`
/// does its share with all its waves.
void LogitsKernel::emitFill(Value number, Value parts) {
  Value wavesInAll = mul(parts, config.getWaves());
  Value waveInAll = add(mul(number, config.getWaves()), wave);
  Value from = add(toIndex(roundUpToStep(end)), mul(waveInAll, lanes));
  auto loop = b.create<scf::ForOp>(from, columns, mul(wavesInAll, lanes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value column = add(loop.getInductionVar(), lane);
  auto branch =
      b.create<scf::IfOp>(less(column, columns), /*withElseRegion=*/false);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  Value negInf = f32(-std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < numQueries; ++i) {
    Value row = add(mul(sequence, numQueries), index(i));
    b.create<memref::StoreOp>(negInf, logits, ValueRange{row, column});
  }
}

/// `query` of this kernel's queries, which is another one of the sequence.
/// Behind the last one it is the last one again.
Value LogitsKernel::queryOfSequence(Value query) {
  return firstQuery ? min(add(firstQuery, query), index(numQueries - 1))
                    : query;
}

/// Sets the operands but the logits, whose `columns` are known, and the numbers
/// of the lane.
void LogitsKernel::bindOperands() {
  q = kernel.arg("q");
  queryScales = in.queryScales ? kernel.arg("query_scales") : Value();
  keys = kernel.arg("keys");
  keyScales = kernel.arg("key_scales");
  weights = kernel.arg("weights");
  blockTable = kernel.arg("block_table");
  contextLens = kernel.arg("context_lens");
  rowEnds = in.rowEnds ? kernel.arg("row_ends") : Value();
  Value tableTokens = mul(b.create<memref::DimOp>(blockTable, 1), page);
  mostColumns = minU(saturateToI32(columns), saturateToI32(tableTokens));
  // As memory that nobody writes these are read by scalar loads, in loops with
  // stores too.
  auto toConstant = [&](Value memref) -> Value {
    MemRefType type = MemRefType::Builder(cast<MemRefType>(memref.getType()))
                          .setMemorySpace(b.getI32IntegerAttr(kConstantSpace));
    return b.create<memref::MemorySpaceCastOp>(type, memref);
  };
  contextLens = toConstant(contextLens);
  if (!isPagePerLane())
    blockTable = toConstant(blockTable);
  if (in.layout == Layout::tiled) {
    SmallVector<ReassociationIndices> pageBytes{{0}, {1, 2}};
    keys = b.create<memref::CollapseShapeOp>(keys, pageBytes);
  }
  if (shape.usesDma)
    keyLds = kernel.addLds(
        MemRefType::get({config.getWaves(), 2, shape.getStepLdsBytes()},
                        cast<MemRefType>(keys.getType()).getElementType(),
                        MemRefLayoutAttrInterface(), kernel.ldsSpace()));
  emitLaneIds();
  laneInTile = rem(lane, kTile);
  group = div(lane, kTile);
}

void LogitsKernel::emit() {
  logits = kernel.arg("logits");
  numWorkers = kernel.arg("num_workers");
  columns = b.create<memref::DimOp>(logits, 1);
  bindOperands();
  worker = blockId(gpu::Dimension::x);
  if (config.getSchedule() == LogitsSchedule::even)
    emitEvenSchedule();
  else
    emitRaggedSchedule();
}
