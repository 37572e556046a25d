//===- KnownRanges.cpp - Integer ranges with what launches say ---*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownRanges.h"
#include "PagedAttn/Dialect/PA.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pa;
using dataflow::IntegerValueRangeLattice;

BlockArgument mlir::pa::getSameShapeArgument(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::MemorySpaceCastOp,
             amdgpu::FatRawBufferCastOp>(op))
      return {};
    memref = op->getOperand(0);
  }
  auto arg = cast<BlockArgument>(memref);
  auto func = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  bool isArgument = func && arg.getOwner()->isEntryBlock() &&
                    arg.getArgNumber() < func.getNumArguments();
  return isArgument ? arg : BlockArgument();
}

std::optional<int64_t> mlir::pa::getArgInt(BlockArgument arg, StringRef name) {
  auto func = cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  auto attr = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), name);
  if (!attr || !attr.getValue().isSignedIntN(64))
    return std::nullopt;
  return attr.getValue().getSExtValue();
}

std::optional<int64_t> mlir::pa::getMaxRows(Value memref) {
  BlockArgument arg = getSameShapeArgument(memref);
  if (!arg)
    return std::nullopt;
  auto rows = getArgInt(arg, PADialect::kMaxRowsAttrName);
  return rows ? rows : getArgInt(arg, PADialect::kMaxPagesAttrName);
}

/// Whether an expression of the manifest uses a value that whoever launches the
/// kernel may choose differently.
static bool usesScalar(StringRef text, DictionaryAttr scalars) {
  auto isName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    StringRef name = text.take_while(isName);
    if (scalars && scalars.contains(name))
      return true;
    text = text.drop_front(std::max<size_t>(name.size(), 1));
  }
  return false;
}

KnownRangeAnalysis::KnownRangeAnalysis(DataFlowSolver &solver, Operation *root)
    : IntegerRangeAnalysis(solver) {
  auto func = dyn_cast<gpu::GPUFuncOp>(root);
  auto gpuModule =
      func ? func->getParentOfType<gpu::GPUModuleOp>() : gpu::GPUModuleOp();
  auto module = gpuModule ? gpuModule->getParentOfType<ModuleOp>() : ModuleOp();
  if (!module)
    return;
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelModuleName() == gpuModule.getNameAttr() &&
        launch.getKernelName() == func.getNameAttr())
      launches.push_back(launch);
  });
  if (launches.empty())
    return;
  auto getGreatest = [&](auto getSize) -> std::optional<int64_t> {
    int64_t greatest = 0;
    for (gpu::LaunchFuncOp launch : launches) {
      APInt size;
      if (!matchPattern(getSize(launch), m_ConstantInt(&size)) ||
          !size.isSignedIntN(64))
        return std::nullopt;
      greatest = std::max(greatest, size.getSExtValue());
    }
    return greatest > 0 ? std::optional(greatest) : std::nullopt;
  };
  using Launch = gpu::LaunchFuncOp;
  gridSize = {getGreatest([](Launch l) { return l.getGridSizeX(); }),
              getGreatest([](Launch l) { return l.getGridSizeY(); }),
              getGreatest([](Launch l) { return l.getGridSizeZ(); })};
  blockSize = {getGreatest([](Launch l) { return l.getBlockSizeX(); }),
               getGreatest([](Launch l) { return l.getBlockSizeY(); }),
               getGreatest([](Launch l) { return l.getBlockSizeZ(); })};

  // A kernel with a manifest is also launched by others, who may choose the
  // scalars in its grid.
  auto info =
      func->getAttrOfType<DictionaryAttr>(PADialect::kKernelInfoAttrName);
  auto grid = info ? info.getAs<ArrayAttr>("grid") : ArrayAttr();
  if (!grid)
    return;
  auto scalars = info.getAs<DictionaryAttr>("scalars");
  for (unsigned i = 0; i < 3; ++i) {
    auto text = i < grid.size() ? dyn_cast<StringAttr>(grid[i]) : StringAttr();
    if (!text || usesScalar(text, scalars))
      gridSize[i] = std::nullopt;
  }
}

LogicalResult KnownRangeAnalysis::visitOperation(
    Operation *op, ArrayRef<const IntegerValueRangeLattice *> operands,
    ArrayRef<IntegerValueRangeLattice *> results) {
  auto set = [&](int64_t min, int64_t max) {
    unsigned bits =
        ConstantIntRanges::getStorageBitwidth(op->getResult(0).getType());
    propagateIfChanged(
        results[0],
        results[0]->join(IntegerValueRange(ConstantIntRanges::fromSigned(
            APInt(bits, min), APInt(bits, max)))));
    return success();
  };
  auto of = [](auto &sizes, gpu::Dimension dim) {
    return sizes[static_cast<unsigned>(dim)];
  };
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    if (auto size = of(gridSize, id.getDimension()))
      return set(0, *size - 1);
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    if (auto size = of(blockSize, id.getDimension()))
      return set(0, *size - 1);
  if (auto dim = dyn_cast<gpu::GridDimOp>(op))
    if (auto size = of(gridSize, dim.getDimension()))
      return set(1, *size);
  if (auto dim = dyn_cast<gpu::BlockDimOp>(op))
    if (auto size = of(blockSize, dim.getDimension()))
      return set(1, *size);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (dim.getConstantIndex() == 0)
      if (auto rows = getMaxRows(dim.getSource()))
        return set(0, *rows);
  return IntegerRangeAnalysis::visitOperation(op, operands, results);
}
