//===- AtomicOps.cpp - Read-modify-write operators ------------------------===//

#include "HalfFloat.h"
#include "Memory.h"
#include <cmath>

namespace pagedattn::emu {

namespace {

template <class U, class F>
uint64_t applyFloat(AtomicOp Op, uint64_t Old, uint64_t Data) {
  U OldBits = U(Old), DataBits = U(Data);
  F A, B;
  std::memcpy(&A, &OldBits, sizeof(F));
  std::memcpy(&B, &DataBits, sizeof(F));
  F R;
  if (Op == AtomicOp::FAdd)
    R = A + B;
  else if (A != A || B != B)
    R = A != A ? B : A; // a number wins against NaN
  else if (Op == AtomicOp::FMin)
    R = B < A || (B == A && std::signbit(B)) ? B : A;
  else
    R = B > A || (B == A && std::signbit(A)) ? B : A;
  U Bits;
  std::memcpy(&Bits, &R, sizeof(F));
  return Bits;
}

template <class U>
uint64_t applyInt(AtomicOp Op, U Old, U Data, U Data2) {
  using S = std::make_signed_t<U>;
  switch (Op) {
  case AtomicOp::Swap:
    return Data;
  case AtomicOp::CmpSwap:
    return Old == Data2 ? Data : Old;
  case AtomicOp::Add:
    return U(Old + Data);
  case AtomicOp::Sub:
    return U(Old - Data);
  case AtomicOp::RSub:
    return U(Data - Old);
  case AtomicOp::SMin:
    return U(S(Data) < S(Old) ? Data : Old);
  case AtomicOp::SMax:
    return U(S(Data) > S(Old) ? Data : Old);
  case AtomicOp::UMin:
    return Data < Old ? Data : Old;
  case AtomicOp::UMax:
    return Data > Old ? Data : Old;
  case AtomicOp::And:
    return Old & Data;
  case AtomicOp::Or:
    return Old | Data;
  case AtomicOp::Xor:
    return Old ^ Data;
  case AtomicOp::Inc:
    return Old >= Data ? 0 : U(Old + 1);
  case AtomicOp::Dec:
    return Old == 0 || Old > Data ? Data : U(Old - 1);
  case AtomicOp::CondSub:
    return Old >= Data ? U(Old - Data) : Old;
  case AtomicOp::SubClamp:
    return Old >= Data ? U(Old - Data) : 0;
  case AtomicOp::MskOr:
    return (Old & ~Data) | Data2;
  default:
    return Old;
  }
}

} // namespace

uint64_t applyAtomic(AtomicOp Op, bool Wide, uint64_t Old, uint64_t Data,
                     uint64_t Data2) {
  switch (Op) {
  case AtomicOp::FAdd:
  case AtomicOp::FMin:
  case AtomicOp::FMax:
    return Wide ? applyFloat<uint64_t, double>(Op, Old, Data)
                : applyFloat<uint32_t, float>(Op, Old, Data);
  case AtomicOp::PkAddF16: {
    uint32_t Low = floatToHalf(halfToFloat(uint32_t(Old) & 0xffff) +
                               halfToFloat(uint32_t(Data) & 0xffff));
    uint32_t High = floatToHalf(halfToFloat(uint32_t(Old) >> 16) +
                                halfToFloat(uint32_t(Data) >> 16));
    return Low | High << 16;
  }
  case AtomicOp::PkAddBF16: {
    uint32_t Low = floatToBfloat(bfloatToFloat(uint32_t(Old) & 0xffff) +
                                 bfloatToFloat(uint32_t(Data) & 0xffff));
    uint32_t High = floatToBfloat(bfloatToFloat(uint32_t(Old) >> 16) +
                                  bfloatToFloat(uint32_t(Data) >> 16));
    return Low | High << 16;
  }
  default:
    return Wide ? applyInt<uint64_t>(Op, Old, Data, Data2)
                : applyInt<uint32_t>(Op, uint32_t(Old), uint32_t(Data),
                                     uint32_t(Data2));
  }
}

uint64_t atomicUpdate(uint8_t *Where, AtomicOp Op, bool Wide, uint64_t Data,
                      uint64_t Data2) {
  if (Wide) {
    auto *P = reinterpret_cast<uint64_t *>(Where);
    uint64_t Old = __atomic_load_n(P, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        P, &Old, applyAtomic(Op, true, Old, Data, Data2), false,
        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return Old;
  }
  auto *P = reinterpret_cast<uint32_t *>(Where);
  uint32_t Old = __atomic_load_n(P, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      P, &Old, uint32_t(applyAtomic(Op, false, Old, Data, Data2)), false,
      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return Old;
}

} // namespace pagedattn::emu
