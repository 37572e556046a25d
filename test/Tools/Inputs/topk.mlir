func.func @best(%logits: memref<8x4096xf32>, %indices: memref<8x64xi32>) {
  pa.topk values(%logits : memref<8x4096xf32>) outs(%indices : memref<8x64xi32>)
  return
}
