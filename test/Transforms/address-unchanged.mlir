// Where everything is proven narrow, the code with the passes is that without
// them, byte for byte.
// RUN: pa-opt %s --pass-pipeline='builtin.module(pa-set-target{chip=gfx942},pa-annotate-address-form{require=narrow},pa-widen-addresses,pa-verify-addresses,gpu.module(expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx942},convert-gpu-to-rocdl{chipset=gfx942 runtime=HIP},reconcile-unrealized-casts),pa-serialize)' > %t.with
// RUN: pa-opt %s --pass-pipeline='builtin.module(pa-set-target{chip=gfx942},gpu.module(expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx942},convert-gpu-to-rocdl{chipset=gfx942 runtime=HIP},reconcile-unrealized-casts),pa-serialize)' > %t.without
// RUN: diff %t.with %t.without
// RUN: FileCheck %s < %t.with
// RUN: pa-opt %s --pass-pipeline='builtin.module(pa-set-target{chip=gfx950},pa-annotate-address-form{require=narrow},pa-widen-addresses,pa-verify-addresses,gpu.module(expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx950},convert-gpu-to-rocdl{chipset=gfx950 runtime=HIP},reconcile-unrealized-casts),pa-serialize)' > %t.with
// RUN: pa-opt %s --pass-pipeline='builtin.module(pa-set-target{chip=gfx950},gpu.module(expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx950},convert-gpu-to-rocdl{chipset=gfx950 runtime=HIP},reconcile-unrealized-casts),pa-serialize)' > %t.without
// RUN: diff %t.with %t.without
// RUN: FileCheck %s < %t.with
// RUN: pa-opt %s --pass-pipeline='builtin.module(pa-set-target{chip=gfx1250},pa-annotate-address-form{require=narrow},pa-widen-addresses,pa-verify-addresses,gpu.module(expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx1250},convert-gpu-to-rocdl{chipset=gfx1250 runtime=HIP},reconcile-unrealized-casts),pa-serialize)' > %t.with
// RUN: pa-opt %s --pass-pipeline='builtin.module(pa-set-target{chip=gfx1250},gpu.module(expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx1250},convert-gpu-to-rocdl{chipset=gfx1250 runtime=HIP},reconcile-unrealized-casts),pa-serialize)' > %t.without
// RUN: diff %t.with %t.without
// RUN: FileCheck %s < %t.with

// CHECK: gpu.binary @m

#fat = #amdgpu.address_space<fat_raw_buffer>

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%m: memref<64x64xf32>, %n: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %t = gpu.thread_id x
      %ti = arith.index_castui %t : index to i32
      %in = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<64x64xf32> to memref<64x64xf32, #fat>
      scf.for %i = %c0 to %c64 step %c1 {
        %v = memref.load %in[%i, %t] : memref<64x64xf32, #fat>
        %row = arith.index_castui %i : index to i32
        amdgpu.raw_buffer_store %v -> %n[%row, %ti] : f32 -> memref<64x64xf32>, i32, i32
      }
      gpu.return
    }
  }
}
