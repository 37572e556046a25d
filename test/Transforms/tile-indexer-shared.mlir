// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx950},pa-configure,pa-tile)" -verify-diagnostics

// A workgroup would write what others still read.
func.func @output_is_view_of_table(%q: memref<2x1x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN>, %scales: memref<?x64xf32>, %w: memref<2x64xf32>,
    %table: memref<2x16xi32>, %lens: memref<2xi32>) {
  %columns = arith.constant 1000 : index
  %out = memref.subview %table[0, 8] [2, 8] [1, 1] : memref<2x16xi32> to memref<2x8xi32, strided<[16, 1], offset: 8>>
  // expected-error @below {{'pa.indexer' op indices must not share memory with an input, found a view of the memory of block_table}}
  pa.indexer queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) columns(%columns)
    outs(%out : memref<2x8xi32, strided<[16, 1], offset: 8>>)
  return
}
