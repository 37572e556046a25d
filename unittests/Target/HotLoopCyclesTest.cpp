//===- HotLoopCyclesTest.cpp - Two sources of one rate --------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a code object is that of anyone's instructions, by a rule; the
// table of matrix instructions has rows for ours. Where both speak, they agree.
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Emulator/HotLoop.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "gtest/gtest.h"

using namespace mlir::pa;

TEST(HotLoopCycles, AgreeWithTheTable) {
  int compared = 0;
  for (llvm::StringRef chip : TargetInfo::allChips()) {
    const TargetInfo *target = TargetInfo::lookup(chip);
    ASSERT_TRUE(target);
    if (target->waveSize != 64)
      continue;
    for (MmaId id : target->getMmas()) {
      const MmaInfo &mma = getMmaInfo(id);
      std::string text = mma.mnemonic.str() + " v[0:3], v[4:11], v[12:19], 0";
      if (mma.aFormat == "fp4")
        text += " cbsz:4";
      if (mma.bFormat == "fp4")
        text += " blgp:4";
      auto cost = pagedattn::emu::instructionCost(text, /*HasCycles=*/true);
      EXPECT_EQ(cost.MatrixCycles, mma.cycles) << chip.str() << " " << text;
      EXPECT_EQ(cost.MatrixFlops, 2 * mma.m * mma.n * mma.k) << text;
      ++compared;
    }
  }
  EXPECT_GT(compared, 10);
}
