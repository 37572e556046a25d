//===- PagedLogitsOp.cpp - The pa.paged_logits op -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"

using namespace mlir;
using namespace mlir::pa;

int64_t PagedLogitsOp::getNumQueries() {
  return cast<ShapedType>(getQ().getType()).getDimSize(1);
}
int64_t PagedLogitsOp::getNumHeads() {
  return cast<ShapedType>(getQ().getType()).getDimSize(2);
}
int64_t PagedLogitsOp::getHeadDim() {
  int64_t size = cast<ShapedType>(getQ().getType()).getDimSize(3);
  return getFormat() == KeyFormat::mxfp4 ? getFp4Elements(size) : size;
}
int64_t PagedLogitsOp::getPageSize() {
  return cast<ShapedType>(getKeys().getType()).getDimSize(1);
}
int64_t PagedLogitsOp::getKeyBytes() {
  // q and keys have rows of one length, which q must state and keys need not.
  return cast<ShapedType>(getQ().getType()).getDimSize(3);
}

void PagedLogitsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationEffects(*this, effects);
}

/// C3: element types.
static LogicalResult verifyElementTypes(PagedLogitsOp op) {
  Builder b(op.getContext());
  Type i8 = b.getI8Type(), i32 = b.getI32Type(), f32 = b.getF32Type();
  Type ocp = b.getType<Float8E4M3FNType>(),
       fnuz = b.getType<Float8E4M3FNUZType>(),
       e8m0 = b.getType<Float8E8M0FNUType>();
  bool isFp4 = op.getFormat() == KeyFormat::mxfp4;
  NamedOperand q{"q", op.getQ()}, keys{"keys", op.getKeys()};
  SmallVector<Type> data =
      isFp4 ? SmallVector<Type>{i8} : SmallVector<Type>{ocp, fnuz};
  SmallVector<Type> scale =
      isFp4 ? SmallVector<Type>{i8, e8m0} : SmallVector<Type>{f32};
  if (failed(verifyElementType(op, q, data)) ||
      failed(verifyElementType(op, keys, data)) ||
      failed(verifyElementType(op, {"query_scales", op.getQueryScales()},
                               {i8, e8m0})) ||
      failed(verifyElementType(op, {"key_scales", op.getKeyScales()}, scale)) ||
      failed(verifyElementType(op, {"weights", op.getWeights()}, {f32})) ||
      failed(
          verifyElementType(op, {"block_table", op.getBlockTable()}, {i32})) ||
      failed(verifyElementType(op, {"context_lens", op.getContextLens()},
                               {i32})) ||
      failed(verifyElementType(op, {"row_ends", op.getRowEnds()}, {i32})) ||
      failed(verifyElementType(op, {"logits", op.getLogits()}, {f32})))
    return failure();
  if (q.type().getElementType() != keys.type().getElementType())
    return op.emitOpError() << "q and keys must have one element type, found "
                            << q.type().getElementType() << " and "
                            << keys.type().getElementType();
  return success();
}

/// C6 and C7: what the size of a dimension may be.
static LogicalResult verifySizes(PagedLogitsOp op) {
  struct {
    StringRef name;
    int64_t value, least, most, step;
  } sizes[] = {{"N, the queries of a sequence,", op.getNumQueries(), 1, 8, 1},
               {"H, the heads,", op.getNumHeads(), 16, 128, 16},
               {"D, the head dimension,", op.getHeadDim(), 64, 256, 64}};
  for (auto &size : sizes) {
    if (ShapedType::isDynamic(size.value))
      return op.emitOpError() << size.name << " must be static";
    if (size.value < size.least || size.value > size.most ||
        size.value % size.step != 0) {
      InFlightDiagnostic diag = op.emitOpError() << size.name << " must be ";
      if (size.step > 1)
        diag << "a multiple of " << size.step << " ";
      return diag << "from " << size.least << " to " << size.most << ", found "
                  << size.value;
    }
  }
  int64_t page = op.getPageSize();
  if (ShapedType::isDynamic(page))
    return op.emitOpError() << "P, the page size, must be static";
  if (page < 1 || page > 256 || (16 % page != 0 && page % 16 != 0))
    return op.emitOpError() << "P, the page size, must be from 1 to 256 and "
                               "divide 16 or be a multiple of 16, found "
                            << page;
  return success();
}

/// C5: extents that two operands share.
static LogicalResult verifyExtents(PagedLogitsOp op) {
  bool isFp4 = op.getFormat() == KeyFormat::mxfp4;
  auto qType = cast<ShapedType>(op.getQ().getType());
  auto keysType = cast<ShapedType>(op.getKeys().getType());
  int64_t batch = qType.getDimSize(0), numQueries = op.getNumQueries();
  int64_t heads = op.getNumHeads(), headDim = op.getHeadDim();
  int64_t pages = keysType.getDimSize(0), page = op.getPageSize();
  int64_t rows = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(batch) &&
      llvm::MulOverflow(batch, numQueries, rows))
    return op.emitOpError() << "B * N must fit 64 bits, found B = " << batch
                            << " and N = " << numQueries;
  NamedOperand queryScales{"query_scales", op.getQueryScales()};
  NamedOperand keyScales{"key_scales", op.getKeyScales()};
  NamedOperand weights{"weights", op.getWeights()};
  if (failed(verifyExtent(op, {"keys", op.getKeys()}, 2, qType.getDimSize(3),
                          "the row of q")) ||
      failed(verifyExtent(op, keyScales, 0, pages, "pages")) ||
      failed(verifyExtent(op, keyScales, 1, page, "P")) ||
      failed(verifyExtent(op, weights, 0, rows, "B * N")) ||
      failed(verifyExtent(op, weights, 1, heads, "H")) ||
      failed(verifyExtent(op, {"block_table", op.getBlockTable()}, 0, batch,
                          "B")) ||
      failed(verifyExtent(op, {"context_lens", op.getContextLens()}, 0, batch,
                          "B")) ||
      failed(
          verifyExtent(op, {"row_ends", op.getRowEnds()}, 0, rows, "B * N")) ||
      failed(verifyExtent(op, {"logits", op.getLogits()}, 0, rows, "B * N")))
    return failure();
  if (!isFp4)
    return success();
  return success(
      succeeded(verifyExtent(op, queryScales, 0, batch, "B")) &&
      succeeded(verifyExtent(op, queryScales, 1, numQueries, "N")) &&
      succeeded(verifyExtent(op, queryScales, 2, heads, "H")) &&
      succeeded(verifyExtent(op, queryScales, 3, headDim / 32, "D / 32")) &&
      succeeded(verifyExtent(op, keyScales, 2, headDim / 32, "D / 32")));
}

/// C8 and C9: layout and strides.
static LogicalResult verifyLayout(PagedLogitsOp op) {
  if (failed(verifyStrides(op, {"q", op.getQ()}, /*unitInner=*/true)) ||
      failed(verifyStrides(op, {"keys", op.getKeys()}, true)) ||
      failed(verifyStrides(op, {"weights", op.getWeights()}, true)) ||
      failed(verifyStrides(op, {"block_table", op.getBlockTable()}, true)) ||
      failed(verifyStrides(op, {"logits", op.getLogits()}, true)) ||
      failed(verifyStrides(op, {"query_scales", op.getQueryScales()}, false)) ||
      failed(verifyStrides(op, {"key_scales", op.getKeyScales()}, false)) ||
      failed(verifyStrides(op, {"context_lens", op.getContextLens()}, false)) ||
      failed(verifyStrides(op, {"row_ends", op.getRowEnds()}, false)) ||
      failed(verifyRowsApart(op, {"logits", op.getLogits()})))
    return failure();
  if (op.getLayout() != Layout::tiled)
    return success();
  if (op.getPageSize() < 8)
    return op.emitOpError()
           << "layout tiled needs P of at least 8, found " << op.getPageSize();
  int64_t bytes = op.getKeyBytes();
  int64_t stride = getStrides(cast<ShapedType>(op.getKeys().getType()))[1];
  if (!ShapedType::isDynamic(stride) && stride != bytes)
    return op.emitOpError() << "layout tiled needs a stride of " << bytes
                            << " between the slots of a page, found " << stride;
  return success();
}

/// C10: a configuration written by hand.
static LogicalResult verifyConfig(PagedLogitsOp op) {
  LogitsConfigAttr config = op.getConfigAttr();
  if (!config)
    return success();
  int64_t tile = std::max<int64_t>(16, op.getPageSize());
  if (config.getChunk() <= 0 || config.getChunk() % tile != 0)
    return op.emitOpError()
           << "chunk must be a positive multiple of max(16, P) = " << tile
           << ", found " << config.getChunk();
  // The grid has 31 bits, and a chunk near 2^63 would overflow the sum that
  // rounds a context up to whole chunks.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (config.getChunk() > kMost)
    return op.emitOpError() << "chunk must be at most " << kMost << ", found "
                            << config.getChunk();
  if (config.getSplits() > kMost)
    return op.emitOpError() << "splits must be at most " << kMost << ", found "
                            << config.getSplits();
  if (config.getWaves() < 1 || config.getWaves() > 16)
    return op.emitOpError()
           << "waves must be from 1 to 16, found " << config.getWaves();
  if (config.getSplits() < 0)
    return op.emitOpError()
           << "splits must not be negative, found " << config.getSplits();
  return success();
}

LogicalResult PagedLogitsOp::verify() {
  bool isFp4 = getFormat() == KeyFormat::mxfp4;
  NamedOperand operands[] = {{"q", getQ()},
                             {"query_scales", getQueryScales()},
                             {"keys", getKeys()},
                             {"key_scales", getKeyScales()},
                             {"weights", getWeights()},
                             {"block_table", getBlockTable()},
                             {"context_lens", getContextLens()},
                             {"row_ends", getRowEnds()},
                             {"logits", getLogits()}};
  const int64_t ranks[] = {4, 4, 3, isFp4 ? 3 : 2, 2, 2, 1, 1, 2};
  for (auto [operand, rank] : llvm::zip(operands, ranks))
    if (failed(verifyRank(*this, operand, rank)))
      return failure();
  if (failed(verifySameForm(*this, operands, {{"logits", getLogits()}})))
    return failure();
  if (bool(getQueryScales()) != isFp4)
    return emitOpError() << "query_scales must be "
                         << (isFp4 ? "present for mxfp4" : "absent for fp8");
  return success(
      succeeded(verifyElementTypes(*this)) && succeeded(verifySizes(*this)) &&
      succeeded(verifyExtents(*this)) && succeeded(verifyLayout(*this)) &&
      succeeded(verifyConfig(*this)));
}
