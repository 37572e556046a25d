//===- VectorConvert.cpp - Conversions between numbers and integers -------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"
#include "PagedAttn/Emulator/Formats.h"
#include <cmath>

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

#include "HalfOps.h"

/// Truncates and saturates; NaN is 0.
I32 toI32(double X) {
  X = X != X ? 0.0 : X;
  X = X < -2147483648.0 ? -2147483648.0 : X;
  X = X > 2147483647.0 ? 2147483647.0 : X;
  return I32(X);
}
U32 toU32(double X) {
  X = X > 0.0 ? X : 0.0; // NaN as well
  X = X > 4294967295.0 ? 4294967295.0 : X;
  // Through a signed 64-bit value, which vectorises better than unsigned.
  return U32(I64(X));
}
U32 toI16(float X) {
  X = X != X ? 0.0f : X;
  return U32(I32(X < -32768.0f ? -32768.0f : X > 32767.0f ? 32767.0f : X));
}
U32 toU16(float X) {
  X = X > 0.0f ? X : 0.0f;
  return U32(I32(X > 65535.0f ? 65535.0f : X));
}
/// Scales [-1, 1] to the full signed range and rounds to nearest even.
U32 normI16(float X) {
  X = X != X ? 0.0f : X;
  X = X > 1.0f ? 1.0f : X < -1.0f ? -1.0f : X;
  return U32(I32(__builtin_rintf(X * 32767.0f)));
}
U32 normU16(float X) {
  X = X > 0.0f ? X : 0.0f;
  X = X > 1.0f ? 1.0f : X;
  return U32(I32(__builtin_rintf(X * 65535.0f)));
}

U32 f32FromI32(U32 A) { return asBits(float(I32(A))); }
U32 f32FromU32(U32 A) { return asBits(float(A)); }
U32 i32FromF32(U32 A) { return U32(toI32(asFloat(A))); }
U32 u32FromF32(U32 A) { return toU32(asFloat(A)); }
U32 floorI32(U32 A) { return U32(toI32(__builtin_floor(asFloat(A)))); }
U32 nearestI32(U32 A) {
  return U32(toI32(__builtin_floor(double(asFloat(A)) + 0.5)));
}
template <unsigned N>
U32 f32FromByte(U32 A) {
  return asBits(float((A >> (8 * N)) & 0xff));
}
/// A signed nibble in sixteenths.
U32 offsetNibble(U32 A) { return asBits(float(I32(A << 28) >> 28) * 0.0625f); }
U32 f32FromF16(U32 A) {
  const U32 X = asBits(halfToFloat(A & 0xffff));
  // A signaling NaN is quieted by the conversion.
  return isNan32(X) ? X | 0x400000 : X;
}

/// Results that are singles honour clamp and omod.
template <U32 (*F)(U32)>
void toSingle(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) { R.D[L] = F(A[L]); });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}
template <U32 (*F)(U32)>
void fromSingle(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L]); });
  writeVector(W, I, R.D);
}

void f16FromF32(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer T0, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  allLanes(W, [&](unsigned L) { R.D[L] = A[L]; });
  narrowAll<Narrow::Half>(W, C, R);
  writeHalf(W, I, R, /*KeepHigh=*/false);
}
template <bool Signed>
void f16FromInt(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer T0, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  allLanes(W, [&](unsigned L) {
    R.D[L] = asBits(Signed ? float(int16_t(A[L])) : float(A[L] & 0xffff));
  });
  narrowAll<Narrow::Half>(W, C, R);
  writeHalf(W, I, R, /*KeepHigh=*/false);
}
template <U32 (*F)(float)>
void shortFromHalf(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  allLanes(W, [&](unsigned L) { R.D[L] = F(halfToFloat(A[L] & 0xffff)); });
  writeHalf(W, I, R, /*KeepHigh=*/false);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Two values of 16 bits in one register.
template <U32 (*F)(U32)>
void packTwo(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  allLanes(W, [&](unsigned L) { R.D[L] = (F(A[L]) & 0xffff) | F(B[L]) << 16; });
  writeVector(W, I, R.D);
}
U32 packRtz(U32 A) { return floatToHalfRtz(asFloat(A)); }
U32 packNormI(U32 A) { return normI16(asFloat(A)); }
U32 packNormU(U32 A) { return normU16(asFloat(A)); }
U32 packNormIHalf(U32 A) { return normI16(halfToFloat(A & 0xffff)); }
U32 packNormUHalf(U32 A) { return normU16(halfToFloat(A & 0xffff)); }
U32 packI16(U32 A) { return toI16(asFloat(A)); }
U32 packU16(U32 A) { return toU16(asFloat(A)); }
U32 saturateI16(U32 A) {
  const I32 X = I32(A);
  return U32(X > 32767 ? 32767 : X < -32768 ? -32768 : X);
}
U32 saturateU16(U32 A) { return A > 65535 ? 65535 : A; }

/// Puts a byte into the third source.
void packByte(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  allLanes(W, [&](unsigned L) {
    float X = asFloat(A[L]);
    X = X > 0.0f ? X : 0.0f;
    X = __builtin_rintf(X > 255.0f ? 255.0f : X);
    const unsigned Shift = 8 * (B[L] & 3);
    R.D[L] = (C[L] & ~(0xffu << Shift)) | U32(I32(X)) << Shift;
  });
  writeVector(W, I, R.D);
}

//===----------------------------------------------------------------------===//
// Doubles
//===----------------------------------------------------------------------===//

template <class FnT>
void toDouble(Wave &W, const Instruction &I, FnT F) {
  LaneBuffer T0;
  LaneBuffer64 R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  allLanes(W, [&](unsigned L) { R.D[L] = asBits(double(F(A[L]))); });
  if (LLVM_UNLIKELY(I.Mod.Clamp || I.Mod.Omod != OMod::None))
    for (unsigned L = 0; L != W.Lanes; ++L) {
      double X = asDouble(R.D[L]);
      if (I.Mod.Omod != OMod::None)
        X *= I.Mod.Omod == OMod::Mul2   ? 2.0
             : I.Mod.Omod == OMod::Mul4 ? 4.0
                                        : 0.5;
      if (I.Mod.Clamp)
        X = X > 0.0 ? (X > 1.0 ? 1.0 : X) : 0.0;
      R.D[L] = asBits(X);
    }
  write64(W, I, R);
}
void f64FromF32(Wave &W, const Instruction &I) {
  const bool Flush = !W.Mode.denormIn32();
  toDouble(W, I, [&](U32 X) { return asFloat(Flush ? flush32(X) : X); });
}
void f64FromI32(Wave &W, const Instruction &I) {
  toDouble(W, I, [](U32 X) { return I32(X); });
}
void f64FromU32(Wave &W, const Instruction &I) {
  toDouble(W, I, [](U32 X) { return X; });
}
void f32FromF64(Wave &W, const Instruction &I) {
  LaneBuffer64 A;
  LaneBuffer R;
  fetch64(W, I, I.Src[0], A);
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(float(asDouble(A.D[L]))); });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}
template <bool Signed>
void intFromF64(Wave &W, const Instruction &I) {
  LaneBuffer64 A;
  LaneBuffer R;
  fetch64(W, I, I.Src[0], A);
  allLanes(W, [&](unsigned L) {
    const double X = asDouble(A.D[L]);
    R.D[L] = Signed ? U32(toI32(X)) : toU32(X);
  });
  writeVector(W, I, R.D);
}

constexpr OpInfo op(const char *Name, Handler Fn, Ty Dst, Ty Src,
                    bool Clamps = false) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Dst, Src}, nullptr, Clamps};
}
constexpr OpInfo pack(const char *Name, Handler Fn, Ty Src) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::B32, Src, Src}};
}

constexpr OpInfo Table[] = {
    op("v_cvt_f32_i32", toSingle<f32FromI32>, Ty::F32, Ty::B32, true),
    op("v_cvt_f32_u32", toSingle<f32FromU32>, Ty::F32, Ty::B32, true),
    op("v_cvt_f32_ubyte0", toSingle<f32FromByte<0>>, Ty::F32, Ty::B32, true),
    op("v_cvt_f32_ubyte1", toSingle<f32FromByte<1>>, Ty::F32, Ty::B32, true),
    op("v_cvt_f32_ubyte2", toSingle<f32FromByte<2>>, Ty::F32, Ty::B32, true),
    op("v_cvt_f32_ubyte3", toSingle<f32FromByte<3>>, Ty::F32, Ty::B32, true),
    op("v_cvt_off_f32_i4", toSingle<offsetNibble>, Ty::F32, Ty::B32, true),
    op("v_cvt_f32_f16", toSingle<f32FromF16>, Ty::F32, Ty::F16, true),
    op("v_cvt_f32_f64", f32FromF64, Ty::F32, Ty::F64, true),
    // Clamp on a conversion to an integer changes nothing: it saturates.
    op("v_cvt_i32_f32", fromSingle<i32FromF32>, Ty::B32, Ty::F32, true),
    op("v_cvt_u32_f32", fromSingle<u32FromF32>, Ty::B32, Ty::F32, true),
    op("v_cvt_flr_i32_f32", fromSingle<floorI32>, Ty::B32, Ty::F32, true),
    op("v_cvt_floor_i32_f32", fromSingle<floorI32>, Ty::B32, Ty::F32, true),
    op("v_cvt_rpi_i32_f32", fromSingle<nearestI32>, Ty::B32, Ty::F32, true),
    op("v_cvt_nearest_i32_f32", fromSingle<nearestI32>, Ty::B32, Ty::F32, true),
    op("v_cvt_i32_f64", intFromF64<true>, Ty::B32, Ty::F64, true),
    op("v_cvt_u32_f64", intFromF64<false>, Ty::B32, Ty::F64, true),
    op("v_cvt_f64_f32", f64FromF32, Ty::F64, Ty::F32, true),
    op("v_cvt_f64_i32", f64FromI32, Ty::F64, Ty::B32, true),
    op("v_cvt_f64_u32", f64FromU32, Ty::F64, Ty::B32, true),
    op("v_cvt_f16_f32", f16FromF32, Ty::F16, Ty::F32, true),
    op("v_cvt_f16_i16", f16FromInt<true>, Ty::F16, Ty::B16, true),
    op("v_cvt_f16_u16", f16FromInt<false>, Ty::F16, Ty::B16, true),
    op("v_cvt_i16_f16", shortFromHalf<toI16>, Ty::B16, Ty::F16, true),
    op("v_cvt_u16_f16", shortFromHalf<toU16>, Ty::B16, Ty::F16, true),
    op("v_cvt_norm_i16_f16", shortFromHalf<normI16>, Ty::B16, Ty::F16),
    op("v_cvt_norm_u16_f16", shortFromHalf<normU16>, Ty::B16, Ty::F16),
    pack("v_cvt_pkrtz_f16_f32", packTwo<packRtz>, Ty::F32),
    pack("v_cvt_pk_rtz_f16_f32", packTwo<packRtz>, Ty::F32),
    pack("v_cvt_pknorm_i16_f32", packTwo<packNormI>, Ty::F32),
    pack("v_cvt_pk_norm_i16_f32", packTwo<packNormI>, Ty::F32),
    pack("v_cvt_pknorm_u16_f32", packTwo<packNormU>, Ty::F32),
    pack("v_cvt_pk_norm_u16_f32", packTwo<packNormU>, Ty::F32),
    pack("v_cvt_pknorm_i16_f16", packTwo<packNormIHalf>, Ty::F16),
    pack("v_cvt_pk_norm_i16_f16", packTwo<packNormIHalf>, Ty::F16),
    pack("v_cvt_pknorm_u16_f16", packTwo<packNormUHalf>, Ty::F16),
    pack("v_cvt_pk_norm_u16_f16", packTwo<packNormUHalf>, Ty::F16),
    pack("v_cvt_pk_i16_f32", packTwo<packI16>, Ty::F32),
    pack("v_cvt_pk_u16_f32", packTwo<packU16>, Ty::F32),
    pack("v_cvt_pk_i16_i32", packTwo<saturateI16>, Ty::B32),
    pack("v_cvt_pk_u16_u32", packTwo<saturateU16>, Ty::B32),
    {"v_cvt_pk_u8_f32",
     packByte,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::F32, Ty::B32, Ty::B32}},
};

} // namespace

OpTable vectorConvertOps() { return Table; }

#include "HostIsaEnd.h"
