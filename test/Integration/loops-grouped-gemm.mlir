// RUN: pa-opt %s --pa-lower-to-loops --convert-math-to-libm --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:     --convert-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void \
// RUN:       --shared-libs=%mlir_lib/libmlir_runner_utils.so \
// RUN:       --shared-libs=%mlir_lib/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s

// Fp4 code 2 is 1.0 and code 4 is 2.0, so that 0x42 is the pair 1, 2. Exponents
// of a scale pair add: 2^-127 times 2^127 is 1, and code 255 is NaN.
memref.global "private" constant @a : memref<4x16xi8> = dense<0x42>
memref.global "private" constant @b : memref<2x2x16xi8> = dense<[[[0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22], [0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44]], [[0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02], [0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20]]]>
memref.global "private" constant @sa : memref<4x1xi8> = dense<[[0], [127], [127], [255]]>
memref.global "private" constant @sb : memref<2x2x1xi8> = dense<[[[254], [254]], [[127], [126]]]>
memref.global "private" constant @offsets : memref<3xi32> = dense<[0, 1, 4]>
memref.global "private" constant @short : memref<3xi32> = dense<[0, 0, 2]>

func.func private @printMemrefF32(memref<*xf32>)

func.func @main() {
  %a = memref.get_global @a : memref<4x16xi8>
  %b = memref.get_global @b : memref<2x2x16xi8>
  %sa = memref.get_global @sa : memref<4x1xi8>
  %sb = memref.get_global @sb : memref<2x2x1xi8>
  %offsets = memref.get_global @offsets : memref<3xi32>
  %short = memref.get_global @short : memref<3xi32>
  %c = memref.alloc() : memref<4x2xf32>
  %gated = memref.alloc() : memref<4x1xf32>
  %marker = arith.constant 7.0 : f32
  linalg.fill ins(%marker : f32) outs(%gated : memref<4x1xf32>)
  %c_any = memref.cast %c : memref<4x2xf32> to memref<*xf32>
  %gated_any = memref.cast %gated : memref<4x1xf32> to memref<*xf32>

  // CHECK: sizes = [4, 2]
  // CHECK-NEXT: {{\[\[}}48,   96],
  // CHECK-NEXT: [16,   16],
  // CHECK-NEXT: [16,   16],
  // CHECK-NEXT: [nan,   nan]]
  pa.grouped_gemm a(%a : memref<4x16xi8>) a_scales(%sa : memref<4x1xi8>)
    b(%b : memref<2x2x16xi8>) b_scales(%sb : memref<2x2x1xi8>)
    offsets(%offsets : memref<3xi32>) outs(%c : memref<4x2xf32>)
    {format = #pa.gemm_format<a4w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>}
  func.call @printMemrefF32(%c_any) : (memref<*xf32>) -> ()

  // The first group is empty, and rows 2 and 3 belong to none. The limit of 2
  // clamps gate and up: 2 / (1 + exp(-2)) * 2. The scale of row 0 is so small that
  // its gate times its up is 0.
  // CHECK: sizes = [4, 1]
  // CHECK-NEXT: {{\[\[}}0],
  // CHECK-NEXT: [3.52319],
  // CHECK-NEXT: [7],
  // CHECK-NEXT: [7]]
  pa.grouped_gemm a(%a : memref<4x16xi8>) a_scales(%sa : memref<4x1xi8>)
    b(%b : memref<2x2x16xi8>) b_scales(%sb : memref<2x2x1xi8>)
    offsets(%short : memref<3xi32>) outs(%gated : memref<4x1xf32>)
    {format = #pa.gemm_format<a4w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>,
     activation = #pa.activation<silu, limit = 2.0 : f64>}
  func.call @printMemrefF32(%gated_any) : (memref<*xf32>) -> ()
  return
}
