// The best configurations as remarks, the first of which is taken; and the same
// from pa-compile, which then compiles nothing.
// RUN: pa-opt %s --pa-set-target=chip=gfx950 --pa-configure=tune=2 2>&1 | FileCheck %s
// RUN: rm -rf %t && mkdir %t && cd %t && pa-compile %s --chip=gfx942,gfx950 --tune=3 | FileCheck %s --check-prefix=LIST
// RUN: not ls %t/*
// RUN: not pa-compile %S/../../examples/topk.mlir --chip=gfx950 --tune=3 2>&1 | FileCheck %s --check-prefix=NONE

// 16 rows of each group: HBM decides, and no two of the waves read a weight.
// CHECK: remark: 1: tile 16x[[N:[0-9]+]]x[[K:[0-9]+]], waves 1x[[W:[0-9]]]x4, stages 0: {{[0-9]+}} cycles, hbm bound, {{[0-9.]+}}% of the matrix peak, 100.0% of HBM; 63 flop per byte, the roofline bends at 1258
// CHECK: remark: 2: tile 16x{{.*}} hbm bound
// CHECK-NOT: remark: 3:
// 4,096 rows: the matrix units do.
// CHECK: remark: 1: tile {{.*}}, stages 2: {{[0-9]+}} cycles, matrix bound, {{[789][0-9.]+}}% of the matrix peak
// CHECK: tile_m = 16, tile_n = [[N]], tile_k = [[K]], waves_m = 1, waves_n = [[W]], waves_k = 4, stages = 0

// gfx942 converts mxfp4: its vector units do.
// LIST: gfx942 loc({{.*}}) 1: {{.*}} bound
// LIST: gfx942 loc({{.*}}) 3: {{.*}} bound
// LIST: gfx942 loc({{.*}}) 1: {{.*}} vector bound
// LIST: gfx942 loc({{.*}}) 3: {{.*}} vector bound
// LIST: gfx950 loc({{.*}}) 1: {{.*}} hbm bound
// LIST: gfx950 loc({{.*}}) 1: {{.*}} matrix bound
// LIST: gfx950 loc({{.*}}) 3: {{.*}} bound
// LIST-NOT: gfx950

// NONE: error: has no pa.grouped_gemm to list configurations of
func.func @few(%a: memref<128x3584xi8>, %sa: memref<128x224xi8>, %b: memref<8x3072x3584xi8>,
               %sb: memref<8x3072x224xi8>, %offsets: memref<9xi32>, %c: memref<128x3072xbf16>) {
  pa.grouped_gemm a(%a : memref<128x3584xi8>) a_scales(%sa : memref<128x224xi8>)
    b(%b : memref<8x3072x3584xi8>) b_scales(%sb : memref<8x3072x224xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<128x3072xbf16>)
    {format = #pa.gemm_format<a4w4>, a_scale = #pa.scale<e8m0_1x32>, b_scale = #pa.scale<e8m0_1x32>}
  return
}
func.func @many(%a: memref<32768x3584xi8>, %sa: memref<32768x224xi8>, %b: memref<8x3072x3584xi8>,
                %sb: memref<8x3072x224xi8>, %offsets: memref<9xi32>, %c: memref<32768x3072xbf16>) {
  pa.grouped_gemm a(%a : memref<32768x3584xi8>) a_scales(%sa : memref<32768x224xi8>)
    b(%b : memref<8x3072x3584xi8>) b_scales(%sb : memref<8x3072x224xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<32768x3072xbf16>)
    {format = #pa.gemm_format<a4w4>, a_scale = #pa.scale<e8m0_1x32>, b_scale = #pa.scale<e8m0_1x32>}
  return
}
