//===- Memory.h - Element kinds of vector memory instructions ---*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_MEMORY_H
#define PAGEDATTN_LIB_EMULATOR_MEMORY_H

#include "Operands.h"

namespace pagedattn::emu {

/// What one lane loads or stores.
enum class Piece : uint8_t {
  U8,
  I8,
  U16,
  I16,
  U8Low, ///< zero-extended byte into the low half of the register
  I8Low,
  B16Low,
  U8High, ///< the high half; for stores the byte or half at bit 16
  I8High,
  B16High,
  B32,
  B64,
  B96,
  B128,
};

constexpr unsigned bytesOf(Piece P) {
  switch (P) {
  case Piece::U8:
  case Piece::I8:
  case Piece::U8Low:
  case Piece::I8Low:
  case Piece::U8High:
  case Piece::I8High:
    return 1;
  case Piece::U16:
  case Piece::I16:
  case Piece::B16Low:
  case Piece::B16High:
    return 2;
  case Piece::B32:
    return 4;
  case Piece::B64:
    return 8;
  case Piece::B96:
    return 12;
  case Piece::B128:
    return 16;
  }
  return 4;
}
constexpr unsigned dwordsOf(Piece P) {
  return bytesOf(P) <= 4 ? 1 : bytesOf(P) / 4;
}

/// Puts loaded bytes (zero above the piece) into a lane's registers.
inline void putLane(Wave &W, const Operand &Dst, Piece P, unsigned Lane,
                    const uint32_t *Data, unsigned FirstDword = 0) {
  if (!Dst.isVgpr())
    return;
  uint32_t *To = W.V + Dst.Offset + FirstDword * W.Lanes + Lane;
  const uint32_t X = Data[0];
  switch (P) {
  case Piece::U8:
  case Piece::U16:
    *To = X;
    return;
  case Piece::I8:
    *To = uint32_t(int32_t(int8_t(X)));
    return;
  case Piece::I16:
    *To = uint32_t(int32_t(int16_t(X)));
    return;
  case Piece::U8Low:
  case Piece::B16Low:
    *To = (*To & 0xffff0000) | (X & 0xffff);
    return;
  case Piece::I8Low:
    *To = (*To & 0xffff0000) | (uint32_t(int32_t(int8_t(X))) & 0xffff);
    return;
  case Piece::U8High:
  case Piece::B16High:
    *To = (*To & 0xffff) | X << 16;
    return;
  case Piece::I8High:
    *To = (*To & 0xffff) | uint32_t(int32_t(int8_t(X))) << 16;
    return;
  default:
    for (unsigned D = 0; D != dwordsOf(P); ++D)
      To[D * W.Lanes] = Data[D];
  }
}

/// The bytes a lane stores.
inline void getLane(Wave &W, const Operand &Src, Piece P, unsigned Lane,
                    uint32_t *Data, unsigned FirstDword = 0) {
  for (unsigned D = 0; D != dwordsOf(P); ++D)
    Data[D] = laneValue(W, Src, Lane, FirstDword + D);
  if (P == Piece::U8High || P == Piece::B16High)
    Data[0] >>= 16;
}

/// Scratch of one lane. False after a fatal report.
bool loadScratch(Wave &W, const Instruction &I, unsigned Lane, int64_t Offset,
                 void *To, unsigned Bytes);
bool storeScratch(Wave &W, const Instruction &I, unsigned Lane, int64_t Offset,
                  const void *From, unsigned Bytes);

/// Where a flat address leads.
enum class FlatSpace : uint8_t { Global, Lds, Scratch };
FlatSpace classifyFlat(const Wave &W, uint64_t Address);

/// Vector memory operations count on these.
inline void countLoad(Wave &W) { W.issue(Counter::Load); }
inline void countStore(Wave &W) {
  W.issue(W.Chip->Gfx12 ? Counter::Store : Counter::Load);
}

/// Address of a lane of a global_* or flat_* instruction whose address
/// operands are Src[AddressIndex] and Src[SaddrIndex].
uint64_t globalAddress(Wave &W, const Instruction &I, unsigned Lane,
                       unsigned SaddrIndex, unsigned ElementBytes);

/// Read-modify-write operators shared by all spaces. Data and the result are
/// little-endian values of the operation's width.
enum class AtomicOp : uint8_t {
  Swap,
  CmpSwap,
  Add,
  Sub,
  RSub,
  SMin,
  SMax,
  UMin,
  UMax,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  FAdd,
  FMin,
  FMax,
  PkAddF16,
  PkAddBF16,
  CondSub,
  SubClamp,
  MskOr,
};

/// The new value. Data2 is the second operand of CmpSwap (the value to
/// compare with) and MskOr.
uint64_t applyAtomic(AtomicOp Op, bool Wide, uint64_t Old, uint64_t Data,
                     uint64_t Data2);
/// Applies an operator to host memory with a real atomic; returns the old
/// value.
uint64_t atomicUpdate(uint8_t *Where, AtomicOp Op, bool Wide, uint64_t Data,
                      uint64_t Data2);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_MEMORY_H
