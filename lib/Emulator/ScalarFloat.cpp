//===- ScalarFloat.cpp - Scalar floating-point instructions ---------------===//

#include "HalfFloat.h"
#include "Operands.h"
#include "Ops.h"
#include "PagedAttn/Emulator/Formats.h"
#include <cmath>

using namespace llvm;

namespace pagedattn::emu {

namespace {

/// Value of a single or half operand.
template <bool Half>
float value(Wave &W, uint32_t Bits) {
  if (Half) {
    if (!W.Mode.denormIn16_64() && (Bits & 0x7c00) == 0)
      Bits &= 0x8000;
    return halfToFloat(Bits & 0xffff);
  }
  if (!W.Mode.denormIn32() && (Bits & 0x7f800000) == 0)
    Bits &= 0x80000000;
  return asFloat(Bits);
}
template <bool Half>
float source(Wave &W, const Instruction &I, unsigned N) {
  return value<Half>(W, readScalar32(W, I, I.Src[N]));
}

/// Rounds a value that is exact or has been rounded to single.
template <bool Half>
void write(Wave &W, const Instruction &I, double X) {
  uint32_t Bits;
  if (Half) {
    EncodeOptions Options;
    Options.Mode = Rounding(W.Mode.round16_64());
    Options.Saturate = W.Mode.fp16Ovfl();
    Bits = encode(NumFormat::F16, X, Options);
    if (!W.Mode.denormOut16_64() && (Bits & 0x7c00) == 0)
      Bits &= 0x8000;
  } else {
    Bits = asBits(float(X));
    if (!W.Mode.denormOut32() && (Bits & 0x7f800000) == 0)
      Bits &= 0x80000000;
  }
  writeScalar32(W, I, I.Dst[0], Bits);
}

/// Host rounding while a single result is computed.
class HostRounding {
public:
  explicit HostRounding(unsigned Mode) : On(Mode != 0) {
    if (On)
      setHostRounding(Mode, this);
  }
  ~HostRounding() {
    if (On)
      setHostRounding(0, this);
  }

private:
  bool On;
};

using Fn2 = double (*)(double, double);

/// A double holds the product of two singles exactly; sums round to double
/// first, which the directed modes do in their direction as well.
template <bool Half, Fn2 F>
void binary(Wave &W, const Instruction &I) {
  HostRounding Scope(Half ? W.Mode.round16_64() : W.Mode.round32());
  write<Half>(W, I, F(source<Half>(W, I, 0), source<Half>(W, I, 1)));
}
double add(double A, double B) { return A + B; }
double sub(double A, double B) { return A - B; }
double mul(double A, double B) { return A * B; }

template <bool Half, bool Max, bool NanWins>
void minMax(Wave &W, const Instruction &I) {
  const float A = source<Half>(W, I, 0), B = source<Half>(W, I, 1);
  float R;
  if (A != A || B != B)
    R = NanWins ? (A != A ? A : B) : (A != A ? B : A);
  else if (A == B)
    R = std::signbit(A) == Max ? B : A;
  else
    R = (A > B) == Max ? A : B;
  write<Half>(W, I, R);
}

enum class Addend { Dst, Third };

template <bool Half, Addend From>
void fma(Wave &W, const Instruction &I) {
  const float A = source<Half>(W, I, 0);
  const float B = source<Half>(W, I, 1);
  const float C = From == Addend::Dst
                      ? value<Half>(W, readScalar32(W, I, I.Dst[0]))
                      : source<Half>(W, I, 2);
  HostRounding Scope(Half ? W.Mode.round16_64() : W.Mode.round32());
  if (Half)
    write<Half>(W, I, double(A) * double(B) + double(C));
  else
    write<Half>(W, I, std::fma(A, B, C));
}

template <bool Half, float (*F)(float)>
void unary(Wave &W, const Instruction &I) {
  write<Half>(W, I, F(source<Half>(W, I, 0)));
}
float ceilOp(float A) { return std::ceil(A); }
float floorOp(float A) { return std::floor(A); }
float truncOp(float A) { return std::trunc(A); }
float nearOp(float A) { return std::nearbyint(A); }

void f32FromI32(Wave &W, const Instruction &I) {
  HostRounding Scope(W.Mode.round32());
  write<false>(W, I, float(int32_t(readScalar32(W, I, I.Src[0]))));
}
void f32FromU32(Wave &W, const Instruction &I) {
  HostRounding Scope(W.Mode.round32());
  write<false>(W, I, float(readScalar32(W, I, I.Src[0])));
}
void i32FromF32(Wave &W, const Instruction &I) {
  double X = source<false>(W, I, 0);
  X = X != X ? 0 : std::min(std::max(X, -2147483648.0), 2147483647.0);
  writeScalar32(W, I, I.Dst[0], uint32_t(int32_t(X)));
}
void u32FromF32(Wave &W, const Instruction &I) {
  double X = source<false>(W, I, 0);
  X = X != X ? 0 : std::min(std::max(X, 0.0), 4294967295.0);
  writeScalar32(W, I, I.Dst[0], uint32_t(X));
}
void f16FromF32(Wave &W, const Instruction &I) {
  write<true>(W, I, source<false>(W, I, 0));
}
template <bool High>
void f32FromF16(Wave &W, const Instruction &I) {
  const uint32_t X = readScalar32(W, I, I.Src[0]);
  write<false>(W, I, value<true>(W, High ? X >> 16 : X));
}
void packRtz(Wave &W, const Instruction &I) {
  const uint32_t Low = floatToHalfRtz(source<false>(W, I, 0));
  const uint32_t High = floatToHalfRtz(source<false>(W, I, 1));
  writeScalar32(W, I, I.Dst[0], Low | High << 16);
}

enum class Cond { LT, EQ, LE, GT, LG, GE, O, U };

template <bool Half, Cond C, bool Not>
void compare(Wave &W, const Instruction &I) {
  const float A = source<Half>(W, I, 0), B = source<Half>(W, I, 1);
  bool R = false;
  switch (C) {
  case Cond::LT:
    R = A < B;
    break;
  case Cond::EQ:
    R = A == B;
    break;
  case Cond::LE:
    R = A <= B;
    break;
  case Cond::GT:
    R = A > B;
    break;
  case Cond::LG:
    R = A < B || A > B;
    break;
  case Cond::GE:
    R = A >= B;
    break;
  case Cond::O:
    R = A == A && B == B;
    break;
  case Cond::U:
    R = A != A || B != B;
    break;
  }
  W.Scc = R != Not;
}

constexpr OpInfo op(const char *Name, Handler Fn, Ty T, unsigned Sources) {
  return {Name,
          Fn,
          OpClass::ScalarAlu,
          1,
          {T, T, Sources > 1 ? T : Ty::None, Sources > 2 ? T : Ty::None}};
}
constexpr OpInfo cvt(const char *Name, Handler Fn, Ty Dst, Ty Src) {
  return {Name, Fn, OpClass::ScalarAlu, 1, {Dst, Src}};
}
constexpr OpInfo cmp(const char *Name, Handler Fn, Ty T) {
  return {Name, Fn, OpClass::ScalarAlu, 0, {T, T}};
}

#define BINARY(Name, F)                                                        \
  op("s_" Name "_f32", binary<false, F>, Ty::F32, 2),                          \
      op("s_" Name "_f16", binary<true, F>, Ty::F16, 2)
#define UNARY(Name, F)                                                         \
  op("s_" Name "_f32", unary<false, F>, Ty::F32, 1),                           \
      op("s_" Name "_f16", unary<true, F>, Ty::F16, 1)
#define MINMAX(Name, Max, Nan)                                                 \
  op("s_" Name "_f32", minMax<false, Max, Nan>, Ty::F32, 2),                   \
      op("s_" Name "_f16", minMax<true, Max, Nan>, Ty::F16, 2)
#define COMPARE(Name, C, Not)                                                  \
  cmp("s_cmp_" Name "_f32", compare<false, C, Not>, Ty::F32),                  \
      cmp("s_cmp_" Name "_f16", compare<true, C, Not>, Ty::F16)

constexpr OpInfo Table[] = {
    BINARY("add", add),
    BINARY("sub", sub),
    BINARY("mul", mul),
    MINMAX("min_num", false, false),
    MINMAX("max_num", true, false),
    MINMAX("minimum", false, true),
    MINMAX("maximum", true, true),
    op("s_fmac_f32", fma<false, Addend::Dst>, Ty::F32, 2),
    op("s_fmac_f16", fma<true, Addend::Dst>, Ty::F16, 2),
    op("s_fmaak_f32", fma<false, Addend::Third>, Ty::F32, 3),
    op("s_fmamk_f32", fma<false, Addend::Third>, Ty::F32, 3),
    UNARY("ceil", ceilOp),
    UNARY("floor", floorOp),
    UNARY("trunc", truncOp),
    UNARY("rndne", nearOp),
    cvt("s_cvt_f32_i32", f32FromI32, Ty::F32, Ty::B32),
    cvt("s_cvt_f32_u32", f32FromU32, Ty::F32, Ty::B32),
    cvt("s_cvt_i32_f32", i32FromF32, Ty::B32, Ty::F32),
    cvt("s_cvt_u32_f32", u32FromF32, Ty::B32, Ty::F32),
    cvt("s_cvt_f16_f32", f16FromF32, Ty::F16, Ty::F32),
    cvt("s_cvt_f32_f16", f32FromF16<false>, Ty::F32, Ty::F16),
    cvt("s_cvt_hi_f32_f16", f32FromF16<true>, Ty::F32, Ty::F16),
    op("s_cvt_pk_rtz_f16_f32", packRtz, Ty::F32, 2),
    COMPARE("lt", Cond::LT, false),
    COMPARE("eq", Cond::EQ, false),
    COMPARE("le", Cond::LE, false),
    COMPARE("gt", Cond::GT, false),
    COMPARE("lg", Cond::LG, false),
    COMPARE("ge", Cond::GE, false),
    COMPARE("o", Cond::O, false),
    COMPARE("u", Cond::U, false),
    COMPARE("nge", Cond::GE, true),
    COMPARE("nlg", Cond::LG, true),
    COMPARE("ngt", Cond::GT, true),
    COMPARE("nle", Cond::LE, true),
    COMPARE("neq", Cond::EQ, true),
    COMPARE("nlt", Cond::LT, true),
};

} // namespace

OpTable scalarFloatOps() { return Table; }

} // namespace pagedattn::emu
