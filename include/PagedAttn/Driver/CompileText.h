//===- CompileText.h - From text to code objects ----------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a host without an MLIR context of its own needs: the Python module and
// the C API are thin layers over it. Every call has a context of its own, so
// that calls of several threads do not meet.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_DRIVER_COMPILETEXT_H
#define PAGEDATTN_DRIVER_COMPILETEXT_H

#include "PagedAttn/Driver/Compile.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::pa {

/// Gets each diagnostic as "place: severity: text", and notes on lines of their
/// own. It may be called from several threads, one after another.
using TextDiagnosticHandler =
    llvm::function_ref<void(DiagnosticSeverity, StringRef)>;

/// Parses `text` and compiles it for `chip`. `options` are those of the
/// pa-lower-to-binary pipeline, "num-cus=80 opt-level=2".
FailureOr<CompiledModule> compileText(StringRef text, StringRef chip,
                                      StringRef options, bool keepText,
                                      TextDiagnosticHandler handler);

/// The `config` attribute that pa-configure gives the one operator in `text`,
/// empty if that operator has none.
FailureOr<std::string> configureText(StringRef text, StringRef chip,
                                     StringRef options,
                                     TextDiagnosticHandler handler);

} // namespace mlir::pa

#endif // PAGEDATTN_DRIVER_COMPILETEXT_H
