//===- MatrixKernels.cpp - Host kernels of the matrix instructions --------===//

#include "MatrixKernels.h"
#include "PagedAttn/Emulator/Formats.h"

#include <cmath>

using namespace pagedattn::emu;

unsigned pagedattn::emu::elementBits(ElementType Type) {
  switch (Type) {
  case ElementType::F16:
  case ElementType::BF16:
    return 16;
  case ElementType::E4M3FN:
  case ElementType::E4M3FNUZ:
  case ElementType::E5M2:
  case ElementType::E5M2FNUZ:
  case ElementType::I8:
  case ElementType::U8:
    return 8;
  case ElementType::E2M3:
  case ElementType::E3M2:
    return 6;
  case ElementType::E2M1:
    return 4;
  case ElementType::F32:
  case ElementType::XF32:
    return 32;
  case ElementType::F64:
    return 64;
  }
  return 0;
}

namespace {

// Sixteen lanes: one row of a 16x16 tile. The compiler splits the type where
// the host has narrower registers.
using FloatV = float __attribute__((vector_size(64)));
using DoubleV = double __attribute__((vector_size(128)));
using UIntV = uint32_t __attribute__((vector_size(64)));

constexpr unsigned LaneCount = 16;

#define PA_INLINE inline __attribute__((always_inline))

template <typename V, typename T>
PA_INLINE void loadV(V &Vec, const T *Ptr) {
  std::memcpy(&Vec, Ptr, sizeof(V));
}

template <typename V, typename T>
PA_INLINE void storeV(T *Ptr, const V &Vec) {
  std::memcpy(Ptr, &Vec, sizeof(V));
}

PA_INLINE void splat(FloatV &Vec, float X) {
  Vec = FloatV{X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X};
}

PA_INLINE void fma(FloatV &Acc, const FloatV &A, const FloatV &B) {
#if defined(__has_builtin) && __has_builtin(__builtin_elementwise_fma)
  Acc = __builtin_elementwise_fma(A, B, Acc);
#else
  for (unsigned I = 0; I < LaneCount; ++I)
    Acc[I] = __builtin_fmaf(A[I], B[I], Acc[I]);
#endif
}

/// Decodes the element in the low bits of each lane. Code may have other bits
/// above. Written without a table: gathers are slower than this arithmetic.
template <ElementType Type>
PA_INLINE void decodeV(FloatV &Value, const UIntV &Code) {
  UIntV Bits;
  if constexpr (Type == ElementType::F32) {
    Bits = Code;
  } else if constexpr (Type == ElementType::XF32) {
    // Round to nearest even at bit 13; infinities stay and NaNs stay NaN,
    // because a quiet NaN has bit 22 set.
    UIntV Exponent = Code & 0x7f800000u;
    UIntV Rounded = (Code + 0xfffu + ((Code >> 13) & 1u)) & ~0x1fffu;
    Bits = Exponent == 0x7f800000u ? Code : Rounded;
  } else if constexpr (Type == ElementType::BF16) {
    Bits = Code << 16;
  } else {
    constexpr NumFormat Format = static_cast<NumFormat>(Type);
    constexpr unsigned Width =
        Format == NumFormat::F16 ? 16
        : Format == NumFormat::E2M1
            ? 4
            : (Format == NumFormat::E2M3 || Format == NumFormat::E3M2 ? 6 : 8);
    constexpr unsigned Mantissa =
        Format == NumFormat::F16 ? 10
        : Format == NumFormat::E2M1
            ? 1
            : (Format == NumFormat::E5M2 || Format == NumFormat::E5M2FNUZ ||
                       Format == NumFormat::E3M2
                   ? 2
                   : 3);
    constexpr uint32_t Bias = Format == NumFormat::F16        ? 15
                              : Format == NumFormat::E4M3FN   ? 7
                              : Format == NumFormat::E4M3FNUZ ? 8
                              : Format == NumFormat::E5M2     ? 15
                              : Format == NumFormat::E5M2FNUZ ? 16
                              : Format == NumFormat::E3M2     ? 3
                                                              : 1;
    constexpr uint32_t MagnitudeMask = (1u << (Width - 1)) - 1;
    UIntV Magnitude = Code & MagnitudeMask;
    UIntV Sign = (Code << (32 - Width)) & 0x80000000u;
    UIntV Shifted = Magnitude << (23 - Mantissa);
    UIntV Normal = Shifted + ((127 - Bias) << 23);
    // A denormal code is the mantissa of the smallest normal's binade, minus
    // that binade's first value; the subtraction is exact.
    UIntV Raised = Shifted + ((128 - Bias) << 23);
    FloatV RaisedF;
    std::memcpy(&RaisedF, &Raised, sizeof(Raised));
    RaisedF = RaisedF - bitsToFloat((128 - Bias) << 23);
    UIntV Denormal;
    std::memcpy(&Denormal, &RaisedF, sizeof(Denormal));
    Bits = Magnitude < (1u << Mantissa) ? Denormal : Normal;
    if constexpr (Format == NumFormat::E4M3FN)
      Bits = Magnitude == 0x7fu ? UIntV{} + 0x7fc00000u : Bits;
    if constexpr (Format == NumFormat::F16 || Format == NumFormat::E5M2)
      Bits = Magnitude >= (0x1fu << Mantissa) ? (Shifted | 0x7f800000u) : Bits;
    Bits |= Sign;
    if constexpr (Format == NumFormat::E4M3FNUZ ||
                  Format == NumFormat::E5M2FNUZ)
      Bits = (Code & 0xffu) == 0x80u ? UIntV{} + 0x7fc00000u : Bits;
  }
  std::memcpy(&Value, &Bits, sizeof(Bits));
}

template <ElementType Type>
PA_INLINE void decodeTyped(const OperandLayout &Layout, unsigned Width,
                           const uint32_t *const *Registers, float *Tile) {
  const unsigned Rows = Layout.Rows;
  for (unsigned G = 0; G < Layout.Groups; ++G) {
    const uint8_t *KOf = Layout.KOf + G * Layout.Slots;
    const unsigned Lane = Layout.LaneBase + G * Layout.LaneStride;
    for (unsigned S = 0; S < Layout.Slots; ++S) {
      const unsigned Bit = S * Width, Word = Bit / 32, Shift = Bit % 32;
      const bool Straddles = Shift + Width > 32;
      const uint32_t *Low = Registers[Word] + Lane;
      const uint32_t *High = Straddles ? Registers[Word + 1] + Lane : Low;
      float *Out = Tile + unsigned(KOf[S]) * Rows;
      if (Rows >= LaneCount) {
        for (unsigned I = 0; I < Rows; I += LaneCount) {
          UIntV Code;
          loadV(Code, Low + I);
          Code = Code >> Shift;
          if (Straddles) {
            UIntV Upper;
            loadV(Upper, High + I);
            Code |= Upper << (32 - Shift);
          }
          FloatV Value;
          decodeV<Type>(Value, Code);
          storeV(Out + I, Value);
        }
        continue;
      }
      UIntV Code{};
      for (unsigned I = 0; I < Rows; ++I)
        Code[I] =
            (Low[I] >> Shift) | (Straddles ? High[I] << (32 - Shift) : 0u);
      FloatV Value;
      decodeV<Type>(Value, Code);
      std::memcpy(Out, &Value, Rows * sizeof(float));
    }
  }
}

PA_INLINE void decodeFloatImpl(const OperandLayout &Layout,
                               const uint32_t *const *Registers, float *Tile) {
  switch (Layout.Type) {
#define PA_CASE(TYPE, WIDTH)                                                   \
  case ElementType::TYPE:                                                      \
    return decodeTyped<ElementType::TYPE>(Layout, WIDTH, Registers, Tile)
    PA_CASE(F16, 16);
    PA_CASE(BF16, 16);
    PA_CASE(E4M3FN, 8);
    PA_CASE(E4M3FNUZ, 8);
    PA_CASE(E5M2, 8);
    PA_CASE(E5M2FNUZ, 8);
    PA_CASE(E2M3, 6);
    PA_CASE(E3M2, 6);
    PA_CASE(E2M1, 4);
    PA_CASE(F32, 32);
    PA_CASE(XF32, 32);
#undef PA_CASE
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::F64:
    break;
  }
}

/// Accumulators of PanelRows rows stay in registers over the whole k loop.
template <unsigned PanelRows>
PA_INLINE void multiplyPanel(unsigned M, unsigned N, unsigned K, const float *A,
                             const float *B, float *Acc, unsigned AccStride) {
  FloatV Sum[PanelRows];
  for (unsigned R = 0; R < PanelRows; ++R)
    loadV(Sum[R], Acc + R * AccStride);
  for (unsigned I = 0; I < K; ++I) {
    FloatV Column;
    loadV(Column, B + I * N);
    const float *Row = A + I * M;
    for (unsigned R = 0; R < PanelRows; ++R) {
      FloatV Value;
      splat(Value, Row[R]);
      fma(Sum[R], Value, Column);
    }
  }
  for (unsigned R = 0; R < PanelRows; ++R)
    storeV(Acc + R * AccStride, Sum[R]);
}

PA_INLINE void multiplySmall(unsigned M, unsigned N, unsigned K, const float *A,
                             const float *B, float *Acc) {
  for (unsigned I = 0; I < M; ++I)
    for (unsigned J = 0; J < N; ++J)
      for (unsigned L = 0; L < K; ++L)
        Acc[I * N + J] =
            __builtin_fmaf(A[L * M + I], B[L * N + J], Acc[I * N + J]);
}

template <unsigned PanelRows>
PA_INLINE void multiplyImpl(unsigned M, unsigned N, unsigned K, const float *A,
                            const float *B, float *Acc) {
  if (M % PanelRows || N % LaneCount)
    return multiplySmall(M, N, K, A, B, Acc);
  for (unsigned I = 0; I < M; I += PanelRows)
    for (unsigned J = 0; J < N; J += LaneCount)
      multiplyPanel<PanelRows>(M, N, K, A + I, B + J, Acc + I * N + J, N);
}

template <unsigned PanelRows>
PA_INLINE void multiplyScaledImpl(unsigned M, unsigned N, unsigned K,
                                  unsigned BlockK, const float *A,
                                  const float *B, const double *AScale,
                                  const double *BScale, float *Acc) {
  alignas(64) float Sum[MaxTileRows * MaxTileRows];
  for (unsigned Block = 0; Block * BlockK < K; ++Block) {
    std::memset(Sum, 0, M * N * sizeof(float));
    multiplyImpl<PanelRows>(M, N, BlockK, A + Block * BlockK * M,
                            B + Block * BlockK * N, Sum);
    for (unsigned I = 0; I < M; ++I) {
      const double RowScale = AScale[Block * M + I];
      for (unsigned J = 0; J < N; ++J) {
        double Scale = RowScale * BScale[Block * N + J];
        Acc[I * N + J] = float(Acc[I * N + J] + Sum[I * N + J] * Scale);
      }
    }
  }
}

// The same code, compiled once per instruction set.
#define PA_KERNELS(NAME, TARGET, ROWS)                                         \
  TARGET void decodeFloat_##NAME(const OperandLayout &Layout,                  \
                                 const uint32_t *const *Registers,             \
                                 float *Tile) {                                \
    decodeFloatImpl(Layout, Registers, Tile);                                  \
  }                                                                            \
  TARGET void multiply_##NAME(unsigned M, unsigned N, unsigned K,              \
                              const float *A, const float *B, float *Acc) {    \
    multiplyImpl<ROWS>(M, N, K, A, B, Acc);                                    \
  }                                                                            \
  TARGET void multiplyScaled_##NAME(unsigned M, unsigned N, unsigned K,        \
                                    unsigned BlockK, const float *A,           \
                                    const float *B, const double *AScale,      \
                                    const double *BScale, float *Acc) {        \
    multiplyScaledImpl<ROWS>(M, N, K, BlockK, A, B, AScale, BScale, Acc);      \
  }                                                                            \
  constexpr MatrixKernels kernels_##NAME = {                                   \
      #NAME, decodeFloat_##NAME, multiply_##NAME, multiplyScaled_##NAME};

PA_KERNELS(generic, , 2)
#if defined(__x86_64__)
PA_KERNELS(avx2, __attribute__((target("avx2,fma"))), 4)
PA_KERNELS(
    avx512,
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), 16)
#endif

struct KernelList {
  const MatrixKernels *Entries[4] = {};

  KernelList() {
    unsigned Count = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      Entries[Count++] = &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      Entries[Count++] = &kernels_avx2;
#endif
    Entries[Count] = &kernels_generic;
  }
};

} // namespace

const MatrixKernels *const *pagedattn::emu::allMatrixKernels() {
  static const KernelList List;
  return List.Entries;
}

const MatrixKernels &pagedattn::emu::hostMatrixKernels() {
  static const MatrixKernels &Kernels = *allMatrixKernels()[0];
  return Kernels;
}

void pagedattn::emu::decodeInt(const OperandLayout &Layout,
                               const uint32_t *const *Registers,
                               int32_t *Tile) {
  for (unsigned G = 0; G < Layout.Groups; ++G)
    for (unsigned S = 0; S < Layout.Slots; ++S) {
      const uint32_t *Lanes =
          Registers[S / 4] + Layout.LaneBase + G * Layout.LaneStride;
      int32_t *Out =
          Tile + unsigned(Layout.KOf[G * Layout.Slots + S]) * Layout.Rows;
      for (unsigned I = 0; I < Layout.Rows; ++I) {
        uint8_t Byte = uint8_t(Lanes[I] >> (8 * (S % 4)));
        Out[I] = Layout.Type == ElementType::U8 ? int32_t(Byte)
                                                : int32_t(int8_t(Byte));
      }
    }
}

void pagedattn::emu::multiplyInt(unsigned M, unsigned N, unsigned K,
                                 const int32_t *A, const int32_t *B,
                                 int64_t *Acc) {
  for (unsigned I = 0; I < M; ++I) {
    // 128 products of 8-bit values fit 32 bits; only the sum with C may not.
    int32_t Sum[MaxTileRows] = {};
    for (unsigned L = 0; L < K; ++L) {
      const int32_t X = A[L * M + I];
      for (unsigned J = 0; J < N; ++J)
        Sum[J] += X * B[L * N + J];
    }
    for (unsigned J = 0; J < N; ++J)
      Acc[I * N + J] += Sum[J];
  }
}

void pagedattn::emu::decodeDouble(const OperandLayout &Layout,
                                  const uint32_t *const *Registers,
                                  double *Tile) {
  for (unsigned G = 0; G < Layout.Groups; ++G)
    for (unsigned S = 0; S < Layout.Slots; ++S) {
      unsigned Lane = Layout.LaneBase + G * Layout.LaneStride;
      double *Out =
          Tile + unsigned(Layout.KOf[G * Layout.Slots + S]) * Layout.Rows;
      for (unsigned I = 0; I < Layout.Rows; ++I) {
        uint64_t Bits = uint64_t(Registers[2 * S + 1][Lane + I]) << 32 |
                        Registers[2 * S][Lane + I];
        std::memcpy(&Out[I], &Bits, sizeof(Bits));
      }
    }
}

void pagedattn::emu::multiplyDouble(unsigned M, unsigned N, unsigned K,
                                    const double *A, const double *B,
                                    double *Acc) {
  for (unsigned I = 0; I < M; ++I)
    for (unsigned J = 0; J < N; ++J)
      for (unsigned L = 0; L < K; ++L)
        Acc[I * N + J] = std::fma(A[L * M + I], B[L * N + J], Acc[I * N + J]);
}
