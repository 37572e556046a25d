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

func.func @mma_of_no_kind(%a: vector<32xf8E4M3FN>, %c: vector<4xf32>) {
  // expected-error @below {{unknown matrix instruction 'mfma_f32_3x3x3_fp8'}}
  %0 = pa.mma mfma_f32_3x3x3_fp8 %a, %a, %c
    : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
  return
}
