// A mixture-of-experts layer: 256 experts of hidden size 4096 and inner size 640,
// each token going to 6 of them. The first GEMM gathers the rows of the tokens,
// applies SiLU to interleaved gate and up columns and requantises to fp8; the
// second weights its rows, of K = 640, which tiles of 256 do not divide. A kernel
// written by hand adds up the rows of each token.
//
// `offsets`, `row_ids`, `row_weights` and `slots` are those of the router: rows are
// sorted by expert, `slots` has the rows of each token, -1 for a dropped one.
// Compiles for: gfx942, gfx950, gfx1250
module attributes {gpu.container_module} {
  func.func @moe(
      %tokens: memref<?x4096xf8E4M3FN>, %token_scales: memref<?x128xi8>,
      %gate_up: memref<256x1280x2048xi8>, %gate_up_scales: memref<256x1280x128xi8>,
      %down: memref<256x4096x320xi8>, %down_scales: memref<256x4096x20xi8>,
      %offsets: memref<257xi32>, %row_ids: memref<?xi32>,
      %row_weights: memref<?xf32>, %slots: memref<?x6xi32>,
      %inner: memref<?x640xf8E4M3FN>, %inner_scales: memref<?x20xi8>,
      %rows: memref<?x4096xbf16>, %out: memref<?x4096xbf16>) {
    pa.grouped_gemm a(%tokens : memref<?x4096xf8E4M3FN>)
        a_scales(%token_scales : memref<?x128xi8>)
        b(%gate_up : memref<256x1280x2048xi8>)
        b_scales(%gate_up_scales : memref<256x1280x128xi8>)
        offsets(%offsets : memref<257xi32>) row_ids(%row_ids : memref<?xi32>)
        outs(%inner : memref<?x640xf8E4M3FN>, %inner_scales : memref<?x20xi8>)
        {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
         b_scale = #pa.scale<e8m0_1x32>, activation = #pa.activation<silu>}
    pa.grouped_gemm a(%inner : memref<?x640xf8E4M3FN>)
        a_scales(%inner_scales : memref<?x20xi8>)
        b(%down : memref<256x4096x320xi8>)
        b_scales(%down_scales : memref<256x4096x20xi8>)
        offsets(%offsets : memref<257xi32>)
        row_weights(%row_weights : memref<?xf32>)
        outs(%rows : memref<?x4096xbf16>)
        {format = #pa.gemm_format<a8w4>, a_scale = #pa.scale<e8m0_1x32>,
         b_scale = #pa.scale<e8m0_1x32>}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lanes = arith.constant 512 : index
    %num_tokens = memref.dim %out, %c0 : memref<?x4096xbf16>
    gpu.launch_func @combine::@combine
        blocks in (%num_tokens, %c1, %c1) threads in (%lanes, %c1, %c1)
        args(%rows : memref<?x4096xbf16>, %slots : memref<?x6xi32>,
             %out : memref<?x4096xbf16>)
    return
  }

  // out[token, :] = the sum of rows[slots[token, j], :] over j, in f32. A workgroup
  // has one token, a lane 8 columns at a time.
  gpu.module @combine {
    gpu.func @combine(%rows: memref<?x4096xbf16>, %slots: memref<?x6xi32>,
                      %out: memref<?x4096xbf16>)
        kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %zeros = arith.constant dense<0.0> : vector<8xf32>
      %num_rows = memref.dim %rows, %c0 : memref<?x4096xbf16>
      %width = memref.dim %rows, %c1 : memref<?x4096xbf16>
      %top_k = memref.dim %slots, %c1 : memref<?x6xi32>
      %token = gpu.block_id x
      %lane = gpu.thread_id x
      %first = arith.muli %lane, %c8 : index
      %step = arith.constant 4096 : index
      scf.for %column = %first to %width step %step {
        %sum = scf.for %j = %c0 to %top_k step %c1
            iter_args(%before = %zeros) -> vector<8xf32> {
          %slot = memref.load %slots[%token, %j] : memref<?x6xi32>
          // One that is negative is huge here.
          %row = arith.index_cast %slot : i32 to index
          %is_row = arith.cmpi ult, %row, %num_rows : index
          %after = scf.if %is_row -> vector<8xf32> {
            %narrow = vector.load %rows[%row, %column]
                : memref<?x4096xbf16>, vector<8xbf16>
            %values = arith.extf %narrow : vector<8xbf16> to vector<8xf32>
            %added = arith.addf %before, %values : vector<8xf32>
            scf.yield %added : vector<8xf32>
          } else {
            scf.yield %before : vector<8xf32>
          }
          scf.yield %after : vector<8xf32>
        }
        %narrow = arith.truncf %sum : vector<8xf32> to vector<8xbf16>
        vector.store %narrow, %out[%token, %column]
            : memref<?x4096xbf16>, vector<8xbf16>
      }
      gpu.return
    }
  }
}
