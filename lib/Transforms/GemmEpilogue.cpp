//===- GemmEpilogue.cpp - From the sums of a grouped GEMM to its output ---===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "GemmOutput.h"
#include "ScalarFormats.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;

/// The f32 of `memref` for the columns of the product that the lane has of a
/// block, from the row of the group.
Value GemmKernel::loadColumns(Value memref, int64_t columnBlock) {
  const int64_t count = mma.accRowBlock;
  Value first =
      add(add(firstColumn, mul(laneGroup, count)), columnBlock * kRows);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value column = add(first, i);
    if (shape.n % config.getTileN() != 0)
      column = assume(min(column, index(shape.n - 1)), 0, shape.n - 1);
    elements.push_back(
        b.create<memref::LoadOp>(memref, ValueRange{group, column}));
  }
  return b.create<vector::FromElementsOp>(
      VectorType::get({count}, b.getF32Type()), elements);
}

/// First output column of the lane in a block, or with `perStep` of 2 the byte
/// where it lies. All blocks of a wave are constants away from its first
/// column, so that their stores share a resource.
Value GemmKernel::outputColumn(int64_t columnBlock, int64_t perStep) {
  return add(
      add(perStep == 1 ? firstOutput : firstOutputPair,
          columnBlock * kRows / ((op.getActivation() ? 2 : 1) * perStep)),
      mul(laneGroup, getOutputsPerBlock() / perStep));
}

/// The output values of the lane for one block of columns and of rows.
Value GemmKernel::finish(Value sum, int64_t columnBlock, int64_t rowBlock) {
  auto splat = [&](Value factor) -> Value {
    return b.create<vector::BroadcastOp>(
        VectorType::get({mma.accRowBlock}, b.getF32Type()), factor);
  };
  if (op.getAScale() == ScaleKind::f32_row)
    sum = b.create<arith::MulFOp>(
        sum, splat(b.create<memref::LoadOp>(aScales,
                                            ValueRange{sourceRows[rowBlock]})));
  if (op.getBScale() == ScaleKind::f32_row)
    sum = b.create<arith::MulFOp>(sum, loadColumns(weightScales, columnBlock));
  if (bias)
    sum = b.create<arith::AddFOp>(sum, loadColumns(bias, columnBlock));
  if (ActivationAttr activation = op.getActivationAttr()) {
    SmallVector<Value> outputs;
    for (int64_t i = 0; i < mma.accRowBlock; i += 2)
      outputs.push_back(
          ActivationBuilder{b, activation, /*hasTanh=*/false}.apply(
              b.create<vector::ExtractOp>(sum, i),
              b.create<vector::ExtractOp>(sum, i + 1)));
    sum = b.create<vector::FromElementsOp>(
        VectorType::get({getOutputsPerBlock()}, b.getF32Type()), outputs);
  }
  if (rowWeights) {
    Value weight =
        b.create<memref::LoadOp>(rowWeights, ValueRange{outputRows[rowBlock]});
    sum = b.create<arith::MulFOp>(
        sum, b.create<vector::BroadcastOp>(sum.getType(), weight));
  }
  return sum;
}

/// Stores the values of a lane that has a row, inside the width of the output.
void GemmKernel::storeBlock(Value values, int64_t columnBlock,
                            int64_t rowBlock) {
  Type element = cast<MemRefType>(output.getType()).getElementType();
  const int64_t count = getOutputsPerBlock();
  const int64_t width = op.getActivation() ? shape.n / 2 : shape.n;
  if (element != b.getF32Type())
    values =
        b.create<arith::TruncFOp>(VectorType::get({count}, element), values);
  Value row = outputRows[rowBlock], column = outputColumn(columnBlock);
  const bool isWhole = shape.n % config.getTileN() == 0;
  if (width % count == 0) {
    Value condition = hasRow[rowBlock];
    if (!isWhole)
      condition =
          b.create<arith::AndIOp>(condition, less(column, index(width)));
    ifTrue(condition, [&] {
      b.create<vector::StoreOp>(values, output, ValueRange{row, column});
    });
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    Value ownColumn = add(column, i);
    Value condition = b.create<arith::AndIOp>(hasRow[rowBlock],
                                              less(ownColumn, index(width)));
    ifTrue(condition, [&] {
      b.create<memref::StoreOp>(b.create<vector::ExtractOp>(values, i), output,
                                ValueRange{row, ownColumn});
    });
  }
}

/// Requantises the 32 output columns that begin at block `firstBlock`: the
/// lanes of one row agree on the greatest of them.
void GemmKernel::storeQuantized(ArrayRef<Value> values, int64_t firstBlock,
                                int64_t rowBlock) {
  Type element = cast<MemRefType>(output.getType()).getElementType();
  const bool isFp4 = element.isInteger(8);
  const ScalarFormat &format =
      isFp4 ? getFp4Format() : getScalarFormat(element);
  const int64_t count = getOutputsPerBlock();
  SmallVector<Value> elements;
  Value amax = i32(0);
  for (Value block : values)
    for (int64_t i = 0; i < count; ++i) {
      Value value = b.create<vector::ExtractOp>(block, i);
      elements.push_back(value);
      Value bits = b.create<arith::BitcastOp>(b.getI32Type(), value);
      bits = b.create<arith::AndIOp>(bits, i32(0x7fffffff));
      // Unsigned order puts NaN above every number.
      amax = b.create<arith::MaxUIOp>(amax, bits);
    }
  for (int64_t distance = kRows; distance < lanes; distance *= 2)
    amax = b.create<arith::MaxUIOp>(amax, shuffleXor(amax, distance));
  Value code = encodeScale(b, amax, format);
  Value scale = reciprocalScale(b, code);

  Value row = outputRows[rowBlock];
  Value first = outputColumn(firstBlock);
  Value condition = hasRow[rowBlock];
  const int64_t width = op.getActivation() ? shape.n / 2 : shape.n;
  if (shape.n % config.getTileN() != 0)
    condition = b.create<arith::AndIOp>(condition, less(first, index(width)));
  ifTrue(condition, [&] {
    Value isFirst =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, laneGroup, index(0));
    ifTrue(isFirst, [&] {
      Value byte = b.create<arith::TruncIOp>(b.getI8Type(), code);
      Type type = cast<MemRefType>(outputScales.getType()).getElementType();
      if (type != byte.getType())
        byte = b.create<arith::BitcastOp>(type, byte);
      const int64_t perBlock = kOutputBlock * (op.getActivation() ? 2 : 1);
      Value block = add(firstOutputScale, firstBlock * kRows / perBlock);
      b.create<memref::StoreOp>(byte, outputScales, ValueRange{row, block});
    });
    for (size_t block = 0; block < values.size(); ++block) {
      SmallVector<Value> bytes;
      for (int64_t i = 0; i < count; i += isFp4 ? 2 : 1) {
        auto encoded = [&](int64_t j) {
          return encode(b, scaleOnce(b, elements[block * count + j], scale),
                        format);
        };
        Value byte = encoded(i);
        if (isFp4)
          byte = b.create<arith::OrIOp>(
              byte, b.create<arith::ShLIOp>(encoded(i + 1), i32(4)));
        bytes.push_back(b.create<arith::TruncIOp>(b.getI8Type(), byte));
      }
      auto length = static_cast<int64_t>(bytes.size());
      Value vector = b.create<vector::FromElementsOp>(
          VectorType::get({length}, b.getI8Type()), bytes);
      if (!isFp4)
        vector = b.create<vector::BitCastOp>(VectorType::get({length}, element),
                                             vector);
      Value column =
          outputColumn(firstBlock + static_cast<int64_t>(block), isFp4 ? 2 : 1);
      b.create<vector::StoreOp>(vector, output, ValueRange{row, column});
    }
  });
}

void GemmKernel::emitOutput(Sums sums) {
  firstOutput = op.getActivation() ? div(firstColumn, 2) : firstColumn;
  firstOutputPair = div(firstOutput, 2);
  firstOutputScale = div(firstOutput, kOutputBlock);
  // LLVM moves v_mfma_scale into the branch that stores, where lanes are off.
  // It leaves WMMA alone, and an inline asm would keep the sums of gfx1250 in
  // the first 256 registers.
  if (target.waveSize == 64)
    for (Value &sum : sums)
      sum = keepInAllLanes(sum);
  auto emit = [&] {
    // Column blocks of 32 output columns, or one alone.
    const int64_t together =
        outputScales ? kOutputBlock * (op.getActivation() ? 2 : 1) / kRows : 1;
    for (int64_t rowBlock = 0; rowBlock < rowBlocks; ++rowBlock)
      for (int64_t first = 0; first < getColumnBlocks(); first += together) {
        SmallVector<Value> values;
        for (int64_t block = first; block < first + together; ++block) {
          Value sum = sums[block / shape.blocksPerTile * rowBlocks + rowBlock];
          if (shape.blocksPerTile > 1)
            sum = slice(sum, block % shape.blocksPerTile * mma.accRowBlock,
                        mma.accRowBlock);
          values.push_back(finish(sum, block, rowBlock));
        }
        if (outputScales)
          storeQuantized(values, first, rowBlock);
        else
          storeBlock(values.front(), first, rowBlock);
      }
  };
  if (config.getWavesK() == 1)
    emit();
  else
    ifTrue(b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, waveK, index(0)),
           emit);
}
