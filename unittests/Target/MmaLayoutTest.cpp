//===- MmaLayoutTest.cpp - Lane layouts cover their tiles -----------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/MmaLayout.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace mlir::pa;

namespace {

class MmaLayoutTest : public testing::TestWithParam<uint32_t> {
protected:
  MmaId id = static_cast<MmaId>(GetParam());
  const MmaInfo &mma = getMmaInfo(id);
};

/// Expects that `position(lane, element)` takes every (row, column) of a tile
/// exactly once.
template <typename PositionFn>
void expectBijection(int64_t lanes, int64_t elements, int64_t rows,
                     int64_t columns, PositionFn position) {
  ASSERT_EQ(lanes * elements, rows * columns);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t lane = 0; lane < lanes; ++lane)
    for (int64_t element = 0; element < elements; ++element) {
      TilePosition at = position(lane, element);
      EXPECT_TRUE(at.row >= 0 && at.row < rows && at.column >= 0 &&
                  at.column < columns)
          << "lane " << lane << " element " << element << " is outside: ("
          << at.row << ", " << at.column << ")";
      EXPECT_TRUE(seen.insert({at.row, at.column}).second)
          << "lane " << lane << " element " << element << " repeats (" << at.row
          << ", " << at.column << ")";
    }
}

TEST_P(MmaLayoutTest, OperandsCoverTheirTiles) {
  MLIRContext context;
  FragmentTypes types = getFragmentTypes(&context, id);
  expectBijection(mma.waveSize, types.a.getNumElements(), mma.m, mma.k,
                  [&](int64_t lane, int64_t element) {
                    return getOperandPosition(id, lane, element, MmaOperand::a);
                  });
  expectBijection(mma.waveSize, types.b.getNumElements(), mma.n, mma.k,
                  [&](int64_t lane, int64_t element) {
                    return getOperandPosition(id, lane, element, MmaOperand::b);
                  });
}

TEST_P(MmaLayoutTest, AccumulatorsCoverTheirTile) {
  MLIRContext context;
  FragmentTypes types = getFragmentTypes(&context, id);
  expectBijection(mma.waveSize, types.acc.getNumElements(), mma.m, mma.n,
                  [&](int64_t lane, int64_t element) {
                    return getAccPosition(id, lane, element);
                  });
}

TEST_P(MmaLayoutTest, ScalesCoverTheirBlocks) {
  EXPECT_EQ(mma.isScaled(), mma.family.starts_with("scaled"));
  if (!mma.isScaled())
    return;
  // Where scales differ along K, the order along K must be the real one.
  EXPECT_TRUE(mma.isKOrderPhysical);
  for (MmaOperand operand : {MmaOperand::a, MmaOperand::b})
    expectBijection(mma.getScaleLanes(operand), mma.scalesPerLane,
                    mma.get(operand).rows, mma.k / MmaInfo::kScaleBlock,
                    [&](int64_t lane, int64_t code) {
                      return getScalePosition(id, lane, code, operand);
                    });
}

// Operands of different widths pair by the real order along K only.
TEST_P(MmaLayoutTest, MixedFormatsStateThePhysicalOrder) {
  if (mma.aFormat != mma.bFormat)
    EXPECT_TRUE(mma.isKOrderPhysical);
}

// A matrix-core scale of a lane applies to the values of that lane where they
// are of 4 bits. Those of 8 bits lie in runs of 16: lane group g has values of
// blocks g / 2 and g / 2 + groups / 2, and still gives the scale of block g.
TEST_P(MmaLayoutTest, ScaledMfmaLanesScaleTheirOwnValues) {
  if (mma.family != "scaled_mfma")
    return;
  for (MmaOperand operand : {MmaOperand::a, MmaOperand::b})
    for (int64_t lane = 0; lane < mma.waveSize; ++lane) {
      TilePosition scale = getScalePosition(id, lane, 0, operand);
      for (int64_t i = 0; i < mma.get(operand).perLane; ++i) {
        TilePosition at = getOperandPosition(id, lane, i, operand);
        EXPECT_EQ(at.row, scale.row);
        if (mma.get(operand).format == "fp4")
          EXPECT_EQ(at.column / MmaInfo::kScaleBlock, scale.column);
        else
          EXPECT_EQ(at.column / 16 % (mma.waveSize / mma.m), scale.column);
      }
    }
}

TEST_P(MmaLayoutTest, NamesAgree) {
  std::string shape = llvm::formatv("f32_{0}x{1}x{2}", mma.m, mma.n, mma.k);
  EXPECT_TRUE(stringifyMmaId(id).contains(shape + "_"));
  EXPECT_TRUE(mma.mnemonic.contains(shape + "_"));
  EXPECT_EQ(stringifyMmaId(id).contains("scale"), mma.isScaled());
  EXPECT_EQ(stringifyMmaId(id).ends_with("_fnuz"), mma.isFnuz);
  EXPECT_EQ(symbolizeMmaId(stringifyMmaId(id)), id);
}

/// One known place of each layout, so that no transposed or shifted layout
/// passes as a bijection.
struct KnownPlace {
  MmaId id;
  MmaOperand operand;
  int64_t lane, element, row, k;
};

TEST(MmaLayoutPlaces, Operands) {
  const KnownPlace places[] = {
      // Four lane groups of 16 rows, each one contiguous range of K.
      {MmaId::mfma_f32_16x16x32_fp8_fnuz, MmaOperand::a, 17, 3, 1, 11},
      {MmaId::mfma_f32_16x16x16_bf16, MmaOperand::b, 63, 1, 15, 13},
      // Four lane groups that take turns with 16 values of 8 bits each.
      {MmaId::mfma_f32_16x16x128_fp8, MmaOperand::a, 35, 15, 3, 47},
      {MmaId::mfma_f32_16x16x128_fp8, MmaOperand::a, 35, 31, 3, 111},
      {MmaId::mfma_scale_f32_16x16x128_fp8_fp4, MmaOperand::b, 16, 5, 0, 37},
      // Two lane groups of 32 rows.
      {MmaId::mfma_f32_32x32x16_fp8, MmaOperand::a, 33, 2, 1, 10},
      {MmaId::mfma_f32_32x32x8_f16, MmaOperand::b, 31, 3, 31, 3},
      {MmaId::mfma_scale_f32_32x32x64_fp4, MmaOperand::a, 40, 31, 8, 63},
      // 16 values of each lane half in turn, and 32 where they are half as
      // wide.
      {MmaId::wmma_scale_f32_16x16x128_fp8, MmaOperand::a, 3, 16, 3, 32},
      {MmaId::wmma_scale_f32_16x16x128_fp8, MmaOperand::b, 19, 17, 3, 49},
      {MmaId::wmma_scale_f32_16x16x128_fp4, MmaOperand::a, 16, 33, 0, 97},
      {MmaId::wmma_scale_f32_16x16x128_fp4_fp8, MmaOperand::a, 20, 0, 4, 32},
      {MmaId::wmma_scale_f32_16x16x128_fp4_fp8, MmaOperand::b, 20, 0, 4, 16},
      // Rows 16 to 31 follow after all of K of the first 16.
      {MmaId::wmma_scale_f32_32x16x128_fp4, MmaOperand::a, 5, 63, 5, 95},
      {MmaId::wmma_scale_f32_32x16x128_fp4, MmaOperand::a, 5, 64, 21, 0},
      {MmaId::wmma_scale_f32_32x16x128_fp4, MmaOperand::b, 21, 0, 5, 32},
  };
  for (const KnownPlace &place : places) {
    TilePosition at =
        getOperandPosition(place.id, place.lane, place.element, place.operand);
    std::string name = stringifyMmaId(place.id).str() + " lane " +
                       std::to_string(place.lane) + " element " +
                       std::to_string(place.element);
    EXPECT_EQ(at.row, place.row) << name;
    EXPECT_EQ(at.column, place.k) << name;
  }
}

TEST(MmaLayoutPlaces, Accumulators) {
  struct {
    MmaId id;
    int64_t lane, element, row, column;
  } places[] = {
      {MmaId::mfma_f32_16x16x32_fp8, 18, 3, 7, 2},
      {MmaId::mfma_f32_32x32x16_bf16, 33, 5, 13, 1},
      {MmaId::mfma_f32_32x32x16_bf16, 31, 15, 27, 31},
      {MmaId::wmma_f32_16x16x128_fp8, 17, 2, 10, 1},
      {MmaId::wmma_scale_f32_32x16x128_fp4, 16, 9, 25, 0},
  };
  for (auto &place : places) {
    TilePosition at = getAccPosition(place.id, place.lane, place.element);
    EXPECT_EQ(at.row, place.row) << stringifyMmaId(place.id).str();
    EXPECT_EQ(at.column, place.column) << stringifyMmaId(place.id).str();
  }
}

TEST(MmaLayoutPlaces, Scales) {
  struct {
    MmaId id;
    MmaOperand operand;
    int64_t lane, code, row, block;
  } places[] = {
      {MmaId::mfma_scale_f32_16x16x128_fp8, MmaOperand::a, 33, 0, 1, 2},
      {MmaId::mfma_scale_f32_32x32x64_fp8, MmaOperand::b, 33, 0, 1, 1},
      {MmaId::wmma_scale_f32_16x16x128_fp8, MmaOperand::a, 7, 3, 7, 3},
      {MmaId::wmma_scale_f32_32x16x128_fp4, MmaOperand::a, 30, 1, 30, 1},
  };
  for (auto &place : places) {
    TilePosition at =
        getScalePosition(place.id, place.lane, place.code, place.operand);
    EXPECT_EQ(at.row, place.row) << stringifyMmaId(place.id).str();
    EXPECT_EQ(at.column, place.block) << stringifyMmaId(place.id).str();
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllRows, MmaLayoutTest,
    testing::Range<uint32_t>(0, getMaxEnumValForMmaId() + 1),
    [](const testing::TestParamInfo<uint32_t> &info) {
      return stringifyMmaId(static_cast<MmaId>(info.param)).str();
    });

} // namespace
