//===- Disassembler.cpp - LLVM's MC layer for one chip --------------------===//

#include "Disassembler.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <array>
#include <mutex>
#include <optional>

using namespace llvm;

namespace pagedattn::emu {

struct Disassembler::State {
  MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> Registers;
  std::unique_ptr<MCAsmInfo> AsmInfo;
  std::unique_ptr<MCSubtargetInfo> Subtarget;
  std::unique_ptr<MCInstrInfo> Instructions;
  std::unique_ptr<MCContext> Context;
  std::unique_ptr<MCDisassembler> Disasm;
  std::unique_ptr<MCInstPrinter> Printer;
};

Disassembler::Disassembler(std::unique_ptr<State> S) : S(std::move(S)) {}
Disassembler::~Disassembler() = default;

Expected<std::unique_ptr<Disassembler>>
Disassembler::create(const ChipInfo &Chip) {
  static std::once_flag Once;
  std::call_once(Once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  Triple TT("amdgcn-amd-amdhsa");
  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(TT, Message);
  if (!T)
    return createStringError("no AMDGPU target in this LLVM: " + Message);
  auto S = std::make_unique<State>();
  S->Registers.reset(T->createMCRegInfo(TT));
  if (S->Registers)
    S->AsmInfo.reset(T->createMCAsmInfo(*S->Registers, TT, S->Options));
  // Halves of 16-bit registers print as .l and .h, which is what the hardware
  // decodes whatever the compiler was told.
  S->Subtarget.reset(T->createMCSubtargetInfo(
      TT, Chip.Name, Chip.Gfx12 ? "+real-true16" : ""));
  S->Instructions.reset(T->createMCInstrInfo());
  if (!S->AsmInfo || !S->Subtarget || !S->Instructions)
    return createStringError("cannot create the disassembler for " + Chip.Name);
  S->Context =
      std::make_unique<MCContext>(TT, S->AsmInfo.get(), S->Registers.get(),
                                  S->Subtarget.get(), nullptr, &S->Options);
  S->Disasm.reset(T->createMCDisassembler(*S->Subtarget, *S->Context));
  S->Printer.reset(T->createMCInstPrinter(TT, 0, *S->AsmInfo, *S->Instructions,
                                          *S->Registers));
  if (!S->Disasm || !S->Printer)
    return createStringError("cannot create the disassembler for " + Chip.Name);
  S->Printer->setPrintImmHex(false);
  return std::unique_ptr<Disassembler>(new Disassembler(std::move(S)));
}

/// Removes "/*...*/" and "// ..." and folds the blanks.
static std::string clean(StringRef Text) {
  std::string Out;
  while (!Text.empty()) {
    size_t Comment = Text.find("/*");
    Out += Text.take_front(Comment);
    if (Comment == StringRef::npos)
      break;
    Text = Text.drop_front(Comment + 2);
    size_t End = Text.find("*/");
    if (End == StringRef::npos)
      break;
    Text = Text.drop_front(End + 2);
  }
  StringRef Rest = StringRef(Out).split("//").first.trim();
  std::string Folded;
  for (char C : Rest) {
    if (C == '\t')
      C = ' ';
    if (C == ' ' && !Folded.empty() && Folded.back() == ' ')
      continue;
    Folded += C;
  }
  return Folded;
}

/// Compilers older than LLVM 22.1 leave zero in a field of the tensor
/// instructions that must name the null register by now. Gives the bytes as
/// they are encoded today, or nothing for other instructions.
static std::optional<std::array<uint8_t, 12>>
currentTensorEncoding(ArrayRef<uint8_t> Bytes) {
  constexpr unsigned Size = 12, Field = 7;
  constexpr uint8_t Null = 0x7c;
  if (Bytes.size() < Size || Bytes[3] != 0xd0 || Bytes[2] != 0x71 ||
      Bytes[Field] != 0)
    return std::nullopt;
  std::array<uint8_t, Size> Current;
  std::copy_n(Bytes.begin(), Size, Current.begin());
  Current[Field] = Null;
  return Current;
}

/// The half of a scaled matrix instruction that names the scales has an unused
/// third source. Assemblers have written it as 0 and as v0; LLVM's tables only
/// have v0.
static bool hasZeroThirdSource(ArrayRef<uint8_t> Bytes) {
  if (Bytes.size() < 16)
    return false;
  const uint32_t Opcode = support::endian::read32le(Bytes.data()) >> 16;
  const uint32_t Sources = support::endian::read32le(Bytes.data() + 4);
  return (Opcode == 0xcc35 || Opcode == 0xcc3a) &&
         ((Sources >> 18) & 0x1ff) == 0;
}

Disassembler::Result Disassembler::disassemble(ArrayRef<uint8_t> Bytes,
                                               uint64_t Pc) {
  Result R;
  MCInst Inst;
  uint8_t Patched[16];
  if (hasZeroThirdSource(Bytes)) {
    std::memcpy(Patched, Bytes.data(), sizeof(Patched));
    Patched[7] |= 0x04;
    Bytes = Patched;
  }
  uint64_t Size = 0;
  auto Status = S->Disasm->getInstruction(Inst, Size, Bytes, Pc, nulls());
  if (Status == MCDisassembler::Fail) {
    if (auto Tensor = currentTensorEncoding(Bytes))
      Status = S->Disasm->getInstruction(Inst, Size, *Tensor, Pc, nulls());
  }
  if (Status == MCDisassembler::Fail || Size == 0)
    return R;
  std::string Text;
  raw_string_ostream OS(Text);
  S->Printer->printInst(&Inst, Pc, "", *S->Subtarget, OS);
  // An operand that the encoding cannot have prints a note in a comment.
  if (StringRef(Text).contains("Invalid register"))
    return R;
  R.Size = uint32_t(Size);
  R.Text = clean(Text);
  for (const MCOperand &O : Inst)
    if (O.isImm())
      R.Imms.Values.push_back(O.getImm());
  return R;
}

} // namespace pagedattn::emu
