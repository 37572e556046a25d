// The stock tool with the plugin has the dialect and its passes.

// RUN: mlir-opt-22 %s --load-dialect-plugin=%pa_plugin | FileCheck %s
// RUN: mlir-opt-22 %s --load-dialect-plugin=%pa_plugin --verify-roundtrip | FileCheck %s
// RUN: mlir-opt-22 %s --load-dialect-plugin=%pa_plugin \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s --check-prefix=BUF
// RUN: mlir-opt-22 --load-dialect-plugin=%pa_plugin --load-pass-plugin=%pa_plugin --help | FileCheck %s --check-prefix=HELP
// RUN: not mlir-opt-22 %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// HELP-DAG: --pa-lower-to-loops

// WITHOUT: Dialect `pa' not found

// CHECK-LABEL: func @topk
// CHECK: pa.topk
// BUF: pa.topk
// BUF-SAME: memref<8x4xi32
func.func @topk(%values: tensor<8x64xf32>, %indices: tensor<8x4xi32>)
    -> tensor<8x4xi32> {
  %0 = pa.topk values(%values : tensor<8x64xf32>)
    outs(%indices : tensor<8x4xi32>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// It lowers to a binary as pa-opt does.
// RUN: mlir-opt-22 --load-dialect-plugin=%pa_plugin --load-pass-plugin=%pa_plugin %pa_examples/glm52_indexer.mlir \
// RUN:   --pass-pipeline="builtin.module(pa-lower-to-binary{chip=gfx950})" -o %t.plugin
// RUN: pa-opt %pa_examples/glm52_indexer.mlir --pa-lower-to-binary=chip=gfx950 -o %t.tool
// RUN: diff %t.plugin %t.tool
// RUN: FileCheck %s --check-prefix=BINARY --input-file=%t.plugin
// BINARY: gpu.binary @paged_logits
