// RUN: pa-opt %s --pa-lower-to-loops -split-input-file -verify-diagnostics

func.func @logits_on_tensors(%q: tensor<2x1x16x64xf8E4M3FN>,
    %keys: tensor<?x64x64xf8E4M3FN>, %scales: tensor<?x64xf32>,
    %w: tensor<2x16xf32>, %table: tensor<2x16xi32>, %lens: tensor<2xi32>,
    %logits: tensor<2x1024xf32>) -> tensor<2x1024xf32> {
  // expected-error @below {{cannot be lowered to loops on tensors, found 'tensor<2x1x16x64xf8E4M3FN>'; bufferize first}}
  %0 = pa.paged_logits queries(%q : tensor<2x1x16x64xf8E4M3FN>)
    keys(%keys : tensor<?x64x64xf8E4M3FN>) key_scales(%scales : tensor<?x64xf32>)
    weights(%w : tensor<2x16xf32>) block_table(%table : tensor<2x16xi32>)
    context_lens(%lens : tensor<2xi32>)
    outs(%logits : tensor<2x1024xf32>) -> tensor<2x1024xf32>
  return %0 : tensor<2x1024xf32>
}

// -----

func.func @topk_on_tensors(%values: tensor<4x100xf32>, %init: tensor<4x8xi32>,
    %memref: memref<4x100xf32>, %out: memref<4x8xi32>) -> tensor<4x8xi32> {
  pa.topk values(%memref : memref<4x100xf32>) outs(%out : memref<4x8xi32>)
  // expected-error @below {{cannot be lowered to loops on tensors, found 'tensor<4x100xf32>'; bufferize first}}
  %0 = pa.topk values(%values : tensor<4x100xf32>)
    outs(%init : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// -----

func.func @gemm_on_tensors(%a: tensor<4x64xf16>, %b: tensor<1x64x64xf16>,
    %c: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @below {{cannot be lowered to loops on tensors, found 'tensor<4x64xf16>'; bufferize first}}
  %0 = pa.grouped_gemm a(%a : tensor<4x64xf16>) b(%b : tensor<1x64x64xf16>)
    outs(%c : tensor<4x64xf16>) {format = #pa.gemm_format<f16>} -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
