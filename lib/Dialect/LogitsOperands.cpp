//===- LogitsOperands.cpp - What ops that score keys have in common -------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"

using namespace mlir;
using namespace mlir::pa;

int64_t LogitsOperands::getNumQueries() const {
  return cast<ShapedType>(q.getType()).getDimSize(1);
}
int64_t LogitsOperands::getNumHeads() const {
  return cast<ShapedType>(q.getType()).getDimSize(2);
}
int64_t LogitsOperands::getHeadDim() const {
  int64_t size = cast<ShapedType>(q.getType()).getDimSize(3);
  return format == KeyFormat::mxfp4 ? getFp4Elements(size) : size;
}
int64_t LogitsOperands::getPageSize() const {
  return cast<ShapedType>(keys.getType()).getDimSize(1);
}
int64_t LogitsOperands::getKeyBytes() const {
  // q and keys have rows of one length, which q must state and keys need not.
  return cast<ShapedType>(q.getType()).getDimSize(3);
}

/// C3: element types.
static LogicalResult verifyElementTypes(Operation *op, const LogitsOperands &in,
                                        ArrayRef<NamedOutput> outputs) {
  Builder b(op->getContext());
  Type i8 = b.getI8Type(), i32 = b.getI32Type(), f32 = b.getF32Type();
  Type ocp = b.getType<Float8E4M3FNType>(),
       fnuz = b.getType<Float8E4M3FNUZType>(),
       e8m0 = b.getType<Float8E8M0FNUType>();
  bool isFp4 = in.format == KeyFormat::mxfp4;
  NamedOperand q{"q", in.q}, keys{"keys", in.keys};
  SmallVector<Type> data =
      isFp4 ? SmallVector<Type>{i8} : SmallVector<Type>{ocp, fnuz};
  SmallVector<Type> scale =
      isFp4 ? SmallVector<Type>{i8, e8m0} : SmallVector<Type>{f32};
  if (failed(verifyElementType(op, q, data)) ||
      failed(verifyElementType(op, keys, data)) ||
      failed(verifyElementType(op, {"query_scales", in.queryScales},
                               {i8, e8m0})) ||
      failed(verifyElementType(op, {"key_scales", in.keyScales}, scale)) ||
      failed(verifyElementType(op, {"weights", in.weights}, {f32})) ||
      failed(verifyElementType(op, {"block_table", in.blockTable}, {i32})) ||
      failed(verifyElementType(op, {"context_lens", in.contextLens}, {i32})) ||
      failed(verifyElementType(op, {"row_ends", in.rowEnds}, {i32})))
    return failure();
  for (const NamedOutput &output : outputs)
    if (failed(verifyElementType(op, output.operand, {output.elementType})))
      return failure();
  if (q.type().getElementType() != keys.type().getElementType())
    return op->emitOpError() << "q and keys must have one element type, found "
                             << q.type().getElementType() << " and "
                             << keys.type().getElementType();
  return success();
}

/// C6 and C7: what the size of a dimension may be.
static LogicalResult verifySizes(Operation *op, const LogitsOperands &in) {
  struct {
    StringRef name;
    int64_t value, least, most, step;
  } sizes[] = {{"N, the queries of a sequence,", in.getNumQueries(), 1, 8, 1},
               {"H, the heads,", in.getNumHeads(), 16, 128, 16},
               {"D, the head dimension,", in.getHeadDim(), 64, 256, 64}};
  for (auto &size : sizes) {
    if (ShapedType::isDynamic(size.value))
      return op->emitOpError() << size.name << " must be static";
    if (size.value < size.least || size.value > size.most ||
        size.value % size.step != 0) {
      InFlightDiagnostic diag = op->emitOpError() << size.name << " must be ";
      if (size.step > 1)
        diag << "a multiple of " << size.step << " ";
      return diag << "from " << size.least << " to " << size.most << ", found "
                  << size.value;
    }
  }
  int64_t page = in.getPageSize();
  if (ShapedType::isDynamic(page))
    return op->emitOpError() << "P, the page size, must be static";
  if (page < 1 || page > 256 || (16 % page != 0 && page % 16 != 0))
    return op->emitOpError() << "P, the page size, must be from 1 to 256 and "
                                "divide 16 or be a multiple of 16, found "
                             << page;
  return success();
}

/// C5: extents that two operands share.
static LogicalResult verifyExtents(Operation *op, const LogitsOperands &in,
                                   ArrayRef<NamedOutput> outputs) {
  bool isFp4 = in.format == KeyFormat::mxfp4;
  auto qType = cast<ShapedType>(in.q.getType());
  auto keysType = cast<ShapedType>(in.keys.getType());
  int64_t batch = qType.getDimSize(0), numQueries = in.getNumQueries();
  int64_t heads = in.getNumHeads(), headDim = in.getHeadDim();
  int64_t pages = keysType.getDimSize(0), page = in.getPageSize();
  int64_t rows = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(batch) &&
      llvm::MulOverflow(batch, numQueries, rows))
    return op->emitOpError() << "B * N must fit 64 bits, found B = " << batch
                             << " and N = " << numQueries;
  NamedOperand queryScales{"query_scales", in.queryScales};
  NamedOperand keyScales{"key_scales", in.keyScales};
  NamedOperand weights{"weights", in.weights};
  if (failed(verifyExtent(op, {"keys", in.keys}, 2, qType.getDimSize(3),
                          "the row of q")) ||
      failed(verifyExtent(op, keyScales, 0, pages, "pages")) ||
      failed(verifyExtent(op, keyScales, 1, page, "P")) ||
      failed(verifyExtent(op, weights, 0, rows, "B * N")) ||
      failed(verifyExtent(op, weights, 1, heads, "H")) ||
      failed(verifyExtent(op, {"block_table", in.blockTable}, 0, batch, "B")) ||
      failed(
          verifyExtent(op, {"context_lens", in.contextLens}, 0, batch, "B")) ||
      failed(verifyExtent(op, {"row_ends", in.rowEnds}, 0, rows, "B * N")))
    return failure();
  for (const NamedOutput &output : outputs)
    if (failed(verifyExtent(op, output.operand, 0, rows, "B * N")))
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
static LogicalResult verifyLayout(Operation *op, const LogitsOperands &in,
                                  ArrayRef<NamedOutput> outputs) {
  if (failed(verifyStrides(op, {"q", in.q}, /*unitInner=*/true)) ||
      failed(verifyStrides(op, {"keys", in.keys}, true)) ||
      failed(verifyStrides(op, {"weights", in.weights}, true)) ||
      failed(verifyStrides(op, {"block_table", in.blockTable}, true)) ||
      failed(verifyStrides(op, {"query_scales", in.queryScales}, false)) ||
      failed(verifyStrides(op, {"key_scales", in.keyScales}, false)) ||
      failed(verifyStrides(op, {"context_lens", in.contextLens}, false)) ||
      failed(verifyStrides(op, {"row_ends", in.rowEnds}, false)))
    return failure();
  for (const NamedOutput &output : outputs)
    if (failed(verifyStrides(op, output.operand, /*unitInner=*/true)) ||
        failed(verifyRowsApart(op, output.operand)))
      return failure();
  if (in.layout != Layout::tiled)
    return success();
  if (in.getPageSize() < 8)
    return op->emitOpError()
           << "layout tiled needs P of at least 8, found " << in.getPageSize();
  int64_t bytes = in.getKeyBytes();
  int64_t stride = getStrides(cast<ShapedType>(in.keys.getType()))[1];
  if (!ShapedType::isDynamic(stride) && stride != bytes)
    return op->emitOpError()
           << "layout tiled needs a stride of " << bytes
           << " between the slots of a page, found " << stride;
  return success();
}

LogicalResult mlir::pa::verifyLogitsOperands(Operation *op,
                                             const LogitsOperands &in,
                                             ArrayRef<NamedOutput> outputs) {
  const bool isFp4 = in.format == KeyFormat::mxfp4;
  SmallVector<NamedOperand> operands{{"q", in.q},
                                     {"query_scales", in.queryScales},
                                     {"keys", in.keys},
                                     {"key_scales", in.keyScales},
                                     {"weights", in.weights},
                                     {"block_table", in.blockTable},
                                     {"context_lens", in.contextLens},
                                     {"row_ends", in.rowEnds}};
  SmallVector<int64_t> ranks{4, 4, 3, isFp4 ? 3 : 2, 2, 2, 1, 1};
  SmallVector<NamedOperand> inits;
  for (const NamedOutput &output : outputs) {
    operands.push_back(output.operand);
    ranks.push_back(2);
    inits.push_back(output.operand);
  }
  for (auto [operand, rank] : llvm::zip(operands, ranks))
    if (failed(verifyRank(op, operand, rank)))
      return failure();
  if (failed(verifySameForm(op, operands, inits)))
    return failure();
  if (bool(in.queryScales) != isFp4)
    return op->emitOpError()
           << "query_scales must be "
           << (isFp4 ? "present for mxfp4" : "absent for fp8");
  return success(succeeded(verifyElementTypes(op, in, outputs)) &&
                 succeeded(verifySizes(op, in)) &&
                 succeeded(verifyExtents(op, in, outputs)) &&
                 succeeded(verifyLayout(op, in, outputs)));
}
