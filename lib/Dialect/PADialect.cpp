//===- PADialect.cpp - The pa dialect -------------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Dialect/PA.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pa;

#include "PagedAttn/Dialect/PADialect.cpp.inc"

void PADialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "PagedAttn/Dialect/PALoweringOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "PagedAttn/Dialect/PAOps.cpp.inc"
      >();
}

LogicalResult PADialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attr) {
  if (attr.getName() == kAddressAttrName && !isa<AddressAttr>(attr.getValue()))
    return op->emitError() << kAddressAttrName
                           << " must be a #pa.address, found "
                           << attr.getValue();
  return success();
}

LogicalResult PADialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned argIndex,
                                                  NamedAttribute attr) {
  StringRef name = attr.getName();
  auto error = [&]() {
    return op->emitError() << "argument " << argIndex << ": " << name << " ";
  };
  auto func = dyn_cast<FunctionOpInterface>(op);
  Type type = func && argIndex < func.getNumArguments()
                  ? func.getArgumentTypes()[argIndex]
                  : Type();
  if (name == kUniformAttrName) {
    if (!isa<UnitAttr>(attr.getValue()))
      return error() << "must be a unit attribute, found " << attr.getValue();
    return success();
  }
  bool isRows = name == kMaxRowsAttrName || name == kMaxPagesAttrName;
  if (!isRows && name != kMaxBytesAttrName)
    return error() << "is no attribute of an argument; there are "
                   << kMaxRowsAttrName << ", " << kMaxPagesAttrName << ", "
                   << kMaxBytesAttrName << " and " << kUniformAttrName;
  auto memref = dyn_cast_if_present<MemRefType>(type);
  if (!memref)
    return error() << "must be on a memref, found " << type;
  auto value = dyn_cast<IntegerAttr>(attr.getValue());
  if (!value || !value.getType().isSignlessInteger(64))
    return error() << "must be a 64-bit integer, found " << attr.getValue();
  if (value.getInt() < 0)
    return error() << "must not be negative, found " << value.getInt();
  if (!isRows)
    return success();
  if (memref.getRank() == 0)
    return error() << "must be on a memref with a leading dimension, found "
                   << memref;
  if (!memref.isDynamicDim(0) && memref.getDimSize(0) > value.getInt())
    return error() << "must be at least the leading extent "
                   << memref.getDimSize(0) << ", found " << value.getInt();
  return success();
}
