//===- Uniformity.h - Values that all lanes of a wave share -----*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_ANALYSIS_UNIFORMITY_H
#define PAGEDATTN_ANALYSIS_UNIFORMITY_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::pa {

/// Which values are the same in all lanes of a wave wherever they are used.
///
/// Uniform are constants, kernel arguments, function arguments with
/// `pa.uniform`, block and grid ids and dimensions, `rocdl.readfirstlane`,
/// `gpu.subgroup_broadcast`, `gpu.subgroup_id`, `gpu.thread_id x` divided by a
/// multiple of the wave size, `pa.assume` with `uniform`, loads from a uniform
/// address, and what ordinary arithmetic makes of uniform operands. Divergent
/// are thread and lane ids, private memory, results of ops that are not known,
/// whatever follows from them, and what a branch or loop with a divergent
/// condition or bound returns.
///
/// The analysis starts from "uniform" and takes away until nothing changes, so
/// that values carried around loops keep what is true of all iterations.
class UniformityAnalysis {
public:
  /// Analyses everything inside `root`.
  explicit UniformityAnalysis(Operation *root);

  /// Whether `value` is known to be the same in all lanes of a wave that are
  /// active where it is defined.
  bool isUniform(Value value) const { return !divergent.contains(value); }

private:
  bool visit(Operation *op);
  bool visitFunction(FunctionOpInterface func);
  bool visitFor(Operation *op);
  bool visitWhile(Operation *op);
  bool visitBranch(Operation *op);

  bool areUniform(ValueRange values) const {
    return llvm::all_of(values, [&](Value v) { return isUniform(v); });
  }
  bool mark(Value value) { return divergent.insert(value).second; }
  bool markAll(ValueRange values) {
    bool changed = false;
    for (Value value : values)
      changed |= mark(value);
    return changed;
  }

  llvm::DenseSet<Value> divergent;
};

} // namespace mlir::pa

#endif // PAGEDATTN_ANALYSIS_UNIFORMITY_H
