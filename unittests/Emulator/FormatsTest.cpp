//===- FormatsTest.cpp - Narrow floating-point formats --------------------===//

#include "PagedAttn/Emulator/Formats.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace pagedattn::emu;

namespace {

constexpr NumFormat AllFormats[] = {
    NumFormat::F16,  NumFormat::BF16,     NumFormat::E4M3FN,
    NumFormat::E5M2, NumFormat::E4M3FNUZ, NumFormat::E5M2FNUZ,
    NumFormat::E2M3, NumFormat::E3M2,     NumFormat::E2M1};

bool isNegative(float X) { return std::signbit(X); }

TEST(Formats, HandComputedValues) {
  struct Case {
    NumFormat Format;
    uint32_t Code;
    double Value;
  };
  const Case Cases[] = {
      {NumFormat::E4M3FN, 0x01, std::ldexp(1, -9)},
      {NumFormat::E4M3FN, 0x07, std::ldexp(7, -9)},
      {NumFormat::E4M3FN, 0x08, std::ldexp(1, -6)},
      {NumFormat::E4M3FN, 0x38, 1},
      {NumFormat::E4M3FN, 0xb9, -1.125},
      {NumFormat::E4M3FN, 0x7e, 448},
      {NumFormat::E4M3FNUZ, 0x01, std::ldexp(1, -10)},
      {NumFormat::E4M3FNUZ, 0x38, 0.5},
      {NumFormat::E4M3FNUZ, 0x40, 1},
      {NumFormat::E4M3FNUZ, 0x7f, 240},
      {NumFormat::E4M3FNUZ, 0xff, -240},
      {NumFormat::E5M2, 0x01, std::ldexp(1, -16)},
      {NumFormat::E5M2, 0x3c, 1},
      {NumFormat::E5M2, 0x7b, 57344},
      {NumFormat::E5M2FNUZ, 0x01, std::ldexp(1, -17)},
      {NumFormat::E5M2FNUZ, 0x40, 1},
      {NumFormat::E5M2FNUZ, 0x7f, 57344},
      {NumFormat::E2M3, 0x01, 0.125},
      {NumFormat::E2M3, 0x08, 1},
      {NumFormat::E2M3, 0x1f, 7.5},
      {NumFormat::E2M3, 0x3f, -7.5},
      {NumFormat::E3M2, 0x01, 0.0625},
      {NumFormat::E3M2, 0x0c, 1},
      {NumFormat::E3M2, 0x1f, 28},
      {NumFormat::F16, 0x0001, std::ldexp(1, -24)},
      {NumFormat::F16, 0x3c00, 1},
      {NumFormat::F16, 0x7bff, 65504},
      {NumFormat::BF16, 0x0001, std::ldexp(1, -133)},
      {NumFormat::BF16, 0xc049, -3.140625},
  };
  for (const Case &C : Cases)
    EXPECT_EQ(decode(C.Format, C.Code), C.Value) << "code " << C.Code;
}

TEST(Formats, Fp4IsTheKnownEight) {
  const float Values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned C = 0; C != 8; ++C) {
    EXPECT_EQ(decode(NumFormat::E2M1, C), Values[C]);
    EXPECT_EQ(decode(NumFormat::E2M1, C | 8), -Values[C]);
  }
}

TEST(Formats, Fp4PacksTheEvenElementLow) {
  uint32_t Word = 0;
  for (unsigned E = 0; E != 8; ++E)
    insertPacked(&Word, E, 4, E);
  EXPECT_EQ(Word, 0x76543210u);
  EXPECT_EQ(Word & 0xff, 0x10u);
  for (unsigned E = 0; E != 8; ++E)
    EXPECT_EQ(extractPacked(&Word, E, 4), E);
}

TEST(Formats, SixBitElementsCrossWords) {
  uint32_t Words[6] = {};
  for (unsigned E = 0; E != 32; ++E)
    insertPacked(Words, E, 6, (E * 7 + 3) % 64);
  // Element 5 is 38 % 64 at bits 30..35.
  EXPECT_EQ(Words[0] >> 30, 38u & 3);
  EXPECT_EQ(Words[1] & 0xf, 38u >> 2);
  for (unsigned E = 0; E != 32; ++E)
    EXPECT_EQ(extractPacked(Words, E, 6), (E * 7 + 3) % 64);
}

TEST(Formats, Code0x80IsNaNOnlyInFnuz) {
  EXPECT_TRUE(std::isnan(decode(NumFormat::E4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::isnan(decode(NumFormat::E5M2FNUZ, 0x80)));
  for (NumFormat F : {NumFormat::E4M3FN, NumFormat::E5M2}) {
    EXPECT_EQ(decode(F, 0x80), 0);
    EXPECT_TRUE(isNegative(decode(F, 0x80)));
  }
}

TEST(Formats, CountOfNaNsAndInfinities) {
  struct Case {
    NumFormat Format;
    unsigned NaNs, Infinities;
  };
  for (Case C : {Case{NumFormat::E4M3FN, 2, 0}, Case{NumFormat::E4M3FNUZ, 1, 0},
                 Case{NumFormat::E5M2, 6, 2}, Case{NumFormat::E5M2FNUZ, 1, 0},
                 Case{NumFormat::E2M3, 0, 0}, Case{NumFormat::E3M2, 0, 0},
                 Case{NumFormat::E2M1, 0, 0}}) {
    unsigned NaNs = 0, Infinities = 0;
    for (unsigned Code = 0; Code != 1u << traits(C.Format).Bits; ++Code) {
      NaNs += std::isnan(decode(C.Format, Code));
      Infinities += std::isinf(decode(C.Format, Code));
    }
    EXPECT_EQ(NaNs, C.NaNs);
    EXPECT_EQ(Infinities, C.Infinities);
  }
}

TEST(Formats, FnuzIsHalfOfOcpOnOrdinaryCodes) {
  for (unsigned Code = 1; Code != 0x7f; ++Code)
    EXPECT_EQ(decode(NumFormat::E4M3FNUZ, Code) * 2,
              decode(NumFormat::E4M3FN, Code));
}

TEST(Formats, EveryCodeSurvivesARoundTrip) {
  for (NumFormat F : AllFormats)
    for (unsigned Code = 0; Code != 1u << traits(F).Bits; ++Code) {
      float X = decode(F, Code);
      if (std::isnan(X))
        EXPECT_TRUE(std::isnan(decode(F, encode(F, X))));
      else
        EXPECT_EQ(encode(F, X), Code);
    }
}

TEST(Formats, TablesHoldTheDecodedValues) {
  for (NumFormat F : AllFormats) {
    if (traits(F).Bits > 8)
      continue;
    for (unsigned Code = 0; Code != 1u << traits(F).Bits; ++Code) {
      float Want = decode(F, Code), Got = decodeTable(F)[Code];
      EXPECT_TRUE(Want == Got || (std::isnan(Want) && std::isnan(Got)));
    }
  }
}

/// Nearest finite code by search, ties to the even code.
uint32_t nearest(NumFormat F, double X) {
  const FormatTraits &T = traits(F);
  uint32_t Sign = std::signbit(X) ? 1u << (T.Bits - 1) : 0;
  double Magnitude = std::fabs(X), Best = 0;
  uint32_t BestCode = 0;
  for (uint32_t Code = 0; Code <= T.MaxCode; ++Code) {
    double Error = std::fabs(double(decode(F, Code)) - Magnitude);
    if (Code == 0 || Error < Best || (Error == Best && Code % 2 == 0)) {
      Best = Error;
      BestCode = Code;
    }
  }
  if (BestCode == 0 && T.Specials == NonFinite::NegZero)
    return 0;
  return Sign | BestCode;
}

TEST(Formats, RoundsToNearestEven) {
  std::mt19937_64 Random(1);
  for (NumFormat F : AllFormats) {
    if (traits(F).Bits > 8)
      continue;
    double Max = decode(F, traits(F).MaxCode);
    std::uniform_real_distribution<double> Exponent(-20, std::log2(Max));
    for (unsigned N = 0; N != 2000; ++N) {
      double X = std::exp2(Exponent(Random)) * (N % 2 ? -1 : 1);
      EXPECT_EQ(encode(F, X), nearest(F, X)) << X;
    }
    for (unsigned Code = 0; Code != traits(F).MaxCode; ++Code) {
      double Middle = (double(decode(F, Code)) + decode(F, Code + 1)) / 2;
      EXPECT_EQ(encode(F, Middle), nearest(F, Middle)) << Middle;
      EXPECT_EQ(encode(F, Middle * (1 + 1e-15)), Code + 1);
      EXPECT_EQ(encode(F, Middle * (1 - 1e-15)), Code);
    }
  }
}

TEST(Formats, OverflowGivesNaNInfinityOrTheMaximum) {
  EncodeOptions Saturate;
  Saturate.Saturate = true;
  // 464 is the tie between 448 and the first value beyond.
  EXPECT_EQ(encode(NumFormat::E4M3FN, 464), 0x7eu);
  EXPECT_EQ(encode(NumFormat::E4M3FN, 464.001), 0x7fu);
  EXPECT_EQ(encode(NumFormat::E4M3FN, -1e9), 0xffu);
  EXPECT_EQ(encode(NumFormat::E4M3FN, 1e9, Saturate), 0x7eu);
  EXPECT_EQ(encode(NumFormat::E4M3FN, -1e9, Saturate), 0xfeu);
  // The tie goes to the even code, which is beyond the maximum here.
  EXPECT_EQ(encode(NumFormat::E4M3FNUZ, 248), 0x80u);
  EXPECT_EQ(encode(NumFormat::E4M3FNUZ, 247.9), 0x7fu);
  EXPECT_EQ(encode(NumFormat::E4M3FNUZ, -300, Saturate), 0xffu);
  EXPECT_EQ(encode(NumFormat::E5M2, 61440), 0x7cu);
  EXPECT_EQ(encode(NumFormat::E5M2, 61439), 0x7bu);
  EXPECT_EQ(encode(NumFormat::E5M2, 61440, Saturate), 0x7bu);
  EXPECT_EQ(encode(NumFormat::F16, 65520), 0x7c00u);
  EXPECT_EQ(encode(NumFormat::F16, 65520, Saturate), 0x7bffu);
  for (NumFormat F : {NumFormat::E2M3, NumFormat::E3M2, NumFormat::E2M1}) {
    uint32_t Sign = 1u << (traits(F).Bits - 1);
    EXPECT_EQ(encode(F, 1e9), traits(F).MaxCode);
    EXPECT_EQ(encode(F, -1e9), Sign | traits(F).MaxCode);
  }
}

TEST(Formats, TrueInfinityIsNotSaturated) {
  EncodeOptions Saturate;
  Saturate.Saturate = true;
  const double Infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(encode(NumFormat::F16, -Infinity, Saturate), 0xfc00u);
  EXPECT_EQ(encode(NumFormat::E5M2, Infinity, Saturate), 0x7cu);
  EXPECT_EQ(encode(NumFormat::E4M3FN, Infinity, Saturate), 0x7fu);
  EXPECT_EQ(encode(NumFormat::E4M3FNUZ, Infinity, Saturate), 0x80u);
}

TEST(Formats, UnderflowIsNeverTheFnuzNaN) {
  for (double X : {-1e-9, -std::ldexp(1, -12), -std::ldexp(1, -40), -0.0}) {
    EXPECT_EQ(encode(NumFormat::E4M3FNUZ, X), 0u);
    EXPECT_EQ(encode(NumFormat::E5M2FNUZ, X < -1e-6 ? X * 1e-6 : X), 0u);
    EXPECT_EQ(encode(NumFormat::E4M3FN, X), 0x80u);
  }
}

TEST(Formats, DirectedRounding) {
  EncodeOptions Up{Rounding::TowardPositive}, Down{Rounding::TowardNegative},
      Zero{Rounding::TowardZero};
  EXPECT_EQ(encode(NumFormat::F16, 1.0001, Up), 0x3c01u);
  EXPECT_EQ(encode(NumFormat::F16, 1.0001, Down), 0x3c00u);
  EXPECT_EQ(encode(NumFormat::F16, -1.0001, Up), 0xbc00u);
  EXPECT_EQ(encode(NumFormat::F16, -1.0001, Down), 0xbc01u);
  EXPECT_EQ(encode(NumFormat::F16, -1.9999, Zero), 0xbfffu);
  EXPECT_EQ(encode(NumFormat::F16, 1e9, Zero), 0x7bffu);
  EXPECT_EQ(encode(NumFormat::F16, 1e9, Down), 0x7bffu);
  EXPECT_EQ(encode(NumFormat::F16, -1e9, Down), 0xfc00u);
  EXPECT_EQ(encode(NumFormat::F16, 1e-30, Up), 0x0001u);
}

TEST(Formats, StochasticRoundingComparesWithTheSeed) {
  // 1 + 1/32 is a quarter of the way from 1 to 1.125.
  EncodeOptions Options{Rounding::Stochastic};
  for (uint32_t Seed : {0u, 0x7fffffffu, 0xbfffffffu}) {
    Options.Random = Seed;
    EXPECT_EQ(encode(NumFormat::E4M3FN, 1.03125, Options), 0x38u);
    EXPECT_EQ(encode(NumFormat::E4M3FN, -1.03125, Options), 0xb8u);
  }
  for (uint32_t Seed : {0xc0000000u, 0xffffffffu}) {
    Options.Random = Seed;
    EXPECT_EQ(encode(NumFormat::E4M3FN, 1.03125, Options), 0x39u);
    EXPECT_EQ(encode(NumFormat::E4M3FN, -1.03125, Options), 0xb9u);
    EXPECT_EQ(encode(NumFormat::E4M3FN, 1.125, Options), 0x39u);
  }
  // Among denormals the step is constant.
  Options.Random = 0x7fffffffu;
  EXPECT_EQ(encode(NumFormat::E4M3FN, std::ldexp(1.5, -9), Options), 1u);
  Options.Random = 0x80000000u;
  EXPECT_EQ(encode(NumFormat::E4M3FN, std::ldexp(1.5, -9), Options), 2u);
}

TEST(Formats, NaNKeepsItsPayloadWhereThereIsRoom) {
  float Quiet = bitsToFloat(0xffc12345u);
  EXPECT_EQ(encode(NumFormat::BF16, Quiet), 0xffc1u);
  EXPECT_EQ(encode(NumFormat::E4M3FN, Quiet), 0xffu);
  EXPECT_EQ(encode(NumFormat::E4M3FNUZ, Quiet), 0x80u);
  EXPECT_EQ(encode(NumFormat::E2M1, Quiet), 0xfu);
}

TEST(Formats, E8M0) {
  EXPECT_EQ(floatToBits(decodeE8M0(0)), 0x00400000u);
  EXPECT_EQ(floatToBits(decodeE8M0(1)), 0x00800000u);
  EXPECT_EQ(decodeE8M0(126), 0.5f);
  EXPECT_EQ(decodeE8M0(127), 1.0f);
  EXPECT_EQ(decodeE8M0(134), 128.0f);
  EXPECT_EQ(decodeE8M0(254), std::ldexp(1.0f, 127));
  EXPECT_TRUE(std::isnan(decodeE8M0(255)));
  // Of a binary32 scale only the exponent counts.
  EXPECT_EQ(scaleFromF32Bits(floatToBits(-3.75f)), 2.0);
  EXPECT_EQ(scaleFromF32Bits(0), std::ldexp(1.0, -127));
}

} // namespace
