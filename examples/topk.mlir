// Top-k over the indexer's logits: the 2048 best columns of each of 1024 rows, in
// ascending order of column.
// Compiles for: none
func.func @topk(%logits: memref<1024x1048576xf32>, %row_ends: memref<1024xi32>,
                %indices: memref<1024x2048xi32>) {
  pa.topk values(%logits : memref<1024x1048576xf32>)
      row_ends(%row_ends : memref<1024xi32>)
      outs(%indices : memref<1024x2048xi32>)
  return
}
