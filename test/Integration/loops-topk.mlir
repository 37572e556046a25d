// RUN: pa-opt %s --pa-lower-to-loops --convert-scf-to-cf --convert-to-llvm \
// RUN:     --reconcile-unrealized-casts \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void \
// RUN:       --shared-libs=%mlir_lib/libmlir_runner_utils.so \
// RUN:       --shared-libs=%mlir_lib/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s

// Row 0: -0, +0, NaN, -inf, 1, -NaN, 1, inf. Row 1: equal values.
memref.global "private" constant @values : memref<2x8xf32> = dense<[
  [-0.0, 0.0, 0x7FC00000, 0xFF800000, 1.0, 0xFFC00001, 1.0, 0x7F800000],
  [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]]>
memref.global "private" constant @starts : memref<2xi32> = dense<[0, 2]>
memref.global "private" constant @ends : memref<2xi32> = dense<[8, 6]>

func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefF32(memref<*xf32>)

func.func @main() {
  %values = memref.get_global @values : memref<2x8xf32>
  %starts = memref.get_global @starts : memref<2xi32>
  %ends = memref.get_global @ends : memref<2xi32>
  %indices = memref.alloc() : memref<2x8xi32>
  %best = memref.alloc() : memref<2x8xf32>
  %few = memref.alloc() : memref<2x3xi32>
  %indices_any = memref.cast %indices : memref<2x8xi32> to memref<*xi32>
  %best_any = memref.cast %best : memref<2x8xf32> to memref<*xf32>
  %few_any = memref.cast %few : memref<2x3xi32> to memref<*xi32>

  // CHECK: sizes = [2, 8]
  // CHECK-NEXT: {{\[\[}}7,   4,   6,   1,   0,   3,   2,   5],
  // CHECK-NEXT: [2,   3,   4,   5,   -1,   -1,   -1,   -1]]
  pa.topk values(%values : memref<2x8xf32>) row_starts(%starts : memref<2xi32>)
    row_ends(%ends : memref<2xi32>)
    outs(%indices : memref<2x8xi32>, %best : memref<2x8xf32>)
    {order = #pa.order<by_value>}
  func.call @printMemrefI32(%indices_any) : (memref<*xi32>) -> ()

  // CHECK: sizes = [2, 8]
  // CHECK-NEXT: {{\[\[}}inf,   1,   1,   0,   -0,   -inf,   nan,   -nan],
  // CHECK-NEXT: [3,   3,   3,   3,   -inf,   -inf,   -inf,   -inf]]
  func.call @printMemrefF32(%best_any) : (memref<*xf32>) -> ()

  // CHECK: sizes = [2, 3]
  // CHECK-NEXT: {{\[\[}}4,   6,   7],
  // CHECK-NEXT: [0,   1,   2]]
  pa.topk values(%values : memref<2x8xf32>) outs(%few : memref<2x3xi32>)
  func.call @printMemrefI32(%few_any) : (memref<*xi32>) -> ()
  return
}
