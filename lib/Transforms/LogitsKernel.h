//===- LogitsKernel.h - The body of a paged logits kernel -------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One workgroup scores a share of the context of one sequence for all N queries
// of it, so that each key is read once. A wave takes a step of as many tokens
// as it has lanes: one matrix tile of 16 tokens for each group of 16 lanes.
// Rows of a tile are heads, columns are tokens. The sum over the heads is first
// taken inside the lane, then over the lane groups for all tiles of the step at
// once, which leaves one logit in each lane and makes the store full width.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LOGITSKERNEL_H
#define PAGEDATTN_LIB_TRANSFORMS_LOGITSKERNEL_H

#include "KernelBody.h"
#include "LogitsShape.h"

namespace mlir::pa {

/// Builds the kernel of one op with one configuration. A derived kernel may do
/// something else with the logits than to store them, for the query rows of a
/// sequence or a group of them.
class LogitsKernel : protected KernelBody {
public:
  LogitsKernel(KernelBuilder &kernel, const LogitsOperands &in,
               LogitsConfigAttr config, Fill fill, const TargetInfo &target)
      : LogitsKernel(kernel, in, config, fill, target, in.getNumQueries(),
                     target.ldsBytes) {}
  virtual ~LogitsKernel() = default;

  void emit();

protected:
  /// For `groupQueries` of the queries, with `ldsBytes` for keys and queries.
  LogitsKernel(KernelBuilder &kernel, const LogitsOperands &in,
               LogitsConfigAttr config, Fill fill, const TargetInfo &target,
               int64_t groupQueries, int64_t ldsBytes)
      : KernelBody(kernel, target), in(in), config(config), fill(fill),
        mma(getMmaInfo(config.getMma())), shape(in, mma, target, groupQueries),
        groups(shape.groups), numQueries(in.getNumQueries()),
        groupQueries(groupQueries), headTiles(shape.headTiles),
        page(in.getPageSize()), keyBytes(shape.rowBytes), pieces(shape.pieces),
        pagesPerStep(page % lanes == 0 ? 1 : groups), ldsBytes(ldsBytes) {}

  /// What is loaded of one step, as it is carried from one iteration to the
  /// next.
  struct Step {
    SmallVector<Value> keys;   // groups * pieces of vector<4xi32>
    SmallVector<Value> codes;  // mxfp4: groups * fragments * codes of i8, E8M0
    SmallVector<Value> scales; // fp8: f32, of the lane's token in each tile

    SmallVector<Value> flatten() const {
      SmallVector<Value> values(keys);
      llvm::append_range(values, codes);
      llvm::append_range(values, scales);
      return values;
    }
    /// The same step from the front of `values`, which it takes away.
    Step take(ValueRange &values) const {
      Step step;
      auto takeFront = [&](size_t count) {
        SmallVector<Value> front(values.take_front(count));
        values = values.drop_front(count);
        return front;
      };
      step.keys = takeFront(keys.size());
      step.codes = takeFront(codes.size());
      step.scales = takeFront(scales.size());
      return step;
    }
  };

  /// Where a step is.
  struct Place {
    Value token;
    Value after;                // the token of the wave's step behind it
    SmallVector<Value> pageIds; // of the step, or of each tile
    SmallVector<Value> slots;   // of each tile's first token, or the lane's own
  };

  /// What the arithmetic takes of one tile.
  struct TileOperands {
    SmallVector<Value> keys;  // pieces of vector<4xi32>
    SmallVector<Value> codes; // mxfp4: fragments of i32, E8M0
  };

  /// The same of a step, with the scale of the lane's token.
  struct StepOperands {
    SmallVector<TileOperands> tiles;
    Value scale; // fp8: f32
  };

  /// A tile of 16 tokens spans several pages, so that lanes differ in theirs.
  bool isPagePerLane() const { return page < LogitsShape::kTile; }

  /// 16 heads of a query, with their scales and weights.
  struct HeadTile {
    SmallVector<Value> pieces, codes;
    Value weights;
  };

  /// The number of the workgroup. No grid has 2^31, so that LLVM extends it
  /// without a sign, at no cost.
  Value blockId(gpu::Dimension dim) {
    return b.create<gpu::BlockIdOp>(
        dim, b.getIndexAttr(std::numeric_limits<int32_t>::max()));
  }

  // What the kernel knows of its sequence.
  void bindOperands();
  Value queryOfSequence(Value query);
  void emitSequence(Value newSequence);
  void emitRange(Value first, Value count);
  std::pair<Value, Value> emitShare(Value total, Value parts, Value number);
  void emitEvenSchedule();
  void emitRaggedSchedule();
  Value emitLaneChunks(Value first, Value batch);
  Value emitRowEnd(Value query);
  void emitTokenLoop();
  void emitFill(Value number, Value parts);
  Value roundUpToStep(Value column) {
    return mul(div(add(column, lanes - 1), lanes), lanes);
  }

  // Loads.
  SmallVector<Value> loadPages(Value token);
  Value loadPage(Value token, int64_t tile);
  Step loadStep(Value token, ValueRange pages, Value buffer);
  Place locateStep(Value token, ValueRange pages);
  Value getOwnSlot(const Place &place, int64_t tile) {
    return isPagePerLane() ? place.slots[tile]
                           : add(place.slots[tile], laneInTile);
  }
  void loadTile(const Place &place, int64_t tile, Step &step);
  void loadScales(const Place &place, Step &step);
  Value pieceNumber(int64_t piece);
  Value loadPiece(Value memref, ArrayRef<Value> leading, Value offset);
  Value clearBeyondRow(Value words, int64_t piece);
  SmallVector<Value> loadCodes(Value memref, ArrayRef<Value> leading,
                               int64_t fragment);
  Value packCodes(ArrayRef<Value> codes);
  TileOperands finishTile(const Step &step, int64_t tile);
  Value chooseScale(const Step &step);
  HeadTile loadHeadTile(Value query, Value headTile);
  HeadTile readHeadTile(Value query, Value headTile);
  HeadTile getHeadTile(Value query, Value headTile) {
    return queryLds ? readHeadTile(query, headTile)
                    : loadHeadTile(query, headTile);
  }
  Value loadWeights(Value query, Value headTile);
  void stageQueries();
  void loadHeadTiles();

  // Keys by tensor DMA.
  void issueKeys(Value token, ValueRange pages, Value buffer);
  void issueCopy(Value id, int64_t tokensBefore, Value left, Value token,
                 Value buffer);
  void awaitKeys(int64_t loadsInFlight, Value buffer, Step &step);
  SmallVector<Value> readKeys(Value buffer);

  // Arithmetic.
  StepOperands finishStep(const Step &step);
  void scoreStep(const StepOperands &step, Value token, bool isInside);
  Step scoreInPlace(const Step &step, Value token, const Place *next,
                    SmallVectorImpl<Value> *pages, bool isInside);
  void holdLoads();
  Value multiplyTile(const HeadTile &heads, const TileOperands &tile);
  Value addHeads(Value headWeights, Value products, Value sum);
  Value finishLogit(ValueRange sums, Value scale);
  virtual void storeRow(Value query, Value token, ValueRange sums, Value scale,
                        bool isInside);
  SmallVector<Value> fragments(ArrayRef<Value> lanePieces);
  void keepLoop(scf::ForOp loop);

  VectorType wordsType() { return VectorType::get({4}, b.getI32Type()); }
  Value zeroPair() {
    auto type = VectorType::get({2}, b.getF32Type());
    return b.create<arith::ConstantOp>(type, b.getZeroAttr(type));
  }

  const LogitsOperands in;
  LogitsConfigAttr config;
  const Fill fill;
  const MmaInfo &mma;
  const LogitsShape shape;
  /// N, and how many of the N this kernel scores.
  const int64_t groups, numQueries, groupQueries, headTiles, page, keyBytes,
      pieces;
  const int64_t pagesPerStep, ldsBytes;

  Value q, queryScales, keys, keyScales, weights, blockTable, contextLens,
      rowEnds, logits;
  Value numWorkers;
  Value laneInTile, group, worker, sequence;
  /// The first of the queries, null for 0.
  Value firstQuery;
  /// Columns of the op.
  Value columns;
  // A context has at most 2^31 - 1 tokens, so that the numbers of columns from
  // here on, and of pages, are unsigned i32, which scalar instructions compare.
  /// Columns of the op that a page has.
  Value mostColumns;
  /// Length of the context as given, but not below 0; the columns that any of
  /// its rows can have; the first column that no row has; the first one that is
  /// not scored.
  Value context, capacity, end, scoredEnd;
  /// Columns of this workgroup: those of [start, limit) where each wave goes on
  /// from a step to the next one by `stride`.
  Value start, limit, stride;
  Value numChunks, lastPage;
  Value queryLds, codeLds, weightLds;
  /// [waves, 2 steps, bytes of a step], where keys come by DMA.
  Value keyLds;
  SmallVector<HeadTile> headTileRegisters;
};

/// What a chip asks of the operands of an op that scores keys, and of
/// `outputs`, whose innermost stride must be 1.
LogicalResult checkLogitsForChip(Operation *op, const LogitsOperands &in,
                                 ValueRange outputs, const TargetInfo &target);

/// Fills in the arguments, sizes and preconditions of a kernel that scores
/// keys.
void describeLogitsOperands(ImplicitLocOpBuilder &host,
                            const LogitsOperands &in, QueryPlace place,
                            const TargetInfo &target, KernelSpec &spec);

/// The part of a kernel's name that says what is scored.
std::string getLogitsName(const LogitsOperands &in);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LOGITSKERNEL_H
