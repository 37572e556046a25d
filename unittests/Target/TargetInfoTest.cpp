//===- TargetInfoTest.cpp - The chip table --------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
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
      if (mma.isScaled())
        EXPECT_TRUE(info->hasScaledMma) << name;
      EXPECT_TRUE(info->hasMma(id)) << name;
    }
    llvm::SmallVector<MmaId> sorted(info->getMmas());
    llvm::sort(sorted);
    EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end())
        << chip.str() << " lists an instruction twice";
  }
}

TEST(TargetInfoTest, EveryMatrixInstructionBelongsToAChip) {
  for (uint32_t i = 0; i <= getMaxEnumValForMmaId(); ++i) {
    auto id = static_cast<MmaId>(i);
    EXPECT_TRUE(llvm::any_of(TargetInfo::allChips(), [&](StringRef chip) {
      return TargetInfo::lookup(chip)->hasMma(id);
    })) << stringifyMmaId(id).str();
  }
}

// The published dense rates, in operations per clock of one SIMD.
TEST(TargetInfoTest, CyclesGiveThePublishedRates) {
  struct {
    MmaId id;
    int64_t rate;
  } rows[] = {{MmaId::mfma_f32_16x16x32_fp8_fnuz, 1024},
              {MmaId::mfma_f32_32x32x16_fp8_fnuz, 1024},
              {MmaId::mfma_f32_16x16x16_bf16, 512},
              {MmaId::mfma_f32_32x32x8_f16, 512},
              {MmaId::mfma_f32_16x16x32_bf16, 1024},
              {MmaId::mfma_f32_32x32x16_f16, 1024},
              {MmaId::mfma_f32_16x16x128_fp8, 2048},
              {MmaId::mfma_f32_32x32x64_fp8_fp4, 2048},
              {MmaId::mfma_scale_f32_16x16x128_fp4, 4096},
              {MmaId::mfma_scale_f32_32x32x64_fp4, 4096},
              {MmaId::wmma_f32_16x16x128_fp8, 8192},
              {MmaId::wmma_scale_f32_32x16x128_fp4, 16384}};
  for (auto &row : rows) {
    const MmaInfo &mma = getMmaInfo(row.id);
    EXPECT_EQ(2 * mma.m * mma.n * mma.k / mma.cycles, row.rate)
        << stringifyMmaId(row.id).str();
  }
}

TEST(TargetInfoTest, SelectsByFormatsAndK) {
  const TargetInfo &gfx942 = *TargetInfo::lookup("gfx942");
  const TargetInfo &gfx950 = *TargetInfo::lookup("gfx950");
  const TargetInfo &gfx1250 = *TargetInfo::lookup("gfx1250");
  EXPECT_EQ(gfx942.selectMma("fp8", "fp8", 128),
            MmaId::mfma_f32_16x16x32_fp8_fnuz);
  EXPECT_EQ(gfx942.selectMma("fp8", "fp8", 48),
            MmaId::mfma_f32_32x32x16_fp8_fnuz);
  EXPECT_EQ(gfx942.selectMma("fp8", "fp8", 24), std::nullopt);
  EXPECT_EQ(gfx942.selectMma("fp4", "fp4", 128), std::nullopt);
  EXPECT_EQ(gfx942.selectMma("fp8", "fp8", 128, /*isScaled=*/true),
            std::nullopt);
  EXPECT_EQ(gfx950.selectMma("fp8", "fp8", 128), MmaId::mfma_f32_16x16x128_fp8);
  EXPECT_EQ(gfx950.selectMma("fp8", "fp8", 64), MmaId::mfma_f32_32x32x64_fp8);
  EXPECT_EQ(gfx950.selectMma("fp8", "fp8", 96), MmaId::mfma_f32_16x16x32_fp8);
  EXPECT_EQ(gfx950.selectMma("fp8", "fp4", 640, true),
            MmaId::mfma_scale_f32_16x16x128_fp8_fp4);
  EXPECT_EQ(gfx1250.selectMma("fp8", "fp8", 64), MmaId::wmma_f32_16x16x64_fp8);
  EXPECT_EQ(gfx1250.selectMma("fp4", "fp4", 128, true),
            MmaId::wmma_scale_f32_32x16x128_fp4);
  EXPECT_EQ(gfx1250.selectMma("bf16", "bf16", 96),
            MmaId::wmma_f32_16x16x32_bf16);
}

} // namespace
