//===- SparseFill.cpp - Patterns over reserved memory ---------------------===//

#include "SparseFill.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace pagedattn::emu {

namespace {

constexpr uint64_t Page = 4096;
/// Below this, copying is as good.
constexpr uint64_t SharedFrom = uint64_t(64) << 20;
constexpr uint64_t SmallestTile = uint64_t(2) << 20;
/// The kernel limits how many mappings a process has; leave most to others.
constexpr uint64_t MostMappings = 8192;

void copyPattern(uint8_t *To, uint64_t Bytes, uint64_t Pattern,
                 unsigned PatternBytes) {
  uint64_t Done = std::min<uint64_t>(Bytes, PatternBytes);
  std::memcpy(To, &Pattern, Done);
  while (Done < Bytes) {
    uint64_t N = std::min(Done, Bytes - Done);
    std::memcpy(To + Done, To, N);
    Done += N;
  }
}

/// Maps one file of pattern bytes over the whole range again and again. False
/// if the host cannot; what was mapped already holds the pattern.
bool mapPattern(uint8_t *To, uint64_t Bytes, uint64_t Pattern,
                unsigned PatternBytes) {
#if defined(__linux__)
  uint64_t Tile = SmallestTile;
  while (Bytes / Tile > MostMappings)
    Tile *= 2;
  int File = memfd_create("fill", MFD_CLOEXEC);
  if (File < 0)
    return false;
  std::vector<uint8_t> Data(Tile);
  copyPattern(Data.data(), Tile, Pattern, PatternBytes);
  bool Ok = true;
  for (uint64_t At = 0; Ok && At < Tile;) {
    ssize_t N = write(File, Data.data() + At, Tile - At);
    Ok = N > 0;
    At += Ok ? uint64_t(N) : 0;
  }
  for (uint64_t At = 0; Ok && At < Bytes; At += Tile)
    Ok = mmap(To + At, std::min(Tile, Bytes - At), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, File, 0) != MAP_FAILED;
  close(File);
  return Ok;
#else
  return false;
#endif
}

} // namespace

void fillPattern(uint8_t *To, uint64_t Bytes, uint64_t Pattern,
                 unsigned PatternBytes, bool MayRemap) {
  if (MayRemap && Bytes >= SharedFrom) {
    // Pages start at multiples of the pattern only if the range does.
    uint64_t Head = -reinterpret_cast<uintptr_t>(To) % Page;
    if (Head % PatternBytes == 0) {
      uint64_t Middle = (Bytes - Head) / Page * Page;
      if (mapPattern(To + Head, Middle, Pattern, PatternBytes)) {
        copyPattern(To, Head, Pattern, PatternBytes);
        copyPattern(To + Head + Middle, Bytes - Head - Middle, Pattern,
                    PatternBytes);
        return;
      }
    }
  }
  copyPattern(To, Bytes, Pattern, PatternBytes);
}

} // namespace pagedattn::emu
