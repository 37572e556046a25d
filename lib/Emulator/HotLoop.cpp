//===- HotLoop.cpp - Static cost of a code object -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Emulator/HotLoop.h"
#include "ChipInfo.h"
#include "Disassembler.h"
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

/// Lines First to Last, the branch back to First.
struct Span {
  size_t First, Last;
  bool contains(const Span &Other) const {
    return First <= Other.First && Other.Last <= Last &&
           (First != Other.First || Last != Other.Last);
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

static std::vector<Span> findLoops(ArrayRef<Line> Lines) {
  std::vector<Span> Spans;
  for (size_t Last = 0; Last != Lines.size(); ++Last) {
    std::optional<uint64_t> Target = Lines[Last].Target;
    if (!Target || *Target > Lines[Last].Address)
      continue;
    const Line *First = partition_point(
        Lines, [&](const Line &L) { return L.Address < *Target; });
    if (First->Address == *Target)
      Spans.push_back({size_t(First - Lines.begin()), Last});
  }
  return Spans;
}

static std::optional<HotLoop> findHotLoop(ArrayRef<Line> Lines,
                                          bool HasCycles) {
  std::vector<Span> Spans = findLoops(Lines);
  auto Cost = [&](size_t First, size_t End) {
    CodeCost C;
    for (const Line &L : Lines.slice(First, End - First))
      C += instructionCost(L.Text, HasCycles);
    return C;
  };
  const Span *Best = nullptr;
  std::array<size_t, 3> BestKey = {};
  for (const Span &S : Spans) {
    const bool IsInner =
        none_of(Spans, [&](const Span &Other) { return S.contains(Other); });
    std::array<size_t, 3> Key = {IsInner,
                                 size_t(Cost(S.First, S.Last + 1).Matrix),
                                 S.Last + 1 - S.First};
    if (!Best || Key > BestKey) {
      Best = &S;
      BestKey = Key;
    }
  }
  if (!Best)
    return std::nullopt;
  HotLoop Loop;
  Loop.Cost = Cost(Best->First, Best->Last + 1);
  for (const Line &L : Lines.slice(Best->First, Best->Last + 1 - Best->First))
    if (!L.mnemonic().contains("branch"))
      Loop.Text.push_back(L.Text);
  // The loop around it may branch back from between the blocks of the inner
  // one, where that leaves in the middle; and from several places.
  std::optional<Span> Outer;
  for (const Span &S : Spans)
    if (S.First < Best->First && S.Last >= Best->First &&
        (!Outer || S.First >= Outer->First)) {
      const size_t Last = Outer && S.First == Outer->First ? Outer->Last : 0;
      Outer = Span{S.First, std::max({S.Last, Last, Best->Last})};
    }
  if (Outer) {
    Loop.Around = Cost(Outer->First, Best->First);
    Loop.Around += Cost(Best->Last + 1, Outer->Last + 1);
  }
  return Loop;
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
  if (C.VectorCycles > 0)
    O["vector_cycles"] = C.VectorCycles;
  if (C.MatrixCycles > 0)
    O["matrix_cycles"] = C.MatrixCycles;
  return O;
}

json::Object pagedattn::emu::hotLoopToJson(const HotLoop &Loop) {
  return json::Object{{"cost", costToJson(Loop.Cost)},
                      {"around", costToJson(Loop.Around)}};
}
