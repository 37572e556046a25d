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
  bool Gfx12 = false;
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
  S->Gfx12 = Chip.Gfx12;
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

namespace {

/// Encodings that no chip has and on which LLVM's disassembler reads wild
/// memory instead of failing: arbitrary bytes must not crash us.
class WildEncoding {
public:
  WildEncoding(ArrayRef<uint8_t> Bytes, bool Gfx12) {
    for (unsigned N = 0; N != 4 && 4 * N + 4 <= Bytes.size(); ++N)
      Words[N] = support::endian::read32le(Bytes.data() + 4 * N);
    Wild = Gfx12 ? isWildGfx12() : isWildGfx9();
  }
  explicit operator bool() const { return Wild; }

private:
  static constexpr unsigned Literal = 255, Sdwa = 249, FirstVgpr = 256;

  static unsigned source(uint32_t Word, unsigned N) {
    return Word >> (9 * N) & 0x1ff;
  }

  /// Scalar operand numbers that are a register or an inline constant.
  static bool isScalarSource(unsigned Number) {
    return Number <= 124 || (Number >= 126 && Number <= 208) ||
           (Number >= 235 && Number <= 248) || (Number >= 251 && Number <= 254);
  }

  /// A and B of the instructions with variable formats are vector registers;
  /// their number is looked up before that is checked.
  static bool hasScalarMatrix(uint32_t Word) {
    return source(Word, 0) < FirstVgpr || source(Word, 1) < FirstVgpr;
  }

  bool isWildGfx12() const {
    // Barrier instructions of SOP1 take no literal.
    const unsigned Opcode = Words[0] >> 8 & 0xff;
    if (Words[0] >> 23 == 0xbe800000u >> 23 && Opcode >= 0x4e && Opcode <= 0x52)
      return (Words[0] & 0xff) == Literal;
    // v_wmma_f32_16x16x128_f8f6f4, alone or behind its scales.
    if (Words[0] >> 16 == 0xcc33)
      return hasScalarMatrix(Words[1]);
    if (Words[0] >> 16 == 0xcc35 || Words[0] >> 16 == 0xcc3a)
      return Words[2] >> 16 == 0xcc33 && hasScalarMatrix(Words[3]);
    return false;
  }

  bool isWildGfx9() const {
    // VOP3, VOP3P and MAI take no literal before GFX10.
    if (Words[0] >> 26 == 0xd0000000u >> 26) {
      for (unsigned N : {0u, 1u, 2u})
        if (source(Words[1], N) == Literal)
          return true;
      // Nor is it the scalar destination of a comparison.
      if ((Words[0] >> 16 & 0x3ff) < 0x100 && (Words[0] & 0xff) == Literal)
        return true;
      // v_mfma_f32_*_f8f6f4, alone or behind its scales.
      if (Words[0] >> 16 == 0xd3ad || Words[0] >> 16 == 0xd3ae)
        return hasScalarMatrix(Words[1]);
      if (Words[0] >> 16 == 0xd3ac)
        return hasScalarMatrix(Words[3]);
      return false;
    }
    // Nor the scalar offset of MUBUF and MTBUF.
    if (Words[0] >> 28 == 0xe && (Words[0] >> 26 & 1) == 0)
      return Words[1] >> 24 == Literal;
    if (Words[0] >> 31 == 0 && (Words[0] & 0x1ff) == Sdwa)
      return isWildSdwa();
    return false;
  }

  /// Selectors beyond the last one, or scalar sources that are none.
  bool isWildSdwa() const {
    const uint32_t X = Words[1];
    const bool Compare = Words[0] >> 25 == 0x7c000000u >> 25;
    const unsigned DstSel = X >> 8 & 7, DstUnused = X >> 11 & 3;
    const unsigned Src0Sel = X >> 16 & 7, Src1Sel = X >> 24 & 7;
    const bool ScalarSrc0 = X >> 23 & 1, ScalarSrc1 = X >> 31;
    return Src0Sel == 7 || Src1Sel == 7 ||
           (!Compare && (DstSel == 7 || DstUnused == 3)) ||
           (ScalarSrc0 && !isScalarSource(X & 0xff)) ||
           (ScalarSrc1 && !isScalarSource(Words[0] >> 9 & 0xff));
  }

  uint32_t Words[4] = {};
  bool Wild = false;
};

} // namespace

Disassembler::Result Disassembler::disassemble(ArrayRef<uint8_t> Bytes,
                                               uint64_t Pc) {
  Result R;
  if (WildEncoding(Bytes, S->Gfx12))
    return R;
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
