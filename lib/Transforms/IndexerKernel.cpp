//===- IndexerKernel.cpp - The kernels of pa.indexer ------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexerKernel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::pa;

//===----------------------------------------------------------------------===//
// Scoring
//===----------------------------------------------------------------------===//

/// Workgroups that share the context of a sequence. Further ones have no share.
static Value getNumSplits(ImplicitLocOpBuilder &b, KernelBuilder &kernel,
                          IndexerOp op) {
  const int64_t known = op.getConfigAttr().getSplits();
  Value most = b.create<arith::ConstantIndexOp>(
      known > 0 ? known : IndexerSchedule::kMaxSplits);
  if (known > 0)
    return most;
  Value one = b.create<arith::ConstantIndexOp>(1);
  return b.create<arith::MaxSIOp>(
      b.create<arith::MinSIOp>(kernel.arg("num_splits"), most), one);
}

/// The scoring as LogitsKernel has it, with a round for a chunk.
static LogitsConfigAttr getLogitsConfig(IndexerOp op,
                                        const IndexerShape &shape) {
  IndexerConfigAttr config = op.getConfigAttr();
  return LogitsConfigAttr::get(op.getContext(), config.getMma(), shape.tile,
                               config.getWaves(), /*splits=*/0,
                               config.getQuery(), LogitsSchedule::even);
}

IndexerKernel::IndexerKernel(KernelBuilder &kernel, IndexerOp op,
                             const IndexerShape &shape, IndexerRole role,
                             const TargetInfo &target)
    : LogitsKernel(kernel, op.getLogitsOperands(), getLogitsConfig(op, shape),
                   Fill::none, target, shape.rows,
                   shape.getLdsForQueries(target)),
      op(op), sizes(shape), role(role), rows(kernel, shape, shape.rows) {}

/// Where the lane's row ends for this workgroup. Behind the last query there is
/// no row.
Value IndexerKernel::emitEndOf(Value row) {
  Value query = firstQuery ? add(firstQuery, row) : row;
  Value rowEnd = emitRowEnd(min(query, index(numQueries - 1)));
  Value isRow = less(query, index(numQueries));
  return select(isRow, minU(rowEnd, limit), i32(0));
}

/// Whatever the registers hold. A constant would be written to them before each
/// load, and a poison value could spread to what is compared. With side
/// effects, as one value for all registers would be copied to them.
Value IndexerKernel::anyValue(Type type) {
  Type inRegister = type.isInteger(8) ? Type(b.getI32Type()) : type;
  Value value =
      b.create<LLVM::InlineAsmOp>(
           inRegister, ValueRange(), /*asm_string=*/"", "=v",
           /*has_side_effects=*/true, /*is_align_stack=*/false,
           LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  return inRegister == type ? value : b.create<arith::TruncIOp>(type, value);
}

/// What `onTrue` yields where a column of this workgroup is at `token`, else
/// what `onFalse` does.
SmallVector<Value>
IndexerKernel::ifInside(Value token, function_ref<SmallVector<Value>()> onTrue,
                        function_ref<SmallVector<Value>()> onFalse) {
  auto yield = [&](function_ref<SmallVector<Value>()> emit) {
    return [this, emit](OpBuilder &nested, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(nested.getInsertionBlock());
      b.create<scf::YieldOp>(emit());
    };
  };
  auto branch =
      b.create<scf::IfOp>(lessU(token, limit), yield(onTrue), yield(onFalse));
  return llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> IndexerKernel::anyValues(ValueRange like) {
  SmallVector<Value> values;
  for (Value value : like)
    values.push_back(anyValue(value.getType()));
  return values;
}

/// The step at `token`, or anything where the workgroup has no such columns.
LogitsKernel::Step IndexerKernel::loadStepInside(Value token, ValueRange pages,
                                                 Value buffer) {
  Step step;
  SmallVector<Value> loaded = ifInside(
      token,
      [&] {
        step = loadStep(token, pages, buffer);
        return step.flatten();
      },
      [&] {
        // No copy is under way behind the one that is used next.
        if (shape.usesDma)
          awaitCopies();
        return anyValues(step.flatten());
      });
  ValueRange values = loaded;
  return step.take(values);
}

void IndexerKernel::storeRow(Value query, Value /*token*/, ValueRange sums,
                             Value scale, bool /*isInside*/) {
  Value column = add(mul(stepInRound, lanes), lane);
  b.create<memref::StoreOp>(finishLogit(sums, scale), tile,
                            ValueRange{wave, query, column});
}

IndexerRows::Offer IndexerKernel::offer(Value row, int64_t step, Value end) {
  Value inWave = add(lane, step * lanes);
  Value value = b.create<memref::LoadOp>(tile, ValueRange{wave, row, inWave});
  Value column = add(roundToken, toI32(inWave));
  return {value, column, less(column, end)};
}

/// Scores the step at `token`, which has the registers or the LDS of `buffer`,
/// and starts the loads of the step at `place`, which the page ids in `pages`
/// belong to; they become those of the step behind it.
LogitsKernel::Step IndexerKernel::scoreAndLoad(Step &step, Value token,
                                               Value buffer, Value nextToken,
                                               Value afterNext,
                                               SmallVectorImpl<Value> &pages) {
  const bool isInRegisters = config.getQuery() == QueryPlace::registers;
  if (isInRegisters && !shape.usesDma) {
    // The last step has none behind it, and waves have no step left at all
    // where the round has some for others.
    Step next;
    SmallVector<Value> results = ifInside(
        nextToken,
        [&] {
          Place place = locateStep(nextToken, pages);
          place.after = afterNext;
          SmallVector<Value> nextPages;
          next = scoreInPlace(step, token, &place, &nextPages,
                              /*isInside=*/false);
          SmallVector<Value> values = next.flatten();
          llvm::append_range(values, nextPages);
          return values;
        },
        [&] {
          scoreInPlace(step, token, /*next=*/nullptr, /*pages=*/nullptr,
                       /*isInside=*/false);
          SmallVector<Value> values = next.flatten();
          llvm::append_range(values, pages);
          return anyValues(values);
        });
    ValueRange values = results;
    next = next.take(values);
    pages.assign(values.begin(), values.end());
    return next;
  }
  // For what came with the keys of this step, and nothing else. Behind the
  // branch that loads it of the next one the wait would be for that too.
  if (shape.usesDma)
    b.create<amdgpu::MemoryCounterWaitOp>(
        /*load=*/b.getI32IntegerAttr(0), /*store=*/IntegerAttr(),
        /*ds=*/IntegerAttr(), /*exp=*/IntegerAttr(), /*tensor=*/IntegerAttr());
  SmallVector<Value> nextPages = loadPages(afterNext);
  Step next;
  if (shape.usesDma) {
    next = loadStepInside(nextToken, pages, sub(index(1), buffer));
    // Where nothing was copied there is nothing to read in LDS.
    auto score = [&]() -> SmallVector<Value> {
      awaitKeys(shape.getDmaLoads(), buffer, step);
      if (isInRegisters)
        scoreInPlace(step, token, /*next=*/nullptr, /*pages=*/nullptr,
                     /*isInside=*/false);
      else
        scoreStep(finishStep(step), token, /*isInside=*/false);
      return {};
    };
    ifInside(token, score, [] { return SmallVector<Value>(); });
  } else {
    StepOperands operands = finishStep(step);
    next = loadStepInside(nextToken, pages, buffer);
    scoreStep(operands, token, /*isInside=*/false);
  }
  pages.assign(nextPages.begin(), nextPages.end());
  return next;
}

/// Scores the workgroup's columns in rounds. Keys are loaded one step ahead of
/// their use and page ids two, as in LogitsKernel::emitTokenLoop; but the waves
/// stay together, as each round has barriers.
void IndexerKernel::emitRounds() {
  const int64_t steps = sizes.steps;
  clearTile();
  // The token of step `number` of a round that begins at `token`, or of the
  // next ones.
  auto tokenOf = [&](Value token, int64_t number) {
    return add(token, number / steps * sizes.tile + number % steps * lanes);
  };
  Value first = add(start, mul(toI32(wave), sizes.waveColumns));
  SmallVector<Value> firstPages = loadPages(first);
  SmallVector<Value> secondPages = loadPages(tokenOf(first, 1));
  stageQueries();
  Value buffer = rem(sequence, 2);
  const Step firstStep = loadStepInside(first, firstPages, buffer);
  loadHeadTiles();
  SmallVector<Value> carried{first, buffer, rows.getNoTurn()};
  llvm::append_range(carried, firstStep.flatten());
  llvm::append_range(carried, secondPages);

  auto loop = b.create<scf::ForOp>(start, limit, i32(sizes.tile), carried,
                                   /*bodyBuilder=*/nullptr,
                                   /*unsignedCmp=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange args = loop.getRegionIterArgs();
  roundToken = args[0];
  buffer = args[1];
  ValueRange rest = args.drop_front(3);
  Step step = firstStep.take(rest);
  SmallVector<Value> pages(rest);
  // One copy of the scoring for each step of a round: what one loads the next
  // one has in the registers where it is.
  for (int64_t number = 0; number < steps; ++number) {
    stepInRound = index(number);
    step = scoreAndLoad(step, tokenOf(roundToken, number), buffer,
                        tokenOf(roundToken, number + 1),
                        tokenOf(roundToken, number + 2), pages);
    buffer = sub(index(1), buffer);
  }
  Value turn = rows.emitRound(args[2], [&](Value row, int64_t step, Value end) {
    return offer(row, step, end);
  });
  SmallVector<Value> yielded{tokenOf(roundToken, steps), buffer, turn};
  llvm::append_range(yielded, step.flatten());
  llvm::append_range(yielded, pages);
  b.create<scf::YieldOp>(yielded);
}

void IndexerKernel::awaitCopies() {
  b.create<amdgpu::MemoryCounterWaitOp>(
      /*load=*/IntegerAttr(), /*store=*/IntegerAttr(), /*ds=*/IntegerAttr(),
      /*exp=*/IntegerAttr(), /*tensor=*/b.getI32IntegerAttr(0));
}

/// What no step of the wave writes is offered by no lane, but is read.
void IndexerKernel::clearTile() {
  for (int64_t row = 0; row < sizes.rows; ++row)
    for (int64_t step = 0; step < sizes.steps; ++step)
      b.create<memref::StoreOp>(
          f32(0.0f), tile,
          ValueRange{wave, index(row), add(lane, step * lanes)});
}

/// Leaves what a split found where the merge finds it.
void IndexerKernel::writeSplit(Value row, Value count) {
  Value bits = kernel.arg("work_values"), columns = kernel.arg("work_columns");
  Value first = mul(worker, op.getK());
  rows.forEachFound(count, [&](Value item, Value word, Value column) {
    SmallVector<Value> to{row, add(first, item)};
    b.create<memref::StoreOp>(word, bits, to);
    b.create<memref::StoreOp>(column, columns, to);
  });
  rows.onFirstThread([&] {
    b.create<memref::StoreOp>(count, kernel.arg("work_counts"),
                              ValueRange{row, worker});
  });
}

void IndexerKernel::writeRow(Value local, Value count) {
  Value query = firstQuery ? add(firstQuery, local) : local;
  ifTrue(less(query, index(numQueries)), [&] {
    Value row = add(mul(sequence, numQueries), query);
    if (role == IndexerRole::split)
      writeSplit(row, count);
    else
      writeIndexerResults(b, kernel, op, rows, row, count);
  });
}

void IndexerKernel::emit() {
  columns = max(kernel.arg("columns"), index(0));
  bindOperands();
  worker = kernel.blockId(gpu::Dimension::x);
  tile = addLds({op.getConfigAttr().getWaves(), sizes.rows, sizes.waveColumns},
                b.getF32Type());
  if (sizes.getGroups() > 1)
    firstQuery = mul(kernel.blockId(gpu::Dimension::z), sizes.rows);
  Value number = kernel.blockId(gpu::Dimension::y);
  // The grid of no sequences has one workgroup, as a launch may refuse one of
  // none.
  ifTrue(less(number, b.create<memref::DimOp>(q, 0)), [&] {
    emitSequence(number);
    if (role == IndexerRole::split) {
      auto [first, count] = emitShare(
          numChunks, toI32(getNumSplits(b, kernel, op)), toI32(worker));
      emitRange(first, count);
    } else {
      emitRange(i32(0), numChunks);
    }
    Value zero = b.create<arith::IndexCastUIOp>(
        b.getI32Type(), b.create<arith::ShRUIOp>(
                            b.create<memref::DimOp>(blockTable, 1), index(32)));
    rows.emitStart(zero, [&](Value row) { return emitEndOf(row); });
    ifTrue(lessU(start, limit), [&] { emitRounds(); });
    rows.emitFinish(role == IndexerRole::split ? Order::by_index
                                               : op.getOrder(),
                    [&](Value row, Value count) { writeRow(row, count); });
  });
}

void mlir::pa::writeIndexerResults(ImplicitLocOpBuilder &b,
                                   KernelBuilder &kernel, IndexerOp op,
                                   IndexerRows &rows, Value row, Value count) {
  Value indices = kernel.arg("indices");
  Value topValues = op.getTopValues() ? kernel.arg("top_values") : Value();
  rows.forEachFound(count, [&](Value item, Value bits, Value column) {
    b.create<memref::StoreOp>(column, indices, ValueRange{row, item});
    if (topValues)
      b.create<memref::StoreOp>(
          b.create<arith::BitcastOp>(b.getF32Type(), bits), topValues,
          ValueRange{row, item});
  });
  Value noColumn = b.create<arith::ConstantOp>(b.getI32IntegerAttr(-1));
  Value noValue = b.create<arith::ConstantFloatOp>(
      b.getF32Type(), APFloat(-std::numeric_limits<float>::infinity()));
  rows.forEachMissing(count, [&](Value item) {
    b.create<memref::StoreOp>(noColumn, indices, ValueRange{row, item});
    if (topValues)
      b.create<memref::StoreOp>(noValue, topValues, ValueRange{row, item});
  });
}

//===----------------------------------------------------------------------===//
// Merge
//===----------------------------------------------------------------------===//

/// What the lane finds at `position` among the places of all splits, which hold
/// ascending columns from split to split.
IndexerRows::Offer IndexerMergeKernel::offer(Value position, Value total) {
  Value inside = max(min(position, sub(total, index(1))), index(0));
  Value split = div(inside, op.getK()), item = rem(inside, op.getK());
  Value count = loadIndex(kernel.arg("work_counts"), {row, split});
  Value isThere =
      b.create<arith::AndIOp>(less(position, total), less(item, count));
  auto load = [&](StringRef name) -> Value {
    return b.create<memref::LoadOp>(kernel.arg(name), ValueRange{row, inside});
  };
  auto branch = b.create<scf::IfOp>(
      isThere,
      [&](OpBuilder &nested, Location) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(nested.getInsertionBlock());
        Value bits = load("work_values"), column = load("work_columns");
        b.create<scf::YieldOp>(ValueRange{bits, column});
      },
      [&](OpBuilder &nested, Location) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(nested.getInsertionBlock());
        b.create<scf::YieldOp>(ValueRange{i32(0), i32(0)});
      });
  Value value = b.create<arith::BitcastOp>(b.getF32Type(), branch.getResult(0));
  return {value, branch.getResult(1), isThere};
}

void IndexerMergeKernel::emit() {
  emitLaneIds();
  row = kernel.blockId(gpu::Dimension::x);
  Value total = mul(getNumSplits(b, kernel, op), op.getK());
  Value zero = b.create<arith::IndexCastUIOp>(
      b.getI32Type(),
      b.create<arith::ShRUIOp>(dim(kernel.arg("work_counts"), 0), index(32)));
  rows.emitStart(zero, [&](Value) { return i32(0); });
  auto loop = b.create<scf::ForOp>(index(0), total, index(sizes.tile),
                                   ValueRange{rows.getNoTurn()});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value first =
        add(loop.getInductionVar(), add(mul(wave, sizes.waveColumns), lane));
    Value turn = rows.emitRound(loop.getRegionIterArg(0),
                                [&](Value, int64_t step, Value) {
                                  return offer(add(first, step * lanes), total);
                                });
    b.create<scf::YieldOp>(turn);
  }
  rows.emitFinish(op.getOrder(), [&](Value, Value count) {
    writeIndexerResults(b, kernel, op, rows, row, count);
  });
}
