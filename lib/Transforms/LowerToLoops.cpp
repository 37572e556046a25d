//===- LowerToLoops.cpp - The pass pa-lower-to-loops ------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerToLoops.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PALOWERTOLOOPS
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {
struct LowerToLoops : pa::impl::PALowerToLoopsBase<LowerToLoops> {
  void runOnOperation() override {
    SmallVector<DestinationStyleOpInterface> ops;
    getOperation()->walk([&](DestinationStyleOpInterface op) {
      if (isa<PagedLogitsOp, TopKOp, IndexerOp, GroupedGemmOp>(op))
        ops.push_back(op);
    });

    // All of the input is checked before any of it changes.
    bool isLegal = true;
    for (DestinationStyleOpInterface op : ops) {
      if (op.hasPureBufferSemantics())
        continue;
      op->emitOpError() << "cannot be lowered to loops on tensors, found "
                        << op->getOperand(0).getType()
                        << "; bufferize first, for example with "
                           "--one-shot-bufferize";
      isLegal = false;
    }
    if (!isLegal)
      return signalPassFailure();

    for (DestinationStyleOpInterface op : ops) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      llvm::TypeSwitch<Operation *>(op)
          .Case<PagedLogitsOp, TopKOp, IndexerOp, GroupedGemmOp>(
              [&](auto concrete) { lowerToLoops(b, concrete); });
      op->erase();
    }
  }
};
} // namespace
