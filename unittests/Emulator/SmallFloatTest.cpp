//===- SmallFloatTest.cpp - Conversions of narrow float formats -----------===//

#include "WaveFixture.h"
#include <cmath>

using namespace llvm;
using namespace pagedattn::emu;

namespace {

uint32_t bits(float X) { return floatToBits(X); }

TEST(SmallFloat, WidensInTheFlavourOfTheChip) {
  WaveFixture Fnuz("gfx942"), Ocp("gfx950");
  for (WaveFixture *F : {&Fnuz, &Ocp}) {
    F->fill(1, 0x407f8038);
    F->run("v_cvt_f32_fp8_e32 v0, v1");
    F->run("v_cvt_f32_fp8_sdwa v2, v1 src0_sel:BYTE_1");
    F->run("v_cvt_f32_fp8_sdwa v3, v1 src0_sel:BYTE_2");
    F->run("v_cvt_pk_f32_bf8_sdwa v[4:5], v1 src0_sel:WORD_1");
  }
  EXPECT_EQ(Fnuz.f(0), 0.5f);
  EXPECT_EQ(Ocp.f(0), 1.0f);
  EXPECT_TRUE(std::isnan(Fnuz.f(2)));
  EXPECT_EQ(Ocp.v(2), 0x80000000u);
  EXPECT_EQ(Fnuz.f(3), 240.0f);
  EXPECT_TRUE(std::isnan(Ocp.f(3)));
  EXPECT_EQ(Fnuz.f(4), 57344.0f);
  EXPECT_TRUE(std::isnan(Ocp.f(4)));
  EXPECT_EQ(Fnuz.f(5), 1.0f);
  EXPECT_EQ(Ocp.f(5), 2.0f);
}

TEST(SmallFloat, SelectsBytesAndHalvesOnGfx1250) {
  WaveFixture F("gfx1250");
  F.fill(1, 0x48403830);
  F.run("v_cvt_f32_fp8_e64 v0, v1 byte_sel:2");
  EXPECT_EQ(F.f(0), 2.0f);
  F.run("v_cvt_pk_f32_fp8_e32 v[2:3], v1.h");
  EXPECT_EQ(F.f(2), 2.0f);
  EXPECT_EQ(F.f(3), 4.0f);
  F.fill(4, 0x11112222);
  F.run("v_cvt_f16_fp8_e64 v4.h, v1 byte_sel:3");
  EXPECT_EQ(F.v(4), 0x44002222u);
  F.run("v_cvt_pk_f16_fp8_e32 v5, v1.l");
  EXPECT_EQ(F.v(5), 0x3c003800u);
  EXPECT_NE(F.errorOf("v_cvt_f32_fp8_e64 v0, v1 clamp"), "");
}

TEST(SmallFloat, NarrowsIntoOneHalf) {
  for (const char *Chip : {"gfx942", "gfx950"}) {
    WaveFixture F(Chip);
    F.fill(0, 0xaaaabbbb);
    F.fill(1, bits(1.0f));
    F.fill(2, bits(-2.0f));
    F.W.setExec(~uint64_t(2));
    F.run("v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]");
    uint32_t Want = F.Chip.Fp8Fnuz ? 0xc840bbbbu : 0xc038bbbbu;
    EXPECT_EQ(F.v(0), Want);
    EXPECT_EQ(F.v(0, 1), 0xaaaabbbbu) << "inactive lane";
    F.run("v_cvt_pk_fp8_f32 v0, -v1, |v2|");
    EXPECT_EQ(F.v(0),
              (Want & 0xffff0000u) | (F.Chip.Fp8Fnuz ? 0x48c0u : 0x40b8u));
  }
}

TEST(SmallFloat, HalvesOfSixteenBitRegisters) {
  WaveFixture F("gfx1250");
  F.fill(0, 0xaaaabbbb);
  F.fill(1, bits(1.0f));
  F.fill(2, bits(-2.0f));
  F.run("v_cvt_pk_fp8_f32 v0.h, v1, v2");
  EXPECT_EQ(F.v(0), 0xc038bbbbu);
  F.fill(3, 0xc0003c00); // -2 and 1
  F.run("v_cvt_pk_bf8_f16 v0.l, v3");
  EXPECT_EQ(F.v(0), 0xc038c03cu);
  F.fill(4, 0xffffffff);
  F.run("v_cvt_sr_fp8_f16 v0, v3.h, v4 byte_sel:1");
  EXPECT_EQ(F.v(0), 0xc038c03cu);
  F.run("v_cvt_sr_fp8_f16 v0, v3.l, v4 byte_sel:1");
  EXPECT_EQ(F.v(0), 0xc038383cu);
}

TEST(SmallFloat, OverflowFollowsMode) {
  WaveFixture F("gfx942");
  F.fill(1, bits(1e6f));
  F.fill(2, bits(-1e-9f));
  F.run("v_cvt_pk_fp8_f32 v0, v1, v2");
  EXPECT_EQ(F.v(0), 0x0080u);
  F.W.setMode(0xf0 | 0x800000); // FP16_OVFL
  F.run("v_cvt_pk_fp8_f32 v0, v1, v2");
  EXPECT_EQ(F.v(0), 0x007fu);
}

TEST(SmallFloat, StochasticRoundingWritesOneByte) {
  WaveFixture F("gfx950");
  F.fill(0, 0x11223344);
  F.fill(1, bits(1.03125f)); // a quarter of the way to 1.125
  F.fill(2, 0xbfffffff);
  F.fill(3, 0xc0000000);
  F.run("v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,0,1]");
  EXPECT_EQ(F.v(0), 0x11383344u);
  F.run("v_cvt_sr_fp8_f32 v0, v1, v3 op_sel:[0,0,1,0]");
  EXPECT_EQ(F.v(0), 0x11383944u);
  WaveFixture G("gfx1250");
  G.fill(0, 0x11223344);
  G.fill(1, bits(1.03125f));
  G.fill(3, 0xc0000000);
  G.run("v_cvt_sr_fp8_f32 v0, v1, v3 byte_sel:3");
  EXPECT_EQ(G.v(0), 0x39223344u);
}

TEST(SmallFloat, Bfloat16) {
  for (const char *Chip : {"gfx950", "gfx1250"}) {
    WaveFixture F(Chip);
    F.fill(1, 0x3f808000); // tie, to even: 0x3f80
    F.fill(2, 0x3f818000); // tie, to even: 0x3f82
    F.run("v_cvt_pk_bf16_f32 v0, v1, v2");
    EXPECT_EQ(F.v(0), 0x3f823f80u);
    F.run("v_cvt_pk_bf16_f32 v0, -v1, 1.0");
    EXPECT_EQ(F.v(0), 0x3f80bf80u);
    F.fill(3, 0x7f7fffff);
    F.run("v_cvt_pk_bf16_f32 v0, v3, v3");
    EXPECT_EQ(F.v(0), 0x7f807f80u);
  }
  WaveFixture F("gfx950");
  F.fill(1, 0xc0490000);
  F.run("v_cvt_f32_bf16_sdwa v0, v1 src0_sel:WORD_1");
  EXPECT_EQ(F.v(0), 0xc0490000u);
  F.fill(1, 0x0000c049);
  F.run("v_cvt_f32_bf16_e32 v0, v1");
  EXPECT_EQ(F.v(0), 0xc0490000u);
  F.fill(2, 0xffff);
  F.fill(3, 0x3f800001);
  F.fill(0, 0x12345678);
  F.run("v_cvt_sr_bf16_f32 v0, v3, v2 op_sel:[0,0,1]");
  EXPECT_EQ(F.v(0), 0x3f805678u);
}

TEST(SmallFloat, HalfFollowsTheRoundingMode) {
  WaveFixture F("gfx950");
  F.fill(1, bits(1.0001f));
  F.run("v_cvt_pk_f16_f32 v0, v1, -v1");
  EXPECT_EQ(F.v(0), 0xbc003c00u);
  F.W.setMode(0xf0 | 1 << 2); // towards +infinity
  F.run("v_cvt_pk_f16_f32 v0, v1, -v1");
  EXPECT_EQ(F.v(0), 0xbc003c01u);
}

TEST(SmallFloat, ScaleMultipliesAndDivides) {
  WaveFixture F("gfx950");
  F.fill(1, 0x40384030);
  F.fill(2, bits(8.0f));
  F.run("v_cvt_scalef32_pk_f32_fp8 v[4:5], v1, v2 op_sel:[1,0,0]");
  EXPECT_EQ(F.f(4), 8.0f);
  EXPECT_EQ(F.f(5), 16.0f);
  F.run("v_cvt_scalef32_f32_fp8 v4, v1, v2 op_sel:[1,1,0]");
  EXPECT_EQ(F.f(4), 16.0f);
  F.fill(6, 0xffffffff);
  F.run("v_cvt_scalef32_f16_fp8 v6, v1, v2 op_sel:[1,0,1]");
  EXPECT_EQ(F.v(6), 0x4c00u << 16 | 0xffff); // byte 1 is 2.0, times 8
  F.run("v_cvt_scalef32_pk_bf16_fp8 v6, v1, v2");
  EXPECT_EQ(F.v(6), 0x41804080u);
  F.fill(1, bits(24.0f));
  F.fill(3, bits(-4.0f));
  F.fill(0, 0);
  F.run("v_cvt_scalef32_pk_fp8_f32 v0, v1, v3, v2 op_sel:[0,0,0,1]");
  EXPECT_EQ(F.v(0), 0xb0440000u); // 3 and -0.5
  F.run("v_cvt_scalef32_pk_fp4_f32 v0, v1, v3, v2 op_sel:[0,0,1,0]");
  EXPECT_EQ(F.v(0), 0xb0449500u);
  // The scale is a power of two: 2^127 and its division are exact.
  F.fill(2, 0x7f000000);
  F.fill(1, bits(std::ldexp(1.5f, 127)));
  F.run("v_cvt_scalef32_pk_fp8_f32 v0, v1, v1, v2");
  EXPECT_EQ(F.v(0) & 0xffff, 0x3c3cu);
}

TEST(SmallFloat, WideFp6) {
  WaveFixture F("gfx950");
  for (unsigned E = 0; E != 32; ++E)
    F.insert(64, 0, E, 6, E);
  F.fill(1, bits(2.0f));
  F.run("v_cvt_scalef32_pk32_f32_fp6 v[0:31], v[64:69], v1");
  for (unsigned E = 0; E != 32; ++E)
    EXPECT_EQ(F.f(E), 2 * decode(NumFormat::E2M3, E));
  // Two sources of sixteen take turns.
  WaveFixture G("gfx950");
  for (unsigned E = 0; E != 16; ++E) {
    G.fill(E, bits(decode(NumFormat::E3M2, 2 * E)));
    G.fill(16 + E, bits(decode(NumFormat::E3M2, 2 * E + 1)));
  }
  G.fill(40, bits(1.0f));
  G.run("v_cvt_scalef32_2xpk16_bf6_f32 v[64:69], v[0:15], v[16:31], v40");
  uint32_t Words[6];
  for (unsigned R = 0; R != 6; ++R)
    Words[R] = G.v(64 + R, 9);
  for (unsigned E = 0; E != 32; ++E)
    EXPECT_EQ(extractPacked(Words, E, 6), E);
}

TEST(SmallFloat, PackedOfEightOnGfx1250) {
  WaveFixture F("gfx1250");
  for (unsigned E = 0; E != 8; ++E)
    F.fill(8 + E, bits(decode(NumFormat::E2M1, E) * 4));
  F.fill(1, bits(4.0f));
  F.run("v_cvt_scalef32_pk8_fp4_f32 v0, v[8:15], v1");
  EXPECT_EQ(F.v(0), 0x76543210u);
  // Byte 2 of the scale in lane 16 + row for every lane.
  F.fill(2, 0x38383838);
  F.fill(3, 0x38383838);
  for (unsigned L = 0; L != 32; ++L)
    F.v(4, L) = L < 16 ? 0 : (120 + L - 16) << 16;
  F.run("v_cvt_scale_pk8_f32_fp8 v[16:23], v[2:3], v4 scale_sel:12");
  EXPECT_EQ(F.f(16, 7), 1.0f);
  EXPECT_EQ(F.f(23, 16 + 8), 2.0f);
  // Narrower elements: the halves of the wave use bytes 2 and 3.
  F.fill(2, 0x22222222);
  F.fill(4, 0x80817f7e);
  F.run("v_cvt_scale_pk8_f16_fp4 v[16:19], v2, v4 scale_sel:2");
  EXPECT_EQ(F.v(16, 3), 0x44004400u);  // 1 * 2^(0x81 - 127)
  EXPECT_EQ(F.v(16, 19), 0x40004000u); // 1 * 2^(0x80 - 127)
}

TEST(SmallFloat, PseudoRandomNumbers) {
  WaveFixture F("gfx950");
  F.fill(1, 0x80000001);
  F.run("v_prng_b32_e32 v0, v1");
  EXPECT_EQ(F.v(0), (0x80000001u << 1) ^ 197u);
  F.fill(1, 0x12345678);
  F.run("v_prng_b32_e32 v0, v1");
  EXPECT_EQ(F.v(0), 0x12345678u << 1);
}

} // namespace
