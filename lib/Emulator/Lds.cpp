//===- Lds.cpp - LDS loads, stores and cross-lane moves -------------------===//

#include "BankConflicts.h"
#include "Memory.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

uint32_t ldsAddress(Wave &W, const Instruction &I, unsigned Lane) {
  return laneValue(W, I.Src[0], Lane) + uint32_t(uint16_t(I.Mod.Offset));
}

/// Addresses of all lanes, Extra bytes on; false if they are not in registers.
bool ldsAddresses(Wave &W, const Instruction &I, uint32_t Extra,
                  LaneBuffer &A) {
  if (!I.Src[0].isVgpr())
    return false;
  const uint32_t *V = W.V + I.Src[0].Offset;
  for (unsigned B = 0; B != W.Lanes; B += 32)
    for (unsigned L = 0; L != 32; ++L)
      A.D[B + L] = V[B + L] + Extra;
  return true;
}

void countConflicts(Wave &W, const Instruction &I, uint32_t Extra,
                    unsigned Bytes) {
  LaneBuffer A;
  if (ldsAddresses(W, I, Extra, A))
    W.Thread->LdsConflicts += bankConflicts(ArrayRef(A.D, W.Lanes), W.exec(),
                                            Bytes, W.Chip->LdsBanks);
}

template <Piece P>
void load(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  countConflicts(W, I, uint16_t(I.Mod.Offset), bytesOf(P));
  if constexpr (bytesOf(P) >= 4) {
    LaneBuffer A;
    if (LLVM_LIKELY(
            ldsAddresses(W, I, uint16_t(I.Mod.Offset), A) &&
            I.Dst[0].isVgpr() &&
            W.Group->Lds->loadWave<dwordsOf(P)>(W, A.D, W.V + I.Dst[0].Offset)))
      return;
  }
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4] = {0, 0, 0, 0};
    W.Group->Lds->load(W, I, Lane, ldsAddress(W, I, Lane), Data, bytesOf(P));
    putLane(W, I.Dst[0], P, Lane, Data);
  });
}

template <Piece P>
void store(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  countConflicts(W, I, uint16_t(I.Mod.Offset), bytesOf(P));
  if constexpr (bytesOf(P) >= 4) {
    LaneBuffer A;
    if (LLVM_LIKELY(ldsAddresses(W, I, uint16_t(I.Mod.Offset), A) &&
                    I.Src[1].isVgpr() &&
                    W.Group->Lds->storeWave<dwordsOf(P)>(
                        W, A.D, W.V + I.Src[1].Offset)))
      return;
  }
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4];
    getLane(W, I.Src[1], P, Lane, Data);
    W.Group->Lds->store(W, I, Lane, ldsAddress(W, I, Lane), Data, bytesOf(P));
  });
}

/// Two elements at offset0 and offset1, in units of the element or of 64.
template <bool Wide, bool Stride64>
void load2(Wave &W, const Instruction &I) {
  constexpr unsigned Bytes = Wide ? 8 : 4;
  constexpr unsigned Scale = Bytes * (Stride64 ? 64 : 1);
  W.issue(Counter::Lgkm);
  countConflicts(W, I, I.Mod.Offset0 * Scale, Bytes);
  countConflicts(W, I, I.Mod.Offset1 * Scale, Bytes);
  // Both halves must be fine before either is done. The destination may be the
  // address register.
  LaneBuffer A, B;
  if (ldsAddresses(W, I, I.Mod.Offset0 * Scale, A) &&
      ldsAddresses(W, I, I.Mod.Offset1 * Scale, B) && I.Dst[0].isVgpr()) {
    uint32_t *To = W.V + I.Dst[0].Offset;
    uint32_t Saved[2 * MaxLanes];
    std::memcpy(Saved, To, size_t(W.Lanes) * Bytes);
    if (W.Group->Lds->loadWave<Bytes / 4>(W, A.D, To)) {
      if (W.Group->Lds->loadWave<Bytes / 4>(W, B.D, To + W.Lanes * Bytes / 4))
        return;
      W.Thread->Loaded[unsigned(MemorySpace::Lds)] -=
          uint64_t(Bytes) * unsigned(__builtin_popcountll(W.exec()));
    }
    std::memcpy(To, Saved, size_t(W.Lanes) * Bytes);
  }
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t Base = laneValue(W, I.Src[0], Lane);
    uint32_t Data[4] = {0, 0, 0, 0};
    W.Group->Lds->load(W, I, Lane, Base + I.Mod.Offset0 * Scale, Data, Bytes);
    W.Group->Lds->load(W, I, Lane, Base + I.Mod.Offset1 * Scale,
                       Data + Bytes / 4, Bytes);
    putLane(W, I.Dst[0], Wide ? Piece::B128 : Piece::B64, Lane, Data);
  });
}

template <bool Wide, bool Stride64>
void store2(Wave &W, const Instruction &I) {
  constexpr unsigned Bytes = Wide ? 8 : 4;
  constexpr unsigned Scale = Bytes * (Stride64 ? 64 : 1);
  constexpr Piece P = Wide ? Piece::B64 : Piece::B32;
  W.issue(Counter::Lgkm);
  countConflicts(W, I, I.Mod.Offset0 * Scale, Bytes);
  countConflicts(W, I, I.Mod.Offset1 * Scale, Bytes);
  LaneBuffer A, B;
  if (ldsAddresses(W, I, I.Mod.Offset0 * Scale, A) &&
      ldsAddresses(W, I, I.Mod.Offset1 * Scale, B) && I.Src[1].isVgpr() &&
      I.Src[2].isVgpr()) {
    // A first half that is stored again by the slow path changes nothing.
    const bool First =
        W.Group->Lds->storeWave<Bytes / 4>(W, A.D, W.V + I.Src[1].Offset);
    if (First &&
        W.Group->Lds->storeWave<Bytes / 4>(W, B.D, W.V + I.Src[2].Offset))
      return;
    if (First)
      W.Thread->Stored[unsigned(MemorySpace::Lds)] -=
          uint64_t(Bytes) * unsigned(__builtin_popcountll(W.exec()));
  }
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t Base = laneValue(W, I.Src[0], Lane);
    uint32_t First[2], Second[2];
    getLane(W, I.Src[1], P, Lane, First);
    getLane(W, I.Src[2], P, Lane, Second);
    W.Group->Lds->store(W, I, Lane, Base + I.Mod.Offset0 * Scale, First, Bytes);
    W.Group->Lds->store(W, I, Lane, Base + I.Mod.Offset1 * Scale, Second,
                        Bytes);
  });
}

void loadAddTid(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t X = 0;
    const uint32_t At = (W.m0() & 0xffff) + uint16_t(I.Mod.Offset) + 4 * Lane;
    W.Group->Lds->load(W, I, Lane, At, &X, 4);
    putLane(W, I.Dst[0], Piece::B32, Lane, &X);
  });
}
void storeAddTid(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t X = laneValue(W, I.Src[0], Lane);
    const uint32_t At = (W.m0() & 0xffff) + uint16_t(I.Mod.Offset) + 4 * Lane;
    W.Group->Lds->store(W, I, Lane, At, &X, 4);
  });
}

//===----------------------------------------------------------------------===//
// Cross-lane moves, which use no memory
//===----------------------------------------------------------------------===//

void bpermute(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  LaneBuffer R;
  const uint64_t Exec = W.exec();
  for (unsigned L = 0; L != W.Lanes; ++L) {
    const uint32_t At =
        laneValue(W, I.Src[0], L) + uint32_t(uint16_t(I.Mod.Offset));
    const unsigned From = (At >> 2) % W.Lanes;
    // Data of an inactive lane reads as zero, unless the variant fetches it.
    R.D[L] = I.Aux[0] || (Exec >> From) & 1 ? laneValue(W, I.Src[1], From) : 0;
  }
  writeVector(W, I, R.D);
}
bool fetchInactive(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  I.Aux[0] = 1;
  return true;
}

void permute(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  LaneBuffer R = {};
  // Of several lanes that push to the same one, the highest wins.
  forLanes(W.exec(), [&](unsigned L) {
    const uint32_t At =
        laneValue(W, I.Src[0], L) + uint32_t(uint16_t(I.Mod.Offset));
    R.D[(At >> 2) % W.Lanes] = laneValue(W, I.Src[1], L);
  });
  writeVector(W, I, R.D);
}

/// Lane that ds_swizzle reads, from the 16-bit pattern.
unsigned swizzleLane(unsigned Pattern, unsigned Lane) {
  const unsigned Group = Lane & ~31u, In = Lane & 31;
  if (Pattern >= 0xe000) {
    // Butterfly of an FFT over 2^n lanes: bit-reversed order.
    const unsigned Mode = Pattern & 0x1f;
    unsigned Width = 5 - (Mode > 4 ? 5 : Mode);
    unsigned Low = In & ((1u << Width) - 1), Reversed = 0;
    for (unsigned B = 0; B != Width; ++B)
      Reversed |= ((Low >> B) & 1) << (Width - 1 - B);
    return Group | (In & ~((1u << Width) - 1)) | Reversed;
  }
  if (Pattern >= 0xc000) { // rotate
    const unsigned Mask = Pattern & 0x1f, Amount = (Pattern >> 5) & 0x1f;
    const unsigned Delta = (Pattern >> 10) & 1 ? 32 - Amount : Amount;
    return Group | (In & Mask) | ((In + Delta) & ~Mask & 0x1f);
  }
  if (Pattern & 0x8000) // quads
    return (Lane & ~3u) | ((Pattern >> (2 * (Lane & 3))) & 3);
  const unsigned And = Pattern & 0x1f, Or = (Pattern >> 5) & 0x1f,
                 Xor = (Pattern >> 10) & 0x1f;
  return Group | (((In & And) | Or) ^ Xor);
}

void swizzle(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  LaneBuffer R;
  const uint64_t Exec = W.exec();
  for (unsigned L = 0; L != W.Lanes; ++L) {
    const unsigned From = swizzleLane(uint16_t(I.Mod.Offset), L);
    R.D[L] = (Exec >> From) & 1 ? laneValue(W, I.Src[0], From) : 0;
  }
  writeVector(W, I, R.D);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

constexpr OpInfo loadOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Lds, 1, {Ty::Wide, Ty::Wide, Ty::Wide}};
}
constexpr OpInfo storeOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Lds, 0, {Ty::Wide, Ty::Wide, Ty::Wide}};
}
#define LOAD(Old, New, P)                                                      \
  loadOp("ds_read_" Old, load<Piece::P>), loadOp("ds_load_" New, load<Piece::P>)
#define STORE(Old, New, P)                                                     \
  storeOp("ds_write_" Old, store<Piece::P>),                                   \
      storeOp("ds_store_" New, store<Piece::P>)

constexpr OpInfo Table[] = {
    LOAD("u8", "u8", U8),
    LOAD("i8", "i8", I8),
    LOAD("u16", "u16", U16),
    LOAD("i16", "i16", I16),
    LOAD("u8_d16", "u8_d16", U8Low),
    LOAD("i8_d16", "i8_d16", I8Low),
    LOAD("u16_d16", "u16_d16", B16Low),
    LOAD("u8_d16_hi", "u8_d16_hi", U8High),
    LOAD("i8_d16_hi", "i8_d16_hi", I8High),
    LOAD("u16_d16_hi", "u16_d16_hi", B16High),
    LOAD("b32", "b32", B32),
    LOAD("b64", "b64", B64),
    LOAD("b96", "b96", B96),
    LOAD("b128", "b128", B128),
    STORE("b8", "b8", U8),
    STORE("b16", "b16", U16),
    STORE("b8_d16_hi", "b8_d16_hi", U8High),
    STORE("b16_d16_hi", "b16_d16_hi", B16High),
    STORE("b32", "b32", B32),
    STORE("b64", "b64", B64),
    STORE("b96", "b96", B96),
    STORE("b128", "b128", B128),
    loadOp("ds_read2_b32", load2<false, false>),
    loadOp("ds_read2_b64", load2<true, false>),
    loadOp("ds_read2st64_b32", load2<false, true>),
    loadOp("ds_read2st64_b64", load2<true, true>),
    loadOp("ds_load_2addr_b32", load2<false, false>),
    loadOp("ds_load_2addr_b64", load2<true, false>),
    loadOp("ds_load_2addr_stride64_b32", load2<false, true>),
    loadOp("ds_load_2addr_stride64_b64", load2<true, true>),
    storeOp("ds_write2_b32", store2<false, false>),
    storeOp("ds_write2_b64", store2<true, false>),
    storeOp("ds_write2st64_b32", store2<false, true>),
    storeOp("ds_write2st64_b64", store2<true, true>),
    storeOp("ds_store_2addr_b32", store2<false, false>),
    storeOp("ds_store_2addr_b64", store2<true, false>),
    storeOp("ds_store_2addr_stride64_b32", store2<false, true>),
    storeOp("ds_store_2addr_stride64_b64", store2<true, true>),
    loadOp("ds_read_addtid_b32", loadAddTid),
    loadOp("ds_load_addtid_b32", loadAddTid),
    storeOp("ds_write_addtid_b32", storeAddTid),
    storeOp("ds_store_addtid_b32", storeAddTid),
    loadOp("ds_bpermute_b32", bpermute),
    {"ds_bpermute_fi_b32",
     bpermute,
     OpClass::Lds,
     1,
     {Ty::Wide, Ty::Wide, Ty::Wide},
     fetchInactive},
    loadOp("ds_permute_b32", permute),
    loadOp("ds_swizzle_b32", swizzle),
};

} // namespace

OpTable ldsOps() { return Table; }

} // namespace pagedattn::emu
