// RUN: pa-opt %s --canonicalize --cse --symbol-dce | FileCheck %s
// RUN: pa-opt %s --canonicalize > %t.once
// RUN: pa-opt %t.once --canonicalize | diff %t.once -

// An op on memrefs writes memory and stays, twice too: the second may read what
// stands in its inits.
// CHECK-LABEL: func @memrefs
// CHECK-COUNT-2: pa.topk
// CHECK-COUNT-2: pa.paged_logits
// CHECK-COUNT-2: pa.grouped_gemm
func.func @memrefs(%values: memref<8x64xf32>, %indices: memref<8x4xi32>,
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<8x64xf32>, %table: memref<2x16xi32>,
    %lens: memref<2xi32>, %logits: memref<8x1024xf32>, %a: memref<7x100xbf16>,
    %b: memref<1x33x100xbf16>, %c: memref<7x33xf32>) {
  pa.topk values(%values : memref<8x64xf32>) outs(%indices : memref<8x4xi32>)
  pa.topk values(%values : memref<8x64xf32>) outs(%indices : memref<8x4xi32>)
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<8x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<8x1024xf32>)
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<8x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<8x1024xf32>)
  pa.grouped_gemm a(%a : memref<7x100xbf16>) b(%b : memref<1x33x100xbf16>)
    outs(%c : memref<7x33xf32>) {format = #pa.gemm_format<bf16>}
  pa.grouped_gemm a(%a : memref<7x100xbf16>) b(%b : memref<1x33x100xbf16>)
    outs(%c : memref<7x33xf32>) {format = #pa.gemm_format<bf16>}
  return
}

// An op on tensors is pure: it goes when nobody uses it.
// CHECK-LABEL: func @unused_tensors
// CHECK-NEXT: return
func.func @unused_tensors(%values: tensor<8x64xf32>, %indices: tensor<8x4xi32>,
    %q: tensor<2x4x64x128xf8E4M3FN>, %keys: tensor<?x64x128xf8E4M3FN>,
    %scales: tensor<?x64xf32>, %w: tensor<8x64xf32>, %table: tensor<2x16xi32>,
    %lens: tensor<2xi32>, %logits: tensor<8x1024xf32>, %a: tensor<7x100xbf16>,
    %b: tensor<1x33x100xbf16>, %c: tensor<7x33xf32>) {
  %0 = pa.topk values(%values : tensor<8x64xf32>)
    outs(%indices : tensor<8x4xi32>) -> tensor<8x4xi32>
  %1 = pa.paged_logits queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>) key_scales(%scales : tensor<?x64xf32>)
    weights(%w : tensor<8x64xf32>) block_table(%table : tensor<2x16xi32>)
    context_lens(%lens : tensor<2xi32>) outs(%logits : tensor<8x1024xf32>)
    -> tensor<8x1024xf32>
  %2 = pa.grouped_gemm a(%a : tensor<7x100xbf16>) b(%b : tensor<1x33x100xbf16>)
    outs(%c : tensor<7x33xf32>) {format = #pa.gemm_format<bf16>}
    -> tensor<7x33xf32>
  return
}

// Equal ones become one.
// CHECK-LABEL: func @equal_tensors
// CHECK: %[[R:.*]] = pa.topk
// CHECK-NOT: pa.topk
// CHECK: return %[[R]], %[[R]]
func.func @equal_tensors(%values: tensor<8x64xf32>, %indices: tensor<8x4xi32>)
    -> (tensor<8x4xi32>, tensor<8x4xi32>) {
  %0 = pa.topk values(%values : tensor<8x64xf32>)
    outs(%indices : tensor<8x4xi32>) -> tensor<8x4xi32>
  %1 = pa.topk values(%values : tensor<8x64xf32>)
    outs(%indices : tensor<8x4xi32>) -> tensor<8x4xi32>
  return %0, %1 : tensor<8x4xi32>, tensor<8x4xi32>
}

// A load after the op does not take its value from before the op.
// CHECK-LABEL: func @written_between
// CHECK: %[[A:.*]] = memref.load
// CHECK: pa.topk
// CHECK: %[[B:.*]] = memref.load
// CHECK: return %[[A]], %[[B]]
func.func @written_between(%values: memref<8x64xf32>, %indices: memref<8x4xi32>,
    %i: index) -> (i32, i32) {
  %0 = memref.load %indices[%i, %i] : memref<8x4xi32>
  pa.topk values(%values : memref<8x64xf32>) outs(%indices : memref<8x4xi32>)
  %1 = memref.load %indices[%i, %i] : memref<8x4xi32>
  return %0, %1 : i32, i32
}

// Unused lowering ops go as well.
// CHECK-LABEL: func @unused_lowering_ops
// CHECK-NEXT: return
func.func @unused_lowering_ops(%i: index, %a: vector<32xf8E4M3FN>,
    %c: vector<4xf32>) {
  %0 = pa.assume %i {min = 0 : i64} : index
  %1 = pa.mma mfma_f32_16x16x128_fp8 %a, %a, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}
