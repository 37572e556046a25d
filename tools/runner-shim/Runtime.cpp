//===- Runtime.cpp - MLIR's GPU runtime on the emulator -------------------===//
//
// The mgpu* entry points that host code lowered by gpu-to-llvm calls, for
// mlir-runner --shared-libs=libpagedattn_emu_runtime.so. Launches run to their
// end before they return, so that streams and events are only names.
//
// Environment:
//   PAGEDATTN_EMU_CHIP     chip of memory that is allocated before any code
//                          object is loaded; otherwise the first one decides
//   PAGEDATTN_EMU_THREADS  host threads, 0 for one per core
//   PAGEDATTN_EMU_SEED     permutes workgroups and waves, 0 keeps the order
//   PAGEDATTN_EMU_BUDGET   wave instructions a workgroup may execute
//   PAGEDATTN_EMU_REPORT   text (default), json or none; goes to stderr
//   PAGEDATTN_EMU_STATS    file that gets one line of JSON per launch
//
// Anything that goes wrong ends the process, with the exit codes of pa-run: 2
// for misuse, 3 invalid access, 4 unknown instruction, 5 no progress.
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Emulator/Emulator.h"
#include "PagedAttn/Emulator/ReportWriter.h"
#include "llvm/ADT/Twine.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

using namespace llvm;
using namespace pagedattn;

namespace {

constexpr int ExitMisuse = 2;

[[noreturn]] void die(const Twine &Message, int Code = ExitMisuse) {
  std::fflush(stdout);
  errs() << "pagedattn emulator: error: " << Message << '\n';
  errs().flush();
  // Not exit: destructors of a half-run program have nothing to say any more.
  std::_Exit(Code);
}

[[noreturn]] void die(Error E) { die(toString(std::move(E))); }

template <typename T>
T orDie(Expected<T> X) {
  if (!X)
    die(X.takeError());
  return std::move(*X);
}

void orDie(Error E) {
  if (E)
    die(std::move(E));
}

StringRef environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? StringRef(Value) : StringRef();
}

uint64_t environmentNumber(const char *Name, uint64_t Default) {
  StringRef Text = environment(Name);
  uint64_t X = Default;
  if (!Text.empty() && Text.getAsInteger(0, X))
    die(Twine(Name) + ": expected an integer, found '" + Text + "'");
  return X;
}

/// The chip an AMDGPU ELF is for.
std::string chipOfElf(StringRef Elf) {
  auto File = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(Elf, "code object"));
  if (!File)
    die("module is not an ELF code object: " + toString(File.takeError()));
  auto *Object = cast<object::ELFObjectFileBase>(File->get());
  std::optional<StringRef> Chip = Object->tryGetCPUName();
  if (Object->getEMachine() != ELF::EM_AMDGPU || !Chip)
    die("module is not an AMDGPU code object");
  return Chip->str();
}

/// The end of an ELF file, for callers that do not say: its section header
/// table comes last.
size_t sizeOfElf(const char *Data) {
  uint64_t TableAt;
  uint16_t EntryBytes, Entries;
  std::memcpy(&TableAt, Data + 40, sizeof(TableAt));
  std::memcpy(&EntryBytes, Data + 58, sizeof(EntryBytes));
  std::memcpy(&Entries, Data + 60, sizeof(Entries));
  return TableAt + uint64_t(EntryBytes) * Entries;
}

/// Host memory that kernels see at its own address.
struct HostRange {
  unsigned Uses = 0;
  uint64_t Bytes = 0;
  bool Owned = false; ///< allocated by mgpuMemAlloc
};

class Runtime {
public:
  static Runtime &get() {
    // Leaked: module destructors of the host program may still call in.
    static Runtime *R = new Runtime();
    return *R;
  }

  emu::Module *load(const void *Data, size_t Bytes);
  void unload(emu::Module *M);
  void launch(const emu::Kernel &K, emu::Dim3 Grid, emu::Dim3 Block,
              uint32_t Lds, void **Params, void **Extra, size_t Count);
  void *allocate(uint64_t Bytes, bool HostShared);
  void release(void *Pointer);
  void copy(void *To, const void *From, uint64_t Bytes);
  void fill(void *To, uint64_t Pattern, unsigned PatternBytes, uint64_t Count);
  void mapHost(void *Data, uint64_t Bytes);
  void unmapHost(void *Data);

private:
  emu::Device &device();
  bool onDevice(const void *Pointer) {
    return Dev && Dev->contains(reinterpret_cast<uint64_t>(Pointer));
  }
  void report(const emu::Kernel &K, const emu::LaunchResult &Result);

  std::recursive_mutex Lock;
  std::unique_ptr<emu::Device> Dev;
  std::map<void *, HostRange> Hosts;
};

emu::Device &Runtime::device() {
  if (!Dev) {
    StringRef Chip = environment("PAGEDATTN_EMU_CHIP");
    if (Chip.empty())
      die("memory is used before a module is loaded: set PAGEDATTN_EMU_CHIP");
    Dev = orDie(emu::Device::create(Chip));
  }
  return *Dev;
}

emu::Module *Runtime::load(const void *Data, size_t Bytes) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (!Data)
    die("mgpuModuleLoad of a null pointer");
  const char *Begin = static_cast<const char *>(Data);
  if (Bytes == 0)
    Bytes = sizeOfElf(Begin);
  StringRef Elf(Begin, Bytes);
  std::string Chip = chipOfElf(Elf);
  if (!Dev)
    Dev = orDie(emu::Device::create(Chip));
  if (Dev->chip() != StringRef(Chip))
    die("module is for " + Twine(Chip) + ", the device is a " + Dev->chip());
  return orDie(Dev->load(Elf));
}

void Runtime::unload(emu::Module *M) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  orDie(device().unload(M));
}

void *Runtime::allocate(uint64_t Bytes, bool HostShared) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  // An empty memref still gets an address of its own.
  Bytes = std::max<uint64_t>(Bytes, 1);
  if (!HostShared)
    return reinterpret_cast<void *>(orDie(device().allocate(Bytes)));
  void *Data = std::calloc(Bytes, 1);
  if (!Data)
    die("cannot allocate " + Twine(Bytes) + " bytes of host memory");
  orDie(device().mapHost(Data, Bytes));
  Hosts[Data] = {1, Bytes, true};
  return Data;
}

void Runtime::release(void *Pointer) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (!Pointer)
    return;
  auto Host = Hosts.find(Pointer);
  if (Host == Hosts.end() || !Host->second.Owned)
    return orDie(device().release(reinterpret_cast<uint64_t>(Pointer)));
  orDie(device().unmapHost(Pointer));
  Hosts.erase(Host);
  std::free(Pointer);
}

void Runtime::copy(void *To, const void *From, uint64_t Bytes) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (Bytes == 0)
    return;
  uint64_t ToAddress = reinterpret_cast<uint64_t>(To);
  uint64_t FromAddress = reinterpret_cast<uint64_t>(From);
  bool ToDevice = onDevice(To), FromDevice = onDevice(From);
  if (ToDevice && FromDevice)
    orDie(Dev->copy(ToAddress, FromAddress, Bytes));
  else if (ToDevice)
    orDie(Dev->write(ToAddress, From, Bytes));
  else if (FromDevice)
    orDie(Dev->read(FromAddress, To, Bytes));
  else
    std::memmove(To, From, Bytes);
}

void Runtime::fill(void *To, uint64_t Pattern, unsigned PatternBytes,
                   uint64_t Count) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (Count)
    orDie(device().fill(reinterpret_cast<uint64_t>(To), Pattern, PatternBytes,
                        Count));
}

void Runtime::mapHost(void *Data, uint64_t Bytes) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (Bytes == 0)
    return;
  HostRange &R = Hosts[Data];
  if (R.Uses && Bytes > R.Bytes)
    die("host memory is registered again with " + Twine(Bytes) +
        " bytes, before it had " + Twine(R.Bytes));
  if (R.Uses++ == 0) {
    R.Bytes = Bytes;
    orDie(device().mapHost(Data, Bytes));
  }
}

void Runtime::unmapHost(void *Data) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  auto Host = Hosts.find(Data);
  if (Host == Hosts.end())
    return; // an empty range was never mapped
  if (--Host->second.Uses)
    return;
  orDie(device().unmapHost(Data));
  Hosts.erase(Host);
}

void Runtime::launch(const emu::Kernel &K, emu::Dim3 Grid, emu::Dim3 Block,
                     uint32_t Lds, void **Params, void **Extra, size_t Count) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (Extra)
    die("kernel " + Twine(K.Name) +
        ": launches with an argument buffer are not supported");
  std::vector<uint8_t> Kernarg(K.KernargBytes, 0);
  size_t Next = 0;
  for (const emu::KernelArg &A : K.Args) {
    if (A.isHidden())
      continue;
    if (Next == Count)
      die("kernel " + Twine(K.Name) + " is launched with " + Twine(Count) +
          " arguments and takes more");
    if (uint64_t(A.Offset) + A.Size > Kernarg.size())
      die("kernel " + Twine(K.Name) + ": argument " + Twine(Next) +
          " lies outside the kernel argument segment");
    std::memcpy(&Kernarg[A.Offset], Params[Next++], A.Size);
  }
  if (Next != Count)
    die("kernel " + Twine(K.Name) + " is launched with " + Twine(Count) +
        " arguments and takes " + Twine(Next));

  emu::LaunchOptions Options;
  Options.Seed = environmentNumber("PAGEDATTN_EMU_SEED", 0);
  Options.Threads = environmentNumber("PAGEDATTN_EMU_THREADS", 0);
  Options.InstructionBudget =
      environmentNumber("PAGEDATTN_EMU_BUDGET", Options.InstructionBudget);
  emu::LaunchResult Result =
      orDie(device().launch(K, Grid, Block, Lds, Kernarg, Options));
  report(K, Result);
  if (Result.Code != emu::Status::Ok)
    die(Result.Message, int(Result.Code));
}

void Runtime::report(const emu::Kernel &K, const emu::LaunchResult &Result) {
  StringRef Format = environment("PAGEDATTN_EMU_REPORT");
  if (Format.empty() || Format == "text") {
    emu::writeReports(errs(), Result);
  } else if (Format == "json") {
    errs() << formatv("{0}", json::Value(json::Object{
                                 {"kernel", json::fixUTF8(K.Name)},
                                 {"status", emu::statusName(Result.Code)},
                                 {"reports", emu::reportsToJson(Result)}}))
           << '\n';
  } else if (Format != "none") {
    die("PAGEDATTN_EMU_REPORT: expected text, json or none, found '" + Format +
        "'");
  }
  StringRef StatsPath = environment("PAGEDATTN_EMU_STATS");
  if (StatsPath.empty())
    return;
  std::error_code EC;
  raw_fd_ostream OS(StatsPath, EC, sys::fs::OF_Append);
  if (EC)
    die("cannot write '" + StatsPath + "': " + EC.message());
  json::Object Line = emu::statsToJson(Result.Counters);
  Line["kernel"] = json::fixUTF8(K.Name);
  OS << formatv("{0}", json::Value(std::move(Line))) << '\n';
}

/// A memref descriptor of any rank, as the host code lays it out.
struct MemRefDescriptor {
  char *Allocated;
  char *Aligned;
  int64_t Offset;
  int64_t SizesAndStrides[];
};

/// First byte and number of bytes from there that a memref spans.
std::pair<char *, uint64_t> spanOf(int64_t Rank, const MemRefDescriptor &D,
                                   int64_t ElementBytes) {
  int64_t Last = 0;
  for (int64_t I = 0; I != Rank; ++I) {
    if (D.SizesAndStrides[I] <= 0)
      return {D.Aligned, 0};
    int64_t Stride = D.SizesAndStrides[Rank + I];
    if (Stride < 0)
      die("host register of a memref with a negative stride");
    Last += (D.SizesAndStrides[I] - 1) * Stride;
  }
  return {D.Aligned + D.Offset * ElementBytes,
          uint64_t(Last + 1) * uint64_t(ElementBytes)};
}

struct FloatMemRef1d {
  float *Allocated, *Aligned;
  int64_t Offset, Size, Stride;
};

struct IntMemRef1d {
  int32_t *Allocated, *Aligned;
  int64_t Offset, Size, Stride;
};

/// Streams and events need an identity only.
void *newHandle() { return new char; }
void deleteHandle(void *Handle) { delete static_cast<char *>(Handle); }

} // namespace

#define PA_RUNTIME extern "C" __attribute__((visibility("default")))

PA_RUNTIME void *mgpuModuleLoad(void *Data, size_t Bytes) {
  return Runtime::get().load(Data, Bytes);
}

PA_RUNTIME void *mgpuModuleLoadJIT(void *Data, int OptLevel, size_t Bytes) {
  die("the module holds source to compile at run time: serialise it with "
      "format=binary");
}

PA_RUNTIME void mgpuModuleUnload(void *Module) {
  Runtime::get().unload(static_cast<emu::Module *>(Module));
}

PA_RUNTIME void *mgpuModuleGetFunction(void *Module, const char *Name) {
  const emu::Kernel *K = static_cast<emu::Module *>(Module)->kernel(Name);
  if (!K)
    die("the module has no kernel '" + Twine(Name) + "'");
  return const_cast<emu::Kernel *>(K);
}

PA_RUNTIME void mgpuLaunchKernel(void *Function, intptr_t GridX, intptr_t GridY,
                                 intptr_t GridZ, intptr_t BlockX,
                                 intptr_t BlockY, intptr_t BlockZ, int32_t Lds,
                                 void *Stream, void **Params, void **Extra,
                                 size_t Count) {
  const emu::Kernel &K = *static_cast<emu::Kernel *>(Function);
  const intptr_t Sizes[] = {GridX, GridY, GridZ, BlockX, BlockY, BlockZ};
  for (intptr_t S : Sizes)
    if (S <= 0 || S > intptr_t(UINT32_MAX))
      die("kernel " + Twine(K.Name) + " is launched with grid (" +
          Twine(GridX) + ", " + Twine(GridY) + ", " + Twine(GridZ) +
          ") and block (" + Twine(BlockX) + ", " + Twine(BlockY) + ", " +
          Twine(BlockZ) + "), expected sizes of at least 1");
  if (Lds < 0)
    die("kernel " + Twine(K.Name) + " is launched with " + Twine(Lds) +
        " bytes of dynamic LDS");
  Runtime::get().launch(K, {uint32_t(GridX), uint32_t(GridY), uint32_t(GridZ)},
                        {uint32_t(BlockX), uint32_t(BlockY), uint32_t(BlockZ)},
                        uint32_t(Lds), Params, Extra, Count);
}

PA_RUNTIME void *mgpuStreamCreate() { return newHandle(); }
PA_RUNTIME void mgpuStreamDestroy(void *Stream) { deleteHandle(Stream); }
PA_RUNTIME void mgpuStreamSynchronize(void *Stream) {}
PA_RUNTIME void mgpuStreamWaitEvent(void *Stream, void *Event) {}
PA_RUNTIME void *mgpuEventCreate() { return newHandle(); }
PA_RUNTIME void mgpuEventDestroy(void *Event) { deleteHandle(Event); }
PA_RUNTIME void mgpuEventSynchronize(void *Event) {}
PA_RUNTIME void mgpuEventRecord(void *Event, void *Stream) {}

PA_RUNTIME void *mgpuMemAlloc(uint64_t Bytes, void *Stream, bool HostShared) {
  return Runtime::get().allocate(Bytes, HostShared);
}

PA_RUNTIME void mgpuMemFree(void *Pointer, void *Stream) {
  Runtime::get().release(Pointer);
}

PA_RUNTIME void mgpuMemcpy(void *To, void *From, size_t Bytes, void *Stream) {
  Runtime::get().copy(To, From, Bytes);
}

PA_RUNTIME void mgpuMemset32(void *To, int Value, size_t Count, void *Stream) {
  Runtime::get().fill(To, uint32_t(Value), 4, Count);
}

PA_RUNTIME void mgpuMemset16(void *To, short Value, size_t Count,
                             void *Stream) {
  Runtime::get().fill(To, uint16_t(Value), 2, Count);
}

PA_RUNTIME void mgpuMemHostRegister(void *Pointer, uint64_t Bytes) {
  Runtime::get().mapHost(Pointer, Bytes);
}

PA_RUNTIME void mgpuMemHostRegisterMemRef(int64_t Rank, MemRefDescriptor *D,
                                          int64_t ElementBytes) {
  auto [Begin, Bytes] = spanOf(Rank, *D, ElementBytes);
  Runtime::get().mapHost(Begin, Bytes);
}

PA_RUNTIME void mgpuMemHostUnregister(void *Pointer) {
  Runtime::get().unmapHost(Pointer);
}

PA_RUNTIME void mgpuMemHostUnregisterMemRef(int64_t Rank, MemRefDescriptor *D,
                                            int64_t ElementBytes) {
  Runtime::get().unmapHost(spanOf(Rank, *D, ElementBytes).first);
}

// Host memory is visible at its own address, so that the device pointer of a
// registered memref is the host pointer.
PA_RUNTIME FloatMemRef1d mgpuMemGetDeviceMemRef1dFloat(float *Allocated,
                                                       float *Aligned,
                                                       int64_t Offset,
                                                       int64_t Size,
                                                       int64_t Stride) {
  return {Allocated, Aligned, Offset, Size, Stride};
}

PA_RUNTIME IntMemRef1d mgpuMemGetDeviceMemRef1dInt32(int32_t *Allocated,
                                                     int32_t *Aligned,
                                                     int64_t Offset,
                                                     int64_t Size,
                                                     int64_t Stride) {
  return {Allocated, Aligned, Offset, Size, Stride};
}

PA_RUNTIME void mgpuSetDefaultDevice(int32_t Device) {
  if (Device != 0)
    die("device " + Twine(Device) + " is selected, the emulator has device 0");
}
