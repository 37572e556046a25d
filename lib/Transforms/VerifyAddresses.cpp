//===- VerifyAddresses.cpp - pa-verify-addresses -----------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/AddressForm.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PAVERIFYADDRESSES
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {
/// Proves one function, without believing its annotations.
class Verifier {
public:
  Verifier(Operation *func, int64_t maxOffsetBytes)
      : analysis(func, maxOffsetBytes) {}

  LogicalResult verify(Operation *op);

private:
  LogicalResult verifyResource(amdgpu::FatRawBufferCastOp cast);
  LogicalResult verifyAccess(const GlobalAccess &access);

  AddressFormAnalysis analysis;
};
} // namespace

/// The size field of a resource holds the size.
LogicalResult Verifier::verifyResource(amdgpu::FatRawBufferCastOp cast) {
  int64_t limit = analysis.getMaxResourceBytes();
  std::optional<int64_t> bytes;
  if (Value valid = cast.getValidBytes()) {
    auto bounds = analysis.getBounds(valid);
    if (bounds && bounds->min >= 0)
      bytes = bounds->max;
  } else {
    bytes = analysis.getResourceBytes(cast.getSource());
  }
  if (!bytes)
    return cast.emitOpError()
           << "size must be at most " << limit
           << " bytes, found one without a bound; run pa-widen-addresses";
  if (*bytes > limit)
    return cast.emitOpError()
           << "size must be at most " << limit << " bytes, found up to "
           << *bytes << "; run pa-widen-addresses";
  return success();
}

LogicalResult Verifier::verifyAccess(const GlobalAccess &access) {
  Operation *op = access.op;
  auto annotation = op->getAttrOfType<AddressAttr>(PADialect::kAddressAttrName);
  if (!annotation)
    return op->emitOpError()
           << "accesses global memory without an address form; run "
              "pa-annotate-address-form";
  AddressFacts facts = analysis.getFacts(access);
  if (!facts.error.empty())
    return op->emitOpError() << facts.error;
  // A 64-bit address is right whatever the annotation allows.
  if (access.method == GlobalAccess::Method::tensorDma ||
      (access.method == GlobalAccess::Method::memref &&
       access.memory == MemoryKind::global))
    return success();
  if (annotation.getForm() == AddressForm::global)
    return op->emitOpError()
           << "has the address form global but uses a buffer resource; run "
              "pa-widen-addresses";
  if (facts.form != AddressForm::narrow)
    return op->emitOpError()
           << "has the address form "
           << stringifyAddressForm(annotation.getForm())
           << " but its offset is not proven: " << facts.reason;
  if (annotation.getMaxOffset() < facts.maxOffset)
    return op->emitOpError()
           << "must stay below its max_offset " << annotation.getMaxOffset()
           << ", found an offset up to " << facts.maxOffset;
  return success();
}

LogicalResult Verifier::verify(Operation *op) {
  std::string unhandled = GlobalAccess::getUnhandledReason(op);
  if (!unhandled.empty())
    return op->emitOpError() << unhandled;
  if (auto cast = dyn_cast<amdgpu::FatRawBufferCastOp>(op))
    return verifyResource(cast);
  if (std::optional<GlobalAccess> access = GlobalAccess::get(op))
    return verifyAccess(*access);
  return success();
}

namespace {
struct VerifyPass : public pa::impl::PAVerifyAddressesBase<VerifyPass> {
  using PAVerifyAddressesBase::PAVerifyAddressesBase;

  void runOnOperation() override {
    bool hasFailed = false;
    for (FunctionOpInterface func : getDeviceFunctions(getOperation())) {
      Verifier verifier(func, maxOffsetBytes);
      func->walk(
          [&](Operation *op) { hasFailed |= failed(verifier.verify(op)); });
    }
    if (hasFailed)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
