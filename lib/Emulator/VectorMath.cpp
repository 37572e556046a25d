//===- VectorMath.cpp - Transcendental vector instructions ----------------===//
//
// Evaluated in double with polynomials, so that the single result is within
// about half a unit in the last place. The single-precision instructions of
// the hardware flush denormal sources and results whatever MODE says.
//
//===----------------------------------------------------------------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"
#include "PagedAttn/Emulator/Formats.h"

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

#include "HalfOps.h"

constexpr double RoundMagic = 6755399441055744.0; // 1.5 * 2^52

double exp2Double(float A) {
  double X = A;
  X = X > 1100.0 ? 1100.0 : X < -1000.0 ? -1000.0 : X;
  const double Shifted = X + RoundMagic;
  const double N = Shifted - RoundMagic;
  const double F = (X - N) * 0.69314718055994530942;
  double P = 1.0 / 362880.0;
  P = P * F + 1.0 / 40320.0;
  P = P * F + 1.0 / 5040.0;
  P = P * F + 1.0 / 720.0;
  P = P * F + 1.0 / 120.0;
  P = P * F + 1.0 / 24.0;
  P = P * F + 1.0 / 6.0;
  P = P * F + 0.5;
  P = P * F + 1.0;
  P = P * F + 1.0;
  // The integer part sits in the low bits of the shifted value.
  const U64 Exponent = asBits(Shifted) << 52;
  return asDouble(asBits(P) + Exponent);
}

float exp2Op(float A) {
  const float R = float(exp2Double(A));
  return A != A ? A : R;
}

float log2Op(float A) {
  const double X = A;
  const U64 Bits = asBits(X);
  // Mantissa in [sqrt(1/2), sqrt(2)), exponent rounded to match.
  const U64 Offset = Bits - 0x3fe6a09e667f3bcdu;
  const I64 E = I64(Offset) >> 52;
  const double M = asDouble(Bits - (U64(E) << 52));
  const double S = (M - 1.0) / (M + 1.0);
  const double S2 = S * S;
  double P = 1.0 / 15.0;
  P = P * S2 + 1.0 / 13.0;
  P = P * S2 + 1.0 / 11.0;
  P = P * S2 + 1.0 / 9.0;
  P = P * S2 + 1.0 / 7.0;
  P = P * S2 + 1.0 / 5.0;
  P = P * S2 + 1.0 / 3.0;
  P = P * S2 + 1.0;
  float R = float(double(E) + P * S * 2.88539008177792681472);
  R = A == asFloat(0x7f800000) ? A : R;
  R = A == 0.0f ? asFloat(0xff800000) : R;
  R = A < 0.0f ? asFloat(0x7fc00000) : R;
  return A != A ? A : R;
}

/// Sine of a number of turns.
double sinTurns(double X) {
  double F = X - ((X + RoundMagic) - RoundMagic); // [-1/2, 1/2]
  F = F > 0.25 ? 0.5 - F : F;
  F = F < -0.25 ? -0.5 - F : F;
  const double T = F * 6.28318530717958647693;
  const double T2 = T * T;
  double P = -1.0 / 1307674368000.0;
  P = P * T2 + 1.0 / 6227020800.0;
  P = P * T2 - 1.0 / 39916800.0;
  P = P * T2 + 1.0 / 362880.0;
  P = P * T2 - 1.0 / 5040.0;
  P = P * T2 + 1.0 / 120.0;
  P = P * T2 - 1.0 / 6.0;
  P = P * T2 + 1.0;
  return P * T;
}
/// The hardware's domain is 256 turns to either side; beyond is turn zero.
float inDomain(float A) { return __builtin_fabsf(A) > 256.0f ? 0.0f : A; }
bool isFinite(float A) { return __builtin_fabsf(A) < asFloat(0x7f800000); }
float sinOp(float A) {
  const float R = float(sinTurns(inDomain(A)));
  return isFinite(A) ? R : asFloat(0x7fc00000);
}
float cosOp(float A) {
  const float R = float(sinTurns(double(inDomain(A)) + 0.25));
  return isFinite(A) ? R : asFloat(0x7fc00000);
}

float rcpOp(float A) { return 1.0f / A; }
float sqrtOp(float A) { return __builtin_sqrtf(A); }
float rsqOp(float A) {
  // -0 gives -inf, as the reciprocal of the root of -0 does.
  return float(1.0 / __builtin_sqrt(double(A)));
}
float tanhOp(float A) {
  const double X = A;
  const double X2 = X * X;
  const double Small =
      X * (1.0 + X2 * (-1.0 / 3.0 + X2 * (2.0 / 15.0 + X2 * (-17.0 / 315.0))));
  const double C = X > 20.0 ? 20.0 : X < -20.0 ? -20.0 : X;
  const double E = exp2Double(float(C * 2.88539008177792681472));
  // The argument of exp2 was rounded to single; correct the exponential.
  const double Err =
      C * 2.88539008177792681472 - double(float(C * 2.88539008177792681472));
  const double Exact = E * (1.0 + Err * 0.69314718055994530942);
  const double Large = 1.0 - 2.0 / (Exact + 1.0);
  const float R = float(__builtin_fabs(X) < 0.04 ? Small : Large);
  return A != A ? A : R;
}

/// Flushes denormal sources and results.
template <float (*F)(float)>
void flushed(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  allLanes(W, [&](unsigned L) {
    R.D[L] = flush32(asBits(F(asFloat(flush32(A[L])))));
  });
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

constexpr OpInfo single(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::F32, Ty::F32}, nullptr, true};
}
constexpr OpInfo half(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::F16, Ty::F16}, nullptr, true};
}
constexpr OpInfo bfloat(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::BF16, Ty::BF16}, nullptr, true};
}

#define MATH(Name, F)                                                          \
  single("v_" Name "_f32", flushed<F>), half("v_" Name "_f16", half1<F>),      \
      bfloat("v_" Name "_bf16", half1<F, Narrow::Bfloat>)

constexpr OpInfo Table[] = {
    MATH("exp", exp2Op),
    MATH("log", log2Op),
    MATH("sin", sinOp),
    MATH("cos", cosOp),
    MATH("rcp", rcpOp),
    MATH("sqrt", sqrtOp),
    MATH("rsq", rsqOp),
    MATH("tanh", tanhOp),
    single("v_rcp_iflag_f32", flushed<rcpOp>),
    single("v_exp_legacy_f32", flushed<exp2Op>),
    single("v_log_legacy_f32", flushed<log2Op>),
    // The pseudo-scalar forms have a scalar destination.
    single("v_s_exp_f32", flushed<exp2Op>),
    single("v_s_log_f32", flushed<log2Op>),
    single("v_s_rcp_f32", flushed<rcpOp>),
    single("v_s_rsq_f32", flushed<rsqOp>),
    single("v_s_sqrt_f32", flushed<sqrtOp>),
    half("v_s_exp_f16", half1<exp2Op>),
    half("v_s_log_f16", half1<log2Op>),
    half("v_s_rcp_f16", half1<rcpOp>),
    half("v_s_rsq_f16", half1<rsqOp>),
    half("v_s_sqrt_f16", half1<sqrtOp>),
};

} // namespace

OpTable vectorMathOps() { return Table; }

#include "HostIsaEnd.h"
