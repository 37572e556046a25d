//===- TilePagedLogits.cpp - pa.paged_logits to a kernel ---------*- C++
//-*-===//
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

#include "LogitsShape.h"
#include "TileOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

constexpr int64_t kTile = LogitsShape::kTile;
constexpr int64_t kPiece = LogitsShape::kPiece;

class LogitsKernel {
public:
  LogitsKernel(KernelBuilder &kernel, PagedLogitsOp op,
               const TargetInfo &target)
      : b(kernel.body()), kernel(kernel), op(op), config(op.getConfigAttr()),
        mma(getMmaInfo(config.getMma())), shape(op, mma, target),
        lanes(shape.lanes), groups(shape.groups), numQueries(shape.numQueries),
        headTiles(shape.headTiles), page(op.getPageSize()),
        keyBytes(shape.rowBytes), pieces(shape.pieces),
        pagesPerStep(page % lanes == 0 ? 1 : groups) {}

  void emit();

private:
  /// The keys of one step and what goes with them, as they are carried from one
  /// iteration to the next.
  struct Step {
    SmallVector<Value> keys;  // groups * pieces of vector<4xi32>
    SmallVector<Value> codes; // mxfp4: groups * fragments of i32, E8M0
    Value scale;              // fp8: f32, of the lane's token

    SmallVector<Value> flatten() const {
      SmallVector<Value> values(keys);
      llvm::append_range(values, codes);
      if (scale)
        values.push_back(scale);
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
      if (scale)
        step.scale = takeFront(1).front();
      return step;
    }
  };

  /// A tile of 16 tokens spans several pages, so that lanes differ in theirs.
  bool isPagePerLane() const { return page < kTile; }

  /// 16 heads of a query, with their scales and weights.
  struct HeadTile {
    SmallVector<Value> pieces, codes;
    Value weights;
  };

  // What the kernel knows of its sequence.
  void emitLaneIds();
  void emitRange();
  Value emitRowEnd(Value query);
  void emitTokenLoop();
  void emitFill();

  // Loads.
  SmallVector<Value> loadPages(Value token);
  Step loadStep(Value token, ValueRange pages);
  Value loadScale(ArrayRef<Value> pageIds, ArrayRef<Value> slots, Value token);
  Value pieceNumber(int64_t piece);
  Value loadPiece(Value memref, ArrayRef<Value> leading, int64_t piece,
                  Value offset);
  Value loadCodes(Value memref, ArrayRef<Value> leading, int64_t fragment);
  HeadTile loadHeadTile(Value query, Value headTile);
  Value loadWeights(Value query, Value headTile);
  void stageQueries();

  // Arithmetic.
  void scoreStep(const Step &step, Value token);
  void scoreTile(const HeadTile &heads, const Step &step,
                 SmallVectorImpl<Value> &sums);
  void storeRow(Value query, Value token, ValueRange sums, Value scale);
  SmallVector<Value> fragments(ArrayRef<Value> lanePieces);
  void keepLoop(scf::ForOp loop);

  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }
  Value f32(float value) {
    return b.create<arith::ConstantFloatOp>(b.getF32Type(), APFloat(value));
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value mul(Value x, int64_t y) {
    return b.createOrFold<arith::MulIOp>(x, index(y));
  }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value div(Value x, int64_t y) {
    return b.createOrFold<arith::DivUIOp>(x, index(y));
  }
  Value rem(Value x, int64_t y) {
    return b.createOrFold<arith::RemUIOp>(x, index(y));
  }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }
  Value less(Value x, Value y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y);
  }
  Value loadIndex(Value memref, ValueRange indices) {
    return b.create<arith::IndexCastOp>(
        b.getIndexType(), b.create<memref::LoadOp>(memref, indices));
  }
  Value uniform(Value value) {
    return b.create<AssumeOp>(value.getType(), value, IntegerAttr(),
                              IntegerAttr(), IntegerAttr(), b.getUnitAttr());
  }
  /// `count` elements of a vector from `first` on.
  Value slice(Value vector, int64_t first, int64_t count) {
    return b.create<vector::ShuffleOp>(
        vector, vector,
        llvm::to_vector(llvm::seq<int64_t>(first, first + count)));
  }
  VectorType wordsType() { return VectorType::get({4}, b.getI32Type()); }
  Type pairType() { return VectorType::get({2}, b.getF32Type()); }

  ImplicitLocOpBuilder &b;
  KernelBuilder &kernel;
  PagedLogitsOp op;
  LogitsConfigAttr config;
  const MmaInfo &mma;
  const LogitsShape shape;
  const int64_t lanes, groups, numQueries, headTiles, page, keyBytes, pieces;
  const int64_t pagesPerStep;

  Value q, queryScales, keys, keyScales, weights, blockTable, contextLens,
      rowEnds, logits;
  Value numSplits;
  Value thread, wave, lane, laneInTile, group, sequence, split;
  /// Length of the context as given, columns that any row can have, the first
  /// column that no row has.
  Value context, capacity, end;
  /// Columns of this workgroup: [start, limit).
  Value start, limit;
  Value numChunks, lastPage;
  Value queryLds, codeLds, weightLds;
  SmallVector<HeadTile> headTileRegisters;
};

} // namespace

void LogitsKernel::emitLaneIds() {
  thread = kernel.threadId();
  // The wave number is the same in all lanes, which nothing but this tells the
  // backend: everything that follows from it stays in scalar registers.
  wave = b.create<arith::IndexCastUIOp>(
      b.getIndexType(), uniform(b.create<arith::IndexCastUIOp>(
                            b.getI32Type(), div(thread, lanes))));
  lane = rem(thread, lanes);
  laneInTile = rem(lane, kTile);
  group = div(lane, kTile);
  split = kernel.blockId(gpu::Dimension::x);
  sequence = kernel.blockId(gpu::Dimension::y);
}

Value LogitsKernel::emitRowEnd(Value query) {
  Value rowEnd;
  if (rowEnds)
    rowEnd = loadIndex(rowEnds, {add(mul(sequence, numQueries), query)});
  else
    rowEnd = add(sub(context, index(numQueries - 1)), query);
  return max(min(rowEnd, capacity), index(0));
}

void LogitsKernel::emitRange() {
  context = loadIndex(contextLens, {sequence});
  Value columns = b.create<memref::DimOp>(logits, 1);
  Value tableTokens = mul(b.create<memref::DimOp>(blockTable, 1), page);
  capacity = max(min(min(context, columns), tableTokens), index(0));
  if (rowEnds) {
    end = index(0);
    for (int64_t i = 0; i < numQueries; ++i)
      end = max(end, emitRowEnd(index(i)));
  } else {
    end = capacity;
  }

  // Whole chunks, the first ones of a sequence going to the first splits.
  const int64_t chunk = config.getChunk();
  numChunks = div(add(end, index(chunk - 1)), chunk);
  Value share = b.create<arith::DivUIOp>(numChunks, numSplits);
  Value rest = b.create<arith::RemUIOp>(numChunks, numSplits);
  Value first = add(mul(split, share), min(split, rest));
  Value count = add(
      share, b.create<arith::SelectOp>(less(split, rest), index(1), index(0)));
  start = mul(first, chunk);
  limit = min(mul(add(first, count), chunk),
              op.getFill() == Fill::neg_inf ? columns : end);
  // Columns at and beyond `end` are scored only where the fill wants them, with
  // keys of the last page: entries after it are never read.
  lastPage = sub(div(add(end, index(page - 1)), page), index(1));
}

SmallVector<Value> LogitsKernel::loadPages(Value token) {
  SmallVector<Value> pages;
  for (int64_t i = 0; i < pagesPerStep; ++i) {
    Value tileToken = add(token, index(i * kTile));
    if (isPagePerLane())
      tileToken = add(tileToken, laneInTile);
    Value position = min(div(tileToken, page), lastPage);
    Value id =
        b.create<memref::LoadOp>(blockTable, ValueRange{sequence, position});
    pages.push_back(isPagePerLane() ? id : uniform(id));
  }
  return pages;
}

/// Which piece of its row the lane holds as piece `piece`. One beyond the row
/// is not used, and is read inside of it.
Value LogitsKernel::pieceNumber(int64_t piece) {
  const int64_t last = keyBytes / kPiece - 1;
  Value number = add(group, index(piece * groups));
  return (piece + 1) * groups - 1 > last ? min(number, index(last)) : number;
}

/// Piece `piece` of the lane's row of `memref`, which starts at `leading` and
/// the byte `offset` of the innermost index. Pieces beyond the row are zero.
Value LogitsKernel::loadPiece(Value memref, ArrayRef<Value> leading,
                              int64_t piece, Value offset) {
  auto type = VectorType::get(
      {kPiece}, cast<MemRefType>(memref.getType()).getElementType());
  SmallVector<Value> indices(leading);
  indices.push_back(offset);
  Value words = b.create<vector::BitCastOp>(
      wordsType(), b.create<vector::LoadOp>(type, memref, indices));
  const int64_t rowPieces = keyBytes / kPiece;
  if ((piece + 1) * groups <= rowPieces)
    return words;
  Value isInside = less(add(group, index(piece * groups)), index(rowPieces));
  Value zero =
      b.create<arith::ConstantOp>(wordsType(), b.getZeroAttr(wordsType()));
  return b.create<arith::SelectOp>(isInside, words, zero);
}

/// The E8M0 codes of the lane's row for one fragment, in one register: one
/// code, or those of the four blocks of the instruction. Blocks beyond the row
/// have zero data, so that any code of the row will do for them.
Value LogitsKernel::loadCodes(Value memref, ArrayRef<Value> leading,
                              int64_t fragment) {
  Type i8 = b.getI8Type(), i32 = b.getI32Type();
  const int64_t blocksEach = mma.k / MmaInfo::kScaleBlock;
  auto load = [&](Value block) -> Value {
    SmallVector<Value> indices(leading);
    indices.push_back(block);
    Value code = b.create<memref::LoadOp>(memref, indices);
    return code.getType() == i8 ? code : b.create<arith::BitcastOp>(i8, code);
  };
  Value last = index(shape.scaleBlocks - 1);
  if (mma.scalesPerLane == 1) {
    Value block = add(index(fragment * blocksEach), group);
    return b.create<arith::ExtUIOp>(i32, load(min(block, last)));
  }
  Value word = b.create<arith::ConstantOp>(b.getI32IntegerAttr(0));
  for (int64_t i = 0; i < mma.scalesPerLane; ++i) {
    Value code = b.create<arith::ExtUIOp>(
        i32, load(index(
                 std::min(fragment * blocksEach + i, shape.scaleBlocks - 1))));
    Value shift = b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(8 * i)));
    word = b.create<arith::OrIOp>(word, b.create<arith::ShLIOp>(code, shift));
  }
  return word;
}

LogitsKernel::Step LogitsKernel::loadStep(Value token, ValueRange pages) {
  Step step;
  const bool isTiled = op.getLayout() == Layout::tiled;
  SmallVector<Value> slots, pageIds;
  for (Value id : pages)
    pageIds.push_back(b.create<arith::IndexCastUIOp>(b.getIndexType(), id));

  for (int64_t tile = 0; tile < groups; ++tile) {
    // The slot of the tile's first token, or of the lane's own.
    Value slot = pagesPerStep == 1 ? add(rem(token, page), index(tile * kTile))
                                   : rem(add(token, index(tile * kTile)), page);
    if (isPagePerLane())
      slot = rem(laneInTile, page);
    Value ownSlot = isPagePerLane() ? slot : add(slot, laneInTile);
    Value pageId = pageIds[pagesPerStep == 1 ? 0 : tile];
    slots.push_back(ownSlot);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      Value number = pieceNumber(piece);
      if (isTiled) {
        // Pieces of one column of 16 tokens, or of a smaller page, lie side by
        // side.
        const int64_t column = std::min(page, kTile) * kPiece;
        Value inColumn =
            isPagePerLane() ? mul(slot, kPiece)
                            : add(mul(laneInTile, kPiece), mul(slot, keyBytes));
        step.keys.push_back(loadPiece(keys, {pageId}, piece,
                                      add(mul(number, column), inColumn)));
      } else {
        step.keys.push_back(
            loadPiece(keys, {pageId, ownSlot}, piece, mul(number, kPiece)));
      }
    }
    for (int64_t i = 0; i < shape.getScaleWords(); ++i)
      step.codes.push_back(loadCodes(keyScales, {pageId, ownSlot}, i));
  }
  if (!shape.isFp4)
    step.scale = loadScale(pageIds, slots, token);
  return step;
}

/// The scale of the token whose logit the lane will hold: lane group j holds
/// those of tile j.
Value LogitsKernel::loadScale(ArrayRef<Value> pageIds, ArrayRef<Value> slots,
                              Value token) {
  if (pagesPerStep == 1)
    return b.create<memref::LoadOp>(
        keyScales, ValueRange{pageIds[0], add(rem(token, page), lane)});
  // Loads with one page each and a choice of registers cost less than 64-bit
  // addresses in lanes.
  Value result;
  for (int64_t tile = 0; tile < groups; ++tile) {
    Value scale = b.create<memref::LoadOp>(
        keyScales, ValueRange{pageIds[tile], slots[tile]});
    result = tile == 0 ? scale
                       : b.create<arith::SelectOp>(less(group, index(tile)),
                                                   result, scale);
  }
  return result;
}

/// A head tile from memory.
LogitsKernel::HeadTile LogitsKernel::loadHeadTile(Value query, Value headTile) {
  HeadTile result;
  Value head = add(mul(headTile, mma.m), laneInTile);
  const int64_t lastPiece = keyBytes / kPiece - 1;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value number = add(group, index(piece * groups));
    if ((piece + 1) * groups - 1 > lastPiece)
      number = min(number, index(lastPiece));
    result.pieces.push_back(
        loadPiece(q, {sequence, query, head}, piece, mul(number, kPiece)));
  }
  for (int64_t i = 0; i < shape.getScaleWords(); ++i)
    result.codes.push_back(loadCodes(queryScales, {sequence, query, head}, i));
  result.weights = loadWeights(query, headTile);
  return result;
}

Value LogitsKernel::loadWeights(Value query, Value headTile) {
  const int64_t perLane = mma.getAccPerLane();
  Value head = add(mul(headTile, mma.m), mul(group, perLane));
  auto type = VectorType::get({perLane}, b.getF32Type());
  if (weightLds)
    return b.create<vector::LoadOp>(type, weightLds, ValueRange{query, head});
  Value row = add(mul(sequence, numQueries), query);
  return b.create<vector::LoadOp>(type, weights, ValueRange{row, head});
}

void LogitsKernel::stageQueries() {
  if (config.getQuery() == QueryPlace::registers) {
    for (int64_t i = 0; i < numQueries; ++i)
      for (int64_t h = 0; h < headTiles; ++h)
        headTileRegisters.push_back(loadHeadTile(index(i), index(h)));
    return;
  }
  if (config.getQuery() == QueryPlace::memory)
    return;

  // Wave w copies head tiles w, w + waves, ... in operand order, so that a read
  // of one piece later takes 16 consecutive bytes from each lane.
  auto addLds = [&](ArrayRef<int64_t> dims, Type element) {
    return kernel.addLds(MemRefType::get(
        dims, element, MemRefLayoutAttrInterface(), kernel.ldsSpace()));
  };
  const int64_t tiles = shape.getQueryTiles(),
                codeWords = shape.getScaleWords();
  queryLds = addLds({tiles * pieces, lanes, 4}, b.getI32Type());
  if (codeWords > 0)
    codeLds = addLds({tiles * codeWords, lanes}, b.getI32Type());
  Value newWeightLds = addLds({numQueries, headTiles * mma.m}, b.getF32Type());
  auto copy =
      b.create<scf::ForOp>(wave, index(tiles), index(config.getWaves()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    Value tile = copy.getInductionVar();
    Value query = div(tile, headTiles), headTile = rem(tile, headTiles);
    HeadTile loaded = loadHeadTile(query, headTile);
    for (auto [i, piece] : llvm::enumerate(loaded.pieces))
      b.create<vector::StoreOp>(
          piece, queryLds,
          ValueRange{add(mul(tile, pieces), index(i)), lane, index(0)});
    for (auto [i, word] : llvm::enumerate(loaded.codes))
      b.create<memref::StoreOp>(
          word, codeLds, ValueRange{add(mul(tile, codeWords), index(i)), lane});
    Value isWriter = less(lane, index(mma.m));
    auto branch = b.create<scf::IfOp>(isWriter, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    Value head = add(mul(headTile, mma.m), laneInTile);
    Value row = add(mul(sequence, numQueries), query);
    Value weight = b.create<memref::LoadOp>(weights, ValueRange{row, head});
    b.create<memref::StoreOp>(weight, newWeightLds, ValueRange{query, head});
  }
  weightLds = newWeightLds;
  b.create<gpu::BarrierOp>();
}

/// Cuts the pieces of one operand row that a lane holds into the fragments of
/// consecutive matrix instructions. Queries and keys are cut alike, so that any
/// order of the pieces gives the same product.
SmallVector<Value> LogitsKernel::fragments(ArrayRef<Value> lanePieces) {
  SmallVector<Value> result;
  const int64_t bytes = shape.fragmentBytes;
  const int64_t perPiece = kPiece / bytes, piecesEach = bytes / kPiece;
  Type type = getFragmentTypes(b.getContext(), mma.id).a;
  if (perPiece > 1) {
    for (Value piece : lanePieces)
      for (int64_t i = 0; i < perPiece; ++i) {
        Value part = slice(piece, i * bytes / 4, bytes / 4);
        result.push_back(
            b.create<vector::BitCastOp>(cast<VectorType>(type), part));
      }
    return result;
  }
  for (size_t first = 0; first < lanePieces.size(); first += piecesEach) {
    SmallVector<Value> parts(lanePieces.slice(first, piecesEach));
    while (parts.size() > 1) {
      SmallVector<Value> joined;
      for (size_t i = 0; i < parts.size(); i += 2) {
        int64_t half = cast<VectorType>(parts[i].getType()).getDimSize(0);
        auto mask = llvm::to_vector(llvm::seq<int64_t>(0, 2 * half));
        joined.push_back(
            b.create<vector::ShuffleOp>(parts[i], parts[i + 1], mask));
      }
      parts = joined;
    }
    result.push_back(
        b.create<vector::BitCastOp>(cast<VectorType>(type), parts[0]));
  }
  return result;
}

/// Adds weight * max(product, 0) of 16 heads to the sums of each token tile.
/// The sums are pairs, so that two heads share one packed instruction.
void LogitsKernel::scoreTile(const HeadTile &heads, const Step &step,
                             SmallVectorImpl<Value> &sums) {
  const int64_t perLane = mma.getAccPerLane();
  auto accType = VectorType::get({perLane}, b.getF32Type());
  auto codesType = VectorType::get({4}, b.getType<Float8E8M0FNUType>());
  auto kind = MmaIdAttr::get(b.getContext(), mma.id);
  Value zero = b.create<arith::ConstantOp>(
      accType, DenseElementsAttr::get(accType, 0.0f));
  auto toCodes = [&](Value word) -> Value {
    Value vector = b.create<vector::BroadcastOp>(
        VectorType::get({1}, b.getI32Type()), word);
    return b.create<vector::BitCastOp>(codesType, vector);
  };
  SmallVector<Value> a = fragments(heads.pieces);
  // Without these flags every maximum costs a second, canonicalising one.
  auto flags = arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
  for (int64_t tile = 0; tile < groups; ++tile) {
    SmallVector<Value> k =
        fragments(ArrayRef(step.keys).slice(tile * pieces, pieces));
    Value acc = zero;
    for (auto [i, fa, fk] : llvm::enumerate(a, k)) {
      if (shape.isFp4)
        acc =
            b.create<MmaOp>(accType, kind, fa, fk, acc, toCodes(heads.codes[i]),
                            toCodes(step.codes[tile * a.size() + i]),
                            b.getI32IntegerAttr(0), b.getI32IntegerAttr(0));
      else
        acc = b.create<MmaOp>(accType, kind, fa, fk, acc);
    }
    Value positive = b.create<arith::MaxNumFOp>(
        acc, zero, arith::FastMathFlagsAttr::get(b.getContext(), flags));
    for (int64_t pair = 0; pair < perLane / 2; ++pair)
      sums[tile] =
          b.create<math::FmaOp>(slice(heads.weights, 2 * pair, 2),
                                slice(positive, 2 * pair, 2), sums[tile]);
  }
}

void LogitsKernel::storeRow(Value query, Value token, ValueRange sums,
                            Value scale) {
  SmallVector<Value> totals;
  for (Value pair : sums)
    totals.push_back(
        b.create<arith::AddFOp>(b.create<vector::ExtractOp>(pair, 0),
                                b.create<vector::ExtractOp>(pair, 1)));
  Value logit = b.create<GroupSumOp>(b.getF32Type(), totals);
  if (scale)
    logit = b.create<arith::MulFOp>(logit, scale);
  Value column = add(token, lane), rowEnd = emitRowEnd(query);
  Value storeEnd = min(limit, rowEnd);
  if (op.getFill() == Fill::neg_inf) {
    logit =
        b.create<arith::SelectOp>(less(column, rowEnd), logit,
                                  f32(-std::numeric_limits<float>::infinity()));
    storeEnd = limit;
  }
  auto branch =
      b.create<scf::IfOp>(less(column, storeEnd), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  Value row = add(mul(sequence, numQueries), query);
  b.create<memref::StoreOp>(logit, logits, ValueRange{row, column});
}

void LogitsKernel::scoreStep(const Step &step, Value token) {
  Value zeroPair = b.create<arith::ConstantOp>(
      pairType(), DenseElementsAttr::get(cast<ShapedType>(pairType()), 0.0f));
  if (config.getQuery() == QueryPlace::registers) {
    for (int64_t i = 0; i < numQueries; ++i) {
      SmallVector<Value> sums(groups, zeroPair);
      for (int64_t h = 0; h < headTiles; ++h)
        scoreTile(headTileRegisters[i * headTiles + h], step, sums);
      storeRow(index(i), token, sums, step.scale);
    }
    return;
  }

  // A loop and not copies of its body: the reads of LDS do not change in the
  // token loop, and without this loop the backend hoists all of them into
  // registers, 473 of them for 128 heads and 4 queries.
  OpBuilder::InsertionGuard guard(b);
  auto queryLoop = b.create<scf::ForOp>(index(0), index(numQueries), index(1));
  keepLoop(queryLoop);
  b.setInsertionPointToStart(queryLoop.getBody());
  Value query = queryLoop.getInductionVar();
  SmallVector<Value> sums(groups, zeroPair);
  for (int64_t h = 0; h < headTiles; ++h) {
    if (!queryLds) {
      scoreTile(loadHeadTile(query, index(h)), step, sums);
      continue;
    }
    HeadTile heads;
    Value tile = add(mul(query, headTiles), index(h));
    for (int64_t piece = 0; piece < pieces; ++piece)
      heads.pieces.push_back(b.create<vector::LoadOp>(
          wordsType(), queryLds,
          ValueRange{add(mul(tile, pieces), index(piece)), lane, index(0)}));
    for (int64_t i = 0; i < shape.getScaleWords(); ++i)
      heads.codes.push_back(b.create<memref::LoadOp>(
          codeLds,
          ValueRange{add(mul(tile, shape.getScaleWords()), index(i)), lane}));
    heads.weights = loadWeights(query, index(h));
    scoreTile(heads, step, sums);
  }
  storeRow(query, token, sums, step.scale);
}

/// Keeps the backend from unrolling `loop`.
void LogitsKernel::keepLoop(scf::ForOp loop) {
  MLIRContext *context = b.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {}, {},
                                          {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}));
}

void LogitsKernel::emitTokenLoop() {
  auto isBusy =
      b.create<scf::IfOp>(less(start, limit), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&isBusy.getThenRegion().front());
  stageQueries();

  // Keys are loaded one step ahead of their use and page ids two, with all
  // reads of the block table held to the pages of the sequence.
  const int64_t stride = config.getWaves() * lanes;
  Value first = add(start, mul(wave, lanes));
  Step step = loadStep(first, loadPages(first));
  SmallVector<Value> carried = step.flatten();
  llvm::append_range(carried, loadPages(add(first, index(stride))));

  auto loop = b.create<scf::ForOp>(first, limit, index(stride), carried);
  b.setInsertionPointToStart(loop.getBody());
  Value token = loop.getInductionVar();
  ValueRange args = loop.getRegionIterArgs();
  Step current = step.take(args);
  Value nextToken = add(token, index(stride));
  SmallVector<Value> yielded = loadStep(nextToken, args).flatten();
  llvm::append_range(yielded, loadPages(add(nextToken, index(stride))));
  scoreStep(current, token);
  b.create<scf::YieldOp>(yielded);
}

/// Sets the columns that no chunk covers to -inf, shared among all waves that
/// work on the sequence.
void LogitsKernel::emitFill() {
  Value columns = b.create<memref::DimOp>(logits, 1);
  Value wavesInAll = mul(numSplits, config.getWaves());
  Value waveInAll = add(mul(split, config.getWaves()), wave);
  Value from = add(mul(numChunks, config.getChunk()), mul(waveInAll, lanes));
  auto loop = b.create<scf::ForOp>(from, columns, mul(wavesInAll, lanes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value column = add(loop.getInductionVar(), lane);
  auto branch =
      b.create<scf::IfOp>(less(column, columns), /*withElseRegion=*/false);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  Value negInf = f32(-std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < numQueries; ++i) {
    Value row = add(mul(sequence, numQueries), index(i));
    b.create<memref::StoreOp>(negInf, logits, ValueRange{row, column});
  }
}

void LogitsKernel::emit() {
  q = kernel.arg("q");
  queryScales = op.getQueryScales() ? kernel.arg("query_scales") : Value();
  keys = kernel.arg("keys");
  keyScales = kernel.arg("key_scales");
  weights = kernel.arg("weights");
  blockTable = kernel.arg("block_table");
  contextLens = kernel.arg("context_lens");
  rowEnds = op.getRowEnds() ? kernel.arg("row_ends") : Value();
  logits = kernel.arg("logits");
  numSplits = kernel.arg("num_splits");
  if (op.getLayout() == Layout::tiled) {
    SmallVector<ReassociationIndices> pageBytes{{0}, {1, 2}};
    keys = b.create<memref::CollapseShapeOp>(keys, pageBytes);
  }
  emitLaneIds();
  emitRange();
  emitTokenLoop();
  if (op.getFill() == Fill::neg_inf)
    emitFill();
}

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

LogicalResult mlir::pa::tilePagedLogits(RewriterBase &rewriter,
                                        PagedLogitsOp op,
                                        const TargetInfo &target) {
  LogitsConfigAttr config = op.getConfigAttr();
  if (!config)
    return op.emitOpError() << "has no config, run pa-configure first";
  if (failed(checkOperandsForChip(op, {op.getQ(), op.getKeys(), op.getWeights(),
                                       op.getBlockTable(), op.getLogits()})))
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
  Value splits;
  std::string splitsText = std::to_string(config.getSplits());
  if (config.getSplits() > 0) {
    splits = host.create<arith::ConstantIndexOp>(config.getSplits());
  } else {
    // As many workgroups as the chip holds at once, but none without a chunk.
    int64_t slots = getNumCus(op, target) * target.simdsPerCu * kWavesPerSimd /
                    config.getWaves();
    Value wanted = host.create<arith::CeilDivUIOp>(
        host.create<arith::ConstantIndexOp>(slots),
        host.create<arith::MaxUIOp>(batch, one));
    Value chunks = host.create<arith::CeilDivUIOp>(
        dim(op.getLogits(), 1),
        host.create<arith::ConstantIndexOp>(config.getChunk()));
    splits = host.create<arith::MaxUIOp>(
        one, host.create<arith::MinUIOp>(wanted, chunks));
    splitsText = "max(1, min(ceildiv(" + std::to_string(slots) +
                 ", max(B, 1)), ceildiv(C, " +
                 std::to_string(config.getChunk()) + ")))";
  }

  KernelSpec spec;
  spec.name = getKernelName(op);
  spec.op = PagedLogitsOp::getOperationName();
  spec.blockSize = config.getWaves() * target.waveSize;
  spec.grid = {splits, batch, one};
  spec.gridText = {"num_splits", "B", "1"};
  spec.args = {{"q", op.getQ()}};
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
  spec.args.push_back({"num_splits", splits});
  spec.sizes = {{"B", "q", 0}, {"W", "block_table", 1}, {"C", "logits", 1}};
  spec.scalars = {{"num_splits", splitsText}};
  spec.preconditions = {
      "context_lens[b] <= W * " + std::to_string(op.getPageSize()),
      "key_scales >= 0",
      "block_table[b, j] < pages for j < ceil(context_lens[b] / P)"};

  KernelBuilder kernel(host, op, spec);
  LogitsKernel(kernel, op, target).emit();
  kernel.finish();
  rewriter.eraseOp(op);
  return success();
}
