//===- Emulator.cpp - Device, modules and memory of the C++ API -----------===//

#include "PagedAttn/Emulator/Emulator.h"
#include "ChipInfo.h"
#include "CodeObject.h"
#include "GlobalMemory.h"
#include "SparseFill.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pagedattn::emu {

void Stats::merge(const Stats &Other) {
  for (const auto &[Name, N] : Other.ByMnemonic)
    ByMnemonic[Name] += N;
  for (const auto &[Name, N] : Other.ByClass)
    ByClass[Name] += N;
  Instructions += Other.Instructions;
  MatrixOps += Other.MatrixOps;
  for (unsigned S = 0; S != NumMemorySpaces; ++S) {
    BytesLoaded[S] += Other.BytesLoaded[S];
    BytesStored[S] += Other.BytesStored[S];
  }
  for (const auto &[Name, Bytes] : Other.ByBuffer)
    ByBuffer[Name].add(Bytes);
  LdsConflicts += Other.LdsConflicts;
  Workgroups += Other.Workgroups;
  Waves += Other.Waves;
  Seconds += Other.Seconds;
}

Module::Module(std::unique_ptr<CodeObject> Impl) : Impl(std::move(Impl)) {}
Module::~Module() = default;
ArrayRef<Kernel> Module::kernels() const { return Impl->kernels(); }
const Kernel *Module::kernel(StringRef Name) const {
  return Impl->kernel(Name);
}
Expected<std::pair<uint64_t, uint64_t>> Module::symbol(StringRef Name) const {
  return Impl->symbol(Name);
}

Device::Device(const ChipInfo &Chip)
    : Chip(Chip), Memory(std::make_unique<GlobalMemory>()) {}
Device::~Device() = default;

std::vector<std::string> Device::knownChips() {
  std::vector<std::string> Names;
  for (const ChipInfo &C : chipTable())
    Names.push_back(C.Name.str());
  return Names;
}

Expected<std::unique_ptr<Device>> Device::create(StringRef Chip) {
  if (const ChipInfo *Info = findChip(Chip))
    return std::unique_ptr<Device>(new Device(*Info));
  std::string Known;
  for (const ChipInfo &C : chipTable())
    Known += (Known.empty() ? "" : ", ") + C.Name.str();
  return createStringError("unknown chip '" + Chip.str() +
                           "': expected one of " + Known);
}

StringRef Device::chip() const { return Chip.Name; }
unsigned Device::waveSize() const { return Chip.WaveSize; }
unsigned Device::ldsLimit() const { return Chip.LdsLimit; }

Expected<uint64_t> Device::allocate(uint64_t Bytes, Contents Initial,
                                    StringRef Name) {
  auto A = Memory->allocate(Bytes, Initial, Name);
  if (!A)
    return A.takeError();
  return (*A)->Base;
}

Error Device::release(uint64_t Address) {
  return Memory->release(Address, /*Host=*/false);
}

static Error outside(const GlobalMemory &Memory, uint64_t Address,
                     uint64_t Bytes) {
  return createStringError(
      formatv(
          "device range of {0} bytes at {1:x} is not in one allocation: {2}",
          Bytes, Address, Memory.describe(Address))
          .str());
}

static Error checkWritable(const Allocation &A) {
  if (!A.ReadOnly)
    return Error::success();
  return createStringError(A.Name + " is mapped read-only");
}

Error Device::write(uint64_t Address, const void *Data, uint64_t Bytes) {
  if (Bytes == 0)
    return Error::success();
  Allocation *A = Memory->find(Address, Bytes);
  if (!A)
    return outside(*Memory, Address, Bytes);
  if (Error E = checkWritable(*A))
    return E;
  std::memcpy(A->Data + (Address - A->Base), Data, Bytes);
  A->markDefined(Address, Bytes);
  return Error::success();
}

Error Device::read(uint64_t Address, void *Data, uint64_t Bytes) const {
  if (Bytes == 0)
    return Error::success();
  const Allocation *A = Memory->find(Address, Bytes);
  if (!A)
    return outside(*Memory, Address, Bytes);
  std::memcpy(Data, A->Data + (Address - A->Base), Bytes);
  return Error::success();
}

Error Device::copy(uint64_t To, uint64_t From, uint64_t Bytes) {
  if (Bytes == 0)
    return Error::success();
  Allocation *A = Memory->find(To, Bytes);
  const Allocation *B = Memory->find(From, Bytes);
  if (!A)
    return outside(*Memory, To, Bytes);
  if (!B)
    return outside(*Memory, From, Bytes);
  if (Error E = checkWritable(*A))
    return E;
  std::memmove(A->Data + (To - A->Base), B->Data + (From - B->Base), Bytes);
  if (B->isDefined(From, Bytes)) {
    A->markDefined(To, Bytes);
    return Error::success();
  }
  for (uint64_t I = 0; I != Bytes; ++I)
    if (B->isDefined(From + I, 1))
      A->markDefined(To + I, 1);
  return Error::success();
}

Error Device::fill(uint64_t Address, uint64_t Pattern, unsigned PatternBytes,
                   uint64_t Count) {
  if (PatternBytes != 1 && PatternBytes != 2 && PatternBytes != 4 &&
      PatternBytes != 8)
    return createStringError(
        formatv("fill pattern of {0} bytes: expected 1, 2, 4 or 8",
                PatternBytes)
            .str());
  if (Count == 0)
    return Error::success();
  if (Count > ~uint64_t(0) / PatternBytes)
    return createStringError("fill is larger than the address space");
  const uint64_t Bytes = Count * PatternBytes;
  Allocation *A = Memory->find(Address, Bytes);
  if (!A)
    return outside(*Memory, Address, Bytes);
  if (Error E = checkWritable(*A))
    return E;
  // Memory of the host program is not ours to remap.
  fillPattern(A->Data + (Address - A->Base), Bytes, Pattern, PatternBytes,
              /*MayRemap=*/!A->HostOwned);
  A->markDefined(Address, Bytes);
  return Error::success();
}

Error Device::mapHost(void *Data, uint64_t Bytes, bool Writable,
                      StringRef Name) {
  auto A = Memory->mapHost(Data, Bytes, Writable, Name);
  return A ? Error::success() : A.takeError();
}

Error Device::unmapHost(void *Data) {
  return Memory->release(reinterpret_cast<uintptr_t>(Data), /*Host=*/true);
}

uint8_t *Device::hostPointer(uint64_t Address, uint64_t Bytes) const {
  const Allocation *A = Memory->find(Address, Bytes);
  return A ? A->Data + (Address - A->Base) : nullptr;
}

bool Device::contains(uint64_t Address) const {
  return Memory->find(Address, 1) != nullptr;
}

/// Bytes stored to among Bytes at Offset. Untouched shadow reads as zero pages
/// of the operating system and costs no memory.
static uint64_t countStored(const Allocation &A, uint64_t Offset,
                            uint64_t Bytes) {
  const uint64_t End = Offset + Bytes;
  uint64_t N = 0;
  while (Offset != End && Offset & 3) {
    N += (A.Shadow[Offset >> 2] >> (4 + (Offset & 3))) & 1;
    ++Offset;
  }
  for (; End - Offset >= 32; Offset += 32) {
    uint64_t Eight;
    std::memcpy(&Eight, A.Shadow + (Offset >> 2), 8);
    N += unsigned(popcount(Eight & 0xf0f0f0f0f0f0f0f0u));
  }
  for (; End - Offset >= 4; Offset += 4)
    N += unsigned(popcount(uint8_t(A.Shadow[Offset >> 2] >> 4)));
  for (; Offset != End; ++Offset)
    N += (A.Shadow[Offset >> 2] >> (4 + (Offset & 3))) & 1;
  return N;
}

uint64_t Device::countWritten(uint64_t Address, uint64_t Bytes) const {
  const Allocation *A = Bytes ? Memory->find(Address, Bytes) : nullptr;
  return A ? countStored(*A, Address - A->Base, Bytes) : 0;
}

std::vector<bool> Device::writtenElements(uint64_t Address,
                                          uint64_t ElementBytes,
                                          uint64_t Count) const {
  std::vector<bool> Written(Count, false);
  if (!ElementBytes || !Count || Count > ~uint64_t(0) / ElementBytes)
    return Written;
  const Allocation *A = Memory->find(Address, Count * ElementBytes);
  if (!A)
    return Written;
  const uint64_t Offset = Address - A->Base;
  for (uint64_t I = 0; I != Count; ++I)
    Written[I] = countStored(*A, Offset + I * ElementBytes, ElementBytes) ==
                 ElementBytes;
  return Written;
}

Error Device::clearWritten(uint64_t Address, uint64_t Bytes) {
  if (Bytes == 0)
    return Error::success();
  Allocation *A = Memory->find(Address, Bytes);
  if (!A)
    return outside(*Memory, Address, Bytes);
  // Only what is set is written, so that untouched memory stays so.
  for (uint64_t O = Address - A->Base, E = O + Bytes; O != E;) {
    const unsigned First = O & 3;
    const unsigned N = unsigned(std::min<uint64_t>(4 - First, E - O));
    const uint8_t Mask = uint8_t(((1u << N) - 1) << (4 + First));
    uint8_t &S = A->Shadow[O >> 2];
    if (S & Mask)
      S &= uint8_t(~Mask);
    O += N;
  }
  return Error::success();
}

Expected<Module *> Device::load(StringRef Elf, StringRef Name) {
  auto C = CodeObject::load(Chip, *Memory, Elf, Name);
  if (!C)
    return C.takeError();
  Modules.push_back(std::unique_ptr<Module>(new Module(std::move(*C))));
  return Modules.back().get();
}

Error Device::unload(Module *M) {
  for (auto It = Modules.begin(); It != Modules.end(); ++It)
    if (It->get() == M) {
      Modules.erase(It);
      return Error::success();
    }
  return createStringError("the module is not loaded on this device");
}

} // namespace pagedattn::emu
