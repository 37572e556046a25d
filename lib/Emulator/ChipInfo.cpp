//===- ChipInfo.cpp - The chip table --------------------------------------===//

#include "ChipInfo.h"

namespace pagedattn::emu {

static constexpr ChipInfo Chips[] = {
    {/*Name=*/"gfx942", /*WaveSize=*/64, /*LdsLimit=*/65536, /*Vgprs=*/512,
     /*AccVgprBase=*/256, /*Fp8Fnuz=*/true, /*Gfx12=*/false,
     /*WorkgroupIdInTtmp=*/false, /*PackedWorkItemId=*/true,
     /*BufferBaseBits=*/48, /*NumRecordsBits=*/32,
     /*SignedSaddrOffset=*/false, /*AsyncLds=*/false},
    {/*Name=*/"gfx950", /*WaveSize=*/64, /*LdsLimit=*/163840, /*Vgprs=*/512,
     /*AccVgprBase=*/256, /*Fp8Fnuz=*/false, /*Gfx12=*/false,
     /*WorkgroupIdInTtmp=*/false, /*PackedWorkItemId=*/true,
     /*BufferBaseBits=*/48, /*NumRecordsBits=*/32,
     /*SignedSaddrOffset=*/false, /*AsyncLds=*/false},
    {/*Name=*/"gfx1250", /*WaveSize=*/32, /*LdsLimit=*/327680, /*Vgprs=*/1024,
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
