// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @paged_logits_c1_rank_of_q(%q: memref<8x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op q must have rank 4, found 3}}
  pa.paged_logits queries(%q : memref<8x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c1_rank_of_keys(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op keys must have rank 3, found 2}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c1_rank_of_table(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<32xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op block_table must have rank 2, found 1}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<32xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c1_rank_of_weights(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<2x4x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op weights must have rank 2, found 3}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<2x4x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c1_rank_of_logits(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<2x4x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op logits must have rank 2, found 3}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<2x4x1024xf32>)
  return
}

// -----

func.func @paged_logits_c1_rank_of_mxfp4_key_scales(%q: memref<2x4x64x64xi8>,
    %query_scales: memref<2x4x64x4xi8>, %keys: memref<?x64x64xi8>,
    %key_scales: memref<?x64xi8>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op key_scales must have rank 3, found 2}}
  pa.paged_logits queries(%q : memref<2x4x64x64xi8>)
    query_scales(%query_scales : memref<2x4x64x4xi8>)
    keys(%keys : memref<?x64x64xi8>) key_scales(%key_scales : memref<?x64xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @paged_logits_c2_mixed_forms(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: tensor<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op operands must be all tensors or all memrefs, found 'memref<2x4x64x128xf8E4M3FN>' for q and 'tensor<8x64xf32>' for weights}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : tensor<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c2_tensor_init_of_memrefs(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  // expected-error @below {{'pa.paged_logits' op operands must be all tensors or all memrefs, found 'memref<2x4x64x128xf8E4M3FN>' for q and 'tensor<8x1024xf32>' for logits}}
  %0 = pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  return %0 : tensor<8x1024xf32>
}

// -----

func.func @paged_logits_c2_no_result(%q: tensor<2x4x64x128xf8E4M3FN>,
    %keys: tensor<?x64x128xf8E4M3FN>, %key_scales: tensor<?x64xf32>,
    %weights: tensor<8x64xf32>, %block_table: tensor<2x16xi32>,
    %context_lens: tensor<2xi32>, %logits: tensor<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op expected 1 results, one for each tensor init, found 0}}
  pa.paged_logits queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : tensor<?x64xf32>)
    weights(%weights : tensor<8x64xf32>)
    block_table(%block_table : tensor<2x16xi32>)
    context_lens(%context_lens : tensor<2xi32>)
    outs(%logits : tensor<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c2_result_of_other_type(
    %q: tensor<2x4x64x128xf8E4M3FN>, %keys: tensor<?x64x128xf8E4M3FN>,
    %key_scales: tensor<?x64xf32>, %weights: tensor<8x64xf32>,
    %block_table: tensor<2x16xi32>, %context_lens: tensor<2xi32>,
    %logits: tensor<8x1024xf32>) -> tensor<8x512xf32> {
  // expected-error @below {{'pa.paged_logits' op result must have the type of its init 'tensor<8x1024xf32>', found 'tensor<8x512xf32>'}}
  %0 = pa.paged_logits queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : tensor<?x64xf32>)
    weights(%weights : tensor<8x64xf32>)
    block_table(%block_table : tensor<2x16xi32>)
    context_lens(%context_lens : tensor<2xi32>)
    outs(%logits : tensor<8x1024xf32>) -> tensor<8x512xf32>
  return %0 : tensor<8x512xf32>
}

// -----

func.func @paged_logits_c3_element_type_of_q(%q: memref<2x4x64x128xf8E5M2>,
    %keys: memref<?x64x128xf8E5M2>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op q must have element type 'f8E4M3FN' or 'f8E4M3FNUZ', found 'f8E5M2'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E5M2>)
    keys(%keys : memref<?x64x128xf8E5M2>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_two_fp8_types(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FNUZ>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op q and keys must have one element type, found 'f8E4M3FN' and 'f8E4M3FNUZ'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FNUZ>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_element_type_of_key_scales(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf16>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op key_scales must have element type 'f32', found 'f16'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf16>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_element_type_of_mxfp4_keys(
    %q: memref<2x4x64x128xf8E4M3FN>, %query_scales: memref<2x4x64x4xi8>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64x4xi8>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op q must have element type 'i8', found 'f8E4M3FN'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    query_scales(%query_scales : memref<2x4x64x4xi8>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64x4xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @paged_logits_c3_element_type_of_query_scales(
    %q: memref<2x4x64x64xi8>, %query_scales: memref<2x4x64x4xf32>,
    %keys: memref<?x64x64xi8>, %key_scales: memref<?x64x4xi8>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op query_scales must have element type 'i8' or 'f8E8M0FNU', found 'f32'}}
  pa.paged_logits queries(%q : memref<2x4x64x64xi8>)
    query_scales(%query_scales : memref<2x4x64x4xf32>)
    keys(%keys : memref<?x64x64xi8>) key_scales(%key_scales : memref<?x64x4xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @paged_logits_c3_element_type_of_weights(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xbf16>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op weights must have element type 'f32', found 'bf16'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xbf16>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_element_type_of_table(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi64>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op block_table must have element type 'i32', found 'i64'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi64>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_element_type_of_context_lens(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xindex>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op context_lens must have element type 'i32', found 'index'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xindex>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_element_type_of_row_ends(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %row_ends: memref<8xi16>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op row_ends must have element type 'i32', found 'i16'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    row_ends(%row_ends : memref<8xi16>) outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c3_element_type_of_logits(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xbf16>) {
  // expected-error @below {{'pa.paged_logits' op logits must have element type 'f32', found 'bf16'}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xbf16>)
  return
}

// -----

func.func @paged_logits_c4_query_scales_for_fp8(
    %q: memref<2x4x64x128xf8E4M3FN>, %query_scales: memref<2x4x64x4xi8>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op query_scales must be absent for fp8}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    query_scales(%query_scales : memref<2x4x64x4xi8>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c4_no_query_scales_for_mxfp4(%q: memref<2x4x64x64xi8>,
    %keys: memref<?x64x64xi8>, %key_scales: memref<?x64x4xi8>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op query_scales must be present for mxfp4}}
  pa.paged_logits queries(%q : memref<2x4x64x64xi8>)
    keys(%keys : memref<?x64x64xi8>) key_scales(%key_scales : memref<?x64x4xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @paged_logits_c5_rows_of_weights(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<2x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 0 of weights must be B * N = 8, found 2}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<2x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_heads_of_weights(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x128xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 1 of weights must be H = 64, found 128}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x128xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_sequences_of_table(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<8x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 0 of block_table must be B = 2, found 8}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<8x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_sequences_of_context_lens(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<8xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 0 of context_lens must be B = 2, found 8}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<8xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_rows_of_row_ends(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %row_ends: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 0 of row_ends must be B * N = 8, found 2}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    row_ends(%row_ends : memref<2xi32>) outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_rows_of_logits(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<2x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 0 of logits must be B * N = 8, found 2}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<2x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_row_of_keys(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x132xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 2 of keys must be the row of q = 128, found 132}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x132xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_slots_of_key_scales(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x32xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 1 of key_scales must be P = 64, found 32}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x32xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_pages_of_key_scales(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<100x64x128xf8E4M3FN>, %key_scales: memref<99x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 0 of key_scales must be pages = 100, found 99}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<100x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<99x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c5_blocks_of_query_scales(%q: memref<2x4x64x64xi8>,
    %query_scales: memref<2x4x64x2xi8>, %keys: memref<?x64x64xi8>,
    %key_scales: memref<?x64x4xi8>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op dimension 3 of query_scales must be D / 32 = 4, found 2}}
  pa.paged_logits queries(%q : memref<2x4x64x64xi8>)
    query_scales(%query_scales : memref<2x4x64x2xi8>)
    keys(%keys : memref<?x64x64xi8>) key_scales(%key_scales : memref<?x64x4xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}
