//===- Formats.cpp - Narrow floating-point formats ------------------------===//

#include "PagedAttn/Emulator/Formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace pagedattn::emu;

static constexpr FormatTraits TraitsTable[] = {
    /*F16*/ {16, 10, 15, 0x7bff, NonFinite::IEEE},
    /*BF16*/ {16, 7, 127, 0x7f7f, NonFinite::IEEE},
    /*E4M3FN*/ {8, 3, 7, 0x7e, NonFinite::OnlyNaN},
    /*E4M3FNUZ*/ {8, 3, 8, 0x7f, NonFinite::NegZero},
    /*E5M2*/ {8, 2, 15, 0x7b, NonFinite::IEEE},
    /*E5M2FNUZ*/ {8, 2, 16, 0x7f, NonFinite::NegZero},
    /*E2M3*/ {6, 3, 1, 0x1f, NonFinite::AllFinite},
    /*E3M2*/ {6, 2, 3, 0x1f, NonFinite::AllFinite},
    /*E2M1*/ {4, 1, 1, 0x7, NonFinite::AllFinite},
};

const FormatTraits &pagedattn::emu::traits(NumFormat Format) {
  return TraitsTable[static_cast<unsigned>(Format)];
}

static uint32_t encodeNaN(const FormatTraits &T, uint32_t Sign,
                          uint64_t Mantissa) {
  switch (T.Specials) {
  case NonFinite::IEEE: {
    uint32_t Exponent = ((1u << (T.Bits - 1 - T.MantissaBits)) - 1)
                        << T.MantissaBits;
    uint32_t Payload = uint32_t(Mantissa >> (52 - T.MantissaBits));
    return Sign | Exponent | (1u << (T.MantissaBits - 1)) | Payload;
  }
  case NonFinite::OnlyNaN:
    return Sign | (T.MaxCode + 1u);
  case NonFinite::NegZero:
    return 1u << (T.Bits - 1);
  case NonFinite::AllFinite:
    break;
  }
  return Sign | T.MaxCode;
}

/// The code beyond the largest finite one: infinity, or NaN without infinity.
static uint32_t encodeBeyond(const FormatTraits &T, uint32_t Sign) {
  switch (T.Specials) {
  case NonFinite::IEEE:
  case NonFinite::OnlyNaN:
    return Sign | (T.MaxCode + 1u);
  case NonFinite::NegZero:
    return 1u << (T.Bits - 1);
  case NonFinite::AllFinite:
    break;
  }
  return Sign | T.MaxCode;
}

static bool roundsUp(const EncodeOptions &Options, bool Negative, uint64_t Kept,
                     uint64_t Rest, int Shift) {
  switch (Options.Mode) {
  case Rounding::NearestEven: {
    if (Shift >= 64)
      return false;
    uint64_t Half = uint64_t(1) << (Shift - 1);
    return Rest > Half || (Rest == Half && (Kept & 1));
  }
  case Rounding::TowardPositive:
    return Rest != 0 && !Negative;
  case Rounding::TowardNegative:
    return Rest != 0 && Negative;
  case Rounding::TowardZero:
    return false;
  case Rounding::Stochastic: {
    if (Shift >= 64)
      return false;
    uint64_t Random = Options.Random;
    Random = Shift >= 32 ? Random << (Shift - 32) : Random >> (32 - Shift);
    return ((Rest + Random) >> Shift) != 0;
  }
  }
  return false;
}

uint32_t pagedattn::emu::encode(NumFormat Format, double Value,
                                const EncodeOptions &Options) {
  const FormatTraits &T = traits(Format);
  uint64_t Bits;
  std::memcpy(&Bits, &Value, sizeof(Bits));
  bool Negative = Bits >> 63;
  uint32_t Sign = uint32_t(Negative) << (T.Bits - 1);
  int Exponent = int((Bits >> 52) & 0x7ff);
  uint64_t Mantissa = Bits & ((uint64_t(1) << 52) - 1);

  if (Exponent == 0x7ff)
    return Mantissa ? encodeNaN(T, Sign, Mantissa) : encodeBeyond(T, Sign);

  uint32_t Zero = T.Specials == NonFinite::NegZero ? 0 : Sign;
  if (Exponent == 0 && Mantissa == 0)
    return Zero;

  uint64_t Significand =
      Exponent == 0 ? Mantissa : Mantissa | (uint64_t(1) << 52);
  int E = std::max(Exponent, 1) - 1023;
  int MinE = 1 - T.Bias;
  // The last kept bit weighs 2^(max(e, minE) - mantissaBits).
  int Shift = 52 - T.MantissaBits + (std::max(E, MinE) - E);
  uint64_t Kept = Shift >= 64 ? 0 : Significand >> Shift;
  uint64_t Rest =
      Shift >= 64 ? Significand : Significand & ((uint64_t(1) << Shift) - 1);
  if (roundsUp(Options, Negative, Kept, Rest, Shift))
    ++Kept;

  // A carry out of the mantissa moves to the next exponent by plain addition.
  uint64_t Code = Kept;
  if (E >= MinE)
    Code += uint64_t(E - MinE) << T.MantissaBits;
  if (Code > T.MaxCode) {
    bool ToMax = Options.Saturate || T.Specials == NonFinite::AllFinite ||
                 Options.Mode == Rounding::TowardZero ||
                 (Options.Mode == Rounding::TowardPositive && Negative) ||
                 (Options.Mode == Rounding::TowardNegative && !Negative);
    return ToMax ? Sign | T.MaxCode : encodeBeyond(T, Sign);
  }
  return Code ? Sign | uint32_t(Code) : Zero;
}

float pagedattn::emu::decode(NumFormat Format, uint32_t Code) {
  const FormatTraits &T = traits(Format);
  uint32_t SignBit = 1u << (T.Bits - 1);
  bool Negative = Code & SignBit;
  uint32_t Magnitude = Code & (SignBit - 1);
  if (T.Specials == NonFinite::NegZero && Negative && Magnitude == 0)
    return std::numeric_limits<float>::quiet_NaN();

  uint32_t MantissaMask = (1u << T.MantissaBits) - 1;
  if (Magnitude > T.MaxCode) {
    if (T.Specials == NonFinite::IEEE) {
      // Keeps the payload, so that a NaN survives a round trip.
      uint32_t Payload = (Magnitude & MantissaMask) << (23 - T.MantissaBits);
      return bitsToFloat(uint32_t(Negative) << 31 | 0x7f800000u | Payload);
    }
    return bitsToFloat(uint32_t(Negative) << 31 | 0x7fc00000u);
  }

  int Exponent = int(Magnitude >> T.MantissaBits);
  int Mantissa = int(Magnitude & MantissaMask);
  if (Exponent)
    Mantissa |= 1 << T.MantissaBits;
  float Value = std::ldexp(float(Mantissa),
                           std::max(Exponent, 1) - T.Bias - T.MantissaBits);
  return Negative ? -Value : Value;
}

namespace {
struct DecodeTables {
  std::array<std::array<float, 256>, std::size(TraitsTable)> Values;

  DecodeTables() {
    for (unsigned F = 0; F < std::size(TraitsTable); ++F) {
      // Codes wider than the format repeat, so that a lookup needs no mask.
      uint32_t Mask =
          TraitsTable[F].Bits >= 8 ? 0xff : (1u << TraitsTable[F].Bits) - 1;
      for (unsigned Code = 0; Code < 256; ++Code)
        Values[F][Code] = decode(static_cast<NumFormat>(F), Code & Mask);
    }
  }
};
} // namespace

const float *pagedattn::emu::decodeTable(NumFormat Format) {
  static const DecodeTables Tables;
  return Tables.Values[static_cast<unsigned>(Format)].data();
}

float pagedattn::emu::decodeE8M0(uint8_t Code) {
  if (Code == 0)
    return bitsToFloat(0x00400000u);
  if (Code == 255)
    return std::numeric_limits<float>::quiet_NaN();
  return bitsToFloat(uint32_t(Code) << 23);
}
