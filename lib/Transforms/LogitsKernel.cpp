//===- LogitsKernel.cpp - Loads and arithmetic of paged logits --*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogitsKernel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pa;

constexpr int64_t kTile = LogitsShape::kTile;
constexpr int64_t kPiece = LogitsShape::kPiece;

/// The page ids of the step at `token`, as they are loaded. To make them
/// uniform is to wait for them, which is left to their use.
SmallVector<Value> LogitsKernel::loadPages(Value token) {
  SmallVector<Value> pages;
  for (int64_t i = 0; i < pagesPerStep; ++i)
    pages.push_back(loadPage(token, i));
  return pages;
}

/// The page id of tile `tile` of the step at `token`.
Value LogitsKernel::loadPage(Value token, int64_t tile) {
  // Of steps ahead, the token may wrap around: any page will do.
  Value tileToken = add(token, tile * kTile);
  if (isPagePerLane())
    tileToken = add(tileToken, toI32(laneInTile));
  Value position = toIndex(minU(div(tileToken, page), lastPage));
  return b.create<memref::LoadOp>(blockTable, ValueRange{sequence, position});
}

/// Which piece of its row the lane holds as piece `piece`. One beyond the row
/// is not used, and is read inside of it.
Value LogitsKernel::pieceNumber(int64_t piece) {
  const int64_t last = keyBytes / kPiece - 1;
  Value number = add(group, index(piece * groups));
  return (piece + 1) * groups - 1 > last ? min(number, index(last)) : number;
}

/// Piece `piece` of the lane's row of `memref`, which starts at `leading` and
/// the byte `offset` of the innermost index. One beyond the row is not zero
/// yet.
Value LogitsKernel::loadPiece(Value memref, ArrayRef<Value> leading,
                              Value offset) {
  auto type = VectorType::get(
      {kPiece}, cast<MemRefType>(memref.getType()).getElementType());
  SmallVector<Value> indices(leading);
  indices.push_back(offset);
  return b.create<vector::BitCastOp>(
      wordsType(), b.create<vector::LoadOp>(type, memref, indices));
}

/// `words`, or zero where piece `piece` is beyond the row.
Value LogitsKernel::clearBeyondRow(Value words, int64_t piece) {
  const int64_t rowPieces = keyBytes / kPiece;
  if ((piece + 1) * groups <= rowPieces)
    return words;
  Value isInside = less(add(group, index(piece * groups)), index(rowPieces));
  Value zero =
      b.create<arith::ConstantOp>(wordsType(), b.getZeroAttr(wordsType()));
  return b.create<arith::SelectOp>(isInside, words, zero);
}

/// The E8M0 codes of the lane's row for one fragment: one code, or those of the
/// four blocks of the instruction. Blocks beyond the row have zero data, so
/// that any code of the row will do for them.
SmallVector<Value> LogitsKernel::loadCodes(Value memref,
                                           ArrayRef<Value> leading,
                                           int64_t fragment) {
  Type i8 = b.getI8Type();
  const int64_t blocksEach = mma.k / MmaInfo::kScaleBlock;
  auto load = [&](Value block) -> Value {
    SmallVector<Value> indices(leading);
    indices.push_back(block);
    Value code = b.create<memref::LoadOp>(memref, indices);
    return code.getType() == i8 ? code : b.create<arith::BitcastOp>(i8, code);
  };
  const int64_t last = shape.scaleBlocks - 1;
  if (mma.scalesPerLane == 1) {
    Value block = add(index(fragment * blocksEach), group);
    return {load(min(block, index(last)))};
  }
  SmallVector<Value> codes;
  for (int64_t i = 0; i < mma.scalesPerLane; ++i)
    codes.push_back(load(index(std::min(fragment * blocksEach + i, last))));
  return codes;
}

/// Codes in one register, the first lowest.
Value LogitsKernel::packCodes(ArrayRef<Value> codes) {
  Type i32 = b.getI32Type();
  Value word;
  for (auto [i, code] : llvm::enumerate(codes)) {
    Value wide = b.create<arith::ExtUIOp>(i32, code);
    if (i == 0) {
      word = wide;
      continue;
    }
    Value shift = b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(8 * i)));
    word = b.create<arith::OrIOp>(word, b.create<arith::ShLIOp>(wide, shift));
  }
  return word;
}

/// Where the keys of the step at `token` are.
LogitsKernel::Place LogitsKernel::locateStep(Value token, ValueRange pages) {
  Place place;
  place.token = token;
  place.after = add(token, stride);
  for (Value id : pages)
    place.pageIds.push_back(b.create<arith::IndexCastUIOp>(
        b.getIndexType(), isPagePerLane() ? id : uniform(id)));
  for (int64_t tile = 0; tile < groups; ++tile) {
    if (isPagePerLane())
      place.slots.push_back(rem(laneInTile, page));
    else if (pagesPerStep == 1)
      place.slots.push_back(add(toIndex(rem(token, page)), tile * kTile));
    else
      place.slots.push_back(toIndex(rem(add(token, tile * kTile), page)));
  }
  return place;
}

/// Starts the loads of a tile of the step at `place`; keys that come by DMA are
/// under way already.
void LogitsKernel::loadTile(const Place &place, int64_t tile, Step &step) {
  Value slot = place.slots[tile], ownSlot = getOwnSlot(place, tile);
  Value pageId = place.pageIds[pagesPerStep == 1 ? 0 : tile];
  for (int64_t piece = 0; piece < pieces && !shape.usesDma; ++piece) {
    Value number = pieceNumber(piece);
    if (in.layout == Layout::tiled) {
      // Pieces of one column of 16 tokens, or of a smaller page, lie side by
      // side.
      const int64_t column = std::min(page, kTile) * kPiece;
      Value inColumn = isPagePerLane()
                           ? mul(slot, kPiece)
                           : add(mul(laneInTile, kPiece), mul(slot, keyBytes));
      step.keys.push_back(
          loadPiece(keys, {pageId}, add(mul(number, column), inColumn)));
    } else {
      step.keys.push_back(
          loadPiece(keys, {pageId, ownSlot}, mul(number, kPiece)));
    }
  }
  for (int64_t i = 0; i < shape.getScaleWords(); ++i)
    llvm::append_range(step.codes, loadCodes(keyScales, {pageId, ownSlot}, i));
}

/// Starts the loads of the step at `token`. By DMA the keys go to `buffer`.
LogitsKernel::Step LogitsKernel::loadStep(Value token, ValueRange pages,
                                          Value buffer) {
  Step step;
  if (shape.usesDma)
    issueKeys(token, pages, buffer);
  Place place = locateStep(token, pages);
  loadScales(place, step);
  for (int64_t tile = 0; tile < groups; ++tile)
    loadTile(place, tile, step);
  return step;
}

/// The scale of the token whose logit the lane will hold, which is the one of
/// tile j in lane group j. Where a step has several pages, those of all tiles:
/// loads with one page each and a choice of registers cost less than 64-bit
/// addresses in lanes.
void LogitsKernel::loadScales(const Place &place, Step &step) {
  if (shape.isFp4)
    return;
  auto load = [&](Value pageId, Value slot) {
    step.scales.push_back(
        b.create<memref::LoadOp>(keyScales, ValueRange{pageId, slot}));
  };
  if (pagesPerStep == 1)
    return load(place.pageIds[0], add(toIndex(rem(place.token, page)), lane));
  for (int64_t tile = 0; tile < groups; ++tile)
    load(place.pageIds[tile], getOwnSlot(place, tile));
}

/// What the arithmetic takes of a tile: here and not at the loads, as it waits
/// for them.
LogitsKernel::TileOperands LogitsKernel::finishTile(const Step &step,
                                                    int64_t tile) {
  TileOperands result;
  for (int64_t piece = 0; piece < pieces; ++piece)
    result.keys.push_back(
        clearBeyondRow(step.keys[tile * pieces + piece], piece));
  const int64_t words = shape.getScaleWords(), each = mma.scalesPerLane;
  for (int64_t i = 0; i < words; ++i)
    result.codes.push_back(
        packCodes(ArrayRef(step.codes).slice((tile * words + i) * each, each)));
  return result;
}

/// The scale of the lane's token, or none where keys have codes.
Value LogitsKernel::chooseScale(const Step &step) {
  Value result;
  for (auto [tile, scale] : llvm::enumerate(step.scales))
    result = tile == 0 ? scale
                       : b.create<arith::SelectOp>(
                             less(group, index(static_cast<int64_t>(tile))),
                             result, scale);
  return result;
}

/// A head tile from memory.
LogitsKernel::HeadTile LogitsKernel::loadHeadTile(Value query, Value headTile) {
  HeadTile result;
  Value local = query;
  query = queryOfSequence(query);
  Value head = add(mul(headTile, mma.m), laneInTile);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value number = pieceNumber(piece);
    Value words = loadPiece(q, {sequence, query, head}, mul(number, kPiece));
    result.pieces.push_back(clearBeyondRow(words, piece));
  }
  for (int64_t i = 0; i < shape.getScaleWords(); ++i)
    result.codes.push_back(
        packCodes(loadCodes(queryScales, {sequence, query, head}, i)));
  result.weights = loadWeights(local, headTile);
  return result;
}

Value LogitsKernel::loadWeights(Value query, Value headTile) {
  const int64_t perLane = mma.getAccPerLane();
  Value head = add(mul(headTile, mma.m), mul(group, perLane));
  auto type = VectorType::get({perLane}, b.getF32Type());
  if (weightLds)
    return b.create<vector::LoadOp>(type, weightLds, ValueRange{query, head});
  Value row = add(mul(sequence, numQueries), queryOfSequence(query));
  return b.create<vector::LoadOp>(type, weights, ValueRange{row, head});
}

/// Copies the queries to LDS for all waves, unless one has them to itself.
void LogitsKernel::stageQueries() {
  if (!shape.stagesQueries(config, ldsBytes))
    return;
  // The queries of the sequence before may still be in use.
  if (config.getSchedule() == LogitsSchedule::ragged)
    b.create<gpu::BarrierOp>();
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
  Value newWeightLds =
      addLds({groupQueries, headTiles * mma.m}, b.getF32Type());
  // Weights of a query by as many as a wave has lanes.
  const int64_t heads = headTiles * mma.m,
                perQuery = llvm::divideCeil(heads, lanes);
  // Parts of queries, of which each has `each`: the query and the number in it.
  auto inQuery = [&](Value part, int64_t each) -> std::pair<Value, Value> {
    if (groupQueries == 1)
      return {index(0), part};
    return {div(part, each), rem(part, each)};
  };
  auto copyWeights = [&](Value part) {
    auto [query, number] = inQuery(part, perQuery);
    Value head = add(mul(number, lanes), lane);
    auto copy = [&, query = query] {
      Value row = add(mul(sequence, numQueries), queryOfSequence(query));
      Value weight = b.create<memref::LoadOp>(weights, ValueRange{row, head});
      b.create<memref::StoreOp>(weight, newWeightLds, ValueRange{query, head});
    };
    if (heads % lanes == 0)
      return copy();
    ifTrue(less(head, index(heads)), copy);
  };
  auto copyTile = [&](Value tile) {
    auto [query, headTile] = inQuery(tile, headTiles);
    HeadTile loaded = loadHeadTile(query, headTile);
    // There are no more parts of weights than head tiles. Their loads are under
    // way together.
    ifTrue(less(tile, index(groupQueries * perQuery)),
           [&] { copyWeights(tile); });
    for (auto [i, piece] : llvm::enumerate(loaded.pieces))
      b.create<vector::StoreOp>(
          piece, queryLds,
          ValueRange{add(mul(tile, pieces), index(i)), lane, index(0)});
    for (auto [i, word] : llvm::enumerate(loaded.codes))
      b.create<memref::StoreOp>(
          word, codeLds, ValueRange{add(mul(tile, codeWords), index(i)), lane});
  };
  const int64_t waves = config.getWaves();
  if (tiles == waves) {
    copyTile(wave);
  } else {
    auto copy = b.create<scf::ForOp>(wave, index(tiles), index(waves));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    copyTile(copy.getInductionVar());
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

/// The products of 16 heads with the keys of a tile.
Value LogitsKernel::multiplyTile(const HeadTile &heads,
                                 const TileOperands &tile) {
  auto accType = VectorType::get({mma.getAccPerLane()}, b.getF32Type());
  auto codesType = VectorType::get({4}, b.getType<Float8E8M0FNUType>());
  auto kind = MmaIdAttr::get(b.getContext(), mma.id);
  auto toCodes = [&](Value word) -> Value {
    Value vector = b.create<vector::BroadcastOp>(
        VectorType::get({1}, b.getI32Type()), word);
    return b.create<vector::BitCastOp>(codesType, vector);
  };
  Value acc = b.create<arith::ConstantOp>(accType, b.getZeroAttr(accType));
  SmallVector<Value> a = fragments(heads.pieces), k = fragments(tile.keys);
  for (auto [i, fa, fk] : llvm::enumerate(a, k)) {
    if (shape.isFp4)
      acc = b.create<MmaOp>(accType, kind, fa, fk, acc, toCodes(heads.codes[i]),
                            toCodes(tile.codes[i]), b.getI32IntegerAttr(0),
                            b.getI32IntegerAttr(0));
    else
      acc = b.create<MmaOp>(accType, kind, fa, fk, acc);
  }
  return acc;
}

/// `sum` and weight * max(product, 0) of 16 heads. The sum is a pair, so that
/// two heads share one packed instruction.
Value LogitsKernel::addHeads(Value headWeights, Value products, Value sum) {
  // Without these flags every maximum costs a second, canonicalising one.
  auto flags = arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
  Value zero = b.create<arith::ConstantOp>(products.getType(),
                                           b.getZeroAttr(products.getType()));
  Value positive = b.create<arith::MaxNumFOp>(
      products, zero, arith::FastMathFlagsAttr::get(b.getContext(), flags));
  for (int64_t pair = 0; pair < mma.getAccPerLane() / 2; ++pair)
    sum = b.create<math::FmaOp>(slice(headWeights, 2 * pair, 2),
                                slice(positive, 2 * pair, 2), sum);
  return sum;
}

Value LogitsKernel::finishLogit(ValueRange sums, Value scale) {
  SmallVector<Value> totals;
  for (Value pair : sums)
    totals.push_back(
        b.create<arith::AddFOp>(b.create<vector::ExtractOp>(pair, 0),
                                b.create<vector::ExtractOp>(pair, 1)));
  Value logit = b.create<GroupSumOp>(b.getF32Type(), totals);
  if (scale)
    logit = b.create<arith::MulFOp>(logit, scale);
  return logit;
}

/// Stores the logits of a step. `isInside` where the row has all of its columns
/// and the workgroup too.
void LogitsKernel::storeRow(Value query, Value token, ValueRange sums,
                            Value scale, bool isInside) {
  Value logit = finishLogit(sums, scale);
  auto store = [&] {
    Value row = add(mul(sequence, numQueries), query);
    b.create<memref::StoreOp>(logit, logits,
                              ValueRange{row, add(toIndex(token), lane)});
  };
  if (isInside)
    return store();
  Value column = add(token, toI32(lane)), rowEnd = emitRowEnd(query);
  Value storeEnd = minU(limit, rowEnd);
  if (fill == Fill::neg_inf) {
    logit = select(lessU(column, rowEnd), logit,
                   f32(-std::numeric_limits<float>::infinity()));
    storeEnd = limit;
  }
  ifTrue(lessU(column, storeEnd), store);
}

/// Scores a step with queries in registers, tile by tile. The loads of a tile
/// of the step at `next`, if there is one, start as soon as the same tile of
/// this step is multiplied, into the registers that it leaves: keys take those
/// of one step, and none of them is copied. So do page ids, which go to
/// `pages`, and scales.
LogitsKernel::Step LogitsKernel::scoreInPlace(const Step &step, Value token,
                                              const Place *next,
                                              SmallVectorImpl<Value> *pages,
                                              bool isInside) {
  Step nextStep;
  Value scale = chooseScale(step);
  // Chosen here, and not where it is used.
  if (step.scales.size() > 1)
    scale = keepInAllLanes(scale);
  SmallVector<SmallVector<Value>> sums(groupQueries);
  for (int64_t tile = 0; tile < groups; ++tile) {
    TileOperands operands = finishTile(step, tile);
    SmallVector<Value> products;
    for (const HeadTile &heads : headTileRegisters)
      products.push_back(multiplyTile(heads, operands));
    if (next) {
      holdLoads();
      loadTile(*next, tile, nextStep);
      if (tile == 0)
        loadScales(*next, nextStep);
      if (tile < pagesPerStep)
        pages->push_back(loadPage(next->after, tile));
    }
    for (int64_t i = 0; i < groupQueries; ++i) {
      Value sum = zeroPair();
      for (int64_t h = i * headTiles; h < (i + 1) * headTiles; ++h)
        sum = addHeads(headTileRegisters[h].weights, products[h], sum);
      sums[i].push_back(sum);
    }
  }
  for (int64_t i = 0; i < groupQueries; ++i)
    storeRow(index(i), token, sums[i], scale, isInside);
  return nextStep;
}

/// Neither the products before nor the loads behind change places.
void LogitsKernel::holdLoads() {
  auto free = amdgpu::sched_barrier_opt_enum::valu |
              amdgpu::sched_barrier_opt_enum::salu |
              amdgpu::sched_barrier_opt_enum::transcendental;
  b.create<amdgpu::SchedBarrierOp>(free);
}

/// The operands of all tiles and the scale. Waits for them: to the backend a
/// load from before a loop that is used inside is a reason to wait for all of
/// them ahead of the loop, those of the next step too.
LogitsKernel::StepOperands LogitsKernel::finishStep(const Step &step) {
  StepOperands result;
  for (int64_t tile = 0; tile < groups; ++tile)
    result.tiles.push_back(finishTile(step, tile));
  result.scale = chooseScale(step);
  if (shape.usesDma)
    return result;
  for (TileOperands &tile : result.tiles)
    for (auto *values : {&tile.keys, &tile.codes})
      for (Value &value : *values)
        value = keepInAllLanes(value);
  if (result.scale)
    result.scale = keepInAllLanes(result.scale);
  holdLoads();
  return result;
}

/// Scores a step with queries in LDS or memory.
void LogitsKernel::scoreStep(const StepOperands &step, Value token,
                             bool isInside) {
  // A loop and not copies of its body: the reads of LDS do not change in the
  // token loop, and without this loop the backend hoists all of them into
  // registers, 473 of them for 128 heads and 4 queries.
  OpBuilder::InsertionGuard guard(b);
  Value queries = b.create<memref::DimOp>(q, 1);
  if (groupQueries < numQueries)
    queries = min(queries, index(groupQueries));
  auto queryLoop = b.create<scf::ForOp>(index(0), queries, index(1));
  keepLoop(queryLoop);
  b.setInsertionPointToStart(queryLoop.getBody());
  Value query = queryLoop.getInductionVar();
  SmallVector<Value> sums(groups, zeroPair());
  // Reads of the next head tile are under way while this one is multiplied,
  // but on chips whose waves find their keys in LDS too, where that costs
  // copies and no wait is long.
  HeadTile next = getHeadTile(query, index(0));
  for (int64_t h = 0; h < headTiles; ++h) {
    HeadTile heads = next;
    auto readNext = [&] {
      if (h + 1 < headTiles)
        next = getHeadTile(query, index(h + 1));
    };
    if (!shape.usesDma)
      readNext();
    // Without a branch for the store LLVM has all products at once, in 192
    // registers of gfx942 for 64 heads.
    if (!queryLds)
      holdLoads();
    else if (isInside && !shape.usesDma && h == headTiles / 2)
      b.create<amdgpu::SchedBarrierOp>(amdgpu::sched_barrier_opt_enum::none);
    for (int64_t tile = 0; tile < groups; ++tile)
      sums[tile] = addHeads(heads.weights,
                            multiplyTile(heads, step.tiles[tile]), sums[tile]);
    if (shape.usesDma) {
      // All reads at once would need 260 registers with 128 heads.
      if (isInside)
        holdLoads();
      readNext();
    }
  }
  storeRow(query, token, sums, step.scale, isInside);
}

/// A head tile from LDS.
LogitsKernel::HeadTile LogitsKernel::readHeadTile(Value query, Value headTile) {
  HeadTile heads;
  Value tile = add(mul(query, headTiles), headTile);
  for (int64_t piece = 0; piece < pieces; ++piece)
    heads.pieces.push_back(b.create<vector::LoadOp>(
        wordsType(), queryLds,
        ValueRange{add(mul(tile, pieces), index(piece)), lane, index(0)}));
  for (int64_t i = 0; i < shape.getScaleWords(); ++i)
    heads.codes.push_back(b.create<memref::LoadOp>(
        codeLds,
        ValueRange{add(mul(tile, shape.getScaleWords()), index(i)), lane}));
  heads.weights = loadWeights(query, headTile);
  return heads;
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

/// The queries that stay in registers.
void LogitsKernel::loadHeadTiles() {
  if (config.getQuery() != QueryPlace::registers)
    return;
  for (int64_t i = 0; i < groupQueries; ++i)
    for (int64_t h = 0; h < headTiles; ++h)
      headTileRegisters.push_back(getHeadTile(index(i), index(h)));
}

void LogitsKernel::emitTokenLoop() {
  auto isBusy =
      b.create<scf::IfOp>(lessU(start, limit), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&isBusy.getThenRegion().front());
  // Keys are loaded one step ahead of their use and page ids two, with all
  // reads of the block table held to the pages of the sequence. The last step
  // is scored behind the loop, so that no keys are loaded in vain and no branch
  // comes between a load and its use, at which the backend would wait.
  Value first = add(start, mul(toI32(wave), lanes));
  SmallVector<Value> firstPages = loadPages(first);
  // Before the keys, as in the loop, and held there by a fence that leaves no
  // instruction: behind them, the loop would wait for all keys to have these.
  SmallVector<Value> secondPages = loadPages(add(first, stride));
  b.create<LLVM::FenceOp>(LLVM::AtomicOrdering::acq_rel, "singlethread");
  stageQueries();
  auto hasStep =
      b.create<scf::IfOp>(lessU(first, limit), /*withElseRegion=*/false);
  b.setInsertionPointToStart(&hasStep.getThenRegion().front());
  // Either buffer will do for the first step. The same one for all sequences
  // would let the backend keep the descriptors of first steps in registers.
  Value buffer = rem(sequence, 2);
  Step step = loadStep(first, firstPages, buffer);
  loadHeadTiles();
  SmallVector<Value> carried = step.flatten();
  carried.append({first, buffer});
  llvm::append_range(carried, secondPages);

  auto loop = b.create<scf::ForOp>(add(first, stride), limit, stride, carried,
                                   /*bodyBuilder=*/nullptr,
                                   /*unsignedCmp=*/true);
  const bool isInPlace =
      config.getQuery() == QueryPlace::registers && !shape.usesDma;
  // In the loop the next step has a column of the workgroup, so that this one
  // is as far from the end: further than its own columns, the last query's row
  // is longer than the first one's and a fill goes on.
  const int64_t beyondRows =
      numQueries - 1 + (fill == Fill::neg_inf ? lanes : 0);
  const bool isInside =
      !rowEnds && (config.getWaves() - 1) * lanes >= beyondRows;
  auto score = [&](const Step &step, Value token, bool isInside) {
    if (config.getQuery() == QueryPlace::registers)
      scoreInPlace(step, token, /*next=*/nullptr, /*pages=*/nullptr, isInside);
    else
      scoreStep(finishStep(step), token, isInside);
  };
  auto takeCarried = [&](ValueRange values) {
    Step taken = step.take(values);
    return std::make_tuple(taken, values[0], values[1], values.drop_front(2));
  };
  {
    OpBuilder::InsertionGuard loopGuard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto [current, token, currentBuffer, pages] =
        takeCarried(loop.getRegionIterArgs());
    Value nextToken = loop.getInductionVar();
    Value nextBuffer = sub(index(1), currentBuffer);
    Step next;
    SmallVector<Value> nextPages;
    if (isInPlace) {
      Place place = locateStep(nextToken, pages);
      next = scoreInPlace(current, token, &place, &nextPages, isInside);
    } else if (shape.usesDma) {
      nextPages = loadPages(add(nextToken, stride));
      next = loadStep(nextToken, pages, nextBuffer);
      awaitKeys(shape.getDmaLoads(), currentBuffer, current);
      score(current, token, isInside);
    } else {
      StepOperands operands = finishStep(current);
      nextPages = loadPages(add(nextToken, stride));
      next = loadStep(nextToken, pages, nextBuffer);
      scoreStep(operands, token, isInside);
    }
    SmallVector<Value> yielded = next.flatten();
    yielded.append({nextToken, nextBuffer});
    llvm::append_range(yielded, nextPages);
    b.create<scf::YieldOp>(yielded);
  }
  auto [last, token, lastBuffer, pages] = takeCarried(loop.getResults());
  awaitKeys(0, lastBuffer, last);
  score(last, token, /*isInside=*/false);
}
