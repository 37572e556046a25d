//===- Parser.cpp - Disassembly text to a decoded instruction -------------===//

#include "Parser.h"
#include "Operands.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

StringRef stripEncodingSuffix(StringRef Mnemonic) {
  for (StringRef Suffix : {"_e64_dpp", "_dpp", "_sdwa", "_e32", "_e64"})
    if (Mnemonic.consume_back(Suffix))
      break;
  return Mnemonic;
}

namespace {

/// Splits at Separator outside of brackets, parentheses and quotes.
void splitTopLevel(StringRef Text, char Separator,
                   SmallVectorImpl<StringRef> &Parts) {
  int Depth = 0;
  bool Quoted = false;
  size_t Begin = 0;
  for (size_t P = 0; P != Text.size(); ++P) {
    char C = Text[P];
    if (C == '"')
      Quoted = !Quoted;
    else if (C == '(' || C == '[')
      ++Depth;
    else if (C == ')' || C == ']')
      --Depth;
    else if (C == Separator && Depth == 0 && !Quoted) {
      Parts.push_back(Text.slice(Begin, P).trim());
      Begin = P + 1;
    }
  }
  Parts.push_back(Text.drop_front(Begin).trim());
}

/// Which two bits of s_set_vgpr_msb extend a vector operand.
enum MsbField : uint8_t { MsbSrc0 = 0, MsbSrc1 = 2, MsbSrc2 = 4, MsbDst = 6 };

/// Nothing where the operand names one of the first 256 registers only.
std::optional<MsbField> msbField(const Instruction &I, unsigned Position) {
  const OpInfo &Info = *I.Info;
  // The data of a buffer access and the LDS address of an asynchronous load
  // are encoded as the destination, whether or not they are written.
  bool DataFirst = I.Class == OpClass::Buffer ||
                   StringRef(Info.Name).starts_with("global_load_async");
  unsigned Dsts = DataFirst ? 1 : Info.NumDst;
  if (Position < Dsts)
    return MsbDst;
  unsigned Source = Position - Dsts;
  // The scale operands of a matrix instruction are not extended.
  if (I.Class == OpClass::Matrix && Source >= 3)
    return std::nullopt;
  return MsbField(2 * std::min(Source, 2u));
}

bool isFloatHalf(Ty T) { return T == Ty::F16 || T == Ty::BF16 || T == Ty::B16; }

bool isPacked(Ty T) {
  return T == Ty::PkB16 || T == Ty::PkF16 || T == Ty::PkBF16 ||
         T == Ty::PkF32 || T == Ty::PkB32;
}

void finishOperands(Instruction &I, const ChipInfo &Chip) {
  for (unsigned N = 0; N != I.NumSrc; ++N) {
    Operand &O = I.Src[N];
    if (isFloatHalf(O.Type) && (I.Mod.OpSel >> N) & 1)
      O.High = true;
    O.Dpp = N == 0 && I.Mod.Dpp != DppKind::None && O.isVgpr();
    if (O.isVgpr())
      O.Offset = O.Reg * Chip.WaveSize;
    // Packed sources in their natural order are read in place as well.
    bool Ordered =
        !isPacked(O.Type) ||
        (!((I.Mod.OpSel >> N) & 1) && (I.Mod.OpSelHi >> N) & 1 &&
         !((I.Mod.NegLo >> N) & 1) && !((I.Mod.NegHi >> N) & 1) && O.isVgpr());
    bool Plain = !O.Neg && !O.Abs && !O.Sext && !O.High && !O.Dpp &&
                 O.Sel == SdwaSel::Dword && Ordered;
    if (O.isConst()) {
      splatConstant(I, O);
      O.Direct = Plain;
    } else {
      O.Direct = Plain && O.isVgpr();
      O.Uniform = Plain && O.isSgpr() && O.Reg != RegNull;
    }
    const bool Pair = O.Type == Ty::PkF32 || O.Type == Ty::PkB32;
    if (Pair && O.isVgpr() && !O.Direct && !O.Dpp &&
        !(((I.Mod.NegLo | I.Mod.NegHi) >> N) & 1)) {
      O.Direct = O.Reordered = true;
      O.PairSel =
          uint8_t(((I.Mod.OpSel >> N) & 1) | ((I.Mod.OpSelHi >> N) & 1) << 1);
    }
  }
  for (unsigned N = 0; N != I.NumDst; ++N) {
    Operand &O = I.Dst[N];
    if (isFloatHalf(O.Type) && (I.Mod.OpSel >> I.NumSrc) & 1)
      O.High = true;
    if (O.isVgpr())
      O.Offset = O.Reg * Chip.WaveSize;
    if (O.isSgpr() && O.Reg == RegNull)
      O.Kind = OperandKind::None;
  }
  if (I.Mod.Dpp != DppKind::None)
    I.Dpp = buildDppMap(I.Mod, Chip.WaveSize);
  I.SlowDst = I.Mod.Dpp != DppKind::None || I.Mod.Sdwa;
}

/// Modifiers that the handler would silently ignore.
void rejectUnusedModifiers(Instruction &I) {
  const OpInfo &Info = *I.Info;
  if (Info.Prepare)
    return; // the family checks for itself
  const bool Float = Info.Types[0] == Ty::F32 || Info.Types[0] == Ty::F16 ||
                     Info.Types[0] == Ty::F64;
  if (I.Mod.Clamp && !Info.Clamps)
    I.Error = "unsupported modifier 'clamp'";
  if (I.Mod.Omod != OMod::None && !(Float && Info.Clamps))
    I.Error = "unsupported output multiplier";
  for (unsigned N = 0; N != I.NumSrc + 1u; ++N) {
    Ty Type = N < I.NumSrc ? I.Src[N].Type : I.Dst[0].Type;
    if ((I.Mod.OpSel >> N) & 1 && !isFloatHalf(Type) && !isPacked(Type))
      I.Error = "unsupported op_sel";
  }
}

void parseOne(StringRef Text, const EncodedImms &Imms, const ChipInfo &Chip,
              uint8_t VgprMsb, Instruction &I) {
  auto [Full, Rest] = Text.trim().split(' ');
  Rest = Rest.trim();
  StringRef Mnemonic = stripEncodingSuffix(Full);
  I.Mnemonic = Mnemonic.str();
  // s_setreg_imm32 has the register name as its second immediate.
  if (!Imms.Values.empty())
    I.Imm = Text.contains("hwreg(") ? Imms.Values.back() : Imms.Values[0];

  // The halves of a dual instruction mean the same as the instruction alone.
  std::string Plain;
  if (Mnemonic.starts_with("v_dual_"))
    Plain = ("v_" + Mnemonic.drop_front(7)).str();
  else
    Plain = Mnemonic.str();
  I.Info = findOp(Plain);
  if (!I.Info) {
    I.Error = "unknown instruction";
    return;
  }
  const OpInfo &Info = *I.Info;
  I.Fn = Info.Fn;
  I.Class = Info.Class;
  if (Info.Types[0] == Ty::Imm && Info.Types[1] == Ty::None)
    return; // only an immediate: nothing to read from the text

  SmallVector<StringRef, 8> Operands;
  SmallVector<StringRef, 8> Mods;
  if (!Rest.empty()) {
    splitTopLevel(Rest, ',', Operands);
    // Modifiers follow the last operand, separated by blanks.
    SmallVector<StringRef, 8> Words;
    splitTopLevel(Operands.back(), ' ', Words);
    Operands.back() = Words[0];
    Mods.append(Words.begin() + 1, Words.end());
    // An instruction without operands may still have modifiers.
    if (Operands.size() == 1 && Info.Types[0] == Ty::None) {
      Operands.clear();
      Mods.insert(Mods.begin(), Words[0]);
    }
  }

  // A buffer load to LDS names no register for the data.
  // v_cmpx writes only EXEC on GFX12, and a scalar register as well before.
  // Atomics have a destination only if a modifier asks for the old value.
  bool NoDst = is_contained(Mods, "lds") ||
               (Chip.Gfx12 && Mnemonic.starts_with("v_cmpx_"));
  if (Mnemonic.contains("_atomic_")) {
    I.Mod.Returns = any_of(Mods, [](StringRef M) {
      return M == "sc0" || M == "glc" || M.ends_with("_RETURN");
    });
    NoDst |= !I.Mod.Returns && I.Class != OpClass::Buffer;
  }
  unsigned Skipped = NoDst ? Info.NumDst : 0;
  for (unsigned P = 0; P != Operands.size(); ++P) {
    unsigned Slot = P + Skipped;
    Ty Type = Slot < Info.Types.size() ? Info.Types[Slot] : Ty::Wide;
    if (Type == Ty::None)
      Type = Ty::Wide;
    if (Type == Ty::Imm)
      continue;
    Operand O;
    if (!parseOperand(Operands[P], Type, O, I.Error))
      return;
    if (O.isVgpr()) {
      if (Chip.AccVgprBase == 0) {
        if (std::optional<MsbField> Field = msbField(I, Slot))
          O.Reg += 256 * ((VgprMsb >> *Field) & 3);
      }
      const bool LeavesFile = Chip.AccVgprBase && O.Reg < Chip.AccVgprBase &&
                              O.Reg + O.Dwords > Chip.AccVgprBase;
      if (LeavesFile || O.Reg + O.Dwords > Chip.Vgprs) {
        I.Error = ("vector register beyond the last one in operand '" +
                   Operands[P] + "'")
                      .str();
        return;
      }
    }
    bool IsDst = Slot < Info.NumDst;
    if (IsDst ? I.NumDst == I.Dst.size() : I.NumSrc == I.Src.size()) {
      I.Error = "too many operands";
      return;
    }
    (IsDst ? I.Dst[I.NumDst++] : I.Src[I.NumSrc++]) = O;
  }
  // The condition of a select is implicit in the short dual encoding.
  if (Info.Types[3] == Ty::Mask && I.NumSrc == 2 && I.NumDst == 1) {
    I.Src[2].Kind = OperandKind::Sgpr;
    I.Src[2].Type = Ty::Mask;
    I.Src[2].Reg = RegVccLo;
    I.NumSrc = 3;
  }

  for (StringRef Mod : Mods)
    if (!Mod.empty() && !parseModifier(Mod, Imms, I, I.Error))
      return;
  if (!I.Mod.HasOpSelHi)
    I.Mod.OpSelHi = 0xff; // absent means all ones
  finishOperands(I, Chip);
  if (Info.Prepare && !Info.Prepare(I, Chip, I.Error) && I.Error.empty())
    I.Error = "unsupported form";
  if (I.Error.empty() && I.Class == OpClass::VectorAlu)
    rejectUnusedModifiers(I);
}

} // namespace

void parseInstruction(StringRef Text, const EncodedImms &Imms,
                      const ChipInfo &Chip, uint8_t VgprMsb, Instruction &I) {
  size_t Split = Text.find(" :: ");
  if (Split == StringRef::npos)
    return parseOne(Text, Imms, Chip, VgprMsb, I);
  parseOne(Text.take_front(Split), Imms, Chip, VgprMsb, I);
  I.Second = std::make_unique<Instruction>();
  parseOne(Text.drop_front(Split + 4), Imms, Chip, VgprMsb, *I.Second);
  if (I.Error.empty())
    I.Error = I.Second->Error;
}

} // namespace pagedattn::emu
