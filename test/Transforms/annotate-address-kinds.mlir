// Every op that can access global memory, its form and what bounds it.
// RUN: pa-opt %s --pa-annotate-address-form | FileCheck %s

#fat = #amdgpu.address_space<fat_raw_buffer>
#lds = #gpu.address_space<workgroup>

gpu.module @m {
  // CHECK-LABEL: gpu.func @keeps_pointer
  gpu.func @keeps_pointer(%m: memref<64x64xi32>, %mask: vector<4xi1>, %v: vector<4xi32>, %i: index, %x: i32) kernel {
    // CHECK: vector.maskedload {{.*}}#pa.address<global, max_offset = -1, "not narrow: vector.maskedload keeps its 64-bit address">
    %0 = vector.maskedload %m[%i, %i], %mask, %v : memref<64x64xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    // CHECK: vector.maskedstore {{.*}}#pa.address<global,
    vector.maskedstore %m[%i, %i], %mask, %v : memref<64x64xi32>, vector<4xi1>, vector<4xi32>
    // CHECK: vector.gather {{.*}}#pa.address<global,
    %1 = vector.gather %m[%i, %i] [%v], %mask, %v : memref<64x64xi32>, vector<4xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    // CHECK: vector.scatter {{.*}}#pa.address<global,
    vector.scatter %m[%i, %i] [%v], %mask, %v : memref<64x64xi32>, vector<4xi32>, vector<4xi1>, vector<4xi32>
    // CHECK: vector.transfer_read {{.*}}#pa.address<global,
    %2 = vector.transfer_read %m[%i, %i], %x : memref<64x64xi32>, vector<4xi32>
    // CHECK: vector.transfer_write {{.*}}#pa.address<global,
    vector.transfer_write %v, %m[%i, %i] : vector<4xi32>, memref<64x64xi32>
    // CHECK: memref.atomic_rmw {{.*}}#pa.address<global,
    %3 = memref.atomic_rmw addi %x, %m[%i, %i] : (i32, memref<64x64xi32>) -> i32
    // CHECK: memref.generic_atomic_rmw
    %4 = memref.generic_atomic_rmw %m[%i, %i] : memref<64x64xi32> {
    ^bb0(%old: i32):
      %new = arith.addi %old, %x : i32
      memref.atomic_yield %new : i32
    // CHECK: } {pa.address = #pa.address<global,
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @raw
  gpu.func @raw(%m: memref<64x64xi32>, %big: memref<1024x1048576xf32>, %any: memref<?xf32>, %known: memref<?xf32> {pa.max_bytes = 4294967295 : i64}, %row: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %ti = arith.index_castui %t : index to i32
    %c64 = arith.constant 64 : i32
    // CHECK: amdgpu.raw_buffer_load {{.*}}#pa.address<narrow, max_offset = 16384, "offset is 0 to 16380">
    %0 = amdgpu.raw_buffer_load %m[%ti, %ti] : memref<64x64xi32>, i32, i32 -> i32
    // CHECK: amdgpu.raw_buffer_load {{.*}}#pa.address<narrow, max_offset = 672, "offset is 404 to 656">
    %1 = amdgpu.raw_buffer_load {indexOffset = 37 : i32} %known[%ti] sgprOffset %c64 : memref<?xf32>, i32 -> vector<4xf32>
    // The offset of a row in a type of 4 GiB is known, its size would be 0.
    // CHECK: amdgpu.raw_buffer_store {{.*}}#pa.address<global, max_offset = -1, "not narrow: the resource would have 4294967296 bytes, limit 4294967295">
    %f = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : i32
    amdgpu.raw_buffer_store %f -> %big[%c0, %ti] : f32 -> memref<1024x1048576xf32>, i32, i32
    // CHECK: amdgpu.raw_buffer_store {{.*}}#pa.address<global, max_offset = -1, "not narrow: offset is -9007199254740992 to
    amdgpu.raw_buffer_store %f -> %big[%row, %ti] : f32 -> memref<1024x1048576xf32>, i32, i32
    // CHECK: amdgpu.raw_buffer_atomic_fadd {{.*}}#pa.address<global, max_offset = -1, "not narrow: the size of the resource is not known">
    amdgpu.raw_buffer_atomic_fadd %f -> %any[%ti] : f32 -> memref<?xf32>, i32
    gpu.return
  }

  // The offset is that from the start of the resource.
  // CHECK-LABEL: gpu.func @resource
  gpu.func @resource(%m: memref<64x64xf32>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<64x64xf32> to memref<64x64xf32, #fat>
    %view = memref.subview %f[%t, 0] [1, 64] [1, 1] : memref<64x64xf32, #fat> to memref<64xf32, strided<[1], offset: ?>, #fat>
    // CHECK: memref.load {{.*}}#pa.address<narrow, max_offset = 16384, "offset is 0 to 16380">
    %0 = memref.load %view[%t] : memref<64xf32, strided<[1], offset: ?>, #fat>
    // CHECK: vector.load {{.*}}#pa.address<global, max_offset = -1, "not narrow: no bound for index 1">
    %1 = vector.load %f[%t, %i] : memref<64x64xf32, #fat>, vector<4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @to_lds
  gpu.func @to_lds(%m: memref<?x64xf32>, %small: memref<64x64xf32>) workgroup(%lds: memref<64xf32, #lds>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // CHECK: amdgpu.gather_to_lds {{.*}}#pa.address<narrow, max_offset = 16384, "offset is 0 to 16380">
    amdgpu.gather_to_lds %m[%t, %t], %lds[%c0] : f32, memref<?x64xf32>, memref<64xf32, #lds>
    %f = amdgpu.fat_raw_buffer_cast %small resetOffset : memref<64x64xf32> to memref<64x64xf32, #fat>
    // CHECK: amdgpu.gather_to_lds {{.*}}#pa.address<narrow, max_offset = 16384,
    amdgpu.gather_to_lds %f[%t, %t], %lds[%c0] : f32, memref<64x64xf32, #fat>, memref<64xf32, #lds>
    // CHECK: amdgpu.make_dma_base {{.*}}#pa.address<rebase, max_offset = 4, "the wave has one 64-bit base">
    %b = gpu.block_id x
    %base = amdgpu.make_dma_base %m[%b, %c0], %lds[%c0] : memref<?x64xf32>, memref<64xf32, #lds> -> !amdgpu.tdm_base<f32>
    gpu.return
  }

  // Offsets and strides are followed through chains of views.
  // CHECK-LABEL: gpu.func @views
  gpu.func @views(%m: memref<64x64xf32>, %n: memref<?xf32>, %s: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %part = memref.subview %m[%b, 16] [16, 32] [2, 1] : memref<64x64xf32> to memref<16x32xf32, strided<[128, 1], offset: ?>>
    %flat = memref.expand_shape %part [[0], [1, 2]] output_shape [16, 8, 4] : memref<16x32xf32, strided<[128, 1], offset: ?>> into memref<16x8x4xf32, strided<[128, 4, 1], offset: ?>>
    %c1 = arith.constant 1 : index
    // (31 * 64 + 16 + 128 + 63 * 4 + 1) * 4
    // CHECK: memref.load {{.*}}#pa.address<narrow, max_offset = 9528, "offset is 580 to 9524">
    %0 = memref.load %flat[%c1, %t, %c1] : memref<16x8x4xf32, strided<[128, 4, 1], offset: ?>>
    %stride = pa.assume %s {min = 8 : i64, max = 100 : i64} : index
    %any = memref.reinterpret_cast %n to offset: [%b], sizes: [64, 4], strides: [%stride, 1] : memref<?xf32> to memref<64x4xf32, strided<[?, 1], offset: ?>>
    // (31 + 63 * 100) * 4
    // CHECK: memref.load {{.*}}#pa.address<narrow, max_offset = 25332, "offset is 4 to 25328">
    %1 = memref.load %any[%t, %c1] : memref<64x4xf32, strided<[?, 1], offset: ?>>
    // A view of its own for each lane has no resource that lanes could share.
    %own = memref.subview %m[%t, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    // CHECK: memref.load {{.*}}#pa.address<global, max_offset = -1, "not narrow: the view differs between lanes">
    %2 = memref.load %own[%c1] : memref<64xf32, strided<[1], offset: ?>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @loops
  gpu.func @loops(%m: memref<?x64xf32>, %v: f32, %n: index, %small: memref<128x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c64 step %c1 {
      // CHECK: memref.store {{.*}}#pa.address<narrow, max_offset = 32512, "offset is 0 to 32508">
      %row = arith.addi %i, %t : index
      memref.store %v, %small[%row, %t] : memref<128x64xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 256, "not narrow: the bound of index 0 overflows 64 bits">
      memref.store %v, %m[%i, %t] : memref<?x64xf32>
    }
    // Carried from round to round: the row is not bounded, but one for all lanes.
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%row = %c0) -> (index) {
      // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 256, "not narrow: no bound for index 0">
      memref.store %v, %m[%row, %t] : memref<?x64xf32>
      %next = arith.addi %row, %n : index
      scf.yield %next : index
    }
    // Lanes carry rows of their own.
    %own = scf.for %i = %c0 to %n step %c1 iter_args(%row = %t) -> (index) {
      // CHECK: memref.store {{.*}}#pa.address<global, max_offset = -1, "not narrow: no bound for index 0; not rebase: no bound for the lane part of index 0">
      memref.store %v, %m[%row, %t] : memref<?x64xf32>
      %next = arith.addi %row, %n : index
      scf.yield %next : index
    }
    gpu.return
  }

  // An access by all lanes to one address a constant away from what is uniform.
  // CHECK-LABEL: gpu.func @constants
  gpu.func @constants(%m: memref<?x?xf32, strided<[?, 1]>>, %n: memref<?xf32>, %v: f32, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c64 = arith.constant 64 : index
    %cm1 = arith.constant -1 : index
    %a = arith.addi %i, %c5 : index
    %b = arith.addi %i, %cm1 : index
    // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 24,
    memref.store %v, %n[%a] : memref<?xf32>
    // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 4,
    memref.store %v, %n[%b] : memref<?xf32>
    // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 4,
    memref.store %v, %m[%a, %c0] : memref<?x?xf32, strided<[?, 1]>>
    // With lanes, too: an index behind a resource is never negative.
    %t = gpu.thread_id x
    %lane = arith.remui %t, %c64 : index
    %c = arith.addi %b, %lane : index
    // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 256,
    memref.store %v, %n[%c] : memref<?xf32>
    // Nothing uniform is left to start a view at.
    %d = arith.addi %lane, %cm1 : index
    // CHECK: memref.store {{.*}}#pa.address<global,
    memref.store %v, %m[%i, %d] : memref<?x?xf32, strided<[?, 1]>>
    gpu.return
  }

  // A function that kernels call has arguments of each lane's own.
  // CHECK-LABEL: func.func @called
  // CHECK: memref.store {{.*}}#pa.address<global, max_offset = -1, "not narrow: the view differs between lanes">
  // CHECK: memref.store {{.*}}#pa.address<rebase, max_offset = 4,
  func.func @called(%m: memref<?xf32>, %n: memref<?xf32> {pa.uniform}, %i: index {pa.uniform}, %v: f32) {
    memref.store %v, %m[%i] : memref<?xf32>
    memref.store %v, %n[%i] : memref<?xf32>
    return
  }

  // CHECK-LABEL: gpu.func @promises
  gpu.func @promises(%rows: memref<?x64xf32> {pa.max_rows = 1024 : i64},
                     %pages: memref<?x8448xi8, strided<[1002240, 1]>> {pa.max_pages = 2143 : i64},
                     %bytes: memref<?x?xf32, strided<[?, 1]>> {pa.max_bytes = 2147483647 : i64},
                     %more: memref<?x?xf32, strided<[?, 1]>> {pa.max_bytes = 2147483648 : i64},
                     %ids: memref<?xindex>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %id = memref.load %ids[%t] : memref<?xindex>
    // CHECK: memref.load %arg0{{.*}}#pa.address<narrow, max_offset = 262144, "offset is 0 to 262140">
    %0 = memref.load %rows[%id, %t] : memref<?x64xf32>
    // CHECK: memref.load %arg1{{.*}}#pa.address<narrow, max_offset = 2146798144, "offset is 0 to 2146798143">
    %1 = memref.load %pages[%id, %t] : memref<?x8448xi8, strided<[1002240, 1]>>
    // CHECK: memref.load %arg2{{.*}}#pa.address<narrow, max_offset = 2147483647, "offset is 0 to 2147483643">
    %2 = memref.load %bytes[%id, %id] : memref<?x?xf32, strided<[?, 1]>>
    // CHECK: memref.load %arg3{{.*}}#pa.address<global,
    %3 = memref.load %more[%id, %id] : memref<?x?xf32, strided<[?, 1]>>
    // The number of rows bounds loops over them.
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %rows, %c0 : memref<?x64xf32>
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: memref.load %arg1{{.*}}#pa.address<narrow, max_offset = 1025291584,
      %4 = memref.load %pages[%i, %t] : memref<?x8448xi8, strided<[1002240, 1]>>
    }
    // An element that is masked off may have any index.
    // CHECK: vector.maskedload %arg0{{.*}}#pa.address<global,
    %mask = vector.create_mask %t : vector<4xi1>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %5 = vector.maskedload %rows[%id, %t], %mask, %zero : memref<?x64xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    gpu.return
  }
}
