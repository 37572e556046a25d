//===- TargetInfoTest.cpp - The chip table
//---------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/TargetInfo.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

TEST(TargetInfoTest, KnowsItsChips) {
  EXPECT_EQ(TargetInfo::knownChips(), "gfx942, gfx950, gfx1250");
  EXPECT_EQ(TargetInfo::lookup("gfx90a"), nullptr);
  EXPECT_EQ(TargetInfo::lookup(""), nullptr);
  for (StringRef chip : TargetInfo::allChips()) {
    const TargetInfo *info = TargetInfo::lookup(chip);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->getName(), chip);
  }
}

TEST(TargetInfoTest, LoadToLdsWidths) {
  struct {
    StringRef chip;
    std::vector<int64_t> widths;
  } expected[] = {
      {"gfx942", {1, 2, 4}}, {"gfx950", {1, 2, 4, 12, 16}}, {"gfx1250", {}}};
  for (auto &row : expected) {
    std::vector<int64_t> widths;
    for (int64_t bytes = -1; bytes <= 64; ++bytes)
      if (TargetInfo::lookup(row.chip)->canLoadToLds(bytes))
        widths.push_back(bytes);
    EXPECT_EQ(widths, row.widths) << row.chip.str();
  }
}

TEST(TargetInfoTest, MatrixInstructionsFitTheChip) {
  for (StringRef chip : TargetInfo::allChips()) {
    const TargetInfo *info = TargetInfo::lookup(chip);
    EXPECT_FALSE(info->getMmas().empty()) << chip.str();
    for (MmaId id : info->getMmas()) {
      const MmaInfo &mma = getMmaInfo(id);
      std::string name = chip.str() + " " + stringifyMmaId(id).str();
      EXPECT_EQ(mma.waveSize, info->waveSize) << name;
      if (mma.aFormat == "fp8" || mma.bFormat == "fp8")
        EXPECT_EQ(mma.isFnuz, info->isFp8Fnuz) << name;
      else
        EXPECT_FALSE(mma.isFnuz) << name;
      if (mma.family.starts_with("scaled"))
        EXPECT_TRUE(info->hasScaledMma) << name;
    }
  }
}

} // namespace
