//===- LowerPagedLogitsToLoops.cpp - Meaning of pa.paged_logits -*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "LowerToLoops.h"
#include "ScalarFormats.h"

using namespace mlir;
using namespace mlir::pa;

namespace {
/// One key (page and slot) against the heads of one query row.
struct LogitBuilder {
  ImplicitLocOpBuilder &b;
  PagedLogitsOp op;
  Value sequence, query, row, page, slot;

  bool isFp4() { return op.getFormat() == KeyFormat::mxfp4; }
  SmallVector<Value> keyByte(Value byte);
  Value product(Value head, Value element);
  Value dot(Value head);
  Value logit();
};
} // namespace

/// Where byte `byte` of the key stands in its page, as indices of `keys`.
SmallVector<Value> LogitBuilder::keyByte(Value byte) {
  if (op.getLayout() == Layout::linear)
    return {page, slot, byte};
  int64_t bytes = op.getKeyBytes();
  int64_t group = std::min<int64_t>(op.getPageSize(), 16);
  Value offset = mul(b, div(b, slot, group), group * bytes);
  offset = add(b, offset, mul(b, div(b, byte, 16), 16 * group));
  offset = add(b, offset, mul(b, rem(b, slot, group), 16));
  offset = add(b, offset, rem(b, byte, 16));
  // Slots are contiguous inside a page, so that the offset has one place there.
  return {page, div(b, offset, bytes), rem(b, offset, bytes)};
}

/// q times key for one element, without scales.
Value LogitBuilder::product(Value head, Value element) {
  Value byte = isFp4() ? div(b, element, 2) : element;
  SmallVector<Value> qIndices = {sequence, query, head, byte};
  SmallVector<Value> keyIndices = keyByte(byte);
  Value lhs, rhs;
  if (isFp4()) {
    lhs = loadFp4(b, op.getQ(), qIndices, element);
    rhs = loadFp4(b, op.getKeys(), keyIndices, element);
  } else {
    lhs = loadFloat(b, op.getQ(), qIndices);
    rhs = loadFloat(b, op.getKeys(), keyIndices);
  }
  return arith::MulFOp::create(b, lhs, rhs);
}

Value LogitBuilder::dot(Value head) {
  constexpr int64_t kScaleBlock = 32;
  if (!isFp4())
    return sumOf(b, op.getHeadDim(),
                 [&](Value element) { return product(head, element); });
  return sumOf(b, op.getHeadDim() / kScaleBlock, [&](Value block) {
    Value first = mul(b, block, kScaleBlock);
    Value sum = sumOf(b, kScaleBlock, [&](Value element) {
      return product(head, add(b, first, element));
    });
    Value queryCode =
        loadCode(b, op.getQueryScales(), {sequence, query, head, block});
    Value keyCode = loadCode(b, op.getKeyScales(), {page, slot, block});
    return scaleOnce(b, sum, exponentScale(b, {queryCode, keyCode}));
  });
}

Value LogitBuilder::logit() {
  Value sum = sumOf(b, op.getNumHeads(), [&](Value head) -> Value {
    // The maximum that keeps a NaN: a NaN scale must not become a score of 0.
    Value positive =
        arith::MaximumFOp::create(b, dot(head), f32Constant(b, 0.0));
    Value weight =
        memref::LoadOp::create(b, op.getWeights(), ValueRange{row, head});
    return arith::MulFOp::create(b, weight, positive);
  });
  if (isFp4())
    return sum;
  Value scale =
      memref::LoadOp::create(b, op.getKeyScales(), ValueRange{page, slot});
  return arith::MulFOp::create(b, scale, sum);
}

void mlir::pa::lowerToLoops(ImplicitLocOpBuilder &b, PagedLogitsOp op) {
  int64_t numQueries = op.getNumQueries(), pageSize = op.getPageSize();
  Value zero = indexConstant(b, 0);
  Value columns = dim(b, op.getLogits(), 1);
  Value tableColumns = mul(b, dim(b, op.getBlockTable(), 1), pageSize);
  Value available = signedMin(b, columns, tableColumns);
  forEach(b, zero, dim(b, op.getQ(), 0), [&](Value sequence) {
    Value context = loadSigned(b, op.getContextLens(), sequence);
    Value limit = signedMin(b, context, available);
    forEach(b, numQueries, [&](Value query) {
      Value row = add(b, mul(b, sequence, numQueries), query);
      Value end;
      if (op.getRowEnds())
        end = loadSigned(b, op.getRowEnds(), row);
      else
        end = add(b, add(b, context, query), indexConstant(b, 1 - numQueries));
      end = signedMax(b, signedMin(b, end, limit), zero);
      forEach(b, zero, end, [&](Value column) {
        Value page = loadUnsigned(b, op.getBlockTable(),
                                  {sequence, div(b, column, pageSize)});
        Value slot = rem(b, column, pageSize);
        LogitBuilder builder{b, op, sequence, query, row, page, slot};
        memref::StoreOp::create(b, builder.logit(), op.getLogits(),
                                ValueRange{row, column});
      });
      if (op.getFill() == Fill::neg_inf)
        forEach(b, end, columns, [&](Value column) {
          memref::StoreOp::create(b, negInfConstant(b), op.getLogits(),
                                  ValueRange{row, column});
        });
    });
  });
}
