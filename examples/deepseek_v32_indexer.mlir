// Sparse-attention indexer of a DeepSeek-V3.2 decode step with one draft token:
// 2 query rows of 64 heads of 128 for each sequence, pages of 64 tokens.
//
// A page is 8448 bytes: 64 tiled keys of 128 bytes, then 64 f32 scales. The batch
// and the number of pages are known at launch only.
// Compiles for: gfx950, gfx1250
func.func @deepseek_v32_indexer(
    %q: memref<?x2x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>,
    %scales: memref<?x64xf32, strided<[2112, 1]>>,
    %weights: memref<?x64xf32>,
    %table: memref<?x?xi32>,
    %context_lens: memref<?xi32>,
    %logits: memref<?x163840xf32>) {
  pa.paged_logits queries(%q : memref<?x2x64x128xf8E4M3FN>)
      keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>)
      key_scales(%scales : memref<?x64xf32, strided<[2112, 1]>>)
      weights(%weights : memref<?x64xf32>)
      block_table(%table : memref<?x?xi32>)
      context_lens(%context_lens : memref<?xi32>)
      outs(%logits : memref<?x163840xf32>)
      {layout = #pa.layout<tiled>, fill = #pa.fill<neg_inf>}
  return
}
