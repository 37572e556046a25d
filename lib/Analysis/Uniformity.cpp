//===- Uniformity.cpp - Values that all lanes of a wave share ----*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/Uniformity.h"
#include "PagedAttn/Dialect/PA.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pa;

/// Results that are uniform whatever the operands are.
static bool isAlwaysUniform(Operation *op) {
  if (auto assume = dyn_cast<AssumeOp>(op))
    return assume.getUniform();
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::SubgroupIdOp,
             gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, gpu::SubgroupBroadcastOp,
             ROCDL::BallotOp, ROCDL::ReadfirstlaneOp, ROCDL::ReadlaneOp,
             memref::GetGlobalOp>(op);
}

/// Ops whose results follow from their operands alone: the same in all lanes
/// where the operands are. A read is one, as memory that lanes share holds one
/// value at one address.
static bool isUniformIfOperandsAre(Operation *op) {
  if (isa<gpu::ThreadIdOp, gpu::LaneIdOp, gpu::GlobalIdOp, ROCDL::MbcntLoOp,
          ROCDL::MbcntHiOp>(op))
    return false;
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op) ||
         isa<memref::LoadOp, vector::LoadOp>(op);
}

UniformityAnalysis::UniformityAnalysis(Operation *root) {
  bool changed = true;
  while (changed) {
    changed = false;
    root->walk([&](Operation *op) { changed |= visit(op); });
  }
}

bool UniformityAnalysis::visit(Operation *op) {
  auto allUniform = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value v) { return isUniform(v); });
  };
  bool changed = false;
  auto markAll = [&](ValueRange values) {
    for (Value value : values)
      changed |= mark(value);
  };

  if (isa<FunctionOpInterface>(op) || isAlwaysUniform(op))
    return false;

  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    // Lanes that leave a loop at different times see different last values, and
    // those inside see the same iteration.
    SmallVector<Value> bounds;
    for (auto range : {loop.getLoopLowerBounds(), loop.getLoopUpperBounds(),
                       loop.getLoopSteps()})
      if (range)
        for (OpFoldResult bound : *range)
          if (auto value = dyn_cast<Value>(bound))
            bounds.push_back(value);
    // What else a loop may hand to its regions is not known here: scf.while has
    // a second region, scf.forall may deal its iterations out to lanes.
    if (!isa<scf::ForOp>(op)) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          markAll(block.getArguments());
      markAll(op->getResults());
      return changed;
    }
    auto ivs = loop.getLoopInductionVars();
    bool isUniformLoop = allUniform(bounds);
    if (ivs && !isUniformLoop)
      markAll(*ivs);
    auto inits = loop.getInits();
    auto args = loop.getRegionIterArgs();
    auto yielded = loop.getYieldedValues();
    for (auto [i, arg] : llvm::enumerate(args)) {
      bool isSame = i < inits.size() && i < yielded.size() &&
                    isUniform(inits[i]) && isUniform(yielded[i]);
      if (!isSame)
        changed |= mark(arg);
    }
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (!isUniformLoop || i >= args.size() || !isUniform(args[i]))
        changed |= mark(result);
    return changed;
  }

  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    // The value of a result depends on the way taken.
    bool isUniformWay = allUniform(op->getOperands());
    SmallVector<bool> resultIsUniform(op->getNumResults(), isUniformWay);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        if (block.getNumArguments() > 0)
          markAll(block.getArguments());
        if (block.empty())
          continue;
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

  // Unstructured control flow joins values in block arguments.
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i)
      markAll(op->getSuccessor(i)->getArguments());
    return changed;
  }

  // Other regions are bodies of ops that are not known here.
  for (Region &region : op->getRegions())
    if (!isa<ModuleOp, gpu::GPUModuleOp>(op))
      for (Block &block : region)
        markAll(block.getArguments());
  if (!isUniformIfOperandsAre(op) || !allUniform(op->getOperands()))
    markAll(op->getResults());
  return changed;
}
