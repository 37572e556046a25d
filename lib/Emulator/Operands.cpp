//===- Operands.cpp - The general paths of operand access -----------------===//

#include "Operands.h"
#include <cfenv>

namespace pagedattn::emu {

namespace {

/// Source lane of DPP, or -1 if there is none.
int dppLane(const Modifiers &M, int Lane, int Lanes) {
  if (M.Dpp == DppKind::Dpp8)
    return (Lane & ~7) | ((M.Dpp8Sel >> (3 * (Lane & 7))) & 7);
  const int Ctrl = M.DppCtrl;
  const int Row = Lane & ~15, InRow = Lane & 15;
  if (Ctrl <= 0xff)
    return (Lane & ~3) | ((Ctrl >> (2 * (Lane & 3))) & 3);
  const int N = Ctrl & 15;
  switch (Ctrl & 0x1f0) {
  case 0x100: // row_shl
    return InRow + N > 15 ? -1 : Lane + N;
  case 0x110: // row_shr
    return InRow - N < 0 ? -1 : Lane - N;
  case 0x120: // row_ror
    return Row | ((InRow - N) & 15);
  case 0x150: // row_newbcast, row_share
    return Row | N;
  case 0x160: // row_xmask
    return Row | (InRow ^ N);
  default:
    break;
  }
  switch (Ctrl) {
  case 0x130: // wave_shl
    return Lane + 1 == Lanes ? -1 : Lane + 1;
  case 0x134: // wave_rol
    return (Lane + 1) % Lanes;
  case 0x138: // wave_shr
    return Lane - 1;
  case 0x13c: // wave_ror
    return (Lane + Lanes - 1) % Lanes;
  case 0x140: // row_mirror
    return Row | (15 - InRow);
  case 0x141: // row_half_mirror
    return (Lane & ~7) | (7 - (Lane & 7));
  case 0x142: // row_bcast:15
    return Row ? Row - 1 : -1;
  case 0x143: // row_bcast:31
    return Lane >= 32 ? 31 : -1;
  default:
    return -1;
  }
}

/// Lanes whose source exists and is active, or may be fetched anyway.
uint64_t dppValid(const Wave &W, const Instruction &I) {
  const DppMap &Map = *I.Dpp;
  const uint64_t Exec = W.exec();
  if (I.Mod.FetchInactive || Exec == W.AllLanes)
    return Map.HasSource;
  uint64_t Valid = 0;
  for (unsigned L = 0; L != W.Lanes; ++L)
    Valid |= ((Exec >> Map.Source[L]) & 1) << L;
  return Valid & Map.HasSource;
}

uint32_t selectSdwa(uint32_t X, SdwaSel Sel, bool Sext) {
  switch (Sel) {
  case SdwaSel::Byte0:
  case SdwaSel::Byte1:
  case SdwaSel::Byte2:
  case SdwaSel::Byte3: {
    X = (X >> (8 * unsigned(Sel))) & 0xff;
    return Sext ? uint32_t(int32_t(int8_t(X))) : X;
  }
  case SdwaSel::Word0:
  case SdwaSel::Word1: {
    X = (X >> (Sel == SdwaSel::Word1 ? 16 : 0)) & 0xffff;
    return Sext ? uint32_t(int32_t(int16_t(X))) : X;
  }
  case SdwaSel::Dword:
    return X;
  }
  return X;
}

/// Bits to clear for abs and to flip for neg in dword `Dword` of an operand.
uint32_t signBits(Ty Type, unsigned Dword) {
  switch (Type) {
  case Ty::B16:
  case Ty::F16:
  case Ty::BF16:
    return 0x8000;
  case Ty::F64:
  case Ty::B64:
    return Dword == 1 ? 0x80000000u : 0;
  default:
    return 0x80000000u;
  }
}

} // namespace

const uint32_t *fetchSlow(Wave &W, const Instruction &I, const Operand &O,
                          unsigned Dword, LaneBuffer &Tmp) {
  const unsigned Index = unsigned(&O - I.Src.data());
  const Modifiers &M = I.Mod;
  const bool Pair = O.Type == Ty::PkF32 || O.Type == Ty::PkB32;
  const unsigned Half = Dword;
  if (Pair) {
    // op_sel and op_sel_hi choose which register each half reads.
    const uint8_t Sel = Half == 0 ? M.OpSel : M.OpSelHi;
    Dword = (Sel >> Index) & 1;
  }

  // 1. The raw dword of every lane.
  const uint32_t *From = nullptr;
  uint32_t Scalar = 0;
  switch (O.Kind) {
  case OperandKind::Vgpr:
    From = W.V + O.Offset + Dword * W.Lanes;
    break;
  case OperandKind::Const:
    From = O.Splat + (Pair ? 0 : Dword * MaxLanes);
    break;
  case OperandKind::Sgpr:
    // GFX12 packed instructions replicate the low half of a scalar pair.
    Scalar = O.Reg == RegNull        ? 0
             : Pair && W.Chip->Gfx12 ? W.S[O.Reg]
                                     : W.S[O.Reg + Dword];
    break;
  default:
    Scalar = Dword ? 0 : readScalar32(W, I, O);
    break;
  }
  if (O.Dpp) {
    const uint64_t Valid = dppValid(W, I);
    const uint8_t *Source = I.Dpp->Source.data();
    for (unsigned L = 0; L != W.Lanes; ++L)
      Tmp.D[L] = (Valid >> L) & 1 ? From[Source[L]] : 0;
  } else if (From) {
    std::memcpy(Tmp.D, From, W.Lanes * 4);
  } else {
    for (unsigned L = 0; L != W.Lanes; ++L)
      Tmp.D[L] = Scalar;
  }

  // 2. The part of it.
  if (O.Sel != SdwaSel::Dword || (M.Sdwa && O.Sext))
    for (unsigned L = 0; L != W.Lanes; ++L)
      Tmp.D[L] = selectSdwa(Tmp.D[L], O.Sel, O.Sext);
  if (O.High)
    for (unsigned L = 0; L != W.Lanes; ++L)
      Tmp.D[L] >>= 16;
  const bool Halves =
      O.Type == Ty::PkB16 || O.Type == Ty::PkF16 || O.Type == Ty::PkBF16;
  if (Halves) {
    const unsigned LowShift = (M.OpSel >> Index) & 1 ? 16 : 0;
    const unsigned HighShift = (M.OpSelHi >> Index) & 1 ? 16 : 0;
    for (unsigned L = 0; L != W.Lanes; ++L)
      Tmp.D[L] = ((Tmp.D[L] >> LowShift) & 0xffff) |
                 (((Tmp.D[L] >> HighShift) & 0xffff) << 16);
  }

  // 3. Signs.
  uint32_t Clear = 0, Flip = 0;
  if (Halves || Pair) {
    const bool Low = (M.NegLo >> Index) & 1, High = (M.NegHi >> Index) & 1;
    if (Halves)
      Flip = (Low ? 0x8000u : 0) | (High ? 0x80000000u : 0);
    else if (Half == 0 ? Low : High)
      Flip = 0x80000000u;
  } else {
    if (O.Abs)
      Clear = signBits(O.Type, Dword);
    if (O.Neg)
      Flip = signBits(O.Type, Dword);
  }
  if (Clear | Flip)
    for (unsigned L = 0; L != W.Lanes; ++L)
      Tmp.D[L] = (Tmp.D[L] & ~Clear) ^ Flip;
  return Tmp.D;
}

void setHostRounding(unsigned Mode, void *Buffer) {
  constexpr int Modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(Modes[Mode & 3]);
}

std::unique_ptr<DppMap> buildDppMap(const Modifiers &M, unsigned Lanes) {
  auto Map = std::make_unique<DppMap>();
  Map->Source.fill(0);
  for (unsigned L = 0; L != Lanes; ++L) {
    const int Source = dppLane(M, int(L), int(Lanes));
    if (Source >= 0) {
      Map->Source[L] = uint8_t(Source);
      Map->HasSource |= uint64_t(1) << L;
    }
    const bool Enabled =
        M.Dpp == DppKind::Dpp8 ||
        (((M.RowMask >> (L / 16)) & 1) && ((M.BankMask >> (L / 4 % 4)) & 1));
    Map->Enabled |= uint64_t(Enabled) << L;
  }
  return Map;
}

uint64_t writeMask(Wave &W, const Instruction &I) {
  if (!I.Dpp)
    return W.exec();
  uint64_t Mask = W.exec() & I.Dpp->Enabled;
  if (!I.Mod.BoundCtrl && I.Mod.Dpp == DppKind::Dpp16)
    Mask &= dppValid(W, I);
  return Mask;
}

void writeSlow(Wave &W, const Instruction &I, const Operand &O, unsigned Dword,
               const uint32_t *From) {
  if (O.isNone())
    return;
  if (O.isSgpr()) {
    // Only instructions with a uniform result have a scalar destination.
    W.S[O.Reg + Dword] = From[0];
    return;
  }
  uint32_t *To = W.V + O.Offset + Dword * W.Lanes;
  const Modifiers &M = I.Mod;
  const uint64_t Mask = writeMask(W, I);
  if (!M.Sdwa || M.DstSel == SdwaSel::Dword)
    return storeLanes(W, To, From, Mask);
  LaneBuffer Merged;
  const bool Byte = M.DstSel < SdwaSel::Word0;
  const unsigned Shift =
      Byte ? 8 * unsigned(M.DstSel) : (M.DstSel == SdwaSel::Word1 ? 16 : 0);
  const uint32_t Part = Byte ? 0xff : 0xffff;
  for (unsigned L = 0; L != W.Lanes; ++L) {
    uint32_t X = (From[L] & Part) << Shift;
    if (M.DstUnused == SdwaUnused::Preserve)
      X |= To[L] & ~(Part << Shift);
    else if (M.DstUnused == SdwaUnused::Sext && (From[L] & ((Part >> 1) + 1)))
      X |= ~((Part << Shift) | ((1u << Shift) - 1));
    Merged.D[L] = X;
  }
  storeLanes(W, To, Merged.D, Mask);
}

void writeLaneMask(Wave &W, const Instruction &I, const Operand &O,
                   uint64_t Bits) {
  if (!O.isSgpr())
    return;
  Bits &= W.exec();
  if (O.Reg == RegExecLo)
    W.setExec(Bits);
  else
    W.setScalarMask(O.Reg, Bits);
}

uint64_t readLaneMask(Wave &W, const Instruction &I, const Operand &O) {
  if (O.isSgpr())
    return W.scalarMask(O.Reg);
  return O.isConst() ? O.Imm : readScalar64(W, I, O);
}

uint32_t readScalar32(Wave &W, const Instruction &I, const Operand &O) {
  switch (O.Kind) {
  case OperandKind::Sgpr:
    return W.S[O.Reg];
  case OperandKind::Const:
    return uint32_t(O.Imm);
  case OperandKind::Scc:
    return W.Scc;
  case OperandKind::Vccz:
    return W.vcc() == 0;
  case OperandKind::Execz:
    return W.exec() == 0;
  case OperandKind::Vgpr:
    return W.V[O.Offset];
  default:
    return 0;
  }
}

uint64_t readScalar64(Wave &W, const Instruction &I, const Operand &O) {
  if (O.isSgpr()) {
    if (O.Dwords == 1 && O.Reg == RegNull)
      return 0;
    return uint64_t(W.S[O.Reg]) | uint64_t(W.S[O.Reg + 1]) << 32;
  }
  return O.isConst() ? O.Imm : readScalar32(W, I, O);
}

void writeScalar32(Wave &W, const Instruction &I, const Operand &O,
                   uint32_t X) {
  if (!O.isSgpr())
    return;
  if (O.Reg == RegExecHi && W.Lanes == 32)
    return; // the upper half does not exist in wave32
  W.S[O.Reg] = X;
}

void writeScalar64(Wave &W, const Instruction &I, const Operand &O,
                   uint64_t X) {
  if (!O.isSgpr())
    return;
  if (O.Reg == RegExecLo)
    return W.setExec(X);
  W.S[O.Reg] = uint32_t(X);
  W.S[O.Reg + 1] = uint32_t(X >> 32);
}

} // namespace pagedattn::emu
