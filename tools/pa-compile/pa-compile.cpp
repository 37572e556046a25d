//===- pa-compile.cpp - Compile ops to code objects ------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Driver/Compile.h"
#include "PagedAttn/InitAll.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::pa;
namespace cl = llvm::cl;

static cl::OptionCategory category("pa-compile options");
static cl::opt<std::string> inputPath(cl::Positional, cl::Required,
                                      cl::desc("<input .mlir, or ->"),
                                      cl::cat(category));
static cl::list<std::string>
    chips("chip", cl::CommaSeparated,
          cl::desc("chips to compile for, for example gfx942,gfx950"),
          cl::cat(category));
static cl::opt<std::string> outputDir("o", cl::desc("output folder"),
                                      cl::value_desc("dir"), cl::init("."),
                                      cl::cat(category));
static cl::list<std::string>
    emit("emit", cl::CommaSeparated,
         cl::desc("further files of each code object: s, ll, mlir"),
         cl::cat(category));
static cl::opt<std::string>
    options("options",
            cl::desc("options of the pa-lower-to-binary pipeline, for example "
                     "\"num-cus=80 force-address-form=global\""),
            cl::cat(category));
static cl::opt<bool>
    report("report", cl::desc("print what each kernel takes, and its hot loop"),
           cl::cat(category));

static cl::opt<unsigned>
    tune("tune",
         cl::desc("list the best so many configurations of each "
                  "pa.grouped_gemm by the cost model, and compile nothing"),
         cl::value_desc("count"), cl::init(0), cl::cat(category));

namespace {
/// Files that are written together or not at all.
class OutputFiles {
public:
  ~OutputFiles() {
    if (!isKept)
      for (const std::string &path : written)
        llvm::sys::fs::remove(path);
  }

  LogicalResult write(const Twine &name, StringRef text) {
    llvm::SmallString<128> path(outputDir);
    llvm::sys::path::append(path, name);
    std::error_code error;
    llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_None);
    if (!error) {
      file.os() << text;
      file.os().flush();
      error = file.os().error();
      file.os().clear_error();
    }
    if (error) {
      llvm::errs() << "error: cannot write " << path << ": " << error.message()
                   << "\n";
      return failure();
    }
    file.keep();
    written.push_back(std::string(path));
    return success();
  }

  void keep() { isKept = true; }

private:
  std::vector<std::string> written;
  bool isKept = false;
};
} // namespace

static LogicalResult checkArguments() {
  for (const std::string &kind : emit)
    if (kind != "s" && kind != "ll" && kind != "mlir") {
      llvm::errs() << "error: --emit takes s, ll and mlir, found '" << kind
                   << "'\n";
      return failure();
    }
  if (tune.getNumOccurrences() > 0) {
    if (tune == 0) {
      llvm::errs() << "error: --tune must be at least 1, found 0\n";
      return failure();
    }
    if (outputDir.getNumOccurrences() > 0 || !emit.empty() || report) {
      llvm::errs() << "error: --tune compiles nothing, so that -o, --emit and "
                      "--report do not go with it\n";
      return failure();
    }
  }
  if (chips.empty()) {
    llvm::errs() << "error: --chip is missing, known chips are "
                 << TargetInfo::knownChips() << "\n";
    return failure();
  }
  for (auto [i, chip] : llvm::enumerate(chips)) {
    if (llvm::is_contained(llvm::ArrayRef(&chips[0], i), chip)) {
      llvm::errs() << "error: --chip names " << chip << " twice\n";
      return failure();
    }
    if (!TargetInfo::lookup(chip)) {
      llvm::errs() << "error: unknown chip '" << chip << "', known chips are "
                   << TargetInfo::knownChips() << "\n";
      return failure();
    }
  }
  return success();
}

static LogicalResult writeAll(ArrayRef<CompiledModule> modules,
                              StringRef stem) {
  if (std::error_code error = llvm::sys::fs::create_directories(outputDir)) {
    llvm::errs() << "error: cannot make the folder " << outputDir << ": "
                 << error.message() << "\n";
    return failure();
  }
  OutputFiles files;
  for (const CompiledModule &module : modules) {
    for (const CodeObject &object : module.objects) {
      std::string base = object.name + "." + object.chip;
      if (failed(files.write(base + ".co", object.elf)) ||
          (llvm::is_contained(emit, "s") &&
           failed(files.write(base + ".s", object.isa))) ||
          (llvm::is_contained(emit, "ll") &&
           failed(files.write(base + ".ll", object.llvmIr))))
        return failure();
    }
    if (llvm::is_contained(emit, "mlir") &&
        failed(files.write(stem + "." + module.objects.front().chip + ".mlir",
                           module.mlir)))
      return failure();
  }
  std::string manifest;
  llvm::raw_string_ostream os(manifest);
  os << llvm::formatv("{0:2}", makeManifest(modules)) << "\n";
  if (failed(files.write("manifest.json", manifest)))
    return failure();
  files.keep();
  return success();
}

static int64_t getNumber(const llvm::json::Object &object, StringRef name) {
  return object.getInteger(name).value_or(0);
}

/// The instructions of a hot loop by class, and what they cost.
static void printLoop(const llvm::json::Object &loop) {
  const llvm::json::Object &cost = *loop.getObject("cost");
  llvm::outs() << "  hot loop:";
  for (StringRef name : {"matrix", "vector", "memory", "lds", "scalar", "sync"})
    llvm::outs() << " " << getNumber(cost, name) << " " << name;
  llvm::outs() << "; " << getNumber(cost, "full_waits")
               << " waits for all loads";
  if (int64_t matrix = getNumber(cost, "matrix_cycles"))
    llvm::outs() << "; cycles: matrix " << matrix << ", vector "
                 << getNumber(cost, "vector_cycles");
  if (int64_t matrix = getNumber(cost, "matrix"))
    llvm::outs() << llvm::formatv(
        "; per matrix: {0:f2} vector, {1:f2} LDS",
        static_cast<double>(getNumber(cost, "vector")) / matrix,
        static_cast<double>(getNumber(cost, "lds")) / matrix);
  llvm::outs() << "\n";
}

/// For each kernel a line with chip, symbol, size of the file, registers, LDS,
/// spills, occupancy and the address form of each kind of access, and one with
/// its hot loop.
static void printReport(ArrayRef<CompiledModule> modules) {
  for (const CompiledModule &module : modules)
    for (const CodeObject &object : module.objects)
      for (const llvm::json::Value &value : object.kernels) {
        const llvm::json::Object &kernel = *value.getAsObject();
        const auto &registers = *kernel.getObject("registers");
        const auto &spills = *kernel.getObject("spills");
        llvm::outs() << object.chip << " "
                     << kernel.getString("symbol").value_or("") << ": "
                     << object.elf.size() << " bytes, "
                     << getNumber(registers, "vgprs") << " VGPRs, "
                     << getNumber(registers, "agprs") << " AGPRs, "
                     << getNumber(registers, "sgprs") << " SGPRs, "
                     << getNumber(kernel, "lds_bytes") << " bytes LDS, "
                     << getNumber(spills, "vgprs") + getNumber(spills, "sgprs")
                     << " spills";
        if (int64_t waves = getNumber(kernel, "waves_per_simd"))
          llvm::outs() << ", " << waves << " waves per SIMD";
        llvm::outs() << "; address forms:";
        if (const auto *accesses = kernel.getArray("accesses"))
          for (const llvm::json::Value &access : *accesses) {
            const llvm::json::Object &o = *access.getAsObject();
            llvm::outs() << " " << o.getString("operand").value_or("") << "="
                         << o.getString("form").value_or("");
          }
        llvm::outs() << "\n";
        if (const llvm::json::Object *loop = kernel.getObject("hot_loop"))
          printLoop(*loop);
      }
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles the ops of a module to code objects\n\n"
      "Writes, for each kernel and chip, NAME.CHIP.co, and one manifest.json "
      "with all\nthat a launch has to know.\n");
  if (failed(checkArguments()))
    return 1;

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::pa::registerAllDialects(registry);
  MLIRContext context(registry);

  std::string message;
  auto file = openInputFile(inputPath, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return 1;
  }
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sourceMgr, &context);
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sourceMgr, &context);
  if (!module)
    return 1;

  std::vector<LoweringOptions> lowerings(chips.size());
  for (auto [lowering, chip] : llvm::zip(lowerings, chips)) {
    if (std::string message = parseOptions(options, lowering);
        !message.empty()) {
      llvm::errs() << "error: " << message << "\n";
      return 1;
    }
    lowering.chip = chip;
    lowering.keepText = !emit.empty();
  }
  if (tune > 0) {
    for (const LoweringOptions &each : lowerings)
      if (failed(listConfigs(*module, each, tune, llvm::outs())))
        return 1;
    return 0;
  }
  FailureOr<std::vector<CompiledModule>> modules =
      compileModules(*module, lowerings);
  if (failed(modules))
    return 1;
  StringRef stem =
      inputPath == "-" ? "stdin" : llvm::sys::path::stem(inputPath);
  if (failed(writeAll(*modules, stem)))
    return 1;
  if (report)
    printReport(*modules);
  return 0;
}
