// RUN: pa-opt %s --pa-set-target=chip=gfx950 --pa-configure | FileCheck %s --check-prefixes=GFX950
// RUN: pa-opt %s --pa-set-target=chip=gfx1250 --pa-configure | FileCheck %s --check-prefixes=GFX1250
// RUN: sed 's/E4M3FN/E4M3FNUZ/g' %s | pa-opt --pa-set-target=chip=gfx942 --pa-configure | FileCheck %s --check-prefixes=GFX942

// All four rows of a sequence where their candidates fit LDS beside the queries,
// groups of them where not. Splits where the sizes are known, else 0.
// GFX950-LABEL: func @four_rows
// GFX950: #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = {{[0-9]}}, query = lds, rows = 2, candidates = {{[0-9]+}}, splits = 1>
// GFX950-LABEL: func @one_row
// GFX950: #pa.indexer_config<mma = mfma_f32_16x16x128_fp8, waves = 8, steps = 2, query = registers, rows = 1, candidates = 5632, splits = 0>
// GFX942-LABEL: func @four_rows
// GFX942: #pa.indexer_config<mma = mfma_f32_16x16x32_fp8_fnuz, waves = 8, steps = 2, query = registers, rows = 1, candidates = {{[0-9]+}}, splits = 1>
// GFX1250-LABEL: func @four_rows
// GFX1250: #pa.indexer_config<mma = wmma_f32_16x16x128_fp8, waves = 16, steps = {{[0-9]}}, query = lds, rows = 2, candidates = {{[0-9]+}}, splits = 1>
// GFX1250-LABEL: func @one_row
// GFX1250: waves = 8, steps = 4, query = registers, rows = 1
func.func @four_rows(%q: memref<256x4x128x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<1024x128xf32>, %table: memref<256x16384xi32>,
    %lens: memref<256xi32>, %indices: memref<1024x2048xi32>) {
  %columns = arith.constant 1048576 : index
  pa.indexer queries(%q : memref<256x4x128x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<1024x128xf32>) block_table(%table : memref<256x16384xi32>)
    context_lens(%lens : memref<256xi32>) columns(%columns)
    outs(%indices : memref<1024x2048xi32>)
  return
}

func.func @one_row(%q: memref<?x1x64x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
    %scales: memref<?x64xf32>, %w: memref<?x64xf32>, %table: memref<?x?xi32>,
    %lens: memref<?xi32>, %columns: index, %indices: memref<?x512xi32>) {
  pa.indexer queries(%q : memref<?x1x64x128xf8E4M3FN>)
    keys(%keys : memref<?x64x128xf8E4M3FN>) key_scales(%scales : memref<?x64xf32>)
    weights(%w : memref<?x64xf32>) block_table(%table : memref<?x?xi32>)
    context_lens(%lens : memref<?xi32>) columns(%columns)
    outs(%indices : memref<?x512xi32>)
  return
}
