//===- TileGroupedGemm.cpp - pa.grouped_gemm to a kernel ------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmCost.h"
#include "GemmKernel.h"
#include "GemmOutput.h"

using namespace mlir;
using namespace mlir::pa;

static std::string getKernelName(GroupedGemmOp op) {
  std::string name = "grouped_gemm_";
  llvm::raw_string_ostream os(name);
  os << stringifyGemmFormat(op.getFormat());
  if (op.getAScale() != ScaleKind::none || op.getBScale() != ScaleKind::none)
    os << "_" << stringifyScaleKind(op.getAScale()) << "_"
       << stringifyScaleKind(op.getBScale());
  os << "_n" << op.getN() << "_k" << op.getK();
  if (op.getWeightLayout() != WeightLayout::linear)
    os << "_" << stringifyWeightLayout(op.getWeightLayout());
  if (op.getScaleLayout() != ScaleLayout::linear)
    os << "_" << stringifyScaleLayout(op.getScaleLayout());
  if (op.getAScaleLayout() != ScaleLayout::linear)
    os << "_a" << stringifyScaleLayout(op.getAScaleLayout());
  if (ActivationAttr activation = op.getActivationAttr())
    os << "_" << stringifyActivationKind(activation.getKind());
  GemmConfigAttr config = op.getConfigAttr();
  os << "_t" << config.getTileM() << "x" << config.getTileN() << "x"
     << config.getTileK();
  return name;
}

/// Workgroups: as many as there can be tiles, every group having one that is
/// not whole. They take tiles until none is left, so that fewer will do too.
static std::pair<Value, std::string> getNumWorkers(ImplicitLocOpBuilder &host,
                                                   GroupedGemmOp op) {
  GemmConfigAttr config = op.getConfigAttr();
  auto constant = [&](int64_t value) -> Value {
    return host.create<arith::ConstantIndexOp>(value);
  };
  const int64_t columnTiles = llvm::divideCeil(op.getN(), config.getTileN());
  Value rows = host.createOrFold<memref::DimOp>(op.getC(), 0);
  Value tiles =
      host.create<arith::CeilDivUIOp>(rows, constant(config.getTileM()));
  std::string text = "ceildiv(M, " + std::to_string(config.getTileM()) + ")";
  if (op.getOffsets()) {
    Value groups = host.createOrFold<memref::DimOp>(op.getB(), 0);
    tiles = host.create<arith::MinUIOp>(
        rows, host.create<arith::AddIOp>(tiles, groups));
    text = "min(M, " + text + " + E)";
  }
  Value all = host.create<arith::MulIOp>(tiles, constant(columnTiles));
  // The grid has 31 bits.
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  all = host.create<arith::MinUIOp>(all, constant(kMost));
  text = "min(" + std::to_string(kMost) + ", " + text + " * " +
         std::to_string(columnTiles) + ")";
  return {host.create<arith::MaxUIOp>(constant(1), all),
          "max(1, " + text + ")"};
}

using Operands = SmallVector<std::pair<StringRef, Value>>;

/// `value` with the extents of `sizes`, where its type does not say them.
static Value withSizes(ImplicitLocOpBuilder &host, Value value,
                       ArrayRef<std::pair<int64_t, int64_t>> sizes) {
  auto type = cast<MemRefType>(value.getType());
  if (!type.getLayout().isIdentity())
    return value;
  SmallVector<int64_t> dims(type.getShape());
  for (auto [dim, size] : sizes)
    dims[dim] = size;
  auto known = MemRefType::get(dims, type.getElementType(), type.getLayout(),
                               type.getMemorySpace());
  return known == type ? value : host.create<memref::CastOp>(known, value);
}

/// The operands of the kernel. N and K are known to the op, and so the strides
/// between rows are to the kernel.
static std::optional<Operands> getOperands(ImplicitLocOpBuilder &host,
                                           GroupedGemmOp op) {
  const int64_t n = op.getN(), k = op.getK();
  const int64_t columns = op.getActivation() ? n / 2 : n;
  auto outType = cast<MemRefType>(op.getC().getType());
  const bool isFp4Out = outType.getElementType().isInteger(8);
  Operands operands;
  auto push = [&](StringRef name, Value value,
                  ArrayRef<std::pair<int64_t, int64_t>> sizes) {
    if (value)
      operands.push_back({name, withSizes(host, value, sizes)});
  };
  const int64_t weightColumns = op.hasFp4B() ? k / 2 : k;
  push("a", op.getA(), {});
  if (op.getAScale() == ScaleKind::f32_row)
    push("a_scales", op.getAScales(), {});
  else
    push("a_scales", op.getAScales(),
         {{1, k / getScaleColumns(op.getAScale(), k)}});
  push("b", op.getB(), {{1, n}, {2, weightColumns}});
  const int64_t scaleRows = llvm::divideCeil(n, getScaleRows(op.getBScale()));
  const int64_t scaleColumns = k / getScaleColumns(op.getBScale(), k);
  if (op.getBScale() == ScaleKind::f32_row)
    push("b_scales", op.getBScales(), {{1, n}});
  else
    push("b_scales", op.getBScales(), {{1, scaleRows}, {2, scaleColumns}});
  push("bias", op.getBias(), {{1, n}});
  push("offsets", op.getOffsets(), {});
  push("row_ids", op.getRowIds(), {});
  push("row_weights", op.getRowWeights(), {});
  push("c", op.getC(), {{1, isFp4Out ? columns / 2 : columns}});
  push("c_scales", op.getCScales(), {{1, columns / kOutputBlock}});

  // Shuffled operands are addressed by the bytes of an expert.
  for (auto [name, value] : operands) {
    const bool isWeights =
        name == "b" && op.getWeightLayout() != WeightLayout::linear;
    const bool isScales =
        (name == "b_scales" && op.getScaleLayout() != ScaleLayout::linear) ||
        (name == "a_scales" && op.getAScaleLayout() != ScaleLayout::linear);
    if (!isWeights && !isScales)
      continue;
    SmallVector<int64_t> strides =
        cast<MemRefType>(value.getType()).getStridesAndOffset().first;
    // Shuffled scales have one code for 32 elements of K.
    if (strides.back() == 1 &&
        strides[strides.size() - 2] == (isWeights ? weightColumns : k / 32))
      continue;
    op.emitOpError() << "shuffled " << name
                     << " must have static strides inside an expert for a "
                        "chip, found "
                     << value.getType();
    return std::nullopt;
  }
  return operands;
}

/// Rows that a tensor copy brings are no further apart than its descriptor can
/// say. What the types do not tell becomes a precondition.
static LogicalResult
checkDmaStrides(GroupedGemmOp op, const TargetInfo &target,
                SmallVectorImpl<std::string> &preconditions) {
  GemmConfigAttr config = op.getConfigAttr();
  if (config.getStages() == 0)
    return success();
  const GemmShape shape(op, getMmaInfo(config.getMma()), target);
  const GemmStages stages(op, shape, config, target);
  struct {
    StringRef name;
    Value value;
    const GemmStages::Operand &staged;
  } operands[] = {{"a", op.getA(), stages.rows},
                  {"b", op.getB(), stages.weights}};
  for (auto &operand : operands) {
    if (operand.staged.way != GemmStages::Way::dma || operand.staged.isShuffled)
      continue;
    auto type = cast<MemRefType>(operand.value.getType());
    const int64_t stride = type.getStridesAndOffset().first[type.getRank() - 2];
    if (ShapedType::isDynamic(stride))
      preconditions.push_back("row stride of " + operand.name.str() +
                              " <= " + std::to_string(kMaxDmaStride));
    else if (stride > kMaxDmaStride)
      return op.emitOpError() << "row stride of " << operand.name
                              << " must be at most " << kMaxDmaStride << " for "
                              << target.getName() << ", found " << stride;
  }
  return success();
}

LogicalResult mlir::pa::tileGroupedGemm(RewriterBase &rewriter,
                                        GroupedGemmOp op,
                                        const TargetInfo &target) {
  GemmConfigAttr config = op.getConfigAttr();
  if (!config)
    return op.emitOpError() << "has no config, run pa-configure first";
  SmallVector<Value> unitInner{op.getA(), op.getB(), op.getC()};
  if (op.getBias())
    unitInner.push_back(op.getBias());
  if (failed(checkOperandsForChip(op, unitInner)))
    return failure();
  ImplicitLocOpBuilder host(op.getLoc(), rewriter);
  host.setInsertionPoint(op);
  const std::optional<Operands> operands = getOperands(host, op);
  if (!operands)
    return failure();
  Value one = host.create<arith::ConstantIndexOp>(1);
  auto [workers, workersText] = getNumWorkers(host, op);

  KernelSpec spec;
  spec.name = getKernelName(op);
  spec.op = GroupedGemmOp::getOperationName();
  spec.blockSize = config.getWavesM() * config.getWavesN() *
                   config.getWavesK() * target.waveSize;
  spec.vgprs = getGemmRegisters(op, target);
  spec.grid = {workers, one, one};
  spec.gridText = {"num_workers", "1", "1"};
  for (auto [name, value] : *operands)
    spec.args.push_back({name.str(), value});
  spec.args.push_back({"num_workers", workers});
  spec.sizes = {{"M", "c", 0}};
  spec.scalars = {{"num_workers", workersText}};
  if (op.getOffsets()) {
    spec.sizes.push_back({"E", "b", 0});
    spec.preconditions = {
        "offsets[e] <= offsets[e + 1]; offsets are cut to 0..M, so that wrong "
        "ones touch no memory outside of the operands"};
  }
  if (failed(checkDmaStrides(op, target, spec.preconditions)))
    return failure();
  if (op.getAScaleLayout() != ScaleLayout::linear)
    spec.preconditions.push_back(
        "a_scales has the rows of a, rounded up to a multiple of 32");
  if (op.getRowIds())
    spec.preconditions.push_back(
        "a row whose row_ids entry is no row of a is left untouched");

  KernelBuilder kernel(host, op, spec, target);
  GemmKernel(kernel, op, target).emit();
  kernel.finish();
  rewriter.eraseOp(op);
  return success();
}
