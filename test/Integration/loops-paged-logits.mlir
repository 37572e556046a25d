// RUN: pa-opt %s --pa-lower-to-loops --convert-linalg-to-loops --convert-scf-to-cf --convert-to-llvm \
// RUN:     --reconcile-unrealized-casts \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void \
// RUN:       --shared-libs=%mlir_lib/libmlir_runner_utils.so \
// RUN:       --shared-libs=%mlir_lib/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s

// Pages of one token in the order 2, 0, 1; what the table holds beyond the
// context is no page.
memref.global "private" constant @table : memref<1x5xi32> = dense<[[2, 0, 1, -1, 2147483647]]>
memref.global "private" constant @lens : memref<1xi32> = dense<[3]>
memref.global "private" constant @scales : memref<3x1xf32> = dense<[[2.0], [8.0], [0.25]]>
memref.global "private" constant @weights : memref<2x16xf32> = dense<1.0>

func.func private @printMemrefF32(memref<*xf32>)

func.func @main() {
  %table = memref.get_global @table : memref<1x5xi32>
  %lens = memref.get_global @lens : memref<1xi32>
  %scales = memref.get_global @scales : memref<3x1xf32>
  %weights = memref.get_global @weights : memref<2x16xf32>
  %q = memref.alloc() : memref<1x2x16x64xf8E4M3FN>
  %keys = memref.alloc() : memref<3x1x64xf8E4M3FN>
  %logits = memref.alloc() : memref<2x5xf32>

  // Queries of 1; keys of 0.5, -1 and 3 on pages 0, 1 and 2.
  %one = arith.constant 1.0 : f8E4M3FN
  linalg.fill ins(%one : f8E4M3FN) outs(%q : memref<1x2x16x64xf8E4M3FN>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %k0 = arith.constant 0.5 : f8E4M3FN
  %k1 = arith.constant -1.0 : f8E4M3FN
  %k2 = arith.constant 3.0 : f8E4M3FN
  scf.for %d = %c0 to %c64 step %c1 {
    memref.store %k0, %keys[%c0, %c0, %d] : memref<3x1x64xf8E4M3FN>
    memref.store %k1, %keys[%c1, %c0, %d] : memref<3x1x64xf8E4M3FN>
    memref.store %k2, %keys[%c2, %c0, %d] : memref<3x1x64xf8E4M3FN>
  }
  %marker = arith.constant 7.0 : f32
  linalg.fill ins(%marker : f32) outs(%logits : memref<2x5xf32>)
  %any = memref.cast %logits : memref<2x5xf32> to memref<*xf32>

  // 16 heads times 64 elements times key times scale, in the table's order.
  // CHECK: sizes = [2, 5]
  // CHECK-NEXT: {{\[\[}}768,   1024,   7,   7,   7],
  // CHECK-NEXT: [768,   1024,   0,   7,   7]]
  pa.paged_logits queries(%q : memref<1x2x16x64xf8E4M3FN>)
    keys(%keys : memref<3x1x64xf8E4M3FN>) key_scales(%scales : memref<3x1xf32>)
    weights(%weights : memref<2x16xf32>) block_table(%table : memref<1x5xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<2x5xf32>)
  func.call @printMemrefF32(%any) : (memref<*xf32>) -> ()

  // CHECK: sizes = [2, 5]
  // CHECK-NEXT: {{\[\[}}768,   1024,   -inf,   -inf,   -inf],
  // CHECK-NEXT: [768,   1024,   0,   -inf,   -inf]]
  pa.paged_logits queries(%q : memref<1x2x16x64xf8E4M3FN>)
    keys(%keys : memref<3x1x64xf8E4M3FN>) key_scales(%scales : memref<3x1xf32>)
    weights(%weights : memref<2x16xf32>) block_table(%table : memref<1x5xi32>)
    context_lens(%lens : memref<1xi32>) outs(%logits : memref<2x5xf32>)
    {fill = #pa.fill<neg_inf>}
  func.call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  return
}
