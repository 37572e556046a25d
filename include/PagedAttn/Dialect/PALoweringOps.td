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

    Example:

    ```mlir
    %page = pa.assume %id {min = 0 : i64, max = 213949 : i64, uniform} : index
    ```

    Constraints:

    * (C1) `min` is not above `max`, and both fit the type of the value.
    * (C2) `divisor` is positive.
  }];
  let arguments = (ins AnyTypeOf<[Index, I32, I64]>:$value,
                       OptionalAttr<I64Attr>:$min, OptionalAttr<I64Attr>:$max,
                       OptionalAttr<I64Attr>:$divisor, UnitAttr:$uniform);
  let results = (outs AnyTypeOf<[Index, I32, I64]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def PA_MmaOp : Op<PA_Dialect, "mma", [
    Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "one matrix instruction of a wave";
  let description = [{
    Multiplies one tile, `result = a * b + acc`, on the fragments that each lane
    holds. Which element of the tile a lane holds where is a property of `kind`,
    given by the table of matrix instructions.

    Example:

    ```mlir
    %d = pa.mma mfma_f32_16x16x128_fp8 %a, %b, %c
       : vector<32xf8E4M3FN>, vector<32xf8E4M3FN>, vector<4xf32>
    ```

    Constraints:

    * (C1) the vector types are those of `kind`: M * K, N * K and M * N elements
      over the lanes of a wave, in its element types.
  }];
  let arguments = (ins PA_MmaAttr:$kind, AnyVectorOfNonZeroRank:$a,
                       AnyVectorOfNonZeroRank:$b, AnyVectorOfNonZeroRank:$acc);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    custom<MmaKind>($kind) $a `,` $b `,` $acc attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
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
