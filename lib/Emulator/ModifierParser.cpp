//===- ModifierParser.cpp - Modifiers of the assembly language ------------===//

#include "Parser.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace llvm;

namespace pagedattn::emu {

namespace {

std::optional<int64_t> number(StringRef Text) {
  bool Negative = Text.consume_front("-");
  uint64_t X;
  if (Text.getAsInteger(0, X))
    return std::nullopt;
  return Negative ? -int64_t(X) : int64_t(X);
}

/// "[1,0,1]" as bits, or as fields of Width bits.
std::optional<uint32_t> list(StringRef Text, unsigned Width = 1) {
  if (!Text.consume_front("[") || !Text.consume_back("]"))
    return std::nullopt;
  SmallVector<StringRef, 8> Items;
  Text.split(Items, ',');
  uint32_t Bits = 0;
  for (unsigned I = 0; I != Items.size(); ++I) {
    unsigned X;
    if (Items[I].trim().getAsInteger(10, X) || X >> Width || I * Width > 31)
      return std::nullopt;
    Bits |= X << (I * Width);
  }
  return Bits;
}

std::optional<SdwaSel> sdwaSel(StringRef Text) {
  return StringSwitch<std::optional<SdwaSel>>(Text)
      .Case("BYTE_0", SdwaSel::Byte0)
      .Case("BYTE_1", SdwaSel::Byte1)
      .Case("BYTE_2", SdwaSel::Byte2)
      .Case("BYTE_3", SdwaSel::Byte3)
      .Case("WORD_0", SdwaSel::Word0)
      .Case("WORD_1", SdwaSel::Word1)
      .Case("DWORD", SdwaSel::Dword)
      .Default(std::nullopt);
}

std::optional<uint8_t> matrixFormat(StringRef Text) {
  if (auto N = number(Text))
    return uint8_t(*N);
  return StringSwitch<std::optional<uint8_t>>(Text)
      .Case("MATRIX_FMT_FP8", 0)
      .Case("MATRIX_FMT_BF8", 1)
      .Case("MATRIX_FMT_FP6", 2)
      .Case("MATRIX_FMT_BF6", 3)
      .Case("MATRIX_FMT_FP4", 4)
      .Default(std::nullopt);
}

std::optional<uint8_t> matrixScale(StringRef Text) {
  if (auto N = number(Text))
    return uint8_t(*N);
  return StringSwitch<std::optional<uint8_t>>(Text)
      .Case("MATRIX_SCALE_ROW0", 0)
      .Case("MATRIX_SCALE_ROW1", 1)
      .Default(std::nullopt);
}

std::optional<uint8_t> matrixScaleFormat(StringRef Text) {
  if (auto N = number(Text))
    return uint8_t(*N);
  return StringSwitch<std::optional<uint8_t>>(Text)
      .Case("MATRIX_SCALE_FMT_E8", 0)
      .Case("MATRIX_SCALE_FMT_E5M3", 1)
      .Case("MATRIX_SCALE_FMT_E4M3", 2)
      .Default(std::nullopt);
}

struct DppName {
  StringLiteral Name;
  uint16_t Base;
  uint16_t Min, Max; ///< accepted numbers; Max 0: no number
};

/// DPP controls as in the encoding.
constexpr DppName DppNames[] = {
    {"row_shl", 0x100, 1, 15},        {"row_shr", 0x110, 1, 15},
    {"row_ror", 0x120, 1, 15},        {"wave_shl", 0x12f, 1, 1},
    {"wave_rol", 0x133, 1, 1},        {"wave_shr", 0x137, 1, 1},
    {"wave_ror", 0x13b, 1, 1},        {"row_mirror", 0x140, 0, 0},
    {"row_half_mirror", 0x141, 0, 0}, {"row_newbcast", 0x150, 0, 15},
    {"row_share", 0x150, 0, 15},      {"row_xmask", 0x160, 0, 15},
};

bool parseDpp(StringRef Name, StringRef Value, Modifiers &M) {
  if (Name == "quad_perm") {
    auto Bits = list(Value, 2);
    if (!Bits)
      return false;
    M.Dpp = DppKind::Dpp16;
    M.DppCtrl = *Bits;
    return true;
  }
  if (Name == "dpp8") {
    auto Bits = list(Value, 3);
    if (!Bits)
      return false;
    M.Dpp = DppKind::Dpp8;
    M.Dpp8Sel = *Bits;
    return true;
  }
  if (Name == "row_bcast") {
    if (Value != "15" && Value != "31")
      return false;
    M.Dpp = DppKind::Dpp16;
    M.DppCtrl = Value == "15" ? 0x142 : 0x143;
    return true;
  }
  for (const DppName &D : DppNames) {
    if (D.Name != Name)
      continue;
    unsigned N = 0;
    if (D.Max && (Value.getAsInteger(0, N) || N < D.Min || N > D.Max))
      return false;
    M.Dpp = DppKind::Dpp16;
    M.DppCtrl = D.Base + N;
    return true;
  }
  return false;
}

/// Modifiers that are only a word.
bool parseFlag(StringRef Text, Modifiers &M) {
  bool *Flag = StringSwitch<bool *>(Text)
                   .Case("clamp", &M.Clamp)
                   .Case("gds", &M.Gds)
                   .Case("glc", &M.Glc)
                   .Case("slc", &M.Slc)
                   .Case("dlc", &M.Dlc)
                   .Case("scc", &M.Scc)
                   .Case("sc0", &M.Sc0)
                   .Case("sc1", &M.Sc1)
                   .Case("nt", &M.Nt)
                   .Case("nv", &M.Nv)
                   .Case("offen", &M.Offen)
                   .Case("idxen", &M.Idxen)
                   .Case("lds", &M.Lds)
                   .Case("tfe", &M.Tfe)
                   .Case("lwe", &M.Lwe)
                   .Case("scale_offset", &M.ScaleOffset)
                   .Case("matrix_a_reuse", &M.MatrixAReuse)
                   .Case("matrix_b_reuse", &M.MatrixBReuse)
                   .Default(nullptr);
  if (!Flag)
    return false;
  *Flag = true;
  return true;
}

template <class T, class U>
bool assign(T &To, std::optional<U> From) {
  if (!From)
    return false;
  To = T(*From);
  return true;
}

bool parseValue(StringRef Name, StringRef Value, const EncodedImms &Imms,
                Instruction &I) {
  Modifiers &M = I.Mod;
  if (Name == "offset") {
    // A swizzle pattern prints symbolically.
    if (Value.starts_with("swizzle(")) {
      if (Imms.Values.empty())
        return false;
      M.Offset = uint16_t(Imms.Values[0]);
      return true;
    }
    return assign(M.Offset, number(Value));
  }
  if (Name == "offset0")
    return assign(M.Offset0, number(Value));
  if (Name == "offset1")
    return assign(M.Offset1, number(Value));
  if (Name == "op_sel") {
    M.HasOpSel = true;
    return assign(M.OpSel, list(Value));
  }
  if (Name == "op_sel_hi") {
    M.HasOpSelHi = true;
    return assign(M.OpSelHi, list(Value));
  }
  if (Name == "neg_lo")
    return assign(M.NegLo, list(Value));
  if (Name == "neg_hi")
    return assign(M.NegHi, list(Value));
  if (Name == "mul") {
    M.Omod = Value == "2" ? OMod::Mul2 : OMod::Mul4;
    return Value == "2" || Value == "4";
  }
  if (Name == "div") {
    M.Omod = OMod::Div2;
    return Value == "2";
  }
  if (Name == "row_mask")
    return assign(M.RowMask, number(Value));
  if (Name == "bank_mask")
    return assign(M.BankMask, number(Value));
  if (Name == "bound_ctrl") {
    M.BoundCtrl = true; // printed only when set, as 0 or 1
    return number(Value).has_value();
  }
  if (Name == "fi")
    return assign(M.FetchInactive, number(Value));
  if (Name == "dst_sel") {
    M.Sdwa = true;
    return assign(M.DstSel, sdwaSel(Value));
  }
  if (Name == "dst_unused") {
    M.Sdwa = true;
    return assign(M.DstUnused,
                  StringSwitch<std::optional<SdwaUnused>>(Value)
                      .Case("UNUSED_PAD", SdwaUnused::Pad)
                      .Case("UNUSED_SEXT", SdwaUnused::Sext)
                      .Case("UNUSED_PRESERVE", SdwaUnused::Preserve)
                      .Default(std::nullopt));
  }
  if (Name == "src0_sel" || Name == "src1_sel") {
    M.Sdwa = true;
    return assign(I.Src[Name == "src1_sel"].Sel, sdwaSel(Value));
  }
  if (Name == "cbsz")
    return assign(M.Cbsz, number(Value));
  if (Name == "abid")
    return assign(M.Abid, number(Value));
  if (Name == "blgp")
    return assign(M.Blgp, number(Value));
  if (Name == "neg") // blgp of the f64 matrix instructions
    return assign(M.Blgp, list(Value));
  if (Name == "matrix_a_fmt")
    return assign(M.MatrixAFmt, matrixFormat(Value));
  if (Name == "matrix_b_fmt")
    return assign(M.MatrixBFmt, matrixFormat(Value));
  if (Name == "matrix_a_scale")
    return assign(M.MatrixAScale, matrixScale(Value));
  if (Name == "matrix_b_scale")
    return assign(M.MatrixBScale, matrixScale(Value));
  if (Name == "matrix_a_scale_fmt")
    return assign(M.MatrixAScaleFmt, matrixScaleFormat(Value));
  if (Name == "matrix_b_scale_fmt")
    return assign(M.MatrixBScaleFmt, matrixScaleFormat(Value));
  if (Name == "byte_sel")
    return assign(M.ByteSel, number(Value));
  if (Name == "scale_sel")
    return assign(M.ScaleSel, number(Value));
  if (Name == "bitop3")
    return assign(M.Bitop3, number(Value));
  if (Name == "th" || Name == "scope")
    return true; // cache policy: no effect on values here
  if (Name == "wait_exp" || Name == "wait_va_vdst" || Name == "wait_va_vsrc" ||
      Name == "wait_vm_vsrc" || Name == "wait_vdst")
    return number(Value).has_value();
  return parseDpp(Name, Value, M);
}

} // namespace

bool parseModifier(StringRef Text, const EncodedImms &Imms, Instruction &I,
                   std::string &Err) {
  auto [Name, Value] = Text.split(':');
  bool Known = Value.empty()
                   ? parseFlag(Name, I.Mod) || parseDpp(Name, Value, I.Mod)
                   : parseValue(Name, Value, Imms, I);
  if (!Known)
    Err = "unknown modifier '" + Text.str() + "'";
  return Known;
}

} // namespace pagedattn::emu
