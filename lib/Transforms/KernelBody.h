//===- KernelBody.h - What kernel bodies are written with -------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_KERNELBODY_H
#define PAGEDATTN_LIB_TRANSFORMS_KERNELBODY_H

#include "TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::pa {

/// Arithmetic on the indices of a kernel, and sums over the lanes of a wave.
class KernelBody {
protected:
  KernelBody(KernelBuilder &kernel, const TargetInfo &target)
      : b(kernel.body()), kernel(kernel), target(target),
        lanes(target.waveSize) {}

  /// Sets `thread`, `wave` and `lane`.
  void emitLaneIds();

  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }
  Value i32(int64_t value) {
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value f32(float value) {
    return b.create<arith::ConstantFloatOp>(b.getF32Type(), APFloat(value));
  }

  // Arithmetic on index and i32 alike.
  Value constantLike(Value x, int64_t value) {
    return x.getType().isIndex() ? index(value) : i32(value);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return add(x, constantLike(x, y)); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value sub(Value x, int64_t y) { return sub(x, constantLike(x, y)); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value mul(Value x, int64_t y) { return mul(x, constantLike(x, y)); }
  Value div(Value x, int64_t y) {
    return b.createOrFold<arith::DivUIOp>(x, constantLike(x, y));
  }
  Value rem(Value x, int64_t y) {
    return b.createOrFold<arith::RemUIOp>(x, constantLike(x, y));
  }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }
  Value less(Value x, Value y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y);
  }
  // The same of unsigned numbers.
  Value minU(Value x, Value y) { return b.createOrFold<arith::MinUIOp>(x, y); }
  Value lessU(Value x, Value y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return b.create<arith::SelectOp>(condition, x, y);
  }
  /// An unsigned number with the other width; where it is an i32, its low bits.
  Value toIndex(Value x) {
    return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), x);
  }
  Value toI32(Value x) {
    return b.createOrFold<arith::IndexCastUIOp>(b.getI32Type(), x);
  }
  /// The same of a uniform number where it fits, else 2^32 - 1. Two scalar
  /// instructions; the lesser of two 64-bit numbers takes five, through vector
  /// registers.
  Value saturateToI32(Value x);
  Value dim(Value memref, int64_t d) {
    return b.createOrFold<memref::DimOp>(memref, d);
  }
  Value loadIndex(Value memref, ValueRange indices) {
    return b.create<arith::IndexCastOp>(
        b.getIndexType(), b.create<memref::LoadOp>(memref, indices));
  }

  /// The same in all lanes of a wave, which lets it live in scalar registers.
  Value uniform(Value value) {
    return b.create<AssumeOp>(value.getType(), value, IntegerAttr(),
                              IntegerAttr(), IntegerAttr(), b.getUnitAttr(),
                              UnitAttr());
  }
  /// Known to be from `min` to `max`.
  Value assume(Value value, int64_t min, int64_t max) {
    return b.create<AssumeOp>(value.getType(), value, b.getI64IntegerAttr(min),
                              b.getI64IntegerAttr(max), IntegerAttr(),
                              UnitAttr(), UnitAttr());
  }
  /// From 0 to `max`, in a vector register of its own where that has the bits.
  Value inRegister(Value value, int64_t max) {
    if (max > std::numeric_limits<int32_t>::max())
      return assume(value, 0, max);
    return b.create<AssumeOp>(value.getType(), value, b.getI64IntegerAttr(0),
                              b.getI64IntegerAttr(max), IntegerAttr(),
                              UnitAttr(), b.getUnitAttr());
  }
  /// From 0 to `max` and uniform, in scalar registers of its own.
  Value inScalar(Value value, int64_t max) {
    return b.create<AssumeOp>(value.getType(), value, b.getI64IntegerAttr(0),
                              b.getI64IntegerAttr(max), IntegerAttr(),
                              b.getUnitAttr(), b.getUnitAttr());
  }

  /// `count` elements of a vector from `first` on.
  Value slice(Value vector, int64_t first, int64_t count) {
    return b.create<vector::ShuffleOp>(
        vector, vector,
        llvm::to_vector(llvm::seq<int64_t>(first, first + count)));
  }
  /// The vectors, which have equal lengths of powers of two, one after another.
  Value concat(ArrayRef<Value> vectors);

  /// `value` of the lane that differs from the own one by `distance`, in bits.
  Value shuffleXor(Value value, int64_t distance) {
    return b
        .create<gpu::ShuffleOp>(value, static_cast<int32_t>(distance),
                                static_cast<int32_t>(lanes),
                                gpu::ShuffleMode::XOR)
        .getShuffleResult();
  }
  /// Sum of an index or an integer over the lanes of the wave, in all of them.
  Value emitWaveSum(Value value);
  /// Sum of an index or an integer over the lanes up to the own one.
  Value emitWaveScan(Value value);
  /// How many lanes of the wave have `condition`, as an index.
  Value countLanes(Value condition);
  /// `value` of the lane with the index `number`, which is the same for all.
  Value readLane(Value value, Value number);

  /// `value`, which is made before what follows. LLVM 22.1.8 takes
  /// v_mfma_scale for an instruction like any other and sinks it into a branch
  /// of some lanes, together with what makes its operands: the other lanes then
  /// give it garbage.
  Value keepInAllLanes(Value value);
  /// The uniform `value`, below 2^32, of which no more is known than that: what
  /// is computed from it stays behind this place. LLVM hoists every sum of a
  /// scalar and a constant out of a loop, and then spills them.
  Value uniformHere(Value value);

  /// The lane, counted anew: what is computed from it stays behind this place,
  /// and nothing is carried here in registers.
  Value laneHere();

  /// What is alive here is not in the first 256 registers, neither here nor
  /// before: LLVM gives those to the widest values, and then spills others that
  /// can be nowhere else, the scales of matrix instructions.
  void leaveFirstBank();

  /// Keeps the loads before it there: LLVM moves one whose value goes into the
  /// next iteration of a loop to where that uses it, unless a write to memory
  /// comes in between.
  void keepLoadsAbove();

  /// Runs `body` where `condition` holds.
  void ifTrue(Value condition, function_ref<void()> body);

  Value addLds(ArrayRef<int64_t> dims, Type element) {
    return kernel.addLds(MemRefType::get(
        dims, element, MemRefLayoutAttrInterface(), kernel.ldsSpace()));
  }
  VectorType wordsType(int64_t words) {
    return VectorType::get({words}, b.getI32Type());
  }

  ImplicitLocOpBuilder &b;
  KernelBuilder &kernel;
  const TargetInfo &target;
  const int64_t lanes;
  Value thread, wave, lane;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_KERNELBODY_H
