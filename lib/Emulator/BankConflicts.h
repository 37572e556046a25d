//===- BankConflicts.h - Lanes that meet in a bank of LDS -------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_BANKCONFLICTS_H
#define PAGEDATTN_LIB_EMULATOR_BANKCONFLICTS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace pagedattn::emu {

/// Cycles beyond what an access without conflicts takes. Banks hold 4 bytes;
/// consecutive lanes, as many as fill all Banks, go at once, and take as many
/// cycles as the busiest bank has different dwords. Bytes is that of a lane, 1
/// to 16; lanes whose bit of Exec is clear do not take part. The hardware pairs
/// lanes of wide loads in other orders: a pattern that is free of conflicts in
/// aligned groups of lanes is so here too.
uint64_t bankConflicts(llvm::ArrayRef<uint32_t> Addresses, uint64_t Exec,
                       unsigned Bytes, unsigned Banks);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_BANKCONFLICTS_H
