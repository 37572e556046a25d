// RUN: pa-opt %s --pa-annotate-address-form | FileCheck %s

// A ballot is the same in all lanes, a count of the lanes below is not, although
// its mask is.
gpu.module @m {
  // CHECK-LABEL: gpu.func @wave
  gpu.func @wave(%m: memref<?x8xf32, strided<[?, 1]>>, %bit: i1) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %all = arith.constant -1 : i32
    %mask = rocdl.ballot %bit : i32
    %row = arith.index_cast %mask : i32 to index
    // CHECK: memref.load {{.*}}#pa.address<rebase
    %x = memref.load %m[%row, %c0] : memref<?x8xf32, strided<[?, 1]>>
    %below = rocdl.mbcnt.lo %all, %zero : (i32, i32) -> i32
    %lane = arith.index_cast %below : i32 to index
    // CHECK: memref.store {{.*}}#pa.address<global
    memref.store %x, %m[%lane, %c0] : memref<?x8xf32, strided<[?, 1]>>
    gpu.return
  }
}
