//===- ChipInfo.cpp - The chip table --------------------------------------===//

#include "ChipInfo.h"

namespace pagedattn::emu {

// Banks: ROCm's composable_kernel documentation, 32 or 64 by architecture.
// Those of gfx1250 are not published and taken to be as many as gfx950's.
static constexpr ChipInfo Chips[] = {
    {/*Name=*/"gfx942", /*WaveSize=*/64, /*LdsLimit=*/65536, /*LdsBanks=*/32,
     /*Vgprs=*/512,
     /*AccVgprBase=*/256, /*Fp8Fnuz=*/true, /*Gfx12=*/false,
     /*WorkgroupIdInTtmp=*/false, /*PackedWorkItemId=*/true,
     /*BufferBaseBits=*/48, /*NumRecordsBits=*/32,
     /*SignedSaddrOffset=*/false, /*AsyncLds=*/false},
    {/*Name=*/"gfx950", /*WaveSize=*/64, /*LdsLimit=*/163840, /*LdsBanks=*/64,
     /*Vgprs=*/512,
     /*AccVgprBase=*/256, /*Fp8Fnuz=*/false, /*Gfx12=*/false,
     /*WorkgroupIdInTtmp=*/false, /*PackedWorkItemId=*/true,
     /*BufferBaseBits=*/48, /*NumRecordsBits=*/32,
     /*SignedSaddrOffset=*/false, /*AsyncLds=*/false},
    {/*Name=*/"gfx1250", /*WaveSize=*/32, /*LdsLimit=*/327680, /*LdsBanks=*/64,
     /*Vgprs=*/1024,
     /*AccVgprBase=*/0, /*Fp8Fnuz=*/false, /*Gfx12=*/true,
     /*WorkgroupIdInTtmp=*/true, /*PackedWorkItemId=*/true,
     /*BufferBaseBits=*/57, /*NumRecordsBits=*/45,
     /*SignedSaddrOffset=*/true, /*AsyncLds=*/true},
};

llvm::ArrayRef<ChipInfo> chipTable() { return Chips; }

const ChipInfo *findChip(llvm::StringRef Name) {
  for (const ChipInfo &C : Chips)
    if (C.Name == Name)
      return &C;
  return nullptr;
}

} // namespace pagedattn::emu
