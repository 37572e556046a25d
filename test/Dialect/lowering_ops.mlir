// RUN: pa-opt %s | pa-opt | FileCheck %s
// RUN: pa-opt %s --int-range-optimizations | FileCheck %s --check-prefix=RANGE

// CHECK-LABEL: func @assume
func.func @assume(%i: index, %j: i32, %k: i64) -> (index, i32, i64) {
  // CHECK: pa.assume %{{.*}} {divisor = 8 : i64, max = 213949 : i64, min = 0 : i64, uniform} : index
  %0 = pa.assume %i {min = 0 : i64, max = 213949 : i64, divisor = 8 : i64, uniform} : index
  // CHECK: pa.assume %{{.*}} {max = 2147483647 : i64, min = -2147483648 : i64} : i32
  %1 = pa.assume %j {min = -2147483648 : i64, max = 2147483647 : i64} : i32
  // CHECK: pa.assume %{{.*}} {max = 7 : i64, min = 0 : i64, opaque} : index
  %3 = pa.assume %i {min = 0 : i64, max = 7 : i64, opaque} : index
  // CHECK: pa.assume %{{.*}} {opaque, uniform} : i64
  %4 = pa.assume %k {uniform, opaque} : i64
  // CHECK: pa.assume %{{.*}} : i64
  %2 = pa.assume %k : i64
  return %0, %1, %2 : index, i32, i64
}

// The assumption reaches upstream's range analysis.
// RANGE-LABEL: func @range
// RANGE: %[[T:.*]] = arith.constant true
// RANGE: return %[[T]]
func.func @range(%i: index) -> i1 {
  %c = arith.constant 213950 : index
  %0 = pa.assume %i {min = 0 : i64, max = 213949 : i64} : index
  %1 = arith.cmpi slt, %0, %c : index
  return %1 : i1
}

// A range that only a multiple of the divisor can have.
// RANGE-LABEL: func @range_of_multiples
// RANGE: %[[T:.*]] = arith.constant true
// RANGE: return %[[T]], %[[T]]
func.func @range_of_multiples(%i: index) -> (i1, i1) {
  %c = arith.constant 64 : index
  %d = arith.constant 16 : index
  %0 = pa.assume %i {min = 1 : i64, max = 79 : i64, divisor = 16 : i64} : index
  %1 = arith.cmpi sle, %0, %c : index
  %2 = arith.cmpi sge, %0, %d : index
  return %1, %2 : i1, i1
}

// Facts that contradict each other prove nothing.
// RANGE-LABEL: func @contradiction
// RANGE: %[[C:.*]] = arith.cmpi slt
// RANGE: return %[[C]]
func.func @contradiction(%i: index) -> i1 {
  %c5 = arith.constant 5 : index
  %0 = pa.assume %i {max = 4 : i64} : index
  %1 = pa.assume %0 {min = 9 : i64} : index
  %2 = arith.cmpi slt, %1, %i : index
  return %2 : i1
}

// CHECK-LABEL: func @mma
func.func @mma(%a: vector<32xf8E4M3FN>, %b: vector<32xf8E4M3FN>,
    %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK: pa.mma mfma_f32_16x16x128_fp8 %{{.*}}, %{{.*}}, %{{.*}} : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  %0 = pa.mma mfma_f32_16x16x128_fp8 %a, %b, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func @mma_scaled
func.func @mma_scaled(%a: vector<32xf8E4M3FN>, %w: vector<32xf4E2M1FN>,
    %c: vector<4xf32>, %s: vector<4xf8E8M0FNU>) -> vector<4xf32> {
  // CHECK: pa.mma mfma_scale_f32_16x16x128_fp8_fp4 %{{.*}}, %{{.*}}, %{{.*}} scales(%{{.*}}[0], %{{.*}}[3]) : vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>
  %0 = pa.mma mfma_scale_f32_16x16x128_fp8_fp4 %a, %w, %c scales(%s[0], %s[3])
    : vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func @group_sum
func.func @group_sum(%x: f32, %y: f32) -> f32 {
  // CHECK: pa.group_sum %{{.*}}, %{{.*}}
  %0 = pa.group_sum %x, %y
  %1 = pa.group_sum %0, %x, %y, %0
  return %1 : f32
}
