//===- HotLoop.cpp - Static cost of a code object -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Emulator/HotLoop.h"
#include "ChipInfo.h"
#include "Disassembler.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <array>
#include <map>

using namespace llvm;
using namespace llvm::object;
using namespace pagedattn::emu;

namespace {

struct Line {
  uint64_t Address;
  std::string Text;
  /// Where a branch goes.
  std::optional<uint64_t> Target;

  StringRef mnemonic() const { return StringRef(Text).split(' ').first; }
};

/// Instructions that run one after another.
struct Block {
  size_t First, End;
  SmallVector<size_t, 2> Successors;
};

/// Blocks of a natural loop: all that reach a branch back to the header, which
/// dominates them.
struct Loop {
  size_t Header;
  BitVector Blocks;
  bool contains(const Loop &Other) const {
    return Header != Other.Header && Blocks.test(Other.Header);
  }
};

} // namespace

static bool startsWithAny(StringRef Name, ArrayRef<StringRef> Prefixes) {
  return any_of(Prefixes, [&](StringRef P) { return Name.starts_with(P); });
}

/// The M, N and K of "v_mfma_f32_16x16x128_f8f6f4", or none.
static std::optional<std::array<int64_t, 3>> matrixShape(StringRef Name) {
  SmallVector<StringRef> Parts;
  Name.split(Parts, '_');
  for (StringRef Part : Parts) {
    SmallVector<StringRef, 3> Sizes;
    Part.split(Sizes, 'x');
    std::array<int64_t, 3> Shape;
    if (Sizes.size() == 3 && !Sizes[0].getAsInteger(10, Shape[0]) &&
        !Sizes[1].getAsInteger(10, Shape[1]) &&
        !Sizes[2].getAsInteger(10, Shape[2]))
      return Shape;
  }
  return std::nullopt;
}

/// The rates of gfx942 and gfx950. A SIMD does 512 multiply-adds of 8 or 16
/// bits in a cycle, 256 of 16 bits by the small shapes that gfx942 has, 1024 by
/// f8f6f4 and 2048 where both sides are fp4.
static int64_t matrixCycles(StringRef Text, std::array<int64_t, 3> Shape) {
  const auto [M, N, K] = Shape;
  int64_t Rate = 512;
  if (Text.contains("f8f6f4"))
    Rate = Text.contains("cbsz:4") && Text.contains("blgp:4") ? 2048 : 1024;
  else if (Text.split(' ').first.contains("f16") && M * K <= 256)
    Rate = 256;
  return std::max<int64_t>(8, M * N * K / Rate);
}

static bool waitsForAllLoads(StringRef Name, StringRef Text) {
  uint64_t Counters;
  if (Text.split(' ').second.getAsInteger(0, Counters))
    return Text.contains("vmcnt(0)");
  // The counter of loads stands above the one of LDS.
  return (Name == "s_wait_loadcnt" && Counters == 0) ||
         (Name == "s_wait_loadcnt_dscnt" && Counters >> 8 == 0);
}

CodeCost pagedattn::emu::instructionCost(StringRef Text, bool HasCycles) {
  CodeCost C;
  StringRef Name = Text.split(' ').first;
  if (Name.contains("mfma") || Name.contains("wmma")) {
    C.Matrix = 1;
    if (auto Shape = matrixShape(Name)) {
      const int64_t Products = (*Shape)[0] * (*Shape)[1] * (*Shape)[2];
      C.MatrixFlops = 2 * Products;
      if (HasCycles)
        C.MatrixCycles = matrixCycles(Text, *Shape);
    }
  } else if (startsWithAny(Name, {"s_wait", "s_barrier", "s_nop", "s_delay",
                                  "s_sleep", "s_set_vgpr_msb", "s_setprio",
                                  "s_clause", "v_nop"})) {
    C.Sync = 1;
    C.FullWaits = waitsForAllLoads(Name, Text);
  } else if (Name.starts_with("v_")) {
    C.Vector = 1;
    if (HasCycles)
      C.VectorCycles =
          startsWithAny(Name, {"v_exp_", "v_log_", "v_rcp_", "v_rsq_",
                               "v_sqrt_", "v_sin_", "v_cos_", "v_tanh_"})
              ? 16
          : Name.starts_with("v_mad_u64_u32") ? 8
                                              : 4;
  } else if (Name.starts_with("ds_")) {
    C.Lds = 1;
  } else if (startsWithAny(Name, {"buffer_", "global_", "flat_", "scratch_",
                                  "tensor_"})) {
    C.Memory = 1;
  } else {
    C.Scalar = 1;
  }
  return C;
}

CodeCost &CodeCost::operator+=(const CodeCost &Other) {
  Matrix += Other.Matrix;
  Vector += Other.Vector;
  Memory += Other.Memory;
  Lds += Other.Lds;
  Scalar += Other.Scalar;
  Sync += Other.Sync;
  FullWaits += Other.FullWaits;
  VectorCycles += Other.VectorCycles;
  MatrixCycles += Other.MatrixCycles;
  MatrixFlops += Other.MatrixFlops;
  return *this;
}

static Expected<std::vector<Line>>
disassemble(Disassembler &Disasm, ArrayRef<uint8_t> Code, uint64_t Base) {
  std::vector<Line> Lines;
  for (uint64_t At = 0; At < Code.size();) {
    Disassembler::Result R = Disasm.disassemble(Code.drop_front(At), Base + At);
    if (R.Size == 0)
      return createStringError(
          formatv("no instruction of the chip at {0:x}", Base + At).str());
    Line L{Base + At, R.Text, std::nullopt};
    At += R.Size;
    StringRef Offset = StringRef(L.Text).split(' ').second;
    int64_t Dwords;
    if (L.mnemonic().contains("branch") && !Offset.getAsInteger(10, Dwords))
      L.Target = Base + At + 4 * static_cast<int64_t>(int16_t(Dwords));
    Lines.push_back(std::move(L));
  }
  return Lines;
}

static bool endsBlock(const Line &L) {
  return L.Target || startsWithAny(L.mnemonic(), {"s_endpgm", "s_setpc"});
}

static std::vector<Block> findBlocks(ArrayRef<Line> Lines) {
  auto IndexOf = [&](uint64_t Address) -> size_t {
    const Line *L = partition_point(
        Lines, [&](const Line &Other) { return Other.Address < Address; });
    return L != Lines.end() && L->Address == Address ? L - Lines.begin()
                                                     : Lines.size();
  };
  std::vector<bool> IsLeader(Lines.size() + 1);
  IsLeader[0] = true;
  for (size_t I = 0; I != Lines.size(); ++I)
    if (endsBlock(Lines[I])) {
      IsLeader[I + 1] = true;
      if (Lines[I].Target)
        IsLeader[IndexOf(*Lines[I].Target)] = true;
    }
  std::vector<Block> Blocks;
  std::vector<size_t> BlockOf(Lines.size() + 1);
  for (size_t I = 0; I != Lines.size(); ++I) {
    if (IsLeader[I])
      Blocks.push_back({I, I, {}});
    BlockOf[I] = Blocks.size() - 1;
    Blocks.back().End = I + 1;
  }
  // What leaves the kernel has no block.
  BlockOf[Lines.size()] = Blocks.size();
  for (Block &B : Blocks) {
    const Line &Last = Lines[B.End - 1];
    auto Add = [&](size_t Line) {
      if (BlockOf[Line] != Blocks.size())
        B.Successors.push_back(BlockOf[Line]);
    };
    if (Last.Target)
      Add(IndexOf(*Last.Target));
    if (!endsBlock(Last) || (Last.Target && Last.mnemonic() != "s_branch"))
      Add(B.End);
  }
  return Blocks;
}

/// For each block those that are on every way to it; none of a block that no
/// way leads to, as padding.
static std::vector<BitVector> findDominators(ArrayRef<Block> Blocks) {
  std::vector<BitVector> Dominators(Blocks.size(),
                                    BitVector(Blocks.size(), true));
  if (Blocks.empty())
    return Dominators;
  Dominators[0].reset();
  Dominators[0].set(0);
  for (bool HasChanged = true; HasChanged;) {
    HasChanged = false;
    for (size_t I = 0; I != Blocks.size(); ++I)
      for (size_t Successor : Blocks[I].Successors) {
        BitVector Both = Dominators[I];
        Both.set(Successor);
        Both &= Dominators[Successor];
        HasChanged |= Both != Dominators[Successor];
        Dominators[Successor] = std::move(Both);
      }
  }
  BitVector IsReached(Blocks.size());
  for (SmallVector<size_t> Work{0}; !Work.empty();) {
    const size_t I = Work.pop_back_val();
    if (IsReached.test(I))
      continue;
    IsReached.set(I);
    Work.append(Blocks[I].Successors.begin(), Blocks[I].Successors.end());
  }
  for (size_t I = 0; I != Blocks.size(); ++I)
    if (!IsReached.test(I))
      Dominators[I].reset();
  return Dominators;
}

static std::vector<Loop> findLoops(ArrayRef<Block> Blocks) {
  std::vector<BitVector> Dominators = findDominators(Blocks);
  std::vector<SmallVector<size_t, 2>> Predecessors(Blocks.size());
  for (size_t I = 0; I != Blocks.size(); ++I)
    for (size_t Successor : Blocks[I].Successors)
      Predecessors[Successor].push_back(I);
  std::vector<Loop> Loops;
  for (size_t Header = 0; Header != Blocks.size(); ++Header) {
    Loop L{Header, BitVector(Blocks.size())};
    SmallVector<size_t> Work;
    for (size_t I : Predecessors[Header])
      if (Dominators[I].test(Header))
        Work.push_back(I);
    if (Work.empty())
      continue;
    L.Blocks.set(Header);
    while (!Work.empty()) {
      const size_t I = Work.pop_back_val();
      if (L.Blocks.test(I) || Dominators[I].none())
        continue;
      L.Blocks.set(I);
      Work.append(Predecessors[I].begin(), Predecessors[I].end());
    }
    Loops.push_back(std::move(L));
  }
  return Loops;
}

static std::optional<HotLoop> findHotLoop(ArrayRef<Line> Lines,
                                          bool HasCycles) {
  std::vector<Block> Blocks = findBlocks(Lines);
  std::vector<Loop> Loops = findLoops(Blocks);
  auto LinesOf = [&](const BitVector &Set) {
    std::vector<const Line *> Found;
    for (unsigned I : Set.set_bits())
      for (const Line &L :
           Lines.slice(Blocks[I].First, Blocks[I].End - Blocks[I].First))
        Found.push_back(&L);
    return Found;
  };
  auto CostOf = [&](const BitVector &Set) {
    CodeCost C;
    for (const Line *L : LinesOf(Set))
      C += instructionCost(L->Text, HasCycles);
    return C;
  };
  const Loop *Best = nullptr;
  std::array<size_t, 4> BestKey = {};
  for (const Loop &L : Loops) {
    const bool IsInner =
        none_of(Loops, [&](const Loop &Other) { return L.contains(Other); });
    // Of two with as many, the one inside of more loops runs more often.
    const size_t Matrix = CostOf(L.Blocks).Matrix;
    const size_t Depth =
        Matrix == 0 ? 0 : count_if(Loops, [&](const Loop &Other) {
          return Other.contains(L);
        });
    std::array<size_t, 4> Key = {IsInner, Matrix, Depth,
                                 LinesOf(L.Blocks).size()};
    if (!Best || Key > BestKey) {
      Best = &L;
      BestKey = Key;
    }
  }
  if (!Best)
    return std::nullopt;
  HotLoop Hot;
  Hot.Cost = CostOf(Best->Blocks);
  for (const Line *L : LinesOf(Best->Blocks))
    if (!L->mnemonic().contains("branch"))
      Hot.Text.push_back(L->Text);
  const Loop *Outer = nullptr;
  for (const Loop &L : Loops)
    if (L.contains(*Best) &&
        (!Outer || L.Blocks.count() < Outer->Blocks.count()))
      Outer = &L;
  if (Outer) {
    BitVector Others = Outer->Blocks;
    Others.reset(Best->Blocks);
    Hot.Around = CostOf(Others);
  }
  return Hot;
}

Expected<std::vector<KernelCode>>
pagedattn::emu::readKernelCode(StringRef Elf) {
  auto File = ObjectFile::createELFObjectFile(MemoryBufferRef(Elf, "code"));
  if (!File)
    return File.takeError();
  auto *Object = dyn_cast<ELF64LEObjectFile>(File->get());
  if (!Object || Object->getELFFile().getHeader().e_machine != ELF::EM_AMDGPU)
    return createStringError("not an AMDGPU ELF file");
  std::optional<StringRef> Cpu = Object->tryGetCPUName();
  const ChipInfo *Chip = Cpu ? findChip(*Cpu) : nullptr;
  if (!Chip)
    return createStringError("code object is for " +
                             (Cpu ? *Cpu : "an unknown chip") +
                             ", whose instructions are not known");
  auto Disasm = Disassembler::create(*Chip);
  if (!Disasm)
    return Disasm.takeError();

  // A kernel is a function with a descriptor.
  std::map<std::string, ELFSymbolRef> Functions;
  std::vector<std::string> Names;
  for (ELFSymbolRef Symbol : Object->symbols()) {
    Expected<StringRef> Name = Symbol.getName();
    if (!Name)
      return Name.takeError();
    StringRef Base = *Name;
    if (Base.consume_back(".kd"))
      Names.push_back(Base.str());
    else if (Symbol.getELFType() == ELF::STT_FUNC)
      Functions.emplace(Base.str(), Symbol);
  }
  sort(Names);
  std::vector<KernelCode> Kernels;
  for (const std::string &Name : Names) {
    auto Found = Functions.find(Name);
    if (Found == Functions.end())
      return createStringError("kernel " + Name + " has no code");
    Expected<section_iterator> Section = Found->second.getSection();
    if (!Section)
      return Section.takeError();
    if (*Section == Object->section_end())
      return createStringError("kernel " + Name + " is in no section");
    Expected<StringRef> Contents = (*Section)->getContents();
    if (!Contents)
      return Contents.takeError();
    Expected<uint64_t> Address = Found->second.getAddress();
    if (!Address)
      return Address.takeError();
    const uint64_t Offset = *Address - (*Section)->getAddress();
    const uint64_t Size = Found->second.getSize();
    if (Offset > Contents->size() || Size > Contents->size() - Offset)
      return createStringError("kernel " + Name + " ends behind its section");
    Expected<std::vector<Line>> Lines = disassemble(
        **Disasm, arrayRefFromStringRef(Contents->substr(Offset, Size)),
        *Address);
    if (!Lines)
      return createStringError("kernel " + Name + ": " +
                               toString(Lines.takeError()));
    Kernels.push_back({Name, int64_t(Lines->size()),
                       findHotLoop(*Lines, Chip->WaveSize == 64)});
  }
  return Kernels;
}

static json::Object costToJson(const CodeCost &C) {
  json::Object O{{"matrix", C.Matrix},       {"vector", C.Vector},
                 {"memory", C.Memory},       {"lds", C.Lds},
                 {"scalar", C.Scalar},       {"sync", C.Sync},
                 {"full_waits", C.FullWaits}};
  if (C.MatrixFlops > 0)
    O["matrix_flops"] = C.MatrixFlops;
  // None beside matrix instructions is a figure too.
  if (C.VectorCycles > 0 || C.MatrixCycles > 0)
    O["vector_cycles"] = C.VectorCycles;
  if (C.MatrixCycles > 0)
    O["matrix_cycles"] = C.MatrixCycles;
  return O;
}

json::Object pagedattn::emu::hotLoopToJson(const HotLoop &Loop) {
  return json::Object{{"cost", costToJson(Loop.Cost)},
                      {"around", costToJson(Loop.Around)}};
}
