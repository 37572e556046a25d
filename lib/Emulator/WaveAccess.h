//===- WaveAccess.h - Global accesses of a whole wave -----------*- C++ -*-===//
//
// The common case of a vector memory instruction: all active lanes stay inside
// one allocation. It is checked once, and no lane can need a report. Whatever
// does not fit is left to the lane-by-lane path, before anything has happened.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_WAVEACCESS_H
#define PAGEDATTN_LIB_EMULATOR_WAVEACCESS_H

#include "Memory.h"
#include <algorithm>

namespace pagedattn::emu {

/// Addresses of all lanes; those of inactive lanes repeat an active one's.
struct LaneAddresses {
  alignas(64) uint64_t A[MaxLanes];
  uint64_t Low = 0, High = 0;

  /// Fills in inactive lanes and the bounds. Exec is not zero.
  void finish(const Wave &W, uint64_t Exec) {
    const unsigned Lanes = W.Lanes;
    if (Exec != W.AllLanes) {
      const uint64_t Any = A[__builtin_ctzll(Exec)];
      for (unsigned L = 0; L != Lanes; ++L)
        A[L] = (Exec >> L) & 1 ? A[L] : Any;
    }
    // Four chains, so that they overlap.
    uint64_t Min[4] = {A[0], A[0], A[0], A[0]},
             Max[4] = {A[0], A[0], A[0], A[0]};
    for (unsigned L = 0; L != Lanes; L += 4)
      for (unsigned N = 0; N != 4; ++N) {
        Min[N] = A[L + N] < Min[N] ? A[L + N] : Min[N];
        Max[N] = A[L + N] > Max[N] ? A[L + N] : Max[N];
      }
    Low = std::min(std::min(Min[0], Min[1]), std::min(Min[2], Min[3]));
    High = std::max(std::max(Max[0], Max[1]), std::max(Max[2], Max[3]));
  }
};

/// Addresses of a global or flat instruction, see globalAddress.
void globalAddresses(Wave &W, const Instruction &I, unsigned SaddrIndex,
                     unsigned ElementBytes, LaneAddresses &A);

/// The allocation that holds a range, through the wave's small cache.
Allocation *lookUp(Wave &W, uint64_t Address, uint64_t Bytes);

/// The allocation with all bytes that the lanes access, or null.
inline Allocation *oneAllocation(Wave &W, const LaneAddresses &A,
                                 unsigned Bytes) {
  const uint64_t Span = A.High - A.Low;
  return Span < uint64_t(1) << 40 ? lookUp(W, A.Low, Span + Bytes) : nullptr;
}

/// Loads a piece per active lane. False, with nothing done, if a lane needs
/// the slow path.
template <Piece P>
bool loadWave(Wave &W, const Operand &Dst, const LaneAddresses &A) {
  constexpr unsigned Bytes = bytesOf(P), Dwords = dwordsOf(P);
  const Allocation *Where = oneAllocation(W, A, Bytes);
  if (!Where || !Dst.isVgpr())
    return false;
  const uint64_t Exec = W.exec();
  const unsigned Lanes = W.Lanes;
  const uint64_t Base = Where->Base;
  if (!Where->Defined && W.Group->Options->CheckUninitialized) {
    const uint8_t *Shadow = Where->Shadow;
    uint64_t Misaligned = 0;
    uint32_t Written = ~0u;
    for (unsigned L = 0; L != Lanes; ++L) {
      const uint64_t Offset = A.A[L] - Base;
      if (Bytes >= 4) {
        uint32_t S = ~0u;
        std::memcpy(&S, Shadow + (Offset >> 2), Dwords);
        Misaligned |= Offset & 3;
        Written &= S;
      } else {
        // The bytes of a piece that crosses a dword are looked at one by one.
        Misaligned |= Bytes == 2 && (Offset & 3) == 3;
        Written &= (Shadow[Offset >> 2] >> (Offset & 3)) | ~((1u << Bytes) - 1);
      }
    }
    constexpr uint32_t Required = Bytes >= 4 ? 0x0f0f0f0fu : 0xfu;
    if (Misaligned || (Written & Required) != Required)
      return false;
  }
  W.Thread->countLoaded(*Where, Bytes * unsigned(__builtin_popcountll(Exec)));
  const uint8_t *Data = Where->Data - Where->Base;
  if (Bytes >= 4 && Exec == W.AllLanes) {
    uint32_t *To = W.V + Dst.Offset;
    for (unsigned L = 0; L != Lanes; ++L) {
      uint32_t X[Dwords];
      std::memcpy(X, Data + A.A[L], Dwords * 4);
      for (unsigned D = 0; D != Dwords; ++D)
        To[D * Lanes + L] = X[D];
    }
    return true;
  }
  forLanes(Exec, [&](unsigned L) {
    uint32_t X[4] = {0, 0, 0, 0};
    std::memcpy(X, Data + A.A[L], Bytes);
    putLane(W, Dst, P, L, X);
  });
  return true;
}

/// Stores a piece per active lane, as loadWave loads it.
template <Piece P>
bool storeWave(Wave &W, const Operand &Src, const LaneAddresses &A) {
  constexpr unsigned Bytes = bytesOf(P), Dwords = dwordsOf(P);
  Allocation *Where = oneAllocation(W, A, Bytes);
  if (!Where || Where->ReadOnly)
    return false;
  const uint64_t Exec = W.exec();
  const unsigned Lanes = W.Lanes;
  const uint64_t Base = Where->Base;
  W.Thread->countStored(*Where, Bytes * unsigned(__builtin_popcountll(Exec)));
  uint8_t *Data = Where->Data - Where->Base;
  if (Bytes >= 4 && Exec == W.AllLanes && Src.isVgpr()) {
    const uint32_t *From = W.V + Src.Offset;
    uint8_t *Shadow = Where->Shadow;
    for (unsigned L = 0; L != Lanes; ++L) {
      uint32_t X[Dwords];
      for (unsigned D = 0; D != Dwords; ++D)
        X[D] = From[D * Lanes + L];
      std::memcpy(Data + A.A[L], X, Dwords * 4);
      const uint64_t Offset = A.A[L] - Base;
      if (LLVM_LIKELY((Offset & 3) == 0))
        std::memset(Shadow + (Offset >> 2), 0xff, Dwords);
      else
        Where->markStored(A.A[L], Bytes);
    }
    return true;
  }
  forLanes(Exec, [&](unsigned L) {
    uint32_t X[4];
    getLane(W, Src, P, L, X);
    std::memcpy(Data + A.A[L], X, Bytes);
    Where->markStored(A.A[L], Bytes);
  });
  return true;
}

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_WAVEACCESS_H
