//===- Pipelines.h - Named pipelines ----------------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TRANSFORMS_PIPELINES_H
#define PAGEDATTN_TRANSFORMS_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::pa {

/// Options of every pipeline; the later ones are unused by the shorter
/// pipelines.
struct LoweringOptions : public PassPipelineOptions<LoweringOptions> {
  /// Required: `gfx942`, `gfx950` or `gfx1250`.
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("gfx number of the chip")};
  /// Compute units that a launch should fill.
  Option<int64_t> numCus{
      *this, "num-cus",
      llvm::cl::desc("compute units to fill, 0 for those of the full chip"),
      llvm::cl::init(0)};
  /// Whether logits and the top-k that reads them become one op.
  Option<std::string> fuseIndexer{
      *this, "fuse-indexer",
      llvm::cl::desc("off, on or auto: whether logits and the top-k that reads "
                     "them become one op"),
      llvm::cl::init("auto")};
  /// Whether each such pair gets a remark that says what became of it, and why.
  Option<bool> fusionRemarks{
      *this, "fusion-remarks",
      llvm::cl::desc("say of each such pair whether it is one op, and why"),
      llvm::cl::init(false)};
  /// Offsets beyond it are not narrow; in bytes, 1 to 2^31 - 1.
  Option<int64_t> maxOffsetBytes{
      *this, "max-offset-bytes",
      llvm::cl::desc("greatest 32-bit offset, the access included"),
      llvm::cl::init(2147483647)};
  /// The weakest form that is no error; empty: any.
  Option<std::string> require{
      *this, "require-address-form",
      llvm::cl::desc("narrow or rebase: a weaker form is an error")};
  /// The form of every access, whatever is proven; empty: what is proven.
  Option<std::string> force{
      *this, "force-address-form",
      llvm::cl::desc("narrow, rebase or global, for bisection")};
  /// Gives a remark for each access.
  Option<bool> remarks{*this, "address-remarks",
                       llvm::cl::desc("print the form of each access"),
                       llvm::cl::init(false)};
  /// Code object version times 100: 500 or 600.
  Option<int64_t> abi{*this, "abi",
                      llvm::cl::desc("code object version times 100"),
                      llvm::cl::init(600)};
  /// Of LLVM's backend.
  Option<int64_t> optLevel{*this, "opt-level", llvm::cl::desc("0 to 3"),
                           llvm::cl::init(3)};
  /// `CodeObject::llvmIr` and `isa` are filled.
  Option<bool> keepText{
      *this, "keep-text",
      llvm::cl::desc("keep LLVM IR and assembly in the properties of objects"),
      llvm::cl::init(false)};

  /// The names of all of them in one line for a diagnostic.
  std::string getKnownNames() const;
};

/// Ops of the dialect, on tensors or memrefs, to kernels in `gpu.module`s with
/// their launches, addresses proven or widened.
void buildLowerToGpuPipeline(OpPassManager &pm, const LoweringOptions &options);

/// The same and on to the ROCDL dialect. Host code stays as it is.
void buildLowerToRocdlPipeline(OpPassManager &pm,
                               const LoweringOptions &options);

/// The same and on to code objects in `gpu.binary`s.
void buildLowerToBinaryPipeline(OpPassManager &pm,
                                const LoweringOptions &options);

/// Registers `pa-lower-to-gpu`, `pa-lower-to-rocdl` and `pa-lower-to-binary`.
void registerPipelines();

} // namespace mlir::pa

#endif // PAGEDATTN_TRANSFORMS_PIPELINES_H
