//===- PA.td - Everything of the pa dialect -----------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file for generators that describe the whole dialect, such as its
// reference documentation.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PA_TD
#define PAGEDATTN_DIALECT_PA_TD

include "PagedAttn/Dialect/PALoweringOps.td"
include "PagedAttn/Dialect/PAOps.td"

#endif // PAGEDATTN_DIALECT_PA_TD
