//===- ScalarAlu.cpp - Scalar integer instructions ------------------------===//

#include "Operands.h"
#include "Ops.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

using U32 = uint32_t;
using U64 = uint64_t;

template <class T>
T read(Wave &W, const Instruction &I, unsigned N) {
  if constexpr (sizeof(T) == 8)
    return readScalar64(W, I, I.Src[N]);
  else
    return readScalar32(W, I, I.Src[N]);
}

template <class T>
T readDst(Wave &W, const Instruction &I) {
  if constexpr (sizeof(T) == 8)
    return readScalar64(W, I, I.Dst[0]);
  else
    return readScalar32(W, I, I.Dst[0]);
}

template <class T>
void write(Wave &W, const Instruction &I, T X) {
  if constexpr (sizeof(T) == 8)
    writeScalar64(W, I, I.Dst[0], X);
  else
    writeScalar32(W, I, I.Dst[0], X);
}

//===----------------------------------------------------------------------===//
// Two sources
//===----------------------------------------------------------------------===//

enum class SccRule { Keep, NonZero };

/// T is the type of sources and result; the shift amount of 64-bit shifts is
/// read as U by the operation itself.
template <class T, T (*F)(T, T), SccRule Rule>
void binary(Wave &W, const Instruction &I) {
  T R = F(read<T>(W, I, 0), read<T>(W, I, 1));
  write<T>(W, I, R);
  if (Rule == SccRule::NonZero)
    W.Scc = R != 0;
}

template <class T, T (*F)(T, U32), SccRule Rule>
void shift(Wave &W, const Instruction &I) {
  T R = F(read<T>(W, I, 0), read<U32>(W, I, 1));
  write<T>(W, I, R);
  if (Rule == SccRule::NonZero)
    W.Scc = R != 0;
}

template <class T, T (*F)(T), SccRule Rule>
void unary(Wave &W, const Instruction &I) {
  T R = F(read<T>(W, I, 0));
  write<T>(W, I, R);
  if (Rule == SccRule::NonZero)
    W.Scc = R != 0;
}

/// From a T to 32 bits.
template <class T, U32 (*F)(T), SccRule Rule>
void toWord(Wave &W, const Instruction &I) {
  U32 R = F(read<T>(W, I, 0));
  write<U32>(W, I, R);
  if (Rule == SccRule::NonZero)
    W.Scc = R != 0;
}

template <class T>
T andOp(T A, T B) {
  return A & B;
}
template <class T>
T orOp(T A, T B) {
  return A | B;
}
template <class T>
T xorOp(T A, T B) {
  return A ^ B;
}
template <class T>
T nandOp(T A, T B) {
  return ~(A & B);
}
template <class T>
T norOp(T A, T B) {
  return ~(A | B);
}
template <class T>
T xnorOp(T A, T B) {
  return ~(A ^ B);
}
template <class T>
T andNot1(T A, T B) {
  return A & ~B;
}
template <class T>
T orNot1(T A, T B) {
  return A | ~B;
}
template <class T>
T andNot0(T A, T B) {
  return ~A & B;
}
template <class T>
T orNot0(T A, T B) {
  return ~A | B;
}

template <class T>
constexpr unsigned Bits = sizeof(T) * 8;
template <class T>
T shl(T A, U32 B) {
  return A << (B & (Bits<T> - 1));
}
template <class T>
T shr(T A, U32 B) {
  return A >> (B & (Bits<T> - 1));
}
template <class T>
T ashr(T A, U32 B) {
  return T(std::make_signed_t<T>(A) >> (B & (Bits<T> - 1)));
}
template <class T>
T bfm(T Width, T Offset) {
  return ((T(1) << (Width & (Bits<T> - 1))) - 1) << (Offset & (Bits<T> - 1));
}
void bfm64(Wave &W, const Instruction &I) {
  write<U64>(W, I, bfm<U64>(read<U32>(W, I, 0), read<U32>(W, I, 1)));
}

template <class T>
T bfeU(T A, U32 Field) {
  const unsigned Offset = Field & (Bits<T> - 1);
  const unsigned Width = (Field >> 16) & 0x7f;
  if (Width == 0)
    return 0;
  T R = A >> Offset;
  return Width >= Bits<T> ? R : R & ((T(1) << Width) - 1);
}
template <class T>
T bfeI(T A, U32 Field) {
  const unsigned Offset = Field & (Bits<T> - 1);
  const unsigned Width = (Field >> 16) & 0x7f;
  if (Width == 0)
    return 0;
  using S = std::make_signed_t<T>;
  // A field that reaches beyond the top is sign-extended from the top bit.
  const unsigned Kept = std::min(Width, Bits<T> - Offset);
  return T(S(A << (Bits<T> - Offset - Kept)) >> (Bits<T> - Kept));
}

U32 mulLow(U32 A, U32 B) { return A * B; }
U64 mulLow64(U64 A, U64 B) { return A * B; }
U32 mulHighU(U32 A, U32 B) { return U32((U64(A) * B) >> 32); }
U32 mulHighI(U32 A, U32 B) {
  return U32((int64_t(int32_t(A)) * int32_t(B)) >> 32);
}
U64 addNoCarry(U64 A, U64 B) { return A + B; }
U64 subNoCarry(U64 A, U64 B) { return A - B; }
U32 absDiff(U32 A, U32 B) {
  U32 D = A - B;
  return int32_t(D) < 0 ? 0u - D : D;
}
U32 packLL(U32 A, U32 B) { return (A & 0xffff) | B << 16; }
U32 packLH(U32 A, U32 B) { return (A & 0xffff) | (B & 0xffff0000); }
U32 packHH(U32 A, U32 B) { return A >> 16 | (B & 0xffff0000); }
U32 packHL(U32 A, U32 B) { return A >> 16 | B << 16; }

void addU(Wave &W, const Instruction &I) {
  U64 R = U64(read<U32>(W, I, 0)) + read<U32>(W, I, 1);
  write<U32>(W, I, U32(R));
  W.Scc = R >> 32;
}
void subU(Wave &W, const Instruction &I) {
  U32 A = read<U32>(W, I, 0), B = read<U32>(W, I, 1);
  write<U32>(W, I, A - B);
  W.Scc = A < B;
}
void addCarry(Wave &W, const Instruction &I) {
  U64 R = U64(read<U32>(W, I, 0)) + read<U32>(W, I, 1) + W.Scc;
  write<U32>(W, I, U32(R));
  W.Scc = R >> 32;
}
void subBorrow(Wave &W, const Instruction &I) {
  U32 A = read<U32>(W, I, 0), B = read<U32>(W, I, 1);
  bool Borrow = U64(A) < U64(B) + W.Scc;
  write<U32>(W, I, A - B - W.Scc);
  W.Scc = Borrow;
}
void addSigned(Wave &W, const Instruction &I, U32 A, U32 B) {
  U32 R = A + B;
  write<U32>(W, I, R);
  W.Scc = ((A ^ R) & (B ^ R)) >> 31;
}
void addI(Wave &W, const Instruction &I) {
  addSigned(W, I, read<U32>(W, I, 0), read<U32>(W, I, 1));
}
void subI(Wave &W, const Instruction &I) {
  U32 A = read<U32>(W, I, 0), B = read<U32>(W, I, 1);
  U32 R = A - B;
  write<U32>(W, I, R);
  W.Scc = ((A ^ B) & (A ^ R)) >> 31;
}
template <unsigned N>
void shlAdd(Wave &W, const Instruction &I) {
  U64 R = (U64(read<U32>(W, I, 0)) << N) + read<U32>(W, I, 1);
  write<U32>(W, I, U32(R));
  W.Scc = R >> 32 != 0;
}
template <class T, bool Max>
void minMax(Wave &W, const Instruction &I) {
  T A = T(read<U32>(W, I, 0)), B = T(read<U32>(W, I, 1));
  W.Scc = Max ? A >= B : A < B;
  write<U32>(W, I, U32(W.Scc ? A : B));
}
template <class T>
void select(Wave &W, const Instruction &I) {
  write<T>(W, I, read<T>(W, I, W.Scc ? 0 : 1));
}

//===----------------------------------------------------------------------===//
// One source
//===----------------------------------------------------------------------===//

template <class T>
T move(T A) {
  return A;
}
template <class T>
T notOp(T A) {
  return ~A;
}
template <class T>
T reverse(T A) {
  T R = 0;
  for (unsigned I = 0; I != Bits<T>; ++I)
    R |= ((A >> I) & 1) << (Bits<T> - 1 - I);
  return R;
}
template <class T>
T wholeQuads(T A) {
  T R = 0;
  for (unsigned I = 0; I != Bits<T>; I += 4)
    if ((A >> I) & 0xf)
      R |= T(0xf) << I;
  return R;
}
template <class T>
T quadMask(T A) {
  T R = 0;
  for (unsigned I = 0; I != Bits<T>; I += 4)
    if ((A >> I) & 0xf)
      R |= T(1) << (I / 4);
  return R;
}
template <class T>
U32 countOnes(T A) {
  return U32(popcount(A));
}
template <class T>
U32 countZeros(T A) {
  return Bits<T> - U32(popcount(A));
}
template <class T>
U32 firstOne(T A) {
  return A ? U32(countr_zero(A)) : ~0u;
}
template <class T>
U32 firstZero(T A) {
  return firstOne<T>(~A);
}
template <class T>
U32 leadingZeros(T A) {
  return A ? U32(countl_zero(A)) : ~0u;
}
/// Position from the top of the first bit that differs from the sign.
template <class T>
U32 leadingSign(T A) {
  T X = std::make_signed_t<T>(A) < 0 ? T(~A) : A;
  return X ? U32(countl_zero(X)) : ~0u;
}
U32 sext8(U32 A) { return U32(int32_t(int8_t(A))); }
U32 sext16(U32 A) { return U32(int32_t(int16_t(A))); }
U32 absI(U32 A) { return int32_t(A) < 0 ? 0u - A : A; }

void bitReplicate(Wave &W, const Instruction &I) {
  U32 A = read<U32>(W, I, 0);
  U64 R = 0;
  for (unsigned B = 0; B != 32; ++B)
    if ((A >> B) & 1)
      R |= U64(3) << (2 * B);
  write<U64>(W, I, R);
}
template <class T>
void conditionalMove(Wave &W, const Instruction &I) {
  if (W.Scc)
    write<T>(W, I, read<T>(W, I, 0));
}
template <class T, bool One>
void setBit(Wave &W, const Instruction &I) {
  T Bit = T(1) << (read<U32>(W, I, 0) & (Bits<T> - 1));
  T Old = readDst<T>(W, I);
  write<T>(W, I, One ? Old | Bit : Old & ~Bit);
}

/// Relative moves add M0 to the register number.
bool relative(Wave &W, const Operand &O, unsigned &Reg) {
  Reg = O.Reg + W.m0();
  if (O.isSgpr() && Reg + O.Dwords <= 106)
    return true;
  W.fatal(ReportKind::InvalidAccess,
          "relative scalar register " + Twine(Reg) + " does not exist");
  return false;
}
template <class T>
void moveRelSource(Wave &W, const Instruction &I) {
  Operand O = I.Src[0];
  unsigned Reg;
  if (!relative(W, O, Reg))
    return;
  O.Reg = uint16_t(Reg);
  if constexpr (sizeof(T) == 8)
    write<T>(W, I, readScalar64(W, I, O));
  else
    write<T>(W, I, readScalar32(W, I, O));
}
template <class T>
void moveRelDest(Wave &W, const Instruction &I) {
  Operand O = I.Dst[0];
  unsigned Reg;
  if (!relative(W, O, Reg))
    return;
  O.Reg = uint16_t(Reg);
  if constexpr (sizeof(T) == 8)
    writeScalar64(W, I, O, read<T>(W, I, 0));
  else
    writeScalar32(W, I, O, read<T>(W, I, 0));
}

/// EXEC = F(source, EXEC), SCC = result is not zero. The destination gets the
/// old EXEC, or the new one for the wrexec forms.
template <class T, T (*F)(T, T), bool WriteNew = false>
void saveExec(Wave &W, const Instruction &I) {
  T Old = T(W.exec());
  T New = F(read<T>(W, I, 0), Old) & T(W.AllLanes);
  write<T>(W, I, WriteNew ? New : Old);
  W.setExec(New);
  W.Scc = New != 0;
}

//===----------------------------------------------------------------------===//
// Compares and 16-bit immediates
//===----------------------------------------------------------------------===//

template <class T>
bool eq(T A, T B) {
  return A == B;
}
template <class T>
bool ne(T A, T B) {
  return A != B;
}
template <class T>
bool lt(T A, T B) {
  return A < B;
}
template <class T>
bool le(T A, T B) {
  return A <= B;
}
template <class T>
bool gt(T A, T B) {
  return A > B;
}
template <class T>
bool ge(T A, T B) {
  return A >= B;
}

template <class T, bool (*F)(T, T)>
void compare(Wave &W, const Instruction &I) {
  using U = std::make_unsigned_t<T>;
  W.Scc = F(T(read<U>(W, I, 0)), T(read<U>(W, I, 1)));
}
template <class T, bool (*F)(T, T)>
void compareImm(Wave &W, const Instruction &I) {
  T Imm = std::is_signed_v<T> ? T(int16_t(I.Imm)) : T(uint16_t(I.Imm));
  W.Scc = F(T(read<U32>(W, I, 0)), Imm);
}
template <class T, bool One>
void testBit(Wave &W, const Instruction &I) {
  T A = read<T>(W, I, 0);
  W.Scc = ((A >> (read<U32>(W, I, 1) & (Bits<T> - 1))) & 1) == T(One);
}
void moveImm(Wave &W, const Instruction &I) {
  write<U32>(W, I, U32(int32_t(int16_t(I.Imm))));
}
void conditionalMoveImm(Wave &W, const Instruction &I) {
  if (W.Scc)
    moveImm(W, I);
}
void addImm(Wave &W, const Instruction &I) {
  addSigned(W, I, readDst<U32>(W, I), U32(int32_t(int16_t(I.Imm))));
}
void mulImm(Wave &W, const Instruction &I) {
  write<U32>(W, I, readDst<U32>(W, I) * U32(int32_t(int16_t(I.Imm))));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

constexpr SccRule Keep = SccRule::Keep, NonZero = SccRule::NonZero;

constexpr OpInfo op(const char *Name, Handler Fn, Ty Dst, Ty A,
                    Ty B = Ty::None) {
  return {Name, Fn, OpClass::ScalarAlu, 1, {Dst, A, B}};
}
constexpr OpInfo op32(const char *Name, Handler Fn) {
  return op(Name, Fn, Ty::B32, Ty::B32, Ty::B32);
}
constexpr OpInfo op64(const char *Name, Handler Fn) {
  return op(Name, Fn, Ty::B64, Ty::B64, Ty::B64);
}
constexpr OpInfo un32(const char *Name, Handler Fn) {
  return op(Name, Fn, Ty::B32, Ty::B32);
}
constexpr OpInfo un64(const char *Name, Handler Fn) {
  return op(Name, Fn, Ty::B64, Ty::B64);
}
constexpr OpInfo cmp(const char *Name, Handler Fn, Ty A, Ty B = Ty::B32) {
  return {Name, Fn, OpClass::ScalarAlu, 0, {A, B}};
}
constexpr OpInfo cmpk(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::ScalarAlu, 0, {Ty::B32, Ty::Imm}};
}
constexpr OpInfo immOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::ScalarAlu, 1, {Ty::B32, Ty::Imm}};
}

#define LOGIC(Name, F)                                                         \
  op32("s_" Name "_b32", binary<U32, F<U32>, NonZero>),                        \
      op64("s_" Name "_b64", binary<U64, F<U64>, NonZero>)
#define SAVE(Name, F)                                                          \
  un32("s_" Name "_saveexec_b32", saveExec<U32, F<U32>>),                      \
      un64("s_" Name "_saveexec_b64", saveExec<U64, F<U64>>)
#define WREXEC(Name, F)                                                        \
  un32("s_" Name "_wrexec_b32", saveExec<U32, F<U32>, true>),                  \
      un64("s_" Name "_wrexec_b64", saveExec<U64, F<U64>, true>)
#define COMPARES(Name, F)                                                      \
  cmp("s_cmp_" Name "_i32", compare<int32_t, F<int32_t>>, Ty::B32),            \
      cmp("s_cmp_" Name "_u32", compare<U32, F<U32>>, Ty::B32),                \
      cmpk("s_cmpk_" Name "_i32", compareImm<int32_t, F<int32_t>>),            \
      cmpk("s_cmpk_" Name "_u32", compareImm<U32, F<U32>>)

constexpr OpInfo Table[] = {
    op32("s_add_u32", addU),
    op32("s_add_co_u32", addU),
    op32("s_sub_u32", subU),
    op32("s_sub_co_u32", subU),
    op32("s_addc_u32", addCarry),
    op32("s_add_co_ci_u32", addCarry),
    op32("s_subb_u32", subBorrow),
    op32("s_sub_co_ci_u32", subBorrow),
    op32("s_add_i32", addI),
    op32("s_add_co_i32", addI),
    op32("s_sub_i32", subI),
    op32("s_sub_co_i32", subI),
    op64("s_add_nc_u64", binary<U64, addNoCarry, Keep>),
    op64("s_sub_nc_u64", binary<U64, subNoCarry, Keep>),
    op32("s_lshl1_add_u32", shlAdd<1>),
    op32("s_lshl2_add_u32", shlAdd<2>),
    op32("s_lshl3_add_u32", shlAdd<3>),
    op32("s_lshl4_add_u32", shlAdd<4>),
    op32("s_min_i32", minMax<int32_t, false>),
    op32("s_min_u32", minMax<U32, false>),
    op32("s_max_i32", minMax<int32_t, true>),
    op32("s_max_u32", minMax<U32, true>),
    op32("s_mul_i32", binary<U32, mulLow, Keep>),
    op32("s_mul_hi_u32", binary<U32, mulHighU, Keep>),
    op32("s_mul_hi_i32", binary<U32, mulHighI, Keep>),
    op64("s_mul_u64", binary<U64, mulLow64, Keep>),
    op32("s_absdiff_i32", binary<U32, absDiff, NonZero>),
    op32("s_cselect_b32", select<U32>),
    op64("s_cselect_b64", select<U64>),
    LOGIC("and", andOp),
    LOGIC("or", orOp),
    LOGIC("xor", xorOp),
    LOGIC("nand", nandOp),
    LOGIC("nor", norOp),
    LOGIC("xnor", xnorOp),
    LOGIC("andn2", andNot1),
    LOGIC("and_not1", andNot1),
    LOGIC("orn2", orNot1),
    LOGIC("or_not1", orNot1),
    op32("s_lshl_b32", shift<U32, shl<U32>, NonZero>),
    op("s_lshl_b64", shift<U64, shl<U64>, NonZero>, Ty::B64, Ty::B64, Ty::B32),
    op32("s_lshr_b32", shift<U32, shr<U32>, NonZero>),
    op("s_lshr_b64", shift<U64, shr<U64>, NonZero>, Ty::B64, Ty::B64, Ty::B32),
    op32("s_ashr_i32", shift<U32, ashr<U32>, NonZero>),
    op("s_ashr_i64", shift<U64, ashr<U64>, NonZero>, Ty::B64, Ty::I64, Ty::B32),
    op32("s_bfm_b32", binary<U32, bfm<U32>, Keep>),
    op("s_bfm_b64", bfm64, Ty::B64, Ty::B32, Ty::B32),
    op32("s_bfe_u32", shift<U32, bfeU<U32>, NonZero>),
    op32("s_bfe_i32", shift<U32, bfeI<U32>, NonZero>),
    op("s_bfe_u64", shift<U64, bfeU<U64>, NonZero>, Ty::B64, Ty::B64, Ty::B32),
    op("s_bfe_i64", shift<U64, bfeI<U64>, NonZero>, Ty::B64, Ty::I64, Ty::B32),
    op32("s_pack_ll_b32_b16", binary<U32, packLL, Keep>),
    op32("s_pack_lh_b32_b16", binary<U32, packLH, Keep>),
    op32("s_pack_hh_b32_b16", binary<U32, packHH, Keep>),
    op32("s_pack_hl_b32_b16", binary<U32, packHL, Keep>),

    un32("s_mov_b32", unary<U32, move<U32>, Keep>),
    un64("s_mov_b64", unary<U64, move<U64>, Keep>),
    un32("s_cmov_b32", conditionalMove<U32>),
    un64("s_cmov_b64", conditionalMove<U64>),
    un32("s_not_b32", unary<U32, notOp<U32>, NonZero>),
    un64("s_not_b64", unary<U64, notOp<U64>, NonZero>),
    un32("s_brev_b32", unary<U32, reverse<U32>, Keep>),
    un64("s_brev_b64", unary<U64, reverse<U64>, Keep>),
    un32("s_wqm_b32", unary<U32, wholeQuads<U32>, NonZero>),
    un64("s_wqm_b64", unary<U64, wholeQuads<U64>, NonZero>),
    un32("s_quadmask_b32", unary<U32, quadMask<U32>, NonZero>),
    un64("s_quadmask_b64", unary<U64, quadMask<U64>, NonZero>),
    un32("s_abs_i32", unary<U32, absI, NonZero>),
    un32("s_sext_i32_i8", unary<U32, sext8, Keep>),
    un32("s_sext_i32_i16", unary<U32, sext16, Keep>),
    un32("s_bcnt0_i32_b32", toWord<U32, countZeros<U32>, NonZero>),
    op("s_bcnt0_i32_b64", toWord<U64, countZeros<U64>, NonZero>, Ty::B32,
       Ty::B64),
    un32("s_bcnt1_i32_b32", toWord<U32, countOnes<U32>, NonZero>),
    op("s_bcnt1_i32_b64", toWord<U64, countOnes<U64>, NonZero>, Ty::B32,
       Ty::B64),
    un32("s_ff0_i32_b32", toWord<U32, firstZero<U32>, Keep>),
    op("s_ff0_i32_b64", toWord<U64, firstZero<U64>, Keep>, Ty::B32, Ty::B64),
    un32("s_ff1_i32_b32", toWord<U32, firstOne<U32>, Keep>),
    op("s_ff1_i32_b64", toWord<U64, firstOne<U64>, Keep>, Ty::B32, Ty::B64),
    un32("s_ctz_i32_b32", toWord<U32, firstOne<U32>, Keep>),
    op("s_ctz_i32_b64", toWord<U64, firstOne<U64>, Keep>, Ty::B32, Ty::B64),
    un32("s_flbit_i32_b32", toWord<U32, leadingZeros<U32>, Keep>),
    op("s_flbit_i32_b64", toWord<U64, leadingZeros<U64>, Keep>, Ty::B32,
       Ty::B64),
    un32("s_clz_i32_u32", toWord<U32, leadingZeros<U32>, Keep>),
    op("s_clz_i32_u64", toWord<U64, leadingZeros<U64>, Keep>, Ty::B32, Ty::B64),
    un32("s_flbit_i32", toWord<U32, leadingSign<U32>, Keep>),
    op("s_flbit_i32_i64", toWord<U64, leadingSign<U64>, Keep>, Ty::B32,
       Ty::B64),
    un32("s_cls_i32", toWord<U32, leadingSign<U32>, Keep>),
    op("s_cls_i32_i64", toWord<U64, leadingSign<U64>, Keep>, Ty::B32, Ty::B64),
    un32("s_bitset0_b32", setBit<U32, false>),
    op("s_bitset0_b64", setBit<U64, false>, Ty::B64, Ty::B32),
    un32("s_bitset1_b32", setBit<U32, true>),
    op("s_bitset1_b64", setBit<U64, true>, Ty::B64, Ty::B32),
    op("s_bitreplicate_b64_b32", bitReplicate, Ty::B64, Ty::B32),
    un32("s_movrels_b32", moveRelSource<U32>),
    un64("s_movrels_b64", moveRelSource<U64>),
    un32("s_movreld_b32", moveRelDest<U32>),
    un64("s_movreld_b64", moveRelDest<U64>),
    SAVE("and", andOp),
    SAVE("or", orOp),
    SAVE("xor", xorOp),
    SAVE("nand", nandOp),
    SAVE("nor", norOp),
    SAVE("xnor", xnorOp),
    SAVE("andn2", andNot1),
    SAVE("and_not1", andNot1),
    SAVE("orn2", orNot1),
    SAVE("or_not1", orNot1),
    SAVE("andn1", andNot0),
    SAVE("and_not0", andNot0),
    SAVE("orn1", orNot0),
    SAVE("or_not0", orNot0),
    WREXEC("andn1", andNot0),
    WREXEC("and_not0", andNot0),
    WREXEC("andn2", andNot1),
    WREXEC("and_not1", andNot1),

    COMPARES("eq", eq),
    COMPARES("lg", ne),
    COMPARES("lt", lt),
    COMPARES("le", le),
    COMPARES("gt", gt),
    COMPARES("ge", ge),
    cmp("s_cmp_eq_u64", compare<U64, eq<U64>>, Ty::B64, Ty::B64),
    cmp("s_cmp_lg_u64", compare<U64, ne<U64>>, Ty::B64, Ty::B64),
    cmp("s_bitcmp0_b32", testBit<U32, false>, Ty::B32),
    cmp("s_bitcmp1_b32", testBit<U32, true>, Ty::B32),
    cmp("s_bitcmp0_b64", testBit<U64, false>, Ty::B64),
    cmp("s_bitcmp1_b64", testBit<U64, true>, Ty::B64),
    immOp("s_movk_i32", moveImm),
    immOp("s_cmovk_i32", conditionalMoveImm),
    immOp("s_addk_i32", addImm),
    immOp("s_addk_co_i32", addImm),
    immOp("s_mulk_i32", mulImm),
};

} // namespace

OpTable scalarAluOps() { return Table; }

} // namespace pagedattn::emu
