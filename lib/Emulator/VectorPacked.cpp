//===- VectorPacked.cpp - Packed vector instructions ----------------------===//

#include "HalfFloat.h"
#include "HostIsa.h"
#include "Operands.h"
#include "Ops.h"
#include "PagedAttn/Emulator/Formats.h"

#include "HostIsaBegin.h"

namespace {

#include "VectorOps.h"

#include "HalfOps.h"

//===----------------------------------------------------------------------===//
// Two 16-bit integers
//===----------------------------------------------------------------------===//

// fetch has applied op_sel, so that the halves of a source line up.

template <U32 (*F)(U32, U32)>
void pair2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  allLanes(W, [&](unsigned L) {
    R.D[L] = (F(A[L] & 0xffff, B[L] & 0xffff) & 0xffff) |
             F(A[L] >> 16, B[L] >> 16) << 16;
  });
  writeVector(W, I, R.D);
}
template <U32 (*F)(U32, U32, U32)>
void pair3(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  allLanes(W, [&](unsigned L) {
    R.D[L] = (F(A[L] & 0xffff, B[L] & 0xffff, C[L] & 0xffff) & 0xffff) |
             F(A[L] >> 16, B[L] >> 16, C[L] >> 16) << 16;
  });
  writeVector(W, I, R.D);
}
template <U32 (*F)(U32, U32), U32 (*Saturating)(U32, U32)>
void pair2Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    pair2<Saturating>(W, I);
  else
    pair2<F>(W, I);
}
template <U32 (*F)(U32, U32, U32), U32 (*Saturating)(U32, U32, U32)>
void pair3Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    pair3<Saturating>(W, I);
  else
    pair3<F>(W, I);
}

I32 i16(U32 X) { return I32(int16_t(X)); }
U32 satU(I32 X) { return U32(X < 0 ? 0 : X > 0xffff ? 0xffff : X); }
U32 satI(I32 X) { return U32(X < -0x8000 ? -0x8000 : X > 0x7fff ? 0x7fff : X); }
U32 add(U32 A, U32 B) { return A + B; }
U32 sub(U32 A, U32 B) { return A - B; }
U32 addSatU(U32 A, U32 B) { return satU(I32(A + B)); }
U32 subSatU(U32 A, U32 B) { return satU(I32(A) - I32(B)); }
U32 addSatI(U32 A, U32 B) { return satI(i16(A) + i16(B)); }
U32 subSatI(U32 A, U32 B) { return satI(i16(A) - i16(B)); }
U32 mulLow(U32 A, U32 B) { return A * B; }
U32 mad(U32 A, U32 B, U32 C) { return A * B + C; }
U32 madSatU(U32 A, U32 B, U32 C) {
  const U64 R = U64(A) * B + C;
  return R > 0xffff ? 0xffff : U32(R);
}
U32 madSatI(U32 A, U32 B, U32 C) {
  const I64 R = I64(i16(A)) * i16(B) + i16(C);
  return U32(R > 0x7fff ? 0x7fff : R < -0x8000 ? -0x8000 : R);
}
U32 shlRev(U32 A, U32 B) { return B << (A & 15); }
U32 shrRev(U32 A, U32 B) { return B >> (A & 15); }
U32 ashrRev(U32 A, U32 B) { return U32(i16(B) >> (A & 15)); }
U32 minU(U32 A, U32 B) { return A < B ? A : B; }
U32 maxU(U32 A, U32 B) { return A > B ? A : B; }
U32 minI(U32 A, U32 B) { return i16(A) < i16(B) ? A : B; }
U32 maxI(U32 A, U32 B) { return i16(A) > i16(B) ? A : B; }
template <U32 (*F)(U32, U32)>
U32 three(U32 A, U32 B, U32 C) {
  return F(F(A, B), C);
}
template <U32 (*Add)(U32, U32), U32 (*F)(U32, U32)>
U32 addThen(U32 A, U32 B, U32 C) {
  return F(Add(A, B) & 0xffff, C);
}

//===----------------------------------------------------------------------===//
// Two 16-bit floats
//===----------------------------------------------------------------------===//

template <Narrow N, unsigned Sources, class FnT>
void packedFloat(Wave &W, const Instruction &I, const U32 *(&S)[3], FnT F) {
  const NarrowContext C(W, I);
  LaneBuffer Part[2];
  for (unsigned Half = 0; Half != 2; ++Half) {
    const unsigned Shift = 16 * Half;
    LaneBuffer &R = Part[Half];
    const bool Flush = C.FlushIn && N == Narrow::Half;
    auto Value = [&](unsigned Source, unsigned L) {
      const U32 X = (S[Source][L] >> Shift) & 0xffff;
      return widen<N>(Flush ? flush16(X) : X);
    };
    RoundScope Scope(C.Round, &R);
    if constexpr (Sources == 2)
      allLanes(
          W, [&](unsigned L) { R.D[L] = asBits(F(Value(0, L), Value(1, L))); });
    else
      allLanes(W, [&](unsigned L) {
        R.D[L] = asBits(F(Value(0, L), Value(1, L), Value(2, L)));
      });
  }
  narrowAll<N>(W, C, Part[0]);
  narrowAll<N>(W, C, Part[1]);
  allLanes(W, [&](unsigned L) { Part[0].D[L] |= Part[1].D[L] << 16; });
  writeVector(W, I, Part[0].D);
}

template <float (*F)(float, float), Narrow N = Narrow::Half>
void packed2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1;
  const U32 *S[3] = {fetch(W, I, I.Src[0], T0), fetch(W, I, I.Src[1], T1),
                     nullptr};
  packedFloat<N, 2>(W, I, S, [](float A, float B) { return F(A, B); });
}
template <float (*F)(float, float, float), Narrow N = Narrow::Half>
void packed3(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2;
  const U32 *S[3] = {fetch(W, I, I.Src[0], T0), fetch(W, I, I.Src[1], T1),
                     fetch(W, I, I.Src[2], T2)};
  packedFloat<N, 3>(W, I, S,
                    [](float A, float B, float C) { return F(A, B, C); });
}
void packedFmac(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1;
  const U32 *S[3] = {fetch(W, I, I.Src[0], T0), fetch(W, I, I.Src[1], T1),
                     W.V + I.Dst[0].Offset};
  packedFloat<Narrow::Half, 3>(
      W, I, S, [](float A, float B, float C) { return fmaOp(A, B, C); });
}

//===----------------------------------------------------------------------===//
// Two singles in a register pair
//===----------------------------------------------------------------------===//

const U32 *fetchHalfOfPair(Wave &W, const Instruction &I, unsigned N,
                           unsigned Dword, LaneBuffer &Tmp) {
  const U32 *A = fetch(W, I, I.Src[N], Tmp, Dword);
  if (LLVM_LIKELY(!W.SpecialMode32) || W.Mode.denormIn32())
    return A;
  allLanes(W, [&](unsigned L) { Tmp.D[L] = flush32(A[L]); });
  return Tmp.D;
}

template <float (*F)(float, float, float), unsigned Sources>
void pairF32(Wave &W, const Instruction &I) {
  LaneBuffer R[2];
  for (unsigned D = 0; D != 2; ++D) {
    LaneBuffer T0, T1, T2;
    const U32 *A = fetchHalfOfPair(W, I, 0, D, T0);
    const U32 *B = fetchHalfOfPair(W, I, 1, D, T1);
    const U32 *C = Sources == 3 ? fetchHalfOfPair(W, I, 2, D, T2) : A;
    {
      RoundScope Scope(W.Mode.round32(), &R);
      allLanes(W, [&](unsigned L) {
        R[D].D[L] = asBits(F(asFloat(A[L]), asFloat(B[L]), asFloat(C[L])));
      });
    }
    finishF32(W, I, R[D]);
  }
  writeVector(W, I, R[0].D, 0);
  writeVector(W, I, R[1].D, 1);
}
float addF32(float A, float B, float) { return A + B; }
float mulF32(float A, float B, float) { return A * B; }
float fmaF32(float A, float B, float C) { return __builtin_fmaf(A, B, C); }

/// Each half comes from a source of its own, whose op_sel picks the register.
void movePair(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R0, R1;
  const U32 *A = fetch(W, I, I.Src[0], T0, I.Mod.OpSel & 1);
  const U32 *B = fetch(W, I, I.Src[1], T1, (I.Mod.OpSel >> 1) & 1);
  allLanes(W, [&](unsigned L) {
    R0.D[L] = A[L];
    R1.D[L] = B[L];
  });
  writeVector(W, I, R0.D, 0);
  writeVector(W, I, R1.D, 1);
}
bool allowOpSel(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  return true;
}

/// The low halves of two sources side by side.
void packHalves(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  allLanes(W, [&](unsigned L) { R.D[L] = (A[L] & 0xffff) | B[L] << 16; });
  writeVector(W, I, R.D);
}

constexpr OpInfo op(const char *Name, Handler Fn, Ty T, unsigned Sources,
                    bool Clamps) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          1,
          {T, T, T, Sources == 3 ? T : Ty::None},
          nullptr,
          Clamps};
}
constexpr OpInfo int2op(const char *Name, Handler Fn, bool Clamps = false) {
  return op(Name, Fn, Ty::PkB16, 2, Clamps);
}
constexpr OpInfo int3op(const char *Name, Handler Fn, bool Clamps = false) {
  return op(Name, Fn, Ty::PkB16, 3, Clamps);
}
constexpr OpInfo half2op(const char *Name, Handler Fn) {
  return op(Name, Fn, Ty::PkF16, 2, true);
}
constexpr OpInfo half3op(const char *Name, Handler Fn) {
  return op(Name, Fn, Ty::PkF16, 3, true);
}
constexpr Narrow B = Narrow::Bfloat;

constexpr OpInfo Table[] = {
    int2op("v_pk_add_u16", pair2Sat<add, addSatU>, true),
    int2op("v_pk_add_i16", pair2Sat<add, addSatI>, true),
    int2op("v_pk_sub_u16", pair2Sat<sub, subSatU>, true),
    int2op("v_pk_sub_i16", pair2Sat<sub, subSatI>, true),
    int2op("v_pk_mul_lo_u16", pair2<mulLow>),
    int3op("v_pk_mad_u16", pair3Sat<mad, madSatU>, true),
    int3op("v_pk_mad_i16", pair3Sat<mad, madSatI>, true),
    int2op("v_pk_lshlrev_b16", pair2<shlRev>),
    int2op("v_pk_lshrrev_b16", pair2<shrRev>),
    int2op("v_pk_ashrrev_i16", pair2<ashrRev>),
    int2op("v_pk_min_u16", pair2<minU>),
    int2op("v_pk_max_u16", pair2<maxU>),
    int2op("v_pk_min_i16", pair2<minI>),
    int2op("v_pk_max_i16", pair2<maxI>),
    int3op("v_pk_min3_u16", pair3<three<minU>>),
    int3op("v_pk_max3_u16", pair3<three<maxU>>),
    int3op("v_pk_min3_i16", pair3<three<minI>>),
    int3op("v_pk_max3_i16", pair3<three<maxI>>),
    int3op("v_pk_add_min_u16",
           pair3Sat<addThen<add, minU>, addThen<addSatU, minU>>, true),
    int3op("v_pk_add_max_u16",
           pair3Sat<addThen<add, maxU>, addThen<addSatU, maxU>>, true),
    int3op("v_pk_add_min_i16",
           pair3Sat<addThen<add, minI>, addThen<addSatI, minI>>, true),
    int3op("v_pk_add_max_i16",
           pair3Sat<addThen<add, maxI>, addThen<addSatI, maxI>>, true),
    half2op("v_pk_add_f16", packed2<addOp>),
    half2op("v_pk_mul_f16", packed2<mulOp>),
    half3op("v_pk_fma_f16", packed3<fmaOp>),
    half2op("v_pk_min_f16", packed2<numOp<false>>),
    half2op("v_pk_max_f16", packed2<numOp<true>>),
    half2op("v_pk_min_num_f16", packed2<numOp<false>>),
    half2op("v_pk_max_num_f16", packed2<numOp<true>>),
    half2op("v_pk_minimum_f16", packed2<nanOp<false>>),
    half2op("v_pk_maximum_f16", packed2<nanOp<true>>),
    half3op("v_pk_minimum3_f16", packed3<nan3Op<false>>),
    half3op("v_pk_maximum3_f16", packed3<nan3Op<true>>),
    half3op("v_pk_min3_num_f16", packed3<num3Op<false>>),
    half3op("v_pk_max3_num_f16", packed3<num3Op<true>>),
    {"v_pk_fmac_f16",
     packedFmac,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::B32, Ty::B32}},
    op("v_pk_add_bf16", packed2<addOp, B>, Ty::PkBF16, 2, true),
    op("v_pk_mul_bf16", packed2<mulOp, B>, Ty::PkBF16, 2, true),
    op("v_pk_fma_bf16", packed3<fmaOp, B>, Ty::PkBF16, 3, true),
    op("v_pk_min_num_bf16", packed2<numOp<false>, B>, Ty::PkBF16, 2, true),
    op("v_pk_max_num_bf16", packed2<numOp<true>, B>, Ty::PkBF16, 2, true),
    op("v_pk_add_f32", pairF32<addF32, 2>, Ty::PkF32, 2, true),
    op("v_pk_mul_f32", pairF32<mulF32, 2>, Ty::PkF32, 2, true),
    op("v_pk_fma_f32", pairF32<fmaF32, 3>, Ty::PkF32, 3, true),
    {"v_pk_mov_b32",
     movePair,
     OpClass::VectorAlu,
     1,
     {Ty::B64, Ty::B64, Ty::B64},
     allowOpSel},
    {"v_pack_b32_f16",
     packHalves,
     OpClass::VectorAlu,
     1,
     {Ty::B32, Ty::F16, Ty::F16}},
};

} // namespace

OpTable vectorPackedOps() { return Table; }

#include "HostIsaEnd.h"
