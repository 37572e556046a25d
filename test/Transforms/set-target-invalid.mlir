// RUN: not pa-opt %s --pa-set-target 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pa-opt %s --pa-set-target=chip=gfx906 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not pa-opt %s --pa-set-target="chip=gfx942 num-cus=-1" 2>&1 | FileCheck %s --check-prefix=CUS
// RUN: not pa-opt %s --pa-set-target=chip=gfx942 2>&1 | FileCheck %s --check-prefix=FP8

// NONE: error: pa-set-target needs chip=, known chips are gfx942, gfx950, gfx1250
// UNKNOWN: error: unknown chip 'gfx906', known chips are gfx942, gfx950, gfx1250
// CUS: error: num_cus must not be negative, found -1
// FP8: error: 'pa.paged_logits' op q must be 'f8E4M3FNUZ' on gfx942, found 'f8E4M3FN'
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32>)
  return
}
