//===- PADialect.cpp - The pa dialect -------------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Dialect/PA.h"

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
