//===- Formats.h - Narrow floating-point formats ----------------*- C++ -*-===//
//
// Exact conversions between the 16-, 8-, 6- and 4-bit floating-point formats of
// the matrix and conversion instructions and binary32/binary64.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_EMULATOR_FORMATS_H
#define PAGEDATTN_EMULATOR_FORMATS_H

#include <cstdint>
#include <cstring>

namespace pagedattn::emu {

/// Named by the bits of exponent and mantissa.
enum class NumFormat : uint8_t {
  F16,
  BF16,
  E4M3FN,
  E4M3FNUZ,
  E5M2,
  E5M2FNUZ,
  E2M3,
  E3M2,
  E2M1,
};

/// What becomes of bits that do not fit.
enum class Rounding : uint8_t {
  NearestEven,
  TowardPositive,
  TowardNegative,
  TowardZero,
  /// Adds the caller's 32 random bits below the last kept bit, then truncates.
  Stochastic,
};

/// How codes beyond the finite values of a format are used.
enum class NonFinite : uint8_t {
  IEEE,     ///< all-ones exponent: infinities and NaNs
  OnlyNaN,  ///< all-ones code is NaN, no infinity (e4m3fn)
  NegZero,  ///< the code of -0 is the only NaN, no infinity (fnuz)
  AllFinite ///< every code is a number (6- and 4-bit formats)
};

/// A format in numbers.
struct FormatTraits {
  uint8_t Bits;         ///< of a code, the sign included
  uint8_t MantissaBits; ///< stored ones
  int16_t Bias;         ///< of the exponent
  /// The largest finite magnitude, as a code without sign.
  uint16_t MaxCode;
  NonFinite Specials; ///< what is no finite number
};

/// The numbers of `Format`.
const FormatTraits &traits(NumFormat Format);

/// How `encode` rounds.
struct EncodeOptions {
  /// Nearest even by default.
  Rounding Mode = Rounding::NearestEven;
  /// MODE.FP16_OVFL: a finite value beyond the range becomes the largest finite
  /// value instead of infinity (or NaN where the format has no infinity).
  bool Saturate = false;
  /// Bits for `Rounding::Stochastic`.
  uint32_t Random = 0;
};

/// Rounds Value once into Format. binary64 input makes f32 * 2^k exact,
/// so that scaled conversions round once as well.
///
/// NaN goes to the format's NaN, and to the largest magnitude in the formats
/// that have none. A true infinity is never saturated; it becomes NaN where the
/// format has no infinity. Negative underflow is -0, and +0 in fnuz formats,
/// whose -0 code is NaN.
uint32_t encode(NumFormat Format, double Value,
                const EncodeOptions &Options = {});

/// The exact value of the low bits of Code; every format fits binary32.
float decode(NumFormat Format, uint32_t Code);

/// The values of all codes of a format of at most 8 bits, indexed by code.
const float *decodeTable(NumFormat Format);

/// E8M0 has no zero and no sign: 2^(code - 127), and NaN for 255.
float decodeE8M0(uint8_t Code);

/// The power of two that a binary32 scale operand stands for: its exponent
/// field read as E8M0; the other bits are ignored.
inline double scaleFromF32Bits(uint32_t Bits) {
  return decodeE8M0((Bits >> 23) & 0xff);
}

/// The binary32 number of these bits.
inline float bitsToFloat(uint32_t Bits) {
  float Value;
  std::memcpy(&Value, &Bits, sizeof(Value));
  return Value;
}

/// The bits of a binary32 number.
inline uint32_t floatToBits(float Value) {
  uint32_t Bits;
  std::memcpy(&Bits, &Value, sizeof(Bits));
  return Bits;
}

/// Reads element Index of a little-endian stream of Width-bit elements, as
/// packed in consecutive registers.
inline uint32_t extractPacked(const uint32_t *Words, unsigned Index,
                              unsigned Width) {
  unsigned Bit = Index * Width;
  unsigned Word = Bit / 32, Offset = Bit % 32;
  uint64_t Pair = Words[Word];
  if (Offset + Width > 32)
    Pair |= uint64_t(Words[Word + 1]) << 32;
  return uint32_t(Pair >> Offset) & ((uint64_t(1) << Width) - 1);
}

/// ORs Code into element Index of a zeroed packed stream.
inline void insertPacked(uint32_t *Words, unsigned Index, unsigned Width,
                         uint32_t Code) {
  unsigned Bit = Index * Width;
  unsigned Word = Bit / 32, Offset = Bit % 32;
  Words[Word] |= Code << Offset;
  if (Offset + Width > 32)
    Words[Word + 1] |= Code >> (32 - Offset);
}

} // namespace pagedattn::emu

#endif // PAGEDATTN_EMULATOR_FORMATS_H
