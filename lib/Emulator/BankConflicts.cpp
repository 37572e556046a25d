//===- BankConflicts.cpp - Lanes that meet in a bank of LDS ---------------===//

#include "BankConflicts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <array>

using namespace llvm;

namespace pagedattn::emu {

constexpr unsigned MaxBanks = 64;

/// Cycles of lanes that go at once, of which some share a bank.
static uint64_t cyclesOf(SmallVectorImpl<uint32_t> &Dwords, unsigned Banks) {
  sort(Dwords);
  Dwords.erase(llvm::unique(Dwords), Dwords.end());
  std::array<uint8_t, MaxBanks> Counts = {};
  uint8_t Most = 1;
  for (uint32_t Dword : Dwords)
    Most = std::max(Most, ++Counts[Dword % Banks]);
  return Most;
}

uint64_t bankConflicts(ArrayRef<uint32_t> Addresses, uint64_t Exec,
                       unsigned Bytes, unsigned Banks) {
  const unsigned Dwords = (Bytes + 3) / 4;
  // Three dwords take the time of four.
  const unsigned Group = Banks / (Dwords == 3 ? 4 : Dwords);
  uint64_t Extra = 0;
  for (unsigned First = 0; First < Addresses.size(); First += Group) {
    // Most accesses have no two lanes in a bank.
    uint64_t Used = 0;
    bool IsFree = true;
    const unsigned End = std::min<unsigned>(First + Group, Addresses.size());
    for (unsigned Lane = First; Lane != End; ++Lane)
      if ((Exec >> Lane) & 1)
        for (unsigned I = 0; I != Dwords; ++I) {
          const uint64_t Bit = uint64_t(1)
                               << ((Addresses[Lane] / 4 + I) % Banks);
          IsFree &= (Used & Bit) == 0;
          Used |= Bit;
        }
    if (IsFree)
      continue;
    SmallVector<uint32_t, MaxBanks> All;
    for (unsigned Lane = First; Lane != End; ++Lane)
      if ((Exec >> Lane) & 1)
        for (unsigned I = 0; I != Dwords; ++I)
          All.push_back(Addresses[Lane] / 4 + I);
    Extra += cyclesOf(All, Banks) - 1;
  }
  return Extra;
}

} // namespace pagedattn::emu
