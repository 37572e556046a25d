//===- PADialect.td - The pa dialect ------------------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PADIALECT_TD
#define PAGEDATTN_DIALECT_PADIALECT_TD

include "mlir/IR/OpBase.td"

def PA_Dialect : Dialect {
  let name = "pa";
  let cppNamespace = "::mlir::pa";
  let summary = "Paged attention scoring, selection and grouped matrix products";
  let description = [{
    The `pa` dialect holds the operators that LLM serving stacks write by hand
    for AMD Instinct accelerators, one op each:

    * `pa.paged_logits`, the score of every cached token of a sequence;
    * `pa.topk`, the k best columns of every row;
    * `pa.indexer`, the two of them without logits in memory;
    * `pa.grouped_gemm`, one matrix product per expert with block scales;

    and the few ops that their lowering needs and upstream lacks: `pa.mma`, one
    matrix instruction of a wave, `pa.group_sum`, sums over the lane groups of a
    wave, and `pa.assume`, what a caller knows of an integer.

    What belongs here: ops whose meaning is independent of a chip, with sizes
    and strides in the operand types, 64 bits wide. What does not: an op that
    would be replaced by a single op of `amdgpu`, `gpu` or `vector`; use that.

    Rules of the dialect:

    * Every constraint of an op has a label (C1, C2, ...) in its description, is
      checked by the verifier with the value found and the value allowed in the
      message, and has a negative test that carries the label.
    * Strides are those of the memref type. They are never derived from a shape:
      a cache is often a view of a larger allocation.
    * What a caller knows of a function's arguments are attributes on them:
      `pa.max_rows` or `pa.max_pages`, the greatest extent of the leading
      dimension of a memref; `pa.max_bytes`, the greatest number of bytes from
      its first element to past its last, none of its strides being negative;
      `pa.uniform`, the same value in all lanes of a wave. A wrong promise has no
      defined result.
    * A file of tests names chips by their gfx number, not by a product name.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Module attribute that names the chip, set by `pa-set-target`.
    static constexpr ::llvm::StringLiteral kTargetAttrName = "pa.target";
    /// Form of a global access, set by `pa-annotate-address-form`.
    static constexpr ::llvm::StringLiteral kAddressAttrName = "pa.address";
    /// What a caller knows of an argument: greatest extent of the leading
    /// dimension, greatest extent in bytes, and that all lanes have one value.
    static constexpr ::llvm::StringLiteral kMaxRowsAttrName = "pa.max_rows";
    static constexpr ::llvm::StringLiteral kMaxPagesAttrName = "pa.max_pages";
    static constexpr ::llvm::StringLiteral kMaxBytesAttrName = "pa.max_bytes";
    static constexpr ::llvm::StringLiteral kUniformAttrName = "pa.uniform";
    /// Dictionary on a kernel from which the manifest is made.
    static constexpr ::llvm::StringLiteral kKernelInfoAttrName = "pa.kernel";

    void registerAttributes();
  }];
}

#endif // PAGEDATTN_DIALECT_PADIALECT_TD
