//===- AnnotateAddressForm.cpp - pa-annotate-address-form --------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/AddressForm.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PAANNOTATEADDRESSFORM
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {
struct AnnotatePass : public pa::impl::PAAnnotateAddressFormBase<AnnotatePass> {
  using PAAnnotateAddressFormBase::PAAnnotateAddressFormBase;

  void runOnOperation() override {
    if (failed(parseForm("require", require, required)) ||
        failed(parseForm("force", force, forced)))
      return signalPassFailure();
    if (maxOffsetBytes <= 0 ||
        maxOffsetBytes > std::numeric_limits<int32_t>::max()) {
      getOperation()->emitError() << "max-offset-bytes must be from 1 to "
                                  << std::numeric_limits<int32_t>::max()
                                  << ", found " << maxOffsetBytes.getValue();
      return signalPassFailure();
    }
    bool hasFailed = false;
    getOperation()->walk(
        [&](gpu::GPUFuncOp func) { hasFailed |= failed(annotate(func)); });
    if (hasFailed)
      signalPassFailure();
  }

  LogicalResult parseForm(StringRef option, StringRef text,
                          std::optional<AddressForm> &form) {
    if (text.empty())
      return success();
    form = symbolizeAddressForm(text);
    if (form)
      return success();
    return getOperation()->emitError()
           << option << " must be narrow, rebase or global, found '" << text
           << "'";
  }

  LogicalResult annotate(gpu::GPUFuncOp func) {
    AddressFormAnalysis analysis(func, maxOffsetBytes);
    WalkResult result = func.walk([&](Operation *op) {
      std::optional<GlobalAccess> access = GlobalAccess::get(op);
      if (!access)
        return WalkResult::advance();
      AddressFacts facts = analysis.getFacts(*access);
      if (required && facts.form > *required) {
        op->emitOpError() << "address form must be "
                          << stringifyAddressForm(*required) << ", found "
                          << stringifyAddressForm(facts.form) << ": "
                          << facts.reason;
        return WalkResult::interrupt();
      }
      if (forced && !access->isDma && facts.form != *forced) {
        facts.reason = ("forced from " + stringifyAddressForm(facts.form) +
                        ": " + facts.reason)
                           .str();
        // What narrow pretends, its bound being unknown: one resource of the
        // greatest size that signed offsets reach.
        if (*forced == AddressForm::narrow)
          facts.maxOffset = std::numeric_limits<int32_t>::max() - 1;
        else if (*forced == AddressForm::global)
          facts.maxOffset = -1;
        else if (facts.form == AddressForm::global) {
          op->emitOpError() << "cannot be forced to rebase: " << facts.reason;
          return WalkResult::interrupt();
        }
        facts.form = *forced;
      }
      op->setAttr(PADialect::kAddressAttrName,
                  AddressAttr::get(op->getContext(), facts.form,
                                   facts.maxOffset, facts.reason));
      if (remarks)
        op->emitRemark() << "address form " << stringifyAddressForm(facts.form)
                         << ", max_offset " << facts.maxOffset << ", "
                         << facts.reason;
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  std::optional<AddressForm> required, forced;
};
} // namespace
