// RUN: split-file %s %t
// RUN: not pa-opt %t/target.mlir --pa-configure 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: sed 's/CONFIG/mma = wmma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = lds/' %t/config.mlir > %t/a.mlir
// RUN: not pa-opt %t/a.mlir --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/CONFIG/mma = mfma_f32_32x32x64_fp8, chunk = 256, waves = 4, splits = 0, query = lds/' %t/config.mlir > %t/b.mlir
// RUN: not pa-opt %t/b.mlir --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: sed 's/CONFIG/mma = wmma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = registers/' %t/config.mlir > %t/c.mlir
// RUN: not pa-opt %t/c.mlir --pa-set-target=chip=gfx1250 --pa-configure 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: sed -e 's/CONFIG/mma = mfma_f32_16x16x32_fp8_fnuz, chunk = 256, waves = 4, splits = 0, query = lds/' -e 's/E4M3FN/E4M3FNUZ/g' %t/config.mlir > %t/d.mlir
// RUN: not pa-opt %t/d.mlir --pa-set-target=chip=gfx942 --pa-configure 2>&1 | FileCheck %s --check-prefix=LDS
// RUN: sed -e 's/CONFIG/mma = wmma_f32_16x16x128_fp8, chunk = 256, waves = 16, splits = 0, query = lds/' -e 's/2x4x128x128/2x8x128x256/g' -e 's/64x128xf8/64x256xf8/g' -e 's/memref<8x/memref<16x/g' %t/config.mlir > %t/e.mlir
// RUN: not pa-opt %t/e.mlir --pa-set-target=chip=gfx1250 --pa-configure 2>&1 | FileCheck %s --check-prefix=KEYS

// TARGET: error: 'pa.paged_logits' op is in a module without a target, run pa-set-target first; known chips are gfx942, gfx950, gfx1250
// OTHER: error: 'pa.paged_logits' op gfx950 has no matrix instruction wmma_f32_16x16x128_fp8
// TILE: error: 'pa.paged_logits' op mma must multiply 16x16 tiles of the op's format, found mfma_f32_32x32x64_fp8
// REGISTERS: error: 'pa.paged_logits' op queries and weights need {{[0-9]+}} registers of each lane, at most 128 are allowed; use query = lds
// LDS: error: 'pa.paged_logits' op queries and weights need 67584 bytes of LDS, gfx942 has 65536; use query = memory
// KEYS: error: 'pa.paged_logits' op queries and weights need 266240 bytes of LDS, gfx1250 has 327680 of which the keys take 278528; use query = memory

//--- target.mlir
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32>)
  return
}
//--- config.mlir
func.func @f(%q: memref<2x4x128x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<8x128xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<8x512xf32>) {
  pa.paged_logits queries(%q : memref<2x4x128x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<8x128xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<8x512xf32>) {config = #pa.logits_config<CONFIG>}
  return
}
