//===- Compile.cpp - From a module to code objects ------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Driver/Compile.h"
#include "Manifest.h"
#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::pa;
namespace json = llvm::json;

std::string mlir::pa::parseOptions(StringRef text, LoweringOptions &options) {
  std::string message;
  llvm::raw_string_ostream os(message);
  if (succeeded(options.parseFromString(text, os)))
    return "";
  // Of a value that does not parse, LLVM's command line tells stderr alone.
  StringRef why = StringRef(message).trim();
  why.consume_front("<Pass-Options-Parser>: ");
  return ("options '" + text + "': " +
          (why.empty() ? "a value is not of the type of its option" : why) +
          ", known options are " + options.getKnownNames())
      .str();
}

FailureOr<CompiledModule>
mlir::pa::compileModule(ModuleOp module, const LoweringOptions &options) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  PassManager pm(module.getContext());
  buildLowerToBinaryPipeline(pm, options);
  if (failed(pm.run(*copy)))
    return failure();

  CompiledModule result;
  for (auto binary : copy->getOps<gpu::BinaryOp>()) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    CodeObject code;
    code.name = binary.getName();
    code.chip = options.chip;
    code.elf = object.getObject().getValue();
    auto getText = [&](StringRef name) {
      auto text = object.getProperties().getAs<StringAttr>(name);
      return text ? text.str() : std::string();
    };
    code.llvmIr = getText("llvm");
    code.isa = getText("isa");
    if (gpu::KernelTableAttr kernels = object.getKernels()) {
      auto read = pagedattn::emu::readKernelCode(code.elf);
      if (!read)
        return binary.emitError() << llvm::toString(read.takeError());
      for (gpu::KernelMetadataAttr kernel : kernels) {
        auto found = llvm::find_if(*read, [&](const auto &other) {
          return other.Symbol == kernel.getName().strref();
        });
        if (found == read->end())
          return binary.emitError()
                 << "code object has no kernel " << kernel.getName();
        code.kernels.push_back(makeKernelEntry(kernel, *found, code.chip,
                                               code.name, code.elf.size()));
      }
    }
    result.objects.push_back(std::move(code));
  }
  if (result.objects.empty())
    return module.emitError()
           << "the module has no op that becomes a kernel for "
           << StringRef(options.chip);
  llvm::raw_string_ostream os(result.mlir);
  copy->print(os, OpPrintingFlags().elideLargeResourceString());
  return result;
}

FailureOr<std::vector<CompiledModule>>
mlir::pa::compileModules(ModuleOp module, ArrayRef<LoweringOptions> options) {
  MLIRContext *context = module.getContext();
  // A context loads dialects for one thread only.
  for (const LoweringOptions &each : options) {
    PassManager pm(context);
    buildLowerToBinaryPipeline(pm, each);
    DialectRegistry needed;
    pm.getDependentDialects(needed);
    context->appendDialectRegistry(needed);
    for (StringRef name : needed.getDialectNames())
      context->getOrLoadDialect(name);
  }
  std::vector<CompiledModule> modules(options.size());
  ParallelDiagnosticHandler handler(context);
  auto compile = [&](size_t i) -> LogicalResult {
    handler.setOrderIDForThread(i);
    FailureOr<CompiledModule> compiled = compileModule(module, options[i]);
    handler.eraseOrderIDForThread();
    if (failed(compiled))
      return failure();
    modules[i] = std::move(*compiled);
    return success();
  };
  if (failed(failableParallelForEachN(context, 0, options.size(), compile)))
    return failure();
  return modules;
}

LogicalResult mlir::pa::listConfigs(ModuleOp module,
                                    const LoweringOptions &options,
                                    unsigned count, llvm::raw_ostream &os) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  int64_t numOps = 0;
  copy->walk([&](GroupedGemmOp) { ++numOps; });
  if (numOps == 0)
    return module.emitError() << "has no pa.grouped_gemm to list "
                                 "configurations of";
  PassManager pm(module.getContext());
  pm.addPass(createPASetTarget({options.chip, options.numCus}));
  pm.addPass(createPAConfigure({count}));
  ScopedDiagnosticHandler remarks(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          return failure();
        os << options.chip << " " << diagnostic.getLocation() << " "
           << diagnostic.str() << "\n";
        return success();
      });
  return pm.run(*copy);
}

json::Value mlir::pa::makeManifest(ArrayRef<CompiledModule> modules) {
  json::Array kernels;
  for (const CompiledModule &module : modules)
    for (const CodeObject &object : module.objects)
      for (const json::Value &kernel : object.kernels)
        kernels.push_back(kernel);
  return json::Object{{"manifest_version", 1},
                      {"llvm_version", LLVM_VERSION_STRING},
                      {"kernels", std::move(kernels)}};
}
