func.func @best(%logits: memref<?x4096xf32>, %indices: memref<?x64xi32>) {
  pa.topk values(%logits : memref<?x4096xf32>) outs(%indices : memref<?x64xi32>)
  return
}
