// RUN: pa-opt %s | pa-opt | FileCheck %s

gpu.module @m {
  // CHECK: gpu.func @f(%{{.*}}: memref<?x64xf32> {pa.max_rows = 1024 : i64}, %{{.*}}: memref<?x64xi8> {pa.max_bytes = 65536 : i64, pa.max_pages = 0 : i64}, %{{.*}}: index {pa.uniform})
  gpu.func @f(%a: memref<?x64xf32> {pa.max_rows = 1024 : i64}, %b: memref<?x64xi8> {pa.max_pages = 0 : i64, pa.max_bytes = 65536 : i64}, %c: index {pa.uniform}) kernel {
    gpu.return
  }
}
// CHECK: func.func @g(%{{.*}}: memref<8x64xf32> {pa.max_rows = 8 : i64})
func.func @g(%a: memref<8x64xf32> {pa.max_rows = 8 : i64}) {
  return
}
