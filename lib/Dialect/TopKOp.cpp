//===- TopKOp.cpp - The pa.topk op ----------------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"

using namespace mlir;
using namespace mlir::pa;

int64_t TopKOp::getK() {
  return cast<ShapedType>(getIndices().getType()).getDimSize(1);
}

void TopKOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationEffects(*this, effects);
}

/// C8: a configuration written by hand.
static LogicalResult verifyConfig(TopKOp op) {
  TopKConfigAttr config = op.getConfigAttr();
  if (!config)
    return success();
  auto verifyLoads = [&]() -> LogicalResult {
    const int64_t loads = config.getLoads();
    if ((loads >= 1 && loads <= 4) || loads == 8)
      return success();
    return op.emitOpError()
           << "loads must be from 1 to 4 or 8, found " << loads;
  };
  // What a wave of 64 lanes finds in one step fits beside k. The upper bound
  // keeps counts of candidates in 16 bits.
  return success(
      succeeded(verifyRange(op, "waves", config.getWaves(), 1, 16)) &&
      succeeded(verifyLoads()) &&
      succeeded(verifyRange(op, "candidates", config.getCandidates(),
                            op.getK() + 256 * config.getLoads(), 32768)) &&
      succeeded(verifyRange(op, "splits", config.getSplits(), 0, 256)));
}

/// C9: row ends from the lengths of sequences.
static LogicalResult verifyContextLens(TopKOp op, NamedOperand contextLens,
                                       int64_t rows) {
  std::optional<int64_t> nextN = op.getNextN();
  if (!contextLens.value) {
    if (nextN)
      return op.emitOpError() << "next_n belongs to context_lens, which are "
                                 "absent; found next_n = "
                              << *nextN;
    return success();
  }
  if (!nextN)
    return op.emitOpError() << "context_lens need next_n, found none";
  constexpr int64_t kMaxNextN = std::numeric_limits<int32_t>::max();
  if (*nextN < 1 || *nextN > kMaxNextN)
    return op.emitOpError()
           << "next_n must be from 1 to " << kMaxNextN << ", found " << *nextN;
  if (op.getRowEnds())
    return op.emitOpError() << "row ends are given by row_ends or by "
                               "context_lens, found both";
  if (ShapedType::isDynamic(rows))
    return success();
  if (rows % *nextN != 0)
    return op.emitOpError() << "rows must be a multiple of next_n = " << *nextN
                            << ", found " << rows;
  return verifyExtent(op, contextLens, 0, rows / *nextN, "rows / next_n");
}

LogicalResult TopKOp::verify() {
  constexpr int64_t kMaxK = 4096;
  Builder b(getContext());
  NamedOperand values{"values", getValues()};
  NamedOperand rowStarts{"row_starts", getRowStarts()};
  NamedOperand rowEnds{"row_ends", getRowEnds()};
  NamedOperand contextLens{"context_lens", getContextLens()};
  NamedOperand indices{"indices", getIndices()};
  NamedOperand topValues{"top_values", getTopValues()};

  if (failed(verifyRank(*this, values, 2)) ||
      failed(verifyRank(*this, rowStarts, 1)) ||
      failed(verifyRank(*this, rowEnds, 1)) ||
      failed(verifyRank(*this, contextLens, 1)) ||
      failed(verifyRank(*this, indices, 2)) ||
      failed(verifyRank(*this, topValues, 2)))
    return failure();
  if (failed(verifySameForm(
          *this, {values, rowStarts, rowEnds, contextLens, indices, topValues},
          {indices, topValues})))
    return failure();
  if (failed(verifyElementType(*this, values, {b.getF32Type()})) ||
      failed(verifyElementType(*this, topValues, {b.getF32Type()})) ||
      failed(verifyElementType(*this, rowStarts, {b.getI32Type()})) ||
      failed(verifyElementType(*this, rowEnds, {b.getI32Type()})) ||
      failed(verifyElementType(*this, contextLens, {b.getI32Type()})) ||
      failed(verifyElementType(*this, indices, {b.getI32Type()})))
    return failure();

  int64_t rows = values.type().getDimSize(0);
  int64_t columns = values.type().getDimSize(1);
  if (failed(verifyExtent(*this, rowStarts, 0, rows, "rows")) ||
      failed(verifyExtent(*this, rowEnds, 0, rows, "rows")) ||
      failed(verifyExtent(*this, indices, 0, rows, "rows")) ||
      failed(verifyExtent(*this, topValues, 0, rows, "rows")) ||
      failed(verifyExtent(*this, topValues, 1, getK(), "k")) ||
      failed(verifyContextLens(*this, contextLens, rows)))
    return failure();
  if (ShapedType::isDynamic(getK()))
    return emitOpError() << "k, the columns of indices, must be static";
  if (getK() < 1 || getK() > kMaxK)
    return emitOpError() << "k must be from 1 to " << kMaxK << ", found "
                         << getK();
  constexpr int64_t kMaxColumns = std::numeric_limits<int32_t>::max();
  if (!ShapedType::isDynamic(columns) && columns > kMaxColumns)
    return emitOpError() << "columns of values must be at most " << kMaxColumns
                         << ", found " << columns;
  return success(succeeded(verifyStrides(*this, values, /*unitInner=*/true)) &&
                 succeeded(verifyStrides(*this, indices, true)) &&
                 succeeded(verifyStrides(*this, topValues, true)) &&
                 succeeded(verifyStrides(*this, rowStarts, false)) &&
                 succeeded(verifyStrides(*this, rowEnds, false)) &&
                 succeeded(verifyStrides(*this, contextLens, false)) &&
                 succeeded(verifyRowsApart(*this, indices)) &&
                 succeeded(verifyRowsApart(*this, topValues)) &&
                 succeeded(verifyConfig(*this)));
}
