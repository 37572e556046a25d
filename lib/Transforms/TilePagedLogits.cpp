//===- TilePagedLogits.cpp - pa.paged_logits to a kernel ---------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogitsKernel.h"

using namespace mlir;
using namespace mlir::pa;

static std::string getKernelName(PagedLogitsOp op) {
  std::string name = "paged_logits_";
  llvm::raw_string_ostream os(name);
  os << stringifyKeyFormat(op.getFormat()) << "_n" << op.getNumQueries() << "_h"
     << op.getNumHeads() << "_d" << op.getHeadDim() << "_p" << op.getPageSize()
     << "_" << stringifyLayout(op.getLayout());
  if (op.getFill() == Fill::neg_inf)
    os << "_neginf";
  if (op.getRowEnds())
    os << "_rowends";
  return name;
}

/// Workgroups in x: those of a sequence, or of all with the ragged schedule. As
/// a host value and as text for the manifest.
static std::pair<Value, std::string> getNumWorkers(ImplicitLocOpBuilder &host,
                                                   PagedLogitsOp op,
                                                   const TargetInfo &target,
                                                   Value batch) {
  LogitsConfigAttr config = op.getConfigAttr();
  auto constant = [&](int64_t value) -> Value {
    return host.create<arith::ConstantIndexOp>(value);
  };
  if (config.getSplits() > 0)
    return {constant(config.getSplits()), std::to_string(config.getSplits())};

  // As many workgroups as the chip holds at once, but none without a chunk.
  int64_t slots = getNumCus(op, target) * target.simdsPerCu * kWavesPerSimd /
                  config.getWaves();
  Value one = constant(1);
  Value chunks = host.create<arith::CeilDivUIOp>(
      host.createOrFold<memref::DimOp>(op.getLogits(), 1),
      constant(config.getChunk()));
  std::string chunksText =
      "ceildiv(C, " + std::to_string(config.getChunk()) + ")";
  Value wanted = constant(slots);
  std::string wantedText = std::to_string(slots);
  if (config.getSchedule() == LogitsSchedule::even) {
    wanted = host.create<arith::CeilDivUIOp>(
        wanted, host.create<arith::MaxUIOp>(batch, one));
    wantedText = "ceildiv(" + wantedText + ", max(B, 1))";
  } else {
    chunks = host.create<arith::MulIOp>(chunks, batch);
    chunksText = "B * " + chunksText;
  }
  Value workers = host.create<arith::MaxUIOp>(
      one, host.create<arith::MinUIOp>(wanted, chunks));
  return {workers, "max(1, min(" + wantedText + ", " + chunksText + "))"};
}

/// The queries as the kernel takes them. Where it loops over them, their number
/// is not in the type: the backend unrolls a loop of two whatever it is told,
/// and hoists what it reads from LDS into registers.
static Value hideNumQueries(ImplicitLocOpBuilder &host, PagedLogitsOp op) {
  if (op.getConfigAttr().getQuery() == QueryPlace::registers)
    return op.getQ();
  auto type = cast<MemRefType>(op.getQ().getType());
  SmallVector<int64_t> dims(type.getShape());
  dims[1] = ShapedType::kDynamic;
  auto [strides, offset] = type.getStridesAndOffset();
  auto hidden = MemRefType::get(
      dims, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, strides),
      type.getMemorySpace());
  return host.create<memref::CastOp>(hidden, op.getQ());
}

/// A tensor copy steps from token to token by a number of 48 bits.
static LogicalResult checkDmaStride(PagedLogitsOp op,
                                    const TargetInfo &target) {
  int64_t stride =
      cast<MemRefType>(op.getKeys().getType()).getStridesAndOffset().first[1];
  if (!target.hasTensorDma || ShapedType::isDynamic(stride) ||
      stride <= kMaxDmaStride)
    return success();
  return op.emitOpError()
         << "stride between the slots of a page must be at most "
         << kMaxDmaStride << " for " << target.getName() << ", found "
         << stride;
}

LogicalResult mlir::pa::tilePagedLogits(RewriterBase &rewriter,
                                        PagedLogitsOp op,
                                        const TargetInfo &target) {
  LogitsConfigAttr config = op.getConfigAttr();
  if (!config)
    return op.emitOpError() << "has no config, run pa-configure first";
  if (failed(checkOperandsForChip(op, {op.getQ(), op.getKeys(), op.getWeights(),
                                       op.getBlockTable(), op.getLogits()})))
    return failure();
  if (failed(checkDmaStride(op, target)))
    return failure();
  if (op.getLayout() == Layout::tiled) {
    auto [strides, offset] =
        cast<MemRefType>(op.getKeys().getType()).getStridesAndOffset();
    if (strides[1] != op.getKeyBytes())
      return op.emitOpError()
             << "layout tiled needs a static stride of " << op.getKeyBytes()
             << " between the slots of a page for a chip, found a dynamic one";
  }
  Location loc = op.getLoc();
  ImplicitLocOpBuilder host(loc, rewriter);
  host.setInsertionPoint(op);
  auto dim = [&](Value memref, int64_t d) -> Value {
    return host.createOrFold<memref::DimOp>(memref, d);
  };
  Value one = host.create<arith::ConstantIndexOp>(1);
  Value batch = dim(op.getQ(), 0);
  auto [workers, workersText] = getNumWorkers(host, op, target, batch);
  const bool isEven = config.getSchedule() == LogitsSchedule::even;

  KernelSpec spec;
  spec.name = getKernelName(op);
  spec.op = PagedLogitsOp::getOperationName();
  spec.blockSize = config.getWaves() * target.waveSize;
  Value sequences =
      isEven ? host.createOrFold<arith::MaxUIOp>(batch, one) : one;
  spec.grid = {workers, sequences, one};
  spec.gridText = {"num_workers", isEven ? "max(B, 1)" : "1", "1"};
  spec.args = {{"q", hideNumQueries(host, op)}};
  if (op.getQueryScales())
    spec.args.push_back({"query_scales", op.getQueryScales()});
  spec.args.append({{"keys", op.getKeys()},
                    {"key_scales", op.getKeyScales()},
                    {"weights", op.getWeights()},
                    {"block_table", op.getBlockTable()},
                    {"context_lens", op.getContextLens()}});
  if (op.getRowEnds())
    spec.args.push_back({"row_ends", op.getRowEnds()});
  spec.args.push_back({"logits", op.getLogits()});
  spec.args.push_back({"num_workers", workers});
  spec.sizes = {{"B", "q", 0}, {"W", "block_table", 1}, {"C", "logits", 1}};
  spec.scalars = {{"num_workers", workersText}};
  spec.preconditions = {
      "context_lens[b] <= W * " + std::to_string(op.getPageSize()),
      "key_scales >= 0",
      "block_table[b, j] < pages for j < ceil(context_lens[b] / P)"};
  auto keysType = cast<MemRefType>(op.getKeys().getType());
  if (target.hasTensorDma &&
      ShapedType::isDynamic(keysType.getStridesAndOffset().first[1]))
    spec.preconditions.push_back("keys.stride1 < 2^48");

  KernelBuilder kernel(host, op, spec, target);
  LogitsKernel(kernel, op, target).emit();
  kernel.finish();
  rewriter.eraseOp(op);
  return success();
}
