//===- TableTest.cpp - The instruction tables -----------------------------===//

#include "Disassembler.h"
#include "Ops.h"
#include "Parser.h"
#include "Snippet.h"
#include "gtest/gtest.h"
#include <set>

using namespace pagedattn::emu;

namespace {

TEST(Table, EveryMnemonicOnce) {
  std::set<std::string> Seen;
  std::string Twice;
  for (OpTable Table : allOps())
    for (const OpInfo &Op : Table)
      if (!Seen.insert(Op.Name).second)
        Twice += std::string(Op.Name) + " ";
  EXPECT_EQ(Twice, "");
  EXPECT_GT(Seen.size(), 1500u);
}

TEST(Table, RowsAreWellFormed) {
  for (OpTable Table : allOps())
    for (const OpInfo &Op : Table) {
      EXPECT_NE(Op.Fn, nullptr) << Op.Name;
      EXPECT_LE(Op.NumDst, 2) << Op.Name;
    }
}

TEST(Table, EncodingSuffixes) {
  EXPECT_EQ(stripEncodingSuffix("v_add_f32_e32"), "v_add_f32");
  EXPECT_EQ(stripEncodingSuffix("v_add_f32_e64_dpp"), "v_add_f32");
  EXPECT_EQ(stripEncodingSuffix("v_add_u32_sdwa"), "v_add_u32");
  EXPECT_EQ(stripEncodingSuffix("ds_read_b64"), "ds_read_b64");
}

} // namespace
