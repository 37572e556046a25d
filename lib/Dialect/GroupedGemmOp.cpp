//===- GroupedGemmOp.cpp - The pa.grouped_gemm op -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pa;

static bool isFp4A(GemmFormat format) { return format == GemmFormat::a4w4; }
static bool isFp4B(GemmFormat format) {
  return format == GemmFormat::a4w4 || format == GemmFormat::a8w4;
}
static bool isE8M0(ScaleKind kind) {
  return kind == ScaleKind::e8m0_1x32 || kind == ScaleKind::e8m0_32x32;
}

/// Columns of K that one scale serves, 0 where the whole row has one or none.
static int64_t getScaleBlock(ScaleKind kind) {
  switch (kind) {
  case ScaleKind::e8m0_1x32:
  case ScaleKind::e8m0_32x32:
    return 32;
  case ScaleKind::f32_1x128:
  case ScaleKind::f32_128x128:
    return 128;
  case ScaleKind::none:
  case ScaleKind::f32_row:
    return 0;
  }
  return 0;
}

/// Rows that one scale serves.
static int64_t getScaleRows(ScaleKind kind) {
  if (kind == ScaleKind::e8m0_32x32)
    return 32;
  return kind == ScaleKind::f32_128x128 ? 128 : 1;
}

bool GroupedGemmOp::hasFp4A() { return isFp4A(getFormat()); }
bool GroupedGemmOp::hasFp4B() { return isFp4B(getFormat()); }
int64_t GroupedGemmOp::getNumGroups() {
  return cast<ShapedType>(getB().getType()).getDimSize(0);
}
int64_t GroupedGemmOp::getN() {
  return cast<ShapedType>(getB().getType()).getDimSize(1);
}
int64_t GroupedGemmOp::getK() {
  int64_t size = cast<ShapedType>(getA().getType()).getDimSize(1);
  return isFp4A(getFormat()) ? getFp4Elements(size) : size;
}

void GroupedGemmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationEffects(*this, effects);
}

/// C3: element types.
static LogicalResult verifyElementTypes(GroupedGemmOp op) {
  Builder b(op.getContext());
  Type i8 = b.getI8Type(), i32 = b.getI32Type(), f32 = b.getF32Type(),
       bf16 = b.getBF16Type(), f16 = b.getF16Type(),
       ocp = b.getType<Float8E4M3FNType>(),
       fnuz = b.getType<Float8E4M3FNUZType>(),
       e8m0 = b.getType<Float8E8M0FNUType>();
  auto dataTypes = [&](bool isFp4) -> SmallVector<Type> {
    if (op.getFormat() == GemmFormat::bf16)
      return {bf16};
    if (op.getFormat() == GemmFormat::f16)
      return {f16};
    if (isFp4)
      return {i8};
    return {ocp, fnuz};
  };
  auto scaleTypes = [&](ScaleKind kind) -> SmallVector<Type> {
    if (isE8M0(kind))
      return {i8, e8m0};
    return {f32};
  };
  SmallVector<Type> outTypes = op.getCScales()
                                   ? SmallVector<Type>{ocp, fnuz, i8}
                                   : SmallVector<Type>{bf16, f16, f32};
  if (failed(verifyElementType(op, {"a", op.getA()},
                               dataTypes(isFp4A(op.getFormat())))) ||
      failed(verifyElementType(op, {"b", op.getB()},
                               dataTypes(isFp4B(op.getFormat())))) ||
      failed(verifyElementType(op, {"a_scales", op.getAScales()},
                               scaleTypes(op.getAScale()))) ||
      failed(verifyElementType(op, {"b_scales", op.getBScales()},
                               scaleTypes(op.getBScale()))) ||
      failed(verifyElementType(op, {"bias", op.getBias()}, {f32})) ||
      failed(verifyElementType(op, {"offsets", op.getOffsets()}, {i32})) ||
      failed(verifyElementType(op, {"row_ids", op.getRowIds()}, {i32})) ||
      failed(
          verifyElementType(op, {"row_weights", op.getRowWeights()}, {f32})) ||
      failed(verifyElementType(op, {"c", op.getC()}, outTypes)) ||
      failed(verifyElementType(op, {"c_scales", op.getCScales()}, {i8, e8m0})))
    return failure();
  Type aType = cast<ShapedType>(op.getA().getType()).getElementType();
  Type bType = cast<ShapedType>(op.getB().getType()).getElementType();
  if (op.getFormat() == GemmFormat::a8w8 && aType != bType)
    return op.emitOpError() << "a and b must have one fp8 type, found " << aType
                            << " and " << bType;
  return success();
}

/// C4 and C11: which scales there are.
static LogicalResult verifyScaleKinds(GroupedGemmOp op) {
  struct {
    StringRef name;
    ScaleKind kind;
    Value scales;
  } sides[] = {{"a", op.getAScale(), op.getAScales()},
               {"b", op.getBScale(), op.getBScales()}};
  bool isPlain =
      op.getFormat() == GemmFormat::bf16 || op.getFormat() == GemmFormat::f16;
  for (auto &side : sides) {
    bool isWanted = side.kind != ScaleKind::none;
    if (bool(side.scales) != isWanted)
      return op.emitOpError()
             << side.name << "_scales must be "
             << (isWanted ? "present" : "absent") << " for scale kind "
             << stringifyScaleKind(side.kind);
    if (isPlain && isWanted)
      return op.emitOpError()
             << "format " << stringifyGemmFormat(op.getFormat())
             << " has no scales, found " << stringifyScaleKind(side.kind)
             << " for " << side.name;
  }
  auto isOnlyOfB = [](ScaleKind kind) {
    return kind == ScaleKind::e8m0_32x32 || kind == ScaleKind::f32_128x128;
  };
  if (isOnlyOfB(op.getAScale()))
    return op.emitOpError()
           << "scale kind " << stringifyScaleKind(op.getAScale())
           << " is one of b only, found on a";
  if (op.getBScale() == ScaleKind::f32_1x128)
    return op.emitOpError()
           << "scale kind f32_1x128 is one of a only, found on b";
  return success();
}

/// C6: the sizes of N and K.
static LogicalResult verifySizes(GroupedGemmOp op) {
  int64_t n = op.getN(), k = op.getK();
  if (ShapedType::isDynamic(n))
    return op.emitOpError() << "N, the rows of an expert, must be static";
  if (ShapedType::isDynamic(k))
    return op.emitOpError() << "K, the columns of a, must be static";
  if (n <= 0)
    return op.emitOpError() << "N must be positive, found " << n;
  int64_t block = std::max<int64_t>(
      {1, getScaleBlock(op.getAScale()), getScaleBlock(op.getBScale()),
       isFp4A(op.getFormat()) || isFp4B(op.getFormat()) ? 2 : 1});
  if (k <= 0 || k % block != 0)
    return op.emitOpError() << "K must be a positive multiple of the scale "
                               "block of "
                            << block << ", found " << k;
  return success();
}

/// C5 and C6: extents that operands share.
static LogicalResult verifyExtents(GroupedGemmOp op) {
  auto cType = cast<ShapedType>(op.getC().getType());
  int64_t n = op.getN(), k = op.getK(), groups = op.getNumGroups();
  int64_t rows = cType.getDimSize(0);
  int64_t aRows = cast<ShapedType>(op.getA().getType()).getDimSize(0);
  NamedOperand aScales{"a_scales", op.getAScales()},
      bScales{"b_scales", op.getBScales()}, bias{"bias", op.getBias()},
      cScales{"c_scales", op.getCScales()};
  if (failed(verifyExtent(op, {"b", op.getB()}, 2,
                          isFp4B(op.getFormat()) ? k / 2 : k,
                          isFp4B(op.getFormat()) ? "K / 2" : "K")))
    return failure();
  if (aScales.value) {
    if (failed(verifyExtent(op, aScales, 0, aRows, "rows of a")))
      return failure();
    if (int64_t block = getScaleBlock(op.getAScale()))
      if (failed(verifyExtent(op, aScales, 1, k / block, "K / block")))
        return failure();
  }
  if (bScales.value) {
    int64_t scaleRows = llvm::divideCeil(n, getScaleRows(op.getBScale()));
    if (failed(verifyExtent(op, bScales, 0, groups, "groups")) ||
        failed(verifyExtent(op, bScales, 1, scaleRows, "scale rows of N")))
      return failure();
    if (int64_t block = getScaleBlock(op.getBScale()))
      if (failed(verifyExtent(op, bScales, 2, k / block, "K / block")))
        return failure();
  }
  if (bias.value && (failed(verifyExtent(op, bias, 0, groups, "groups")) ||
                     failed(verifyExtent(op, bias, 1, n, "N"))))
    return failure();
  int64_t numOffsets = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(groups) &&
      llvm::AddOverflow(groups, int64_t{1}, numOffsets))
    return op.emitOpError()
           << "groups + 1 must fit 64 bits, found " << groups << " groups";
  if (failed(verifyExtent(op, {"offsets", op.getOffsets()}, 0, numOffsets,
                          "groups + 1")) ||
      failed(verifyExtent(op, {"row_ids", op.getRowIds()}, 0, rows,
                          "rows of c")) ||
      failed(verifyExtent(op, {"row_weights", op.getRowWeights()}, 0, rows,
                          "rows of c")))
    return failure();
  if (!op.getRowIds() &&
      failed(verifyExtent(op, {"a", op.getA()}, 0, rows, "rows of c")))
    return failure();
  if (!op.getOffsets() && !ShapedType::isDynamic(groups) && groups != 1)
    return op.emitOpError()
           << "without offsets there must be one group, found " << groups;

  // C7 and C8: the output columns.
  if (op.getActivation() && n % 2 != 0)
    return op.emitOpError() << "activation needs an even N, found " << n;
  int64_t columns = op.getActivation() ? n / 2 : n;
  bool isFp4Out = op.getCScales() && cType.getElementType().isInteger(8);
  if (op.getCScales() && columns % 32 != 0)
    return op.emitOpError()
           << "requantised output must have a multiple of 32 columns, found "
           << columns;
  StringRef activated = op.getActivation() ? "N / 2 after the activation" : "N";
  StringRef packed = op.getActivation() ? "N / 4 after activation and packing"
                                        : "N / 2 after packing";
  if (failed(verifyExtent(op, {"c", op.getC()}, 1,
                          isFp4Out ? columns / 2 : columns,
                          isFp4Out ? packed : activated)))
    return failure();
  return success(
      succeeded(verifyExtent(op, cScales, 0, rows, "rows of c")) &&
      succeeded(verifyExtent(op, cScales, 1, columns / 32, "columns / 32")));
}

/// Whether rows of `columns` elements can follow each other in the last two
/// dimensions of `value`. Dynamic strides are checked where the op is lowered
/// to a chip.
static bool isContiguousInside(Value value, int64_t columns) {
  auto type = cast<ShapedType>(value.getType());
  SmallVector<int64_t> strides = getStrides(type);
  unsigned rank = type.getRank();
  auto canBe = [](int64_t stride, int64_t wanted) {
    return ShapedType::isDynamic(stride) || stride == wanted;
  };
  return canBe(strides[rank - 1], 1) && canBe(strides[rank - 2], columns);
}

/// C9: shuffled layouts.
static LogicalResult verifyLayouts(GroupedGemmOp op) {
  int64_t n = op.getN(), k = op.getK();
  if (op.getWeightLayout() == WeightLayout::shuffled_16x16) {
    auto bType = cast<ShapedType>(op.getB().getType());
    int64_t elementBytes = bType.getElementTypeBitWidth() / 8;
    int64_t columns = isFp4B(op.getFormat()) ? k / 2 : k;
    int64_t rowBytes = columns * elementBytes;
    if (n % 16 != 0 || rowBytes % 32 != 0)
      return op.emitOpError()
             << "shuffled weights need N to be a multiple of 16 and rows of a "
                "multiple of 32 bytes, found N = "
             << n << " and rows of " << rowBytes << " bytes";
    if (!isContiguousInside(op.getB(), columns))
      return op.emitOpError()
             << "shuffled weights must be contiguous inside an expert";
  }
  if (op.getScaleLayout() == ScaleLayout::linear)
    return success();
  StringRef name = stringifyScaleLayout(op.getScaleLayout());
  if (op.getBScale() != ScaleKind::e8m0_1x32)
    return op.emitOpError()
           << "scale layout " << name << " needs e8m0_1x32 scales of b, found "
           << stringifyScaleKind(op.getBScale());
  int64_t step = op.getScaleLayout() == ScaleLayout::n32k4 ? 4 : 8;
  if (n % 32 != 0 || (k / 32) % step != 0)
    return op.emitOpError()
           << "scale layout " << name
           << " needs N to be a multiple of 32 and K / 32 of " << step
           << ", found N = " << n << " and K / 32 = " << k / 32;
  if (!isContiguousInside(op.getBScales(), k / 32))
    return op.emitOpError()
           << "shuffled scales must be contiguous inside an expert";
  return success();
}

/// C12: a configuration written by hand.
static LogicalResult verifyConfig(GroupedGemmOp op) {
  GemmConfigAttr config = op.getConfigAttr();
  if (!config)
    return success();
  auto verifyRange = [&](StringRef name, int64_t value, int64_t min,
                         int64_t max) -> LogicalResult {
    if (value >= min && value <= max)
      return success();
    return op.emitOpError() << name << " must be from " << min << " to " << max
                            << ", found " << value;
  };
  constexpr int64_t kMaxTile = 1024, kMaxWaves = 16, kMaxStages = 8;
  if (failed(verifyRange("tile_m", config.getTileM(), 1, kMaxTile)) ||
      failed(verifyRange("tile_n", config.getTileN(), 1, kMaxTile)) ||
      failed(verifyRange("tile_k", config.getTileK(), 1, kMaxTile)) ||
      failed(verifyRange("waves_m", config.getWavesM(), 1, kMaxWaves)) ||
      failed(verifyRange("waves_n", config.getWavesN(), 1, kMaxWaves)) ||
      failed(verifyRange("waves_k", config.getWavesK(), 1, kMaxWaves)) ||
      failed(verifyRange("stages", config.getStages(), 0, kMaxStages)) ||
      failed(verifyRange("waves_m * waves_n * waves_k",
                         config.getWavesM() * config.getWavesN() *
                             config.getWavesK(),
                         1, kMaxWaves)))
    return failure();
  if (config.getWavesK() > 1 && config.getStages() > 0)
    return op.emitOpError()
           << "waves_k > 1 needs stages = 0, found waves_k = "
           << config.getWavesK() << " and stages = " << config.getStages();
  return success();
}

/// C13: offsets known at compile time.
static LogicalResult verifyOffsets(GroupedGemmOp op, ElementsAttr offsets) {
  auto values = offsets.tryGetValues<APInt>();
  if (!values)
    return success();
  int64_t rows = cast<ShapedType>(op.getC().getType()).getDimSize(0);
  int64_t least = 0;
  for (auto [i, value] : llvm::enumerate(*values)) {
    int64_t offset = value.getSExtValue();
    if (offset < 0)
      return op.emitOpError()
             << "offsets must not be negative, found " << offset << " at " << i;
    if (offset < least)
      return op.emitOpError() << "offsets must not decrease, found " << offset
                              << " at " << i << " after " << least;
    if (!ShapedType::isDynamic(rows) && offset > rows)
      return op.emitOpError() << "offsets must not exceed the rows of c, "
                              << rows << ", found " << offset << " at " << i;
    least = offset;
  }
  return success();
}

/// What `value` is another shape of.
static Value skipCasts(Value value) {
  while (value &&
         isa_and_present<memref::CastOp, tensor::CastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Globals are other ops, which may be looked up only from the symbol table.
LogicalResult
GroupedGemmOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  Value offsets = skipCasts(getOffsets());
  auto use = offsets ? offsets.getDefiningOp<memref::GetGlobalOp>()
                     : memref::GetGlobalOp();
  if (!use)
    return success();
  auto global = symbolTable.lookupNearestSymbolFrom<memref::GlobalOp>(
      use, use.getNameAttr());
  ElementsAttr values = global ? global.getConstantInitValue() : ElementsAttr();
  return values ? verifyOffsets(*this, values) : success();
}

LogicalResult GroupedGemmOp::verify() {
  bool isRowA = getAScale() == ScaleKind::f32_row;
  bool isRowB = getBScale() == ScaleKind::f32_row;
  NamedOperand operands[] = {{"a", getA()},
                             {"a_scales", getAScales()},
                             {"b", getB()},
                             {"b_scales", getBScales()},
                             {"bias", getBias()},
                             {"offsets", getOffsets()},
                             {"row_ids", getRowIds()},
                             {"row_weights", getRowWeights()},
                             {"c", getC()},
                             {"c_scales", getCScales()}};
  const int64_t ranks[] = {2, isRowA ? 1 : 2, 3, isRowB ? 2 : 3, 2, 1, 1, 1, 2,
                           2};
  for (auto [operand, rank] : llvm::zip(operands, ranks))
    if (failed(verifyRank(*this, operand, rank)))
      return failure();
  if (failed(verifySameForm(*this, operands,
                            {{"c", getC()}, {"c_scales", getCScales()}})) ||
      failed(verifyScaleKinds(*this)) || failed(verifyElementTypes(*this)) ||
      failed(verifySizes(*this)) || failed(verifyExtents(*this)))
    return failure();
  for (NamedOperand &operand : operands) {
    bool unitInner = llvm::is_contained(
        ArrayRef<StringRef>{"a", "b", "c", "bias"}, operand.name);
    if (failed(verifyStrides(*this, operand, unitInner)))
      return failure();
  }
  if (failed(verifyRowsApart(*this, {"c", getC()})) ||
      failed(verifyRowsApart(*this, {"c_scales", getCScales()})))
    return failure();
  ElementsAttr offsets;
  if (getOffsets() &&
      matchPattern(skipCasts(getOffsets()), m_Constant(&offsets)) &&
      failed(verifyOffsets(*this, offsets)))
    return failure();
  return success(succeeded(verifyLayouts(*this)) &&
                 succeeded(verifyConfig(*this)));
}
