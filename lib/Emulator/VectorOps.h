//===- VectorOps.h - Lane loops shared by the vector families -------------===//
//
// Included between HostIsaBegin.h and HostIsaEnd.h, by one source file at a
// time: everything here is compiled for that file's host instruction set.
// Operations are plain functions on one lane, given as template arguments so
// that the loops around them vectorise.
//
//===----------------------------------------------------------------------===//

// No include guard: the contents belong to the namespace that includes them.

using U32 = uint32_t;
using U64 = uint64_t;
using I32 = int32_t;
using I64 = int64_t;

/// Runs Body(lane) for all lanes in chunks of a constant size.
template <class BodyT>
inline void allLanes(const Wave &W, BodyT Body) {
  for (unsigned Base = 0; Base != W.Lanes; Base += 32)
    for (unsigned L = 0; L != 32; ++L)
      Body(Base + L);
}

/// Collects bit 31 of every lane into a lane mask.
inline U64 packSigns(const Wave &W, const U32 *X) {
  U64 Mask = 0;
#if PA_HOST_ISA_LEVEL >= 3
  for (unsigned L = 0; L != W.Lanes; L += 8)
    Mask |= U64(unsigned(_mm256_movemask_ps(
                _mm256_load_ps(reinterpret_cast<const float *>(X + L)))))
            << L;
#else
  for (unsigned L = 0; L != W.Lanes; ++L)
    Mask |= U64(X[L] >> 31) << L;
#endif
  return Mask;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <U32 (*F)(U32)>
void int1(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L]); });
  writeVector(W, I, R.D);
}

template <U32 (*F)(U32, U32)>
void int2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L], B[L]); });
  writeVector(W, I, R.D);
}

template <U32 (*F)(U32, U32, U32)>
void int3(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L], B[L], C[L]); });
  writeVector(W, I, R.D);
}

/// As int2 and int3, with a second function for clamp.
template <U32 (*F)(U32, U32), U32 (*Saturating)(U32, U32)>
void int2Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    int2<Saturating>(W, I);
  else
    int2<F>(W, I);
}
template <U32 (*F)(U32, U32, U32), U32 (*Saturating)(U32, U32, U32)>
void int3Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    int3<Saturating>(W, I);
  else
    int3<F>(W, I);
}

//===----------------------------------------------------------------------===//
// 16-bit results
//===----------------------------------------------------------------------===//

/// Writes the low half of every lane to a 16-bit destination. GFX12 keeps the
/// other half of the register, earlier chips clear it unless op_sel or the
/// instruction (KeepHigh) says otherwise.
inline void writeHalf(Wave &W, const Instruction &I, LaneBuffer &R,
                      bool KeepHigh) {
  const Operand &O = I.Dst[0];
  if (O.isSgpr()) {
    R.D[0] &= 0xffff;
    writeVector(W, I, R.D);
    return;
  }
  if (I.Mod.Sdwa) { // the destination selection places the half
    allLanes(W, [&](unsigned L) { R.D[L] &= 0xffff; });
    writeVector(W, I, R.D);
    return;
  }
  const U32 *Old = W.V + O.Offset;
  if (O.High)
    allLanes(W, [&](unsigned L) { R.D[L] = (Old[L] & 0xffff) | R.D[L] << 16; });
  else if (W.Chip->Gfx12 || KeepHigh)
    allLanes(W, [&](unsigned L) {
      R.D[L] = (Old[L] & 0xffff0000) | (R.D[L] & 0xffff);
    });
  else
    allLanes(W, [&](unsigned L) { R.D[L] &= 0xffff; });
  writeVector(W, I, R.D);
}

template <U32 (*F)(U32), bool KeepHigh = false>
void short1(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L]); });
  writeHalf(W, I, R, KeepHigh);
}
template <U32 (*F)(U32, U32), bool KeepHigh = false>
void short2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L], B[L]); });
  writeHalf(W, I, R, KeepHigh);
}
template <U32 (*F)(U32, U32, U32), bool KeepHigh = false>
void short3(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetch(W, I, I.Src[0], T0);
  const U32 *B = fetch(W, I, I.Src[1], T1);
  const U32 *C = fetch(W, I, I.Src[2], T2);
  allLanes(W, [&](unsigned L) { R.D[L] = F(A[L], B[L], C[L]); });
  writeHalf(W, I, R, KeepHigh);
}
template <U32 (*F)(U32, U32), U32 (*Saturating)(U32, U32),
          bool KeepHigh = false>
void short2Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    short2<Saturating, KeepHigh>(W, I);
  else
    short2<F, KeepHigh>(W, I);
}
template <U32 (*F)(U32, U32, U32), U32 (*Saturating)(U32, U32, U32),
          bool KeepHigh = false>
void short3Sat(Wave &W, const Instruction &I) {
  if (I.Mod.Clamp)
    short3<Saturating, KeepHigh>(W, I);
  else
    short3<F, KeepHigh>(W, I);
}

//===----------------------------------------------------------------------===//
// 64-bit values
//===----------------------------------------------------------------------===//

struct alignas(64) LaneBuffer64 {
  U64 D[MaxLanes];
};

/// Reads a register pair as one value per lane.
inline void fetch64(Wave &W, const Instruction &I, const Operand &O,
                    LaneBuffer64 &R) {
  LaneBuffer T0, T1;
  const U32 *Low = fetch(W, I, O, T0, 0);
  const U32 *High = fetch(W, I, O, T1, 1);
  allLanes(W, [&](unsigned L) { R.D[L] = U64(High[L]) << 32 | Low[L]; });
}
inline void write64(Wave &W, const Instruction &I, const LaneBuffer64 &R) {
  LaneBuffer Low, High;
  allLanes(W, [&](unsigned L) {
    Low.D[L] = U32(R.D[L]);
    High.D[L] = U32(R.D[L] >> 32);
  });
  writeVector(W, I, Low.D, 0);
  writeVector(W, I, High.D, 1);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Switches the host's rounding while a lane loop runs, if MODE asks for it.
/// The buffer makes the compiler keep the loop inside.
class RoundScope {
public:
  RoundScope(unsigned Mode, void *Buffer) : On(Mode != 0) {
    if (LLVM_UNLIKELY(On))
      setHostRounding(Mode, Buffer);
  }
  ~RoundScope() {
    if (LLVM_UNLIKELY(On))
      setHostRounding(0, nullptr);
  }

private:
  bool On;
};

inline U32 flush32(U32 X) { return (X & 0x7f800000) == 0 ? X & 0x80000000 : X; }

/// A single-precision source: denormals become zero if MODE says so.
inline const U32 *fetchF32(Wave &W, const Instruction &I, unsigned N,
                           LaneBuffer &Tmp) {
  const U32 *A = fetch(W, I, I.Src[N], Tmp);
  if (LLVM_LIKELY(!W.SpecialMode32) || W.Mode.denormIn32())
    return A;
  allLanes(W, [&](unsigned L) { Tmp.D[L] = flush32(A[L]); });
  return Tmp.D;
}

inline float clampF32(float X, bool NanToZero) {
  float R = X < 0.0f ? 0.0f : X;
  R = R > 1.0f ? 1.0f : R;
  R = R == 0.0f ? 0.0f : R; // -0 becomes +0
  return NanToZero && X != X ? 0.0f : R;
}

/// Denormal flush, output multiplier, clamp.
inline void finishF32(Wave &W, const Instruction &I, LaneBuffer &R) {
  if (LLVM_UNLIKELY(W.SpecialMode32) && !W.Mode.denormOut32())
    allLanes(W, [&](unsigned L) { R.D[L] = flush32(R.D[L]); });
  if (LLVM_UNLIKELY(I.Mod.Omod != OMod::None)) {
    const float Factor = I.Mod.Omod == OMod::Mul2   ? 2.0f
                         : I.Mod.Omod == OMod::Mul4 ? 4.0f
                                                    : 0.5f;
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(asFloat(R.D[L]) * Factor); });
  }
  if (LLVM_UNLIKELY(I.Mod.Clamp)) {
    const bool NanToZero = W.Mode.dx10Clamp();
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(clampF32(asFloat(R.D[L]), NanToZero));
    });
  }
}

template <float (*F)(float)>
void float1(Wave &W, const Instruction &I) {
  LaneBuffer T0, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(F(asFloat(A[L]))); });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}
template <float (*F)(float, float)>
void float2(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  const U32 *B = fetchF32(W, I, 1, T1);
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(F(asFloat(A[L]), asFloat(B[L])));
    });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}
template <float (*F)(float, float, float)>
void float3(Wave &W, const Instruction &I) {
  LaneBuffer T0, T1, T2, R;
  const U32 *A = fetchF32(W, I, 0, T0);
  const U32 *B = fetchF32(W, I, 1, T1);
  const U32 *C = fetchF32(W, I, 2, T2);
  {
    RoundScope Scope(W.Mode.round32(), &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(F(asFloat(A[L]), asFloat(B[L]), asFloat(C[L])));
    });
  }
  finishF32(W, I, R);
  writeVector(W, I, R.D);
}

// Minimum and maximum on the bits of any float format, T with SignBit. A NaN
// loses against a number; the zeros are ordered. SnanWins is the IEEE mode
// of GFX9, where a signaling NaN gives a quiet one.

inline bool isNan32(U32 X) { return (X & 0x7fffffff) > 0x7f800000; }
inline bool isSnan32(U32 X) { return isNan32(X) && !(X & 0x400000); }
/// A key that orders the bits of non-NaN floats as signed integers.
inline I32 orderKey32(U32 X) { return I32(X ^ ((U32(I32(X) >> 31)) >> 1)); }
template <bool Max>
inline U32 minMaxNum32(U32 A, U32 B, bool SnanWins) {
  const I32 KA = orderKey32(A), KB = orderKey32(B);
  U32 R = (Max ? KA > KB : KA < KB) ? A : B;
  R = isNan32(B) ? A : R;
  R = isNan32(A) ? B : R;
  R = isNan32(A) && isNan32(B) ? A | 0x400000 : R;
  R = SnanWins && isSnan32(B) ? B | 0x400000 : R;
  R = SnanWins && isSnan32(A) ? A | 0x400000 : R;
  return R;
}
/// NaN wins.
template <bool Max>
inline U32 minMaxNan32(U32 A, U32 B) {
  const I32 KA = orderKey32(A), KB = orderKey32(B);
  U32 R = (Max ? KA > KB : KA < KB) ? A : B;
  R = isNan32(B) ? B | 0x400000 : R;
  return isNan32(A) ? A | 0x400000 : R;
}
