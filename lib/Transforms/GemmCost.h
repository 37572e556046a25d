//===- GemmCost.h - What a tiling of a grouped GEMM costs -------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_GEMMCOST_H
#define PAGEDATTN_LIB_TRANSFORMS_GEMMCOST_H

#include "GemmShape.h"

namespace mlir::pa {

/// What a `pa.grouped_gemm` has to do, as far as its types say.
struct GemmWork {
  /// Groups that have rows, and rows of each of them.
  int64_t groups, rows;
  /// Compute units that there are.
  int64_t numCus;

  GemmWork(GroupedGemmOp op, int64_t numCus);
};

/// One configuration and what the model says of it. Cycles are those of the
/// chip's clock, for all of the work.
struct GemmCandidate {
  GemmConfigAttr config;
  /// Place in the list, which decides last.
  size_t order = 0;
  /// Registers and LDS suffice.
  bool fits = true;
  double cycles = 0;
  /// The same with an HBM that is never in the way, which decides.
  double withoutHbm = 0;
  /// The same without any latency, which decides among equals.
  double busy = 0;
  /// What takes them: "matrix", "vector", "lds", "cache", "latency" or "hbm".
  StringRef bound;
  /// Floating-point operations, and bytes that HBM has to move at least.
  double flops = 0, hbmBytes = 0;
  /// Part of the peak of the matrix units and of HBM that is used.
  double ofMatrixPeak = 0, ofHbmPeak = 0;
};

/// All candidates for `op` with one matrix instruction, the best one first.
SmallVector<GemmCandidate> rankGemmConfigs(GroupedGemmOp op, MmaId mma,
                                           const TargetInfo &target,
                                           const GemmWork &work);

/// One line: the configuration, its bound, and where it is under the roofline.
std::string describe(const GemmCandidate &candidate, const MmaInfo &mma,
                     const TargetInfo &target, int64_t numCus);

/// Registers of a lane that the waves of one workgroup leave each other.
int64_t getGemmRegisterLimit(int64_t waves, const TargetInfo &target);

/// Registers of a lane to give to the kernel: the chip's usual number, doubled
/// until there is room for what the configuration needs.
int64_t getGemmRegisters(GroupedGemmOp op, const TargetInfo &target);

/// Product columns that a wave must have together: those of a block of
/// requantised output.
int64_t getGemmColumnUnit(GroupedGemmOp op);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_GEMMCOST_H
