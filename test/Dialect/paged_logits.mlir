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

// CHECK-LABEL: func @mxfp4
// CHECK: query_scales(%{{.*}} : memref<2x1x16x4xf8E8M0FNU>)
// CHECK-SAME: key_scales(%{{.*}} : memref<?x16x4xf8E8M0FNU>)
// CHECK-SAME: {format = #pa.key_format<mxfp4>}
func.func @mxfp4(%q: memref<2x1x16x64xi8>, %sq: memref<2x1x16x4xf8E8M0FNU>,
    %keys: memref<?x16x64xi8>, %sk: memref<?x16x4xf8E8M0FNU>,
    %w: memref<2x16xf32>, %table: memref<2x?xi32>, %lens: memref<2xi32>,
    %logits: memref<2x?xf32>) {
  pa.paged_logits queries(%q : memref<2x1x16x64xi8>)
    query_scales(%sq : memref<2x1x16x4xf8E8M0FNU>)
    keys(%keys : memref<?x16x64xi8>)
    key_scales(%sk : memref<?x16x4xf8E8M0FNU>) weights(%w : memref<2x16xf32>)
    block_table(%table : memref<2x?xi32>) context_lens(%lens : memref<2xi32>)
    outs(%logits : memref<2x?xf32>) {format = #pa.key_format<mxfp4>}
  return
}

// The batch may be dynamic; what only run time knows is not refused.
// CHECK-LABEL: func @dynamic_batch
// CHECK: memref<?x8x128x256xf8E4M3FNUZ>
func.func @dynamic_batch(%q: memref<?x8x128x256xf8E4M3FNUZ>,
    %keys: memref<?x1x256xf8E4M3FNUZ, strided<[?, ?, 1], offset: ?>>,
    %scales: memref<?x1xf32, strided<[?, ?], offset: ?>>, %w: memref<?x128xf32>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %ends: memref<?xi32>,
    %logits: memref<?x?xf32, strided<[?, 1], offset: ?>>) {
  pa.paged_logits queries(%q : memref<?x8x128x256xf8E4M3FNUZ>)
    keys(%keys : memref<?x1x256xf8E4M3FNUZ, strided<[?, ?, 1], offset: ?>>)
    key_scales(%scales : memref<?x1xf32, strided<[?, ?], offset: ?>>)
    weights(%w : memref<?x128xf32>) block_table(%table : memref<?x?xi32>)
    context_lens(%lens : memref<?xi32>) row_ends(%ends : memref<?xi32>)
    outs(%logits : memref<?x?xf32, strided<[?, 1], offset: ?>>)
  return
}

// Every page size from 1 to 256 that the tile allows.
// CHECK-LABEL: func @page_sizes
// CHECK-COUNT-6: pa.paged_logits
func.func @page_sizes(%q: memref<1x1x16x64xf8E4M3FN>,
    %k1: memref<?x1x64xf8E4M3FN>, %s1: memref<?x1xf32>,
    %k2: memref<?x2x64xf8E4M3FN>, %s2: memref<?x2xf32>,
    %k8: memref<?x8x64xf8E4M3FN>, %s8: memref<?x8xf32>,
    %k48: memref<?x48x64xf8E4M3FN>, %s48: memref<?x48xf32>,
    %k256: memref<?x256x64xf8E4M3FN>, %s256: memref<?x256xf32>,
    %w: memref<1x16xf32>, %table: memref<1x16xi32>, %lens: memref<1xi32>,
    %logits: memref<1x64xf32>) {
  pa.paged_logits queries(%q : memref<1x1x16x64xf8E4M3FN>)
    keys(%k1 : memref<?x1x64xf8E4M3FN>) key_scales(%s1 : memref<?x1xf32>)
    weights(%w : memref<1x16xf32>) block_table(%table : memref<1x16xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<1x64xf32>)
  pa.paged_logits queries(%q : memref<1x1x16x64xf8E4M3FN>)
    keys(%k2 : memref<?x2x64xf8E4M3FN>) key_scales(%s2 : memref<?x2xf32>)
    weights(%w : memref<1x16xf32>) block_table(%table : memref<1x16xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<1x64xf32>)
  pa.paged_logits queries(%q : memref<1x1x16x64xf8E4M3FN>)
    keys(%k8 : memref<?x8x64xf8E4M3FN>) key_scales(%s8 : memref<?x8xf32>)
    weights(%w : memref<1x16xf32>) block_table(%table : memref<1x16xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<1x64xf32>)
    {layout = #pa.layout<tiled>}
  pa.paged_logits queries(%q : memref<1x1x16x64xf8E4M3FN>)
    keys(%k48 : memref<?x48x64xf8E4M3FN>) key_scales(%s48 : memref<?x48xf32>)
    weights(%w : memref<1x16xf32>) block_table(%table : memref<1x16xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<1x64xf32>)
    {layout = #pa.layout<tiled>}
  pa.paged_logits queries(%q : memref<1x1x16x64xf8E4M3FN>)
    keys(%k256 : memref<?x256x64xf8E4M3FN>) key_scales(%s256 : memref<?x256xf32>)
    weights(%w : memref<1x16xf32>) block_table(%table : memref<1x16xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<1x64xf32>)
    {layout = #pa.layout<tiled>}
  // One page may be read again and again: a stride of 0 between pages.
  %pages = memref.reinterpret_cast %k8 to offset: [0], sizes: [4, 8, 64],
    strides: [0, 64, 1] : memref<?x8x64xf8E4M3FN>
    to memref<4x8x64xf8E4M3FN, strided<[0, 64, 1]>>
  pa.paged_logits queries(%q : memref<1x1x16x64xf8E4M3FN>)
    keys(%pages : memref<4x8x64xf8E4M3FN, strided<[0, 64, 1]>>)
    key_scales(%s8 : memref<?x8xf32>) weights(%w : memref<1x16xf32>)
    block_table(%table : memref<1x16xi32>) context_lens(%lens : memref<1xi32>)
    outs(%logits : memref<1x64xf32>)
  return
}
