//===- PAEnums.td - Enums of the pa dialect -----------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PAENUMS_TD
#define PAGEDATTN_DIALECT_PAENUMS_TD

include "mlir/IR/EnumAttr.td"

class PA_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::pa";
  let genSpecializedAttr = 0;
}

def PA_Layout : PA_I32Enum<"Layout", "byte order of a key page", [
    I32EnumAttrCase<"linear", 0>, I32EnumAttrCase<"tiled", 1>]>;

def PA_Fill : PA_I32Enum<"Fill", "what a row holds at and beyond its end", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"neg_inf", 1>]>;

def PA_KeyFormat : PA_I32Enum<"KeyFormat", "number format of queries and keys", [
    I32EnumAttrCase<"fp8", 0>, I32EnumAttrCase<"mxfp4", 1>]>;

def PA_Order : PA_I32Enum<"Order", "order of the selected columns", [
    I32EnumAttrCase<"by_index", 0>, I32EnumAttrCase<"by_value", 1>]>;

def PA_GemmFormat : PA_I32Enum<"GemmFormat", "number formats of A and B", [
    I32EnumAttrCase<"a8w8", 0>, I32EnumAttrCase<"a8w4", 1>,
    I32EnumAttrCase<"a4w4", 2>, I32EnumAttrCase<"bf16", 3>,
    I32EnumAttrCase<"f16", 4>]>;

def PA_ScaleKind : PA_I32Enum<"ScaleKind", "block scale of one operand", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"e8m0_1x32", 1>,
    I32EnumAttrCase<"e8m0_32x32", 2>, I32EnumAttrCase<"f32_1x128", 3>,
    I32EnumAttrCase<"f32_128x128", 4>, I32EnumAttrCase<"f32_row", 5>]>;

def PA_WeightLayout : PA_I32Enum<"WeightLayout", "byte order of B", [
    I32EnumAttrCase<"linear", 0>, I32EnumAttrCase<"shuffled_16x16", 1>]>;

def PA_ScaleLayout : PA_I32Enum<"ScaleLayout", "byte order of E8M0 scales", [
    I32EnumAttrCase<"linear", 0>, I32EnumAttrCase<"n32k4", 1>,
    I32EnumAttrCase<"n32k8", 2>]>;

def PA_ActivationKind : PA_I32Enum<"ActivationKind", "activation function", [
    I32EnumAttrCase<"silu", 0>, I32EnumAttrCase<"swiglu", 1>,
    I32EnumAttrCase<"situv2", 2>]>;

def PA_QueryPlace : PA_I32Enum<"QueryPlace", "where a wave finds the queries", [
    I32EnumAttrCase<"registers", 0>, I32EnumAttrCase<"lds", 1>,
    I32EnumAttrCase<"memory", 2>]>;

def PA_LogitsSchedule : PA_I32Enum<"LogitsSchedule", "who scores what", [
    I32EnumAttrCase<"even", 0>, I32EnumAttrCase<"ragged", 1>]>;

def PA_AddressForm : PA_I32Enum<"AddressForm", "form of a global access", [
    I32EnumAttrCase<"narrow", 0>, I32EnumAttrCase<"rebase", 1>,
    I32EnumAttrCase<"global", 2>]>;

#endif // PAGEDATTN_DIALECT_PAENUMS_TD
