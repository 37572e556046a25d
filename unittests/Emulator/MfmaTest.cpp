//===- MfmaTest.cpp - Matrix instructions of gfx942 and gfx950 ------------===//

#include "WaveFixture.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace llvm;
using namespace pagedattn::emu;

namespace {

// Registers of the tests: A, B, C, D, scales.
constexpr unsigned A0 = 0, B0 = 32, C0 = 64, D0 = 96, SA = 128, SB = 129;

enum class Kind { Float, Int, Double };

struct Shape {
  const char *Name;
  const char *Chip;
  unsigned M, K, Blocks, Bits;
  /// Formats of A and B; F32 and integers have none.
  NumFormat A = NumFormat::F16, B = NumFormat::F16;
  Kind Type = Kind::Float;
};

std::string range(char File, unsigned First, unsigned Count) {
  return Count == 1
             ? formatv("{0}{1}", File, First).str()
             : formatv("{0}[{1}:{2}]", File, First, First + Count - 1).str();
}

/// Where element (row, k) of block b of A is, or (column, k) of B.
struct InputPlace {
  unsigned Lane, Index;
  InputPlace(const Shape &S, unsigned Row, unsigned K, unsigned Block) {
    unsigned PerLane = S.K / (64 / (S.M * S.Blocks));
    Lane = Block * S.M + K / PerLane * S.M * S.Blocks + Row;
    Index = K % PerLane;
  }
};

/// Register and lane of an element of C and D.
struct OutputPlace {
  unsigned Register, Lane;
  OutputPlace(const Shape &S, unsigned Row, unsigned Column, unsigned Block) {
    unsigned Height = S.Type == Kind::Double ? 1 : 4;
    unsigned RowsPerRegister = 64 / S.M;
    unsigned BlocksPerRegister = std::max(1u, 64 / (S.M * S.M / Height));
    Register = Block * (S.M * S.M / 64) +
               Row / (Height * RowsPerRegister) * Height + Row % Height;
    Lane = Block % BlocksPerRegister * S.M +
           Row / Height % RowsPerRegister * BlocksPerRegister * S.M + Column;
  }
};

uint32_t codeOf(const Shape &S, NumFormat F, int X) {
  if (S.Type == Kind::Int)
    return uint8_t(X);
  return S.Bits == 32 ? floatToBits(float(X)) : encode(F, X);
}

void putDouble(WaveFixture &F, unsigned Register, unsigned Lane, double X) {
  uint64_t Bits;
  std::memcpy(&Bits, &X, 8);
  F.v(Register, Lane) = uint32_t(Bits);
  F.v(Register + 1, Lane) = uint32_t(Bits >> 32);
}

double getDouble(WaveFixture &F, unsigned Register, unsigned Lane) {
  uint64_t Bits = uint64_t(F.v(Register + 1, Lane)) << 32 | F.v(Register, Lane);
  double X;
  std::memcpy(&X, &Bits, 8);
  return X;
}

/// Small integers are exact in every format and in every order of summation.
struct Operands {
  std::vector<int> A, B, C;
  const Shape &S;
  explicit Operands(const Shape &S) : S(S) {
    std::mt19937 Random(S.M * 131 + S.K);
    auto Fill = [&](std::vector<int> &V, size_t N, int Max) {
      V.resize(N);
      for (int &X : V)
        X = int(Random() % (2 * Max + 1)) - Max;
    };
    Fill(A, size_t(S.Blocks) * S.M * S.K, 3);
    Fill(B, size_t(S.Blocks) * S.M * S.K, 3);
    Fill(C, size_t(S.Blocks) * S.M * S.M, 50);
  }
  int a(unsigned Block, unsigned Row, unsigned K) const {
    return A[(size_t(Block) * S.M + Row) * S.K + K];
  }
  int b(unsigned Block, unsigned Column, unsigned K) const {
    return B[(size_t(Block) * S.M + Column) * S.K + K];
  }
  int c(unsigned Block, unsigned Row, unsigned Column) const {
    return C[(size_t(Block) * S.M + Row) * S.M + Column];
  }
};

void load(WaveFixture &F, const Shape &S, const Operands &X) {
  for (unsigned Block = 0; Block != S.Blocks; ++Block)
    for (unsigned Row = 0; Row != S.M; ++Row) {
      for (unsigned K = 0; K != S.K; ++K) {
        InputPlace P(S, Row, K, Block);
        if (S.Type == Kind::Double) {
          putDouble(F, A0 + 2 * P.Index, P.Lane, X.a(Block, Row, K));
          putDouble(F, B0 + 2 * P.Index, P.Lane, X.b(Block, Row, K));
          continue;
        }
        F.insert(A0, P.Lane, P.Index, S.Bits,
                 codeOf(S, S.A, X.a(Block, Row, K)));
        F.insert(B0, P.Lane, P.Index, S.Bits,
                 codeOf(S, S.B, X.b(Block, Row, K)));
      }
      for (unsigned Column = 0; Column != S.M; ++Column) {
        OutputPlace P(S, Row, Column, Block);
        int C = X.c(Block, Row, Column);
        if (S.Type == Kind::Double)
          putDouble(F, C0 + 2 * P.Register, P.Lane, C);
        else
          F.v(C0 + P.Register, P.Lane) =
              S.Type == Kind::Int ? uint32_t(C) : floatToBits(float(C));
      }
    }
}

double result(WaveFixture &F, const Shape &S, unsigned Block, unsigned Row,
              unsigned Column) {
  OutputPlace P(S, Row, Column, Block);
  if (S.Type == Kind::Double)
    return getDouble(F, D0 + 2 * P.Register, P.Lane);
  return S.Type == Kind::Int ? double(int32_t(F.v(D0 + P.Register, P.Lane)))
                             : F.f(D0 + P.Register, P.Lane);
}

std::string textOf(const Shape &S, const Twine &Modifiers = "") {
  unsigned PerLane = S.K / (64 / (S.M * S.Blocks));
  unsigned In = std::max(1u, PerLane * S.Bits / 32);
  unsigned Out = S.M * S.M * S.Blocks / 64 * (S.Type == Kind::Double ? 2 : 1);
  return formatv("{0} {1}, {2}, {3}, {4}{5}", S.Name, range('v', D0, Out),
                 range('v', A0, In), range('v', B0, In), range('v', C0, Out),
                 Modifiers.str())
      .str();
}

constexpr NumFormat FP8 = NumFormat::E4M3FN, BF8 = NumFormat::E5M2,
                    FP8Z = NumFormat::E4M3FNUZ, BF8Z = NumFormat::E5M2FNUZ,
                    F16 = NumFormat::F16, BF16 = NumFormat::BF16;

// clang-format off
const Shape Shapes[] = {
    {"v_mfma_f32_32x32x1_2b_f32", "gfx942", 32, 1, 2, 32},
    {"v_mfma_f32_16x16x1_4b_f32", "gfx942", 16, 1, 4, 32},
    {"v_mfma_f32_4x4x1_16b_f32", "gfx950", 4, 1, 16, 32},
    {"v_mfma_f32_32x32x2_f32", "gfx942", 32, 2, 1, 32},
    {"v_mfma_f32_16x16x4_f32", "gfx950", 16, 4, 1, 32},
    {"v_mfma_f32_16x16x8_xf32", "gfx942", 16, 8, 1, 32},
    {"v_mfma_f32_32x32x4_xf32", "gfx942", 32, 4, 1, 32},
    {"v_mfma_f32_32x32x4_2b_f16", "gfx942", 32, 4, 2, 16, F16, F16},
    {"v_mfma_f32_16x16x4_4b_f16", "gfx942", 16, 4, 4, 16, F16, F16},
    {"v_mfma_f32_4x4x4_16b_f16", "gfx942", 4, 4, 16, 16, F16, F16},
    {"v_mfma_f32_32x32x8_f16", "gfx942", 32, 8, 1, 16, F16, F16},
    {"v_mfma_f32_16x16x16_f16", "gfx942", 16, 16, 1, 16, F16, F16},
    {"v_mfma_f32_32x32x16_f16", "gfx950", 32, 16, 1, 16, F16, F16},
    {"v_mfma_f32_16x16x32_f16", "gfx950", 16, 32, 1, 16, F16, F16},
    {"v_mfma_f32_32x32x4_2b_bf16", "gfx942", 32, 4, 2, 16, BF16, BF16},
    {"v_mfma_f32_16x16x4_4b_bf16", "gfx942", 16, 4, 4, 16, BF16, BF16},
    {"v_mfma_f32_4x4x4_16b_bf16", "gfx942", 4, 4, 16, 16, BF16, BF16},
    {"v_mfma_f32_32x32x8_bf16", "gfx942", 32, 8, 1, 16, BF16, BF16},
    {"v_mfma_f32_16x16x16_bf16", "gfx942", 16, 16, 1, 16, BF16, BF16},
    {"v_mfma_f32_32x32x16_bf16", "gfx950", 32, 16, 1, 16, BF16, BF16},
    {"v_mfma_f32_16x16x32_bf16", "gfx950", 16, 32, 1, 16, BF16, BF16},
    {"v_mfma_f32_16x16x32_fp8_fp8", "gfx942", 16, 32, 1, 8, FP8Z, FP8Z},
    {"v_mfma_f32_16x16x32_fp8_bf8", "gfx942", 16, 32, 1, 8, FP8Z, BF8Z},
    {"v_mfma_f32_16x16x32_bf8_fp8", "gfx950", 16, 32, 1, 8, BF8, FP8},
    {"v_mfma_f32_16x16x32_bf8_bf8", "gfx950", 16, 32, 1, 8, BF8, BF8},
    {"v_mfma_f32_32x32x16_fp8_fp8", "gfx950", 32, 16, 1, 8, FP8, FP8},
    {"v_mfma_f32_32x32x16_fp8_bf8", "gfx950", 32, 16, 1, 8, FP8, BF8},
    {"v_mfma_f32_32x32x16_bf8_fp8", "gfx942", 32, 16, 1, 8, BF8Z, FP8Z},
    {"v_mfma_f32_32x32x16_bf8_bf8", "gfx942", 32, 16, 1, 8, BF8Z, BF8Z},
    {"v_mfma_f32_16x16x128_f8f6f4", "gfx950", 16, 128, 1, 8, FP8, FP8},
    {"v_mfma_f32_32x32x64_f8f6f4", "gfx950", 32, 64, 1, 8, FP8, FP8},
    {"v_mfma_i32_32x32x4_2b_i8", "gfx942", 32, 4, 2, 8, F16, F16, Kind::Int},
    {"v_mfma_i32_16x16x4_4b_i8", "gfx942", 16, 4, 4, 8, F16, F16, Kind::Int},
    {"v_mfma_i32_4x4x4_16b_i8", "gfx942", 4, 4, 16, 8, F16, F16, Kind::Int},
    {"v_mfma_i32_32x32x16_i8", "gfx942", 32, 16, 1, 8, F16, F16, Kind::Int},
    {"v_mfma_i32_16x16x32_i8", "gfx942", 16, 32, 1, 8, F16, F16, Kind::Int},
    {"v_mfma_i32_32x32x32_i8", "gfx950", 32, 32, 1, 8, F16, F16, Kind::Int},
    {"v_mfma_i32_16x16x64_i8", "gfx950", 16, 64, 1, 8, F16, F16, Kind::Int},
    {"v_mfma_f64_16x16x4_f64", "gfx942", 16, 4, 1, 64, F16, F16, Kind::Double},
    {"v_mfma_f64_4x4x4_4b_f64", "gfx950", 4, 4, 4, 64, F16, F16, Kind::Double},
};
// clang-format on

TEST(Mfma, EveryShape) {
  for (const Shape &S : Shapes) {
    SCOPED_TRACE(S.Name);
    WaveFixture F(S.Chip);
    Operands X(S);
    load(F, S, X);
    // EXEC does not matter to a matrix instruction.
    F.W.setExec(1);
    F.run(textOf(S));
    for (unsigned Block = 0; Block != S.Blocks; ++Block)
      for (unsigned Row = 0; Row != S.M; ++Row)
        for (unsigned Column = 0; Column != S.M; ++Column) {
          int Want = X.c(Block, Row, Column);
          for (unsigned K = 0; K != S.K; ++K)
            Want += X.a(Block, Row, K) * X.b(Block, Column, K);
          ASSERT_EQ(result(F, S, Block, Row, Column), Want)
              << "block " << Block << " row " << Row << " column " << Column;
        }
  }
}

TEST(Mfma, ResultMayOverlapTheSources) {
  const Shape &S = Shapes[0];
  WaveFixture F(S.Chip);
  Operands X(S);
  load(F, S, X);
  F.run("v_mfma_f32_32x32x1_2b_f32 v[0:31], v0, v32, v[64:95]");
  for (unsigned Block = 0; Block != 2; ++Block)
    for (unsigned Row = 0; Row != 32; ++Row) {
      OutputPlace P(S, Row, 5, Block);
      EXPECT_EQ(F.f(A0 + P.Register, P.Lane),
                X.c(Block, Row, 5) + X.a(Block, Row, 0) * X.b(Block, 5, 0));
    }
}

TEST(Mfma, AccumulatorRegistersAndConstants) {
  WaveFixture F("gfx950");
  for (unsigned R = 0; R != 4; ++R)
    F.fill(256 + 8 + R, 0x38383838); // ones
  F.run("v_mfma_f32_16x16x32_fp8_fp8 a[0:3], a[8:9], a[10:11], 1.0");
  EXPECT_EQ(F.f(256, 17), 33);
  F.run("v_mfma_f32_16x16x32_fp8_fp8 v[0:3], a[8:9], a[10:11], 0");
  EXPECT_EQ(F.f(3, 63), 32);
}

TEST(Mfma, BroadcastOfABlocks) {
  // cbsz:2 makes groups of four blocks use the A of block abid of the group.
  Shape S = {"v_mfma_f32_4x4x1_16b_f32", "gfx942", 4, 1, 16, 32};
  WaveFixture F(S.Chip);
  Operands X(S);
  load(F, S, X);
  F.run(textOf(S, " cbsz:2 abid:1"));
  for (unsigned Block = 0; Block != 16; ++Block)
    for (unsigned Row = 0; Row != 4; ++Row)
      EXPECT_EQ(result(F, S, Block, Row, 2),
                X.c(Block, Row, 2) +
                    X.a(Block / 4 * 4 + 1, Row, 0) * X.b(Block, 2, 0));
  EXPECT_NE(F.errorOf(textOf(S, " cbsz:2 abid:4")), "");
  EXPECT_NE(F.errorOf(textOf(S, " cbsz:5")), "");
}

TEST(Mfma, LaneGroupPatternsOfB) {
  // Column j of block b is in lane 4 b + j.
  Shape S = {"v_mfma_f32_4x4x1_16b_f32", "gfx950", 4, 1, 16, 32};
  auto Source = [](unsigned Pattern, unsigned Lane) {
    switch (Pattern) {
    case 1:
      return Lane & 31;
    case 2:
      return 32 + (Lane & 31);
    case 3:
      return (Lane + 16) & 63;
    default:
      return Pattern < 4 ? Lane : (Lane & 15) + 16 * (Pattern - 4);
    }
  };
  for (unsigned Pattern = 1; Pattern != 8; ++Pattern) {
    WaveFixture F(S.Chip);
    Operands X(S);
    load(F, S, X);
    F.run(textOf(S, " blgp:" + Twine(Pattern)));
    for (unsigned Block = 0; Block != 16; ++Block)
      for (unsigned Column = 0; Column != 4; ++Column) {
        unsigned Lane = Source(Pattern, 4 * Block + Column);
        EXPECT_EQ(result(F, S, Block, 1, Column),
                  X.c(Block, 1, Column) +
                      X.a(Block, 1, 0) * X.b(Lane / 4, Lane % 4, 0));
      }
  }
}

TEST(Mfma, NegationOfDoubles) {
  Shape S = {
      "v_mfma_f64_16x16x4_f64", "gfx942", 16, 4, 1, 64, F16, F16, Kind::Double};
  for (unsigned Neg = 0; Neg != 8; ++Neg) {
    WaveFixture F(S.Chip);
    Operands X(S);
    load(F, S, X);
    F.run(textOf(
        S,
        formatv(" neg:[{0},{1},{2}]", Neg & 1, Neg >> 1 & 1, Neg >> 2).str()));
    int Sum = 0;
    for (unsigned K = 0; K != 4; ++K)
      Sum += X.a(0, 9, K) * X.b(0, 4, K);
    int Sign = ((Neg & 1) != (Neg >> 1 & 1)) ? -1 : 1;
    EXPECT_EQ(result(F, S, 0, 9, 4),
              (Neg & 4 ? -1 : 1) * X.c(0, 9, 4) + Sign * Sum);
  }
}

struct Narrow {
  unsigned Field; ///< cbsz or blgp
  NumFormat Format;
};

const Narrow NarrowFormats[] = {{0, NumFormat::E4M3FN},
                                {1, NumFormat::E5M2},
                                {2, NumFormat::E2M3},
                                {3, NumFormat::E3M2},
                                {4, NumFormat::E2M1}};

/// The lane group and slot of k: the 8-bit formats alternate between the groups
/// in runs of 16, the narrower ones have 32 consecutive values per lane. Scales
/// belong to consecutive blocks of 32 either way.
struct NarrowPlace {
  unsigned Group, Slot;
  NarrowPlace(unsigned Bits, unsigned Groups, unsigned K) {
    const unsigned Run = Bits == 8 ? 16 : 32;
    Group = K / Run % Groups;
    Slot = K / (Run * Groups) * Run + K % Run;
  }
};

/// All pairs of formats, scales that differ in every lane and byte, op_sel.
void checkScaled(unsigned M, unsigned K, bool Scaled) {
  std::mt19937 Random(5);
  const unsigned Groups = 64 / M, PerLane = 32;
  for (const Narrow &A : NarrowFormats)
    for (const Narrow &B : NarrowFormats) {
      WaveFixture F("gfx950");
      const unsigned BitsA = traits(A.Format).Bits,
                     BitsB = traits(B.Format).Bits;
      std::vector<double> ValueA(M * K), ValueB(M * K);
      for (unsigned Row = 0; Row != M; ++Row)
        for (unsigned I = 0; I != K; ++I) {
          // Multiples of a half up to 1.5 are in every format.
          double X = (int(Random() % 7) - 3) / 2.0;
          double Y = (int(Random() % 7) - 3) / 2.0;
          NarrowPlace PA(BitsA, Groups, I), PB(BitsB, Groups, I);
          F.insert(A0, PA.Group * M + Row, PA.Slot, BitsA, encode(A.Format, X));
          F.insert(B0, PB.Group * M + Row, PB.Slot, BitsB, encode(B.Format, Y));
          ValueA[Row * K + I] = X;
          ValueB[Row * K + I] = Y;
        }
      for (unsigned L = 0; L != 64; ++L)
        for (unsigned Byte = 0; Byte != 4; ++Byte) {
          F.v(SA, L) |= (124 + Random() % 7) << (8 * Byte);
          F.v(SB, L) |= (124 + Random() % 7) << (8 * Byte);
        }
      unsigned ByteA = Random() % 4, ByteB = Random() % 4;
      std::string Text =
          formatv("v_mfma_{0}f32_{1}x{1}x{2}_f8f6f4 {3}, {4}, {5}, 0",
                  Scaled ? "scale_" : "", M, K, range('v', D0, M * M / 64),
                  range('v', A0, BitsA), range('v', B0, BitsB))
              .str();
      if (Scaled)
        Text += formatv(", v{0}, v{1} op_sel:[{2},{3},0] op_sel_hi:[{4},{5},0]",
                        SA, SB, ByteA & 1, ByteB & 1, ByteA >> 1, ByteB >> 1)
                    .str();
      Text += formatv(" cbsz:{0} blgp:{1}", A.Field, B.Field).str();
      F.run(Text);
      for (unsigned Row = 0; Row != M; ++Row)
        for (unsigned Column = 0; Column != M; ++Column) {
          double Want = 0;
          for (unsigned G = 0; G != Groups; ++G) {
            double Sum = 0;
            for (unsigned I = G * PerLane; I != (G + 1) * PerLane; ++I)
              Sum += ValueA[Row * K + I] * ValueB[Column * K + I];
            int Exponent =
                int(F.v(SA, G * M + Row) >> (8 * ByteA) & 0xff) - 127 +
                int(F.v(SB, G * M + Column) >> (8 * ByteB) & 0xff) - 127;
            Want += Scaled ? std::ldexp(Sum, Exponent) : Sum;
          }
          Shape S = {"", "gfx950", M, K, 1, 8};
          OutputPlace P(S, Row, Column, 0);
          ASSERT_EQ(F.f(D0 + P.Register, P.Lane), Want)
              << Text << " row " << Row << " column " << Column;
        }
    }
}

TEST(Mfma, ScaledFormats16) { checkScaled(16, 128, true); }
TEST(Mfma, ScaledFormats32) { checkScaled(32, 64, true); }
TEST(Mfma, UnscaledFormats16) { checkScaled(16, 128, false); }
TEST(Mfma, UnscaledFormats32) { checkScaled(32, 64, false); }

TEST(Mfma, ScaleCodesZeroAnd254AndNaN) {
  WaveFixture F("gfx950");
  for (unsigned R = 0; R != 8; ++R) {
    F.fill(A0 + R, 0x38383838);
    F.fill(B0 + R, 0x38383838);
  }
  F.fill(SA, 0);
  F.fill(SB, 254);
  F.v(SB, 3) = 255; // k 0..31 of column 3
  F.run("v_mfma_scale_f32_16x16x128_f8f6f4 v[96:99], v[0:7], v[32:39], 0, "
        "v128, v129 op_sel_hi:[0,0,0]");
  EXPECT_EQ(F.f(D0, 0), 128);
  EXPECT_TRUE(std::isnan(F.f(D0, 3)));
  EXPECT_TRUE(std::isnan(F.f(D0 + 3, 16 + 3)));
  EXPECT_EQ(F.f(D0, 4), 128);
}

TEST(Mfma, ConstantScales) {
  WaveFixture F("gfx950");
  for (unsigned R = 0; R != 8; ++R) {
    F.fill(A0 + R, 0x38383838);
    F.fill(B0 + R, 0x38383838);
  }
  // 1.0 is 0x3f800000: byte 3 is 63, which is 2^-64; 64 is 2^-63.
  F.run("v_mfma_scale_f32_16x16x128_f8f6f4 v[96:99], v[0:7], v[32:39], 0, "
        "1.0, 64 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
  EXPECT_EQ(F.f(D0, 7), std::ldexp(128.0f, -127));
}

TEST(Mfma, FormatFieldsAreChecked) {
  WaveFixture F("gfx950");
  EXPECT_NE(F.errorOf("v_mfma_f32_16x16x128_f8f6f4 v[96:99], v[0:7], "
                      "v[32:39], 0 cbsz:5"),
            "");
  // Six-bit formats take six registers.
  EXPECT_NE(F.errorOf("v_mfma_f32_16x16x128_f8f6f4 v[96:99], v[0:7], "
                      "v[32:39], 0 cbsz:2"),
            "");
}

} // namespace
