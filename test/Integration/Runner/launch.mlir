// Host code with gpu.launch_func runs under the stock runner: device memory
// with copies and a fill, and host memory that the kernel sees at its own
// address.
//
// RUN: mkdir -p %t/llvm/bin %t/amdgcn/bitcode
// RUN: ln -sf %mlir_lib/../bin/ld.lld %t/llvm/bin/ld.lld
// RUN: sed 's/CHIP/gfx942/' %s | mlir-opt-22 -pass-pipeline='builtin.module(gpu.module(convert-gpu-to-rocdl{chipset=gfx942 runtime=HIP},reconcile-unrealized-casts),gpu-to-llvm,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,gpu-module-to-binary{format=binary toolkit=%t})' \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void --shared-libs=%pa_emu_runtime --shared-libs=%mlir_lib/libmlir_c_runner_utils.so --shared-libs=%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s
// RUN: sed 's/CHIP/gfx950/' %s | mlir-opt-22 -pass-pipeline='builtin.module(gpu.module(convert-gpu-to-rocdl{chipset=gfx950 runtime=HIP},reconcile-unrealized-casts),gpu-to-llvm,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,gpu-module-to-binary{format=binary toolkit=%t})' \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void --shared-libs=%pa_emu_runtime --shared-libs=%mlir_lib/libmlir_c_runner_utils.so --shared-libs=%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s
// RUN: sed 's/CHIP/gfx1250/' %s | mlir-opt-22 -pass-pipeline='builtin.module(gpu.module(convert-gpu-to-rocdl{chipset=gfx1250 runtime=HIP},reconcile-unrealized-casts),gpu-to-llvm,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,gpu-module-to-binary{format=binary toolkit=%t})' \
// RUN:   | mlir-runner-22 -e main --entry-point-result=void --shared-libs=%pa_emu_runtime --shared-libs=%mlir_lib/libmlir_c_runner_utils.so --shared-libs=%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels [#rocdl.target<chip = "CHIP">] {
    gpu.func @axpy(%x: memref<?xf32>, %y: memref<?xf32>, %a: f32, %n: index) kernel {
      %b = gpu.block_id x
      %d = arith.constant 64 : index
      %t = gpu.thread_id x
      %first = arith.muli %b, %d : index
      %i = arith.addi %first, %t : index
      %inside = arith.cmpi slt, %i, %n : index
      cf.cond_br %inside, ^body, ^end
    ^body:
      %xi = memref.load %x[%i] : memref<?xf32>
      %yi = memref.load %y[%i] : memref<?xf32>
      %p = arith.mulf %a, %xi : f32
      %s = arith.addf %p, %yi : f32
      memref.store %s, %y[%i] : memref<?xf32>
      cf.br ^end
    ^end:
      gpu.return
    }
  }

  func.func private @printMemrefF32(memref<*xf32>)

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %n = arith.constant 150 : index
    %two = arith.constant 2.0 : f32
    %ten = arith.constant 10.0 : f32
    %half = arith.constant 0.5 : f32

    %x = memref.alloc(%n) : memref<?xf32>
    %out = memref.alloc(%n) : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %i32 = arith.index_cast %i : index to i32
      %v = arith.sitofp %i32 : i32 to f32
      memref.store %v, %x[%i] : memref<?xf32>
      memref.store %half, %out[%i] : memref<?xf32>
    }

    // y = 10 on the device, then y = 2 x + y.
    %t0 = gpu.wait async
    %dx, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %dy, %t2 = gpu.alloc async [%t1] (%n) : memref<?xf32>
    %t3 = gpu.memcpy async [%t2] %dx, %x : memref<?xf32>, memref<?xf32>
    %t4 = gpu.memset async [%t3] %dy, %ten : memref<?xf32>, f32
    %t5 = gpu.launch_func async [%t4] @kernels::@axpy blocks in (%c3, %c1, %c1) threads in (%c64, %c1, %c1) args(%dx : memref<?xf32>, %dy : memref<?xf32>, %two : f32, %n : index)
    %t6 = gpu.memcpy async [%t5] %x, %dy : memref<?xf32>, memref<?xf32>
    %t7 = gpu.dealloc async [%t6] %dx : memref<?xf32>
    %t8 = gpu.dealloc async [%t7] %dy : memref<?xf32>
    gpu.wait [%t8]

    // out = x + out, both in host memory.
    %ux = memref.cast %x : memref<?xf32> to memref<*xf32>
    %uo = memref.cast %out : memref<?xf32> to memref<*xf32>
    gpu.host_register %ux : memref<*xf32>
    gpu.host_register %uo : memref<*xf32>
    %one = arith.constant 1.0 : f32
    gpu.launch_func @kernels::@axpy blocks in (%c3, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<?xf32>, %out : memref<?xf32>, %one : f32, %n : index)
    gpu.host_unregister %ux : memref<*xf32>
    gpu.host_unregister %uo : memref<*xf32>

    // CHECK: sizes = [150]
    // CHECK: [10.5, 12.5, 14.5,
    // CHECK-SAME: 304.5, 306.5, 308.5]
    func.call @printMemrefF32(%uo) : (memref<*xf32>) -> ()
    memref.dealloc %x : memref<?xf32>
    memref.dealloc %out : memref<?xf32>
    return
  }
}
