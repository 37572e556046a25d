// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @grouped_gemm_c1_rank_of_a(%a: memref<1x64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op a must have rank 2, found 3}}
  pa.grouped_gemm a(%a : memref<1x64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c1_rank_of_b(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8192x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op b must have rank 3, found 2}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8192x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c1_rank_of_row_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x1xf32>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op a_scales must have rank 1, found 2}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x1xf32>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<f32_row>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c1_rank_of_b_row_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x1xf32>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op b_scales must have rank 2, found 3}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x1xf32>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<f32_row>}
  return
}

// -----

func.func @grouped_gemm_c1_rank_of_bias(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %bias: memref<1024xf32>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op bias must have rank 2, found 1}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) bias(%bias : memref<1024xf32>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c1_rank_of_offsets(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9x1xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op offsets must have rank 1, found 2}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>)
    offsets(%offsets : memref<9x1xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c1_rank_of_c(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<8x8x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op c must have rank 2, found 3}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<8x8x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c2_mixed_forms(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: tensor<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op operands must be all tensors or all memrefs, found 'memref<64x640xf8E4M3FN>' for a and 'tensor<9xi32>' for offsets}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : tensor<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c2_no_result(%a: tensor<64x640xf8E4M3FN>,
    %a_scales: tensor<64x20xi8>, %b: tensor<8x1024x640xf8E4M3FN>,
    %b_scales: tensor<8x1024x20xi8>, %offsets: tensor<9xi32>,
    %c: tensor<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op expected 1 results, one for each tensor init, found 0}}
  pa.grouped_gemm a(%a : tensor<64x640xf8E4M3FN>)
    a_scales(%a_scales : tensor<64x20xi8>) b(%b : tensor<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : tensor<8x1024x20xi8>) offsets(%offsets : tensor<9xi32>)
    outs(%c : tensor<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_bf16_in_a8w8(%a: memref<64x640xbf16>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op a must have element type 'f8E4M3FN' or 'f8E4M3FNUZ', found 'bf16'}}
  pa.grouped_gemm a(%a : memref<64x640xbf16>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_two_fp8_types(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FNUZ>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op a and b must have one fp8 type, found 'f8E4M3FN' and 'f8E4M3FNUZ'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FNUZ>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_unpacked_fp4(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf4E2M1FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op b must have element type 'i8', found 'f4E2M1FN'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf4E2M1FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_f32_for_e8m0_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xf32>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op a_scales must have element type 'i8' or 'f8E8M0FNU', found 'f32'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xf32>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_codes_for_f32_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x8x5xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op b_scales must have element type 'f32', found 'i8'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x8x5xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<f32_128x128>}
  return
}

// -----

func.func @grouped_gemm_c3_element_type_of_bias(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %bias: memref<8x1024xbf16>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op bias must have element type 'f32', found 'bf16'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) bias(%bias : memref<8x1024xbf16>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_element_type_of_offsets(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi64>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op offsets must have element type 'i32', found 'i64'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi64>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_element_type_of_row_ids(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %row_ids: memref<64xi64>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op row_ids must have element type 'i32', found 'i64'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    row_ids(%row_ids : memref<64xi64>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_element_type_of_row_weights(
    %a: memref<64x640xf8E4M3FN>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %row_weights: memref<64xbf16>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op row_weights must have element type 'f32', found 'bf16'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    row_weights(%row_weights : memref<64xbf16>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_fp8_output_without_scales(
    %a: memref<64x640xf8E4M3FN>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xf8E4M3FN>) {
  // expected-error @below {{'pa.grouped_gemm' op c must have element type 'bf16' or 'f16' or 'f32', found 'f8E4M3FN'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xf8E4M3FN>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c3_bf16_output_with_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>, %c_scales: memref<64x32xi8>) {
  // expected-error @below {{'pa.grouped_gemm' op c must have element type 'f8E4M3FN' or 'f8E4M3FNUZ' or 'i8', found 'bf16'}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>, %c_scales : memref<64x32xi8>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c4_scales_without_a_kind(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op a_scales must be absent for scale kind none}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c4_a_kind_without_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op b_scales must be present for scale kind e8m0_1x32}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c4_scales_of_bf16(%a: memref<64x640xbf16>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xbf16>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op format bf16 has no scales, found e8m0_1x32 for a}}
  pa.grouped_gemm a(%a : memref<64x640xbf16>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xbf16>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<bf16>, a_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_k_of_b(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x512xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 2 of b must be K = 640, found 512}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x512xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_k_of_packed_b(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xi8>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 2 of b must be K / 2 = 320, found 640}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xi8>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_groups_of_bias(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %bias: memref<4x1024xf32>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of bias must be groups = 8, found 4}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) bias(%bias : memref<4x1024xf32>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_columns_of_bias(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %bias: memref<8x512xf32>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of bias must be N = 1024, found 512}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) bias(%bias : memref<8x512xf32>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_groups_of_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<1x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of b_scales must be groups = 8, found 1}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<1x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_number_of_offsets(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<8xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of offsets must be groups + 1 = 9, found 8}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<8xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_rows_of_a(%a: memref<32x640xf8E4M3FN>,
    %a_scales: memref<32x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of a must be rows of c = 64, found 32}}
  pa.grouped_gemm a(%a : memref<32x640xf8E4M3FN>)
    a_scales(%a_scales : memref<32x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_rows_of_row_ids(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %row_ids: memref<32xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of row_ids must be rows of c = 64, found 32}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    row_ids(%row_ids : memref<32xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_rows_of_row_weights(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %row_weights: memref<8xf32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of row_weights must be rows of c = 64, found 8}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    row_weights(%row_weights : memref<8xf32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_rows_of_a_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<32x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 0 of a_scales must be rows of a = 64, found 32}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<32x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_groups_without_offsets(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op without offsets there must be one group, found 8}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c5_groups_beyond_64_bits(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>,
    %b: memref<9223372036854775807x1024x640xf8E4M3FN>,
    %b_scales: memref<?x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op groups + 1 must fit 64 bits, found 9223372036854775807 groups}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>)
    b(%b : memref<9223372036854775807x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<?x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c12_tile_m(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op tile_m must be from 1 to 1024, found 0}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 0, tile_n = 16,
      tile_k = 64, waves_m = 1, waves_n = 1, waves_k = 1, stages = 0>}
  return
}

// -----

func.func @grouped_gemm_c12_tile_n(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op tile_n must be from 1 to 1024, found 2048}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 16, tile_n = 2048,
      tile_k = 64, waves_m = 1, waves_n = 1, waves_k = 1, stages = 0>}
  return
}

// -----

func.func @grouped_gemm_c12_tile_k(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op tile_k must be from 1 to 1024, found -64}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 16, tile_n = 16,
      tile_k = -64, waves_m = 1, waves_n = 1, waves_k = 1, stages = 0>}
  return
}

// -----

func.func @grouped_gemm_c12_waves(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op waves_n must be from 1 to 16, found 0}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 16, tile_n = 16,
      tile_k = 64, waves_m = 1, waves_n = 0, waves_k = 1, stages = 0>}
  return
}

// -----

func.func @grouped_gemm_c12_too_many_waves(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op waves_m * waves_n * waves_k must be from 1 to 16, found 32}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 64, tile_n = 64,
      tile_k = 64, waves_m = 4, waves_n = 4, waves_k = 2, stages = 0>}
  return
}

// -----

func.func @grouped_gemm_c12_stages(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op stages must be from 0 to 8, found 9}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 16, tile_n = 16,
      tile_k = 64, waves_m = 1, waves_n = 1, waves_k = 1, stages = 9>}
  return
}

// -----

func.func @grouped_gemm_c12_waves_k_with_stages(%a: memref<8x64xbf16>, %b: memref<1x32x64xbf16>,
    %c: memref<8x32xf32>) {
  // expected-error @below {{'pa.grouped_gemm' op waves_k > 1 needs stages = 0, found waves_k = 4 and stages = 2}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<1x32x64xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>,
    config = #pa.gemm_config<mma = mfma_f32_16x16x32_bf16, tile_m = 16, tile_n = 16,
      tile_k = 64, waves_m = 1, waves_n = 1, waves_k = 4, stages = 2>}
  return
}

// -----

func.func @grouped_gemm_c13_offsets_that_decrease(%a: tensor<8x64xbf16>,
    %b: tensor<3x32x64xbf16>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %offsets = arith.constant dense<[0, 5, 4, 8]> : tensor<4xi32>
  // expected-error @below {{'pa.grouped_gemm' op offsets must not decrease, found 4 at 2 after 5}}
  %0 = pa.grouped_gemm a(%a : tensor<8x64xbf16>) b(%b : tensor<3x32x64xbf16>)
    offsets(%offsets : tensor<4xi32>) outs(%c : tensor<8x32xf32>)
    {format = #pa.gemm_format<bf16>} -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

func.func @grouped_gemm_c13_negative_offset(%a: tensor<8x64xbf16>,
    %b: tensor<3x32x64xbf16>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %offsets = arith.constant dense<[-1, 5, 5, 8]> : tensor<4xi32>
  // expected-error @below {{'pa.grouped_gemm' op offsets must not be negative, found -1 at 0}}
  %0 = pa.grouped_gemm a(%a : tensor<8x64xbf16>) b(%b : tensor<3x32x64xbf16>)
    offsets(%offsets : tensor<4xi32>) outs(%c : tensor<8x32xf32>)
    {format = #pa.gemm_format<bf16>} -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

func.func @grouped_gemm_c13_offset_beyond_the_rows(%a: tensor<8x64xbf16>,
    %b: tensor<3x32x64xbf16>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %offsets = arith.constant dense<[0, 5, 5, 9]> : tensor<4xi32>
  // expected-error @below {{'pa.grouped_gemm' op offsets must not exceed the rows of c, 8, found 9 at 3}}
  %0 = pa.grouped_gemm a(%a : tensor<8x64xbf16>) b(%b : tensor<3x32x64xbf16>)
    offsets(%offsets : tensor<4xi32>) outs(%c : tensor<8x32xf32>)
    {format = #pa.gemm_format<bf16>} -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

// The same of one value for all, by way of a cast.
func.func @grouped_gemm_c13_splat_by_way_of_a_cast(%a: tensor<8x64xbf16>,
    %b: tensor<3x32x64xbf16>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %known = arith.constant dense<9> : tensor<4xi32>
  %offsets = tensor.cast %known : tensor<4xi32> to tensor<?xi32>
  // expected-error @below {{'pa.grouped_gemm' op offsets must not exceed the rows of c, 8, found 9 at 0}}
  %0 = pa.grouped_gemm a(%a : tensor<8x64xbf16>) b(%b : tensor<3x32x64xbf16>)
    offsets(%offsets : tensor<?xi32>) outs(%c : tensor<8x32xf32>)
    {format = #pa.gemm_format<bf16>} -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

memref.global "private" constant @offsets : memref<4xi32> = dense<[0, 5, 4, 8]>
func.func @grouped_gemm_c13_global_offsets(%a: memref<8x64xbf16>,
    %b: memref<3x32x64xbf16>, %c: memref<8x32xf32>) {
  %offsets = memref.get_global @offsets : memref<4xi32>
  // expected-error @below {{'pa.grouped_gemm' op offsets must not decrease, found 4 at 2 after 5}}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<3x32x64xbf16>)
    offsets(%offsets : memref<4xi32>) outs(%c : memref<8x32xf32>)
    {format = #pa.gemm_format<bf16>}
  return
}

// -----

memref.global "private" constant @offsets : memref<4xi32> = dense<[0, 5, 5, -8]>
func.func @grouped_gemm_c13_global_offsets_by_way_of_a_cast(
    %a: memref<?x64xbf16>, %b: memref<?x32x64xbf16>, %c: memref<?x32xf32>) {
  %known = memref.get_global @offsets : memref<4xi32>
  %offsets = memref.cast %known : memref<4xi32> to memref<?xi32>
  // expected-error @below {{'pa.grouped_gemm' op offsets must not be negative, found -8 at 3}}
  pa.grouped_gemm a(%a : memref<?x64xbf16>) b(%b : memref<?x32x64xbf16>)
    offsets(%offsets : memref<?xi32>) outs(%c : memref<?x32xf32>)
    {format = #pa.gemm_format<bf16>}
  return
}
