// A kernel that leaves its memory ends the host program with the exit status
// and the message of the emulator: the pointer is host memory that nobody
// registered.
//
// RUN: mkdir -p %t/llvm/bin %t/amdgcn/bitcode
// RUN: ln -sf %mlir_lib/../bin/ld.lld %t/llvm/bin/ld.lld
// RUN: mlir-opt-22 %s -pass-pipeline='builtin.module(gpu.module(convert-gpu-to-rocdl{chipset=gfx950 runtime=HIP},reconcile-unrealized-casts),gpu-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,gpu-module-to-binary{format=binary toolkit=%t})' -o %t/binary.mlir
// RUN: %python %S/../Diagnostics/Inputs/status.py 3 mlir-runner-22 %t/binary.mlir -e main --entry-point-result=void --shared-libs=%pa_emu_runtime 2> %t/text.txt
// RUN: FileCheck %s --input-file=%t/text.txt
// RUN: env PAGEDATTN_EMU_REPORT=json PAGEDATTN_EMU_STATS=%t/stats.json %python %S/../Diagnostics/Inputs/status.py 3 mlir-runner-22 %t/binary.mlir -e main --entry-point-result=void --shared-libs=%pa_emu_runtime 2> %t/json.txt
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/json.txt
// RUN: FileCheck %s --check-prefix=STATS --input-file=%t/stats.json
// RUN: env PAGEDATTN_EMU_REPORT=yaml %python %S/../Diagnostics/Inputs/status.py 2 mlir-runner-22 %t/binary.mlir -e main --entry-point-result=void --shared-libs=%pa_emu_runtime 2> %t/usage.txt
// RUN: FileCheck %s --check-prefix=USAGE --input-file=%t/usage.txt
//
// CHECK: error: invalid-access in kernel store at pc
// CHECK: pagedattn emulator: error: {{.*}}store
// JSON: "kernel":"store"{{.*}}"kind":"invalid-access"{{.*}}"status":"invalid-access"
// STATS: "kernel":"store"
// USAGE: PAGEDATTN_EMU_REPORT: expected text, json or none, found 'yaml'

module attributes {gpu.container_module} {
  gpu.module @kernels [#rocdl.target<chip = "gfx950">] {
    gpu.func @store(%x: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      memref.store %one, %x[%c0] : memref<1xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %x = memref.alloc() : memref<1xf32>
    gpu.launch_func @kernels::@store blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<1xf32>)
    return
  }
}
