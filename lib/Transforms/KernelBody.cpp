//===- KernelBody.cpp - What kernel bodies are written with ---------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::pa;

void KernelBody::emitLaneIds() {
  thread = kernel.threadId();
  // The wave number is the same in all lanes, which nothing but this tells the
  // backend: everything that follows from it stays in scalar registers.
  wave = b.create<arith::IndexCastUIOp>(
      b.getIndexType(), uniform(b.create<arith::IndexCastUIOp>(
                            b.getI32Type(), div(thread, lanes))));
  lane = rem(thread, lanes);
}

Value KernelBody::concat(ArrayRef<Value> vectors) {
  SmallVector<Value> parts(vectors);
  while (parts.size() > 1) {
    SmallVector<Value> joined;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      int64_t half = cast<VectorType>(parts[i].getType()).getDimSize(0);
      joined.push_back(b.create<vector::ShuffleOp>(
          parts[i], parts[i + 1],
          llvm::to_vector(llvm::seq<int64_t>(0, 2 * half))));
    }
    parts = joined;
  }
  return parts.front();
}

/// Index values as the integers that shuffles take.
static Value toShuffled(ImplicitLocOpBuilder &b, Value value) {
  return value.getType().isIndex()
             ? b.create<arith::IndexCastOp>(b.getI64Type(), value)
             : value;
}
static Value fromShuffled(ImplicitLocOpBuilder &b, Value value, Type type) {
  return type.isIndex() ? b.create<arith::IndexCastOp>(type, value) : value;
}

Value KernelBody::emitWaveSum(Value value) {
  Value sum = toShuffled(b, value);
  for (int64_t distance = 1; distance < lanes; distance *= 2)
    sum = add(sum, shuffleXor(sum, distance));
  return uniform(fromShuffled(b, sum, value.getType()));
}

Value KernelBody::emitWaveScan(Value value) {
  Value sum = toShuffled(b, value);
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(sum.getType()));
  // In a loop LLVM would keep a mask of lanes for each distance, 12 scalar
  // registers, across everything that comes after the scan.
  Value here = b.create<arith::IndexCastOp>(b.getI32Type(), laneHere());
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    auto shuffle = b.create<gpu::ShuffleOp>(sum, static_cast<int32_t>(distance),
                                            static_cast<int32_t>(lanes),
                                            gpu::ShuffleMode::UP);
    Value isFirst = less(here, i32(distance));
    sum = add(sum, select(isFirst, zero, shuffle.getShuffleResult()));
  }
  return fromShuffled(b, sum, value.getType());
}

Value KernelBody::countLanes(Value condition) {
  Value mask = b.create<ROCDL::BallotOp>(
      b.getIntegerType(static_cast<unsigned>(lanes)), condition);
  return b.create<arith::IndexCastUIOp>(b.getIndexType(),
                                        b.create<math::CtPopOp>(mask));
}

Value KernelBody::readLane(Value value, Value number) {
  return b.create<gpu::SubgroupBroadcastOp>(
      value.getType(), value,
      b.create<arith::IndexCastUIOp>(b.getI32Type(), number),
      gpu::BroadcastType::specific_lane);
}

/// No instruction, at this place.
static LLVM::InlineAsmOp emitNothing(ImplicitLocOpBuilder &b, TypeRange results,
                                     ValueRange operands,
                                     StringRef constraints) {
  return b.create<LLVM::InlineAsmOp>(
      results, operands, "", constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

/// From a register to the same register.
static Value emitCopy(ImplicitLocOpBuilder &b, Value value,
                      StringRef constraints) {
  return emitNothing(b, value.getType(), value, constraints).getRes();
}

Value KernelBody::saturateToI32(Value x) {
  // Said to be uniform, or LLVM compares all 64 bits again.
  Value high = uniform(toI32(b.create<arith::ShRUIOp>(x, index(32))));
  Value fits = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, high, i32(0));
  return select(fits, toI32(x), i32(-1));
}

void KernelBody::leaveFirstBank() {
  constexpr int64_t kBank = 256, kLongest = 32;
  std::string clobbers;
  for (int64_t first = 0; first < kBank; first += kLongest)
    clobbers +=
        (first == 0 ? "" : ",") +
        llvm::formatv("~{{v[{0}:{1}]}", first, first + kLongest - 1).str();
  // Or a matrix instruction with its scales comes behind it.
  b.create<ROCDL::SchedBarrier>(0);
  emitNothing(b, TypeRange(), ValueRange(), clobbers);
  b.create<ROCDL::SchedBarrier>(0);
}

void KernelBody::keepLoadsAbove() {
  emitNothing(b, TypeRange(), ValueRange(), "~{memory}");
}

Value KernelBody::keepInAllLanes(Value value) {
  return emitCopy(b, value, "=v,0");
}

Value KernelBody::laneHere() {
  Value all = emitCopy(b, i32(-1), "=s,0");
  ArrayAttr none;
  Value number =
      b.create<ROCDL::MbcntLoOp>(b.getI32Type(), all, i32(0), none, none);
  if (lanes == 64)
    number =
        b.create<ROCDL::MbcntHiOp>(b.getI32Type(), all, number, none, none);
  return assume(b.create<arith::IndexCastUIOp>(b.getIndexType(), number), 0,
                lanes - 1);
}

Value KernelBody::uniformHere(Value value) {
  value = b.create<arith::IndexCastUIOp>(b.getI32Type(), value);
  value = b.create<arith::IndexCastUIOp>(b.getIndexType(),
                                         emitCopy(b, value, "=s,0"));
  return inScalar(value, std::numeric_limits<uint32_t>::max());
}

void KernelBody::ifTrue(Value condition, function_ref<void()> body) {
  auto branch = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}
