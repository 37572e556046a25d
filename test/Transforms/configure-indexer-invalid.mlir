// RUN: sed 's/CONFIG/mma = wmma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 1, candidates = 2048, splits = 1/' %s > %t.a
// RUN: not pa-opt %t.a --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/CONFIG/mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 1, candidates = 600, splits = 1/' %s > %t.b
// RUN: not pa-opt %t.b --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: sed 's/CONFIG/mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 4, candidates = 32768, splits = 1/' %s > %t.c
// RUN: not pa-opt %t.c --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=LDS
// RUN: sed 's/CONFIG/mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = registers, rows = 4, candidates = 2048, splits = 1/' %s > %t.d
// RUN: not pa-opt %t.d --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: sed 's/ {config = #pa.indexer_config<CONFIG>}//' %s > %t.e
// RUN: not pa-opt %t.e --pa-set-target=chip=gfx942 2>&1 | FileCheck %s --check-prefix=FP8
// RUN: not pa-opt %t.e --pa-set-target=chip=gfx950 --pa-tile 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: not pa-opt %t.e --pa-configure 2>&1 | FileCheck %s --check-prefix=TARGET

// OTHER: error: 'pa.indexer' op gfx950 has no matrix instruction wmma_f32_16x16x128_fp8
// ROOM: error: 'pa.indexer' op candidates must be at least k and a round of 512 columns, 1024 in all, found 600
// LDS: error: 'pa.indexer' op rows = 4 and candidates = 32768 need {{[0-9]+}} bytes of LDS, gfx950 has 163840
// REGISTERS: error: 'pa.indexer' op queries and weights need {{[0-9]+}} registers of each lane, at most 256 are allowed; use query = lds
// FP8: error: 'pa.indexer' op q must be 'f8E4M3FNUZ' on gfx942, found 'f8E4M3FN'
// CONFIG: error: 'pa.indexer' op has no config, run pa-configure first
// TARGET: error: 'pa.indexer' op is in a module without a target, run pa-set-target first
func.func @f(%q: memref<2x4x128x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<8x128xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %columns: index, %indices: memref<8x512xi32>) {
  pa.indexer queries(%q : memref<2x4x128x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<8x128xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<CONFIG>}
  return
}
