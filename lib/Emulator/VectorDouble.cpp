//===- VectorDouble.cpp - Double-precision vector instructions ------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"
#include <cmath>

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

U64 flush64(U64 X) {
  return (X & 0x7ff0000000000000) == 0 ? X & 0x8000000000000000 : X;
}

void fetchF64(Wave &W, const Instruction &I, unsigned N, LaneBuffer64 &R) {
  fetch64(W, I, I.Src[N], R);
  if (LLVM_UNLIKELY(W.SpecialMode16_64) && !W.Mode.denormIn16_64())
    allLanes(W, [&](unsigned L) { R.D[L] = flush64(R.D[L]); });
}

void finishF64(Wave &W, const Instruction &I, LaneBuffer64 &R) {
  if (LLVM_UNLIKELY(W.SpecialMode16_64) && !W.Mode.denormOut16_64())
    allLanes(W, [&](unsigned L) { R.D[L] = flush64(R.D[L]); });
  if (LLVM_UNLIKELY(I.Mod.Omod != OMod::None)) {
    const double Factor = I.Mod.Omod == OMod::Mul2   ? 2.0
                          : I.Mod.Omod == OMod::Mul4 ? 4.0
                                                     : 0.5;
    allLanes(W,
             [&](unsigned L) { R.D[L] = asBits(asDouble(R.D[L]) * Factor); });
  }
  if (LLVM_UNLIKELY(I.Mod.Clamp)) {
    const bool NanToZero = W.Mode.dx10Clamp();
    allLanes(W, [&](unsigned L) {
      const double X = asDouble(R.D[L]);
      double C = X <= 0.0 ? 0.0 : X > 1.0 ? 1.0 : X;
      C = X != X && NanToZero ? 0.0 : C;
      R.D[L] = asBits(C);
    });
  }
  write64(W, I, R);
}

template <double (*F)(double)>
void double1(Wave &W, const Instruction &I) {
  LaneBuffer64 A, R;
  fetchF64(W, I, 0, A);
  {
    RoundScope Scope(W.Mode.round16_64(), &R);
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(F(asDouble(A.D[L]))); });
  }
  finishF64(W, I, R);
}
template <double (*F)(double, double)>
void double2(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, R;
  fetchF64(W, I, 0, A);
  fetchF64(W, I, 1, B);
  {
    RoundScope Scope(W.Mode.round16_64(), &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(F(asDouble(A.D[L]), asDouble(B.D[L])));
    });
  }
  finishF64(W, I, R);
}
template <double (*F)(double, double, double)>
void double3(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, C, R;
  fetchF64(W, I, 0, A);
  fetchF64(W, I, 1, B);
  fetchF64(W, I, 2, C);
  {
    RoundScope Scope(W.Mode.round16_64(), &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(F(asDouble(A.D[L]), asDouble(B.D[L]), asDouble(C.D[L])));
    });
  }
  finishF64(W, I, R);
}

double add(double A, double B) { return A + B; }
double mul(double A, double B) { return A * B; }
double fma(double A, double B, double C) { return __builtin_fma(A, B, C); }
double floorOp(double A) { return __builtin_floor(A); }
double ceilOp(double A) { return __builtin_ceil(A); }
double truncOp(double A) { return __builtin_trunc(A); }
double roundEven(double A) {
  const double Magic =
      asDouble((asBits(A) & 0x8000000000000000u) | 0x4330000000000000u);
  const double R = (A + Magic) - Magic;
  const double Signed = asDouble((asBits(R) & ~0x8000000000000000u) |
                                 (asBits(A) & 0x8000000000000000u));
  return __builtin_fabs(A) < 4503599627370496.0 ? Signed : A;
}
double fract(double A) {
  const double R = A - __builtin_floor(A);
  return R >= 1.0 ? asDouble(0x3fefffffffffffff) : R;
}
double rcp(double A) { return 1.0 / A; }
double sqrtOp(double A) { return __builtin_sqrt(A); }
double rsq(double A) { return 1.0 / __builtin_sqrt(A); }

bool isNan(U64 X) { return (X & ~(U64(1) << 63)) > 0x7ff0000000000000; }
I64 orderKey(U64 X) { return I64(X ^ (U64(I64(X) >> 63) >> 1)); }
template <bool Max>
U64 minMaxNumBits(U64 A, U64 B) {
  if (isNan(A))
    return isNan(B) ? A | U64(1) << 51 : B;
  if (isNan(B))
    return A;
  return (Max ? orderKey(A) > orderKey(B) : orderKey(A) < orderKey(B)) ? A : B;
}
template <bool Max>
double minMaxNum(double A, double B) {
  return asDouble(minMaxNumBits<Max>(asBits(A), asBits(B)));
}
template <bool Max>
double minMaxNan(double A, double B) {
  if (isNan(asBits(A)))
    return asDouble(asBits(A) | U64(1) << 51);
  if (isNan(asBits(B)))
    return asDouble(asBits(B) | U64(1) << 51);
  return minMaxNum<Max>(A, B);
}

void fmac(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, R;
  fetchF64(W, I, 0, A);
  fetchF64(W, I, 1, B);
  const U32 *Low = W.V + I.Dst[0].Offset, *High = Low + W.Lanes;
  {
    RoundScope Scope(W.Mode.round16_64(), &R);
    allLanes(W, [&](unsigned L) {
      const double C = asDouble(U64(High[L]) << 32 | Low[L]);
      R.D[L] = asBits(fma(asDouble(A.D[L]), asDouble(B.D[L]), C));
    });
  }
  finishF64(W, I, R);
}

void ldexpOp(Wave &W, const Instruction &I) {
  LaneBuffer64 A, R;
  LaneBuffer T1;
  fetchF64(W, I, 0, A);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    I32 E = I32(B[L]);
    E = E > 5000 ? 5000 : E < -5000 ? -5000 : E;
    R.D[L] = asBits(std::ldexp(asDouble(A.D[L]), E));
  }
  finishF64(W, I, R);
}

I32 exponent(U64 X) { return I32((X >> 52) & 0x7ff); }
bool isDenorm(U64 X) { return exponent(X) == 0 && (X & 0xfffffffffffff) != 0; }
bool isSpecial(U64 X) { return exponent(X) == 0x7ff || (X << 1) == 0; }

void frexpExp(Wave &W, const Instruction &I) {
  LaneBuffer64 A;
  LaneBuffer R;
  fetch64(W, I, I.Src[0], A);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    int E = 0;
    if (!isSpecial(A.D[L]))
      std::frexp(asDouble(A.D[L]), &E);
    R.D[L] = U32(E);
  }
  writeVector(W, I, R.D);
}
void frexpMant(Wave &W, const Instruction &I) {
  LaneBuffer64 A, R;
  fetch64(W, I, I.Src[0], A);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    int E = 0;
    R.D[L] =
        isSpecial(A.D[L]) ? A.D[L] : asBits(std::frexp(asDouble(A.D[L]), &E));
  }
  write64(W, I, R);
}

/// As v_div_scale_f32, with the limits of binary64.
void divScale(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, C, R;
  fetch64(W, I, I.Src[0], A);
  fetch64(W, I, I.Src[1], B);
  fetch64(W, I, I.Src[2], C);
  U64 Mask = 0;
  for (unsigned L = 0; L != W.Lanes; ++L) {
    const double S0 = asDouble(A.D[L]), S1 = asDouble(B.D[L]),
                 S2 = asDouble(C.D[L]);
    const double Up = std::ldexp(S0, 128);
    double D = S0;
    bool Scaled = false;
    if (S2 == 0.0 || S1 == 0.0) {
      D = asDouble(0x7ff8000000000000);
    } else if (exponent(C.D[L]) - exponent(B.D[L]) >= 768) {
      Scaled = true;
      if (A.D[L] == B.D[L])
        D = Up;
    } else if (isDenorm(B.D[L])) {
      D = Up;
    } else {
      const bool TinyInverse = isDenorm(asBits(1.0 / S1));
      const bool TinyQuotient = isDenorm(asBits(S2 / S1));
      if (TinyInverse && TinyQuotient) {
        // Only the denominator, so that its reciprocal is normal and the
        // quotient comes out large.
        Scaled = true;
        if (A.D[L] == B.D[L])
          D = std::ldexp(S0, -128);
      } else if (TinyInverse) {
        D = std::ldexp(S0, -128);
      } else if (TinyQuotient) {
        Scaled = true;
        if (A.D[L] == C.D[L])
          D = Up;
      } else if (exponent(C.D[L]) <= 53) {
        D = Up;
      }
    }
    R.D[L] = asBits(D);
    Mask |= U64(Scaled) << L;
  }
  write64(W, I, R);
  writeLaneMask(W, I, I.Dst[1], Mask);
}

void divFmas(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, C, R;
  fetchF64(W, I, 0, A);
  fetchF64(W, I, 1, B);
  fetchF64(W, I, 2, C);
  const U64 Vcc = W.vcc();
  {
    RoundScope Scope(W.Mode.round16_64(), &R);
    allLanes(W, [&](unsigned L) {
      const double X =
          fma(asDouble(A.D[L]), asDouble(B.D[L]), asDouble(C.D[L]));
      const double Back = exponent(C.D[L]) > 1023 ? 0x1p128 : 0x1p-128;
      R.D[L] = asBits((Vcc >> L) & 1 ? X * Back : X);
    });
  }
  finishF64(W, I, R);
}

U64 divFixup(U64 Q, U64 D, U64 N) {
  constexpr U64 SignBit = U64(1) << 63, Inf = U64(0x7ff) << 52,
                QuietBit = U64(1) << 51;
  const U64 Sign = (D ^ N) & SignBit;
  const U64 AbsD = D & ~SignBit, AbsN = N & ~SignBit;
  if (AbsN > Inf)
    return N | QuietBit;
  if (AbsD > Inf)
    return D | QuietBit;
  if ((AbsD == 0 && AbsN == 0) || (AbsD == Inf && AbsN == Inf))
    return SignBit | Inf | QuietBit;
  if (AbsD == 0 || AbsN == Inf)
    return Sign | Inf;
  if (AbsD == Inf || AbsN == 0)
    return Sign;
  if (exponent(N) - exponent(D) < -1075)
    return Sign;
  return Sign | (Q & ~SignBit);
}
void divFixupOp(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, C, R;
  fetch64(W, I, I.Src[0], A);
  fetch64(W, I, I.Src[1], B);
  fetch64(W, I, I.Src[2], C);
  for (unsigned L = 0; L != W.Lanes; ++L)
    R.D[L] = divFixup(A.D[L], B.D[L], C.D[L]);
  finishF64(W, I, R);
}

/// 53 bits of 2/pi starting at a multiple of 53 bits, as a scaled double.
void trigPreop(Wave &W, const Instruction &I) {
  // 2/pi below the binary point, 1201 bits, most significant word first.
  static constexpr U64 TwoOverPi[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
      0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
      0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  LaneBuffer64 A, R;
  LaneBuffer T1;
  fetch64(W, I, I.Src[0], A);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    I32 Shift = I32(B[L] & 0x1f) * 53;
    const I32 E = exponent(A.D[L]);
    if (E > 1077)
      Shift += E - 1077;
    U64 Bits = 0;
    for (int N = 0; N != 53; ++N) {
      const unsigned At = unsigned(Shift + N);
      const U64 Word = At / 64 < 20 ? TwoOverPi[At / 64] : 0;
      Bits = Bits << 1 | ((Word >> (63 - At % 64)) & 1);
    }
    I32 Scale = -53 - Shift;
    if (E >= 1968)
      Scale += 128;
    R.D[L] = asBits(std::ldexp(double(Bits), Scale));
  }
  finishF64(W, I, R);
}

constexpr OpInfo op1(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::F64, Ty::F64}, nullptr, true};
}
constexpr OpInfo op2(const char *Name, Handler Fn, Ty B = Ty::F64) {
  return {Name,    Fn,  OpClass::VectorAlu, 1, {Ty::F64, Ty::F64, B},
          nullptr, true};
}
constexpr OpInfo op3(const char *Name, Handler Fn) {
  return {
      Name,    Fn,  OpClass::VectorAlu, 1, {Ty::F64, Ty::F64, Ty::F64, Ty::F64},
      nullptr, true};
}

constexpr OpInfo Table[] = {
    op2("v_add_f64", double2<add>),
    op2("v_mul_f64", double2<mul>),
    op3("v_fma_f64", double3<fma>),
    op3("v_fmaak_f64", double3<fma>),
    op3("v_fmamk_f64", double3<fma>),
    op2("v_fmac_f64", fmac),
    op2("v_min_f64", double2<minMaxNum<false>>),
    op2("v_max_f64", double2<minMaxNum<true>>),
    op2("v_min_num_f64", double2<minMaxNum<false>>),
    op2("v_max_num_f64", double2<minMaxNum<true>>),
    op2("v_minimum_f64", double2<minMaxNan<false>>),
    op2("v_maximum_f64", double2<minMaxNan<true>>),
    op1("v_floor_f64", double1<floorOp>),
    op1("v_ceil_f64", double1<ceilOp>),
    op1("v_trunc_f64", double1<truncOp>),
    op1("v_rndne_f64", double1<roundEven>),
    op1("v_fract_f64", double1<fract>),
    op1("v_rcp_f64", double1<rcp>),
    op1("v_sqrt_f64", double1<sqrtOp>),
    op1("v_rsq_f64", double1<rsq>),
    op2("v_ldexp_f64", ldexpOp, Ty::B32),
    {"v_frexp_exp_i32_f64",
     frexpExp,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::F64}},
    {"v_frexp_mant_f64", frexpMant, OpClass::VectorAlu, 1, {Ty::F64, Ty::F64}},
    {"v_div_scale_f64",
     divScale,
     OpClass::VectorAlu,
     2,
     {Ty::F64, Ty::Mask, Ty::F64, Ty::F64, Ty::F64}},
    op3("v_div_fmas_f64", divFmas),
    op3("v_div_fixup_f64", divFixupOp),
    op2("v_trig_preop_f64", trigPreop, Ty::B32),
};

} // namespace

OpTable vectorDoubleOps() { return Table; }

#include "HostIsaEnd.h"
