//===- GemmLoads.cpp - Operands and scales of a grouped GEMM --------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;
/// Rows that a scale of kind e8m0_32x32 and a block of a scale layout have.
constexpr int64_t kScaleRows = 32;

SmallVector<Value> GemmKernel::Chunk::flatten() const {
  SmallVector<Value> values(ArrayRef<Value>{weights});
  llvm::append_range(values, rows);
  llvm::append_range(values, weightScales);
  llvm::append_range(values, rowScales);
  llvm::append_range(values, products);
  llvm::append_range(values, factors);
  return values;
}

GemmKernel::Chunk GemmKernel::Chunk::withValues(ValueRange values) const {
  Chunk chunk;
  auto take = [&](size_t count) {
    SmallVector<Value, 2> front(values.take_front(count));
    values = values.drop_front(count);
    return front;
  };
  chunk.weights = take(weights.size());
  chunk.rows = take(rows.size());
  chunk.weightScales = take(weightScales.size());
  chunk.rowScales = take(rowScales.size());
  chunk.products = take(products.size());
  chunk.factors = take(factors.size());
  return chunk;
}

SmallVector<Value> GemmKernel::flatten(ArrayRef<Chunk> chunks) {
  SmallVector<Value> values;
  for (const Chunk &chunk : chunks)
    llvm::append_range(values, chunk.flatten());
  return values;
}

SmallVector<GemmKernel::Chunk> GemmKernel::unflatten(ArrayRef<Chunk> like,
                                                     ValueRange values) {
  SmallVector<Chunk> chunks;
  for (const Chunk &chunk : like) {
    size_t count = chunk.flatten().size();
    chunks.push_back(chunk.withValues(values.take_front(count)));
    values = values.drop_front(count);
  }
  return chunks;
}

/// Where run `number` of chunk `chunk` of a row begins.
SmallVector<Value>
GemmKernel::getRunIndices(Value memref, ArrayRef<Value> leading,
                          Value rowOffset, const GemmOperand &operand,
                          Value number, Value chunk, bool isShuffled) {
  const int64_t runColumns = operand.toColumns(operand.run);
  const int64_t chunkColumns = operand.toColumns(shape.chunk);
  SmallVector<Value> indices(leading);
  Value position = mul(number, runColumns);
  if (!isShuffled) {
    indices.push_back(add(mul(chunk, chunkColumns), position));
    return indices;
  }
  const int64_t piece =
      128 / cast<MemRefType>(memref.getType()).getElementTypeBitWidth();
  position = runColumns == piece ? mul(position, kRows)
                                 : add(mul(div(position, piece), piece * kRows),
                                       rem(position, piece));
  position = add(position, mul(chunk, chunkColumns * kRows));
  indices.push_back(add(position, rowOffset));
  return indices;
}

/// Run `run` of chunk `chunk` of the lane's row, as words. Runs beyond K are
/// zero, and are read inside of it.
Value GemmKernel::loadRun(Value memref, ArrayRef<Value> leading,
                          Value rowOffset, const GemmOperand &operand,
                          int64_t run, Value chunk, bool isTail,
                          bool isShuffled) {
  const int64_t first = run * shape.groups;
  const int64_t numRuns =
      (isTail ? shape.getTail() : shape.chunk) / operand.run;
  VectorType wordsTy = wordsType(operand.getRunWords());
  Value zero = b.create<arith::ConstantOp>(wordsTy, b.getZeroAttr(wordsTy));
  if (first >= numRuns)
    return zero;
  const bool isPartial = first + shape.groups > numRuns;
  Value number = add(laneGroup, first);
  number = isPartial ? min(number, index(numRuns - 1))
                     : inRegister(number, first + shape.groups - 1);
  auto vectorType =
      VectorType::get({operand.toColumns(operand.run)},
                      cast<MemRefType>(memref.getType()).getElementType());
  Value words = b.create<vector::BitCastOp>(
      wordsTy, b.create<vector::LoadOp>(
                   vectorType, memref,
                   getRunIndices(memref, leading, rowOffset, operand, number,
                                 chunk, isShuffled)));
  if (!isPartial)
    return words;
  return select(less(add(laneGroup, first), index(numRuns)), words, zero);
}

Value GemmKernel::loadRowRun(int64_t block, int64_t run, Value chunk,
                             bool isTail) {
  return loadRun(a, {sourceRows[block]}, Value(), shape.a, run, chunk, isTail,
                 /*isShuffled=*/false);
}

Value GemmKernel::loadWeightRun(int64_t block, int64_t run, Value chunk,
                                bool isTail) {
  if (op.getWeightLayout() == WeightLayout::shuffled_16x16)
    return loadRun(weights, {group}, weightOffsets[block], shape.b, run, chunk,
                   isTail, /*isShuffled=*/true);
  return loadRun(weights, {group, weightRows[block]}, Value(), shape.b, run,
                 chunk, isTail, /*isShuffled=*/false);
}

/// The number of a chunk as something that moves the base of an access: gfx1250
/// has no offsets of an access that LLVM takes sums apart for.
Value GemmKernel::inBase(Value chunk) {
  return getConstantIntValue(chunk)
             ? chunk
             : inScalar(chunk, std::max<int64_t>(shape.getFullChunks() - 1, 0));
}

GemmKernel::Chunk GemmKernel::loadChunk(Value number, bool isTail) {
  Chunk chunk;
  number = inBase(number);
  for (int64_t block = 0; block < getColumnBlocks(); ++block)
    for (int64_t run = 0; run < shape.b.runs; ++run)
      chunk.weights.push_back(loadWeightRun(block, run, number, isTail));
  for (int64_t block = 0; block < rowBlocks; ++block)
    for (int64_t run = 0; run < shape.a.runs; ++run)
      chunk.rows.push_back(loadRowRun(block, run, number, isTail));
  loadScales(chunk, number, isTail);
  return chunk;
}

/// One E8M0 code as an i8.
static Value loadCode(ImplicitLocOpBuilder &b, Value memref,
                      ValueRange indices) {
  Value code = b.create<memref::LoadOp>(memref, indices);
  return code.getType().isInteger(8)
             ? code
             : b.create<arith::BitcastOp>(b.getI8Type(), code);
}

/// A word whose first byte is `code`; the matrix instruction reads no other
/// one, and clearing them would be an instruction.
static Value toWord(ImplicitLocOpBuilder &b, Value code) {
  auto type = VectorType::get({4}, b.getI8Type());
  Value bytes = b.create<vector::InsertOp>(code, b.create<LLVM::PoisonOp>(type),
                                           ArrayRef<int64_t>{0});
  Value words =
      b.create<vector::BitCastOp>(VectorType::get({1}, b.getI32Type()), bytes);
  return b.create<vector::ExtractOp>(words, 0);
}

/// The word of four codes, from the least significant byte up.
static Value packCodes(ImplicitLocOpBuilder &b,
                       function_ref<Value(int64_t)> getCode) {
  Value word;
  for (int64_t i = 0; i < 4; ++i) {
    Value code = b.create<arith::ExtUIOp>(b.getI32Type(), getCode(i));
    if (i == 0) {
      word = code;
      continue;
    }
    Value shift = b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(8 * i)));
    word = b.create<arith::OrIOp>(word, b.create<arith::ShLIOp>(code, shift));
  }
  return word;
}

static bool hasUnitInnerStride(Value memref) {
  auto [strides, offset] =
      cast<MemRefType>(memref.getType()).getStridesAndOffset();
  return strides.back() == 1;
}

/// The codes of the four blocks of a chunk, in one word. Blocks beyond K have
/// zero data, so that the code of the last block will do for them.
Value GemmKernel::loadCodeWord(Value memref, ArrayRef<Value> leading,
                               Value chunk, bool isTail) {
  SmallVector<Value> indices(leading);
  const int64_t blocks = shape.chunk / MmaInfo::kScaleBlock;
  Value first = mul(chunk, blocks);
  indices.push_back(first);
  if (!isTail && hasUnitInnerStride(memref)) {
    auto type = VectorType::get(
        {blocks}, cast<MemRefType>(memref.getType()).getElementType());
    Value codes = b.create<vector::LoadOp>(type, memref, indices);
    Value words = b.create<vector::BitCastOp>(wordsType(1), codes);
    return b.create<vector::ExtractOp>(words, 0);
  }
  const int64_t valid =
      isTail ? shape.getTail() / MmaInfo::kScaleBlock : blocks;
  return packCodes(b, [&](int64_t i) {
    indices.back() = add(first, std::min(i, valid - 1));
    return loadCode(b, memref, indices);
  });
}

/// The code of a row for one block of K, wherever the layout has it.
Value GemmKernel::loadCodeOf(const ScaleSource &source, Value row,
                             Value block) {
  SmallVector<Value> indices(source.leading);
  if (source.layout == ScaleLayout::linear) {
    indices.append({row, block});
    return loadCode(b, source.memref, indices);
  }
  const int64_t blocks = shape.k / MmaInfo::kScaleBlock;
  Value offset = mul(div(row, kScaleRows), kScaleRows * blocks);
  if (source.layout == ScaleLayout::n32k4) {
    offset = add(offset, mul(div(block, 4), 128));
    offset = add(offset, mul(rem(row, kScaleRows), 4));
    offset = add(offset, rem(block, 4));
  } else {
    offset = add(offset, mul(div(block, 8), 256));
    offset = add(offset, mul(rem(block, 4), 64));
    offset = add(offset, mul(rem(row, 16), 4));
    offset = add(offset, mul(div(rem(block, 8), 4), 2));
    offset = add(offset, div(rem(row, kScaleRows), 16));
  }
  indices.push_back(offset);
  return loadCode(b, source.memref, indices);
}

/// The codes of a row for the blocks of a chunk.
Value GemmKernel::loadCodesOf(const ScaleSource &source, Value row, Value chunk,
                              bool isTail) {
  if (source.layout == ScaleLayout::linear) {
    SmallVector<Value> leading(source.leading);
    leading.push_back(row);
    return loadCodeWord(source.memref, leading, chunk, isTail);
  }
  // Layouts other than linear have whole chunks.
  Value first = mul(chunk, shape.chunk / MmaInfo::kScaleBlock);
  return packCodes(
      b, [&](int64_t i) { return loadCodeOf(source, row, add(first, i)); });
}

/// The block of K in a chunk whose code the lane gives the matrix instruction,
/// where it gives one. Blocks beyond K have zero data.
Value GemmKernel::getLaneBlock(Value chunk, bool isTail) {
  Value inChunk = laneGroup;
  if (isTail)
    inChunk = min(inChunk, index(shape.getTail() / MmaInfo::kScaleBlock - 1));
  return add(mul(chunk, shape.chunk / MmaInfo::kScaleBlock), inChunk);
}

/// Tiles of a wave that have one f32 block scale: those in the same 128
/// columns, where that is known of all waves.
int64_t GemmKernel::getTilesPerScale() const {
  constexpr int64_t kColumns = 128;
  const int64_t waveColumns = tilesN * mma.m;
  if (kColumns % waveColumns == 0)
    return tilesN;
  return waveColumns % kColumns == 0 ? kColumns / mma.m : 1;
}

void GemmKernel::loadScales(Chunk &chunk, Value number, bool isTail) {
  const bool isWhole = shape.n % config.getTileN() == 0;
  auto clampRow = [&](Value row) {
    return isWhole ? row : assume(min(row, index(shape.n - 1)), 0, shape.n - 1);
  };
  // The block of `rows` rows that a matrix tile is in, for scales that they
  // share: constants away from that of the wave where it begins with a block.
  auto blockOf = [&](int64_t tile, int64_t rows) {
    if (isWhole && tilesN * mma.m % rows == 0)
      return add(div(firstColumn, rows), tile * mma.m / rows);
    return div(clampRow(add(firstColumn, tile * mma.m)), rows);
  };

  number = inBase(number);
  const bool isOneCode = shape.hasMmaScales && mma.scalesPerLane == 1;
  const ScaleSource ofRows{aScales, {}, op.getAScaleLayout()};
  const ScaleSource ofWeights{weightScales, {group}, op.getScaleLayout()};
  if (isE8M0(op.getAScale())) {
    for (Value row : sourceRows)
      chunk.rowScales.push_back(
          isOneCode
              ? toWord(b, loadCodeOf(ofRows, row, getLaneBlock(number, isTail)))
              : loadCodesOf(ofRows, row, number, isTail));
  } else if (op.getAScale() == ScaleKind::f32_1x128) {
    for (Value row : sourceRows)
      chunk.rowScales.push_back(
          b.create<memref::LoadOp>(aScales, ValueRange{row, number}));
  }

  const bool isShared = op.getBScale() == ScaleKind::e8m0_32x32;
  if (op.getBScale() == ScaleKind::f32_128x128) {
    for (int64_t tile = 0; tile < tilesN; tile += getTilesPerScale())
      chunk.weightScales.push_back(b.create<memref::LoadOp>(
          weightScales, ValueRange{group, blockOf(tile, 128), number}));
  } else if (isE8M0(op.getBScale()) && shape.hasMmaScales) {
    Value laneInRows = rem(lane, mma.m);
    for (int64_t tile = 0; tile < tilesN; ++tile) {
      Value row =
          isShared  ? blockOf(tile, kScaleRows)
          : isWhole ? add(firstColumn, inRegister(add(laneInRows, tile * mma.m),
                                                  (tile + 1) * mma.m - 1))
                    : clampRow(add(add(firstColumn, laneInRows), tile * mma.m));
      chunk.weightScales.push_back(
          isOneCode ? toWord(b, loadCodeOf(ofWeights, row,
                                           getLaneBlock(number, isTail)))
                    : loadCodesOf(ofWeights, row, number, isTail));
    }
  } else if (isE8M0(op.getBScale())) {
    // Those of the rows whose sums the lane has.
    for (int64_t tile = 0; tile < tilesN; ++tile) {
      if (isShared) {
        chunk.weightScales.push_back(loadCodeWord(
            weightScales, {group, blockOf(tile, kScaleRows)}, number, isTail));
        continue;
      }
      for (int64_t i = 0; i < shape.accPerLane; ++i) {
        Value row =
            clampRow(add(add(firstColumn, mul(laneGroup, mma.accRowBlock)),
                         tile * mma.m + i));
        chunk.weightScales.push_back(
            loadCodesOf(ofWeights, row, number, isTail));
      }
    }
  }
}
