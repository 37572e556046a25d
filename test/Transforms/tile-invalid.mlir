// RUN: split-file %s %t
// RUN: not pa-opt %t/config.mlir --pa-set-target=chip=gfx950 --pa-tile 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: not pa-opt %t/stride.mlir --pa-set-target=chip=gfx950 --pa-configure --pa-tile 2>&1 | FileCheck %s --check-prefix=STRIDE
// RUN: not pa-opt %t/slots.mlir --pa-set-target=chip=gfx1250 --pa-configure --pa-tile 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: pa-opt %t/slots.mlir --pa-set-target=chip=gfx950 --pa-configure --pa-tile
// RUN: not pa-opt %t/gemm.mlir --pa-set-target=chip=gfx950 --pa-configure --pa-tile 2>&1 | FileCheck %s --check-prefix=GEMM
// RUN: not pa-opt %t/gemm-stride.mlir --pa-set-target=chip=gfx1250 --pa-configure --pa-tile 2>&1 | FileCheck %s --check-prefix=STRIDES
// RUN: pa-opt %t/gemm-stride.mlir --pa-set-target=chip=gfx950 --pa-configure --pa-tile

// CONFIG: error: 'pa.paged_logits' op has no config, run pa-configure first
// STRIDE: error: 'pa.paged_logits' op innermost stride must be 1 for a chip, found a dynamic one in {{.*}}; bufferize with identity layouts at function boundaries
// SLOTS: error: 'pa.paged_logits' op stride between the slots of a page must be at most 281474976710655 for gfx1250, found 281474976710656
// STRIDES: error: 'pa.grouped_gemm' op row stride of a must be at most 281474976710655 for gfx1250, found 281474976710656
// GEMM: error: 'pa.grouped_gemm' op shuffled b must have static strides inside an expert for a chip, found 'memref<1x32x64xbf16, strided<[?, ?, 1]>>'

//--- config.mlir
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32>)
  return
}
//--- stride.mlir
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32, strided<[?, ?]>>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32, strided<[?, ?]>>)
  return
}
//--- slots.mlir
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN, strided<[128, 281474976710656, 1]>>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[128, 281474976710656, 1]>>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32>)
  return
}
//--- gemm.mlir
func.func @gemm(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16, strided<[?, ?, 1]>>,
                %c: memref<8x32xf32>) {
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16, strided<[?, ?, 1]>>)
    outs(%c : memref<8x32xf32>)
    {format = #pa.gemm_format<bf16>, weight_layout = #pa.weight_layout<shuffled_16x16>}
  return
}
//--- gemm-stride.mlir
func.func @gemm(%a: memref<4096x512xbf16, strided<[281474976710656, 1]>>, %b: memref<1x16384x512xbf16>,
                %c: memref<4096x16384xf32>) {
  pa.grouped_gemm a(%a : memref<4096x512xbf16, strided<[281474976710656, 1]>>) b(%b : memref<1x16384x512xbf16>)
    outs(%c : memref<4096x16384xf32>) {format = #pa.gemm_format<bf16>}
  return
}
