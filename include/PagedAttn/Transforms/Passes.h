//===- Passes.h - Passes of PagedAttn ---------------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TRANSFORMS_PASSES_H
#define PAGEDATTN_TRANSFORMS_PASSES_H

#include "PagedAttn/Dialect/PA.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pa {

#define GEN_PASS_DECL
#include "PagedAttn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "PagedAttn/Transforms/Passes.h.inc"

} // namespace mlir::pa

#endif // PAGEDATTN_TRANSFORMS_PASSES_H
