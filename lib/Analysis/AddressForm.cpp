//===- AddressForm.cpp - What is known of a global address -------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/AddressForm.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pa;

/// Memory that all workgroups see: no space, space 1 of the backend, or the gpu
/// dialect's.
static bool isGlobalSpace(Attribute space) {
  if (!space)
    return true;
  if (auto gpuSpace = dyn_cast<gpu::AddressSpaceAttr>(space))
    return gpuSpace.getValue() == gpu::AddressSpace::Global;
  if (auto number = dyn_cast<IntegerAttr>(space))
    return number.getInt() == 0 || number.getInt() == 1;
  return false;
}

/// Bytes from the address of a tensor copy to the end of its last element, -1
/// where its descriptor is not static.
static int64_t getDmaBytes(amdgpu::MakeDmaBaseOp base, int64_t elementBytes) {
  int64_t last = 0;
  for (Operation *user : base->getUsers()) {
    auto descriptor = dyn_cast<amdgpu::MakeDmaDescriptorOp>(user);
    if (!descriptor)
      return -1;
    int64_t elements = 0;
    for (auto [size, stride] : llvm::zip(descriptor.getSharedStaticSizes(),
                                         descriptor.getGlobalStaticStrides())) {
      int64_t step;
      if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) ||
          llvm::MulOverflow(size - 1, stride, step) ||
          llvm::AddOverflow(elements, step, elements))
        return -1;
    }
    last = std::max(last, elements);
  }
  int64_t bytes;
  return llvm::AddOverflow(last, int64_t(1), bytes) ||
                 llvm::MulOverflow(bytes, elementBytes, bytes)
             ? -1
             : bytes;
}

std::optional<GlobalAccess> GlobalAccess::get(Operation *op) {
  GlobalAccess access{op, {}, {}, 0, false};
  Type valueType;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    access.memref = load.getMemref();
    access.indices = load.getIndices();
    valueType = load.getType();
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    access.memref = store.getMemref();
    access.indices = store.getIndices();
    access.isStore = true;
    valueType = store.getValue().getType();
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    access.memref = load.getBase();
    access.indices = load.getIndices();
    valueType = load.getType();
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    access.memref = store.getBase();
    access.indices = store.getIndices();
    access.isStore = true;
    valueType = store.getValueToStore().getType();
  } else if (auto dma = dyn_cast<amdgpu::MakeDmaBaseOp>(op)) {
    access.memref = dma.getGlobal();
    access.indices = dma.getGlobalIndices();
    access.isDma = true;
    valueType = cast<MemRefType>(access.memref.getType()).getElementType();
  } else {
    return std::nullopt;
  }
  if (!isGlobalSpace(
          cast<MemRefType>(access.memref.getType()).getMemorySpace()))
    return std::nullopt;
  int64_t elements = 1;
  Type elementType = valueType;
  if (auto vector = dyn_cast<VectorType>(valueType)) {
    elements = vector.getNumElements();
    elementType = vector.getElementType();
  }
  int64_t bits =
      elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
  access.bytes = elements * ((bits + 7) / 8);
  if (access.isDma)
    access.bytes = getDmaBytes(cast<amdgpu::MakeDmaBaseOp>(op), access.bytes);
  return access;
}

/// x * y + z, or nothing if it does not fit 64 bits.
static std::optional<int64_t> mulAdd(int64_t x, int64_t y, int64_t z) {
  int64_t product, sum;
  if (llvm::MulOverflow(x, y, product) || llvm::AddOverflow(product, z, sum))
    return std::nullopt;
  return sum;
}

/// sum + bounds * scale.
static std::optional<Interval> addScaled(Interval sum, Interval bounds,
                                         int64_t scale) {
  if (scale < 0)
    std::swap(bounds.min, bounds.max);
  auto min = mulAdd(bounds.min, scale, sum.min);
  auto max = mulAdd(bounds.max, scale, sum.max);
  if (!min || !max)
    return std::nullopt;
  return Interval{*min, *max};
}

AddressFormAnalysis::AddressFormAnalysis(Operation *root,
                                         int64_t maxOffsetBytes)
    : maxOffsetBytes(maxOffsetBytes), uniformity(root) {
  // Ranges are silently absent without these two.
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  // A failure leaves no ranges, which means no bounds and no narrow form.
  (void)solver.initializeAndRun(root);
}

std::optional<Interval> AddressFormAnalysis::getBounds(Value value) {
  if (!value.getType().isIntOrIndex())
    return std::nullopt;
  const auto *lattice =
      solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!lattice || lattice->getValue().isUninitialized())
    return std::nullopt;
  const ConstantIntRanges &range = lattice->getValue().getValue();
  if (range.smin().getBitWidth() == 0 || range.smin().getBitWidth() > 64)
    return std::nullopt;
  // All values of 64 bits are what is known of a value of which nothing is.
  if (range.smin().getBitWidth() == 64 && range.smin().isMinSignedValue() &&
      range.smax().isMaxSignedValue())
    return std::nullopt;
  return Interval{range.smin().getSExtValue(), range.smax().getSExtValue()};
}

std::optional<Interval>
AddressFormAnalysis::getBounds(ArrayRef<IndexSplit::Term> terms) {
  Interval sum{0, 0};
  for (const IndexSplit::Term &term : terms) {
    std::optional<Interval> bounds = getBounds(term.value);
    if (!bounds)
      return std::nullopt;
    std::optional<Interval> next = addScaled(sum, *bounds, term.scale);
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  return sum;
}

void AddressFormAnalysis::split(Value value, int64_t scale,
                                IndexSplit &result) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.isSignedIntN(64)) {
    if (auto sum = mulAdd(constant.getSExtValue(), scale, result.constant)) {
      result.constant = *sum;
      return;
    }
  }
  // Index arithmetic has 64 bits, so that cutting it is exact modulo 2^64,
  // which is how addresses are formed. Narrower arithmetic may wrap and stays
  // whole.
  if (value.getType().isIndex() || value.getType().isInteger(64)) {
    if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      split(add.getLhs(), scale, result);
      split(add.getRhs(), scale, result);
      return;
    }
    if (auto mul = value.getDefiningOp<arith::MulIOp>()) {
      int64_t product;
      if (matchPattern(mul.getRhs(), m_ConstantInt(&constant)) &&
          constant.isSignedIntN(64) &&
          !llvm::MulOverflow(constant.getSExtValue(), scale, product)) {
        split(mul.getLhs(), product, result);
        return;
      }
    }
  }
  auto &terms = uniformity.isUniform(value) ? result.uniform : result.lane;
  terms.push_back({value, scale});
}

IndexSplit AddressFormAnalysis::split(Value index) {
  IndexSplit result;
  split(index, 1, result);
  return result;
}

AddressFacts AddressFormAnalysis::getFacts(const GlobalAccess &access) {
  auto type = cast<MemRefType>(access.memref.getType());
  AddressFacts facts{AddressForm::global, -1, "", {}, {}};
  for (Value index : access.indices)
    facts.indices.push_back(split(index));

  if (access.isDma) {
    facts.form = AddressForm::rebase;
    facts.maxOffset = access.bytes;
    facts.reason = "a tensor copy has a 64-bit address";
    return facts;
  }

  auto [strides, offset] = type.getStridesAndOffset();
  int64_t elementBytes = type.getElementType().isIndex()
                             ? 8
                             : (type.getElementTypeBitWidth() + 7) / 8;

  // The lane part L, in bytes, and with the uniform part added the total.
  std::optional<Interval> lanePart = Interval{0, 0};
  std::optional<Interval> total;
  if (!ShapedType::isDynamic(offset))
    total = addScaled({0, 0}, {offset, offset}, elementBytes);
  std::string missingLane,
      missingTotal = total ? "" : "the offset of the view is dynamic";
  for (size_t dim = 0; dim < facts.indices.size(); ++dim) {
    const IndexSplit &index = facts.indices[dim];
    auto name = [&] { return "index " + std::to_string(dim); };
    int64_t stride = strides[dim], byteStride = 0;
    bool isStatic = !ShapedType::isDynamic(stride) &&
                    !llvm::MulOverflow(stride, elementBytes, byteStride);
    std::optional<Interval> lane = getBounds(index.lane);
    if (lane)
      lane = addScaled(*lane, {index.constant, index.constant}, 1);
    facts.laneBounds.push_back(lane.value_or(Interval{0, 0}));
    bool hasLanePart = !index.lane.empty() || index.constant != 0;

    if (hasLanePart && lanePart) {
      if (!lane)
        missingLane = "no bound for the lane part of " + name();
      else if (!isStatic)
        missingLane = "stride " + std::to_string(dim) + " is dynamic";
      lanePart = missingLane.empty() ? addScaled(*lanePart, *lane, byteStride)
                                     : std::nullopt;
      if (!lanePart && missingLane.empty())
        missingLane = "the bound of " + name() + " overflows 64 bits";
    }
    if (!total)
      continue;
    std::optional<Interval> uniform = getBounds(index.uniform);
    bool isZero = index.uniform.empty() && !hasLanePart;
    if (isZero)
      continue;
    if (!isStatic)
      missingTotal = "stride " + std::to_string(dim) + " is dynamic";
    else if (!uniform || !lane)
      missingTotal = "no bound for " + name();
    if (!missingTotal.empty()) {
      total = std::nullopt;
      continue;
    }
    total = addScaled(*total, *uniform, byteStride);
    if (total)
      total = addScaled(*total, *lane, byteStride);
    if (!total)
      missingTotal = "the bound of " + name() + " overflows 64 bits";
  }

  auto fits = [&](std::optional<Interval> part) {
    return part && part->min >= 0 && part->max <= maxOffsetBytes - access.bytes;
  };
  auto range = [&](Interval part) {
    return std::to_string(part.min) + " to " + std::to_string(part.max);
  };
  if (fits(total)) {
    facts.form = AddressForm::narrow;
    facts.maxOffset = total->max + access.bytes;
    facts.reason = "offset is " + range(*total);
    return facts;
  }
  std::string wider = !total ? missingTotal
                             : "offset is " + range(*total) + ", limit " +
                                   std::to_string(maxOffsetBytes);
  if (facts.isUniform() || fits(lanePart)) {
    facts.form = AddressForm::rebase;
    facts.maxOffset = (facts.isUniform() ? 0 : lanePart->max) + access.bytes;
    facts.reason = "not narrow: " + wider;
    return facts;
  }
  facts.reason = "not narrow: " + wider + "; not rebase: " +
                 (!lanePart ? missingLane
                            : "lane part is " + range(*lanePart) + ", limit " +
                                  std::to_string(maxOffsetBytes));
  return facts;
}
