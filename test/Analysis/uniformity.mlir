// RUN: pa-opt %s --test-pa-uniformity | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: ids: uniform
  gpu.func @ids(%n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %b = gpu.block_id x {tag = "ids"}
    // CHECK-NEXT: thread: divergent
    %t = gpu.thread_id x {tag = "thread"}
    // CHECK-NEXT: lane: divergent
    %l = gpu.lane_id {tag = "lane"}
    // CHECK-NEXT: subgroup: uniform
    %s = gpu.subgroup_id {tag = "subgroup"} : index
    // CHECK-NEXT: workitem: divergent
    %w = rocdl.workitem.id.x {tag = "workitem"} : i32
    // CHECK-NEXT: workgroup: uniform
    %g = rocdl.workgroup.id.x {tag = "workgroup"} : i32
    // CHECK-NEXT: argument: uniform
    %a = arith.addi %n, %b {tag = "argument"} : index
    // CHECK-NEXT: mixed: divergent
    %m = arith.addi %a, %t {tag = "mixed"} : index
    // CHECK-NEXT: broadcast: uniform
    %f = gpu.subgroup_broadcast %m, first_active_lane {tag = "broadcast"} : index
    // CHECK-NEXT: assume: uniform
    %u = pa.assume %m {uniform, tag = "assume"} : index
    // CHECK-NEXT: assume_range: divergent
    %r = pa.assume %m {min = 0 : i64, tag = "assume_range"} : index
    // A lane at the edge of the row gets its old value.
    %c1 = arith.constant 1 : i32
    // CHECK-NEXT: dpp: divergent
    %d = amdgpu.dpp %c1 %c1 row_shl(1 : i32) {tag = "dpp"} : i32
    gpu.return
  }

  // The wave's number: 256 work-items along x are whole waves of either size.
  // CHECK-NEXT: wave64: uniform
  // CHECK-NEXT: wave64_shift: uniform
  // CHECK-NEXT: half_wave: divergent
  // CHECK-NEXT: lane_in_wave: divergent
  gpu.func @wave_id() kernel attributes {known_block_size = array<i32: 256, 4, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %c6 = arith.constant 6 : i32
    %a = arith.divui %t, %c64 {tag = "wave64"} : index
    %i = arith.index_castui %t : index to i32
    %s = arith.shrui %i, %c6 {tag = "wave64_shift"} : i32
    %h = arith.divui %t, %c32 {tag = "half_wave"} : index
    %l = arith.remui %t, %c64 {tag = "lane_in_wave"} : index
    gpu.return
  }

  // 96 work-items of a row are one and a half waves: a wave has parts of two
  // rows.
  // CHECK-NEXT: odd_rows: divergent
  // CHECK-NEXT: unknown_rows: divergent
  gpu.func @odd_rows() kernel attributes {known_block_size = array<i32: 96, 4, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %a = arith.divui %t, %c64 {tag = "odd_rows"} : index
    gpu.return
  }
  gpu.func @unknown_rows() kernel {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %a = arith.divui %t, %c64 {tag = "unknown_rows"} : index
    gpu.return
  }

  // CHECK-NEXT: load_uniform: uniform
  // CHECK-NEXT: load_divergent: divergent
  // CHECK-NEXT: load_private: divergent
  // CHECK-NEXT: load_lds: uniform
  gpu.func @loads(%m: memref<?xi32>)
      workgroup(%lds: memref<64xi32, #gpu.address_space<workgroup>>)
      private(%own: memref<4xi32, #gpu.address_space<private>>) kernel {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %0 = memref.load %m[%b] {tag = "load_uniform"} : memref<?xi32>
    %1 = memref.load %m[%t] {tag = "load_divergent"} : memref<?xi32>
    %2 = memref.load %own[%c0] {tag = "load_private"} : memref<4xi32, #gpu.address_space<private>>
    %3 = memref.load %lds[%c0] {tag = "load_lds"} : memref<64xi32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Results, then the arguments of the body.
  // CHECK-NEXT: for_uniform: uniform divergent | uniform uniform divergent
  // CHECK-NEXT: for_divergent: divergent | divergent uniform
  // CHECK-NEXT: for_chain: divergent divergent | uniform divergent divergent
  gpu.func @for(%n: index) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0, %y = %c0) -> (index, index) {
      %p = arith.addi %x, %i : index
      %q = arith.addi %y, %t : index
      scf.yield %p, %q : index, index
    } {tag = "for_uniform"}
    // Lanes leave with different values of what is the same while they are in.
    %b = scf.for %i = %c0 to %t step %c1 iter_args(%x = %c0) -> (index) {
      %p = arith.addi %x, %c1 : index
      scf.yield %p : index
    } {tag = "for_divergent"}
    // The second hands the divergent value to the first one iteration later.
    %c:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0, %y = %c0) -> (index, index) {
      scf.yield %y, %t : index, index
    } {tag = "for_chain"}
    gpu.return
  }

  // CHECK-NEXT: if_uniform: uniform | |
  // CHECK-NEXT: if_value: divergent | |
  // CHECK-NEXT: if_divergent: divergent | |
  gpu.func @if(%p: i1, %x: index, %y: index) kernel {
    %t = gpu.thread_id x
    %a = scf.if %p -> index {
      scf.yield %x : index
    } else {
      scf.yield %y : index
    } {tag = "if_uniform"}
    %b = scf.if %p -> index {
      scf.yield %x : index
    } else {
      scf.yield %t : index
    } {tag = "if_value"}
    %q = arith.cmpi ult, %t, %x : index
    %c = scf.if %q -> index {
      scf.yield %x : index
    } else {
      scf.yield %y : index
    } {tag = "if_divergent"}
    gpu.return
  }

  // CHECK-NEXT: while_uniform: uniform | uniform | uniform
  // CHECK-NEXT: while_divergent: divergent | uniform | uniform
  // CHECK-NEXT: while_handed: divergent | uniform | divergent
  gpu.func @while(%n: index) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    } attributes {tag = "while_uniform"}
    %b = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %t : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    } attributes {tag = "while_divergent"}
    %c = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      %page = arith.addi %i, %t : index
      scf.condition(%more) %page : index
    } do {
    ^bb0(%page: index):
      scf.yield %c1 : index
    } attributes {tag = "while_handed"}
    gpu.return
  }

  // What basic blocks hand to each other is not followed, and a load in a loop
  // of them keeps what the lane's own last round saw.
  // CHECK-NEXT: block_load: divergent
  // CHECK-NEXT: block_argument: divergent
  gpu.func @blocks(%m: memref<?xindex>, %p: i1, %x: index) kernel {
    cf.br ^loop
  ^loop:
    %v = memref.load %m[%x] {tag = "block_load"} : memref<?xindex>
    cf.cond_br %p, ^loop, ^end(%x : index)
  ^end(%y: index):
    %z = arith.addi %y, %x {tag = "block_argument"} : index
    gpu.return
  }

  // CHECK-NEXT: way: divergent |
  gpu.func @execute_region(%x: index, %y: index) kernel {
    %t = gpu.thread_id x
    %p = arith.cmpi ult, %t, %x : index
    %a = scf.execute_region -> index {
      cf.cond_br %p, ^one, ^two
    ^one:
      scf.yield %x : index
    ^two:
      scf.yield %y : index
    } {tag = "way"}
    gpu.return
  }

  // A function that kernels call gets its arguments in vector registers.
  // CHECK-NEXT: called: divergent
  // CHECK-NEXT: called_uniform: uniform
  gpu.func @called(%x: index, %y: index {pa.uniform}) {
    %c1 = arith.constant 1 : index
    %a = arith.addi %x, %c1 {tag = "called"} : index
    %b = arith.addi %y, %c1 {tag = "called_uniform"} : index
    gpu.return
  }
}

// RUN: sed 's/^gpu.module @m {/gpu.module @m attributes {pa.target = #pa.target<"gfx1250">} {/' %s \
// RUN:   | pa-opt --test-pa-uniformity | FileCheck %s --check-prefix=WAVE32
// WAVE32: half_wave: uniform
