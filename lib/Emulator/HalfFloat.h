//===- HalfFloat.h - Vectorisable binary16 and bfloat16 ---------*- C++ -*-===//
//
// Branch-free conversions for lane loops; Formats.h has the general ones.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_HALFFLOAT_H
#define PAGEDATTN_LIB_EMULATOR_HALFFLOAT_H

#include <cstdint>
#include <cstring>

namespace pagedattn::emu {

inline float asFloat(uint32_t X) {
  float F;
  std::memcpy(&F, &X, 4);
  return F;
}
inline uint32_t asBits(float F) {
  uint32_t X;
  std::memcpy(&X, &F, 4);
  return X;
}
inline double asDouble(uint64_t X) {
  double D;
  std::memcpy(&D, &X, 8);
  return D;
}
inline uint64_t asBits(double D) {
  uint64_t X;
  std::memcpy(&X, &D, 8);
  return X;
}

/// The low half as a number; exact.
inline float halfToFloat(uint32_t H) {
  const uint32_t Sign = (H & 0x8000) << 16;
  const uint32_t Rest = (H & 0x7fff) << 13;
  // Scaling by 2^112 moves the exponent bias and normalises subnormals.
  const float Scaled = asFloat(Rest) * asFloat(0x77800000u);
  const uint32_t Finite = asBits(Scaled);
  const uint32_t Special = Rest | 0x7f800000u;
  return asFloat((((H & 0x7c00) == 0x7c00) ? Special : Finite) | Sign);
}

/// Round to nearest even. Keeps NaNs quiet with their top bits.
inline uint32_t floatToHalf(float F) {
  const uint32_t X = asBits(F);
  const uint32_t Sign = (X >> 16) & 0x8000;
  const uint32_t Abs = X & 0x7fffffff;
  // Normal: rebias and round in integer arithmetic; a carry reaches infinity.
  const uint32_t Normal = (Abs - 0x38000000u + 0xfff + ((Abs >> 13) & 1)) >> 13;
  // Subnormal: adding 0.5 aligns the bits that stay at the bottom.
  const uint32_t Sub = asBits(asFloat(Abs) + 0.5f) - 0x3f000000u;
  const uint32_t Nan = 0x7e00 | ((Abs >> 13) & 0x3ff);
  uint32_t R = Abs < 0x38800000u ? Sub : Normal;
  R = Abs >= 0x477ff000u ? 0x7c00 : R;
  R = Abs > 0x7f800000u ? Nan : R;
  return R | Sign;
}

/// Round toward zero; finite values stay finite.
inline uint32_t floatToHalfRtz(float F) {
  const uint32_t X = asBits(F);
  const uint32_t Sign = (X >> 16) & 0x8000;
  const uint32_t Abs = X & 0x7fffffff;
  const uint32_t Normal = (Abs - 0x38000000u) >> 13;
  // 2^24 times the magnitude is below 2^10 here and truncates exactly.
  const uint32_t Sub = uint32_t(
      int32_t((Abs < 0x38800000u ? asFloat(Abs) : 0.0f) * 16777216.0f));
  const uint32_t Nan = 0x7e00 | ((Abs >> 13) & 0x3ff);
  uint32_t R = Abs < 0x38800000u ? Sub : Normal;
  R = Abs >= 0x47800000u ? 0x7bff : R;
  R = Abs == 0x7f800000u ? 0x7c00 : R;
  R = Abs > 0x7f800000u ? Nan : R;
  return R | Sign;
}

inline float bfloatToFloat(uint32_t H) { return asFloat(H << 16); }

/// Round to nearest even.
inline uint32_t floatToBfloat(float F) {
  const uint32_t X = asBits(F);
  const uint32_t Rounded = (X + 0x7fff + ((X >> 16) & 1)) >> 16;
  const uint32_t Nan = (X >> 16) | 0x40;
  return (X & 0x7fffffff) > 0x7f800000u ? Nan : Rounded;
}

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_HALFFLOAT_H
