// RUN: pa-opt %s --one-shot-bufferize=bufferize-function-boundaries \
// RUN:     --pa-lower-to-loops \
// RUN:   | FileCheck %s --implicit-check-not=pa.topk

// Tensors become memrefs of unknown strides, which the loops accept.
// CHECK-LABEL: func @topk(
// CHECK-SAME: %[[VALUES:[^:]*]]: memref<4x100xf32, strided<[?, ?], offset: ?>>
// CHECK: memref.load %[[VALUES]]
// CHECK: memref.store
func.func @topk(%values: tensor<4x100xf32>, %init: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %0 = pa.topk values(%values : tensor<4x100xf32>)
    outs(%init : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
