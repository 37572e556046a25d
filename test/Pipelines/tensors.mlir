// Code of another compiler around an op on tensors: one-shot bufferization, then
// a code object. The host code stays upstream's.
// RUN: pa-opt %s --pa-lower-to-binary=chip=gfx950 | FileCheck %s
// RUN: rm -rf %t && pa-compile %s --chip=gfx942,gfx950,gfx1250 -o %t --report | FileCheck %s --check-prefix=REPORT

// CHECK-LABEL: func.func @select
// CHECK: linalg.generic {{.*}} ins({{.*}}memref<8x4096xf32
// CHECK: linalg.fill {{.*}} outs({{.*}} : memref<8x64xi32>)
// CHECK: gpu.launch_func @[[KERNEL:.*]]::
// CHECK-NOT: tensor<
// CHECK: gpu.binary @[[KERNEL]]
// REPORT: gfx942 topk_k64_by_index
// REPORT: gfx950 topk_k64_by_index
// REPORT: gfx1250 topk_k64_by_index
#id = affine_map<(i, j) -> (i, j)>
func.func @select(%scores: tensor<8x4096xf32>, %bias: tensor<8x4096xf32>,
                  %ends: tensor<8xi32>) -> tensor<8x64xi32> {
  %empty = tensor.empty() : tensor<8x4096xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %bias : tensor<8x4096xf32>, tensor<8x4096xf32>) outs(%empty : tensor<8x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.addf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<8x4096xf32>
  %none = arith.constant -1 : i32
  %best = tensor.empty() : tensor<8x64xi32>
  %init = linalg.fill ins(%none : i32) outs(%best : tensor<8x64xi32>) -> tensor<8x64xi32>
  %found = pa.topk values(%sum : tensor<8x4096xf32>) row_ends(%ends : tensor<8xi32>)
      outs(%init : tensor<8x64xi32>) -> tensor<8x64xi32>
  return %found : tensor<8x64xi32>
}
