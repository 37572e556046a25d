// What the two passes make is proven, as it stands in the end.
// RUN: pa-opt %s --pa-annotate-address-form --pa-widen-addresses --canonicalize --cse --pa-verify-addresses | FileCheck %s
// RUN: pa-opt %s --pa-annotate-address-form=max-offset-bytes=256 --pa-widen-addresses=max-offset-bytes=256 --canonicalize --cse --pa-verify-addresses=max-offset-bytes=256 | FileCheck %s
// What a forced form pretends is found out.
// RUN: not pa-opt %s --pa-annotate-address-form=force=narrow --pa-widen-addresses --canonicalize --cse --pa-verify-addresses 2>&1 | FileCheck %s --check-prefix=FORCED

// FORCED: error: 'memref.store' op has the address form narrow but its offset is not proven: not narrow: offset is 0 to 17592186036476, limit 2147483647

gpu.module @m {
  // CHECK: gpu.func @rows
  gpu.func @rows(%m: memref<?x1024xf32>, %small: memref<64xf32>, %v: f32, %ids: memref<?xindex>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    memref.store %v, %m[%b, %t] : memref<?x1024xf32>
    memref.store %v, %small[%t] : memref<64xf32>
    %id = memref.load %ids[%t] : memref<?xindex>
    %w = memref.load %m[%id, %t] : memref<?x1024xf32>
    memref.store %w, %small[%t] : memref<64xf32>
    gpu.return
  }
}
