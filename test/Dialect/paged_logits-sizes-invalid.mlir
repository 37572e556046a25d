// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @paged_logits_c6_dynamic_queries(%q: memref<2x?x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op N, the queries of a sequence, must be static}}
  pa.paged_logits queries(%q : memref<2x?x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c6_queries_9(%q: memref<2x9x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<18x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<18x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op N, the queries of a sequence, must be from 1 to 8, found 9}}
  pa.paged_logits queries(%q : memref<2x9x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<18x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<18x1024xf32>)
  return
}

// -----

func.func @paged_logits_c6_heads_12(%q: memref<2x4x12x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x12xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op H, the heads, must be a multiple of 16 from 16 to 128, found 12}}
  pa.paged_logits queries(%q : memref<2x4x12x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x12xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c6_heads_144(%q: memref<2x4x144x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x144xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op H, the heads, must be a multiple of 16 from 16 to 128, found 144}}
  pa.paged_logits queries(%q : memref<2x4x144x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x144xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c6_head_dim_80(%q: memref<2x4x64x80xf8E4M3FN>,
    %keys: memref<?x64x80xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op D, the head dimension, must be a multiple of 64 from 64 to 256, found 80}}
  pa.paged_logits queries(%q : memref<2x4x64x80xf8E4M3FN>)
    keys(%keys : memref<?x64x80xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c6_head_dim_320(%q: memref<2x4x64x320xf8E4M3FN>,
    %keys: memref<?x64x320xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op D, the head dimension, must be a multiple of 64 from 64 to 256, found 320}}
  pa.paged_logits queries(%q : memref<2x4x64x320xf8E4M3FN>)
    keys(%keys : memref<?x64x320xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c6_head_dim_of_mxfp4_is_in_elements(
    %q: memref<2x4x64x16xi8>, %query_scales: memref<2x4x64x1xi8>,
    %keys: memref<?x64x16xi8>, %key_scales: memref<?x64x1xi8>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op D, the head dimension, must be a multiple of 64 from 64 to 256, found 32}}
  pa.paged_logits queries(%q : memref<2x4x64x16xi8>)
    query_scales(%query_scales : memref<2x4x64x1xi8>)
    keys(%keys : memref<?x64x16xi8>) key_scales(%key_scales : memref<?x64x1xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @paged_logits_c6_head_dim_beyond_64_bits(
    %q: memref<2x4x64x9223372036854775807xi8>,
    %query_scales: memref<2x4x64x1xi8>, %keys: memref<?x64x16xi8>,
    %key_scales: memref<?x64x1xi8>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op D, the head dimension, must be a multiple of 64 from 64 to 256, found 9223372036854775807}}
  pa.paged_logits queries(%q : memref<2x4x64x9223372036854775807xi8>)
    query_scales(%query_scales : memref<2x4x64x1xi8>)
    keys(%keys : memref<?x64x16xi8>) key_scales(%key_scales : memref<?x64x1xi8>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {format = #pa.key_format<mxfp4>}
  return
}

// -----

func.func @paged_logits_c6_dynamic_page(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x?x128xf8E4M3FN>, %key_scales: memref<?x?xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op P, the page size, must be static}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x?x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x?xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c7_page_0(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x0x128xf8E4M3FN>, %key_scales: memref<?x0xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op P, the page size, must be from 1 to 256 and divide 16 or be a multiple of 16, found 0}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x0x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x0xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c7_page_257(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x257x128xf8E4M3FN>, %key_scales: memref<?x257xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op P, the page size, must be from 1 to 256 and divide 16 or be a multiple of 16, found 257}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x257x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x257xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c7_page_24(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x24x128xf8E4M3FN>, %key_scales: memref<?x24xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op P, the page size, must be from 1 to 256 and divide 16 or be a multiple of 16, found 24}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x24x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x24xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c7_page_12(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x12x128xf8E4M3FN>, %key_scales: memref<?x12xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op P, the page size, must be from 1 to 256 and divide 16 or be a multiple of 16, found 12}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x12x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x12xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c8_tiled_page_of_4(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x4x128xf8E4M3FN>, %key_scales: memref<?x4xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op layout tiled needs P of at least 8, found 4}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x4x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x4xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {layout = #pa.layout<tiled>}
  return
}

// -----

func.func @paged_logits_c8_tiled_padded_slots(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[8448, 132, 1]>>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op layout tiled needs a stride of 128 between the slots of a page, found 132}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8448, 132, 1]>>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {layout = #pa.layout<tiled>}
  return
}

// -----

func.func @paged_logits_c9_inner_stride_of_q(
    %q: memref<2x4x64x128xf8E4M3FN, strided<[65536, 16384, 256, 2]>>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op innermost stride of q must be 1, found 2}}
  pa.paged_logits
    queries(%q : memref<2x4x64x128xf8E4M3FN, strided<[65536, 16384, 256, 2]>>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c9_inner_stride_of_keys(
    %q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[8192, 1, 64]>>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op innermost stride of keys must be 1, found 64}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8192, 1, 64]>>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c9_inner_stride_of_logits(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32, strided<[1, 8]>>) {
  // expected-error @below {{'pa.paged_logits' op innermost stride of logits must be 1, found 8}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32, strided<[1, 8]>>)
  return
}

// -----

func.func @paged_logits_c9_negative_page_stride(
    %q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[-8448, 128, 1]>>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op stride 0 of keys must not be negative, found -8448}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[-8448, 128, 1]>>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c9_negative_stride_of_scales(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32, strided<[2112, -1]>>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op stride 1 of key_scales must not be negative, found -1}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32, strided<[2112, -1]>>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
  return
}

// -----

func.func @paged_logits_c9_overlapping_rows_of_logits(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32, strided<[1000, 1]>>) {
  // expected-error @below {{'pa.paged_logits' op rows of logits must not overlap: their stride must be at least 1024, found 1000}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32, strided<[1000, 1]>>)
  return
}

// -----

func.func @paged_logits_c9_rows_of_logits_with_stride_0(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32, strided<[0, 1]>>) {
  // expected-error @below {{'pa.paged_logits' op rows of logits must not overlap: their stride must be at least 1024, found 0}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32, strided<[0, 1]>>)
  return
}

// -----

func.func @paged_logits_c9_extent_beyond_64_bits(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %key_scales: memref<?x64xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32, strided<[4611686018427387904, 1]>>) {
  // expected-error @below {{'pa.paged_logits' op bytes of logits must fit 63 bits, found extents and strides that do not}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32, strided<[4611686018427387904, 1]>>)
  return
}

// -----

func.func @paged_logits_c10_chunk_96(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op chunk must be a positive multiple of max(16, P) = 64, found 96}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 96, waves = 4, splits = 2, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_chunk_8_of_small_pages(
    %q: memref<2x4x64x128xf8E4M3FN>, %keys: memref<?x8x128xf8E4M3FN>,
    %key_scales: memref<?x8xf32>, %weights: memref<8x64xf32>,
    %block_table: memref<2x16xi32>, %context_lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op chunk must be a positive multiple of max(16, P) = 16, found 8}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x8x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x8xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 8, waves = 4, splits = 2, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_chunk_2_63(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op chunk must be at most 2147483647, found 9223372036854775744}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 9223372036854775744, waves = 4, splits = 2, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_splits_2_31(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op splits must be at most 2147483647, found 2147483648}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 2147483648, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_chunk_0(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op chunk must be a positive multiple of max(16, P) = 64, found 0}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 0, waves = 4, splits = 2, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_waves_0(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op waves must be from 1 to 16, found 0}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 0, splits = 2, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_waves_17(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op waves must be from 1 to 16, found 17}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 17, splits = 2, query = lds>}
  return
}

// -----

func.func @paged_logits_c10_splits_negative(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %key_scales: memref<?x64xf32>,
    %weights: memref<8x64xf32>, %block_table: memref<2x16xi32>,
    %context_lens: memref<2xi32>, %logits: memref<8x1024xf32>) {
  // expected-error @below {{'pa.paged_logits' op splits must not be negative, found -1}}
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>)
    key_scales(%key_scales : memref<?x64xf32>)
    weights(%weights : memref<8x64xf32>)
    block_table(%block_table : memref<2x16xi32>)
    context_lens(%context_lens : memref<2xi32>)
    outs(%logits : memref<8x1024xf32>)
    {config = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = -1, query = lds>}
  return
}

// -----

// q gives the length of a key where the type of the keys does not.
func.func @paged_logits_c8_slots_of_unknown_length_apart(
    %q: memref<2x1x16x64xf8E4M3FN>,
    %keys: memref<?x64x?xf8E4M3FN, strided<[8448, 128, 1]>>,
    %scales: memref<?x64xf32>, %w: memref<2x16xf32>, %table: memref<2x16xi32>,
    %lens: memref<2xi32>, %logits: memref<2x1024xf32>) {
  // expected-error @below {{layout tiled needs a stride of 64 between the slots of a page, found 128}}
  pa.paged_logits queries(%q : memref<2x1x16x64xf8E4M3FN>)
    keys(%keys : memref<?x64x?xf8E4M3FN, strided<[8448, 128, 1]>>)
    key_scales(%scales : memref<?x64xf32>) weights(%w : memref<2x16xf32>)
    block_table(%table : memref<2x16xi32>) context_lens(%lens : memref<2xi32>)
    outs(%logits : memref<2x1024xf32>) {layout = #pa.layout<tiled>}
  return
}
