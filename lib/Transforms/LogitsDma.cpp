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

/// Starts the copies of the step at `token`. Rows that no query scores are not
/// read: LDS gets zeros for them.
void LogitsKernel::issueKeys(Value token, ValueRange pages, Value buffer) {
  Value left = uniform(sub(minU(limit, end), token));
  if (!isPagePerLane()) {
    for (auto [i, id] : llvm::enumerate(pages))
      issueCopy(uniform(id), static_cast<int64_t>(i) * kTile, left, token,
                buffer);
    return;
  }
  // Each lane has the page of its own token of a tile.
  for (int64_t tile = 0; tile < groups; ++tile) {
    Value ids = pages[tile];
    for (int64_t first = 0; first < kTile; first += page) {
      Value id = b.create<gpu::SubgroupBroadcastOp>(
          ids.getType(), ids,
          b.create<arith::ConstantOp>(
              b.getI32IntegerAttr(static_cast<int32_t>(first))),
          gpu::BroadcastType::specific_lane);
      issueCopy(id, tile * kTile + first, left, token, buffer);
    }
  }
}

/// Starts the copy of the tokens of page `id` that begin `tokensBefore` tokens
/// behind `token`. The wave has `left` tokens from `token` on.
void LogitsKernel::issueCopy(Value id, int64_t tokensBefore, Value left,
                             Value token, Value buffer) {
  auto constant = [&](int64_t value) -> Value {
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  const int64_t runTokens = shape.getDmaRunTokens(),
                runs = shape.dmaTokens / runTokens,
                runBytes = runTokens * keyBytes;
  auto keysType = cast<MemRefType>(keys.getType());

  // Runs with a token that is left.
  Value rest = b.createOrFold<arith::SubIOp>(left, constant(tokensBefore));
  Value count = constant(0);
  for (int64_t run = 0; run < runs && runs <= 2; ++run)
    count = b.create<arith::SelectOp>(
        b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, rest,
                                constant(run * runTokens)),
        constant(run + 1), count);
  // Without the barrier that `uniform` is, both bounds become one instruction
  // that is not scalar.
  if (runs > 2)
    count = b.create<arith::MinUIOp>(
        uniform(b.create<arith::MaxSIOp>(rest, constant(0))), constant(runs));

  Value pageId = b.create<arith::IndexCastUIOp>(b.getIndexType(), id);
  Value slot = page > shape.dmaTokens
                   ? toIndex(rem(add(token, tokensBefore), page))
                   : index(0);
  SmallVector<Value> from{pageId};
  if (shape.isTiled)
    from.push_back(mul(slot, keyBytes));
  else
    from.append({slot, index(0)});
  SmallVector<Value> to{wave, buffer,
                        index(tokensBefore * (keyBytes + shape.getDmaPad()))};
  Value base = b.create<amdgpu::MakeDmaBaseOp>(
      amdgpu::TDMBaseType::get(b.getContext(), keysType.getElementType()), keys,
      from, keyLds, to);

  OpFoldResult runStride = b.getIndexAttr(runBytes);
  if (!shape.isTiled) {
    int64_t stride = keysType.getStridesAndOffset().first[1];
    runStride = b.getIndexAttr(stride);
    if (ShapedType::isDynamic(stride))
      runStride =
          b.create<memref::ExtractStridedMetadataOp>(keys).getStrides()[1];
  }
  OpFoldResult sizes[] = {
      b.create<arith::IndexCastUIOp>(b.getIndexType(), count).getResult(),
      b.getIndexAttr(runBytes)};
  OpFoldResult strides[] = {runStride, b.getIndexAttr(1)};
  SmallVector<int64_t> staticSizes, staticStrides;
  SmallVector<Value> dynamicSizes, dynamicStrides;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  dispatchIndexOpFoldResults(strides, dynamicStrides, staticStrides);
  Value padWords, padEvery;
  if (shape.getDmaPad() > 0) {
    padWords = constant(shape.getDmaPad() / 4);
    padEvery = constant(keyBytes / 4);
  }
  Value descriptor = b.create<amdgpu::MakeDmaDescriptorOp>(
      amdgpu::TDMDescriptorType::get(b.getContext()), base, dynamicSizes,
      staticSizes, dynamicStrides, staticStrides,
      /*shared_dynamic_sizes=*/ValueRange(), ArrayRef<int64_t>{runs, runBytes},
      /*workgroup_mask=*/Value(), /*early_timeout=*/Value(), padWords, padEvery,
      /*atomic_barrier_address=*/Value(),
      /*atomic_barrier_indices=*/ValueRange(), /*global_increment=*/Value(),
      /*lds_increment=*/Value(), /*iteration_count=*/Value());
  b.create<amdgpu::TensorLoadToLDSOp>(descriptor);
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
      offset =
          add(offset, index(tile * kTile * (keyBytes + shape.getDmaPad())));
      result.push_back(loadPiece(keyLds, {wave, buffer}, offset));
    }
  return result;
}
