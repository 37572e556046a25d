//===- ScalarTest.cpp - Scalar instructions and control flow --------------===//

#include "Snippet.h"
#include "gtest/gtest.h"

using namespace pagedattn::emu;

namespace {

class ScalarTest : public testing::TestWithParam<const char *> {
protected:
  static std::string chip() { return GetParam(); }
  static bool gfx12() { return chip() == "gfx1250"; }
};
INSTANTIATE_TEST_SUITE_P(Chips, ScalarTest,
                         testing::Values("gfx942", "gfx950", "gfx1250"),
                         [](const auto &Info) { return Info.param; });

TEST_P(ScalarTest, AddAndCarry) {
  Snippet S(chip());
  S.s(0) = 0xffffffff;
  S.s(1) = 2;
  S.s(2) = 0x7fffffff;
  std::string Add = gfx12() ? "s_add_co_u32" : "s_add_u32",
              Carry = gfx12() ? "s_add_co_ci_u32" : "s_addc_u32",
              Signed = gfx12() ? "s_add_co_i32" : "s_add_i32";
  EXPECT_EQ(S.run(Add + " s4, s0, s1\n" + Carry + " s5, 0, 0\n" + Signed +
                  " s6, s2, s1\ns_cselect_b32 s7, 1, 0\n" + Signed +
                  " s8, s0, s1\ns_cselect_b32 s9, 1, 0\n"),
            Status::Ok);
  EXPECT_EQ(S.s(4), 1u);
  EXPECT_EQ(S.s(5), 1u);
  EXPECT_EQ(S.s(6), 0x80000001u);
  EXPECT_EQ(S.s(7), 1u); // signed overflow
  EXPECT_EQ(S.s(8), 1u);
  EXPECT_EQ(S.s(9), 0u); // -1 + 2 does not overflow
}

TEST_P(ScalarTest, SubtractAndBorrow) {
  Snippet S(chip());
  S.s(0) = 1;
  S.s(1) = 2;
  std::string Sub = gfx12() ? "s_sub_co_u32" : "s_sub_u32",
              Borrow = gfx12() ? "s_sub_co_ci_u32" : "s_subb_u32";
  EXPECT_EQ(S.run(Sub + " s4, s0, s1\n" + Borrow + " s5, 5, 5\n"), Status::Ok);
  EXPECT_EQ(S.s(4), 0xffffffffu);
  EXPECT_EQ(S.s(5), 0xffffffffu);
  EXPECT_TRUE(S.wave().Scc);
}

TEST_P(ScalarTest, BitFields) {
  Snippet S(chip());
  S.s(0) = 0x0004a5c0;
  S.setS64(2, 0x8000000000000f00);
  EXPECT_EQ(S.run("s_bfe_u32 s4, s0, 0x80004\n" // 8 bits from 4
                  "s_bfe_i32 s5, s0, 0x40008\n" // 4 bits from 8
                  "s_bfe_u32 s6, s0, 0x4001e\n" // runs over the top
                  "s_bfe_i64 s[8:9], s[2:3], 0x4003c\n"
                  "s_bfm_b32 s10, 4, 8\n"
                  "s_bfm_b64 s[12:13], 4, 40\n"
                  "s_bitset1_b32 s10, 31\n"
                  "s_bcnt1_i32_b64 s14, s[2:3]\n"),
            Status::Ok);
  EXPECT_EQ(S.s(4), 0x5cu);
  EXPECT_EQ(S.s(5), 0x5u);
  EXPECT_EQ(S.s(6), 0u);
  EXPECT_EQ(S.s64(8), 0xfffffffffffffff8u);
  EXPECT_EQ(S.s(10), 0x80000f00u);
  EXPECT_EQ(S.s64(12), uint64_t(0xf) << 40);
  EXPECT_EQ(S.s(14), 5u);
}

TEST_P(ScalarTest, LiteralsOf64BitOperations) {
  Snippet S(chip());
  EXPECT_EQ(S.run("s_mov_b64 s[0:1], -1\n"
                  "s_mov_b64 s[2:3], 1.0\n"
                  "s_and_b64 s[4:5], s[0:1], 0x7fff0000\n"
                  "s_ashr_i64 s[6:7], -16, 2\n"),
            Status::Ok);
  EXPECT_EQ(S.s64(0), ~uint64_t(0));
  EXPECT_EQ(S.s64(2), 0x3ff0000000000000u);
  EXPECT_EQ(S.s64(4), 0x7fff0000u);
  EXPECT_EQ(S.s64(6), uint64_t(-4));
}

TEST_P(ScalarTest, CountLeadingAndTrailing) {
  Snippet S(chip());
  S.s(0) = 0x00010000;
  S.s(1) = 0xffff0000;
  std::string Clz = gfx12() ? "s_clz_i32_u32" : "s_flbit_i32_b32",
              Cls = gfx12() ? "s_cls_i32" : "s_flbit_i32",
              Ctz = gfx12() ? "s_ctz_i32_b32" : "s_ff1_i32_b32";
  EXPECT_EQ(S.run(Clz + " s4, s0\n" + Cls + " s5, s1\n" + Ctz + " s6, s0\n" +
                  Clz + " s7, 0\n" + Cls + " s8, -1\n" + Ctz + " s9, 0\n"),
            Status::Ok);
  EXPECT_EQ(S.s(4), 15u);
  EXPECT_EQ(S.s(5), 16u);
  EXPECT_EQ(S.s(6), 16u);
  EXPECT_EQ(S.s(7), 0xffffffffu);
  EXPECT_EQ(S.s(8), 0xffffffffu);
  EXPECT_EQ(S.s(9), 0xffffffffu);
}

TEST_P(ScalarTest, SaveExec) {
  Snippet S(chip());
  const bool Wave32 = S.wave().Lanes == 32;
  S.wave().setExec(0xf0);
  S.setS64(0, 0x3c);
  EXPECT_EQ(S.run(Wave32 ? "s_and_saveexec_b32 s4, s0"
                         : "s_and_saveexec_b64 s[4:5], s[0:1]"),
            Status::Ok);
  EXPECT_EQ(S.s(4), 0xf0u);
  EXPECT_EQ(S.wave().exec(), 0x30u);
  EXPECT_TRUE(S.wave().Scc);
  EXPECT_EQ(S.run(Wave32 ? "s_and_not1_saveexec_b32 s4, s0"
                         : "s_andn2_saveexec_b64 s[4:5], s[0:1]"),
            Status::Ok);
  EXPECT_EQ(S.wave().exec(), 0x0cu);
}

TEST_P(ScalarTest, LoopAndBranches) {
  Snippet S(chip());
  std::string Add = gfx12() ? "s_add_co_i32" : "s_add_i32";
  EXPECT_EQ(S.run("s_mov_b32 s0, 0\ns_mov_b32 s1, 0\n"
                  "loop:\n" +
                  Add + " s1, s1, s0\n" + Add +
                  " s0, s0, 1\n"
                  "s_cmp_lt_u32 s0, 10\n"
                  "s_cbranch_scc1 loop\n"
                  "s_branch end\n"
                  "s_mov_b32 s1, 0\n"
                  "end:\n"),
            Status::Ok);
  EXPECT_EQ(S.s(1), 45u);
}

TEST_P(ScalarTest, CallAndReturn) {
  Snippet S(chip());
  const char *Call = gfx12() ? "s_call_i64" : "s_call_b64";
  const char *Return = gfx12() ? "s_set_pc_i64" : "s_setpc_b64";
  EXPECT_EQ(S.run(std::string(Call) + " s[30:31], callee\n" +
                  "s_mov_b32 s1, 2\n"
                  "s_branch end\n"
                  "callee:\n"
                  "s_mov_b32 s0, 1\n" +
                  Return + " s[30:31]\nend:\n"),
            Status::Ok);
  EXPECT_EQ(S.s(0), 1u);
  EXPECT_EQ(S.s(1), 2u);
}

TEST_P(ScalarTest, ImmediateForms) {
  Snippet S(chip());
  std::string Add = gfx12() ? "s_addk_co_i32" : "s_addk_i32";
  S.s(1) = 10;
  S.s(2) = 3;
  EXPECT_EQ(S.run("s_movk_i32 s0, 0x8000\n" + Add +
                  " s1, 0xffff\n"
                  "s_mulk_i32 s2, 0xfffe\n"),
            Status::Ok);
  EXPECT_EQ(S.s(0), 0xffff8000u);
  EXPECT_EQ(S.s(1), 9u);
  EXPECT_EQ(S.s(2), uint32_t(-6));
}

TEST(Scalar, NullRegisterReadsZero) {
  Snippet S("gfx1250");
  EXPECT_EQ(S.run("s_mov_b32 null, 7\ns_mov_b32 s0, null\n"), Status::Ok);
  EXPECT_EQ(S.s(0), 0u);
}

TEST_P(ScalarTest, ModeRegister) {
  Snippet S(chip());
  EXPECT_EQ(S.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0x5\n"
                  "s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 8)\n"),
            Status::Ok);
  EXPECT_EQ(S.s(0), 0xf5u);
}

TEST_P(ScalarTest, UnknownHardwareRegisterStops) {
  Snippet S(chip());
  EXPECT_EQ(S.run("s_getreg_b32 s0, hwreg(15, 0, 32)"),
            Status::UnknownInstruction);
  EXPECT_NE(S.Message.find("hardware register 15"), std::string::npos)
      << S.Message;
}

TEST_P(ScalarTest, ScalarLoads) {
  Snippet S(chip());
  Allocation &A = S.allocate(256);
  for (uint32_t I = 0; I != 64; ++I)
    std::memcpy(A.Data + 4 * I, &I, 4);
  S.setS64(0, A.Base);
  S.s(2) = 16;
  const bool G = gfx12();
  EXPECT_EQ(S.run(G ? "s_load_b32 s4, s[0:1], 0x8\n"
                      "s_load_b64 s[6:7], s[0:1], s2 offset:0x4\n"
                      "s_load_b256 s[8:15], s[0:1], 0x20\n"
                      "s_load_u8 s16, s[0:1], 0x4\n"
                      "s_load_b96 s[20:22], s[0:1], 0x40\n"
                    : "s_load_dword s4, s[0:1], 0x8\n"
                      "s_load_dwordx2 s[6:7], s[0:1], s2 offset:0x4\n"
                      "s_load_dwordx8 s[8:15], s[0:1], 0x20\n"),
            Status::Ok);
  EXPECT_EQ(S.s(4), 2u);
  EXPECT_EQ(S.s(6), 5u);
  EXPECT_EQ(S.s(7), 6u);
  EXPECT_EQ(S.s(8), 8u);
  EXPECT_EQ(S.s(15), 15u);
  if (G) {
    EXPECT_EQ(S.s(16), 1u);
    EXPECT_EQ(S.s(22), 18u);
  }
}

TEST_P(ScalarTest, ScalarBufferLoadIsRangeChecked) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  std::memset(A.Data, 0x11, 64);
  S.setBuffer(8, A.Base, 8);
  S.s(4) = S.s(5) = S.s(6) = S.s(7) = 0xdead;
  EXPECT_EQ(S.run(gfx12() ? "s_buffer_load_b128 s[4:7], s[8:11], 0x0"
                          : "s_buffer_load_dwordx4 s[4:7], s[8:11], 0x0"),
            Status::Ok);
  EXPECT_EQ(S.s(4), 0x11111111u);
  EXPECT_EQ(S.s(5), 0x11111111u);
  EXPECT_EQ(S.s(6), 0u);
  EXPECT_EQ(S.s(7), 0u);
  EXPECT_EQ(S.count(ReportKind::OutOfRangeLoad), 2u);
}

TEST_P(ScalarTest, ScalarLoadOutsideMemoryIsFatal) {
  Snippet S(chip());
  S.setS64(0, 0x123000);
  EXPECT_EQ(S.run(gfx12() ? "s_load_b32 s4, s[0:1], 0x0"
                          : "s_load_dword s4, s[0:1], 0x0"),
            Status::InvalidAccess);
}

TEST(ScalarFloat, Arithmetic) {
  Snippet S("gfx1250");
  auto Bits = [](float F) {
    uint32_t X;
    std::memcpy(&X, &F, 4);
    return X;
  };
  S.s(0) = Bits(1.5f);
  S.s(1) = Bits(-2.25f);
  S.s(2) = 0x3c00; // half 1
  EXPECT_EQ(S.run("s_add_f32 s4, s0, s1\n"
                  "s_mul_f32 s5, s0, s1\n"
                  "s_fmac_f32 s5, s0, s0\n"
                  "s_floor_f32 s6, s1\n"
                  "s_cvt_i32_f32 s7, s1\n"
                  "s_cvt_f32_f16 s8, s2\n"
                  "s_max_num_f32 s9, s0, s1\n"
                  "s_cvt_pk_rtz_f16_f32 s10, s0, s1\n"
                  "s_cmp_gt_f32 s0, s1\n"),
            Status::Ok);
  EXPECT_EQ(S.s(4), Bits(-0.75f));
  EXPECT_EQ(S.s(5), Bits(-3.375f + 2.25f));
  EXPECT_EQ(S.s(6), Bits(-3.0f));
  EXPECT_EQ(S.s(7), uint32_t(-2));
  EXPECT_EQ(S.s(8), Bits(1.0f));
  EXPECT_EQ(S.s(9), Bits(1.5f));
  EXPECT_EQ(S.s(10), 0xc0803e00u);
  EXPECT_TRUE(S.wave().Scc);
}

//===----------------------------------------------------------------------===//
// Barriers and progress
//===----------------------------------------------------------------------===//

TEST(Barrier, OrdersWavesGfx9) {
  // Wave 1 reads what wave 0 writes before the barrier.
  for (uint64_t Seed : {0, 1, 2, 3, 4, 5}) {
    Snippet S("gfx942", 2, 256);
    S.Options.Seed = Seed;
    S.s(0, 0) = 0;
    S.s(0, 1) = 1;
    S.fill(0, 0);
    S.fill(1, 42);
    EXPECT_EQ(S.run("s_cmp_eq_u32 s0, 0\n"
                    "s_cbranch_scc0 wait\n"
                    "s_sleep 1\n"
                    "ds_write_b32 v0, v1\n"
                    "wait:\n"
                    "s_waitcnt lgkmcnt(0)\n"
                    "s_barrier\n"
                    "ds_read_b32 v2, v0\n"),
              Status::Ok);
    EXPECT_EQ(S.v(2, 0, 1), 42u);
    EXPECT_EQ(S.count(ReportKind::LdsRace), 0u);
  }
}

TEST(Barrier, SplitBarrierGfx12) {
  for (uint64_t Seed : {0, 1, 2, 3}) {
    Snippet S("gfx1250", 4, 256);
    S.Options.Seed = Seed;
    for (unsigned N = 0; N != 4; ++N) {
      S.s(0, N) = N;
      for (unsigned L = 0; L != 32; ++L) {
        S.v(0, L, N) = N * 4;
        S.v(1, L, N) = 100 + N;
        S.v(3, L, N) = (N ^ 3) * 4;
      }
    }
    EXPECT_EQ(S.run("ds_store_b32 v0, v1\n"
                    "s_wait_dscnt 0\n"
                    "s_barrier_signal -1\n"
                    "s_mov_b32 s1, 5\n"
                    "s_barrier_wait -1\n"
                    "ds_load_b32 v2, v3\n"),
              Status::Ok);
    for (unsigned N = 0; N != 4; ++N)
      EXPECT_EQ(S.v(2, 7, N), 100 + (N ^ 3));
    EXPECT_EQ(S.count(ReportKind::LdsRace), 0u);
  }
}

TEST(Barrier, WaveThatEndsDoesNotBlock) {
  Snippet S("gfx942", 2);
  S.s(0, 0) = 0;
  S.s(0, 1) = 1;
  EXPECT_EQ(S.run("s_cmp_eq_u32 s0, 0\n"
                  "s_cbranch_scc1 end\n"
                  "s_barrier\n"
                  "end:\n"),
            Status::Ok);
}

TEST(Barrier, OneThatCannotCompleteIsReported) {
  Snippet S("gfx1250", 2);
  S.s(0, 0) = 0;
  S.s(0, 1) = 1;
  // Both wait, only one has signalled.
  EXPECT_EQ(S.run("s_cmp_eq_u32 s0, 0\n"
                  "s_cbranch_scc1 wait\n"
                  "s_barrier_signal -1\n"
                  "wait:\n"
                  "s_barrier_wait -1\n"),
            Status::NoProgress);
}

TEST(Barrier, NamedBarrierHasItsMembers) {
  Snippet S("gfx1250", 4);
  for (unsigned N = 0; N != 4; ++N)
    S.s(0, N) = N;
  // Waves 0 and 1 meet at barrier 1; the others never come.
  EXPECT_EQ(S.run("s_mov_b32 m0, 0x20001\n"
                  "s_cmp_lt_u32 s0, 2\n"
                  "s_cbranch_scc0 end\n"
                  "s_cmp_eq_u32 s0, 0\n"
                  "s_cbranch_scc0 join\n"
                  "s_barrier_init m0\n"
                  "join:\n"
                  "s_sleep 1\n"
                  "s_barrier_join 1\n"
                  "s_barrier_signal 1\n"
                  "s_barrier_wait 1\n"
                  "s_mov_b32 s1, 7\n"
                  "end:\n"),
            Status::Ok);
  EXPECT_EQ(S.s(1, 0), 7u);
  EXPECT_EQ(S.s(1, 1), 7u);
  EXPECT_EQ(S.s(1, 2), 0u);
}

TEST(Progress, InstructionBudget) {
  Snippet S("gfx942");
  S.Options.InstructionBudget = 1000;
  EXPECT_EQ(S.run("loop:\ns_branch loop\n"), Status::NoProgress);
  EXPECT_LE(S.executed(), 1u << 17);
}

TEST(Progress, RunningOffTheCode) {
  Snippet S("gfx942");
  S.setS64(0, 0x999000);
  EXPECT_EQ(S.run("s_setpc_b64 s[0:1]"), Status::InvalidAccess);
}

} // namespace
