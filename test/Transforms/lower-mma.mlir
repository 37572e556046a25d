// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx950},pa-lower-wave-ops)" -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @plain
// CHECK: amdgpu.mfma 16x16x128 %{{.*}} * %{{.*}} + %{{.*}} blgp = none
func.func @plain(%a: vector<32xf8E4M3FN>, %b: vector<32xf4E2M1FN>,
    %c: vector<4xf32>) -> vector<4xf32> {
  %0 = pa.mma mfma_f32_16x16x128_fp8_fp4 %a, %b, %c
    : vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func @scaled
// CHECK-SAME: %[[A:[a-z0-9]+]]: vector<32xf8E4M3FN>, %[[B:[a-z0-9]+]]: vector<32xf4E2M1FN>, %{{.*}}, %[[S:[a-z0-9]+]]: vector<4xf8E8M0FNU>, %[[T:[a-z0-9]+]]: vector<4xf8E8M0FNU>
// CHECK: amdgpu.scaled_mfma 32x32x64 (%[[S]][2] * %[[A]]) * (%[[T]][3] * %[[B]])
func.func @scaled(%a: vector<32xf8E4M3FN>, %b: vector<32xf4E2M1FN>,
    %c: vector<16xf32>, %s: vector<4xf8E8M0FNU>, %t: vector<4xf8E8M0FNU>)
    -> vector<16xf32> {
  %0 = pa.mma mfma_scale_f32_32x32x64_fp8_fp4 %a, %b, %c scales(%s[2], %t[3])
    : vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

func.func @of_another_chip(%a: vector<8xf8E4M3FNUZ>, %c: vector<4xf32>)
    -> vector<4xf32> {
  // expected-error @below {{'pa.mma' op gfx950 has no instruction mfma_f32_16x16x32_fp8_fnuz}}
  %0 = pa.mma mfma_f32_16x16x32_fp8_fnuz %a, %a, %c
    : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<4xf32>
  return %0 : vector<4xf32>
}
