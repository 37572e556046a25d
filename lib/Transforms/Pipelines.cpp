//===- Pipelines.cpp - Named pipelines ------------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Transforms/Pipelines.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pa;

std::string LoweringOptions::getKnownNames() const {
  SmallVector<StringRef> names(OptionsMap.keys());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

void mlir::pa::buildLowerToGpuPipeline(OpPassManager &pm,
                                       const LoweringOptions &options) {
  // Identity layouts at function boundaries: an innermost stride of 1 has to be
  // in the type.
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));

  pm.addPass(createPASetTarget({options.chip, options.numCus}));
  pm.addPass(createPAFuseIndexer({options.fuseIndexer, options.fusionRemarks}));
  pm.addPass(createPAConfigure());
  pm.addPass(createPATile());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(
      createPAAnnotateAddressForm({options.maxOffsetBytes, options.require,
                                   options.force, options.remarks}));
  pm.addPass(createPAWidenAddresses({options.maxOffsetBytes}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Forced forms are there to show what goes wrong without a proof.
  if (options.force.empty())
    pm.addPass(createPAVerifyAddresses({options.maxOffsetBytes}));
}

void mlir::pa::buildLowerToRocdlPipeline(OpPassManager &pm,
                                         const LoweringOptions &options) {
  buildLowerToGpuPipeline(pm, options);
  pm.addPass(createPALowerWaveOps());
  OpPassManager &gpuPm = pm.nest<gpu::GPUModuleOp>();
  gpuPm.addPass(memref::createExpandStridedMetadataPass());
  gpuPm.addPass(createLowerAffinePass());
  gpuPm.addPass(createCanonicalizerPass());
  gpuPm.addPass(createCSEPass());
  gpuPm.addPass(createLoopInvariantCodeMotionPass());
  gpuPm.addPass(createSCFToControlFlowPass());
  gpuPm.addPass(createConvertMathToLLVMPass());
  ConvertAMDGPUToROCDLPassOptions amdgpu;
  amdgpu.chipset = options.chip;
  gpuPm.addPass(createConvertAMDGPUToROCDLPass(amdgpu));
  ConvertGpuOpsToROCDLOpsOptions rocdl;
  rocdl.chipset = options.chip;
  rocdl.indexBitwidth = 64;
  rocdl.runtime = gpu::amd::Runtime::HIP;
  gpuPm.addPass(createConvertGpuOpsToROCDLOps(rocdl));
  gpuPm.addPass(createPARelaxLdsAtomics());
  gpuPm.addPass(createCanonicalizerPass());
  gpuPm.addPass(createCSEPass());
  gpuPm.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::pa::buildLowerToBinaryPipeline(OpPassManager &pm,
                                          const LoweringOptions &options) {
  buildLowerToRocdlPipeline(pm, options);
  pm.addPass(
      createPASerialize({options.abi, options.optLevel, options.keepText}));
}

void mlir::pa::registerPipelines() {
  PassPipelineRegistration<LoweringOptions>(
      "pa-lower-to-gpu",
      "lower the operators to gpu kernels with proven or widened addresses",
      buildLowerToGpuPipeline);
  PassPipelineRegistration<LoweringOptions>(
      "pa-lower-to-rocdl", "lower the operators to rocdl kernels",
      buildLowerToRocdlPipeline);
  PassPipelineRegistration<LoweringOptions>(
      "pa-lower-to-binary", "lower the operators to code objects",
      buildLowerToBinaryPipeline);
}
