// RUN: split-file %s %t
// RUN: not pa-opt %t/fnuz.mlir --pa-set-target=chip=gfx950 2>&1 | FileCheck %s --check-prefix=FNUZ
// RUN: not pa-opt %t/k.mlir --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix=K
// DEFINE: %{mma} = mfma_scale_f32_16x16x128_fp8
// DEFINE: %{tiles} = tile_m = 64, tile_n = 64, tile_k = 128
// DEFINE: %{waves} = waves_m = 1, waves_n = 2, waves_k = 1
// DEFINE: %{stages} = stages = 0
// DEFINE: %{run} = sed 's/CONFIG/mma = %{mma}, %{tiles}, %{waves}, %{stages}/' %t/config.mlir | not pa-opt --pa-set-target=chip=gfx950 --pa-configure 2>&1 | FileCheck %s --check-prefix
// REDEFINE: %{mma} = wmma_f32_16x16x128_fp8
// RUN: %{run}=OTHER
// REDEFINE: %{mma} = mfma_f32_16x16x128_fp8
// RUN: %{run}=FIT
// REDEFINE: %{mma} = mfma_scale_f32_16x16x128_fp8
// REDEFINE: %{tiles} = tile_m = 40, tile_n = 64, tile_k = 128
// RUN: %{run}=M
// REDEFINE: %{tiles} = tile_m = 64, tile_n = 48, tile_k = 128
// RUN: %{run}=N
// REDEFINE: %{tiles} = tile_m = 64, tile_n = 64, tile_k = 96
// RUN: %{run}=TILEK
// REDEFINE: %{tiles} = tile_m = 64, tile_n = 64, tile_k = 896
// RUN: %{run}=LARGEST
// REDEFINE: %{tiles} = tile_m = 256, tile_n = 128, tile_k = 512
// REDEFINE: %{stages} = stages = 2
// REDEFINE: %{waves} = waves_m = 2, waves_n = 1, waves_k = 1
// RUN: %{run}=LDS
// REDEFINE: %{waves} = waves_m = 1, waves_n = 2, waves_k = 1
// REDEFINE: %{stages} = stages = 1
// RUN: %{run}=STAGES
// REDEFINE: %{tiles} = tile_m = 1024, tile_n = 512, tile_k = 128
// RUN: %{run}=SUMS

// FNUZ: error: 'pa.grouped_gemm' op a must be 'f8E4M3FN' on gfx950, found 'f8E4M3FNUZ'
// K: error: 'pa.grouped_gemm' op K must be a multiple of 8 for this format on gfx950, found 20
// OTHER: error: 'pa.grouped_gemm' op gfx950 has no matrix instruction wmma_f32_16x16x128_fp8
// FIT: error: 'pa.grouped_gemm' op mma must fit the formats and scales of the op, found mfma_f32_16x16x128_fp8
// M: error: 'pa.grouped_gemm' op tile_m must be a multiple of 16, found 40
// N: error: 'pa.grouped_gemm' op tile_n must be a multiple of 32, found 48
// TILEK: error: 'pa.grouped_gemm' op tile_k must be a multiple of 128, found 96
// LARGEST: error: 'pa.grouped_gemm' op K = 640 cannot be cut into tiles of tile_k = 896, the largest legal tile_k is 640
// LDS: error: 'pa.grouped_gemm' op tiles need 393216 bytes of LDS, gfx950 has 163840
// SUMS: error: 'pa.grouped_gemm' op the sums of a wave need 4096 registers of each lane, at most 384 are allowed on gfx950 with 2 waves
// STAGES: error: 'pa.grouped_gemm' op stages must be 0 or 2, found 1

//--- fnuz.mlir
func.func @f(%a: memref<8x64xf8E4M3FNUZ>, %b: memref<1x32x64xf8E4M3FNUZ>, %c: memref<8x32xf32>) {
  pa.grouped_gemm a(%a : memref<8x64xf8E4M3FNUZ>) b(%b : memref<1x32x64xf8E4M3FNUZ>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<a8w8>}
  return
}
//--- k.mlir
func.func @f(%a: memref<8x20xbf16>, %b: memref<1x32x20xbf16>, %c: memref<8x32xf32>) {
  pa.grouped_gemm a(%a : memref<8x20xbf16>) b(%b : memref<1x32x20xbf16>)
    outs(%c : memref<8x32xf32>) {format = #pa.gemm_format<bf16>}
  return
}
//--- config.mlir
func.func @f(%a: memref<64x640xf8E4M3FN>, %sa: memref<64x20xi8>, %b: memref<8x1024x640xf8E4M3FN>,
             %sb: memref<8x1024x20xi8>, %offsets: memref<9xi32>, %c: memref<64x1024xbf16>) {
  pa.grouped_gemm a(%a : memref<64x640xf8E4M3FN>) a_scales(%sa : memref<64x20xi8>)
    b(%b : memref<8x1024x640xf8E4M3FN>) b_scales(%sb : memref<8x1024x20xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<64x1024xbf16>)
    {format = #pa.gemm_format<a8w8>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, config = #pa.gemm_config<CONFIG>}
  return
}
