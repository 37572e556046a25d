//===- MatrixKernelsTest.cpp - Host kernels of the matrix instructions ----===//

#include "MatrixKernels.h"
#include "PagedAttn/Emulator/Formats.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>
#include <vector>

using namespace pagedattn::emu;

namespace {

const ElementType FloatTypes[] = {
    ElementType::F16,  ElementType::BF16,     ElementType::E4M3FN,
    ElementType::E5M2, ElementType::E4M3FNUZ, ElementType::E5M2FNUZ,
    ElementType::E2M3, ElementType::E3M2,     ElementType::E2M1};

bool same(float A, float B) {
  return floatToBits(A) == floatToBits(B) || (std::isnan(A) && std::isnan(B));
}

TEST(MatrixKernels, DecodeEveryCodeOnEverySet) {
  const uint8_t First = 0;
  for (const MatrixKernels *const *K = allMatrixKernels(); *K; ++K)
    for (ElementType T : FloatTypes)
      for (uint32_t Code = 0; Code != 1u << elementBits(T); ++Code) {
        uint32_t Lanes[64];
        // The bits above the element must not matter.
        for (unsigned L = 0; L != 64; ++L)
          Lanes[L] = Code | (L * 0x9e3779b9u << elementBits(T));
        const uint32_t *Registers[] = {Lanes};
        OperandLayout Layout{T, 16, 1, 1, 0, 16, &First};
        float Tile[16];
        (*K)->DecodeFloat(Layout, Registers, Tile);
        float Want = decode(static_cast<NumFormat>(T), Code);
        for (float X : Tile)
          ASSERT_TRUE(same(X, Want)) << (*K)->Name << " code " << Code;
      }
}

TEST(MatrixKernels, XF32RoundsToTenBits) {
  const uint8_t First = 0;
  struct Case {
    uint32_t In, Out;
  };
  const Case Cases[] = {
      {0x3f800fffu, 0x3f800000u}, // below half
      {0x3f801000u, 0x3f800000u}, // tie to even
      {0x3f803000u, 0x3f804000u}, // tie to even, upwards
      {0x3f801001u, 0x3f802000u}, {0x7f800000u, 0x7f800000u},
      {0x3fffffffu, 0x40000000u},
  };
  for (const MatrixKernels *const *K = allMatrixKernels(); *K; ++K)
    for (Case C : Cases) {
      uint32_t Lanes[16];
      std::fill_n(Lanes, 16, C.In);
      const uint32_t *Registers[] = {Lanes};
      OperandLayout Layout{ElementType::XF32, 16, 1, 1, 0, 16, &First};
      float Tile[16];
      (*K)->DecodeFloat(Layout, Registers, Tile);
      EXPECT_EQ(floatToBits(Tile[7]), C.Out);
    }
}

/// Straddling 6-bit elements, two lane groups, a permuted k.
TEST(MatrixKernels, LayoutPlacesElements) {
  std::mt19937 Random(2);
  constexpr unsigned Slots = 32, Groups = 2, Rows = 16;
  uint8_t KOf[Slots * Groups];
  for (unsigned I = 0; I != Slots * Groups; ++I)
    KOf[I] = uint8_t((I * 5) % (Slots * Groups));
  uint32_t Lanes[6][64] = {};
  uint32_t Codes[Groups][Slots][Rows];
  for (unsigned G = 0; G != Groups; ++G)
    for (unsigned R = 0; R != Rows; ++R) {
      uint32_t Words[6] = {};
      for (unsigned S = 0; S != Slots; ++S) {
        Codes[G][S][R] = Random() % 64;
        insertPacked(Words, S, 6, Codes[G][S][R]);
      }
      for (unsigned W = 0; W != 6; ++W)
        Lanes[W][3 + 24 * G + R] = Words[W];
    }
  const uint32_t *Registers[6];
  for (unsigned W = 0; W != 6; ++W)
    Registers[W] = Lanes[W];
  OperandLayout Layout{ElementType::E2M3, Rows, Groups, Slots, 3, 24, KOf};
  for (const MatrixKernels *const *K = allMatrixKernels(); *K; ++K) {
    std::vector<float> Tile(Slots * Groups * Rows);
    (*K)->DecodeFloat(Layout, Registers, Tile.data());
    for (unsigned G = 0; G != Groups; ++G)
      for (unsigned S = 0; S != Slots; ++S)
        for (unsigned R = 0; R != Rows; ++R)
          ASSERT_EQ(Tile[KOf[G * Slots + S] * Rows + R],
                    decode(NumFormat::E2M3, Codes[G][S][R]));
  }
}

/// All sets give the same bits, and those are the fma chain in ascending k.
TEST(MatrixKernels, MultiplyIsAnFmaChain) {
  std::mt19937 Random(3);
  std::normal_distribution<float> Normal;
  const unsigned Shapes[][3] = {
      {16, 16, 128}, {32, 32, 16}, {16, 16, 4}, {4, 4, 4}, {32, 32, 1}};
  for (auto &S : Shapes) {
    const unsigned M = S[0], N = S[1], K = S[2];
    std::vector<float> A(K * M), B(K * N), C(M * N);
    for (auto *V : {&A, &B, &C})
      for (float &X : *V)
        X = Normal(Random);
    std::vector<float> Want = C;
    for (unsigned I = 0; I != M; ++I)
      for (unsigned J = 0; J != N; ++J)
        for (unsigned L = 0; L != K; ++L)
          Want[I * N + J] =
              std::fma(A[L * M + I], B[L * N + J], Want[I * N + J]);
    for (const MatrixKernels *const *P = allMatrixKernels(); *P; ++P) {
      std::vector<float> Got = C;
      (*P)->Multiply(M, N, K, A.data(), B.data(), Got.data());
      EXPECT_EQ(Got, Want) << (*P)->Name << " " << M << "x" << N << "x" << K;
    }
  }
}

TEST(MatrixKernels, ScalesApplyPerBlock) {
  // Every k block contributes 32 * its two scales; extreme codes stay exact.
  constexpr unsigned M = 16, N = 16, K = 128, Block = 32;
  std::vector<float> A(K * M, 1), B(K * N, 1);
  std::vector<double> SA(4 * M), SB(4 * N);
  for (unsigned I = 0; I != M; ++I) {
    SA[0 * M + I] = std::ldexp(1.0, int(I));
    SA[1 * M + I] = decodeE8M0(0);
    SA[2 * M + I] = 0.5;
    SA[3 * M + I] = 2;
    SB[0 * N + I] = std::ldexp(1.0, -int(I));
    SB[1 * N + I] = decodeE8M0(254);
    SB[2 * N + I] = 0.25;
    SB[3 * N + I] = 4;
  }
  for (const MatrixKernels *const *P = allMatrixKernels(); *P; ++P) {
    std::vector<float> Acc(M * N, 3);
    (*P)->MultiplyScaled(M, N, K, Block, A.data(), B.data(), SA.data(),
                         SB.data(), Acc.data());
    for (unsigned I = 0; I != M; ++I)
      for (unsigned J = 0; J != N; ++J)
        ASSERT_EQ(
            Acc[I * N + J],
            float(3 + 32 * std::ldexp(1.0, int(I) - int(J)) + 32 + 4 + 256));
  }
}

TEST(MatrixKernels, ANaNScaleSpoilsItsRowOnly) {
  constexpr unsigned M = 16, N = 16, K = 32;
  std::vector<float> A(K * M, 0), B(K * N, 1), Acc(M * N, 1);
  std::vector<double> SA(M, 1), SB(N, 1);
  SA[5] = decodeE8M0(255);
  hostMatrixKernels().MultiplyScaled(M, N, K, 32, A.data(), B.data(), SA.data(),
                                     SB.data(), Acc.data());
  for (unsigned I = 0; I != M; ++I)
    EXPECT_EQ(std::isnan(Acc[I * N + 3]), I == 5);
}

} // namespace
