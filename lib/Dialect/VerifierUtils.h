//===- VerifierUtils.h - Checks that several ops share ----------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_DIALECT_VERIFIERUTILS_H
#define PAGEDATTN_LIB_DIALECT_VERIFIERUTILS_H

#include "PagedAttn/Dialect/PA.h"

namespace mlir::pa {

/// One operand under verification: its name in messages and its value, which
/// is null for an absent optional operand.
struct NamedOperand {
  StringRef name;
  Value value;
  ShapedType type() const { return cast<ShapedType>(value.getType()); }
};

/// An output under verification and what its elements must be.
struct NamedOutput {
  NamedOperand operand;
  Type elementType;
};

/// What every op that scores keys asks of its operands, and of its `outputs`,
/// which have one row for each query row. Absent outputs pass.
LogicalResult verifyLogitsOperands(Operation *op, const LogitsOperands &in,
                                   ArrayRef<NamedOutput> outputs);

/// All present operands are tensors, or all are memrefs, and tensors come with
/// one result for each init, of the init's type.
LogicalResult verifySameForm(Operation *op, ArrayRef<NamedOperand> operands,
                             ArrayRef<NamedOperand> inits);

/// `operand` has `rank` dimensions. Absent operands pass.
LogicalResult verifyRank(Operation *op, NamedOperand operand, int64_t rank);

/// `operand` has one of `allowed` as element type. Absent operands pass.
LogicalResult verifyElementType(Operation *op, NamedOperand operand,
                                ArrayRef<Type> allowed);

/// Dimension `dim` of `operand` is `expected`; a dynamic one on either side
/// passes, as it can only be known at run time.
LogicalResult verifyExtent(Operation *op, NamedOperand operand, int64_t dim,
                           int64_t expected, StringRef meaning);

/// The innermost stride is 1 where `unitInner`, no static stride is negative,
/// and the static part of the extent fits 63 bits of bytes. Absent operands
/// pass.
LogicalResult verifyStrides(Operation *op, NamedOperand operand,
                            bool unitInner);

/// The rows of a rank-2 output do not overlap, as far as its static strides
/// tell: two workgroups would write the same element. Absent operands pass.
LogicalResult verifyRowsApart(Operation *op, NamedOperand operand);

/// `value`, called `name`, is from `min` to `max`.
LogicalResult verifyRange(Operation *op, StringRef name, int64_t value,
                          int64_t min, int64_t max);

/// Elements in `bytes` of packed fp4 data; what does not fit 64 bits saturates
/// and a dynamic extent stays dynamic.
int64_t getFp4Elements(int64_t bytes);

/// Strides of a memref type, or those of a contiguous tensor of that shape.
SmallVector<int64_t> getStrides(ShapedType type);

/// Effects of a destination-style op on memrefs: inputs are read, inits are
/// read and written (columns that the op does not reach keep their value).
void getDestinationEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_DIALECT_VERIFIERUTILS_H
