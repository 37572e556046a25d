// RUN: pa-opt %s | pa-opt | FileCheck %s
// RUN: pa-opt %s --mlir-print-op-generic | pa-opt | FileCheck %s

// CHECK-LABEL: func @a8w4
// CHECK: pa.grouped_gemm a(%{{.*}} : memref<?x640xf8E4M3FN>)
// CHECK-SAME: a_scales(%{{.*}} : memref<?x20xi8>) b(%{{.*}} : memref<8x1024x320xi8>)
// CHECK-SAME: b_scales(%{{.*}} : memref<8x1024x20xi8>) offsets(%{{.*}} : memref<9xi32>)
// CHECK-SAME: outs(%{{.*}} : memref<?x512xbf16>)
// CHECK-SAME: a_scale = #pa.scale<e8m0_1x32>
// CHECK-SAME: activation = #pa.activation<silu, limit = 7.000000e+00 : f64>
// CHECK-SAME: b_scale = #pa.scale<e8m0_1x32>
// CHECK-SAME: format = #pa.gemm_format<a8w4>
func.func @a8w4(%a: memref<?x640xf8E4M3FN>, %sa: memref<?x20xi8>,
    %b: memref<8x1024x320xi8>, %sb: memref<8x1024x20xi8>,
    %offsets: memref<9xi32>, %c: memref<?x512xbf16>) {
  pa.grouped_gemm a(%a : memref<?x640xf8E4M3FN>) a_scales(%sa : memref<?x20xi8>)
    b(%b : memref<8x1024x320xi8>) b_scales(%sb : memref<8x1024x20xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<?x512xbf16>)
    {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, weight_layout = #pa.weight_layout<linear>,
     scale_layout = #pa.scale_layout<linear>,
     activation = #pa.activation<silu, limit = 7.0 : f64>}
  return
}

// CHECK-LABEL: func @a4w4_requantised
// CHECK: row_ids(%{{.*}} : memref<96xi32>) row_weights(%{{.*}} : memref<96xf32>)
// CHECK-SAME: outs(%{{.*}} : memref<96x128xi8>, %{{.*}} : memref<96x8xf8E8M0FNU>)
// CHECK-SAME: activation = #pa.activation<situv2, beta = 4.000000e+00 : f64, linear_beta = 2.500000e+01 : f64>
// CHECK-SAME: scale_layout = #pa.scale_layout<n32k8>
// CHECK-SAME: weight_layout = #pa.weight_layout<shuffled_16x16>
func.func @a4w4_requantised(%a: memref<64x128xi8>, %sa: memref<64x8xf8E8M0FNU>,
    %b: memref<4x512x128xi8>, %sb: memref<4x512x8xf8E8M0FNU>,
    %bias: memref<4x512xf32>, %offsets: memref<5xi32>, %ids: memref<96xi32>,
    %weights: memref<96xf32>, %c: memref<96x128xi8>,
    %sc: memref<96x8xf8E8M0FNU>) {
  pa.grouped_gemm a(%a : memref<64x128xi8>)
    a_scales(%sa : memref<64x8xf8E8M0FNU>) b(%b : memref<4x512x128xi8>)
    b_scales(%sb : memref<4x512x8xf8E8M0FNU>) bias(%bias : memref<4x512xf32>)
    offsets(%offsets : memref<5xi32>) row_ids(%ids : memref<96xi32>)
    row_weights(%weights : memref<96xf32>)
    outs(%c : memref<96x128xi8>, %sc : memref<96x8xf8E8M0FNU>)
    {format = #pa.gemm_format<a4w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>,
     weight_layout = #pa.weight_layout<shuffled_16x16>,
     scale_layout = #pa.scale_layout<n32k8>,
     activation = #pa.activation<situv2, beta = 4.0 : f64, linear_beta = 25.0 : f64>}
  return
}

// A K that is a multiple of the block but of no tile, and blocks of rows whose
// last one is partial.
// CHECK-LABEL: func @partial_blocks
func.func @partial_blocks(%a: memref<7x640xf8E4M3FNUZ>, %sa: memref<7x5xf32>,
    %b: memref<1x130x640xf8E4M3FNUZ>, %sb: memref<1x2x5xf32>,
    %c: memref<7x130xf32>) {
  // CHECK: b_scale = #pa.scale<f32_128x128>
  pa.grouped_gemm a(%a : memref<7x640xf8E4M3FNUZ>) a_scales(%sa : memref<7x5xf32>)
    b(%b : memref<1x130x640xf8E4M3FNUZ>) b_scales(%sb : memref<1x2x5xf32>)
    outs(%c : memref<7x130xf32>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<f32_1x128>,
     b_scale = #pa.scale<f32_128x128>}
  return
}

// CHECK-LABEL: func @row_scales
func.func @row_scales(%a: memref<7x96xf8E4M3FN>, %sa: memref<7xf32>,
    %b: memref<2x33x96xf8E4M3FN>, %sb: memref<2x33xf32>,
    %offsets: memref<3xi32>, %c: memref<7x33xf16>) {
  // CHECK: a_scale = #pa.scale<f32_row>
  pa.grouped_gemm a(%a : memref<7x96xf8E4M3FN>) a_scales(%sa : memref<7xf32>)
    b(%b : memref<2x33x96xf8E4M3FN>) b_scales(%sb : memref<2x33xf32>)
    offsets(%offsets : memref<3xi32>) outs(%c : memref<7x33xf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<f32_row>,
     b_scale = #pa.scale<f32_row>}
  return
}

// CHECK-LABEL: func @plain
func.func @plain(%a: memref<7x100xbf16>, %b: memref<1x33x100xbf16>,
    %c: memref<7x33xf32>, %ah: memref<7x100xf16>, %bh: memref<1x33x100xf16>) {
  // CHECK: format = #pa.gemm_format<bf16>
  pa.grouped_gemm a(%a : memref<7x100xbf16>) b(%b : memref<1x33x100xbf16>)
    outs(%c : memref<7x33xf32>) {format = #pa.gemm_format<bf16>}
  // CHECK: format = #pa.gemm_format<f16>
  pa.grouped_gemm a(%ah : memref<7x100xf16>) b(%bh : memref<1x33x100xf16>)
    outs(%c : memref<7x33xf32>) {format = #pa.gemm_format<f16>}
  return
}

// CHECK-LABEL: func @group32_tensors
// CHECK: -> tensor<16x128xf8E4M3FN>, tensor<16x4xi8>
func.func @group32_tensors(%a: tensor<16x128xf8E4M3FN>, %sa: tensor<16x4xi8>,
    %b: tensor<1x128x128xf8E4M3FN>, %sb: tensor<1x4x4xi8>,
    %c: tensor<16x128xf8E4M3FN>, %sc: tensor<16x4xi8>)
    -> (tensor<16x128xf8E4M3FN>, tensor<16x4xi8>) {
  %0:2 = pa.grouped_gemm a(%a : tensor<16x128xf8E4M3FN>)
    a_scales(%sa : tensor<16x4xi8>) b(%b : tensor<1x128x128xf8E4M3FN>)
    b_scales(%sb : tensor<1x4x4xi8>)
    outs(%c : tensor<16x128xf8E4M3FN>, %sc : tensor<16x4xi8>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_32x32>}
    -> tensor<16x128xf8E4M3FN>, tensor<16x4xi8>
  return %0#0, %0#1 : tensor<16x128xf8E4M3FN>, tensor<16x4xi8>
}

// Offsets that are known: equal ones and the rows of c are legal; a global that
// is no constant is one of the device, and says nothing.
memref.global "private" constant @good_offsets : memref<4xi32> = dense<[0, 5, 5, 8]>
memref.global "private" @unknown_offsets : memref<4xi32> = dense<[9, 5, 4, -1]>
memref.global "private" constant @outside : memref<4xi32>
// CHECK-LABEL: @known_offsets
func.func @known_offsets(%a: memref<8x64xbf16>, %b: memref<3x32x64xbf16>,
                         %c: memref<8x32xf32>) {
  %good = memref.get_global @good_offsets : memref<4xi32>
  %unknown = memref.get_global @unknown_offsets : memref<4xi32>
  %outside = memref.get_global @outside : memref<4xi32>
  // CHECK-COUNT-3: pa.grouped_gemm
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<3x32x64xbf16>)
    offsets(%good : memref<4xi32>) outs(%c : memref<8x32xf32>)
    {format = #pa.gemm_format<bf16>}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<3x32x64xbf16>)
    offsets(%unknown : memref<4xi32>) outs(%c : memref<8x32xf32>)
    {format = #pa.gemm_format<bf16>}
  pa.grouped_gemm a(%a : memref<8x64xbf16>) b(%b : memref<3x32x64xbf16>)
    offsets(%outside : memref<4xi32>) outs(%c : memref<8x32xf32>)
    {format = #pa.gemm_format<bf16>}
  return
}
