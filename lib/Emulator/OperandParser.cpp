//===- OperandParser.cpp - Registers and constants ------------------------===//

#include "Parser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

/// Aperture of LDS and of scratch in flat addresses, as the upper half.
constexpr uint64_t SharedAperture = uint64_t(1) << 48;
constexpr uint64_t PrivateAperture = uint64_t(2) << 48;

struct NamedScalar {
  StringLiteral Name;
  uint16_t Reg;
  uint8_t Dwords;
};

constexpr NamedScalar NamedScalars[] = {
    {"vcc", RegVccLo, 2},
    {"vcc_lo", RegVccLo, 1},
    {"vcc_hi", RegVccHi, 1},
    {"exec", RegExecLo, 2},
    {"exec_lo", RegExecLo, 1},
    {"exec_hi", RegExecHi, 1},
    {"m0", RegM0, 1},
    {"null", RegNull, 1},
    {"flat_scratch", RegFlatScrLo, 2},
    {"flat_scratch_lo", RegFlatScrLo, 1},
    {"flat_scratch_hi", RegFlatScrHi, 1},
    {"src_flat_scratch_base_lo", RegFlatScrLo, 1},
    {"src_flat_scratch_base_hi", RegFlatScrHi, 1},
    {"src_flat_scratch_base", RegFlatScrLo, 2},
    {"xnack_mask", RegXnackLo, 2},
    {"xnack_mask_lo", RegXnackLo, 1},
    {"xnack_mask_hi", RegXnackHi, 1},
};

struct RegisterFile {
  StringLiteral Prefix;
  OperandKind Kind;
  uint16_t First;
  uint16_t Count;
};

constexpr RegisterFile RegisterFiles[] = {
    {"ttmp", OperandKind::Sgpr, RegTtmp0, 16},
    {"v", OperandKind::Vgpr, 0, 256},
    {"a", OperandKind::Vgpr, 256, 256},
    {"s", OperandKind::Sgpr, 0, 106},
};

/// "v5", "s[2:3]", "v5.h".
bool parseRegister(StringRef Text, Operand &O) {
  for (const RegisterFile &File : RegisterFiles) {
    StringRef Rest = Text;
    if (!Rest.consume_front(File.Prefix))
      continue;
    unsigned First, Last;
    if (Rest.consume_front("[")) {
      if (Rest.consumeInteger(10, First))
        continue;
      Last = First;
      if (Rest.consume_front(":") && Rest.consumeInteger(10, Last))
        continue;
      if (!Rest.consume_front("]"))
        continue;
    } else {
      if (Rest.consumeInteger(10, First))
        continue;
      Last = First;
      if (Rest.consume_front(".h"))
        O.High = true;
      else
        Rest.consume_front(".l");
    }
    // A tuple may start in one bank of vector registers and end in the next;
    // the caller knows how many there are.
    const unsigned Overlap = File.Kind == OperandKind::Vgpr ? 31 : 0;
    if (!Rest.empty() || Last < First || Last - First > 31 ||
        First >= File.Count || Last >= File.Count + Overlap)
      continue;
    O.Kind = File.Kind;
    O.Reg = File.First + First;
    O.Dwords = Last - First + 1;
    return true;
  }
  return false;
}

bool parseSpecial(StringRef Text, Operand &O) {
  for (const NamedScalar &N : NamedScalars) {
    if (Text != N.Name)
      continue;
    O.Kind = OperandKind::Sgpr;
    O.Reg = N.Reg;
    O.Dwords = N.Dwords;
    return true;
  }
  if (Text == "off") {
    O.Kind = OperandKind::None;
    return true;
  }
  OperandKind Kind = StringSwitch<OperandKind>(Text)
                         .Cases({"scc", "src_scc"}, OperandKind::Scc)
                         .Cases({"vccz", "src_vccz"}, OperandKind::Vccz)
                         .Cases({"execz", "src_execz"}, OperandKind::Execz)
                         .Default(OperandKind::None);
  if (Kind != OperandKind::None) {
    O.Kind = Kind;
    return true;
  }
  uint64_t Aperture =
      StringSwitch<uint64_t>(Text)
          .Case("src_shared_base", SharedAperture)
          .Case("src_private_base", PrivateAperture)
          .Case("src_shared_limit", SharedAperture | 0xffffffff)
          .Case("src_private_limit", PrivateAperture | 0xffffffff)
          .Default(0);
  if (!Aperture)
    return false;
  O.Kind = OperandKind::Const;
  // A 32-bit read sees the half that identifies the aperture.
  bool Wide = O.Type == Ty::B64 || O.Type == Ty::I64;
  O.Imm = Wide ? Aperture : Aperture >> 32;
  return true;
}

uint64_t halfBits(double D, const fltSemantics &Semantics) {
  APFloat F(D);
  bool LosesInfo;
  F.convert(Semantics, APFloat::rmNearestTiesToEven, &LosesInfo);
  return F.bitcastToAPInt().getZExtValue();
}

/// Bits of an inline floating-point constant for a type.
uint64_t floatBits(double D, Ty Type) {
  switch (Type) {
  case Ty::B8:
  case Ty::B16:
  case Ty::F16:
  case Ty::PkF16:
    return halfBits(D, APFloat::IEEEhalf());
  case Ty::BF16:
  case Ty::PkBF16:
    return halfBits(D, APFloat::BFloat());
  case Ty::B64:
  case Ty::I64:
  case Ty::F64:
    return bit_cast<uint64_t>(D);
  default:
    return bit_cast<uint32_t>(float(D));
  }
}

bool is64(Ty Type) {
  return Type == Ty::B64 || Type == Ty::I64 || Type == Ty::F64 ||
         Type == Ty::Mask;
}

bool parseConstant(StringRef Text, Operand &O) {
  bool Lit64 = false;
  if (Text.consume_front("lit64(")) {
    Lit64 = true;
    Text.consume_back(")");
  } else if (Text.consume_front("lit(")) {
    Text.consume_back(")");
  }
  bool Negative = Text.consume_front("-");
  bool Hex = Text.starts_with("0x");
  uint64_t Int;
  if (!Text.getAsInteger(0, Int)) {
    O.Kind = OperandKind::Const;
    if (Negative)
      Int = -Int;
    if (!is64(O.Type)) {
      O.Imm = uint32_t(Int);
    } else if (!Hex || Lit64 || (Int >> 32)) {
      O.Imm = Int; // inline integer or a literal of full width

    } else if (O.Type == Ty::F64) {
      O.Imm = Int << 32;
    } else if (O.Type == Ty::I64) {
      O.Imm = uint64_t(int64_t(int32_t(Int)));
    } else {
      O.Imm = Int;
    }
    return true;
  }
  double D;
  if (Text.getAsDouble(D))
    return false;
  // 1 / (2 pi) has its own bit patterns, which rounding the printed digits
  // need not reproduce.
  bool InvTwoPi = Text.starts_with("0.15915494");
  O.Kind = OperandKind::Const;
  if (InvTwoPi)
    switch (O.Type) {
    case Ty::B16:
    case Ty::F16:
    case Ty::PkF16:
      O.Imm = 0x3118;
      break;
    case Ty::BF16:
    case Ty::PkBF16:
      O.Imm = 0x3e23;
      break;
    case Ty::B64:
    case Ty::I64:
    case Ty::F64:
      O.Imm = 0x3fc45f306dc9c882;
      break;
    default:
      O.Imm = 0x3e22f983;
      break;
    }
  else
    O.Imm = floatBits(Negative ? -D : D, O.Type);
  return true;
}

} // namespace

bool parseOperand(StringRef Text, Ty Type, Operand &O, std::string &Err) {
  O.Type = Type;
  Text = Text.trim();
  StringRef Whole = Text;
  if (Text.consume_front("neg(")) {
    O.Neg = true;
    Text.consume_back(")");
  } else if (Text.size() > 1 && Text[0] == '-' && !isDigit(Text[1])) {
    O.Neg = true;
    Text = Text.drop_front();
  }
  if (Text.consume_front("|")) {
    O.Abs = true;
    if (!Text.consume_back("|")) {
      Err = "unknown operand '" + Whole.str() + "'";
      return false;
    }
  } else if (Text.consume_front("abs(")) {
    O.Abs = true;
    Text.consume_back(")");
  } else if (Text.consume_front("sext(")) {
    O.Sext = true;
    Text.consume_back(")");
  }
  if (parseSpecial(Text, O) || parseRegister(Text, O) || parseConstant(Text, O))
    return true;
  Err = "unknown operand '" + Whole.str() + "'";
  return false;
}

void splatConstant(Instruction &I, Operand &O) {
  auto Lanes = std::make_unique<uint32_t[]>(128);
  for (unsigned L = 0; L != 64; ++L) {
    Lanes[L] = uint32_t(O.Imm);
    Lanes[64 + L] = uint32_t(O.Imm >> 32);
  }
  O.Splat = Lanes.get();
  I.Splats.push_back(std::move(Lanes));
}

} // namespace pagedattn::emu
