// Sparse-attention indexer of a GLM-5.2 decode step without logits in memory: 256
// sequences with 4 query rows each, 128 heads of 128, pages of 64 tokens, and for
// each row the 2048 best of up to 1048576 columns. The logits would take 4 GiB.
//
// Keys and scales lie as in glm52_indexer.mlir.
// Compiles for: gfx950, gfx1250
func.func @glm52_indexer_fused(
    %q: memref<256x4x128x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>,
    %scales: memref<?x64xf32, strided<[250560, 1]>>,
    %weights: memref<1024x128xf32>,
    %table: memref<256x16384xi32>,
    %context_lens: memref<256xi32>,
    %indices: memref<1024x2048xi32>) {
  %columns = arith.constant 1048576 : index
  pa.indexer queries(%q : memref<256x4x128x128xf8E4M3FN>)
      keys(%keys : memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>)
      key_scales(%scales : memref<?x64xf32, strided<[250560, 1]>>)
      weights(%weights : memref<1024x128xf32>)
      block_table(%table : memref<256x16384xi32>)
      context_lens(%context_lens : memref<256xi32>)
      columns(%columns)
      outs(%indices : memref<1024x2048xi32>)
      {layout = #pa.layout<tiled>}
  return
}
