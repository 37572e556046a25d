// RUN: pa-opt %s -allow-unregistered-dialect -verify-diagnostics -split-input-file

// expected-error @below {{unknown chip 'gfx90a', known chips are gfx942, gfx950, gfx1250}}
module attributes {pa.target = #pa.target<"gfx90a">} {}

// -----

// expected-error @below {{unknown chip '', known chips are gfx942, gfx950, gfx1250}}
module attributes {pa.target = #pa.target<"">} {}

// -----

// expected-error @below {{num_cus must be at most 65536, found 9223372036854775807}}
module attributes {pa.target = #pa.target<"gfx950", num_cus = 9223372036854775807>} {}

// -----

// expected-error @below {{num_cus must not be negative, found -1}}
module attributes {pa.target = #pa.target<"gfx950", num_cus = -1>} {}

// -----

// expected-error @below {{limit must not be negative, found -7.000000e+00}}
"test.op"() {a = #pa.activation<silu, limit = -7.0 : f64>} : () -> ()

// -----

// expected-error @below {{limit must be a number, found nan}}
"test.op"() {a = #pa.activation<swiglu, limit = 0x7FF8000000000000 : f64>} : () -> ()

// -----

// expected-error @below {{situv2 has no limit}}
"test.op"() {a = #pa.activation<situv2, limit = 7.0 : f64>} : () -> ()

// -----

// expected-error @below {{beta belongs to situv2, found silu}}
"test.op"() {a = #pa.activation<silu, beta = 4.0 : f64>} : () -> ()

// -----

// expected-error @below {{linear_beta belongs to situv2, found swiglu}}
"test.op"() {a = #pa.activation<swiglu, linear_beta = 4.0 : f64>} : () -> ()

// -----

// expected-error @below {{beta must be positive, found 0.000000e+00}}
"test.op"() {a = #pa.activation<situv2, beta = 0.0 : f64>} : () -> ()

// -----

// expected-error @below {{linear_beta must be positive, found nan}}
"test.op"() {a = #pa.activation<situv2, linear_beta = 0x7FF8000000000000 : f64>} : () -> ()

// -----

// expected-error @below {{max_offset must be at least -1, found -2}}
"test.op"() {a = #pa.address<global, max_offset = -2, "no bound">} : () -> ()

// -----

// expected-error @below {{expected ::mlir::pa::Layout to be one of: linear, tiled}}
// expected-error @below {{failed to parse PA_LayoutAttr parameter 'value'}}
"test.op"() {a = #pa.layout<blocked>} : () -> ()

// -----

// expected-error @below {{expected ::mlir::pa::ScaleKind to be one of: none, e8m0_1x32, e8m0_32x32, f32_1x128, f32_128x128, f32_row}}
// expected-error @below {{failed to parse PA_ScaleKindAttr parameter 'value'}}
"test.op"() {a = #pa.scale<e8m0_1x16>} : () -> ()

// -----

// expected-error @below {{unknown attribute `layout_of_pages` in dialect `pa`}}
"test.op"() {a = #pa.layout_of_pages<linear>} : () -> ()

// -----

// expected-error @below {{struct is missing required parameter: chunk}}
"test.op"() {a = #pa.logits_config<mma = mfma_f32_16x16x32_fp8, waves = 4, splits = 1, query = registers>} : () -> ()

// -----

// expected-error @below {{duplicate or unknown struct parameter name: tiles}}
"test.op"() {a = #pa.logits_config<tiles = 4>} : () -> ()
