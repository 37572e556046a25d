//===- GemmOutput.h - What becomes of a GEMM's sums -------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_GEMMOUTPUT_H
#define PAGEDATTN_LIB_TRANSFORMS_GEMMOUTPUT_H

#include "PagedAttn/Dialect/PA.h"
#include "ScalarFormats.h"

namespace mlir::pa {

/// Columns of an output block that share one scale.
constexpr int64_t kOutputBlock = 32;

/// The activation of an op, on f32.
struct ActivationBuilder {
  ImplicitLocOpBuilder &b;
  ActivationAttr attr;
  /// Tanh through the exponential function, where no library has it.
  bool hasTanh = true;

  Value apply(Value gate, Value up);

private:
  double parameter(FloatAttr value, double otherwise) {
    // A limit of 0 counts as absent.
    return value && value.getValueAsDouble() != 0.0 ? value.getValueAsDouble()
                                                    : otherwise;
  }
  Value sigmoid(Value x, double slope);
  Value scaledTanh(Value x, double range);
};

/// The E8M0 code of the least power of two that is not below `amax / max` of
/// `format`, from the bits of an amax that is not negative. An infinite amax
/// counts as the largest f32, and a NaN gives the code of NaN.
Value encodeScale(ImplicitLocOpBuilder &b, Value amaxBits,
                  const ScalarFormat &format);

/// 2^-(code - 127) as an f64, NaN for 255.
Value reciprocalScale(ImplicitLocOpBuilder &b, Value code);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_GEMMOUTPUT_H
