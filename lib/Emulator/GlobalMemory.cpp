//===- GlobalMemory.cpp - Sparse device memory with shadow ----------------===//

#include "GlobalMemory.h"
#include "Wave.h"
#include "WaveAccess.h"
#include "llvm/Support/FormatVariadic.h"
#include <sys/mman.h>

using namespace llvm;

namespace pagedattn::emu {

namespace {

constexpr uint64_t FirstAddress = uint64_t(1) << 40;
constexpr uint64_t LastAddress = uint64_t(1) << 46;
constexpr uint64_t Alignment = 4096;
/// Unmapped bytes between allocations, so that an overrun never lands in the
/// neighbour.
constexpr uint64_t Guard = uint64_t(1) << 16;

uint8_t *reserve(uint64_t Bytes) {
  void *P = mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return P == MAP_FAILED ? nullptr : static_cast<uint8_t *>(P);
}

uint64_t roundUp(uint64_t X, uint64_t To) { return (X + To - 1) / To * To; }

uint64_t dataBytes(uint64_t Size) { return roundUp(Size + 16, Alignment); }
uint64_t shadowBytes(uint64_t Size) {
  return roundUp(Size / 4 + 16, Alignment);
}

/// Calls Body(shadow byte, mask of the bytes concerned) over a range. Host
/// mappings may start unaligned; offsets are relative to the allocation.
template <class BodyT>
void overShadow(uint8_t *Shadow, uint64_t Offset, uint64_t Bytes, BodyT Body) {
  uint64_t End = Offset + Bytes;
  while (Offset < End) {
    unsigned First = Offset & 3;
    unsigned N = unsigned(std::min<uint64_t>(4 - First, End - Offset));
    Body(Shadow[Offset >> 2], uint8_t(((1u << N) - 1) << First));
    Offset += N;
  }
}

} // namespace

bool Allocation::isDefined(uint64_t Address, uint64_t Bytes) const {
  if (Defined)
    return true;
  uint64_t Offset = Address - Base;
  bool All = true;
  overShadow(Shadow, Offset, Bytes, [&](uint8_t &S, uint8_t Mask) {
    All &= (__atomic_load_n(&S, __ATOMIC_RELAXED) & Mask) == Mask;
  });
  return All;
}

void Allocation::markDefined(uint64_t Address, uint64_t Bytes) {
  if (Defined)
    return;
  uint64_t Offset = Address - Base;
  overShadow(Shadow, Offset, Bytes, [](uint8_t &S, uint8_t Mask) {
    __atomic_fetch_or(&S, Mask, __ATOMIC_RELAXED);
  });
}

void Allocation::markStored(uint64_t Address, uint64_t Bytes) {
  uint64_t Offset = Address - Base;
  if (((Offset | Bytes) & 3) == 0) {
    // Whole dwords: one value in the shadow, whoever else writes it. Atomics of
    // several workgroups meet here, so that short ones are relaxed stores.
    uint8_t *First = Shadow + (Offset >> 2);
    if (Bytes > 8)
      std::memset(First, 0xff, Bytes >> 2);
    else
      for (uint64_t D = 0; D != Bytes >> 2; ++D)
        __atomic_store_n(First + D, uint8_t(0xff), __ATOMIC_RELAXED);
    return;
  }
  overShadow(Shadow, Offset, Bytes, [](uint8_t &S, uint8_t Mask) {
    uint8_t Both = uint8_t(Mask | Mask << 4);
    if ((__atomic_load_n(&S, __ATOMIC_RELAXED) & Both) != Both)
      __atomic_fetch_or(&S, Both, __ATOMIC_RELAXED);
  });
}

GlobalMemory::GlobalMemory() : Next(FirstAddress) {}

GlobalMemory::~GlobalMemory() {
  for (auto &[Base, A] : Allocations) {
    if (!A->HostOwned)
      munmap(A->Data, dataBytes(A->Size));
    munmap(A->Shadow, shadowBytes(A->Size));
  }
}

Allocation *GlobalMemory::insert(std::unique_ptr<Allocation> A) {
  if (FreeNumbers.empty()) {
    A->Number = uint32_t(Allocations.size());
  } else {
    A->Number = FreeNumbers.back();
    FreeNumbers.pop_back();
  }
  Allocation *Result = A.get();
  Allocations.emplace(A->Base, std::move(A));
  return Result;
}

Expected<Allocation *> GlobalMemory::allocate(uint64_t Bytes, Contents Initial,
                                              StringRef Name) {
  if (Bytes > LastAddress)
    return createStringError(
        formatv("cannot allocate {0} bytes of device memory", Bytes).str());
  std::lock_guard<std::mutex> Hold(Lock);
  auto A = std::make_unique<Allocation>();
  A->Size = Bytes;
  A->Base = Next;
  A->Defined = Initial == Contents::Zero;
  A->Name = Name.str();
  if (LastAddress - Next < Bytes + Guard)
    return createStringError("device address space is used up");
  A->Data = reserve(dataBytes(Bytes));
  A->Shadow = reserve(shadowBytes(Bytes));
  if (!A->Data || !A->Shadow) {
    if (A->Data)
      munmap(A->Data, dataBytes(Bytes));
    return createStringError(
        formatv("cannot reserve {0} bytes of host memory", Bytes).str());
  }
  Next = roundUp(Next + Bytes + Guard, Alignment);
  return insert(std::move(A));
}

Expected<Allocation *> GlobalMemory::mapHost(void *Data, uint64_t Bytes,
                                             bool Writable, StringRef Name) {
  uint64_t Base = reinterpret_cast<uintptr_t>(Data);
  std::lock_guard<std::mutex> Hold(Lock);
  auto After = Allocations.lower_bound(Base);
  bool Overlaps = After != Allocations.end() && After->first - Base < Bytes;
  if (After != Allocations.begin()) {
    const Allocation &Before = *std::prev(After)->second;
    Overlaps |= Base - Before.Base < Before.Size;
  }
  if (Overlaps)
    return createStringError(
        formatv("host range at {0:x} overlaps memory of the device", Base)
            .str());
  auto A = std::make_unique<Allocation>();
  A->Base = Base;
  A->Size = Bytes;
  A->Data = static_cast<uint8_t *>(Data);
  A->Shadow = reserve(shadowBytes(Bytes));
  if (!A->Shadow)
    return createStringError("cannot reserve host memory for the shadow");
  A->Defined = true;
  A->HostOwned = true;
  A->ReadOnly = !Writable;
  A->Name = Name.str();
  return insert(std::move(A));
}

Error GlobalMemory::release(uint64_t Base, bool Host) {
  std::lock_guard<std::mutex> Hold(Lock);
  auto It = Allocations.find(Base);
  if (It == Allocations.end() || It->second->HostOwned != Host)
    return createStringError(formatv("no {0} starts at address {1:x}",
                                     Host ? "host mapping" : "allocation", Base)
                                 .str());
  if (!Host)
    munmap(It->second->Data, dataBytes(It->second->Size));
  munmap(It->second->Shadow, shadowBytes(It->second->Size));
  FreeNumbers.push_back(It->second->Number);
  Allocations.erase(It);
  return Error::success();
}

const Allocation *GlobalMemory::find(uint64_t Address, uint64_t Bytes) const {
  std::lock_guard<std::mutex> Hold(Lock);
  auto It = Allocations.upper_bound(Address);
  if (It == Allocations.begin())
    return nullptr;
  const Allocation &A = *std::prev(It)->second;
  return A.contains(Address, Bytes) ? &A : nullptr;
}

void GlobalMemory::forEach(function_ref<void(const Allocation &)> Body) const {
  std::lock_guard<std::mutex> Hold(Lock);
  for (const auto &[Base, A] : Allocations)
    Body(*A);
}

std::string GlobalMemory::describe(uint64_t Address) const {
  std::lock_guard<std::mutex> Hold(Lock);
  if (Allocations.empty())
    return "there are no allocations";
  auto It = Allocations.upper_bound(Address);
  auto NameOf = [](const Allocation &A) {
    return A.Name.empty() ? formatv("the allocation at {0:x}", A.Base).str()
                          : formatv("{0} at {1:x}", A.Name, A.Base).str();
  };
  if (It == Allocations.begin())
    return formatv("{0} bytes before {1}", It->first - Address,
                   NameOf(*It->second))
        .str();
  const Allocation &A = *std::prev(It)->second;
  uint64_t Offset = Address - A.Base;
  if (Offset < A.Size)
    return formatv("{0} bytes before the end of {1}", A.Size - Offset,
                   NameOf(A))
        .str();
  return formatv("{0} bytes past the end of {1} of {2} bytes", Offset - A.Size,
                 NameOf(A), A.Size)
      .str();
}

//===----------------------------------------------------------------------===//
// Checked accesses
//===----------------------------------------------------------------------===//

Allocation *lookUp(Wave &W, uint64_t Address, uint64_t Bytes) {
  for (Allocation *A : W.Recent)
    if (A && A->contains(Address, Bytes))
      return A;
  Allocation *A = W.Group->Memory->find(Address, Bytes);
  if (A)
    W.Recent[W.NextRecent++ % W.Recent.size()] = A;
  return A;
}

static Allocation *locate(Wave &W, int Lane, uint64_t Address, unsigned Bytes,
                          const char *What) {
  Allocation *A = lookUp(W, Address, Bytes);
  if (!A)
    W.fatal(ReportKind::InvalidAccess,
            formatv("{0} of {1} bytes at address {2:x} outside every "
                    "allocation: {3}",
                    What, Bytes, Address, W.Group->Memory->describe(Address))
                .str(),
            Lane, Address, Bytes);
  return A;
}

/// As locate, for memory to be changed.
static Allocation *locateWritable(Wave &W, int Lane, uint64_t Address,
                                  unsigned Bytes, const char *What) {
  Allocation *A = locate(W, Lane, Address, Bytes, What);
  if (!A || !A->ReadOnly)
    return A;
  W.fatal(ReportKind::InvalidAccess,
          formatv("{0} of {1} bytes at offset {2} of {3}, which is read-only",
                  What, Bytes, Address - A->Base, A->Name)
              .str(),
          Lane, Address, Bytes);
  return nullptr;
}

bool loadGlobal(Wave &W, const Instruction &I, int Lane, uint64_t Address,
                void *To, unsigned Bytes) {
  Allocation *A = locate(W, Lane, Address, Bytes, "load");
  if (!A) {
    std::memset(To, 0, Bytes);
    return false;
  }
  std::memcpy(To, A->Data + (Address - A->Base), Bytes);
  W.Thread->countLoaded(*A, Bytes);
  if (LLVM_UNLIKELY(!A->Defined) && W.Group->Options->CheckUninitialized &&
      !A->isDefined(Address, Bytes))
    W.report(
        ReportKind::UninitializedRead, Lane, Address, Bytes, 0,
        [&]() -> std::string {
          return formatv(
                     "load of {0} bytes at offset {1} of {2} reads memory that "
                     "was never written",
                     Bytes, Address - A->Base,
                     A->Name.empty() ? "an allocation" : A->Name)
              .str();
        });
  return true;
}

bool storeGlobal(Wave &W, const Instruction &I, int Lane, uint64_t Address,
                 const void *From, unsigned Bytes) {
  Allocation *A = locateWritable(W, Lane, Address, Bytes, "store");
  if (!A)
    return false;
  std::memcpy(A->Data + (Address - A->Base), From, Bytes);
  A->markStored(Address, Bytes);
  W.Thread->countStored(*A, Bytes);
  return true;
}

uint8_t *atomicGlobal(Wave &W, const Instruction &I, int Lane, uint64_t Address,
                      unsigned Bytes) {
  Allocation *A = locateWritable(W, Lane, Address, Bytes, "atomic");
  if (!A)
    return nullptr;
  if (Address & (Bytes - 1)) {
    W.fatal(ReportKind::InvalidAccess,
            formatv("atomic of {0} bytes at misaligned address {1:x}", Bytes,
                    Address)
                .str(),
            Lane, Address, Bytes);
    return nullptr;
  }
  if (!A->Defined && W.Group->Options->CheckUninitialized &&
      !A->isDefined(Address, Bytes))
    W.report(
        ReportKind::UninitializedRead, Lane, Address, Bytes, 0,
        [&]() -> std::string {
          return formatv(
                     "atomic of {0} bytes at offset {1} of {2} reads memory "
                     "that was never written",
                     Bytes, Address - A->Base,
                     A->Name.empty() ? "an allocation" : A->Name)
              .str();
        });
  A->markStored(Address, Bytes);
  W.Thread->countLoaded(*A, Bytes);
  W.Thread->countStored(*A, Bytes);
  return A->Data + (Address - A->Base);
}

} // namespace pagedattn::emu
