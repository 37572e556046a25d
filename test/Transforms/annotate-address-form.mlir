// RUN: pa-opt %s --pa-annotate-address-form | FileCheck %s
// RUN: pa-opt %s --pa-annotate-address-form=max-offset-bytes=4096 | FileCheck %s --check-prefix=SMALL
// RUN: pa-opt %s --pa-annotate-address-form --pa-annotate-address-form | FileCheck %s
// RUN: pa-opt %s --pa-annotate-address-form=force=global | FileCheck %s --check-prefix=GLOBAL
// RUN: not pa-opt %s --pa-annotate-address-form=require=narrow 2>&1 | FileCheck %s --check-prefix=REQUIRE
// RUN: pa-opt %s --pa-annotate-address-form=remarks 2>&1 | FileCheck %s --check-prefix=REMARK

// REQUIRE: error: 'memref.load' op address form must be narrow, found rebase: not narrow:
// REQUIRE: note: pa.assume on index 0, or pa.max_rows, pa.max_pages or pa.max_bytes on the argument, would bound it
// REMARK: remark: address form narrow, max_offset 1024, offset is 0 to 1020
// REMARK: remark: address form global, max_offset -1, not narrow: stride 0 is dynamic; not rebase: stride 0 is dynamic; a static stride, or pa.max_bytes on the argument, would bound it

gpu.module @m {
  // 256 lanes of 4 bytes.
  // CHECK-LABEL: gpu.func @narrow
  // CHECK: pa.address = #pa.address<narrow, max_offset = 1024, "offset is 0 to 1020">
  // GLOBAL: pa.address = #pa.address<global, max_offset = -1, "forced from narrow
  gpu.func @narrow(%m: memref<1048576xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %m[%t] : memref<1048576xf32>
    memref.store %v, %m[%t] : memref<1048576xf32>
    gpu.return
  }

  // The page is the same in all lanes, whatever its number: the published stride
  // passes 2^31 at page 2143.
  // CHECK-LABEL: gpu.func @rebase
  // CHECK: pa.address = #pa.address<rebase, max_offset = 1024, "not narrow:
  // SMALL-LABEL: gpu.func @rebase
  // SMALL: pa.address = #pa.address<rebase, max_offset = 1024
  gpu.func @rebase(%m: memref<?x8448xi8, strided<[1002240, 1]>>, %n: memref<64x64xi8>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %page = gpu.block_id x
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %byte = arith.muli %t, %c4 : index
    %v = vector.load %m[%page, %byte] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
    gpu.return
  }

  // Last good and first bad page of that stride, as bounds.
  // CHECK-LABEL: gpu.func @boundary
  // CHECK: pa.address = #pa.address<narrow, max_offset = 2146798081, "offset is 0 to 2146798080">
  // CHECK: pa.address = #pa.address<rebase, max_offset = 1, "not narrow: offset is 0 to 2147800320, limit 2147483647">
  gpu.func @boundary(%m: memref<?x1xi8, strided<[1002240, 1]>>, %id: index) kernel {
    %c0 = arith.constant 0 : index
    %good = pa.assume %id {min = 0 : i64, max = 2142 : i64} : index
    %bad = pa.assume %id {min = 0 : i64, max = 2143 : i64} : index
    %a = memref.load %m[%good, %c0] : memref<?x1xi8, strided<[1002240, 1]>>
    %b = memref.load %m[%bad, %c0] : memref<?x1xi8, strided<[1002240, 1]>>
    gpu.return
  }

  // Each lane has a page of its own.
  // CHECK-LABEL: gpu.func @global
  // CHECK: pa.address = #pa.address<global, max_offset = -1, "not narrow: {{.*}}; not rebase: lane part is
  gpu.func @global(%ids: memref<256xi32>, %m: memref<?x64xi8, strided<[1002240, 1]>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %id = memref.load %ids[%t] : memref<256xi32>
    %page = arith.index_castui %id : i32 to index
    %v = memref.load %m[%page, %c0] : memref<?x64xi8, strided<[1002240, 1]>>
    gpu.return
  }

  // Nothing is known of the stride: never narrow.
  // CHECK-LABEL: gpu.func @dynamic_stride
  // CHECK: pa.address = #pa.address<global, max_offset = -1, "not narrow: stride 0 is dynamic; not rebase: stride 0 is dynamic">
  gpu.func @dynamic_stride(%m: memref<?x?xi8, strided<[?, 1]>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = memref.load %m[%t, %c0] : memref<?x?xi8, strided<[?, 1]>>
    gpu.return
  }

  // A bound that overflows 64 bits is no bound.
  // CHECK-LABEL: gpu.func @overflow
  // CHECK: pa.address = #pa.address<global, max_offset = -1
  gpu.func @overflow(%m: memref<?x1xi8, strided<[4611686018427387904, 1]>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = memref.load %m[%t, %c0] : memref<?x1xi8, strided<[4611686018427387904, 1]>>
    gpu.return
  }

  // What goes around in a loop without bounds may be of each lane its own, also
  // where it enters the loop's second region.
  // CHECK-LABEL: gpu.func @while
  // CHECK: memref.load %{{.*}} {pa.address = #pa.address<global, max_offset = -1
  gpu.func @while(%m: memref<?x1xi8, strided<[1002240, 1]>>, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %r = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      %page = arith.addi %i, %t : index
      scf.condition(%more) %page : index
    } do {
    ^bb0(%page: index):
      %v = memref.load %m[%page, %c0] : memref<?x1xi8, strided<[1002240, 1]>>
      %next = arith.index_castui %v : i8 to index
      scf.yield %next : index
    }
    gpu.return
  }
}
