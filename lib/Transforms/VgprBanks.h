//===- VgprBanks.h - Registers beyond the first 256 of gfx1250 ------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TRANSFORMS_VGPRBANKS_H
#define PAGEDATTN_TRANSFORMS_VGPRBANKS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace mlir::pa {

/// Checks, instruction by instruction, that `s_set_vgpr_msb` selects the bank
/// of every register that LLVM names beside an operand: in
///
///   s_set_vgpr_msb 0x51
///   v_add_nc_u32_e32 v1 /*v257*/, v2 /*v258*/, v3
///
/// the destination and the first source lie in bank 1. Returns the text, with
/// the one mistake mended that LLVM 22.1.8 makes: where an instruction comes
/// between s_barrier_signal and s_barrier_wait, the selection for what follows
/// the wait is set before that instruction instead of behind it, so that it
/// uses other registers. Any other difference is an error.
FailureOr<std::string>
checkVgprBanks(llvm::StringRef isa,
               llvm::function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::pa

#endif // PAGEDATTN_TRANSFORMS_VGPRBANKS_H
