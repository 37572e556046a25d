//===- VectorFloat.cpp - Single-precision vector instructions -------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"
#include <cmath>

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

float add(float A, float B) { return A + B; }
float sub(float A, float B) { return A - B; }
float subRev(float A, float B) { return B - A; }
float mul(float A, float B) { return A * B; }
/// Zero times anything is zero, even a NaN or an infinity.
float mulZero(float A, float B) {
  return A == 0.0f || B == 0.0f ? 0.0f : A * B;
}
float fma(float A, float B, float C) { return __builtin_fmaf(A, B, C); }
float fmaZero(float A, float B, float C) {
  return A == 0.0f || B == 0.0f ? C : __builtin_fmaf(A, B, C);
}
float floorOp(float A) { return __builtin_floorf(A); }
float ceilOp(float A) { return __builtin_ceilf(A); }
float truncOp(float A) { return __builtin_truncf(A); }
float roundEven(float A) {
  // Adding and subtracting 2^23 rounds in the current mode, which the caller
  // leaves at nearest even; beyond it every float is an integer.
  const float Magic = asFloat((asBits(A) & 0x80000000u) | 0x4b000000u);
  const float R = (A + Magic) - Magic;
  const float Signed =
      asFloat((asBits(R) & 0x7fffffffu) | (asBits(A) & 0x80000000u));
  return __builtin_fabsf(A) < 8388608.0f ? Signed : A;
}
float fract(float A) {
  const float R = A - __builtin_floorf(A);
  return R >= 1.0f ? asFloat(0x3f7fffff) : R;
}
float ldexpOp(float A, float B) {
  // The exponent is an integer in B's bits. The product of a single and a
  // power of two in this range is exact in double, so that it rounds once.
  I32 E = I32(asBits(B));
  E = E > 400 ? 400 : E < -400 ? -400 : E;
  return float(double(A) * asDouble(U64(1023 + E) << 52));
}

void roundEvenOp(Wave &W, const Instruction &I) {
  // Not float1: MODE's rounding must not reach it.
  LaneBuffer T0, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  allLanes(W, [&](unsigned L) { R.D[L] = asBits(roundEven(asFloat(A[L]))); });
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

/// Exponents are relative to a mantissa in [0.5, 1).
U32 frexpExp(U32 X) {
  const U32 E = (X >> 23) & 0xff, M = X & 0x7fffff;
  if (E == 255 || (E == 0 && M == 0))
    return 0;
  if (E)
    return E - 126;
  return U32(-126 - I32(__builtin_clz(M) - 9));
}
U32 frexpMant(U32 X) {
  const U32 E = (X >> 23) & 0xff, M = X & 0x7fffff;
  if (E == 255 || (E == 0 && M == 0))
    return X;
  if (E)
    return (X & 0x807fffff) | 126u << 23;
  const U32 Shift = U32(__builtin_clz(M)) - 8;
  return (X & 0x80000000) | 126u << 23 | ((M << Shift) & 0x7fffff);
}

/// A NaN operand of med3 makes it min3.
float med3Bits(float FA, float FB, float FC) {
  const U32 A = asBits(FA), B = asBits(FB), C = asBits(FC);
  const U32 Low = minMaxNum32<false>(minMaxNum32<false>(A, B, false), C, false);
  const U32 Mid = minMaxNum32<true>(
      minMaxNum32<false>(A, B, false),
      minMaxNum32<false>(minMaxNum32<true>(A, B, false), C, false), false);
  return asFloat(isNan32(A) || isNan32(B) || isNan32(C) ? Low : Mid);
}

template <bool Max, unsigned N>
void minMax(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  const U32 *B = fetchF32(W, I, 1, T1);
  const bool Ieee = W.Mode.ieee() && !W.Chip->Gfx12;
  if (N == 2) {
    if (Ieee)
      allLanes(
          W, [&](unsigned L) { R.D[L] = minMaxNum32<Max>(A[L], B[L], true); });
    else
      allLanes(
          W, [&](unsigned L) { R.D[L] = minMaxNum32<Max>(A[L], B[L], false); });
  } else {
    const U32 *C = fetchF32(W, I, 2, T2);
    allLanes(W, [&](unsigned L) {
      R.D[L] = minMaxNum32<Max>(minMaxNum32<Max>(A[L], B[L], Ieee), C[L], Ieee);
    });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

template <bool Max>
float minMaxNan(float A, float B) {
  return asFloat(minMaxNan32<Max>(asBits(A), asBits(B)));
}
template <bool Max>
float minMaxNan3(float A, float B, float C) {
  return minMaxNan<Max>(minMaxNan<Max>(A, B), C);
}
/// First Max of two, then the other of that and the third.
template <bool Max>
float mixedNum(float A, float B, float C) {
  return asFloat(minMaxNum32<!Max>(
      minMaxNum32<Max>(asBits(A), asBits(B), false), asBits(C), false));
}
template <bool Max>
float mixedNan(float A, float B, float C) {
  return minMaxNan<!Max>(minMaxNan<Max>(A, B), C);
}

/// The destination is the addend.
void fmac(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  const U32 *B = fetchF32(W, I, 1, T1);
  const U32 *C = W.V + I.Dst[0].Offset;
  if (LLVM_UNLIKELY(W.SpecialMode32) && !W.Mode.denormIn32()) {
    allLanes(W, [&](unsigned L) { T2.D[L] = flush32(C[L]); });
    C = T2.D;
  }
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(fma(asFloat(A[L]), asFloat(B[L]), asFloat(C[L])));
    });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

//===----------------------------------------------------------------------===//
// Division helpers
//===----------------------------------------------------------------------===//

I32 exponent(U32 X) { return I32((X >> 23) & 0xff); }
bool isDenorm(U32 X) { return exponent(X) == 0 && (X & 0x7fffff); }

/// Operands: the value to scale, denominator, numerator. The first is one of
/// the others. The mask says where the quotient must be scaled back.
void divScale(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  U64 Mask = 0;
  for (unsigned L = 0; L != W.Lanes; ++L) {
    const float S0 = asFloat(A[L]), S1 = asFloat(B[L]), S2 = asFloat(C[L]);
    const float Up = std::ldexp(S0, 64);
    float D = S0;
    bool Scaled = false;
    if (S2 == 0.0f || S1 == 0.0f) {
      D = asFloat(0x7fc00000);
    } else if (exponent(C[L]) - exponent(B[L]) >= 96) {
      Scaled = true;
      if (A[L] == B[L])
        D = Up;
    } else if (isDenorm(B[L])) {
      D = Up;
    } else {
      const bool TinyInverse = isDenorm(asBits(float(1.0 / double(S1))));
      const bool TinyQuotient =
          isDenorm(asBits(float(double(S2) / double(S1))));
      if (TinyInverse && TinyQuotient) {
        // Only the denominator, so that its reciprocal is normal and the
        // quotient comes out large.
        Scaled = true;
        if (A[L] == B[L])
          D = std::ldexp(S0, -64);
      } else if (TinyInverse) {
        D = std::ldexp(S0, -64);
      } else if (TinyQuotient) {
        Scaled = true;
        if (A[L] == C[L])
          D = Up;
      } else if (exponent(C[L]) <= 23) {
        D = Up;
      }
    }
    R.D[L] = asBits(D);
    Mask |= U64(Scaled) << L;
  }
  writeVector(W, I, R.D);
  writeLaneMask(W, I, I.Dst[1], Mask);
}

void divFmas(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  const U32 *B = fetchF32(W, I, 1, T1);
  const U32 *C = fetchF32(W, I, 2, T2);
  const U64 Vcc = W.vcc();
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) {
      const float X = fma(asFloat(A[L]), asFloat(B[L]), asFloat(C[L]));
      // A large quotient was scaled down, a small one up.
      const float Back = exponent(C[L]) > 127 ? 0x1p64f : 0x1p-64f;
      R.D[L] = asBits((Vcc >> L) & 1 ? X * Back : X);
    });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

/// Operands: quotient, denominator, numerator.
U32 divFixup(U32 Q, U32 D, U32 N) {
  const U32 Sign = (D ^ N) & 0x80000000;
  const U32 AbsD = D & 0x7fffffff, AbsN = N & 0x7fffffff;
  constexpr U32 Inf = 0x7f800000;
  if (AbsN > Inf)
    return N | 0x400000;
  if (AbsD > Inf)
    return D | 0x400000;
  if ((AbsD == 0 && AbsN == 0) || (AbsD == Inf && AbsN == Inf))
    return 0xffc00000;
  if (AbsD == 0 || AbsN == Inf)
    return Sign | Inf;
  if (AbsD == Inf || AbsN == 0)
    return Sign;
  if (exponent(N) - exponent(D) < -150)
    return Sign;
  return Sign | (Q & 0x7fffffff);
}
void divFixupOp(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  for (unsigned L = 0; L != W.Lanes; ++L)
    R.D[L] = divFixup(A[L], B[L], C[L]);
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

//===----------------------------------------------------------------------===//
// Cube maps
//===----------------------------------------------------------------------===//

enum class Cube { Id, Major, S, T };
template <Cube What>
float cube(float X, float Y, float Z) {
  const float AX = __builtin_fabsf(X), AY = __builtin_fabsf(Y),
              AZ = __builtin_fabsf(Z);
  const bool ByZ = AZ >= AX && AZ >= AY;
  const bool ByY = !ByZ && AY >= AX;
  if (What == Cube::Major)
    return 2.0f * (ByZ ? Z : ByY ? Y : X);
  if (What == Cube::Id)
    return ByZ   ? (Z < 0 ? 5.0f : 4.0f)
           : ByY ? (Y < 0 ? 3.0f : 2.0f)
                 : (X < 0 ? 1.0f : 0.0f);
  if (What == Cube::S)
    return ByZ ? (Z < 0 ? -X : X) : ByY ? X : (X < 0 ? Z : -Z);
  return ByZ ? -Y : ByY ? (Y < 0 ? -Z : Z) : -Y;
}

//===----------------------------------------------------------------------===//
// Mixed precision
//===----------------------------------------------------------------------===//

/// Sources of fma_mix are single, or a half that op_sel picks where op_sel_hi
/// has the bit set. neg_hi means abs.
template <bool Bf16>
void mixSources(Wave &W, const Instruction &I, LaneBuffer (&S)[3]) {
  for (unsigned N = 0; N != 3; ++N) {
    LaneBuffer Tmp;
    const U32 *A = fetch(W, I, I.Src[N], Tmp);
    const bool Half = (I.Mod.OpSelHi >> N) & 1;
    const unsigned Shift = (I.Mod.OpSel >> N) & 1 ? 16 : 0;
    if (!Half)
      allLanes(W, [&](unsigned L) { S[N].D[L] = A[L]; });
    else if (Bf16)
      allLanes(W, [&](unsigned L) {
        S[N].D[L] = asBits(bfloatToFloat(A[L] >> Shift));
      });
    else
      allLanes(W, [&](unsigned L) {
        S[N].D[L] = asBits(halfToFloat(A[L] >> Shift));
      });
    const bool Abs = I.Aux[N] & 1 || (I.Mod.NegHi >> N) & 1;
    const bool Neg = bool(I.Aux[N] & 2) != bool((I.Mod.NegLo >> N) & 1);
    if (Abs)
      allLanes(W, [&](unsigned L) { S[N].D[L] &= 0x7fffffff; });
    if (Neg)
      allLanes(W, [&](unsigned L) { S[N].D[L] ^= 0x80000000; });
  }
}

enum class MixTo { Single, Low, High };
template <MixTo To, bool Bf16>
void fmaMix(Wave &W, const Instruction &I) {
  LaneBuffer S[3], R;
  mixSources<Bf16>(W, I, S);
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(
          fma(asFloat(S[0].D[L]), asFloat(S[1].D[L]), asFloat(S[2].D[L])));
    });
  }
  finishF32(W, I, R);
  if (To != MixTo::Single) {
    const U32 *Old = W.V + I.Dst[0].Offset;
    allLanes(W, [&](unsigned L) {
      const float X = asFloat(R.D[L]);
      const U32 H = Bf16 ? floatToBfloat(X) : floatToHalf(X);
      R.D[L] = To == MixTo::Low ? (Old[L] & 0xffff0000) | H
                                : (Old[L] & 0xffff) | H << 16;
    });
  }
  writeVector(W, I, R.D);
}

/// A pair of narrow products added to a single.
template <bool Bf16, bool FromDst>
void dot2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = FromDst ? W.V + I.Dst[0].Offset : fetch(W, I, I.Src[2], T2);
  auto Value = [](U32 X) { return Bf16 ? bfloatToFloat(X) : halfToFloat(X); };
  allLanes(W, [&](unsigned L) {
    const float Low = Value(A[L] & 0xffff) * Value(B[L] & 0xffff);
    const float High = Value(A[L] >> 16) * Value(B[L] >> 16);
    R.D[L] = asBits(High + (Low + asFloat(C[L])));
  });
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

constexpr OpInfo op1(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::F32, Ty::F32}, nullptr, true};
}
constexpr OpInfo op2(const char *Name, Handler Fn, Ty B = Ty::F32) {
  return {Name,    Fn,  OpClass::VectorAlu, 1, {Ty::F32, Ty::F32, B},
          nullptr, true};
}
constexpr OpInfo op3(const char *Name, Handler Fn) {
  return {
      Name,    Fn,  OpClass::VectorAlu, 1, {Ty::F32, Ty::F32, Ty::F32, Ty::F32},
      nullptr, true};
}
bool prepareMix(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  if (!I.Mod.HasOpSelHi)
    I.Mod.OpSelHi = 0;
  // The handler applies abs and neg after it has converted a half.
  for (unsigned N = 0; N != I.NumSrc; ++N) {
    Operand &O = I.Src[N];
    I.Aux[N] = unsigned(O.Abs) | unsigned(O.Neg) << 1;
    O.Abs = O.Neg = false;
    O.Direct = (O.isVgpr() && !O.Dpp) || O.isConst();
  }
  return true;
}
constexpr OpInfo mix(const char *Name, Handler Fn) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          1,
          {Ty::F32, Ty::B32, Ty::B32, Ty::B32},
          prepareMix,
          true};
}

constexpr OpInfo Table[] = {
    op2("v_add_f32", float2<add>),
    op2("v_sub_f32", float2<sub>),
    op2("v_subrev_f32", float2<subRev>),
    op2("v_mul_f32", float2<mul>),
    op2("v_mul_legacy_f32", float2<mulZero>),
    op2("v_mul_dx9_zero_f32", float2<mulZero>),
    op3("v_fma_f32", float3<fma>),
    op3("v_fma_legacy_f32", float3<fmaZero>),
    op3("v_fma_dx9_zero_f32", float3<fmaZero>),
    op3("v_fmaak_f32", float3<fma>),
    op3("v_fmamk_f32", float3<fma>),
    op2("v_fmac_f32", fmac),
    op2("v_min_f32", minMax<false, 2>),
    op2("v_max_f32", minMax<true, 2>),
    op2("v_min_num_f32", minMax<false, 2>),
    op2("v_max_num_f32", minMax<true, 2>),
    op3("v_min3_f32", minMax<false, 3>),
    op3("v_max3_f32", minMax<true, 3>),
    op3("v_min3_num_f32", minMax<false, 3>),
    op3("v_max3_num_f32", minMax<true, 3>),
    op3("v_med3_f32", float3<med3Bits>),
    op3("v_med3_num_f32", float3<med3Bits>),
    op2("v_minimum_f32", float2<minMaxNan<false>>),
    op2("v_maximum_f32", float2<minMaxNan<true>>),
    op3("v_minimum3_f32", float3<minMaxNan3<false>>),
    op3("v_maximum3_f32", float3<minMaxNan3<true>>),
    op3("v_maxmin_f32", float3<mixedNum<true>>),
    op3("v_minmax_f32", float3<mixedNum<false>>),
    op3("v_maxmin_num_f32", float3<mixedNum<true>>),
    op3("v_minmax_num_f32", float3<mixedNum<false>>),
    op3("v_maximumminimum_f32", float3<mixedNan<true>>),
    op3("v_minimummaximum_f32", float3<mixedNan<false>>),
    op1("v_floor_f32", float1<floorOp>),
    op1("v_ceil_f32", float1<ceilOp>),
    op1("v_trunc_f32", float1<truncOp>),
    op1("v_rndne_f32", roundEvenOp),
    op1("v_fract_f32", float1<fract>),
    op2("v_ldexp_f32", float2<ldexpOp>, Ty::B32),
    {"v_frexp_exp_i32_f32",
     int1<frexpExp>,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::F32}},
    {"v_frexp_mant_f32",
     int1<frexpMant>,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::F32}},
    {"v_div_scale_f32",
     divScale,
     OpClass::VectorAlu,
     2,
     {Ty::F32, Ty::Mask, Ty::F32, Ty::F32, Ty::F32}},
    op3("v_div_fmas_f32", divFmas),
    op3("v_div_fixup_f32", divFixupOp),
    op3("v_cubeid_f32", float3<cube<Cube::Id>>),
    op3("v_cubema_f32", float3<cube<Cube::Major>>),
    op3("v_cubesc_f32", float3<cube<Cube::S>>),
    op3("v_cubetc_f32", float3<cube<Cube::T>>),
    mix("v_fma_mix_f32", fmaMix<MixTo::Single, false>),
    mix("v_fma_mixlo_f16", fmaMix<MixTo::Low, false>),
    mix("v_fma_mixhi_f16", fmaMix<MixTo::High, false>),
    mix("v_fma_mix_f32_bf16", fmaMix<MixTo::Single, true>),
    mix("v_fma_mixlo_bf16", fmaMix<MixTo::Low, true>),
    mix("v_fma_mixhi_bf16", fmaMix<MixTo::High, true>),
    {"v_dot2_f32_f16",
     dot2<false, false>,
     OpClass::VectorAlu,
     1,
     {Ty::F32, Ty::PkF16, Ty::PkF16, Ty::F32},
     nullptr,
     true},
    {"v_dot2_f32_bf16",
     dot2<true, false>,
     OpClass::VectorAlu,
     1,
     {Ty::F32, Ty::PkBF16, Ty::PkBF16, Ty::F32},
     nullptr,
     true},
    {"v_dot2c_f32_f16",
     dot2<false, true>,
     OpClass::VectorAlu,
     1,
     {Ty::F32, Ty::B32, Ty::B32},
     nullptr,
     true},
    {"v_dot2acc_f32_f16",
     dot2<false, true>,
     OpClass::VectorAlu,
     1,
     {Ty::F32, Ty::B32, Ty::B32},
     nullptr,
     true},
    {"v_dot2c_f32_bf16",
     dot2<true, true>,
     OpClass::VectorAlu,
     1,
     {Ty::F32, Ty::B32, Ty::B32},
     nullptr,
     true},
    {"v_dot2acc_f32_bf16",
     dot2<true, true>,
     OpClass::VectorAlu,
     1,
     {Ty::F32, Ty::B32, Ty::B32},
     nullptr,
     true},
};

} // namespace

OpTable vectorFloatOps() { return Table; }

#include "HostIsaEnd.h"
