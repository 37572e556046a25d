//===- KernelBuilder.cpp - From an op to a kernel ----------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::pa;

/// The dictionary from which the manifest of `spec` is made.
static DictionaryAttr getKernelInfo(Builder &b, const KernelSpec &spec) {
  SmallVector<Attribute> args, sizes;
  for (const auto &[name, value] : spec.args)
    args.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(name)),
         b.getNamedAttr("type", TypeAttr::get(value.getType()))}));
  SmallVector<NamedAttribute> scalars;
  for (const auto &[name, text] : spec.scalars)
    scalars.push_back(b.getNamedAttr(name, b.getStringAttr(text)));
  for (const KernelSpec::Size &size : spec.sizes)
    sizes.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(size.name)),
         b.getNamedAttr("arg", b.getStringAttr(size.arg)),
         b.getNamedAttr("dim", b.getI64IntegerAttr(size.dim))}));
  auto strings = [&](auto &&range) {
    SmallVector<Attribute> attrs;
    for (const std::string &text : range)
      attrs.push_back(b.getStringAttr(text));
    return b.getArrayAttr(attrs);
  };
  SmallVector<NamedAttribute> workspaces;
  for (const auto &[name, extents] : spec.workspaces)
    workspaces.push_back(b.getNamedAttr(name, strings(extents)));
  return b.getDictionaryAttr(
      {b.getNamedAttr("op", b.getStringAttr(spec.op)),
       b.getNamedAttr("workspaces", b.getDictionaryAttr(workspaces)),
       b.getNamedAttr("args", b.getArrayAttr(args)),
       b.getNamedAttr("grid", strings(spec.gridText)),
       b.getNamedAttr("block_size", b.getI64IntegerAttr(spec.blockSize)),
       b.getNamedAttr("sizes", b.getArrayAttr(sizes)),
       b.getNamedAttr("scalars", b.getDictionaryAttr(scalars)),
       b.getNamedAttr("preconditions", strings(spec.preconditions))});
}

KernelBuilder::KernelBuilder(ImplicitLocOpBuilder &host, Operation *op,
                             const KernelSpec &spec, const TargetInfo &target)
    : host(host), spec(spec), bodyBuilder(op->getLoc(), op->getContext()) {
  auto module = op->getParentOfType<ModuleOp>();
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  host.getUnitAttr());

  OpBuilder::InsertionGuard guard(host);
  host.setInsertionPointToEnd(module.getBody());
  auto gpuModule = host.create<gpu::GPUModuleOp>(spec.name);
  SymbolTable(module).insert(gpuModule);

  host.setInsertionPointToStart(gpuModule.getBody());
  SmallVector<Type> argTypes;
  for (const auto &[name, value] : spec.args)
    argTypes.push_back(value.getType());
  func = host.create<gpu::GPUFuncOp>(gpuModule.getName(),
                                     host.getFunctionType(argTypes, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), host.getUnitAttr());
  func.setKnownBlockSizeAttr(
      host.getDenseI32ArrayAttr({static_cast<int32_t>(spec.blockSize), 1, 1}));
  func->setAttr(PADialect::kKernelInfoAttrName, getKernelInfo(host, spec));
  // The backend takes a limit of registers as a least number of waves.
  const int64_t vgprs = std::max(spec.vgprs, target.maxVgprs);
  if (vgprs < target.vgprsPerLane)
    func->setAttr("rocdl.waves_per_eu",
                  host.getI32IntegerAttr(
                      static_cast<int32_t>(target.vgprsPerLane / vgprs)));
  bodyBuilder.setInsertionPointToStart(&func.getBody().front());
}

Value KernelBuilder::arg(StringRef name) {
  for (auto [i, arg] : llvm::enumerate(spec.args))
    if (arg.first == name)
      return func.getArgument(i);
  llvm::report_fatal_error("kernel has no argument called " + name);
}

Value KernelBuilder::threadId() {
  return bodyBuilder.create<gpu::ThreadIdOp>(gpu::Dimension::x);
}

Value KernelBuilder::blockId(gpu::Dimension dim) {
  return bodyBuilder.create<gpu::BlockIdOp>(dim);
}

Attribute KernelBuilder::ldsSpace() {
  return gpu::AddressSpaceAttr::get(bodyBuilder.getContext(),
                                    gpu::AddressSpace::Workgroup);
}

Value KernelBuilder::addLds(MemRefType type) {
  return func.addWorkgroupAttribution(type, bodyBuilder.getLoc());
}

void KernelBuilder::finish() {
  bodyBuilder.create<gpu::ReturnOp>();
  auto constant = [&](int64_t value) -> Value {
    return host.create<arith::ConstantIndexOp>(value);
  };
  Value one = constant(1);
  SmallVector<Value> args;
  for (const auto &[name, value] : spec.args)
    args.push_back(value);
  host.create<gpu::LaunchFuncOp>(
      func, gpu::KernelDim3{spec.grid[0], spec.grid[1], spec.grid[2]},
      gpu::KernelDim3{constant(spec.blockSize), one, one},
      /*dynamicSharedMemorySize=*/Value(), args);
}

const TargetInfo *mlir::pa::getTargetOrError(Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto target =
            parent->getAttrOfType<TargetAttr>(PADialect::kTargetAttrName))
      return TargetInfo::lookup(target.getChip());
  op->emitOpError() << "is in a module without a target, run pa-set-target "
                       "first; known chips are "
                    << TargetInfo::knownChips();
  return nullptr;
}

int64_t mlir::pa::getNumCus(Operation *op, const TargetInfo &target) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto attr =
            parent->getAttrOfType<TargetAttr>(PADialect::kTargetAttrName))
      return attr.getNumCus() > 0 ? attr.getNumCus() : target.numCus;
  return target.numCus;
}

LogicalResult mlir::pa::checkOperandsForChip(Operation *op,
                                             ValueRange unitInner) {
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) &&
        !isa<MemRefType>(operand.getType()))
      return op->emitOpError() << "must be on memrefs to be tiled, bufferize "
                                  "first; found "
                               << operand.getType();
  for (Value operand : unitInner) {
    auto type = cast<MemRefType>(operand.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    if (strides.back() != 1)
      return op->emitOpError()
             << "innermost stride must be 1 for a chip, found "
             << (ShapedType::isDynamic(strides.back()) ? "a dynamic one in "
                                                       : "another in ")
             << type
             << "; bufferize with identity layouts at function boundaries";
  }
  return success();
}
