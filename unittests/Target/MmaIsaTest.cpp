//===- MmaIsaTest.cpp - Every row is the instruction it names -------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers one pa.mma of every row to assembly, on every chip. A chip that has
// the row gives exactly that instruction. A chip that has not refuses, and so
// does the backend when it is asked all the same: the table neither invents a
// row nor leaves one out.
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/InitAll.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

MLIRContext &getContext() {
  static MLIRContext *context = [] {
    mlir::registerAllPasses();
    pa::registerAllPasses();
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    registerAllExtensions(registry);
    registerAllGPUToLLVMIRTranslations(registry);
    pa::registerAllDialects(registry);
    return new MLIRContext(registry, MLIRContext::Threading::DISABLED);
  }();
  return *context;
}

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// A kernel of one pa.mma on values from memory. Narrow floats are loaded as
/// bytes: memory has no packed fp4.
std::string getKernel(const MmaInfo &mma) {
  FragmentTypes types = getFragmentTypes(&getContext(), mma.id);
  std::string arguments, loads;
  auto load = [&](StringRef name, VectorType type) {
    int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
    arguments += llvm::formatv("%m{0}: memref<65536xi8>, ", name);
    loads += llvm::formatv(
        "%r{0} = vector.load %m{0}[%lane] : memref<65536xi8>, vector<{1}xi8>\n"
        "%{0} = vector.bitcast %r{0} : vector<{1}xi8> to {2}\n",
        name, bits / 8, print(type));
  };
  load("a", types.a);
  load("b", types.b);
  load("c", types.acc);
  std::string scales;
  if (mma.isScaled()) {
    auto codes = VectorType::get({4}, Float8E8M0FNUType::get(&getContext()));
    load("s", codes);
    load("t", codes);
    scales = "scales(%s[0], %t[1])";
  }
  return llvm::formatv(
      R"(gpu.module @kernels {{
        gpu.func @kernel({0} %out: memref<64x{1}xf32>) kernel {{
          %lane = gpu.thread_id x
          %zero = arith.constant 0 : index
          {2}
          %d = pa.mma {3} %a, %b, %c {4} : {5}, {6}, {7}
          vector.store %d, %out[%lane, %zero] : memref<64x{1}xf32>, {7}
          gpu.return
        }
      })",
      arguments, types.acc.getNumElements(), loads, stringifyMmaId(mma.id),
      scales, print(types.a), print(types.b), print(types.acc));
}

LogicalResult run(ModuleOp module, const std::string &pipeline) {
  PassManager pm(module.getContext());
  if (failed(parsePassPipeline(pipeline, pm)))
    return failure();
  return pm.run(module);
}

LogicalResult lowerWaveOps(ModuleOp module, StringRef chip) {
  module->setAttr(PADialect::kTargetAttrName,
                  TargetAttr::get(module.getContext(), chip, 0));
  return run(module, "pa-lower-wave-ops");
}

/// The matrix instructions of the assembly that the backend makes of `module`
/// for `chip`, one a line, or nothing where it refuses.
std::optional<std::string> getMatrixInstructions(ModuleOp module,
                                                 StringRef chip) {
  std::string pipeline = llvm::formatv(
      "gpu.module(convert-amdgpu-to-rocdl{{chipset={0}},"
      "convert-gpu-to-rocdl{{chipset={0} runtime=HIP},"
      "reconcile-unrealized-casts),rocdl-attach-target{{chip={0}},"
      "gpu-module-to-binary{{format=isa}",
      chip);
  if (failed(run(module, pipeline)))
    return std::nullopt;
  std::string found;
  module.walk([&](gpu::BinaryOp binary) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    SmallVector<StringRef> lines;
    object.getObject().getValue().split(lines, '\n');
    for (StringRef line : lines)
      if (line.contains("mfma_") || line.contains("wmma_"))
        found += line.trim().str() + "\n";
  });
  return found;
}

using Case = std::tuple<std::string, uint32_t>;

class MmaIsaTest : public testing::TestWithParam<Case> {
protected:
  StringRef chip = std::get<0>(GetParam());
  const MmaInfo &mma = getMmaInfo(static_cast<MmaId>(std::get<1>(GetParam())));

  OwningOpRef<ModuleOp> parse() {
    std::string text = getKernel(mma);
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &getContext());
    EXPECT_TRUE(module) << text;
    return module;
  }
};

/// What the assembler adds to the instruction for 4-bit operands and for the
/// selectors 0 of A and 1 of B.
std::vector<std::string> getModifiers(const MmaInfo &mma) {
  bool isF8F6F4 = mma.mnemonic.ends_with("f8f6f4");
  bool isWmma = mma.family.ends_with("wmma");
  std::vector<std::string> modifiers;
  if (mma.isScaled() && !isWmma)
    modifiers.emplace_back("op_sel:[0,1,0]");
  if (isF8F6F4 && mma.aFormat == "fp4")
    modifiers.emplace_back(isWmma ? "matrix_a_fmt:MATRIX_FMT_FP4" : "cbsz:4");
  if (isF8F6F4 && mma.bFormat == "fp4")
    modifiers.emplace_back(isWmma ? "matrix_b_fmt:MATRIX_FMT_FP4" : "blgp:4");
  if (mma.isScaled() && isWmma)
    modifiers.emplace_back("matrix_b_scale:MATRIX_SCALE_ROW1");
  return modifiers;
}

std::vector<std::string> findModifiers(StringRef line) {
  std::vector<std::string> modifiers;
  SmallVector<StringRef> words;
  line.trim().split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (word.starts_with("matrix_") || word.starts_with("cbsz:") ||
        word.starts_with("blgp:") || word.starts_with("op_sel:"))
      modifiers.push_back(word.str());
  return modifiers;
}

TEST_P(MmaIsaTest, RowIsTheInstruction) {
  std::string messages;
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parse();
  ASSERT_TRUE(module) << messages;

  if (TargetInfo::lookup(chip)->hasMma(mma.id)) {
    ASSERT_TRUE(succeeded(lowerWaveOps(*module, chip))) << messages;
    std::optional<std::string> isa = getMatrixInstructions(*module, chip);
    ASSERT_TRUE(isa) << messages;
    StringRef line(*isa);
    EXPECT_EQ(line.count('\n'), 1u) << line.str();
    EXPECT_TRUE(line.starts_with((mma.mnemonic + " ").str())) << line.str();
    EXPECT_EQ(findModifiers(line), getModifiers(mma)) << line.str();
    return;
  }

  EXPECT_TRUE(failed(lowerWaveOps(*module, chip)));
  EXPECT_EQ(messages, ("'pa.mma' op " + chip + " has no instruction " +
                       stringifyMmaId(mma.id) + "\n")
                          .str());
  for (StringRef owner : TargetInfo::allChips()) {
    if (!TargetInfo::lookup(owner)->hasMma(mma.id))
      continue;
    OwningOpRef<ModuleOp> other = parse();
    ASSERT_TRUE(succeeded(lowerWaveOps(*other, owner))) << messages;
    EXPECT_EQ(getMatrixInstructions(*other, chip), std::nullopt)
        << chip.str() << " has it according to the backend";
    return;
  }
}

std::vector<std::string> getChips() {
  std::vector<std::string> chips;
  for (StringRef chip : TargetInfo::allChips())
    chips.push_back(chip.str());
  return chips;
}

INSTANTIATE_TEST_SUITE_P(
    AllRows, MmaIsaTest,
    testing::Combine(testing::ValuesIn(getChips()),
                     testing::Range<uint32_t>(0, getMaxEnumValForMmaId() + 1)),
    [](const testing::TestParamInfo<Case> &info) {
      return std::get<0>(info.param) + "_" +
             stringifyMmaId(static_cast<MmaId>(std::get<1>(info.param))).str();
    });

} // namespace
