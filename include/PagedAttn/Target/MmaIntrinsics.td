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

class Mma<string name, int id> : I32EnumAttrCase<name, id> {
  bits<32> Id = id;
  // Mnemonic of the instruction as the assembler prints it.
  string Mnemonic = name;
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
  // Cycles that the matrix unit of one SIMD is busy.
  bits<32> Cycles = 16;
}

def MFMA_F32_16x16x32_FP8_FNUZ : Mma<"mfma_f32_16x16x32_fp8_fnuz", 0> {
  let Mnemonic = "v_mfma_f32_16x16x32_fp8_fp8";
  let Family = "mfma";
  let Fnuz = 1;
}
def MFMA_F32_16x16x32_FP8 : Mma<"mfma_f32_16x16x32_fp8", 1> {
  let Mnemonic = "v_mfma_f32_16x16x32_fp8_fp8";
  let Family = "mfma";
}
def MFMA_F32_16x16x128_FP8 : Mma<"mfma_f32_16x16x128_fp8", 2> {
  let Mnemonic = "v_mfma_f32_16x16x128_f8f6f4";
  let Family = "mfma";
  let K = 128;
  let Cycles = 32;
}
def WMMA_F32_16x16x128_FP8 : Mma<"wmma_f32_16x16x128_fp8", 3> {
  let Mnemonic = "v_wmma_f32_16x16x128_fp8_fp8";
  let Family = "wmma";
  let WaveSize = 32;
  let K = 128;
}

def PA_MmaId : I32EnumAttr<"MmaId", "matrix instruction", [
    MFMA_F32_16x16x32_FP8_FNUZ, MFMA_F32_16x16x32_FP8, MFMA_F32_16x16x128_FP8,
    WMMA_F32_16x16x128_FP8]> {
  let cppNamespace = "::mlir::pa";
  let genSpecializedAttr = 0;
}

#endif // PAGEDATTN_TARGET_MMAINTRINSICS_TD
