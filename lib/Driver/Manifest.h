//===- Manifest.h - What a launch has to know of a kernel ------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_DRIVER_MANIFEST_H
#define PAGEDATTN_LIB_DRIVER_MANIFEST_H

#include "PagedAttn/Emulator/HotLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/JSON.h"

namespace mlir::pa {

/// Manifest entry of one kernel of a code object of `elfBytes` bytes for
/// `chip`, whose instructions are `code`.
llvm::json::Object makeKernelEntry(gpu::KernelMetadataAttr kernel,
                                   const pagedattn::emu::KernelCode &code,
                                   StringRef chip, StringRef objectName,
                                   size_t elfBytes);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_DRIVER_MANIFEST_H
