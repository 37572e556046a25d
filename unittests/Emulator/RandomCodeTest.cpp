//===- RandomCodeTest.cpp - Arbitrary bits are no reason to crash ---------===//

#include "Snippet.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <random>

using namespace pagedattn::emu;

namespace {

/// Bits that start an encoding with many instructions; the rest is random.
struct Family {
  uint32_t Value, Mask;
};

void runRandom(llvm::StringRef Chip, llvm::ArrayRef<Family> Families) {
  std::mt19937 Random(42);
  unsigned Ran = 0;
  for (unsigned N = 0; N != 1500; ++N) {
    uint32_t Words[4];
    for (uint32_t &W : Words)
      W = Random();
    const Family &F = Families[N % Families.size()];
    Words[0] = (Words[0] & ~F.Mask) | F.Value;
    // Small register numbers meet the operands of the test more often.
    Words[1] &= 0x3f3f3f3f | (Random() & 0xc0c0c0c0);
    Snippet S(Chip, 1, 4096, 64);
    S.Options.InstructionBudget = 100;
    Allocation &A = S.allocate(1 << 16);
    for (unsigned R = 0; R != 100; R += 2)
      S.setS64(R, A.Base + 64 * R);
    for (unsigned R = 0; R != 64; ++R)
      S.fill(R, Random() & 0xffff);
    Status Code = S.run(llvm::formatv(".long {0:x}, {1:x}, {2:x}, {3:x}",
                                      Words[0], Words[1], Words[2], Words[3])
                            .str());
    if (Code == Status::Ok)
      ++Ran;
    else
      EXPECT_NE(S.Message, "");
  }
  // The test is about instructions that run, too.
  EXPECT_GT(Ran, 20u);
}

// Encodings of GFX9: SOP1, SOP2, VOP1, VOP2, VOP3, VOP3P, MAI, DS, FLAT, MUBUF,
// SMEM, and anything.
const Family Gfx9[] = {
    {0xbe800000, 0xff800000}, {0x80000000, 0xc0000000},
    {0x7e000000, 0xfe000000}, {0x00000000, 0x80000000},
    {0xd0000000, 0xfc000000}, {0xd3800000, 0xff800000},
    {0xd3c00000, 0xffc00000}, {0xd8000000, 0xfc000000},
    {0xdc000000, 0xfc000000}, {0xe0000000, 0xfc000000},
    {0xc0000000, 0xfc000000}, {0, 0},
};

// Of GFX12: the same with VOP3, VOP3P and memory where they are now.
const Family Gfx12[] = {
    {0xbe800000, 0xff800000},
    {0x80000000, 0xc0000000},
    {0x7e000000, 0xfe000000},
    {0x00000000, 0x80000000},
    {0xd4000000, 0xfc000000},
    {0xcc000000, 0xff000000},
    {0xd8000000, 0xfc000000},
    {0xec000000, 0xfc000000},
    {0xc4000000, 0xfc000000},
    {0xd0000000, 0xfc000000},
    {0xc8000000, 0xfc000000},
    {0xf4000000, 0xfc000000},
    {0, 0},
};

TEST(RandomCode, Gfx942) { runRandom("gfx942", Gfx9); }
TEST(RandomCode, Gfx950) { runRandom("gfx950", Gfx9); }
TEST(RandomCode, Gfx1250) { runRandom("gfx1250", Gfx12); }

} // namespace
