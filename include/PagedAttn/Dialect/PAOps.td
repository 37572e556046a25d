//===- PAOps.td - Operators of the pa dialect ---------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operators. The ops that only their lowering needs are in
// PALoweringOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PAOPS_TD
#define PAGEDATTN_DIALECT_PAOPS_TD

include "PagedAttn/Dialect/PAAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def PA_Shaped : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef],
                          "ranked tensor or strided memref">;

/// An op that reads its operands and updates its inits in place. On tensors it
/// returns the updated inits and is pure, on memrefs it has no result.
class PA_DestinationOp<string mnemonic, list<Trait> traits = []>
    : Op<PA_Dialect, mnemonic, traits # [
        AttrSizedOperandSegments, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// paged_logits
//===----------------------------------------------------------------------===//

def PA_PagedLogitsOp : PA_DestinationOp<"paged_logits"> {
  let summary = "scores of the cached keys of each sequence";
  let description = [{
    For row `r = b * N + i` and column `c`, with page `p = block_table[b, c / P]`
    and slot `t = c % P`:

    ```
    logits[r, c] = key_scales[p, t]
                 * sum_h weights[r, h] * max(sum_d q[b, i, h, d] * keys[p, t, d], 0)
    ```

    in f32. The key scale, which is not negative, is applied once, after the sum
    over the heads. For `#pa.key_format<mxfp4>` there is no f32 key scale; the
    E8M0 scales of query and key, one for each 32 elements, apply inside the
    product, and element pairs are packed in i8, the even one in the low nibble.

    A row ends at `row_ends[r]` where given, else at
    `context_lens[b] - N + i + 1`; below 0 counts as 0, and a row never ends
    after its context, its columns or its block table. Columns before the end
    are written. Columns at or after it are left alone or become -inf, as `fill`
    says. Block-table entries at or beyond `ceil(context_lens[b] / P)` are never
    read, whatever they hold. Page ids are unsigned, in any order, and may
    repeat. A product that is NaN has no defined share in its logit: the loops
    keep it, a chip's maximum drops it. A NaN key scale makes the logit NaN.

    Example:

    ```mlir
    pa.paged_logits queries(%q : memref<256x4x128x128xf8E4M3FN>)
        keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>)
        key_scales(%scales : memref<?x64xf32, strided<[2112, 1], offset: 2048>>)
        weights(%w : memref<1024x128xf32>)
        block_table(%table : memref<256x16384xi32>)
        context_lens(%lens : memref<256xi32>)
        outs(%logits : memref<1024x1048576xf32>) {layout = #pa.layout<tiled>}
    ```

    Constraints:

    * (C1) ranks: `q` 4, `keys` 3, `key_scales` 2 (3 for mxfp4), `query_scales`
      4, `weights` 2, `block_table` 2, `context_lens` 1, `row_ends` 1,
      `logits` 2.
    * (C2) all operands are tensors, or all are memrefs.
    * (C3) element types: `q` and `keys` the same fp8 type for fp8, i8 for mxfp4;
      `key_scales` f32, or i8 / f8E8M0FNU codes for mxfp4; `weights` and
      `logits` f32; `block_table`, `context_lens`, `row_ends` i32.
    * (C4) `query_scales` is present exactly for mxfp4.
    * (C5) extents agree: B, N, H, D, P and the number of pages mean the same in
      every operand; `weights`, `row_ends` and `logits` have B * N rows.
    * (C6) N, H, D and P are static; D is a multiple of 64 from 64 to 256, H a
      multiple of 16 from 16 to 128, N from 1 to 8.
    * (C7) P is 1 to 256 and divides 16 or is a multiple of 16.
    * (C8) `layout = tiled` needs P of at least 8 and keys whose slots are
      contiguous inside a page (strides `[any, R, 1]` for rows of R bytes).
    * (C9) the innermost stride of `q`, `keys`, `weights`, `block_table` and
      `logits` is 1, no static stride is negative, the rows of `logits` do not
      overlap, and the bytes of every operand fit 63 bits. A dynamic innermost
      stride is legal in the reference lowering and refused for a chip.
    * (C10) a `chunk` in `config` is a positive multiple of max(16, P), `waves`
      is 1 to 16, `splits` is not negative, `chunk` and `splits` are at most
      2^31 - 1.
  }];
  let arguments = (ins
    PA_Shaped:$q, Optional<PA_Shaped>:$query_scales,
    PA_Shaped:$keys, PA_Shaped:$key_scales, PA_Shaped:$weights,
    PA_Shaped:$block_table, PA_Shaped:$context_lens,
    Optional<PA_Shaped>:$row_ends, PA_Shaped:$logits,
    DefaultValuedAttr<PA_LayoutAttr, "::mlir::pa::Layout::linear">:$layout,
    DefaultValuedAttr<PA_FillAttr, "::mlir::pa::Fill::none">:$fill,
    DefaultValuedAttr<PA_KeyFormatAttr, "::mlir::pa::KeyFormat::fp8">:$format,
    OptionalAttr<PA_LogitsConfigAttr>:$config);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `queries` `(` $q `:` type($q) `)`
    (`query_scales` `(` $query_scales^ `:` type($query_scales) `)`)?
    `keys` `(` $keys `:` type($keys) `)`
    `key_scales` `(` $key_scales `:` type($key_scales) `)`
    `weights` `(` $weights `:` type($weights) `)`
    `block_table` `(` $block_table `:` type($block_table) `)`
    `context_lens` `(` $context_lens `:` type($context_lens) `)`
    (`row_ends` `(` $row_ends^ `:` type($row_ends) `)`)?
    `outs` `(` $logits `:` type($logits) `)`
    attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    /// What it has in common with pa.indexer.
    LogitsOperands getLogitsOperands();
    /// N, the query rows of a sequence.
    int64_t getNumQueries();
    /// H, the heads.
    int64_t getNumHeads();
    /// D, the elements of a head.
    int64_t getHeadDim();
    /// P, the tokens of a page.
    int64_t getPageSize();
    /// Bytes of one key: D for fp8, D / 2 for mxfp4.
    int64_t getKeyBytes();

    MutableOperandRange getDpsInitsMutable() { return getLogitsMutable(); }
  }];
}

//===----------------------------------------------------------------------===//
// topk
//===----------------------------------------------------------------------===//

def PA_TopKOp : PA_DestinationOp<"topk"> {
  let summary = "the k best columns of every row";
  let description = [{
    Selects, for every row r, the k greatest of `values[r, c]` for c from
    `row_starts[r]` (0 where absent) to the row end under a total order: numbers as IEEE orders them with +0 above -0,
    NaN of either sign below -inf, equal ones by lower column first. The result
    is therefore unique.

    `indices[r, :]` holds the selected columns in the order of `order`. A row
    with fewer than k columns gives all of them, then -1, and -inf in
    `top_values`. An empty or negative range is legal. Nothing at or beyond the
    row end, or before the row start, is read.

    The row end is `row_ends[r]`, or with `context_lens` and `next_n` = N that of
    row r = b * N + i of pa.paged_logits, `max(0, context_lens[b] - N + i + 1)`, or
    else all columns; never more than there are.

    Example:

    ```mlir
    pa.topk values(%logits : memref<1024x1048576xf32>)
        context_lens(%lens : memref<256xi32>)
        outs(%indices : memref<1024x2048xi32>)
        {next_n = 4 : i64, order = #pa.order<by_value>}
    ```

    Constraints:

    * (C1) ranks: `values` and the outputs 2, `row_starts`, `row_ends` and
      `context_lens` 1.
    * (C2) all operands are tensors, or all are memrefs.
    * (C3) element types: `values` and `top_values` f32, the others i32.
    * (C4) the number of rows is the same everywhere, and `top_values` has the
      extents of `indices`.
    * (C5) k, the columns of `indices`, is static and 1 to 4096.
    * (C6) a static column count is at most 2^31 - 1.
    * (C7) the innermost stride of `values`, `indices` and `top_values` is 1, no
      static stride is negative, the rows of the outputs do not overlap, and the
      bytes of every operand fit 63 bits. A dynamic innermost stride is legal in
      the reference lowering and refused for a chip.
    * (C8) in `config`, `waves` are 1 to 16, `loads` 1 to 4 or 8, `splits` 0 to 256,
      and `candidates` are at least k + 256 * `loads` and at most 32768.
    * (C9) `context_lens` come with `next_n`, which is at least 1 and at most
      2^31 - 1, and without `row_ends`; rows are `next_n` times as many as they.
  }];
  let arguments = (ins
    PA_Shaped:$values, Optional<PA_Shaped>:$row_starts,
    Optional<PA_Shaped>:$row_ends, Optional<PA_Shaped>:$context_lens,
    PA_Shaped:$indices, Optional<PA_Shaped>:$top_values,
    OptionalAttr<I64Attr>:$next_n,
    DefaultValuedAttr<PA_OrderAttr, "::mlir::pa::Order::by_index">:$order,
    OptionalAttr<PA_TopKConfigAttr>:$config);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `values` `(` $values `:` type($values) `)`
    (`row_starts` `(` $row_starts^ `:` type($row_starts) `)`)?
    (`row_ends` `(` $row_ends^ `:` type($row_ends) `)`)?
    (`context_lens` `(` $context_lens^ `:` type($context_lens) `)`)?
    `outs` `(` $indices `:` type($indices)
      (`,` $top_values^ `:` type($top_values))? `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// k, the columns selected in a row.
    int64_t getK();

    MutableOperandRange getDpsInitsMutable() {
      unsigned first = getIndicesMutable().getOperandNumber();
      return MutableOperandRange(getOperation(), first,
                                 getTopValues() ? 2 : 1);
    }
  }];
}

//===----------------------------------------------------------------------===//
// indexer
//===----------------------------------------------------------------------===//

def PA_IndexerOp : PA_DestinationOp<"indexer"> {
  let summary = "the k best cached keys of each query row";
  let description = [{
    What `pa.topk` selects in the logits of `pa.paged_logits`, without logits in
    memory. With `logits` of B * N rows and `columns` columns that nobody else
    sees it means

    ```mlir
    pa.paged_logits queries(%q) ... outs(%logits) {layout, format}
    pa.topk values(%logits) row_ends(%ends) outs(%indices, %top_values) {order}
    ```

    where `%ends` are the ends that `pa.paged_logits` gives its rows: from
    `row_ends`, or else from `context_lens`, and never after the context, the
    columns or the block table. What is said there of block tables, page ids,
    scales and NaN holds here. `columns` below 0 counts as 0.

    Example:

    ```mlir
    pa.indexer queries(%q : memref<256x4x128x128xf8E4M3FN>)
        keys(%keys : memref<?x64x128xf8E4M3FN, strided<[8448, 128, 1]>>)
        key_scales(%scales : memref<?x64xf32, strided<[2112, 1], offset: 2048>>)
        weights(%w : memref<1024x128xf32>)
        block_table(%table : memref<256x16384xi32>)
        context_lens(%lens : memref<256xi32>) columns(%columns)
        outs(%indices : memref<1024x2048xi32>) {layout = #pa.layout<tiled>}
    ```

    Constraints:

    * (C1) ranks: those of `pa.paged_logits` for its operands, 2 for the outputs.
    * (C2) all operands but `columns` are tensors, or all are memrefs.
    * (C3) element types: those of `pa.paged_logits` for its operands; `indices`
      i32, `top_values` f32.
    * (C4) `query_scales` is present exactly for mxfp4.
    * (C5) extents agree as in `pa.paged_logits`; the outputs have B * N rows,
      and `top_values` has the extents of `indices`.
    * (C6) N, H, D, P are what `pa.paged_logits` allows.
    * (C7) k, the columns of `indices`, is static and 1 to 4096.
    * (C8) `layout = tiled` needs what it needs in `pa.paged_logits`.
    * (C9) strides of the operands are what `pa.paged_logits` allows; the
      innermost stride of the outputs is 1, no static stride is negative, their
      rows do not overlap, and the bytes of every operand fit 63 bits. A dynamic
      innermost stride is legal in the reference lowering and refused for a chip.
    * (C10) in `config`, `waves` are 1 to 16, `steps` 1, 2, 4 or 8, `rows` 1 to N,
      `splits` 0 to 256, and `candidates` are at least k and at most 32768. A chip
      needs room for `waves * steps` times its wave size beside the k best.
    * (C11) constant `columns` are at most 2^31 - 1.
  }];
  let arguments = (ins
    PA_Shaped:$q, Optional<PA_Shaped>:$query_scales,
    PA_Shaped:$keys, PA_Shaped:$key_scales, PA_Shaped:$weights,
    PA_Shaped:$block_table, PA_Shaped:$context_lens,
    Optional<PA_Shaped>:$row_ends, Index:$columns,
    PA_Shaped:$indices, Optional<PA_Shaped>:$top_values,
    DefaultValuedAttr<PA_LayoutAttr, "::mlir::pa::Layout::linear">:$layout,
    DefaultValuedAttr<PA_KeyFormatAttr, "::mlir::pa::KeyFormat::fp8">:$format,
    DefaultValuedAttr<PA_OrderAttr, "::mlir::pa::Order::by_index">:$order,
    OptionalAttr<PA_IndexerConfigAttr>:$config);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `queries` `(` $q `:` type($q) `)`
    (`query_scales` `(` $query_scales^ `:` type($query_scales) `)`)?
    `keys` `(` $keys `:` type($keys) `)`
    `key_scales` `(` $key_scales `:` type($key_scales) `)`
    `weights` `(` $weights `:` type($weights) `)`
    `block_table` `(` $block_table `:` type($block_table) `)`
    `context_lens` `(` $context_lens `:` type($context_lens) `)`
    (`row_ends` `(` $row_ends^ `:` type($row_ends) `)`)?
    `columns` `(` $columns `)`
    `outs` `(` $indices `:` type($indices)
      (`,` $top_values^ `:` type($top_values))? `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// What it has in common with pa.paged_logits.
    LogitsOperands getLogitsOperands();
    /// k, the columns selected in a row.
    int64_t getK();

    MutableOperandRange getDpsInitsMutable() {
      unsigned first = getIndicesMutable().getOperandNumber();
      return MutableOperandRange(getOperation(), first,
                                 getTopValues() ? 2 : 1);
    }
  }];
}

//===----------------------------------------------------------------------===//
// grouped_gemm
//===----------------------------------------------------------------------===//

def PA_GroupedGemmOp : PA_DestinationOp<"grouped_gemm", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one matrix product per group of rows, with block scales";
  let description = [{
    For the rows m of group e, from `offsets[e]` to `offsets[e + 1]`:

    ```
    product[m, n] = sum_q scale_a[m, q] * scale_b[e, n, q]
                  * sum_{k in block q} a[rows[m], k] * b[e, n, k] + bias[e, n]
    c[m, :] = row_weights[m] * act(product[m, :])
    ```

    in f32, where `rows[m]` is m unless `row_ids` gives it. Without `offsets`
    there is one group, of all rows. Rows outside every group are not touched,
    empty groups are legal. Scales of E8M0 codes combine by adding exponents, so
    that the pair (0, 254) is exact; a code of 255 gives NaN in every output that
    it touches. A column count K of any multiple of the scale block is computed
    whole.

    Offsets are cut to the rows of `c`. A row whose id in `row_ids` is not a row
    of `a` is not touched either.

    With `c_scales` the result is requantised in blocks of 32 output columns:
    the E8M0 code is the least power of two not below `amax / max` (448 for
    f8E4M3FN, 240 for f8E4M3FNUZ, 6 for mxfp4 in i8), at least code 0, and an
    element is the nearest to its value over that scale, ties to even, saturating.
    An infinite amax counts as the largest f32; a NaN in a block gives it the code
    255, whatever its elements.

    Example:

    ```mlir
    pa.grouped_gemm a(%a : memref<?x640xf8E4M3FN>)
        a_scales(%sa : memref<?x20xi8>) b(%b : memref<8x1024x320xi8>)
        b_scales(%sb : memref<8x1024x20xi8>) offsets(%offsets : memref<9xi32>)
        outs(%c : memref<?x512xbf16>)
        {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
         b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
    ```

    Constraints:

    * (C1) ranks: `a` 2, `b` 3, `c` 2, `a_scales` 2, `b_scales` 3, `bias` 2,
      `offsets`, `row_ids` and `row_weights` 1, `c_scales` 2. Scales of kind
      `f32_row` drop the last dimension.
    * (C2) all operands are tensors, or all are memrefs.
    * (C3) element types are those of `format`; E8M0 scales are i8 or f8E8M0FNU,
      f32 scales, `bias` and `row_weights` f32, `offsets` and `row_ids` i32; `c`
      is bf16, f16 or f32, or with `c_scales` fp8 or i8.
    * (C4) scale operands are present exactly where the scale kind is not `none`;
      bf16 and f16 have none.
    * (C5) extents agree: K, N, the number of groups and rows mean the same in
      every operand, `offsets` has one entry more than there are groups, and
      `row_ids`, or without them `a`, has the rows of `c`.
    * (C6) N and K are static, K is positive and a multiple of the scale block
      (of 2 for mxfp4), and every scale operand has the extent that K and N need.
    * (C7) `activation` needs an even N, and `c` has N / 2 columns with it.
    * (C8) requantised output has a multiple of 32 columns.
    * (C9) a shuffled weight layout needs N to be a multiple of 16 and rows of a
      multiple of 32 bytes; scale layouts other than linear need E8M0 1x32
      scales, N a multiple of 32 and K / 32 a multiple of 4 (`n32k4`) or 8
      (`n32k8`); both need the operand contiguous inside an expert. The same
      holds of `a_scale_layout`, whose `a_scales` have a multiple of 32 rows, at
      least those of `a`.
    * (C10) the innermost stride of `a`, `b`, `c` and `bias` is 1, no static
      stride is negative, the rows of the outputs do not overlap, and the bytes
      of every operand fit 63 bits. A dynamic innermost stride is legal in the
      reference lowering and refused for a chip.
    * (C11) `e8m0_32x32` and `f32_128x128` are scale kinds of B only,
      `f32_1x128` of A only.
    * (C12) in `config`, the tile sizes and waves are positive and the tile sizes
      at most 1024, there are at most 16 waves in all, and at most 8 stages. K
      is shared among waves only where operands go straight to registers.
    * (C13) offsets that are a constant, or a constant global, are not negative,
      do not decrease and do not exceed the rows of `c`. Those of the device are
      cut instead.
  }];
  let arguments = (ins
    PA_Shaped:$a, Optional<PA_Shaped>:$a_scales, PA_Shaped:$b,
    Optional<PA_Shaped>:$b_scales, Optional<PA_Shaped>:$bias,
    Optional<PA_Shaped>:$offsets, Optional<PA_Shaped>:$row_ids,
    Optional<PA_Shaped>:$row_weights, PA_Shaped:$c,
    Optional<PA_Shaped>:$c_scales,
    PA_GemmFormatAttr:$format,
    DefaultValuedAttr<PA_ScaleKindAttr, "::mlir::pa::ScaleKind::none">:$a_scale,
    DefaultValuedAttr<PA_ScaleKindAttr, "::mlir::pa::ScaleKind::none">:$b_scale,
    DefaultValuedAttr<PA_WeightLayoutAttr,
                      "::mlir::pa::WeightLayout::linear">:$weight_layout,
    DefaultValuedAttr<PA_ScaleLayoutAttr,
                      "::mlir::pa::ScaleLayout::linear">:$scale_layout,
    DefaultValuedAttr<PA_ScaleLayoutAttr,
                      "::mlir::pa::ScaleLayout::linear">:$a_scale_layout,
    OptionalAttr<PA_ActivationAttr>:$activation,
    OptionalAttr<PA_GemmConfigAttr>:$config);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `a` `(` $a `:` type($a) `)`
    (`a_scales` `(` $a_scales^ `:` type($a_scales) `)`)?
    `b` `(` $b `:` type($b) `)`
    (`b_scales` `(` $b_scales^ `:` type($b_scales) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    (`row_ids` `(` $row_ids^ `:` type($row_ids) `)`)?
    (`row_weights` `(` $row_weights^ `:` type($row_weights) `)`)?
    `outs` `(` $c `:` type($c) (`,` $c_scales^ `:` type($c_scales))? `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// E, the groups of `b`.
    int64_t getNumGroups();
    /// N, the columns of the product before the activation.
    int64_t getN();
    /// K, the length of the sum, in elements.
    int64_t getK();
    /// Whether an operand is packed mxfp4.
    bool hasFp4A();
    bool hasFp4B();

    MutableOperandRange getDpsInitsMutable() {
      unsigned first = getCMutable().getOperandNumber();
      return MutableOperandRange(getOperation(), first, getCScales() ? 2 : 1);
    }
  }];
}

#endif // PAGEDATTN_DIALECT_PAOPS_TD
