//===- TileOps.h - From an op to a kernel ------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_TILEOPS_H
#define PAGEDATTN_LIB_TRANSFORMS_TILEOPS_H

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pa {

/// Waves that share a SIMD when the number of workgroups is chosen to fill the
/// chip once.
constexpr int64_t kWavesPerSimd = 2;

/// A kernel to be made: what the host passes and how it is launched. All of it
/// is also recorded on the kernel for the manifest.
struct KernelSpec {
  /// Symbol, before it is made unique.
  std::string name;
  /// The op that the kernel implements.
  StringRef op;
  /// Work-items of a workgroup, all in x.
  int64_t blockSize;
  /// Registers of a lane, where the chip's table has too few for the kernel.
  int64_t vgprs = 0;
  /// Workgroups in x, y, z, as host values and as text in the named sizes.
  std::array<Value, 3> grid;
  std::array<std::string, 3> gridText;
  /// Name and host value of each argument in order.
  SmallVector<std::pair<std::string, Value>> args;
  /// Named sizes that the grid and the preconditions use: name, the argument
  /// and its dimension.
  struct Size {
    std::string name, arg;
    int64_t dim;
  };
  SmallVector<Size> sizes;
  /// Scalar arguments that the host computes: name and value as text in the
  /// named sizes.
  SmallVector<std::pair<std::string, std::string>> scalars;
  /// Arguments that are no operands of the op but memory for the time of its
  /// launches: name and extents as text in the named sizes.
  SmallVector<std::pair<std::string, SmallVector<std::string>>> workspaces;
  /// What the launch has to guarantee, as text in the named sizes.
  SmallVector<std::string> preconditions;
};

/// Makes the gpu.module, the kernel and its launch in place of an op.
class KernelBuilder {
public:
  /// `host` stands where the launch goes, next to `op`.
  KernelBuilder(ImplicitLocOpBuilder &host, Operation *op,
                const KernelSpec &spec, const TargetInfo &target);

  /// Builder inside the kernel.
  ImplicitLocOpBuilder &body() { return bodyBuilder; }

  /// Kernel argument by the name in the spec.
  Value arg(StringRef name);
  Value threadId();
  Value blockId(gpu::Dimension dim);
  Attribute ldsSpace();
  /// A buffer in LDS, with the type's memory space `ldsSpace()`.
  Value addLds(MemRefType type);

  /// Ends the kernel and launches it on the host.
  void finish();

private:
  ImplicitLocOpBuilder &host;
  const KernelSpec &spec;
  gpu::GPUFuncOp func;
  ImplicitLocOpBuilder bodyBuilder;
};

/// The target of the module around `op`, or null with a diagnostic on `op`.
const TargetInfo *getTargetOrError(Operation *op);

/// What every lowering to a chip needs: memrefs, and an innermost stride that
/// is known to be 1 for the operands `unitInner`.
LogicalResult checkOperandsForChip(Operation *op, ValueRange unitInner);

/// Elements from one row of a tensor copy to the next: the descriptor has 48
/// bits for them.
constexpr int64_t kMaxDmaStride = (int64_t(1) << 48) - 1;

/// Compute units to fill: those of the chip, or as the target attribute says.
int64_t getNumCus(Operation *op, const TargetInfo &target);

/// One function for each operator: replaces it by the launch of a kernel. The
/// op has passed `checkLegalForTarget` and carries its configuration.
LogicalResult tilePagedLogits(RewriterBase &rewriter, PagedLogitsOp op,
                              const TargetInfo &target);
LogicalResult tileTopK(RewriterBase &rewriter, TopKOp op,
                       const TargetInfo &target);
LogicalResult tileIndexer(RewriterBase &rewriter, IndexerOp op,
                          const TargetInfo &target);
LogicalResult tileGroupedGemm(RewriterBase &rewriter, GroupedGemmOp op,
                              const TargetInfo &target);

/// The chip's first matrix instruction that fits an op that scores keys, or an
/// error on the op.
FailureOr<MmaId> selectLogitsMma(Operation *op, const LogitsOperands &in,
                                 const TargetInfo &target);

/// Whether the chip has `mma` and it fits the op, or an error on the op.
LogicalResult verifyLogitsMma(Operation *op, const LogitsOperands &in,
                              MmaId mma, const TargetInfo &target);

/// Chooses the configuration of an op, or verifies the one it has.
LogicalResult configureIndexer(IndexerOp op, const TargetInfo &target);

/// Memory of an output that may be that of another operand, of memrefs: the
/// workgroups of one kernel would read what others write.
struct SharedMemory {
  /// Names of the two operands; empty where no two share memory.
  std::string output, other;
  /// They are views of one memref. Else where one of them comes from is not
  /// known; the arguments of a function are taken to be different memory.
  bool isSame = false;
};
SharedMemory findSharedMemory(IndexerOp op);
/// `tune` is how many of the best configurations become remarks.
LogicalResult configureGroupedGemm(GroupedGemmOp op, const TargetInfo &target,
                                   unsigned tune);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_TILEOPS_H
