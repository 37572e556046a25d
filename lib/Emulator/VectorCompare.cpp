//===- VectorCompare.cpp - Vector compares --------------------------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

enum class Cond : uint8_t {
  F,
  LT,
  EQ,
  LE,
  GT,
  NE,
  GE,
  T, // integers, floats
  O,
  U,
  NGE,
  NLG,
  NGT,
  NLE,
  NEQ,
  NLT,
  LG,
  TRU
};

template <Cond C, class T>
inline bool holds(T A, T B) {
  switch (C) {
  case Cond::F:
    return false;
  case Cond::T:
  case Cond::TRU:
    return true;
  case Cond::LT:
    return A < B;
  case Cond::EQ:
    return A == B;
  case Cond::LE:
    return A <= B;
  case Cond::GT:
    return A > B;
  case Cond::NE:
  case Cond::NEQ:
    return !(A == B);
  case Cond::GE:
    return A >= B;
  case Cond::LG:
    return A < B || A > B;
  case Cond::O:
    return A == A && B == B;
  case Cond::U:
    return !(A == A && B == B);
  case Cond::NGE:
    return !(A >= B);
  case Cond::NLG:
    return !(A < B || A > B);
  case Cond::NGT:
    return !(A > B);
  case Cond::NLE:
    return !(A <= B);
  case Cond::NLT:
    return !(A < B);
  }
  return false;
}

/// VOPC writes VCC or a scalar pair; v_cmpx also (on GFX12: only) EXEC.
template <bool X>
void finish(Wave &W, const Instruction &I, U64 Bits) {
  if (LLVM_UNLIKELY(I.Mod.Dpp != DppKind::None))
    Bits &= writeMask(W, I);
  if (I.NumDst)
    writeLaneMask(W, I, I.Dst[0], Bits);
  if (X)
    W.setExec(Bits & W.exec());
}

/// 32-bit types, and 16-bit ones that Load turns into them.
template <Cond C, class T, T (*Load)(U32), bool X>
void compare(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = std::is_same_v<T, float> && I.Src[0].Type == Ty::F32
                     ? fetchF32(W, I, 0, T0)
                     : fetch(W, I, I.Src[0], T0);
  const U32 *B = std::is_same_v<T, float> && I.Src[1].Type == Ty::F32
                     ? fetchF32(W, I, 1, T1)
                     : fetch(W, I, I.Src[1], T1);
  allLanes(W, [&](unsigned L) {
    R.D[L] = holds<C>(Load(A[L]), Load(B[L])) ? ~0u : 0;
  });
  finish<X>(W, I, packSigns(W, R.D));
}

template <Cond C, class T, bool X>
void compare64(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B;
  LaneBuffer R;
  fetch64(W, I, I.Src[0], A);
  fetch64(W, I, I.Src[1], B);
  allLanes(W, [&](unsigned L) {
    T P, Q;
    std::memcpy(&P, &A.D[L], 8);
    std::memcpy(&Q, &B.D[L], 8);
    R.D[L] = holds<C>(P, Q) ? ~0u : 0;
  });
  finish<X>(W, I, packSigns(W, R.D));
}

I32 loadI32(U32 A) { return I32(A); }
U32 loadU32(U32 A) { return A; }
I32 loadI16(U32 A) { return int16_t(A); }
U32 loadU16(U32 A) { return A & 0xffff; }
float loadF32(U32 A) { return asFloat(A); }
float loadF16(U32 A) { return halfToFloat(A); }

/// Bits of a class mask, signaling NaN first.
U32 classOf(bool Negative, bool Nan, bool Quiet, bool Inf, bool Zero,
            bool Sub) {
  if (Nan)
    return Quiet ? 2 : 1;
  if (Inf)
    return Negative ? 1u << 2 : 1u << 9;
  if (Zero)
    return Negative ? 1u << 5 : 1u << 6;
  if (Sub)
    return Negative ? 1u << 4 : 1u << 7;
  return Negative ? 1u << 3 : 1u << 8;
}
U32 class32(U32 X) {
  const U32 E = (X >> 23) & 0xff, M = X & 0x7fffff;
  return classOf(X >> 31, E == 255 && M, M >> 22, E == 255, E == 0 && !M,
                 E == 0);
}
U32 class16(U32 X) {
  const U32 E = (X >> 10) & 0x1f, M = X & 0x3ff;
  return classOf((X >> 15) & 1, E == 31 && M, M >> 9, E == 31, E == 0 && !M,
                 E == 0);
}
U32 class64(U64 X) {
  const U64 E = (X >> 52) & 0x7ff, M = X & 0xfffffffffffff;
  return classOf(X >> 63, E == 2047 && M, M >> 51, E == 2047, E == 0 && !M,
                 E == 0);
}
template <U32 (*F)(U32), bool X>
void testClass(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  U64 Bits = 0;
  for (unsigned L = 0; L != W.Lanes; ++L)
    Bits |= U64((F(A[L]) & B[L]) != 0) << L;
  finish<X>(W, I, Bits);
}
template <bool X>
void testClass64(Wave &W, const Instruction &I) {
  LaneBuffer64 A;
  LaneBuffer T1;
  fetch64(W, I, I.Src[0], A);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  U64 Bits = 0;
  for (unsigned L = 0; L != W.Lanes; ++L)
    Bits |= U64((class64(A.D[L]) & B[L]) != 0) << L;
  finish<X>(W, I, Bits);
}

constexpr OpInfo op(const char *Name, Handler Fn, Ty A, Ty B) {
  // clamp on a compare asks for signaling, which only affects exceptions.
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::Mask, A, B}, nullptr, true};
}

#define ONE_INT(Name, C)                                                       \
  op("v_cmp_" Name "_i32", compare<C, I32, loadI32, false>, Ty::B32, Ty::B32), \
      op("v_cmp_" Name "_u32", compare<C, U32, loadU32, false>, Ty::B32,       \
         Ty::B32),                                                             \
      op("v_cmp_" Name "_i16", compare<C, I32, loadI16, false>, Ty::B16,       \
         Ty::B16),                                                             \
      op("v_cmp_" Name "_u16", compare<C, U32, loadU16, false>, Ty::B16,       \
         Ty::B16),                                                             \
      op("v_cmp_" Name "_i64", compare64<C, I64, false>, Ty::I64, Ty::I64),    \
      op("v_cmp_" Name "_u64", compare64<C, U64, false>, Ty::B64, Ty::B64),    \
      op("v_cmpx_" Name "_i32", compare<C, I32, loadI32, true>, Ty::B32,       \
         Ty::B32),                                                             \
      op("v_cmpx_" Name "_u32", compare<C, U32, loadU32, true>, Ty::B32,       \
         Ty::B32),                                                             \
      op("v_cmpx_" Name "_i16", compare<C, I32, loadI16, true>, Ty::B16,       \
         Ty::B16),                                                             \
      op("v_cmpx_" Name "_u16", compare<C, U32, loadU16, true>, Ty::B16,       \
         Ty::B16),                                                             \
      op("v_cmpx_" Name "_i64", compare64<C, I64, true>, Ty::I64, Ty::I64),    \
      op("v_cmpx_" Name "_u64", compare64<C, U64, true>, Ty::B64, Ty::B64)

#define ONE_FLOAT(Name, C)                                                     \
  op("v_cmp_" Name "_f32", compare<C, float, loadF32, false>, Ty::F32,         \
     Ty::F32),                                                                 \
      op("v_cmp_" Name "_f16", compare<C, float, loadF16, false>, Ty::F16,     \
         Ty::F16),                                                             \
      op("v_cmp_" Name "_f64", compare64<C, double, false>, Ty::F64, Ty::F64), \
      op("v_cmpx_" Name "_f32", compare<C, float, loadF32, true>, Ty::F32,     \
         Ty::F32),                                                             \
      op("v_cmpx_" Name "_f16", compare<C, float, loadF16, true>, Ty::F16,     \
         Ty::F16),                                                             \
      op("v_cmpx_" Name "_f64", compare64<C, double, true>, Ty::F64, Ty::F64)

constexpr OpInfo Table[] = {
    ONE_INT("f", Cond::F),
    ONE_INT("lt", Cond::LT),
    ONE_INT("eq", Cond::EQ),
    ONE_INT("le", Cond::LE),
    ONE_INT("gt", Cond::GT),
    ONE_INT("ne", Cond::NE),
    ONE_INT("ge", Cond::GE),
    ONE_INT("t", Cond::T),
    ONE_FLOAT("f", Cond::F),
    ONE_FLOAT("lt", Cond::LT),
    ONE_FLOAT("eq", Cond::EQ),
    ONE_FLOAT("le", Cond::LE),
    ONE_FLOAT("gt", Cond::GT),
    ONE_FLOAT("lg", Cond::LG),
    ONE_FLOAT("ge", Cond::GE),
    ONE_FLOAT("o", Cond::O),
    ONE_FLOAT("u", Cond::U),
    ONE_FLOAT("nge", Cond::NGE),
    ONE_FLOAT("nlg", Cond::NLG),
    ONE_FLOAT("ngt", Cond::NGT),
    ONE_FLOAT("nle", Cond::NLE),
    ONE_FLOAT("neq", Cond::NEQ),
    ONE_FLOAT("nlt", Cond::NLT),
    ONE_FLOAT("tru", Cond::TRU),
    op("v_cmp_class_f32", testClass<class32, false>, Ty::F32, Ty::B32),
    op("v_cmp_class_f16", testClass<class16, false>, Ty::F16, Ty::B32),
    op("v_cmp_class_f64", testClass64<false>, Ty::F64, Ty::B32),
    op("v_cmpx_class_f32", testClass<class32, true>, Ty::F32, Ty::B32),
    op("v_cmpx_class_f16", testClass<class16, true>, Ty::F16, Ty::B32),
    op("v_cmpx_class_f64", testClass64<true>, Ty::F64, Ty::B32),
};

} // namespace

OpTable vectorCompareOps() { return Table; }

#include "HostIsaEnd.h"
