//===- LowerToLoops.h - Scalar meaning of the operators ---------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LOWERTOLOOPS_H
#define PAGEDATTN_LIB_TRANSFORMS_LOWERTOLOOPS_H

#include "PagedAttn/Dialect/PA.h"

namespace mlir::pa {

/// Each writes the loops of `op`, which is on memrefs, at the insertion point
/// of `b`. The op itself stays.
void lowerToLoops(ImplicitLocOpBuilder &b, PagedLogitsOp op);
void lowerToLoops(ImplicitLocOpBuilder &b, TopKOp op);
void lowerToLoops(ImplicitLocOpBuilder &b, IndexerOp op);
void lowerToLoops(ImplicitLocOpBuilder &b, GroupedGemmOp op);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LOWERTOLOOPS_H
