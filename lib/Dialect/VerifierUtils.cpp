//===- VerifierUtils.cpp - Checks that several ops share ------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pa;

LogicalResult mlir::pa::verifySameForm(Operation *op,
                                       ArrayRef<NamedOperand> operands,
                                       ArrayRef<NamedOperand> inits) {
  const NamedOperand *first = nullptr;
  for (const NamedOperand &operand : operands) {
    if (!operand.value)
      continue;
    if (!first) {
      first = &operand;
      continue;
    }
    if (isa<MemRefType>(operand.type()) != isa<MemRefType>(first->type()))
      return op->emitOpError()
             << "operands must be all tensors or all memrefs, found "
             << first->type() << " for " << first->name << " and "
             << operand.type() << " for " << operand.name;
  }
  SmallVector<Type> expected;
  for (const NamedOperand &init : inits)
    if (init.value && isa<TensorType>(init.type()))
      expected.push_back(init.type());
  if (op->getNumResults() != expected.size())
    return op->emitOpError() << "expected " << expected.size()
                             << " results, one for each tensor init, found "
                             << op->getNumResults();
  for (auto [result, type] : llvm::zip(op->getResults(), expected))
    if (result.getType() != type)
      return op->emitOpError() << "result must have the type of its init "
                               << type << ", found " << result.getType();
  return success();
}

LogicalResult mlir::pa::verifyRank(Operation *op, NamedOperand operand,
                                   int64_t rank) {
  if (!operand.value || operand.type().getRank() == rank)
    return success();
  return op->emitOpError() << operand.name << " must have rank " << rank
                           << ", found " << operand.type().getRank();
}

LogicalResult mlir::pa::verifyElementType(Operation *op, NamedOperand operand,
                                          ArrayRef<Type> allowed) {
  if (!operand.value ||
      llvm::is_contained(allowed, operand.type().getElementType()))
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << operand.name << " must have element type ";
  llvm::interleave(allowed, diag, " or ");
  return diag << ", found " << operand.type().getElementType();
}

LogicalResult mlir::pa::verifyExtent(Operation *op, NamedOperand operand,
                                     int64_t dim, int64_t expected,
                                     StringRef meaning) {
  if (!operand.value)
    return success();
  int64_t found = operand.type().getDimSize(dim);
  if (found == expected || ShapedType::isDynamic(found) ||
      ShapedType::isDynamic(expected))
    return success();
  return op->emitOpError() << "dimension " << dim << " of " << operand.name
                           << " must be " << meaning << " = " << expected
                           << ", found " << found;
}

SmallVector<int64_t> mlir::pa::getStrides(ShapedType type) {
  if (auto memref = dyn_cast<MemRefType>(type)) {
    auto [strides, offset] = memref.getStridesAndOffset();
    return strides;
  }
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t i = type.getRank() - 2; i >= 0; --i) {
    int64_t size = type.getDimSize(i + 1);
    bool isKnown = !ShapedType::isDynamic(size) &&
                   !ShapedType::isDynamic(strides[i + 1]) &&
                   !llvm::MulOverflow(strides[i + 1], size, strides[i]);
    if (!isKnown)
      strides[i] = ShapedType::kDynamic;
  }
  return strides;
}

/// Whether every byte offset that static extents and strides allow fits 63
/// bits. Dynamic ones count as the least they can be.
static bool fitsAddressSpace(ShapedType type) {
  int64_t elements = 1;
  bool isMemRef = isa<MemRefType>(type);
  SmallVector<int64_t> strides = getStrides(type);
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (size == 0)
      return true;
    if (ShapedType::isDynamic(size))
      continue;
    if (!isMemRef) {
      if (llvm::MulOverflow(elements, size, elements))
        return false;
      continue;
    }
    int64_t reach;
    if (ShapedType::isDynamic(stride))
      continue;
    if (llvm::MulOverflow(size - 1, stride, reach) ||
        llvm::AddOverflow(elements, reach, elements))
      return false;
  }
  Type elementType = type.getElementType();
  int64_t bits =
      elementType.isIntOrFloat() ? type.getElementTypeBitWidth() : 64;
  int64_t bytes = 0;
  return !llvm::MulOverflow(elements, (bits + 7) / 8, bytes);
}

LogicalResult mlir::pa::verifyStrides(Operation *op, NamedOperand operand,
                                      bool unitInner) {
  if (!operand.value)
    return success();
  auto emitTooLarge = [&] {
    return op->emitOpError()
           << "bytes of " << operand.name
           << " must fit 63 bits, found extents and strides that do not";
  };
  if (!isa<MemRefType>(operand.type())) {
    if (!fitsAddressSpace(operand.type()))
      return emitTooLarge();
    return success();
  }
  SmallVector<int64_t> strides = getStrides(operand.type());
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (!ShapedType::isDynamic(stride) && stride < 0)
      return op->emitOpError() << "stride " << dim << " of " << operand.name
                               << " must not be negative, found " << stride;
  if (unitInner && !strides.empty() && strides.back() != 1 &&
      !ShapedType::isDynamic(strides.back()))
    return op->emitOpError() << "innermost stride of " << operand.name
                             << " must be 1, found " << strides.back();
  if (!fitsAddressSpace(operand.type()))
    return emitTooLarge();
  return success();
}

LogicalResult mlir::pa::verifyRowsApart(Operation *op, NamedOperand operand) {
  if (!operand.value || !isa<MemRefType>(operand.type()))
    return success();
  int64_t rows = operand.type().getDimSize(0);
  int64_t columns = operand.type().getDimSize(1);
  SmallVector<int64_t> strides = getStrides(operand.type());
  // One row cannot overlap, and a dynamic inner stride may interleave rows.
  if ((!ShapedType::isDynamic(rows) && rows <= 1) ||
      ShapedType::isDynamic(strides[0]) || ShapedType::isDynamic(strides[1]))
    return success();
  int64_t least = ShapedType::isDynamic(columns) ? 1 : columns;
  if (strides[0] < least)
    return op->emitOpError()
           << "rows of " << operand.name
           << " must not overlap: their stride must be at least " << least
           << ", found " << strides[0];
  return success();
}

LogicalResult mlir::pa::verifyRange(Operation *op, StringRef name,
                                    int64_t value, int64_t min, int64_t max) {
  if (value >= min && value <= max)
    return success();
  return op->emitOpError() << name << " must be from " << min << " to " << max
                           << ", found " << value;
}

int64_t mlir::pa::getFp4Elements(int64_t bytes) {
  if (ShapedType::isDynamic(bytes))
    return bytes;
  int64_t elements = 0;
  return llvm::MulOverflow(bytes, int64_t{2}, elements)
             ? std::numeric_limits<int64_t>::max()
             : elements;
}

void mlir::pa::getDestinationEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand, /*stage=*/0,
                         /*effectOnFullRegion=*/false,
                         SideEffects::DefaultResource::get());
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/1,
                           /*effectOnFullRegion=*/false,
                           SideEffects::DefaultResource::get());
  }
}
