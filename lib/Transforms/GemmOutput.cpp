//===- GemmOutput.cpp - What becomes of a GEMM's sums ---------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmOutput.h"
#include "LoopBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pa;

Value ActivationBuilder::sigmoid(Value x, double slope) {
  Value scaled = arith::MulFOp::create(b, x, f32Constant(b, -slope));
  Value one = f32Constant(b, 1.0);
  Value denominator =
      arith::AddFOp::create(b, one, math::ExpOp::create(b, scaled));
  return arith::DivFOp::create(b, one, denominator);
}

Value ActivationBuilder::scaledTanh(Value x, double range) {
  Value bound = f32Constant(b, range);
  Value ratio = arith::DivFOp::create(b, x, bound);
  if (hasTanh)
    return arith::MulFOp::create(b, bound, math::TanhOp::create(b, ratio));
  // tanh(z) = 1 - 2 / (1 + exp(2 z)), right at both infinities.
  Value twice = arith::AddFOp::create(b, ratio, ratio);
  Value one = f32Constant(b, 1.0);
  Value denominator =
      arith::AddFOp::create(b, one, math::ExpOp::create(b, twice));
  Value quotient = arith::DivFOp::create(b, f32Constant(b, 2.0), denominator);
  return arith::MulFOp::create(b, bound,
                               arith::SubFOp::create(b, one, quotient));
}

Value ActivationBuilder::apply(Value gate, Value up) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  constexpr double kSwigluLimit = 7.0, kSwigluSlope = 1.702;
  auto times = [&](Value lhs, Value rhs) -> Value {
    return arith::MulFOp::create(b, lhs, rhs);
  };
  if (attr.getKind() == ActivationKind::situv2) {
    Value bounded = scaledTanh(gate, parameter(attr.getBeta(), 1.0));
    Value gated = times(bounded, sigmoid(gate, 1.0));
    return times(gated, scaledTanh(up, parameter(attr.getLinearBeta(), 1.0)));
  }
  bool isSwiglu = attr.getKind() == ActivationKind::swiglu;
  double limit =
      parameter(attr.getLimit(), isSwiglu ? kSwigluLimit : kUnlimited);
  if (limit != kUnlimited) {
    // Minimum and maximum that keep a NaN.
    Value most = f32Constant(b, limit), least = f32Constant(b, -limit);
    gate = arith::MinimumFOp::create(b, gate, most);
    up = arith::MaximumFOp::create(b, arith::MinimumFOp::create(b, up, most),
                                   least);
  }
  Value gated = times(gate, sigmoid(gate, isSwiglu ? kSwigluSlope : 1.0));
  if (isSwiglu)
    up = arith::AddFOp::create(b, up, f32Constant(b, 1.0));
  return times(gated, up);
}

Value mlir::pa::encodeScale(ImplicitLocOpBuilder &b, Value amaxBits,
                            const ScalarFormat &format) {
  constexpr uint32_t kInfinity = 0x7f800000, kMantissaMask = 0x7fffff;
  // amax and max are m * 2^x with m in [1, 2): the quotient of the powers,
  // doubled where the m of amax is the greater, is that power of two.
  uint32_t maxMantissa = (format.maxCode & ((1u << format.mantissaBits) - 1))
                         << (23 - format.mantissaBits);
  int maxExponent = int(format.maxCode >> format.mantissaBits) - format.bias;
  Value clamped =
      arith::MinUIOp::create(b, amaxBits, i32Constant(b, kInfinity - 1));
  Value mantissa =
      arith::AndIOp::create(b, clamped, i32Constant(b, kMantissaMask));
  Value exponent = arith::ShRUIOp::create(b, clamped, i32Constant(b, 23));
  Value isGreater = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ugt, mantissa, i32Constant(b, maxMantissa));
  Value code =
      add(b, exponent, arith::ExtUIOp::create(b, b.getI32Type(), isGreater));
  code = sub(b, code, i32Constant(b, maxExponent));
  code = signedMax(b, code, i32Constant(b, 0));
  Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, amaxBits,
                                      i32Constant(b, kInfinity));
  return arith::SelectOp::create(b, isNaN, i32Constant(b, 0xff), code);
}

Value mlir::pa::reciprocalScale(ImplicitLocOpBuilder &b, Value code) {
  Value one = arith::ConstantOp::create(b, b.getF64FloatAttr(1.0));
  return arith::DivFOp::create(b, one, exponentScale(b, code));
}
