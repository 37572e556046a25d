// RUN: pa-opt %s | pa-opt | FileCheck %s
// RUN: pa-opt %s --mlir-print-op-generic | pa-opt | FileCheck %s
// RUN: pa-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s --check-prefix=BUFFERS

// CHECK-LABEL: func @least
// CHECK: pa.indexer queries(%{{.*}} : memref<2x4x64x128xf8E4M3FN>)
// CHECK-SAME: context_lens(%{{.*}} : memref<2xi32>) columns(%{{[a-z0-9]+}})
// CHECK-SAME: outs(%{{.*}} : memref<8x512xi32>)
// CHECK-NOT: order
func.func @least(%q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<8x64xf32>, %table: memref<2x16xi32>,
    %lens: memref<2xi32>, %columns: index, %indices: memref<8x512xi32>) {
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<8x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) columns(%columns)
    outs(%indices : memref<8x512xi32>) {order = #pa.order<by_index>}
  return
}

// CHECK-LABEL: func @all_operands
// CHECK: pa.indexer queries
// CHECK-SAME: query_scales(%{{.*}} : memref<2x4x64x4xi8>)
// CHECK-SAME: row_ends(%{{.*}} : memref<8xi32>) columns(%{{[a-z0-9]+}})
// CHECK-SAME: outs(%{{.*}} : memref<8x512xi32>, %{{.*}} : memref<8x512xf32>)
// CHECK-SAME: config = #pa.indexer_config<mma = mfma_scale_f32_16x16x128_fp4, waves = 8, steps = 2, query = registers, rows = 1, candidates = 4096, splits = 3>
// CHECK-SAME: format = #pa.key_format<mxfp4>
// CHECK-SAME: layout = #pa.layout<tiled>
// CHECK-SAME: order = #pa.order<by_value>
func.func @all_operands(%q: memref<2x4x64x64xi8>, %qs: memref<2x4x64x4xi8>,
    %keys: memref<?x64x64xi8>, %scales: memref<?x64x4xi8>, %w: memref<8x64xf32>,
    %table: memref<2x16xi32>, %lens: memref<2xi32>, %ends: memref<8xi32>,
    %columns: index, %indices: memref<8x512xi32>, %top: memref<8x512xf32>) {
  pa.indexer queries(%q : memref<2x4x64x64xi8>)
    query_scales(%qs : memref<2x4x64x4xi8>) keys(%keys : memref<?x64x64xi8>)
    key_scales(%scales : memref<?x64x4xi8>) weights(%w : memref<8x64xf32>)
    block_table(%table : memref<2x16xi32>) context_lens(%lens : memref<2xi32>)
    row_ends(%ends : memref<8xi32>) columns(%columns)
    outs(%indices : memref<8x512xi32>, %top : memref<8x512xf32>)
    {layout = #pa.layout<tiled>, format = #pa.key_format<mxfp4>, order = #pa.order<by_value>,
     config = #pa.indexer_config<mma = mfma_scale_f32_16x16x128_fp4, waves = 8, steps = 2,
       query = registers, rows = 1, candidates = 4096, splits = 3>}
  return
}

// The op updates its inits in place.
// CHECK-LABEL: func @tensors
// CHECK: pa.indexer {{.*}} -> tensor<8x512xi32>, tensor<8x512xf32>
// BUFFERS-LABEL: func @tensors
// BUFFERS-SAME: %[[I:[a-z0-9]+]]: memref<8x512xi32>, %[[T:[a-z0-9]+]]: memref<8x512xf32>)
// BUFFERS-NOT: memref.copy
// BUFFERS: pa.indexer {{.*}} columns(%{{[a-z0-9]+}}) outs(%[[I]] : memref<8x512xi32>, %[[T]] : memref<8x512xf32>)
// BUFFERS-NOT: memref.copy
// BUFFERS: return %[[I]], %[[T]]
func.func @tensors(%q: tensor<2x4x64x128xf8E4M3FN>, %keys: tensor<?x64x128xf8E4M3FN>,
    %scales: tensor<?x64xf32>, %w: tensor<8x64xf32>, %table: tensor<2x16xi32>,
    %lens: tensor<2xi32>, %columns: index, %indices: tensor<8x512xi32>,
    %top: tensor<8x512xf32>) -> (tensor<8x512xi32>, tensor<8x512xf32>) {
  %0:2 = pa.indexer queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>) key_scales(%scales : tensor<?x64xf32>)
    weights(%w : tensor<8x64xf32>) block_table(%table : tensor<2x16xi32>)
    context_lens(%lens : tensor<2xi32>) columns(%columns)
    outs(%indices : tensor<8x512xi32>, %top : tensor<8x512xf32>)
    -> tensor<8x512xi32>, tensor<8x512xf32>
  return %0#0, %0#1 : tensor<8x512xi32>, tensor<8x512xf32>
}
