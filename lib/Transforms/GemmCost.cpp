//===- GemmCost.cpp - What a tiling of a grouped GEMM costs ---------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmCost.h"
#include "GemmOutput.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;

int64_t mlir::pa::getGemmRegisterLimit(int64_t waves,
                                       const TargetInfo &target) {
  return target.vgprsPerLane / llvm::divideCeil(waves, target.simdsPerCu);
}

int64_t mlir::pa::getGemmColumnUnit(GroupedGemmOp op) {
  if (!op.getCScales())
    return 1;
  return op.getActivation() ? 2 * kOutputBlock : kOutputBlock;
}

GemmWork::GemmWork(GroupedGemmOp op, int64_t numCus) : numCus(numCus) {
  // Rows that a group has on average, where the types tell.
  constexpr int64_t kUnknownRows = 64, kUnknownGroups = 8;
  rows = cast<ShapedType>(op.getC().getType()).getDimSize(0);
  groups = op.getNumGroups();
  const bool isKnown =
      !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(groups);
  groups = ShapedType::isDynamic(groups) ? kUnknownGroups
                                         : std::max<int64_t>(groups, 1);
  // Fewer rows than groups leave the others empty.
  if (isKnown)
    groups = std::min(groups, std::max<int64_t>(rows, 1));
  rows = isKnown ? llvm::divideCeil(std::max<int64_t>(rows, 1), groups)
                 : kUnknownRows;
}

namespace {
/// One way to tile, as candidates are written down; `chunks` of K in a step.
struct Tiling {
  int64_t tileM, tileN, chunks, wavesM, wavesN, wavesK, stages;

  int64_t getWaves() const { return wavesM * wavesN * wavesK; }
  int64_t getRowBlocks() const { return tileM / (kRows * wavesM); }
  int64_t getColumnBlocks() const { return tileN / (kRows * wavesN); }
};
} // namespace

/// From small to large. Waves share K where there are few rows: the weights are
/// read once, by many waves; where there are few columns as well, 16 of them
/// and eight waves: more compute units have a tile then, and all of a K of 4096
/// is on its way at once. Rows go through LDS where several waves need them,
/// weights where two rows of waves do.
static constexpr Tiling kTilings[] = {
    {16, 16, 1, 1, 1, 4, 0},   {16, 16, 2, 1, 1, 4, 0},
    {16, 16, 1, 1, 1, 8, 0},   {16, 16, 2, 1, 1, 8, 0},
    {16, 32, 1, 1, 1, 4, 0},   {16, 32, 2, 1, 1, 4, 0},
    {16, 32, 1, 1, 1, 8, 0},   {16, 32, 2, 1, 1, 8, 0},
    {16, 64, 1, 1, 1, 4, 0},   {16, 64, 2, 1, 1, 4, 0},
    {16, 64, 1, 1, 1, 8, 0},   {16, 64, 2, 1, 1, 8, 0},
    {16, 128, 1, 1, 2, 4, 0},  {32, 32, 1, 1, 1, 4, 0},
    {32, 64, 1, 1, 1, 4, 0},   {32, 128, 1, 1, 2, 4, 0},
    {32, 128, 1, 1, 4, 1, 2},  {64, 64, 1, 1, 1, 4, 0},
    {64, 64, 1, 2, 2, 1, 2},   {64, 128, 1, 2, 2, 1, 2},
    {64, 256, 1, 1, 4, 1, 2},  {96, 128, 1, 2, 2, 1, 2},
    {128, 128, 1, 2, 2, 1, 2}, {128, 128, 1, 1, 4, 1, 2},
    {128, 256, 1, 1, 4, 1, 2}, {128, 256, 1, 2, 2, 1, 2},
    {256, 128, 1, 2, 2, 1, 2}, {192, 256, 1, 2, 2, 1, 2},
    {256, 192, 1, 2, 2, 1, 2}, {256, 256, 1, 2, 2, 1, 2},
    {64, 512, 1, 1, 4, 1, 2},  {96, 512, 1, 1, 4, 1, 2},
    {128, 512, 1, 1, 4, 1, 2}, {128, 256, 1, 2, 4, 1, 2},
    {192, 256, 1, 4, 4, 1, 2}, {256, 256, 1, 4, 4, 1, 2},
    {128, 256, 2, 1, 4, 1, 2}, {192, 256, 2, 2, 2, 1, 2},
    {256, 192, 2, 2, 2, 1, 2}};

namespace {
/// Rates that no table has, because they are the model's and not the chip's.
constexpr double kLatency = 1000, kTileOverhead = 1500;
/// What of the shorter times is not hidden behind the longest.
constexpr double kExposed = 0.125;

/// The model for one tiling.
class Model {
public:
  Model(GroupedGemmOp op, const GemmShape &shape, const MmaInfo &mma,
        const TargetInfo &target, const GemmWork &work, const Tiling &t,
        GemmConfigAttr config)
      : op(op), shape(shape), mma(mma), target(target), work(work), t(t),
        config(config), stages(op, shape, config, target),
        isDirect(t.stages == 0),
        ownsWeights(isDirect || stages.weights.way == GemmStages::Way::lanes) {}

  GemmCandidate evaluate();

  struct Registers {
    int64_t sums, operands, onTheWay, others;

    int64_t getAll() const { return sums + operands + onTheWay + others; }
  };
  Registers getRegisters();

private:
  bool hasRegisters(const Registers &registers) const;
  int64_t getVectorInstructions() const;

  GroupedGemmOp op;
  const GemmShape &shape;
  const MmaInfo &mma;
  const TargetInfo &target;
  const GemmWork &work;
  const Tiling &t;
  GemmConfigAttr config;
  const GemmStages stages;
  /// Nothing goes through LDS; the weights do not.
  bool isDirect, ownsWeights;
};
} // namespace

/// Registers of a lane: the sums; the rows of a step and two tiles of weights,
/// or all of those that do not go through LDS, and twice everything where
/// nothing does; scales of this step and of the next; what addresses take.
Model::Registers Model::getRegisters() {
  // Conversions have values of their own on the way.
  const int64_t rest = shape.isConverted ? 64 : 32;
  const int64_t rowBlocks = t.getRowBlocks(), columns = t.getColumnBlocks();
  const int64_t sums = rowBlocks * columns * kRows * kRows / shape.lanes;
  // Converted operands are there as they are and as bf16, the rows also on the
  // way, as f32.
  auto getWords = [&](const GemmOperand &operand, int64_t times) {
    const int64_t words = operand.runs * operand.getRunWords();
    return shape.isConverted ? words + times * shape.chunk / shape.groups / 2
                             : words;
  };
  const int64_t rowWords = getWords(shape.a, 2),
                weightWords = getWords(shape.b, 1);
  const int64_t atOnce =
      (ownsWeights ? columns : std::min(columns, shape.blocksPerTile)) +
      shape.blocksPerTile;
  const int64_t operands =
      isDirect ? 2 * t.chunks * (rowBlocks * rowWords + columns * weightWords)
               : t.chunks * (rowBlocks * rowWords + atOnce * weightWords);
  const bool hasScales =
      isE8M0(op.getAScale()) || isE8M0(op.getBScale()) || shape.segment != 0;
  // Without scales in the instruction, those of all rows of weights.
  const int64_t weightScales =
      op.getBScale() == ScaleKind::e8m0_1x32 && !shape.hasMmaScales
          ? columns * kRows * kRows / shape.lanes
          : columns / shape.blocksPerTile;
  const int64_t scales =
      hasScales ? 2 * t.chunks * (rowBlocks + weightScales) : 0;
  // Without LDS the products of a step are scaled in the next one. With it,
  // where a wave may have a thousand registers, LLVM makes all products of a
  // step before it adds them up.
  int64_t products = 0;
  if (shape.segment != 0)
    products = isDirect ? t.chunks * sums *
                              std::max<int64_t>(1, shape.chunk / shape.segment)
               : target.accVgprs == 0 ? sums
                                      : 6 * shape.accPerLane;
  const int64_t offsets = (isDirect ? rowBlocks * shape.a.runs : 0) +
                          (ownsWeights ? columns * shape.b.runs : 0);
  // What passes through registers on its way to LDS, and from where.
  int64_t onTheWay = 0;
  for (const GemmStages::Operand *staged : {&stages.rows, &stages.weights})
    if (!isDirect && staged->way == GemmStages::Way::registers)
      onTheWay += llvm::divideCeil(staged->blocks, t.wavesM * t.wavesN) *
                  (2 + t.chunks * staged->operand->runs *
                           staged->operand->getRunWords());
  return {sums, operands, onTheWay, scales + products + offsets + rest};
}

/// LLVM takes about a fourth more registers than it needs where it may.
constexpr int64_t withReserve(int64_t registers) { return registers * 5 / 4; }

/// Whether a lane has so many, by what LLVM makes of them.
bool Model::hasRegisters(const Registers &registers) const {
  const int64_t limit = getGemmRegisterLimit(t.getWaves(), target);
  if (const int64_t acc = target.accVgprs) {
    // Only matrix instructions reach the sums in accumulation registers. With
    // more than three quarters of them LLVM moves registers about in the loop,
    // 80 for 128 instructions with sums of 128 by 128. Sums that are scaled are
    // in both places: those of 96 by 128 spilled 515. Weights past LDS need
    // some room: with 196 of 256 registers taken, a K of 640 spilled 174.
    const int64_t most = shape.segment == 0 ? acc * 3 / 4 : acc / 2;
    const int64_t others = target.vgprsPerLane - acc;
    const bool hasOwnWeights = ownsWeights && !isDirect;
    return registers.getAll() <= limit && registers.sums <= most &&
           registers.getAll() - registers.sums <=
               (hasOwnWeights ? others * 3 / 4 : others);
  }
  // Scales of a matrix instruction lie in the first 256 registers, where LLVM
  // puts operands first: with 208 of them it spilled scales.
  constexpr int64_t kBesideScales = 200;
  if (shape.hasMmaScales &&
      registers.operands + registers.onTheWay > kBesideScales)
    return false;
  return withReserve(registers.getAll()) <= limit;
}

/// Vector instructions of a wave for a chunk: sums that are scaled, two at a
/// time, and operands that are converted.
int64_t Model::getVectorInstructions() const {
  const int64_t rowBlocks = t.getRowBlocks(), columns = t.getColumnBlocks();
  int64_t count = 0;
  if (shape.segment != 0) {
    const int64_t segments = std::max<int64_t>(1, shape.chunk / shape.segment);
    count += segments * rowBlocks * (columns / shape.blocksPerTile) *
             (shape.accPerLane / 2 + 1);
  }
  // Instructions for an element, counted in the code for gfx942.
  constexpr int64_t kPerElement = 6;
  if (shape.isConverted)
    count +=
        (rowBlocks + columns) * kRows * shape.chunk / shape.lanes * kPerElement;
  return count;
}

GemmCandidate Model::evaluate() {
  GemmCandidate result;
  result.config = config;
  const int64_t ldsBytes = getGemmLdsBytes(op, shape, config, target);
  const Registers registers = getRegisters();
  result.fits = hasRegisters(registers) && ldsBytes <= target.ldsBytes;

  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const double simds = number(target.simdsPerCu);
  const double waves = number(t.wavesM * t.wavesN);
  const int64_t chunks =
      std::max<int64_t>(1, llvm::divideCeil(shape.k, shape.chunk));
  // One chunk of one tile, in cycles of a compute unit.
  const int64_t instructions =
      t.tileM / kRows * (t.tileN / mma.m) * shape.fragments;
  const double matrix = number(instructions * mma.cycles) / simds;
  const double vector = waves / simds * number(getVectorInstructions()) *
                        number(target.waveSize) / 16;
  const double rowBytes = number(shape.chunk * shape.a.bits) / 8;
  const double weightBytes = number(shape.chunk * shape.b.bits) / 8;
  const double cache =
      (number(t.tileM) * rowBytes + number(t.tileN) * weightBytes) /
      number(target.cacheBytesPerCycle);
  double ldsTraffic = 0;
  if (!isDirect)
    ldsTraffic += number(t.tileM) * rowBytes * (1 + number(t.wavesN));
  if (!ownsWeights)
    ldsTraffic += number(t.tileN) * weightBytes * (1 + number(t.wavesM));
  const double lds = ldsTraffic / number(target.ldsBytesPerCycle);

  const std::pair<StringRef, double> units[] = {
      {"matrix", matrix}, {"vector", vector}, {"cache", cache}, {"lds", lds}};
  double longest = 0, sum = 0;
  for (auto [name, cycles] : units) {
    sum += cycles;
    if (cycles > longest) {
      longest = cycles;
      result.bound = name;
    }
  }
  const double perTile =
      number(chunks) * (longest + kExposed * (sum - longest));
  // A step is not shorter than a load takes; other workgroups of the compute
  // unit have theirs at the same time.
  const int64_t steps = chunks / (t.chunks * t.wavesK);
  const int64_t left = chunks - steps * t.chunks * t.wavesK;
  const double waiting =
      number(steps + (left >= t.wavesK) + (left % t.wavesK > 0)) * kLatency;
  const double alone = std::max(perTile, waiting) + kTileOverhead;
  const int64_t tiles = llvm::divideCeil(work.rows, t.tileM) *
                        llvm::divideCeil(shape.n, t.tileN) * work.groups;
  result.tiles = tiles;
  const int64_t rounds = llvm::divideCeil(tiles, work.numCus);
  const int64_t taken = std::min(withReserve(registers.getAll()),
                                 getGemmRegisterLimit(t.getWaves(), target));
  const int64_t resident =
      std::max<int64_t>(1, target.getOccupancy(taken, ldsBytes, t.getWaves()) *
                               target.simdsPerCu / t.getWaves());
  result.busy = result.cycles = number(rounds) * perTile;
  const double inTurn = number(llvm::divideCeil(rounds, resident)) * alone;
  result.withoutHbm = std::max(result.cycles, inTurn);
  if (inTurn > result.cycles) {
    result.cycles = inTurn;
    if (waiting > perTile)
      result.bound = "latency";
  }

  // All operands once, and the output.
  const double k = number(shape.k), n = number(shape.n);
  const double rows = number(work.rows) * number(work.groups);
  Type outType = cast<ShapedType>(op.getC().getType()).getElementType();
  result.flops = 2 * rows * n * k;
  result.hbmBytes = rows * k * number(shape.a.bits) / 8 +
                    number(work.groups) * n * k * number(shape.b.bits) / 8 +
                    rows * (op.getActivation() ? n / 2 : n) *
                        number(outType.getIntOrFloatBitWidth()) / 8;
  const double hbm = result.hbmBytes / target.getHbmBytesPerCycle();
  if (hbm > result.cycles) {
    result.cycles = hbm;
    result.bound = "hbm";
  }
  result.ofMatrixPeak = result.flops / result.cycles /
                        (mma.getFlopsPerCycle() * simds * number(work.numCus));
  result.ofHbmPeak = hbm / result.cycles;
  return result;
}

int64_t mlir::pa::getGemmRegisters(GroupedGemmOp op, const TargetInfo &target) {
  GemmConfigAttr config = op.getConfigAttr();
  const MmaInfo &mma = getMmaInfo(config.getMma());
  const GemmShape shape(op, mma, target);
  const Tiling t{config.getTileM(),
                 config.getTileN(),
                 std::max<int64_t>(1, config.getTileK() / shape.chunk),
                 config.getWavesM(),
                 config.getWavesN(),
                 config.getWavesK(),
                 config.getStages()};
  const GemmWork work(op, target.numCus);
  int64_t needed =
      Model(op, shape, mma, target, work, t, config).getRegisters().getAll();
  // LLVM starts all loads at once where no loop is in the way.
  if (t.stages == 0 && shape.getFullChunks() < 2 * t.chunks * t.wavesK)
    needed *= 2;
  const int64_t limit = getGemmRegisterLimit(t.getWaves(), target);
  int64_t registers = target.maxVgprs;
  // What is more than usual has its reserve.
  if (needed > registers)
    while (registers < withReserve(needed) && 2 * registers <= limit)
      registers *= 2;
  return registers;
}

SmallVector<GemmCandidate> mlir::pa::rankGemmConfigs(GroupedGemmOp op, MmaId id,
                                                     const TargetInfo &target,
                                                     const GemmWork &work) {
  const MmaInfo &mma = getMmaInfo(id);
  const GemmShape shape(op, mma, target);
  const int64_t columnUnit = std::max(mma.m, getGemmColumnUnit(op));
  const int64_t chunks =
      std::max<int64_t>(1, llvm::divideCeil(shape.k, shape.chunk));
  SmallVector<GemmCandidate> candidates;
  for (Tiling t : kTilings) {
    if (t.chunks > chunks)
      continue;
    // Where sums are scaled, three blocks of rows of gfx942 spilled 163
    // registers, two and four none.
    if (shape.segment != 0 && t.stages != 0 && t.getRowBlocks() == 3)
      continue;
    t.tileN = llvm::alignTo(t.tileN, columnUnit * t.wavesN);
    auto config = GemmConfigAttr::get(op.getContext(), id, t.tileM, t.tileN,
                                      shape.chunk * t.chunks, t.wavesM,
                                      t.wavesN, t.wavesK, t.stages);
    const bool isListed =
        llvm::any_of(candidates, [&](const GemmCandidate &other) {
          return other.config == config;
        });
    if (!isListed)
      candidates.push_back(
          Model(op, shape, mma, target, work, t, config).evaluate());
  }
  // The first one is the smallest and fits always.
  candidates.front().fits = true;
  for (auto [i, candidate] : llvm::enumerate(candidates))
    candidate.order = i;
  llvm::sort(candidates, [](const GemmCandidate &x, const GemmCandidate &y) {
    return std::tuple(!x.fits, x.withoutHbm, x.busy, x.order) <
           std::tuple(!y.fits, y.withoutHbm, y.busy, y.order);
  });
  return candidates;
}

std::string mlir::pa::describe(const GemmCandidate &candidate,
                               const MmaInfo &mma, const TargetInfo &target,
                               int64_t numCus) {
  GemmConfigAttr c = candidate.config;
  const double peak =
      mma.getFlopsPerCycle() * static_cast<double>(target.simdsPerCu * numCus);
  return llvm::formatv(
             "tile {0}x{1}x{2}, waves {3}x{4}x{5}, stages {6}: {7:F0} cycles, "
             "{8} bound, {9:P1} of the matrix peak, {10:P1} of HBM; {11:F0} "
             "flop per byte, the roofline bends at {12:F0}; {13} tiles on {14} "
             "of {15} compute units",
             c.getTileM(), c.getTileN(), c.getTileK(), c.getWavesM(),
             c.getWavesN(), c.getWavesK(), c.getStages(), candidate.cycles,
             candidate.bound, candidate.ofMatrixPeak, candidate.ofHbmPeak,
             candidate.flops / candidate.hbmBytes,
             peak / target.getHbmBytesPerCycle(), candidate.tiles,
             std::min(candidate.tiles, numCus), numCus)
      .str();
}
