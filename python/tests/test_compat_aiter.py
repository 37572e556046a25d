"""pagedattn.compat.aiter: parameters, defaults and in-place results of AITER's entry
points, and the scenario of its lost rows."""

import inspect
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from package_cases import CHIPS, FakeTorch, Logits, SENTINEL, check_logits, needs_native

import pagedattn
from pagedattn import ArgumentError, formats, reference
from pagedattn.compat import aiter

needs_native(pytest)
on_all_chips = pytest.mark.parametrize("chip", CHIPS)
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def test_signatures():
    """As AITER's callers use them, by position and by name."""
    def parameters(function):
        return ", ".join(str(p).replace(": Any", "").partition(":")[0] + (
            f"={p.default}" if p.default is not p.empty and ":" in str(p) else "")
            for p in inspect.signature(function).parameters.values())

    assert parameters(aiter.deepgemm_fp8_paged_mqa_logits).startswith(
        "q_fp8, kv_cache, weights, out_logits, context_lens, kv_indices, max_model_len, "
        "Preshuffle=False, KVBlockSize=1, ChunkK=256, TotalCuCount=None, WavePerEU=2, ")
    names = lambda function: list(inspect.signature(function).parameters)
    assert names(aiter.top_k_per_row_decode)[:9] == [
        "logits", "next_n", "seqLens", "indices", "numRows", "stride0", "stride1", "k", "stable"]
    assert names(aiter.top_k_per_row_prefill) == [
        "logits", "rowStarts", "rowEnds", "indices", "values", "numRows", "stride0", "stride1",
        "k", "stable"]
    assert names(aiter.gemm_a8w8_blockscale_group32) == [
        "x", "w", "x_scale", "w_scale", "dtype", "y", "weight_group_rows", "split_k", "config"]
    assert inspect.signature(aiter.top_k_per_row_decode).parameters["k"].default == 2048


def make_cache(case, slack=0):
    """[pages, P, 1, D + 4]: values of a page, then its scales; `slack` bytes between pages."""
    pages, page, dim = case.keys.shape
    stride = page * (dim + 4) + slack
    memory = np.full((pages, stride), 0xA5, np.uint8)
    memory[:, :page * dim] = case.keys.reshape(pages, -1)
    memory[:, page * dim:page * (dim + 4)] = case.scales.view(np.uint8)
    return np.lib.stride_tricks.as_strided(
        memory, (pages, page, 1, dim + 4), (stride, dim + 4, dim + 4, 1))


@on_all_chips
@pytest.mark.parametrize("layout, page, slack", [("tiled", 16, 0), ("linear", 1, 0),
                                                 ("tiled", 8, 64)])
def test_paged_mqa_logits(chip, layout, page, slack):
    case = Logits(chip, layout=layout, page=page)
    wide = np.full((case.out.shape[0], case.columns + 64), SENTINEL)
    result = aiter.deepgemm_fp8_paged_mqa_logits(
        case.q, make_cache(case, slack), case.weights, wide, case.lens, case.table, case.columns,
        Preshuffle=layout == "tiled", KVBlockSize=page, ChunkK=256, TotalCuCount=1, WavePerEU=2)
    assert result.out is wide and result.reports == []
    check_logits(wide[:, :case.columns], case.expected())
    assert (wide[:, case.columns:] == SENTINEL).all()


def test_max_model_len_bounds_the_columns():
    case = Logits("gfx950", page=16)
    with pagedattn.using(chip="gfx950"):
        aiter.deepgemm_fp8_paged_mqa_logits(case.q, make_cache(case), case.weights, case.out,
                                            case.lens, case.table, 40, KVBlockSize=16)
    want = case.expected()
    want[:, 40:] = SENTINEL
    check_logits(case.out, want)


@pytest.fixture(autouse=True)
def default_chip(request):
    """Runs on the chip of the test, gfx950 where it has none."""
    parameters = getattr(getattr(request.node, "callspec", None), "params", {})
    with pagedattn.using(chip=parameters.get("chip", "gfx950")):
        yield


@on_all_chips
@pytest.mark.parametrize("next_n", (1, 3))
def test_top_k_per_row_decode(chip, next_n):
    rng = np.random.default_rng(0)
    lens = np.array([0, 1, 700, 1500], np.int32)
    rows, k = len(lens) * next_n, 100
    logits = rng.standard_normal((rows, 1600), dtype=np.float32)[:, :1500]
    indices = np.full((rows, k), -77, np.int32)
    result = aiter.top_k_per_row_decode(
        FakeTorch(logits), next_n, FakeTorch(lens), indices, rows, 1600, 1, k=k)
    ends = reference.row_ends(lens, next_n)
    assert result.out is indices
    np.testing.assert_array_equal(indices, reference.topk(logits, k, row_ends=ends)[0])


@on_all_chips
@pytest.mark.parametrize("with_values", (False, True))
def test_top_k_per_row_prefill(chip, with_values):
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((4, 900), dtype=np.float32)
    starts, ends = np.array([0, 10, 500, 3], np.int32), np.array([900, 10, 530, 899], np.int32)
    indices = np.full((4, 64), -77, np.int32)
    values = np.zeros((4, 64), np.float32) if with_values else None
    aiter.top_k_per_row_prefill(logits, starts, ends, indices, values, 4, 900, 1, k=64,
                                stable=True)
    want = reference.topk(logits, 64, row_starts=starts, row_ends=ends)
    np.testing.assert_array_equal(indices, want[0])
    if with_values:
        np.testing.assert_array_equal(values, want[1])


@on_all_chips
@pytest.mark.parametrize("group_rows", (1, 32))
def test_gemm_group32(chip, group_rows):
    rng = np.random.default_rng(0)
    m, n, k = 5, 48, 96
    x = formats.encode(rng.standard_normal((m, k)), "e4m3fn")
    w = formats.encode(rng.standard_normal((n, k)), "e4m3fn")
    x_scale = rng.integers(122, 131, (m, k // 32), dtype=np.uint8)
    w_scale = rng.integers(122, 131, (-(-n // group_rows), k // 32), dtype=np.uint8)
    y = np.zeros((m, n), np.float32)
    got = aiter.gemm_a8w8_blockscale_group32(x, w, x_scale, w_scale, np.float32, y, group_rows)
    assert got is y
    kind = "e8m0_1x32" if group_rows == 1 else "e8m0_32x32"
    want, _ = reference.grouped_gemm(x, w[None], m, "a8w8", a_scales=x_scale, a_scale="e8m0_1x32",
                                     b_scales=w_scale[None], b_scale=kind)
    np.testing.assert_allclose(y, want, rtol=3e-5, atol=5e-5 * np.abs(want).max())


def test_gemm_group32_without_rows():
    empty = np.zeros((0, 64), np.uint8)
    y = np.zeros((0, 32), np.float32)
    assert aiter.gemm_a8w8_blockscale_group32(
        empty, np.zeros((32, 64), np.uint8), empty[:, :2], np.zeros((1, 2), np.uint8),
        "float32", y) is y


def test_errors():
    case = Logits("gfx950", page=16)
    cache = make_cache(case)

    def logits(cache=cache, length=case.columns, **kwargs):
        aiter.deepgemm_fp8_paged_mqa_logits(case.q, cache, case.weights, case.out, case.lens,
                                            case.table, length, **{"KVBlockSize": 16, **kwargs})

    for change, message in [
            (dict(KVBlockSize=64), "KVBlockSize: must be the tokens of a page of kv_cache, found 64"),
            (dict(ChunkK=24), "ChunkK: must be a multiple or a divisor of 16, found 24"),
            (dict(length=case.columns + 1), "max_model_len: must be a number of columns"),
            (dict(cache=cache[..., :60]), r"kv_cache: must have shape \[pages, P, 1, 68 or more\]"),
            (dict(cache=cache[:, ::2], KVBlockSize=8), "kv_cache: pages must be contiguous inside"),
            (dict(cache=make_cache(case, slack=2)), "kv_cache: scales must be aligned to 4 bytes")]:
        with pytest.raises(ArgumentError, match=message):
            logits(**change)
    values, indices = np.zeros((4, 64), np.float32), np.zeros((4, 8), np.int32)
    lens = np.zeros(4, np.int32)
    for args, message in [
            ((values, 1, lens, indices, 5, 64, 1, 8), "numRows: must be rows of indices|"
                                                      "numRows: must be rows of logits"),
            ((values, 1, lens, indices, 4, 128, 1, 8), "stride0, stride1: must be those of logits"),
            ((values, 1, lens, indices, 4, 64, 2, 8), "stride1 must be 1"),
            ((values, 1, lens[:2], indices, 4, 64, 1, 8), "next_n: must be positive and account for"),
            ((values, 1, lens, indices, 4, 64, 1), r"indices: must have shape \[R, k\].*2048")]:
        with pytest.raises(ArgumentError, match=message):
            aiter.top_k_per_row_decode(*args)
    x, w = np.zeros((4, 64), np.uint8), np.zeros((32, 64), np.uint8)
    sx, sw = np.zeros((4, 2), np.uint8), np.zeros((1, 2), np.uint8)
    for args, kwargs, message in [
            ((x, w, sx, sw), dict(split_k=0), "split_k: must be None or a positive integer, found 0"),
            ((x, w, sx, sw), dict(split_k=True), "split_k: must be None"),
            ((x, w, sx, sw), dict(weight_group_rows=16), "weight_group_rows: must be a block of rows"),
            ((x, w, sx, sw), dict(dtype=np.int8), "dtype: must be an output type, found int8"),
            ((x[:, :40], w[:, :40], sx, sw), {}, "x: K must be a positive multiple of 32, found 40"),
            ((x, w, sx[:, :1], sw), {}, "x_scale: must have shape of blocks of 1x32"),
            ((x, w, sx, np.zeros((32, 2), np.uint8)), {}, "w_scale: must have shape of blocks of 32x32")]:
        with pytest.raises(ArgumentError, match=message):
            aiter.gemm_a8w8_blockscale_group32(*args, **kwargs)


@pytest.mark.parametrize("arguments, status, lines", [
    *(pytest.param([f"--chip={chip}"], 0,
                   ["rows with columns that nobody wrote: 0 of 1024", "all agree"],
                   marks=pytest.mark.long)  # of one chip it is a command of docs/python.md
      for chip in CHIPS),
    (["--chip=gfx942", "--force=narrow"], 1,
     ["rows with columns that nobody wrote: 512 of 1024, the first is 512", "WRONG"])])
def test_reproducer(arguments, status, lines):
    done = subprocess.run([sys.executable, EXAMPLES / "aiter_reproducer.py", *arguments],
                          text=True, capture_output=True, env=dict(os.environ))
    assert done.returncode == status, done.stdout + done.stderr
    for line in lines:
        assert line in done.stdout.splitlines()
