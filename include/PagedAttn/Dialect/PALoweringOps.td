//===- PALoweringOps.td - Ops that the lowering needs -------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PALOWERINGOPS_TD
#define PAGEDATTN_DIALECT_PALOWERINGOPS_TD

include "PagedAttn/Dialect/PAAttrs.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// I64Attr, but its accessor is signed, as bounds are.
def PA_SignedI64Attr
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signed integer"> {
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}

def PA_AssumeOp : Op<PA_Dialect, "assume", [
    Pure, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "what the caller knows of an integer";
  let description = [{
    Returns `value`, of which the program may rely on being at least `min` and at
    most `max` (signed), a multiple of `divisor`, and with `uniform` the same in
    all lanes of a wave. A uniform assumption becomes a `rocdl.readfirstlane`, so
    that the value lives in scalar registers; the others leave no instruction. A
    wrong assumption has no defined result.

    An `opaque` value is one of which the backend knows nothing, so that it keeps
    one register for it: what is added to it is an offset of the access, or is
    added once outside of a loop. Otherwise LLVM takes such sums apart and adds
    constants to a shared register again in each iteration. It leaves no
    instruction.

    Example:

    ```mlir
    %page = pa.assume %id {min = 0 : i64, max = 213949 : i64, uniform} : index
    ```

    Constraints:

    * (C1) `min` is not above `max`, and both fit the type of the value.
    * (C2) `divisor` is positive and fits the type of the value.
    * (C3) An `opaque` value that is not `uniform` has 32 bits, or `min` and `max`
      that leave it 31.
  }];
  let arguments = (ins AnyTypeOf<[Index, I32, I64]>:$value,
                       OptionalAttr<PA_SignedI64Attr>:$min,
                       OptionalAttr<PA_SignedI64Attr>:$max,
                       OptionalAttr<PA_SignedI64Attr>:$divisor, UnitAttr:$uniform,
                       UnitAttr:$opaque);
  let results = (outs AnyTypeOf<[Index, I32, I64]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

/// Four E8M0 codes, one 32-bit register of a lane.
def PA_ScaleCodes
    : Type<CPred<"$_self == ::mlir::VectorType::get({4}, "
                 "::mlir::Float8E8M0FNUType::get($_self.getContext()))">,
           "vector of 4 f8E8M0FNU", "::mlir::VectorType">,
      BuildableType<"::mlir::VectorType::get({4}, "
                    "$_builder.getType<::mlir::Float8E8M0FNUType>())">;

def PA_MmaOp : Op<PA_Dialect, "mma", [
    Pure, AttrSizedOperandSegments, AllTypesMatch<["acc", "result"]>]> {
  let summary = "one matrix instruction of a wave";
  let description = [{
    Multiplies one tile, `result = a * b + acc`, on the fragments that each lane
    holds. Which element of the tile a lane holds where is a property of `kind`,
    given by the table of matrix instructions.

    A kind with block scales takes four E8M0 codes of each lane for either
    operand, one code for 32 values along K. An MFMA uses the one code that the
    selector names, 0 to 3, of every lane. A WMMA uses all four, of 16 lanes that
    begin with lane 16 times the selector, 0 or 1; where the tile has 32 rows, of
    all lanes.

    Example:

    ```mlir
    %d = pa.mma mfma_f32_16x16x128_fp8 %a, %b, %c
       : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
    %e = pa.mma mfma_scale_f32_16x16x128_fp8_fp4 %a, %w, %c scales(%sa[0], %sw[3])
       : vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>
    ```

    Constraints:

    * (C1) the vector types are those of `kind`: M * K, N * K and M * N elements
      over the lanes of a wave, in its element types.
    * (C2) scales are present exactly where `kind` has them.
    * (C3) a selector names a code or a lane half that `kind` has.
  }];
  let arguments = (ins PA_MmaAttr:$kind, AnyVectorOfNonZeroRank:$a,
                       AnyVectorOfNonZeroRank:$b, AnyVectorOfNonZeroRank:$acc,
                       Optional<PA_ScaleCodes>:$a_scales,
                       Optional<PA_ScaleCodes>:$b_scales,
                       DefaultValuedAttr<I32Attr, "0">:$a_select,
                       DefaultValuedAttr<I32Attr, "0">:$b_select);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$resultType, "::mlir::pa::MmaIdAttr":$kind,
                   "::mlir::Value":$a, "::mlir::Value":$b,
                   "::mlir::Value":$acc), [{
      build($_builder, $_state, resultType, kind, a, b, acc, Value(), Value(),
            0, 0);
    }]>
  ];
  let assemblyFormat = [{
    custom<MmaKind>($kind) $a `,` $b `,` $acc
    (`scales` `(` $a_scales^ `[` $a_select `]` `,` $b_scales `[` $b_select `]` `)`)?
    attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def PA_GroupSumOp : Op<PA_Dialect, "group_sum", [Pure]> {
  let summary = "sum over the lane groups of a wave, one value for each group";
  let description = [{
    A wave has one group of 16 lanes for each operand. Group j gets the sum of
    operand j over all groups, lane by lane: lane `16 * j + i` of the result is
    the sum over g of lane `16 * g + i` of operand j. It ends a matrix product
    whose rows lie in the groups: one result for each lane, no lane idle.

    Example:

    ```mlir
    %s = pa.group_sum %t0, %t1, %t2, %t3
    ```

    Constraints:

    * (C1) there are 2 operands (waves of 32 lanes) or 4 (waves of 64).
  }];
  let arguments = (ins Variadic<F32>:$values);
  let results = (outs F32:$result);
  let assemblyFormat = "$values attr-dict";
  let hasVerifier = 1;
}

#endif // PAGEDATTN_DIALECT_PALOWERINGOPS_TD
