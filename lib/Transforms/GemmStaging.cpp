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
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;
constexpr int64_t kStages = GemmStages::kStages;

void GemmKernel::allocateStages() {
  Value bytes = addLds({kStages * stages.bytes}, b.getI8Type());
  auto view = [&](Type element) -> Value {
    auto type = MemRefType::get(
        {kStages * stages.bytes * 8 / element.getIntOrFloatBitWidth()}, element,
        MemRefLayoutAttrInterface(), kernel.ldsSpace());
    return b.create<memref::ViewOp>(type, bytes, index(0), ValueRange());
  };
  stageWords = view(b.getI32Type());
  stagesOfRows = view(cast<MemRefType>(a.getType()).getElementType());
  stagesOfWeights = view(cast<MemRefType>(weights.getType()).getElementType());
}

/// Where the lane reads and writes in the stages: one register for each stage
/// and operand; all else is an offset of the access, which has 16 bits.
void GemmKernel::emitStagePlaces() {
  for (SmallVector<Value> *places :
       {&rowReads, &weightReads, &rowWrites, &weightWrites})
    places->clear();
  const int64_t last = kStages * stages.bytes / 4 - 1;
  auto inStage = [&](const GemmStages::Operand &staged, Value firstBlock,
                     int64_t stage) {
    Value byte = add(mul(firstBlock, getBlockBytes(staged)),
                     stage * stages.bytes + staged.firstByte);
    return inRegister(div(add(byte, getLaneByte(staged)), 4), last);
  };
  for (int64_t stage = 0; stage < kStages; ++stage) {
    rowReads.push_back(inStage(stages.rows, mul(waveM, rowBlocks), stage));
    rowWrites.push_back(inStage(stages.rows, wave, stage));
    if (stages.weights.way == GemmStages::Way::lanes)
      continue;
    weightReads.push_back(
        inStage(stages.weights, mul(waveN, getColumnBlocks()), stage));
    weightWrites.push_back(inStage(stages.weights, wave, stage));
  }
}

/// Bytes from one block of 16 rows to the next in a stage.
int64_t GemmKernel::getBlockBytes(const GemmStages::Operand &staged) const {
  if (staged.way != GemmStages::Way::dma)
    return staged.operand->runs * lanes * staged.operand->getRunBytes();
  return kRows * (staged.isShuffled ? stages.chunks * staged.chunkBytes
                                    : staged.getRowPitch());
}

/// Byte from the begin of a block to run `run` of chunk `chunk` of the stage.
int64_t GemmKernel::getRunByte(const GemmStages::Operand &staged, int64_t run,
                               int64_t chunk) const {
  const int64_t runBytes = staged.operand->getRunBytes();
  if (staged.way != GemmStages::Way::dma)
    return chunk * staged.blocks * getBlockBytes(staged) +
           run * lanes * runBytes;
  const int64_t inChunk = run * shape.groups * runBytes;
  return staged.isShuffled
             ? kRows * (inChunk + chunk * staged.chunkBytes)
             : inChunk + chunk * (staged.chunkBytes + GemmStages::kPad);
}

/// Byte from the begin of a run to the lane's part of it.
Value GemmKernel::getLaneByte(const GemmStages::Operand &staged) {
  const int64_t runBytes = staged.operand->getRunBytes();
  if (staged.way != GemmStages::Way::dma)
    return mul(lane, runBytes);
  return staged.isShuffled
             ? add(mul(laneInTile, runBytes), mul(laneGroup, kRows * runBytes))
             : add(mul(laneInTile, staged.getRowPitch()),
                   mul(laneGroup, runBytes));
}

/// What the wave copies of an operand that it loads run by run: blocks `wave`,
/// `wave + waves`, ... `locate` gets the first row of the first of them and the
/// row of the lane from there.
void GemmKernel::planRuns(const GemmStages::Operand &staged,
                          function_ref<void(Copy &, Value, Value)> locate) {
  const int64_t waves = config.getWavesM() * config.getWavesN();
  for (int64_t first = 0; first < staged.blocks; first += waves) {
    Copy copy;
    copy.staged = &staged;
    copy.firstBlock = first;
    Value base = mul(wave, kRows);
    if (first + waves > staged.blocks) {
      // A wave without a block loads the last one and writes nothing.
      Value block = add(wave, first), last = index(staged.blocks - 1);
      copy.isMine = less(block, index(staged.blocks));
      base = mul(sub(min(block, last), index(first)), kRows);
    }
    locate(copy, base, add(laneInTile, first * kRows));
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
    planRuns(stages.rows, [&](Copy &copy, Value base, Value further) {
      copy.memref = a;
      copy.leading = {emitRow(firstRow, add(base, further), rowsLeft).source};
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
  } else if (stages.weights.way != GemmStages::Way::lanes) {
    planRuns(stages.weights, [&](Copy &copy, Value base, Value) {
      WeightRow row =
          emitWeightRow(add(firstColumnOfTile, base), copy.firstBlock * kRows);
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
void GemmKernel::startTensorCopy(const TensorCopy &copy, Value waveHere,
                                 Value step, int64_t stage) {
  const GemmStages::Operand &staged = *copy.staged;
  const GemmOperand &operand = *staged.operand;
  auto type = cast<MemRefType>(copy.memref.getType());
  Type element = type.getElementType();
  const int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  const int64_t stepColumns = operand.toColumns(config.getTileK());
  const int64_t rowColumns =
      staged.isShuffled ? kRows * stepColumns : stepColumns;
  SmallVector<Value> from(copy.leading);
  step = inBase(step);
  // A shuffled operand has one index for what is inside an expert.
  if (staged.isShuffled)
    from.back() = add(from.back(), mul(step, rowColumns));
  else
    from.push_back(mul(step, stepColumns));
  const int64_t shareBytes =
      staged.share *
      (staged.isShuffled ? rowColumns * elementBytes : staged.getRowPitch());
  Value to = add(mul(waveHere, shareBytes / elementBytes),
                 (stage * stages.bytes + staged.firstByte) / elementBytes);
  Value base = b.create<amdgpu::MakeDmaBaseOp>(
      amdgpu::TDMBaseType::get(b.getContext(), element), copy.memref, from,
      copy.staged == &stages.rows ? stagesOfRows : stagesOfWeights,
      ValueRange{to});

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
  Value waveHere = uniformHere(wave);
  for (const TensorCopy &copy : tensorCopies)
    startTensorCopy(copy, waveHere, step, stage);
  SmallVector<Value> waiting;
  for (int64_t i = 0; i < stages.chunks; ++i) {
    Value chunk = add(mul(step, stages.chunks), i);
    // A copy to LDS has no offset: the chunk moves the base.
    Value chunkOfBase = inBase(chunk);
    for (const Copy &copy : copies) {
      const GemmOperand &operand = *copy.staged->operand;
      auto memrefType = cast<MemRefType>(copy.memref.getType());
      auto type = VectorType::get({operand.toColumns(operand.run)},
                                  memrefType.getElementType());
      Value number = add(laneGroup, copy.run * shape.groups);
      if (copy.staged->way == GemmStages::Way::registers) {
        waiting.push_back(b.create<vector::BitCastOp>(
            wordsType(operand.getRunWords()),
            b.create<vector::LoadOp>(type, copy.memref,
                                     getRunIndices(copy.memref, copy.leading,
                                                   copy.rowOffset, operand,
                                                   number, chunk,
                                                   copy.staged->isShuffled))));
        continue;
      }
      auto emit = [&] {
        const int64_t byte = stage * stages.bytes + copy.staged->firstByte +
                             copy.firstBlock * getBlockBytes(*copy.staged) +
                             getRunByte(*copy.staged, copy.run, i);
        const int64_t elementBytes = memrefType.getElementTypeBitWidth() / 8;
        Value to =
            add(mul(waveHere, getBlockBytes(*copy.staged) / elementBytes),
                byte / elementBytes);
        b.create<amdgpu::GatherToLDSOp>(
            copy.memref,
            getRunIndices(copy.memref, copy.leading, copy.rowOffset, operand,
                          inRegister(number, operand.runs * shape.groups - 1),
                          chunkOfBase, copy.staged->isShuffled),
            copy.staged == &stages.rows ? stagesOfRows : stagesOfWeights,
            ValueRange{to}, TypeAttr::get(type));
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
      const int64_t byte = copy.firstBlock * getBlockBytes(*copy.staged) +
                           getRunByte(*copy.staged, copy.run, i);
      Value base =
          (copy.staged == &stages.rows ? rowWrites : weightWrites)[stage];
      auto emit = [&] {
        b.create<vector::StoreOp>(
            value, stageWords, ValueRange{add(base, byte / 4)},
            /*nontemporal=*/false,
            llvm::MaybeAlign(copy.staged->operand->getRunBytes()));
      };
      if (copy.isMine)
        ifTrue(copy.isMine, emit);
      else
        emit();
    }
}

/// Until every wave's part of the stage is there. What a wave loads to
/// registers after its copies may still be on its way: loads end in order, and
/// the barrier is one of LDS. One of all memory waits for all loads on gfx1250.
void GemmKernel::waitForStage() {
  const int64_t later = stages.weights.way == GemmStages::Way::lanes
                            ? stages.chunks * getColumnBlocks() * shape.b.runs
                            : 0;
  auto count = [&](int64_t value) {
    return b.getI32IntegerAttr(static_cast<int32_t>(value));
  };
  const bool hasDirect = llvm::any_of(copies, [](const Copy &copy) {
    return copy.staged->way == GemmStages::Way::direct;
  });
  if (hasDirect || !tensorCopies.empty())
    b.create<amdgpu::MemoryCounterWaitOp>(
        /*load=*/hasDirect ? count(later) : IntegerAttr(),
        /*store=*/IntegerAttr(),
        /*ds=*/IntegerAttr(), /*exp=*/IntegerAttr(),
        /*tensor=*/tensorCopies.empty() ? IntegerAttr() : count(0));
  b.create<amdgpu::LDSBarrierOp>();
}

void GemmKernel::readStage(Chunk &chunk, int64_t stage, int64_t inStage) {
  auto read = [&](const GemmStages::Operand &staged, Value base, int64_t blocks,
                  SmallVectorImpl<Value> &words) {
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t run = 0; run < staged.operand->runs; ++run) {
        const int64_t byte =
            block * getBlockBytes(staged) + getRunByte(staged, run, inStage);
        words.push_back(b.create<vector::LoadOp>(
            wordsType(staged.operand->getRunWords()), stageWords,
            ValueRange{add(base, byte / 4)}, /*nontemporal=*/false,
            llvm::MaybeAlign(staged.operand->getRunBytes())));
      }
  };
  if (stages.weights.way != GemmStages::Way::lanes)
    read(stages.weights, weightReads[stage], getColumnBlocks(), chunk.weights);
  read(stages.rows, rowReads[stage], rowBlocks, chunk.rows);
}

/// Adds all steps. The next one is on its way to LDS while this one is
/// multiplied; two steps make one iteration, so that stages have fixed places
/// and nothing moves between registers.
void GemmKernel::emitStagedSteps(Sums &sums) {
  const int64_t chunks = stages.chunks;
  const int64_t steps = shape.getFullChunks() / chunks;
  const bool hasOwnWeights = stages.weights.way == GemmStages::Way::lanes;
  if (steps == 0)
    return;
  // Scales first: what is loaded after the last write of an iteration LLVM
  // moves into the next one, where it is used.
  auto startStep = [&](Value step, int64_t stage, SmallVector<Value> &waiting) {
    SmallVector<Chunk> started(chunks);
    for (int64_t i = 0; i < chunks; ++i)
      loadScales(started[i], add(mul(step, chunks), i), /*isTail=*/false);
    waiting = startCopies(step, stage);
    // The wait for the copies counts the loads after them.
    if (hasOwnWeights)
      keepLoadsAbove();
    return started;
  };
  auto loadTile = [&](Chunk &chunk, int64_t tile, Value step, int64_t i) {
    for (int64_t block = tile * shape.blocksPerTile;
         block < (tile + 1) * shape.blocksPerTile; ++block)
      for (int64_t run = 0; run < shape.b.runs; ++run)
        chunk.weights.push_back(loadWeightRun(
            block, run, inBase(add(mul(step, chunks), i)), /*isTail=*/false));
  };
  // Multiplies step `number` and fetches the one after it. `step` has the
  // scales and the weights that do not go through LDS. Those of the next step
  // take the registers of a tile that has been multiplied.
  auto emitStep = [&](SmallVector<Chunk> &step, Value number, int64_t stage,
                      bool hasNext, Sums &sums) {
    waitForStage();
    for (int64_t i = 0; i < chunks; ++i)
      readStage(step[i], stage, i);
    const int64_t nextStage = (stage + 1) % kStages;
    SmallVector<Chunk> next;
    SmallVector<Value> waiting;
    Value nextNumber = add(number, 1);
    if (hasNext)
      next = startStep(nextNumber, nextStage, waiting);
    for (int64_t i = 0; i < chunks; ++i)
      multiply(step[i], sums, [&](int64_t tile) {
        if (!hasNext || !hasOwnWeights)
          return;
        loadTile(next[i], tile, nextNumber, i);
        // Or LLVM's scheduler moves the loads to the end of the step, right
        // before what waits for them.
        b.create<ROCDL::SchedBarrier>(0);
      });
    if (hasNext && hasOwnWeights)
      keepLoadsAbove();
    finishCopies(waiting, nextStage);
    step = next;
  };

  // What the tile before left in LDS may still be read.
  b.create<amdgpu::LDSBarrierOp>();
  SmallVector<Value> waiting;
  SmallVector<Chunk> step = startStep(index(0), 0, waiting);
  if (hasOwnWeights) {
    for (int64_t i = 0; i < chunks; ++i)
      for (int64_t tile = 0; tile < tilesN; ++tile)
        loadTile(step[i], tile, index(0), i);
    keepLoadsAbove();
  }
  finishCopies(waiting, 0);
  int64_t stage = 0;
  const int64_t inLoop = emitStepLoop(
      steps, step, sums,
      [&](SmallVector<Chunk> &step, Value number, bool hasNext, Sums &sums) {
        emitStep(step, number, stage, hasNext, sums);
        stage = (stage + 1) % kStages;
      });
  for (int64_t number = inLoop; number < steps; ++number)
    emitStep(step, index(number), number % kStages, number + 1 < steps, sums);
}
