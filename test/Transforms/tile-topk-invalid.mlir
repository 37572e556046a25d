// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx942},pa-configure,pa-tile)" -split-input-file -verify-diagnostics

func.func @lds(%v: memref<8x4096xf32>, %i: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op candidates = 9000 needs 76712 bytes of LDS, gfx942 has 65536}}
  pa.topk values(%v : memref<8x4096xf32>) outs(%i : memref<8x512xi32>)
    {config = #pa.topk_config<waves = 16, loads = 2, candidates = 9000, splits = 1>}
  return
}

// -----

func.func @inner_stride(%v: memref<8x4096xf32, strided<[?, ?]>>, %i: memref<8x512xi32>) {
  // expected-error @below {{'pa.topk' op innermost stride must be 1 for a chip, found a dynamic one in 'memref<8x4096xf32, strided<[?, ?]>>'; bufferize with identity layouts at function boundaries}}
  pa.topk values(%v : memref<8x4096xf32, strided<[?, ?]>>) outs(%i : memref<8x512xi32>)
  return
}

// -----

func.func @tensors(%v: tensor<8x4096xf32>, %i: tensor<8x512xi32>) -> tensor<8x512xi32> {
  // expected-error @below {{'pa.topk' op must be on memrefs to be tiled, bufferize first; found 'tensor<8x4096xf32>'}}
  %r = pa.topk values(%v : tensor<8x4096xf32>) outs(%i : tensor<8x512xi32>) -> tensor<8x512xi32>
  return %r : tensor<8x512xi32>
}
