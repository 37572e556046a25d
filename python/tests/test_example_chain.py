"""The indexer of examples/glm52_indexer.mlir with its own sizes, and the top-k of
its logits, in one module under the stock mlir-runner on the emulator: 4 GiB of
logits that nobody fills before, pages 1002240 bytes apart in a cache of 4.6 GB.
Contexts are short, so that memory that is not touched costs nothing."""

import pathlib
import re
import subprocess

import numpy as np
import pytest

import kernel_harness
import test_runner
from pagedattn import formats, reference

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "glm52_indexer.mlir"
BATCH, QUERIES, HEADS, DIM, PAGE = 256, 4, 128, 128, 64
ROWS, COLUMNS, WIDTH, PAGE_STRIDE = BATCH * QUERIES, 1048576, 16384, 1002240
PAGES, K = 4597, 2048  # a prime number of pages
# Different contents of queries, of pages and of rows of weights.
Q_KINDS, PAGE_KINDS, WEIGHT_KINDS = 4, 16, 64
SHOWN = 64  # columns shown of every row; the long sequences are shown whole
LONG = {0: 2049, 130: 2200, 255: 2900}

MAIN = """
func.func @select(%logits: memref<1024x1048576xf32>, %lens: memref<256xi32>,
                  %best: memref<1024x2048xi32>) {
  pa.topk values(%logits : memref<1024x1048576xf32>)
    context_lens(%lens : memref<256xi32>) outs(%best : memref<1024x2048xi32>)
    {next_n = 4 : i64}
  return
}
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %c8192 = arith.constant 8192 : index
  %q_kinds = arith.constant @Q_KINDS : index
  %page_kinds = arith.constant @PAGE_KINDS : index
  %weight_kinds = arith.constant @WEIGHT_KINDS : index
  %pages = arith.constant @PAGES : index
  %bytes = arith.constant @BYTES : index
  %words = arith.constant @WORDS : index
  %step = arith.constant 1543 : index

  %q_from = memref.get_global @q : memref<@Q_KINDSx4x128x128xf8E4M3FN>
  %keys_from = memref.get_global @keys : memref<@PAGE_KINDSx64x128xf8E4M3FN>
  %scales_from = memref.get_global @scales : memref<@PAGE_KINDSx64xf32>
  %weights_from = memref.get_global @weights : memref<@WEIGHT_KINDSx128xf32>
  %lens = memref.get_global @lens : memref<256xi32>

  %q = memref.alloc() : memref<256x4x128x128xf8E4M3FN>
  %cache = memref.alloc() {alignment = 64} : memref<@BYTESxi8>
  %weights = memref.alloc() : memref<1024x128xf32>
  %table = memref.alloc() : memref<256x16384xi32>
  %logits = memref.alloc() : memref<1024x1048576xf32>
  %best = memref.alloc() : memref<1024x2048xi32>

  %flat_keys = memref.view %cache[%c0][] : memref<@BYTESxi8> to memref<@BYTESxf8E4M3FN>
  %flat_scales = memref.view %cache[%c8192][] : memref<@BYTESxi8> to memref<@WORDSxf32>
  %keys = memref.reinterpret_cast %flat_keys to offset: [0], sizes: [%pages, 64, 128],
    strides: [1002240, 128, 1] : memref<@BYTESxf8E4M3FN>
    to memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>
  %scales = memref.reinterpret_cast %flat_scales to offset: [0], sizes: [%pages, 64],
    strides: [250560, 1] : memref<@WORDSxf32> to memref<?x64xf32, strided<[250560, 1]>>

  scf.for %b = %c0 to %c256 step %c1 {
    %kind = arith.remui %b, %q_kinds : index
    %from = memref.subview %q_from[%kind, 0, 0, 0] [1, 4, 128, 128] [1, 1, 1, 1]
      : memref<@Q_KINDSx4x128x128xf8E4M3FN>
      to memref<1x4x128x128xf8E4M3FN, strided<[65536, 16384, 128, 1], offset: ?>>
    %to = memref.subview %q[%b, 0, 0, 0] [1, 4, 128, 128] [1, 1, 1, 1]
      : memref<256x4x128x128xf8E4M3FN>
      to memref<1x4x128x128xf8E4M3FN, strided<[65536, 16384, 128, 1], offset: ?>>
    memref.copy %from, %to : memref<1x4x128x128xf8E4M3FN, strided<[65536, 16384, 128, 1], offset: ?>>
      to memref<1x4x128x128xf8E4M3FN, strided<[65536, 16384, 128, 1], offset: ?>>
  }
  scf.for %r = %c0 to %c1024 step %c1 {
    %kind = arith.remui %r, %weight_kinds : index
    scf.for %h = %c0 to %c128 step %c1 {
      %w = memref.load %weights_from[%kind, %h] : memref<@WEIGHT_KINDSx128xf32>
      memref.store %w, %weights[%r, %h] : memref<1024x128xf32>
    }
  }
  // Pages are given out one after another, far apart from each other.
  %used = scf.for %b = %c0 to %c256 step %c1 iter_args(%first = %c0) -> index {
    %len_i32 = memref.load %lens[%b] : memref<256xi32>
    %len = arith.index_cast %len_i32 : i32 to index
    %count = arith.ceildivui %len, %c64 : index
    scf.for %j = %c0 to %count step %c1 {
      %number = arith.addi %first, %j : index
      %product = arith.muli %number, %step : index
      %page = arith.remui %product, %pages : index
      %id = arith.index_cast %page : index to i32
      memref.store %id, %table[%b, %j] : memref<256x16384xi32>
      %kind = arith.remui %page, %page_kinds : index
      scf.for %t = %c0 to %c64 step %c1 {
        %s = memref.load %scales_from[%kind, %t] : memref<@PAGE_KINDSx64xf32>
        memref.store %s, %scales[%page, %t] : memref<?x64xf32, strided<[250560, 1]>>
        scf.for %d = %c0 to %c128 step %c1 {
          %e = memref.load %keys_from[%kind, %t, %d] : memref<@PAGE_KINDSx64x128xf8E4M3FN>
          memref.store %e, %keys[%page, %t, %d]
            : memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>
        }
      }
    }
    %next = arith.addi %first, %count : index
    scf.yield %next : index
  }

@REGISTER
  call @glm52_indexer(%q, %keys, %scales, %weights, %table, %lens, %logits)
    : (memref<256x4x128x128xf8E4M3FN>, memref<?x64x128xf8E4M3FN, strided<[1002240, 128, 1]>>,
       memref<?x64xf32, strided<[250560, 1]>>, memref<1024x128xf32>, memref<256x16384xi32>,
       memref<256xi32>, memref<1024x1048576xf32>) -> ()
  call @select(%logits, %lens, %best)
    : (memref<1024x1048576xf32>, memref<256xi32>, memref<1024x2048xi32>) -> ()
@SHOW
  return
}
"""


def show(name, row, rows, columns):
    source, view = f"memref<{ROWS}x{K}xi32>", f"memref<{rows}x{columns}xi32, strided<[{K}, 1], "
    view += f"offset: {row * K}>>"
    return [f"%{name} = memref.subview %best[{row}, 0] [{rows}, {columns}] [1, 1] : {source} "
            f"to {view}", f"%any_{name} = memref.cast %{name} : {view} to memref<*xi32>",
            f"call @printMemrefI32(%any_{name}) : (memref<*xi32>) -> ()"]


@pytest.mark.parametrize("chip", ("gfx950", "gfx1250"))
def test_indexer_of_the_example(chip, tmp_path):
    rng = np.random.default_rng(52)

    def codes(*shape):
        return formats.encode(rng.standard_normal(shape), "e4m3fn")

    q, keys = codes(Q_KINDS, QUERIES, HEADS, DIM), formats.tile_pages(codes(PAGE_KINDS, PAGE, DIM))
    scales = rng.uniform(0.25, 1.25, (PAGE_KINDS, PAGE)).astype(np.float32)
    weights = rng.standard_normal((WEIGHT_KINDS, HEADS)).astype(np.float32)
    lens = rng.integers(0, SHOWN + 1, BATCH).astype(np.int32)
    lens[list(LONG)] = list(LONG.values())

    def constant(name, array, element):
        shape = "x".join(map(str, array.shape))
        return (f'memref.global "private" @{name} : memref<{shape}x{element}> = '
                f'dense<"0x{array.tobytes().hex().upper()}">')

    registered = {"q": "f8E4M3FN", "cache": "i8", "weights": "f32", "table": "i32",
                  "logits": "f32", "lens": "i32", "best": "i32"}
    main = MAIN
    shapes = dict(re.findall(r"%(\w+) = memref.(?:alloc|get_global)[^:]*: (memref<\S+>)", main))
    register = []
    for name, element in registered.items():
        register += [f"%any_{name} = memref.cast %{name} : {shapes[name]} to memref<*x{element}>",
                     f"gpu.host_register %any_{name} : memref<*x{element}>"]
    shown = show("all", 0, ROWS, SHOWN)
    for b in LONG:
        shown += show(f"long_{b}", b * QUERIES, QUERIES, K)
    size = PAGES * PAGE_STRIDE
    main = main.replace("@REGISTER", "\n".join(register)).replace("@SHOW", "\n".join(shown))
    for name, value in dict(Q_KINDS=Q_KINDS, PAGE_KINDS=PAGE_KINDS, WEIGHT_KINDS=WEIGHT_KINDS,
                            PAGES=PAGES, BYTES=size, WORDS=size // 4 - 2048).items():
        main = main.replace(f"@{name}", str(value))
    text = "\n".join([constant("q", q, "f8E4M3FN"), constant("keys", keys, "f8E4M3FN"),
                      constant("scales", scales, "f32"), constant("weights", weights, "f32"),
                      constant("lens", lens, "i32"), EXAMPLE.read_text(), main])
    output = test_runner.run_text(text, chip, tmp_path)
    tables = [np.array(part.split(), np.int64) for part in
              (re.sub(r"[\[\],]", " ", part) for part in re.findall(
                  r"data =\s*(\[.*?\]\])", output, re.DOTALL))]
    assert len(tables) == 1 + len(LONG)

    ends = reference.row_ends(lens, QUERIES)
    every = tables[0].reshape(ROWS, SHOWN)
    columns = np.arange(SHOWN)
    short = ends <= SHOWN
    np.testing.assert_array_equal(
        every[short], np.where(columns < ends[short, None], columns, -1))
    assert short.sum() == ROWS - QUERIES * len(LONG)

    first = dict(zip(range(BATCH), np.cumsum(np.r_[0, -(-lens // PAGE)])))
    for (b, length), table in zip(LONG.items(), tables[1:]):
        used = -(-length // PAGE)
        ids = (first[b] + np.arange(used)) * 1543 % PAGES
        rows = b * QUERIES + np.arange(QUERIES)
        logits = reference.paged_logits(
            q[[b % Q_KINDS]], keys[ids % PAGE_KINDS], scales[ids % PAGE_KINDS],
            weights[rows % WEIGHT_KINDS], np.arange(used, dtype=np.int32)[None], [length],
            np.full((QUERIES, length), -np.inf), layout="tiled", fmt="e4m3fn")
        want, _ = reference.topk(logits.astype(np.float32), K, row_ends=ends[rows])
        for row, found in enumerate(table.reshape(QUERIES, K)):
            count = min(K, ends[rows[row]])
            assert (found[count:] == -1).all()
            found = found[:count]
            assert (np.diff(found) > 0).all() and 0 <= found[0] and found[-1] < ends[rows[row]]
            # Logits in f32 may order two columns of nearly the same value otherwise.
            limit = 2 * test_runner.TOLERANCE * np.abs(logits[row, :ends[rows[row]]]).max()
            np.testing.assert_allclose(np.sort(logits[row, found]),
                                       np.sort(logits[row, want[row, :count]]),
                                       rtol=0, atol=limit)
