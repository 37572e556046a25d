//===- Snippet.cpp - Assembles and runs a few instructions ----------------===//

#include "Snippet.h"
#include "Disassembler.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace pagedattn::emu {

Expected<std::vector<uint8_t>> assemble(StringRef ChipName, StringRef Text) {
  const ChipInfo *Chip = findChip(ChipName);
  if (!Chip)
    return createStringError("unknown chip");
  auto Unused = Disassembler::create(*Chip); // initialises the target
  if (!Unused)
    return Unused.takeError();
  LLVMInitializeAMDGPUAsmParser();
  Triple TT("amdgcn-amd-amdhsa");
  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(TT, Message);
  if (!T)
    return createStringError(Message);

  SourceMgr Sources;
  Sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(Text, "snippet"),
                             SMLoc());
  Sources.setDiagHandler(
      [](const SMDiagnostic &D, void *Context) {
        raw_string_ostream OS(*static_cast<std::string *>(Context));
        D.print(nullptr, OS, /*ShowColors=*/false);
      },
      &Message);
  MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> Registers(T->createMCRegInfo(TT));
  std::unique_ptr<MCAsmInfo> AsmInfo(
      T->createMCAsmInfo(*Registers, TT, Options));
  std::unique_ptr<MCSubtargetInfo> Subtarget(T->createMCSubtargetInfo(
      TT, ChipName, Chip->Gfx12 ? "+real-true16" : ""));
  std::unique_ptr<MCInstrInfo> Instructions(T->createMCInstrInfo());
  MCContext Context(TT, AsmInfo.get(), Registers.get(), Subtarget.get(),
                    &Sources, &Options);
  std::unique_ptr<MCObjectFileInfo> FileInfo(
      T->createMCObjectFileInfo(Context, /*PIC=*/true));
  Context.setObjectFileInfo(FileInfo.get());
  SmallString<1024> Object;
  raw_svector_ostream OS(Object);
  std::unique_ptr<MCAsmBackend> Backend(
      T->createMCAsmBackend(*Subtarget, *Registers, Options));
  std::unique_ptr<MCObjectWriter> Writer = Backend->createObjectWriter(OS);
  std::unique_ptr<MCCodeEmitter> Emitter(
      T->createMCCodeEmitter(*Instructions, Context));
  std::unique_ptr<MCStreamer> Streamer(T->createMCObjectStreamer(
      TT, Context, std::move(Backend), std::move(Writer), std::move(Emitter),
      *Subtarget));
  std::unique_ptr<MCAsmParser> Parser(
      createMCAsmParser(Sources, Context, *Streamer, *AsmInfo));
  std::unique_ptr<MCTargetAsmParser> TargetParser(
      T->createMCAsmParser(*Subtarget, *Parser, *Instructions, Options));
  Parser->setTargetParser(*TargetParser);
  if (Parser->Run(/*NoInitialTextSection=*/false))
    return createStringError(Message);

  auto File = object::ELF64LEObjectFile::create(
      MemoryBufferRef(Object.str(), "snippet"));
  if (!File)
    return File.takeError();
  for (const object::SectionRef &Section : File->sections()) {
    auto Name = Section.getName();
    auto Contents = Section.getContents();
    if (!Name || !Contents)
      return createStringError("malformed object");
    if (*Name == ".text")
      return std::vector<uint8_t>(Contents->bytes_begin(),
                                  Contents->bytes_end());
  }
  return createStringError("no code");
}

Snippet::Snippet(StringRef ChipName, unsigned Waves, uint32_t Lds,
                 uint32_t ScratchBytes)
    : Chip(*findChip(ChipName)), LdsBytes(Lds) {
  TheKernel.Name = "snippet";
  TheKernel.WaveSize = Chip.WaveSize;
  TheKernel.ScratchBytes = ScratchBytes;
  Thread.Counts.assign(Program::MaxMnemonics, 0);
  Group.Lds = &Thread.Lds;
  Group.Memory = &Memory;
  Group.TheKernel = &TheKernel;
  Group.Options = &Options;
  Thread.Lds.reset(LdsBytes);
  for (unsigned N = 0; N != Waves; ++N) {
    Registers.emplace_back(size_t(Chip.Vgprs) * Chip.WaveSize);
    auto W = std::make_unique<Wave>();
    W->V = Registers.back().data();
    W->Lanes = Chip.WaveSize;
    W->AllLanes = Chip.WaveSize == 64 ? ~uint64_t(0) : 0xffffffffu;
    W->Chip = &Chip;
    W->Group = &Group;
    W->Thread = &Thread;
    W->Id = N;
    W->NumVgprs = Chip.Vgprs;
    W->ScratchBytes = ScratchBytes;
    if (ScratchBytes) {
      Scratch.emplace_back(size_t(ScratchBytes) * Chip.WaveSize);
      W->Scratch = Scratch.back().data();
    }
    W->setMode(0x3f0);
    W->setExec(W->AllLanes);
    if (Chip.Gfx12)
      W->setScalar64(RegFlatScrLo, uint64_t(1) << 58);
    Group.Waves.push_back(std::move(W));
  }
}

Snippet::~Snippet() = default;

Status Snippet::run(StringRef Text) {
  auto Code = assemble(Chip.Name, Text.str() + "\ns_endpgm\n");
  if (!Code) {
    ADD_FAILURE() << toString(Code.takeError());
    return Status::UnknownInstruction;
  }
  constexpr uint64_t Base = 0x10000;
  auto P = Program::create(Chip, Base, *Code, Base);
  if (!P) {
    ADD_FAILURE() << toString(P.takeError());
    return Status::UnknownInstruction;
  }
  Reporter Reporting(TheKernel, Options);
  Launch L;
  L.Chip = &Chip;
  L.K = &TheKernel;
  L.Memory = &Memory;
  L.Code = P->get();
  L.Reports = &Reporting;
  L.Options = &Options;
  L.LdsBytes = LdsBytes;
  L.WavesPerGroup = uint32_t(Group.Waves.size());
  Group.Code = P->get();
  Group.Reports = &Reporting;
  Thread.Seen.clear();
  std::fill(Thread.Counts.begin(), Thread.Counts.end(), 0);
  Thread.Lds.EpochBase += 1000;
  for (auto &W : Group.Waves) {
    W->Pc = Base;
    W->Event = 0;
    W->Table = (*P)->table(W->VgprMsb);
    W->Recent.fill(nullptr);
  }
  runWorkgroup(L, Group, Thread);
  for (const auto &[Key, Count] : Thread.Seen)
    if (Count > Options.ReportExamples)
      Reporting.count(ReportKind(Key.second), Key.first->Pc,
                      Count - Options.ReportExamples);
  Message = Reporting.message();
  Reports = Reporting.take();
  for (auto &W : Group.Waves)
    W->Current = nullptr;
  return Reporting.status();
}

uint32_t &Snippet::v(unsigned Register, unsigned Lane, unsigned N) {
  return Registers[N][size_t(Register) * Chip.WaveSize + Lane];
}
float Snippet::f(unsigned Register, unsigned Lane) {
  float X;
  std::memcpy(&X, &v(Register, Lane), 4);
  return X;
}
void Snippet::setF(unsigned Register, float X) {
  uint32_t Bits;
  std::memcpy(&Bits, &X, 4);
  fill(Register, Bits);
}
void Snippet::fill(unsigned Register, uint32_t X) {
  for (unsigned N = 0; N != Group.Waves.size(); ++N)
    for (unsigned L = 0; L != Chip.WaveSize; ++L)
      v(Register, L, N) = X;
}
void Snippet::fill64(unsigned Register, uint64_t X) {
  fill(Register, uint32_t(X));
  fill(Register + 1, uint32_t(X >> 32));
}
uint64_t Snippet::v64(unsigned Register, unsigned Lane) {
  return v(Register, Lane) | uint64_t(v(Register + 1, Lane)) << 32;
}
uint32_t &Snippet::s(unsigned Register, unsigned N) {
  return wave(N).S[Register];
}
uint64_t Snippet::s64(unsigned Register) { return wave().scalar64(Register); }
void Snippet::setS64(unsigned Register, uint64_t X) {
  for (auto &W : Group.Waves)
    W->setScalar64(Register, X);
}

Allocation &Snippet::allocate(uint64_t Bytes, Contents Initial) {
  return *cantFail(Memory.allocate(Bytes, Initial, "buffer"));
}

void Snippet::setBuffer(unsigned Register, uint64_t Base, uint64_t NumRecords) {
  for (auto &W : Group.Waves) {
    uint32_t *D = &W->S[Register];
    if (Chip.NumRecordsBits > 32) {
      D[0] = uint32_t(Base);
      D[1] = uint32_t(Base >> 32) | uint32_t(NumRecords << 25);
      D[2] = uint32_t(NumRecords >> 7);
      D[3] = (uint32_t(NumRecords >> 39) & 0x3f) | 3u << 28;
    } else {
      D[0] = uint32_t(Base);
      D[1] = uint32_t(Base >> 32);
      D[2] = uint32_t(NumRecords);
      D[3] = 0x27000;
    }
  }
}

uint64_t Snippet::count(ReportKind Kind) const {
  uint64_t N = 0;
  for (const ReportGroup &G : Reports)
    if (G.Kind == Kind)
      N += G.Count;
  return N;
}

uint64_t Snippet::executed() const {
  uint64_t N = 0;
  for (uint64_t C : Thread.Counts)
    N += C;
  return N;
}

} // namespace pagedattn::emu
