//===- VectorInt64.cpp - 64-bit integer vector instructions ---------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

template <U64 (*F)(U64)>
void long1(Wave &W, const Instruction &I) {
  LaneBuffer64 A, R;
  fetch64(W, I, I.Src[0], A);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A.D[L]); });
  write64(W, I, R);
}
template <U64 (*F)(U64, U64)>
void long2(Wave &W, const Instruction &I) {
  LaneBuffer64 A, B, R;
  fetch64(W, I, I.Src[0], A);
  fetch64(W, I, I.Src[1], B);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A.D[L], B.D[L]); });
  write64(W, I, R);
}
template <U64 (*F)(U64, U64), U64 (*Saturating)(U64, U64)>
void long2Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    long2<Saturating>(W, I);
  else
    long2<F>(W, I);
}
/// The shift amount comes first and is 32 bits wide.
template <U64 (*F)(U32, U64)>
void shiftRev(Wave &W, const Instruction &I) {
  LaneBuffer T0;
  LaneBuffer64 B, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  fetch64(W, I, I.Src[1], B);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L], B.D[L]); });
  write64(W, I, R);
}

U64 mov(U64 A) { return A; }
U64 add(U64 A, U64 B) { return A + B; }
U64 sub(U64 A, U64 B) { return A - B; }
U64 addSat(U64 A, U64 B) { return A + B < A ? ~U64(0) : A + B; }
U64 subSat(U64 A, U64 B) { return A < B ? 0 : A - B; }
U64 mul(U64 A, U64 B) { return A * B; }
U64 minU(U64 A, U64 B) { return A < B ? A : B; }
U64 maxU(U64 A, U64 B) { return A > B ? A : B; }
U64 minI(U64 A, U64 B) { return I64(A) < I64(B) ? A : B; }
U64 maxI(U64 A, U64 B) { return I64(A) > I64(B) ? A : B; }
U64 shl(U32 A, U64 B) { return B << (A & 63); }
U64 shr(U32 A, U64 B) { return B >> (A & 63); }
U64 ashr(U32 A, U64 B) { return U64(I64(B) >> (A & 63)); }

void shlAdd(Wave &W, const Instruction &I) {
  LaneBuffer T1;
  LaneBuffer64 A, C, R;
  fetch64(W, I, I.Src[0], A);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  fetch64(W, I, I.Src[2], C);
  // Shift amounts above 4 are undefined in the manuals; three bits count.
  allLanes(W, [&](unsigned L) { R.D[L] = (A.D[L] << (B[L] & 7)) + C.D[L]; });
  write64(W, I, R);
}

template <bool Signed, bool CarryOut>
void mad(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1;
  LaneBuffer64 C, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  fetch64(W, I, I.Src[2], C);
  U64 Carry = 0;
  allLanes(W, [&](unsigned L) {
    const U64 P = Signed ? U64(I64(I32(A[L])) * I32(B[L])) : U64(A[L]) * B[L];
    R.D[L] = P + C.D[L];
  });
  if (CarryOut)
    for (unsigned L = 0; L != W.Lanes; ++L) {
      const U64 P = R.D[L] - C.D[L];
      const bool Out =
          Signed ? ((P ^ R.D[L]) & (C.D[L] ^ R.D[L])) >> 63 : R.D[L] < P;
      Carry |= U64(Out) << L;
    }
  if (I.Mod.Clamp) {
    for (unsigned L = 0; L != W.Lanes; ++L) {
      const U64 P = R.D[L] - C.D[L];
      if (Signed) {
        if (((P ^ R.D[L]) & (C.D[L] ^ R.D[L])) >> 63)
          R.D[L] = U64(INT64_MAX) + (P >> 63);
      } else if (R.D[L] < P) {
        R.D[L] = ~U64(0);
      }
    }
  }
  write64(W, I, R);
  if (CarryOut)
    writeLaneMask(W, I, I.Dst[1], Carry);
}

constexpr OpInfo op2(const char *Name, Handler Fn, bool Clamps = false) {
  return {Name,    Fn,    OpClass::VectorAlu, 1, {Ty::B64, Ty::B64, Ty::B64},
          nullptr, Clamps};
}
constexpr OpInfo shiftOp(const char *Name, Handler Fn, Ty Src = Ty::B64) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::B64, Ty::B32, Src}};
}
constexpr OpInfo madCarry(const char *Name, Handler Fn, Ty Addend) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          2,
          {Ty::B64, Ty::Mask, Ty::B32, Ty::B32, Addend},
          nullptr,
          true};
}
constexpr OpInfo madPlain(const char *Name, Handler Fn, Ty Addend) {
  return {
      Name,    Fn,  OpClass::VectorAlu, 1, {Ty::B64, Ty::B32, Ty::B32, Addend},
      nullptr, true};
}

constexpr OpInfo Table[] = {
    {"v_mov_b64", long1<mov>, OpClass::VectorAlu, 1, {Ty::B64, Ty::B64}},
    op2("v_add_nc_u64", long2Sat<add, addSat>, true),
    op2("v_sub_nc_u64", long2Sat<sub, subSat>, true),
    op2("v_mul_u64", long2<mul>),
    op2("v_min_u64", long2<minU>),
    op2("v_max_u64", long2<maxU>),
    op2("v_min_i64", long2<minI>),
    op2("v_max_i64", long2<maxI>),
    shiftOp("v_lshlrev_b64", shiftRev<shl>),
    shiftOp("v_lshrrev_b64", shiftRev<shr>),
    shiftOp("v_ashrrev_i64", shiftRev<ashr>, Ty::I64),
    {"v_lshl_add_u64",
     shlAdd,
     OpClass::VectorAlu,
     1,
     {Ty::B64, Ty::B64, Ty::B32, Ty::B64}},
    madCarry("v_mad_u64_u32", mad<false, true>, Ty::B64),
    madCarry("v_mad_co_u64_u32", mad<false, true>, Ty::B64),
    madCarry("v_mad_i64_i32", mad<true, true>, Ty::I64),
    madCarry("v_mad_co_i64_i32", mad<true, true>, Ty::I64),
    madPlain("v_mad_nc_u64_u32", mad<false, false>, Ty::B64),
    madPlain("v_mad_nc_i64_i32", mad<true, false>, Ty::I64),
};

} // namespace

OpTable vectorInt64Ops() { return Table; }

#include "HostIsaEnd.h"
