//===- PAAttrs.td - Attributes of the pa dialect ------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PAATTRS_TD
#define PAGEDATTN_DIALECT_PAATTRS_TD

include "PagedAttn/Dialect/PADialect.td"
include "PagedAttn/Dialect/PAEnums.td"
include "PagedAttn/Target/MmaIntrinsics.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class PA_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<PA_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Paged logits
//===----------------------------------------------------------------------===//

def PA_LayoutAttr : EnumAttr<PA_Dialect, PA_Layout, "layout"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    How the bytes of one key page are ordered, for a page of P tokens whose rows
    have R bytes (R = D for fp8, D / 2 for mxfp4):

    * `linear`: byte b of token t is where the strides of the operand say;
    * `tiled`: groups of G = min(P, 16) tokens, in which the 16-byte pieces of
      one column follow each other token by token:
      `offset(t, b) = (t / G) * G * R + (b / 16) * 16 * G + (t % G) * 16 + b % 16`.
      A wave then reads consecutive bytes and has them in the operand order of a
      16-wide matrix instruction.
  }];
}

def PA_FillAttr : EnumAttr<PA_Dialect, PA_Fill, "fill"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    Columns at or beyond the row end are never touched (`none`), or are set to
    -inf up to the width of the logits (`neg_inf`).
  }];
}

def PA_KeyFormatAttr : EnumAttr<PA_Dialect, PA_KeyFormat, "key_format"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    * `fp8`: f8E4M3FN or f8E4M3FNUZ elements and one f32 scale for each key;
    * `mxfp4`: OCP E2M1, two in a byte with the even element in the low nibble,
      and one E8M0 scale for each 32 elements of a query and of a key.
  }];
}

//===----------------------------------------------------------------------===//
// Top-k
//===----------------------------------------------------------------------===//

def PA_OrderAttr : EnumAttr<PA_Dialect, PA_Order, "order"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    `by_index`: ascending column. `by_value`: descending value, equal values by
    ascending column.
  }];
}

//===----------------------------------------------------------------------===//
// Grouped GEMM
//===----------------------------------------------------------------------===//

def PA_GemmFormatAttr : EnumAttr<PA_Dialect, PA_GemmFormat, "gemm_format"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    `a8w8`: fp8 by fp8. `a8w4`: fp8 by mxfp4. `a4w4`: mxfp4 by mxfp4. `bf16` and
    `f16`: both operands. Mxfp4 operands are i8, two elements in a byte, the even
    element in the low nibble.
  }];
}

def PA_ScaleKindAttr : EnumAttr<PA_Dialect, PA_ScaleKind, "scale"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    Rows by columns of the block that one scale serves. E8M0 code c stands for
    2^(c-127), 255 for NaN; it has no zero. `f32_row`: one f32 for a whole row.
  }];
}

def PA_WeightLayoutAttr
    : EnumAttr<PA_Dialect, PA_WeightLayout, "weight_layout"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    For one expert with rows of R bytes: `linear` is where the strides say;
    `shuffled_16x16` puts byte b of row n at
    `(n / 16) * 16 * R + (b / 16) * 256 + (n % 16) * 16 + b % 16`.
  }];
}

def PA_ScaleLayoutAttr : EnumAttr<PA_Dialect, PA_ScaleLayout, "scale_layout"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{
    Where the code of row n of B, or of A, and block column c stands among C block
    columns:

    * `linear`: where the strides say;
    * `n32k4` (gfx1250): `(n / 32) * 32 * C + (c / 4) * 128 + (n % 32) * 4 + c % 4`;
    * `n32k8` (gfx950): `(n / 32) * 32 * C + (c / 8) * 256 + (c % 4) * 64 +
      (n % 16) * 4 + ((c % 8) / 4) * 2 + (n % 32) / 16`.
  }];
}

def PA_ActivationAttr : PA_Attr<"Activation", "activation"> {
  let summary = "gated activation on interleaved gate and up columns";
  let description = [{
    Column 2p of the product is gate g, column 2p + 1 is up u, and output column
    p is, with L = `limit` and +inf where it is absent or 0:

    * `silu`: `min(g, L) * sigmoid(min(g, L)) * clamp(u, -L, L)`;
    * `swiglu`: with g and u limited likewise, but L = 7 where absent or 0:
      `g * sigmoid(1.702 * g) * (u + 1)`;
    * `situv2`: `beta * tanh(g / beta) * sigmoid(g) * linear_beta * tanh(u / linear_beta)`,
      with 1 for a beta that is absent.

    Example: `#pa.activation<silu, limit = 7.0 : f64>`.
  }];
  let parameters = (ins EnumParameter<PA_ActivationKind>:$kind,
      OptionalParameter<"::mlir::FloatAttr">:$limit,
      OptionalParameter<"::mlir::FloatAttr">:$beta,
      OptionalParameter<"::mlir::FloatAttr">:$linear_beta);
  let assemblyFormat = "`<` $kind (`,` struct($limit, $beta, $linear_beta)^)? `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Target and lowering
//===----------------------------------------------------------------------===//

def PA_TargetAttr : PA_Attr<"Target", "target"> {
  let summary = "the chip that a module is compiled for";
  let description = [{
    Names a row of the chip table. `num_cus` overrides the number of compute
    units of the row, for partitioned or smaller parts of the same chip.

    Example: `#pa.target<"gfx950">`, `#pa.target<"gfx942", num_cus = 80>`.
  }];
  let parameters = (ins StringRefParameter<"gfx number">:$chip,
                        DefaultValuedParameter<"int64_t", "0">:$num_cus);
  let assemblyFormat = "`<` $chip (`,` `num_cus` `=` $num_cus^)? `>`";
  let genVerifyDecl = 1;
}

def PA_MmaAttr : EnumAttr<PA_Dialect, PA_MmaId, "mma_kind"> {
  let assemblyFormat = "`<` $value `>`";
  let description = [{A row of the table of matrix instructions.}];
}

def PA_LogitsScheduleParameter : EnumParameter<PA_LogitsSchedule> {
  let defaultValue = "::mlir::pa::LogitsSchedule::even";
}

def PA_LogitsConfigAttr : PA_Attr<"LogitsConfig", "logits_config"> {
  let summary = "how a pa.paged_logits op is tiled";
  let description = [{
    * `mma`: the matrix instruction;
    * `chunk`: tokens in which `ragged` deals the contexts out to workgroups, and
      for which the launch takes a workgroup at most; a multiple of max(16, page);
    * `waves`: waves of a workgroup;
    * `schedule`: with `even` every sequence has the same number of workgroups,
      which take its steps, of as many tokens as a workgroup has lanes, in turn;
      with `ragged` all chunks of all sequences are dealt out evenly, so that a
      short sequence does not wait for a long one;
    * `splits`: workgroups of one sequence (`even`) or of all (`ragged`); 0 leaves
      it to the launch, which takes as many as fill the chip;
    * `query`: the queries and weights of a sequence stay in registers, are kept
      in LDS, or are read from memory for every tile.

    `pa-configure` chooses what is absent; what is written by hand is verified
    and kept.

    Example:
    `#pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4, splits = 0, query = lds>`.
  }];
  let parameters = (ins EnumParameter<PA_MmaId>:$mma, "int64_t":$chunk,
                        "int64_t":$waves, "int64_t":$splits,
                        EnumParameter<PA_QueryPlace>:$query,
                        PA_LogitsScheduleParameter:$schedule);
  let assemblyFormat = "`<` struct(params) `>`";
}

def PA_TopKConfigAttr : PA_Attr<"TopKConfig", "topk_config"> {
  let summary = "how a pa.topk op is tiled";
  let description = [{
    * `waves`: waves of a workgroup;
    * `loads`: loads of 16 bytes that a lane has in flight, one tile of a
      workgroup being `waves * lanes * loads * 4` columns;
    * `candidates`: columns that a workgroup keeps in LDS, from which it drops
      all but the k best whenever they could overflow;
    * `splits`: workgroups that share one row. With more than one, a second
      launch merges what they found. 0 leaves it to the launch, which shares few
      long rows and gives a row of few columns to one wave.

    `pa-configure` chooses what is absent; what is written by hand is verified
    and kept.

    Example:
    `#pa.topk_config<waves = 16, loads = 4, candidates = 6144, splits = 1>`.
  }];
  let parameters = (ins "int64_t":$waves, "int64_t":$loads,
                        "int64_t":$candidates, "int64_t":$splits);
  let assemblyFormat = "`<` struct(params) `>`";
}

def PA_IndexerConfigAttr : PA_Attr<"IndexerConfig", "indexer_config"> {
  let summary = "how a pa.indexer op is tiled";
  let description = [{
    * `mma`: the matrix instruction;
    * `waves`: waves of a workgroup;
    * `steps`: how often each wave scores as many tokens as it has lanes before
      the workgroup looks at the scores;
    * `query`: where the waves find the queries, as in `#pa.logits_config`;
    * `rows`: query rows of a sequence that a workgroup selects for. With fewer
      than N, several workgroups read the same keys;
    * `candidates`: columns of each row that a workgroup keeps in LDS, from which
      it drops all but the k best, or a few more, whenever they could overflow;
    * `splits`: workgroups that share the context of a sequence. With more than
      one, a second launch merges what they found. 0 leaves it to the launch.

    `pa-configure` chooses what is absent; what is written by hand is verified
    and kept.

    Example:
    `#pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 2, query = registers, rows = 1, candidates = 6144, splits = 0>`.
  }];
  let parameters = (ins EnumParameter<PA_MmaId>:$mma, "int64_t":$waves,
                        "int64_t":$steps, EnumParameter<PA_QueryPlace>:$query,
                        "int64_t":$rows, "int64_t":$candidates,
                        "int64_t":$splits);
  let assemblyFormat = "`<` struct(params) `>`";
}

def PA_GemmConfigAttr : PA_Attr<"GemmConfig", "gemm_config"> {
  let summary = "how a pa.grouped_gemm op is tiled";
  let description = [{
    * `mma`: the matrix instruction. Its A operand are the weights, so that the
      columns of a tile are rows of the output;
    * `tile_m`, `tile_n`, `tile_k`: output rows, columns and elements of K that a
      workgroup takes at once. A last tile is computed whatever its size;
    * `waves_m`, `waves_n`: waves of a workgroup that share its rows and columns;
    * `waves_k`: waves that share its K; their sums meet in LDS in a fixed order;
    * `stages`: tiles that are in LDS at once. With 0 every wave loads what it
      multiplies straight into registers, which is best where no other wave
      needs it.

    `pa-configure` chooses what is absent; what is written by hand is verified
    and kept.

    Example:
    `#pa.gemm_config<mma = mfma_scale_f32_16x16x128_fp4, tile_m = 256, tile_n = 256, tile_k = 128, waves_m = 2, waves_n = 2, waves_k = 1, stages = 2>`.
  }];
  let parameters = (ins EnumParameter<PA_MmaId>:$mma, "int64_t":$tile_m,
                        "int64_t":$tile_n, "int64_t":$tile_k,
                        "int64_t":$waves_m, "int64_t":$waves_n,
                        "int64_t":$waves_k, "int64_t":$stages);
  let assemblyFormat = "`<` struct(params) `>`";
}

def PA_AddressAttr : PA_Attr<"Address", "address"> {
  let summary = "proven form of one global access";
  let description = [{
    * `narrow`: the whole byte offset fits the 32-bit offset of one buffer
      resource;
    * `rebase`: the wave-uniform part goes into the 64-bit base, the rest fits;
    * `global`: a 64-bit address for each lane.

    `max_offset` is the greatest byte offset that the access forms from the base
    it uses, the size of the access included, or -1 where no bound is known.
    `reason` says what was proven or what was missing.
  }];
  let parameters = (ins EnumParameter<PA_AddressForm>:$form,
                        "int64_t":$max_offset,
                        StringRefParameter<"what decided the form">:$reason);
  let assemblyFormat = "`<` $form `,` `max_offset` `=` $max_offset `,` $reason `>`";
  let genVerifyDecl = 1;
}

#endif // PAGEDATTN_DIALECT_PAATTRS_TD
