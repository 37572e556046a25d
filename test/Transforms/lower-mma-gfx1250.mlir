// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx1250},pa-lower-wave-ops)" | FileCheck %s

// CHECK-LABEL: func @plain
// CHECK: amdgpu.wmma 16x16x64
func.func @plain(%a: vector<32xf8E4M3FN>, %c: vector<8xf32>) -> vector<8xf32> {
  %0 = pa.mma wmma_f32_16x16x64_fp8 %a, %a, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<8xf32>
  return %0 : vector<8xf32>
}

// The selector of a WMMA is a lane half.
// CHECK-LABEL: func @scaled
// CHECK: amdgpu.scaled_wmma 32x16x128
// CHECK-SAME: a_first_scale_lane = 0 : i32, b_first_scale_lane = 16 : i32
func.func @scaled(%a: vector<128xf4E2M1FN>, %b: vector<64xf4E2M1FN>,
    %c: vector<16xf32>, %s: vector<4xf8E8M0FNU>) -> vector<16xf32> {
  %0 = pa.mma wmma_scale_f32_32x16x128_fp4 %a, %b, %c scales(%s[0], %s[1])
    : vector<128xf4E2M1FN>, vector<64xf4E2M1FN>, vector<16xf32>
  return %0 : vector<16xf32>
}
