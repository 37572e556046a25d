//===- VectorInt.cpp - 32-bit integer vector instructions -----------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

//===----------------------------------------------------------------------===//
// Moves and logic
//===----------------------------------------------------------------------===//

U32 mov(U32 A) { return A; }
U32 notOp(U32 A) { return ~A; }
U32 andOp(U32 A, U32 B) { return A & B; }
U32 orOp(U32 A, U32 B) { return A | B; }
U32 xorOp(U32 A, U32 B) { return A ^ B; }
U32 xnorOp(U32 A, U32 B) { return ~(A ^ B); }
U32 andOr(U32 A, U32 B, U32 C) { return (A & B) | C; }
U32 or3(U32 A, U32 B, U32 C) { return A | B | C; }
U32 xor3(U32 A, U32 B, U32 C) { return A ^ B ^ C; }
U32 xorAdd(U32 A, U32 B, U32 C) { return (A ^ B) + C; }
U32 bfi(U32 A, U32 B, U32 C) { return (A & B) | (~A & C); }
U32 shl(U32 A, U32 B) { return A << (B & 31); }
U32 shr(U32 A, U32 B) { return A >> (B & 31); }
U32 shlRev(U32 A, U32 B) { return B << (A & 31); }
U32 shrRev(U32 A, U32 B) { return B >> (A & 31); }
U32 ashrRev(U32 A, U32 B) { return U32(I32(B) >> (A & 31)); }
U32 shlAdd(U32 A, U32 B, U32 C) { return (A << (B & 31)) + C; }
U32 addShl(U32 A, U32 B, U32 C) { return (A + B) << (C & 31); }
U32 shlOr(U32 A, U32 B, U32 C) { return (A << (B & 31)) | C; }
U32 bfm(U32 A, U32 B) { return ((1u << (A & 31)) - 1) << (B & 31); }
U32 bfeU(U32 A, U32 B, U32 C) {
  const U32 Width = C & 31;
  return (A >> (B & 31)) & ((1u << Width) - 1);
}
U32 bfeI(U32 A, U32 B, U32 C) {
  const U32 Offset = B & 31, Width = C & 31;
  // A field that reaches beyond bit 31 ends there.
  const U32 Kept = Width < 32 - Offset ? Width : 32 - Offset;
  const U32 Left = (32 - Offset - Kept) & 31;
  const U32 Down = (32 - Kept) & 31;
  return Width == 0 ? 0 : U32(I32((A << Left)) >> Down);
}
U32 alignBit(U32 A, U32 B, U32 C) {
  return U32(((U64(A) << 32) | B) >> (C & 31));
}
U32 alignByte(U32 A, U32 B, U32 C) {
  return U32(((U64(A) << 32) | B) >> (8 * (C & 3)));
}
U32 reverse(U32 X) {
  X = ((X >> 1) & 0x55555555) | ((X & 0x55555555) << 1);
  X = ((X >> 2) & 0x33333333) | ((X & 0x33333333) << 2);
  X = ((X >> 4) & 0x0f0f0f0f) | ((X & 0x0f0f0f0f) << 4);
  X = ((X >> 8) & 0x00ff00ff) | ((X & 0x00ff00ff) << 8);
  return X >> 16 | X << 16;
}
U32 bitCount(U32 A, U32 B) { return U32(__builtin_popcount(A)) + B; }
U32 leadingZeros(U32 A) { return A ? U32(__builtin_clz(A)) : ~0u; }
U32 trailingZeros(U32 A) { return A ? U32(__builtin_ctz(A)) : ~0u; }
U32 leadingSign(U32 A) {
  const U32 X = I32(A) < 0 ? ~A : A;
  return X ? U32(__builtin_clz(X)) : ~0u;
}

/// Bit (a, b, c) of the result is bit 4a + 2b + c of the truth table.
void bitop3(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  U32 On[8];
  for (unsigned K = 0; K != 8; ++K)
    On[K] = (I.Mod.Bitop3 >> K) & 1 ? ~0u : 0;
  allLanes(W, [&](unsigned L) {
    const U32 X = A[L], Y = B[L], Z = C[L];
    const U32 Low = (~Y & ((~Z & On[0]) | (Z & On[1]))) |
                    (Y & ((~Z & On[2]) | (Z & On[3])));
    const U32 High = (~Y & ((~Z & On[4]) | (Z & On[5]))) |
                     (Y & ((~Z & On[6]) | (Z & On[7])));
    R.D[L] = (~X & Low) | (X & High);
  });
  if (I.Dst[0].Type == Ty::B16)
    writeHalf(W, I, R, /*KeepHigh=*/false);
  else
    writeVector(W, I, R.D);
}

/// The dual form has two sources; the third of the table is zero.
void bitop2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  U32 On[4];
  for (unsigned K = 0; K != 4; ++K)
    On[K] = (I.Mod.Bitop3 >> (2 * K)) & 1 ? ~0u : 0;
  allLanes(W, [&](unsigned L) {
    const U32 X = A[L], Y = B[L];
    R.D[L] = (~X & ((~Y & On[0]) | (Y & On[1]))) |
             (X & ((~Y & On[2]) | (Y & On[3])));
  });
  writeVector(W, I, R.D);
}

void select(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U64 Mask = readLaneMask(W, I, I.Src[2]);
  for (unsigned Base = 0; Base != W.Lanes; Base += 32) {
    const U32 M = U32(Mask >> Base);
    for (unsigned L = 0; L != 32; ++L)
      R.D[Base + L] = (M >> L) & 1 ? B[Base + L] : A[Base + L];
  }
  if (I.Dst[0].Type == Ty::B16)
    writeHalf(W, I, R, /*KeepHigh=*/false);
  else
    writeVector(W, I, R.D);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

U32 add(U32 A, U32 B) { return A + B; }
U32 sub(U32 A, U32 B) { return A - B; }
U32 subRev(U32 A, U32 B) { return B - A; }
U32 addSatU(U32 A, U32 B) { return A + B < A ? ~0u : A + B; }
U32 subSatU(U32 A, U32 B) { return A < B ? 0 : A - B; }
U32 subRevSatU(U32 A, U32 B) { return subSatU(B, A); }
U32 addSatI(U32 A, U32 B) {
  const U32 R = A + B;
  const bool Over = ((A ^ R) & (B ^ R)) >> 31;
  return Over ? 0x7fffffffu + (A >> 31) : R;
}
U32 subSatI(U32 A, U32 B) {
  const U32 R = A - B;
  const bool Over = ((A ^ B) & (A ^ R)) >> 31;
  return Over ? 0x7fffffffu + (A >> 31) : R;
}
U32 add3(U32 A, U32 B, U32 C) { return A + B + C; }
U32 mulLow(U32 A, U32 B) { return A * B; }
U32 mulHighU(U32 A, U32 B) { return U32((U64(A) * B) >> 32); }
U32 mulHighI(U32 A, U32 B) { return U32((I64(I32(A)) * I32(B)) >> 32); }
I32 low24(U32 A) { return I32(A << 8) >> 8; }
U32 mulI24(U32 A, U32 B) { return U32(low24(A)) * U32(low24(B)); }
U32 mulU24(U32 A, U32 B) { return (A & 0xffffff) * (B & 0xffffff); }
U32 mulHighI24(U32 A, U32 B) { return U32((I64(low24(A)) * low24(B)) >> 32); }
U32 mulHighU24(U32 A, U32 B) {
  return U32((U64(A & 0xffffff) * (B & 0xffffff)) >> 32);
}
U32 madI24(U32 A, U32 B, U32 C) { return mulI24(A, B) + C; }
U32 madU24(U32 A, U32 B, U32 C) { return mulU24(A, B) + C; }
U32 madSatI24(U32 A, U32 B, U32 C) {
  const I64 R = I64(low24(A)) * low24(B) + I32(C);
  return U32(R > INT32_MAX ? INT32_MAX : R < INT32_MIN ? INT32_MIN : R);
}
U32 madSatU24(U32 A, U32 B, U32 C) {
  const U64 R = U64(A & 0xffffff) * (B & 0xffffff) + C;
  return R > UINT32_MAX ? UINT32_MAX : U32(R);
}
U32 mad32(U32 A, U32 B, U32 C) { return A * B + C; }
U32 madU16(U32 A, U32 B, U32 C) { return (A & 0xffff) * (B & 0xffff) + C; }
U32 madI16(U32 A, U32 B, U32 C) {
  return U32(I32(int16_t(A)) * I32(int16_t(B))) + C;
}
U32 madSatU16(U32 A, U32 B, U32 C) {
  const U64 R = U64((A & 0xffff) * (B & 0xffff)) + C;
  return R > UINT32_MAX ? UINT32_MAX : U32(R);
}
U32 madSatI16(U32 A, U32 B, U32 C) {
  const I64 R = I64(I32(int16_t(A)) * I32(int16_t(B))) + I32(C);
  return U32(R > INT32_MAX ? INT32_MAX : R < INT32_MIN ? INT32_MIN : R);
}
U32 minU(U32 A, U32 B) { return A < B ? A : B; }
U32 maxU(U32 A, U32 B) { return A > B ? A : B; }
U32 minI(U32 A, U32 B) { return I32(A) < I32(B) ? A : B; }
U32 maxI(U32 A, U32 B) { return I32(A) > I32(B) ? A : B; }
U32 min3U(U32 A, U32 B, U32 C) { return minU(minU(A, B), C); }
U32 max3U(U32 A, U32 B, U32 C) { return maxU(maxU(A, B), C); }
U32 min3I(U32 A, U32 B, U32 C) { return minI(minI(A, B), C); }
U32 max3I(U32 A, U32 B, U32 C) { return maxI(maxI(A, B), C); }
U32 med3U(U32 A, U32 B, U32 C) { return maxU(minU(A, B), minU(maxU(A, B), C)); }
U32 med3I(U32 A, U32 B, U32 C) { return maxI(minI(A, B), minI(maxI(A, B), C)); }
U32 maxMinU(U32 A, U32 B, U32 C) { return minU(maxU(A, B), C); }
U32 minMaxU(U32 A, U32 B, U32 C) { return maxU(minU(A, B), C); }
U32 maxMinI(U32 A, U32 B, U32 C) { return minI(maxI(A, B), C); }
U32 minMaxI(U32 A, U32 B, U32 C) { return maxI(minI(A, B), C); }
U32 addMinU(U32 A, U32 B, U32 C) { return minU(A + B, C); }
U32 addMaxU(U32 A, U32 B, U32 C) { return maxU(A + B, C); }
U32 addMinI(U32 A, U32 B, U32 C) { return minI(A + B, C); }
U32 addMaxI(U32 A, U32 B, U32 C) { return maxI(A + B, C); }
U32 addMinSatU(U32 A, U32 B, U32 C) { return minU(addSatU(A, B), C); }
U32 addMaxSatU(U32 A, U32 B, U32 C) { return maxU(addSatU(A, B), C); }
U32 addMinSatI(U32 A, U32 B, U32 C) { return minI(addSatI(A, B), C); }
U32 addMaxSatI(U32 A, U32 B, U32 C) { return maxI(addSatI(A, B), C); }

/// Adds or subtracts with a carry out and perhaps a carry in.
template <bool Subtract, bool Reverse, bool CarryIn>
void carry(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R, Out;
  const U32 *A = fetch(W, I, I.Src[Reverse], T0);
  const U32 *B = fetch(W, I, I.Src[!Reverse], T1);
  const U64 In = CarryIn ? readLaneMask(W, I, I.Src[2]) : 0;
  for (unsigned Base = 0; Base != W.Lanes; Base += 32) {
    const U32 M = U32(In >> Base);
    for (unsigned L = 0; L != 32; ++L) {
      const U32 C = (M >> L) & 1;
      const U64 X = A[Base + L], Y = B[Base + L];
      const U64 Sum = Subtract ? X - Y - C : X + Y + C;
      R.D[Base + L] = U32(Sum);
      // A borrow shows as set bits above the result.
      Out.D[Base + L] = U32(Sum >> 32) << 31;
    }
  }
  const U64 Bits = packSigns(W, Out.D);
  if (I.Mod.Clamp) {
    for (unsigned L = 0; L != W.Lanes; ++L)
      if ((Bits >> L) & 1)
        R.D[L] = Subtract ? 0 : ~0u;
  }
  writeVector(W, I, R.D);
  writeLaneMask(W, I, I.Dst[1], Bits);
}

//===----------------------------------------------------------------------===//
// Bytes and dot products
//===----------------------------------------------------------------------===//

U32 perm(U32 A, U32 B, U32 S) {
  const U64 In = U64(A) << 32 | B;
  U32 R = 0;
  for (unsigned N = 0; N != 4; ++N) {
    const U32 Sel = (S >> (8 * N)) & 0xff;
    U32 Byte;
    if (Sel >= 13)
      Byte = 0xff;
    else if (Sel == 12)
      Byte = 0;
    else if (Sel >= 8) // sign of one of the four halves
      Byte = (In >> (16 * (Sel - 8) + 15)) & 1 ? 0xff : 0;
    else
      Byte = U32(In >> (8 * Sel)) & 0xff;
    R |= Byte << (8 * N);
  }
  return R;
}
U32 lerp(U32 A, U32 B, U32 C) {
  U32 R = 0;
  for (unsigned N = 0; N != 32; N += 8)
    R |= ((((A >> N) & 0xff) + ((B >> N) & 0xff) + ((C >> N) & 1)) >> 1) << N;
  return R;
}
U32 distance(U32 A, U32 B) { return A > B ? A - B : B - A; }
U32 sad8(U32 A, U32 B, U32 C) {
  for (unsigned N = 0; N != 32; N += 8)
    C += distance((A >> N) & 0xff, (B >> N) & 0xff);
  return C;
}
U32 sadHi8(U32 A, U32 B, U32 C) { return (sad8(A, B, 0) << 16) + C; }
U32 sad16(U32 A, U32 B, U32 C) {
  return distance(A & 0xffff, B & 0xffff) + distance(A >> 16, B >> 16) + C;
}
U32 sad32(U32 A, U32 B, U32 C) { return distance(A, B) + C; }
/// Masked: a zero byte in the reference B adds nothing.
U32 msad8(U32 A, U32 B, U32 C) {
  for (unsigned N = 0; N != 32; N += 8) {
    const U32 Y = (B >> N) & 0xff;
    C += Y ? distance((A >> N) & 0xff, Y) : 0;
  }
  return C;
}
template <unsigned Width>
I32 element(U32 X, unsigned N, bool Signed) {
  const U32 Bits = X << (32 - Width - N * Width);
  return Signed ? I32(Bits) >> (32 - Width) : I32(Bits >> (32 - Width));
}
template <unsigned Width, bool Signed>
I64 dot(U32 A, U32 B, bool SignedA = Signed, bool SignedB = Signed) {
  I64 Sum = 0;
  for (unsigned N = 0; N != 32 / Width; ++N)
    Sum +=
        I64(element<Width>(A, N, SignedA)) * I64(element<Width>(B, N, SignedB));
  return Sum;
}
template <unsigned Width>
U32 dotI(U32 A, U32 B, U32 C) {
  return U32(dot<Width, true>(A, B)) + C;
}
template <unsigned Width>
U32 dotU(U32 A, U32 B, U32 C) {
  return U32(dot<Width, false>(A, B)) + C;
}
template <unsigned Width>
U32 dotSatI(U32 A, U32 B, U32 C) {
  const I64 R = dot<Width, true>(A, B) + I32(C);
  return U32(R > INT32_MAX ? INT32_MAX : R < INT32_MIN ? INT32_MIN : R);
}
template <unsigned Width>
U32 dotSatU(U32 A, U32 B, U32 C) {
  const U64 R = U64(dot<Width, false>(A, B)) + C;
  return R > UINT32_MAX ? UINT32_MAX : U32(R);
}
/// GFX12: neg_lo chooses which sources are signed.
template <unsigned Width>
void dotMixed(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  const bool SignedA = I.Mod.NegLo & 1, SignedB = (I.Mod.NegLo >> 1) & 1;
  for (unsigned L = 0; L != W.Lanes; ++L) {
    I64 X = dot<Width, true>(A[L], B[L], SignedA, SignedB) + I32(C[L]);
    if (I.Mod.Clamp)
      X = X > INT32_MAX ? INT32_MAX : X < INT32_MIN ? INT32_MIN : X;
    R.D[L] = U32(X);
  }
  writeVector(W, I, R.D);
}
/// The accumulating forms read the destination.
template <U32 (*F)(U32, U32, U32)>
void accumulate(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = W.V + I.Dst[0].Offset;
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L], B[L], C[L]); });
  writeVector(W, I, R.D);
}
/// Byte sums of absolute differences against a sliding window, four results.
template <bool Masked, bool Wide>
void quadSad(Wave &W, const Instruction &I) {
  LaneBuffer64 A;
  fetch64(W, I, I.Src[0], A);
  LaneBuffer T1, T2[4], R[4];
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const unsigned Dwords = Wide ? 4 : 2;
  const U32 *C[4];
  for (unsigned D = 0; D != Dwords; ++D)
    C[D] = fetch(W, I, I.Src[2], T2[D], D);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    U32 Sum[4];
    for (unsigned N = 0; N != 4; ++N) {
      const U32 X = U32(A.D[L] >> (8 * N));
      Sum[N] = Masked ? msad8(X, B[L], 0) : sad8(X, B[L], 0);
    }
    if (Wide)
      for (unsigned N = 0; N != 4; ++N)
        R[N].D[L] = Sum[N] + C[N][L];
    else
      for (unsigned N = 0; N != 2; ++N)
        R[N].D[L] = ((Sum[2 * N] + C[N][L]) & 0xffff) |
                    (Sum[2 * N + 1] + (C[N][L] >> 16)) << 16;
  }
  for (unsigned D = 0; D != Dwords; ++D)
    writeVector(W, I, R[D].D, D);
}
U32 packBytesI(U32 A, U32 B, U32 C) {
  auto One = [&](U32 X) {
    const I32 S = I32(X) >> (C & 31);
    return U32(S > 127 ? 127 : S < -128 ? -128 : S) & 0xff;
  };
  return One(A) | One(B) << 8;
}
U32 packBytesU(U32 A, U32 B, U32 C) {
  auto One = [&](U32 X) {
    const I32 S = I32(X) >> (C & 31);
    return U32(S > 255 ? 255 : S < 0 ? 0 : S);
  };
  return One(A) | One(B) << 8;
}

/// Bits of the mask below this lane, in one half of a 64-bit mask.
template <bool High>
void maskedBitCount(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  for (unsigned L = 0; L != W.Lanes; ++L) {
    const U64 Below = (U64(1) << L) - 1;
    R.D[L] =
        U32(__builtin_popcount(A[L] & U32(High ? Below >> 32 : Below))) + B[L];
  }
  writeVector(W, I, R.D);
}

void swapRegisters(Wave &W, const Instruction &I) {
  // The text names the source second, but both are written.
  U32 *A = W.V + I.Dst[0].Offset;
  U32 *B = W.V + I.Src[0].Offset;
  LaneBuffer X, Y;
  allLanes(W, [&](unsigned L) {
    X.D[L] = A[L];
    Y.D[L] = B[L];
  });
  storeLanes(W, A, Y.D, W.exec());
  storeLanes(W, B, X.D, W.exec());
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

constexpr OpInfo op1(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::B32, Ty::B32}};
}
constexpr OpInfo op2(const char *Name, Handler Fn, bool Clamps = false) {
  return {Name,    Fn,    OpClass::VectorAlu, 1, {Ty::B32, Ty::B32, Ty::B32},
          nullptr, Clamps};
}
constexpr OpInfo op3(const char *Name, Handler Fn, bool Clamps = false) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          1,
          {Ty::B32, Ty::B32, Ty::B32, Ty::B32},
          nullptr,
          Clamps};
}
constexpr OpInfo mad16(const char *Name, Handler Fn) {
  return {
      Name,    Fn,  OpClass::VectorAlu, 1, {Ty::B32, Ty::B16, Ty::B16, Ty::B32},
      nullptr, true};
}
constexpr OpInfo carryOp(const char *Name, Handler Fn) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          2,
          {Ty::B32, Ty::Mask, Ty::B32, Ty::B32, Ty::Mask},
          nullptr,
          true};
}

constexpr OpInfo Table[] = {
    op1("v_mov_b32", int1<mov>),
    op1("v_accvgpr_read_b32", int1<mov>),
    op1("v_accvgpr_write_b32", int1<mov>),
    op1("v_accvgpr_mov_b32", int1<mov>),
    op1("v_not_b32", int1<notOp>),
    op1("v_bfrev_b32", int1<reverse>),
    op1("v_ffbh_u32", int1<leadingZeros>),
    op1("v_clz_i32_u32", int1<leadingZeros>),
    op1("v_ffbl_b32", int1<trailingZeros>),
    op1("v_ctz_i32_b32", int1<trailingZeros>),
    op1("v_ffbh_i32", int1<leadingSign>),
    op1("v_cls_i32", int1<leadingSign>),
    op1("v_swap_b32", swapRegisters),
    op2("v_and_b32", int2<andOp>),
    op2("v_or_b32", int2<orOp>),
    op2("v_xor_b32", int2<xorOp>),
    op2("v_xnor_b32", int2<xnorOp>),
    op3("v_and_or_b32", int3<andOr>),
    op3("v_or3_b32", int3<or3>),
    op3("v_xor3_b32", int3<xor3>),
    op3("v_xad_u32", int3<xorAdd>),
    op3("v_bfi_b32", int3<bfi>),
    op3("v_bitop3_b32", bitop3),
    op2("v_bitop2_b32", bitop2),
    {"v_bitop3_b16",
     bitop3,
     OpClass::VectorAlu,
     1,
     {Ty::B16, Ty::B16, Ty::B16, Ty::B16}},
    op2("v_lshlrev_b32", int2<shlRev>),
    op2("v_lshrrev_b32", int2<shrRev>),
    op2("v_ashrrev_i32", int2<ashrRev>),
    op2("v_lshl_b32", int2<shl>),
    op2("v_lshr_b32", int2<shr>),
    op3("v_lshl_add_u32", int3<shlAdd>),
    op3("v_add_lshl_u32", int3<addShl>),
    op3("v_lshl_or_b32", int3<shlOr>),
    op2("v_bfm_b32", int2<bfm>),
    op3("v_bfe_u32", int3<bfeU>),
    op3("v_bfe_i32", int3<bfeI>),
    op3("v_alignbit_b32", int3<alignBit>),
    op3("v_alignbyte_b32", int3<alignByte>),
    op2("v_bcnt_u32_b32", int2<bitCount>),
    op2("v_mbcnt_lo_u32_b32", maskedBitCount<false>),
    op2("v_mbcnt_hi_u32_b32", maskedBitCount<true>),
    {"v_cndmask_b32",
     select,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::B32, Ty::B32, Ty::Mask}},
    {"v_cndmask_b16",
     select,
     OpClass::VectorAlu,
     1,
     {Ty::B16, Ty::B16, Ty::B16, Ty::Mask}},

    op2("v_add_u32", int2Sat<add, addSatU>, true),
    op2("v_add_nc_u32", int2Sat<add, addSatU>, true),
    op2("v_sub_u32", int2Sat<sub, subSatU>, true),
    op2("v_sub_nc_u32", int2Sat<sub, subSatU>, true),
    op2("v_subrev_u32", int2Sat<subRev, subRevSatU>, true),
    op2("v_subrev_nc_u32", int2Sat<subRev, subRevSatU>, true),
    op2("v_add_i32", int2Sat<add, addSatI>, true),
    op2("v_add_nc_i32", int2Sat<add, addSatI>, true),
    op2("v_sub_i32", int2Sat<sub, subSatI>, true),
    op2("v_sub_nc_i32", int2Sat<sub, subSatI>, true),
    op3("v_add3_u32", int3<add3>),
    carryOp("v_add_co_u32", carry<false, false, false>),
    carryOp("v_sub_co_u32", carry<true, false, false>),
    carryOp("v_subrev_co_u32", carry<true, true, false>),
    carryOp("v_addc_co_u32", carry<false, false, true>),
    carryOp("v_add_co_ci_u32", carry<false, false, true>),
    carryOp("v_subb_co_u32", carry<true, false, true>),
    carryOp("v_sub_co_ci_u32", carry<true, false, true>),
    carryOp("v_subbrev_co_u32", carry<true, true, true>),
    carryOp("v_subrev_co_ci_u32", carry<true, true, true>),
    op2("v_mul_lo_u32", int2<mulLow>),
    op2("v_mul_lo_i32", int2<mulLow>),
    op2("v_mul_hi_u32", int2<mulHighU>),
    op2("v_mul_hi_i32", int2<mulHighI>),
    op2("v_mul_i32_i24", int2<mulI24>),
    op2("v_mul_u32_u24", int2<mulU24>),
    op2("v_mul_hi_i32_i24", int2<mulHighI24>),
    op2("v_mul_hi_u32_u24", int2<mulHighU24>),
    op3("v_mad_i32_i24", int3Sat<madI24, madSatI24>, true),
    op3("v_mad_u32_u24", int3Sat<madU24, madSatU24>, true),
    op3("v_mad_u32", int3<mad32>),
    mad16("v_mad_u32_u16", int3Sat<madU16, madSatU16>),
    mad16("v_mad_i32_i16", int3Sat<madI16, madSatI16>),
    op2("v_min_u32", int2<minU>),
    op2("v_max_u32", int2<maxU>),
    op2("v_min_i32", int2<minI>),
    op2("v_max_i32", int2<maxI>),
    op3("v_min3_u32", int3<min3U>),
    op3("v_max3_u32", int3<max3U>),
    op3("v_min3_i32", int3<min3I>),
    op3("v_max3_i32", int3<max3I>),
    op3("v_med3_u32", int3<med3U>),
    op3("v_med3_i32", int3<med3I>),
    op3("v_maxmin_u32", int3<maxMinU>),
    op3("v_minmax_u32", int3<minMaxU>),
    op3("v_maxmin_i32", int3<maxMinI>),
    op3("v_minmax_i32", int3<minMaxI>),
    op3("v_add_min_u32", int3Sat<addMinU, addMinSatU>, true),
    op3("v_add_max_u32", int3Sat<addMaxU, addMaxSatU>, true),
    op3("v_add_min_i32", int3Sat<addMinI, addMinSatI>, true),
    op3("v_add_max_i32", int3Sat<addMaxI, addMaxSatI>, true),

    op3("v_perm_b32", int3<perm>),
    op3("v_lerp_u8", int3<lerp>),
    op3("v_sad_u8", int3<sad8>),
    op3("v_sad_hi_u8", int3<sadHi8>),
    op3("v_sad_u16", int3<sad16>),
    op3("v_sad_u32", int3<sad32>),
    op3("v_msad_u8", int3<msad8>),
    {"v_qsad_pk_u16_u8",
     quadSad<false, false>,
     OpClass::VectorAlu,
     1,
     {Ty::B64, Ty::B64, Ty::B32, Ty::B64}},
    {"v_mqsad_pk_u16_u8",
     quadSad<true, false>,
     OpClass::VectorAlu,
     1,
     {Ty::B64, Ty::B64, Ty::B32, Ty::B64}},
    {"v_mqsad_u32_u8",
     quadSad<true, true>,
     OpClass::VectorAlu,
     1,
     {Ty::Wide, Ty::B64, Ty::B32, Ty::Wide}},
    {"v_ashr_pk_i8_i32",
     short3<packBytesI>,
     OpClass::VectorAlu,
     1,
     {Ty::B16, Ty::B32, Ty::B32, Ty::B32}},
    {"v_ashr_pk_u8_i32",
     short3<packBytesU>,
     OpClass::VectorAlu,
     1,
     {Ty::B16, Ty::B32, Ty::B32, Ty::B32}},
    op3("v_dot4_i32_i8", int3Sat<dotI<8>, dotSatI<8>>, true),
    op3("v_dot4_u32_u8", int3Sat<dotU<8>, dotSatU<8>>, true),
    op3("v_dot8_i32_i4", int3Sat<dotI<4>, dotSatI<4>>, true),
    op3("v_dot8_u32_u4", int3Sat<dotU<4>, dotSatU<4>>, true),
    {"v_dot2_i32_i16",
     int3Sat<dotI<16>, dotSatI<16>>,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::PkB16, Ty::PkB16, Ty::B32},
     nullptr,
     true},
    {"v_dot2_u32_u16",
     int3Sat<dotU<16>, dotSatU<16>>,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::PkB16, Ty::PkB16, Ty::B32},
     nullptr,
     true},
    op3("v_dot4_i32_iu8", dotMixed<8>, true),
    op3("v_dot8_i32_iu4", dotMixed<4>, true),
    op2("v_dot4c_i32_i8", accumulate<dotI<8>>),
    op2("v_dot8c_i32_i4", accumulate<dotI<4>>),
    op2("v_dot2c_i32_i16", accumulate<dotI<16>>),
};

} // namespace

OpTable vectorIntOps() { return Table; }

#include "HostIsaEnd.h"
