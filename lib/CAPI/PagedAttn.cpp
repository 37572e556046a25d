//===- PagedAttn.cpp - Compile text to code objects, from C ---------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/CAPI/PagedAttn.h"
#include "PagedAttn/Driver/CompileText.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

struct PaCompilation {
  pa::CompiledModule module;
  std::vector<std::string> files;
  std::string manifest;
};

static PaSeverity convert(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return PaSeverityNote;
  case DiagnosticSeverity::Remark:
    return PaSeverityRemark;
  case DiagnosticSeverity::Warning:
    return PaSeverityWarning;
  case DiagnosticSeverity::Error:
    return PaSeverityError;
  }
  return PaSeverityError;
}

static const pa::CodeObject *find(const PaCompilation *compilation,
                                  size_t index) {
  const auto &objects = compilation->module.objects;
  return index < objects.size() ? &objects[index] : nullptr;
}

PaCompilation *paCompile(const char *mlir, size_t mlirBytes, const char *chip,
                         const char *options, PaDiagnosticCallback callback,
                         void *userData) {
  auto handler = [&](DiagnosticSeverity severity, StringRef text) {
    if (callback)
      callback(convert(severity), text.str().c_str(), userData);
  };
  if (!mlir || !chip) {
    handler(DiagnosticSeverity::Error,
            llvm::formatv("error: {0} must not be null", mlir ? "chip" : "mlir")
                .str());
    return nullptr;
  }
  FailureOr<pa::CompiledModule> module =
      pa::compileText(StringRef(mlir, mlirBytes), chip, options ? options : "",
                      /*keepText=*/true, handler);
  if (failed(module))
    return nullptr;
  auto result = std::make_unique<PaCompilation>();
  result->manifest = llvm::formatv("{0:2}", pa::makeManifest(*module)).str();
  for (const pa::CodeObject &object : module->objects)
    result->files.push_back(object.name + "." + object.chip + ".co");
  result->module = std::move(*module);
  return result.release();
}

void paCompilationDestroy(PaCompilation *compilation) { delete compilation; }

const char *paCompilationGetManifest(const PaCompilation *compilation) {
  return compilation->manifest.c_str();
}

size_t paCompilationGetNumObjects(const PaCompilation *compilation) {
  return compilation->module.objects.size();
}

const char *paCompilationGetFile(const PaCompilation *compilation,
                                 size_t index) {
  return find(compilation, index) ? compilation->files[index].c_str() : nullptr;
}

const void *paCompilationGetObject(const PaCompilation *compilation,
                                   size_t index, size_t *bytes) {
  const pa::CodeObject *object = find(compilation, index);
  if (bytes)
    *bytes = object ? object->elf.size() : 0;
  return object ? object->elf.data() : nullptr;
}

const char *paCompilationGetAssembly(const PaCompilation *compilation,
                                     size_t index) {
  const pa::CodeObject *object = find(compilation, index);
  return object ? object->isa.c_str() : nullptr;
}

const char *paKnownChips(void) {
  static const std::string chips = pa::TargetInfo::knownChips();
  return chips.c_str();
}
