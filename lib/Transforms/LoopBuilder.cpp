//===- LoopBuilder.cpp - Scalar loops in few words --------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pa;

Value mlir::pa::indexConstant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
Value mlir::pa::i32Constant(ImplicitLocOpBuilder &b, uint32_t value) {
  auto attr = b.getIntegerAttr(b.getI32Type(), APInt(32, value));
  return arith::ConstantOp::create(b, attr);
}
Value mlir::pa::f32Constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(
      b, b.getF32FloatAttr(static_cast<float>(value)));
}
Value mlir::pa::negInfConstant(ImplicitLocOpBuilder &b) {
  return f32Constant(b, -std::numeric_limits<double>::infinity());
}

Value mlir::pa::add(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::AddIOp>(lhs, rhs);
}
Value mlir::pa::sub(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::SubIOp>(lhs, rhs);
}
Value mlir::pa::mul(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::MulIOp>(lhs, rhs);
}
Value mlir::pa::mul(ImplicitLocOpBuilder &b, Value lhs, int64_t rhs) {
  return mul(b, lhs, indexConstant(b, rhs));
}
Value mlir::pa::div(ImplicitLocOpBuilder &b, Value lhs, int64_t rhs) {
  return b.createOrFold<arith::DivUIOp>(lhs, indexConstant(b, rhs));
}
Value mlir::pa::rem(ImplicitLocOpBuilder &b, Value lhs, int64_t rhs) {
  return b.createOrFold<arith::RemUIOp>(lhs, indexConstant(b, rhs));
}
Value mlir::pa::signedMin(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::MinSIOp>(lhs, rhs);
}
Value mlir::pa::signedMax(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::MaxSIOp>(lhs, rhs);
}

Value mlir::pa::dim(ImplicitLocOpBuilder &b, Value memref, int64_t dimension) {
  return b.createOrFold<memref::DimOp>(memref, dimension);
}

Value mlir::pa::loadSigned(ImplicitLocOpBuilder &b, Value memref,
                           ValueRange indices) {
  Value element = memref::LoadOp::create(b, memref, indices);
  return arith::IndexCastOp::create(b, b.getIndexType(), element);
}
Value mlir::pa::loadUnsigned(ImplicitLocOpBuilder &b, Value memref,
                             ValueRange indices) {
  Value element = memref::LoadOp::create(b, memref, indices);
  return arith::IndexCastUIOp::create(b, b.getIndexType(), element);
}

SmallVector<Value> mlir::pa::forEach(ImplicitLocOpBuilder &b, Value lower,
                                     Value upper, ValueRange inits,
                                     LoopBody body) {
  auto loop = scf::ForOp::create(
      b, lower, upper, indexConstant(b, 1), inits,
      [&](OpBuilder &nested, Location, Value iv, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(nested.getInsertionBlock());
        SmallVector<Value> next = body(iv, carried);
        scf::YieldOp::create(b, next);
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

void mlir::pa::forEach(ImplicitLocOpBuilder &b, Value lower, Value upper,
                       function_ref<void(Value iv)> body) {
  forEach(b, lower, upper, ValueRange(), [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

void mlir::pa::forEach(ImplicitLocOpBuilder &b, int64_t count,
                       function_ref<void(Value iv)> body) {
  forEach(b, indexConstant(b, 0), indexConstant(b, count), body);
}

Value mlir::pa::sumOf(ImplicitLocOpBuilder &b, int64_t count,
                      function_ref<Value(Value iv)> term) {
  Value zero = f32Constant(b, 0.0);
  return forEach(b, indexConstant(b, 0), indexConstant(b, count), zero,
                 [&](Value iv, ValueRange sum) -> SmallVector<Value> {
                   Value value = term(iv);
                   return {arith::AddFOp::create(b, sum[0], value)};
                 })
      .front();
}

void mlir::pa::ifTrue(ImplicitLocOpBuilder &b, Value condition,
                      function_ref<void()> body) {
  scf::IfOp::create(b, condition, [&](OpBuilder &nested, Location) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(nested.getInsertionBlock());
    body();
    scf::YieldOp::create(b);
  });
}
