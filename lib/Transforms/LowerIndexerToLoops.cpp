//===- LowerIndexerToLoops.cpp - Meaning of pa.indexer ----------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "LowerToLoops.h"

using namespace mlir;
using namespace mlir::pa;

/// Stores where the rows end: not after the context, the columns or the block
/// table, and not before 0.
static void storeEnds(ImplicitLocOpBuilder &b, IndexerOp op, Value columns,
                      Value ends) {
  const LogitsOperands in = op.getLogitsOperands();
  const int64_t numQueries = in.getNumQueries();
  Value zero = indexConstant(b, 0);
  Value available =
      signedMin(b, columns, mul(b, dim(b, in.blockTable, 1), in.getPageSize()));
  forEach(b, zero, dim(b, in.q, 0), [&](Value sequence) {
    Value context = loadSigned(b, in.contextLens, sequence);
    Value limit = signedMin(b, context, available);
    forEach(b, numQueries, [&](Value query) {
      Value row = add(b, mul(b, sequence, numQueries), query);
      Value end = in.rowEnds ? loadSigned(b, in.rowEnds, row)
                             : add(b, add(b, context, query),
                                   indexConstant(b, 1 - numQueries));
      end = signedMax(b, signedMin(b, end, limit), zero);
      Value element = arith::IndexCastOp::create(b, b.getI32Type(), end);
      memref::StoreOp::create(b, element, ends, row);
    });
  });
}

void mlir::pa::lowerToLoops(ImplicitLocOpBuilder &b, IndexerOp op) {
  const LogitsOperands in = op.getLogitsOperands();
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  Value rows = dim(b, op.getIndices(), 0);
  Value columns = signedMax(b, op.getColumns(), indexConstant(b, 0));
  Value ends = memref::AllocOp::create(
      b, MemRefType::get(kDynamic, b.getI32Type()), rows);
  Value logits = memref::AllocOp::create(
      b, MemRefType::get({kDynamic, kDynamic}, b.getF32Type()),
      ValueRange{rows, columns});
  storeEnds(b, op, columns, ends);
  auto score = PagedLogitsOp::create(
      b, /*result=*/Type(), in.q, in.queryScales, in.keys, in.keyScales,
      in.weights, in.blockTable, in.contextLens, ends, logits, in.layout,
      Fill::none, in.format, LogitsConfigAttr());
  lowerToLoops(b, score);
  score.erase();
  auto select = TopKOp::create(
      b, /*results=*/TypeRange(), logits, /*row_starts=*/Value(), ends,
      /*context_lens=*/Value(), op.getIndices(), op.getTopValues(),
      /*next_n=*/IntegerAttr(), op.getOrder(), TopKConfigAttr());
  lowerToLoops(b, select);
  select.erase();
  memref::DeallocOp::create(b, logits);
  memref::DeallocOp::create(b, ends);
}
