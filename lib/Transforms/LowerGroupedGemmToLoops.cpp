//===- LowerGroupedGemmToLoops.cpp - Meaning of pa.grouped_gemm -*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmOutput.h"
#include "GemmShape.h"
#include "LoopBuilder.h"
#include "LowerToLoops.h"
#include "ScalarFormats.h"

using namespace mlir;
using namespace mlir::pa;

namespace {
/// One output row: `group` is its expert, `source` its row of A.
struct GemmRowBuilder {
  ImplicitLocOpBuilder &b;
  GroupedGemmOp op;
  Value group, row, source;

  Value loadA(Value element);
  Value loadB(Value n, Value element);
  Value loadScaleA(Value element);
  Value loadScaleB(Value n, Value element);
  Value scaled(Value sum, Value n, Value firstElement);
  Value product(Value n);
  Value output(Value column);
  void writeRow(Value blockBuffer);
  void writeBlock(Value block, Value blockBuffer);
};
} // namespace

/// Puts `offset`, counted in elements inside the last two dimensions of an
/// operand, which are contiguous with rows of `columns`, back into two indices.
static SmallVector<Value> splitOffset(ImplicitLocOpBuilder &b, Value outer,
                                      Value offset, int64_t columns) {
  return {outer, div(b, offset, columns), rem(b, offset, columns)};
}

/// The two indices of the code of a row and block column in a layout that is
/// not linear, among `columns` block columns.
static SmallVector<Value> shuffledScale(ImplicitLocOpBuilder &b,
                                        ScaleLayout layout, Value row,
                                        Value column, int64_t columns) {
  Value offset = mul(b, div(b, row, 32), 32 * columns);
  if (layout == ScaleLayout::n32k4) {
    offset = add(b, offset, mul(b, div(b, column, 4), 128));
    offset = add(b, offset, mul(b, rem(b, row, 32), 4));
    offset = add(b, offset, rem(b, column, 4));
  } else {
    offset = add(b, offset, mul(b, div(b, column, 8), 256));
    offset = add(b, offset, mul(b, rem(b, column, 4), 64));
    offset = add(b, offset, mul(b, rem(b, row, 16), 4));
    offset = add(b, offset, mul(b, div(b, rem(b, column, 8), 4), 2));
    offset = add(b, offset, div(b, rem(b, row, 32), 16));
  }
  return {div(b, offset, columns), rem(b, offset, columns)};
}

Value GemmRowBuilder::loadA(Value element) {
  if (op.hasFp4A())
    return loadFp4(b, op.getA(), {source, div(b, element, 2)}, element);
  return loadFloat(b, op.getA(), {source, element});
}

Value GemmRowBuilder::loadB(Value n, Value element) {
  Value weights = op.getB();
  Value column = op.hasFp4B() ? div(b, element, 2) : element;
  SmallVector<Value> indices = {group, n, column};
  if (op.getWeightLayout() == WeightLayout::shuffled_16x16) {
    // The layout is one of bytes: pieces of 16 rows by 16 bytes.
    auto type = cast<MemRefType>(weights.getType());
    int64_t piece = 128 / type.getElementTypeBitWidth();
    int64_t columns = op.hasFp4B() ? op.getK() / 2 : op.getK();
    Value offset = mul(b, div(b, n, 16), 16 * columns);
    offset = add(b, offset, mul(b, div(b, column, piece), 16 * piece));
    offset = add(b, offset, mul(b, rem(b, n, 16), piece));
    offset = add(b, offset, rem(b, column, piece));
    indices = splitOffset(b, group, offset, columns);
  }
  if (op.hasFp4B())
    return loadFp4(b, weights, indices, element);
  return loadFloat(b, weights, indices);
}

/// The scale of A for the block of `element`: an E8M0 code or an f32.
Value GemmRowBuilder::loadScaleA(Value element) {
  SmallVector<Value> indices = {source};
  if (op.getAScale() != ScaleKind::f32_row)
    indices.push_back(
        div(b, element, getScaleColumns(op.getAScale(), op.getK())));
  if (op.getAScaleLayout() != ScaleLayout::linear)
    indices =
        shuffledScale(b, op.getAScaleLayout(), source, indices[1],
                      op.getK() / getScaleColumns(op.getAScale(), op.getK()));
  if (isE8M0(op.getAScale()))
    return loadCode(b, op.getAScales(), indices);
  return memref::LoadOp::create(b, op.getAScales(), indices);
}

Value GemmRowBuilder::loadScaleB(Value n, Value element) {
  Value scales = op.getBScales();
  ScaleKind kind = op.getBScale();
  Value scaleRow = div(b, n, getScaleRows(kind));
  if (kind == ScaleKind::f32_row)
    return memref::LoadOp::create(b, scales, ValueRange{group, scaleRow});

  Value column = div(b, element, getScaleColumns(kind, op.getK()));
  SmallVector<Value> indices = {group, scaleRow, column};
  if (op.getScaleLayout() != ScaleLayout::linear) {
    int64_t columns = op.getK() / getScaleColumns(kind, op.getK());
    indices = {group};
    llvm::append_range(
        indices, shuffledScale(b, op.getScaleLayout(), n, column, columns));
  }
  if (isE8M0(kind))
    return loadCode(b, scales, indices);
  return memref::LoadOp::create(b, scales, indices);
}

/// `sum` times the scales of its block, combined before they meet it: the
/// exponents of E8M0 codes add, so that a tiny scale times a huge one is exact.
Value GemmRowBuilder::scaled(Value sum, Value n, Value firstElement) {
  SmallVector<Value> codes, factors;
  if (op.getAScale() != ScaleKind::none)
    (isE8M0(op.getAScale()) ? codes : factors)
        .push_back(loadScaleA(firstElement));
  if (op.getBScale() != ScaleKind::none)
    (isE8M0(op.getBScale()) ? codes : factors)
        .push_back(loadScaleB(n, firstElement));
  if (codes.empty() && factors.empty())
    return sum;
  Value scale;
  if (!codes.empty())
    scale = exponentScale(b, codes);
  for (Value factor : factors) {
    Value wide = arith::ExtFOp::create(b, b.getF64Type(), factor);
    scale = scale ? arith::MulFOp::create(b, scale, wide).getResult() : wide;
  }
  return scaleOnce(b, sum, scale);
}

/// Column `n` of the product, with its bias.
Value GemmRowBuilder::product(Value n) {
  int64_t k = op.getK();
  int64_t block = std::min(getScaleColumns(op.getAScale(), k),
                           getScaleColumns(op.getBScale(), k));
  auto blockSum = [&](Value q) {
    Value first = mul(b, q, block);
    Value sum = sumOf(b, block, [&](Value step) -> Value {
      Value element = add(b, first, step);
      Value a = loadA(element);
      return arith::MulFOp::create(b, a, loadB(n, element));
    });
    return scaled(sum, n, first);
  };
  Value result = block == k ? blockSum(indexConstant(b, 0))
                            : sumOf(b, k / block, blockSum);
  if (op.getBias())
    result = arith::AddFOp::create(
        b, result,
        memref::LoadOp::create(b, op.getBias(), ValueRange{group, n}));
  return result;
}

/// Output column `column` as an f32, before it is rounded or requantised.
Value GemmRowBuilder::output(Value column) {
  Value result;
  if (ActivationAttr activation = op.getActivationAttr()) {
    Value gateColumn = mul(b, column, 2);
    Value gate = product(gateColumn);
    Value up = product(add(b, gateColumn, indexConstant(b, 1)));
    result = ActivationBuilder{b, activation}.apply(gate, up);
  } else {
    result = product(column);
  }
  if (op.getRowWeights())
    result = arith::MulFOp::create(
        b, result,
        memref::LoadOp::create(b, op.getRowWeights(), ValueRange{row}));
  return result;
}

/// Requantises one block of output columns. Its scale is known only after all
/// of them, which wait in `blockBuffer`.
void GemmRowBuilder::writeBlock(Value block, Value blockBuffer) {
  auto type = cast<MemRefType>(op.getC().getType());
  bool isFp4 = type.getElementType().isInteger(8);
  const ScalarFormat &format =
      isFp4 ? getFp4Format() : getScalarFormat(type.getElementType());
  Value zero = indexConstant(b, 0), width = indexConstant(b, kOutputBlock);
  Value first = mul(b, block, kOutputBlock);
  // Unsigned order puts NaN above every number.
  Value amax =
      forEach(b, zero, width, i32Constant(b, 0),
              [&](Value step, ValueRange most) -> SmallVector<Value> {
                Value value = output(add(b, first, step));
                memref::StoreOp::create(b, value, blockBuffer, step);
                Value bits = arith::BitcastOp::create(b, b.getI32Type(), value);
                bits =
                    arith::AndIOp::create(b, bits, i32Constant(b, 0x7fffffff));
                return {arith::MaxUIOp::create(b, most[0], bits)};
              })
          .front();
  Value scaleCode = encodeScale(b, amax, format);
  storeCode(b, scaleCode, op.getCScales(), {row, block});

  Value scale = reciprocalScale(b, scaleCode);
  auto element = [&](Value step) {
    Value value = memref::LoadOp::create(b, blockBuffer, step);
    return encode(b, scaleOnce(b, value, scale), format);
  };
  if (!isFp4) {
    forEach(b, kOutputBlock, [&](Value step) {
      storeCode(b, element(step), op.getC(), {row, add(b, first, step)});
    });
    return;
  }
  forEach(b, kOutputBlock / 2, [&](Value pair) {
    Value even = mul(b, pair, 2);
    Value low = element(even);
    Value high = element(add(b, even, indexConstant(b, 1)));
    Value byte = arith::OrIOp::create(
        b, low, arith::ShLIOp::create(b, high, i32Constant(b, 4)));
    storeCode(b, byte, op.getC(), {row, add(b, div(b, first, 2), pair)});
  });
}

/// Writes the row; `blockBuffer` is null where the output has no scales.
void GemmRowBuilder::writeRow(Value blockBuffer) {
  int64_t columns = op.getActivation() ? op.getN() / 2 : op.getN();
  if (blockBuffer) {
    forEach(b, columns / kOutputBlock,
            [&](Value block) { writeBlock(block, blockBuffer); });
    return;
  }
  forEach(b, columns, [&](Value column) {
    storeFloat(b, output(column), op.getC(), {row, column});
  });
}

void mlir::pa::lowerToLoops(ImplicitLocOpBuilder &b, GroupedGemmOp op) {
  Value zero = indexConstant(b, 0);
  Value rows = dim(b, op.getC(), 0), rowsOfA = dim(b, op.getA(), 0);
  Value blockBuffer;
  if (op.getCScales())
    blockBuffer = memref::AllocOp::create(
        b, MemRefType::get(kOutputBlock, b.getF32Type()));

  // Offsets that leave the rows are cut there, so that nothing outside of the
  // operands is touched.
  auto offset = [&](Value position) {
    Value value = loadSigned(b, op.getOffsets(), position);
    return signedMin(b, signedMax(b, value, zero), rows);
  };
  forEach(b, zero, dim(b, op.getB(), 0), [&](Value group) {
    Value first = zero, last = rows;
    if (op.getOffsets()) {
      first = offset(group);
      last = offset(add(b, group, indexConstant(b, 1)));
    }
    forEach(b, first, last, [&](Value row) {
      if (!op.getRowIds()) {
        GemmRowBuilder{b, op, group, row, row}.writeRow(blockBuffer);
        return;
      }
      // A negative id is a huge one here: both are outside of A.
      Value source = loadSigned(b, op.getRowIds(), row);
      Value isInside =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, source, rowsOfA);
      ifTrue(b, isInside, [&] {
        GemmRowBuilder{b, op, group, row, source}.writeRow(blockBuffer);
      });
    });
  });
  if (blockBuffer)
    memref::DeallocOp::create(b, blockBuffer);
}
