//===- LeaveResource.cpp - Buffer accesses with 64-bit addresses -*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeaveResource.h"
#include "PagedAttn/Analysis/AddressForm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pa;

namespace {
/// Builds what replaces one access.
class Replacement {
public:
  Replacement(OpBuilder &b, const GlobalAccess &access)
      : b(b), loc(access.op->getLoc()), access(access) {
    b.setInsertionPoint(access.op);
    auto type = cast<MemRefType>(access.memref.getType());
    elementBytes = *getElementBytes(type.getElementType());
  }
  void build();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  }
  Value mul(Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value toIndex(Value value) {
    if (value.getType().isIndex())
      return value;
    return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), value);
  }
  SmallVector<Value> getStrides(memref::ExtractStridedMetadataOp metadata);
  void flatten();
  Value countInRange(int64_t elements);
  Value loadOrZero(Type type);
  void store(Value value);
  void update(arith::AtomicRMWKind kind, Value value);

  OpBuilder &b;
  Location loc;
  const GlobalAccess &access;
  int64_t elementBytes;
  /// The memory as one dimension without an end, and the element in it.
  Value flat, first;
  /// Elements that lie whole inside the resource.
  Value limit;
};
} // namespace

/// What upstream's lowering makes the size of a resource around `memref`.
static Value emitResourceBytes(OpBuilder &b, Location loc, Value memref,
                               memref::ExtractStridedMetadataOp metadata) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t elementBytes = *getElementBytes(type.getElementType());
  Value greatest = arith::ConstantIndexOp::create(b, loc, 0);
  if (type.getRank() == 0)
    greatest = arith::ConstantIndexOp::create(b, loc, 1);
  auto sizes = metadata.getConstifiedMixedSizes();
  auto strides = metadata.getConstifiedMixedStrides();
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    Value extent = b.createOrFold<arith::MulIOp>(
        loc, getValueOrCreateConstantIndexOp(b, loc, size),
        getValueOrCreateConstantIndexOp(b, loc, stride));
    greatest = b.createOrFold<arith::MaxUIOp>(loc, greatest, extent);
  }
  return b.createOrFold<arith::MulIOp>(
      loc, greatest, arith::ConstantIndexOp::create(b, loc, elementBytes));
}

SmallVector<Value>
Replacement::getStrides(memref::ExtractStridedMetadataOp metadata) {
  SmallVector<Value> strides;
  for (OpFoldResult stride : metadata.getConstifiedMixedStrides())
    strides.push_back(getValueOrCreateConstantIndexOp(b, loc, stride));
  return strides;
}

/// Finds the memory behind the resource and the linear index in 64 bits.
void Replacement::flatten() {
  auto view = memref::ExtractStridedMetadataOp::create(b, loc, access.memref);
  Value linear = constant(access.indexOffset);
  for (auto [index, stride] : llvm::zip(access.indices, getStrides(view)))
    linear = add(linear, mul(toIndex(index), stride));
  if (access.sgprOffset)
    linear = add(linear, toIndex(access.sgprOffset));

  // Where the resource starts, and its size.
  auto metadata = view;
  Value source = access.memref;
  Value start = view.getOffset();
  if (access.memory == MemoryKind::buffer) {
    auto resource =
        cast<amdgpu::FatRawBufferCastOp>(getResourceCast(access.memref));
    source = resource.getSource();
    metadata = memref::ExtractStridedMetadataOp::create(b, loc, source);
    linear = add(linear, view.getOffset());
    start =
        resource.getResetOffset() ? Value(metadata.getOffset()) : constant(0);
    if (resource.getValidBytes())
      limit = toIndex(resource.getValidBytes());
  }
  if (!limit)
    limit = emitResourceBytes(b, loc, source, metadata);
  limit = b.createOrFold<arith::DivUIOp>(loc, limit, constant(elementBytes));
  auto type = cast<MemRefType>(source.getType());
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1);
  auto flatType = MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                                  layout, type.getMemorySpace());
  flat = memref::ReinterpretCastOp::create(
      b, loc, flatType, metadata.getBaseBuffer(), OpFoldResult(start),
      ArrayRef<OpFoldResult>{OpFoldResult(limit)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  first = linear;
}

/// How many of the elements from the first on lie inside the resource.
Value Replacement::countInRange(int64_t elements) {
  // As a number without sign, what lies before the resource lies far behind it.
  Value start = arith::MinUIOp::create(b, loc, first, limit);
  Value left = arith::SubIOp::create(b, loc, limit, start);
  return arith::MinUIOp::create(b, loc, left, constant(elements));
}

/// The first `count` of `elements`.
static Value emitMask(OpBuilder &b, Location loc, Value count,
                      int64_t elements) {
  SmallVector<Attribute> numbers;
  for (int64_t number = 0; number < elements; ++number)
    numbers.push_back(b.getIndexAttr(number));
  auto type = VectorType::get({elements}, b.getIndexType());
  Value all =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
  Value limits = vector::BroadcastOp::create(b, loc, type, count);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, all, limits);
}

Value Replacement::loadOrZero(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  int64_t elements = vector ? vector.getNumElements() : 1;
  Value count = countInRange(elements);
  Value isWhole = compare(arith::CmpIPredicate::eq, count, constant(elements));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto choice = scf::IfOp::create(
      b, loc, isWhole,
      [&](OpBuilder &b, Location loc) {
        Operation *load =
            vector ? vector::LoadOp::create(b, loc, vector, flat, first)
                         .getOperation()
                   : memref::LoadOp::create(b, loc, flat, first).getOperation();
        scf::YieldOp::create(b, loc, load->getResults());
      },
      [&](OpBuilder &b, Location loc) {
        Value rest = zero;
        if (elements > 1)
          rest = vector::MaskedLoadOp::create(b, loc, vector, flat, first,
                                              emitMask(b, loc, count, elements),
                                              zero);
        scf::YieldOp::create(b, loc, rest);
      });
  return choice.getResult(0);
}

void Replacement::store(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t elements = vector ? vector.getNumElements() : 1;
  Value count = countInRange(elements);
  Value isWhole = compare(arith::CmpIPredicate::eq, count, constant(elements));
  auto choice = scf::IfOp::create(b, loc, isWhole, /*withElse=*/elements > 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  if (vector)
    vector::StoreOp::create(b, loc, value, flat, first);
  else
    memref::StoreOp::create(b, loc, value, flat, first);
  if (elements > 1) {
    b.setInsertionPointToStart(choice.elseBlock());
    vector::MaskedStoreOp::create(b, loc, flat, first,
                                  emitMask(b, loc, count, elements), value);
  }
}

void Replacement::update(arith::AtomicRMWKind kind, Value value) {
  Value isInside =
      compare(arith::CmpIPredicate::eq, countInRange(1), constant(1));
  auto choice = scf::IfOp::create(b, loc, isInside, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  memref::AtomicRMWOp::create(b, loc, value.getType(), kind, value, flat,
                              first);
}

void Replacement::build() {
  flatten();
  Operation *op = access.op;
  auto annotation = op->getAttr(PADialect::kAddressAttrName);
  Operation *last = op->getPrevNode();
  if (access.kind == GlobalAccess::Kind::load)
    op->replaceAllUsesWith(ValueRange(loadOrZero(op->getResult(0).getType())));
  else if (access.kind == GlobalAccess::Kind::store)
    store(op->getOperand(0));
  else
    update(
        isa<amdgpu::RawBufferAtomicFaddOp>(op)   ? arith::AtomicRMWKind::addf
        : isa<amdgpu::RawBufferAtomicFmaxOp>(op) ? arith::AtomicRMWKind::maxnumf
        : isa<amdgpu::RawBufferAtomicSmaxOp>(op) ? arith::AtomicRMWKind::maxs
                                                 : arith::AtomicRMWKind::minu,
        op->getOperand(0));
  // The new accesses say what they are, as the old one did.
  for (Operation *made = last->getNextNode(); made != op;
       made = made->getNextNode())
    made->walk([&](Operation *inner) {
      if (GlobalAccess::get(inner))
        inner->setAttr(PADialect::kAddressAttrName, annotation);
    });
  op->erase();
}

void mlir::pa::leaveResource(OpBuilder &b, const GlobalAccess &access) {
  Replacement(b, access).build();
}

void mlir::pa::clampResource(OpBuilder &b, amdgpu::FatRawBufferCastOp cast,
                             int64_t maxBytes) {
  Location loc = cast.getLoc();
  b.setInsertionPoint(cast);
  Value bytes = cast.getValidBytes();
  if (!bytes) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(b, loc, cast.getSource());
    bytes = arith::IndexCastOp::create(
        b, loc, b.getI64Type(),
        emitResourceBytes(b, loc, cast.getSource(), metadata));
  }
  Value limit =
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(maxBytes));
  bytes = b.createOrFold<arith::MinUIOp>(loc, bytes, limit);
  cast.getValidBytesMutable().assign(bytes);
}
