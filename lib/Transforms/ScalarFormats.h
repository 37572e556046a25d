//===- ScalarFormats.h - Narrow numbers on a CPU ----------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narrow floating-point formats decoded and encoded one element at a time with
// integer ops: CPU backends lower `arith.extf` and `arith.truncf` for few of
// these types, and never for the packed mxfp4.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_SCALARFORMATS_H
#define PAGEDATTN_LIB_TRANSFORMS_SCALARFORMATS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::pa {

/// A format of at most 16 bits: sign, exponent, mantissa.
struct ScalarFormat {
  unsigned width;
  unsigned mantissaBits;
  int bias;
  /// Greatest code without its sign that an encoder gives: the largest finite
  /// number where the format has no infinity (conversion then saturates), else
  /// infinity.
  uint32_t maxCode;
  /// Least code without its sign that is an infinity or a NaN of IEEE form;
  /// beyond all codes where there is none.
  uint32_t firstSpecial;
  /// The code that NaN becomes, and the code that is read as NaN where the
  /// format has one NaN only. mxfp4 has none.
  uint32_t nanCode;
  bool hasNaN;
  /// f8E4M3FNUZ has no -0: its code is the NaN.
  bool hasNegativeZero;
};

/// The format of f8E4M3FN, f8E4M3FNUZ, bf16 or f16.
const ScalarFormat &getScalarFormat(Type type);
/// OCP E2M1, which has no memref element type of its own here.
const ScalarFormat &getFp4Format();

/// The exact f32 of a code, which is an i32.
Value decode(ImplicitLocOpBuilder &b, Value code, const ScalarFormat &format);

/// The nearest code of an f32, ties to even, as an i32.
Value encode(ImplicitLocOpBuilder &b, Value value, const ScalarFormat &format);

/// Bits of an element of 8 or 16 bits, extended with zeros to i32.
Value loadCode(ImplicitLocOpBuilder &b, Value memref, ValueRange indices);
/// The converse: stores the low bits of an i32.
void storeCode(ImplicitLocOpBuilder &b, Value code, Value memref,
               ValueRange indices);

/// The f32 of a floating-point element.
Value loadFloat(ImplicitLocOpBuilder &b, Value memref, ValueRange indices);
/// Stores an f32 in the element type of `memref`.
void storeFloat(ImplicitLocOpBuilder &b, Value value, Value memref,
                ValueRange indices);

/// The f32 of element `element` of a row of mxfp4 pairs in bytes, the even one
/// in the low nibble. `byteIndices` locate the byte that holds it.
Value loadFp4(ImplicitLocOpBuilder &b, Value memref, ValueRange byteIndices,
              Value element);

/// The product of E8M0 scales as an f64: 2 to the sum of their exponents, NaN
/// where a code is 255. At most four codes, so that no product leaves the
/// normal numbers of f64.
Value exponentScale(ImplicitLocOpBuilder &b, ArrayRef<Value> codes);

/// `value * scale`, an f32 by an f64, rounded once to f32.
Value scaleOnce(ImplicitLocOpBuilder &b, Value value, Value scale);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_SCALARFORMATS_H
