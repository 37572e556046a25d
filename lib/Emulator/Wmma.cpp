//===- Wmma.cpp - Matrix instructions of gfx1250 --------------------------===//
//
// Layouts, wave32: lane i + 16 h holds row i of A (column i of B); the two
// halves h take turns along k, in runs whose length depends on the element
// size. Result register r holds row 8 h + r, column i; 16-bit results are
// packed, the even row low. An A of 32 rows is two A of 16 rows in consecutive
// registers, and so is its result.
//
// 16-bit results are accumulated in binary32 and rounded once at the end.
//
//===----------------------------------------------------------------------===//

#include "MatrixTile.h"
#include "Ops.h"
#include "llvm/ADT/Twine.h"
#include <vector>

using namespace pagedattn::emu;

namespace {

enum class Scaling : uint8_t { None, Block32, Block16 };

enum class Result : uint8_t { F32, F16, BF16, I32 };

/// Modifiers a shape has besides those of C.
enum Feature : uint8_t {
  NegAB = 1,      ///< neg_lo and neg_hi of A and B
  NegF32 = 2,     ///< neg_lo of A and B
  SignedAB = 4,   ///< neg_lo of A and B tells that they are signed; clamp
  FormatField = 8 ///< matrix_a_fmt, matrix_b_fmt
};

struct Shape {
  const char *Name;
  uint8_t M, K;
  ElementType A, B;
  Result Out;
  uint8_t Features = 0;
  Scaling Scale = Scaling::None;
  bool SplitC = false; ///< C is binary32 while D is bfloat16
};

// clang-format off
using E = ElementType;
constexpr Shape Shapes[] = {
    {"v_wmma_f32_16x16x4_f32",        16,   4, E::F32,    E::F32,    Result::F32, NegF32},
    {"v_wmma_f32_16x16x32_f16",       16,  32, E::F16,    E::F16,    Result::F32, NegAB},
    {"v_wmma_f32_16x16x32_bf16",      16,  32, E::BF16,   E::BF16,   Result::F32, NegAB},
    {"v_wmma_f16_16x16x32_f16",       16,  32, E::F16,    E::F16,    Result::F16, NegAB},
    {"v_wmma_bf16_16x16x32_bf16",     16,  32, E::BF16,   E::BF16,   Result::BF16, NegAB},
    {"v_wmma_bf16f32_16x16x32_bf16",  16,  32, E::BF16,   E::BF16,   Result::BF16, NegAB, Scaling::None, true},
    {"v_wmma_f32_16x16x64_fp8_fp8",   16,  64, E::E4M3FN, E::E4M3FN, Result::F32},
    {"v_wmma_f32_16x16x64_fp8_bf8",   16,  64, E::E4M3FN, E::E5M2,   Result::F32},
    {"v_wmma_f32_16x16x64_bf8_fp8",   16,  64, E::E5M2,   E::E4M3FN, Result::F32},
    {"v_wmma_f32_16x16x64_bf8_bf8",   16,  64, E::E5M2,   E::E5M2,   Result::F32},
    {"v_wmma_f16_16x16x64_fp8_fp8",   16,  64, E::E4M3FN, E::E4M3FN, Result::F16},
    {"v_wmma_f16_16x16x64_fp8_bf8",   16,  64, E::E4M3FN, E::E5M2,   Result::F16},
    {"v_wmma_f16_16x16x64_bf8_fp8",   16,  64, E::E5M2,   E::E4M3FN, Result::F16},
    {"v_wmma_f16_16x16x64_bf8_bf8",   16,  64, E::E5M2,   E::E5M2,   Result::F16},
    {"v_wmma_f32_16x16x128_fp8_fp8",  16, 128, E::E4M3FN, E::E4M3FN, Result::F32},
    {"v_wmma_f32_16x16x128_fp8_bf8",  16, 128, E::E4M3FN, E::E5M2,   Result::F32},
    {"v_wmma_f32_16x16x128_bf8_fp8",  16, 128, E::E5M2,   E::E4M3FN, Result::F32},
    {"v_wmma_f32_16x16x128_bf8_bf8",  16, 128, E::E5M2,   E::E5M2,   Result::F32},
    {"v_wmma_f16_16x16x128_fp8_fp8",  16, 128, E::E4M3FN, E::E4M3FN, Result::F16},
    {"v_wmma_f16_16x16x128_fp8_bf8",  16, 128, E::E4M3FN, E::E5M2,   Result::F16},
    {"v_wmma_f16_16x16x128_bf8_fp8",  16, 128, E::E5M2,   E::E4M3FN, Result::F16},
    {"v_wmma_f16_16x16x128_bf8_bf8",  16, 128, E::E5M2,   E::E5M2,   Result::F16},
    {"v_wmma_i32_16x16x64_iu8",       16,  64, E::I8,     E::I8,     Result::I32, SignedAB},
    {"v_wmma_f32_16x16x128_f8f6f4",   16, 128, E::E4M3FN, E::E4M3FN, Result::F32, FormatField},
    {"v_wmma_f32_32x16x128_f4",       32, 128, E::E2M1,   E::E2M1,   Result::F32},
    {"v_wmma_scale_f32_16x16x128_f8f6f4",   16, 128, E::E4M3FN, E::E4M3FN, Result::F32, FormatField, Scaling::Block32},
    {"v_wmma_scale16_f32_16x16x128_f8f6f4", 16, 128, E::E4M3FN, E::E4M3FN, Result::F32, FormatField, Scaling::Block16},
    {"v_wmma_scale_f32_32x16x128_f4",       32, 128, E::E2M1,   E::E2M1,   Result::F32, 0, Scaling::Block32},
    {"v_wmma_scale16_f32_32x16x128_f4",     32, 128, E::E2M1,   E::E2M1,   Result::F32, 0, Scaling::Block16},
};
// clang-format on

enum { AuxShape, AuxTypeA, AuxTypeB };

constexpr unsigned N = 16;

/// k of slot s of half h, at [h * slots + s]: half h has every second run of
/// Run elements.
struct AlternatingK {
  uint8_t K[128];
  AlternatingK(unsigned Slots, unsigned Run) {
    for (unsigned H = 0; H != 2; ++H)
      for (unsigned S = 0; S != Slots; ++S)
        K[H * Slots + S] = uint8_t(2 * Run * (S / Run) + Run * H + S % Run);
  }
};

const uint8_t *alternatingK(unsigned Bits, unsigned Slots) {
  static const AlternatingK F32(2, 2), Half(16, 8), Byte64(32, 16),
      Byte128(64, 16), Narrow(64, 32);
  switch (Bits) {
  case 32:
    return F32.K;
  case 16:
    return Half.K;
  case 8:
    return Slots == 32 ? Byte64.K : Byte128.K;
  default:
    return Narrow.K;
  }
}

OperandLayout layoutOf(const Shape &S, ElementType Type) {
  unsigned Slots = S.K / 2;
  return {
      Type, N, 2, uint8_t(Slots), 0, N, alternatingK(elementBits(Type), Slots)};
}

/// neg_lo negates the even and neg_hi the odd elements of a register.
void negate(float *Tile, unsigned K, bool Even, bool Odd) {
  for (unsigned I = 0; I != K; ++I)
    if (I % 2 ? Odd : Even)
      for (unsigned J = 0; J != N; ++J)
        Tile[I * N + J] = -Tile[I * N + J];
}

/// Scales of 16 rows or columns, [block][i]; the scale of i is in lane
/// FirstLane + i, one byte per block.
void loadScales(Wave &W, const Operand &O, unsigned FirstLane, unsigned Blocks,
                double *Scales) {
  for (unsigned I = 0; I != N; ++I)
    for (unsigned B = 0; B != Blocks; ++B) {
      uint32_t Word = laneValue(W, O, FirstLane + I, B / 4);
      Scales[B * N + I] = scaleTable()[Word >> (8 * (B % 4)) & 0xff];
    }
}

/// Reads 16 rows of C; the registers start at First.
void loadC(Wave &W, const Instruction &I, const Shape &S, unsigned First,
           float *Acc) {
  const Operand &O = I.Src[2];
  const bool Narrow =
      (S.Out == Result::F16 || S.Out == Result::BF16) && !S.SplitC;
  const NumFormat Format =
      S.Out == Result::F16 ? NumFormat::F16 : NumFormat::BF16;
  const unsigned Count = Narrow ? 4 : 8;
  RegisterRange C(W, O, Count, First);
  const bool Neg = I.Mod.NegLo & 4, Abs = I.Mod.NegHi & 4;
  for (unsigned Row = 0; Row != 16; ++Row)
    for (unsigned J = 0; J != N; ++J) {
      unsigned Lane = Row / 8 * N + J;
      float X;
      if (Narrow) {
        uint32_t Pair = C.Regs[Row % 8 / 2][Lane];
        X = decode(Format, Row % 2 ? Pair >> 16 : Pair & 0xffff);
      } else {
        X = bitsToFloat(C.Regs[Row % 8][Lane]);
      }
      if (Abs)
        X = bitsToFloat(floatToBits(X) & 0x7fffffff);
      Acc[Row * N + J] = Neg ? -X : X;
    }
}

void storeD(Wave &W, const Instruction &I, const Shape &S, unsigned First,
            const float *Acc) {
  if (S.Out == Result::F32) {
    for (unsigned Row = 0; Row != 16; ++Row)
      std::memcpy(outputRegister(W, I, First + Row % 8) + Row / 8 * N,
                  Acc + Row * N, N * 4);
    return;
  }
  EncodeOptions Options;
  NumFormat Format = NumFormat::BF16;
  if (S.Out == Result::F16) {
    Format = NumFormat::F16;
    Options.Saturate = W.Mode.fp16Ovfl();
  }
  for (unsigned Row = 0; Row != 16; Row += 2)
    for (unsigned J = 0; J != N; ++J)
      outputRegister(W, I, First + Row % 8 / 2)[Row / 8 * N + J] =
          encode(Format, Acc[Row * N + J], Options) |
          encode(Format, Acc[(Row + 1) * N + J], Options) << 16;
}

void executeFloat(Wave &W, const Instruction &I) {
  const Shape &S = Shapes[I.Aux[AuxShape]];
  const MatrixKernels &Kernels = hostMatrixKernels();
  const ElementType TypeA = ElementType(I.Aux[AuxTypeA]);
  const ElementType TypeB = ElementType(I.Aux[AuxTypeB]);
  const unsigned RegistersA = registersFor(TypeA, S.K / 2);
  const unsigned Halves = S.M / 16;
  MatrixScratch T;
  float Acc[2][16 * N];

  RegisterRange B(W, I.Src[1], registersFor(TypeB, S.K / 2));
  Kernels.DecodeFloat(layoutOf(S, TypeB), B.Regs, T.B);
  if (S.Features & NegAB)
    negate(T.B, S.K, I.Mod.NegLo & 2, I.Mod.NegHi & 2);
  if (S.Features & NegF32)
    negate(T.B, S.K, I.Mod.NegLo & 2, I.Mod.NegLo & 2);

  const bool ByBlock = (S.Features & FormatField) || S.M == 32;
  const unsigned BlockK = S.Scale == Scaling::Block16 ? 16 : 32;
  const unsigned Blocks = S.K / BlockK;
  double ScaleA[8 * N], ScaleB[8 * N];
  for (unsigned K = 0; K != 8 * N; ++K)
    ScaleA[K] = ScaleB[K] = 1;
  if (S.Scale != Scaling::None)
    loadScales(W, I.Src[4], I.Mod.MatrixBScale * N, Blocks, ScaleB);

  for (unsigned H = 0; H != Halves; ++H) {
    RegisterRange A(W, I.Src[0], RegistersA, H * RegistersA);
    Kernels.DecodeFloat(layoutOf(S, TypeA), A.Regs, T.A);
    if (S.Features & NegAB)
      negate(T.A, S.K, I.Mod.NegLo & 1, I.Mod.NegHi & 1);
    if (S.Features & NegF32)
      negate(T.A, S.K, I.Mod.NegLo & 1, I.Mod.NegLo & 1);
    loadC(W, I, S, H * 8, Acc[H]);
    if (ByBlock) {
      // 32 rows take all lanes of the scale register, 16 rows one half.
      unsigned FirstLane = Halves == 2 ? H * N : I.Mod.MatrixAScale * N;
      if (S.Scale != Scaling::None)
        loadScales(W, I.Src[3], FirstLane, Blocks, ScaleA);
      Kernels.MultiplyScaled(16, N, S.K, BlockK, T.A, T.B, ScaleA, ScaleB,
                             Acc[H]);
    } else {
      Kernels.Multiply(16, N, S.K, T.A, T.B, Acc[H]);
    }
  }
  // D may overlap the sources of the second half.
  for (unsigned H = 0; H != Halves; ++H)
    storeD(W, I, S, H * 8, Acc[H]);
  ++W.Thread->MatrixOps;
}

void executeInt(Wave &W, const Instruction &I) {
  const Shape &S = Shapes[I.Aux[AuxShape]];
  const ElementType TypeA = I.Mod.NegLo & 1 ? ElementType::I8 : ElementType::U8;
  const ElementType TypeB = I.Mod.NegLo & 2 ? ElementType::I8 : ElementType::U8;
  RegisterRange A(W, I.Src[0], registersFor(TypeA, S.K / 2));
  RegisterRange B(W, I.Src[1], registersFor(TypeB, S.K / 2));
  RegisterRange C(W, I.Src[2], 8);
  int32_t TileA[64 * 16], TileB[64 * N];
  int64_t Acc[16 * N];
  decodeInt(layoutOf(S, TypeA), A.Regs, TileA);
  decodeInt(layoutOf(S, TypeB), B.Regs, TileB);
  for (unsigned Row = 0; Row != 16; ++Row)
    for (unsigned J = 0; J != N; ++J)
      Acc[Row * N + J] = int32_t(C.Regs[Row % 8][Row / 8 * N + J]);
  multiplyInt(16, N, S.K, TileA, TileB, Acc);
  for (unsigned Row = 0; Row != 16; ++Row)
    for (unsigned J = 0; J != N; ++J) {
      int64_t X = Acc[Row * N + J];
      if (I.Mod.Clamp)
        X = std::min<int64_t>(std::max<int64_t>(X, INT32_MIN), INT32_MAX);
      outputRegister(W, I, Row % 8)[Row / 8 * N + J] = uint32_t(X);
    }
  ++W.Thread->MatrixOps;
}

/// What of the modifiers of I the shape does not have, or an empty string.
const char *unsupportedModifier(const Instruction &I, const Shape &S) {
  const Modifiers &M = I.Mod;
  const unsigned NegLoAB = M.NegLo & 3, NegHiAB = M.NegHi & 3;
  if (NegLoAB && !(S.Features & (NegAB | NegF32 | SignedAB)))
    return "neg_lo of A or B";
  if (NegHiAB && !(S.Features & NegAB))
    return "neg_hi of A or B";
  if (S.Out == Result::I32 && ((M.NegLo | M.NegHi) & 4))
    return "neg of an integer C";
  if (M.Clamp && !(S.Features & SignedAB))
    return "clamp";
  if (M.MatrixAScaleFmt || M.MatrixBScaleFmt)
    return "a scale format other than E8M0";
  return nullptr;
}

bool prepare(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  unsigned Index = 0;
  while (llvm::StringRef(Shapes[Index].Name) != I.Info->Name)
    ++Index;
  const Shape &S = Shapes[Index];
  I.Aux[AuxShape] = Index;
  ElementType TypeA = S.A, TypeB = S.B;
  if ((S.Features & FormatField) &&
      (!elementOfFormatField(I.Mod.MatrixAFmt, TypeA) ||
       !elementOfFormatField(I.Mod.MatrixBFmt, TypeB))) {
    Err = "matrix format out of range, expected 0 to 4";
    return false;
  }
  I.Aux[AuxTypeA] = unsigned(TypeA);
  I.Aux[AuxTypeB] = unsigned(TypeB);
  if (const char *What = unsupportedModifier(I, S)) {
    Err = (llvm::Twine("unsupported modifier: ") + What).str();
    return false;
  }

  auto Check = [&](const Operand &O, unsigned Count, const char *What,
                   bool ConstAllowed) {
    if ((O.isVgpr() && O.Dwords == Count) || (ConstAllowed && O.isConst()))
      return true;
    Err = (llvm::Twine(What) + " is not " + llvm::Twine(Count) +
           " vector registers")
              .str();
    return false;
  };
  const bool Narrow = S.Out == Result::F16 || S.Out == Result::BF16;
  const unsigned Output = S.M / 16 * (Narrow ? 4 : 8);
  if (!Check(I.Dst[0], Output, "destination", false) ||
      !Check(I.Src[0], S.M / 16 * registersFor(TypeA, S.K / 2), "source A",
             false) ||
      !Check(I.Src[1], registersFor(TypeB, S.K / 2), "source B", false) ||
      !Check(I.Src[2], S.SplitC ? 8 : Output, "source C", true))
    return false;
  if (Narrow && !S.SplitC && I.Src[2].isConst() && I.Src[2].Imm != 0) {
    Err = "non-zero constant as a packed 16-bit source C";
    return false;
  }
  return true;
}

std::vector<OpInfo> makeTable() {
  std::vector<OpInfo> Table;
  for (const Shape &S : Shapes) {
    OpInfo Op = {};
    Op.Name = S.Name;
    Op.Fn = S.Out == Result::I32 ? executeInt : executeFloat;
    Op.Class = OpClass::Matrix;
    Op.NumDst = 1;
    Ty C = S.Out == Result::I32 ? Ty::I32 : Ty::F32;
    Ty Scale = S.Scale == Scaling::Block16 ? Ty::B64 : Ty::B32;
    Op.Types = {Ty::Wide, Ty::Wide, Ty::Wide, C, Scale, Scale, Ty::None};
    Op.Prepare = prepare;
    Table.push_back(Op);
  }
  return Table;
}

} // namespace

OpTable pagedattn::emu::wmmaOps() {
  static const std::vector<OpInfo> Table = makeTable();
  return Table;
}
