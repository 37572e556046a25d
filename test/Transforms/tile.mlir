// RUN: pa-opt %s --pa-set-target=chip=gfx950 --pa-configure --pa-tile --canonicalize --cse | FileCheck %s
// RUN: pa-opt %s --pa-set-target=chip=gfx1250 --pa-configure --pa-tile --canonicalize --cse | FileCheck %s --check-prefix=GFX1250

// The op becomes the launch of a kernel. Page ids are read one step ahead of the
// keys, the keys one step ahead of the product, and one store takes a whole wave.

// CHECK-LABEL: func @f
// CHECK-NOT: pa.paged_logits
// CHECK: gpu.launch_func @[[MODULE:paged_logits_fp8_n1_h64_d128_p64_linear]]::@[[MODULE]] blocks in
// CHECK: gpu.module @[[MODULE]]
// CHECK: gpu.func @[[MODULE]]
// CHECK-SAME: kernel attributes {known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: pa.kernel = {
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load {{.*}} : memref<?x64x128xf8E4M3FN>, vector<16xf8E4M3FN>
// CHECK: pa.mma mfma_f32_16x16x128_fp8
// CHECK: pa.group_sum %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: memref.store {{.*}} : memref<2x512xf32>
// CHECK: gpu.return

// GFX1250: known_block_size = array<i32: 128, 1, 1>
// GFX1250-SAME: rocdl.waves_per_eu = 4 : i32
// GFX1250: pa.mma wmma_f32_16x16x128_fp8
// GFX1250: pa.group_sum %{{[^,]*}}, %{{[^,]*}}{{$}}
func.func @f(%q: memref<2x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
             %scales: memref<?x64xf32>, %w: memref<2x64xf32>, %table: memref<2x8xi32>,
             %lens: memref<2xi32>, %logits: memref<2x512xf32>) {
  pa.paged_logits queries(%q : memref<2x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<2x64xf32>) block_table(%table : memref<2x8xi32>)
    context_lens(%lens : memref<2xi32>) outs(%logits : memref<2x512xf32>)
  return
}
