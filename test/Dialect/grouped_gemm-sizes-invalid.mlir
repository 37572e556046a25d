// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @grouped_gemm_c6_dynamic_n(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x?x640xf8E4M3FN>,
    %b_scales: memref<8x?x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op N, the rows of an expert, must be static}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x?x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x?x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_dynamic_k(%a: memref<64x?xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op K, the columns of a, must be static}}
  pa.grouped_gemm a(%a : memref<64x?xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_n_0(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x0x640xf8E4M3FN>,
    %b_scales: memref<8x0x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op N must be positive, found 0}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x0x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x0x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_k_0(%a: memref<64x0xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op K must be a positive multiple of the scale block of 32, found 0}}
  pa.grouped_gemm a(%a : memref<64x0xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_k_648(%a: memref<64x648xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x648xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op K must be a positive multiple of the scale block of 32, found 648}}
  pa.grouped_gemm a(%a : memref<64x648xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x648xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_k_of_f32_blocks(%a: memref<64x576xf8E4M3FN>,
    %a_scales: memref<64x5xf32>, %b: memref<8x1024x576xf8E4M3FN>,
    %b_scales: memref<8x8x5xf32>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op K must be a positive multiple of the scale block of 128, found 576}}
  pa.grouped_gemm a(%a : memref<64x576xf8E4M3FN>)
    a_scales(%a_scales : memref<64x5xf32>) b(%b : memref<8x1024x576xf8E4M3FN>)
    b_scales(%b_scales : memref<8x8x5xf32>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<f32_1x128>,
     b_scale = #pa.scale<f32_128x128>}
  return
}

// -----

func.func @grouped_gemm_c6_odd_k_of_fp4(%a: memref<64x641xf8E4M3FN>,
    %b: memref<8x1024x320xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op K must be a positive multiple of the scale block of 2, found 641}}
  pa.grouped_gemm a(%a : memref<64x641xf8E4M3FN>) b(%b : memref<8x1024x320xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w4>}
  return
}

// -----

func.func @grouped_gemm_c6_k_beyond_64_bits(
    %a: memref<64x4611686018427387904xi8>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x320xi8>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op K must be a positive multiple of the scale block of 32, found 9223372036854775807}}
  pa.grouped_gemm a(%a : memref<64x4611686018427387904xi8>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x320xi8>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a4w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_columns_of_a_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x5xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of a_scales must be K / block = 20, found 5}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x5xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c6_rows_of_b_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of b_scales must be scale rows of N = 32, found 1024}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_32x32>}
  return
}

// -----

func.func @grouped_gemm_c6_columns_of_b_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x10xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 2 of b_scales must be K / block = 20, found 10}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x10xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c7_odd_n(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1023x640xf8E4M3FN>,
    %b_scales: memref<8x1023x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x511xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op activation needs an even N, found 1023}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1023x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1023x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x511xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
  return
}

// -----

func.func @grouped_gemm_c7_columns_of_c(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of c must be N / 2 after the activation = 512, found 1024}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
  return
}

// -----

func.func @grouped_gemm_c7_columns_of_c_without_activation(
    %a: memref<64x640xf8E4M3FN>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x512xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of c must be N = 1024, found 512}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x512xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c8_columns_of_requantised(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1056x640xf8E4M3FN>,
    %b_scales: memref<8x1056x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x528xf8E4M3FN>, %c_scales: memref<64x16xi8>) {
  // expected-error @below {{'pa.grouped_gemm' op requantised output must have a multiple of 32 columns, found 528}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1056x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1056x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x528xf8E4M3FN>, %c_scales : memref<64x16xi8>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
  return
}

// -----

func.func @grouped_gemm_c8_columns_of_packed_output(
    %a: memref<64x640xf8E4M3FN>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xi8>,
    %c_scales: memref<64x32xi8>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of c must be N / 2 after packing = 512, found 1024}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xi8>, %c_scales : memref<64x32xi8>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c8_columns_of_output_scales(
    %a: memref<64x640xf8E4M3FN>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xf8E4M3FN>,
    %c_scales: memref<64x16xi8>) {
  // expected-error @below {{'pa.grouped_gemm' op dimension 1 of c_scales must be columns / 32 = 32, found 16}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xf8E4M3FN>, %c_scales : memref<64x16xi8>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c9_shuffled_n_1000(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1000x640xf8E4M3FN>,
    %b_scales: memref<8x1000x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1000xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op shuffled weights need N to be a multiple of 16 and rows of a multiple of 32 bytes, found N = 1000 and rows of 640 bytes}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1000x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1000x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1000xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>,
     weight_layout = #pa.weight_layout<shuffled_16x16>}
  return
}

// -----

func.func @grouped_gemm_c9_shuffled_rows_of_48_bytes(
    %a: memref<64x96xf8E4M3FN>, %a_scales: memref<64x3xi8>,
    %b: memref<8x1024x48xi8>, %b_scales: memref<8x1024x3xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op shuffled weights need N to be a multiple of 16 and rows of a multiple of 32 bytes, found N = 1024 and rows of 48 bytes}}
  pa.grouped_gemm a(%a : memref<64x96xf8E4M3FN>)
    a_scales(%a_scales : memref<64x3xi8>) b(%b : memref<8x1024x48xi8>)
    b_scales(%b_scales : memref<8x1024x3xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>,
     weight_layout = #pa.weight_layout<shuffled_16x16>}
  return
}

// -----

func.func @grouped_gemm_c9_shuffled_padded_rows(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN, strided<[720896, 704, 1]>>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op shuffled weights must be contiguous inside an expert}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>)
    b(%b : memref<8x1024x640xf8E4M3FN, strided<[720896, 704, 1]>>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>,
     weight_layout = #pa.weight_layout<shuffled_16x16>}
  return
}

// -----

func.func @grouped_gemm_c9_scale_layout_of_f32(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x8x5xf32>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op scale layout n32k8 needs e8m0_1x32 scales of b, found f32_128x128}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x8x5xf32>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<f32_128x128>, scale_layout = #pa.scale_layout<n32k8>}
  return
}

// -----

func.func @grouped_gemm_c9_n32k8_with_k_640(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op scale layout n32k8 needs N to be a multiple of 32 and K / 32 of 8, found N = 1024 and K / 32 = 20}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, scale_layout = #pa.scale_layout<n32k8>}
  return
}

// -----

func.func @grouped_gemm_c9_n32k4_with_n_1008(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1008x640xf8E4M3FN>,
    %b_scales: memref<8x1008x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1008xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op scale layout n32k4 needs N to be a multiple of 32 and K / 32 of 4, found N = 1008 and K / 32 = 20}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1008x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1008x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1008xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, scale_layout = #pa.scale_layout<n32k4>}
  return
}

// -----

func.func @grouped_gemm_c9_shuffled_padded_scales(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8, strided<[32768, 32, 1]>>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op shuffled scales must be contiguous inside an expert}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8, strided<[32768, 32, 1]>>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, scale_layout = #pa.scale_layout<n32k4>}
  return
}

// -----

func.func @grouped_gemm_c10_inner_stride_of_a(
    %a: memref<64x640xf8E4M3FN, strided<[1, 64]>>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op innermost stride of a must be 1, found 64}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN, strided<[1, 64]>>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c10_inner_stride_of_b(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN, strided<[655360, 1, 1024]>>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op innermost stride of b must be 1, found 1024}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>)
    b(%b : memref<8x1024x640xf8E4M3FN, strided<[655360, 1, 1024]>>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c10_negative_stride_of_b(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN, strided<[-655360, 640, 1]>>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op stride 0 of b must not be negative, found -655360}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>)
    b(%b : memref<8x1024x640xf8E4M3FN, strided<[-655360, 640, 1]>>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c10_overlapping_rows_of_c(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16, strided<[1000, 1]>>) {
  // expected-error @below {{'pa.grouped_gemm' op rows of c must not overlap: their stride must be at least 1024, found 1000}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16, strided<[1000, 1]>>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c10_overlapping_rows_of_c_scales(
    %a: memref<64x640xf8E4M3FN>, %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN>, %b_scales: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<64x1024xf8E4M3FN>,
    %c_scales: memref<64x32xi8, strided<[16, 1]>>) {
  // expected-error @below {{'pa.grouped_gemm' op rows of c_scales must not overlap: their stride must be at least 32, found 16}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xf8E4M3FN>, %c_scales : memref<64x32xi8, strided<[16, 1]>>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c10_extent_beyond_64_bits(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>,
    %b: memref<8x1024x640xf8E4M3FN, strided<[9223372036854775807, 640, 1]>>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op bytes of b must fit 63 bits, found extents and strides that do not}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>)
    b(%b : memref<8x1024x640xf8E4M3FN, strided<[9223372036854775807, 640, 1]>>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c11_32x32_scales_of_a(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<2x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op scale kind e8m0_32x32 is one of b only, found on a}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<2x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_32x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c11_128x128_scales_of_a(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<1x5xf32>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op scale kind f32_128x128 is one of b only, found on a}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<1x5xf32>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<f32_128x128>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}

// -----

func.func @grouped_gemm_c11_1x128_scales_of_b(%a: memref<64x640xf8E4M3FN>,
    %a_scales: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
    %b_scales: memref<8x1024x5xf32>, %offsets: memref<9xi32>,
    %c: memref<64x1024xbf16>) {
  // expected-error @below {{'pa.grouped_gemm' op scale kind f32_1x128 is one of a only, found on b}}
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>)
    a_scales(%a_scales : memref<64x20xi8>) b(%b : memref<8x1024x640xf8E4M3FN>)
    b_scales(%b_scales : memref<8x1024x5xf32>) offsets(%offsets : memref<9xi32>)
    outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<f32_1x128>}
  return
}

// -----

// K gives the length of the rows of b where its type does not.
func.func @grouped_gemm_c9_shuffled_rows_of_unknown_length(%a: memref<64x48xf8E4M3FN>,
    %b: memref<1x16x?xf8E4M3FN>, %c: memref<64x16xbf16>) {
  // expected-error @below {{shuffled weights need N to be a multiple of 16 and rows of a multiple of 32 bytes, found N = 16 and rows of 48 bytes}}
  pa.grouped_gemm a(%a : memref<64x48xf8E4M3FN>) b(%b : memref<1x16x?xf8E4M3FN>)
    outs(%c : memref<64x16xbf16>)
    {format = #pa.gemm_format<a8w8>,
     weight_layout = #pa.weight_layout<shuffled_16x16>}
  return
}

// -----

func.func @grouped_gemm_c9_shuffled_rows_apart(%a: memref<64x64xf8E4M3FN>,
    %b: memref<1x16x?xf8E4M3FN, strided<[2048, 128, 1]>>,
    %c: memref<64x16xbf16>) {
  // expected-error @below {{shuffled weights must be contiguous inside an expert}}
  pa.grouped_gemm a(%a : memref<64x64xf8E4M3FN>)
    b(%b : memref<1x16x?xf8E4M3FN, strided<[2048, 128, 1]>>)
    outs(%c : memref<64x16xbf16>)
    {format = #pa.gemm_format<a8w8>,
     weight_layout = #pa.weight_layout<shuffled_16x16>}
  return
}
