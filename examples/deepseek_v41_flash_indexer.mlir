// Sparse-attention indexer of a DeepSeek-V4.1-Flash decode step: 64 heads of 128,
// pages of 8 tokens. Two pages fill one matrix tile of 16 tokens.
//
// A page is 1056 bytes: 8 tiled keys of 128 bytes, then 8 f32 scales.
// Compiles for: gfx950, gfx1250
func.func @deepseek_v41_flash_indexer(
    %q: memref<?x1x64x128xf8E4M3FN>,
    %keys: memref<?x8x128xf8E4M3FN, strided<[1056, 128, 1]>>,
    %scales: memref<?x8xf32, strided<[264, 1]>>,
    %weights: memref<?x64xf32>,
    %table: memref<?x?xi32>,
    %context_lens: memref<?xi32>,
    %logits: memref<?x131072xf32>) {
  pa.paged_logits queries(%q : memref<?x1x64x128xf8E4M3FN>)
      keys(%keys : memref<?x8x128xf8E4M3FN, strided<[1056, 128, 1]>>)
      key_scales(%scales : memref<?x8xf32, strided<[264, 1]>>)
      weights(%weights : memref<?x64xf32>)
      block_table(%table : memref<?x?xi32>)
      context_lens(%context_lens : memref<?xi32>)
      outs(%logits : memref<?x131072xf32>)
      {layout = #pa.layout<tiled>}
  return
}
