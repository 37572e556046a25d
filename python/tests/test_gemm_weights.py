"""Where a group has few rows its weights are read once, and those of a group without
rows never; results are those of the reference, as in test_gemm_kernel.py.

A ragged edge repeats reads: lanes beyond the last row of the weights read that one
again, those beyond the end of K the last 16 bytes or less. That is less than a tile
of columns and a chunk of 128 elements of K, in instructions that read others too.
"""

import re

import pytest

import kernel_harness
from test_gemm_kernel import CHIPS, check, format_cases, without_c_interface
from test_loops_gemm import Case

# N and K, whole or ragged; f32 scales are for blocks of 128 of K.
SHAPES = {"whole": (192, 1280), "ragged": (200, 1376)}
CASES = [(chip, i, rows, shape) for chip in CHIPS for i in range(len(list(format_cases())))
         for rows in (1, 16) for shape in SHAPES]


def up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


@pytest.mark.parametrize("chip,number,rows,shape", CASES)
def test_weights_are_read_once(chip, number, rows, shape):
    options = list(format_cases())[number]
    n, k = SHAPES[shape]
    if options.get("a_scale") == "f32_1x128":
        k = up(k, 128)
    fp8 = "e4m3fnuz" if chip == "gfx942" and options["fmt"] == "a8w8" else "e4m3fn"
    case = Case("weights", k=k, n=n, rows=2 * rows, offsets=(0, rows, rows, 2 * rows), fp8=fp8,
                **options)
    folder, kernels = kernel_harness.compile_kernels(without_c_interface(case), chip)
    result = check(case, folder, kernels)
    bits = {"a8w4": 4, "a4w4": 4, "bf16": 16}.get(options["fmt"], 8)
    found = result.stats["by_buffer"]["b"]
    once = 2 * n * k * bits // 8
    tile_n = int(re.search(r"_t\d+x(\d+)x\d+__", kernels[0]["symbol"]).group(1))
    most = 2 * up(n, tile_n) * up(k, 128) * bits // 8
    assert found["bytes_stored"] == 0
    assert once <= found["bytes_loaded"] <= most
    if n % tile_n == 0 and k % 128 == 0:
        assert most == once
