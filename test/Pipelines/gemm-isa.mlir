// What a large grouped GEMM becomes: operands straight to LDS, waits that count,
// matrix instructions with scales, nothing spilled, no 64-bit address arithmetic
// of lanes in the loop.
// RUN: rm -rf %t && mkdir %t
// RUN: pa-compile %s --chip=gfx950,gfx1250 --emit=s -o %t
// RUN: FileCheck %s --check-prefix=GFX950 --input-file=%t/grouped_gemm_a8w4_e8m0_1x32_e8m0_1x32_n2048_k7168_t64x512x128.gfx950.s
// RUN: FileCheck %s --check-prefix=GFX1250 --input-file=%t/grouped_gemm_a8w4_e8m0_1x32_e8m0_1x32_n2048_k7168_t128x512x128.gfx1250.s

// GFX950: s_barrier
// GFX950: ds_read_b128
// GFX950: buffer_load_dwordx4 {{.*}} lds
// GFX950-NOT: v_lshl_add_u64
// GFX950-NOT: v_mad_u64_u32
// GFX950: v_mfma_scale_f32_16x16x128_f8f6f4
// GFX950: .sgpr_spill_count: 0
// GFX950: .vgpr_spill_count: 0

// GFX1250: s_wait_tensorcnt 0x0
// GFX1250: s_barrier_wait
// GFX1250: ds_load_b128
// GFX1250-NOT: v_mad_nc_u64_u32
// GFX1250: tensor_load_to_lds
// GFX1250: v_wmma_scale_f32_16x16x128_f8f6f4
// GFX1250: .sgpr_spill_count: 0
// GFX1250: .vgpr_spill_count: 0
func.func @f(%a: memref<32768x7168xf8E4M3FN>, %sa: memref<32768x224xi8>,
             %b: memref<8x2048x3584xi8>, %sb: memref<8x2048x224xi8>,
             %offsets: memref<9xi32>, %c: memref<32768x2048xbf16>) {
  pa.grouped_gemm a(%a : memref<32768x7168xf8E4M3FN>) a_scales(%sa : memref<32768x224xi8>)
    b(%b : memref<8x2048x3584xi8>) b_scales(%sb : memref<8x2048x224xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<32768x2048xbf16>)
    {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  return
}
