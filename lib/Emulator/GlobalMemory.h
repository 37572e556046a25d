//===- GlobalMemory.h - Sparse device memory with shadow --------*- C++ -*-===//
//
// Every allocation is a reserved host range that the operating system commits
// page by page. Beside it lies a shadow byte per dword: the low nibble has a
// bit per byte that holds a defined value, the high nibble a bit per byte that
// a kernel has stored to.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_GLOBALMEMORY_H
#define PAGEDATTN_LIB_EMULATOR_GLOBALMEMORY_H

#include "PagedAttn/Emulator/Emulator.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <mutex>

namespace pagedattn::emu {

struct Allocation {
  uint64_t Base = 0; ///< device address
  uint64_t Size = 0;
  uint8_t *Data = nullptr;
  uint8_t *Shadow = nullptr;
  bool Defined = false; ///< all bytes defined from the start
  bool HostOwned = false;
  bool Code = false;     ///< part of a code object
  bool ReadOnly = false; ///< stores are invalid accesses
  /// Place in counts by allocation, less than the most that there were at once.
  uint32_t Number = 0;
  std::string Name;

  bool contains(uint64_t Address, uint64_t Bytes) const {
    return Address - Base < Size && Bytes <= Size - (Address - Base);
  }
  /// Every byte of the range has a defined value.
  bool isDefined(uint64_t Address, uint64_t Bytes) const;
  void markDefined(uint64_t Address, uint64_t Bytes);
  /// Defined, and stored to by a kernel.
  void markStored(uint64_t Address, uint64_t Bytes);
};

class GlobalMemory {
public:
  GlobalMemory();
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  llvm::Expected<Allocation *> allocate(uint64_t Bytes, Contents Initial,
                                        llvm::StringRef Name);
  llvm::Expected<Allocation *> mapHost(void *Data, uint64_t Bytes,
                                       bool Writable, llvm::StringRef Name);
  /// Base must be the start of an allocation.
  llvm::Error release(uint64_t Base, bool Host);

  /// The allocation that holds the whole range, or null.
  const Allocation *find(uint64_t Address, uint64_t Bytes) const;
  Allocation *find(uint64_t Address, uint64_t Bytes) {
    return const_cast<Allocation *>(
        static_cast<const GlobalMemory *>(this)->find(Address, Bytes));
  }
  void forEach(llvm::function_ref<void(const Allocation &)> Body) const;
  /// "beyond the end of NAME by N bytes" or the like, for reports.
  std::string describe(uint64_t Address) const;

private:
  /// Takes over an allocation that is complete but for its number. Needs Lock.
  Allocation *insert(std::unique_ptr<Allocation> A);

  mutable std::mutex Lock;
  std::map<uint64_t, std::unique_ptr<Allocation>> Allocations;
  std::vector<uint32_t> FreeNumbers;
  uint64_t Next;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_GLOBALMEMORY_H
