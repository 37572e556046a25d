//===- LocalMemory.cpp - LDS of one workgroup -----------------------------===//

#include "LocalMemory.h"
#include "Operands.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pagedattn::emu {

void LocalMemory::reset(uint32_t NewSize) {
  Size = NewSize;
  const size_t Words = (size_t(NewSize) + 3) / 4 + 4;
  if (Bytes.size() < Words * 4)
    Bytes.resize(Words * 4);
  std::memset(Bytes.data(), 0, Words * 4);
  Shadow.assign(Words, 0);
  if (WriteTags.size() < Words) {
    WriteTags.resize(Words);
    ReadTags.resize(Words);
    WriteMasks.resize(Words);
    ReadMasks.resize(Words);
  }
  if (EpochBase > 0xf00000u) {
    std::fill(WriteTags.begin(), WriteTags.end(), 0);
    std::fill(ReadTags.begin(), ReadTags.end(), 0);
    EpochBase = 1;
  }
}

void LocalMemory::checkWords(Wave &W, const Instruction &I, unsigned Lane,
                             uint32_t Address, unsigned Count, bool Read,
                             bool Write) {
  const LaunchOptions &Options = *W.Group->Options;
  const bool Races = Options.CheckRaces && W.Group->Waves.size() > 1;
  const uint32_t Epoch = EpochBase + W.Epoch;
  const uint32_t Tag = Epoch << 8 | uint8_t(W.Id);
  uint32_t End = Address + Count;
  bool Undefined = false, Early = false;
  int Racer = -1;
  for (uint32_t At = Address; At < End;) {
    const unsigned First = At & 3;
    const unsigned N = std::min(4 - First, End - At);
    const uint8_t Mask = uint8_t(((1u << N) - 1) << First);
    uint8_t &S = Shadow[At >> 2];
    Early |= (S & 0x10) != 0;
    if (Read)
      Undefined |= (S & Mask) != Mask;
    if (Write)
      S |= Mask;
    if (Races) {
      uint32_t &WriteTag = WriteTags[At >> 2], &ReadTag = ReadTags[At >> 2];
      uint8_t &WriteMask = WriteMasks[At >> 2], &ReadMask = ReadMasks[At >> 2];
      if (WriteTag >> 8 == Epoch && WriteTag != Tag && (WriteMask & Mask))
        Racer = WriteTag & 0xff;
      if (Write && ReadTag >> 8 == Epoch && ReadTag != Tag && (ReadMask & Mask))
        Racer = ReadTag & 0xff;
      // Atomics do both and are not recorded: they do not race with each
      // other.
      if (Read && !Write) {
        if (ReadTag >> 8 != Epoch) {
          ReadTag = Tag;
          ReadMask = Mask;
        } else {
          if (ReadTag != Tag)
            ReadTag |= ManyWaves;
          ReadMask |= Mask;
        }
      } else if (Write && !Read) {
        WriteMask = WriteTag == Tag ? WriteMask | Mask : Mask;
        WriteTag = Tag;
      }
    }
    At += N;
  }
  if (LLVM_LIKELY(!Undefined && !Early && Racer < 0))
    return;
  if (Early)
    W.report(
        ReportKind::AsyncNotWaited, int(Lane), Address, Count, Size,
        [&]() -> std::string {
          return formatv(
                     "LDS bytes {0}..{1} are accessed before the asynchronous "
                     "copy to them was waited for",
                     Address, End - 1)
              .str();
        });
  else if (Undefined && Options.CheckUninitialized)
    W.report(ReportKind::UninitializedLds, int(Lane), Address, Count, Size,
             [&]() -> std::string {
               return formatv(
                          "LDS bytes {0}..{1} are read and were never written",
                          Address, End - 1)
                   .str();
             });
  if (Racer >= 0)
    W.report(
        ReportKind::LdsRace, int(Lane), Address, Count, Size,
        [&]() -> std::string {
          return Racer == ManyWaves
                     ? formatv("LDS bytes {0}..{1} are written by wave {2} and "
                               "read by several waves with no barrier between",
                               Address, End - 1, W.Id)
                           .str()
                     : formatv(
                           "LDS bytes {0}..{1} are {2} by wave {3} and used by "
                           "wave {4} with no barrier between",
                           Address, End - 1, Write ? "written" : "read", W.Id,
                           Racer)
                           .str();
        });
}

static void reportRange(Wave &W, unsigned Lane, uint32_t Address, unsigned N,
                        uint32_t Size, const char *What) {
  W.report(
      ReportKind::LdsOutOfRange, int(Lane), Address, N, Size,
      [&]() -> std::string {
        return formatv(
                   "LDS {0} of {1} bytes at {2} is beyond the workgroup's {3} "
                   "bytes",
                   What, N, Address, Size)
            .str();
      });
}

bool LocalMemory::load(Wave &W, const Instruction &I, unsigned Lane,
                       uint32_t Address, void *To, unsigned N) {
  W.Thread->Loaded[unsigned(MemorySpace::Lds)] += N;
  if (LLVM_UNLIKELY(Address > Size || N > Size - Address)) {
    std::memset(To, 0, N);
    reportRange(W, Lane, Address, N, Size, "load");
    return false;
  }
  std::memcpy(To, Bytes.data() + Address, N);
  checkWords(W, I, Lane, Address, N, /*Read=*/true, /*Write=*/false);
  return true;
}

bool LocalMemory::store(Wave &W, const Instruction &I, unsigned Lane,
                        uint32_t Address, const void *From, unsigned N) {
  W.Thread->Stored[unsigned(MemorySpace::Lds)] += N;
  if (LLVM_UNLIKELY(Address > Size || N > Size - Address)) {
    reportRange(W, Lane, Address, N, Size, "store");
    return false;
  }
  std::memcpy(Bytes.data() + Address, From, N);
  checkWords(W, I, Lane, Address, N, /*Read=*/false, /*Write=*/true);
  return true;
}

uint8_t *LocalMemory::atomic(Wave &W, const Instruction &I, unsigned Lane,
                             uint32_t Address, unsigned N) {
  W.Thread->Loaded[unsigned(MemorySpace::Lds)] += N;
  W.Thread->Stored[unsigned(MemorySpace::Lds)] += N;
  if (LLVM_UNLIKELY(Address > Size || N > Size - Address)) {
    reportRange(W, Lane, Address, N, Size, "atomic");
    return nullptr;
  }
  checkWords(W, I, Lane, Address, N, /*Read=*/true, /*Write=*/true);
  return Bytes.data() + Address;
}

namespace {

/// Shadow bytes of consecutive dwords as one number.
template <unsigned Dwords>
uint32_t shadowOf(const uint8_t *Shadow) {
  uint32_t X = 0;
  std::memcpy(&X, Shadow, Dwords);
  return X;
}
template <unsigned Dwords>
constexpr uint32_t Repeated = 0x01010101u >> (8 * (4 - Dwords));

/// Aligned and inside, for all active lanes.
bool inBounds(const uint32_t *Addresses, unsigned Lanes, uint64_t Exec,
              uint32_t Size, uint32_t N) {
  if (Size < N)
    return false;
  const uint32_t Limit = Size - N;
  uint32_t Bad = 0;
  for (unsigned Base = 0; Base != Lanes; Base += 32) {
    const uint32_t M = uint32_t(Exec >> Base);
    for (unsigned L = 0; L != 32; ++L) {
      const uint32_t A = Addresses[Base + L];
      Bad |= ((M >> L) & 1) & uint32_t((A > Limit) | ((A & 3) != 0));
    }
  }
  return !Bad;
}

} // namespace

// First every check over all lanes, without a branch per dword, then the
// accesses. Masks are not looked at: a conflict in other bytes of the same
// dword takes the slow path, which tells them apart.

template <unsigned Dwords>
bool LocalMemory::loadWave(Wave &W, const uint32_t *Addresses, uint32_t *To) {
  const LaunchOptions &Options = *W.Group->Options;
  const unsigned Lanes = W.Lanes;
  const uint64_t Exec = W.exec(), All = W.AllLanes;
  if (!inBounds(Addresses, Lanes, Exec, Size, 4 * Dwords))
    return false;
  const bool Races = Options.CheckRaces && W.Group->Waves.size() > 1;
  const uint32_t Epoch = EpochBase + W.Epoch;
  const uint32_t Tag = Epoch << 8 | uint8_t(W.Id);
  const uint8_t *ShadowAt = Shadow.data();
  uint32_t Pending = 0, Written = ~0u;
  forActive(Exec, All, Lanes, [&](unsigned L) {
    const uint32_t S = shadowOf<Dwords>(ShadowAt + (Addresses[L] >> 2));
    Pending |= S;
    Written &= S;
  });
  const uint32_t Required =
      Options.CheckUninitialized ? 0xf * Repeated<Dwords> : 0;
  if ((Pending & 0x10 * Repeated<Dwords>) || (Written & Required) != Required)
    return false;
  if (Races) {
    const uint32_t *Writers = WriteTags.data();
    uint32_t Raced = 0;
    forActive(Exec, All, Lanes, [&](unsigned L) {
      const uint32_t *T = Writers + (Addresses[L] >> 2);
      for (unsigned D = 0; D != Dwords; ++D)
        Raced |= uint32_t((T[D] >> 8 == Epoch) & (T[D] != Tag));
    });
    if (Raced)
      return false;
    uint32_t *Readers = ReadTags.data();
    uint8_t *Masks = ReadMasks.data();
    forActive(Exec, All, Lanes, [&](unsigned L) {
      const uint32_t Word = Addresses[L] >> 2;
      uint32_t *R = Readers + Word;
      for (unsigned D = 0; D != Dwords; ++D)
        R[D] = R[D] >> 8 == Epoch && R[D] != Tag ? R[D] | ManyWaves : Tag;
      std::memset(Masks + Word, 0xf, Dwords);
    });
  }
  W.Thread->Loaded[unsigned(MemorySpace::Lds)] +=
      uint64_t(4 * Dwords) * unsigned(__builtin_popcountll(Exec));
  const uint8_t *From = Bytes.data();
  forActive(Exec, All, Lanes, [&](unsigned L) {
    uint32_t X[Dwords];
    std::memcpy(X, From + Addresses[L], 4 * Dwords);
    for (unsigned D = 0; D != Dwords; ++D)
      To[D * Lanes + L] = X[D];
  });
  return true;
}

template <unsigned Dwords>
bool LocalMemory::storeWave(Wave &W, const uint32_t *Addresses,
                            const uint32_t *From) {
  const LaunchOptions &Options = *W.Group->Options;
  const unsigned Lanes = W.Lanes;
  const uint64_t Exec = W.exec(), All = W.AllLanes;
  if (!inBounds(Addresses, Lanes, Exec, Size, 4 * Dwords))
    return false;
  const bool Races = Options.CheckRaces && W.Group->Waves.size() > 1;
  const uint32_t Epoch = EpochBase + W.Epoch;
  const uint32_t Tag = Epoch << 8 | uint8_t(W.Id);
  uint8_t *ShadowAt = Shadow.data();
  uint32_t Pending = 0;
  forActive(Exec, All, Lanes, [&](unsigned L) {
    Pending |= shadowOf<Dwords>(ShadowAt + (Addresses[L] >> 2));
  });
  if (Pending & 0x10 * Repeated<Dwords>)
    return false;
  if (Races) {
    uint32_t *Writers = WriteTags.data();
    const uint32_t *Readers = ReadTags.data();
    uint8_t *Masks = WriteMasks.data();
    uint32_t Raced = 0;
    forActive(Exec, All, Lanes, [&](unsigned L) {
      const uint32_t Word = Addresses[L] >> 2;
      for (unsigned D = 0; D != Dwords; ++D) {
        const uint32_t T = Writers[Word + D], R = Readers[Word + D];
        Raced |= uint32_t((T >> 8 == Epoch) & (T != Tag)) |
                 uint32_t((R >> 8 == Epoch) & (R != Tag));
      }
    });
    if (Raced)
      return false;
    forActive(Exec, All, Lanes, [&](unsigned L) {
      const uint32_t Word = Addresses[L] >> 2;
      for (unsigned D = 0; D != Dwords; ++D)
        Writers[Word + D] = Tag;
      std::memset(Masks + Word, 0xf, Dwords);
    });
  }
  W.Thread->Stored[unsigned(MemorySpace::Lds)] +=
      uint64_t(4 * Dwords) * unsigned(__builtin_popcountll(Exec));
  uint8_t *To = Bytes.data();
  forActive(Exec, All, Lanes, [&](unsigned L) {
    uint32_t X[Dwords];
    for (unsigned D = 0; D != Dwords; ++D)
      X[D] = From[D * Lanes + L];
    std::memcpy(To + Addresses[L], X, 4 * Dwords);
    // Nothing is pending here, so that the other bits are zero.
    std::memset(ShadowAt + (Addresses[L] >> 2), 0xf, Dwords);
  });
  return true;
}

#define PA_INSTANTIATE(N)                                                      \
  template bool LocalMemory::loadWave<N>(Wave &, const uint32_t *,             \
                                         uint32_t *);                          \
  template bool LocalMemory::storeWave<N>(Wave &, const uint32_t *,            \
                                          const uint32_t *);
PA_INSTANTIATE(1)
PA_INSTANTIATE(2)
PA_INSTANTIATE(3)
PA_INSTANTIATE(4)
#undef PA_INSTANTIATE

void LocalMemory::markPending(uint32_t Address, uint32_t N) {
  for (uint32_t At = Address / 4; At * 4 < Address + N && At < Shadow.size();
       ++At)
    Shadow[At] |= 0x10;
}

void LocalMemory::completePending(uint32_t Address, uint32_t N) {
  for (uint32_t At = Address / 4; At * 4 < Address + N && At < Shadow.size();
       ++At)
    Shadow[At] &= 0xef;
}

} // namespace pagedattn::emu
