// RUN: pa-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{argument 1: pa.max_rows must be on a memref, found 'index'}}
func.func private @type(memref<?xf32>, index {pa.max_rows = 4 : i64})

// -----

// expected-error @below {{argument 0: pa.max_rows must be on a memref with a leading dimension, found 'memref<f32>'}}
func.func private @rank(memref<f32> {pa.max_rows = 4 : i64})

// -----

// expected-error @below {{argument 0: pa.max_pages must be at least the leading extent 8, found 7}}
func.func private @extent(memref<8xf32> {pa.max_pages = 7 : i64})

// -----

// expected-error @below {{argument 0: pa.max_bytes must not be negative, found -1}}
func.func private @negative(memref<?xf32> {pa.max_bytes = -1 : i64})

// -----

// expected-error @below {{argument 0: pa.max_bytes must be a 64-bit integer, found 4 : i32}}
func.func private @width(memref<?xf32> {pa.max_bytes = 4 : i32})

// -----

// expected-error @below {{argument 0: pa.max_bytes must be a 64-bit integer, found "4"}}
func.func private @text(memref<?xf32> {pa.max_bytes = "4"})

// -----

// expected-error @below {{argument 0: pa.uniform must be a unit attribute, found true}}
func.func private @unit(index {pa.uniform = true})

// -----

// expected-error @below {{argument 0: pa.max_row is no attribute of an argument; there are pa.max_rows, pa.max_pages, pa.max_bytes and pa.uniform}}
func.func private @name(memref<?xf32> {pa.max_row = 4 : i64})

// -----

gpu.module @m {
  // expected-error @below {{argument 0: pa.max_rows must not be negative, found -2}}
  gpu.func @kernel(%m: memref<?xf32> {pa.max_rows = -2 : i64}) kernel {
    gpu.return
  }
}

// -----

func.func @address(%m: memref<4xf32>, %i: index) {
  // expected-error @below {{pa.address must be a #pa.address, found "narrow"}}
  %0 = memref.load %m[%i] {pa.address = "narrow"} : memref<4xf32>
  return
}
