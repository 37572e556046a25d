//===- InitAll.h - Registration of everything -------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_INITALL_H
#define PAGEDATTN_INITALL_H

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Transforms/Passes.h"
#include "PagedAttn/Transforms/Pipelines.h"

/// The dialect, its analyses, passes and compiler driver.
namespace mlir::pa {

/// Registers the dialect and its interface models. Nothing of upstream is
/// registered: that is for the tool that links us.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<PADialect>();
  registerBufferizableOpInterfaceModels(registry);
}

/// Registers the passes and the named pipelines.
inline void registerAllPasses() {
  registerPagedAttnPasses();
  registerPipelines();
}

/// Both.
inline void registerAll(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllPasses();
}

} // namespace mlir::pa

#endif // PAGEDATTN_INITALL_H
