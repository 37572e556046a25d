// RUN: pa-opt %s | pa-opt | FileCheck %s
// RUN: pa-opt %s --mlir-print-op-generic | pa-opt | FileCheck %s

// Enum attributes that hold their default are not printed.

// CHECK-LABEL: func @ends
// CHECK: pa.topk values(%{{.*}} : memref<1024x1048576xf32>)
// CHECK-SAME: row_ends(%{{.*}} : memref<1024xi32>)
// CHECK-SAME: outs(%{{.*}} : memref<1024x2048xi32>)
// CHECK-NOT: order
func.func @ends(%values: memref<1024x1048576xf32>, %ends: memref<1024xi32>,
    %indices: memref<1024x2048xi32>) {
  pa.topk values(%values : memref<1024x1048576xf32>)
    row_ends(%ends : memref<1024xi32>)
    outs(%indices : memref<1024x2048xi32>) {order = #pa.order<by_index>}
  return
}

// CHECK-LABEL: func @all_operands
// CHECK: pa.topk values(%{{.*}} : memref<?x?xf32, strided<[?, 1], offset: ?>>)
// CHECK-SAME: row_starts(%{{.*}} : memref<?xi32>) row_ends(%{{.*}} : memref<?xi32>)
// CHECK-SAME: outs(%{{.*}} : memref<?x512xi32>, %{{.*}} : memref<?x512xf32>)
// CHECK-SAME: {order = #pa.order<by_value>}
func.func @all_operands(%values: memref<?x?xf32, strided<[?, 1], offset: ?>>,
    %starts: memref<?xi32>, %ends: memref<?xi32>, %indices: memref<?x512xi32>,
    %top: memref<?x512xf32>) {
  pa.topk values(%values : memref<?x?xf32, strided<[?, 1], offset: ?>>)
    row_starts(%starts : memref<?xi32>) row_ends(%ends : memref<?xi32>)
    outs(%indices : memref<?x512xi32>, %top : memref<?x512xf32>)
    {order = #pa.order<by_value>}
  return
}

// CHECK-LABEL: func @least_and_most
func.func @least_and_most(%values: memref<1x2147483647xf32>,
    %one: memref<1x1xi32>, %many: memref<1x4096xi32>) {
  // CHECK: outs(%{{.*}} : memref<1x1xi32>)
  pa.topk values(%values : memref<1x2147483647xf32>) outs(%one : memref<1x1xi32>)
  // CHECK: outs(%{{.*}} : memref<1x4096xi32>)
  pa.topk values(%values : memref<1x2147483647xf32>)
    outs(%many : memref<1x4096xi32>)
  return
}

// The row stride of one row means nothing, and input rows may overlap.
// CHECK-LABEL: func @strides_that_are_legal
func.func @strides_that_are_legal(%windows: memref<8x4096xf32, strided<[1, 1]>>,
    %broadcast: memref<8x4096xf32, strided<[0, 1]>>,
    %dynamic: memref<8x4096xf32, strided<[?, ?]>>,
    %ends: memref<8xi32, strided<[0]>>,
    %out: memref<8x4xi32>, %out1: memref<1x4xi32, strided<[0, 1]>>,
    %in1: memref<1x4xf32>) {
  // CHECK-COUNT-4: pa.topk
  pa.topk values(%windows : memref<8x4096xf32, strided<[1, 1]>>)
    row_ends(%ends : memref<8xi32, strided<[0]>>) outs(%out : memref<8x4xi32>)
  pa.topk values(%broadcast : memref<8x4096xf32, strided<[0, 1]>>)
    outs(%out : memref<8x4xi32>)
  pa.topk values(%dynamic : memref<8x4096xf32, strided<[?, ?]>>)
    outs(%out : memref<8x4xi32>)
  pa.topk values(%in1 : memref<1x4xf32>)
    outs(%out1 : memref<1x4xi32, strided<[0, 1]>>)
  return
}

// CHECK-LABEL: func @tensors
// CHECK: %[[R:.*]]:2 = pa.topk
// CHECK-SAME: -> tensor<8x16xi32>, tensor<8x16xf32>
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @tensors(%values: tensor<8x4096xf32>, %indices: tensor<8x16xi32>,
    %top: tensor<8x16xf32>) -> (tensor<8x16xi32>, tensor<8x16xf32>) {
  %0:2 = pa.topk values(%values : tensor<8x4096xf32>)
    outs(%indices : tensor<8x16xi32>, %top : tensor<8x16xf32>)
    -> tensor<8x16xi32>, tensor<8x16xf32>
  return %0#0, %0#1 : tensor<8x16xi32>, tensor<8x16xf32>
}

// Row ends from the lengths of sequences.
// CHECK-LABEL: func @context_lens
func.func @context_lens(%values: memref<8x4096xf32>, %lens: memref<2xi32>,
    %dynamic: memref<?x4096xf32>, %any: memref<?xi32>, %starts: memref<?xi32>,
    %out: memref<8x4xi32>, %outs: memref<?x4xi32>) {
  // CHECK: pa.topk values(%{{.*}} : memref<8x4096xf32>)
  // CHECK-SAME: context_lens(%{{.*}} : memref<2xi32>) outs(%{{.*}} : memref<8x4xi32>)
  // CHECK-SAME: {next_n = 4 : i64}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi32>) outs(%out : memref<8x4xi32>)
    {next_n = 4 : i64}
  // CHECK: row_starts(%{{.*}} : memref<?xi32>) context_lens(%{{.*}} : memref<?xi32>)
  pa.topk values(%dynamic : memref<?x4096xf32>)
    row_starts(%starts : memref<?xi32>) context_lens(%any : memref<?xi32>)
    outs(%outs : memref<?x4xi32>) {next_n = 2147483647 : i64}
  return
}
