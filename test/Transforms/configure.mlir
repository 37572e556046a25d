// RUN: pa-opt %s --pa-set-target=chip=gfx950 --pa-configure | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: pa-opt %s --pa-set-target=chip=gfx1250 --pa-configure | FileCheck %s --check-prefixes=CHECK,GFX1250
// RUN: pa-opt %s --pa-set-target="chip=gfx950 num-cus=80" --pa-configure --pa-tile | FileCheck %s --check-prefix=CUS

// GFX950: module attributes {pa.target = #pa.target<"gfx950">}
// GFX1250: module attributes {pa.target = #pa.target<"gfx1250">}
// CHECK-LABEL: func @f
// GFX950: config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = registers, schedule = ragged>
// GFX1250: config = #pa.logits_config<mma = wmma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = lds, schedule = ragged>
// CUS: pa.target<"gfx950", num_cus = 80>
// CUS: arith.constant 160 : index
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32>)
  return
}
