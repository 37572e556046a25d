// RUN: pa-opt %s -verify-diagnostics -split-input-file

func.func @topk_c1_rank_of_values(%values: memref<4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op values must have rank 2, found 1}}
  pa.topk values(%values : memref<4096xf32>) row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c1_rank_of_row_ends(%values: memref<8x4096xf32>,
    %row_ends: memref<8x1xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op row_ends must have rank 1, found 2}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8x1xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c1_rank_of_row_starts(%values: memref<8x4096xf32>,
    %row_starts: memref<i32>, %row_ends: memref<8xi32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op row_starts must have rank 1, found 0}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_starts(%row_starts : memref<i32>) row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c1_rank_of_indices(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x1x512xi32>) {
  // expected-error @below {{'pa.topk' op indices must have rank 2, found 3}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x1x512xi32>)
  return
}

// -----

func.func @topk_c1_rank_of_top_values(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>,
    %top_values: memref<512xf32>) {
  // expected-error @below {{'pa.topk' op top_values must have rank 2, found 1}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>, %top_values : memref<512xf32>)
  return
}

// -----

func.func @topk_c2_mixed_forms(%values: memref<8x4096xf32>,
    %row_ends: tensor<8xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op operands must be all tensors or all memrefs, found 'memref<8x4096xf32>' for values and 'tensor<8xi32>' for row_ends}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : tensor<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c2_one_result_of_two(%values: tensor<8x4096xf32>,
    %row_ends: tensor<8xi32>, %indices: tensor<8x512xi32>,
    %top_values: tensor<8x512xf32>) -> tensor<8x512xi32> {
  // expected-error @below {{'pa.topk' op expected 2 results, one for each tensor init, found 1}}
  %0 = pa.topk values(%values : tensor<8x4096xf32>)
    row_ends(%row_ends : tensor<8xi32>)
    outs(%indices : tensor<8x512xi32>, %top_values : tensor<8x512xf32>) -> tensor<8x512xi32>
  return %0 : tensor<8x512xi32>
}

// -----

func.func @topk_c2_results_exchanged(%values: tensor<8x4096xf32>,
    %row_ends: tensor<8xi32>, %indices: tensor<8x512xi32>,
    %top_values: tensor<8x512xf32>) -> (tensor<8x512xf32>, tensor<8x512xi32>) {
  // expected-error @below {{'pa.topk' op result must have the type of its init 'tensor<8x512xi32>', found 'tensor<8x512xf32>'}}
  %0:2 = pa.topk values(%values : tensor<8x4096xf32>)
    row_ends(%row_ends : tensor<8xi32>)
    outs(%indices : tensor<8x512xi32>, %top_values : tensor<8x512xf32>) -> tensor<8x512xf32>, tensor<8x512xi32>
  return %0#0, %0#1 : tensor<8x512xf32>, tensor<8x512xi32>
}

// -----

func.func @topk_c3_element_type_of_values(%values: memref<8x4096xf16>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op values must have element type 'f32', found 'f16'}}
  pa.topk values(%values : memref<8x4096xf16>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c3_element_type_of_indices(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi64>) {
  // expected-error @below {{'pa.topk' op indices must have element type 'i32', found 'i64'}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi64>)
  return
}

// -----

func.func @topk_c3_element_type_of_top_values(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>,
    %top_values: memref<8x512xbf16>) {
  // expected-error @below {{'pa.topk' op top_values must have element type 'f32', found 'bf16'}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x512xbf16>)
  return
}

// -----

func.func @topk_c3_element_type_of_row_ends(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi64>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op row_ends must have element type 'i32', found 'i64'}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi64>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c3_element_type_of_row_starts(%values: memref<8x4096xf32>,
    %row_starts: memref<8xindex>, %row_ends: memref<8xi32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op row_starts must have element type 'i32', found 'index'}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_starts(%row_starts : memref<8xindex>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c4_rows_of_row_ends(%values: memref<8x4096xf32>,
    %row_ends: memref<4xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op dimension 0 of row_ends must be rows = 8, found 4}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<4xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c4_rows_of_row_starts(%values: memref<8x4096xf32>,
    %row_starts: memref<9xi32>, %row_ends: memref<8xi32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op dimension 0 of row_starts must be rows = 8, found 9}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_starts(%row_starts : memref<9xi32>) row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c4_rows_of_indices(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<16x512xi32>) {
  // expected-error @below {{'pa.topk' op dimension 0 of indices must be rows = 8, found 16}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<16x512xi32>)
  return
}

// -----

func.func @topk_c4_columns_of_top_values(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>,
    %top_values: memref<8x256xf32>) {
  // expected-error @below {{'pa.topk' op dimension 1 of top_values must be k = 512, found 256}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x256xf32>)
  return
}

// -----

func.func @topk_c5_dynamic_k(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x?xi32>) {
  // expected-error @below {{'pa.topk' op k, the columns of indices, must be static}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x?xi32>)
  return
}

// -----

func.func @topk_c5_k_0(%values: memref<8x4096xf32>, %row_ends: memref<8xi32>,
    %indices: memref<8x0xi32>) {
  // expected-error @below {{'pa.topk' op k must be from 1 to 4096, found 0}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x0xi32>)
  return
}

// -----

func.func @topk_c5_k_4097(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x4097xi32>) {
  // expected-error @below {{'pa.topk' op k must be from 1 to 4096, found 4097}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x4097xi32>)
  return
}

// -----

func.func @topk_c6_columns_beyond_31_bits(%values: memref<8x2147483648xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op columns of values must be at most 2147483647, found 2147483648}}
  pa.topk values(%values : memref<8x2147483648xf32>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c7_inner_stride_of_values(
    %values: memref<8x4096xf32, strided<[1, 8]>>, %row_ends: memref<8xi32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op innermost stride of values must be 1, found 8}}
  pa.topk values(%values : memref<8x4096xf32, strided<[1, 8]>>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c7_inner_stride_of_indices(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>,
    %indices: memref<8x512xi32, strided<[1024, 2]>>) {
  // expected-error @below {{'pa.topk' op innermost stride of indices must be 1, found 2}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32, strided<[1024, 2]>>)
  return
}

// -----

func.func @topk_c7_negative_row_stride(
    %values: memref<8x4096xf32, strided<[-4096, 1]>>, %row_ends: memref<8xi32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op stride 0 of values must not be negative, found -4096}}
  pa.topk values(%values : memref<8x4096xf32, strided<[-4096, 1]>>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c7_overlapping_rows_of_indices(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32, strided<[511, 1]>>) {
  // expected-error @below {{'pa.topk' op rows of indices must not overlap: their stride must be at least 512, found 511}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32, strided<[511, 1]>>)
  return
}

// -----

func.func @topk_c7_overlapping_rows_of_top_values(%values: memref<8x4096xf32>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>,
    %top_values: memref<8x512xf32, strided<[0, 1]>>) {
  // expected-error @below {{'pa.topk' op rows of top_values must not overlap: their stride must be at least 512, found 0}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%row_ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>, %top_values : memref<8x512xf32, strided<[0, 1]>>)
  return
}

// -----

func.func @topk_c7_extent_beyond_64_bits(
    %values: memref<8x4096xf32, strided<[1152921504606846976, 1]>>,
    %row_ends: memref<8xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op bytes of values must fit 63 bits, found extents and strides that do not}}
  pa.topk
    values(%values : memref<8x4096xf32, strided<[1152921504606846976, 1]>>)
    row_ends(%row_ends : memref<8xi32>) outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c8_waves(%values: memref<8x4096xf32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op waves must be from 1 to 16, found 17}}
  pa.topk values(%values : memref<8x4096xf32>)
    outs(%indices : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 17, loads = 2, candidates = 4608, splits = 1>}
  return
}

// -----

func.func @topk_c8_loads(%values: memref<8x4096xf32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op loads must be from 1 to 4 or 8, found 0}}
  pa.topk values(%values : memref<8x4096xf32>)
    outs(%indices : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 16, loads = 0, candidates = 4608, splits = 1>}
  return
}

// -----

func.func @topk_c8_five_loads(%values: memref<8x4096xf32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op loads must be from 1 to 4 or 8, found 5}}
  pa.topk values(%values : memref<8x4096xf32>)
    outs(%indices : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 16, loads = 5, candidates = 4608, splits = 1>}
  return
}

// -----

func.func @topk_c8_few_candidates(%values: memref<8x4096xf32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op candidates must be from 1024 to 32768, found 1023}}
  pa.topk values(%values : memref<8x4096xf32>)
    outs(%indices : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 16, loads = 2, candidates = 1023, splits = 1>}
  return
}

// -----

func.func @topk_c8_many_candidates(%values: memref<8x4096xf32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op candidates must be from 1024 to 32768, found 32769}}
  pa.topk values(%values : memref<8x4096xf32>)
    outs(%indices : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 16, loads = 2, candidates = 32769, splits = 1>}
  return
}

// -----

func.func @topk_c8_splits(%values: memref<8x4096xf32>,
    %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op splits must be from 0 to 256, found 257}}
  pa.topk values(%values : memref<8x4096xf32>)
    outs(%indices : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 16, loads = 2, candidates = 4608, splits = 257>}
  return
}

// -----

func.func @topk_c9_no_next_n(%values: memref<8x4096xf32>,
    %lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op context_lens need next_n, found none}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c9_no_context_lens(%values: memref<8x4096xf32>,
    %ends: memref<8xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op next_n belongs to context_lens, which are absent; found next_n = 4}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%ends : memref<8xi32>)
    outs(%indices : memref<8x512xi32>) {next_n = 4 : i64}
  return
}

// -----

func.func @topk_c9_next_n_0(%values: memref<8x4096xf32>,
    %lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op next_n must be from 1 to 2147483647, found 0}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<8x512xi32>) {next_n = 0 : i64}
  return
}

// -----

func.func @topk_c9_next_n_beyond_31_bits(%values: memref<8x4096xf32>,
    %lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op next_n must be from 1 to 2147483647, found 2147483648}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<8x512xi32>) {next_n = 2147483648 : i64}
  return
}

// -----

func.func @topk_c9_two_row_ends(%values: memref<8x4096xf32>,
    %ends: memref<8xi32>, %lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op row ends are given by row_ends or by context_lens, found both}}
  pa.topk values(%values : memref<8x4096xf32>)
    row_ends(%ends : memref<8xi32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<8x512xi32>) {next_n = 4 : i64}
  return
}

// -----

func.func @topk_c9_rows_of_no_sequence(%values: memref<8x4096xf32>,
    %lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op rows must be a multiple of next_n = 3, found 8}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<8x512xi32>) {next_n = 3 : i64}
  return
}

// -----

func.func @topk_c9_sequences(%values: memref<8x4096xf32>,
    %lens: memref<2xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op dimension 0 of context_lens must be rows / next_n = 4, found 2}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<8x512xi32>) {next_n = 2 : i64}
  return
}

// -----

func.func @topk_c1_rank_of_context_lens(%values: memref<8x4096xf32>,
    %lens: memref<2x1xi32>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op context_lens must have rank 1, found 2}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2x1xi32>)
    outs(%indices : memref<8x512xi32>)
  return
}

// -----

func.func @topk_c3_element_type_of_context_lens(%values: memref<8x4096xf32>,
    %lens: memref<2xi64>, %indices: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op context_lens must have element type 'i32', found 'i64'}}
  pa.topk values(%values : memref<8x4096xf32>)
    context_lens(%lens : memref<2xi64>)
    outs(%indices : memref<8x512xi32>) {next_n = 4 : i64}
  return
}
