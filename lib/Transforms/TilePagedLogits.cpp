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
  std::string name = "paged_logits_" + getLogitsName(op.getLogitsOperands());
  if (op.getFill() == Fill::neg_inf)
    name += "_neginf";
  if (op.getRowEnds())
    name += "_rowends";
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
static Value hideNumQueries(ImplicitLocOpBuilder &host, Value q) {
  auto type = cast<MemRefType>(q.getType());
  SmallVector<int64_t> dims(type.getShape());
  dims[1] = ShapedType::kDynamic;
  auto [strides, offset] = type.getStridesAndOffset();
  auto hidden = MemRefType::get(
      dims, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, strides),
      type.getMemorySpace());
  return host.create<memref::CastOp>(hidden, q);
}

/// A tensor copy steps from token to token by a number of 48 bits.
static LogicalResult checkDmaStride(Operation *op, const LogitsOperands &in,
                                    const TargetInfo &target) {
  int64_t stride =
      cast<MemRefType>(in.keys.getType()).getStridesAndOffset().first[1];
  if (!target.hasTensorDma || ShapedType::isDynamic(stride) ||
      stride <= kMaxDmaStride)
    return success();
  return op->emitOpError()
         << "stride between the slots of a page must be at most "
         << kMaxDmaStride << " for " << target.getName() << ", found "
         << stride;
}

LogicalResult mlir::pa::checkLogitsForChip(Operation *op,
                                           const LogitsOperands &in,
                                           ValueRange outputs,
                                           const TargetInfo &target) {
  SmallVector<Value> unitInner{in.q, in.keys, in.weights, in.blockTable};
  llvm::append_range(unitInner, outputs);
  if (failed(checkOperandsForChip(op, unitInner)) ||
      failed(checkDmaStride(op, in, target)))
    return failure();
  auto [strides, offset] =
      cast<MemRefType>(in.keys.getType()).getStridesAndOffset();
  if (in.layout == Layout::tiled && strides[1] != in.getKeyBytes())
    return op->emitOpError()
           << "layout tiled needs a static stride of " << in.getKeyBytes()
           << " between the slots of a page for a chip, found a dynamic one";
  return success();
}

void mlir::pa::describeLogitsOperands(ImplicitLocOpBuilder &host,
                                      const LogitsOperands &in,
                                      QueryPlace place,
                                      const TargetInfo &target,
                                      KernelSpec &spec) {
  spec.args = {{"q", place == QueryPlace::registers
                         ? in.q
                         : hideNumQueries(host, in.q)}};
  if (in.queryScales)
    spec.args.push_back({"query_scales", in.queryScales});
  spec.args.append({{"keys", in.keys},
                    {"key_scales", in.keyScales},
                    {"weights", in.weights},
                    {"block_table", in.blockTable},
                    {"context_lens", in.contextLens}});
  if (in.rowEnds)
    spec.args.push_back({"row_ends", in.rowEnds});
  spec.sizes = {{"B", "q", 0}, {"W", "block_table", 1}};
  spec.preconditions = {
      "context_lens[b] <= W * " + std::to_string(in.getPageSize()),
      "key_scales >= 0",
      "block_table[b, j] < pages for j < ceil(context_lens[b] / P)",
      "outputs share no memory with inputs"};
  auto keysType = cast<MemRefType>(in.keys.getType());
  if (target.hasTensorDma &&
      ShapedType::isDynamic(keysType.getStridesAndOffset().first[1]))
    spec.preconditions.push_back("keys.stride1 < 2^48");
}

std::string mlir::pa::getLogitsName(const LogitsOperands &in) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << stringifyKeyFormat(in.format) << "_n" << in.getNumQueries() << "_h"
     << in.getNumHeads() << "_d" << in.getHeadDim() << "_p" << in.getPageSize()
     << "_" << stringifyLayout(in.layout);
  return name;
}

LogicalResult mlir::pa::tilePagedLogits(RewriterBase &rewriter,
                                        PagedLogitsOp op,
                                        const TargetInfo &target) {
  LogitsConfigAttr config = op.getConfigAttr();
  if (!config)
    return op.emitOpError() << "has no config, run pa-configure first";
  const LogitsOperands in = op.getLogitsOperands();
  if (failed(checkLogitsForChip(op, in, op.getLogits(), target)))
    return failure();
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
  describeLogitsOperands(host, in, config.getQuery(), target, spec);
  spec.args.push_back({"logits", op.getLogits()});
  spec.args.push_back({"num_workers", workers});
  spec.sizes.push_back({"C", "logits", 1});
  spec.scalars = {{"num_workers", workersText}};

  KernelBuilder kernel(host, op, spec, target);
  LogitsKernel(kernel, in, config, op.getFill(), target).emit();
  kernel.finish();
  rewriter.eraseOp(op);
  return success();
}
