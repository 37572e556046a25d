"""pa.grouped_gemm compiled for the chips and executed in the emulator.

Data are such that products and sums are exact in f32, so that results are
compared bit by bit unless there is an activation. Outputs are views with guard
columns and rows around them, which hold a sentinel.
"""

import functools
import os
from dataclasses import replace

import numpy as np
import pytest

import kernel_harness
import loops_harness as loops
from kernel_harness import Operand
from test_loops_gemm import CASES, GUARD, Case, compare

CHIPS = ("gfx942", "gfx950", "gfx1250")
IS_LONG = bool(os.environ.get("PAGEDATTN_LONG_TESTS"))
needs_long = pytest.mark.skipif(
    not IS_LONG, reason="long; set PAGEDATTN_LONG_TESTS=1 or run ./run-tests.sh --long")


def is_legal(case: Case, chip: str) -> bool:
    """Whether the chip computes it; the others are negative tests."""
    if case.fp8 == "e4m3fnuz" and case.fmt in ("a8w8", "a8w4") and chip != "gfx942":
        return False
    return case.k % 8 == 0


def view_operand(view: np.ndarray, whole: np.ndarray) -> Operand:
    offset = (view.__array_interface__["data"][0]
              - whole.__array_interface__["data"][0])
    strides = tuple(s // view.itemsize for s in view.strides)
    data = whole.reshape(-1).view(np.uint8).copy()
    return Operand(data, view.shape, strides, offset, is_output=True)


def run_case(case: Case, folder, kernels, *, options: tuple = ()):
    """Runs the kernels on the operands of the case, whose outputs they fill."""
    operands = {name: Operand.of(array) for name, array in case.arrays.items()}
    outputs = dict(zip(("c", "c_scales"), case.outputs))
    for name, (view, whole) in outputs.items():
        operands[name] = view_operand(view, whole)
    result = kernel_harness.run_all(kernels, folder, operands, options=options)
    assert result.status == 0 and not result.report["reports"], result.text
    for name, (_, whole) in outputs.items():
        whole[...] = result.outputs[name].view(whole.dtype).reshape(whole.shape)
    return result


def check(case: Case, folder, kernels, **kwargs):
    expected, touched = case.expected()
    result = run_case(case, folder, kernels, **kwargs)
    compare(case, expected, touched)
    for view, whole in case.outputs:
        loops.assert_guards_intact(view, whole, GUARD)
        assert (view[~touched] == GUARD).all(), "a row outside of every group changed"
    return result


def without_c_interface(case: Case) -> str:
    return case.function().replace("attributes {llvm.emit_c_interface}", "")


def check_alone(case: Case, chip: str, **kwargs):
    folder, kernels = kernel_harness.compile_kernels(without_c_interface(case), chip)
    return check(case, folder, kernels, **kwargs)


def is_in_slice(name: str, chip: str) -> bool:
    """The short run takes each case on one chip of three."""
    return IS_LONG or (list(CASES).index(name) + CHIPS.index(chip)) % 3 == 0


@functools.lru_cache(maxsize=None)
def compile_together(chip: str):
    """All cases in one module, and the kernels of each."""
    legal = [case for case in CASES.values()
             if is_legal(case, chip) and is_in_slice(case.name, chip)]
    folder, kernels = kernel_harness.compile_kernels(
        "\n".join(map(without_c_interface, legal)), chip)
    assert len(kernels) == len(legal)
    return folder, {case.name: [kernel] for case, kernel in zip(legal, kernels)}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", CASES)
def test_matches_the_reference(name, chip):
    case = replace(CASES[name])
    if not is_in_slice(name, chip):
        pytest.skip("long; one chip of three in the short run")
    if not is_legal(case, chip):
        wanted = "K must be a multiple of" if case.k % 8 else "must be 'f8E4M3FN' on"
        with pytest.raises(RuntimeError, match=wanted):
            kernel_harness.compile_kernels(without_c_interface(case), chip)
        return
    folder, kernels = compile_together(chip)
    check(case, folder, kernels[name])


def format_cases():
    """What the chips are asked for, by format and scales."""
    for fmt in ("a8w8", "a8w4", "a4w4"):
        yield dict(fmt=fmt, a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    yield dict(fmt="a8w8", a_scale="e8m0_1x32", b_scale="e8m0_32x32")
    yield dict(fmt="a8w8", a_scale="f32_1x128", b_scale="f32_128x128")
    yield dict(fmt="a8w8", a_scale="f32_row", b_scale="f32_row")
    yield dict(fmt="bf16")


LENGTHS = (32, 96, 128, 160, 352, 384, 576, 640, 1152, 1280, 1664)
WIDTHS = (16, 48, 80, 576, 640)
GROUPS = (0, 1, 8, 16, 31, 33, 63, 64, 65)


def shape_cases():
    """Every K with every format; widths and group sizes take turns, a group of each
    size being first, in the middle and last."""
    number = 0
    for kinds in format_cases():
        for k in LENGTHS:
            if kinds.get("a_scale", "").startswith("f32_1x128") and k % 128:
                continue
            number += 1
            n = WIDTHS[number % len(WIDTHS)]
            first = GROUPS[number % len(GROUPS)]
            second = GROUPS[number * 4 % len(GROUPS)]
            sizes = (first, second, 0, first, 3, second)[: 2 + number % 5]
            offsets = tuple(np.cumsum((number % 3,) + sizes).tolist())
            yield Case(f"shape_{number}", k=k, n=n, offsets=offsets,
                       rows=offsets[-1] + number % 2, out=("bf16", "f32")[number % 2],
                       **kinds)


SHAPES = {case.name: case for case in shape_cases()}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", SHAPES)
def test_lengths_widths_and_groups(name, chip):
    number = int(name.rpartition("_")[2])
    if not IS_LONG and (number + CHIPS.index(chip)) % 3:
        pytest.skip("long; one chip of three in the short run")
    check_alone(replace(SHAPES[name]), chip)


MMA = {
    "gfx942": {"a8w8": "mfma_f32_16x16x16_bf16", "bf16": "mfma_f32_16x16x16_bf16"},
    "gfx950": {"a8w8": "mfma_scale_f32_16x16x128_fp8", "bf16": "mfma_f32_16x16x32_bf16"},
    "gfx1250": {"a8w8": "wmma_scale_f32_16x16x128_fp8", "bf16": "wmma_f32_16x16x32_bf16"},
}


def config(chip, fmt, *tiles) -> str:
    names = ("tile_m", "tile_n", "tile_k", "waves_m", "waves_n", "waves_k", "stages")
    values = ", ".join(f"{n} = {v}" for n, v in zip(names, tiles))
    return f"mma = {MMA[chip][fmt]}, {values}"


TILES = {
    "a8w8": ((16, 16, 128, 1, 1, 1, 0), (64, 64, 128, 2, 2, 1, 0), (16, 32, 256, 1, 1, 8, 0),
             (32, 64, 128, 2, 1, 3, 0), (64, 32, 384, 2, 1, 1, 0),
             (64, 64, 128, 2, 2, 1, 2), (16, 64, 128, 1, 4, 1, 2), (32, 48, 256, 1, 3, 1, 2)),
    "bf16": ((16, 16, 64, 1, 1, 1, 0), (64, 64, 64, 2, 2, 1, 0), (16, 32, 128, 1, 1, 8, 0),
             (32, 64, 64, 2, 1, 3, 0), (64, 64, 64, 2, 2, 1, 2), (32, 48, 128, 1, 3, 1, 2)),
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("k", (1184, 256))
@pytest.mark.parametrize("fmt,tiles", [(f, t) for f in TILES for t in TILES[f]])
def test_any_tiles_give_the_same(fmt, tiles, k, chip):
    """Sums are exact, so that every way to cut the work gives the same bits."""
    scale = "e8m0_1x32" if fmt == "a8w8" else "none"
    k = max(k, tiles[2])
    case = Case("tiles", fmt=fmt, k=k, n=80, offsets=(0, 17, 17, 60, 61), rows=61,
                a_scale=scale, b_scale=scale, config=config(chip, fmt, *tiles))
    check_alone(case, chip)


@pytest.mark.parametrize("chip", CHIPS)
def test_waves_that_share_k_agree_from_run_to_run(chip):
    """Sums that round: any two runs have the same bits all the same."""
    case = Case("split", k=1664, n=48, offsets=(0, 5, 9), rows=9,
                config=config(chip, "a8w8", 16, 16, 128, 1, 1, 8, 0)
                if chip != "gfx942" else "", fp8="e4m3fn",
                a_scale="e8m0_1x32", b_scale="e8m0_1x32", a_codes=tuple(range(110, 140)),
                b_codes=tuple(range(110, 140)))
    folder, kernels = kernel_harness.compile_kernels(without_c_interface(case), chip)
    runs = []
    for seed in range(3):
        fresh = replace(case)
        run_case(fresh, folder, kernels, options=(f"--seed={seed}",))
        runs.append(fresh.outputs[0][1].copy())
    assert (runs[0].view(np.uint32) == runs[1].view(np.uint32)).all()
    assert (runs[0].view(np.uint32) == runs[2].view(np.uint32)).all()
    expected, touched = case.expected()
    got = runs[0][1:-1, 16:-16][touched]
    np.testing.assert_allclose(got, expected[touched], rtol=1e-5,
                               atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("inter", (384, 640))
def test_inter_dimension_that_no_large_tile_divides(inter, chip):
    """K of 384 and 640 with tiles of 256: the rest after the last whole tile counts.
    A kernel that drops it gives a norm ratio of 0.83 and 0.93."""
    mma = {"gfx942": "mfma_f32_16x16x16_bf16", "gfx950": "mfma_scale_f32_16x16x128_fp4",
           "gfx1250": "wmma_scale_f32_16x16x128_fp4"}[chip]
    case = Case("inter", fmt="a4w4", k=inter, n=512, offsets=(0, 9, 12, 16), rows=16,
                a_scale="e8m0_1x32", b_scale="e8m0_1x32",
                config=f"mma = {mma}, tile_m = 16, tile_n = 64, tile_k = 256, waves_m = 1, "
                       "waves_n = 2, waves_k = 1, stages = 0")
    assert inter % 256
    check_alone(case, chip)
    expected, touched = case.expected()
    got = case.outputs[0][0][touched].astype(np.float64)
    wanted = expected[touched]
    assert f"{np.linalg.norm(got) / np.linalg.norm(wanted):.3f}" == "1.000"
    difference = ((got - wanted) ** 2).sum() / ((got**2).sum() + (wanted**2).sum())
    assert f"{difference:.4f}" == "0.0000"


@pytest.mark.parametrize("chip", CHIPS)
def test_a_poisoned_expert_leaves_the_others_clean(chip):
    """All scales and weights of one expert are NaN."""
    case = Case("poison", k=160, n=48, offsets=(0, 17, 40, 57), rows=57,
                a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    arrays = dict(case.arrays)
    arrays["b"], arrays["b_scales"] = arrays["b"].copy(), arrays["b_scales"].copy()
    arrays["b"][1], arrays["b_scales"][1] = 0x7F, 255
    object.__setattr__(case, "arrays", arrays)
    expected, touched = case.expected()
    assert np.isnan(expected[17:40]).all() and np.isfinite(expected[:17]).all()
    check_alone(case, chip)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("experts", (0, 1, 2, 61))
def test_numbers_of_experts(experts, chip):
    rng = np.random.default_rng(experts)
    sizes = rng.choice((0, 0, 1, 2, 17), experts)
    offsets = tuple(np.cumsum(np.concatenate([[0], sizes])).tolist())
    case = Case("experts", fmt="a8w4", k=96, n=32, offsets=offsets,
                rows=max(offsets[-1], 1), a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    check_alone(case, chip)


def far_operand(array: np.ndarray, stride: int) -> Operand:
    """Pieces of the leading dimension `stride` elements apart."""
    pieces = np.ascontiguousarray(array)
    inner = tuple(s // array.itemsize for s in pieces.strides[1:])
    row = pieces[0].nbytes
    size = stride * array.itemsize * (len(array) - 1) + row
    return Operand(pieces.reshape(-1).view(np.uint8), array.shape, (stride,) + inner,
                   sparse=(size, row, stride * array.itemsize))


@pytest.mark.parametrize("chip", CHIPS)
def test_weights_of_nine_gibibytes(chip):
    """Experts 1 GiB apart, below, at and beyond the offsets 2^31 and 2^32."""
    case = Case("far", k=160, n=48, fmt="a8w8", offsets=tuple(range(0, 20, 2)), rows=18,
                a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    stride, scale_stride = 2**30, 2**29
    text = without_c_interface(case)
    text = text.replace("memref<9x48x160xf8E4M3FN>",
                        f"memref<9x48x160xf8E4M3FN, strided<[{stride}, 160, 1]>>")
    text = text.replace("memref<9x48x5xi8>",
                        f"memref<9x48x5xi8, strided<[{scale_stride}, 5, 1]>>")
    assert text.count(f"strided<[{stride}") == text.count(f"strided<[{scale_stride}") == 2
    folder, kernels = kernel_harness.compile_kernels(text, chip)
    operands = {name: Operand.of(array) for name, array in case.arrays.items()}
    operands["b"] = far_operand(case.arrays["b"], stride)
    operands["b_scales"] = far_operand(case.arrays["b_scales"], scale_stride)
    view, whole = case.outputs[0]
    operands["c"] = view_operand(view, whole)
    result = kernel_harness.run_all(kernels, folder, operands)
    assert result.status == 0 and not result.report["reports"], result.text
    whole[...] = result.outputs["c"].view(whole.dtype).reshape(whole.shape)
    expected, touched = case.expected()
    compare(case, expected, touched)


@pytest.mark.parametrize("chip", CHIPS)
def test_rows_beyond_two_and_four_gibibytes(chip):
    """Rows of A and of C so far apart that most begin beyond 2^31 and 2^32."""
    case = Case("wide", k=96, n=32, offsets=(0, 5, 20), rows=20,
                a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    a_stride, c_stride = 2**28 + 16, 2**26 + 4
    text = without_c_interface(case)
    text = text.replace("memref<20x96xf8E4M3FN>",
                        f"memref<20x96xf8E4M3FN, strided<[{a_stride}, 1]>>")
    text = text.replace("memref<20x32xf32, strided<[64, 1]>>",
                        f"memref<20x32xf32, strided<[{c_stride}, 1]>>")
    assert text.count(f"{a_stride}") == 2 and text.count(f"{c_stride}") == 2
    folder, kernels = kernel_harness.compile_kernels(text, chip)
    operands = {name: Operand.of(array) for name, array in case.arrays.items()}
    operands["a"] = far_operand(case.arrays["a"], a_stride)
    expected, touched = case.expected()
    assert touched.all()
    out = far_operand(np.full((20, 32), GUARD, np.float32), c_stride)
    operands["c"] = replace(out, expected=expected.astype(np.float32))
    result = kernel_harness.run_all(kernels, folder, operands)
    assert result.status == 0 and not result.report["reports"], result.text
