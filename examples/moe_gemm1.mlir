// First GEMM of a mixture-of-experts layer: fp8 rows by mxfp4 weights with E8M0
// scales for 32 columns each, SiLU on interleaved gate and up columns, and the
// result requantised to fp8 for the second GEMM.
// Compiles for: gfx942, gfx950, gfx1250
func.func @moe_gemm1(
    %a: memref<?x7168xf8E4M3FN>, %a_scales: memref<?x224xi8>,
    %b: memref<384x1536x3584xi8>, %b_scales: memref<384x1536x224xi8>,
    %offsets: memref<385xi32>,
    %c: memref<?x768xf8E4M3FN>, %c_scales: memref<?x24xi8>) {
  pa.grouped_gemm a(%a : memref<?x7168xf8E4M3FN>)
      a_scales(%a_scales : memref<?x224xi8>)
      b(%b : memref<384x1536x3584xi8>)
      b_scales(%b_scales : memref<384x1536x224xi8>)
      offsets(%offsets : memref<385xi32>)
      outs(%c : memref<?x768xf8E4M3FN>, %c_scales : memref<?x24xi8>)
      {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
       b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
  return
}
