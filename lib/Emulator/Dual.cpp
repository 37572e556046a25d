//===- Dual.cpp - Dual-issue instructions ---------------------------------===//

#include "Dual.h"
#include "Wave.h"

namespace pagedattn::emu {

namespace {

bool overlap(const Operand &A, const Operand &B) {
  return A.isVgpr() && B.isVgpr() && A.Reg < B.Reg + B.Dwords &&
         B.Reg < A.Reg + A.Dwords;
}

/// Reader has a source that Writer's destination changes.
bool readsResultOf(const Instruction &Reader, const Instruction &Writer) {
  for (unsigned S = 0; S != Reader.NumSrc; ++S)
    if (overlap(Reader.Src[S], Writer.Dst[0]))
      return true;
  return false;
}

void runInOrder(Wave &W, const Instruction &I) {
  I.Info->Fn(W, I);
  I.Second->Info->Fn(W, *I.Second);
}

void runReversed(Wave &W, const Instruction &I) {
  I.Second->Info->Fn(W, *I.Second);
  I.Info->Fn(W, I);
}

/// Each half reads what the other writes: keep the old value of the first
/// destination for the second half.
void runCrossed(Wave &W, const Instruction &I) {
  uint32_t Old[4 * 64], New[4 * 64];
  uint32_t *To = W.V + I.Dst[0].Offset;
  const size_t Bytes = size_t(I.Dst[0].Dwords) * W.Lanes * 4;
  std::memcpy(Old, To, Bytes);
  I.Info->Fn(W, I);
  std::memcpy(New, To, Bytes);
  std::memcpy(To, Old, Bytes);
  I.Second->Info->Fn(W, *I.Second);
  std::memcpy(To, New, Bytes);
}

} // namespace

void prepareDual(Instruction &I, const ChipInfo &Chip) {
  I.Mnemonic += "::" + I.Second->Mnemonic;
  if (I.Dst[0].Dwords > 4) {
    I.Error = "dual instruction with a destination of more than 4 registers";
    return;
  }
  if (!readsResultOf(*I.Second, I))
    I.Fn = runInOrder;
  else if (!readsResultOf(I, *I.Second))
    I.Fn = runReversed;
  else
    I.Fn = runCrossed;
}

} // namespace pagedattn::emu
