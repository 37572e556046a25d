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

#include "TileOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

/// Tokens of one matrix tile, and lanes of one lane group.
constexpr int64_t kTile = 16;
/// Bytes that a lane loads of a key at once.
constexpr int64_t kPiece = 16;

class LogitsKernel {
public:
  LogitsKernel(KernelBuilder &kernel, PagedLogitsOp op,
               const TargetInfo &target)
      : b(kernel.body()), kernel(kernel), op(op), config(op.getConfigAttr()),
        mma(getMmaInfo(config.getMma())), lanes(target.waveSize),
        groups(lanes / kTile), numQueries(op.getNumQueries()),
        headTiles(op.getNumHeads() / mma.m), page(op.getPageSize()),
        keyBytes(op.getKeyBytes()), pieces(keyBytes / (kPiece * groups)),
        pagesPerStep(page % lanes == 0 ? 1 : groups) {}

  void emit();

private:
  /// The keys of one step and what goes with them, as they are carried from one
  /// iteration to the next.
  struct Step {
    SmallVector<Value> keys; // groups * pieces of vector<4xi32>
    Value scale;             // f32, of the lane's token
  };

  /// A tile of 16 tokens spans several pages, so that lanes differ in theirs.
  bool isPagePerLane() const { return page < kTile; }

  // What the kernel knows of its sequence.
  void emitLaneIds();
  void emitRange();
  Value emitRowEnd(Value query);
  void emitTokenLoop();
  void emitFill();

  // Loads.
  SmallVector<Value> loadPages(Value token);
  Step loadStep(Value token, ValueRange pages);
  Value loadQueryPiece(Value query, Value headTile, int64_t piece);
  Value loadWeights(Value query, Value headTile);
  void stageQueries();

  // Arithmetic.
  void scoreStep(const Step &step, Value token);
  void scoreTile(ArrayRef<Value> queryPieces, Value weights, const Step &step,
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
  const int64_t lanes, groups, numQueries, headTiles, page, keyBytes, pieces;
  const int64_t pagesPerStep;

  Value q, keys, keyScales, weights, blockTable, contextLens, rowEnds, logits;
  Value numSplits;
  Value thread, wave, lane, laneInTile, group, sequence, split;
  /// Length of the context as given, columns that any row can have, the first
  /// column that no row has.
  Value context, capacity, end;
  /// Columns of this workgroup: [start, limit).
  Value start, limit;
  Value numChunks, lastPage;
  Value queryLds, weightLds;
  SmallVector<Value> queryRegisters, weightRegisters;
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

LogitsKernel::Step LogitsKernel::loadStep(Value token, ValueRange pages) {
  Step step;
  auto keysType = cast<MemRefType>(keys.getType());
  auto pieceType = VectorType::get({kPiece}, keysType.getElementType());
  const bool isTiled = op.getLayout() == Layout::tiled;
  SmallVector<Value> slots;
  SmallVector<Value> pageIds;
  for (Value id : pages)
    pageIds.push_back(b.create<arith::IndexCastUIOp>(b.getIndexType(), id));

  for (int64_t tile = 0; tile < groups; ++tile) {
    // The slot of the tile's first token, or of the lane's own.
    Value slot = pagesPerStep == 1 ? add(rem(token, page), index(tile * kTile))
                                   : rem(add(token, index(tile * kTile)), page);
    if (isPagePerLane())
      slot = rem(laneInTile, page);
    Value pageId = pageIds[pagesPerStep == 1 ? 0 : tile];
    slots.push_back(slot);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      SmallVector<Value> indices{pageId};
      if (isTiled) {
        // Pieces of one column of 16 tokens, or of a smaller page, lie side by
        // side.
        const int64_t column = std::min(page, kTile) * kPiece;
        Value offset = add(mul(group, column), index(piece * groups * column));
        Value inColumn =
            isPagePerLane() ? mul(slot, kPiece)
                            : add(mul(laneInTile, kPiece), mul(slot, keyBytes));
        indices.push_back(add(offset, inColumn));
      } else {
        indices.push_back(isPagePerLane() ? slot : add(slot, laneInTile));
        indices.push_back(
            add(mul(group, kPiece), index(piece * groups * kPiece)));
      }
      Value value = b.create<vector::LoadOp>(pieceType, keys, indices);
      step.keys.push_back(b.create<vector::BitCastOp>(wordsType(), value));
    }
  }

  if (pagesPerStep == 1) {
    step.scale = b.create<memref::LoadOp>(
        keyScales, ValueRange{pageIds[0], add(rem(token, page), lane)});
    return step;
  }
  // Lane group j holds the logits of tile j in the end. Loads with one page
  // each and a choice of registers cost less than 64-bit addresses in lanes.
  for (int64_t tile = 0; tile < groups; ++tile) {
    Value slot = isPagePerLane() ? slots[tile] : add(slots[tile], laneInTile);
    Value scale =
        b.create<memref::LoadOp>(keyScales, ValueRange{pageIds[tile], slot});
    step.scale = tile == 0 ? scale
                           : b.create<arith::SelectOp>(less(group, index(tile)),
                                                       step.scale, scale);
  }
  return step;
}

Value LogitsKernel::loadQueryPiece(Value query, Value headTile, int64_t piece) {
  Value head = add(mul(headTile, mma.m), laneInTile);
  Value element = add(mul(group, kPiece), index(piece * groups * kPiece));
  auto type =
      VectorType::get({kPiece}, cast<MemRefType>(q.getType()).getElementType());
  Value value = b.create<vector::LoadOp>(
      type, q, ValueRange{sequence, query, head, element});
  return b.create<vector::BitCastOp>(wordsType(), value);
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
      for (int64_t h = 0; h < headTiles; ++h) {
        for (int64_t piece = 0; piece < pieces; ++piece)
          queryRegisters.push_back(loadQueryPiece(index(i), index(h), piece));
        weightRegisters.push_back(loadWeights(index(i), index(h)));
      }
    return;
  }
  if (config.getQuery() == QueryPlace::memory)
    return;

  // Wave w copies head tiles w, w + waves, ... in operand order, so that a read
  // of one piece later takes 16 consecutive bytes from each lane.
  queryLds = kernel.addLds(MemRefType::get(
      {numQueries * headTiles * pieces, lanes, 4}, b.getI32Type(),
      MemRefLayoutAttrInterface(), kernel.ldsSpace()));
  Value newWeightLds = kernel.addLds(
      MemRefType::get({numQueries, headTiles * mma.m}, b.getF32Type(),
                      MemRefLayoutAttrInterface(), kernel.ldsSpace()));
  auto copy = b.create<scf::ForOp>(wave, index(numQueries * headTiles),
                                   index(config.getWaves()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    Value tile = copy.getInductionVar();
    Value query = div(tile, headTiles), headTile = rem(tile, headTiles);
    for (int64_t piece = 0; piece < pieces; ++piece)
      b.create<vector::StoreOp>(
          loadQueryPiece(query, headTile, piece), queryLds,
          ValueRange{add(mul(tile, pieces), index(piece)), lane, index(0)});
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
  const int64_t bytes = mma.getKPerLane();
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
void LogitsKernel::scoreTile(ArrayRef<Value> queryPieces, Value tileWeights,
                             const Step &step, SmallVectorImpl<Value> &sums) {
  const int64_t perLane = mma.getAccPerLane();
  auto accType = VectorType::get({perLane}, b.getF32Type());
  Value zero = b.create<arith::ConstantOp>(
      accType, DenseElementsAttr::get(accType, 0.0f));
  auto pairOf = [&](Value vector, int64_t pair) -> Value {
    return slice(vector, 2 * pair, 2);
  };
  SmallVector<Value> a = fragments(queryPieces);
  // Without these flags every maximum costs a second, canonicalising one.
  auto flags = arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
  for (int64_t tile = 0; tile < groups; ++tile) {
    SmallVector<Value> k =
        fragments(ArrayRef(step.keys).slice(tile * pieces, pieces));
    Value acc = zero;
    for (auto [fa, fk] : llvm::zip(a, k))
      acc = b.create<MmaOp>(accType, MmaIdAttr::get(b.getContext(), mma.id), fa,
                            fk, acc);
    Value positive = b.create<arith::MaxNumFOp>(
        acc, zero, arith::FastMathFlagsAttr::get(b.getContext(), flags));
    for (int64_t pair = 0; pair < perLane / 2; ++pair)
      sums[tile] = b.create<math::FmaOp>(pairOf(tileWeights, pair),
                                         pairOf(positive, pair), sums[tile]);
  }
}

void LogitsKernel::storeRow(Value query, Value token, ValueRange sums,
                            Value scale) {
  SmallVector<Value> totals;
  for (Value pair : sums)
    totals.push_back(
        b.create<arith::AddFOp>(b.create<vector::ExtractOp>(pair, 0),
                                b.create<vector::ExtractOp>(pair, 1)));
  Value logit = b.create<arith::MulFOp>(
      b.create<GroupSumOp>(b.getF32Type(), totals), scale);
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
      for (int64_t h = 0; h < headTiles; ++h) {
        int64_t tile = i * headTiles + h;
        scoreTile(ArrayRef(queryRegisters).slice(tile * pieces, pieces),
                  weightRegisters[tile], step, sums);
      }
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
    SmallVector<Value> queryPieces;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      if (!queryLds) {
        queryPieces.push_back(loadQueryPiece(query, index(h), piece));
        continue;
      }
      Value tile = add(mul(query, headTiles), index(h));
      queryPieces.push_back(b.create<vector::LoadOp>(
          wordsType(), queryLds,
          ValueRange{add(mul(tile, pieces), index(piece)), lane, index(0)}));
    }
    scoreTile(queryPieces, loadWeights(query, index(h)), step, sums);
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
  SmallVector<Value> carried(step.keys);
  carried.push_back(step.scale);
  llvm::append_range(carried, loadPages(add(first, index(stride))));

  auto loop = b.create<scf::ForOp>(first, limit, index(stride), carried);
  b.setInsertionPointToStart(loop.getBody());
  Value token = loop.getInductionVar();
  ValueRange args = loop.getRegionIterArgs();
  const size_t numKeys = step.keys.size();
  Step current{SmallVector<Value>(args.take_front(numKeys)), args[numKeys]};
  Value nextToken = add(token, index(stride));
  Step next = loadStep(nextToken, args.drop_front(numKeys + 1));
  SmallVector<Value> nextPages = loadPages(add(nextToken, index(stride)));
  scoreStep(current, token);

  SmallVector<Value> yielded(next.keys);
  yielded.push_back(next.scale);
  llvm::append_range(yielded, nextPages);
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
  spec.args = {{"q", op.getQ()},
               {"keys", op.getKeys()},
               {"key_scales", op.getKeyScales()},
               {"weights", op.getWeights()},
               {"block_table", op.getBlockTable()},
               {"context_lens", op.getContextLens()}};
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
