// RUN: pa-opt %s -allow-unregistered-dialect | pa-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: module attributes {pa.target = #pa.target<"gfx950">}
module attributes {pa.target = #pa.target<"gfx950">} {}

// CHECK: module attributes {pa.target = #pa.target<"gfx942", num_cus = 80>}
module attributes {pa.target = #pa.target<"gfx942", num_cus = 80>} {}

// CHECK: module attributes {pa.target = #pa.target<"gfx1250">}
module attributes {pa.target = #pa.target<"gfx1250", num_cus = 0>} {}

// CHECK: "test.enums"
"test.enums"() {
  // CHECK-SAME: a = #pa.layout<linear>
  a = #pa.layout<linear>,
  // CHECK-SAME: b = #pa.fill<neg_inf>
  b = #pa.fill<neg_inf>,
  // CHECK-SAME: c = #pa.key_format<mxfp4>
  c = #pa.key_format<mxfp4>,
  // CHECK-SAME: d = #pa.order<by_value>
  d = #pa.order<by_value>,
  // CHECK-SAME: e = #pa.gemm_format<a8w4>
  e = #pa.gemm_format<a8w4>,
  // CHECK-SAME: f = #pa.scale<f32_128x128>
  f = #pa.scale<f32_128x128>,
  // CHECK-SAME: g = #pa.weight_layout<shuffled_16x16>
  g = #pa.weight_layout<shuffled_16x16>,
  // CHECK-SAME: h = #pa.scale_layout<n32k4>
  h = #pa.scale_layout<n32k4>,
  // CHECK-SAME: i = #pa.mma_kind<wmma_f32_16x16x128_fp8>
  i = #pa.mma_kind<wmma_f32_16x16x128_fp8>
} : () -> ()

// CHECK: "test.activations"
"test.activations"() {
  // CHECK-SAME: a = #pa.activation<silu>
  a = #pa.activation<silu>,
  // CHECK-SAME: b = #pa.activation<swiglu, limit = 1.000000e+00 : f64>
  b = #pa.activation<swiglu, limit = 1.0 : f64>,
  // CHECK-SAME: c = #pa.activation<situv2, beta = 4.000000e+00 : f64>
  c = #pa.activation<situv2, beta = 4.0 : f64>,
  // CHECK-SAME: d = #pa.activation<silu, limit = 0.000000e+00 : f64>
  d = #pa.activation<silu, limit = 0.0 : f64>
} : () -> ()

// CHECK: "test.addresses"
"test.addresses"() {
  // CHECK-SAME: a = #pa.address<narrow, max_offset = 2147483648, "static extent">
  a = #pa.address<narrow, max_offset = 2147483648, "static extent">,
  // CHECK-SAME: b = #pa.address<global, max_offset = -1, "unknown extent">
  b = #pa.address<global, max_offset = -1, "unknown extent">
} : () -> ()

// CHECK: "test.config"
"test.config"() {
  // CHECK-SAME: a = #pa.logits_config<mma = mfma_f32_16x16x32_fp8_fnuz, chunk = 64, waves = 4, splits = 1, query = registers>
  a = #pa.logits_config<waves = 4, mma = mfma_f32_16x16x32_fp8_fnuz, chunk = 64, query = registers, splits = 1>,
  // CHECK-SAME: b = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = lds, schedule = ragged>
  b = #pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = lds, schedule = ragged>
} : () -> ()

// CHECK: "test.topk_config"
"test.topk_config"() {
  // CHECK-SAME: a = #pa.topk_config<waves = 16, loads = 2, candidates = 4608, splits = 1>
  a = #pa.topk_config<loads = 2, waves = 16, splits = 1, candidates = 4608>
} : () -> ()
