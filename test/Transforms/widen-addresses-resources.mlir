// Accesses through resources of the program: what is proven stays, the rest gets
// a 64-bit address and the range check in ordinary code.
// RUN: pa-opt %s --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse | FileCheck %s
// RUN: pa-opt %s --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse --canonicalize --cse > %t.once
// RUN: pa-opt %t.once --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse | diff %t.once -
// RUN: pa-opt %t.once --pa-verify-addresses | diff %t.once -

#fat = #amdgpu.address_space<fat_raw_buffer>

gpu.module @m {
  // CHECK-LABEL: gpu.func @proven
  // CHECK-NOT: scf.if
  // CHECK: amdgpu.raw_buffer_load {{.*}} %arg0[
  // CHECK: amdgpu.raw_buffer_store {{.*}} -> %arg0[
  gpu.func @proven(%m: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %v = amdgpu.raw_buffer_load %m[%i, %i] : memref<64x64xf32>, i32, i32 -> f32
    amdgpu.raw_buffer_store %v -> %m[%i, %i] : f32 -> memref<64x64xf32>, i32, i32
    gpu.return
  }

  // Of 4 GiB the size field would hold 0.
  // CHECK-LABEL: gpu.func @scalar
  // CHECK-NOT: raw_buffer
  // CHECK: %[[ROW:.*]] = arith.index_cast %arg1 : i32 to index
  // CHECK: %[[FIRST:.*]] = arith.muli %[[ROW]], %c1048576 : index
  // CHECK: %[[ELEMENT:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
  // CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [1073741824], strides: [1]
  // CHECK: arith.minui %[[ELEMENT]], %c1073741824
  // CHECK: scf.if
  // CHECK-NEXT: memref.load %[[FLAT]][%[[ELEMENT]]] {pa.address = #pa.address<global,
  // CHECK: else
  // CHECK-NEXT: scf.yield %cst
  // CHECK: scf.if
  // CHECK-NEXT: memref.store %{{.*}}, %[[FLAT]][%[[ELEMENT]]] {pa.address = #pa.address<global,
  // CHECK: scf.if
  // CHECK-NEXT: memref.atomic_rmw addf %{{.*}}, %[[FLAT]][%[[ELEMENT]]] {pa.address = #pa.address<global,
  gpu.func @scalar(%m: memref<1024x1048576xf32>, %row: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %v = amdgpu.raw_buffer_load %m[%row, %i] : memref<1024x1048576xf32>, i32, i32 -> f32
    amdgpu.raw_buffer_store %v -> %m[%row, %i] : f32 -> memref<1024x1048576xf32>, i32, i32
    amdgpu.raw_buffer_atomic_fadd %v -> %m[%row, %i] : f32 -> memref<1024x1048576xf32>, i32, i32
    gpu.return
  }

  // A vector that the end cuts through keeps the elements before it.
  // CHECK-LABEL: gpu.func @vector
  // CHECK: %[[COUNT:.*]] = arith.minui %{{.*}}, %c4 : index
  // CHECK: scf.if
  // CHECK-NEXT: vector.load
  // CHECK: else
  // CHECK: vector.broadcast %[[COUNT]]
  // CHECK: vector.maskedload
  // CHECK: scf.if
  // CHECK-NEXT: vector.store
  // CHECK: else
  // CHECK: vector.maskedstore
  gpu.func @vector(%m: memref<?xf32>, %i: i32) kernel {
    %v = amdgpu.raw_buffer_load %m[%i] : memref<?xf32>, i32 -> vector<4xf32>
    amdgpu.raw_buffer_store %v -> %m[%i] : vector<4xf32> -> memref<?xf32>, i32
    gpu.return
  }

  // The size is what the program made it, not what its field can hold; the
  // access that stays behind the resource sees a size that its field can hold.
  // CHECK-LABEL: gpu.func @resource
  // CHECK: %[[FAT:.*]] = amdgpu.fat_raw_buffer_cast %arg0 validBytes(%c4294967292_i64) resetOffset
  // CHECK: memref.load %[[FAT]][%c0, %{{.*}}] {pa.address = #pa.address<narrow,
  // CHECK: memref.reinterpret_cast %arg0 to offset: [0], sizes: [1073741824], strides: [1]
  // CHECK: arith.minui %{{.*}}, %c1073741824
  // CHECK: memref.load %{{.*}} {pa.address = #pa.address<global,
  gpu.func @resource(%m: memref<1024x1048576xf32>, %row: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<1024x1048576xf32> to memref<1024x1048576xf32, #fat>
    %v = memref.load %f[%c0, %t] : memref<1024x1048576xf32, #fat>
    %w = memref.load %f[%row, %t] : memref<1024x1048576xf32, #fat>
    %s = arith.addf %v, %w : f32
    memref.store %s, %f[%row, %t] : memref<1024x1048576xf32, #fat>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @dynamic_size
  // CHECK: %[[BYTES:.*]] = arith.minui %arg1, %c4294967292_i64
  // CHECK: amdgpu.fat_raw_buffer_cast %arg0 validBytes(%[[BYTES]])
  gpu.func @dynamic_size(%m: memref<?xf32>, %bytes: i64, %v: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %f = amdgpu.fat_raw_buffer_cast %m validBytes(%bytes) resetOffset : memref<?xf32> to memref<?xf32, #fat>
    memref.store %v, %f[%t] : memref<?xf32, #fat>
    gpu.return
  }

  // The hardware checks whole dwords: 7 bytes get room for 8.
  // CHECK-LABEL: gpu.func @tail
  // CHECK: amdgpu.fat_raw_buffer_cast %arg0 validBytes(%c8_i64)
  // CHECK: max_offset = 7
  gpu.func @tail(%m: memref<7xi8>, %v: i8) kernel attributes {known_block_size = array<i32: 7, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %v, %m[%t] : memref<7xi8>
    gpu.return
  }

  // A constant next to a uniform index lies in the resource or in the base.
  // CHECK-LABEL: gpu.func @constants
  // CHECK: memref.subview %arg0[%arg3] [6] [1]
  // CHECK: amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%c24_i64)
  // CHECK: memref.store %arg2, %{{.*}}[%c5]
  // CHECK: %[[ROW:.*]] = arith.addi %arg3, %c5
  // CHECK: memref.subview %arg1[%[[ROW]], 0] [1, 1] [1, 1]
  // CHECK: amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%c4_i64)
  // CHECK: memref.store %arg2, %{{.*}}[%c0, %c0]
  gpu.func @constants(%m: memref<?xf32>, %n: memref<?x?xf32, strided<[?, 1]>>, %v: f32, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %a = arith.addi %i, %c5 : index
    memref.store %v, %m[%a] : memref<?xf32>
    memref.store %v, %n[%a, %c0] : memref<?x?xf32, strided<[?, 1]>>
    gpu.return
  }
}
