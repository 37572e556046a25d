//===- LeaveResource.h - Buffer accesses with 64-bit addresses ---*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LEAVERESOURCE_H
#define PAGEDATTN_LIB_TRANSFORMS_LEAVERESOURCE_H

#include "PagedAttn/Analysis/GlobalAccess.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

namespace mlir::pa {

/// Replaces an access through a buffer resource by one with a 64-bit address
/// and the range check of the resource written out: out of range, a load gives
/// zero and a store is dropped, each element by itself. `canLeaveResource`
/// holds of `access`.
void leaveResource(OpBuilder &b, const GlobalAccess &access);

/// Gives `cast` an explicit size that is at most `maxBytes`.
void clampResource(OpBuilder &b, amdgpu::FatRawBufferCastOp cast,
                   int64_t maxBytes);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LEAVERESOURCE_H
