// RUN: pa-opt %s --pa-fuse-indexer="mode=on remarks" -split-input-file -verify-diagnostics | FileCheck %s
// RUN: pa-opt %s --pa-fuse-indexer="mode=off remarks" -split-input-file | FileCheck %s --check-prefix=OFF
// RUN: not pa-opt %s --pa-fuse-indexer="mode=often" -split-input-file 2>&1 | FileCheck %s --check-prefix=MODE

// MODE: error: pa-fuse-indexer takes mode off, on or auto, found 'often'
// OFF-NOT: pa.indexer

// The logits and what frees them go.
// CHECK-LABEL: func @memrefs
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<64x1x64x128xf8E4M3FN>, %[[LENS:[a-z0-9]+]]: memref<64xi32>, %[[I:[a-z0-9]+]]: memref<64x2048xi32>
// CHECK-NOT: memref.alloc
// CHECK: %[[C:.*]] = arith.constant 16384 : index
// CHECK: pa.indexer queries(%[[Q]] : {{.*}}) {{.*}} context_lens(%[[LENS]] : memref<64xi32>) columns(%[[C]])
// CHECK-SAME: outs(%[[I]] : memref<64x2048xi32>) {layout = #pa.layout<tiled>}
// CHECK-NEXT: return
func.func @memrefs(%q: memref<64x1x64x128xf8E4M3FN>, %lens: memref<64xi32>,
    %indices: memref<64x2048xi32>, %keys: memref<?x64x128xf8E4M3FN>, %scales: memref<?x64xf32>,
    %w: memref<64x64xf32>, %table: memref<64x256xi32>) {
  %logits = memref.alloc() : memref<64x16384xf32>
  pa.paged_logits queries(%q : memref<64x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<64x64xf32>) block_table(%table : memref<64x256xi32>)
    context_lens(%lens : memref<64xi32>) outs(%logits : memref<64x16384xf32>)
    {layout = #pa.layout<tiled>}
  // expected-remark @below {{fused with its pa.paged_logits: every pair that means the same is to be}}
  pa.topk values(%logits : memref<64x16384xf32>) context_lens(%lens : memref<64xi32>)
    outs(%indices : memref<64x2048xi32>) {next_n = 1 : i64}
  memref.dealloc %logits : memref<64x16384xf32>
  return
}

// -----

// Row ends given, and columns that are an operand of the allocation.
// CHECK-LABEL: func @row_ends
// CHECK-SAME: %[[COLUMNS:[a-z0-9]+]]: index
// CHECK: pa.indexer {{.*}} row_ends(%{{.*}} : memref<2xi32>) columns(%[[COLUMNS]])
// CHECK-SAME: outs(%{{.*}} : memref<2x8xi32>, %{{.*}} : memref<2x8xf32>) {order = #pa.order<by_value>}
func.func @row_ends(%columns: index, %q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %top: memref<2x8xf32>,
    %keys: memref<?x64x128xf8E4M3FN>, %scales: memref<?x64xf32>,
    %w: memref<2x64xf32>, %table: memref<2x256xi32>) {
  %logits = memref.alloc(%columns) : memref<2x?xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x256xi32>)
    context_lens(%lens : memref<2xi32>) row_ends(%ends : memref<2xi32>)
    outs(%logits : memref<2x?xf32>)
  // expected-remark @below {{fused with its}}
  pa.topk values(%logits : memref<2x?xf32>) row_ends(%ends : memref<2xi32>)
    outs(%indices : memref<2x8xi32>, %top : memref<2x8xf32>) {order = #pa.order<by_value>}
  return
}

// -----

// Tensors.
// CHECK-LABEL: func @tensors
// CHECK-NOT: tensor.empty
// CHECK: %[[R:.*]] = pa.indexer {{.*}} -> tensor<2x8xi32>
// CHECK-NEXT: return %[[R]]
func.func @tensors(%q: tensor<2x1x64x128xf8E4M3FN>, %lens: tensor<2xi32>,
    %indices: tensor<2x8xi32>, %keys: tensor<?x64x128xf8E4M3FN>, %scales: tensor<?x64xf32>,
    %w: tensor<2x64xf32>, %table: tensor<2x16xi32>) -> tensor<2x8xi32> {
  %init = tensor.empty() : tensor<2x1000xf32>
  %logits = pa.paged_logits queries(%q : tensor<2x1x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>) key_scales(%scales : tensor<?x64xf32>)
    weights(%w : tensor<2x64xf32>) block_table(%table : tensor<2x16xi32>)
    context_lens(%lens : tensor<2xi32>) outs(%init : tensor<2x1000xf32>)
    {fill = #pa.fill<neg_inf>} -> tensor<2x1000xf32>
  // expected-remark @below {{fused with its}}
  %0 = pa.topk values(%logits : tensor<2x1000xf32>) context_lens(%lens : tensor<2xi32>)
    outs(%indices : tensor<2x8xi32>) {next_n = 1 : i64} -> tensor<2x8xi32>
  return %0 : tensor<2x8xi32>
}
