//===- Tile.cpp - pa-tile ----------------------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Transforms/Passes.h"
#include "TileOps.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PATILE
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {
struct TilePass : public pa::impl::PATileBase<TilePass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<PagedLogitsOp, TopKOp, IndexerOp, GroupedGemmOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      const TargetInfo *target = getTargetOrError(op);
      if (!target || failed(tile(rewriter, op, *target)))
        return signalPassFailure();
    }
  }

  LogicalResult tile(RewriterBase &rewriter, Operation *op,
                     const TargetInfo &target) {
    if (auto logits = dyn_cast<PagedLogitsOp>(op))
      return tilePagedLogits(rewriter, logits, target);
    if (auto topk = dyn_cast<TopKOp>(op))
      return tileTopK(rewriter, topk, target);
    if (auto indexer = dyn_cast<IndexerOp>(op))
      return tileIndexer(rewriter, indexer, target);
    return tileGroupedGemm(rewriter, cast<GroupedGemmOp>(op), target);
  }
};
} // namespace
