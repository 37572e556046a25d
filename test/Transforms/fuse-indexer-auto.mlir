// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx950},pa-fuse-indexer{remarks})" -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not pa-opt %s --pa-fuse-indexer -split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-lower-to-gpu{chip=gfx950 fuse-indexer=off})" -split-input-file | FileCheck %s --check-prefix=OFF

// TARGET: error: 'pa.topk' op is in a module without a target, run pa-set-target first
// OFF-NOT: gpu.func @indexer

// Enough sequences to fill the chip.
// CHECK-LABEL: func @many_sequences
// CHECK: pa.indexer
func.func @many_sequences(%q: memref<256x1x64x128xf8E4M3FN>, %lens: memref<256xi32>,
    %indices: memref<256x2048xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<256x64xf32>, %table: memref<256x256xi32>) {
  %logits = memref.alloc() : memref<256x16384xf32>
  pa.paged_logits queries(%q : memref<256x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<256x64xf32>) block_table(%table : memref<256x256xi32>)
    context_lens(%lens : memref<256xi32>) outs(%logits : memref<256x16384xf32>)
  // expected-remark-re @below {{fused with its pa.paged_logits: 64 columns of a sequence take {{[0-9]+}} cycles of a compute unit fused and {{[0-9]+}} as two ops; 256 workgroups (1 row groups, 1 splits) keep 100 % of gfx950 busy}}
  pa.topk values(%logits : memref<256x16384xf32>) context_lens(%lens : memref<256xi32>)
    outs(%indices : memref<256x2048xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @few_sequences
// CHECK-NOT: pa.indexer
func.func @few_sequences(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>,
    %indices: memref<2x2048xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x256xi32>) {
  %logits = memref.alloc() : memref<2x16384xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x256xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x16384xf32>)
  // expected-remark-re @below {{not fused with its pa.paged_logits: 64 columns {{.*}}; 2 workgroups (1 row groups, 1 splits) keep 1 % of gfx950 busy}}
  pa.topk values(%logits : memref<2x16384xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x2048xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @sizes_of_the_launch
// CHECK-NOT: pa.indexer
func.func @sizes_of_the_launch(%c: index, %q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>,
    %indices: memref<2x2048xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x256xi32>) {
  %logits = memref.alloc(%c) : memref<2x?xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x256xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x?xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the number of sequences or of columns is not known}}
  pa.topk values(%logits : memref<2x?xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x2048xi32>) {next_n = 1 : i64}
  return
}

