//===- Program.cpp - Decoded instructions of a code object ----------------===//

#include "Program.h"
#include "Disassembler.h"
#include "Dual.h"
#include "Wave.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pagedattn::emu {

Program::Program(const ChipInfo &Chip, uint64_t Base, ArrayRef<uint8_t> Code,
                 uint64_t ElfBase)
    : Chip(Chip), Base(Base), Code(Code), ElfBase(ElfBase) {}

Program::~Program() = default;

Expected<std::unique_ptr<Program>> Program::create(const ChipInfo &Chip,
                                                   uint64_t Base,
                                                   ArrayRef<uint8_t> Code,
                                                   uint64_t ElfAddress) {
  auto Disasm = Disassembler::create(Chip);
  if (!Disasm)
    return Disasm.takeError();
  std::unique_ptr<Program> P(new Program(Chip, Base, Code, ElfAddress));
  P->Disasm = std::move(*Disasm);
  return P;
}

Program::Slot *Program::table(uint8_t Msb) {
  if (Slot *T = Ready[Msb].load(std::memory_order_acquire))
    return T;
  std::lock_guard<std::mutex> Guard(Lock);
  if (!Tables[Msb]) {
    Tables[Msb] = std::make_unique<Slot[]>(Code.size() / 4 + 1);
    Ready[Msb].store(Tables[Msb].get(), std::memory_order_release);
  }
  return Tables[Msb].get();
}

static void executeUnknown(Wave &W, const Instruction &I) {
  W.fatal(ReportKind::UnknownInstruction, I.Error);
}

uint32_t Program::mnemonicId(const Instruction &I) {
  for (uint32_t Id = 0; Id != Mnemonics.size(); ++Id)
    if (Mnemonics[Id].Name == I.Mnemonic && Mnemonics[Id].Class == I.Class)
      return Id;
  // The last counter collects what does not fit, which no chip reaches.
  if (Mnemonics.size() < MaxMnemonics)
    Mnemonics.push_back({I.Mnemonic, I.Class});
  return uint32_t(Mnemonics.size() - 1);
}

std::vector<Program::Mnemonic> Program::mnemonics() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Mnemonics;
}

const Instruction *Program::decode(Slot *Table, uint64_t Pc, uint8_t Msb) {
  std::lock_guard<std::mutex> Guard(Lock);
  uint64_t Offset = Pc - Base;
  Slot &S = Table[Offset >> 2];
  if (const Instruction *I = S.load(std::memory_order_acquire))
    return I;

  auto I = std::make_unique<Instruction>();
  I->Pc = Pc;
  Disassembler::Result R =
      Disasm->disassemble(Code.drop_front(Offset), elfAddress(Pc));
  if (R.Size == 0) {
    I->Size = 4;
    uint32_t Word = 0;
    std::memcpy(&Word, Code.data() + Offset,
                std::min<size_t>(4, Code.size() - Offset));
    I->Mnemonic = "(not an instruction)";
    I->Text = ".long 0x" + utohexstr(Word, /*LowerCase=*/true);
    I->Error = "not an instruction of " + Chip.Name.str();
  } else {
    I->Size = R.Size;
    I->Text = R.Text;
    parseInstruction(R.Text, R.Imms, Chip, Msb, *I);
    if (I->Second && I->Error.empty())
      prepareDual(*I, Chip);
    // Operands of the second half are counted with the first.
    if (I->Second)
      I->Second->Pc = Pc;
  }
  if (!I->Error.empty())
    I->Fn = executeUnknown;
  I->Id = mnemonicId(*I);
  const Instruction *Done = I.get();
  Owned.push_back(std::move(I));
  S.store(Done, std::memory_order_release);
  return Done;
}

} // namespace pagedattn::emu
