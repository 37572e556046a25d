//===- Compile.h - From a module to code objects ----------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DRIVER_COMPILE_H
#define PAGEDATTN_DRIVER_COMPILE_H

#include "PagedAttn/Transforms/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::pa {

/// One code object and what is known of its kernels.
struct CodeObject {
  /// Name of the gpu.binary; files are called NAME.CHIP.co.
  std::string name;
  /// The gfx number.
  std::string chip;
  /// The ELF file.
  std::string elf;
  /// LLVM IR, empty unless `LoweringOptions::keepText`.
  std::string llvmIr;
  /// Assembly, likewise.
  std::string isa;
  /// Manifest entries of the kernels.
  llvm::json::Array kernels;
};

/// The code objects of one chip.
struct CompiledModule {
  /// In the order of the `gpu.binary`s.
  std::vector<CodeObject> objects;
  /// The lowered module as text, with the objects' bytes left out.
  std::string mlir;
};

/// Reads "num-cus=80 opt-level=2" into `options`. Gives what is wrong with it,
/// with the names of all options, or nothing.
std::string parseOptions(StringRef text, LoweringOptions &options);

/// Compiles a copy of `module` for the chip in `options`. Says what is wrong as
/// diagnostics of the context. A module without an op to compile is an error.
FailureOr<CompiledModule> compileModule(ModuleOp module,
                                        const LoweringOptions &options);

/// The same for several sets of options, one for each chip, on the threads of
/// the context. The result does not depend on their number, nor does the order
/// of the diagnostics.
FailureOr<std::vector<CompiledModule>>
compileModules(ModuleOp module, ArrayRef<LoweringOptions> options);

/// Writes a line to `os` for each of the best `count` configurations of every
/// `pa.grouped_gemm` of `module` on the chip in `options`: what `pa-configure`
/// chooses from. Nothing is compiled. A module without such an op is an error.
LogicalResult listConfigs(ModuleOp module, const LoweringOptions &options,
                          unsigned count, llvm::raw_ostream &os);

/// The manifest of a set of code objects, as docs/manifest.md describes it.
llvm::json::Value makeManifest(ArrayRef<CompiledModule> modules);

} // namespace mlir::pa

#endif // PAGEDATTN_DRIVER_COMPILE_H
