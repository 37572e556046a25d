// RUN: pa-opt %s --pa-fuse-indexer="mode=on remarks" -split-input-file -verify-diagnostics | FileCheck %s

// Pairs that do not mean the same as one op, each with its reason.

// CHECK-LABEL: func @argument
// CHECK-NOT: pa.indexer
func.func @argument(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>, %logits: memref<2x1000xf32>) {
  
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the logits are no local allocation}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @another_reader
// CHECK-NOT: pa.indexer
func.func @another_reader(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the logits have another user, memref.load}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  %c0 = arith.constant 0 : index
  %x = memref.load %logits[%c0, %c0] : memref<2x1000xf32>
  return
}

// -----

// CHECK-LABEL: func @other_lengths
// CHECK-NOT: pa.indexer
func.func @other_lengths(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the context_lens are not the same value}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens2 : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @other_next_n
// CHECK-NOT: pa.indexer
func.func @other_next_n(%q: memref<2x2x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<4xi32>, %indices: memref<4x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<4x64xf32>, %table: memref<2x16xi32>, %lens4: memref<4xi32>) {
  %logits = memref.alloc() : memref<4x1000xf32>
  pa.paged_logits queries(%q : memref<2x2x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<4x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<4x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the context_lens are not the same value}}
  pa.topk values(%logits : memref<4x1000xf32>) context_lens(%lens4 : memref<4xi32>)
    outs(%indices : memref<4x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @row_starts
// CHECK-NOT: pa.indexer
func.func @row_starts(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the top-k has row starts}}
  pa.topk values(%logits : memref<2x1000xf32>) row_starts(%ends : memref<2xi32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @all_columns
// CHECK-NOT: pa.indexer
func.func @all_columns(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>) {fill = #pa.fill<neg_inf>}
  // expected-remark @below {{not fused with its pa.paged_logits: the top-k reads all columns, not those before the row ends}}
  pa.topk values(%logits : memref<2x1000xf32>) 
    outs(%indices : memref<2x8xi32>)
  return
}

// -----

// CHECK-LABEL: func @ends_and_lengths
// CHECK-NOT: pa.indexer
func.func @ends_and_lengths(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) row_ends(%ends : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the logits end at row_ends, the top-k at context_lens}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @lengths_and_ends
// CHECK-NOT: pa.indexer
func.func @lengths_and_ends(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: the row_ends are not the same value}}
  pa.topk values(%logits : memref<2x1000xf32>) row_ends(%ends : memref<2xi32>)
    outs(%indices : memref<2x8xi32>)
  return
}

// -----

// CHECK-LABEL: func @fill_after_context
// CHECK-NOT: pa.indexer
func.func @fill_after_context(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) row_ends(%ends : memref<2xi32>) outs(%logits : memref<2x1000xf32>) {fill = #pa.fill<neg_inf>}
  // expected-remark @below {{not fused with its pa.paged_logits: row_ends after the context would select the -inf of the fill}}
  pa.topk values(%logits : memref<2x1000xf32>) row_ends(%ends : memref<2xi32>)
    outs(%indices : memref<2x8xi32>)
  return
}

// -----

// CHECK-LABEL: func @fill_after_table
// CHECK-NOT: pa.indexer
func.func @fill_after_table(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x15xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x15xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>) {fill = #pa.fill<neg_inf>}
  // expected-remark @below {{not fused with its pa.paged_logits: columns after the block table would select the -inf of the fill}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @config
// CHECK-NOT: pa.indexer
func.func @config(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: one of the ops has a config}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64,
     config = #pa.topk_config<waves = 8, loads = 4, candidates = 2048, splits = 1>}
  return
}

// -----

// CHECK-LABEL: func @write_between
// CHECK-NOT: pa.indexer
func.func @write_between(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  memref.copy %lens2, %lens : memref<2xi32> to memref<2xi32>
  // expected-remark @below {{not fused with its pa.paged_logits: what they read may change between them, in memref.copy}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

func.func private @other()

// CHECK-LABEL: func @call_between
// CHECK-NOT: pa.indexer
func.func @call_between(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %lens2: memref<2xi32>,
    %ends: memref<2xi32>, %indices: memref<2x8xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  func.call @other() : () -> ()
  // expected-remark @below {{not fused with its pa.paged_logits: what they read may change between them, in func.call}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>) {next_n = 1 : i64}
  return
}

// -----

// Unfused, the top-k writes when all logits have been read.
// CHECK-LABEL: func @output_is_table
// CHECK-NOT: pa.indexer
func.func @output_is_table(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: indices is memory of block_table, which the logits read before it is written}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%table : memref<2x16xi32>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @output_is_view_of_weights
// CHECK-NOT: pa.indexer
func.func @output_is_view_of_weights(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>, %indices: memref<2x8xi32>) {
  %logits = memref.alloc() : memref<2x1000xf32>
  %values = memref.subview %w[0, 8] [2, 8] [1, 1] : memref<2x64xf32> to memref<2x8xf32, strided<[64, 1], offset: 8>>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: top_values is memory of weights}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%indices : memref<2x8xi32>, %values : memref<2x8xf32, strided<[64, 1], offset: 8>>) {next_n = 1 : i64}
  return
}

// -----

// CHECK-LABEL: func @output_from_anywhere
// CHECK-NOT: pa.indexer
func.func @output_from_anywhere(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>, %a: memref<2x16xi32>, %b: i1) {
  %logits = memref.alloc() : memref<2x1000xf32>
  %out = arith.select %b, %a, %table : memref<2x16xi32>
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
  // expected-remark @below {{not fused with its pa.paged_logits: indices may be, by what is known of it, memory of}}
  pa.topk values(%logits : memref<2x1000xf32>) context_lens(%lens : memref<2xi32>)
    outs(%out : memref<2x16xi32>) {next_n = 1 : i64}
  return
}

// -----

// Behind the context the logits of the iteration before are left.
// CHECK-LABEL: func @logits_of_another_iteration
// CHECK-NOT: pa.indexer
func.func @logits_of_another_iteration(%q: memref<2x1x64x128xf8E4M3FN>, %lens: memref<2xi32>, %ends: memref<2xi32>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x16xi32>, %indices: memref<2x8xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %logits = memref.alloc() : memref<2x1000xf32>
  scf.for %i = %c0 to %n step %c1 {
    pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
      keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
      weights(%w : memref<2x64xf32>) block_table(%table : memref<2x16xi32>)
      context_lens(%lens : memref<2xi32>) row_ends(%ends : memref<2xi32>) outs(%logits : memref<2x1000xf32>)
    // expected-remark @below {{not fused with its pa.paged_logits: the logits are allocated in another block, and what they hold behind the context may be read}}
    pa.topk values(%logits : memref<2x1000xf32>) row_ends(%ends : memref<2xi32>)
      outs(%indices : memref<2x8xi32>)
  }
  return
}
