//===- RelaxLdsAtomics.cpp - pa-relax-lds-atomics ----------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PARELAXLDSATOMICS
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {
struct RelaxLdsAtomicsPass
    : public pa::impl::PARelaxLdsAtomicsBase<RelaxLdsAtomicsPass> {
  void runOnOperation() override {
    constexpr unsigned kLdsSpace = 3;
    getOperation().walk([&](LLVM::AtomicRMWOp op) {
      auto type = dyn_cast<LLVM::LLVMPointerType>(op.getPtr().getType());
      if (!type || type.getAddressSpace() != kLdsSpace)
        return;
      op.setOrdering(LLVM::AtomicOrdering::monotonic);
      op.setSyncscope("workgroup");
    });
  }
};
} // namespace
