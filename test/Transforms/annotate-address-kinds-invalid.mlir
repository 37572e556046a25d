// RUN: pa-opt %s --pa-annotate-address-form --split-input-file --verify-diagnostics


gpu.module @m {
  gpu.func @copy(%m: memref<64xf32>, %n: memref<64xf32>) kernel {
    // expected-error @below {{'memref.copy' op accesses global memory in a way that has no address form; lower it to loads and stores first}}
    memref.copy %m, %n : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @expand(%m: memref<64xf32>, %mask: vector<4xi1>, %v: vector<4xf32>, %i: index) kernel {
    // expected-error @below {{'vector.expandload' op accesses global memory in a way that has no address form}}
    %0 = vector.expandload %m[%i], %mask, %v : memref<64xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @tdm(%m: memref<?x64xf32>) workgroup(%lds: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // expected-error @below {{'amdgpu.make_dma_base' op address must be the same in all lanes of a wave, found an index that is not proven to be; pa.assume uniform states it}}
    %base = amdgpu.make_dma_base %m[%t, %c0], %lds[%c0] : memref<?x64xf32>, memref<64xf32, #gpu.address_space<workgroup>> -> !amdgpu.tdm_base<f32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @tdm_view(%m: memref<?x64xf32>) workgroup(%lds: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %row = memref.subview %m[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-error @below {{'amdgpu.make_dma_base' op address must be the same in all lanes of a wave, found a memref that is not proven to be}}
    %base = amdgpu.make_dma_base %row[%c0], %lds[%c0] : memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, #gpu.address_space<workgroup>> -> !amdgpu.tdm_base<f32>
    gpu.return
  }
}

// -----

// A copy to LDS cannot leave the resource: a lane that is masked off writes
// nothing, a lane out of range writes 0.
gpu.module @m {
  gpu.func @to_lds(%m: memref<?x64xf32>, %i: index) workgroup(%lds: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<?x64xf32> to memref<?x64xf32, #amdgpu.address_space<fat_raw_buffer>>
    // expected-error @below {{'amdgpu.gather_to_lds' op has a 32-bit offset that is not proven to fit and no 64-bit form: no bound for index 0}}
    amdgpu.gather_to_lds %f[%i, %c0], %lds[%c0] : f32, memref<?x64xf32, #amdgpu.address_space<fat_raw_buffer>>, memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @cmpswap(%m: memref<?xi32>, %i: i32, %v: i32) kernel {
    // expected-error @below {{'amdgpu.raw_buffer_atomic_cmpswap' op has a 32-bit offset that is not proven to fit and no 64-bit form: offset is -8589934592 to 8589934588, limit 2147483647}}
    %0 = amdgpu.raw_buffer_atomic_cmpswap %v, %v -> %m[%i] : i32 -> memref<?xi32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @given(%m: memref<?xi32, #amdgpu.address_space<fat_raw_buffer>>, %i: index) kernel {
    // expected-error @below {{'memref.load' op has a 32-bit offset that is not proven to fit and no 64-bit form: no bound for index 0}}
    %0 = memref.load %m[%i] : memref<?xi32, #amdgpu.address_space<fat_raw_buffer>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rocdl(%p: !llvm.ptr<8>, %i: i32) kernel {
    // expected-error @below {{'rocdl.raw.ptr.buffer.load' op accesses a buffer resource below the level at which offsets are proven}}
    %0 = rocdl.raw.ptr.buffer.load %p, %i, %i, %i : f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @fat_pointer(%p: !llvm.ptr<7>, %q: !llvm.ptr<1>) kernel {
    // A pointer of 64 bits is what it is.
    %0 = llvm.load %q : !llvm.ptr<1> -> f32
    // expected-error @below {{'llvm.store' op accesses a buffer resource below the level at which offsets are proven}}
    llvm.store %0, %p : f32, !llvm.ptr<7>
    gpu.return
  }
}

// -----

func.func @host(%m: memref<?xi32>, %v: i32) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch' op must be outlined before its addresses are examined; run gpu-kernel-outlining first}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %v, %m[%tx] : memref<?xi32>
    gpu.terminator
  }
  return
}
