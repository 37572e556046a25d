// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @assume_c1_min_above_max(%i: index) {
  // expected-error @below {{'pa.assume' op min must not be above max, found min = 8 and max = 7}}
  %0 = pa.assume %i {min = 8 : i64, max = 7 : i64} : index
  return
}

// -----

func.func @assume_c1_max_beyond_the_type(%i: i32) {
  // expected-error @below {{'pa.assume' op max must fit 'i32', found 2147483648}}
  %0 = pa.assume %i {max = 2147483648 : i64} : i32
  return
}

// -----

func.func @assume_c1_min_beyond_the_type(%i: i32) {
  // expected-error @below {{'pa.assume' op min must fit 'i32', found -2147483649}}
  %0 = pa.assume %i {min = -2147483649 : i64} : i32
  return
}

// -----

func.func @assume_c2_divisor_0(%i: index) {
  // expected-error @below {{'pa.assume' op divisor must be positive, found 0}}
  %0 = pa.assume %i {divisor = 0 : i64} : index
  return
}

// -----

func.func @assume_c2_divisor_negative(%i: i64) {
  // expected-error @below {{'pa.assume' op divisor must be positive, found -8}}
  %0 = pa.assume %i {divisor = -8 : i64} : i64
  return
}

// -----

func.func @assume_c2_divisor_beyond_the_type(%i: i32) {
  // expected-error @below {{'pa.assume' op divisor must fit 'i32', found 4294967296}}
  %0 = pa.assume %i {divisor = 4294967296 : i64} : i32
  return
}

// -----

func.func @assume_c3_opaque_without_bounds(%i: index) {
  // expected-error @below {{'pa.assume' op an opaque value of a lane needs min and max from 0 to 2147483647, found min = none and max = none}}
  %0 = pa.assume %i {opaque} : index
  return
}

// -----

func.func @assume_c3_opaque_of_32_bits(%i: i64) {
  // expected-error @below {{'pa.assume' op an opaque value of a lane needs min and max from 0 to 2147483647, found min = 0 and max = 2147483648}}
  %0 = pa.assume %i {min = 0 : i64, max = 2147483648 : i64, opaque} : i64
  return
}

// -----

func.func @assume_c3_opaque_and_negative(%i: i64) {
  // expected-error @below {{'pa.assume' op an opaque value of a lane needs min and max from 0 to 2147483647, found min = -1 and max = 7}}
  %0 = pa.assume %i {min = -1 : i64, max = 7 : i64, opaque} : i64
  return
}

// -----

func.func @assume_of_a_narrow_type(%i: i8) {
  // expected-error @below {{op operand #0 must be index or 32-bit signless integer or 64-bit signless integer, but got 'i8'}}
  %0 = pa.assume %i : i8
  return
}

// -----

func.func @mma_c1_fp8_of_another_chip(%a: vector<32xf8E4M3FNUZ>, %c: vector<4xf32>) {
  // expected-error @below {{'pa.mma' op a of mfma_f32_16x16x128_fp8 must be 'vector<32xf8E4M3FN>', found 'vector<32xf8E4M3FNUZ>'}}
  %0 = pa.mma mfma_f32_16x16x128_fp8 %a, %a, %c
    : vector<32xf8E4M3FNUZ>, vector<32xf8E4M3FNUZ>, vector<4xf32>
  return
}

// -----

func.func @mma_c1_length_of_b(%a: vector<32xf8E4M3FN>, %b: vector<8xf8E4M3FN>,
    %c: vector<4xf32>) {
  // expected-error @below {{'pa.mma' op b of mfma_f32_16x16x128_fp8 must be 'vector<32xf8E4M3FN>', found 'vector<8xf8E4M3FN>'}}
  %0 = pa.mma mfma_f32_16x16x128_fp8 %a, %b, %c
    : vector<32xf8E4M3FN>, vector<8xf8E4M3FN>, vector<4xf32>
  return
}

// -----

func.func @mma_c1_length_of_acc(%a: vector<32xf8E4M3FN>, %c: vector<8xf32>) {
  // expected-error @below {{'pa.mma' op acc of mfma_f32_16x16x128_fp8 must be 'vector<4xf32>', found 'vector<8xf32>'}}
  %0 = pa.mma mfma_f32_16x16x128_fp8 %a, %a, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<8xf32>
  return
}

// -----

func.func @mma_c2_scales_of_a_plain_kind(%a: vector<32xf8E4M3FN>,
    %c: vector<4xf32>, %s: vector<4xf8E8M0FNU>) {
  // expected-error @below {{'pa.mma' op scales of a must be absent for mfma_f32_16x16x128_fp8}}
  %0 = pa.mma mfma_f32_16x16x128_fp8 %a, %a, %c scales(%s[0], %s[0])
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}

// -----

func.func @mma_c2_no_scales(%a: vector<32xf8E4M3FN>, %c: vector<4xf32>) {
  // expected-error @below {{'pa.mma' op scales of a must be present for mfma_scale_f32_16x16x128_fp8}}
  %0 = pa.mma mfma_scale_f32_16x16x128_fp8 %a, %a, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}

// -----

func.func @mma_c3_code_4(%a: vector<32xf8E4M3FN>, %c: vector<4xf32>,
    %s: vector<4xf8E8M0FNU>) {
  // expected-error @below {{'pa.mma' op scale selector of b must be below 4 for mfma_scale_f32_16x16x128_fp8, found 4}}
  %0 = pa.mma mfma_scale_f32_16x16x128_fp8 %a, %a, %c scales(%s[3], %s[4])
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}

// -----

func.func @mma_c3_negative_code(%a: vector<32xf8E4M3FN>, %c: vector<4xf32>,
    %s: vector<4xf8E8M0FNU>) {
  // expected-error @below {{'pa.mma' op scale selector of a must be below 4 for mfma_scale_f32_16x16x128_fp8, found -1}}
  %0 = pa.mma mfma_scale_f32_16x16x128_fp8 %a, %a, %c scales(%s[-1], %s[0])
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}

// -----

// A tile of 32 rows takes the scales of all 32 lanes.
func.func @mma_c3_second_half_of_32_rows(%a: vector<128xf4E2M1FN>,
    %b: vector<64xf4E2M1FN>, %c: vector<16xf32>, %s: vector<4xf8E8M0FNU>) {
  // expected-error @below {{'pa.mma' op scale selector of a must be below 1 for wmma_scale_f32_32x16x128_fp4, found 1}}
  %0 = pa.mma wmma_scale_f32_32x16x128_fp4 %a, %b, %c scales(%s[1], %s[1])
    : vector<128xf4E2M1FN>, vector<64xf4E2M1FN>, vector<16xf32>
  return
}

// -----

func.func @group_sum_c1_three(%x: f32) {
  // expected-error @below {{'pa.group_sum' op operands must be 2 or 4, found 3}}
  %0 = pa.group_sum %x, %x, %x
  return
}

// -----

func.func @mma_of_no_kind(%a: vector<32xf8E4M3FN>, %c: vector<4xf32>) {
  // expected-error @below {{unknown matrix instruction 'mfma_f32_3x3x3_fp8'}}
  %0 = pa.mma mfma_f32_3x3x3_fp8 %a, %a, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}
