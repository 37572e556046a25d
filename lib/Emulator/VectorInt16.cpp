//===- VectorInt16.cpp - 16-bit integer vector instructions ---------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

U32 u16(U32 X) { return X & 0xffff; }
I32 i16(U32 X) { return I32(int16_t(X)); }
U32 satU(I32 X) { return U32(X < 0 ? 0 : X > 0xffff ? 0xffff : X); }
U32 satI(I32 X) { return U32(X < -0x8000 ? -0x8000 : X > 0x7fff ? 0x7fff : X); }

U32 mov(U32 A) { return A; }
U32 notOp(U32 A) { return ~A; }
U32 andOp(U32 A, U32 B) { return A & B; }
U32 orOp(U32 A, U32 B) { return A | B; }
U32 xorOp(U32 A, U32 B) { return A ^ B; }
U32 add(U32 A, U32 B) { return A + B; }
U32 sub(U32 A, U32 B) { return A - B; }
U32 subRev(U32 A, U32 B) { return B - A; }
U32 addSatU(U32 A, U32 B) { return satU(I32(u16(A) + u16(B))); }
U32 subSatU(U32 A, U32 B) { return satU(I32(u16(A)) - I32(u16(B))); }
U32 subRevSatU(U32 A, U32 B) { return subSatU(B, A); }
U32 addSatI(U32 A, U32 B) { return satI(i16(A) + i16(B)); }
U32 subSatI(U32 A, U32 B) { return satI(i16(A) - i16(B)); }
U32 mulLow(U32 A, U32 B) { return A * B; }
U32 mad(U32 A, U32 B, U32 C) { return A * B + C; }
U32 madSatU(U32 A, U32 B, U32 C) {
  const U64 R = U64(u16(A)) * u16(B) + u16(C);
  return R > 0xffff ? 0xffff : U32(R);
}
U32 madSatI(U32 A, U32 B, U32 C) {
  const I64 R = I64(i16(A)) * i16(B) + i16(C);
  return U32(R > 0x7fff ? 0x7fff : R < -0x8000 ? -0x8000 : R);
}
U32 shlRev(U32 A, U32 B) { return B << (A & 15); }
U32 shrRev(U32 A, U32 B) { return u16(B) >> (A & 15); }
U32 ashrRev(U32 A, U32 B) { return U32(i16(B) >> (A & 15)); }
U32 minU(U32 A, U32 B) { return u16(A) < u16(B) ? A : B; }
U32 maxU(U32 A, U32 B) { return u16(A) > u16(B) ? A : B; }
U32 minI(U32 A, U32 B) { return i16(A) < i16(B) ? A : B; }
U32 maxI(U32 A, U32 B) { return i16(A) > i16(B) ? A : B; }
U32 min3U(U32 A, U32 B, U32 C) { return minU(minU(A, B), C); }
U32 max3U(U32 A, U32 B, U32 C) { return maxU(maxU(A, B), C); }
U32 min3I(U32 A, U32 B, U32 C) { return minI(minI(A, B), C); }
U32 max3I(U32 A, U32 B, U32 C) { return maxI(maxI(A, B), C); }
U32 med3U(U32 A, U32 B, U32 C) { return maxU(minU(A, B), minU(maxU(A, B), C)); }
U32 med3I(U32 A, U32 B, U32 C) { return maxI(minI(A, B), minI(maxI(A, B), C)); }
U32 satPackU8(U32 A) {
  auto One = [](I32 X) { return U32(X < 0 ? 0 : X > 255 ? 255 : X); };
  return One(i16(A)) | One(i16(A >> 16)) << 8;
}
/// Four signed or unsigned bytes, saturated to nibbles.
U32 satPackI4(U32 A) {
  U32 R = 0;
  for (unsigned N = 0; N != 4; ++N) {
    const I32 X = int8_t(A >> (8 * N));
    R |= (U32(X > 7 ? 7 : X < -8 ? -8 : X) & 0xf) << (4 * N);
  }
  return R;
}
U32 satPackU4(U32 A) {
  U32 R = 0;
  for (unsigned N = 0; N != 4; ++N) {
    const U32 X = (A >> (8 * N)) & 0xff;
    R |= (X > 15 ? 15 : X) << (4 * N);
  }
  return R;
}
U32 signExtend(U32 A) { return U32(i16(A)); }
U32 zeroExtend(U32 A) { return u16(A); }

constexpr OpInfo op1(const char *Name, Handler Fn, Ty Dst = Ty::B16,
                     Ty Src = Ty::B16) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Dst, Src}};
}
constexpr OpInfo op2(const char *Name, Handler Fn, bool Clamps = false) {
  return {Name,    Fn,    OpClass::VectorAlu, 1, {Ty::B16, Ty::B16, Ty::B16},
          nullptr, Clamps};
}
constexpr OpInfo op3(const char *Name, Handler Fn, bool Clamps = false) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          1,
          {Ty::B16, Ty::B16, Ty::B16, Ty::B16},
          nullptr,
          Clamps};
}

constexpr OpInfo Table[] = {
    op1("v_mov_b16", short1<mov>),
    op1("v_not_b16", short1<notOp>),
    op2("v_and_b16", short2<andOp>),
    op2("v_or_b16", short2<orOp>),
    op2("v_xor_b16", short2<xorOp>),
    op2("v_add_u16", short2Sat<add, addSatU>, true),
    op2("v_add_nc_u16", short2Sat<add, addSatU>, true),
    op2("v_add_i16", short2Sat<add, addSatI, true>, true),
    op2("v_add_nc_i16", short2Sat<add, addSatI>, true),
    op2("v_sub_u16", short2Sat<sub, subSatU>, true),
    op2("v_sub_nc_u16", short2Sat<sub, subSatU>, true),
    op2("v_sub_i16", short2Sat<sub, subSatI, true>, true),
    op2("v_sub_nc_i16", short2Sat<sub, subSatI>, true),
    op2("v_subrev_u16", short2Sat<subRev, subRevSatU>, true),
    op2("v_mul_lo_u16", short2<mulLow>),
    op3("v_mad_u16", short3Sat<mad, madSatU, true>, true),
    op3("v_mad_i16", short3Sat<mad, madSatI, true>, true),
    op3("v_mad_legacy_u16", short3Sat<mad, madSatU>, true),
    op3("v_mad_legacy_i16", short3Sat<mad, madSatI>, true),
    op2("v_lshlrev_b16", short2<shlRev>),
    op2("v_lshrrev_b16", short2<shrRev>),
    op2("v_ashrrev_i16", short2<ashrRev>),
    op2("v_min_u16", short2<minU>),
    op2("v_max_u16", short2<maxU>),
    op2("v_min_i16", short2<minI>),
    op2("v_max_i16", short2<maxI>),
    op3("v_min3_u16", short3<min3U, true>),
    op3("v_max3_u16", short3<max3U, true>),
    op3("v_min3_i16", short3<min3I, true>),
    op3("v_max3_i16", short3<max3I, true>),
    op3("v_med3_u16", short3<med3U, true>),
    op3("v_med3_i16", short3<med3I, true>),
    op1("v_sat_pk_u8_i16", short1<satPackU8>, Ty::B16, Ty::B32),
    op1("v_sat_pk4_i4_i8", short1<satPackI4>, Ty::B16, Ty::B32),
    op1("v_sat_pk4_u4_u8", short1<satPackU4>, Ty::B16, Ty::B32),
    op1("v_cvt_i32_i16", int1<signExtend>, Ty::B32, Ty::B16),
    op1("v_cvt_u32_u16", int1<zeroExtend>, Ty::B32, Ty::B16),
};

} // namespace

OpTable vectorInt16Ops() { return Table; }

#include "HostIsaEnd.h"
