//===- AddressForm.cpp - What is known of a global address -------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/AddressForm.h"
#include "KnownRanges.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pa;

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

/// sum + x * y.
static std::optional<Interval> addProduct(Interval sum, Interval x,
                                          Interval y) {
  auto low = addScaled({0, 0}, x, y.min);
  auto high = addScaled({0, 0}, x, y.max);
  if (!low || !high)
    return std::nullopt;
  return addScaled(
      sum, {std::min(low->min, high->min), std::max(low->max, high->max)}, 1);
}

/// Greatest size of a buffer resource on the chip of `op`, or on any chip where
/// that is not known.
static int64_t findMaxResourceBytes(Operation *op) {
  auto getBytes = [](const TargetInfo *info) {
    return static_cast<int64_t>(
        (uint64_t(1) << std::min<int64_t>(info->numRecordsBits, 62)) - 1);
  };
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto target =
            parent->getAttrOfType<TargetAttr>(PADialect::kTargetAttrName))
      if (const TargetInfo *info = TargetInfo::lookup(target.getChip()))
        return getBytes(info);
  int64_t bytes = std::numeric_limits<int64_t>::max();
  for (StringRef chip : TargetInfo::allChips())
    bytes = std::min(bytes, getBytes(TargetInfo::lookup(chip)));
  return bytes;
}

AddressFormAnalysis::AddressFormAnalysis(Operation *root,
                                         int64_t maxOffsetBytes)
    : maxOffsetBytes(maxOffsetBytes),
      maxResourceBytes(findMaxResourceBytes(root)), uniformity(root) {
  // Ranges are silently absent without these two.
  dataflow::loadBaselineAnalyses(solver);
  solver.load<KnownRangeAnalysis>(root);
  // A failure leaves no ranges, which means no bounds and no narrow form.
  (void)solver.initializeAndRun(root);
}

std::optional<Interval> AddressFormAnalysis::getBounds(Value value) {
  if (!getElementTypeOrSelf(value.getType()).isIntOrIndex())
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
    auto sub = value.getDefiningOp<arith::SubIOp>();
    if (sub && scale != std::numeric_limits<int64_t>::min()) {
      split(sub.getLhs(), scale, result);
      split(sub.getRhs(), -scale, result);
      return;
    }
    if (auto mul = value.getDefiningOp<arith::MulIOp>()) {
      for (auto [factor, rest] : {std::pair(mul.getRhs(), mul.getLhs()),
                                  std::pair(mul.getLhs(), mul.getRhs())}) {
        int64_t product;
        if (matchPattern(factor, m_ConstantInt(&constant)) &&
            constant.isSignedIntN(64) &&
            !llvm::MulOverflow(constant.getSExtValue(), scale, product)) {
          split(rest, product, result);
          return;
        }
      }
    }
    auto shift = value.getDefiningOp<arith::ShLIOp>();
    int64_t product;
    if (shift && matchPattern(shift.getRhs(), m_ConstantInt(&constant)) &&
        constant.ult(62) &&
        !llvm::MulOverflow(int64_t(1) << constant.getZExtValue(), scale,
                           product)) {
      split(shift.getLhs(), product, result);
      return;
    }
    // Between index and i64 nothing is lost.
    if (auto cast = value.getDefiningOp();
        isa_and_present<arith::IndexCastOp, arith::IndexCastUIOp>(cast) &&
        (cast->getOperand(0).getType().isIndex() ||
         cast->getOperand(0).getType().isInteger(64))) {
      split(cast->getOperand(0), scale, result);
      return;
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

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<Interval> AddressFormAnalysis::getBounds(OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return Interval{*constant, *constant};
  auto dynamic = dyn_cast<Value>(value);
  return dynamic ? getBounds(dynamic) : std::nullopt;
}

/// The dimension of the source of a subview that dimension `dim` of its result
/// is.
static unsigned getSourceDim(memref::SubViewOp view, unsigned dim) {
  llvm::SmallBitVector dropped = view.getDroppedDims();
  for (unsigned i = 0; i < dropped.size(); ++i)
    if (!dropped.test(i) && dim-- == 0)
      return i;
  return 0;
}

/// Bounds of a stride in elements.
std::optional<Interval> AddressFormAnalysis::getStride(Value memref,
                                                       unsigned dim) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (!ShapedType::isDynamic(strides[dim]))
    return Interval{strides[dim], strides[dim]};
  Operation *op = memref.getDefiningOp();
  if (isa_and_present<memref::CastOp, memref::MemorySpaceCastOp,
                      amdgpu::FatRawBufferCastOp>(op))
    return getStride(op->getOperand(0), dim);
  if (auto view = dyn_cast_if_present<memref::ReinterpretCastOp>(op))
    return getBounds(view.getMixedStrides()[dim]);
  if (auto view = dyn_cast_if_present<memref::SubViewOp>(op)) {
    unsigned sourceDim = getSourceDim(view, dim);
    auto stride = getStride(view.getSource(), sourceDim);
    auto step = getBounds(view.getMixedStrides()[sourceDim]);
    if (stride && step)
      return addProduct({0, 0}, *stride, *step);
  }
  return std::nullopt;
}

/// Bounds of the offset of a view from the pointer that it holds, in elements.
std::optional<Interval> AddressFormAnalysis::getViewOffset(Value memref) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (!ShapedType::isDynamic(offset))
    return Interval{offset, offset};
  Operation *op = memref.getDefiningOp();
  if (isa_and_present<memref::CastOp, memref::MemorySpaceCastOp,
                      memref::CollapseShapeOp, memref::ExpandShapeOp,
                      amdgpu::FatRawBufferCastOp>(op))
    return getViewOffset(op->getOperand(0));
  if (auto view = dyn_cast_if_present<memref::ReinterpretCastOp>(op))
    return getBounds(view.getMixedOffsets()[0]);
  if (auto view = dyn_cast_if_present<memref::SubViewOp>(op)) {
    std::optional<Interval> sum = getViewOffset(view.getSource());
    for (auto [dim, first] : llvm::enumerate(view.getMixedOffsets())) {
      auto bounds = getBounds(first);
      auto stride = getStride(view.getSource(), dim);
      sum = sum && bounds && stride ? addProduct(*sum, *bounds, *stride)
                                    : std::nullopt;
    }
    return sum;
  }
  return std::nullopt;
}

Operation *mlir::pa::getResourceCast(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (isa<amdgpu::FatRawBufferCastOp>(op))
      return op;
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return nullptr;
    memref = view.getViewSource();
  }
  return nullptr;
}

/// The argument that `memref` views some part of, or null.
static BlockArgument getViewedArgument(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return getSameShapeArgument(memref);
}

std::optional<int64_t> AddressFormAnalysis::getResourceBytes(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto elementBytes = getElementBytes(type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset, elements = type.getRank() == 0 ? 1 : 0, bytes;
  if (!elementBytes || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  bool isStatic =
      type.hasStaticShape() && llvm::none_of(strides, ShapedType::isDynamic);
  for (int64_t dim = 0; dim < type.getRank() && isStatic; ++dim) {
    int64_t extent;
    if (llvm::MulOverflow(type.getDimSize(dim), strides[dim], extent))
      return std::nullopt;
    elements = std::max(elements, extent);
  }
  if (isStatic)
    return llvm::MulOverflow(elements, *elementBytes, bytes)
               ? std::nullopt
               : std::optional(bytes);
  // A part of the argument reaches no further than the argument, but its
  // outermost stride may.
  BlockArgument arg = getSameShapeArgument(memref);
  return arg ? getArgInt(arg, PADialect::kMaxBytesAttrName) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Decision
//===----------------------------------------------------------------------===//

namespace {
/// A sum of bounded products, or what was missing of it.
struct Part {
  std::optional<Interval> sum = Interval{0, 0};
  std::string missing, hint;

  void add(std::optional<Interval> bounds, std::optional<Interval> stride,
           unsigned dim, StringRef which) {
    if (!sum)
      return;
    std::string number = std::to_string(dim);
    std::optional<Interval> next;
    if (bounds && stride)
      next = addProduct(*sum, *bounds, *stride);
    if (!next && !bounds) {
      missing = "no bound for " + which.str() + "index " + number;
      hint = dim == 0 ? "pa.assume on index 0, or pa.max_rows, pa.max_pages or "
                        "pa.max_bytes on the argument, would bound it"
                      : "pa.assume on index " + number +
                            ", or pa.max_bytes on the argument, would bound it";
    } else if (!next && !stride) {
      missing = "stride " + number + " is dynamic";
      hint = "a static stride, or pa.max_bytes on the argument, would bound it";
    } else if (!next) {
      missing = "the bound of index " + number + " overflows 64 bits";
      hint = "smaller bounds from pa.assume would help";
    }
    sum = next;
  }
  void fail(const Twine &why) {
    if (sum)
      missing = why.str();
    sum = std::nullopt;
  }
};
} // namespace

/// The offset from the pointer of the memref, what of it differs between lanes
/// or is constant, and what of it differs between lanes alone; in bytes.
struct AddressFormAnalysis::Parts {
  Part total, lane, variable;
  /// Bounds of what differs between lanes of each index.
  SmallVector<Interval> variableBounds;
};

bool AddressFormAnalysis::fits(const std::optional<Interval> &part,
                               const GlobalAccess &access) const {
  return part && part->min >= 0 &&
         part->max <= maxOffsetBytes - std::min(maxOffsetBytes, access.bytes) &&
         access.bytes <= maxOffsetBytes;
}

AddressFormAnalysis::Parts
AddressFormAnalysis::getParts(const GlobalAccess &access, AddressFacts &facts) {
  Parts parts;
  auto type = cast<MemRefType>(access.memref.getType());
  int64_t elementBytes = getElementBytes(type.getElementType()).value_or(0);
  SmallVector<int64_t> strides;
  int64_t offset;
  std::string unknown;
  if (failed(type.getStridesAndOffset(strides, offset)))
    unknown = "the layout has no strides";
  else if (strides.size() != facts.indices.size())
    unknown = "there are not as many indices as dimensions";
  else if (!access.isExtentKnown)
    unknown = "the permutation of the dimensions is not followed";
  if (!unknown.empty()) {
    parts.total.fail(unknown);
    parts.lane.fail(unknown);
    parts.variable.fail(unknown);
    return parts;
  }

  auto toBytes = [&](std::optional<Interval> elements) {
    return elements ? addScaled({0, 0}, *elements, elementBytes) : std::nullopt;
  };
  // `amdgpu.raw_buffer_*` puts the offset of the view into the base.
  if (access.method != GlobalAccess::Method::rawBuffer) {
    parts.total.sum = toBytes(getViewOffset(access.memref));
    if (!parts.total.sum) {
      parts.total.missing = "the offset of the view is dynamic";
      parts.total.hint =
          "bounds of the offsets of its subviews, or a static offset, would "
          "bound it";
    }
  }
  std::optional<int64_t> rows;
  if (!access.isMasked)
    rows = getMaxRows(access.memref);
  unsigned rank = strides.size();
  for (unsigned dim = 0; dim < rank; ++dim) {
    const IndexSplit &index = facts.indices[dim];
    std::optional<Interval> stride = toBytes(getStride(access.memref, dim));
    std::optional<Interval> variable = getBounds(index.lane);
    std::optional<Interval> lane = variable;
    if (lane)
      lane = addScaled(*lane, {index.constant, index.constant}, 1);
    if (dim + 1 == rank && access.indexVector && lane) {
      auto bounds = getBounds(access.indexVector);
      lane = bounds ? addScaled(*lane, *bounds, 1) : std::nullopt;
    }
    facts.laneBounds.push_back(lane.value_or(Interval{0, 0}));
    parts.variableBounds.push_back(variable.value_or(Interval{0, 0}));

    std::optional<Interval> whole = getBounds(index.uniform);
    if (whole && lane)
      whole = addScaled(*whole, *lane, 1);
    else
      whole = std::nullopt;
    if (dim == 0 && rows) {
      Interval promised{0, std::max<int64_t>(*rows - 1, 0)};
      if (whole)
        promised = {std::max(promised.min, whole->min),
                    std::min(promised.max, whole->max)};
      whole = promised;
    }
    bool hasLanePart = !index.lane.empty() || index.constant != 0 ||
                       (access.indexVector && dim + 1 == rank);
    if (hasLanePart)
      parts.lane.add(lane, stride, dim, "the lane part of ");
    if (!index.lane.empty())
      parts.variable.add(variable, stride, dim, "the lane part of ");
    if (hasLanePart || !index.uniform.empty())
      parts.total.add(whole, stride, dim, "");
    // What is accessed along outer dimensions, too.
    unsigned firstExtent =
        rank - 1 - std::min<unsigned>(rank - 1, access.extents.size());
    if (dim + 1 < rank && dim >= firstExtent) {
      int64_t extent = access.extents[access.extents.size() - (rank - 1 - dim)];
      Interval further{0, std::max<int64_t>(extent - 1, 0)};
      parts.lane.add(further, stride, dim, "");
      parts.variable.add(further, stride, dim, "");
      parts.total.add(further, stride, dim, "");
    }
  }
  auto addElements = [&](std::optional<Interval> elements) {
    auto bytes = toBytes(elements);
    if (!bytes)
      return parts.total.fail("no bound for the scalar offset");
    parts.total.add(bytes, Interval{1, 1}, 0, "");
  };
  addElements(Interval{access.indexOffset, access.indexOffset});
  if (access.sgprOffset)
    addElements(getBounds(access.sgprOffset));

  // The caller's word for the extent holds for every access inside it.
  bool isForward = getSameShapeArgument(access.memref) ||
                   llvm::all_of(strides, [](int64_t stride) {
                     return !ShapedType::isDynamic(stride) && stride >= 0;
                   });
  if (!fits(parts.total.sum, access) && !access.isMasked && isForward)
    if (BlockArgument arg = getViewedArgument(access.memref))
      if (auto bytes = getArgInt(arg, PADialect::kMaxBytesAttrName))
        parts.total.sum =
            Interval{0, std::max<int64_t>(*bytes - access.bytes, 0)};
  return parts;
}

static std::string toString(Interval part) {
  return std::to_string(part.min) + " to " + std::to_string(part.max);
}

static std::string toString(const Part &part, StringRef name, int64_t limit) {
  return part.sum ? (name + " is ").str() + toString(*part.sum) + ", limit " +
                        std::to_string(limit)
                  : part.missing;
}

bool mlir::pa::canLeaveResource(const GlobalAccess &access) {
  auto isRankOne = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return !vector || (vector.getRank() == 1 && !vector.isScalable());
  };
  Operation *op = access.op;
  if (!isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
           amdgpu::RawBufferLoadOp, amdgpu::RawBufferStoreOp,
           amdgpu::RawBufferAtomicFaddOp, amdgpu::RawBufferAtomicFmaxOp,
           amdgpu::RawBufferAtomicSmaxOp, amdgpu::RawBufferAtomicUminOp>(op))
    return false;
  // An atomic op of memref takes an element.
  if (access.kind == GlobalAccess::Kind::atomic &&
      isa<VectorType>(op->getOperand(0).getType()))
    return false;
  auto type = cast<MemRefType>(access.memref.getType());
  if (!type.getElementType().isIntOrIndexOrFloat())
    return false;
  Type value = access.kind == GlobalAccess::Kind::load
                   ? op->getResult(0).getType()
                   : op->getOperand(0).getType();
  return isRankOne(value) && (access.memory == MemoryKind::global ||
                              getResourceCast(access.memref));
}

/// An access that is behind a buffer resource of the program, or makes one.
void AddressFormAnalysis::decideResource(const GlobalAccess &access,
                                         const Parts &parts,
                                         AddressFacts &facts) {
  std::string wider;
  if (!fits(parts.total.sum, access)) {
    wider = toString(parts.total, "offset", maxOffsetBytes);
    facts.hint = parts.total.hint;
  } else if (access.method == GlobalAccess::Method::rawBuffer &&
             access.memory == MemoryKind::global) {
    auto bytes = getResourceBytes(access.memref);
    if (!bytes || *bytes > maxResourceBytes)
      wider = bytes ? "the resource would have " + std::to_string(*bytes) +
                          " bytes, limit " + std::to_string(maxResourceBytes)
                    : "the size of the resource is not known";
    facts.hint = "pa.max_bytes on the argument, or a static shape, would bound "
                 "it";
  } else if (access.method == GlobalAccess::Method::rawBuffer) {
    wider = "it makes a resource out of a resource";
  }
  if (wider.empty()) {
    facts.form = AddressForm::narrow;
    facts.maxOffset = parts.total.sum->max + access.bytes;
    facts.reason = "offset is " + toString(*parts.total.sum);
    facts.hint.clear();
    return;
  }
  facts.reason = "not narrow: " + wider;
  if (!canLeaveResource(access))
    facts.error = "has a 32-bit offset that is not proven to fit and no 64-bit "
                  "form: " +
                  wider;
}

/// Whether a view may start at the constants of the indices: where an index has
/// nothing else that is uniform, the constant is one inside the memref.
static bool canStartAtConstants(const GlobalAccess &access,
                                const AddressFacts &facts) {
  auto type = cast<MemRefType>(access.memref.getType());
  for (auto [dim, index] : llvm::enumerate(facts.indices))
    if (index.uniform.empty() &&
        (index.constant < 0 ||
         (!type.isDynamicDim(dim) && index.constant >= type.getDimSize(dim))))
      return false;
  return true;
}

/// An access by a 64-bit pointer.
void AddressFormAnalysis::decideMemref(const GlobalAccess &access,
                                       const Parts &parts,
                                       AddressFacts &facts) {
  if (!access.canUseBuffer || !facts.isUniformBase) {
    facts.reason =
        access.canUseBuffer
            ? "not narrow: the view differs between lanes"
            : "not narrow: " + access.op->getName().getStringRef().str() +
                  " keeps its 64-bit address";
    if (access.canUseBuffer)
      facts.hint = "indices that differ between lanes, instead of a view, "
                   "would let the lanes share a resource";
    return;
  }
  const Part &total = parts.total, &lane = parts.lane;
  if (fits(total.sum, access)) {
    facts.form = AddressForm::narrow;
    facts.maxOffset = total.sum->max + access.bytes;
    facts.reason = "offset is " + toString(*total.sum);
    return;
  }
  facts.hint = total.hint;
  std::string wider = toString(total, "offset", maxOffsetBytes);
  // No index behind the resource may be negative: the lowering of memref ops
  // takes it for a great one.
  auto isForward = [](const Interval &bounds) { return bounds.min >= 0; };
  bool isSmall =
      fits(lane.sum, access) && llvm::all_of(facts.laneBounds, isForward);
  const Part &variable = parts.variable;
  facts.isConstantInBase = !isSmall && fits(variable.sum, access) &&
                           llvm::all_of(parts.variableBounds, isForward) &&
                           canStartAtConstants(access, facts);
  if (facts.isConstantInBase)
    facts.laneBounds = parts.variableBounds;
  if (isSmall || facts.isConstantInBase) {
    facts.form = AddressForm::rebase;
    facts.maxOffset =
        (isSmall ? lane.sum->max : variable.sum->max) + access.bytes;
    facts.reason = "not narrow: " + wider;
    return;
  }
  facts.reason = "not narrow: " + wider +
                 "; not rebase: " + toString(lane, "lane part", maxOffsetBytes);
  if (!lane.hint.empty())
    facts.hint = lane.hint;
}

AddressFacts AddressFormAnalysis::getFacts(const GlobalAccess &access) {
  AddressFacts facts;
  for (Value index : access.indices)
    facts.indices.push_back(split(index));
  facts.isUniformBase = uniformity.isUniform(access.memref);
  if (access.method == GlobalAccess::Method::tensorDma) {
    facts.form = AddressForm::rebase;
    facts.maxOffset = access.bytes;
    facts.reason = "the wave has one 64-bit base";
    if (!facts.isUniform())
      facts.error = "address must be the same in all lanes of a wave, found " +
                    std::string(facts.isUniformBase ? "an index" : "a memref") +
                    " that is not proven to be; pa.assume uniform states it";
    else if (access.memory == MemoryKind::buffer)
      facts.error = "address must be a 64-bit one, found a buffer resource";
    return facts;
  }
  Parts parts = getParts(access, facts);
  if (access.method == GlobalAccess::Method::rawBuffer ||
      access.memory == MemoryKind::buffer)
    decideResource(access, parts, facts);
  else
    decideMemref(access, parts, facts);
  return facts;
}
