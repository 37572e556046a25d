//===- Mfma.cpp - Matrix instructions of gfx942 and gfx950 ----------------===//
//
// Layouts, for M x N x K in Blocks independent blocks: lane
// i + M * (b + Blocks * g) holds row i of A (column i of B) of block b, with
// K slice g, whose elements are consecutive in the operand's registers. 32-bit
// results come in groups of four rows per register group, 64-bit ones in single
// rows; within a register the blocks, then the row groups follow each other.
//
//===----------------------------------------------------------------------===//

#include "MatrixTile.h"
#include "Ops.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <vector>

using namespace pagedattn::emu;

namespace {

enum class Input : uint8_t {
  F32,
  XF32,
  F16,
  BF16,
  FP8, ///< of the chip's flavour
  BF8,
  I8,
  F64,
  ByField, ///< cbsz names the format of A, blgp that of B
};

struct Shape {
  const char *Name;
  uint8_t M, N, K, Blocks;
  Input A, B;
  bool Scaled = false;
};

// clang-format off
constexpr Shape Shapes[] = {
    {"v_mfma_f32_32x32x1_2b_f32",      32, 32,   1,  2, Input::F32,  Input::F32},
    {"v_mfma_f32_16x16x1_4b_f32",      16, 16,   1,  4, Input::F32,  Input::F32},
    {"v_mfma_f32_4x4x1_16b_f32",        4,  4,   1, 16, Input::F32,  Input::F32},
    {"v_mfma_f32_32x32x2_f32",         32, 32,   2,  1, Input::F32,  Input::F32},
    {"v_mfma_f32_16x16x4_f32",         16, 16,   4,  1, Input::F32,  Input::F32},
    {"v_mfma_f32_16x16x8_xf32",        16, 16,   8,  1, Input::XF32, Input::XF32},
    {"v_mfma_f32_32x32x4_xf32",        32, 32,   4,  1, Input::XF32, Input::XF32},
    {"v_mfma_f32_32x32x4_2b_f16",      32, 32,   4,  2, Input::F16,  Input::F16},
    {"v_mfma_f32_16x16x4_4b_f16",      16, 16,   4,  4, Input::F16,  Input::F16},
    {"v_mfma_f32_4x4x4_16b_f16",        4,  4,   4, 16, Input::F16,  Input::F16},
    {"v_mfma_f32_32x32x8_f16",         32, 32,   8,  1, Input::F16,  Input::F16},
    {"v_mfma_f32_16x16x16_f16",        16, 16,  16,  1, Input::F16,  Input::F16},
    {"v_mfma_f32_32x32x16_f16",        32, 32,  16,  1, Input::F16,  Input::F16},
    {"v_mfma_f32_16x16x32_f16",        16, 16,  32,  1, Input::F16,  Input::F16},
    {"v_mfma_f32_32x32x4_2b_bf16",     32, 32,   4,  2, Input::BF16, Input::BF16},
    {"v_mfma_f32_16x16x4_4b_bf16",     16, 16,   4,  4, Input::BF16, Input::BF16},
    {"v_mfma_f32_4x4x4_16b_bf16",       4,  4,   4, 16, Input::BF16, Input::BF16},
    {"v_mfma_f32_32x32x8_bf16",        32, 32,   8,  1, Input::BF16, Input::BF16},
    {"v_mfma_f32_16x16x16_bf16",       16, 16,  16,  1, Input::BF16, Input::BF16},
    {"v_mfma_f32_32x32x16_bf16",       32, 32,  16,  1, Input::BF16, Input::BF16},
    {"v_mfma_f32_16x16x32_bf16",       16, 16,  32,  1, Input::BF16, Input::BF16},
    {"v_mfma_f32_16x16x32_fp8_fp8",    16, 16,  32,  1, Input::FP8,  Input::FP8},
    {"v_mfma_f32_16x16x32_fp8_bf8",    16, 16,  32,  1, Input::FP8,  Input::BF8},
    {"v_mfma_f32_16x16x32_bf8_fp8",    16, 16,  32,  1, Input::BF8,  Input::FP8},
    {"v_mfma_f32_16x16x32_bf8_bf8",    16, 16,  32,  1, Input::BF8,  Input::BF8},
    {"v_mfma_f32_32x32x16_fp8_fp8",    32, 32,  16,  1, Input::FP8,  Input::FP8},
    {"v_mfma_f32_32x32x16_fp8_bf8",    32, 32,  16,  1, Input::FP8,  Input::BF8},
    {"v_mfma_f32_32x32x16_bf8_fp8",    32, 32,  16,  1, Input::BF8,  Input::FP8},
    {"v_mfma_f32_32x32x16_bf8_bf8",    32, 32,  16,  1, Input::BF8,  Input::BF8},
    {"v_mfma_f32_16x16x128_f8f6f4",    16, 16, 128,  1, Input::ByField, Input::ByField},
    {"v_mfma_f32_32x32x64_f8f6f4",     32, 32,  64,  1, Input::ByField, Input::ByField},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", 16, 16, 128, 1, Input::ByField, Input::ByField, true},
    {"v_mfma_scale_f32_32x32x64_f8f6f4",  32, 32,  64, 1, Input::ByField, Input::ByField, true},
    {"v_mfma_i32_32x32x4_2b_i8",       32, 32,   4,  2, Input::I8,   Input::I8},
    {"v_mfma_i32_16x16x4_4b_i8",       16, 16,   4,  4, Input::I8,   Input::I8},
    {"v_mfma_i32_4x4x4_16b_i8",         4,  4,   4, 16, Input::I8,   Input::I8},
    {"v_mfma_i32_32x32x16_i8",         32, 32,  16,  1, Input::I8,   Input::I8},
    {"v_mfma_i32_16x16x32_i8",         16, 16,  32,  1, Input::I8,   Input::I8},
    {"v_mfma_i32_32x32x32_i8",         32, 32,  32,  1, Input::I8,   Input::I8},
    {"v_mfma_i32_16x16x64_i8",         16, 16,  64,  1, Input::I8,   Input::I8},
    {"v_mfma_f64_16x16x4_f64",         16, 16,   4,  1, Input::F64,  Input::F64},
    {"v_mfma_f64_4x4x4_4b_f64",         4,  4,   4,  4, Input::F64,  Input::F64},
};
// clang-format on

// Fields of Instruction::Aux.
enum { AuxShape, AuxTypeA, AuxTypeB, AuxScaleBytes };

constexpr unsigned WaveLanes = 64;

const Shape &shapeOf(const Instruction &I) { return Shapes[I.Aux[AuxShape]]; }

unsigned laneGroups(const Shape &S) { return WaveLanes / (S.M * S.Blocks); }

/// cbsz makes groups of 2^cbsz blocks share the A of block abid of the group.
unsigned sourceBlockA(const Instruction &I, unsigned Block) {
  return (Block >> I.Mod.Cbsz << I.Mod.Cbsz) + I.Mod.Abid;
}

/// The lane that B is read from under a lane group pattern.
unsigned sourceLaneB(unsigned Pattern, unsigned Lane) {
  switch (Pattern) {
  case 1:
    return Lane % 32;
  case 2:
    return Lane % 32 + 32;
  case 3:
    return (Lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return Lane % 16 + 16 * (Pattern - 4);
  default:
    return Lane;
  }
}

/// B's registers, permuted into a copy where a lane group pattern is set.
class PermutedB {
public:
  PermutedB(Wave &W, const Operand &O, unsigned Count, unsigned Pattern)
      : Source(W, O, Count) {
    if (!Pattern)
      return;
    for (unsigned R = 0; R != Count; ++R) {
      for (unsigned L = 0; L != WaveLanes; ++L)
        Copy[R][L] = Source.Regs[R][sourceLaneB(Pattern, L)];
      Source.Regs[R] = Copy[R];
    }
  }
  const uint32_t *const *regs() const { return Source.Regs; }

private:
  RegisterRange Source;
  uint32_t Copy[8][WaveLanes];
};

/// The 8-bit formats of the f8f6f4 instructions: a lane holds two runs of 16
/// values, and the runs of all lane groups alternate. The scales still belong
/// to consecutive blocks of 32, block g to lane group g.
template <unsigned Groups>
const uint8_t *alternatingRuns() {
  struct Table {
    uint8_t K[Groups * 32];
    Table() {
      for (unsigned G = 0; G != Groups; ++G)
        for (unsigned S = 0; S != 32; ++S)
          K[G * 32 + S] = uint8_t(16 * Groups * (S / 16) + 16 * G + S % 16);
    }
  };
  static const Table T;
  return T.K;
}

OperandLayout layoutOf(const Shape &S, ElementType Type, unsigned Block) {
  unsigned Groups = laneGroups(S);
  const uint8_t *KOf = consecutiveK();
  if (S.A == Input::ByField && elementBits(Type) == 8)
    KOf = Groups == 2 ? alternatingRuns<2>() : alternatingRuns<4>();
  return {Type,
          S.M, // M equals N in every shape
          uint8_t(Groups),
          uint8_t(S.K / Groups),
          uint8_t(S.M * Block),
          uint8_t(S.M * S.Blocks),
          KOf};
}

/// Rows of C and D per group of consecutive registers.
unsigned groupHeight(const Shape &S) { return S.A == Input::F64 ? 1 : 4; }

/// Where the rows of C and D are: for row R of block B, Start[B * M + R] is
/// register * 64 + lane of its first element; its N columns are in consecutive
/// lanes. Registers are pairs for 64-bit results.
struct RowPlaces {
  std::vector<uint16_t> Start;

  explicit RowPlaces(const Shape &S) {
    const unsigned Height = groupHeight(S);
    const unsigned GroupsPerRegister = WaveLanes / S.N;
    const unsigned LanesPerBlock = S.M * S.N / Height;
    const unsigned BlocksPerRegister =
        LanesPerBlock < WaveLanes ? WaveLanes / LanesPerBlock : 1;
    for (unsigned Block = 0; Block != S.Blocks; ++Block)
      for (unsigned Row = 0; Row != S.M; ++Row) {
        unsigned Register = Block * (S.M * S.N / WaveLanes) +
                            Row / (Height * GroupsPerRegister) * Height +
                            Row % Height;
        unsigned Lane =
            Block % BlocksPerRegister * S.N +
            Row / Height % GroupsPerRegister * BlocksPerRegister * S.N;
        Start.push_back(uint16_t(Register * WaveLanes + Lane));
      }
  }
};

/// Of every shape, computed once: divisions per row would cost more than the
/// product.
const uint16_t *rowPlaces(const Instruction &I, unsigned Block) {
  static const std::vector<RowPlaces> Places(std::begin(Shapes),
                                             std::end(Shapes));
  return Places[I.Aux[AuxShape]].Start.data() + Block * shapeOf(I).M;
}

/// C as one run of lanes over its registers; null for a constant.
const uint32_t *accumulatorOf(Wave &W, const Operand &O) {
  return O.isVgpr() ? W.V + O.Offset : nullptr;
}

void executeFloat(Wave &W, const Instruction &I) {
  const Shape &S = shapeOf(I);
  const MatrixKernels &Kernels = hostMatrixKernels();
  const ElementType TypeA = ElementType(I.Aux[AuxTypeA]);
  const ElementType TypeB = ElementType(I.Aux[AuxTypeB]);
  const unsigned Slots = S.K / laneGroups(S);
  const bool ByField = S.A == Input::ByField;
  RegisterRange A(W, I.Src[0], registersFor(TypeA, Slots));
  PermutedB B(W, I.Src[1], registersFor(TypeB, Slots),
              ByField ? 0 : I.Mod.Blgp);
  const uint32_t *C = accumulatorOf(W, I.Src[2]);
  uint32_t *D = outputRegister(W, I, 0);
  MatrixScratch T;

  // D may overlap A and B: the result of several blocks is written when the
  // last one has been read.
  alignas(64) uint32_t Result[MaxTileRows * WaveLanes];
  uint32_t *To = S.Blocks == 1 ? D : Result;
  for (unsigned Block = 0; Block != S.Blocks; ++Block) {
    Kernels.DecodeFloat(
        layoutOf(S, TypeA, ByField ? 0 : sourceBlockA(I, Block)), A.Regs, T.A);
    Kernels.DecodeFloat(layoutOf(S, TypeB, Block), B.regs(), T.B);
    const uint16_t *Places = rowPlaces(I, Block);
    for (unsigned Row = 0; Row != S.M; ++Row)
      std::memcpy(T.Acc + Row * S.N, C ? C + Places[Row] : I.Src[2].Splat,
                  S.N * 4);
    if (ByField) {
      constexpr unsigned BlockK = 32;
      double ScaleA[4 * MaxTileRows], ScaleB[4 * MaxTileRows];
      const unsigned ByteA = I.Aux[AuxScaleBytes] & 3;
      const unsigned ByteB = I.Aux[AuxScaleBytes] >> 2;
      for (unsigned L = 0; L != WaveLanes; ++L) {
        ScaleA[L] = ScaleB[L] = 1;
        if (!S.Scaled)
          continue;
        ScaleA[L] =
            scaleTable()[laneValue(W, I.Src[3], L) >> (8 * ByteA) & 0xff];
        ScaleB[L] =
            scaleTable()[laneValue(W, I.Src[4], L) >> (8 * ByteB) & 0xff];
      }
      Kernels.MultiplyScaled(S.M, S.N, S.K, BlockK, T.A, T.B, ScaleA, ScaleB,
                             T.Acc);
    } else {
      Kernels.Multiply(S.M, S.N, S.K, T.A, T.B, T.Acc);
    }
    for (unsigned Row = 0; Row != S.M; ++Row)
      std::memcpy(To + Places[Row], T.Acc + Row * S.N, S.N * 4);
  }
  if (To != D)
    std::memcpy(D, Result, size_t(S.M) * S.N * S.Blocks * 4);
  ++W.Thread->MatrixOps;
}

void executeInt(Wave &W, const Instruction &I) {
  const Shape &S = shapeOf(I);
  const unsigned Slots = S.K / laneGroups(S);
  RegisterRange A(W, I.Src[0], registersFor(ElementType::I8, Slots));
  PermutedB B(W, I.Src[1], registersFor(ElementType::I8, Slots), I.Mod.Blgp);
  const uint32_t *C = accumulatorOf(W, I.Src[2]);
  int32_t TileA[MaxTileK * MaxTileRows], TileB[MaxTileK * MaxTileRows];
  int64_t Acc[MaxTileRows * MaxTileRows];
  uint32_t Result[MaxTileRows * WaveLanes];
  for (unsigned Block = 0; Block != S.Blocks; ++Block) {
    const uint16_t *Places = rowPlaces(I, Block);
    decodeInt(layoutOf(S, ElementType::I8, sourceBlockA(I, Block)), A.Regs,
              TileA);
    decodeInt(layoutOf(S, ElementType::I8, Block), B.regs(), TileB);
    for (unsigned Row = 0; Row != S.M; ++Row) {
      const uint32_t *From = C ? C + Places[Row] : I.Src[2].Splat;
      for (unsigned J = 0; J != S.N; ++J)
        Acc[Row * S.N + J] = int32_t(From[J]);
    }
    multiplyInt(S.M, S.N, S.K, TileA, TileB, Acc);
    for (unsigned Row = 0; Row != S.M; ++Row)
      for (unsigned J = 0; J != S.N; ++J)
        Result[Places[Row] + J] = uint32_t(Acc[Row * S.N + J]);
  }
  std::memcpy(outputRegister(W, I, 0), Result,
              size_t(S.M) * S.N * S.Blocks * 4);
  ++W.Thread->MatrixOps;
}

void executeDouble(Wave &W, const Instruction &I) {
  const Shape &S = shapeOf(I);
  const unsigned Slots = S.K / laneGroups(S);
  RegisterRange A(W, I.Src[0], registersFor(ElementType::F64, Slots));
  RegisterRange B(W, I.Src[1], registersFor(ElementType::F64, Slots));
  const uint32_t *C = accumulatorOf(W, I.Src[2]);
  const unsigned Count = S.M * S.N * S.Blocks;
  double TileA[64], TileB[64], Acc[256];
  uint64_t Result[256];
  // The field of blgp negates A, B and C.
  const unsigned Neg = I.Mod.Blgp;
  for (unsigned Block = 0; Block != S.Blocks; ++Block) {
    const uint16_t *Places = rowPlaces(I, Block);
    decodeDouble(layoutOf(S, ElementType::F64, sourceBlockA(I, Block)), A.Regs,
                 TileA);
    decodeDouble(layoutOf(S, ElementType::F64, Block), B.Regs, TileB);
    // Negating one factor is the same as negating the other.
    if ((Neg & 1) != (Neg >> 1 & 1))
      for (unsigned K = 0; K != S.K * S.M; ++K)
        TileA[K] = -TileA[K];
    for (unsigned Row = 0; Row != S.M; ++Row)
      for (unsigned J = 0; J != S.N; ++J) {
        const unsigned At = Places[Row] + J;
        const unsigned Low = At / WaveLanes * 2 * WaveLanes + At % WaveLanes;
        uint64_t Bits =
            C ? uint64_t(C[Low + WaveLanes]) << 32 | C[Low] : I.Src[2].Imm;
        double X;
        std::memcpy(&X, &Bits, sizeof(X));
        Acc[Row * S.N + J] = Neg & 4 ? -X : X;
      }
    multiplyDouble(S.M, S.N, S.K, TileA, TileB, Acc);
    for (unsigned Row = 0; Row != S.M; ++Row)
      std::memcpy(&Result[Places[Row]], &Acc[Row * S.N], S.N * 8);
  }
  uint32_t *D = outputRegister(W, I, 0);
  for (unsigned At = 0; At != Count; ++At) {
    const unsigned Low = At / WaveLanes * 2 * WaveLanes + At % WaveLanes;
    D[Low] = uint32_t(Result[At]);
    D[Low + WaveLanes] = uint32_t(Result[At] >> 32);
  }
  ++W.Thread->MatrixOps;
}

bool resolve(Input In, unsigned Field, const ChipInfo &Chip,
             ElementType &Type) {
  switch (In) {
  case Input::F32:
    Type = ElementType::F32;
    return true;
  case Input::XF32:
    Type = ElementType::XF32;
    return true;
  case Input::F16:
    Type = ElementType::F16;
    return true;
  case Input::BF16:
    Type = ElementType::BF16;
    return true;
  case Input::FP8:
    Type = Chip.Fp8Fnuz ? ElementType::E4M3FNUZ : ElementType::E4M3FN;
    return true;
  case Input::BF8:
    Type = Chip.Fp8Fnuz ? ElementType::E5M2FNUZ : ElementType::E5M2;
    return true;
  case Input::I8:
    Type = ElementType::I8;
    return true;
  case Input::F64:
    Type = ElementType::F64;
    return true;
  case Input::ByField:
    return elementOfFormatField(Field, Type);
  }
  return false;
}

bool prepare(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  unsigned Index = 0;
  while (llvm::StringRef(Shapes[Index].Name) != I.Info->Name)
    ++Index;
  const Shape &S = Shapes[Index];
  I.Aux[AuxShape] = Index;
  ElementType TypeA, TypeB;
  if (!resolve(S.A, I.Mod.Cbsz, Chip, TypeA) ||
      !resolve(S.B, I.Mod.Blgp, Chip, TypeB)) {
    Err = "matrix format out of range, expected cbsz and blgp of 0 to 4";
    return false;
  }
  I.Aux[AuxTypeA] = unsigned(TypeA);
  I.Aux[AuxTypeB] = unsigned(TypeB);

  const unsigned Slots = S.K / laneGroups(S);
  const unsigned OutputBits = S.A == Input::F64 ? 64 : 32;
  const unsigned Output = S.M * S.N * S.Blocks / WaveLanes * OutputBits / 32;
  auto Check = [&](const Operand &O, unsigned Count, const char *What,
                   bool ConstAllowed) {
    if ((O.isVgpr() && O.Dwords == Count) || (ConstAllowed && O.isConst()))
      return true;
    Err = (llvm::Twine(What) + " is not " + llvm::Twine(Count) +
           " vector registers")
              .str();
    return false;
  };
  if (!Check(I.Dst[0], Output, "destination", false) ||
      !Check(I.Src[0], registersFor(TypeA, Slots), "source A", false) ||
      !Check(I.Src[1], registersFor(TypeB, Slots), "source B", false) ||
      !Check(I.Src[2], Output, "source C", true))
    return false;

  if (S.A != Input::ByField) {
    unsigned LogBlocks = llvm::Log2_32(S.Blocks);
    if (I.Mod.Cbsz > LogBlocks || I.Mod.Abid >> I.Mod.Cbsz) {
      Err = (llvm::Twine("cbsz:") + llvm::Twine(I.Mod.Cbsz) +
             " abid:" + llvm::Twine(I.Mod.Abid) + " with " +
             llvm::Twine(S.Blocks) + " blocks")
                .str();
      return false;
    }
  }
  if (I.Mod.NegLo || I.Mod.NegHi) {
    Err = "neg on a matrix instruction without it";
    return false;
  }
  if (S.Scaled) {
    // Two selector bits per scale: op_sel the low one, op_sel_hi the high one.
    // The disassembler leaves out an op_sel_hi of all ones.
    unsigned Low = I.Mod.OpSel;
    unsigned High = I.Mod.OpSelHi;
    unsigned ByteA = (Low & 1) | (High & 1) << 1;
    unsigned ByteB = (Low >> 1 & 1) | (High >> 1 & 1) << 1;
    I.Aux[AuxScaleBytes] = ByteA | ByteB << 2;
  }
  return true;
}

std::vector<OpInfo> makeTable() {
  std::vector<OpInfo> Table;
  for (const Shape &S : Shapes) {
    OpInfo Op = {};
    Op.Name = S.Name;
    Op.Fn = S.A == Input::F64  ? executeDouble
            : S.A == Input::I8 ? executeInt
                               : executeFloat;
    Op.Class = OpClass::Matrix;
    Op.NumDst = 1;
    Ty C = S.A == Input::F64 ? Ty::F64 : S.A == Input::I8 ? Ty::I32 : Ty::F32;
    Op.Types = {Ty::Wide, Ty::Wide, Ty::Wide, C, Ty::B32, Ty::B32, Ty::None};
    Op.Prepare = prepare;
    Table.push_back(Op);
  }
  return Table;
}

} // namespace

OpTable pagedattn::emu::mfmaOps() {
  static const std::vector<OpInfo> Table = makeTable();
  return Table;
}
