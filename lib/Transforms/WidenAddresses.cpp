//===- WidenAddresses.cpp - pa-widen-addresses -------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeaveResource.h"
#include "PagedAttn/Analysis/AddressForm.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PAWIDENADDRESSES
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {

/// One annotated access with the facts that its rewrite needs.
struct AnnotatedAccess {
  GlobalAccess access;
  AddressFacts facts;
  AddressAttr form;
};

/// Accesses that share a buffer resource: the same memref and uniform part, in
/// one block or in branches of it, which differ in the lane part only.
using Group = SmallVector<AnnotatedAccess *>;

class FunctionRewriter {
public:
  FunctionRewriter(FunctionOpInterface func, int64_t maxOffsetBytes)
      : func(func), analysis(func, maxOffsetBytes), b(func.getContext()) {}

  void run();

private:
  void rewriteNarrow(Group &group);
  void rewriteRebase(Group &group);
  void clampResources();
  Value castToBuffer(Location loc, Value memref, int64_t validBytes);
  void retarget(Operation *op, Value buffer, ValueRange indices);

  FunctionOpInterface func;
  AddressFormAnalysis analysis;
  OpBuilder b;
};

} // namespace

/// `memref` behind a buffer resource of `validBytes` whose base includes the
/// offset of the view.
Value FunctionRewriter::castToBuffer(Location loc, Value memref,
                                     int64_t validBytes) {
  Value bytes =
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(validBytes));
  return amdgpu::FatRawBufferCastOp::create(
      b, loc, memref, bytes, /*cacheSwizzleStride=*/Value(),
      /*boundsCheck=*/true, /*resetOffset=*/true);
}

/// Size of the resource that `group` shares. The hardware checks whole dwords,
/// so that a tail of bytes needs room for one; a form that is forced keeps the
/// size that it pretends.
static int64_t getResourceSize(const Group &group) {
  int64_t bytes = 0;
  for (AnnotatedAccess *access : group) {
    int64_t reach = access->form.getMaxOffset();
    if (access->facts.form <= access->form.getForm())
      reach = llvm::alignTo(reach, 4);
    bytes = std::max(bytes, reach);
  }
  return bytes;
}

/// The block of `op` and those around it, as far as branches go.
static SmallVector<Block *> getBlocks(Operation *op) {
  SmallVector<Block *> blocks{op->getBlock()};
  while (auto branch = dyn_cast<scf::IfOp>(blocks.back()->getParentOp()))
    blocks.push_back(branch->getBlock());
  return blocks;
}

/// Where a resource of all accesses of `group`, which come in the order of the
/// program, is made: before the first of them, outside of every branch that
/// does not have all of them. What they have in common dominates each of them,
/// and so this place.
static Operation *getResourcePlace(const Group &group) {
  SmallVector<Block *> common = getBlocks(group.front()->access.op);
  for (AnnotatedAccess *access : group) {
    SmallVector<Block *> blocks = getBlocks(access->access.op);
    llvm::erase_if(common, [&](Block *block) {
      return !llvm::is_contained(blocks, block);
    });
  }
  return common.front()->findAncestorOpInBlock(*group.front()->access.op);
}

static Value emitTerms(OpBuilder &b, Location loc,
                       ArrayRef<IndexSplit::Term> terms, int64_t constant) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value sum;
  for (const IndexSplit::Term &term : terms) {
    Value value = term.value;
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
    if (term.scale != 1)
      value = b.createOrFold<arith::MulIOp>(loc, value, index(term.scale));
    sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, value) : value;
  }
  if (!sum)
    return index(constant);
  return constant == 0
             ? sum
             : b.createOrFold<arith::AddIOp>(loc, sum, index(constant));
}

/// Makes the access use `buffer` at `indices`.
void FunctionRewriter::retarget(Operation *op, Value buffer,
                                ValueRange indices) {
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    load.getMemrefMutable().assign(buffer);
    load.getIndicesMutable().assign(indices);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    store.getMemrefMutable().assign(buffer);
    store.getIndicesMutable().assign(indices);
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    load.getBaseMutable().assign(buffer);
    load.getIndicesMutable().assign(indices);
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    store.getBaseMutable().assign(buffer);
    store.getIndicesMutable().assign(indices);
  } else if (auto copy = dyn_cast<amdgpu::GatherToLDSOp>(op)) {
    copy.getSrcMutable().assign(buffer);
    copy.getSrcIndicesMutable().assign(indices);
  }
}

void FunctionRewriter::rewriteNarrow(Group &group) {
  Value memref = group.front()->access.memref;
  b.setInsertionPointAfterValue(memref);
  Value buffer = castToBuffer(memref.getLoc(), memref, getResourceSize(group));
  for (AnnotatedAccess *access : group)
    retarget(access->access.op, buffer, access->access.indices);
}

void FunctionRewriter::rewriteRebase(Group &group) {
  AnnotatedAccess *first = group.front();
  Operation *op = first->access.op;
  Location loc = op->getLoc();
  b.setInsertionPoint(getResourcePlace(group));
  auto type = cast<MemRefType>(first->access.memref.getType());
  auto vectorLength = [](Operation *op) -> int64_t {
    auto load = dyn_cast<vector::LoadOp>(op);
    auto store = dyn_cast<vector::StoreOp>(op);
    return load    ? load.getVectorType().getNumElements()
           : store ? store.getVectorType().getNumElements()
                   : 1;
  };

  // The view starts at the uniform part and has room for the lane parts.
  SmallVector<OpFoldResult> offsets, sizes, steps;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = 1;
    for (AnnotatedAccess *access : group) {
      int64_t last =
          dim == type.getRank() - 1 ? vectorLength(access->access.op) - 1 : 0;
      // Sizes say nothing of addresses; of a stride of 0, any will do.
      int64_t farthest = std::min<int64_t>(access->facts.laneBounds[dim].max,
                                           std::numeric_limits<int32_t>::max());
      size = std::max(size, farthest + last + 1);
    }
    const IndexSplit &index = first->facts.indices[dim];
    int64_t constant = first->facts.isConstantInBase ? index.constant : 0;
    // A bound may be looser than the type, where a mask keeps lanes inside.
    int64_t start = index.uniform.empty() ? constant : 0;
    if (!type.isDynamicDim(dim))
      size = std::min(size, type.getDimSize(dim) - start);
    if (index.uniform.empty())
      offsets.push_back(b.getIndexAttr(constant));
    else
      offsets.push_back(emitTerms(b, loc, index.uniform, constant));
    sizes.push_back(b.getIndexAttr(size));
    steps.push_back(b.getIndexAttr(1));
  }
  Value view = memref::SubViewOp::create(b, loc, first->access.memref, offsets,
                                         sizes, steps);
  Value buffer = castToBuffer(loc, view, getResourceSize(group));
  for (AnnotatedAccess *access : group) {
    b.setInsertionPoint(access->access.op);
    SmallVector<Value> indices;
    for (const IndexSplit &index : access->facts.indices)
      indices.push_back(
          emitTerms(b, access->access.op->getLoc(), index.lane,
                    access->facts.isConstantInBase ? 0 : index.constant));
    retarget(access->access.op, buffer, indices);
  }
}

/// Whether two accesses can use one resource.
static bool canShare(const AnnotatedAccess &x, const AnnotatedAccess &y) {
  if (x.access.memref != y.access.memref ||
      x.form.getForm() != y.form.getForm())
    return false;
  if (x.form.getForm() == AddressForm::narrow)
    return true;
  if (getBlocks(x.access.op).back() != getBlocks(y.access.op).back())
    return false;
  if (x.facts.isConstantInBase != y.facts.isConstantInBase)
    return false;
  for (auto [a, b] : llvm::zip(x.facts.indices, y.facts.indices))
    if (a.uniform != b.uniform ||
        (x.facts.isConstantInBase && a.constant != b.constant))
      return false;
  return true;
}

/// The size of a resource of the program is never cut to the bits that its
/// field has. What lies beyond has no proof and has left the resource.
void FunctionRewriter::clampResources() {
  int64_t limit = analysis.getMaxResourceBytes();
  func.walk([&](amdgpu::FatRawBufferCastOp cast) {
    std::optional<int64_t> bytes;
    if (Value valid = cast.getValidBytes()) {
      auto bounds = analysis.getBounds(valid);
      if (bounds && bounds->min >= 0)
        bytes = bounds->max;
    } else {
      bytes = analysis.getResourceBytes(cast.getSource());
    }
    if (!bytes || *bytes > limit)
      clampResource(b, cast, limit / 4 * 4);
  });
}

void FunctionRewriter::run() {
  std::vector<AnnotatedAccess> accesses;
  func.walk([&](Operation *op) {
    auto form = op->getAttrOfType<AddressAttr>(PADialect::kAddressAttrName);
    std::optional<GlobalAccess> access = GlobalAccess::get(op);
    if (form && access)
      accesses.push_back({*access, analysis.getFacts(*access), form});
  });
  SmallVector<Group> groups;
  SmallVector<AnnotatedAccess *> leaving;
  for (AnnotatedAccess &access : accesses) {
    bool isGlobalForm = access.form.getForm() == AddressForm::global;
    if (access.access.method == GlobalAccess::Method::rawBuffer ||
        access.access.memory == MemoryKind::buffer) {
      if (isGlobalForm && canLeaveResource(access.access))
        leaving.push_back(&access);
      continue;
    }
    // A 64-bit address in each lane, or one for the wave in scalar registers:
    // both are what an ordinary access becomes.
    if (isGlobalForm || !access.access.canUseBuffer ||
        (access.facts.isUniform() && !access.access.isStore()))
      continue;
    auto group = llvm::find_if(groups, [&](const Group &candidate) {
      return canShare(*candidate.front(), access);
    });
    if (group == groups.end())
      groups.push_back({&access});
    else
      group->push_back(&access);
  }
  // With the size that the program gave the resource.
  for (AnnotatedAccess *access : leaving)
    leaveResource(b, access->access);
  clampResources();
  for (Group &group : groups) {
    if (group.front()->form.getForm() == AddressForm::narrow)
      rewriteNarrow(group);
    else
      rewriteRebase(group);
  }
}

/// The kernel argument behind a view, or nothing.
static std::optional<unsigned> getArgument(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto arg = dyn_cast<BlockArgument>(memref);
  if (!arg || !isa<gpu::GPUFuncOp>(arg.getOwner()->getParentOp()))
    return std::nullopt;
  return arg.getArgNumber();
}

namespace {
/// Accesses to one argument that have one form, for the manifest.
struct AccessRecord {
  StringRef arg, kind;
  AddressAttr first;
  int64_t maxOffset, count;
};
} // namespace

/// Writes the accesses of the kernel into its dictionary, for the manifest, and
/// the forms into its name: two kernels that differ in an address form never
/// share a symbol.
static LogicalResult recordForms(gpu::GPUFuncOp func) {
  auto info =
      func->getAttrOfType<DictionaryAttr>(PADialect::kKernelInfoAttrName);
  if (!info || info.contains("accesses"))
    return success();
  Builder b(func.getContext());
  auto args = info.getAs<ArrayAttr>("args");
  SmallVector<AccessRecord> records;
  func.walk([&](Operation *op) {
    auto form = op->getAttrOfType<AddressAttr>(PADialect::kAddressAttrName);
    std::optional<GlobalAccess> access = GlobalAccess::get(op);
    if (!form || !access)
      return;
    StringRef argName;
    std::optional<unsigned> arg = getArgument(access->memref);
    if (arg && args && *arg < args.size())
      if (auto name =
              cast<DictionaryAttr>(args[*arg]).getAs<StringAttr>("name"))
        argName = name;
    StringRef kind = access->getKindName();
    auto *record = llvm::find_if(records, [&](const AccessRecord &r) {
      return r.arg == argName && r.kind == kind &&
             r.first.getForm() == form.getForm();
    });
    if (record == records.end())
      record = &records.emplace_back(
          AccessRecord{argName, kind, form, form.getMaxOffset(), 0});
    record->maxOffset = std::max(record->maxOffset, form.getMaxOffset());
    ++record->count;
  });

  std::string letters;
  SmallVector<Attribute> attrs;
  for (const AccessRecord &record : records) {
    StringRef form = stringifyAddressForm(record.first.getForm());
    letters += form.front();
    attrs.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("arg", b.getStringAttr(record.arg)),
         b.getNamedAttr("kind", b.getStringAttr(record.kind)),
         b.getNamedAttr("form", b.getStringAttr(form)),
         b.getNamedAttr("max_offset", b.getI64IntegerAttr(record.maxOffset)),
         b.getNamedAttr("count", b.getI64IntegerAttr(record.count)),
         b.getNamedAttr("reason", b.getStringAttr(record.first.getReason()))}));
  }
  NamedAttrList list(info);
  list.append("accesses", b.getArrayAttr(attrs));
  func->setAttr(PADialect::kKernelInfoAttrName,
                list.getDictionary(func.getContext()));

  auto module = func->getParentOfType<ModuleOp>();
  StringAttr newName = b.getStringAttr(func.getName() + "__" + letters);
  if (failed(SymbolTable::replaceAllSymbolUses(func, newName, module)))
    return func.emitError() << "uses of the kernel cannot be renamed";
  func.setName(newName);
  return success();
}

namespace {
struct WidenPass : public pa::impl::PAWidenAddressesBase<WidenPass> {
  using PAWidenAddressesBase::PAWidenAddressesBase;

  void runOnOperation() override {
    for (FunctionOpInterface func : getDeviceFunctions(getOperation())) {
      FunctionRewriter(func, maxOffsetBytes).run();
      auto kernel = dyn_cast<gpu::GPUFuncOp>(*func);
      if (kernel && failed(recordForms(kernel)))
        return signalPassFailure();
    }
  }
};
} // namespace
