//===- GemmStaging.cpp - Operands of a grouped GEMM by way of LDS ---------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage holds the runs of a tile in operand order: run by run, the bytes of
// all lanes. A copy of one run writes consecutive LDS, and a read of it takes
// 16 bytes from each lane in turn, so that neither meets a bank conflict.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;
/// One stage is multiplied while the other is filled.
constexpr int64_t kStages = 2;

/// Whether a load from memory can end in LDS.
bool GemmKernel::copiesDirectly() const {
  return target.canLoadToLds(shape.a.getRunBytes()) &&
         target.canLoadToLds(shape.b.getRunBytes());
}

/// Runs of one chunk in a stage.
int64_t GemmKernel::getStagePieces() const {
  return config.getTileM() / kRows * shape.a.runs +
         config.getTileN() / kRows * shape.b.runs;
}

void GemmKernel::allocateStages() {
  const int64_t pieces = config.getTileK() / shape.chunk * getStagePieces();
  const int64_t laneBytes =
      std::max(shape.a.getRunBytes(), shape.b.getRunBytes());
  Value bytes = addLds({kStages * pieces * lanes * laneBytes}, b.getI8Type());
  // One view for each type that is copied, and one of words to read.
  auto view = [&](Type element) -> Value {
    const int64_t elements = laneBytes * 8 / element.getIntOrFloatBitWidth();
    auto type = MemRefType::get({kStages, pieces, lanes, elements}, element,
                                MemRefLayoutAttrInterface(), kernel.ldsSpace());
    return b.create<memref::ViewOp>(type, bytes, index(0), ValueRange());
  };
  stages = view(b.getI32Type());
  stagesOfRows = view(cast<MemRefType>(a.getType()).getElementType());
  stagesOfWeights = view(cast<MemRefType>(weights.getType()).getElementType());
}

/// Which runs the wave copies: of blocks `wave`, `wave + waves`, ...
SmallVector<GemmKernel::Copy>
GemmKernel::planCopies(Value firstRow, Value rowsLeft, Value columnTile) {
  const int64_t waves = config.getWavesM() * config.getWavesN();
  const int64_t rowBlocksInTile = config.getTileM() / kRows;
  const int64_t columnBlocksInTile = config.getTileN() / kRows;
  SmallVector<Copy> plan;
  auto push = [&](int64_t blocks, const GemmOperand &operand,
                  int64_t firstPiece,
                  function_ref<void(Copy &, Value)> locate) {
    for (int64_t first = 0; first < blocks; first += waves) {
      Copy copy;
      copy.operand = &operand;
      copy.isShuffled = false;
      Value block = add(wave, first);
      if (first + waves > blocks) {
        copy.isMine = less(block, index(blocks));
        block = min(block, index(blocks - 1));
      }
      locate(copy, block);
      for (int64_t run = 0; run < operand.runs; ++run) {
        copy.run = run;
        copy.piece = add(mul(block, operand.runs), firstPiece + run);
        plan.push_back(copy);
      }
    }
  };
  push(rowBlocksInTile, shape.a, 0, [&](Copy &copy, Value block) {
    Value inTile = add(mul(block, kRows), laneInTile);
    copy.memref = a;
    copy.stages = stagesOfRows;
    copy.leading = {emitRow(firstRow, inTile, rowsLeft).source};
  });
  Value firstOfTile = mul(columnTile, config.getTileN());
  push(columnBlocksInTile, shape.b, rowBlocksInTile * shape.a.runs,
       [&](Copy &copy, Value block) {
         WeightRow row = emitWeightRow(add(firstOfTile, mul(block, kRows)));
         copy.memref = weights;
         copy.stages = stagesOfWeights;
         copy.isShuffled = bool(row.offset);
         copy.rowOffset = row.offset;
         copy.leading = {group};
         if (!copy.isShuffled)
           copy.leading.push_back(row.row);
       });
  return plan;
}

/// Starts the copies of the chunks of a step into `stage`. Returns what waits
/// in registers until it can be written.
SmallVector<Value> GemmKernel::startCopies(Value step, int64_t stage) {
  SmallVector<Value> waiting;
  const int64_t chunks = config.getTileK() / shape.chunk;
  for (int64_t i = 0; i < chunks; ++i) {
    Value chunk = add(mul(step, chunks), i);
    for (Copy &copy : copies) {
      auto type = VectorType::get(
          {copy.operand->toColumns(copy.operand->run)},
          cast<MemRefType>(copy.memref.getType()).getElementType());
      Value number = add(laneGroup, copy.run * shape.groups);
      auto getIndices = [&] {
        return getRunIndices(copy.memref, copy.leading, copy.rowOffset,
                             *copy.operand, number, chunk, copy.isShuffled);
      };
      if (!copiesDirectly()) {
        // A wave without the block reads the last one again.
        waiting.push_back(b.create<vector::BitCastOp>(
            wordsType(copy.operand->getRunWords()),
            b.create<vector::LoadOp>(type, copy.memref, getIndices())));
        continue;
      }
      auto emit = [&] {
        Value piece = add(copy.piece, i * getStagePieces());
        b.create<amdgpu::GatherToLDSOp>(
            copy.memref, getIndices(), copy.stages,
            ValueRange{index(stage), piece, index(0), index(0)},
            TypeAttr::get(type));
      };
      if (copy.isMine)
        ifTrue(copy.isMine, emit);
      else
        emit();
    }
  }
  return waiting;
}

void GemmKernel::finishCopies(ValueRange words, int64_t stage) {
  if (words.empty())
    return;
  const int64_t chunks = config.getTileK() / shape.chunk;
  for (int64_t i = 0; i < chunks; ++i)
    for (Copy &copy : copies) {
      Value value = words.front();
      words = words.drop_front();
      auto emit = [&] {
        Value piece = add(copy.piece, i * getStagePieces());
        b.create<vector::StoreOp>(
            value, stages, ValueRange{index(stage), piece, lane, index(0)});
      };
      if (copy.isMine)
        ifTrue(copy.isMine, emit);
      else
        emit();
    }
}

/// Until every wave's part of the stage is there.
void GemmKernel::waitForStage() {
  if (copiesDirectly())
    b.create<amdgpu::MemoryCounterWaitOp>(
        /*load=*/b.getI32IntegerAttr(0), /*store=*/IntegerAttr(),
        /*ds=*/IntegerAttr(), /*exp=*/IntegerAttr(), /*tensor=*/IntegerAttr());
  b.create<gpu::BarrierOp>();
}

void GemmKernel::readStage(Chunk &chunk, int64_t stage, int64_t inStage) {
  auto read = [&](const GemmOperand &operand, Value firstBlock, int64_t blocks,
                  int64_t firstPiece, SmallVectorImpl<Value> &words) {
    Value first = mul(firstBlock, operand.runs);
    for (int64_t i = 0; i < blocks * operand.runs; ++i) {
      Value piece = add(first, inStage * getStagePieces() + firstPiece + i);
      words.push_back(b.create<vector::LoadOp>(
          wordsType(operand.getRunWords()), stages,
          ValueRange{index(stage), piece, lane, index(0)}));
    }
  };
  const int64_t rowPieces = config.getTileM() / kRows * shape.a.runs;
  read(shape.b, mul(waveN, getColumnBlocks()), getColumnBlocks(), rowPieces,
       chunk.weights);
  read(shape.a, mul(waveM, rowBlocks), rowBlocks, 0, chunk.rows);
}

/// Adds all steps. The next one is on its way to LDS while this one is
/// multiplied; two steps make one iteration, so that stages have fixed places
/// and nothing moves between registers.
void GemmKernel::emitStagedSteps(Sums &sums) {
  const int64_t chunks = config.getTileK() / shape.chunk;
  const int64_t steps = shape.getFullChunks() / chunks;
  if (steps == 0)
    return;
  auto loadStepScales = [&](Value step) {
    SmallVector<Chunk> scales(chunks);
    for (int64_t i = 0; i < chunks; ++i)
      loadScales(scales[i], add(mul(step, chunks), i), /*isTail=*/false);
    return scales;
  };
  // Multiplies step `step` of stage `stage` and fetches the one after it.
  auto emitStep = [&](ArrayRef<Chunk> scales, Value step, int64_t stage,
                      bool hasNext, Sums &sums) {
    waitForStage();
    SmallVector<Chunk> current(scales);
    for (int64_t i = 0; i < chunks; ++i)
      readStage(current[i], stage, i);
    SmallVector<Chunk> nextScales;
    SmallVector<Value> waiting;
    if (hasNext) {
      // Scales first: what is loaded after the last write of an iteration LLVM
      // moves into the next one, where it is used.
      nextScales = loadStepScales(add(step, 1));
      waiting = startCopies(add(step, 1), (stage + 1) % kStages);
    }
    for (const Chunk &chunk : current)
      multiply(chunk, sums);
    finishCopies(waiting, (stage + 1) % kStages);
    return nextScales;
  };
  auto flatten = [](ArrayRef<Chunk> scales) {
    SmallVector<Value> values;
    for (const Chunk &chunk : scales)
      llvm::append_range(values, chunk.flatten());
    return values;
  };
  auto unflatten = [](ArrayRef<Chunk> like, ValueRange values) {
    SmallVector<Chunk> scales;
    for (const Chunk &chunk : like) {
      size_t count = chunk.flatten().size();
      scales.push_back(chunk.withValues(values.take_front(count)));
      values = values.drop_front(count);
    }
    return scales;
  };

  // What the tile before left in LDS may still be read.
  b.create<gpu::BarrierOp>();
  SmallVector<Chunk> scales = loadStepScales(index(0));
  finishCopies(startCopies(index(0), 0), 0);
  // The last one or two steps have no whole iteration after them.
  const int64_t inLoop = (steps - 1) / kStages * kStages;
  if (inLoop > 0) {
    SmallVector<Value> carried(sums);
    llvm::append_range(carried, flatten(scales));
    auto loop =
        b.create<scf::ForOp>(index(0), index(inLoop), index(kStages), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange args = loop.getRegionIterArgs();
    Sums inner(args.take_front(sums.size()));
    SmallVector<Chunk> current =
        unflatten(scales, args.drop_front(sums.size()));
    for (int64_t stage = 0; stage < kStages; ++stage)
      current = emitStep(current, add(loop.getInductionVar(), stage), stage,
                         /*hasNext=*/true, inner);
    SmallVector<Value> yielded(inner);
    llvm::append_range(yielded, flatten(current));
    b.create<scf::YieldOp>(yielded);
    sums.assign(loop.getResults().begin(),
                loop.getResults().begin() + sums.size());
    scales = unflatten(scales, loop.getResults().drop_front(sums.size()));
  }
  for (int64_t step = inLoop; step < steps; ++step)
    scales =
        emitStep(scales, index(step), step % kStages, step + 1 < steps, sums);
}
