//===- Uniformity.cpp - Values that all lanes of a wave share ----*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/Uniformity.h"
#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pa;

/// The greatest wave of any chip that the code may be for.
static int64_t getWaveSize(Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto target =
            parent->getAttrOfType<TargetAttr>(PADialect::kTargetAttrName))
      if (const TargetInfo *info = TargetInfo::lookup(target.getChip()))
        return info->waveSize;
  int64_t size = 1;
  for (StringRef chip : TargetInfo::allChips())
    size = std::max(size, TargetInfo::lookup(chip)->waveSize);
  return size;
}

/// `value` without casts between integers that keep equal values equal.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The number of the wave: `gpu.thread_id x` divided by a multiple of the wave
/// size, where waves follow each other along x.
static bool isWaveId(Operation *op) {
  if (!isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::ShRUIOp,
           arith::ShRSIOp>(op))
    return false;
  APInt divisor;
  auto id = stripCasts(op->getOperand(0)).getDefiningOp<gpu::ThreadIdOp>();
  if (!id || id.getDimension() != gpu::Dimension::x ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) ||
      !divisor.isSignedIntN(64) || divisor.getSExtValue() <= 0)
    return false;
  int64_t step = divisor.getSExtValue();
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op)) {
    if (step > 31)
      return false;
    step = int64_t(1) << step;
  }
  int64_t wave = getWaveSize(op);
  auto func = op->getParentOfType<gpu::GPUFuncOp>();
  if (step % wave != 0 || !func)
    return false;
  auto size = func.getKnownBlockSize();
  return size && size->size() == 3 &&
         ((*size)[0] % wave == 0 || ((*size)[1] == 1 && (*size)[2] == 1));
}

/// Results that are uniform whatever the operands are.
static bool isAlwaysUniform(Operation *op) {
  if (auto assume = dyn_cast<AssumeOp>(op))
    return assume.getUniform();
  return op->hasTrait<OpTrait::ConstantLike>() || isWaveId(op) ||
         isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::SubgroupIdOp,
             gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, gpu::SubgroupBroadcastOp,
             gpu::DynamicSharedMemoryOp, ROCDL::BallotOp,
             ROCDL::ReadfirstlaneOp, ROCDL::ReadlaneOp, ROCDL::BlockIdXOp,
             ROCDL::BlockIdYOp, ROCDL::BlockIdZOp, memref::GetGlobalOp>(op);
}

/// Ops whose results follow from their operands alone, the same in all lanes
/// where the operands are. Ops that look at other lanes or at the lane's number
/// are in no dialect of this list, or not memory effect free.
static bool isUniformIfOperandsAre(Operation *op) {
  if (isa<memref::LoadOp, vector::LoadOp, vector::MaskedLoadOp,
          vector::TransferReadOp, vector::GatherOp, amdgpu::RawBufferLoadOp>(
          op))
    // Memory that lanes share holds one value at one address, and the active
    // lanes read it at once. Where lanes leave a loop of basic blocks one by
    // one, the value that each keeps is of its own last round.
    return op->getParentRegion()->hasOneBlock();
  if (isa<gpu::ShuffleOp, memref::DimOp, UnrealizedConversionCastOp, AssumeOp,
          amdgpu::FatRawBufferCastOp>(op))
    return true;
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         isa_and_present<arith::ArithDialect, math::MathDialect,
                         index::IndexDialect, memref::MemRefDialect,
                         vector::VectorDialect, affine::AffineDialect>(
             op->getDialect());
}

UniformityAnalysis::UniformityAnalysis(Operation *root) {
  bool changed = true;
  while (changed) {
    changed = false;
    root->walk([&](Operation *op) { changed |= visit(op); });
  }
}

/// A kernel's arguments are the same for the whole grid; those of a function
/// that kernels call lie in vector registers.
bool UniformityAnalysis::visitFunction(FunctionOpInterface func) {
  if (func.isExternal())
    return false;
  bool changed = false;
  auto gpuFunc = dyn_cast<gpu::GPUFuncOp>(*func);
  bool isKernel = gpuFunc && gpuFunc.isKernel();
  unsigned count = func.getNumArguments();
  for (unsigned i = 0; i < count && !isKernel; ++i)
    if (!func.getArgAttr(i, PADialect::kUniformAttrName))
      changed |= mark(func.getArgument(i));
  // Each lane has private memory of its own.
  if (gpuFunc)
    changed |= markAll(gpuFunc.getPrivateAttributions());
  for (Block &block : llvm::drop_begin(func.getFunctionBody()))
    changed |= markAll(block.getArguments());
  return changed;
}

bool UniformityAnalysis::visitFor(Operation *op) {
  // Lanes that leave a loop at different times see different last values, and
  // those inside see the same iteration.
  auto loop = cast<scf::ForOp>(op);
  bool changed = false;
  bool isUniformLoop =
      areUniform({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (!isUniformLoop)
    changed |= mark(loop.getInductionVar());
  for (auto [arg, init, yielded, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInits(),
                 loop.getYieldedValues(), loop.getResults())) {
    if (!isUniform(init) || !isUniform(yielded))
      changed |= mark(arg);
    if (!isUniformLoop || !isUniform(arg))
      changed |= mark(result);
  }
  return changed;
}

bool UniformityAnalysis::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  bool changed = false;
  for (auto [arg, init, yielded] :
       llvm::zip(loop.getBeforeArguments(), loop.getInits(),
                 loop.getYieldOp()->getOperands()))
    if (!isUniform(init) || !isUniform(yielded))
      changed |= mark(arg);
  scf::ConditionOp condition = loop.getConditionOp();
  bool isUniformLoop = isUniform(condition.getCondition());
  for (auto [handed, arg, result] : llvm::zip(
           condition.getArgs(), loop.getAfterArguments(), loop.getResults())) {
    if (!isUniform(handed))
      changed |= mark(arg);
    if (!isUniformLoop || !isUniform(handed))
      changed |= mark(result);
  }
  return changed;
}

/// The value of a result depends on the way taken.
bool UniformityAnalysis::visitBranch(Operation *op) {
  bool changed = false;
  bool isUniformWay = areUniform(op->getOperands());
  SmallVector<bool> resultIsUniform(op->getNumResults(), isUniformWay);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      changed |= markAll(block.getArguments());
      // Blocks branch to each other in ways that are not looked at.
      if (block.empty() || !region.hasOneBlock()) {
        resultIsUniform.assign(op->getNumResults(), false);
        continue;
      }
      for (auto [i, value] :
           llvm::enumerate(block.getTerminator()->getOperands()))
        if (i < resultIsUniform.size() && !isUniform(value))
          resultIsUniform[i] = false;
    }
  for (auto [result, isSame] : llvm::zip(op->getResults(), resultIsUniform))
    if (!isSame)
      changed |= mark(result);
  return changed;
}

bool UniformityAnalysis::visit(Operation *op) {
  if (auto func = dyn_cast<FunctionOpInterface>(op))
    return visitFunction(func);
  if (isAlwaysUniform(op))
    return false;
  if (isa<scf::ForOp>(op))
    return visitFor(op);
  if (isa<scf::WhileOp>(op))
    return visitWhile(op);
  // Other loops may deal their iterations out to lanes.
  if (!isa<LoopLikeOpInterface>(op)) {
    if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op))
      return visitBranch(op);
    // Unstructured control flow joins values in block arguments.
    if (auto branch = dyn_cast<BranchOpInterface>(op)) {
      bool changed = false;
      for (Block *successor : op->getSuccessors())
        changed |= markAll(successor->getArguments());
      return changed;
    }
    if (isUniformIfOperandsAre(op) && areUniform(op->getOperands()))
      return false;
  }
  // Regions are bodies of ops that are not known here.
  bool changed = markAll(op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      changed |= markAll(block.getArguments());
  return changed;
}
