//===- PAAttrs.cpp - Attributes of the pa dialect -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pa;

#include "PagedAttn/Dialect/PAEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "PagedAttn/Dialect/PAAttrs.cpp.inc"

void PADialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "PagedAttn/Dialect/PAAttrs.cpp.inc"
      >();
}

LogicalResult
ActivationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       ActivationKind kind, FloatAttr limit, FloatAttr beta,
                       FloatAttr linearBeta) {
  if (limit && limit.getValue().isNaN())
    return emitError() << "limit must be a number, found nan";
  if (limit && limit.getValueAsDouble() < 0.0)
    return emitError() << "limit must not be negative, found "
                       << limit.getValueAsDouble();
  bool isSitu = kind == ActivationKind::situv2;
  if (limit && isSitu)
    return emitError() << "situv2 has no limit";
  for (auto [name, value] : {std::pair(StringRef("beta"), beta),
                             std::pair(StringRef("linear_beta"), linearBeta)}) {
    if (!value)
      continue;
    if (!isSitu)
      return emitError() << name << " belongs to situv2, found "
                         << stringifyActivationKind(kind);
    if (value.getValue().isNaN())
      return emitError() << name << " must be positive, found nan";
    if (!(value.getValueAsDouble() > 0.0))
      return emitError() << name << " must be positive, found "
                         << value.getValueAsDouble();
  }
  return success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef chip, int64_t numCus) {
  if (!TargetInfo::lookup(chip))
    return emitError() << "unknown chip '" << chip << "', known chips are "
                       << TargetInfo::knownChips();
  if (numCus < 0)
    return emitError() << "num_cus must not be negative, found " << numCus;
  constexpr int64_t kMostCus = 65536;
  if (numCus > kMostCus)
    return emitError() << "num_cus must be at most " << kMostCus << ", found "
                       << numCus;
  return success();
}

LogicalResult AddressAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  AddressForm, int64_t maxOffset, StringRef) {
  if (maxOffset < -1)
    return emitError() << "max_offset must be at least -1, found " << maxOffset;
  return success();
}
