//===- Targets.td - Chips -----------------------------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One record per chip. No other place of the project compares chip names.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TARGET_TARGETS_TD
#define PAGEDATTN_TARGET_TARGETS_TD

include "llvm/TableGen/SearchableTable.td"
include "PagedAttn/Target/MmaIntrinsics.td"

class Chip<string name, int id> {
  string Name = name;
  bits<32> Id = id;
  bits<32> WaveSize = 64;
  // Bytes of LDS that one workgroup may use; one byte more is rejected by the
  // backend.
  bits<32> LdsBytes = 65536;
  // fp8 of the matrix unit: e4m3fnuz or e4m3fn.
  bit Fp8Fnuz = 0;
  // mxfp4 operands with E8M0 scales in the matrix unit.
  bit HasScaledMma = 0;
  // Compute units of the full chip and SIMDs of a compute unit.
  bits<32> NumCus = 256;
  bits<32> SimdsPerCu = 4;
  // Registers of one SIMD lane, accumulation registers included.
  bits<32> VgprsPerLane = 512;
  // Bits of num_records of a buffer resource. The offset has 32 on every chip.
  bits<32> NumRecordsBits = 32;
  // Widths in bytes of a copy from global memory to LDS by buffer or global
  // loads, one bit each: bit n stands for n bytes.
  bits<32> LoadToLdsWidths = 0;
  // Tensor DMA from global memory to LDS.
  bit HasTensorDma = 0;
  // v_permlane16_swap and v_permlane32_swap.
  bit HasPermlaneSwap = 0;
}

def GFX942 : Chip<"gfx942", 0> {
  let Fp8Fnuz = 1;
  let NumCus = 304;
  let LoadToLdsWidths = 0x16; // 1, 2, 4
}

def GFX950 : Chip<"gfx950", 1> {
  let LdsBytes = 163840;
  let HasScaledMma = 1;
  let LoadToLdsWidths = 0x11016; // 1, 2, 4, 12, 16
  let HasPermlaneSwap = 1;
}

def GFX1250 : Chip<"gfx1250", 2> {
  let WaveSize = 32;
  let LdsBytes = 327680;
  let HasScaledMma = 1;
  let VgprsPerLane = 1024;
  let NumRecordsBits = 45;
  let HasTensorDma = 1;
}

// Matrix instructions of a chip in order of preference: the first whose formats
// match and whose K divides the problem's is taken.
class ChipMma<Chip chip, int rank, Mma mma> {
  bits<32> ChipId = chip.Id;
  bits<32> Rank = rank;
  bits<32> MmaId = mma.Id;
}

def : ChipMma<GFX942, 0, MFMA_F32_16x16x32_FP8_FNUZ>;
def : ChipMma<GFX950, 0, MFMA_F32_16x16x128_FP8>;
def : ChipMma<GFX950, 1, MFMA_F32_16x16x32_FP8>;
def : ChipMma<GFX1250, 0, WMMA_F32_16x16x128_FP8>;

def ChipTable : GenericTable {
  let FilterClass = "Chip";
  let CppTypeName = "ChipRow";
  let Fields = ["Name", "Id", "WaveSize", "LdsBytes", "Fp8Fnuz", "HasScaledMma",
                "NumCus", "SimdsPerCu", "VgprsPerLane", "NumRecordsBits",
                "LoadToLdsWidths", "HasTensorDma", "HasPermlaneSwap"];
}

def ChipMmaTable : GenericTable {
  let FilterClass = "ChipMma";
  let CppTypeName = "ChipMmaRow";
  let Fields = ["ChipId", "Rank", "MmaId"];
}

def MmaTable : GenericTable {
  let FilterClass = "Mma";
  let CppTypeName = "MmaRow";
  let Fields = ["symbol", "Id", "Mnemonic", "Family", "WaveSize", "M", "N",
                "K", "AFormat", "BFormat", "Fnuz", "Cycles"];
}

#endif // PAGEDATTN_TARGET_TARGETS_TD
