// RUN: pa-opt %s --pa-verify-addresses --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @not_annotated(%m: memref<64xf32>, %i: index) kernel {
    // expected-error @below {{'memref.load' op accesses global memory without an address form; run pa-annotate-address-form}}
    %0 = memref.load %m[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unhandled(%m: memref<64xf32>, %n: memref<64xf32>) kernel {
    // expected-error @below {{'memref.copy' op accesses global memory in a way that has no address form}}
    memref.copy %m, %n : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @contradicted(%m: memref<?xf32>, %i: index) kernel {
    %c64 = arith.constant 64 : i64
    %f = amdgpu.fat_raw_buffer_cast %m validBytes(%c64) resetOffset : memref<?xf32> to memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>
    // expected-error @below {{'memref.load' op has the address form narrow but its offset is not proven: not narrow: no bound for index 0}}
    %0 = memref.load %f[%i] {pa.address = #pa.address<narrow, max_offset = 64, "">} : memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_far(%m: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : i64
    %f = amdgpu.fat_raw_buffer_cast %m validBytes(%c64) resetOffset : memref<?xf32> to memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>
    // expected-error @below {{'memref.load' op must stay below its max_offset 64, found an offset up to 256}}
    %0 = memref.load %f[%t] {pa.address = #pa.address<rebase, max_offset = 64, "">} : memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @not_widened(%m: memref<64xf32>, %i: i32) kernel {
    // expected-error @below {{'amdgpu.raw_buffer_load' op has the address form global but uses a buffer resource; run pa-widen-addresses}}
    %0 = amdgpu.raw_buffer_load {pa.address = #pa.address<global, max_offset = -1, "">} %m[%i] : memref<64xf32>, i32 -> f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @raw_size(%m: memref<1024x1048576xf32>) kernel {
    %c0 = arith.constant 0 : i32
    // expected-error @below {{'amdgpu.raw_buffer_load' op has the address form narrow but its offset is not proven: not narrow: the resource would have 4294967296 bytes, limit 4294967295}}
    %0 = amdgpu.raw_buffer_load {pa.address = #pa.address<narrow, max_offset = 4, "">} %m[%c0, %c0] : memref<1024x1048576xf32>, i32, i32 -> f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @static_size(%m: memref<1024x1048576xf32>) kernel {
    // expected-error @below {{'amdgpu.fat_raw_buffer_cast' op size must be at most 4294967295 bytes, found up to 4294967296; run pa-widen-addresses}}
    %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<1024x1048576xf32> to memref<1024x1048576xf32, #amdgpu.address_space<fat_raw_buffer>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @dynamic_size(%m: memref<?xf32>) kernel {
    // expected-error @below {{'amdgpu.fat_raw_buffer_cast' op size must be at most 4294967295 bytes, found one without a bound; run pa-widen-addresses}}
    %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<?xf32> to memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>
    gpu.return
  }
}

// -----

// gfx1250 has 45 bits for the size.
module attributes {pa.target = #pa.target<"gfx1250">} {
  gpu.module @m {
    gpu.func @wide_size(%m: memref<1024x1048576xf32>, %n: memref<1048576x8388608xf32>) kernel {
      %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<1024x1048576xf32> to memref<1024x1048576xf32, #amdgpu.address_space<fat_raw_buffer>>
      // expected-error @below {{'amdgpu.fat_raw_buffer_cast' op size must be at most 35184372088831 bytes, found up to 35184372088832}}
      %g = amdgpu.fat_raw_buffer_cast %n resetOffset : memref<1048576x8388608xf32> to memref<1048576x8388608xf32, #amdgpu.address_space<fat_raw_buffer>>
      gpu.return
    }
  }
}

// -----

gpu.module @m {
  gpu.func @dma(%m: memref<?x64xf32>) workgroup(%lds: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // expected-error @below {{'amdgpu.make_dma_base' op address must be the same in all lanes of a wave}}
    %base = amdgpu.make_dma_base %m[%t, %c0], %lds[%c0] {pa.address = #pa.address<rebase, max_offset = 4, "">} : memref<?x64xf32>, memref<64xf32, #gpu.address_space<workgroup>> -> !amdgpu.tdm_base<f32>
    gpu.return
  }
}
