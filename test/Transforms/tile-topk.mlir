// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx950},pa-configure)" | FileCheck %s --check-prefix=CONFIG
// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx942},pa-configure)" | FileCheck %s --check-prefix=CONFIG942
// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx950},pa-configure,pa-tile)" | FileCheck %s
// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx1250},pa-configure,pa-tile)" | FileCheck %s --check-prefix=WAVE32
// RUN: pa-opt %s --pa-lower-to-rocdl=chip=gfx942 | FileCheck %s --check-prefix=ROCDL

// CONFIG-LABEL: func @one_workgroup
// Two workgroups of four waves share a compute unit.
// CONFIG: #pa.topk_config<waves = 4, loads = 8, candidates = 8192, splits = 0>
// Fewer candidates where LDS is small.
// CONFIG942-LABEL: func @one_workgroup
// CONFIG942: #pa.topk_config<waves = 8, loads = 8, candidates = 7424, splits = 0>


// The launch chooses among the kernels by the extents.
// CHECK-LABEL: func @one_workgroup
// CHECK: %[[ROWS:.*]] = memref.dim %{{.*}}, %c0
// CHECK: %[[COLUMNS:.*]] = memref.dim %{{.*}}, %c1
// CHECK: arith.minui
// CHECK: arith.minui
// CHECK: %[[SPLITS:.*]] = arith.maxui
// CHECK: %[[IS_SPLIT:.*]] = arith.cmpi ugt, %[[SPLITS]], %{{.*}}
// CHECK: scf.if %[[IS_SPLIT]]
// CHECK: gpu.launch_func  @topk_split_k4096_by_index_rowends::@topk_split_k4096_by_index_rowends
// CHECK-SAME: blocks in (%[[ROWS]], %[[SPLITS]], %{{.*}})
// CHECK: gpu.launch_func  @topk_merge_k4096_by_index_rowends::@topk_merge_k4096_by_index_rowends
// CHECK: } else {
// CHECK: gpu.launch_func  @topk_k4096_by_index_rowends::@topk_k4096_by_index_rowends
// CHECK-SAME: blocks in (%[[ROWS]], %{{.*}}, %{{.*}})
// CHECK-LABEL: func @few_long_rows
// CHECK: %[[VALUES:.*]] = gpu.alloc host_shared (%{{.*}}) : memref<?x32768xf32>
// CHECK: %[[COLUMNS:.*]] = gpu.alloc host_shared (%{{.*}}) : memref<?x32768xi32>
// CHECK: gpu.launch_func  @topk_split_k512_by_value::@topk_split_k512_by_value
// CHECK: gpu.launch_func  @topk_merge_k512_by_value::@topk_merge_k512_by_value
// CHECK: gpu.dealloc async [%{{.*}}] %[[VALUES]]
// CHECK: gpu.dealloc async [%{{.*}}] %[[COLUMNS]]
// CHECK: gpu.func @topk_k4096_by_index_rowends
// CHECK-SAME: workgroup(%[[LDS:[^ ]*]] : memref<8192x2xi32, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: scf.while
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: rocdl.ballot %{{.*}} : i64
// CHECK: memref.atomic_rmw addi
// CHECK: amdgpu.lds_barrier
// CHECK: memref.store {{.*}}, %[[LDS]]
// WAVE32: rocdl.ballot %{{.*}} : i32

// Barriers order LDS, so that its atomics order nothing.
// ROCDL: llvm.atomicrmw add {{.*}} syncscope("workgroup") monotonic : !llvm.ptr<3>
// ROCDL-NOT: acq_rel
func.func @one_workgroup(%v: memref<?x?xf32, strided<[?, 1]>>,
    %e: memref<?xi32>, %i: memref<?x4096xi32>) {
  pa.topk values(%v : memref<?x?xf32, strided<[?, 1]>>)
    row_ends(%e : memref<?xi32>) outs(%i : memref<?x4096xi32>)
  return
}

// Few long rows: a launch for the shares and one that merges them.
// CONFIG-LABEL: func @few_long_rows
// CONFIG: #pa.topk_config<waves = 4, loads = 8, candidates = 4608, splits = 64>
func.func @few_long_rows(%v: memref<4x1048576xf32>, %i: memref<4x512xi32>) {
  pa.topk values(%v : memref<4x1048576xf32>) outs(%i : memref<4x512xi32>)
    {order = #pa.order<by_value>}
  return
}

// As many workgroups as two for each of the 256 compute units have no splits.
// CONFIG-LABEL: func @many_rows
// CONFIG: splits = 2>
// CONFIG: splits = 1>
func.func @many_rows(%v: memref<256x1048576xf32>, %i: memref<256x512xi32>,
    %v1: memref<257x1048576xf32>, %i1: memref<257x512xi32>) {
  pa.topk values(%v : memref<256x1048576xf32>) outs(%i : memref<256x512xi32>)
  pa.topk values(%v1 : memref<257x1048576xf32>) outs(%i1 : memref<257x512xi32>)
  return
}

// CONFIG-LABEL: func @many_short_rows
// CONFIG: #pa.topk_config<waves = 1, loads = 2, candidates = 1024, splits = 1>
// CHECK: gpu.func @topk_wave_k512_by_index
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
func.func @many_short_rows(%v: memref<256x4096xf32>, %i: memref<256x512xi32>) {
  pa.topk values(%v : memref<256x4096xf32>) outs(%i : memref<256x512xi32>)
  return
}

// One column more, one row less than compute units, and more candidates than
// fit the LDS of a compute unit four times.
// CONFIG-LABEL: func @not_for_waves
// CONFIG-COUNT-3: waves = 4
func.func @not_for_waves(%v: memref<256x4097xf32>, %i: memref<256x512xi32>,
    %v1: memref<255x4096xf32>, %i1: memref<255x512xi32>,
    %v2: memref<256x4096xf32>, %i2: memref<256x4096xi32>) {
  pa.topk values(%v : memref<256x4097xf32>) outs(%i : memref<256x512xi32>)
  pa.topk values(%v1 : memref<255x4096xf32>) outs(%i1 : memref<255x512xi32>)
  pa.topk values(%v2 : memref<256x4096xf32>) outs(%i2 : memref<256x4096xi32>)
  return
}
