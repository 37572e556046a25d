//===- KnownRanges.h - Integer ranges with what launches say -----*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_ANALYSIS_KNOWNRANGES_H
#define PAGEDATTN_LIB_ANALYSIS_KNOWNRANGES_H

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include <array>

namespace mlir::pa {

/// The function argument that `memref` views from its start on and with the
/// same leading dimension, or null.
BlockArgument getSameShapeArgument(Value memref);

/// An integer attribute of a function argument, or nothing.
std::optional<int64_t> getArgInt(BlockArgument arg, StringRef name);

/// The leading extent that `pa.max_rows` or `pa.max_pages` promises for
/// `memref`, or nothing.
std::optional<int64_t> getMaxRows(Value memref);

/// Upstream's integer ranges, and with them: block and thread ids below the
/// constant sizes of every launch of the kernel in the module, and the leading
/// extent of arguments with `pa.max_rows` or `pa.max_pages`.
class KnownRangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  KnownRangeAnalysis(DataFlowSolver &solver, Operation *root);

  LogicalResult visitOperation(
      Operation *op,
      ArrayRef<const dataflow::IntegerValueRangeLattice *> operands,
      ArrayRef<dataflow::IntegerValueRangeLattice *> results) override;

private:
  std::array<std::optional<int64_t>, 3> gridSize, blockSize;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_ANALYSIS_KNOWNRANGES_H
