//===- HotLoopTest.cpp - Classes and cycles of instructions ---------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Emulator/HotLoop.h"
#include "gtest/gtest.h"

using namespace pagedattn::emu;

TEST(HotLoop, ClassesOfInstructions) {
  struct {
    const char *Text;
    int64_t CodeCost::*Class;
  } Cases[] = {
      {"v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[0:1], v[2:3], 0",
       &CodeCost::Matrix},
      {"v_wmma_f32_16x16x128_fp8_fp8 v[0:7], v[8:23], v[24:39], 0",
       &CodeCost::Matrix},
      {"v_add_f32_e32 v0, v1, v2", &CodeCost::Vector},
      {"buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", &CodeCost::Memory},
      {"tensor_load_to_lds s[0:3], s[4:11]", &CodeCost::Memory},
      {"ds_read_b128 v[0:3], v4", &CodeCost::Lds},
      {"s_add_u32 s0, s1, s2", &CodeCost::Scalar},
      {"s_load_dwordx2 s[0:1], s[2:3], 0x0", &CodeCost::Scalar},
      {"s_cbranch_scc0 65443", &CodeCost::Scalar},
      {"s_waitcnt vmcnt(3)", &CodeCost::Sync},
      {"s_barrier", &CodeCost::Sync},
      {"s_nop 5", &CodeCost::Sync},
  };
  for (const auto &Case : Cases) {
    CodeCost C = instructionCost(Case.Text, /*HasCycles=*/true);
    EXPECT_EQ(C.*Case.Class, 1) << Case.Text;
    EXPECT_EQ(C.Matrix + C.Vector + C.Memory + C.Lds + C.Scalar + C.Sync, 1)
        << Case.Text;
  }
}

TEST(HotLoop, WaitsForAllLoads) {
  auto Waits = [](const char *Text) {
    return instructionCost(Text, true).FullWaits;
  };
  EXPECT_EQ(Waits("s_waitcnt vmcnt(0)"), 1);
  EXPECT_EQ(Waits("s_waitcnt vmcnt(0) lgkmcnt(0)"), 1);
  EXPECT_EQ(Waits("s_waitcnt vmcnt(10)"), 0);
  EXPECT_EQ(Waits("s_waitcnt lgkmcnt(0)"), 0);
  EXPECT_EQ(Waits("s_wait_loadcnt 0x0"), 1);
  EXPECT_EQ(Waits("s_wait_loadcnt 0x1"), 0);
  EXPECT_EQ(Waits("s_wait_loadcnt_dscnt 0x3"), 1);
  EXPECT_EQ(Waits("s_wait_loadcnt_dscnt 0x200"), 0);
}

TEST(HotLoop, CyclesOfAWaveOf64) {
  auto Cycles = [](const char *Text) {
    return instructionCost(Text, true).VectorCycles;
  };
  EXPECT_EQ(Cycles("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]"), 4);
  EXPECT_EQ(Cycles("v_exp_f32_e32 v0, v1"), 16);
  EXPECT_EQ(Cycles("v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]"), 8);
  EXPECT_EQ(instructionCost("v_add_f32_e32 v0, v1, v2", false).VectorCycles, 0);
}

TEST(HotLoop, WhatIsNoCodeObject) {
  for (llvm::StringRef Bad : {"",
                              "\x7f"
                              "ELF",
                              "MZ and so on"}) {
    auto Read = readKernelCode(Bad);
    ASSERT_FALSE(bool(Read));
    EXPECT_FALSE(toString(Read.takeError()).empty());
  }
}
