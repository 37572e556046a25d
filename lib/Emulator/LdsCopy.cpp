//===- LdsCopy.cpp - Copies to LDS that complete at a wait ----------------===//

#include "LdsCopy.h"

namespace pagedattn::emu {

uint8_t *LdsTransfer::append(uint32_t Address, uint32_t Bytes, int Lane) {
  uint32_t At = uint32_t(Data.size());
  Runs.push_back({Address, Bytes, At, int16_t(Lane)});
  Data.resize(size_t(At) + Bytes);
  return Data.data() + At;
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
