//===- Serialize.cpp - pa-serialize ------------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkCodeObject.h"
#include "PagedAttn/Transforms/Passes.h"
#include "TileOps.h"
#include "VgprBanks.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Module.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PASERIALIZE
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

namespace {

/// Turns what the backend reports into diagnostics on the kernel's module. Its
/// default is to print and to end the process.
struct BackendDiagnostics : public llvm::DiagnosticHandler {
  BackendDiagnostics(gpu::GPUModuleOp module, bool &hasFailed)
      : module(module), hasFailed(hasFailed) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    module.emitError() << "backend: " << text;
    hasFailed = true;
    return true;
  }

  gpu::GPUModuleOp module;
  bool &hasFailed;
};

/// LLVM IR to a linked code object.
class Serializer : public ROCDL::SerializeGPUModuleBase {
public:
  Serializer(gpu::GPUModuleOp module, ROCDL::ROCDLTargetAttr target)
      : SerializeGPUModuleBase(*module, target), gpuModule(module) {}

  std::string ir, isa;

protected:
  void handleModulePreLink(llvm::Module &llvmModule) override {
    llvmModule.getContext().setDiagnosticHandler(
        std::make_unique<BackendDiagnostics>(gpuModule, hasFailed));
    SerializeGPUModuleBase::handleModulePreLink(llvmModule);
  }

  FailureOr<SmallVector<char, 0>>
  moduleToObject(llvm::Module &llvmModule) override {
    llvm::raw_string_ostream os(ir);
    os << llvmModule;
    auto emitError = [&] { return gpuModule.emitError(); };
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return gpuModule.emitError()
             << "the backend has no target " << target.getTriple() << " "
             << target.getChip();
    FailureOr<SmallString<0>> text =
        translateModuleToISA(llvmModule, **machine, emitError);
    if (failed(text) || hasFailed)
      return failure();
    FailureOr<std::string> checked = checkVgprBanks(*text, emitError);
    if (failed(checked))
      return failure();
    isa = std::move(*checked);
    FailureOr<SmallVector<char, 0>> object =
        ROCDL::assembleIsa(isa, target.getTriple(), target.getChip(),
                           target.getFeatures(), emitError);
    if (failed(object))
      return failure();
    return linkCodeObject(*object, emitError);
  }

private:
  gpu::GPUModuleOp gpuModule;
  bool hasFailed = false;
};

/// Sum of the LDS buffers of a module, each aligned to 16 bytes.
int64_t getLdsBytes(gpu::GPUModuleOp module) {
  constexpr unsigned kLdsSpace = 3;
  DataLayout layout(module);
  int64_t bytes = 0;
  module.walk([&](LLVM::GlobalOp global) {
    if (global.getAddrSpace() == kLdsSpace)
      bytes = llvm::alignTo(bytes, 16) +
              layout.getTypeSize(global.getGlobalType()).getFixedValue();
  });
  return bytes;
}

struct SerializePass : public pa::impl::PASerializeBase<SerializePass> {
  using PASerializeBase::PASerializeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PASerializeBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerROCDLDialectTranslation(registry);
  }

  void runOnOperation() override {
    if (abi != 500 && abi != 600) {
      getOperation().emitError()
          << "abi must be 500 or 600, found " << abi.getValue();
      return signalPassFailure();
    }
    if (optLevel < 0 || optLevel > 3) {
      getOperation().emitError()
          << "opt-level must be from 0 to 3, found " << optLevel.getValue();
      return signalPassFailure();
    }
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    if (modules.empty())
      return;
    const TargetInfo *target = getTargetOrError(getOperation());
    if (!target)
      return signalPassFailure();
    ROCDL::SerializeGPUModuleBase::init();
    for (gpu::GPUModuleOp module : modules)
      if (failed(serialize(module, *target)))
        return signalPassFailure();
    // The binaries name their chip; a runner that takes the module from here
    // need not know our dialect.
    getOperation()->removeAttr(PADialect::kTargetAttrName);
  }

  LogicalResult serialize(gpu::GPUModuleOp module, const TargetInfo &target) {
    int64_t ldsBytes = getLdsBytes(module);
    if (ldsBytes > target.ldsBytes)
      return module.emitError()
             << "needs " << ldsBytes << " bytes of LDS, " << target.getName()
             << " has " << target.ldsBytes;
    OpBuilder b(module);
    DictionaryAttr flags;
    if (target.waveSize == 32)
      flags =
          b.getDictionaryAttr({b.getNamedAttr("no_wave64", b.getUnitAttr())});
    auto rocdlTarget = ROCDL::ROCDLTargetAttr::get(
        &getContext(), static_cast<int>(optLevel), "amdgcn-amd-amdhsa",
        target.getName(), "", std::to_string(abi), flags, nullptr);
    Serializer serializer(module, rocdlTarget);
    std::optional<SmallVector<char, 0>> binary = serializer.run();
    if (!binary)
      return module.emitError()
             << "has no code object for " << target.getName();

    SmallVector<NamedAttribute> properties{
        b.getNamedAttr("O", b.getI32IntegerAttr(static_cast<int>(optLevel)))};
    if (keepText) {
      properties.push_back(
          b.getNamedAttr("llvm", b.getStringAttr(serializer.ir)));
      properties.push_back(
          b.getNamedAttr("isa", b.getStringAttr(serializer.isa)));
    }
    gpu::KernelTableAttr kernels = getKernels(module, *binary);
    auto object = gpu::ObjectAttr::get(
        rocdlTarget, gpu::CompilationTarget::Binary,
        b.getStringAttr(StringRef(binary->data(), binary->size())),
        b.getDictionaryAttr(properties), kernels);
    gpu::BinaryOp::create(b, module.getLoc(), module.getName(),
                          /*offloadingHandler=*/Attribute(),
                          ArrayRef<Attribute>{object});
    module.erase();
    return success();
  }

  /// What the code object says of its kernels, with what the tiling recorded.
  gpu::KernelTableAttr getKernels(gpu::GPUModuleOp module,
                                  ArrayRef<char> binary) {
    gpu::KernelTableAttr table = ROCDL::getKernelMetadata(module, binary);
    if (!table)
      return table;
    SmallVector<gpu::KernelMetadataAttr> kernels;
    for (gpu::KernelMetadataAttr kernel : table) {
      auto func = module.lookupSymbol(kernel.getName());
      if (Attribute info =
              func ? func->getAttr(PADialect::kKernelInfoAttrName) : nullptr)
        kernel = kernel.appendMetadata({NamedAttribute(
            StringAttr::get(&getContext(), PADialect::kKernelInfoAttrName),
            info)});
      kernels.push_back(kernel);
    }
    return gpu::KernelTableAttr::get(&getContext(), kernels);
  }
};

} // namespace
