// RUN: pa-opt %s | pa-opt | FileCheck %s
// RUN: pa-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=BUF

// CHECK-LABEL: func @memrefs
// CHECK: pa.paged_logits queries(%{{.*}} : memref<2x4x64x128xf8E4M3FN>)
// CHECK-SAME: layout = #pa.layout<tiled>
func.func @memrefs(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>,
    %scales: memref<?x64xf32, strided<[2112, 1], offset: 2048>>,
    %w: memref<8x64xf32>, %table: memref<2x16xi32>, %lens: memref<2xi32>,
    %ends: memref<8xi32>, %logits: memref<8x1024xf32>) {
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>)
    key_scales(%scales : memref<?x64xf32, strided<[2112, 1], offset: 2048>>)
    weights(%w : memref<8x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) row_ends(%ends : memref<8xi32>)
    outs(%logits : memref<8x1024xf32>)
    {layout = #pa.layout<tiled>, fill = #pa.fill<neg_inf>,
     config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 2, query = registers>}
  return
}

// CHECK-LABEL: func @tensors
// CHECK: -> tensor<8x1024xf32>
// BUF-LABEL: func @tensors
// BUF: pa.paged_logits
// BUF-SAME: outs(%{{.*}} : memref<8x1024xf32
func.func @tensors(%q: tensor<2x4x64x128xf8E4M3FN>,
    %keys: tensor<?x64x128xf8E4M3FN>, %scales: tensor<?x64xf32>,
    %w: tensor<8x64xf32>, %table: tensor<2x16xi32>, %lens: tensor<2xi32>,
    %logits: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %0 = pa.paged_logits queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>) key_scales(%scales : tensor<?x64xf32>)
    weights(%w : tensor<8x64xf32>) block_table(%table : tensor<2x16xi32>)
    context_lens(%lens : tensor<2xi32>)
    outs(%logits : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  return %0 : tensor<8x1024xf32>
}
