//===- GemmKernel.cpp - Which tile a workgroup takes ----------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "GemmCost.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kRows = GemmShape::kRows;

GemmKernel::GemmKernel(KernelBuilder &kernel, GroupedGemmOp op,
                       const TargetInfo &target)
    : KernelBody(kernel, target), op(op), config(op.getConfigAttr()),
      mma(getMmaInfo(config.getMma())), shape(op, mma, target),
      rowBlocks(config.getTileM() / (kRows * config.getWavesM())),
      tilesN(config.getTileN() / (mma.m * config.getWavesN())),
      stages(op, shape, config, target) {}

/// First row of a group and the number of its rows, cut to the rows there are.
std::pair<Value, Value> GemmKernel::emitGroupRows(Value number) {
  auto offset = [&](Value position) {
    return min(max(loadIndex(offsets, {position}), index(0)), totalRows);
  };
  Value first = offset(number);
  return {first, max(sub(offset(add(number, 1)), first), index(0))};
}

/// Tiles of a group of so many rows.
Value GemmKernel::emitGroupTiles(Value rows) {
  const int64_t columnTiles = llvm::divideCeil(shape.n, config.getTileN());
  Value rowTiles = div(add(rows, config.getTileM() - 1), config.getTileM());
  return mul(rowTiles, columnTiles);
}

/// Row `inTile` of a tile that begins at row `base` and has `left` rows. Beyond
/// the last of them it is that one again, to be read and not to be written.
GemmKernel::Row GemmKernel::emitRow(Value base, Value inTile, Value left) {
  Row row;
  row.isInside = less(inTile, left);
  Value clamped =
      inRegister(min(inTile, sub(left, index(1))), config.getTileM() - 1);
  row.output = add(base, clamped);
  row.source = row.output;
  if (rowIds) {
    // An id that is no row of A: nothing is read by it and nothing written.
    Value id = loadIndex(rowIds, {row.output});
    Value isRow =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, id, dim(a, 0));
    row.source = select(isRow, id, index(0));
    row.isInside = b.create<arith::AndIOp>(row.isInside, isRow);
  }
  return row;
}

void GemmKernel::emitRows(Value base, Value left) {
  outputRows.clear();
  sourceRows.clear();
  hasRow.clear();
  for (int64_t i = 0; i < rowBlocks; ++i) {
    Row row = emitRow(
        base, add(add(mul(waveM, rowBlocks * kRows), laneInTile), i * kRows),
        left);
    outputRows.push_back(row.output);
    sourceRows.push_back(row.source);
    hasRow.push_back(row.isInside);
  }
}

/// The row of the weights that the lane has of the block of 16 rows that begins
/// `further` rows after `first`. Beyond the last row it is that one again.
GemmKernel::WeightRow GemmKernel::emitWeightRow(Value first, int64_t further) {
  const bool isWhole = shape.n % config.getTileN() == 0;
  WeightRow result;
  if (op.getWeightLayout() != WeightLayout::shuffled_16x16) {
    Value inBlock = add(laneInTile, further);
    result.row = isWhole
                     ? add(first, inRegister(inBlock, config.getTileN() - 1))
                     : assume(min(add(first, inBlock), index(shape.n - 1)), 0,
                              shape.n - 1);
    return result;
  }
  // Pieces of 16 bytes of 16 rows follow each other.
  const int64_t piece =
      128 / cast<MemRefType>(op.getB().getType()).getElementTypeBitWidth();
  const int64_t rowColumns = shape.b.toColumns(shape.k);
  Value inRows = mul(laneInTile, piece);
  if (isWhole) {
    result.offset = add(mul(first, rowColumns),
                        inRegister(add(inRows, further * rowColumns),
                                   config.getTileN() * rowColumns - 1));
    return result;
  }
  Value start = assume(min(add(first, further), index(shape.n - kRows)), 0,
                       shape.n - kRows);
  result.offset = add(mul(start, rowColumns), inRows);
  return result;
}

void GemmKernel::emitColumns(Value columnTile) {
  firstColumn =
      add(mul(columnTile, config.getTileN()), mul(waveN, tilesN * mma.m));
  weightRows.clear();
  weightOffsets.clear();
  for (int64_t i = 0; i < getColumnBlocks(); ++i) {
    WeightRow row = emitWeightRow(firstColumn, i * kRows);
    weightRows.push_back(row.row);
    weightOffsets.push_back(row.offset);
  }
}

/// Which part of a tile wave `number` has.
void GemmKernel::emitWavePlace(Value number) {
  waveM = rem(number, config.getWavesM());
  Value rest = div(number, config.getWavesM());
  waveN = rem(rest, config.getWavesN());
  waveK = div(rest, config.getWavesN());
}

/// Which part of a block of rows the lane has.
void GemmKernel::emitLanePlace() {
  laneInTile = rem(lane, kRows);
  laneGroup = div(lane, kRows);
}

/// What follows is computed here from the lane, not carried along in registers
/// since the begin of the kernel: 128 columns of a wave on gfx1250 took 8.
void GemmKernel::readLaneHere() {
  lane = laneHere();
  emitLanePlace();
}

void GemmKernel::emitTile(Value newGroup, Value firstRow, Value numRows,
                          Value localTile) {
  group = newGroup;
  // What is computed from the tile is not to be carried along from one to the
  // next in further registers.
  localTile = inScalar(localTile, std::numeric_limits<int64_t>::max());
  emitWavePlace(assume(uniformHere(wave), 0, getNumWaves() - 1));
  readLaneHere();
  // Row tiles that share their weights come one after another.
  Value rowTiles = max(
      div(add(numRows, config.getTileM() - 1), config.getTileM()), index(1));
  // The backend divides in vector registers and forgets that all lanes agree.
  Value columnTile = uniform(b.create<arith::DivUIOp>(localTile, rowTiles));
  Value rowTile = sub(localTile, mul(columnTile, rowTiles));
  Value tileRow = mul(rowTile, config.getTileM());
  Value base = add(firstRow, tileRow), left = sub(numRows, tileRow);
  emitRows(base, left);
  emitColumns(columnTile);
  if (config.getStages() > 0) {
    emitStagePlaces();
    planCopies(base, left, columnTile);
  }
  Sums sums = emitProduct();
  // Beside the sums, and the first 256, there must be registers for operands.
  const int64_t sumRegisters =
      rowBlocks * getColumnBlocks() * kRows * kRows / lanes;
  constexpr int64_t kBank = 256, kOperands = 128;
  if (shape.hasMmaScales && config.getStages() > 0 &&
      kBank + sumRegisters + kOperands <= getGemmRegisters(op, target))
    leaveFirstBank();
  // The place of the tile takes six scalar registers across the loop, a block
  // of rows three vector registers and a mask of lanes.
  constexpr int64_t kManyBlocks = 4;
  if (rowBlocks >= kManyBlocks) {
    readLaneHere();
    emitRows(base, left);
  }
  emitOutput(std::move(sums));
}

void GemmKernel::emitTiles() {
  Value worker = kernel.blockId(gpu::Dimension::x);
  if (!offsets) {
    Value total = emitGroupTiles(totalRows);
    auto loop = b.create<scf::ForOp>(worker, total, numWorkers);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitTile(index(0), index(0), totalRows, loop.getInductionVar());
    return;
  }

  // Without a group there is no tile.
  if (op.getNumGroups() == 0)
    return;
  Value numGroups = dim(weights, 0);
  Value lastGroup = sub(numGroups, index(1));
  // Tiles of the group `first + lane`, 0 beyond the last one.
  auto laneTiles = [&](Value first) {
    Value number = add(first, lane);
    Value tiles = emitGroupTiles(emitGroupRows(min(number, lastGroup)).second);
    return select(less(number, numGroups), tiles, index(0));
  };
  auto sumLoop = b.create<scf::ForOp>(index(0), numGroups, index(lanes),
                                      ValueRange{index(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(sumLoop.getBody());
    Value tiles = laneTiles(sumLoop.getInductionVar());
    b.create<scf::YieldOp>(
        ValueRange{add(sumLoop.getRegionIterArg(0), emitWaveSum(tiles))});
  }

  auto loop = b.create<scf::ForOp>(worker, sumLoop.getResult(0), numWorkers);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  // The group of a tile is the number of groups that end at or before it.
  auto findLoop =
      b.create<scf::ForOp>(index(0), numGroups, index(lanes),
                           ValueRange{index(0), index(0), index(0)});
  {
    OpBuilder::InsertionGuard innerGuard(b);
    b.setInsertionPointToStart(findLoop.getBody());
    ValueRange args = findLoop.getRegionIterArgs();
    Value first = findLoop.getInductionVar();
    Value tiles = laneTiles(first);
    Value upTo = add(args[0], emitWaveScan(tiles));
    Value isInside = less(add(first, lane), numGroups);
    Value endsBefore = b.create<arith::AndIOp>(
        isInside,
        b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, upTo, tile));
    auto sumWhere = [&](Value value) {
      return emitWaveSum(select(endsBefore, value, index(0)));
    };
    b.create<scf::YieldOp>(ValueRange{add(args[0], emitWaveSum(tiles)),
                                      add(args[1], sumWhere(index(1))),
                                      add(args[2], sumWhere(tiles))});
  }
  Value found = findLoop.getResult(1);
  if (!ShapedType::isDynamic(op.getNumGroups()))
    found = assume(found, 0, op.getNumGroups() - 1);
  auto [firstRow, numRows] = emitGroupRows(found);
  // What was loaded is in vector registers; all that follows from it need not.
  emitTile(found, uniform(firstRow), uniform(numRows),
           sub(tile, findLoop.getResult(2)));
}

void GemmKernel::emit() {
  auto optional = [&](Value operand, StringRef name) {
    return operand ? kernel.arg(name) : Value();
  };
  a = kernel.arg("a");
  aScales = optional(op.getAScales(), "a_scales");
  weights = kernel.arg("b");
  weightScales = optional(op.getBScales(), "b_scales");
  bias = optional(op.getBias(), "bias");
  offsets = optional(op.getOffsets(), "offsets");
  rowIds = optional(op.getRowIds(), "row_ids");
  rowWeights = optional(op.getRowWeights(), "row_weights");
  output = kernel.arg("c");
  outputScales = optional(op.getCScales(), "c_scales");
  numWorkers = kernel.arg("num_workers");

  emitLaneIds();
  emitLanePlace();
  emitWavePlace(wave);
  totalRows = dim(output, 0);

  const SmallVector<ReassociationIndices> insideExpert{{0}, {1, 2}};
  if (op.getWeightLayout() == WeightLayout::shuffled_16x16)
    weights = b.create<memref::CollapseShapeOp>(weights, insideExpert);
  if (op.getScaleLayout() != ScaleLayout::linear)
    weightScales =
        b.create<memref::CollapseShapeOp>(weightScales, insideExpert);
  if (op.getAScaleLayout() != ScaleLayout::linear)
    aScales = b.create<memref::CollapseShapeOp>(
        aScales, SmallVector<ReassociationIndices>{{0, 1}});
  if (config.getStages() > 0)
    allocateStages();
  if (!rowIds) {
    emitTiles();
    return;
  }
  // Without a row of A every id is outside of it, and none can be read.
  ifTrue(less(index(0), dim(a, 0)), [&] { emitTiles(); });
}
