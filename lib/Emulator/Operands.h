//===- Operands.h - Reading and writing operands ----------------*- C++ -*-===//
//
// Vector handlers see a source as 64 consecutive dwords (Lanes of them valid)
// and write a local buffer back in one go. Plain registers and constants are
// used in place; everything else goes through the out-of-line slow path.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_OPERANDS_H
#define PAGEDATTN_LIB_EMULATOR_OPERANDS_H

#include "Wave.h"
#include "llvm/Support/Compiler.h"

namespace pagedattn::emu {

constexpr unsigned MaxLanes = 64;

struct alignas(64) LaneBuffer {
  uint32_t D[MaxLanes];
};

// Slow paths, in Operands.cpp. Dword 0 is the low one.
const uint32_t *fetchSlow(Wave &W, const Instruction &I, const Operand &O,
                          unsigned Dword, LaneBuffer &Tmp);
void writeSlow(Wave &W, const Instruction &I, const Operand &O, unsigned Dword,
               const uint32_t *From);
/// The lane map of an instruction's DPP control.
std::unique_ptr<DppMap> buildDppMap(const Modifiers &M, unsigned Lanes);
/// Lanes a vector instruction writes: EXEC, less what DPP switches off.
uint64_t writeMask(Wave &W, const Instruction &I);

/// Rounding of the host's float unit, with MODE's numbers: 0 nearest even,
/// 1 up, 2 down, 3 toward zero. Buffer is only there so that the compiler
/// cannot move work on it across the call.
void setHostRounding(unsigned Mode, void *Buffer);

/// Dword `Dword` of a source in every lane, modifiers applied.
inline const uint32_t *fetch(Wave &W, const Instruction &I, const Operand &O,
                             LaneBuffer &Tmp, unsigned Dword = 0) {
  if (LLVM_LIKELY(O.Direct)) {
    if (O.Kind != OperandKind::Vgpr)
      return O.Splat + Dword * MaxLanes;
    if (O.Reordered)
      Dword = (O.PairSel >> Dword) & 1;
    return W.V + O.Offset + Dword * W.Lanes;
  }
  if (O.Uniform) {
    const uint32_t X = W.S[O.Reg + Dword];
    for (unsigned B = 0; B != W.Lanes; B += 32)
      for (unsigned L = 0; L != 32; ++L)
        Tmp.D[B + L] = X;
    return Tmp.D;
  }
  return fetchSlow(W, I, O, Dword, Tmp);
}

/// Stores under a lane mask into a vector register.
inline void storeLanes(Wave &W, uint32_t *To, const uint32_t *From,
                       uint64_t Mask) {
  if (LLVM_LIKELY(Mask == W.AllLanes)) {
    if (W.Lanes == 64)
      std::memcpy(To, From, 64 * 4);
    else
      std::memcpy(To, From, 32 * 4);
    return;
  }
  for (unsigned B = 0; B != W.Lanes; B += 32) {
    const uint32_t M = uint32_t(Mask >> B);
    for (unsigned L = 0; L != 32; ++L)
      To[B + L] = (M >> L) & 1 ? From[B + L] : To[B + L];
  }
}

/// Writes dword `Dword` of a vector destination under the write mask.
inline void writeVector(Wave &W, const Instruction &I, const uint32_t *From,
                        unsigned Dword = 0, unsigned Dst = 0) {
  const Operand &O = I.Dst[Dst];
  if (LLVM_LIKELY(!I.SlowDst && O.Kind == OperandKind::Vgpr))
    return storeLanes(W, W.V + O.Offset + Dword * W.Lanes, From, W.exec());
  writeSlow(W, I, O, Dword, From);
}

/// Writes one bit per lane to a scalar destination; bits of inactive lanes are
/// zero, as the hardware does.
void writeLaneMask(Wave &W, const Instruction &I, const Operand &O,
                   uint64_t Bits);
/// A lane mask source.
uint64_t readLaneMask(Wave &W, const Instruction &I, const Operand &O);

// Scalar operands.
uint32_t readScalar32(Wave &W, const Instruction &I, const Operand &O);
uint64_t readScalar64(Wave &W, const Instruction &I, const Operand &O);
void writeScalar32(Wave &W, const Instruction &I, const Operand &O, uint32_t X);
void writeScalar64(Wave &W, const Instruction &I, const Operand &O, uint64_t X);

/// One lane of a source without modifiers, for memory instructions.
inline uint32_t laneValue(Wave &W, const Operand &O, unsigned Lane,
                          unsigned Dword = 0) {
  switch (O.Kind) {
  case OperandKind::Vgpr:
    return W.V[O.Offset + Dword * W.Lanes + Lane];
  case OperandKind::Sgpr:
    return W.S[O.Reg + Dword];
  case OperandKind::Const:
    return uint32_t(O.Imm >> (Dword ? 32 : 0));
  default:
    return 0;
  }
}

/// Calls Body(lane) for every set bit.
template <class BodyT>
inline void forLanes(uint64_t Mask, BodyT Body) {
  while (Mask) {
    Body(unsigned(__builtin_ctzll(Mask)));
    Mask &= Mask - 1;
  }
}

/// The same with a plain loop if all lanes are active.
template <class BodyT>
inline void forActive(uint64_t Exec, uint64_t AllLanes, unsigned Lanes,
                      BodyT Body) {
  if (LLVM_LIKELY(Exec == AllLanes))
    for (unsigned L = 0; L != Lanes; ++L)
      Body(L);
  else
    forLanes(Exec, Body);
}

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_OPERANDS_H
