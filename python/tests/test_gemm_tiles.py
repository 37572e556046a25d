"""The tilings that pa-configure takes for many rows, on small problems: several
steps, chunks that fill no step and a rest of K, row tiles that are not full, and
widths that the tile divides and does not. No read or write of LDS meets a bank
conflict.
"""

import pytest

from test_gemm_kernel import CHIPS, IS_LONG, check_alone
from test_loops_gemm import Case

E8M0 = {"a_scale": "e8m0_1x32", "b_scale": "e8m0_1x32"}
F32 = {"a_scale": "f32_1x128", "b_scale": "f32_128x128"}
# Format, scales, instruction and tiles; with waves_m = 1 the weights bypass LDS.
TILINGS = {
    "gfx942": (
        ("a8w8", dict(F32, fp8="e4m3fnuz"), "mfma_f32_16x16x32_fp8_fnuz", (64, 256, 128, 1, 4, 1, 2)),
        ("a8w8", dict(F32, fp8="e4m3fnuz"), "mfma_f32_16x16x32_fp8_fnuz", (16, 64, 256, 1, 1, 4, 0)),
        ("a8w4", E8M0, "mfma_f32_16x16x16_bf16", (64, 128, 128, 2, 2, 1, 2)),
        ("bf16", {}, "mfma_f32_16x16x16_bf16", (96, 512, 64, 1, 4, 1, 2)),
    ),
    "gfx950": (
        ("a4w4", E8M0, "mfma_scale_f32_16x16x128_fp4", (256, 192, 256, 2, 2, 1, 2)),
        ("a4w4", E8M0, "mfma_scale_f32_16x16x128_fp4", (128, 256, 256, 1, 4, 1, 2)),
        ("a8w4", E8M0, "mfma_scale_f32_16x16x128_fp4_fp8", (64, 512, 128, 1, 4, 1, 2)),
        ("a8w4", E8M0, "mfma_scale_f32_16x16x128_fp4_fp8", (16, 32, 256, 1, 1, 4, 0)),
        ("a8w8", E8M0, "mfma_scale_f32_16x16x128_fp8", (128, 256, 128, 1, 4, 1, 2)),
        ("a8w8", dict(E8M0, weight_layout="shuffled_16x16"), "mfma_scale_f32_16x16x128_fp8",
         (128, 256, 128, 1, 4, 1, 2)),
        ("a8w8", F32, "mfma_f32_16x16x128_fp8", (128, 256, 128, 1, 4, 1, 2)),
        ("bf16", {}, "mfma_f32_16x16x32_bf16", (128, 256, 64, 1, 4, 1, 2)),
    ),
    "gfx1250": (
        # More than 256 registers, but for two.
        ("a4w4", E8M0, "wmma_scale_f32_32x16x128_fp4", (128, 512, 128, 1, 4, 1, 2)),
        ("a8w4", E8M0, "wmma_scale_f32_16x16x128_fp4_fp8", (128, 512, 128, 1, 4, 1, 2)),
        ("a8w4", E8M0, "wmma_scale_f32_16x16x128_fp4_fp8", (32, 256, 128, 1, 4, 1, 2)),
        ("a8w4", dict(E8M0, weight_layout="shuffled_16x16"), "wmma_scale_f32_16x16x128_fp4_fp8",
         (128, 512, 128, 1, 4, 1, 2)),
        ("a8w8", E8M0, "wmma_scale_f32_16x16x128_fp8", (256, 256, 128, 2, 2, 1, 2)),
        ("a8w8", F32, "wmma_f32_16x16x128_fp8", (128, 256, 128, 1, 4, 1, 2)),
        ("a8w8", F32, "wmma_f32_16x16x128_fp8", (16, 32, 128, 1, 1, 4, 0)),
        ("bf16", {}, "wmma_f32_16x16x32_bf16", (256, 256, 64, 2, 2, 1, 2)),
    ),
}
NAMES = ("tile_m", "tile_n", "tile_k", "waves_m", "waves_n", "waves_k", "stages")
CASES = [(chip, i, is_whole) for chip in CHIPS for i in range(len(TILINGS[chip]))
         for is_whole in (True, False)]


@pytest.mark.parametrize("chip,number,is_whole", CASES)
def test_tiles_of_many_rows(chip, number, is_whole):
    if not IS_LONG and (number + is_whole) % 4:
        pytest.skip("long; one of four in the short run")
    fmt, options, mma, tiles = TILINGS[chip][number]
    config = f"mma = {mma}, " + ", ".join(f"{n} = {v}" for n, v in zip(NAMES, tiles))
    shuffled = options.get("weight_layout", "linear") != "linear"
    k = 1152 if "f32" in options.get("a_scale", "") else 1216 if shuffled else 1184
    n = tiles[1] if is_whole else tiles[1] + (16 if shuffled else 24)
    rows = tiles[0] + 37
    result = check_alone(Case("tiles", fmt=fmt, k=k, n=n, rows=rows + 5,
                              offsets=(0, 5, 5, rows, rows + 3), config=config, **options),
                         chip)
    assert result.stats["lds_bank_conflicts"] == 0
