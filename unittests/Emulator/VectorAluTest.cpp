//===- VectorAluTest.cpp - Vector integer and float instructions ----------===//

#include "Snippet.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace pagedattn::emu;

namespace {

class VectorAluTest : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Chips, VectorAluTest,
                         testing::Values("gfx942", "gfx950", "gfx1250"),
                         [](const auto &Info) { return Info.param; });

TEST_P(VectorAluTest, ExecMasksWrites) {
  Snippet S(GetParam());
  S.fill(0, 7);
  S.wave().setExec(0x5);
  EXPECT_EQ(S.run("v_mov_b32 v0, 1"), Status::Ok);
  EXPECT_EQ(S.v(0, 0), 1u);
  EXPECT_EQ(S.v(0, 1), 7u);
  EXPECT_EQ(S.v(0, 2), 1u);
  EXPECT_EQ(S.v(0, 3), 7u);
}

TEST_P(VectorAluTest, InlineConstantsByType) {
  Snippet S(GetParam());
  EXPECT_EQ(S.run("v_mov_b32 v0, 1.0\n"
                  "v_mov_b32 v1, -4.0\n"
                  "v_mov_b32 v2, -16\n"
                  "v_mov_b32 v3, 0.15915494\n"
                  "v_mov_b32 v4, 0x12345678\n"
                  "v_add_f64 v[6:7], 1.0, 0.5\n"
                  "v_lshlrev_b64 v[8:9], 0, -1\n"
                  "v_lshlrev_b64 v[10:11], 0, 1.0\n"),
            Status::Ok);
  EXPECT_EQ(S.v(0), 0x3f800000u);
  EXPECT_EQ(S.v(1), 0xc0800000u);
  EXPECT_EQ(S.v(2), 0xfffffff0u);
  EXPECT_EQ(S.v(3), 0x3e22f983u);
  EXPECT_EQ(S.v(4), 0x12345678u);
  EXPECT_EQ(S.v64(6), 0x3ff8000000000000u);
  EXPECT_EQ(S.v64(8), ~uint64_t(0));
  EXPECT_EQ(S.v64(10), 0x3ff0000000000000u);
}

TEST_P(VectorAluTest, ShiftsTakeTheLowBits) {
  Snippet S(GetParam());
  S.fill(0, 33);
  S.fill(1, 0x80000001);
  EXPECT_EQ(S.run("v_lshlrev_b32 v2, v0, v1\n"
                  "v_lshrrev_b32 v3, v0, v1\n"
                  "v_ashrrev_i32 v4, v0, v1\n"),
            Status::Ok);
  EXPECT_EQ(S.v(2), 2u);
  EXPECT_EQ(S.v(3), 0x40000000u);
  EXPECT_EQ(S.v(4), 0xc0000000u);
}

TEST_P(VectorAluTest, BitFieldExtract) {
  Snippet S(GetParam());
  S.fill(0, 0xf0000080);
  EXPECT_EQ(S.run("v_bfe_u32 v1, v0, 4, 4\n"
                  "v_bfe_i32 v2, v0, 4, 4\n"
                  "v_bfe_i32 v3, v0, 28, 8\n"
                  "v_bfe_u32 v4, v0, 28, 8\n"
                  "v_bfe_u32 v5, v0, 0, 0\n"
                  "v_bfe_i32 v6, v0, 5, 0\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1), 8u);
  EXPECT_EQ(S.v(2), 0xfffffff8u);
  EXPECT_EQ(S.v(3), 0xffffffffu);
  EXPECT_EQ(S.v(4), 0xfu);
  EXPECT_EQ(S.v(5), 0u);
  EXPECT_EQ(S.v(6), 0u);
}

TEST_P(VectorAluTest, MultiplyHighAndWide) {
  Snippet S(GetParam());
  S.fill(0, 0xfffffffe);
  S.fill(1, 3);
  S.fill64(4, 5);
  const bool Gfx12 = std::string(GetParam()) == "gfx1250";
  std::string Wide = Gfx12 ? "v_mad_co_u64_u32 v[6:7], null, v0, v1, v[4:5]\n"
                           : "v_mad_u64_u32 v[6:7], vcc, v0, v1, v[4:5]\n";
  EXPECT_EQ(S.run("v_mul_hi_u32 v2, v0, v1\n"
                  "v_mul_hi_i32 v3, v0, v1\n"
                  "v_mul_lo_u32 v8, v0, v1\n" +
                  Wide),
            Status::Ok);
  EXPECT_EQ(S.v(2), 2u);
  EXPECT_EQ(S.v(3), 0xffffffffu);
  EXPECT_EQ(S.v(8), 0xfffffffau);
  EXPECT_EQ(S.v64(6), 0xfffffffeull * 3 + 5);
}

TEST_P(VectorAluTest, CarryChain) {
  Snippet S(GetParam());
  S.fill64(0, 0x00000001ffffffff);
  S.fill64(2, 1);
  const bool Gfx12 = std::string(GetParam()) == "gfx1250";
  const char *Vcc = Gfx12 ? "vcc_lo" : "vcc";
  std::string Second = Gfx12 ? "v_add_co_ci_u32" : "v_addc_co_u32";
  std::string V = Vcc;
  EXPECT_EQ(S.run("v_add_co_u32 v4, " + V + ", v0, v2\n" + Second + " v5, " +
                  V + ", v1, v3, " + V + "\n"),
            Status::Ok);
  EXPECT_EQ(S.v64(4), 0x0000000200000000u);
  EXPECT_EQ(S.wave().vcc(), 0u);
}

TEST_P(VectorAluTest, ClampSaturates) {
  Snippet S(GetParam());
  S.fill(0, 0xfffffff0);
  S.fill(1, 0x100);
  S.fill(2, 0x7fffffff);
  const bool Gfx12 = std::string(GetParam()) == "gfx1250";
  std::string Nc = Gfx12 ? "nc_" : "";
  EXPECT_EQ(S.run("v_add_" + Nc +
                  "u32 v4, v0, v1 clamp\n"
                  "v_sub_" +
                  Nc +
                  "u32 v5, v1, v0 clamp\n"
                  "v_add_" +
                  Nc +
                  "i32 v6, v2, v1 clamp\n"
                  "v_add_" +
                  Nc + "u32 v7, v0, v1\n"),
            Status::Ok);
  EXPECT_EQ(S.v(4), 0xffffffffu);
  EXPECT_EQ(S.v(5), 0u);
  EXPECT_EQ(S.v(6), 0x7fffffffu);
  EXPECT_EQ(S.v(7), 0xf0u);
}

TEST_P(VectorAluTest, CompareWritesActiveLanesOnly) {
  Snippet S(GetParam());
  for (unsigned L = 0; L != S.wave().Lanes; ++L)
    S.v(0, L) = L;
  S.wave().setExec(0xff);
  S.wave().setVcc(~uint64_t(0));
  const bool Wave32 = S.wave().Lanes == 32;
  EXPECT_EQ(
      S.run(Wave32 ? "v_cmp_gt_u32 vcc_lo, 5, v0" : "v_cmp_gt_u32 vcc, 5, v0"),
      Status::Ok);
  EXPECT_EQ(S.wave().vcc(), 0x1fu);
}

TEST_P(VectorAluTest, FloatCompareWithNan) {
  Snippet S(GetParam());
  S.setF(0, NAN);
  S.setF(1, 1.0f);
  const bool Wave32 = S.wave().Lanes == 32;
  std::string A = Wave32 ? "s10" : "s[10:11]", B = Wave32 ? "s12" : "s[12:13]",
              C = Wave32 ? "s14" : "s[14:15]";
  EXPECT_EQ(S.run("v_cmp_lt_f32 " + A +
                  ", v0, v1\n"
                  "v_cmp_nlt_f32 " +
                  B +
                  ", v0, v1\n"
                  "v_cmp_u_f32 " +
                  C + ", v0, v1\n"),
            Status::Ok);
  EXPECT_EQ(S.s(10), 0u);
  EXPECT_EQ(S.s(12), 0xffffffffu);
  EXPECT_EQ(S.s(14), 0xffffffffu);
}

TEST_P(VectorAluTest, FloatModifiers) {
  Snippet S(GetParam());
  S.setF(0, -2.0f);
  S.setF(1, 3.0f);
  EXPECT_EQ(S.run("v_add_f32 v2, |v0|, -v1\n"
                  "v_mul_f32 v3, v0, v1 clamp\n"
                  "v_mul_f32 v4, v0, v1 mul:2\n"
                  "v_mul_f32 v5, v0, v1 div:2\n"
                  "v_fma_f32 v6, -v0, v1, 0.5 clamp\n"),
            Status::Ok);
  EXPECT_EQ(S.f(2), -1.0f);
  EXPECT_EQ(S.f(3), 0.0f);
  EXPECT_EQ(S.f(4), -12.0f);
  EXPECT_EQ(S.f(5), -3.0f);
  EXPECT_EQ(S.f(6), 1.0f);
}

TEST_P(VectorAluTest, FusedMultiplyAddRoundsOnce) {
  Snippet S(GetParam());
  S.setF(0, 1.0f + 0x1p-23f);
  S.setF(1, 1.0f - 0x1p-23f);
  S.setF(2, -1.0f);
  EXPECT_EQ(S.run("v_fma_f32 v3, v0, v1, v2\n"
                  "v_mul_f32 v4, v0, v1\n"
                  "v_add_f32 v4, v4, v2\n"),
            Status::Ok);
  EXPECT_EQ(S.f(3), -0x1p-46f);
  EXPECT_EQ(S.f(4), 0.0f);
}

TEST_P(VectorAluTest, DenormalsFollowMode) {
  Snippet S(GetParam());
  S.fill(0, 0x00000010);
  S.setF(1, 1.0f);
  EXPECT_EQ(S.run("v_mul_f32 v2, v0, v1"), Status::Ok);
  EXPECT_EQ(S.v(2), 0x10u);
  EXPECT_EQ(S.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                  "v_mul_f32 v2, v0, v1"),
            Status::Ok);
  EXPECT_EQ(S.v(2), 0u);
}

TEST_P(VectorAluTest, RoundingFollowsMode) {
  Snippet S(GetParam());
  S.setF(0, 1.0f);
  S.setF(1, 0x1p-25f);
  EXPECT_EQ(S.run("v_add_f32 v2, v0, v1\n"
                  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\n"
                  "v_add_f32 v3, v0, v1\n"
                  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3\n"
                  "v_sub_f32 v4, v0, v1\n"),
            Status::Ok);
  EXPECT_EQ(S.f(2), 1.0f);
  EXPECT_EQ(S.f(3), 1.0f + 0x1p-23f);
  EXPECT_EQ(S.f(4), 1.0f - 0x1p-24f);
}

TEST_P(VectorAluTest, Transcendentals) {
  Snippet S(GetParam());
  const float In[] = {0.0f, 1.0f, -1.5f, 10.25f, 127.0f, -126.0f, 3e-5f};
  for (float X : In) {
    S.setF(0, X);
    ASSERT_EQ(S.run("v_exp_f32 v1, v0\nv_sin_f32 v2, v0\nv_cos_f32 v3, v0\n"),
              Status::Ok);
    EXPECT_FLOAT_EQ(S.f(1), std::exp2(X));
    EXPECT_NEAR(S.f(2), std::sin(2 * M_PI * double(X)), 1e-7);
    EXPECT_NEAR(S.f(3), std::cos(2 * M_PI * double(X)), 1e-7);
  }
  for (float X : {1.0f, 0.7f, 3e20f, 1e-30f, 1.0000001f}) {
    S.setF(0, X);
    ASSERT_EQ(S.run("v_log_f32 v1, v0\nv_rcp_f32 v2, v0\nv_sqrt_f32 v3, v0\n"
                    "v_rsq_f32 v4, v0\n"),
              Status::Ok);
    EXPECT_FLOAT_EQ(S.f(1), float(std::log2(double(X))));
    EXPECT_EQ(S.f(2), 1.0f / X);
    EXPECT_EQ(S.f(3), std::sqrt(X));
    EXPECT_FLOAT_EQ(S.f(4), float(1 / std::sqrt(double(X))));
  }
  S.setF(0, -INFINITY);
  ASSERT_EQ(S.run("v_exp_f32 v1, v0\nv_log_f32 v2, v0\nv_rcp_f32 v3, v0\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0u);
  EXPECT_TRUE(std::isnan(S.f(2)));
  EXPECT_EQ(S.v(3), 0x80000000u);
  S.setF(0, 0.0f);
  ASSERT_EQ(S.run("v_log_f32 v1, v0\nv_rcp_f32 v2, v0\n"), Status::Ok);
  EXPECT_EQ(S.f(1), -INFINITY);
  EXPECT_EQ(S.f(2), INFINITY);
  // Results below the normal range are flushed.
  S.setF(0, -127.0f);
  ASSERT_EQ(S.run("v_exp_f32 v1, v0\n"), Status::Ok);
  EXPECT_EQ(S.v(1), 0u);
}

TEST_P(VectorAluTest, ConversionsSaturate) {
  Snippet S(GetParam());
  struct Case {
    float X;
    uint32_t I, U;
  };
  const Case Cases[] = {{1.9f, 1, 1},
                        {-1.9f, uint32_t(-1), 0},
                        {3e9f, 0x7fffffff, 3000000000u},
                        {5e9f, 0x7fffffff, 0xffffffffu},
                        {-3e9f, 0x80000000u, 0},
                        {NAN, 0, 0},
                        {INFINITY, 0x7fffffff, 0xffffffffu}};
  for (const Case &C : Cases) {
    S.setF(0, C.X);
    ASSERT_EQ(S.run("v_cvt_i32_f32 v1, v0\nv_cvt_u32_f32 v2, v0\n"),
              Status::Ok);
    EXPECT_EQ(S.v(1), C.I) << C.X;
    EXPECT_EQ(S.v(2), C.U) << C.X;
  }
}

TEST_P(VectorAluTest, HalfConversions) {
  Snippet S(GetParam());
  struct Case {
    float X;
    uint32_t Nearest, Truncated;
  };
  const Case Cases[] = {{1.0f, 0x3c00, 0x3c00},
                        {65519.0f, 0x7bff, 0x7bff},
                        {65520.0f, 0x7c00, 0x7bff},
                        {1e9f, 0x7c00, 0x7bff},
                        {INFINITY, 0x7c00, 0x7c00},
                        {0x1p-24f, 0x0001, 0x0001},
                        {0x1p-25f, 0x0000, 0x0000},
                        {0x1.8p-25f, 0x0001, 0x0000},
                        {-0x1.ffep-15f, 0x8400, 0x83ff},
                        {1.0f + 0x1p-11f, 0x3c00, 0x3c00},
                        {1.0f + 0x1.8p-10f, 0x3c02, 0x3c01}};
  const bool Gfx12 = std::string(GetParam()) == "gfx1250";
  for (const Case &C : Cases) {
    S.setF(0, C.X);
    ASSERT_EQ(S.run(Gfx12 ? "v_cvt_f16_f32 v1.l, v0\n"
                            "v_cvt_pk_rtz_f16_f32 v2, v0, v0\n"
                            "v_cvt_f32_f16 v3, v1.l\n"
                          : "v_cvt_f16_f32 v1, v0\n"
                            "v_cvt_pkrtz_f16_f32 v2, v0, v0\n"
                            "v_cvt_f32_f16 v3, v1\n"),
              Status::Ok);
    EXPECT_EQ(S.v(1) & 0xffff, C.Nearest) << C.X;
    EXPECT_EQ(S.v(2), C.Truncated | C.Truncated << 16) << C.X;
  }
  for (uint32_t H = 0; H < 0x10000; H += 61) {
    S.fill(1, H);
    ASSERT_EQ(S.run(Gfx12 ? "v_cvt_f32_f16 v3, v1.l\nv_cvt_f16_f32 v4.l, v3\n"
                          : "v_cvt_f32_f16 v3, v1\nv_cvt_f16_f32 v4, v3\n"),
              Status::Ok);
    const bool Nan = (H & 0x7fff) > 0x7c00;
    EXPECT_EQ(S.v(4) & 0xffff, Nan ? H | 0x200 : H);
  }
}

TEST_P(VectorAluTest, PackedFloats) {
  Snippet S(GetParam());
  S.setF(0, 1.0f);
  S.setF(1, 2.0f);
  S.setF(2, 10.0f);
  S.setF(3, 20.0f);
  EXPECT_EQ(S.run("v_pk_add_f32 v[4:5], v[0:1], v[2:3]\n"
                  "v_pk_mul_f32 v[6:7], v[0:1], v[2:3] op_sel_hi:[0,1]\n"
                  "v_pk_fma_f32 v[8:9], v[0:1], v[2:3], v[0:1] "
                  "neg_lo:[1,0,0]\n"),
            Status::Ok);
  EXPECT_EQ(S.f(4), 11.0f);
  EXPECT_EQ(S.f(5), 22.0f);
  EXPECT_EQ(S.f(6), 10.0f);
  EXPECT_EQ(S.f(7), 20.0f);
  EXPECT_EQ(S.f(8), -9.0f);
  EXPECT_EQ(S.f(9), 42.0f);
}

TEST_P(VectorAluTest, PackedHalvesAndShorts) {
  Snippet S(GetParam());
  S.fill(0, 0x40003c00); // 2, 1
  S.fill(1, 0x44004200); // 4, 3
  S.fill(2, 0xffff0001);
  S.fill(3, 0x00018000);
  EXPECT_EQ(S.run("v_pk_add_f16 v4, v0, v1\n"
                  "v_pk_mul_f16 v5, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]\n"
                  "v_pk_fma_f16 v6, v0, v1, v0 neg_lo:[0,0,1] neg_hi:[0,0,1]\n"
                  "v_pk_add_u16 v7, v2, v3\n"
                  "v_pk_add_u16 v8, v2, v3 clamp\n"
                  "v_pk_sub_i16 v9, v3, v2 clamp\n"),
            Status::Ok);
  EXPECT_EQ(S.v(4), 0x46004400u); // 6, 4
  EXPECT_EQ(S.v(5), 0x44004600u); // 1 * 4, 2 * 3
  EXPECT_EQ(S.v(6), 0x46004000u); // 2 * 4 - 2, 1 * 3 - 1
  EXPECT_EQ(S.v(7), 0x00008001u);
  EXPECT_EQ(S.v(8), 0xffff8001u);
  EXPECT_EQ(S.v(9), 0x00028000u);
}

TEST_P(VectorAluTest, DivisionSequence) {
  // What compilers emit for an IEEE division.
  Snippet S(GetParam());
  const bool Wave32 = S.wave().Lanes == 32;
  std::string D = Wave32 ? "s10" : "s[10:11]", V = Wave32 ? "vcc_lo" : "vcc";
  const float Pairs[][2] = {
      {1, 3}, {2e38f, 1e-3f}, {1e-40f, 3},   {7, 1e-42f}, {0, 5},
      {5, 0}, {INFINITY, 2},  {2, INFINITY}, {-1, 3e38f}, {1e-38f, 7e37f}};
  for (auto &P : Pairs) {
    S.setF(0, P[0]);
    S.setF(1, P[1]);
    ASSERT_EQ(S.run("v_div_scale_f32 v2, " + D +
                    ", v1, v1, v0\n"
                    "v_div_scale_f32 v3, " +
                    V +
                    ", v0, v1, v0\n"
                    "v_rcp_f32 v4, v2\n"
                    "v_fma_f32 v5, -v2, v4, 1.0\n"
                    "v_fma_f32 v4, v5, v4, v4\n"
                    "v_mul_f32 v5, v3, v4\n"
                    "v_fma_f32 v6, -v2, v5, v3\n"
                    "v_fma_f32 v5, v6, v4, v5\n"
                    "v_fma_f32 v2, -v2, v5, v3\n"
                    "v_div_fmas_f32 v2, v2, v4, v5\n"
                    "v_div_fixup_f32 v2, v2, v1, v0\n"),
              Status::Ok);
    EXPECT_EQ(S.f(2), P[0] / P[1]) << P[0] << " / " << P[1];
  }
}

TEST_P(VectorAluTest, MinimumAndMaximumWithNan) {
  Snippet S(GetParam());
  const bool Gfx12 = std::string(GetParam()) == "gfx1250";
  std::string Num = Gfx12 ? "num_" : "";
  S.fill(0, 0x7fc00000);
  S.setF(1, 2.0f);
  S.fill(2, 0x80000000);
  S.fill(3, 0);
  EXPECT_EQ(S.run("v_max_" + Num +
                  "f32 v4, v0, v1\n"
                  "v_min_" +
                  Num +
                  "f32 v5, v1, v0\n"
                  "v_max_" +
                  Num +
                  "f32 v6, v2, v3\n"
                  "v_min_" +
                  Num + "f32 v7, v3, v2\n"),
            Status::Ok);
  EXPECT_EQ(S.f(4), 2.0f);
  EXPECT_EQ(S.f(5), 2.0f);
  EXPECT_EQ(S.v(6), 0u);
  EXPECT_EQ(S.v(7), 0x80000000u);
}

TEST(VectorAlu, Bitop3) {
  Snippet S("gfx950");
  S.fill(0, 0xf0f0f0f0);
  S.fill(1, 0xcccccccc);
  S.fill(2, 0xaaaaaaaa);
  for (unsigned Table : {0x00, 0x01, 0x6c, 0x96, 0xde, 0xec, 0xff}) {
    ASSERT_EQ(
        S.run("v_bitop3_b32 v3, v0, v1, v2 bitop3:" + std::to_string(Table)),
        Status::Ok);
    EXPECT_EQ(S.v(3), Table * 0x01010101u);
  }
}

TEST(VectorAlu, HalvesOfRegistersGfx9) {
  Snippet S("gfx942");
  S.fill(0, 0x3c004000); // 1, 2
  S.fill(1, 0xdeadbeef);
  S.fill(2, 0xdeadbeef);
  EXPECT_EQ(S.run("v_add_f16 v1, v0, v0\n"
                  "v_fma_f16 v2, v0, v0, v0 op_sel:[1,0,0,1]\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0x00004400u); // upper half cleared
  EXPECT_EQ(S.v(2), 0x4400beefu); // 1 * 2 + 2 into the upper half
}

TEST(VectorAlu, HalvesOfRegistersGfx1250) {
  Snippet S("gfx1250");
  S.fill(0, 0x3c004000);
  S.fill(1, 0xdeadbeef);
  S.fill(2, 0xdeadbeef);
  S.fill(200, 0x3c004000);
  EXPECT_EQ(S.run("v_add_f16 v1.l, v0.h, v0.l\n"
                  "v_add_f16 v2.h, v200.h, v200.h\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0xdead4200u);
  EXPECT_EQ(S.v(2), 0x4000beefu);
}

TEST(VectorAlu, SubDwordAddressing) {
  Snippet S("gfx942");
  S.fill(0, 0x80ff0102);
  S.fill(1, 1);
  S.fill(2, 0x11223344);
  EXPECT_EQ(S.run("v_add_u32_sdwa v2, v0, v1 dst_sel:BYTE_1 "
                  "dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:DWORD\n"
                  "v_add_u32_sdwa v3, sext(v0), v1 dst_sel:DWORD "
                  "dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD\n"
                  "v_add_u32_sdwa v4, v0, v1 dst_sel:WORD_1 "
                  "dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD\n"),
            Status::Ok);
  EXPECT_EQ(S.v(2), 0x11220044u);
  EXPECT_EQ(S.v(3), 0xffffff81u);
  EXPECT_EQ(S.v(4), 0x81000000u);
}

TEST(VectorAlu, DualReadsBeforeItWrites) {
  Snippet S("gfx1250");
  S.fill(0, 1);
  S.fill(1, 2);
  EXPECT_EQ(S.run("v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0\n"),
            Status::Ok);
  EXPECT_EQ(S.v(0), 2u);
  EXPECT_EQ(S.v(1), 1u);
  S.setF(2, 3.0f);
  S.setF(3, 4.0f);
  EXPECT_EQ(S.run("v_dual_mul_f32 v4, v2, v3 :: v_dual_add_f32 v5, v3, v2\n"),
            Status::Ok);
  EXPECT_EQ(S.f(4), 12.0f);
  EXPECT_EQ(S.f(5), 7.0f);
}

TEST(VectorAlu, RegistersBeyond255) {
  Snippet S("gfx1250");
  S.fill(300, 5);
  S.fill(44, 7);
  EXPECT_EQ(S.run("s_set_vgpr_msb 0x41\n" // dst bank 1, src0 bank 1
                  "v_add_nc_u32 v45, v44, v44\n"
                  "s_set_vgpr_msb 0\n"
                  "v_mov_b32 v0, v45\n"),
            Status::Ok);
  EXPECT_EQ(S.v(301), 12u);
  EXPECT_EQ(S.v(0), 0u);
}

TEST(VectorAlu, UnusedModifierIsRejected) {
  Snippet S("gfx942");
  EXPECT_EQ(S.run("v_mul_hi_u32 v0, v1, v2\n"), Status::Ok);
  EXPECT_EQ(S.run("v_screen_partition_4se_b32 v0, v1\n"),
            Status::UnknownInstruction);
  EXPECT_NE(S.Message.find("v_screen_partition_4se_b32"), std::string::npos);
  EXPECT_NE(S.Message.find("0x10000"), std::string::npos);
  EXPECT_NE(S.Message.find("snippet"), std::string::npos);
}

} // namespace
