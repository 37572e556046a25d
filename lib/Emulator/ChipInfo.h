//===- ChipInfo.h - What differs between the chips --------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_CHIPINFO_H
#define PAGEDATTN_LIB_EMULATOR_CHIPINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace pagedattn::emu {

/// One row of the chip table. Instruction semantics ask these fields and never
/// the chip's name.
struct ChipInfo {
  llvm::StringLiteral Name;
  unsigned WaveSize;
  unsigned LdsLimit;
  unsigned LdsBanks;    ///< of 4 bytes each
  unsigned Vgprs;       ///< addressable vector registers, AccVGPRs included
  unsigned AccVgprBase; ///< register file index of a0; 0 if there are none
  bool Fp8Fnuz;         ///< fp8/bf8 are the FNUZ flavour
  bool Gfx12;           ///< GFX12 encodings: split counters and barriers
  bool WorkgroupIdInTtmp;
  bool PackedWorkItemId;
  unsigned BufferBaseBits; ///< width of a buffer resource's base address
  unsigned NumRecordsBits; ///< and of its num_records
  bool SignedSaddrOffset;  ///< voffset of global_* saddr is signed
  bool AsyncLds;           ///< global_load_async_to_lds, tensor_*
};

llvm::ArrayRef<ChipInfo> chipTable();
const ChipInfo *findChip(llvm::StringRef Name);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_CHIPINFO_H
