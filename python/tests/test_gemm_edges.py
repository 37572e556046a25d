"""Edges of pa.grouped_gemm on the chips: operands that end where their
allocations end, odd strides, wrong offsets and row ids, no rows at all.

Every operand is an allocation of just the bytes between its first and its last
element, so that the emulator reports whatever reaches beyond it. Between the
elements are NaN bytes in inputs and guards in outputs.
"""

import functools
from dataclasses import replace

import numpy as np
import pytest

import kernel_harness
from kernel_harness import Operand
from test_gemm_kernel import CHIPS, config
from test_loops_gemm import GUARD, Case, compare

E8M0 = dict(a_scale="e8m0_1x32", b_scale="e8m0_1x32")
F32 = dict(a_scale="f32_1x128", b_scale="f32_128x128")
ROW = dict(a_scale="f32_row", b_scale="f32_row")


def place(array: np.ndarray, strides, flat_of) -> tuple:
    """A view with the elements of the array, strides in elements, and the
    allocation, which `flat_of` makes for a number of elements."""
    if strides is None:
        strides = tuple(s // array.itemsize for s in np.empty(array.shape, array.dtype).strides)
    extent = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides))
    flat = flat_of(extent if array.size else 0)
    view = np.lib.stride_tricks.as_strided(
        flat, array.shape, tuple(s * array.itemsize for s in strides))
    view[...] = array
    return view, flat


def placed(case: Case, strides: dict) -> tuple:
    """Views and allocations of the inputs and of the outputs."""
    inputs, outputs = {}, {}
    for name, array in case.arrays.items():
        inputs[name] = place(array, strides.get(name), lambda extent: np.full(
            extent * array.itemsize, 0xFF, np.uint8).view(array.dtype))
    for name, (view, _) in zip(("c", "c_scales"), case.outputs):
        outputs[name] = place(np.full(view.shape, GUARD, view.dtype), strides.get(name),
                              lambda extent: np.full(extent, GUARD, view.dtype))
    return inputs, outputs


def function(case: Case, strides: dict) -> str:
    inputs, outputs = placed(case, strides)
    views = {name: view for name, (view, _) in {**inputs, **outputs}.items()}
    return case.function(views).replace("attributes {llvm.emit_c_interface}", "")


def run(case: Case, strides: dict, folder, kernel, **kwargs) -> None:
    """Fills the outputs of the case."""
    inputs, outputs = placed(case, strides)
    operands = {}
    for name, (view, flat) in {**inputs, **outputs}.items():
        elements = tuple(s // view.itemsize for s in view.strides)
        operands[name] = Operand(flat.view(np.uint8), view.shape, elements,
                                 is_output=name in outputs)
    result = kernel_harness.run(kernel, folder, operands, **kwargs)
    assert result.status == 0 and not result.report["reports"], result.text
    for name, (view, flat) in outputs.items():
        is_element = np.zeros(flat.shape, bool)
        np.lib.stride_tricks.as_strided(
            is_element, view.shape, tuple(s // view.itemsize for s in view.strides))[...] = True
        if flat.size:
            flat[...] = result.outputs[name].view(flat.dtype)
        assert (flat[~is_element] == GUARD).all(), f"{name} changed between its elements"
    object.__setattr__(case, "outputs", list(outputs.values()))


def with_rows_of_a(case: Case, rows: int) -> Case:
    """The case with so many rows in A, which `row_ids` choose from."""
    arrays = dict(case.arrays)
    for name in ("a", "a_scales"):
        arrays[name] = arrays[name][:rows]
    object.__setattr__(case, "arrays", arrays)
    return case


def make_edges():
    """Cases with the strides of their operands."""
    def rows(name, strides, **kinds):
        kinds = {**dict(k=160, n=48, **E8M0), **kinds}
        return Case(name, **kinds), strides

    yield rows("odd_a8w8", dict(a=(161, 1), b=(48 * 163 + 5, 163, 1), c=(51, 1)), out="bf16")
    yield rows("odd_a8w4", dict(a=(163, 1), b=(48 * 81 + 1, 81, 1), c=(49, 1)), fmt="a8w4")
    yield rows("odd_a4w4", dict(a=(81, 1), b=(48 * 83, 83, 1), c=(53, 1)), fmt="a4w4",
               out="f16")
    plain = dict(a_scale="none", b_scale="none", k=72, n=18)
    yield rows("odd_bf16", dict(a=(75, 1), b=(18 * 73, 73, 1), c=(19, 1)), fmt="bf16", **plain)
    yield rows("odd_f16", dict(a=(73, 1), b=(18 * 75 + 1, 75, 1), c=(19, 1)), fmt="f16",
               out="f16", **plain)
    yield rows("odd_to_fp8", dict(c=(65, 1), c_scales=(5, 2)), n=64, out="e4m3fn",
               requantised=True)
    yield rows("odd_to_fp4", dict(c=(33, 1), c_scales=(3, 1)), n=64, out="e2m1",
               requantised=True)

    yield rows("strided_scales", dict(
        a_scales=(13, 2), b_scales=(48 * 17 + 5, 17, 3), bias=(51, 1), offsets=(3,),
        row_ids=(2,), row_weights=(3,)), bias=True, row_weights=True,
        row_ids=(4, -1, 0, 0, 5, 2, 3))
    yield rows("strided_scales_32x32", dict(a_scales=(6, 1), b_scales=(23, 11, 2)),
               a_scale="e8m0_1x32", b_scale="e8m0_32x32")
    yield rows("strided_scales_f32", dict(a_scales=(7, 3), b_scales=(9, 5, 3)), k=256, **F32)
    yield rows("strided_scales_of_rows", dict(a_scales=(2,), b_scales=(101, 2)), **ROW)

    for fmt in ("a8w8", "a8w4", "a4w4"):
        yield rows(f"one_block_{fmt}", {}, fmt=fmt, k=32)
    yield rows("one_block_f32", {}, k=128, **F32)
    for n in (1, 5, 7, 33):
        yield rows(f"columns_{n}", {}, n=n, k=96, out=("f32", "bf16")[n % 4 == 1])
    yield rows("columns_18_silu", {}, n=18, k=96, activation="silu", out="f16")
    yield rows("columns_16_of_a_tile_of_64", {}, n=16, k=96, config="CONFIG")
    for fmt in ("a8w8", "bf16", "f16"):
        kinds = E8M0 if fmt == "a8w8" else dict(a_scale="none", b_scale="none")
        yield rows(f"{fmt}_to_f16", {}, fmt=fmt, out="f16", **kinds)

    nothing = dict(offsets=(0, 0, 0), rows=0)
    yield rows("no_rows", {}, **nothing)
    yield rows("no_rows_to_fp8", {}, n=64, out="e4m3fn", requantised=True, **nothing)
    none_valid = (-1, 5, 2**31 - 1, -(2**31), 6, -7, 99)
    yield rows("no_valid_row_id", {}, row_ids=none_valid)
    yield rows("no_row_of_a", {}, row_ids=(0, 1, -1, 2, 0, 0, 4))


@functools.lru_cache(maxsize=None)
def edges(chip: str) -> dict:
    """The cases of the chip, by name."""
    found = {}
    for case, strides in make_edges():
        if case.config:
            case = replace(case, config=config(chip, "a8w8", 32, 64, 128, 1, 2, 1, 0))
        if case.name == "no_row_of_a":
            case = with_rows_of_a(case, 0)
        found[case.name] = case, strides
    return found


@functools.lru_cache(maxsize=None)
def compile_edges(chip: str) -> tuple:
    """All of them in one module, and the kernel of each."""
    functions = [function(*edge) for edge in edges(chip).values()]
    folder, kernels = kernel_harness.compile_kernels("\n".join(functions), chip)
    assert len(kernels) == len(functions)
    return folder, dict(zip(edges(chip), kernels))


def check(case: Case, strides: dict, folder, kernel, **kwargs) -> None:
    expected, touched = case.expected()
    run(case, strides, folder, kernel, **kwargs)
    compare(case, expected, touched)
    for view, _ in case.outputs:
        assert (view[~touched] == GUARD).all(), "a row outside of every group changed"


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", [case.name for case, _ in make_edges()])
def test_edge(name, chip):
    folder, kernels = compile_edges(chip)
    case, strides = edges(chip)[name]
    check(case, strides, folder, kernels[name])


def test_the_cases_reach_what_they_are_for():
    touched = {name: case.expected()[1] for name, (case, _) in edges(CHIPS[0]).items()}
    assert not touched["no_valid_row_id"].any() and not touched["no_row_of_a"].any()
    assert edges(CHIPS[0])["no_row_of_a"][0].arrays["a"].shape == (0, 160)
    assert touched["no_rows"].shape == (0,) and touched["odd_a8w8"].all()


WRONG_OFFSETS = (
    (0, 5, 2, 19, 7, 12),
    (19, 0, 19, 0, 19, 0),
    (-5, 3, 100, 3, 3, 19),
    (-(2**31), 2**31 - 1, -(2**31), 2**31 - 1, -1, 20),
    (2**31 - 1, 2**31 - 1, 6, 6, 1, -3),
    (-1, -2, -3, -4, -5, -6),
    (20, 21, 22, 2**30, 2**31 - 1, 19),
)


@pytest.mark.parametrize("chip", CHIPS)
def test_wrong_offsets_touch_nothing_else(chip):
    """Rows in one group are right, rows in none intact, and rows in several hold
    what one of these groups gives them."""
    rows, first = 19, Case("wrong", k=96, n=40, offsets=WRONG_OFFSETS[0], rows=19, **E8M0)
    groups = first.groups
    whole = [replace(first, offsets=(0,) * (e + 1) + (rows,) * (groups - e)).expected()[0]
             for e in range(groups)]
    folder, (kernel,) = kernel_harness.compile_kernels(function(first, {}), chip)
    assert any("offsets" in text for text in kernel["preconditions"])
    is_shared = False
    for offsets in WRONG_OFFSETS:
        case = replace(first, offsets=offsets)
        run(case, {}, folder, kernel)
        got = case.outputs[0][0]
        cuts = np.clip(offsets, 0, rows)
        for row in range(rows):
            owners = [e for e in range(groups) if cuts[e] <= row < cuts[e + 1]]
            is_shared |= len(owners) > 1
            allowed = [whole[e][row] for e in owners] or [np.full(first.n, GUARD)]
            assert np.any([got[row] == values for values in allowed], axis=0).all(), (
                offsets, row, owners)
    assert is_shared


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("stages", (0, 2))
def test_any_order_of_waves_gives_the_same_bits(stages, chip):
    """Sums that round, with waves and workgroups in eight orders."""
    codes = tuple(range(110, 140))
    tiles = (16, 32, 128, 1, 1, 4, 0) if stages == 0 else (32, 64, 128, 2, 2, 1, 2)
    case = Case("order", k=1184, n=80, offsets=(0, 17, 17, 50), rows=50, a_codes=codes,
                b_codes=codes, config=config(chip, "a8w8", *tiles), **E8M0)
    folder, (kernel,) = kernel_harness.compile_kernels(function(case, {}), chip)
    runs = []
    for seed in range(8):
        fresh = replace(case)
        run(fresh, {}, folder, kernel, options=(f"--seed={seed}",))
        runs.append(fresh.outputs[0][1].view(np.uint32))
    for other in runs[1:]:
        np.testing.assert_array_equal(other, runs[0])
    expected, touched = case.expected()
    np.testing.assert_allclose(fresh.outputs[0][0][touched], expected[touched], rtol=1e-5,
                               atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("poisoned", (0, 1))
@pytest.mark.parametrize("tiles", ((64, 64, 128, 2, 2, 1, 2), (16, 32, 128, 1, 1, 4, 0)))
def test_what_another_tile_left_in_lds_is_not_used(tiles, poisoned, chip):
    """One workgroup computes all tiles. Rows, weights and scales of one group are
    NaN, those of the others end in the middle of a tile, in M, N and K."""
    case = Case("left", k=672, n=48, offsets=(0, 64, 67, 84), rows=84,
                config=config(chip, "a8w8", *tiles), **E8M0)
    arrays = {name: array.copy() for name, array in case.arrays.items()}
    of_group = slice(*case.offsets[poisoned:poisoned + 2])
    arrays["a"][of_group], arrays["a_scales"][of_group] = 0x7F, 255
    arrays["b"][poisoned], arrays["b_scales"][poisoned] = 0x7F, 255
    object.__setattr__(case, "arrays", arrays)
    is_nan = np.isnan(case.expected()[0]).all(axis=1)
    assert is_nan[of_group].all() and is_nan.sum() == of_group.stop - of_group.start
    folder, (kernel,) = kernel_harness.compile_kernels(function(case, {}), chip)
    check(case, {}, folder, kernel, scalars={"num_workers": 1})
