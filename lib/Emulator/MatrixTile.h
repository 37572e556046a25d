//===- MatrixTile.h - Registers of matrix instructions ----------*- C++ -*-===//
//
// What MFMA and WMMA share: operands as arrays of registers, and the scratch
// tiles of one instruction.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_MATRIXTILE_H
#define PAGEDATTN_LIB_EMULATOR_MATRIXTILE_H

#include "MatrixKernels.h"
#include "Operands.h"
#include "PagedAttn/Emulator/Formats.h"

namespace pagedattn::emu {

/// The registers of an operand; a constant is the same value in all of them.
struct RegisterRange {
  const uint32_t *Regs[32];

  RegisterRange(Wave &W, const Operand &O, unsigned Count, unsigned First = 0) {
    for (unsigned R = 0; R != Count; ++R)
      Regs[R] =
          O.isVgpr() ? W.V + O.Offset + size_t(First + R) * W.Lanes : O.Splat;
  }
};

inline uint32_t *outputRegister(Wave &W, const Instruction &I, unsigned R) {
  return W.V + I.Dst[0].Offset + size_t(R) * W.Lanes;
}

struct MatrixScratch {
  alignas(64) float A[MaxTileK * MaxTileRows];
  alignas(64) float B[MaxTileK * MaxTileRows];
  alignas(64) float Acc[MaxTileRows * MaxTileRows];
};

/// 0, 1, 2, ...: a lane's elements are consecutive in k, lane groups follow
/// each other.
inline const uint8_t *consecutiveK() {
  struct Table {
    uint8_t K[256];
    Table() {
      for (unsigned I = 0; I != 256; ++I)
        K[I] = uint8_t(I);
    }
  };
  static const Table T;
  return T.K;
}

/// E8M0 codes as binary64, in which products of two scales are exact.
inline const double *scaleTable() {
  struct Table {
    double Scale[256];
    Table() {
      for (unsigned I = 0; I != 256; ++I)
        Scale[I] = decodeE8M0(uint8_t(I));
    }
  };
  static const Table T;
  return T.Scale;
}

/// The registers an operand of Elements per lane takes.
inline unsigned registersFor(ElementType Type, unsigned Elements) {
  return elementBits(Type) * Elements / 32;
}

/// The element type of a format field of cbsz, blgp or matrix_a_fmt.
inline bool elementOfFormatField(unsigned Field, ElementType &Type) {
  static const ElementType Types[] = {ElementType::E4M3FN, ElementType::E5M2,
                                      ElementType::E2M3, ElementType::E3M2,
                                      ElementType::E2M1};
  if (Field >= 5)
    return false;
  Type = Types[Field];
  return true;
}

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_MATRIXTILE_H
