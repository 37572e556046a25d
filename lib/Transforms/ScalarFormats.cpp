//===- ScalarFormats.cpp - Narrow numbers on a CPU --------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarFormats.h"
#include "LoopBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace mlir;
using namespace mlir::pa;

static constexpr unsigned kF32Mantissa = 23;
static constexpr int kF32Bias = 127;
static constexpr uint32_t kF32Infinity = 0x7f800000;
static constexpr uint32_t kNoSpecial = 0x10000;

static constexpr ScalarFormat kE4M3FN{8,          3,    7,    0x7e,
                                      kNoSpecial, 0x7f, true, true};
static constexpr ScalarFormat kE4M3FNUZ{8,          3,    8,    0x7f,
                                        kNoSpecial, 0x80, true, false};
static constexpr ScalarFormat kE2M1{4, 1, 1, 7, kNoSpecial, 0, false, true};
static constexpr ScalarFormat kBF16{16,     7,      127,  0x7f80,
                                    0x7f80, 0x7fc0, true, true};
static constexpr ScalarFormat kF16{16,     10,     15,   0x7c00,
                                   0x7c00, 0x7e00, true, true};

const ScalarFormat &mlir::pa::getScalarFormat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return kE4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return kE4M3FNUZ;
  if (isa<BFloat16Type>(type))
    return kBF16;
  if (isa<Float16Type>(type))
    return kF16;
  llvm_unreachable("the verifiers of the ops admit no other narrow type");
}
const ScalarFormat &mlir::pa::getFp4Format() { return kE2M1; }

namespace {
/// i32 and f32 arithmetic by name, with constants on the right.
struct Bits {
  ImplicitLocOpBuilder &b;

  Value constant(uint32_t value) { return i32Constant(b, value); }
  Value andWith(Value value, uint32_t mask) {
    return arith::AndIOp::create(b, value, constant(mask));
  }
  Value orWith(Value lhs, Value rhs) {
    return arith::OrIOp::create(b, lhs, rhs);
  }
  Value shiftLeft(Value value, unsigned amount) {
    return arith::ShLIOp::create(b, value, constant(amount));
  }
  Value shiftRight(Value value, unsigned amount) {
    return arith::ShRUIOp::create(b, value, constant(amount));
  }
  Value compare(arith::CmpIPredicate predicate, Value value, uint32_t bound) {
    return arith::CmpIOp::create(b, predicate, value, constant(bound));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value toFloat(Value value) {
    return arith::BitcastOp::create(b, b.getF32Type(), value);
  }
  Value toBits(Value value) {
    return arith::BitcastOp::create(b, b.getI32Type(), value);
  }
};
} // namespace

Value mlir::pa::decode(ImplicitLocOpBuilder &b, Value code,
                       const ScalarFormat &format) {
  Bits bits{b};
  uint32_t magnitudeMask = (1u << (format.width - 1)) - 1;
  unsigned toF32Mantissa = kF32Mantissa - format.mantissaBits;
  Value magnitude = bits.andWith(code, magnitudeMask);
  Value sign = bits.shiftLeft(bits.shiftRight(code, format.width - 1), 31);

  // Read with the exponent field in place, a code is its value times a power of
  // two, subnormal codes included: one exact product puts that right.
  Value shifted = bits.shiftLeft(magnitude, toF32Mantissa);
  Value result = shifted;
  if (format.bias != kF32Bias) {
    Value scale = f32Constant(b, std::ldexp(1.0, kF32Bias - format.bias));
    result =
        bits.toBits(arith::MulFOp::create(b, bits.toFloat(shifted), scale));
    if (format.firstSpecial != kNoSpecial) {
      Value isSpecial = bits.compare(arith::CmpIPredicate::uge, magnitude,
                                     format.firstSpecial);
      Value special = bits.orWith(shifted, bits.constant(kF32Infinity));
      result = bits.select(isSpecial, special, result);
    }
  }
  if (format.hasNaN && format.firstSpecial == kNoSpecial) {
    // The only NaN of f8E4M3FN has either sign, that of f8E4M3FNUZ has one.
    Value seen = format.hasNegativeZero ? magnitude : code;
    Value isNaN = bits.compare(arith::CmpIPredicate::eq, seen, format.nanCode);
    result = bits.select(isNaN, bits.constant(0x7fc00000), result);
  }
  return bits.toFloat(bits.orWith(result, sign));
}

Value mlir::pa::encode(ImplicitLocOpBuilder &b, Value value,
                       const ScalarFormat &format) {
  Bits bits{b};
  unsigned dropped = kF32Mantissa - format.mantissaBits;
  Value all = bits.toBits(value);
  Value magnitude = bits.andWith(all, 0x7fffffff);
  Value sign = bits.shiftLeft(bits.shiftRight(all, 31), format.width - 1);

  // Normal results: round the dropped bits to nearest even, then move the
  // exponent to the bias of the format. A carry goes into the exponent.
  Value lowest = bits.andWith(bits.shiftRight(magnitude, dropped), 1);
  Value half = bits.constant((1u << (dropped - 1)) - 1);
  Value rounded = add(b, add(b, magnitude, half), lowest);
  Value normal = sub(
      b, bits.shiftRight(rounded, dropped),
      bits.constant(uint32_t(kF32Bias - format.bias) << format.mantissaBits));

  // Subnormal results: added to a number whose last place is the least code,
  // the value rounds to whole codes by itself.
  int leastExponent = 1 - format.bias - int(format.mantissaBits);
  Value anchor =
      f32Constant(b, std::ldexp(1.0, leastExponent + int(kF32Mantissa)));
  Value anchored =
      bits.toBits(arith::AddFOp::create(b, bits.toFloat(magnitude), anchor));
  Value subnormal = sub(b, anchored, bits.toBits(anchor));

  uint32_t leastNormal = uint32_t(1 - format.bias + kF32Bias) << kF32Mantissa;
  Value isSubnormal =
      bits.compare(arith::CmpIPredicate::ult, magnitude, leastNormal);
  Value code = bits.select(isSubnormal, subnormal, normal);
  code = arith::MinUIOp::create(b, code, bits.constant(format.maxCode));
  if (!format.hasNegativeZero) {
    Value isZero = bits.compare(arith::CmpIPredicate::eq, code, 0);
    sign = bits.select(isZero, bits.constant(0), sign);
  }
  code = bits.orWith(code, sign);
  Value isNaN =
      bits.compare(arith::CmpIPredicate::ugt, magnitude, kF32Infinity);
  return bits.select(isNaN, bits.constant(format.nanCode), code);
}

Value mlir::pa::loadCode(ImplicitLocOpBuilder &b, Value memref,
                         ValueRange indices) {
  Value element = memref::LoadOp::create(b, memref, indices);
  Type type = element.getType();
  if (!type.isInteger())
    element = arith::BitcastOp::create(
        b, b.getIntegerType(type.getIntOrFloatBitWidth()), element);
  return arith::ExtUIOp::create(b, b.getI32Type(), element);
}

void mlir::pa::storeCode(ImplicitLocOpBuilder &b, Value code, Value memref,
                         ValueRange indices) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  Value element = arith::TruncIOp::create(
      b, b.getIntegerType(type.getIntOrFloatBitWidth()), code);
  if (!type.isInteger())
    element = arith::BitcastOp::create(b, type, element);
  memref::StoreOp::create(b, element, memref, indices);
}

Value mlir::pa::loadFloat(ImplicitLocOpBuilder &b, Value memref,
                          ValueRange indices) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  if (type.isF32())
    return memref::LoadOp::create(b, memref, indices);
  return decode(b, loadCode(b, memref, indices), getScalarFormat(type));
}

void mlir::pa::storeFloat(ImplicitLocOpBuilder &b, Value value, Value memref,
                          ValueRange indices) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  if (type.isF32())
    memref::StoreOp::create(b, value, memref, indices);
  else
    storeCode(b, encode(b, value, getScalarFormat(type)), memref, indices);
}

Value mlir::pa::loadFp4(ImplicitLocOpBuilder &b, Value memref,
                        ValueRange byteIndices, Value element) {
  Value byte = loadCode(b, memref, byteIndices);
  Value nibble = arith::IndexCastUIOp::create(b, b.getI32Type(),
                                              mul(b, rem(b, element, 2), 4));
  Value code = arith::ShRUIOp::create(b, byte, nibble);
  code = arith::AndIOp::create(b, code, i32Constant(b, 0xf));
  return decode(b, code, kE2M1);
}

Value mlir::pa::exponentScale(ImplicitLocOpBuilder &b, ArrayRef<Value> codes) {
  constexpr int64_t kF64Bias = 1023, kF64Mantissa = 52, kE8M0Bias = 127;
  Type i64 = b.getI64Type();
  Value exponent, isNaN;
  for (Value code : codes) {
    Value isCodeNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, code,
                                            i32Constant(b, 0xff));
    exponent = exponent ? add(b, exponent, code) : code;
    isNaN = isNaN ? arith::OrIOp::create(b, isNaN, isCodeNaN) : isCodeNaN;
  }
  Value biased = add(b, arith::ExtUIOp::create(b, i64, exponent),
                     arith::ConstantIntOp::create(
                         b, i64, kF64Bias - kE8M0Bias * int64_t(codes.size())));
  Value bits = arith::ShLIOp::create(
      b, biased, arith::ConstantIntOp::create(b, i64, kF64Mantissa));
  Value scale = arith::BitcastOp::create(b, b.getF64Type(), bits);
  Value nan = arith::ConstantOp::create(
      b,
      b.getFloatAttr(b.getF64Type(), APFloat::getNaN(APFloat::IEEEdouble())));
  return arith::SelectOp::create(b, isNaN, nan, scale);
}

Value mlir::pa::scaleOnce(ImplicitLocOpBuilder &b, Value value, Value scale) {
  Value wide = arith::ExtFOp::create(b, b.getF64Type(), value);
  Value product = arith::MulFOp::create(b, wide, scale);
  return arith::TruncFOp::create(b, b.getF32Type(), product);
}
