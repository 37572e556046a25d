// RUN: pa-opt %s --pa-lower-to-loops --canonicalize --cse | FileCheck %s
// RUN: pa-opt %s --pass-pipeline='builtin.module(func.func(pa-lower-to-loops,canonicalize,cse))' | FileCheck %s

// No op of the dialect that has a scalar meaning remains, and no product that
// becomes an address is narrower than an index.
// RUN: pa-opt %s --pa-lower-to-loops \
// RUN:   | FileCheck %s --implicit-check-not=pa.paged_logits \
// RUN:       --implicit-check-not=pa.topk --implicit-check-not=pa.grouped_gemm \
// RUN:       --implicit-check-not="arith.muli {{.*}} i32" --check-prefix=NONE
// NONE: func.func @logits_tiled

// CHECK-LABEL: func @logits_tiled(
// CHECK-SAME: %[[Q:[^:]*]]: memref<2x4x64x128xf8E4M3FN>, %[[KEYS:[^:]*]]: memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>
// CHECK-SAME: %[[SCALES:[^:]*]]: memref<?x64xf32, strided<[2112, 1], offset: 2048>>
// CHECK-SAME: %[[W:[^:]*]]: memref<8x64xf32>, %[[TABLE:[^:]*]]: memref<2x12xi32>, %[[LENS:[^:]*]]: memref<2xi32>, %[[LOGITS:[^:]*]]: memref<8x1024xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// The table has 12 * 64 columns, fewer than the logits.
// CHECK-DAG: %[[C768:.*]] = arith.constant 768 : index
// CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : index
// CHECK: scf.for %[[B:.*]] = %[[C0]]
// CHECK: %[[LEN:.*]] = memref.load %[[LENS]][%[[B]]]
// CHECK: %[[CONTEXT:.*]] = arith.index_cast %[[LEN]] : i32 to index
// CHECK: %[[LIMIT:.*]] = arith.minsi %[[CONTEXT]], %[[C768]] : index
// CHECK: scf.for %[[I:.*]] = %[[C0]]
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[I]] : index
// CHECK: %[[LEAST:.*]] = arith.minsi %{{.*}}, %[[LIMIT]] : index
// CHECK: %[[END:.*]] = arith.maxsi %[[LEAST]], %[[C0]] : index
// CHECK: scf.for %[[C:.*]] = %[[C0]] to %[[END]] step %[[C1]]
// CHECK: %[[ENTRY:.*]] = arith.divui %[[C]], %[[C64]]
// CHECK: %[[ID:.*]] = memref.load %[[TABLE]][%[[B]], %[[ENTRY]]]
// CHECK: %[[PAGE:.*]] = arith.index_castui %[[ID]] : i32 to index
// CHECK: %[[SLOT:.*]] = arith.remui %[[C]], %[[C64]]
// CHECK: %[[SUM:.*]] = scf.for %[[H:.*]] = %[[C0]] to %[[C64]]
// CHECK: %[[DOT:.*]] = scf.for
// CHECK: memref.load %[[Q]][%[[B]], %[[I]], %[[H]],
// CHECK: arith.bitcast %{{.*}} : f8E4M3FN to i8
// CHECK: memref.load %[[KEYS]][%[[PAGE]],
// CHECK: %[[POSITIVE:.*]] = arith.maximumf %[[DOT]],
// CHECK: %[[WEIGHT:.*]] = memref.load %[[W]][%[[ROW]], %[[H]]]
// CHECK: arith.mulf %[[WEIGHT]], %[[POSITIVE]]
// The key scale comes once, after the sum over the heads.
// CHECK: %[[SCALE:.*]] = memref.load %[[SCALES]][%[[PAGE]], %[[SLOT]]]
// CHECK: %[[LOGIT:.*]] = arith.mulf %[[SCALE]], %[[SUM]]
// CHECK: memref.store %[[LOGIT]], %[[LOGITS]][%[[ROW]], %[[C]]]
// CHECK: scf.for %[[FILLED:.*]] = %[[END]] to %[[C1024]]
// CHECK: memref.store %[[INF]], %[[LOGITS]][%[[ROW]], %[[FILLED]]]
func.func @logits_tiled(%q: memref<2x4x64x128xf8E4M3FN>,
    %keys: memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>,
    %scales: memref<?x64xf32, strided<[2112, 1], offset: 2048>>,
    %w: memref<8x64xf32>, %table: memref<2x12xi32>, %lens: memref<2xi32>,
    %logits: memref<8x1024xf32>) {
  pa.paged_logits queries(%q : memref<2x4x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>)
    key_scales(%scales : memref<?x64xf32, strided<[2112, 1], offset: 2048>>)
    weights(%w : memref<8x64xf32>) block_table(%table : memref<2x12xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<8x1024xf32>)
    {layout = #pa.layout<tiled>, fill = #pa.fill<neg_inf>}
  return
}

// Given row ends replace those of the context, which still bounds them. Without
// a fill nothing is written after the end. Mxfp4 scales multiply each block.
// CHECK-LABEL: func @logits_mxfp4(
// CHECK-SAME: %[[ENDS:[^:]*]]: memref<?xi32>, %[[OUT:[^:]*]]: memref<?x?xf32>)
// CHECK-NOT: 0xFF800000
// CHECK: memref.load %[[ENDS]]
// CHECK: arith.minsi
// CHECK: arith.maximumf
// CHECK-NOT: memref.store
// CHECK: memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT: memref.store
// CHECK: return
func.func @logits_mxfp4(%q: memref<?x1x16x32xi8>, %qs: memref<?x1x16x2xf8E8M0FNU>,
    %keys: memref<?x16x32xi8>, %scales: memref<?x16x2xi8>, %w: memref<?x16xf32>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %ends: memref<?xi32>,
    %logits: memref<?x?xf32>) {
  pa.paged_logits queries(%q : memref<?x1x16x32xi8>)
    query_scales(%qs : memref<?x1x16x2xf8E8M0FNU>)
    keys(%keys : memref<?x16x32xi8>) key_scales(%scales : memref<?x16x2xi8>)
    weights(%w : memref<?x16xf32>) block_table(%table : memref<?x?xi32>)
    context_lens(%lens : memref<?xi32>) row_ends(%ends : memref<?xi32>)
    outs(%logits : memref<?x?xf32>) {format = #pa.key_format<mxfp4>}
  return
}

// CHECK-LABEL: func @topk(
// CHECK-SAME: %[[VALUES:[^:]*]]: memref<?x?xf32>, %[[INDICES:[^:]*]]: memref<?x8xi32>
// CHECK: scf.for %[[ROW:[^ ]*]] =
// 32 bits of the key of the last selected column, the highest first.
// CHECK: scf.for %{{.*}} to %c32
// CHECK: arith.shrui %c-2147483648_i32
// CHECK: memref.load %[[VALUES]][%[[ROW]],
// CHECK: arith.cmpi uge
// CHECK-NOT: scf.while
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[INDICES]][%[[ROW]],
// CHECK: memref.store %c-1_i32, %[[INDICES]][%[[ROW]],
// CHECK-NOT: scf.while
// CHECK: return
func.func @topk(%values: memref<?x?xf32>, %indices: memref<?x8xi32>) {
  pa.topk values(%values : memref<?x?xf32>) outs(%indices : memref<?x8xi32>)
  return
}

// CHECK-LABEL: func @topk_by_value(
// CHECK-SAME: %[[BEST:[^:]*]]: memref<?x8xf32>)
// CHECK: memref.store %c-1_i32
// CHECK: scf.while
// CHECK: arith.cmpi ult
// CHECK: memref.store %{{.*}}, %[[BEST]]
// CHECK: memref.store %cst{{.*}}, %[[BEST]]
func.func @topk_by_value(%values: memref<?x?xf32>, %starts: memref<?xi32>,
    %ends: memref<?xi32>, %indices: memref<?x8xi32>, %best: memref<?x8xf32>) {
  pa.topk values(%values : memref<?x?xf32>) row_starts(%starts : memref<?xi32>)
    row_ends(%ends : memref<?xi32>)
    outs(%indices : memref<?x8xi32>, %best : memref<?x8xf32>)
    {order = #pa.order<by_value>}
  return
}

// Offsets are cut to the rows of C. The two exponents meet before they multiply,
// as an f64, and the pair is one f64 product.
// CHECK-LABEL: func @gemm(
// CHECK-SAME: %[[OFFSETS:[^:]*]]: memref<9xi32>, %[[C:[^:]*]]: memref<?x512xbf16>)
// CHECK: %[[ROWS:.*]] = memref.dim %[[C]], %c0
// CHECK: scf.for %[[E:[^ ]*]] =
// CHECK: memref.load %[[OFFSETS]][%[[E]]]
// CHECK: arith.maxsi
// CHECK: %[[FIRST:.*]] = arith.minsi %{{.*}}, %[[ROWS]] : index
// CHECK: memref.load %[[OFFSETS]]
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[ROWS]] : index
// CHECK: scf.for %[[M:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK: scf.for %{{.*}} = %c0 to %c512
// The whole of K = 640 is 20 blocks of 32.
// CHECK: scf.for %{{.*}} = %c0 to %c20
// CHECK: scf.for %{{.*}} = %c0 to %c32
// CHECK: %[[BITS:.*]] = arith.shli %{{.*}} : i64
// CHECK: arith.bitcast %[[BITS]] : i64 to f64
// CHECK: arith.mulf %{{.*}} : f64
// CHECK-NOT: arith.mulf %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: math.exp
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
// CHECK: memref.store %{{.*}}, %[[C]][%[[M]],
func.func @gemm(%a: memref<?x640xf8E4M3FN>, %sa: memref<?x20xi8>,
    %b: memref<8x1024x320xi8>, %sb: memref<8x1024x20xi8>, %offsets: memref<9xi32>,
    %c: memref<?x512xbf16>) {
  pa.grouped_gemm a(%a : memref<?x640xf8E4M3FN>) a_scales(%sa : memref<?x20xi8>)
    b(%b : memref<8x1024x320xi8>) b_scales(%sb : memref<8x1024x20xi8>)
    offsets(%offsets : memref<9xi32>) outs(%c : memref<?x512xbf16>)
    {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
     b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
  return
}

// A block of 32 columns waits until its scale is known.
// CHECK-LABEL: func @gemm_requantised(
// CHECK-SAME: %[[C:[^:]*]]: memref<4x32xi8>, %[[CS:[^:]*]]: memref<4x2xi8>)
// CHECK: %[[BLOCK:.*]] = memref.alloc() : memref<32xf32>
// CHECK: memref.store %{{.*}}, %[[BLOCK]]
// CHECK: arith.maxui
// CHECK: memref.store %{{.*}}, %[[CS]]
// CHECK: scf.for %{{.*}} = %c0 to %c16
// CHECK: memref.load %[[BLOCK]]
// CHECK: memref.store %{{.*}}, %[[C]]
// CHECK: memref.dealloc %[[BLOCK]]
func.func @gemm_requantised(%a: memref<4x64xbf16>, %b: memref<1x64x64xbf16>,
    %c: memref<4x32xi8>, %cs: memref<4x2xi8>) {
  pa.grouped_gemm a(%a : memref<4x64xbf16>) b(%b : memref<1x64x64xbf16>)
    outs(%c : memref<4x32xi8>, %cs : memref<4x2xi8>)
    {format = #pa.gemm_format<bf16>}
  return
}

// A row id outside of A leaves its row alone.
// CHECK-LABEL: func @gemm_row_ids(
// CHECK-SAME: %[[IDS:[^:]*]]: memref<4xi32>
// CHECK: memref.load %[[IDS]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c9
// CHECK: scf.if %[[INSIDE]]
func.func @gemm_row_ids(%a: memref<9x64xf16>, %b: memref<1x64x64xf16>,
    %ids: memref<4xi32>, %c: memref<4x64xf16>) {
  pa.grouped_gemm a(%a : memref<9x64xf16>) b(%b : memref<1x64x64xf16>)
    row_ids(%ids : memref<4xi32>) outs(%c : memref<4x64xf16>)
    {format = #pa.gemm_format<f16>}
  return
}

// What has no scalar meaning of ours is left alone.
// CHECK-LABEL: func @others(
// CHECK: pa.assume
// CHECK: linalg.fill
func.func @others(%i: index, %c: memref<4xf32>) -> index {
  %0 = pa.assume %i {min = 0 : i64, max = 7 : i64} : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4xf32>)
  return %0 : index
}
