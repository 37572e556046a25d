//===- BankConflictsTest.cpp - Lanes that meet in a bank of LDS -----------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankConflicts.h"
#include "Snippet.h"
#include "gtest/gtest.h"

using namespace pagedattn::emu;

namespace {

/// Conflicts of 64 lanes Stride bytes apart.
uint64_t strided(unsigned Stride, unsigned Bytes, unsigned Banks,
                 uint64_t Exec = ~uint64_t(0)) {
  std::vector<uint32_t> Addresses;
  for (unsigned Lane = 0; Lane != 64; ++Lane)
    Addresses.push_back(Lane * Stride);
  return bankConflicts(Addresses, Exec, Bytes, Banks);
}

} // namespace

TEST(BankConflicts, ConsecutiveLanesHaveNone) {
  for (unsigned Banks : {32, 64})
    for (unsigned Bytes : {4, 8, 12, 16})
      EXPECT_EQ(strided(Bytes == 12 ? 16 : Bytes, Bytes, Banks), 0u)
          << Bytes << " bytes, " << Banks << " banks";
}

TEST(BankConflicts, OneDwordForAllIsRead) {
  EXPECT_EQ(strided(0, 4, 32), 0u);
  EXPECT_EQ(strided(0, 16, 64), 0u);
  // Bytes and halves of one dword too.
  EXPECT_EQ(strided(1, 1, 32), 0u);
}

TEST(BankConflicts, StridesThatMeet) {
  // All of 32 lanes in one bank, twice.
  EXPECT_EQ(strided(128, 4, 32), 2u * 31);
  // Two banks of 64 take turns.
  EXPECT_EQ(strided(128, 4, 64), 31u);
  EXPECT_EQ(strided(256, 4, 64), 63u);
  // Rows of 128 bytes: eight lanes of 16 bytes share four of 32 banks.
  EXPECT_EQ(strided(128, 16, 32), 8u * 7);
  // 16 bytes more for each row: none.
  EXPECT_EQ(strided(144, 16, 32), 0u);
}

TEST(BankConflicts, InactiveLanesTakeNoPart) {
  EXPECT_EQ(strided(128, 4, 32, 0x100000001), 0u);
  EXPECT_EQ(strided(128, 4, 32, 3), 1u);
}

TEST(BankConflicts, AreCounted) {
  Snippet S("gfx942", /*Waves=*/1, /*LdsBytes=*/16384);
  for (unsigned Lane = 0; Lane != 64; ++Lane)
    S.v(0, Lane) = Lane * 128;
  EXPECT_EQ(S.run("ds_write_b32 v0, v1\n"
                  "s_waitcnt lgkmcnt(0)\n"
                  "ds_read_b32 v2, v0 offset:4\n"
                  "s_waitcnt lgkmcnt(0)"),
            Status::Ok);
  EXPECT_EQ(S.wave().Thread->LdsConflicts, 2u * 62);
}
