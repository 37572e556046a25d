//===- MatrixKernels.h - Host kernels of the matrix instructions -*- C++
//-*-===//
//
// The arithmetic of one matrix instruction on dense tiles: operands are decoded
// from registers into K-major tiles, multiplied, and accumulated.
//
// Rounding: an accumulator element is a chain of fused multiply-adds in
// ascending k, each rounded to nearest even in binary32 with denormals kept.
// Products of formats of at most 16 bits are exact in binary32, so this is also
// the result of separate multiplications and additions, and the result does not
// depend on the instruction set of the host. Block-scaled instructions sum each
// scale block that way from zero; the sum is scaled and added to the
// accumulator in binary64, and rounded to binary32 once per block.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_MATRIXKERNELS_H
#define PAGEDATTN_LIB_EMULATOR_MATRIXKERNELS_H

#include <cstdint>

namespace pagedattn::emu {

enum class ElementType : uint8_t {
  F16,
  BF16,
  E4M3FN,
  E4M3FNUZ,
  E5M2,
  E5M2FNUZ,
  E2M3,
  E3M2,
  E2M1,
  F32,
  /// binary32 rounded to a 10-bit mantissa.
  XF32,
  I8,
  U8,
  F64,
};

unsigned elementBits(ElementType Type);

/// Largest K, and largest M or N, of any matrix instruction.
inline constexpr unsigned MaxTileK = 128;
inline constexpr unsigned MaxTileRows = 32;

/// Where the elements of one operand are: lane LaneBase + g * LaneStride + i
/// holds row (of A) or column (of B) i; element s of its packed registers
/// is at k = KOf[g * Slots + s].
struct OperandLayout {
  ElementType Type;
  uint8_t Rows;
  uint8_t Groups;
  uint8_t Slots;
  uint8_t LaneBase;
  uint8_t LaneStride;
  const uint8_t *KOf;
};

struct MatrixKernels {
  const char *Name;
  /// Tile[k * Rows + i]; Registers[w] are the lanes of the w-th register.
  void (*DecodeFloat)(const OperandLayout &Layout,
                      const uint32_t *const *Registers, float *Tile);
  /// Acc[m * N + n] += sum over k of A[k * M + m] * B[k * N + n].
  void (*Multiply)(unsigned M, unsigned N, unsigned K, const float *A,
                   const float *B, float *Acc);
  /// As Multiply, with AScale[block * M + m] and BScale[block * N + n] for
  /// each block of BlockK values of k.
  void (*MultiplyScaled)(unsigned M, unsigned N, unsigned K, unsigned BlockK,
                         const float *A, const float *B, const double *AScale,
                         const double *BScale, float *Acc);
};

/// The fastest kernels that the host can run. All of them give the same bits.
const MatrixKernels &hostMatrixKernels();

/// All kernels that the host can run, null-terminated; for tests.
const MatrixKernels *const *allMatrixKernels();

void decodeInt(const OperandLayout &Layout, const uint32_t *const *Registers,
               int32_t *Tile);
void multiplyInt(unsigned M, unsigned N, unsigned K, const int32_t *A,
                 const int32_t *B, int64_t *Acc);
void decodeDouble(const OperandLayout &Layout, const uint32_t *const *Registers,
                  double *Tile);
void multiplyDouble(unsigned M, unsigned N, unsigned K, const double *A,
                    const double *B, double *Acc);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_MATRIXKERNELS_H
