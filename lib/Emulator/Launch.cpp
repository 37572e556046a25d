//===- Launch.cpp - Runs a grid -------------------------------------------===//

#include "Launch.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <thread>

using namespace llvm;

namespace pagedattn::emu {

namespace {

/// Bytes beyond the segment that wide scalar loads may touch.
constexpr uint32_t KernargPadding = 256;
constexpr unsigned PacketBytes = 64;

uint64_t hiddenValue(StringRef Kind, const Launch &L, uint32_t DynamicLds) {
  const uint32_t Groups[3] = {L.Grid.X, L.Grid.Y, L.Grid.Z};
  const uint32_t Sizes[3] = {L.Block.X, L.Block.Y, L.Block.Z};
  for (unsigned Axis = 0; Axis != 3; ++Axis) {
    char Letter = "xyz"[Axis];
    if (Kind.back() != Letter)
      continue;
    if (Kind.starts_with("hidden_block_count_"))
      return Groups[Axis];
    if (Kind.starts_with("hidden_group_size_"))
      return Sizes[Axis];
  }
  // Grids are whole workgroups: remainders and global offsets are zero, and
  // so are the pointers to services this emulator does not offer.
  if (Kind == "hidden_grid_dims")
    return L.Grid.Z > 1 || L.Block.Z > 1   ? 3
           : L.Grid.Y > 1 || L.Block.Y > 1 ? 2
                                           : 1;
  if (Kind == "hidden_dynamic_lds_size")
    return DynamicLds;
  if (Kind == "hidden_shared_base")
    return uint32_t(1) << 16;
  if (Kind == "hidden_private_base")
    return uint32_t(2) << 16;
  return 0;
}

void fillKernarg(const Launch &L, uint32_t DynamicLds, ArrayRef<uint8_t> Given,
                 uint8_t *To) {
  std::memcpy(To, Given.data(), Given.size());
  for (const KernelArg &A : L.K->Args) {
    if (!A.isHidden() || A.Size > 8 || A.Offset + A.Size > L.K->KernargBytes)
      continue;
    uint64_t X = hiddenValue(A.ValueKind, L, DynamicLds);
    std::memcpy(To + A.Offset, &X, A.Size);
  }
}

void fillPacket(const Launch &L, uint8_t *P) {
  using namespace support::endian;
  write16le(P + 4, uint16_t(L.Block.X));
  write16le(P + 6, uint16_t(L.Block.Y));
  write16le(P + 8, uint16_t(L.Block.Z));
  write32le(P + 12, L.Block.X * L.Grid.X);
  write32le(P + 16, L.Block.Y * L.Grid.Y);
  write32le(P + 20, L.Block.Z * L.Grid.Z);
  write32le(P + 24, L.K->ScratchBytes);
  write32le(P + 28, L.LdsBytes);
  write64le(P + 32, L.K->DescriptorAddress);
  write64le(P + 40, L.KernargAddress);
}

Error checkShape(const ChipInfo &Chip, const Kernel &K, Dim3 Grid, Dim3 Block,
                 uint64_t Lds, size_t Kernarg) {
  auto Fail = [&](const auto &Text) {
    return createStringError("kernel " + K.Name + ": " + Text);
  };
  if (!Grid.X || !Grid.Y || !Grid.Z || !Block.X || !Block.Y || !Block.Z)
    return Fail("grid and block sizes must be at least 1");
  if (Grid.Y > 65535 || Grid.Z > 65535)
    return Fail(formatv("grid {0}x{1}x{2}: y and z are limited to 65535",
                        Grid.X, Grid.Y, Grid.Z)
                    .str());
  uint64_t Items = uint64_t(Block.X) * Block.Y * Block.Z;
  if (Block.X > 1024 || Block.Y > 1024 || Block.Z > 1024 || Items > 1024)
    return Fail(formatv("block of {0} work-items: at most 1024", Items).str());
  if (K.MaxWorkgroupSize && Items > K.MaxWorkgroupSize)
    return Fail(formatv("block of {0} work-items: the code object allows {1}",
                        Items, K.MaxWorkgroupSize)
                    .str());
  const uint32_t Given[3] = {Block.X, Block.Y, Block.Z};
  for (unsigned A = 0; A != 3; ++A)
    if (K.RequiredWorkgroupSize[A] && K.RequiredWorkgroupSize[A] != Given[A])
      return Fail(formatv("block size {0} in dimension {1}: the code object "
                          "requires {2}",
                          Given[A], A, K.RequiredWorkgroupSize[A])
                      .str());
  if (Lds > Chip.LdsLimit)
    return Fail(
        formatv("{0} bytes of LDS: {1} has {2}", Lds, Chip.Name, Chip.LdsLimit)
            .str());
  if (Kernarg > K.KernargBytes)
    return Fail(formatv("{0} bytes of kernel arguments: the segment has {1}",
                        Kernarg, K.KernargBytes)
                    .str());
  return Error::success();
}

/// A bijection of [0, N) that depends on the seed.
uint64_t permute(uint64_t I, uint64_t N, uint64_t Seed) {
  if (!Seed || N < 2)
    return I;
  unsigned Bits = 64 - countl_zero(N - 1);
  uint64_t Mask = Bits == 64 ? ~uint64_t(0) : (uint64_t(1) << Bits) - 1;
  unsigned Shift = std::max(1u, Bits / 2);
  do { // walks the cycle until it is back in range
    I = (I * (2 * Seed * 0x9e3779b97f4a7c15u + 1) + Seed) & Mask;
    I ^= I >> Shift;
    I = (I * 0xd6e8feb86659fd93u) & Mask;
    I ^= I >> Shift;
  } while (I >= N);
  return I;
}

/// Buffers of one host thread, reused for all its workgroups.
class Worker {
public:
  explicit Worker(const Launch &L) : L(L) {
    Context.Counts.assign(Program::MaxMnemonics, 0);
    Group.Lds = &Context.Lds;
    Group.Memory = L.Memory;
    Group.Reports = L.Reports;
    Group.Code = L.Code;
    Group.TheKernel = L.K;
    Group.Options = L.Options;
    Group.Grid = L.Grid;
    Group.Block = L.Block;
    Group.KernargAddress = L.KernargAddress;
    const unsigned Lanes = L.Chip->WaveSize;
    const size_t Registers = size_t(L.Chip->Vgprs) * Lanes;
    for (unsigned N = 0; N != L.WavesPerGroup; ++N) {
      auto W = std::make_unique<Wave>();
      Vgprs.push_back(std::make_unique<LaneBuffer64[]>(Registers * 4 / 64));
      W->V = Vgprs.back()[0].D;
      W->Lanes = Lanes;
      W->AllLanes = Lanes == 64 ? ~uint64_t(0) : 0xffffffffu;
      W->Chip = L.Chip;
      W->Group = &Group;
      W->Thread = &Context;
      W->Id = N;
      W->NumVgprs = L.Chip->Vgprs;
      W->ScratchBytes = (L.K->ScratchBytes + 3) & ~3u;
      if (W->ScratchBytes) {
        Scratch.emplace_back(size_t(W->ScratchBytes) * Lanes);
        W->Scratch = Scratch.back().data();
      }
      Group.Waves.push_back(std::move(W));
    }
  }

  void run(uint64_t Index) {
    Group.Id = {uint32_t(Index % L.Grid.X),
                uint32_t(Index / L.Grid.X % L.Grid.Y),
                uint32_t(Index / L.Grid.X / L.Grid.Y)};
    uint32_t Epochs = 1;
    for (auto &W : Group.Waves)
      Epochs = std::max(Epochs, W->Epoch + 1);
    Context.Lds.EpochBase += Epochs;
    Context.Lds.reset(L.LdsBytes);
    // Hardware leaves in LDS what the workgroup before had there.
    if (L.Options->Seed)
      for (uint32_t I = 0; I != L.LdsBytes; ++I)
        Context.Lds.data()[I] = uint8_t(
            (I + 1) * (2 * L.Options->Seed + 1) * 0x9e3779b97f4a7c15u >> 56);
    const size_t Row = size_t(L.Chip->WaveSize) * 4;
    size_t Used = L.K->Vgprs ? L.K->Vgprs : L.Chip->Vgprs;
    for (auto &W : Group.Waves) {
      // What a kernel leaves uninitialised must not depend on the thread that
      // runs it.
      if (L.Chip->AccVgprBase) {
        std::memset(W->V, 0, std::min<size_t>(Used, 256) * Row);
        std::memset(W->vreg(256), 0, std::min<size_t>(Used, 256) * Row);
      } else {
        std::memset(W->V, 0, std::min<size_t>(Used, L.Chip->Vgprs) * Row);
      }
      if (W->Scratch)
        std::memset(W->Scratch, 0, size_t(W->ScratchBytes) * L.Chip->WaveSize);
      initialiseWave(L, Group, *W);
    }
    runWorkgroup(L, Group, Context);
    ++Workgroups;
  }

  /// What kernels have moved to and from an allocation.
  void addTo(BufferBytes &B, const Allocation &A) const {
    if (A.Number < Context.Buffers.size())
      B.add(Context.Buffers[A.Number]);
  }

  void addTo(Stats &S) {
    auto Names = L.Code->mnemonics();
    for (size_t I = 0; I != Names.size(); ++I) {
      uint64_t N = Context.Counts[I];
      if (!N)
        continue;
      S.ByMnemonic[Names[I].Name] += N;
      S.ByClass[opClassName(Names[I].Class).str()] += N;
      S.Instructions += N;
      if (Names[I].Class == OpClass::Matrix)
        S.MatrixOps += N;
    }
    for (unsigned I = 0; I != NumMemorySpaces; ++I) {
      S.BytesLoaded[I] += Context.Loaded[I];
      S.BytesStored[I] += Context.Stored[I];
    }
    S.LdsConflicts += Context.LdsConflicts;
    const uint64_t Examples = std::max(1u, L.Options->ReportExamples);
    for (const auto &[Key, Count] : Context.Seen)
      if (Count > Examples)
        L.Reports->count(ReportKind(Key.second),
                         L.Code->elfAddress(Key.first->Pc), Count - Examples);
    S.Workgroups += Workgroups;
    S.Waves += Workgroups * L.WavesPerGroup;
  }

private:
  struct alignas(64) LaneBuffer64 {
    uint32_t D[16];
  };
  const Launch &L;
  ThreadContext Context;
  Workgroup Group;
  std::vector<std::unique_ptr<LaneBuffer64[]>> Vgprs;
  std::vector<std::vector<uint8_t>> Scratch;
  uint64_t Workgroups = 0;
};

} // namespace

Expected<LaunchResult> Device::launch(const Kernel &K, Dim3 Grid, Dim3 Block,
                                      uint32_t DynamicLds,
                                      ArrayRef<uint8_t> Kernarg,
                                      const LaunchOptions &Options) {
  const uint64_t Lds = uint64_t(K.LdsBytes) + DynamicLds;
  if (Error E = checkShape(Chip, K, Grid, Block, Lds, Kernarg.size()))
    return E;
  auto Start = std::chrono::steady_clock::now();

  Reporter Reports(K, Options);
  Launch L;
  L.Chip = &Chip;
  L.K = &K;
  L.Descriptor = K.Owner->descriptor(K);
  L.Memory = Memory.get();
  L.Code = &K.Owner->program();
  L.Reports = &Reports;
  L.Options = &Options;
  L.Grid = Grid;
  L.Block = Block;
  L.LdsBytes = uint32_t(Lds);
  const uint32_t Items = Block.X * Block.Y * Block.Z;
  L.WavesPerGroup = (Items + Chip.WaveSize - 1) / Chip.WaveSize;

  auto Segment = Memory->allocate(uint64_t(K.KernargBytes) + KernargPadding,
                                  Contents::Zero, "kernel arguments");
  if (!Segment)
    return Segment.takeError();
  llvm::scope_exit FreeSegment(
      [&] { consumeError(Memory->release((*Segment)->Base, /*Host=*/false)); });
  auto Packet =
      Memory->allocate(PacketBytes, Contents::Zero, "dispatch packet");
  if (!Packet)
    return Packet.takeError();
  llvm::scope_exit FreePacket(
      [&] { consumeError(Memory->release((*Packet)->Base, /*Host=*/false)); });
  L.KernargAddress = (*Segment)->Base;
  L.Kernarg = (*Segment)->Data;
  L.DispatchPacket = (*Packet)->Base;
  fillKernarg(L, DynamicLds, Kernarg, (*Segment)->Data);
  fillPacket(L, (*Packet)->Data);

  const uint64_t Total = uint64_t(Grid.X) * Grid.Y * Grid.Z;
  uint64_t Threads = Options.Threads
                         ? Options.Threads
                         : std::max(1u, std::thread::hardware_concurrency());
  Threads = std::min(Threads, Total);
  std::vector<std::unique_ptr<Worker>> Workers;
  for (uint64_t T = 0; T != Threads; ++T)
    Workers.push_back(std::make_unique<Worker>(L));
  std::atomic<uint64_t> Next{0};
  auto Run = [&](Worker &W) {
    while (!Reports.stopped()) {
      uint64_t I = Next.fetch_add(1, std::memory_order_relaxed);
      if (I >= Total)
        break;
      W.run(permute(I, Total, Options.Seed));
      if (Options.Finished)
        Options.Finished->fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::vector<std::thread> Pool;
  for (uint64_t T = 1; T < Threads; ++T)
    Pool.emplace_back(Run, std::ref(*Workers[T]));
  Run(*Workers[0]);
  for (std::thread &T : Pool)
    T.join();

  LaunchResult Result;
  for (auto &W : Workers)
    W->addTo(Result.Counters);
  Memory->forEach([&](const Allocation &A) {
    BufferBytes Bytes;
    for (auto &W : Workers)
      W->addTo(Bytes, A);
    if (Bytes.Loaded || Bytes.Stored)
      Result.Counters
          .ByBuffer[A.Name.empty()
                        ? formatv("allocation at {0:x}", A.Base).str()
                        : A.Name]
          .add(Bytes);
  });
  Result.Code = Reports.status();
  Result.Message = Reports.message();
  Result.Reports = Reports.take();
  Result.Counters.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  return Result;
}

} // namespace pagedattn::emu
