//===- Global.cpp - Global, flat and scratch loads and stores -------------===//

#include "Memory.h"
#include "Ops.h"
#include "WaveAccess.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pagedattn::emu {

bool loadScratch(Wave &W, const Instruction &I, unsigned Lane, int64_t Offset,
                 void *To, unsigned Bytes) {
  if (Offset < 0 || Offset + Bytes > W.ScratchBytes) {
    std::memset(To, 0, Bytes);
    W.fatal(ReportKind::InvalidAccess,
            formatv("scratch load of {0} bytes at offset {1}: the work-item "
                    "has {2} bytes",
                    Bytes, Offset, W.ScratchBytes)
                .str(),
            int(Lane), uint64_t(Offset), Bytes, W.ScratchBytes);
    return false;
  }
  std::memcpy(To, W.Scratch + size_t(Lane) * W.ScratchBytes + Offset, Bytes);
  W.Thread->Loaded[unsigned(MemorySpace::Scratch)] += Bytes;
  return true;
}

bool storeScratch(Wave &W, const Instruction &I, unsigned Lane, int64_t Offset,
                  const void *From, unsigned Bytes) {
  if (Offset < 0 || Offset + Bytes > W.ScratchBytes) {
    W.fatal(ReportKind::InvalidAccess,
            formatv("scratch store of {0} bytes at offset {1}: the work-item "
                    "has {2} bytes",
                    Bytes, Offset, W.ScratchBytes)
                .str(),
            int(Lane), uint64_t(Offset), Bytes, W.ScratchBytes);
    return false;
  }
  std::memcpy(W.Scratch + size_t(Lane) * W.ScratchBytes + Offset, From, Bytes);
  W.Thread->Stored[unsigned(MemorySpace::Scratch)] += Bytes;
  return true;
}

FlatSpace classifyFlat(const Wave &W, uint64_t Address) {
  if (Address >> 32 == 0x10000)
    return FlatSpace::Lds;
  if (W.Chip->Gfx12 ? Address >> 58 == 1 : Address >> 32 == 0x20000)
    return FlatSpace::Scratch;
  return FlatSpace::Global;
}

uint64_t globalAddress(Wave &W, const Instruction &I, unsigned Lane,
                       unsigned SaddrIndex, unsigned ElementBytes) {
  const Operand &Vaddr = I.Src[0];
  const Operand &Saddr = I.Src[SaddrIndex];
  uint64_t Address = uint64_t(int64_t(I.Mod.Offset));
  if (SaddrIndex < I.NumSrc && Saddr.isSgpr() && Saddr.Reg != RegNull) {
    const uint32_t V = Vaddr.isNone() ? 0 : laneValue(W, Vaddr, Lane);
    uint64_t Offset =
        W.Chip->SignedSaddrOffset ? uint64_t(int64_t(int32_t(V))) : V;
    if (I.Mod.ScaleOffset)
      Offset *= ElementBytes;
    return Address + W.scalar64(Saddr.Reg) + Offset;
  }
  return Address + (uint64_t(laneValue(W, Vaddr, Lane)) |
                    uint64_t(laneValue(W, Vaddr, Lane, 1)) << 32);
}

void globalAddresses(Wave &W, const Instruction &I, unsigned SaddrIndex,
                     unsigned ElementBytes, LaneAddresses &A) {
  const Operand &Vaddr = I.Src[0];
  const Operand &Saddr = I.Src[SaddrIndex];
  const uint64_t Offset = uint64_t(int64_t(I.Mod.Offset));
  const bool Scalar =
      SaddrIndex < I.NumSrc && Saddr.isSgpr() && Saddr.Reg != RegNull;
  if (!Vaddr.isVgpr()) {
    for (unsigned L = 0; L != W.Lanes; ++L)
      A.A[L] = globalAddress(W, I, L, SaddrIndex, ElementBytes);
  } else if (Scalar) {
    const uint64_t Base = Offset + W.scalar64(Saddr.Reg);
    const uint32_t *V = W.V + Vaddr.Offset;
    const uint64_t Scale = I.Mod.ScaleOffset ? ElementBytes : 1;
    if (W.Chip->SignedSaddrOffset)
      for (unsigned L = 0; L != W.Lanes; ++L)
        A.A[L] = Base + uint64_t(int64_t(int32_t(V[L]))) * Scale;
    else
      for (unsigned L = 0; L != W.Lanes; ++L)
        A.A[L] = Base + V[L] * Scale;
  } else {
    const uint32_t *Low = W.V + Vaddr.Offset, *High = Low + W.Lanes;
    for (unsigned L = 0; L != W.Lanes; ++L)
      A.A[L] = Offset + (uint64_t(High[L]) << 32 | Low[L]);
  }
  A.finish(W, W.exec());
}

namespace {

//===----------------------------------------------------------------------===//
// Global
//===----------------------------------------------------------------------===//

template <Piece P>
void globalLoad(Wave &W, const Instruction &I) {
  countLoad(W);
  if (!W.exec())
    return;
  LaneAddresses A;
  globalAddresses(W, I, 1, bytesOf(P), A);
  if (LLVM_LIKELY(loadWave<P>(W, I.Dst[0], A)))
    return;
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4] = {0, 0, 0, 0};
    uint64_t Address = globalAddress(W, I, Lane, 1, bytesOf(P));
    loadGlobal(W, I, int(Lane), Address, Data, bytesOf(P));
    putLane(W, I.Dst[0], P, Lane, Data);
  });
}

template <Piece P>
void globalStore(Wave &W, const Instruction &I) {
  countStore(W);
  if (!W.exec())
    return;
  LaneAddresses A;
  globalAddresses(W, I, 2, bytesOf(P), A);
  if (LLVM_LIKELY(storeWave<P>(W, I.Src[1], A)))
    return;
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4];
    getLane(W, I.Src[1], P, Lane, Data);
    uint64_t Address = globalAddress(W, I, Lane, 2, bytesOf(P));
    storeGlobal(W, I, int(Lane), Address, Data, bytesOf(P));
  });
}

//===----------------------------------------------------------------------===//
// Flat
//===----------------------------------------------------------------------===//

template <Piece P>
void flatLoad(Wave &W, const Instruction &I) {
  countLoad(W);
  W.issue(Counter::Lgkm);
  if (!W.exec())
    return;
  LaneAddresses A;
  globalAddresses(W, I, 1, bytesOf(P), A);
  if (LLVM_LIKELY(loadWave<P>(W, I.Dst[0], A)))
    return;
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4] = {0, 0, 0, 0};
    uint64_t Address = globalAddress(W, I, Lane, 1, bytesOf(P));
    switch (classifyFlat(W, Address)) {
    case FlatSpace::Global:
      loadGlobal(W, I, int(Lane), Address, Data, bytesOf(P));
      break;
    case FlatSpace::Lds:
      W.Group->Lds->load(W, I, Lane, uint32_t(Address), Data, bytesOf(P));
      break;
    case FlatSpace::Scratch:
      loadScratch(W, I, Lane, uint32_t(Address), Data, bytesOf(P));
      break;
    }
    putLane(W, I.Dst[0], P, Lane, Data);
  });
}

template <Piece P>
void flatStore(Wave &W, const Instruction &I) {
  countStore(W);
  W.issue(Counter::Lgkm);
  if (!W.exec())
    return;
  LaneAddresses A;
  globalAddresses(W, I, 2, bytesOf(P), A);
  if (LLVM_LIKELY(storeWave<P>(W, I.Src[1], A)))
    return;
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4];
    getLane(W, I.Src[1], P, Lane, Data);
    uint64_t Address = globalAddress(W, I, Lane, 2, bytesOf(P));
    switch (classifyFlat(W, Address)) {
    case FlatSpace::Global:
      storeGlobal(W, I, int(Lane), Address, Data, bytesOf(P));
      break;
    case FlatSpace::Lds:
      W.Group->Lds->store(W, I, Lane, uint32_t(Address), Data, bytesOf(P));
      break;
    case FlatSpace::Scratch:
      storeScratch(W, I, Lane, uint32_t(Address), Data, bytesOf(P));
      break;
    }
  });
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

int64_t scratchOffset(Wave &W, const Instruction &I, unsigned Lane,
                      unsigned SaddrIndex, unsigned ElementBytes) {
  const Operand &Vaddr = I.Src[0], &Saddr = I.Src[SaddrIndex];
  int64_t Offset = I.Mod.Offset;
  if (Vaddr.isVgpr()) {
    int64_t V = int32_t(laneValue(W, Vaddr, Lane));
    Offset += I.Mod.ScaleOffset ? V * ElementBytes : V;
  }
  if (Saddr.isSgpr() && Saddr.Reg != RegNull)
    Offset += int32_t(W.S[Saddr.Reg]);
  return Offset;
}

template <Piece P>
void scratchLoad(Wave &W, const Instruction &I) {
  countLoad(W);
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4] = {0, 0, 0, 0};
    loadScratch(W, I, Lane, scratchOffset(W, I, Lane, 1, bytesOf(P)), Data,
                bytesOf(P));
    putLane(W, I.Dst[0], P, Lane, Data);
  });
}

template <Piece P>
void scratchStore(Wave &W, const Instruction &I) {
  countStore(W);
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[4];
    getLane(W, I.Src[1], P, Lane, Data);
    storeScratch(W, I, Lane, scratchOffset(W, I, Lane, 2, bytesOf(P)), Data,
                 bytesOf(P));
  });
}

//===----------------------------------------------------------------------===//
// Addressed by the lane number
//===----------------------------------------------------------------------===//

void loadAddTid(Wave &W, const Instruction &I) {
  countLoad(W);
  const Operand &Saddr = I.Src[0];
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[1] = {0};
    uint64_t Address = (Saddr.isSgpr() ? W.scalar64(Saddr.Reg) : 0) +
                       uint64_t(int64_t(I.Mod.Offset)) + Lane * 4;
    loadGlobal(W, I, int(Lane), Address, Data, 4);
    putLane(W, I.Dst[0], Piece::B32, Lane, Data);
  });
}
void storeAddTid(Wave &W, const Instruction &I) {
  countStore(W);
  const Operand &Saddr = I.Src[1];
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Data[1];
    getLane(W, I.Src[0], Piece::B32, Lane, Data);
    uint64_t Address = (Saddr.isSgpr() ? W.scalar64(Saddr.Reg) : 0) +
                       uint64_t(int64_t(I.Mod.Offset)) + Lane * 4;
    storeGlobal(W, I, int(Lane), Address, Data, 4);
  });
}

/// M0 has a bit for each of 32 consecutive registers, whose dwords are
/// consecutive in memory as well.
template <bool Scratch>
void loadBlock(Wave &W, const Instruction &I) {
  countLoad(W);
  forLanes(W.exec(), [&](unsigned Lane) {
    for (unsigned D = 0; D != 32; ++D) {
      if (!((W.m0() >> D) & 1))
        continue;
      uint32_t X = 0;
      if (Scratch)
        loadScratch(W, I, Lane, scratchOffset(W, I, Lane, 1, 4) + 4 * D, &X, 4);
      else
        loadGlobal(W, I, int(Lane), globalAddress(W, I, Lane, 1, 4) + 4 * D, &X,
                   4);
      putLane(W, I.Dst[0], Piece::B32, Lane, &X, D);
    }
  });
}
template <bool Scratch>
void storeBlock(Wave &W, const Instruction &I) {
  countStore(W);
  forLanes(W.exec(), [&](unsigned Lane) {
    for (unsigned D = 0; D != 32; ++D) {
      if (!((W.m0() >> D) & 1))
        continue;
      uint32_t X = laneValue(W, I.Src[1], Lane, D);
      if (Scratch)
        storeScratch(W, I, Lane, scratchOffset(W, I, Lane, 2, 4) + 4 * D, &X,
                     4);
      else
        storeGlobal(W, I, int(Lane), globalAddress(W, I, Lane, 2, 4) + 4 * D,
                    &X, 4);
    }
  });
}

#define PIECES(X)                                                              \
  X("load_ubyte", "load_u8", U8)                                               \
  X("load_sbyte", "load_i8", I8)                                               \
  X("load_ushort", "load_u16", U16)                                            \
  X("load_sshort", "load_i16", I16)                                            \
  X("load_ubyte_d16", "load_d16_u8", U8Low)                                    \
  X("load_sbyte_d16", "load_d16_i8", I8Low)                                    \
  X("load_short_d16", "load_d16_b16", B16Low)                                  \
  X("load_ubyte_d16_hi", "load_d16_hi_u8", U8High)                             \
  X("load_sbyte_d16_hi", "load_d16_hi_i8", I8High)                             \
  X("load_short_d16_hi", "load_d16_hi_b16", B16High)                           \
  X("load_dword", "load_b32", B32)                                             \
  X("load_dwordx2", "load_b64", B64)                                           \
  X("load_dwordx3", "load_b96", B96)                                           \
  X("load_dwordx4", "load_b128", B128)
#define STORES(X)                                                              \
  X("store_byte", "store_b8", U8)                                              \
  X("store_short", "store_b16", U16)                                           \
  X("store_byte_d16_hi", "store_d16_hi_b8", U8High)                            \
  X("store_short_d16_hi", "store_d16_hi_b16", B16High)                         \
  X("store_dword", "store_b32", B32)                                           \
  X("store_dwordx2", "store_b64", B64)                                         \
  X("store_dwordx3", "store_b96", B96)                                         \
  X("store_dwordx4", "store_b128", B128)

constexpr OpInfo load(const char *Name, Handler Fn, OpClass Class) {
  return {Name, Fn, Class, 1, {Ty::Wide, Ty::Wide, Ty::B64}};
}
constexpr OpInfo store(const char *Name, Handler Fn, OpClass Class) {
  return {Name, Fn, Class, 0, {Ty::Wide, Ty::Wide, Ty::B64}};
}

#define GLOBAL_LOAD(Old, New, P)                                               \
  load("global_" Old, globalLoad<Piece::P>, OpClass::Global),                  \
      load("global_" New, globalLoad<Piece::P>, OpClass::Global),
#define GLOBAL_STORE(Old, New, P)                                              \
  store("global_" Old, globalStore<Piece::P>, OpClass::Global),                \
      store("global_" New, globalStore<Piece::P>, OpClass::Global),
#define FLAT_LOAD(Old, New, P)                                                 \
  load("flat_" Old, flatLoad<Piece::P>, OpClass::Flat),                        \
      load("flat_" New, flatLoad<Piece::P>, OpClass::Flat),
#define FLAT_STORE(Old, New, P)                                                \
  store("flat_" Old, flatStore<Piece::P>, OpClass::Flat),                      \
      store("flat_" New, flatStore<Piece::P>, OpClass::Flat),
#define SCRATCH_LOAD(Old, New, P)                                              \
  load("scratch_" Old, scratchLoad<Piece::P>, OpClass::Scratch),               \
      load("scratch_" New, scratchLoad<Piece::P>, OpClass::Scratch),
#define SCRATCH_STORE(Old, New, P)                                             \
  store("scratch_" Old, scratchStore<Piece::P>, OpClass::Scratch),             \
      store("scratch_" New, scratchStore<Piece::P>, OpClass::Scratch),

constexpr OpInfo Table[] = {
    PIECES(GLOBAL_LOAD) STORES(GLOBAL_STORE) PIECES(FLAT_LOAD)
        STORES(FLAT_STORE) PIECES(SCRATCH_LOAD) STORES(SCRATCH_STORE)
    // A cluster load gives every workgroup of the cluster the same data.
    load("cluster_load_b32", globalLoad<Piece::B32>, OpClass::Global),
    load("cluster_load_b64", globalLoad<Piece::B64>, OpClass::Global),
    load("cluster_load_b128", globalLoad<Piece::B128>, OpClass::Global),
    // A monitored load is a load; nothing here sleeps on it.
    load("global_load_monitor_b32", globalLoad<Piece::B32>, OpClass::Global),
    load("global_load_monitor_b64", globalLoad<Piece::B64>, OpClass::Global),
    load("global_load_monitor_b128", globalLoad<Piece::B128>, OpClass::Global),
    load("flat_load_monitor_b32", flatLoad<Piece::B32>, OpClass::Flat),
    load("flat_load_monitor_b64", flatLoad<Piece::B64>, OpClass::Flat),
    load("flat_load_monitor_b128", flatLoad<Piece::B128>, OpClass::Flat),
    {"global_load_addtid_b32",
     loadAddTid,
     OpClass::Global,
     1,
     {Ty::Wide, Ty::B64}},
    {"global_store_addtid_b32",
     storeAddTid,
     OpClass::Global,
     0,
     {Ty::Wide, Ty::B64}},
    load("global_load_block", loadBlock<false>, OpClass::Global),
    store("global_store_block", storeBlock<false>, OpClass::Global),
    load("scratch_load_block", loadBlock<true>, OpClass::Scratch),
    store("scratch_store_block", storeBlock<true>, OpClass::Scratch),
};

} // namespace

OpTable globalOps() { return Table; }

} // namespace pagedattn::emu
