// Top-k over the indexer's logits: the 2048 best columns of each of 1024 rows, in
// ascending order of column. Rows end where those of the logits end, with four
// queries for each of 256 sequences, so that nobody has to fill what lies behind.
// Compiles for: gfx942, gfx950, gfx1250
func.func @topk(%logits: memref<1024x1048576xf32>, %context_lens: memref<256xi32>,
                %indices: memref<1024x2048xi32>) {
  pa.topk values(%logits : memref<1024x1048576xf32>)
      context_lens(%context_lens : memref<256xi32>)
      outs(%indices : memref<1024x2048xi32>) {next_n = 4 : i64}
  return
}
