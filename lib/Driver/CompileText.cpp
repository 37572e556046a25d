//===- CompileText.cpp - From text to code objects ------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Driver/CompileText.h"
#include "PagedAttn/InitAll.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <mutex>

using namespace mlir;
using namespace mlir::pa;

static const DialectRegistry &getRegistry() {
  static const DialectRegistry &registry = *[] {
    auto *all = new DialectRegistry;
    mlir::registerAllDialects(*all);
    mlir::registerAllExtensions(*all);
    mlir::pa::registerAllDialects(*all);
    return all;
  }();
  return registry;
}

static StringRef getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

static void printDiagnostic(raw_ostream &os, const Diagnostic &diagnostic) {
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":"
       << place.getColumn() << ": ";
  os << getSeverityName(diagnostic.getSeverity()) << ": " << diagnostic.str();
}

namespace {
/// A context with one parsed module, whose diagnostics go to a handler.
class TextSession {
public:
  TextSession(StringRef text, TextDiagnosticHandler handler)
      : handler(handler), context(getRegistry()),
        scoped(&context, [this](Diagnostic &diagnostic) { emit(diagnostic); }) {
    context.printOpOnDiagnostic(false);
    // The parser wants a terminated buffer.
    module =
        parseSourceString<ModuleOp>(text.str(), ParserConfig(&context), "text");
  }

  ModuleOp getModule() { return *module; }
  MLIRContext *getContext() { return &context; }

  LogicalResult fail(const Twine &text) {
    std::lock_guard<std::mutex> lock(mutex);
    handler(DiagnosticSeverity::Error, ("error: " + text).str());
    return failure();
  }

  /// The options of a pipeline for `chip`.
  LogicalResult parseOptions(StringRef chip, StringRef text,
                             LoweringOptions &options) {
    if (!TargetInfo::lookup(chip))
      return fail("unknown chip '" + chip + "', known chips are " +
                  TargetInfo::knownChips());
    if (std::string message = mlir::pa::parseOptions(text, options);
        !message.empty())
      return fail(message);
    options.chip = chip.str();
    return success();
  }

private:
  void emit(Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printDiagnostic(os, diagnostic);
    for (Diagnostic &note : diagnostic.getNotes()) {
      os << "\n";
      printDiagnostic(os, note);
    }
    std::lock_guard<std::mutex> lock(mutex);
    handler(diagnostic.getSeverity(), text);
  }

  TextDiagnosticHandler handler;
  std::mutex mutex;
  MLIRContext context;
  ScopedDiagnosticHandler scoped;
  OwningOpRef<ModuleOp> module;
};
} // namespace

FailureOr<CompiledModule> mlir::pa::compileText(StringRef text, StringRef chip,
                                                StringRef options,
                                                bool keepText,
                                                TextDiagnosticHandler handler) {
  TextSession session(text, handler);
  LoweringOptions lowering;
  if (!session.getModule() ||
      failed(session.parseOptions(chip, options, lowering)))
    return failure();
  lowering.keepText = keepText;
  return compileModule(session.getModule(), lowering);
}

FailureOr<std::string> mlir::pa::configureText(StringRef text, StringRef chip,
                                               StringRef options,
                                               TextDiagnosticHandler handler) {
  TextSession session(text, handler);
  LoweringOptions lowering;
  if (!session.getModule() ||
      failed(session.parseOptions(chip, options, lowering)))
    return failure();
  PassManager pm(session.getContext());
  pm.addPass(createPASetTarget({lowering.chip, lowering.numCus}));
  pm.addPass(createPAConfigure());
  if (failed(pm.run(session.getModule())))
    return failure();
  SmallVector<Operation *> ops;
  session.getModule()->walk([&](Operation *op) {
    if (isa<PagedLogitsOp, TopKOp, IndexerOp, GroupedGemmOp>(op))
      ops.push_back(op);
  });
  if (ops.size() != 1)
    return session.fail("expected one operator to configure, found " +
                        Twine(ops.size()));
  std::string config;
  if (Attribute attr = ops.front()->getAttr("config"))
    llvm::raw_string_ostream(config) << attr;
  return config;
}
