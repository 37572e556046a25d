//===- Compiler.cpp - Python's view of the driver -------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "PagedAttn/Driver/CompileText.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include <pybind11/stl.h>

using namespace mlir;
namespace py = pybind11;

namespace {
/// What one call reported: "place: severity: text" each.
struct Messages {
  std::vector<std::string> errors, others;

  void add(DiagnosticSeverity severity, StringRef text) {
    bool isError = severity == DiagnosticSeverity::Error;
    (isError ? errors : others).push_back(text.str());
  }
  py::dict toDict() const {
    py::dict dict;
    dict["errors"] = errors;
    dict["messages"] = others;
    return dict;
  }
};
} // namespace

/// A dict with `errors` and `messages`, and after success `manifest` (JSON),
/// `mlir` and `objects`, each with its `file`, `elf`, `isa` and `llvm_ir`.
static py::dict compile(const std::string &text, const std::string &chip,
                        const std::string &options) {
  Messages messages;
  FailureOr<pa::CompiledModule> module;
  {
    py::gil_scoped_release release;
    module = pa::compileText(text, chip, options, /*keepText=*/true,
                             [&](DiagnosticSeverity severity, StringRef text) {
                               messages.add(severity, text);
                             });
  }
  py::dict result = messages.toDict();
  if (failed(module))
    return result;
  py::list objects;
  for (const pa::CodeObject &object : module->objects) {
    py::dict entry;
    entry["file"] = object.name + "." + object.chip + ".co";
    entry["elf"] = py::bytes(object.elf);
    entry["isa"] = object.isa;
    entry["llvm_ir"] = object.llvmIr;
    objects.append(entry);
  }
  result["objects"] = objects;
  result["mlir"] = module->mlir;
  result["manifest"] =
      llvm::formatv("{0:2}", pa::makeManifest(*module)).str() + "\n";
  return result;
}

/// A dict with `errors` and `messages`, and after success `config`.
static py::dict configure(const std::string &text, const std::string &chip,
                          const std::string &options) {
  Messages messages;
  FailureOr<std::string> config;
  {
    py::gil_scoped_release release;
    config = pa::configureText(
        text, chip, options, [&](DiagnosticSeverity severity, StringRef text) {
          messages.add(severity, text);
        });
  }
  py::dict result = messages.toDict();
  if (succeeded(config))
    result["config"] = *config;
  return result;
}

static py::dict getChips() {
  py::dict chips;
  for (StringRef name : pa::TargetInfo::allChips()) {
    const pa::TargetInfo &info = *pa::TargetInfo::lookup(name);
    py::dict facts;
    facts["fp8"] = info.isFp8Fnuz ? "e4m3fnuz" : "e4m3fn";
    facts["has_scaled_mma"] = info.hasScaledMma;
    facts["wave_size"] = info.waveSize;
    facts["lds_bytes"] = info.ldsBytes;
    facts["num_cus"] = info.numCus;
    chips[py::str(name.str())] = facts;
  }
  return chips;
}

void pagedattn::python::bindCompiler(py::module_ &module) {
  module.def("compile", &compile, py::arg("mlir"), py::arg("chip"),
             py::arg("options"));
  module.def("configure", &configure, py::arg("mlir"), py::arg("chip"),
             py::arg("options"));
  module.def("chips", &getChips);
  module.attr("llvm_version") = LLVM_VERSION_STRING;
}
