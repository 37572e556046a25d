//===- Uniformity.h - Values that all lanes of a wave share ------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_ANALYSIS_UNIFORMITY_H
#define PAGEDATTN_ANALYSIS_UNIFORMITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::pa {

/// Which values are the same in all lanes of a wave wherever they are used.
///
/// Uniform are constants, kernel arguments, block and grid ids and dimensions,
/// `rocdl.readfirstlane`, `gpu.subgroup_broadcast`, `gpu.subgroup_id`,
/// `pa.assume` with `uniform`, loads from a uniform address, and every other op
/// without side effects whose operands are uniform. Divergent are thread and
/// lane ids, results of ops that are not known, whatever follows from them, and
/// what a branch or loop with a divergent condition or bound returns.
///
/// The analysis starts from "uniform" and takes away until nothing changes, so
/// that values carried around loops keep what is true of all iterations.
class UniformityAnalysis {
public:
  /// Analyses everything inside `root`. Arguments of its functions count as
  /// uniform, as arguments of a kernel are.
  explicit UniformityAnalysis(Operation *root);

  bool isUniform(Value value) const { return !divergent.contains(value); }

private:
  bool visit(Operation *op);
  bool mark(Value value) { return divergent.insert(value).second; }

  llvm::DenseSet<Value> divergent;
};

} // namespace mlir::pa

#endif // PAGEDATTN_ANALYSIS_UNIFORMITY_H
