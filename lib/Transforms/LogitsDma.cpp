//===- LogitsDma.cpp - Keys of paged logits by tensor DMA -------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave copies the keys of its own next step to LDS while it scores the
// current one, and nobody else reads them: no barrier, one counter. A page that
// is smaller than a tile is one copy, which lands beside the one before it, so
// that what follows does not depend on the page.
//
//===----------------------------------------------------------------------===//

#include "LogitsKernel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kTile = LogitsShape::kTile;
constexpr int64_t kPiece = LogitsShape::kPiece;

/// The page of copy `load`, in a scalar register.
Value LogitsKernel::dmaPage(ValueRange pages, int64_t load) {
  Value id = pages[pages.size() == 1 ? 0 : load * shape.dmaTokens / kTile];
  if (isPagePerLane())
    id = b.create<gpu::SubgroupBroadcastOp>(
        id.getType(), id,
        b.create<arith::ConstantOp>(b.getI32IntegerAttr(
            static_cast<int32_t>(load * shape.dmaTokens % kTile))),
        gpu::BroadcastType::specific_lane);
  else
    id = uniform(id);
  return b.create<arith::IndexCastUIOp>(b.getIndexType(), id);
}

/// Starts the copies of the step at `token`. Rows that no query scores are not
/// read: LDS gets zeros for them.
void LogitsKernel::issueKeys(Value token, ValueRange pages, Value buffer) {
  const int64_t runTokens = shape.getDmaRunTokens(),
                runs = shape.dmaTokens / runTokens,
                runBytes = runTokens * keyBytes;
  auto keysType = cast<MemRefType>(keys.getType());
  auto baseType = amdgpu::TDMBaseType::get(b.getContext(),
                                           keysType.getElementType());
  auto descriptorType = amdgpu::TDMDescriptorType::get(b.getContext());
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value padBytes, padEvery;
  if (shape.getDmaPad() > 0) {
    padBytes = constant(shape.getDmaPad() / 4);
    padEvery = constant(keyBytes / 4);
  }
  // 32 bits, as in loadPages.
  Value left = uniform(
      b.create<arith::IndexCastOp>(i32, sub(min(limit, end), token)));
  OpFoldResult runStride = b.getIndexAttr(runBytes);
  if (!shape.isTiled) {
    int64_t stride = keysType.getStridesAndOffset().first[1];
    if (ShapedType::isDynamic(stride))
      runStride = b.create<memref::ExtractStridedMetadataOp>(keys)
                      .getStrides()[1];
    else
      runStride = b.getIndexAttr(stride);
  }
  for (int64_t load = 0; load < shape.getDmaLoads(); ++load) {
    const int64_t tokensBefore = load * shape.dmaTokens;
    // Runs with a token that is left.
    Value count = constant(0);
    for (int64_t run = 0; run < runs && runs <= 2; ++run) {
      Value isLeft = b.create<arith::CmpIOp>(
          arith::CmpIPredicate::sgt, left,
          constant(tokensBefore + run * runTokens));
      count = b.create<arith::SelectOp>(isLeft, constant(run + 1), count);
    }
    if (runs > 2) { // of one token
      Value rest = b.create<arith::MaxSIOp>(
          b.createOrFold<arith::SubIOp>(left, constant(tokensBefore)),
          constant(0));
      // Without the barrier both become one instruction that is not scalar.
      count = b.create<arith::MinUIOp>(uniform(rest), constant(runs));
    }
    Value slot =
        page > shape.dmaTokens ? rem(add(token, index(tokensBefore)), page)
                               : index(0);
    SmallVector<Value> from{dmaPage(pages, load)};
    if (shape.isTiled)
      from.push_back(mul(slot, keyBytes));
    else
      from.append({slot, index(0)});
    SmallVector<Value> to{
        wave, buffer,
        index(tokensBefore * (keyBytes + shape.getDmaPad()))};
    Value base =
        b.create<amdgpu::MakeDmaBaseOp>(baseType, keys, from, keyLds, to);
    OpFoldResult sizes[] = {
        b.create<arith::IndexCastUIOp>(b.getIndexType(), count).getResult(),
        b.getIndexAttr(runBytes)};
    OpFoldResult strides[] = {runStride, b.getIndexAttr(1)};
    SmallVector<int64_t> staticSizes, staticStrides;
    SmallVector<Value> dynamicSizes, dynamicStrides;
    dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
    dispatchIndexOpFoldResults(strides, dynamicStrides, staticStrides);
    Value descriptor = b.create<amdgpu::MakeDmaDescriptorOp>(
        descriptorType, base, dynamicSizes, staticSizes, dynamicStrides,
        staticStrides, /*shared_dynamic_sizes=*/ValueRange(),
        ArrayRef<int64_t>{runs, runBytes}, /*workgroup_mask=*/Value(),
        /*early_timeout=*/Value(), padBytes, padEvery,
        /*atomic_barrier_address=*/Value(),
        /*atomic_barrier_indices=*/ValueRange(), /*global_increment=*/Value(),
        /*lds_increment=*/Value(), /*iteration_count=*/Value());
    b.create<amdgpu::TensorLoadToLDSOp>(descriptor);
  }
}

/// Waits until at most `loadsInFlight` of the wave's copies are under way, then
/// reads the keys of `step` from `buffer`. Keys that are in registers stay.
void LogitsKernel::awaitKeys(int64_t loadsInFlight, Value buffer, Step &step) {
  if (!shape.usesDma)
    return;
  b.create<amdgpu::MemoryCounterWaitOp>(
      /*load=*/IntegerAttr(), /*store=*/IntegerAttr(), /*ds=*/IntegerAttr(),
      /*exp=*/IntegerAttr(),
      /*tensor=*/b.getI32IntegerAttr(static_cast<int32_t>(loadsInFlight)));
  // To LLVM neither the copy nor the wait writes LDS. The fence, which leaves
  // no instruction, keeps it from taking a read for one of the step before.
  b.create<LLVM::FenceOp>(LLVM::AtomicOrdering::acq_rel, "singlethread");
  step.keys = readKeys(buffer);
}

/// The pieces of a lane from the step in `buffer`, in the order of loadStep.
SmallVector<Value> LogitsKernel::readKeys(Value buffer) {
  const int64_t runTokens = shape.getDmaRunTokens();
  SmallVector<Value> result;
  for (int64_t tile = 0; tile < groups; ++tile)
    for (int64_t piece = 0; piece < pieces; ++piece) {
      Value number = pieceNumber(piece), offset;
      if (shape.isTiled)
        // The lane's run and its place in a column of the run's tokens.
        offset = add(mul(div(laneInTile, runTokens), runTokens * keyBytes),
                     add(mul(number, runTokens * kPiece),
                         mul(rem(laneInTile, runTokens), kPiece)));
      else
        offset = add(mul(laneInTile, keyBytes + shape.getDmaPad()),
                     mul(number, kPiece));
      offset = add(offset,
                   index(tile * kTile * (keyBytes + shape.getDmaPad())));
      result.push_back(loadPiece(keyLds, {wave, buffer}, offset));
    }
  return result;
}
