//===- GemmProduct.cpp - The sum over K of a grouped GEMM -----------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "ScalarFormats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <deque>

using namespace mlir;
using namespace mlir::pa;

Value GemmKernel::zeroSum() {
  auto type = VectorType::get({shape.accPerLane}, b.getF32Type());
  return b.create<arith::ConstantOp>(type, DenseElementsAttr::get(type, 0.0f));
}

/// The bf16 of the narrow codes in `words`, exactly, as words of pairs.
Value GemmKernel::convertWords(Value words, const GemmOperand &operand) {
  const int64_t count = operand.run;
  auto intType = VectorType::get({count}, b.getI32Type());
  auto floatType = VectorType::get({count}, b.getF32Type());
  auto splat = [&](uint32_t value) -> Value {
    return b.create<arith::ConstantOp>(
        intType, DenseElementsAttr::get(intType, APInt(32, value)));
  };
  auto splatFloat = [&](float value) -> Value {
    return b.create<arith::ConstantOp>(
        floatType, DenseElementsAttr::get(floatType, value));
  };
  Value codes;
  ScalarFormat format = getFp4Format();
  if (operand.bits == 4) {
    SmallVector<int32_t> shifts;
    for (int64_t i = 0; i < count; ++i)
      shifts.push_back(static_cast<int32_t>(4 * i));
    Value word = b.create<vector::ExtractOp>(words, 0);
    Value all = b.create<vector::BroadcastOp>(intType, word);
    codes = b.create<arith::ShRUIOp>(
        all, b.create<arith::ConstantOp>(
                 intType, DenseElementsAttr::get(intType, ArrayRef(shifts))));
  } else {
    format =
        getScalarFormat(cast<ShapedType>(op.getA().getType()).getElementType());
    Value bytes = b.create<vector::BitCastOp>(
        VectorType::get({count}, b.getI8Type()), words);
    codes = b.create<arith::ExtUIOp>(intType, bytes);
  }
  // Sign apart, the bits of a code are those of an f32 whose exponent has the
  // wrong bias; a product with a power of two mends it, denormal codes too.
  const uint32_t signBit = 1u << (format.width - 1);
  Value magnitude = b.create<arith::AndIOp>(codes, splat(signBit - 1));
  Value sign = b.create<arith::ShLIOp>(
      b.create<arith::AndIOp>(codes, splat(signBit)), splat(32 - format.width));
  Value value = b.create<arith::BitcastOp>(
      floatType,
      b.create<arith::ShLIOp>(magnitude, splat(23 - format.mantissaBits)));
  value = b.create<arith::MulFOp>(
      value, splatFloat(std::ldexp(1.0f, 127 - format.bias)));
  Value bits = b.create<arith::BitcastOp>(intType, value);
  if (format.hasNaN) {
    Value isNaN =
        format.hasNegativeZero
            ? b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, magnitude,
                                      splat(format.nanCode & (signBit - 1)))
            : b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, codes,
                                      splat(format.nanCode));
    bits = b.create<arith::SelectOp>(isNaN, splat(0x7fc00000), bits);
  }
  bits = b.create<arith::OrIOp>(bits, sign);
  auto halfType = VectorType::get({count}, b.getIntegerType(16));
  Value halves = b.create<arith::TruncIOp>(
      halfType, b.create<arith::ShRUIOp>(bits, splat(16)));
  return b.create<vector::BitCastOp>(wordsType(count / 2), halves);
}

/// The runs that a lane holds of each of `rows / 16` blocks, cut into the
/// operands of the matrix instructions of a chunk.
SmallVector<Value> GemmKernel::getFragments(ArrayRef<Value> words,
                                            const GemmOperand &operand,
                                            bool isA) {
  const int64_t blocks = isA ? shape.blocksPerTile : 1;
  FragmentTypes types = getFragmentTypes(b.getContext(), mma.id);
  VectorType type = isA ? types.a : types.b;
  SmallVector<SmallVector<Value>> parts(blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    SmallVector<Value> runs(words.slice(block * operand.runs, operand.runs));
    if (shape.isConverted)
      for (Value &run : runs)
        run = convertWords(run, operand);
    Value all = concat(runs);
    int64_t count =
        cast<VectorType>(all.getType()).getDimSize(0) / shape.fragments;
    for (int64_t i = 0; i < shape.fragments; ++i)
      parts[block].push_back(
          shape.fragments == 1 ? all : slice(all, i * count, count));
  }
  SmallVector<Value> result;
  for (int64_t i = 0; i < shape.fragments; ++i) {
    SmallVector<Value> rows;
    for (auto &part : parts)
      rows.push_back(part[i]);
    result.push_back(b.create<vector::BitCastOp>(type, concat(rows)));
  }
  return result;
}

/// What f32 scales multiply a product with; null where there are none.
Value GemmKernel::getFactor(const Chunk &chunk, int64_t tile, int64_t block) {
  Value factor;
  if (op.getAScale() == ScaleKind::f32_1x128)
    factor = chunk.rowScales[block];
  if (op.getBScale() == ScaleKind::f32_128x128) {
    Value scale = chunk.weightScales[tile / getTilesPerScale()];
    factor = factor ? b.create<arith::MulFOp>(factor, scale) : scale;
  }
  return factor;
}

/// `sum` and `partial`, the sum over segment `segment` of the chunk, times the
/// scales that the matrix instruction did not apply.
Value GemmKernel::addSegment(Value sum, Value partial, const Chunk &chunk,
                             Value factor, int64_t tile, int64_t block,
                             int64_t segment) {
  const ScaleKind aKind = op.getAScale(), bKind = op.getBScale();
  Value result = partial;
  // Exponents add before they meet the sum, so that 0 with 254 is exact.
  SmallVector<Value> rowCodes, weightCodes;
  auto codeOf = [&](Value word) -> Value {
    Value shifted = b.createOrFold<arith::ShRUIOp>(word, i32(8 * segment));
    return b.create<arith::AndIOp>(shifted, i32(0xff));
  };
  const bool scalesA = isE8M0(aKind) && !shape.hasMmaScales;
  const bool scalesB = isE8M0(bKind) && !shape.hasMmaScales;
  if (scalesA || scalesB) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < shape.accPerLane; ++i) {
      SmallVector<Value> codes;
      if (scalesA)
        codes.push_back(codeOf(chunk.rowScales[block]));
      if (scalesB)
        codes.push_back(
            codeOf(bKind == ScaleKind::e8m0_32x32
                       ? chunk.weightScales[tile]
                       : chunk.weightScales[tile * shape.accPerLane + i]));
      Value exponent = i32(-127 * static_cast<int64_t>(codes.size()));
      Value greatest = codes.front();
      for (Value code : codes) {
        exponent = add(exponent, code);
        greatest = b.createOrFold<arith::MaxUIOp>(greatest, code);
      }
      Value element = b.create<vector::ExtractOp>(partial, i);
      Value scaled = b.create<LLVM::CallIntrinsicOp>(
                          b.getF32Type(), b.getStringAttr("llvm.ldexp"),
                          ValueRange{element, exponent})
                         .getResult(0);
      Value isNaN = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, greatest,
                                            i32(0xff));
      elements.push_back(
          select(isNaN, f32(std::numeric_limits<float>::quiet_NaN()), scaled));
    }
    result = b.create<vector::FromElementsOp>(
        cast<VectorType>(partial.getType()), elements);
  }
  if (!factor)
    return b.create<arith::AddFOp>(sum, result);
  factor = b.create<vector::BroadcastOp>(partial.getType(), factor);
  return b.create<math::FmaOp>(result, factor, sum);
}

/// What the products of a chunk need of it: f32 scales as their factors, so
/// that no product waits with two registers of scales.
GemmKernel::Chunk GemmKernel::withoutOperands(Chunk chunk) {
  if (getFactor(chunk, 0, 0))
    for (int64_t tile = 0; tile < tilesN; tile += getTilesPerScale())
      for (int64_t block = 0; block < rowBlocks; ++block)
        chunk.factors.push_back(getFactor(chunk, tile, block));
  if (op.getAScale() == ScaleKind::f32_1x128)
    chunk.rowScales.clear();
  if (op.getBScale() == ScaleKind::f32_128x128)
    chunk.weightScales.clear();
  chunk.weights.clear();
  chunk.rows.clear();
  return chunk;
}

/// Adds the products of a chunk, with their scales.
void GemmKernel::addProducts(const Chunk &chunk, Sums &sums) {
  const int64_t segments = getNumSegments();
  for (auto [i, product] : llvm::enumerate(chunk.products)) {
    const int64_t number = static_cast<int64_t>(i), ofSum = number / segments;
    const int64_t tile = ofSum / rowBlocks, block = ofSum % rowBlocks;
    Value factor;
    if (!chunk.factors.empty())
      factor = chunk.factors[tile / getTilesPerScale() * rowBlocks + block];
    sums[ofSum] = addSegment(sums[ofSum], product, chunk, factor, tile, block,
                             number % segments);
  }
}

/// Multiplies a chunk. Where `later`, the products that are to be scaled stay
/// in it for addProducts.
void GemmKernel::multiply(Chunk &chunk, Sums &sums, bool later,
                          function_ref<void(int64_t)> afterTile) {
  auto kind = MmaIdAttr::get(b.getContext(), mma.id);
  auto codesType = VectorType::get({4}, b.getType<Float8E8M0FNUType>());
  auto toCodes = [&](Value word) -> Value {
    Value vector = b.create<vector::BroadcastOp>(wordsType(1), word);
    return b.create<vector::BitCastOp>(codesType, vector);
  };
  auto zeroSelect = b.getI32IntegerAttr(0);
  // 127 stands for 1.
  Value neutral = shape.hasMmaScales ? toCodes(i32(0x7f7f7f7f)) : Value();

  SmallVector<SmallVector<Value>> rowFragments;
  for (int64_t block = 0; block < rowBlocks; ++block)
    rowFragments.push_back(getFragments(
        ArrayRef(chunk.rows).slice(block * shape.a.runs, shape.a.runs), shape.a,
        /*isA=*/false));
  const int64_t wordsPerTile = shape.blocksPerTile * shape.b.runs;
  const int64_t perSegment =
      isSegmented() ? shape.segment / mma.k : shape.fragments;
  const int64_t segments = getNumSegments();
  // One product is on its way while the one before is scaled: one by one, a
  // wave waits for each, 11 idle issue slots after an f8f6f4 instruction. Where
  // a product is several instructions, another wave fills the gap between two.
  struct Product {
    Value value;
    int64_t tile, block, segment;
  };
  const size_t kept = perSegment == 1 ? 2 : 0;
  std::deque<Product> unscaled;
  auto scaleFirst = [&] {
    const Product p = unscaled.front();
    unscaled.pop_front();
    Value &sum = sums[p.tile * rowBlocks + p.block];
    sum = addSegment(sum, p.value, chunk, getFactor(chunk, p.tile, p.block),
                     p.tile, p.block, p.segment);
  };
  for (int64_t tile = 0; tile < tilesN; ++tile) {
    SmallVector<Value> fragments = getFragments(
        ArrayRef(chunk.weights).slice(tile * wordsPerTile, wordsPerTile),
        shape.b, /*isA=*/true);
    Value tileCodes = neutral;
    if (shape.hasMmaScales && isE8M0(op.getBScale()))
      tileCodes = toCodes(chunk.weightScales[tile]);
    for (int64_t block = 0; block < rowBlocks; ++block) {
      Value &sum = sums[tile * rowBlocks + block];
      Value rowCodes = neutral;
      if (shape.hasMmaScales && isE8M0(op.getAScale()))
        rowCodes = toCodes(chunk.rowScales[block]);
      for (int64_t segment = 0; segment < segments; ++segment) {
        Value acc = isSegmented() ? zeroSum() : sum;
        for (int64_t i = segment * perSegment; i < (segment + 1) * perSegment;
             ++i) {
          Value fa = fragments[i], fb = rowFragments[block][i];
          acc =
              shape.hasMmaScales
                  ? b.create<MmaOp>(acc.getType(), kind, fa, fb, acc, tileCodes,
                                    rowCodes, zeroSelect, zeroSelect)
                  : b.create<MmaOp>(acc.getType(), kind, fa, fb, acc);
        }
        if (!isSegmented()) {
          sum = acc;
          continue;
        }
        if (later) {
          chunk.products.push_back(acc);
          continue;
        }
        unscaled.push_back({acc, tile, block, segment});
        if (unscaled.size() > kept)
          scaleFirst();
      }
    }
    if (afterTile)
      afterTile(tile);
  }
  while (!unscaled.empty())
    scaleFirst();
}

/// Adds the chunks that all waves have as many of, whose operands go straight
/// to registers, and returns how many that are. Steps `waveK`,
/// `waveK + waves_k`, ... , two of which make one iteration, so that nothing
/// moves between registers; then a smaller step of what is left.
int64_t GemmKernel::emitDirectSteps(Sums &sums) {
  const int64_t perStep = config.getTileK() / shape.chunk;
  const int64_t wavesK = config.getWavesK(), full = shape.getFullChunks();
  const int64_t steps = full / (perStep * wavesK);
  const int64_t inSteps = steps * perStep * wavesK;
  const int64_t perRest = (full - inSteps) / wavesK;
  auto loadChunks = [&](Value first, int64_t count) {
    SmallVector<Chunk> step;
    for (int64_t i = 0; i < count; ++i)
      step.push_back(loadChunk(add(first, i), /*isTail=*/false));
    return step;
  };
  auto loadStep = [&](Value number) {
    return loadChunks(mul(add(mul(number, wavesK), waveK), perStep), perStep);
  };
  auto loadFrom = [&](int64_t number) {
    return number < steps
               ? loadStep(index(number))
               : loadChunks(add(mul(waveK, perRest), inSteps), perRest);
  };
  // The next step has been loaded when this one is multiplied. LLVM's scheduler
  // must not mix the two: a step would then wait for loads of the next one, in
  // full. Products that are to be scaled are so in the next step, before its
  // own: a wave waits for no matrix instruction then, and no packed instruction
  // is in the shadow of one, where LLVM takes it apart.
  auto multiplyStep = [&](SmallVector<Chunk> &step, SmallVector<Chunk> next,
                          Sums &sums) {
    keepLoadsAbove();
    for (const Chunk &chunk : step)
      addProducts(chunk, sums);
    b.create<ROCDL::SchedBarrier>(0);
    for (Chunk &chunk : step) {
      if (!chunk.products.empty())
        continue;
      multiply(chunk, sums, /*later=*/true);
      if (isSegmented())
        next.push_back(withoutOperands(chunk));
    }
    b.create<ROCDL::SchedBarrier>(0);
    step = next;
  };
  SmallVector<Chunk> step = loadFrom(0);
  // Before the first step there is nothing to be scaled.
  for (int64_t i = 0; isSegmented() && i < perStep && steps > 0; ++i) {
    Chunk none = withoutOperands(step[i]);
    none.products.assign(tilesN * rowBlocks * getNumSegments(), zeroSum());
    SmallVector<Value> zeros;
    for (Value value : none.flatten())
      zeros.push_back(
          b.create<arith::ConstantOp>(b.getZeroAttr(value.getType())));
    step.push_back(none.withValues(zeros));
  }
  const int64_t inLoop = emitStepLoop(
      steps, step, sums,
      [&](SmallVector<Chunk> &step, Value number, bool, Sums &sums) {
        multiplyStep(step, loadStep(add(number, 1)), sums);
      });
  const int64_t all = steps + (perRest > 0 ? 1 : 0);
  for (int64_t number = inLoop; number < all; ++number)
    multiplyStep(step,
                 number + 1 < all ? loadFrom(number + 1) : SmallVector<Chunk>(),
                 sums);
  for (const Chunk &chunk : step)
    addProducts(chunk, sums);
  return inSteps + perRest * wavesK;
}

/// The loop over all of `steps` but the last one or two, in pairs; returns how
/// many it has. `step` is what one step hands to the next.
int64_t GemmKernel::emitStepLoop(int64_t steps, SmallVector<Chunk> &step,
                                 Sums &sums, StepEmitter emitStep) {
  constexpr int64_t kPair = 2;
  const int64_t inLoop = (steps - 1) / kPair * kPair;
  if (inLoop <= 0)
    return 0;
  const SmallVector<Chunk> like = step;
  SmallVector<Value> carried(sums);
  llvm::append_range(carried, flatten(step));
  // Counted one by one: the end is an equality then, which gfx942 and gfx950
  // compare in scalar registers, unlike the order of 64-bit numbers.
  auto loop =
      b.create<scf::ForOp>(index(0), index(inLoop / kPair), index(1), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange args = loop.getRegionIterArgs();
    Sums inner(args.take_front(sums.size()));
    step = unflatten(like, args.drop_front(sums.size()));
    for (int64_t i = 0; i < kPair; ++i)
      emitStep(step, add(mul(loop.getInductionVar(), kPair), i),
               /*hasNext=*/true, inner);
    SmallVector<Value> yielded(inner);
    llvm::append_range(yielded, flatten(step));
    b.create<scf::YieldOp>(yielded);
  }
  ValueRange results = loop.getResults();
  sums.assign(results.begin(), results.begin() + sums.size());
  step = unflatten(like, results.drop_front(sums.size()));
  return inLoop;
}

/// The sums of the wave's part of K.
GemmKernel::Sums GemmKernel::emitProduct() {
  Sums sums(tilesN * rowBlocks, zeroSum());
  const int64_t perStep = config.getTileK() / shape.chunk;
  const int64_t wavesK = config.getWavesK();
  const int64_t full = shape.getFullChunks();
  int64_t done = full / perStep * perStep;
  if (config.getStages() > 0)
    emitStagedSteps(sums);
  else
    done = emitDirectSteps(sums);

  // Chunks that not every wave has, and what is left of K after the last one.
  const int64_t all = full + (shape.getTail() > 0 ? 1 : 0);
  for (int64_t number = done; number < all; ++number) {
    auto addChunk = [&] {
      Chunk chunk = loadChunk(index(number), /*isTail=*/number == full);
      multiply(chunk, sums, /*later=*/false);
    };
    if (wavesK == 1) {
      addChunk();
      continue;
    }
    Value isMine = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, waveK,
                                           index((number - done) % wavesK));
    auto branch = b.create<scf::IfOp>(TypeRange(ValueRange(sums)), isMine,
                                      /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    b.create<scf::YieldOp>(sums);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    addChunk();
    b.create<scf::YieldOp>(sums);
    sums.assign(branch.getResults().begin(), branch.getResults().end());
  }
  return wavesK == 1 ? sums : addWaves(sums);
}

/// The sums of all waves that share a tile, in the order of their numbers. They
/// are whole in the first of the waves only.
GemmKernel::Sums GemmKernel::addWaves(Sums sums) {
  const int64_t tileWaves = config.getWavesM() * config.getWavesN();
  const int64_t numSums = static_cast<int64_t>(sums.size());
  // 16 bytes of each lane after another, against bank conflicts.
  constexpr int64_t kPart = 4;
  const int64_t parts = shape.accPerLane / kPart;
  Value lds = addLds(
      {config.getWavesK() - 1, tileWaves * numSums * parts, lanes, kPart},
      b.getF32Type());
  Value first = mul(rem(wave, tileWaves), numSums * parts);
  // The sums of the tile before may still be read.
  b.create<gpu::BarrierOp>();
  ifTrue(less(index(0), waveK), [&] {
    for (auto [i, sum] : llvm::enumerate(sums))
      for (int64_t part = 0; part < parts; ++part)
        b.create<vector::StoreOp>(
            slice(sum, part * kPart, kPart), lds,
            ValueRange{sub(waveK, index(1)),
                       add(first, static_cast<int64_t>(i) * parts + part), lane,
                       index(0)});
  });
  b.create<gpu::BarrierOp>();
  auto partType = VectorType::get({kPart}, b.getF32Type());
  for (int64_t other = 0; other < config.getWavesK() - 1; ++other)
    for (auto [i, sum] : llvm::enumerate(sums)) {
      SmallVector<Value> loaded;
      for (int64_t part = 0; part < parts; ++part)
        loaded.push_back(b.create<vector::LoadOp>(
            partType, lds,
            ValueRange{index(other),
                       add(first, static_cast<int64_t>(i) * parts + part), lane,
                       index(0)}));
      sum = b.create<arith::AddFOp>(sum, concat(loaded));
    }
  return sums;
}
