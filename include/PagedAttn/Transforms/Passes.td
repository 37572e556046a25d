//===- Passes.td - Passes of PagedAttn ----------------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TRANSFORMS_PASSES_TD
#define PAGEDATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PALowerToLoops : Pass<"pa-lower-to-loops"> {
  let summary = "lower the operators to scalar loops, their reference meaning";
  let description = [{
    Replaces `pa.paged_logits`, `pa.topk` and `pa.grouped_gemm` on memrefs by
    `scf` loops around scalar `memref`, `arith` and `math` ops, one element at a
    time and in f32. The loops are the reference meaning of the ops: they run on
    any CPU, need neither a chip nor an emulator, and say what an op means where
    its description leaves a doubt. They are not meant to be fast.

    Narrow number formats (fp8, mxfp4, E8M0, bf16, f16) are decoded and encoded
    with integer ops, because CPU backends lower few conversions of such types.
    Addresses are formed from `index` values of 64 bits and from the strides of
    the operand types.

    Ops on tensors are an error: bufferize first. All other ops are left alone.

    Example:

    ```mlir
    pa.topk values(%values : memref<4x100xf32>) outs(%indices : memref<4x8xi32>)
    ```

    becomes a loop over the 4 rows that finds the 8th greatest key of the row bit
    by bit, then writes the columns that are not below it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // PAGEDATTN_TRANSFORMS_PASSES_TD
