//===- VectorHalf.cpp - Half-precision vector instructions ----------------===//

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

float floorOp(float A) { return __builtin_floorf(A); }
float ceilOp(float A) { return __builtin_ceilf(A); }
float truncOp(float A) { return __builtin_truncf(A); }
float roundEven(float A) {
  // All halves from 1024 on are integers; below, 2^23 rounds.
  const U32 Sign = asBits(A) & 0x80000000u;
  const float Magic = asFloat(Sign | 0x4b000000u);
  const float R = asFloat((asBits((A + Magic) - Magic) & 0x7fffffffu) | Sign);
  return __builtin_fabsf(A) < 1024.0f ? R : A;
}
float fract(float A) {
  const float R = A - __builtin_floorf(A);
  return R > asFloat(0x3f7fe000) ? asFloat(0x3f7fe000) : R;
}
float med3(float A, float B, float C) {
  const bool Nan = A != A || B != B || C != C;
  const float Mid =
      numOp<true>(numOp<false>(A, B), numOp<false>(numOp<true>(A, B), C));
  return Nan ? num3Op<false>(A, B, C) : Mid;
}
template <bool Max>
float mixedNum(float A, float B, float C) {
  return numOp<!Max>(numOp<Max>(A, B), C);
}
template <bool Max>
float mixedNan(float A, float B, float C) {
  return nanOp<!Max>(nanOp<Max>(A, B), C);
}
/// Two roundings: the product is a half first.
float madOp(float A, float B, float C) {
  return halfToFloat(floatToHalf(A * B)) + C;
}

/// Fused for fmac; mac rounds the product first.
template <float (*F)(float, float, float)>
void accumulate(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer A, B, R;
  fetchNarrow<Narrow::Half>(W, I, 0, C, A);
  fetchNarrow<Narrow::Half>(W, I, 1, C, B);
  const U32 *Old = W.V + I.Dst[0].Offset;
  const unsigned Shift = I.Dst[0].High ? 16 : 0;
  allLanes(W, [&](unsigned L) {
    R.D[L] = asBits(F(asFloat(A.D[L]), asFloat(B.D[L]),
                      halfToFloat((Old[L] >> Shift) & 0xffff)));
  });
  narrowAll<Narrow::Half>(W, C, R);
  writeHalf(W, I, R, /*KeepHigh=*/false);
}

void ldexpOp(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer A, T1, R;
  fetchNarrow<Narrow::Half>(W, I, 0, C, A);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    I32 E = int16_t(B[L]);
    E = E > 100 ? 100 : E < -100 ? -100 : E;
    R.D[L] = asBits(std::ldexp(asFloat(A.D[L]), E));
  }
  narrowAll<Narrow::Half>(W, C, R);
  writeHalf(W, I, R, /*KeepHigh=*/false);
}

U32 frexpExp(U32 H) {
  const U32 E = (H >> 10) & 0x1f, M = H & 0x3ff;
  if (E == 31 || (E == 0 && M == 0))
    return 0;
  return E ? E - 14 : U32(-14 - I32(__builtin_clz(M) - 22));
}
U32 frexpMant(U32 H) {
  const U32 E = (H >> 10) & 0x1f, M = H & 0x3ff;
  if (E == 31 || (E == 0 && M == 0))
    return H;
  if (E)
    return (H & 0x83ff) | 14u << 10;
  const U32 Shift = U32(__builtin_clz(M)) - 21;
  return (H & 0x8000) | 14u << 10 | ((M << Shift) & 0x3ff);
}

/// Operands: quotient, denominator, numerator.
U32 divFixup(U32 Q, U32 D, U32 N) {
  const U32 Sign = (D ^ N) & 0x8000;
  const U32 AbsD = D & 0x7fff, AbsN = N & 0x7fff;
  if (AbsN > 0x7c00)
    return N | 0x200;
  if (AbsD > 0x7c00)
    return D | 0x200;
  if ((AbsD == 0 && AbsN == 0) || (AbsD == 0x7c00 && AbsN == 0x7c00))
    return 0xfe00;
  if (AbsD == 0 || AbsN == 0x7c00)
    return Sign | 0x7c00;
  if (AbsD == 0x7c00 || AbsN == 0)
    return Sign;
  return Sign | (Q & 0x7fff);
}

constexpr OpInfo op1(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::F16, Ty::F16}, nullptr, true};
}
constexpr OpInfo op2(const char *Name, Handler Fn, Ty B = Ty::F16) {
  return {Name,    Fn,  OpClass::VectorAlu, 1, {Ty::F16, Ty::F16, B},
          nullptr, true};
}
constexpr OpInfo op3(const char *Name, Handler Fn, bool Clamps = true) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          1,
          {Ty::F16, Ty::F16, Ty::F16, Ty::F16},
          nullptr,
          Clamps};
}

constexpr Narrow H = Narrow::Half;

constexpr OpInfo Table[] = {
    op2("v_add_f16", half2<addOp>),
    op2("v_sub_f16", half2<subOp>),
    op2("v_subrev_f16", half2<subRevOp>),
    op2("v_mul_f16", half2<mulOp>),
    op3("v_fma_f16", half3<fmaOp>),
    op3("v_fma_legacy_f16", half3<fmaOp, H, false>),
    op3("v_mad_f16", half3<madOp>),
    op3("v_mad_legacy_f16", half3<madOp, H, false>),
    op3("v_fmaak_f16", half3<fmaOp, H, false>),
    op3("v_fmamk_f16", half3<fmaOp, H, false>),
    op3("v_madak_f16", half3<madOp, H, false>),
    op3("v_madmk_f16", half3<madOp, H, false>),
    op2("v_fmac_f16", accumulate<fmaOp>),
    op2("v_mac_f16", accumulate<madOp>),
    op2("v_min_f16", half2<numOp<false>>),
    op2("v_max_f16", half2<numOp<true>>),
    op2("v_min_num_f16", half2<numOp<false>>),
    op2("v_max_num_f16", half2<numOp<true>>),
    op2("v_minimum_f16", half2<nanOp<false>>),
    op2("v_maximum_f16", half2<nanOp<true>>),
    op3("v_min3_f16", half3<num3Op<false>>),
    op3("v_max3_f16", half3<num3Op<true>>),
    op3("v_min3_num_f16", half3<num3Op<false>>),
    op3("v_max3_num_f16", half3<num3Op<true>>),
    op3("v_med3_f16", half3<med3>),
    op3("v_med3_num_f16", half3<med3>),
    op3("v_minimum3_f16", half3<nan3Op<false>>),
    op3("v_maximum3_f16", half3<nan3Op<true>>),
    op3("v_maxmin_f16", half3<mixedNum<true>>),
    op3("v_minmax_f16", half3<mixedNum<false>>),
    op3("v_maxmin_num_f16", half3<mixedNum<true>>),
    op3("v_minmax_num_f16", half3<mixedNum<false>>),
    op3("v_maximumminimum_f16", half3<mixedNan<true>>),
    op3("v_minimummaximum_f16", half3<mixedNan<false>>),
    op1("v_floor_f16", half1<floorOp>),
    op1("v_ceil_f16", half1<ceilOp>),
    op1("v_trunc_f16", half1<truncOp>),
    op1("v_rndne_f16", half1<roundEven>),
    op1("v_fract_f16", half1<fract>),
    op2("v_ldexp_f16", ldexpOp, Ty::B16),
    {"v_frexp_exp_i16_f16",
     short1<frexpExp>,
     OpClass::VectorAlu,
     1,
     {Ty::B16, Ty::F16}},
    {"v_frexp_mant_f16",
     short1<frexpMant>,
     OpClass::VectorAlu,
     1,
     {Ty::F16, Ty::F16}},
    op3("v_div_fixup_f16", short3<divFixup, true>, false),
    op3("v_div_fixup_legacy_f16", short3<divFixup>, false),
};

} // namespace

OpTable vectorHalfOps() { return Table; }

#include "HostIsaEnd.h"
