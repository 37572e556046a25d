//===- GemmKernel.h - The body of a grouped GEMM kernel ---------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup takes tiles of tile_m rows of one group by tile_n columns, until
// all tiles of all groups are done. Which group a tile belongs to is found from
// the offsets on the device. Tiles of one group that share their weights follow
// each other.
//
// The weights are the A operand of the matrix instruction: a lane then has the
// results of one output row and of consecutive columns.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_GEMMKERNEL_H
#define PAGEDATTN_LIB_TRANSFORMS_GEMMKERNEL_H

#include "GemmShape.h"
#include "KernelBody.h"

namespace mlir::pa {

/// Builds the kernel of one op with one configuration.
class GemmKernel : KernelBody {
public:
  GemmKernel(KernelBuilder &kernel, GroupedGemmOp op, const TargetInfo &target);

  void emit();

private:
  /// What one chunk of K is multiplied from: words of the operand runs, block
  /// by block, and words or f32 of the scales.
  struct Chunk {
    SmallVector<Value> weights, rows, weightScales, rowScales;

    SmallVector<Value> flatten() const;
    /// The same chunk with the values of `values`.
    Chunk withValues(ValueRange values) const;
  };
  static SmallVector<Value> flatten(ArrayRef<Chunk> chunks);
  static SmallVector<Chunk> unflatten(ArrayRef<Chunk> like, ValueRange values);
  using Sums = SmallVector<Value>;

  // Which tile: GemmKernel.cpp.
  void emitTiles();
  std::pair<Value, Value> emitGroupRows(Value group);
  Value emitGroupTiles(Value rows);
  void emitWavePlace(Value number);
  void emitLanePlace();
  void readLaneHere();
  void emitTile(Value group, Value firstRow, Value numRows, Value localTile);
  struct Row {
    /// Row of the output, row of A, and whether there is one.
    Value output, source, isInside;
  };
  Row emitRow(Value base, Value inTile, Value left);
  void emitRows(Value base, Value left);
  struct WeightRow {
    /// Row of the weights in the lane, and where it begins in shuffled ones.
    Value row, offset;
  };
  WeightRow emitWeightRow(Value first, int64_t further);
  void emitColumns(Value columnTile);

  // The sum over K: GemmProduct.cpp.
  Sums emitProduct();
  void emitDirectSteps(Sums &sums);
  /// Emits one step: `step` is what it multiplies, and then what the next one
  /// does.
  using StepEmitter = function_ref<void(SmallVector<Chunk> &step, Value number,
                                        bool hasNext, Sums &sums)>;
  int64_t emitStepLoop(int64_t steps, SmallVector<Chunk> &step, Sums &sums,
                       StepEmitter emitStep);
  /// Steps that every wave has of those that go straight to registers.
  int64_t getDirectSteps() const {
    return shape.getFullChunks() /
           (config.getTileK() / shape.chunk * config.getWavesK());
  }
  void multiply(const Chunk &chunk, Sums &sums,
                function_ref<void(int64_t)> afterTile = nullptr);
  SmallVector<Value> getFragments(ArrayRef<Value> words,
                                  const GemmOperand &operand, bool isA);
  Value convertWords(Value words, const GemmOperand &operand);
  Value addSegment(Value sum, Value partial, const Chunk &chunk, int64_t tile,
                   int64_t block, int64_t segment);
  Sums addWaves(Sums sums);
  Value zeroSum();

  // Operands by way of LDS: GemmStaging.cpp.

  /// One run of a block of 16 rows on its way from memory to LDS.
  struct Copy {
    const GemmStages::Operand *staged;
    Value memref;
    SmallVector<Value> leading;
    Value rowOffset;
    /// Block of the first wave, and whether the wave has one; null where every
    /// wave has.
    int64_t firstBlock = 0;
    Value isMine;
    int64_t run = 0;
  };
  /// The wave's share of a tile that one tensor copy brings: where it begins,
  /// and how many of its rows or blocks there are.
  struct TensorCopy {
    const GemmStages::Operand *staged;
    Value memref;
    SmallVector<Value> leading;
    Value count;
  };
  void allocateStages();
  void emitStagePlaces();
  int64_t getBlockBytes(const GemmStages::Operand &staged) const;
  int64_t getRunByte(const GemmStages::Operand &staged, int64_t run,
                     int64_t chunk) const;
  Value getLaneByte(const GemmStages::Operand &staged);
  void planRuns(const GemmStages::Operand &staged,
                function_ref<void(Copy &, Value, Value)> locate);
  void planCopies(Value firstRow, Value rowsLeft, Value columnTile);
  void startTensorCopy(const TensorCopy &copy, Value waveHere, Value step,
                       int64_t stage);
  SmallVector<Value> startCopies(Value step, int64_t stage);
  void finishCopies(ValueRange words, int64_t stage);
  void waitForStage();
  void readStage(Chunk &chunk, int64_t stage, int64_t inStage);
  void emitStagedSteps(Sums &sums);

  // Loads: GemmLoads.cpp.
  Value inBase(Value chunk);
  Chunk loadChunk(Value number, bool isTail);
  SmallVector<Value> getRunIndices(Value memref, ArrayRef<Value> leading,
                                   Value rowOffset, const GemmOperand &operand,
                                   Value number, Value chunk, bool isShuffled);
  Value loadRun(Value memref, ArrayRef<Value> leading, Value rowOffset,
                const GemmOperand &operand, int64_t run, Value chunk,
                bool isTail, bool isShuffled);
  Value loadRowRun(int64_t block, int64_t run, Value chunk, bool isTail);
  Value loadWeightRun(int64_t block, int64_t run, Value chunk, bool isTail);
  int64_t getTilesPerScale() const;
  void loadScales(Chunk &chunk, Value number, bool isTail);
  Value loadCodeWord(Value memref, ArrayRef<Value> leading, Value chunk,
                     bool isTail);
  /// The E8M0 codes of one operand, those of one expert of the weights.
  struct ScaleSource {
    Value memref;
    SmallVector<Value> leading;
    ScaleLayout layout;
  };
  Value loadCodeOf(const ScaleSource &source, Value row, Value block);
  Value loadCodesOf(const ScaleSource &source, Value row, Value chunk,
                    bool isTail);
  Value getLaneBlock(Value chunk, bool isTail);

  // What becomes of the sums: GemmEpilogue.cpp.
  void emitOutput(Sums sums);
  Value finish(Value sum, int64_t columnBlock, int64_t rowBlock);
  void storeBlock(Value values, int64_t columnBlock, int64_t rowBlock);
  void storeQuantized(ArrayRef<Value> values, int64_t firstBlock,
                      int64_t rowBlock);
  Value loadColumns(Value memref, int64_t columnBlock);
  Value outputColumn(int64_t columnBlock, int64_t perStep = 1);

  /// Row blocks of the weights in a wave.
  int64_t getColumnBlocks() const { return tilesN * shape.blocksPerTile; }
  /// Output columns that a lane has of 16 columns of the product.
  int64_t getOutputsPerBlock() {
    return op.getActivation() ? mma.accRowBlock / 2 : mma.accRowBlock;
  }
  int64_t getNumWaves() const {
    return config.getWavesM() * config.getWavesN() * config.getWavesK();
  }
  bool isSegmented() const { return shape.segment != 0; }

  GroupedGemmOp op;
  GemmConfigAttr config;
  const MmaInfo &mma;
  const GemmShape shape;
  /// Blocks of 16 rows and matrix tiles of columns in a wave.
  const int64_t rowBlocks, tilesN;

  Value a, aScales, weights, weightScales, bias, offsets, rowIds, rowWeights,
      output, outputScales, numWorkers;
  Value waveM, waveN, waveK, laneInTile, laneGroup;
  Value totalRows;

  // Of the tile at hand.
  Value group;
  /// First column of the wave, and for each block of 16 rows of the weights the
  /// row of the lane, or where the row begins in shuffled weights.
  Value firstColumn;
  /// What the wave writes from: its first column of the output, the byte where
  /// that lies where two columns share one, and its first output scale.
  Value firstOutput, firstOutputPair, firstOutputScale;
  SmallVector<Value> weightRows, weightOffsets;
  /// For each block of rows: the row of the lane in the output, the row of A,
  /// and whether the lane has one.
  SmallVector<Value> outputRows, sourceRows, hasRow;

  /// The stages as words, and as elements of the operands.
  const GemmStages stages;
  Value stageWords, stagesOfRows, stagesOfWeights;
  /// For each stage, the word where the lane's part of the first block of the
  /// wave is read, and where it is written by way of registers.
  SmallVector<Value> rowReads, weightReads, rowWrites, weightWrites;
  SmallVector<Copy> copies;
  SmallVector<TensorCopy> tensorCopies;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_GEMMKERNEL_H
