//===- MmaLayoutTest.cpp - Lane layouts cover their tiles
//------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/MmaLayout.h"
#include "mlir/IR/MLIRContext.h"
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
                    return getOperandPosition(id, lane, element);
                  });
}

TEST_P(MmaLayoutTest, AccumulatorsCoverTheirTile) {
  expectBijection(mma.waveSize, mma.getAccPerLane(), mma.m, mma.n,
                  [&](int64_t lane, int64_t element) {
                    return getAccPosition(id, lane, element);
                  });
}

INSTANTIATE_TEST_SUITE_P(
    AllRows, MmaLayoutTest,
    testing::Range<uint32_t>(0, getMaxEnumValForMmaId() + 1),
    [](const testing::TestParamInfo<uint32_t> &info) {
      return stringifyMmaId(static_cast<MmaId>(info.param)).str();
    });

} // namespace
