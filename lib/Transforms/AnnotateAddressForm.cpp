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
    getOperation()->walk([&](gpu::LaunchOp launch) {
      launch.emitOpError() << "must be outlined before its addresses are "
                              "examined; run gpu-kernel-outlining first";
      hasFailed = true;
    });
    for (FunctionOpInterface func : getDeviceFunctions(getOperation()))
      hasFailed |= failed(annotate(func));
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

  LogicalResult annotate(FunctionOpInterface func) {
    AddressFormAnalysis analysis(func, maxOffsetBytes);
    WalkResult result = func.walk([&](Operation *op) {
      std::string unhandled = GlobalAccess::getUnhandledReason(op);
      if (!unhandled.empty()) {
        op->emitOpError() << unhandled;
        return WalkResult::interrupt();
      }
      std::optional<GlobalAccess> access = GlobalAccess::get(op);
      return !access || succeeded(annotate(*access, analysis))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult annotate(const GlobalAccess &access,
                         AddressFormAnalysis &analysis) {
    Operation *op = access.op;
    // What was rewritten by an annotation keeps it, as a record; and a 64-bit
    // address is right whoever asked for it.
    auto before = op->getAttrOfType<AddressAttr>(PADialect::kAddressAttrName);
    if (before && (access.memory == MemoryKind::buffer ||
                   before.getForm() == AddressForm::global))
      return success();
    AddressFacts facts = analysis.getFacts(access);
    if (!facts.error.empty())
      return op->emitOpError() << facts.error;
    if (required && facts.form > *required) {
      InFlightDiagnostic error =
          op->emitOpError()
          << "address form must be " << stringifyAddressForm(*required)
          << ", found " << stringifyAddressForm(facts.form) << ": "
          << facts.reason;
      if (!facts.hint.empty())
        error.attachNote() << facts.hint;
      return error;
    }
    if (forced && facts.form != *forced && failed(forceForm(access, facts)))
      return failure();
    op->setAttr(PADialect::kAddressAttrName,
                AddressAttr::get(op->getContext(), facts.form, facts.maxOffset,
                                 facts.reason));
    if (remarks) {
      InFlightDiagnostic remark = op->emitRemark()
                                  << "address form "
                                  << stringifyAddressForm(facts.form)
                                  << ", max_offset " << facts.maxOffset << ", "
                                  << facts.reason;
      if (!facts.hint.empty())
        remark << "; " << facts.hint;
    }
    return success();
  }

  LogicalResult forceForm(const GlobalAccess &access, AddressFacts &facts) {
    bool hasChoice = access.canUseBuffer && access.memory == MemoryKind::global;
    bool canForce = *forced == AddressForm::narrow ? hasChoice
                    : *forced == AddressForm::rebase
                        ? hasChoice && facts.form != AddressForm::global
                        : hasChoice || canLeaveResource(access);
    if (access.method == GlobalAccess::Method::tensorDma ||
        (!hasChoice && facts.form == AddressForm::global))
      return success();
    std::string reason = ("forced from " + stringifyAddressForm(facts.form) +
                          ": " + facts.reason)
                             .str();
    if (!canForce)
      return access.op->emitOpError()
             << "cannot be forced to " << stringifyAddressForm(*forced) << ": "
             << reason;
    facts.reason = reason;
    // What narrow pretends, its bound being unknown: one resource of the
    // greatest size that signed offsets reach.
    if (*forced == AddressForm::narrow)
      facts.maxOffset = std::numeric_limits<int32_t>::max() - 1;
    else if (*forced == AddressForm::global)
      facts.maxOffset = -1;
    facts.form = *forced;
    return success();
  }

  std::optional<AddressForm> required, forced;
};
} // namespace
