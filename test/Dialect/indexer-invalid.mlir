// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @indexer_c1_rank_of_queries(
    %q: memref<2x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op q must have rank 4, found 3}}
  pa.indexer queries(%q : memref<2x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c1_rank_of_indices(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op indices must have rank 2, found 1}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<512xi32>)
  return
}

// -----

func.func @indexer_c1_rank_of_top_values(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %top_values:
    memref<8x1x512xf32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op top_values must have rank 2, found 3}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x1x512xf32>)
  return
}

// -----

func.func @indexer_c2_mixed_forms(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: tensor<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op operands must be all tensors or all memrefs, found 'memref<2x4x64x128xf8E4M3FN>' for q and 'tensor<2xi32>' for context_lens}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : tensor<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c2_no_result(
    %q: tensor<2x4x64x128xf8E4M3FN>, %keys: tensor<?x64x128xf8E4M3FN>, %key_scales:
    tensor<?x64xf32>, %weights: tensor<8x64xf32>, %block_table: tensor<2x16xi32>,
    %context_lens: tensor<2xi32>, %indices: tensor<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op expected 1 results, one for each tensor init, found 0}}
  pa.indexer queries(%q : tensor<2x4x64x128xf8E4M3FN>)
    keys(%keys : tensor<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : tensor<?x64xf32>)
    weights(%weights : tensor<8x64xf32>)
    block_table(%block_table : tensor<2x16xi32>)
    context_lens(%context_lens : tensor<2xi32>)
    columns(%columns)
    outs(%indices : tensor<8x512xi32>)
  return
}

// -----

func.func @indexer_c3_element_of_weights(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf16>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op weights must have element type 'f32', found 'f16'}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf16>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c3_element_of_indices(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi64>, %columns: index) {
  // expected-error @below {{'pa.indexer' op indices must have element type 'i32', found 'i64'}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi64>)
  return
}

// -----

func.func @indexer_c3_element_of_top_values(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %top_values:
    memref<8x512xbf16>, %columns: index) {
  // expected-error @below {{'pa.indexer' op top_values must have element type 'f32', found 'bf16'}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x512xbf16>)
  return
}

// -----

func.func @indexer_c3_element_of_keys(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FNUZ>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op q and keys must have one element type, found 'f8E4M3FN' and 'f8E4M3FNUZ'}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FNUZ>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c4_query_scales_of_fp8(
    %q: memref<2x4x64x128xf8E4M3FN>, %query_scales: memref<2x4x64x4xi8>, %keys:
    memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>, %weights:
    memref<8x64xf32>, %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op query_scales must be absent for fp8}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    query_scales(%query_scales : memref<2x4x64x4xi8>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c4_no_query_scales_of_mxfp4(
    %q: memref<2x4x64x64xi8>, %keys: memref<?x64x64xi8>, %key_scales: memref<?x64x4xi8>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>, %context_lens:
    memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op query_scales must be present for mxfp4}}
  pa.indexer queries(%q : memref<2x4x64x64xi8>)
    keys(%keys : memref<?x64x64xi8>)
    key_scales(%key_scales : memref<?x64x4xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @indexer_c5_rows_of_indices(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<7x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op dimension 0 of indices must be B * N = 8, found 7}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<7x512xi32>)
  return
}

// -----

func.func @indexer_c5_rows_of_top_values(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %top_values:
    memref<2x512xf32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op dimension 0 of top_values must be B * N = 8, found 2}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>, %top_values : memref<2x512xf32>)
  return
}

// -----

func.func @indexer_c5_columns_of_top_values(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %top_values:
    memref<8x511xf32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op dimension 1 of top_values must be k = 512, found 511}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x511xf32>)
  return
}

// -----

func.func @indexer_c5_rows_of_row_ends(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %row_ends: memref<2xi32>, %indices: memref<8x512xi32>,
    %columns: index) {
  // expected-error @below {{'pa.indexer' op dimension 0 of row_ends must be B * N = 8, found 2}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    row_ends(%row_ends : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c6_heads(
    %q: memref<2x4x8x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x8xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op H, the heads, must be a multiple of 16 from 16 to 128, found 8}}
  pa.indexer queries(%q : memref<2x4x8x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x8xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c6_page(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x24x128xf8E4M3FN>, %key_scales:
    memref<?x24xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op P, the page size, must be from 1 to 256 and divide 16 or be a multiple of 16, found 24}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x24x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x24xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c7_dynamic_k(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x?xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op k, the columns of indices, must be static}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x?xi32>)
  return
}

// -----

func.func @indexer_c7_k_of_0(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x0xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op k must be from 1 to 4096, found 0}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x0xi32>)
  return
}

// -----

func.func @indexer_c7_k_of_4097(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x4097xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op k must be from 1 to 4096, found 4097}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x4097xi32>)
  return
}

// -----

func.func @indexer_c8_tiled_page_of_4(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x4x128xf8E4M3FN>, %key_scales:
    memref<?x4xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op layout tiled needs P of at least 8, found 4}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x4x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x4xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {layout = #pa.layout<tiled>}
  return
}

// -----

func.func @indexer_c9_inner_stride_of_indices(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32, strided<[1024, 2]>>,
    %columns: index) {
  // expected-error @below {{'pa.indexer' op innermost stride of indices must be 1, found 2}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32, strided<[1024, 2]>>)
  return
}

// -----

func.func @indexer_c9_rows_of_indices_overlap(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32, strided<[511, 1]>>,
    %columns: index) {
  // expected-error @below {{'pa.indexer' op rows of indices must not overlap: their stride must be at least 512, found 511}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32, strided<[511, 1]>>)
  return
}

// -----

func.func @indexer_c9_rows_of_top_values_overlap(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %top_values:
    memref<8x512xf32, strided<[0, 1]>>, %columns: index) {
  // expected-error @below {{'pa.indexer' op rows of top_values must not overlap: their stride must be at least 512, found 0}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x512xf32, strided<[0, 1]>>)
  return
}

// -----

func.func @indexer_c9_inner_stride_of_keys(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN, strided<[32768,
    512, 4]>>, %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table:
    memref<2x16xi32>, %context_lens: memref<2xi32>, %indices: memref<8x512xi32>,
    %columns: index) {
  // expected-error @below {{'pa.indexer' op innermost stride of keys must be 1, found 4}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[32768, 512, 4]>>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @indexer_c10_waves(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op waves must be from 1 to 16, found 17}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 17, steps = 1, query = lds, rows = 4, candidates = 4096, splits = 0>}
  return
}

// -----

func.func @indexer_c10_steps(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op steps must be 1, 2, 4 or 8, found 3}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 3, query = lds, rows = 4, candidates = 4096, splits = 0>}
  return
}

// -----

func.func @indexer_c10_rows(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op rows must be from 1 to 4, found 5}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 5, candidates = 4096, splits = 0>}
  return
}

// -----

func.func @indexer_c10_few_candidates(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op candidates must be from 512 to 32768, found 511}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 4, candidates = 511, splits = 0>}
  return
}

// -----

func.func @indexer_c10_many_candidates(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op candidates must be from 512 to 32768, found 32769}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 4, candidates = 32769, splits = 0>}
  return
}

// -----

func.func @indexer_c10_splits(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>, %columns: index) {
  // expected-error @below {{'pa.indexer' op splits must be from 0 to 256, found 257}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>) {config = #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 1, query = lds, rows = 4, candidates = 4096, splits = 257>}
  return
}

// -----

func.func @indexer_c11_columns(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %key_scales:
    memref<?x64xf32>, %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  %columns = arith.constant 2147483648 : index
  // expected-error @below {{'pa.indexer' op columns must be at most 2147483647, found 2147483648}}
  pa.indexer queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    columns(%columns)
    outs(%indices : memref<8x512xi32>)
  return
}
