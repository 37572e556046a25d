//===- Dual.h - Dual-issue instructions -------------------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_DUAL_H
#define PAGEDATTN_LIB_EMULATOR_DUAL_H

#include "Instruction.h"

namespace pagedattn::emu {

/// Gives I a handler that runs I and I.Second with both reading their sources
/// before either writes.
void prepareDual(Instruction &I, const ChipInfo &Chip);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_DUAL_H
