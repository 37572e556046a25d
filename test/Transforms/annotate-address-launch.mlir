// The launches of a kernel in the module bound its ids.
// RUN: pa-opt %s --pa-annotate-address-form | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @m {
    // The greatest of the two launches.
    // CHECK-LABEL: gpu.func @both
    // CHECK: #pa.address<narrow, max_offset = 65536, "offset is 0 to 65532">
    gpu.func @both(%m: memref<?x1024xf32>, %v: f32) kernel {
      %b = gpu.block_id x
      %t = gpu.thread_id x
      memref.store %v, %m[%b, %t] : memref<?x1024xf32>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @one_unknown
    // CHECK: #pa.address<rebase, max_offset = 4096,
    gpu.func @one_unknown(%m: memref<?x1024xf32>, %v: f32) kernel {
      %b = gpu.block_id x
      %t = gpu.thread_id x
      memref.store %v, %m[%b, %t] : memref<?x1024xf32>
      gpu.return
    }
    // Who reads the manifest may choose another number of splits.
    // CHECK-LABEL: gpu.func @scalar
    // CHECK: #pa.address<rebase, max_offset = 4,
    // CHECK: #pa.address<narrow, max_offset = 12292,
    gpu.func @scalar(%m: memref<?x1024xf32>, %v: f32) kernel attributes {pa.kernel = {grid = ["2 * splits", "B", "1"], scalars = {splits = "8"}}} {
      %x = gpu.block_id x
      %y = gpu.block_id y
      %c0 = arith.constant 0 : index
      memref.store %v, %m[%x, %c0] : memref<?x1024xf32>
      memref.store %v, %m[%y, %c0] : memref<?x1024xf32>
      gpu.return
    }
  }
  func.func @main(%m: memref<?x1024xf32>, %v: f32, %n: index) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c1024 = arith.constant 1024 : index
    gpu.launch_func @m::@both blocks in (%c4, %c1, %c1) threads in (%c1024, %c1, %c1) args(%m : memref<?x1024xf32>, %v : f32)
    gpu.launch_func @m::@both blocks in (%c16, %c1, %c1) threads in (%c16, %c1, %c1) args(%m : memref<?x1024xf32>, %v : f32)
    gpu.launch_func @m::@one_unknown blocks in (%c4, %c1, %c1) threads in (%c1024, %c1, %c1) args(%m : memref<?x1024xf32>, %v : f32)
    gpu.launch_func @m::@one_unknown blocks in (%n, %c1, %c1) threads in (%c1024, %c1, %c1) args(%m : memref<?x1024xf32>, %v : f32)
    gpu.launch_func @m::@scalar blocks in (%c16, %c4, %c1) threads in (%c1, %c1, %c1) args(%m : memref<?x1024xf32>, %v : f32)
    return
  }
}
