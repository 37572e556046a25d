// RUN: pa-opt %S/configure-indexer.mlir --pa-set-target=chip=gfx950 --pa-configure --pa-tile | FileCheck %s
// RUN: pa-opt %S/configure-indexer.mlir --pa-lower-to-gpu=chip=gfx1250 | FileCheck %s --check-prefix=DMA

// One launch where one workgroup has the whole context of a sequence: for each
// group of rows in z.
// CHECK-LABEL: func @four_rows
// CHECK: gpu.launch_func  @indexer_fp8_n4_h128_d128_p64_linear_k2048_by_index::
// CHECK-SAME: blocks in (%c1{{[_0-9]*}}, %c256{{[_0-9]*}}, %c2{{[_0-9]*}}) threads in (%c512{{[_0-9]*}},

// The launch chooses where sizes are not known; what the splits found is freed
// after the merge.
// CHECK-LABEL: func @one_row
// CHECK: arith.maxsi
// CHECK: %[[SPLITS:.*]] = arith.maxui
// CHECK: %[[IS_SPLIT:.*]] = arith.cmpi ugt, %[[SPLITS]], %{{.*}}
// CHECK: scf.if %[[IS_SPLIT]]
// CHECK-COUNT-3: gpu.alloc  host_shared
// CHECK: gpu.launch_func  @indexer_split_fp8_n1_h64_d128_p64_linear_k512_by_index::
// CHECK: gpu.launch_func  @indexer_merge_k512_by_index::
// CHECK-COUNT-3: gpu.dealloc async
// CHECK: } else {
// CHECK: gpu.launch_func  @indexer_fp8_n1_h64_d128_p64_linear_k512_by_index::

// Candidates of two rows, then what selects among them; a round scores twice.
// CHECK: gpu.func @indexer_fp8_n4
// CHECK-SAME: memref<2x7168x2xi32, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 512, 1, 1>
// CHECK: pa.mma mfma_f32_16x16x128_fp8
// CHECK: pa.group_sum
// CHECK: amdgpu.lds_barrier
// CHECK-NOT: pa.mma
// CHECK: gpu.func @indexer_

// DMA: amdgpu.tensor_load_to_lds
// DMA: pa.mma wmma_f32_16x16x128_fp8
