// Sparse-attention indexer of a GLM-5.2 decode step: 256 sequences with 4 query
// rows each, 128 heads of 128, pages of 64 tokens, up to 1048576 columns.
//
// A page holds its 64 tiled keys of 128 bytes, then their f32 scales: 8448 bytes.
// It is one layer's part of a larger allocation, so that pages are 1002240 bytes
// apart. Keys and scales are two strided views of it.
// Compiles for: gfx950, gfx1250
func.func @glm52_indexer(
    %q: memref<256x4x128x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>,
    %scales: memref<?x64xf32, strided<[250560, 1]>>,
    %weights: memref<1024x128xf32>,
    %table: memref<256x16384xi32>,
    %context_lens: memref<256xi32>,
    %logits: memref<1024x1048576xf32>) {
  pa.paged_logits queries(%q : memref<256x4x128x128xf8E4M3FN>)
      keys(%keys : memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>)
      key_scales(%scales : memref<?x64xf32, strided<[250560, 1]>>)
      weights(%weights : memref<1024x128xf32>)
      block_table(%table : memref<256x16384xi32>)
      context_lens(%context_lens : memref<256xi32>)
      outs(%logits : memref<1024x1048576xf32>)
      {layout = #pa.layout<tiled>}
  return
}
