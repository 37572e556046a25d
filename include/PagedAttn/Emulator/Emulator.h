//===- Emulator.h - Run AMDGPU code objects on the CPU ----------*- C++ -*-===//
//
// The one header of the emulator's C++ API: a Device with sparse memory, code
// objects loaded onto it, launches, and what a launch reports.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_EMULATOR_EMULATOR_H
#define PAGEDATTN_EMULATOR_EMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// An emulator of AMDGPU code objects that needs neither MLIR nor a GPU.
namespace pagedattn::emu {

struct ChipInfo;
class CodeObject;
class GlobalMemory;

/// How a launch ended. The values are the exit codes of the command line tool.
enum class Status : uint8_t {
  Ok = 0,
  /// A memory access outside every allocation, or outside LDS or scratch.
  InvalidAccess = 3,
  /// An instruction, operand or modifier the emulator does not implement.
  UnknownInstruction = 4,
  /// A barrier that cannot complete, or the instruction budget is used up.
  NoProgress = 5,
  /// LaunchOptions::Cancel was set; what ran has left its traces in memory.
  Cancelled = 6,
};

/// What a report is about.
enum class ReportKind : uint8_t {
  DroppedStore,       ///< buffer store out of range of num_records
  OutOfRangeLoad,     ///< buffer load out of range of num_records, gives zero
  OutOfRangeAtomic,   ///< buffer atomic out of range of num_records
  UninitializedRead,  ///< global memory that nobody has written
  UninitializedLds,   ///< LDS that this workgroup has not written
  LdsOutOfRange,      ///< LDS address at or beyond the workgroup's size
  LdsRace,            ///< two waves, same LDS bytes, no barrier, one writes
  AsyncNotWaited,     ///< LDS read while an asynchronous copy to it is pending
  InvalidAccess,      ///< outside every allocation (fatal)
  UnknownInstruction, ///< (fatal)
  NoProgress,         ///< (fatal)
  Other,              ///< anything else; the text says what
};
/// "dropped-store", "lds-race", ...
llvm::StringRef reportKindName(ReportKind Kind);

/// One diagnostic. Equal (kind, pc) reports are counted after the first few.
struct Report {
  ReportKind Kind = ReportKind::Other; ///< what it is about
  bool Fatal = false;                  ///< the run ended with it
  std::string Kernel;                  ///< symbol of the kernel
  /// Address of the instruction as in the ELF file, so that it can be looked
  /// up in a disassembly.
  uint64_t Pc = 0;
  /// The instruction.
  std::string Disassembly;
  /// "file:line" when the code object has line tables, else empty.
  std::string SourceLine;
  std::array<uint32_t, 3> Workgroup = {0, 0, 0}; ///< its number in x, y, z
  uint32_t Wave = 0;                             ///< in the workgroup
  /// First lane concerned, -1 if the report is not about a lane.
  int32_t Lane = -1;
  /// Byte address or buffer offset; zero, as the next two, where it has no
  /// meaning.
  uint64_t Address = 0;
  /// Bytes of the access.
  uint64_t Size = 0;
  /// The limit it broke, in bytes: num_records, the size of LDS.
  uint64_t Limit = 0;
  /// What is wrong, in words.
  std::string Text;
};

/// All reports of one kind at one pc: the first examples and the count.
struct ReportGroup {
  ReportKind Kind = ReportKind::Other; ///< of all of them
  uint64_t Pc = 0;                     ///< as `Report::Pc`
  uint64_t Count = 0;                  ///< occurrences, one per lane and access
  std::vector<Report> Examples;        ///< the first ones
};

/// Where an instruction loads or stores.
enum class MemorySpace : uint8_t { Global, Lds, Scratch, Scalar };
/// How many there are.
constexpr unsigned NumMemorySpaces = 4;
/// "global", "lds", "scratch", "scalar".
llvm::StringRef memorySpaceName(MemorySpace Space);

/// Bytes that kernels have moved between registers or LDS and one allocation,
/// by whatever instruction.
struct BufferBytes {
  uint64_t Loaded = 0; ///< scalar loads and atomics are among them
  uint64_t Stored = 0; ///< atomics are among them

  /// Adds what `Other` has counted.
  void add(const BufferBytes &Other) {
    Loaded += Other.Loaded;
    Stored += Other.Stored;
  }
};

/// What was executed. An instruction counts once per wave.
struct Stats {
  std::map<std::string, uint64_t> ByMnemonic; ///< instructions
  std::map<std::string, uint64_t> ByClass;    ///< "vector-alu", "matrix", ...
  uint64_t Instructions = 0;                  ///< wave instructions
  uint64_t MatrixOps = 0;                     ///< matrix instructions
  std::array<uint64_t, NumMemorySpaces> BytesLoaded = {}; ///< by space
  std::array<uint64_t, NumMemorySpaces> BytesStored = {}; ///< by space
  /// By name of the allocation; those of one name count together.
  std::map<std::string, BufferBytes> ByBuffer;
  uint64_t Workgroups = 0; ///< that ran
  uint64_t Waves = 0;      ///< of all workgroups
  double Seconds = 0;      ///< of the host's clock

  /// Adds what `Other` has counted.
  void merge(const Stats &Other);
  /// Cycles that loads and stores of LDS wait for lanes in the same bank.
  uint64_t LdsConflicts = 0;
};

/// How to run a launch, and what to watch for.
struct LaunchOptions {
  /// 0 keeps workgroups and waves in order; anything else permutes both.
  uint64_t Seed = 0;
  /// Host threads; 0 means one per core.
  unsigned Threads = 0;
  /// Wave instructions one workgroup may execute before NoProgress.
  uint64_t InstructionBudget = uint64_t(1) << 36;
  /// Print every instruction with a pc (ELF address) in [First, Last] to
  /// stderr; an empty range traces nothing.
  uint64_t TraceFirst = 1;
  /// The last pc to print.
  uint64_t TraceLast = 0;
  /// Examples kept per (kind, pc).
  unsigned ReportExamples = 4;
  /// Groups kept at all.
  unsigned ReportGroups = 256;
  /// Report reads of what nobody wrote.
  bool CheckUninitialized = true;
  /// Report LDS races.
  bool CheckRaces = true;
  /// Where to count the workgroups that have ended, for a progress display.
  std::atomic<uint64_t> *Finished = nullptr;
  /// Once true, the launch ends soon, with Status::Cancelled.
  const std::atomic<bool> *Cancel = nullptr;
};

/// How a launch went.
struct LaunchResult {
  Status Code = Status::Ok; ///< how it ended
  Stats Counters;           ///< what was executed until then
  /// Sorted by kind, then pc. Fatal reports are among them.
  std::vector<ReportGroup> Reports;
  /// One line about the fatal report, empty if there is none.
  std::string Message;
};

/// Workgroups of a grid or work-items of a workgroup.
struct Dim3 {
  uint32_t X = 1; ///< innermost
  uint32_t Y = 1; ///< middle
  uint32_t Z = 1; ///< outermost
};

/// One kernel argument, as the metadata note has it.
struct KernelArg {
  std::string Name;         ///< may be empty
  std::string ValueKind;    ///< "global_buffer", "by_value", "hidden_...", ...
  std::string AddressSpace; ///< of a pointer, else empty
  uint32_t Offset = 0;      ///< bytes into the argument segment
  uint32_t Size = 0;        ///< bytes
  /// The runtime fills it in.
  bool isHidden() const {
    return llvm::StringRef(ValueKind).starts_with("hidden_");
  }
};

/// A kernel of a loaded code object. Owned by its CodeObject.
struct Kernel {
  std::string Name;                 ///< symbol without ".kd"
  std::vector<KernelArg> Args;      ///< hidden ones included
  uint32_t KernargBytes = 0;        ///< size of the argument segment
  uint32_t KernargAlign = 8;        ///< in bytes
  uint32_t LdsBytes = 0;            ///< static LDS
  uint32_t ScratchBytes = 0;        ///< per work-item
  uint32_t MaxWorkgroupSize = 1024; ///< work-items
  std::array<uint32_t, 3> RequiredWorkgroupSize = {0, 0, 0}; ///< 0: any
  uint32_t WaveSize = 64;         ///< lanes, 32 or 64
  uint32_t Vgprs = 0;             ///< of a lane, as in the note
  uint32_t AccVgprs = 0;          ///< of a lane
  uint32_t Sgprs = 0;             ///< of a wave
  uint32_t VgprSpills = 0;        ///< registers
  uint32_t SgprSpills = 0;        ///< registers
  uint64_t EntryAddress = 0;      ///< device address of the first instruction
  uint64_t DescriptorAddress = 0; ///< device address of the descriptor
  const CodeObject *Owner = nullptr; ///< the file it is from
};

/// A code object loaded into device memory. Stays valid until the Device is
/// destroyed or unload is called.
class Module {
public:
  ~Module();
  /// In the order of the metadata note.
  llvm::ArrayRef<Kernel> kernels() const;
  /// Null if there is no kernel of this name.
  const Kernel *kernel(llvm::StringRef Name) const;
  /// Device address and size in bytes of a global variable; an error where
  /// there is none of this name.
  llvm::Expected<std::pair<uint64_t, uint64_t>>
  symbol(llvm::StringRef Name) const;

private:
  friend class Device;
  explicit Module(std::unique_ptr<CodeObject> Impl);
  std::unique_ptr<CodeObject> Impl;
};

/// What a fresh allocation holds.
enum class Contents : uint8_t {
  Undefined, ///< reads are reported until something is written
  Zero,      ///< defined zeros, still committed only on touch
};

/// A chip with memory. Thread-safe for allocation and copies; launches on one
/// Device may overlap only if their kernels do not race.
class Device {
public:
  /// Fails, listing the known chips, if Chip is not one of them.
  static llvm::Expected<std::unique_ptr<Device>> create(llvm::StringRef Chip);
  ~Device();

  /// The gfx number.
  llvm::StringRef chip() const;
  /// Lanes of a wave where a kernel does not say otherwise.
  unsigned waveSize() const;
  /// Bytes of LDS that a workgroup may have.
  unsigned ldsLimit() const;
  /// The gfx numbers that `create` takes.
  static std::vector<std::string> knownChips();

  /// Device addresses do not depend on the host: the same calls give the same
  /// addresses in every run. Memory is reserved, and committed on touch. Fails
  /// where the chip or the host has no address space left.
  llvm::Expected<uint64_t> allocate(uint64_t Bytes,
                                    Contents Initial = Contents::Undefined,
                                    llvm::StringRef Name = {});
  /// Frees an allocation; an error for any other address.
  llvm::Error release(uint64_t Address);
  /// Host to device. This and the next ones fail, and change nothing, unless
  /// the range lies in one allocation, which may not be a read-only mapping if
  /// it is written.
  llvm::Error write(uint64_t Address, const void *Data, uint64_t Bytes);
  /// Device to host.
  llvm::Error read(uint64_t Address, void *Data, uint64_t Bytes) const;
  /// Device to device; definedness travels with the data.
  llvm::Error copy(uint64_t To, uint64_t From, uint64_t Bytes);
  /// Repeats a 1-, 2-, 4- or 8-byte pattern.
  llvm::Error fill(uint64_t Address, uint64_t Pattern, unsigned PatternBytes,
                   uint64_t Count);
  /// Makes host memory visible to kernels at its own address, as unified
  /// addressing does. The memory must outlive the mapping and counts as
  /// defined. A kernel's store to a read-only mapping is an invalid access.
  /// Fails where the range overlaps other memory of the device.
  llvm::Error mapHost(void *Data, uint64_t Bytes, bool Writable = true,
                      llvm::StringRef Name = "host memory");
  /// Ends a mapping; an error where there is none at `Data`.
  llvm::Error unmapHost(void *Data);
  /// Host view of device memory; null unless the range is in one allocation.
  uint8_t *hostPointer(uint64_t Address, uint64_t Bytes) const;
  /// True if Address lies in an allocation of this device.
  bool contains(uint64_t Address) const;

  /// Bytes in the range that kernels have stored to since the last
  /// clearWritten.
  uint64_t countWritten(uint64_t Address, uint64_t Bytes) const;
  /// One flag per element: did kernels store to all its bytes.
  std::vector<bool> writtenElements(uint64_t Address, uint64_t ElementBytes,
                                    uint64_t Count) const;
  /// Forgets what kernels have stored to in the range.
  llvm::Error clearWritten(uint64_t Address, uint64_t Bytes);

  /// Loads an ELF for exactly this chip; the bytes are copied. Fails, naming
  /// what is wrong, for anything else.
  llvm::Expected<Module *> load(llvm::StringRef Elf,
                                llvm::StringRef Name = "code object");
  /// Frees a module; an error if it is none of this device.
  llvm::Error unload(Module *M);

  /// Runs one grid to its end. Kernarg holds the explicit arguments at their
  /// offsets and may be shorter than the segment: the rest is zero, hidden
  /// arguments are filled in. An Error means the launch is malformed (sizes,
  /// LDS) and nothing ran; faults of the kernel are in the result.
  llvm::Expected<LaunchResult> launch(const Kernel &K, Dim3 Grid, Dim3 Block,
                                      uint32_t DynamicLds,
                                      llvm::ArrayRef<uint8_t> Kernarg,
                                      const LaunchOptions &Options = {});

  /// For the emulator's own parts.
  GlobalMemory &memory() { return *Memory; }

private:
  explicit Device(const ChipInfo &Chip);
  const ChipInfo &Chip;
  std::unique_ptr<GlobalMemory> Memory;
  std::vector<std::unique_ptr<Module>> Modules;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_EMULATOR_EMULATOR_H
