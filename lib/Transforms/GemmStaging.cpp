//===- GemmStaging.cpp - Operands of a grouped GEMM by way of LDS ---------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The waves of a workgroup copy a tile of both operands into one stage of LDS
// while they multiply the one in the other stage. How a tile is copied and
// where it lies then is GemmStages' to say.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;
constexpr int64_t kStages = GemmStages::kStages;

void GemmKernel::allocateStages() {
  Value bytes = addLds({kStages * stages.bytes}, b.getI8Type());
  auto view = [&](Type element) -> Value {
    auto type = MemRefType::get(
        {kStages, stages.bytes * 8 / element.getIntOrFloatBitWidth()}, element,
        MemRefLayoutAttrInterface(), kernel.ldsSpace());
    return b.create<memref::ViewOp>(type, bytes, index(0), ValueRange());
  };
  stageWords = view(b.getI32Type());
  stagesOfRows = view(cast<MemRefType>(a.getType()).getElementType());
  stagesOfWeights = view(cast<MemRefType>(weights.getType()).getElementType());
}

/// Byte of a stage where run `run` of block `block` of 16 rows begins, for
/// chunk `chunk` of the stage: in the lane, or in lane 0 where a copy writes
/// all lanes.
Value GemmKernel::getStageByte(const GemmStages::Operand &staged, Value block,
                               int64_t run, int64_t chunk, bool ofLane) {
  const GemmOperand &operand = *staged.operand;
  const int64_t runBytes = operand.getRunBytes();
  const int64_t chunkBytes = shape.chunk * operand.bits / 8;
  if (staged.way != GemmStages::Way::dma) {
    const int64_t blockBytes = operand.runs * lanes * runBytes;
    Value byte = add(mul(block, blockBytes),
                     staged.firstByte + chunk * staged.blocks * blockBytes +
                         run * lanes * runBytes);
    return ofLane ? add(byte, mul(lane, runBytes)) : byte;
  }
  Value number = add(laneGroup, run * shape.groups);
  if (staged.isShuffled) {
    const int64_t blockBytes = stages.chunks * kRows * chunkBytes;
    return add(add(mul(block, blockBytes), mul(laneInTile, runBytes)),
               add(mul(number, kRows * runBytes),
                   staged.firstByte + chunk * kRows * chunkBytes));
  }
  Value row = add(mul(block, kRows), laneInTile);
  return add(mul(row, staged.getRowPitch()),
             add(mul(number, runBytes),
                 staged.firstByte + chunk * (chunkBytes + GemmStages::kPad)));
}

/// What the wave copies of an operand that it loads run by run: blocks `wave`,
/// `wave + waves`, ...
void GemmKernel::planRuns(const GemmStages::Operand &staged,
                          function_ref<void(Copy &, Value)> locate) {
  const int64_t waves = config.getWavesM() * config.getWavesN();
  for (int64_t first = 0; first < staged.blocks; first += waves) {
    Copy copy;
    copy.staged = &staged;
    copy.block = add(wave, first);
    if (first + waves > staged.blocks) {
      // A wave without a block has the last one and copies nothing.
      copy.isMine = less(copy.block, index(staged.blocks));
      copy.block = min(copy.block, index(staged.blocks - 1));
    }
    locate(copy, copy.block);
    for (int64_t run = 0; run < staged.operand->runs; ++run) {
      copy.run = run;
      copies.push_back(copy);
    }
  }
}

/// Which parts of a tile the wave copies, and from where.
void GemmKernel::planCopies(Value firstRow, Value rowsLeft, Value columnTile) {
  copies.clear();
  tensorCopies.clear();
  Value firstColumnOfTile = mul(columnTile, config.getTileN());
  // The rows of the wave's share that there are, of `left` ones.
  auto count = [&](Value left, int64_t share) {
    Value mine = sub(left, mul(wave, share));
    return uniform(min(max(mine, index(0)), index(share)));
  };
  if (stages.rows.way == GemmStages::Way::dma) {
    const int64_t share = stages.rows.share;
    tensorCopies.push_back({&stages.rows,
                            a,
                            {add(firstRow, mul(wave, share))},
                            count(rowsLeft, share)});
  } else {
    planRuns(stages.rows, [&](Copy &copy, Value block) {
      Value inTile = add(mul(block, kRows), laneInTile);
      copy.memref = a;
      copy.leading = {emitRow(firstRow, inTile, rowsLeft).source};
    });
  }
  if (stages.weights.way == GemmStages::Way::dma) {
    const int64_t share = stages.weights.share;
    const int64_t rows = stages.weights.isShuffled ? kRows : 1;
    Value first = add(firstColumnOfTile, mul(wave, share * rows));
    Value left = sub(index(shape.n), firstColumnOfTile);
    if (rows > 1)
      left = div(max(left, index(0)), rows);
    TensorCopy copy{&stages.weights, weights, {group}, count(left, share)};
    copy.leading.push_back(stages.weights.isShuffled
                               ? mul(first, shape.b.toColumns(shape.k))
                               : first);
    tensorCopies.push_back(copy);
  } else {
    planRuns(stages.weights, [&](Copy &copy, Value block) {
      WeightRow row = emitWeightRow(add(firstColumnOfTile, mul(block, kRows)));
      copy.memref = weights;
      copy.rowOffset = row.offset;
      copy.leading = {group};
      if (!row.offset)
        copy.leading.push_back(row.row);
    });
  }
}

/// Starts the tensor copy of step `step` into `stage`: rows beyond the last one
/// become zero.
void GemmKernel::startTensorCopy(const TensorCopy &copy, Value step,
                                 int64_t stage) {
  const GemmStages::Operand &staged = *copy.staged;
  const GemmOperand &operand = *staged.operand;
  auto type = cast<MemRefType>(copy.memref.getType());
  Type element = type.getElementType();
  const int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  const int64_t stepColumns = operand.toColumns(config.getTileK());
  const int64_t rowColumns =
      staged.isShuffled ? kRows * stepColumns : stepColumns;
  SmallVector<Value> from(copy.leading);
  // A shuffled operand has one index for what is inside an expert.
  if (staged.isShuffled)
    from.back() = add(from.back(), mul(step, rowColumns));
  else
    from.push_back(mul(step, stepColumns));
  const int64_t shareBytes =
      staged.share *
      (staged.isShuffled ? rowColumns * elementBytes : staged.getRowPitch());
  Value to = add(mul(wave, shareBytes / elementBytes),
                 staged.firstByte / elementBytes);
  Value base = b.create<amdgpu::MakeDmaBaseOp>(
      amdgpu::TDMBaseType::get(b.getContext(), element), copy.memref, from,
      copy.staged == &stages.rows ? stagesOfRows : stagesOfWeights,
      ValueRange{index(stage), to});

  OpFoldResult rowStride = b.getIndexAttr(kRows * operand.toColumns(shape.k));
  if (!staged.isShuffled) {
    const int64_t dim = type.getRank() - 2;
    const int64_t stride = type.getStridesAndOffset().first[dim];
    rowStride = b.getIndexAttr(stride);
    if (ShapedType::isDynamic(stride))
      rowStride = b.create<memref::ExtractStridedMetadataOp>(copy.memref)
                      .getStrides()[dim];
  }
  SmallVector<int64_t> staticStrides;
  SmallVector<Value> dynamicStrides;
  OpFoldResult strides[] = {rowStride, b.getIndexAttr(1)};
  dispatchIndexOpFoldResults(strides, dynamicStrides, staticStrides);
  Value padWords, padEvery;
  if (!staged.isShuffled) {
    padWords = i32(GemmStages::kPad / 4);
    padEvery = i32(shape.chunk * operand.bits / 32);
  }
  Value descriptor = b.create<amdgpu::MakeDmaDescriptorOp>(
      amdgpu::TDMDescriptorType::get(b.getContext()), base,
      ValueRange{copy.count},
      ArrayRef<int64_t>{ShapedType::kDynamic, rowColumns}, dynamicStrides,
      staticStrides, /*shared_dynamic_sizes=*/ValueRange(),
      ArrayRef<int64_t>{staged.share, rowColumns},
      /*workgroup_mask=*/Value(), /*early_timeout=*/Value(), padWords, padEvery,
      /*atomic_barrier_address=*/Value(),
      /*atomic_barrier_indices=*/ValueRange(), /*global_increment=*/Value(),
      /*lds_increment=*/Value(), /*iteration_count=*/Value());
  b.create<amdgpu::TensorLoadToLDSOp>(descriptor);
}

/// Starts the copies of step `step` into `stage`. Returns what waits in
/// registers until it can be written.
SmallVector<Value> GemmKernel::startCopies(Value step, int64_t stage) {
  for (const TensorCopy &copy : tensorCopies)
    startTensorCopy(copy, step, stage);
  SmallVector<Value> waiting;
  for (int64_t i = 0; i < stages.chunks; ++i) {
    Value chunk = add(mul(step, stages.chunks), i);
    for (const Copy &copy : copies) {
      const GemmOperand &operand = *copy.staged->operand;
      auto memrefType = cast<MemRefType>(copy.memref.getType());
      auto type = VectorType::get({operand.toColumns(operand.run)},
                                  memrefType.getElementType());
      Value number = add(laneGroup, copy.run * shape.groups);
      auto getIndices = [&] {
        return getRunIndices(copy.memref, copy.leading, copy.rowOffset, operand,
                             number, chunk, copy.staged->isShuffled);
      };
      if (copy.staged->way == GemmStages::Way::registers) {
        waiting.push_back(b.create<vector::BitCastOp>(
            wordsType(operand.getRunWords()),
            b.create<vector::LoadOp>(type, copy.memref, getIndices())));
        continue;
      }
      auto emit = [&] {
        Value to = getStageByte(*copy.staged, copy.block, copy.run, i,
                                /*ofLane=*/false);
        to = div(to, memrefType.getElementTypeBitWidth() / 8);
        b.create<amdgpu::GatherToLDSOp>(
            copy.memref, getIndices(),
            copy.staged == &stages.rows ? stagesOfRows : stagesOfWeights,
            ValueRange{index(stage), to}, TypeAttr::get(type));
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
  for (int64_t i = 0; i < stages.chunks; ++i)
    for (const Copy &copy : copies) {
      if (copy.staged->way != GemmStages::Way::registers)
        continue;
      Value value = words.front();
      words = words.drop_front();
      auto emit = [&] {
        Value byte = getStageByte(*copy.staged, copy.block, copy.run, i,
                                  /*ofLane=*/true);
        b.create<vector::StoreOp>(value, stageWords,
                                  ValueRange{index(stage), div(byte, 4)});
      };
      if (copy.isMine)
        ifTrue(copy.isMine, emit);
      else
        emit();
    }
}

/// Until every wave's part of the stage is there.
void GemmKernel::waitForStage() {
  auto zero = b.getI32IntegerAttr(0);
  const bool hasDirect = llvm::any_of(copies, [](const Copy &copy) {
    return copy.staged->way == GemmStages::Way::direct;
  });
  if (hasDirect || !tensorCopies.empty())
    b.create<amdgpu::MemoryCounterWaitOp>(
        /*load=*/hasDirect ? zero : IntegerAttr(), /*store=*/IntegerAttr(),
        /*ds=*/IntegerAttr(), /*exp=*/IntegerAttr(),
        /*tensor=*/tensorCopies.empty() ? IntegerAttr() : zero);
  b.create<gpu::BarrierOp>();
}

void GemmKernel::readStage(Chunk &chunk, int64_t stage, int64_t inStage) {
  auto read = [&](const GemmStages::Operand &staged, Value firstBlock,
                  int64_t blocks, SmallVectorImpl<Value> &words) {
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t run = 0; run < staged.operand->runs; ++run) {
        Value byte = getStageByte(staged, add(firstBlock, block), run, inStage,
                                  /*ofLane=*/true);
        words.push_back(b.create<vector::LoadOp>(
            wordsType(staged.operand->getRunWords()), stageWords,
            ValueRange{index(stage), div(byte, 4)}));
      }
  };
  read(stages.weights, mul(waveN, getColumnBlocks()), getColumnBlocks(),
       chunk.weights);
  read(stages.rows, mul(waveM, rowBlocks), rowBlocks, chunk.rows);
}

/// Adds all steps. The next one is on its way to LDS while this one is
/// multiplied; two steps make one iteration, so that stages have fixed places
/// and nothing moves between registers.
void GemmKernel::emitStagedSteps(Sums &sums) {
  const int64_t chunks = stages.chunks;
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
