//===- IndexerOp.cpp - The pa.indexer op ----------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pa;

LogitsOperands IndexerOp::getLogitsOperands() {
  return {getQ(),       getQueryScales(), getKeys(),        getKeyScales(),
          getWeights(), getBlockTable(),  getContextLens(), getRowEnds(),
          getLayout(),  getFormat()};
}

int64_t IndexerOp::getK() {
  return cast<ShapedType>(getIndices().getType()).getDimSize(1);
}

void IndexerOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationEffects(*this, effects);
}

/// C10: a configuration written by hand.
static LogicalResult verifyConfig(IndexerOp op) {
  IndexerConfigAttr config = op.getConfigAttr();
  if (!config)
    return success();
  const int64_t steps = config.getSteps();
  if (steps != 1 && steps != 2 && steps != 4 && steps != 8)
    return op.emitOpError() << "steps must be 1, 2, 4 or 8, found " << steps;
  // More than 32768 candidates would not be counted in 16 bits.
  return success(
      succeeded(verifyRange(op, "waves", config.getWaves(), 1, 16)) &&
      succeeded(verifyRange(op, "rows", config.getRows(), 1,
                            op.getLogitsOperands().getNumQueries())) &&
      succeeded(verifyRange(op, "candidates", config.getCandidates(), op.getK(),
                            32768)) &&
      succeeded(verifyRange(op, "splits", config.getSplits(), 0, 256)));
}

LogicalResult IndexerOp::verify() {
  constexpr int64_t kMaxK = 4096;
  constexpr int64_t kMaxColumns = std::numeric_limits<int32_t>::max();
  Builder b(getContext());
  NamedOutput indices{{"indices", getIndices()}, b.getI32Type()};
  NamedOutput topValues{{"top_values", getTopValues()}, b.getF32Type()};
  if (failed(verifyLogitsOperands(*this, getLogitsOperands(),
                                  {indices, topValues})) ||
      failed(verifyExtent(*this, topValues.operand, 1, getK(), "k")))
    return failure();
  if (ShapedType::isDynamic(getK()))
    return emitOpError() << "k, the columns of indices, must be static";
  if (getK() < 1 || getK() > kMaxK)
    return emitOpError() << "k must be from 1 to " << kMaxK << ", found "
                         << getK();
  APInt columns;
  if (matchPattern(getColumns(), m_ConstantInt(&columns)) &&
      columns.getSExtValue() > kMaxColumns)
    return emitOpError() << "columns must be at most " << kMaxColumns
                         << ", found " << columns.getSExtValue();
  return verifyConfig(*this);
}
