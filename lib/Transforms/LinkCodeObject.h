//===- LinkCodeObject.h - LLD in process -------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LINKCODEOBJECT_H
#define PAGEDATTN_LIB_TRANSFORMS_LINKCODEOBJECT_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::pa {

/// Links one relocatable AMDGPU object to a code object. The linker runs inside
/// the process on two temporary files; calls from several threads take turns,
/// as the linker has global state.
FailureOr<SmallVector<char, 0>>
linkCodeObject(ArrayRef<char> object,
               function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LINKCODEOBJECT_H
