//===- MmaIntrinsics.td - Matrix instructions ---------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One record per matrix instruction and operand format. mlir-tblgen makes the
// enum of these records, llvm-tblgen the searchable table of the same records:
// an instruction is described once.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TARGET_MMAINTRINSICS_TD
#define PAGEDATTN_TARGET_MMAINTRINSICS_TD

include "mlir/IR/EnumAttr.td"

// Where a lane holds the elements of A, and of B with columns for rows.
//
// Lane l has row l % RowLanes, and RowLanes rows further on for every time that
// it has gone through all of its K. Its lane group is l / RowLanes. The lane
// groups take turns at the K axis, KBlock values each; 0 stands for one turn, so
// that a lane holds one contiguous range.
//
// KOrder says what the order along K means. `physical`: element k of the lane is
// element k of the operation, which is observable where block scales apply or
// where A and B have different widths. `logical`: only that A and B agree is
// known, and it is all that a product of equal formats depends on.
class MmaOperandLayout<int rowLanes, int kBlock, string kOrder> {
  int RowLanes = rowLanes;
  int KBlock = kBlock;
  string KOrder = kOrder;
}
def Rows16 : MmaOperandLayout<16, 0, "physical">;
def Rows32 : MmaOperandLayout<32, 0, "physical">;
def Rows32Blocks16 : MmaOperandLayout<32, 16, "physical">;
def Rows16AnyK : MmaOperandLayout<16, 0, "logical">;
// 16 bytes of each lane half in turn.
def Rows16Blocks16 : MmaOperandLayout<16, 16, "physical">;
def Rows16Blocks32 : MmaOperandLayout<16, 32, "physical">;

// Where a lane holds the accumulators: lane l has column l % N, and the lane
// groups take turns at the rows, RowBlock rows each.
class MmaAccLayout<int rowBlock> { int RowBlock = rowBlock; }
def AccRows4 : MmaAccLayout<4>;
def AccRows8 : MmaAccLayout<8>;

class Mma<string name, int id> : I32EnumAttrCase<name, id> {
  bits<32> Id = id;
  // Mnemonic of the instruction as the assembler prints it.
  string Mnemonic = "v_" # name;
  // The upstream op family that emits it: mfma, scaled_mfma, wmma, scaled_wmma.
  string Family = "";
  bits<32> WaveSize = 64;
  bits<32> M = 16;
  bits<32> N = 16;
  bits<32> K = 32;
  // Element formats: fp8 (the chip's flavour is given by Fnuz), fp4, bf16, f16.
  string AFormat = "fp8";
  string BFormat = "fp8";
  bit Fnuz = 0;
  // Cycles that the matrix unit of one SIMD is busy. MFMA: the published rate of
  // the chip, which is 4 cycles for each pass of the instruction. WMMA of
  // gfx1250: LLVM 22's scheduling model, which agrees with the published fp8 and
  // fp4 rates of the chip.
  bits<32> Cycles = 16;

  MmaOperandLayout ALayout = Rows16;
  MmaOperandLayout BLayout = Rows16;
  MmaAccLayout AccLayout = AccRows4;
  // E8M0 codes that one lane gives for one operand, each for 32 values of K: lane
  // l gives those of row l % M (column l % N) for block (l / M) * ScaleBytes and
  // the ScaleBytes - 1 blocks after it. 0 where there are no scales.
  bits<32> ScaleBytes = 0;

  // What the row table needs of the layouts.
  bits<32> ARowLanes = ALayout.RowLanes;
  bits<32> AKBlock = ALayout.KBlock;
  bits<32> BRowLanes = BLayout.RowLanes;
  bits<32> BKBlock = BLayout.KBlock;
  string KOrder = ALayout.KOrder;
  bits<32> AccRowBlock = AccLayout.RowBlock;
}

//===----------------------------------------------------------------------===//
// MFMA, waves of 64
//===----------------------------------------------------------------------===//

class Mfma16<string name, int id, int k, string format, int cycles = 16>
    : Mma<name, id> {
  let Family = "mfma";
  let K = k;
  let AFormat = format;
  let BFormat = format;
  let Cycles = cycles;
}
class Mfma32<string name, int id, int k, string format, int cycles = 32>
    : Mfma16<name, id, k, format, cycles> {
  let M = 32;
  let N = 32;
  let ALayout = Rows32;
  let BLayout = Rows32;
}

def MFMA_F32_16x16x32_FP8_FNUZ
    : Mfma16<"mfma_f32_16x16x32_fp8_fnuz", 0, 32, "fp8"> {
  let Mnemonic = "v_mfma_f32_16x16x32_fp8_fp8";
  let Fnuz = 1;
}
def MFMA_F32_32x32x16_FP8_FNUZ
    : Mfma32<"mfma_f32_32x32x16_fp8_fnuz", 1, 16, "fp8"> {
  let Mnemonic = "v_mfma_f32_32x32x16_fp8_fp8";
  let Fnuz = 1;
}
def MFMA_F32_16x16x32_FP8 : Mfma16<"mfma_f32_16x16x32_fp8", 2, 32, "fp8"> {
  let Mnemonic = "v_mfma_f32_16x16x32_fp8_fp8";
}
def MFMA_F32_32x32x16_FP8 : Mfma32<"mfma_f32_32x32x16_fp8", 3, 16, "fp8"> {
  let Mnemonic = "v_mfma_f32_32x32x16_fp8_fp8";
}
def MFMA_F32_16x16x16_BF16 : Mfma16<"mfma_f32_16x16x16_bf16", 4, 16, "bf16">;
def MFMA_F32_16x16x16_F16 : Mfma16<"mfma_f32_16x16x16_f16", 5, 16, "f16">;
def MFMA_F32_32x32x8_BF16 : Mfma32<"mfma_f32_32x32x8_bf16", 6, 8, "bf16">;
def MFMA_F32_32x32x8_F16 : Mfma32<"mfma_f32_32x32x8_f16", 7, 8, "f16">;
def MFMA_F32_16x16x32_BF16 : Mfma16<"mfma_f32_16x16x32_bf16", 8, 32, "bf16">;
def MFMA_F32_16x16x32_F16 : Mfma16<"mfma_f32_16x16x32_f16", 9, 32, "f16">;
def MFMA_F32_32x32x16_BF16 : Mfma32<"mfma_f32_32x32x16_bf16", 10, 16, "bf16">;
def MFMA_F32_32x32x16_F16 : Mfma32<"mfma_f32_32x32x16_f16", 11, 16, "f16">;

//===----------------------------------------------------------------------===//
// MFMA of 8-bit and 4-bit formats in any pairing, with and without scales
//===----------------------------------------------------------------------===//

// fp4 by fp4 runs at twice the rate of the other pairings. An 8-bit operand lies
// in runs of 16 values for which the lane groups take turns, a 4-bit operand in
// one run; a scale serves 32 consecutive values of K either way.
class Mfma16F8F6F4<string name, int id, string a, string b>
    : Mfma16<name, id, 128, a, 32> {
  let Mnemonic = "v_mfma_f32_16x16x128_f8f6f4";
  let BFormat = b;
  let ALayout = !if(!eq(a, "fp4"), Rows16, Rows16Blocks16);
  let BLayout = !if(!eq(b, "fp4"), Rows16, Rows16Blocks16);
}
class Mfma32F8F6F4<string name, int id, string a, string b>
    : Mfma32<name, id, 64, a, 64> {
  let Mnemonic = "v_mfma_f32_32x32x64_f8f6f4";
  let BFormat = b;
  let ALayout = !if(!eq(a, "fp4"), Rows32, Rows32Blocks16);
  let BLayout = !if(!eq(b, "fp4"), Rows32, Rows32Blocks16);
}
class ScaledMfma16<string name, int id, string a, string b>
    : Mfma16F8F6F4<name, id, a, b> {
  let Mnemonic = "v_mfma_scale_f32_16x16x128_f8f6f4";
  let Family = "scaled_mfma";
  let ScaleBytes = 1;
}
class ScaledMfma32<string name, int id, string a, string b>
    : Mfma32F8F6F4<name, id, a, b> {
  let Mnemonic = "v_mfma_scale_f32_32x32x64_f8f6f4";
  let Family = "scaled_mfma";
  let ScaleBytes = 1;
}

def MFMA_F32_16x16x128_FP8
    : Mfma16F8F6F4<"mfma_f32_16x16x128_fp8", 12, "fp8", "fp8">;
def MFMA_F32_16x16x128_FP8_FP4
    : Mfma16F8F6F4<"mfma_f32_16x16x128_fp8_fp4", 13, "fp8", "fp4">;
def MFMA_F32_16x16x128_FP4_FP8
    : Mfma16F8F6F4<"mfma_f32_16x16x128_fp4_fp8", 14, "fp4", "fp8">;
def MFMA_F32_16x16x128_FP4
    : Mfma16F8F6F4<"mfma_f32_16x16x128_fp4", 15, "fp4", "fp4"> {
  let Cycles = 16;
}
def MFMA_F32_32x32x64_FP8
    : Mfma32F8F6F4<"mfma_f32_32x32x64_fp8", 16, "fp8", "fp8">;
def MFMA_F32_32x32x64_FP8_FP4
    : Mfma32F8F6F4<"mfma_f32_32x32x64_fp8_fp4", 17, "fp8", "fp4">;
def MFMA_F32_32x32x64_FP4_FP8
    : Mfma32F8F6F4<"mfma_f32_32x32x64_fp4_fp8", 18, "fp4", "fp8">;
def MFMA_F32_32x32x64_FP4
    : Mfma32F8F6F4<"mfma_f32_32x32x64_fp4", 19, "fp4", "fp4"> {
  let Cycles = 32;
}
def MFMA_SCALE_F32_16x16x128_FP8
    : ScaledMfma16<"mfma_scale_f32_16x16x128_fp8", 20, "fp8", "fp8">;
def MFMA_SCALE_F32_16x16x128_FP8_FP4
    : ScaledMfma16<"mfma_scale_f32_16x16x128_fp8_fp4", 21, "fp8", "fp4">;
def MFMA_SCALE_F32_16x16x128_FP4_FP8
    : ScaledMfma16<"mfma_scale_f32_16x16x128_fp4_fp8", 22, "fp4", "fp8">;
def MFMA_SCALE_F32_16x16x128_FP4
    : ScaledMfma16<"mfma_scale_f32_16x16x128_fp4", 23, "fp4", "fp4"> {
  let Cycles = 16;
}
def MFMA_SCALE_F32_32x32x64_FP8
    : ScaledMfma32<"mfma_scale_f32_32x32x64_fp8", 24, "fp8", "fp8">;
def MFMA_SCALE_F32_32x32x64_FP8_FP4
    : ScaledMfma32<"mfma_scale_f32_32x32x64_fp8_fp4", 25, "fp8", "fp4">;
def MFMA_SCALE_F32_32x32x64_FP4_FP8
    : ScaledMfma32<"mfma_scale_f32_32x32x64_fp4_fp8", 26, "fp4", "fp8">;
def MFMA_SCALE_F32_32x32x64_FP4
    : ScaledMfma32<"mfma_scale_f32_32x32x64_fp4", 27, "fp4", "fp4"> {
  let Cycles = 32;
}

//===----------------------------------------------------------------------===//
// WMMA, waves of 32
//===----------------------------------------------------------------------===//

class Wmma<string name, int id, int k, string format> : Mma<name, id> {
  let Family = "wmma";
  let WaveSize = 32;
  let K = k;
  let AFormat = format;
  let BFormat = format;
  let Cycles = 8;
  let ALayout = Rows16AnyK;
  let BLayout = Rows16AnyK;
  let AccLayout = AccRows8;
}

def WMMA_F32_16x16x32_BF16 : Wmma<"wmma_f32_16x16x32_bf16", 28, 32, "bf16">;
def WMMA_F32_16x16x32_F16 : Wmma<"wmma_f32_16x16x32_f16", 29, 32, "f16">;
def WMMA_F32_16x16x64_FP8 : Wmma<"wmma_f32_16x16x64_fp8", 30, 64, "fp8"> {
  let Mnemonic = "v_wmma_f32_16x16x64_fp8_fp8";
}
def WMMA_F32_16x16x128_FP8 : Wmma<"wmma_f32_16x16x128_fp8", 31, 128, "fp8"> {
  let Mnemonic = "v_wmma_f32_16x16x128_fp8_fp8";
}

class ScaledWmma<string name, int id, string a, string b>
    : Wmma<name, id, 128, a> {
  let Mnemonic = "v_wmma_scale_f32_16x16x128_f8f6f4";
  let Family = "scaled_wmma";
  let BFormat = b;
  let ALayout = !if(!eq(a, "fp4"), Rows16Blocks32, Rows16Blocks16);
  let BLayout = !if(!eq(b, "fp4"), Rows16Blocks32, Rows16Blocks16);
  let ScaleBytes = 4;
}
def WMMA_SCALE_F32_16x16x128_FP8
    : ScaledWmma<"wmma_scale_f32_16x16x128_fp8", 32, "fp8", "fp8">;
def WMMA_SCALE_F32_16x16x128_FP8_FP4
    : ScaledWmma<"wmma_scale_f32_16x16x128_fp8_fp4", 33, "fp8", "fp4">;
def WMMA_SCALE_F32_16x16x128_FP4_FP8
    : ScaledWmma<"wmma_scale_f32_16x16x128_fp4_fp8", 34, "fp4", "fp8">;
def WMMA_SCALE_F32_16x16x128_FP4
    : ScaledWmma<"wmma_scale_f32_16x16x128_fp4", 35, "fp4", "fp4">;
def WMMA_SCALE_F32_32x16x128_FP4
    : ScaledWmma<"wmma_scale_f32_32x16x128_fp4", 36, "fp4", "fp4"> {
  let Mnemonic = "v_wmma_scale_f32_32x16x128_f4";
  let M = 32;
}

def PA_MmaId : I32EnumAttr<"MmaId", "matrix instruction", !instances<Mma>()> {
  let cppNamespace = "::mlir::pa";
  let genSpecializedAttr = 0;
}

#endif // PAGEDATTN_TARGET_MMAINTRINSICS_TD
