//===- LdsCopy.cpp - Copies to LDS that complete at a wait ----------------===//

#include "LdsCopy.h"

namespace pagedattn::emu {

uint8_t *LdsTransfer::append(uint32_t Address, uint32_t Bytes, int Lane) {
  uint32_t At = uint32_t(Data.size());
  Runs.push_back({Address, Bytes, At, int16_t(Lane)});
  Data.resize(size_t(At) + Bytes);
  return Data.data() + At;
}

void appendM0Slot(Wave &W, const Instruction &I, LdsTransfer &Transfer,
                  unsigned Lane, const uint8_t *Data, unsigned Bytes,
                  bool Signed) {
  uint32_t Small = 0;
  if (Bytes < 4) {
    std::memcpy(&Small, Data, Bytes);
    const unsigned Unused = 32 - 8 * Bytes;
    if (Signed)
      Small = uint32_t(int32_t(Small << Unused) >> Unused);
    Data = reinterpret_cast<const uint8_t *>(&Small);
    Bytes = 4;
  }
  uint32_t To = W.m0() + uint32_t(I.Mod.Offset) + Lane * Bytes;
  std::memcpy(Transfer.append(To, Bytes, int(Lane)), Data, Bytes);
}

void deferToLds(Wave &W, const Instruction &I, Counter C,
                LdsTransfer &&Transfer) {
  for (const LdsTransfer::Run &R : Transfer.Runs)
    W.Group->Lds->markPending(R.Address, R.Bytes);
  W.defer(C, [&I, T = std::move(Transfer)](Wave &W) {
    AttributeTo Here(W, I);
    LocalMemory &Lds = *W.Group->Lds;
    for (const LdsTransfer::Run &R : T.Runs) {
      Lds.completePending(R.Address, R.Bytes);
      Lds.store(W, I, unsigned(R.Lane < 0 ? 0 : R.Lane), R.Address,
                T.Data.data() + R.At, R.Bytes);
    }
  });
}

} // namespace pagedattn::emu
