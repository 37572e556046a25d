// RUN: pa-opt %s --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse | FileCheck %s
// RUN: pa-opt %s --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse > %t.once
// RUN: pa-opt %t.once --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse | diff %t.once -

gpu.module @m {
  // CHECK-LABEL: gpu.func @narrow
  // CHECK: %[[BUFFER:.*]] = amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%c1024_i64)
  // CHECK: memref.load %[[BUFFER]][%{{.*}}]
  // CHECK: memref.store %{{.*}}, %[[BUFFER]][
  gpu.func @narrow(%m: memref<1048576xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %m[%t] : memref<1048576xf32>
    memref.store %v, %m[%t] : memref<1048576xf32>
    gpu.return
  }

  // Two accesses with one uniform part share a resource.
  // CHECK-LABEL: gpu.func @rebase
  // CHECK: %[[PAGE:.*]] = gpu.block_id x
  // CHECK: %[[VIEW:.*]] = memref.subview %{{.*}}[%[[PAGE]], 0] [1, 2048] [1, 1]
  // CHECK: %[[BUFFER:.*]] = amdgpu.fat_raw_buffer_cast %[[VIEW]] validBytes(%c2048_i64) resetOffset
  // CHECK: vector.load %[[BUFFER]][%c0, %{{.*}}]
  // CHECK: vector.load %[[BUFFER]][%c0, %{{.*}}]
  // CHECK-NOT: fat_raw_buffer_cast
  gpu.func @rebase(%m: memref<?x8448xi8, strided<[1002240, 1]>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %page = gpu.block_id x
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %c1024 = arith.constant 1024 : index
    %first = arith.muli %t, %c4 : index
    %second = arith.addi %first, %c1024 : index
    %v = vector.load %m[%page, %first] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    %w = vector.load %m[%page, %second] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    vector.store %w, %m[%page, %first] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    vector.store %v, %m[%page, %second] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    gpu.return
  }

  // So do accesses in two branches, but not one in a loop: its resource is made
  // where it is used.
  // CHECK-LABEL: gpu.func @branches
  // CHECK: %[[PAGE:.*]] = gpu.block_id x
  // CHECK: %[[VIEW:.*]] = memref.subview %{{.*}}[%[[PAGE]], 0] [1, 2048] [1, 1]
  // CHECK: %[[BUFFER:.*]] = amdgpu.fat_raw_buffer_cast %[[VIEW]] validBytes(%c2048_i64) resetOffset
  // CHECK: scf.if
  // CHECK-NOT: fat_raw_buffer_cast
  // CHECK: vector.store %{{.*}}, %[[BUFFER]][%c0, %{{.*}}]
  // CHECK: scf.if
  // CHECK-NOT: fat_raw_buffer_cast
  // CHECK: vector.store %{{.*}}, %[[BUFFER]][%c0, %{{.*}}]
  // CHECK: scf.for
  // CHECK: fat_raw_buffer_cast
  gpu.func @branches(%m: memref<?x8448xi8, strided<[1002240, 1]>>, %v: vector<4xi8>, %p: i1, %q: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %page = gpu.block_id x
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c1024 = arith.constant 1024 : index
    %first = arith.muli %t, %c4 : index
    %second = arith.addi %first, %c1024 : index
    scf.if %p {
      vector.store %v, %m[%page, %first] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    }
    scf.if %q {
      vector.store %v, %m[%page, %second] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    }
    scf.for %i = %c0 to %page step %c1 {
      vector.store %v, %m[%page, %first] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @global
  // CHECK-NOT: fat_raw_buffer_cast
  // CHECK: memref.store %{{.*}}, %arg0[
  gpu.func @global(%m: memref<?x?xi8, strided<[?, 1]>>, %v: i8) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    memref.store %v, %m[%t, %c0] : memref<?x?xi8, strided<[?, 1]>>
    gpu.return
  }
}
