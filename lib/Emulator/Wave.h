//===- Wave.h - State of a wave and its workgroup ---------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_WAVE_H
#define PAGEDATTN_LIB_EMULATOR_WAVE_H

#include "ChipInfo.h"
#include "GlobalMemory.h"
#include "Instruction.h"
#include "LocalMemory.h"
#include "Reporter.h"
#include "llvm/ADT/DenseMap.h"
#include <cstring>
#include <deque>
#include <functional>

namespace pagedattn::emu {

class Program;
struct Workgroup;

/// Counters of outstanding operations that waits name. GFX9's vmcnt is Load
/// (its stores and direct-to-LDS loads count there too), lgkmcnt is Lgkm; on
/// GFX12 dscnt is Lgkm and the others have counters of their own.
enum class Counter : uint8_t {
  Load,
  Store,
  Sample,
  Bvh,
  Lgkm,
  Km,
  Exp,
  X,
  Async,
  Tensor
};
constexpr unsigned NumCounters = unsigned(Counter::Tensor) + 1;

/// Why a wave left its slice. Bits of Wave::Event.
enum WaveEvent : uint32_t {
  EventYield = 1,   ///< give other waves a turn
  EventBarrier = 2, ///< waits at a barrier
  EventEnd = 4,     ///< s_endpgm
  EventFatal = 8,   ///< a fatal report was made
};

/// MODE register fields with the encoding of s_setreg.
struct ModeReg {
  uint32_t Bits = 0;
  unsigned round32() const { return Bits & 3; }
  unsigned round16_64() const { return (Bits >> 2) & 3; }
  bool denormIn32() const { return Bits & 0x10; }
  bool denormOut32() const { return Bits & 0x20; }
  bool denormIn16_64() const { return Bits & 0x40; }
  bool denormOut16_64() const { return Bits & 0x80; }
  bool dx10Clamp() const { return Bits & 0x100; }
  bool ieee() const { return Bits & 0x200; }
  bool fp16Ovfl() const { return Bits & 0x800000; }
};

/// Statistics and buffers of one host thread; waves of different threads never
/// share one.
struct ThreadContext {
  std::vector<uint64_t> Counts; ///< by Instruction::Id
  std::array<uint64_t, NumMemorySpaces> Loaded = {}, Stored = {};
  /// By Allocation::Number.
  std::vector<BufferBytes> Buffers;
  uint64_t MatrixOps = 0;
  uint64_t LdsConflicts = 0;
  LocalMemory Lds;
  /// Occurrences of reports, those handed to the Reporter included.
  llvm::DenseMap<std::pair<const Instruction *, unsigned>, uint64_t> Seen;

  void countLoaded(const Allocation &A, unsigned Bytes) {
    Loaded[unsigned(MemorySpace::Global)] += Bytes;
    buffer(A).Loaded += Bytes;
  }
  void countStored(const Allocation &A, unsigned Bytes) {
    Stored[unsigned(MemorySpace::Global)] += Bytes;
    buffer(A).Stored += Bytes;
  }

private:
  BufferBytes &buffer(const Allocation &A) {
    if (LLVM_UNLIKELY(A.Number >= Buffers.size()))
      Buffers.resize(A.Number + 1);
    return Buffers[A.Number];
  }
};

/// A data movement that becomes visible at the wait for it, not before.
struct PendingOp {
  uint64_t Number; ///< issue number on its counter
  std::function<void(Wave &)> Deliver;
};

struct Wave {
  // Hot state first.
  uint32_t *V = nullptr; ///< vector registers, [register][lane]
  uint64_t Pc = 0;       ///< of the next instruction
  uint32_t Event = 0;
  uint32_t Lanes = 64;
  /// The low Lanes bits set.
  uint64_t AllLanes = ~uint64_t(0);
  bool Scc = false;
  uint8_t VgprMsb = 0; ///< s_set_vgpr_msb: src0, src1, src2, dst, 2 bits each
  /// MODE asks for something other than round-to-nearest with denormals;
  /// setMode keeps these up to date.
  bool SpecialMode32 = false, SpecialMode16_64 = false;
  /// Decoded instructions for the current VgprMsb.
  std::atomic<const Instruction *> *Table = nullptr;
  ModeReg Mode;
  alignas(8) std::array<uint32_t, NumScalarRegs> S = {};

  const ChipInfo *Chip = nullptr;
  Workgroup *Group = nullptr;
  ThreadContext *Thread = nullptr;
  /// Most recent hits of lookups, replaced in turn.
  std::array<Allocation *, 4> Recent = {};
  uint32_t NextRecent = 0;
  uint32_t Id = 0; ///< in the workgroup
  uint32_t NumVgprs = 0;
  /// Scratch of this wave: lane L's bytes start at L * ScratchBytes.
  uint8_t *Scratch = nullptr;
  uint32_t ScratchBytes = 0;
  /// Barriers completed, for the LDS race check.
  uint32_t Epoch = 0;
  std::array<uint64_t, NumCounters> Issued = {};
  std::array<std::deque<PendingOp>, NumCounters> Pending;
  /// GFX12: the completions a barrier had when this wave signalled it.
  std::array<uint32_t, 32> SignalPhase = {};
  int32_t WaitingBarrier = 0; ///< while EventBarrier is set
  int32_t JoinedBarrier = 0;  ///< named barrier this wave is a member of
  const Instruction *Current = nullptr;

  uint64_t exec() const { return scalar64(RegExecLo); }
  void setExec(uint64_t X) { setScalar64(RegExecLo, X & AllLanes); }
  uint64_t vcc() const { return scalarMask(RegVccLo); }
  void setVcc(uint64_t X) { setScalarMask(RegVccLo, X); }
  uint32_t m0() const { return S[RegM0]; }
  void setMode(uint32_t Bits) {
    Mode.Bits = Bits;
    SpecialMode32 = (Bits & 0x33) != 0x30;
    SpecialMode16_64 = (Bits & 0xcc) != 0xc0;
  }
  void setVgprMsb(uint8_t Msb);

  uint64_t scalar64(unsigned Reg) const {
    uint64_t X;
    std::memcpy(&X, &S[Reg], 8);
    return X;
  }
  void setScalar64(unsigned Reg, uint64_t X) { std::memcpy(&S[Reg], &X, 8); }
  /// A lane mask: one register in wave32, two in wave64.
  uint64_t scalarMask(unsigned Reg) const {
    return Lanes == 32 ? S[Reg] : scalar64(Reg);
  }
  void setScalarMask(unsigned Reg, uint64_t X) {
    if (Lanes == 32)
      S[Reg] = uint32_t(X);
    else
      setScalar64(Reg, X);
  }
  uint32_t *vreg(unsigned Reg) { return V + size_t(Reg) * Lanes; }

  // Counters of outstanding operations.
  void issue(Counter C) { ++Issued[unsigned(C)]; }
  /// Issues an operation whose effect is delayed until a wait for it.
  void defer(Counter C, std::function<void(Wave &)> Deliver) {
    Pending[unsigned(C)].push_back({++Issued[unsigned(C)], std::move(Deliver)});
  }
  /// Delivers what a wait until at most Left operations are outstanding
  /// guarantees; operations complete in order.
  void waitFor(Counter C, uint64_t Left);
  /// Everything still pending arrives when a wave ends.
  void deliverAll();

  /// Reports and stops the launch.
  void fatal(ReportKind Kind, const llvm::Twine &Text, int Lane = -1,
             uint64_t Address = 0, uint64_t Size = 0, uint64_t Limit = 0);
  /// Text is a string or a callable that gives one; it is called only for the
  /// first examples at a pc, the rest is counted.
  template <class TextT>
  void report(ReportKind Kind, int Lane, uint64_t Address, uint64_t Size,
              uint64_t Limit, TextT &&Text) {
    if (!wantsExample(Kind))
      return;
    if constexpr (std::is_invocable_v<TextT>)
      addReport(Kind, Lane, Address, Size, Limit, Text());
    else
      addReport(Kind, Lane, Address, Size, Limit, std::string(Text));
  }
  bool wantsExample(ReportKind Kind);
  void addReport(ReportKind Kind, int Lane, uint64_t Address, uint64_t Size,
                 uint64_t Limit, std::string Text);
};

/// A barrier. Index 0 is the workgroup's, 1 to 16 are named (GFX12).
struct BarrierState {
  uint32_t Members = 0;
  uint32_t Signalled = 0;
  uint32_t Phase = 0; ///< completions
};

struct Workgroup {
  std::array<uint32_t, 3> Id = {0, 0, 0};
  std::vector<std::unique_ptr<Wave>> Waves;
  LocalMemory *Lds = nullptr;
  GlobalMemory *Memory = nullptr;
  Reporter *Reports = nullptr;
  Program *Code = nullptr;
  const Kernel *TheKernel = nullptr;
  const LaunchOptions *Options = nullptr;
  uint32_t LiveWaves = 0;
  std::array<BarrierState, 32> Barriers;
  Dim3 Grid, Block;
  uint64_t KernargAddress = 0;
};

// Checked accesses to global memory. An address outside every allocation is a
// fatal report; the functions then return false and W.Event has EventFatal.

/// Loads Bytes (1..16) at a device address.
bool loadGlobal(Wave &W, const Instruction &I, int Lane, uint64_t Address,
                void *To, unsigned Bytes);
bool storeGlobal(Wave &W, const Instruction &I, int Lane, uint64_t Address,
                 const void *From, unsigned Bytes);
/// Host address for an atomic, marked as read and stored; null on a fault.
uint8_t *atomicGlobal(Wave &W, const Instruction &I, int Lane, uint64_t Address,
                      unsigned Bytes);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_WAVE_H
