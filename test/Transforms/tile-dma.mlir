// RUN: rm -rf %t && mkdir -p %t
// RUN: sed -e 's/xPx/x8x/g' -e 's/LAYOUT/tiled/' %s > %t/p8.mlir
// RUN: sed -e 's/xPx/x16x/g' -e 's/LAYOUT/linear/' %s > %t/p16.mlir
// RUN: sed -e 's/xPx/x64x/g' -e 's/LAYOUT/linear/' %s > %t/p64.mlir
// RUN: pa-opt %t/p8.mlir --pa-set-target=chip=gfx1250 --pa-configure --pa-tile | FileCheck %s --check-prefix=TILED
// RUN: pa-opt %t/p64.mlir --pa-set-target=chip=gfx1250 --pa-configure --pa-tile | FileCheck %s --check-prefix=LINEAR
// RUN: pa-opt %t/p64.mlir --pa-set-target=chip=gfx950 --pa-configure --pa-tile | FileCheck %s --check-prefix=OTHER
// RUN: pa-compile %t/p8.mlir --chip=gfx1250 --emit=s -o %t/p8
// RUN: FileCheck %s --check-prefix=ISA8 --input-file=%t/p8/paged_logits_fp8_n1_h64_d128_p8_tiled.gfx1250.s
// RUN: pa-compile %t/p16.mlir --chip=gfx1250 --emit=s -o %t/p16
// RUN: FileCheck %s --check-prefix=ISA16 --input-file=%t/p16/paged_logits_fp8_n1_h64_d128_p16_linear.gfx1250.s
// RUN: pa-compile %t/p64.mlir --chip=gfx1250 --emit=s -o %t/p64
// RUN: FileCheck %s --check-prefix=ISA64 --input-file=%t/p64/paged_logits_fp8_n1_h64_d128_p64_linear.gfx1250.s
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/p8/manifest.json

// A chip with tensor DMA has the keys of two steps of each wave in LDS. A page of
// 8 tokens is a copy of its own.

// TILED: workgroup(%[[KEYS:[^ ]*]] : memref<4x2x4096xf8E4M3FN, #gpu.address_space<workgroup>>
// TILED: scf.for
// TILED-COUNT-4: amdgpu.make_dma_descriptor {{.*}} globalStride [1024, 1] sharedSize [1, 1024]
// TILED: scf.for
// TILED-COUNT-4: amdgpu.tensor_load_to_lds
// TILED-NOT: amdgpu.tensor_load_to_lds
// TILED: amdgpu.memory_counter_wait tensor(4)
// TILED-NEXT: llvm.fence syncscope("singlethread") acq_rel
// TILED: vector.load %[[KEYS]]
// TILED: pa.mma
// TILED: amdgpu.memory_counter_wait tensor(0)
// TILED: pa.mma

// Rows of 128 bytes lie 144 bytes apart.
// LINEAR: memref<4x2x4608xf8E4M3FN, #gpu.address_space<workgroup>>
// LINEAR: make_dma_descriptor {{.*}} globalStride [128, 1] sharedSize [32, 128] padShared(%{{.*}} every %{{.*}})
// LINEAR: memory_counter_wait tensor(1)

// OTHER-NOT: tensor_load_to_lds

// In the loop and before it as many copies as a step has pages, and a wait that
// leaves those of the next step under way.
// ISA8-COUNT-4: tensor_load_to_lds
// ISA8-COUNT-4: tensor_load_to_lds
// ISA8-NOT: tensor_load_to_lds
// ISA8: s_wait_tensorcnt 0x4
// ISA8: ds_load_b128
// ISA8: v_wmma_f32_16x16x128_fp8_fp8
// ISA8: s_wait_tensorcnt 0x0
// ISA8: .sgpr_spill_count: 0
// ISA8: .vgpr_spill_count: 0

// The backend has the last step before the loop.
// ISA16-COUNT-2: tensor_load_to_lds
// ISA16-NOT: tensor_load_to_lds
// ISA16: s_wait_tensorcnt 0x0
// ISA16-COUNT-2: tensor_load_to_lds
// ISA16-NOT: tensor_load_to_lds
// ISA16: s_wait_tensorcnt 0x2
// ISA16: .sgpr_spill_count: 0

// ISA64-COUNT-2: tensor_load_to_lds
// ISA64-NOT: tensor_load_to_lds
// ISA64: s_wait_tensorcnt 0x1
// ISA64: s_wait_tensorcnt 0x0
// ISA64: .sgpr_spill_count: 0

// MANIFEST: "accesses"
// MANIFEST: "count": 8,
// MANIFEST-NEXT: "form": "rebase",
// MANIFEST-NEXT: "kind": "load",
// MANIFEST-NEXT: "max_offset": 1,
// MANIFEST-NEXT: "operand": "keys",
// MANIFEST-NEXT: "reason": "the wave has one 64-bit base"

func.func @f(%q: memref<?x1x64x128xf8E4M3FN>, %keys: memref<?xPx128xf8E4M3FN>,
             %scales: memref<?xPxf32>, %w: memref<?x64xf32>, %table: memref<?x?xi32>,
             %lens: memref<?xi32>, %logits: memref<?x?xf32>) {
  pa.paged_logits queries(%q : memref<?x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?xPx128xf8E4M3FN>) key_scales(%scales : memref<?xPxf32>)
    weights(%w : memref<?x64xf32>) block_table(%table : memref<?x?xi32>)
    context_lens(%lens : memref<?xi32>) outs(%logits : memref<?x?xf32>) {layout = #pa.layout<LAYOUT>}
  return
}
