//===- WmmaTest.cpp - Matrix instructions of gfx1250 ----------------------===//

#include "WaveFixture.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace llvm;
using namespace pagedattn::emu;

namespace {

constexpr unsigned A0 = 0, B0 = 32, C0 = 64, D0 = 96, SA = 128, SB = 130;

std::string range(unsigned First, unsigned Count) {
  return Count == 1 ? formatv("v{0}", First).str()
                    : formatv("v[{0}:{1}]", First, First + Count - 1).str();
}

/// The slot of k in a lane, and the half of the wave that holds it: runs of
/// `Run` elements alternate between the halves.
struct Place {
  unsigned Half, Slot;
  Place(unsigned K, unsigned Run)
      : Half(K / Run % 2), Slot(K / (2 * Run) * Run + K % Run) {}
};

unsigned runOf(unsigned Bits) {
  return Bits == 32 ? 2 : Bits == 16 ? 8 : Bits == 8 ? 16 : 32;
}

struct Input {
  NumFormat Format;
  unsigned Bits; ///< 32 for binary32
};

constexpr Input F32 = {NumFormat::F16, 32}, F16 = {NumFormat::F16, 16},
                BF16 = {NumFormat::BF16, 16}, FP8 = {NumFormat::E4M3FN, 8},
                BF8 = {NumFormat::E5M2, 8}, FP6 = {NumFormat::E2M3, 6},
                BF6 = {NumFormat::E3M2, 6}, FP4 = {NumFormat::E2M1, 4};

/// Rows (or columns) x K values in the registers from First on; a second group
/// of 16 rows is in the registers behind the first.
std::vector<double> fillInput(WaveFixture &F, unsigned First, Input In,
                              unsigned Rows, unsigned K, std::mt19937 &Random) {
  std::vector<double> Values(Rows * K);
  for (unsigned Row = 0; Row != Rows; ++Row)
    for (unsigned I = 0; I != K; ++I) {
      double X = (int(Random() % 7) - 3) / 2.0;
      Values[Row * K + I] = X;
      Place P(I, runOf(In.Bits));
      uint32_t Code =
          In.Bits == 32 ? floatToBits(float(X)) : encode(In.Format, X);
      F.insert(First + Row / 16 * (K / 2 * In.Bits / 32),
               16 * P.Half + Row % 16, P.Slot, In.Bits, Code);
    }
  return Values;
}

double dot(const std::vector<double> &A, const std::vector<double> &B,
           unsigned Row, unsigned Column, unsigned K, unsigned First,
           unsigned Count) {
  double Sum = 0;
  for (unsigned I = First; I != First + Count; ++I)
    Sum += A[Row * K + I] * B[Column * K + I];
  return Sum;
}

unsigned laneOf(unsigned Row, unsigned Column) {
  return Row % 16 / 8 * 16 + Column;
}

struct Shape {
  const char *Name;
  unsigned K;
  Input A, B;
  unsigned Out; ///< bits of D
  NumFormat OutFormat = NumFormat::F16;
  bool WideC = false;
};

// clang-format off
const Shape Shapes[] = {
    {"v_wmma_f32_16x16x4_f32", 4, F32, F32, 32},
    {"v_wmma_f32_16x16x32_f16", 32, F16, F16, 32},
    {"v_wmma_f32_16x16x32_bf16", 32, BF16, BF16, 32},
    {"v_wmma_f16_16x16x32_f16", 32, F16, F16, 16},
    {"v_wmma_bf16_16x16x32_bf16", 32, BF16, BF16, 16, NumFormat::BF16},
    {"v_wmma_bf16f32_16x16x32_bf16", 32, BF16, BF16, 16, NumFormat::BF16, true},
    {"v_wmma_f32_16x16x64_fp8_fp8", 64, FP8, FP8, 32},
    {"v_wmma_f32_16x16x64_fp8_bf8", 64, FP8, BF8, 32},
    {"v_wmma_f32_16x16x64_bf8_fp8", 64, BF8, FP8, 32},
    {"v_wmma_f32_16x16x64_bf8_bf8", 64, BF8, BF8, 32},
    {"v_wmma_f16_16x16x64_fp8_fp8", 64, FP8, FP8, 16},
    {"v_wmma_f16_16x16x64_fp8_bf8", 64, FP8, BF8, 16},
    {"v_wmma_f16_16x16x64_bf8_fp8", 64, BF8, FP8, 16},
    {"v_wmma_f16_16x16x64_bf8_bf8", 64, BF8, BF8, 16},
    {"v_wmma_f32_16x16x128_fp8_fp8", 128, FP8, FP8, 32},
    {"v_wmma_f32_16x16x128_fp8_bf8", 128, FP8, BF8, 32},
    {"v_wmma_f32_16x16x128_bf8_fp8", 128, BF8, FP8, 32},
    {"v_wmma_f32_16x16x128_bf8_bf8", 128, BF8, BF8, 32},
    {"v_wmma_f16_16x16x128_fp8_fp8", 128, FP8, FP8, 16},
    {"v_wmma_f16_16x16x128_fp8_bf8", 128, FP8, BF8, 16},
    {"v_wmma_f16_16x16x128_bf8_fp8", 128, BF8, FP8, 16},
    {"v_wmma_f16_16x16x128_bf8_bf8", 128, BF8, BF8, 16},
};
// clang-format on

/// Writes C[row][column] = row - column in the layout of D's or C's type.
void fillC(WaveFixture &F, unsigned Bits, NumFormat Format, unsigned Rows) {
  for (unsigned Row = 0; Row != Rows; ++Row)
    for (unsigned Column = 0; Column != 16; ++Column) {
      float X = float(int(Row) - int(Column));
      if (Bits == 32)
        F.v(C0 + Row / 16 * 8 + Row % 8, laneOf(Row, Column)) = floatToBits(X);
      else
        F.insert(C0, laneOf(Row, Column), Row % 8, 16, encode(Format, X));
    }
}

double readD(WaveFixture &F, const Shape &S, unsigned Row, unsigned Column) {
  unsigned Lane = laneOf(Row, Column);
  if (S.Out == 32)
    return F.f(D0 + Row % 8, Lane);
  uint32_t Pair = F.v(D0 + Row % 8 / 2, Lane);
  return decode(S.OutFormat, Row % 2 ? Pair >> 16 : Pair & 0xffff);
}

std::string textOf(const Shape &S) {
  unsigned Out = S.Out / 4;
  return formatv("{0} {1}, {2}, {3}, {4}", S.Name, range(D0, Out),
                 range(A0, S.K / 2 * S.A.Bits / 32),
                 range(B0, S.K / 2 * S.B.Bits / 32),
                 range(C0, S.WideC ? 8 : Out))
      .str();
}

TEST(Wmma, EveryShape) {
  for (const Shape &S : Shapes) {
    SCOPED_TRACE(S.Name);
    WaveFixture F("gfx1250");
    std::mt19937 Random(S.K);
    auto A = fillInput(F, A0, S.A, 16, S.K, Random);
    auto B = fillInput(F, B0, S.B, 16, S.K, Random);
    fillC(F, S.WideC ? 32 : S.Out, S.OutFormat, 16);
    F.run(textOf(S));
    for (unsigned Row = 0; Row != 16; ++Row)
      for (unsigned Column = 0; Column != 16; ++Column) {
        double Want =
            int(Row) - int(Column) + dot(A, B, Row, Column, S.K, 0, S.K);
        if (S.Out == 16)
          Want = decode(S.OutFormat, encode(S.OutFormat, Want));
        ASSERT_EQ(readD(F, S, Row, Column), Want)
            << "row " << Row << " column " << Column;
      }
  }
}

TEST(Wmma, SignsOfTheFactors) {
  const Shape &S = Shapes[1];
  for (unsigned Bits = 0; Bits != 64; ++Bits) {
    WaveFixture F("gfx1250");
    std::mt19937 Random(9);
    auto A = fillInput(F, A0, S.A, 16, S.K, Random);
    auto B = fillInput(F, B0, S.B, 16, S.K, Random);
    fillC(F, 32, S.OutFormat, 16);
    unsigned Lo = Bits & 7, Hi = Bits >> 3;
    F.run(textOf(S) + formatv(" neg_lo:[{0},{1},{2}] neg_hi:[{3},{4},{5}]",
                              Lo & 1, Lo >> 1 & 1, Lo >> 2, Hi & 1, Hi >> 1 & 1,
                              Hi >> 2)
                          .str());
    double Sum = 0;
    for (unsigned K = 0; K != S.K; ++K) {
      unsigned Neg = K % 2 ? Hi : Lo;
      double Product = A[3 * S.K + K] * B[11 * S.K + K];
      Sum += (Neg & 1) != (Neg >> 1 & 1) ? -Product : Product;
    }
    double C = 3 - 11;
    if (Hi & 4)
      C = std::fabs(C);
    if (Lo & 4)
      C = -C;
    ASSERT_EQ(readD(F, S, 3, 11), C + Sum) << Lo << " " << Hi;
  }
}

TEST(Wmma, IntegersWithSignAndClamp) {
  for (unsigned Signs = 0; Signs != 4; ++Signs) {
    WaveFixture F("gfx1250");
    std::mt19937 Random(4);
    int A[16][64], B[16][64];
    for (unsigned Row = 0; Row != 16; ++Row)
      for (unsigned K = 0; K != 64; ++K) {
        Place P(K, 16);
        uint8_t X = uint8_t(Random()), Y = uint8_t(Random());
        F.insert(A0, 16 * P.Half + Row, P.Slot, 8, X);
        F.insert(B0, 16 * P.Half + Row, P.Slot, 8, Y);
        A[Row][K] = Signs & 1 ? int(int8_t(X)) : int(X);
        B[Row][K] = Signs & 2 ? int(int8_t(Y)) : int(Y);
      }
    F.run(formatv("v_wmma_i32_16x16x64_iu8 v[96:103], v[0:7], v[32:39], 5 "
                  "neg_lo:[{0},{1},0]",
                  Signs & 1, Signs >> 1)
              .str());
    for (unsigned Row = 0; Row != 16; ++Row) {
      int Want = 5;
      for (unsigned K = 0; K != 64; ++K)
        Want += A[Row][K] * B[7][K];
      EXPECT_EQ(int32_t(F.v(D0 + Row % 8, laneOf(Row, 7))), Want);
    }
  }
  WaveFixture F("gfx1250");
  for (unsigned R = 0; R != 8; ++R) {
    F.fill(A0 + R, 0xffffffff);
    F.fill(B0 + R, 0xffffffff);
    F.fill(C0 + R, 0x7fffffff);
  }
  F.run("v_wmma_i32_16x16x64_iu8 v[96:103], v[0:7], v[32:39], v[64:71] clamp");
  EXPECT_EQ(F.v(D0), 0x7fffffffu);
  F.run("v_wmma_i32_16x16x64_iu8 v[96:103], v[0:7], v[32:39], v[64:71]");
  EXPECT_EQ(F.v(D0), 0x7fffffffu + 64 * 255 * 255);
}

struct Field {
  const char *Name;
  Input In;
};
const Field Fields[] = {
    {"FP8", FP8}, {"BF8", BF8}, {"FP6", FP6}, {"BF6", BF6}, {"FP4", FP4}};

enum class Scale { None, Block32, Block16 };

/// Every lane and byte of the scale registers differs.
void fillScales(WaveFixture &F, std::mt19937 &Random) {
  for (unsigned R : {SA, SA + 1, SB, SB + 1})
    for (unsigned L = 0; L != 32; ++L)
      for (unsigned Byte = 0; Byte != 4; ++Byte)
        F.v(R, L) |= (124 + Random() % 7) << (8 * Byte);
}

int exponentOf(WaveFixture &F, unsigned Register, unsigned Lane,
               unsigned Block) {
  return int(F.v(Register + Block / 4, Lane) >> (8 * (Block % 4)) & 0xff) - 127;
}

void checkF8F6F4(Scale Scaling) {
  std::mt19937 Random(6);
  const unsigned BlockK = Scaling == Scale::Block16 ? 16 : 32;
  const char *Name = Scaling == Scale::None      ? ""
                     : Scaling == Scale::Block32 ? "scale_"
                                                 : "scale16_";
  for (const Field &A : Fields)
    for (const Field &B : Fields) {
      WaveFixture F("gfx1250");
      auto ValueA = fillInput(F, A0, A.In, 16, 128, Random);
      auto ValueB = fillInput(F, B0, B.In, 16, 128, Random);
      fillScales(F, Random);
      unsigned RowA = Random() % 2, RowB = Random() % 2;
      std::string Text =
          formatv("v_wmma_{0}f32_16x16x128_f8f6f4 {1}, {2}, {3}, 0", Name,
                  range(D0, 8), range(A0, A.In.Bits * 2),
                  range(B0, B.In.Bits * 2))
              .str();
      if (Scaling != Scale::None) {
        unsigned Count = Scaling == Scale::Block16 ? 2 : 1;
        Text += ", " + range(SA, Count) + ", " + range(SB, Count);
      }
      Text +=
          formatv(" matrix_a_fmt:MATRIX_FMT_{0} matrix_b_fmt:MATRIX_FMT_{1}",
                  A.Name, B.Name)
              .str();
      if (Scaling != Scale::None && RowA)
        Text += " matrix_a_scale:MATRIX_SCALE_ROW1";
      if (Scaling != Scale::None && RowB)
        Text += " matrix_b_scale:MATRIX_SCALE_ROW1";
      F.run(Text);
      for (unsigned Row = 0; Row != 16; ++Row)
        for (unsigned Column = 0; Column != 16; ++Column) {
          double Want = 0;
          for (unsigned Block = 0; Block != 128 / BlockK; ++Block) {
            double Sum =
                dot(ValueA, ValueB, Row, Column, 128, Block * BlockK, BlockK);
            if (Scaling != Scale::None)
              Sum = std::ldexp(
                  Sum, exponentOf(F, SA, Row + 16 * RowA, Block) +
                           exponentOf(F, SB, Column + 16 * RowB, Block));
            Want += Sum;
          }
          ASSERT_EQ(F.f(D0 + Row % 8, laneOf(Row, Column)), Want)
              << Text << " row " << Row << " column " << Column;
        }
    }
}

TEST(Wmma, Unscaled) { checkF8F6F4(Scale::None); }
TEST(Wmma, ScaleBlocksOf32) { checkF8F6F4(Scale::Block32); }
TEST(Wmma, ScaleBlocksOf16) { checkF8F6F4(Scale::Block16); }

void checkWide(Scale Scaling) {
  std::mt19937 Random(8);
  const unsigned BlockK = Scaling == Scale::Block16 ? 16 : 32;
  WaveFixture F("gfx1250");
  auto A = fillInput(F, A0, FP4, 32, 128, Random);
  auto B = fillInput(F, B0, FP4, 16, 128, Random);
  fillC(F, 32, NumFormat::F16, 32);
  fillScales(F, Random);
  std::string Text = "v_wmma_f32_32x16x128_f4 v[96:111], v[0:15], v[32:39], "
                     "v[64:79]";
  if (Scaling == Scale::Block32)
    Text = "v_wmma_scale_f32_32x16x128_f4 v[96:111], v[0:15], v[32:39], "
           "v[64:79], v128, v130 matrix_b_scale:MATRIX_SCALE_ROW1";
  if (Scaling == Scale::Block16)
    Text = "v_wmma_scale16_f32_32x16x128_f4 v[96:111], v[0:15], v[32:39], "
           "v[64:79], v[128:129], v[130:131] matrix_b_scale:MATRIX_SCALE_ROW1";
  F.run(Text);
  for (unsigned Row = 0; Row != 32; ++Row)
    for (unsigned Column = 0; Column != 16; ++Column) {
      double Want = int(Row) - int(Column);
      for (unsigned Block = 0; Block != 128 / BlockK; ++Block) {
        double Sum = dot(A, B, Row, Column, 128, Block * BlockK, BlockK);
        if (Scaling != Scale::None)
          Sum = std::ldexp(Sum, exponentOf(F, SA, Row, Block) +
                                    exponentOf(F, SB, Column + 16, Block));
        Want += Sum;
      }
      ASSERT_EQ(F.f(D0 + Row / 16 * 8 + Row % 8, laneOf(Row, Column)), Want)
          << Text << " row " << Row << " column " << Column;
    }
}

TEST(Wmma, ThirtyTwoRowsOfFp4) {
  checkWide(Scale::None);
  checkWide(Scale::Block32);
  checkWide(Scale::Block16);
}

TEST(Wmma, UnknownModifiersAreRejected) {
  WaveFixture F("gfx1250");
  const std::string Base = "v_wmma_scale_f32_16x16x128_f8f6f4 v[96:103], "
                           "v[0:15], v[32:47], 0, v128, v130";
  EXPECT_EQ(F.errorOf(Base + " matrix_a_reuse matrix_b_reuse"), "");
  EXPECT_NE(F.errorOf(Base + " matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3"), "");
  EXPECT_NE(F.errorOf(Base + " neg_lo:[1,0,0]"), "");
  EXPECT_NE(F.errorOf(Base + " matrix_a_fmt:MATRIX_FMT_FP4"), "")
      << "fp4 takes eight registers";
  EXPECT_NE(F.errorOf("v_wmma_f32_16x16x64_fp8_fp8 v[96:103], v[0:7], "
                      "v[32:39], 0 neg_hi:[1,0,0]"),
            "");
}

} // namespace
