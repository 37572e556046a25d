//===- LocalMemory.cpp - LDS of one workgroup -----------------------------===//

#include "LocalMemory.h"
#include "Wave.h"
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
  if (Accesses.size() < Words)
    Accesses.resize(Words);
  if (EpochBase > 0xf0000000u) {
    std::fill(Accesses.begin(), Accesses.end(), Access());
    EpochBase = 1;
  }
}

void LocalMemory::checkWords(Wave &W, const Instruction &I, unsigned Lane,
                             uint32_t Address, unsigned Count, bool Read,
                             bool Write) {
  const LaunchOptions &Options = *W.Group->Options;
  const bool Races = Options.CheckRaces && W.Group->Waves.size() > 1;
  const uint32_t Epoch = EpochBase + W.Epoch;
  const uint8_t Self = uint8_t(W.Id);
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
      Access &A = Accesses[At >> 2];
      if (A.WriteEpoch == Epoch && A.WriteWave != Self && (A.WriteMask & Mask))
        Racer = A.WriteWave;
      if (Write && A.ReadEpoch == Epoch && A.ReadWave != Self &&
          (A.ReadMask & Mask))
        Racer = A.ReadWave;
      // Atomics do both and are not recorded: they do not race with each
      // other.
      if (Read && !Write) {
        if (A.ReadEpoch != Epoch) {
          A.ReadEpoch = Epoch;
          A.ReadWave = Self;
          A.ReadMask = Mask;
        } else {
          if (A.ReadWave != Self)
            A.ReadWave = ManyWaves;
          A.ReadMask |= Mask;
        }
      } else if (Write && !Read) {
        if (A.WriteEpoch != Epoch || A.WriteWave != Self) {
          A.WriteEpoch = Epoch;
          A.WriteWave = Self;
          A.WriteMask = Mask;
        } else {
          A.WriteMask |= Mask;
        }
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
