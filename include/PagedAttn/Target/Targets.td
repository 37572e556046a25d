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
  // Those of them that only matrix instructions name, of one wave.
  bits<32> AccVgprs = 256;
  // Registers are given to waves in multiples of this; at most so many waves
  // share a SIMD.
  bits<32> VgprGranule = 8;
  bits<32> MaxWavesPerSimd = 8;
  // Registers of a kernel whose tiling asks for no more: those that
  // instructions of gfx1250 name without s_set_vgpr_msb.
  bits<32> MaxVgprs = 512;
  // Bits of num_records of a buffer resource. The offset has 32 on every chip.
  bits<32> NumRecordsBits = 32;
  // Widths in bytes of a copy from global memory to LDS by buffer or global
  // loads, one bit each: bit n stands for n bytes.
  bits<32> LoadToLdsWidths = 0;
  // Tensor DMA from global memory to LDS.
  bit HasTensorDma = 0;
  // v_permlane16_swap and v_permlane32_swap.
  bit HasPermlaneSwap = 0;
  // Rates, for cost models. Peak clock, and bytes a second of HBM: data sheets of
  // MI300X and MI355X. Bytes that a compute unit gets from LDS and from the cache
  // behind its own in a cycle: CDNA 3 white paper, taken for the others as well.
  bits<32> ClockMhz = 2100;
  bits<32> HbmGbPerSecond = 5300;
  bits<32> LdsBytesPerCycle = 128;
  bits<32> CacheBytesPerCycle = 64;
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
  let ClockMhz = 2400;
  let HbmGbPerSecond = 8000;
  let HasPermlaneSwap = 1;
}

def GFX1250 : Chip<"gfx1250", 2> {
  let WaveSize = 32;
  let LdsBytes = 327680;
  let HasScaledMma = 1;
  let VgprsPerLane = 1024;
  let AccVgprs = 0;
  let VgprGranule = 16;
  let MaxWavesPerSimd = 16;
  let MaxVgprs = 256;
  let NumRecordsBits = 45;
  // Announced for MI455X: 19.6 TB/s, and 20 PFLOP/s of fp8, which is this clock
  // with the cycles of the table of matrix instructions.
  let ClockMhz = 2400;
  let HbmGbPerSecond = 19600;
  let HasTensorDma = 1;
}

// Matrix instructions of a chip, in order of preference among those with the
// same formats: the first whose K divides the problem's is taken.
class ChipMma<Chip chip, int rank, Mma mma> {
  bits<32> ChipId = chip.Id;
  bits<32> Rank = rank;
  bits<32> MmaId = mma.Id;
}
multiclass ChipMmas<Chip chip, list<Mma> mmas> {
  foreach rank = !range(mmas) in
    def "" # rank : ChipMma<chip, rank, mmas[rank]>;
}

// 16-wide tiles come first: they leave a lane fewer accumulators.
defm GFX942_MMA : ChipMmas<GFX942, [
    MFMA_F32_16x16x32_FP8_FNUZ, MFMA_F32_32x32x16_FP8_FNUZ,
    MFMA_F32_16x16x16_BF16, MFMA_F32_32x32x8_BF16,
    MFMA_F32_16x16x16_F16, MFMA_F32_32x32x8_F16]>;

// The wider K comes first: f8f6f4 has twice the rate of the older fp8
// instructions.
defm GFX950_MMA : ChipMmas<GFX950, [
    MFMA_F32_16x16x128_FP8, MFMA_F32_32x32x64_FP8,
    MFMA_F32_16x16x32_FP8, MFMA_F32_32x32x16_FP8,
    MFMA_F32_16x16x128_FP8_FP4, MFMA_F32_32x32x64_FP8_FP4,
    MFMA_F32_16x16x128_FP4_FP8, MFMA_F32_32x32x64_FP4_FP8,
    MFMA_F32_16x16x128_FP4, MFMA_F32_32x32x64_FP4,
    MFMA_SCALE_F32_16x16x128_FP8, MFMA_SCALE_F32_32x32x64_FP8,
    MFMA_SCALE_F32_16x16x128_FP8_FP4, MFMA_SCALE_F32_32x32x64_FP8_FP4,
    MFMA_SCALE_F32_16x16x128_FP4_FP8, MFMA_SCALE_F32_32x32x64_FP4_FP8,
    MFMA_SCALE_F32_16x16x128_FP4, MFMA_SCALE_F32_32x32x64_FP4,
    MFMA_F32_16x16x32_BF16, MFMA_F32_32x32x16_BF16,
    MFMA_F32_16x16x16_BF16, MFMA_F32_32x32x8_BF16,
    MFMA_F32_16x16x32_F16, MFMA_F32_32x32x16_F16,
    MFMA_F32_16x16x16_F16, MFMA_F32_32x32x8_F16]>;

defm GFX1250_MMA : ChipMmas<GFX1250, [
    WMMA_F32_16x16x128_FP8, WMMA_F32_16x16x64_FP8,
    WMMA_SCALE_F32_16x16x128_FP8, WMMA_SCALE_F32_16x16x128_FP8_FP4,
    WMMA_SCALE_F32_16x16x128_FP4_FP8, WMMA_SCALE_F32_32x16x128_FP4,
    WMMA_SCALE_F32_16x16x128_FP4, WMMA_F32_16x16x32_BF16,
    WMMA_F32_16x16x32_F16]>;

def ChipTable : GenericTable {
  let FilterClass = "Chip";
  let CppTypeName = "ChipRow";
  let Fields = ["Name", "Id", "WaveSize", "LdsBytes", "Fp8Fnuz", "HasScaledMma",
                "NumCus", "SimdsPerCu", "VgprsPerLane", "VgprGranule",
                "MaxWavesPerSimd", "AccVgprs", "MaxVgprs", "NumRecordsBits",
                "LoadToLdsWidths", "HasTensorDma", "HasPermlaneSwap", "ClockMhz",
                "HbmGbPerSecond", "LdsBytesPerCycle", "CacheBytesPerCycle"];
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
                "K", "AFormat", "BFormat", "Fnuz", "Cycles", "ARowLanes",
                "AKBlock", "BRowLanes", "BKBlock", "KOrder", "AccRowBlock",
                "ScaleBytes"];
}

#endif // PAGEDATTN_TARGET_TARGETS_TD
