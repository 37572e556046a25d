//===- PA.h - The pa dialect ------------------------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DIALECT_PA_H
#define PAGEDATTN_DIALECT_PA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "PagedAttn/Target/MmaLayout.h"

#include "PagedAttn/Dialect/PADialect.h.inc"
#include "PagedAttn/Dialect/PAEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "PagedAttn/Dialect/PAAttrs.h.inc"

namespace mlir::pa {

/// The operands that scores are made of, which ops have in common, and the
/// sizes that they give. Absent operands are null. A size that is not static is
/// ShapedType::kDynamic.
struct LogitsOperands {
  Value q;           ///< [B, N, H, D], or D / 2 bytes of mxfp4.
  Value queryScales; ///< [B, N, H, D / 32], null for fp8.
  Value keys;        ///< [pages, P, D], or D / 2 bytes of mxfp4.
  Value keyScales;   ///< [pages, P], for mxfp4 [pages, P, D / 32].
  Value weights;     ///< [B * N, H].
  Value blockTable;  ///< [B, W].
  Value contextLens; ///< [B].
  Value rowEnds;     ///< [B * N], or null.
  Layout layout;     ///< Byte order of a key page.
  KeyFormat format;  ///< Number format of queries and keys.

  /// N, the query rows of a sequence.
  int64_t getNumQueries() const;
  /// H, the heads.
  int64_t getNumHeads() const;
  /// D, the elements of a head.
  int64_t getHeadDim() const;
  /// P, the tokens of a page.
  int64_t getPageSize() const;
  /// Bytes of one key: D for fp8, D / 2 for mxfp4.
  int64_t getKeyBytes() const;
};

} // namespace mlir::pa

#define GET_OP_CLASSES
#include "PagedAttn/Dialect/PALoweringOps.h.inc"
#define GET_OP_CLASSES
#include "PagedAttn/Dialect/PAOps.h.inc"

namespace mlir::pa {

/// Lets one-shot bufferization turn the tensor forms of the ops into memrefs.
void registerBufferizableOpInterfaceModels(DialectRegistry &registry);

} // namespace mlir::pa

#endif // PAGEDATTN_DIALECT_PA_H
