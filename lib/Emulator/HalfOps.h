//===- HalfOps.h - Lane loops on 16-bit floats ----------------------------===//
//
// Included after VectorOps.h, in the same way. An operation is a function of
// singles; halves and bfloats are widened, operated on and rounded once. For
// one addition, multiplication, division or root that equals rounding the
// exact result, because a single has more than twice the bits; fused
// operations go through double.
//
//===----------------------------------------------------------------------===//

enum class Narrow { Half, Bfloat };

template <Narrow N>
inline float widen(U32 X) {
  return N == Narrow::Half ? halfToFloat(X & 0xffff)
                           : bfloatToFloat(X & 0xffff);
}

inline U32 flush16(U32 H) { return (H & 0x7c00) == 0 ? H & 0x8000 : H; }

/// What narrowing needs to know about MODE and modifiers.
struct NarrowContext {
  bool FlushIn, FlushOut, Saturate, Clamp, NanToZero;
  unsigned Round;
  float Factor;

  NarrowContext(const Wave &W, const Instruction &I)
      : FlushIn(!W.Mode.denormIn16_64()), FlushOut(!W.Mode.denormOut16_64()),
        Saturate(W.Mode.fp16Ovfl()), Clamp(I.Mod.Clamp),
        NanToZero(W.Mode.dx10Clamp()), Round(W.Mode.round16_64()),
        Factor(I.Mod.Omod == OMod::Mul2   ? 2.0f
               : I.Mod.Omod == OMod::Mul4 ? 4.0f
               : I.Mod.Omod == OMod::Div2 ? 0.5f
                                          : 1.0f) {}
  /// Nothing but rounding to nearest even.
  bool plain() const {
    return !FlushOut && !Saturate && !Clamp && Round == 0 && Factor == 1.0f;
  }
};

template <Narrow N>
inline U32 narrowGeneral(const NarrowContext &C, float X) {
  X *= C.Factor;
  if (C.Clamp)
    X = clampF32(X, C.NanToZero);
  EncodeOptions Options;
  Options.Mode = static_cast<Rounding>(C.Round);
  Options.Saturate = N == Narrow::Half && C.Saturate;
  U32 H = encode(N == Narrow::Half ? NumFormat::F16 : NumFormat::BF16,
                 double(X), Options);
  return N == Narrow::Half && C.FlushOut ? flush16(H) : H;
}

/// Rounds the singles in R to the narrow format, in place.
template <Narrow N>
inline void narrowAll(Wave &W, const NarrowContext &C, LaneBuffer &R) {
  if (LLVM_LIKELY(C.plain())) {
    if (N == Narrow::Half)
      allLanes(W, [&](unsigned L) { R.D[L] = floatToHalf(asFloat(R.D[L])); });
    else
      allLanes(W, [&](unsigned L) { R.D[L] = floatToBfloat(asFloat(R.D[L])); });
    return;
  }
  for (unsigned L = 0; L != W.Lanes; ++L)
    R.D[L] = narrowGeneral<N>(C, asFloat(R.D[L]));
}

/// A 16-bit source as singles.
template <Narrow N>
inline void fetchNarrow(Wave &W, const Instruction &I, unsigned S,
                        const NarrowContext &C, LaneBuffer &R) {
  LaneBuffer Tmp;
  const U32 *A = fetch(W, I, I.Src[S], Tmp);
  if (LLVM_UNLIKELY(C.FlushIn) && N == Narrow::Half)
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(widen<N>(flush16(A[L]))); });
  else
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(widen<N>(A[L])); });
}

template <float (*F)(float), Narrow N = Narrow::Half, bool KeepHigh = false>
void half1(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer A, R;
  fetchNarrow<N>(W, I, 0, C, A);
  {
    RoundScope Scope(C.Round, &R);
    allLanes(W, [&](unsigned L) { R.D[L] = asBits(F(asFloat(A.D[L]))); });
  }
  narrowAll<N>(W, C, R);
  writeHalf(W, I, R, KeepHigh);
}
template <float (*F)(float, float), Narrow N = Narrow::Half,
          bool KeepHigh = false>
void half2(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer A, B, R;
  fetchNarrow<N>(W, I, 0, C, A);
  fetchNarrow<N>(W, I, 1, C, B);
  {
    RoundScope Scope(C.Round, &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(F(asFloat(A.D[L]), asFloat(B.D[L])));
    });
  }
  narrowAll<N>(W, C, R);
  writeHalf(W, I, R, KeepHigh);
}
template <float (*F)(float, float, float), Narrow N = Narrow::Half,
          bool KeepHigh = true>
void half3(Wave &W, const Instruction &I) {
  const NarrowContext C(W, I);
  LaneBuffer A, B, D, R;
  fetchNarrow<N>(W, I, 0, C, A);
  fetchNarrow<N>(W, I, 1, C, B);
  fetchNarrow<N>(W, I, 2, C, D);
  {
    RoundScope Scope(C.Round, &R);
    allLanes(W, [&](unsigned L) {
      R.D[L] = asBits(F(asFloat(A.D[L]), asFloat(B.D[L]), asFloat(D.D[L])));
    });
  }
  narrowAll<N>(W, C, R);
  writeHalf(W, I, R, KeepHigh);
}

inline float addOp(float A, float B) { return A + B; }
inline float subOp(float A, float B) { return A - B; }
inline float subRevOp(float A, float B) { return B - A; }
inline float mulOp(float A, float B) { return A * B; }
/// Rounded to odd, so that rounding again to 16 bits is exact.
inline float fmaOp(float A, float B, float C) {
  const double Product = double(A) * double(B); // exact
  const double Sum = Product + double(C);
  const float R = float(Sum);
  // A single that differs from the sum must not look like a tie.
  const U32 Bits = asBits(R);
  const bool Inexact = double(R) != Sum && Sum == Sum;
  const bool Away = __builtin_fabs(double(R)) > __builtin_fabs(Sum);
  const U32 Truncated = Bits - (Inexact && Away ? 1 : 0);
  return asFloat(Inexact ? Truncated | 1 : Bits);
}
template <bool Max>
inline float numOp(float A, float B) {
  return asFloat(minMaxNum32<Max>(asBits(A), asBits(B), false));
}
template <bool Max>
inline float num3Op(float A, float B, float C) {
  return numOp<Max>(numOp<Max>(A, B), C);
}
template <bool Max>
inline float nanOp(float A, float B) {
  return asFloat(minMaxNan32<Max>(asBits(A), asBits(B)));
}
template <bool Max>
inline float nan3Op(float A, float B, float C) {
  return nanOp<Max>(nanOp<Max>(A, B), C);
}
