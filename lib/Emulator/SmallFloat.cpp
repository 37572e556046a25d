//===- SmallFloat.cpp - Conversions of narrow float formats ---------------===//
//
// v_cvt_* between binary32, binary16 or bfloat16 on one side and fp8, bf8, fp6,
// bf6, fp4 (or the 16-bit formats) on the other, plain, block-scaled and with
// stochastic rounding. One table row per mnemonic says what it converts; two
// handlers, widen and narrow, do the work lane by lane.
//
// A scale is a power of two. Widening multiplies by it, narrowing divides, and
// either rounds once. Stochastic rounding adds the seed's bits below the last
// kept one; every element of a packed conversion uses the same seed bits.
//
//===----------------------------------------------------------------------===//

#include "MatrixTile.h"
#include "Operands.h"
#include "Ops.h"
#include "PagedAttn/Emulator/Formats.h"
#include <vector>

using namespace pagedattn::emu;

namespace {

enum class Fmt : uint8_t { F32, F16, BF16, FP8, BF8, FP6, BF6, FP4 };

enum class Scale : uint8_t {
  None,
  F32,  ///< last source, exponent of a binary32
  E8M0, ///< last source, a byte chosen by scale_sel
};

/// How the sources of a narrowing conversion hold its elements.
enum class Source : uint8_t {
  Packed,      ///< one source, elements packed in consecutive registers
  Pair,        ///< two sources, one element each
  Interleaved, ///< two sources of half the elements, taking turns
};

struct Conversion {
  const char *Name;
  Fmt From, To;
  uint8_t Count;
  Scale Scaling = Scale::None;
  Source Elements = Source::Packed;
  bool Stochastic = false; ///< a seed follows the values
  /// Every 32-bit source is typed, so that neg and abs apply.
  bool ModifierSources = false;
};

// clang-format off
constexpr Conversion Conversions[] = {
    // Widening.
    {"v_cvt_f32_fp8",       Fmt::FP8,  Fmt::F32, 1},
    {"v_cvt_f32_bf8",       Fmt::BF8,  Fmt::F32, 1},
    {"v_cvt_f32_bf16",      Fmt::BF16, Fmt::F32, 1},
    {"v_cvt_pk_f32_fp8",    Fmt::FP8,  Fmt::F32, 2},
    {"v_cvt_pk_f32_bf8",    Fmt::BF8,  Fmt::F32, 2},
    {"v_cvt_f16_fp8",       Fmt::FP8,  Fmt::F16, 1},
    {"v_cvt_f16_bf8",       Fmt::BF8,  Fmt::F16, 1},
    {"v_cvt_pk_f16_fp8",    Fmt::FP8,  Fmt::F16, 2},
    {"v_cvt_pk_f16_bf8",    Fmt::BF8,  Fmt::F16, 2},
    {"v_cvt_scalef32_f32_fp8",      Fmt::FP8, Fmt::F32,  1, Scale::F32},
    {"v_cvt_scalef32_f32_bf8",      Fmt::BF8, Fmt::F32,  1, Scale::F32},
    {"v_cvt_scalef32_f16_fp8",      Fmt::FP8, Fmt::F16,  1, Scale::F32},
    {"v_cvt_scalef32_f16_bf8",      Fmt::BF8, Fmt::F16,  1, Scale::F32},
    {"v_cvt_scalef32_pk_f32_fp8",   Fmt::FP8, Fmt::F32,  2, Scale::F32},
    {"v_cvt_scalef32_pk_f32_bf8",   Fmt::BF8, Fmt::F32,  2, Scale::F32},
    {"v_cvt_scalef32_pk_f32_fp4",   Fmt::FP4, Fmt::F32,  2, Scale::F32},
    {"v_cvt_scalef32_pk_f16_fp8",   Fmt::FP8, Fmt::F16,  2, Scale::F32},
    {"v_cvt_scalef32_pk_f16_bf8",   Fmt::BF8, Fmt::F16,  2, Scale::F32},
    {"v_cvt_scalef32_pk_f16_fp4",   Fmt::FP4, Fmt::F16,  2, Scale::F32},
    {"v_cvt_scalef32_pk_bf16_fp8",  Fmt::FP8, Fmt::BF16, 2, Scale::F32},
    {"v_cvt_scalef32_pk_bf16_bf8",  Fmt::BF8, Fmt::BF16, 2, Scale::F32},
    {"v_cvt_scalef32_pk_bf16_fp4",  Fmt::FP4, Fmt::BF16, 2, Scale::F32},
    {"v_cvt_scalef32_pk32_f32_fp6",  Fmt::FP6, Fmt::F32,  32, Scale::F32},
    {"v_cvt_scalef32_pk32_f32_bf6",  Fmt::BF6, Fmt::F32,  32, Scale::F32},
    {"v_cvt_scalef32_pk32_f16_fp6",  Fmt::FP6, Fmt::F16,  32, Scale::F32},
    {"v_cvt_scalef32_pk32_f16_bf6",  Fmt::BF6, Fmt::F16,  32, Scale::F32},
    {"v_cvt_scalef32_pk32_bf16_fp6", Fmt::FP6, Fmt::BF16, 32, Scale::F32},
    {"v_cvt_scalef32_pk32_bf16_bf6", Fmt::BF6, Fmt::BF16, 32, Scale::F32},
    {"v_cvt_scale_pk8_f32_fp8",    Fmt::FP8, Fmt::F32,  8,  Scale::E8M0},
    {"v_cvt_scale_pk8_f32_bf8",    Fmt::BF8, Fmt::F32,  8,  Scale::E8M0},
    {"v_cvt_scale_pk8_f32_fp4",    Fmt::FP4, Fmt::F32,  8,  Scale::E8M0},
    {"v_cvt_scale_pk8_f16_fp8",    Fmt::FP8, Fmt::F16,  8,  Scale::E8M0},
    {"v_cvt_scale_pk8_f16_bf8",    Fmt::BF8, Fmt::F16,  8,  Scale::E8M0},
    {"v_cvt_scale_pk8_f16_fp4",    Fmt::FP4, Fmt::F16,  8,  Scale::E8M0},
    {"v_cvt_scale_pk8_bf16_fp8",   Fmt::FP8, Fmt::BF16, 8,  Scale::E8M0},
    {"v_cvt_scale_pk8_bf16_bf8",   Fmt::BF8, Fmt::BF16, 8,  Scale::E8M0},
    {"v_cvt_scale_pk8_bf16_fp4",   Fmt::FP4, Fmt::BF16, 8,  Scale::E8M0},
    {"v_cvt_scale_pk16_f32_fp6",   Fmt::FP6, Fmt::F32,  16, Scale::E8M0},
    {"v_cvt_scale_pk16_f32_bf6",   Fmt::BF6, Fmt::F32,  16, Scale::E8M0},
    {"v_cvt_scale_pk16_f16_fp6",   Fmt::FP6, Fmt::F16,  16, Scale::E8M0},
    {"v_cvt_scale_pk16_f16_bf6",   Fmt::BF6, Fmt::F16,  16, Scale::E8M0},
    {"v_cvt_scale_pk16_bf16_fp6",  Fmt::FP6, Fmt::BF16, 16, Scale::E8M0},
    {"v_cvt_scale_pk16_bf16_bf6",  Fmt::BF6, Fmt::BF16, 16, Scale::E8M0},
    // Narrowing.
    {"v_cvt_pk_fp8_f32",    Fmt::F32, Fmt::FP8,  2, Scale::None, Source::Pair, false, true},
    {"v_cvt_pk_bf8_f32",    Fmt::F32, Fmt::BF8,  2, Scale::None, Source::Pair, false, true},
    {"v_cvt_pk_f16_f32",    Fmt::F32, Fmt::F16,  2, Scale::None, Source::Pair, false, true},
    {"v_cvt_pk_bf16_f32",   Fmt::F32, Fmt::BF16, 2, Scale::None, Source::Pair, false, true},
    {"v_cvt_pk_fp8_f16",    Fmt::F16, Fmt::FP8,  2},
    {"v_cvt_pk_bf8_f16",    Fmt::F16, Fmt::BF8,  2},
    {"v_cvt_sr_fp8_f32",    Fmt::F32, Fmt::FP8,  1, Scale::None, Source::Packed, true, true},
    {"v_cvt_sr_bf8_f32",    Fmt::F32, Fmt::BF8,  1, Scale::None, Source::Packed, true, true},
    {"v_cvt_sr_fp8_f16",    Fmt::F16, Fmt::FP8,  1, Scale::None, Source::Packed, true},
    {"v_cvt_sr_bf8_f16",    Fmt::F16, Fmt::BF8,  1, Scale::None, Source::Packed, true},
    {"v_cvt_sr_f16_f32",    Fmt::F32, Fmt::F16,  1, Scale::None, Source::Packed, true, true},
    {"v_cvt_sr_bf16_f32",   Fmt::F32, Fmt::BF16, 1, Scale::None, Source::Packed, true, true},
    {"v_cvt_sr_pk_f16_f32", Fmt::F32, Fmt::F16,  2, Scale::None, Source::Pair, true, true},
    {"v_cvt_sr_pk_bf16_f32", Fmt::F32, Fmt::BF16, 2, Scale::None, Source::Pair, true, true},
    {"v_cvt_scalef32_pk_fp8_f32",  Fmt::F32,  Fmt::FP8, 2, Scale::F32, Source::Pair, false, true},
    {"v_cvt_scalef32_pk_bf8_f32",  Fmt::F32,  Fmt::BF8, 2, Scale::F32, Source::Pair, false, true},
    {"v_cvt_scalef32_pk_fp4_f32",  Fmt::F32,  Fmt::FP4, 2, Scale::F32, Source::Pair, false, true},
    {"v_cvt_scalef32_pk_fp8_f16",  Fmt::F16,  Fmt::FP8, 2, Scale::F32},
    {"v_cvt_scalef32_pk_bf8_f16",  Fmt::F16,  Fmt::BF8, 2, Scale::F32},
    {"v_cvt_scalef32_pk_fp4_f16",  Fmt::F16,  Fmt::FP4, 2, Scale::F32},
    {"v_cvt_scalef32_pk_fp8_bf16", Fmt::BF16, Fmt::FP8, 2, Scale::F32},
    {"v_cvt_scalef32_pk_bf8_bf16", Fmt::BF16, Fmt::BF8, 2, Scale::F32},
    {"v_cvt_scalef32_pk_fp4_bf16", Fmt::BF16, Fmt::FP4, 2, Scale::F32},
    {"v_cvt_scalef32_sr_fp8_f32",  Fmt::F32,  Fmt::FP8, 1, Scale::F32, Source::Packed, true, true},
    {"v_cvt_scalef32_sr_bf8_f32",  Fmt::F32,  Fmt::BF8, 1, Scale::F32, Source::Packed, true, true},
    {"v_cvt_scalef32_sr_fp8_f16",  Fmt::F16,  Fmt::FP8, 1, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_bf8_f16",  Fmt::F16,  Fmt::BF8, 1, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_fp8_bf16", Fmt::BF16, Fmt::FP8, 1, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_bf8_bf16", Fmt::BF16, Fmt::BF8, 1, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk_fp4_f32",  Fmt::F32,  Fmt::FP4, 2, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk_fp4_f16",  Fmt::F16,  Fmt::FP4, 2, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk_fp4_bf16", Fmt::BF16, Fmt::FP4, 2, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_2xpk16_fp6_f32", Fmt::F32, Fmt::FP6, 32, Scale::F32, Source::Interleaved},
    {"v_cvt_scalef32_2xpk16_bf6_f32", Fmt::F32, Fmt::BF6, 32, Scale::F32, Source::Interleaved},
    {"v_cvt_scalef32_pk32_fp6_f16",  Fmt::F16,  Fmt::FP6, 32, Scale::F32},
    {"v_cvt_scalef32_pk32_bf6_f16",  Fmt::F16,  Fmt::BF6, 32, Scale::F32},
    {"v_cvt_scalef32_pk32_fp6_bf16", Fmt::BF16, Fmt::FP6, 32, Scale::F32},
    {"v_cvt_scalef32_pk32_bf6_bf16", Fmt::BF16, Fmt::BF6, 32, Scale::F32},
    {"v_cvt_scalef32_sr_pk32_fp6_f32",  Fmt::F32,  Fmt::FP6, 32, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk32_bf6_f32",  Fmt::F32,  Fmt::BF6, 32, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk32_fp6_f16",  Fmt::F16,  Fmt::FP6, 32, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk32_bf6_f16",  Fmt::F16,  Fmt::BF6, 32, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk32_fp6_bf16", Fmt::BF16, Fmt::FP6, 32, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk32_bf6_bf16", Fmt::BF16, Fmt::BF6, 32, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_pk8_fp8_f32",   Fmt::F32,  Fmt::FP8, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_bf8_f32",   Fmt::F32,  Fmt::BF8, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_fp4_f32",   Fmt::F32,  Fmt::FP4, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_fp8_f16",   Fmt::F16,  Fmt::FP8, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_bf8_f16",   Fmt::F16,  Fmt::BF8, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_fp4_f16",   Fmt::F16,  Fmt::FP4, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_fp8_bf16",  Fmt::BF16, Fmt::FP8, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_bf8_bf16",  Fmt::BF16, Fmt::BF8, 8, Scale::F32},
    {"v_cvt_scalef32_pk8_fp4_bf16",  Fmt::BF16, Fmt::FP4, 8, Scale::F32},
    {"v_cvt_scalef32_pk16_fp6_f32",  Fmt::F32,  Fmt::FP6, 16, Scale::F32},
    {"v_cvt_scalef32_pk16_bf6_f32",  Fmt::F32,  Fmt::BF6, 16, Scale::F32},
    {"v_cvt_scalef32_pk16_fp6_f16",  Fmt::F16,  Fmt::FP6, 16, Scale::F32},
    {"v_cvt_scalef32_pk16_bf6_f16",  Fmt::F16,  Fmt::BF6, 16, Scale::F32},
    {"v_cvt_scalef32_pk16_fp6_bf16", Fmt::BF16, Fmt::FP6, 16, Scale::F32},
    {"v_cvt_scalef32_pk16_bf6_bf16", Fmt::BF16, Fmt::BF6, 16, Scale::F32},
    {"v_cvt_scalef32_sr_pk8_fp8_f32",   Fmt::F32,  Fmt::FP8, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_bf8_f32",   Fmt::F32,  Fmt::BF8, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_fp4_f32",   Fmt::F32,  Fmt::FP4, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_fp8_f16",   Fmt::F16,  Fmt::FP8, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_bf8_f16",   Fmt::F16,  Fmt::BF8, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_fp4_f16",   Fmt::F16,  Fmt::FP4, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_fp8_bf16",  Fmt::BF16, Fmt::FP8, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_bf8_bf16",  Fmt::BF16, Fmt::BF8, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk8_fp4_bf16",  Fmt::BF16, Fmt::FP4, 8, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk16_fp6_f32",  Fmt::F32,  Fmt::FP6, 16, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk16_bf6_f32",  Fmt::F32,  Fmt::BF6, 16, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk16_fp6_f16",  Fmt::F16,  Fmt::FP6, 16, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk16_bf6_f16",  Fmt::F16,  Fmt::BF6, 16, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk16_fp6_bf16", Fmt::BF16, Fmt::FP6, 16, Scale::F32, Source::Packed, true},
    {"v_cvt_scalef32_sr_pk16_bf6_bf16", Fmt::BF16, Fmt::BF6, 16, Scale::F32, Source::Packed, true},
};
// clang-format on

// Fields of Instruction::Aux: the table row, the flavour, and the parts of a
// register that a conversion of fewer than 32 bits reads and writes.
enum { AuxRow, AuxFnuz, AuxSourcePart, AuxResultPart };

const Conversion &conversionOf(const Instruction &I) {
  return Conversions[I.Aux[AuxRow]];
}

unsigned bitsOf(Fmt F) {
  switch (F) {
  case Fmt::F32:
    return 32;
  case Fmt::F16:
  case Fmt::BF16:
    return 16;
  case Fmt::FP8:
  case Fmt::BF8:
    return 8;
  case Fmt::FP6:
  case Fmt::BF6:
    return 6;
  case Fmt::FP4:
    return 4;
  }
  return 0;
}

NumFormat formatOf(Fmt F, bool Fnuz) {
  switch (F) {
  case Fmt::F16:
    return NumFormat::F16;
  case Fmt::FP8:
    return Fnuz ? NumFormat::E4M3FNUZ : NumFormat::E4M3FN;
  case Fmt::BF8:
    return Fnuz ? NumFormat::E5M2FNUZ : NumFormat::E5M2;
  case Fmt::FP6:
    return NumFormat::E2M3;
  case Fmt::BF6:
    return NumFormat::E3M2;
  case Fmt::FP4:
    return NumFormat::E2M1;
  case Fmt::F32:
  case Fmt::BF16:
    break;
  }
  return NumFormat::BF16;
}

double widen(Fmt F, bool Fnuz, uint32_t Code) {
  return F == Fmt::F32 ? bitsToFloat(Code) : decode(formatOf(F, Fnuz), Code);
}

bool isNarrowing(const Conversion &C) { return bitsOf(C.To) < bitsOf(C.From); }

unsigned dwords(Fmt F, unsigned Count) { return (bitsOf(F) * Count + 31) / 32; }

/// Number of value sources: the seed and the scale come after them.
unsigned valueSources(const Conversion &C) {
  return C.Elements == Source::Packed ? 1 : 2;
}

Rounding roundingOf(const Wave &W, const Conversion &C) {
  if (C.Stochastic)
    return Rounding::Stochastic;
  // Only binary16 follows MODE; the others always round to nearest even.
  if (C.To != Fmt::F16)
    return Rounding::NearestEven;
  static const Rounding Modes[] = {
      Rounding::NearestEven, Rounding::TowardPositive, Rounding::TowardNegative,
      Rounding::TowardZero};
  return Modes[W.Mode.round16_64()];
}

/// The E8M0 byte that scale_sel gives a lane. 8-bit elements: bits 1-2 are the
/// byte and bit 3 the half of the wave that holds the scales. Narrower ones:
/// the halves of the wave use different bytes, bit 2 is the half that holds the
/// scales, and bit 0 tells blocks of 16 from blocks of 32.
double selectScale(Wave &W, const Conversion &C, const Operand &O, unsigned Sel,
                   unsigned Lane) {
  unsigned Half = Lane / 16, Row = Lane % 16;
  unsigned ScaleHalf, Byte;
  if (bitsOf(C.From) == 8) {
    ScaleHalf = Sel >> 3 & 1;
    Byte = Sel >> 1 & 3;
  } else {
    ScaleHalf = Sel >> 2 & 1;
    unsigned Choice = Sel >> 1 & 1;
    Byte = Sel & 1 ? Choice + 2 * Half : 2 * Choice + Half;
  }
  uint32_t Word = laneValue(W, O, Row + 16 * ScaleHalf);
  return scaleTable()[Word >> (8 * Byte) & 0xff];
}

/// The registers of one or more sources, modifiers applied.
struct SourceRegisters {
  LaneBuffer Buffers[32];
  const uint32_t *Regs[33];

  void load(Wave &W, const Instruction &I, unsigned Src, unsigned Count,
            unsigned At) {
    for (unsigned D = 0; D != Count; ++D)
      Regs[At + D] = fetch(W, I, I.Src[Src], Buffers[At + D], D);
  }
};

/// Writes `Count` registers, or one part of a register.
void writeResult(Wave &W, const Instruction &I, LaneBuffer *Result,
                 unsigned Bits) {
  if (Bits < 32) {
    const uint32_t *Old = W.V + I.Dst[0].Offset;
    const uint32_t Shift = I.Aux[AuxResultPart] * Bits;
    const uint32_t Mask = ((1u << Bits) - 1) << Shift;
    for (unsigned L = 0; L != W.Lanes; ++L)
      Result->D[L] = (Old[L] & ~Mask) | (Result->D[L] << Shift & Mask);
  }
  for (unsigned D = 0; D * 32 < Bits; ++D)
    writeVector(W, I, Result[D].D, D);
}

void executeWiden(Wave &W, const Instruction &I) {
  const Conversion &C = conversionOf(I);
  const bool Fnuz = I.Aux[AuxFnuz];
  const unsigned FromBits = bitsOf(C.From), ToBits = bitsOf(C.To);
  SourceRegisters S;
  S.load(W, I, 0, dwords(C.From, C.Count), 0);
  LaneBuffer ScaleBuffer;
  const uint32_t *ScaleRegs =
      C.Scaling == Scale::F32 ? fetch(W, I, I.Src[1], ScaleBuffer) : nullptr;
  const unsigned FirstBit =
      FromBits * C.Count < 32 ? I.Aux[AuxSourcePart] * FromBits * C.Count : 0;
  EncodeOptions Options;
  Options.Saturate = C.To == Fmt::F16 && W.Mode.fp16Ovfl();

  LaneBuffer Result[32];
  std::memset(Result, 0, sizeof(LaneBuffer) * dwords(C.To, C.Count));
  for (unsigned L = 0; L != W.Lanes; ++L) {
    double Scale = 1;
    if (ScaleRegs)
      Scale = scaleFromF32Bits(ScaleRegs[L]);
    else if (C.Scaling == Scale::E8M0)
      Scale = selectScale(W, C, I.Src[1], I.Mod.ScaleSel, L);
    uint32_t Words[33] = {};
    for (unsigned D = 0; D != dwords(C.From, C.Count); ++D)
      Words[D] = S.Regs[D][L];
    Words[0] >>= FirstBit;
    uint32_t Out[32] = {};
    for (unsigned E = 0; E != C.Count; ++E) {
      uint32_t Code = extractPacked(Words, E, FromBits);
      double X = widen(C.From, Fnuz, Code) * Scale;
      uint32_t Bits = C.To == Fmt::F32
                          ? floatToBits(float(X))
                          : encode(formatOf(C.To, Fnuz), X, Options);
      insertPacked(Out, E, ToBits, Bits);
    }
    for (unsigned D = 0; D != dwords(C.To, C.Count); ++D)
      Result[D].D[L] = Out[D];
  }
  writeResult(W, I, Result, ToBits * C.Count);
}

void executeNarrow(Wave &W, const Instruction &I) {
  const Conversion &C = conversionOf(I);
  const bool Fnuz = I.Aux[AuxFnuz];
  const unsigned FromBits = bitsOf(C.From), ToBits = bitsOf(C.To);
  const unsigned Sources = valueSources(C);
  const unsigned PerSource = dwords(C.From, C.Count / Sources);
  SourceRegisters S;
  for (unsigned N = 0; N != Sources; ++N)
    S.load(W, I, N, PerSource, N * PerSource);
  LaneBuffer SeedBuffer, ScaleBuffer;
  const uint32_t *Seeds =
      C.Stochastic ? fetch(W, I, I.Src[Sources], SeedBuffer) : nullptr;
  const uint32_t *ScaleRegs =
      C.Scaling == Scale::F32
          ? fetch(W, I, I.Src[Sources + C.Stochastic], ScaleBuffer)
          : nullptr;
  const NumFormat Format = formatOf(C.To, Fnuz);
  EncodeOptions Options;
  Options.Mode = roundingOf(W, C);
  Options.Saturate = C.To != Fmt::BF16 && W.Mode.fp16Ovfl();

  LaneBuffer Result[6];
  std::memset(Result, 0, sizeof(LaneBuffer) * dwords(C.To, C.Count));
  for (unsigned L = 0; L != W.Lanes; ++L) {
    if (Seeds)
      Options.Random = Seeds[L];
    // The reciprocal of a power of two is exact.
    double Factor = ScaleRegs ? 1 / scaleFromF32Bits(ScaleRegs[L]) : 1;
    uint32_t Words[33] = {};
    for (unsigned D = 0; D != Sources * PerSource; ++D)
      Words[D] = S.Regs[D][L];
    uint32_t Out[6] = {};
    for (unsigned E = 0; E != C.Count; ++E) {
      uint32_t Bits = C.Elements == Source::Interleaved
                          ? Words[E % 2 * PerSource + E / 2]
                          : extractPacked(Words, E, FromBits);
      double X = widen(C.From, Fnuz, Bits) * Factor;
      insertPacked(Out, E, ToBits, encode(Format, X, Options));
    }
    for (unsigned D = 0; D != dwords(C.To, C.Count); ++D)
      Result[D].D[L] = Out[D];
  }
  writeResult(W, I, Result, ToBits * C.Count);
}

/// 32-bit linear feedback shift register.
void executePrng(Wave &W, const Instruction &I) {
  LaneBuffer Tmp, Result;
  const uint32_t *X = fetch(W, I, I.Src[0], Tmp);
  for (unsigned L = 0; L != W.Lanes; ++L)
    Result.D[L] = X[L] << 1 ^ (X[L] >> 31 ? 0xc5u : 0u);
  writeVector(W, I, Result.D);
}

/// The parts that the modifiers choose. GFX12 has byte_sel for single bytes;
/// otherwise op_sel holds the number, low bit first: at the front for a source,
/// at positions 2 and 3 for a byte of the destination, and behind the sources
/// for a half of it.
void selectParts(Instruction &I, const Conversion &C, const ChipInfo &Chip) {
  const unsigned From = bitsOf(C.From) * C.Count;
  const unsigned To = bitsOf(C.To) * C.Count;
  // A 16-bit operand was selected when it was read.
  if (!isNarrowing(C) && From < 32 && I.Src[0].Type == Ty::B32)
    I.Aux[AuxSourcePart] = From == 16   ? I.Mod.OpSel & 1
                           : Chip.Gfx12 ? I.Mod.ByteSel
                                        : I.Mod.OpSel & 3;
  if (To == 8)
    I.Aux[AuxResultPart] = Chip.Gfx12 ? I.Mod.ByteSel : I.Mod.OpSel >> 2 & 3;
  else if (To == 16 && I.Dst[0].Type == Ty::B32)
    I.Aux[AuxResultPart] = (I.Mod.OpSel >> I.NumSrc & 1) | I.Dst[0].High;
  else if (To == 16)
    I.Aux[AuxResultPart] = I.Dst[0].High;
  // The result is merged into the whole register here.
  I.Dst[0].High = false;
}

bool prepare(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  unsigned Row = 0;
  while (llvm::StringRef(Conversions[Row].Name) != I.Info->Name)
    ++Row;
  const Conversion &C = Conversions[Row];
  I.Aux[AuxRow] = Row;
  I.Aux[AuxFnuz] = Chip.Fp8Fnuz;
  // On gfx1250 clamp selects yet another format, on the others it has no
  // documented meaning.
  if (I.Mod.Clamp || I.Mod.Omod != OMod::None) {
    Err = "unsupported modifier: clamp or output multiplier";
    return false;
  }
  if (C.Scaling == Scale::E8M0 && bitsOf(C.From) == 8 && I.Mod.ScaleSel & 1) {
    Err = "scale_sel with blocks of 16 for 8-bit elements";
    return false;
  }
  selectParts(I, C, Chip);
  if (!I.Dst[0].isVgpr() || I.Dst[0].Dwords != dwords(C.To, C.Count)) {
    Err = "destination has the wrong number of registers";
    return false;
  }
  const unsigned Sources = valueSources(C);
  const unsigned PerSource = dwords(C.From, C.Count / Sources);
  for (unsigned N = 0; N != Sources; ++N)
    if (PerSource > 1 && (!I.Src[N].isVgpr() || I.Src[N].Dwords != PerSource)) {
      Err = "source has the wrong number of registers";
      return false;
    }
  for (unsigned N = 0; N != I.NumSrc; ++N)
    if ((I.Src[N].Neg || I.Src[N].Abs) && I.Src[N].Type != Ty::F32 &&
        I.Src[N].Type != Ty::BF16 && I.Src[N].Type != Ty::F16) {
      Err = "neg or abs on an operand without them";
      return false;
    }
  return true;
}

std::vector<OpInfo> makeTable() {
  std::vector<OpInfo> Table;
  for (const Conversion &C : Conversions) {
    OpInfo Op = {};
    Op.Name = C.Name;
    Op.Fn = isNarrowing(C) ? executeNarrow : executeWiden;
    Op.Class = OpClass::VectorAlu;
    Op.NumDst = 1;
    Op.Prepare = prepare;
    Ty Value = Ty::B32;
    if (C.ModifierSources)
      Value = Ty::F32;
    else if (C.From == Fmt::BF16 && !isNarrowing(C))
      Value = Ty::BF16;
    else if (C.From == Fmt::F16 && C.Count == 1 && C.Scaling == Scale::None)
      Value = Ty::F16;
    else if (!isNarrowing(C) && C.Scaling == Scale::None && C.Count == 2)
      Value = Ty::B16;
    if (dwords(C.From, C.Count / valueSources(C)) > 1)
      Value = Ty::Wide;
    bool HalfResult = C.To == Fmt::F16 && C.Count == 1 &&
                      C.Scaling == Scale::None && !C.Stochastic;
    Op.Types[0] = HalfResult ? Ty::F16 : Ty::B32;
    unsigned N = 1;
    for (unsigned S = 0; S != valueSources(C); ++S)
      Op.Types[N++] = Value;
    if (C.Stochastic)
      Op.Types[N++] = Ty::B32;
    if (C.Scaling != Scale::None)
      Op.Types[N++] = C.Scaling == Scale::F32 ? Ty::F32 : Ty::B32;
    Table.push_back(Op);
  }
  OpInfo Prng = {};
  Prng.Name = "v_prng_b32";
  Prng.Fn = executePrng;
  Prng.Class = OpClass::VectorAlu;
  Prng.NumDst = 1;
  Prng.Types = {Ty::B32, Ty::B32};
  Table.push_back(Prng);
  return Table;
}

} // namespace

OpTable pagedattn::emu::smallFloatOps() {
  static const std::vector<OpInfo> Table = makeTable();
  return Table;
}
