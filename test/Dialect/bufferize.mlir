// RUN: pa-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s
// RUN: pa-opt %s --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s --check-prefix=DYNAMIC

// The op updates its init in place: no copy where the init is not used again.
// CHECK-LABEL: func @logits
// CHECK-SAME: %[[LOGITS:[a-z0-9]+]]: memref<8x1024xf32>)
// CHECK-NOT: memref.copy
// CHECK: pa.paged_logits
// CHECK-SAME: row_ends(%{{.*}} : memref<8xi32>) outs(%[[LOGITS]] : memref<8x1024xf32>)
// CHECK-SAME: {fill = #pa.fill<neg_inf>, tag = 7 : i64}
// CHECK-NOT: memref.copy
// CHECK: return
// DYNAMIC-LABEL: func @logits
// DYNAMIC: pa.paged_logits
// DYNAMIC-SAME: outs(%{{.*}} : memref<8x1024xf32, strided<[?, ?], offset: ?>>)
func.func @logits(%q: tensor<2x4x64x128xf8E4M3FN>,
    %keys: tensor<?x64x128xf8E4M3FN>, %scales: tensor<?x64xf32>,
    %w: tensor<8x64xf32>, %table: tensor<2x16xi32>, %lens: tensor<2xi32>,
    %ends: tensor<8xi32>, %logits: tensor<8x1024xf32> {bufferization.writable = true})
    -> tensor<8x1024xf32> {
  %0 = pa.paged_logits queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>) key_scales(%scales : tensor<?x64xf32>)
    weights(%w : tensor<8x64xf32>) block_table(%table : tensor<2x16xi32>)
    context_lens(%lens : tensor<2xi32>) row_ends(%ends : tensor<8xi32>)
    outs(%logits : tensor<8x1024xf32>)
    {fill = #pa.fill<neg_inf>, tag = 7 : i64} -> tensor<8x1024xf32>
  return %0 : tensor<8x1024xf32>
}

// CHECK-LABEL: func @topk
// CHECK-SAME: %[[I:[a-z0-9]+]]: memref<8x4xi32>, %[[T:[a-z0-9]+]]: memref<8x4xf32>)
// CHECK: pa.topk
// CHECK-SAME: outs(%[[I]] : memref<8x4xi32>, %[[T]] : memref<8x4xf32>)
// CHECK-SAME: {order = #pa.order<by_value>}
// CHECK: return %[[I]], %[[T]]
func.func @topk(%values: tensor<8x64xf32>, %ends: tensor<8xi32>,
    %indices: tensor<8x4xi32>, %top: tensor<8x4xf32>)
    -> (tensor<8x4xi32>, tensor<8x4xf32>) {
  %0:2 = pa.topk values(%values : tensor<8x64xf32>) row_ends(%ends : tensor<8xi32>)
    outs(%indices : tensor<8x4xi32>, %top : tensor<8x4xf32>)
    {order = #pa.order<by_value>} -> tensor<8x4xi32>, tensor<8x4xf32>
  return %0#0, %0#1 : tensor<8x4xi32>, tensor<8x4xf32>
}

// Rows outside every group keep the init's values: an init that is used again
// is copied with its contents first.
// CHECK-LABEL: func @gemm_with_reused_init
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<7x33xf32>)
// CHECK: %[[NEW:.*]] = memref.alloc() {{.*}}: memref<7x33xf32>
// CHECK: memref.copy %[[C]], %[[NEW]]
// CHECK: pa.grouped_gemm
// CHECK-SAME: outs(%[[NEW]] : memref<7x33xf32>)
// CHECK-SAME: format = #pa.gemm_format<bf16>
// CHECK: return %[[NEW]], %[[C]]
func.func @gemm_with_reused_init(%a: tensor<7x100xbf16>,
    %b: tensor<2x33x100xbf16>, %offsets: tensor<3xi32>, %c: tensor<7x33xf32>)
    -> (tensor<7x33xf32>, tensor<7x33xf32>) {
  %0 = pa.grouped_gemm a(%a : tensor<7x100xbf16>) b(%b : tensor<2x33x100xbf16>)
    offsets(%offsets : tensor<3xi32>) outs(%c : tensor<7x33xf32>)
    {format = #pa.gemm_format<bf16>} -> tensor<7x33xf32>
  return %0, %c : tensor<7x33xf32>, tensor<7x33xf32>
}
