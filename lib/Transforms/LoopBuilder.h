//===- LoopBuilder.h - Scalar loops in few words ----------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the scalar lowerings share. All index arithmetic is on `index`, which is
// 64 bits wide on every CPU that we lower for.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LOOPBUILDER_H
#define PAGEDATTN_LIB_TRANSFORMS_LOOPBUILDER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::pa {

Value indexConstant(ImplicitLocOpBuilder &b, int64_t value);
Value i32Constant(ImplicitLocOpBuilder &b, uint32_t value);
Value f32Constant(ImplicitLocOpBuilder &b, double value);
Value negInfConstant(ImplicitLocOpBuilder &b);

/// Arithmetic of two values of one integer or index type, folded where both
/// are known. Division and remainder are those of values that are not negative.
Value add(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
Value sub(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
Value mul(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
Value mul(ImplicitLocOpBuilder &b, Value lhs, int64_t rhs);
Value div(ImplicitLocOpBuilder &b, Value lhs, int64_t rhs);
Value rem(ImplicitLocOpBuilder &b, Value lhs, int64_t rhs);
Value signedMin(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
Value signedMax(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

/// Size of a dimension as an index.
Value dim(ImplicitLocOpBuilder &b, Value memref, int64_t dimension);

/// An i32 element as an index, by its sign or as an unsigned number.
Value loadSigned(ImplicitLocOpBuilder &b, Value memref, ValueRange indices);
Value loadUnsigned(ImplicitLocOpBuilder &b, Value memref, ValueRange indices);

using LoopBody = function_ref<SmallVector<Value>(Value iv, ValueRange carried)>;

/// A loop from `lower` to `upper` by 1. `body` returns what the next iteration
/// carries; the last of that is returned.
SmallVector<Value> forEach(ImplicitLocOpBuilder &b, Value lower, Value upper,
                           ValueRange inits, LoopBody body);
void forEach(ImplicitLocOpBuilder &b, Value lower, Value upper,
             function_ref<void(Value iv)> body);
void forEach(ImplicitLocOpBuilder &b, int64_t count,
             function_ref<void(Value iv)> body);

/// The sum, from 0 and in order, of the f32 that `term` gives for each of
/// `count` steps.
Value sumOf(ImplicitLocOpBuilder &b, int64_t count,
            function_ref<Value(Value iv)> term);

/// `body` where `condition` holds.
void ifTrue(ImplicitLocOpBuilder &b, Value condition,
            function_ref<void()> body);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LOOPBUILDER_H
