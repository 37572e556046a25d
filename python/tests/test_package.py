"""The entry points of the package, on all chips in the emulator."""

import ctypes
import mmap
import signal
import sys
import threading
import time

import numpy as np
import pytest
from package_cases import CHIPS, FakeTorch, Logits, SENTINEL, check_logits, needs_native

import pagedattn
from pagedattn import ArgumentError, CompileError, emulator, formats, reference

needs_native(pytest)
on_all_chips = pytest.mark.parametrize("chip", CHIPS)


@on_all_chips
@pytest.mark.parametrize("layout, fill", [("linear", "none"), ("tiled", "neg_inf")])
def test_paged_logits(chip, layout, fill):
    case = Logits(chip, layout=layout, fill=fill)
    result = pagedattn.paged_logits(*case.args, **case.kwargs, chip=chip)
    assert result.out is case.out and result.device == "emulator" and result.reports == []
    assert result.stats["matrix_ops"] > 0 and result.stats["bytes_stored"]["global"] > 0
    check_logits(case.out, case.expected())


@on_all_chips
def test_paged_logits_of_views(chip):
    """Keys and scales are strided views of one cache, logits of a wider matrix, queries
    and weights have slack between rows."""
    case = Logits(chip, page=32)
    pages, page, dim = case.keys.shape
    stride = page * (dim + 4) + 96
    cache = np.full(pages * stride, 0xA5, np.uint8)
    strided = np.lib.stride_tricks.as_strided
    keys = strided(cache, case.keys.shape, (stride, dim, 1))
    scales = strided(cache[page * dim:].view(np.float32), case.scales.shape, (stride, 4))
    keys[...], scales[...] = case.keys, case.scales
    whole = np.full((case.out.shape[0], case.columns + 40), SENTINEL)
    out = whole[:, 16:16 + case.columns]
    q = np.zeros((*case.q.shape[:2], case.q.shape[2] + 3, dim), np.uint8)[:, :, :-3]
    weights = np.zeros((case.weights.shape[0], case.weights.shape[1] + 5), np.float32)[:, :-5]
    q[...], weights[...] = case.q, case.weights
    ends = np.array([5, 500, 0, 3, -1, 260], np.int32)
    result = pagedattn.paged_logits(
        q, keys, scales, weights, case.table, case.lens, out=out, row_ends=ends, chip=chip)
    assert result.reports == []
    check_logits(out, case.expected(ends))
    assert (whole[:, :16] == SENTINEL).all() and (whole[:, 16 + case.columns:] == SENTINEL).all()


@pytest.mark.parametrize("chip", ("gfx950", "gfx1250"))
def test_paged_logits_mxfp4(chip):
    case = Logits(chip, page=16, dim=128)
    rng = np.random.default_rng(1)
    half = lambda shape: rng.integers(0, 256, (*shape[:-1], 64), dtype=np.uint8)
    codes = lambda shape: rng.integers(120, 134, (*shape[:-1], 4), dtype=np.uint8)
    q, keys = half(case.q.shape), half(case.keys.shape)
    query_scales, scales = codes(case.q.shape), codes(case.keys.shape)
    pagedattn.paged_logits(q, keys, scales, case.weights, case.table, case.lens, out=case.out,
                           query_scales=query_scales, chip=chip)
    check_logits(case.out, reference.paged_logits(
        q, keys, scales, case.weights, case.table, case.lens, np.full(case.out.shape, SENTINEL),
        query_scales=query_scales, fmt="mxfp4"))


@on_all_chips
def test_one_kernel_serves_every_batch(chip):
    first = Logits(chip)
    compiled = pagedattn.paged_logits(*first.args, **first.kwargs, chip=chip).compiled
    other = Logits(chip, lens=(17, 300, 64, 1, 0), seed=3)
    with pagedattn.cache.no_compile():
        result = pagedattn.paged_logits(*other.args, **other.kwargs, chip=chip)
    assert result.compiled is compiled
    check_logits(other.out, other.expected())
    # One sequence has a kernel of its own.
    alone = Logits(chip, lens=(77,), seed=4)
    pagedattn.paged_logits(*alone.args, **alone.kwargs, chip=chip)
    check_logits(alone.out, alone.expected())


@on_all_chips
@pytest.mark.parametrize("order", ("by_index", "by_value"))
def test_topk(chip, order):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 4000), dtype=np.float32)[:, 3:3900]
    starts = np.array([0, 5, 0, 17, 4000], np.int32)
    ends = np.array([0, 10, 3897, 3000, 4001], np.int32)
    result = pagedattn.topk(values, ends, 100, row_starts=starts, order=order,
                            return_values=True, chip=chip)
    indices, best = reference.topk(values, 100, row_starts=starts, row_ends=ends, order=order)
    np.testing.assert_array_equal(result.out[0], indices)
    np.testing.assert_array_equal(result.out[1], best)
    if order == "by_value":
        return
    out = np.full((5, 110), -77, np.int32)
    again = pagedattn.topk(values, ends, 100, row_starts=starts, order=order, out=out[:, 4:104],
                           chip=chip)
    np.testing.assert_array_equal(again.out, indices)
    assert (out[:, :4] == -77).all() and (out[:, 104:] == -77).all()


@on_all_chips
def test_topk_of_whole_rows(chip):
    values = np.random.default_rng(0).standard_normal((2, 700), dtype=np.float32)
    got = pagedattn.topk(values, None, 16, chip=chip).out
    np.testing.assert_array_equal(got, reference.topk(values, 16)[0])


@on_all_chips
def test_topk_shares_long_rows(chip):
    """Few long rows: two launches with a workspace between them."""
    values = np.random.default_rng(0).standard_normal((1, 70000), dtype=np.float32)
    result = pagedattn.topk(values, np.array([70000], np.int32), 512, chip=chip)
    assert len(result.compiled.kernels) == 2 and result.reports == []
    np.testing.assert_array_equal(result.out, reference.topk(values, 512)[0])
    assert result.stats["workgroups"] > 2


def gemm_arguments(rng, rows=20, groups=3, n=64, k=96):
    a = formats.encode(rng.standard_normal((rows, k)), "e4m3fn")
    b = formats.encode(rng.standard_normal((groups, n, k)), "e4m3fn")
    scales = dict(a_scale=rng.integers(122, 130, (rows, k // 32), dtype=np.uint8),
                  b_scale=rng.integers(122, 130, (groups, n, k // 32), dtype=np.uint8))
    return a, b, np.array([0, 7, 7, 18], np.int32), scales


@on_all_chips
def test_grouped_gemm(chip):
    a, b, offsets, scales = gemm_arguments(np.random.default_rng(0))
    result = pagedattn.grouped_gemm(a, b, offsets, **scales, out_dtype="f32", chip=chip)
    want, touched = reference.grouped_gemm(
        a, b, 20, "a8w8", a_scales=scales["a_scale"], a_scale="e8m0_1x32",
        b_scales=scales["b_scale"], b_scale="e8m0_1x32", offsets=offsets)
    assert touched.tolist() == [True] * 18 + [False] * 2 and result.reports == []
    np.testing.assert_allclose(result.out, want, rtol=0, atol=1e-5 * np.abs(want).max())


def decoded(array):
    """Values of an output, bf16 codes or numbers."""
    return formats.decode_bf16(array) if array.dtype == np.uint16 else array


@on_all_chips
def test_grouped_gemm_forms(chip):
    """One group without its axis, activations, ids of rows, 16-bit operands, fp4."""
    rng = np.random.default_rng(0)
    a, b, offsets, scales = gemm_arguments(rng, n=64)
    rows = a.shape[0]
    bf16 = lambda shape: formats.encode_bf16(rng.standard_normal(shape))
    ids = rng.permutation(rows).astype(np.int32)
    row_weights = rng.uniform(0.5, 1.5, rows).astype(np.float32)
    bias = rng.standard_normal((1, 64)).astype(np.float32)
    e8m0 = dict(a_scales=scales["a_scale"], a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    swiglu = reference.Activation("swiglu")
    half = b[..., :48]
    for args, kwargs, want in [
            ((a, b[0]), dict(a_scale=scales["a_scale"], b_scale=scales["b_scale"][0, :2],
                             scales="e8m0_32x32", bias=bias, activation="swiglu"),
             ("a8w8", {**e8m0, "b_scale": "e8m0_32x32", "b_scales": scales["b_scale"][:1, :2],
                       "bias": bias, "activation": swiglu})),
            ((a, b, offsets), dict(**scales, row_ids=ids, row_weights=row_weights),
             ("a8w8", dict(**e8m0, b_scales=scales["b_scale"], row_ids=ids,
                           row_weights=row_weights))),
            ((a, half, offsets), dict(**scales, formats="a8w4"),
             ("a8w4", dict(**e8m0, b_scales=scales["b_scale"]))),
            ((bf16((rows, 96)), bf16(b.shape), offsets), dict(formats="bf16"), ("bf16", {}))]:
        result = pagedattn.grouped_gemm(*args, **kwargs, chip=chip)
        fmt, more = want
        expected, touched = reference.grouped_gemm(
            args[0], np.reshape(args[1], (-1, *args[1].shape[-2:])), rows, fmt,
            offsets=args[2] if len(args) > 2 else None, **more)
        assert result.out.dtype == np.uint16 and result.reports == []
        got = decoded(result.out)
        np.testing.assert_allclose(got, expected, rtol=2**-8, atol=1e-4 * np.abs(expected).max())
        assert not got[~touched].any()


@on_all_chips
@pytest.mark.parametrize("layout, k", [("n32k4", 384), ("n32k8", 256)])
def test_grouped_gemm_shuffled_scales(chip, layout, k):
    """Scales of both operands in the layout; those of `a` with more rows than it has."""
    rng = np.random.default_rng(0)
    a, b, offsets, scales = gemm_arguments(rng, k=k)
    padded = np.full((64, k // 32), 255, np.uint8)
    padded[:20] = scales["a_scale"]
    shuffled = {name: np.ascontiguousarray(formats.shuffle_scales(codes, layout))
                for name, codes in (("a_scale", padded), ("b_scale", scales["b_scale"]))}
    result = pagedattn.grouped_gemm(a, b, offsets, **shuffled, scale_layout=layout,
                                    a_scale_layout=layout, out_dtype="f32", chip=chip)
    plain = reference.grouped_gemm(
        a, b, 20, "a8w8", a_scales=scales["a_scale"], a_scale="e8m0_1x32",
        b_scales=scales["b_scale"], b_scale="e8m0_1x32", offsets=offsets)[0]
    same = reference.grouped_gemm(
        a, b, 20, "a8w8", a_scales=shuffled["a_scale"], a_scale="e8m0_1x32",
        b_scales=shuffled["b_scale"], b_scale="e8m0_1x32", offsets=offsets,
        scale_layout=layout, a_scale_layout=layout)[0]
    np.testing.assert_array_equal(same, plain)
    assert result.reports == []
    np.testing.assert_allclose(result.out, plain, rtol=0, atol=1e-5 * np.abs(plain).max())


def test_one_kernel_serves_all_rows_of_shuffled_scales():
    rng = np.random.default_rng(0)
    keys = set()
    for rows in (17, 20, 31):
        a, b, offsets, scales = gemm_arguments(rng, rows=rows, k=128)
        codes = np.zeros((32, 4), np.uint8)
        result = pagedattn.grouped_gemm(a, b, offsets, a_scale=codes, b_scale=scales["b_scale"],
                                        a_scale_layout="n32k4", chip="gfx950")
        keys.add(result.compiled.key)
    assert len(keys) == 1


def test_grouped_gemm_fnuz():
    """Plain bytes are of the flavour that `formats` names; a typed array has to be."""
    rng = np.random.default_rng(0)
    a, b = (formats.encode(rng.standard_normal(shape), "e4m3fnuz") for shape in ((5, 64), (48, 64)))
    scales = dict(a_scale=np.ones(5, np.float32), b_scale=np.full((1, 48), 2, np.float32),
                  scales="f32_row", out_dtype="f32", chip="gfx942")
    got = pagedattn.grouped_gemm(a, b, formats="a8w8_fnuz", **scales).out
    want = 2 * formats.decode(a, "e4m3fnuz") @ formats.decode(b, "e4m3fnuz").T
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())
    with pytest.raises(ArgumentError, match="a: must have the fp8 flavour of the word in formats, "
                                            "found e4m3fnuz, allowed e4m3fn, uint8"):
        pagedattn.grouped_gemm(FakeTorch(a, "float8_e4m3fnuz"), b, formats="a8w8", **scales)


def test_grouped_gemm_requantised():
    a, b, offsets, scales = gemm_arguments(np.random.default_rng(0))
    out, codes = np.full((20, 64), 0x55, np.uint8), np.full((20, 2), 0x55, np.uint8)
    result = pagedattn.grouped_gemm(a, b, offsets, **scales, out_dtype="mxfp8", out=out,
                                    out_scale=codes, chip="gfx950")
    assert result.out[0] is out and result.out[1] is codes
    want, touched = reference.grouped_gemm(
        a, b, 20, "a8w8", a_scales=scales["a_scale"], a_scale="e8m0_1x32",
        b_scales=scales["b_scale"], b_scale="e8m0_1x32", offsets=offsets)
    factors = np.repeat(formats.decode_e8m0(codes), 32, axis=1)
    got = formats.decode(out, "e4m3fn") * factors
    step = 2.0**-3 * factors * np.maximum(np.abs(got / factors), 2.0**-6)
    assert (np.abs(got - want) <= step)[touched].all()
    assert (out[~touched] == 0x55).all() and (codes[~touched] == 0x55).all()


# ===----------------------------------------------------------------------===//
# Arrays
# ===----------------------------------------------------------------------===//


class Interface:
    """An array of another library: DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("wrap", (Interface, FakeTorch))
def test_arrays_of_other_libraries(wrap):
    values = np.random.default_rng(0).standard_normal((4, 900), dtype=np.float32)[:, ::1]
    ends, out = np.array([1, 900, 0, 33], np.int32), np.zeros((4, 16), np.int32)
    result = pagedattn.topk(wrap(values), wrap(ends), 16, out=wrap(out), chip="gfx950")
    assert result.out.array is out
    np.testing.assert_array_equal(out, reference.topk(values, 16, row_ends=ends)[0])


def test_typed_fp8():
    case = Logits("gfx950")
    typed = lambda array, dtype: FakeTorch(array, dtype)
    args = [typed(case.q, "float8_e4m3fn"), typed(case.keys, "float8_e4m3fn"), *case.args[2:]]
    pagedattn.paged_logits(*args, **case.kwargs, chip="gfx950")
    check_logits(case.out, case.expected())
    args[1] = typed(case.keys, "float8_e4m3fnuz")
    with pytest.raises(ArgumentError, match="keys: must have the fp8 flavour of gfx950, found "
                                            "e4m3fnuz, allowed e4m3fn, uint8"):
        pagedattn.paged_logits(*args, **case.kwargs, chip="gfx950")


def test_sparse_host_memory_is_not_copied():
    """64 GiB of reserved key pages, of which the used ones are touched."""
    case = Logits("gfx950", page=64, dim=128)
    pages, stride = 1 << 16, 1 << 20
    size = pages * stride
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    memory = mmap.mmap(-1, size, flags=flags)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    cache = np.frombuffer(memory, np.uint8)
    strided = np.lib.stride_tricks.as_strided
    keys = strided(cache, (pages, 64, 128), (stride, 128, 1))
    scales = strided(cache[64 * 128:].view(np.float32), (pages, 64), (stride, 4))
    order = np.random.default_rng(0).permutation(pages)[:case.keys.shape[0]]
    keys[order], scales[order] = case.keys, case.scales
    table = np.where(case.table < 0, -1, order[case.table]).astype(np.int32)
    result = pagedattn.paged_logits(
        case.q, keys, scales, case.weights, table, case.lens, out=case.out, chip="gfx950")
    assert result.reports == [] and keys.ctypes.data == base
    check_logits(case.out, case.expected())
    resident = int(open("/proc/self/statm").read().split()[1]) * mmap.PAGESIZE
    assert resident < 4 << 30


def test_stores_to_inputs_are_faults():
    """Inputs are mapped read-only: a kernel that writes one is stopped."""
    compiled = pagedattn.compile(pagedattn.ops.topk(
        np.zeros((2, 99), np.float32), np.zeros(2, np.int32), 16, chip="gfx950"), "gfx950")
    plan = compiled.plans[0]
    stored, plan.stored = plan.stored, frozenset()
    try:
        with pytest.raises(pagedattn.EmulatorError, match="of indices, which is read-only") as info:
            compiled.launch({"values": np.zeros((2, 99), np.float32),
                             "row_ends": np.ones(2, np.int32),
                             "indices": np.zeros((2, 16), np.int32)})
    finally:
        plan.stored = stored
    assert info.value.status == "invalid-access" and info.value.reports[0]["fatal"]


# ===----------------------------------------------------------------------===//
# Errors
# ===----------------------------------------------------------------------===//


def changed(case, **changes):
    names = ("q", "keys", "key_scales", "weights", "block_table", "context_lens")
    arguments = {**dict(zip(names, case.args)), **case.kwargs, "chip": case.chip, **changes}
    return lambda: pagedattn.paged_logits(**arguments)


WRONG_LOGITS = [
    (dict(q=np.zeros((3, 2, 16), np.uint8)), r"q: must have rank 4 \[B, N, H, D\], found \(3, 2, 16\)"),
    (dict(q=np.zeros((3, 2, 16, 64), np.float32)), "q: has the wrong type, found f32"),
    (dict(weights=np.zeros((6, 16))), "weights: has the wrong type, found float64, allowed f32"),
    (dict(weights=np.zeros((5, 16), np.float32)),
     r"weights: must have shape \[B \* N, H\], found \(5, 16\), allowed \(6, 16\)"),
    (dict(context_lens=[100, 0, 270]), "context_lens: must be an array, found list"),
    (dict(context_lens=np.zeros(3, np.int64)), "context_lens: has the wrong type, found int64"),
    (dict(context_lens=np.array([1, 10**6, 0], np.int32)),
     r"context_lens\[1\]: must fit the 19 pages of 16 tokens of the block table, found 1000000, "
     "allowed at most 304"),
    (dict(block_table=np.full((3, 19), 99, np.int32)),
     r"block_table\[0, 0\]: must be a page, since sequence 0 has 100 tokens, found 99, allowed 0 to"),
    (dict(key_scales=np.full((27, 16), -1, np.float32)),
     r"key_scales\[\d+, 0\]: must not be negative, found -1.0"),
    (dict(layout="swizzled"), "layout: must be a known one, found 'swizzled', allowed linear, tiled"),
    (dict(fill=None), "fill: must be a known one, found None"),
    (dict(chip="gfx90a"), "chip: must be a known chip, found 'gfx90a', allowed gfx942, gfx950, gfx1250"),
    (dict(chip=None), r"chip: is needed on the emulator.*found none"),
    (dict(device="cpu"), "device: must be a known one, found 'cpu', allowed emulator, hip"),
    (dict(chunks=64), "tuning: pa.paged_logits must have such a parameter, found chunks, allowed "
                      "mma, chunk, waves"),
    (dict(device=0), "device: must be a known one, found 0"),
    (dict(opt_level="3 -v"), "opt_level: must be an integer, found '3 -v'"),
    (dict(num_cus=2.5), "num_cus: must be an integer, found 2.5"),
    (dict(address_remarks="x"), "address_remarks: must be a boolean, found 'x'"),
    (dict(num_workers=0), "num_workers: must be an integer in range, found 0, allowed 1 to 2147483647"),
    (dict(num_workers="many"), "num_workers: must be an integer in range, found 'many'"),
    (dict(num_workers=2.5), "num_workers: must be an integer in range, found 2.5"),
    (dict(q=None), "q: must be an array, found NoneType"),
    (dict(out=None), "out: must be an array, found NoneType"),
    (dict(weights=np.ma.masked_array(np.zeros((6, 16), np.float32), mask=True)),
     "weights: must have no mask, found a masked array"),
    (dict(keys=np.zeros((0, 16, 64), np.uint8), key_scales=np.zeros((0, 16), np.float32)),
     r"block_table\[0, 0\]: .*, allowed none, since keys has no pages"),
    (dict(context_lens=np.zeros(6, np.int32)[::-2]), "context_lens: strides must be multiples of the "
                                                     "element's 4 bytes and not negative"),
    (dict(out=np.lib.stride_tricks.as_strided(np.zeros(300, np.float32), (6, 300), (0, 4))),
     "out: rows of 300 elements must not overlap, found a stride of 0"),
    (dict(q=np.zeros((3, 2, 16, 128), np.uint8)[..., ::2]), "q: innermost stride must be 1, found 2"),
    (dict(out=np.zeros((6, 10), np.float32)[:, ::-1]), "out: strides must be multiples"),
    (dict(out=np.broadcast_to(np.float32(0), (6, 300))), "out: must be writable"),
    (dict(out=np.lib.stride_tricks.as_strided(np.zeros(999, np.float32), (6, 300), (80, 4))),
     "out: rows of 300 elements must not overlap, found a stride of 20"),
    (dict(weights=np.zeros(6 * 64 + 2, np.uint8)[2:].view(np.float32).reshape(6, 16)),
     "weights: must be aligned to its elements of 4 bytes, found 0x"),
    (dict(weights=np.zeros((6, 16), ">f4")), "weights: must have the byte order of the machine"),
]


@pytest.mark.parametrize("changes, message", WRONG_LOGITS, ids=lambda v: None)
def test_wrong_logits_arguments(changes, message):
    case = Logits("gfx950")
    with pytest.raises(ArgumentError, match=message):
        changed(case, **changes)()
    assert (case.out == SENTINEL).all()


VALUES, ENDS = np.zeros((2, 50), np.float32), np.zeros(2, np.int32)


@pytest.mark.parametrize("args, kwargs, message", [
    ((VALUES, ENDS, 0), {}, "k: must be an integer in range, found 0, allowed 1 to 4096"),
    ((VALUES, ENDS, 4097), {}, "k: must be an integer in range, found 4097"),
    ((VALUES, ENDS, True), {}, "k: must be an integer in range, found True"),
    ((VALUES, ENDS[:1], 4), {}, r"row_ends: must have shape \[R\], found \(1,\), allowed \(2,\)"),
    ((VALUES, ENDS, 4), dict(order="random"), "order: must be a known one"),
    ((VALUES, ENDS, 4), dict(out=np.zeros((2, 5), np.int32)), r"out: must have shape \[R, k\]"),
    ((VALUES, ENDS, 4), dict(out=np.zeros((2, 4), np.int32), return_values=True),
     "out: must be a pair"),
    ((np.lib.stride_tricks.as_strided(VALUES, (1, 2**31), (0, 4)), None, 4), {},
     "values: has too many columns, found 2147483648, allowed at most 2147483647"),
])
def test_wrong_topk_arguments(args, kwargs, message):
    with pytest.raises(ArgumentError, match=message):
        pagedattn.topk(*args, **kwargs, chip="gfx950")


A, B = np.zeros((4, 64), np.uint8), np.zeros((2, 32, 64), np.uint8)
SA, SB = np.zeros((4, 2), np.uint8), np.zeros((2, 32, 2), np.uint8)
OFFSETS = np.zeros(3, np.int32)


@pytest.mark.parametrize("args, kwargs, message", [
    ((A, B), {}, "offsets: must be given for the 2 groups of b"),
    ((A, B, OFFSETS), {}, "a_scale: must be given for scales of kind e8m0_1x32"),
    ((A, B, OFFSETS), dict(a_scale=SA[:, :1], b_scale=SB),
     r"a_scale: must have shape of blocks of 1x32, found \(4, 1\), allowed \(4, 2\)"),
    ((A[:, :48], B[..., :48], OFFSETS), dict(a_scale=SA, b_scale=SB),
     "a_scale: K must be a multiple of 32 for e8m0_1x32, found 48"),
    ((A, B, OFFSETS[:2]), dict(a_scale=SA, b_scale=SB), r"offsets: must have shape \[E \+ 1\]"),
    ((A, B, OFFSETS), dict(a_scale=SA, b_scale=SB, a_scale_layout="n32k4"),
     r"a_scale: must have shape of blocks of 1x32, found \(4, 2\), allowed \(32, 2\)"),
    ((np.zeros((33, 64), np.uint8), B, OFFSETS),
     dict(a_scale=np.zeros((32, 2), np.uint8), b_scale=SB, a_scale_layout="n32k4"),
     r"a_scale: must have shape of blocks of 1x32, found \(32, 2\), allowed \(64, 2\)"),
    ((A, B, OFFSETS), dict(a_scale=SA, b_scale=SB, a_scale_layout="k4n32"),
     "a_scale_layout: must be a known one, found 'k4n32', allowed linear, n32k4, n32k8"),
    ((A, B, OFFSETS), dict(a_scale=SA, b_scale=SB, out=B.reshape(-1)[:4 * 64].view(np.uint16)
                           .reshape(4, 32)), "out: must not share memory with another array, found b"),
    ((A, B, OFFSETS), dict(formats="a8w6"), "formats: must be a known one, found 'a8w6'"),
    ((A, B, OFFSETS), dict(scales="e8m0_1x16"), "scales: must be a known one"),
    ((A, B, OFFSETS), dict(out_dtype="mxfp8"), "out_scale: must be given for out_dtype='mxfp8'"),
    ((A, B, np.array([0, 3, 2], np.int32)), dict(a_scale=SA, b_scale=SB),
     r"offsets\[2\]: must not be below the one before, found 2, allowed 3 or more"),
    ((A, B, OFFSETS), dict(a_scale=SA, b_scale=SB, tile_q=3),
     "tuning: pa.grouped_gemm must have such a parameter, found tile_q, allowed mma, tile_m"),
    ((A, B, OFFSETS), dict(activation="relu", a_scale=SA, b_scale=SB),
     "activation: must be a known one, found 'relu'"),
    ((A, B, OFFSETS), dict(activation=7, a_scale=SA, b_scale=SB),
     "activation: must be a word or an Activation, found int"),
    ((None, B, OFFSETS), dict(a_scale=SA, b_scale=SB, out=np.zeros((4, 32), np.uint16)),
     "a: must be an array, found NoneType"),
    ((A, None, OFFSETS), dict(a_scale=SA, b_scale=SB, out=np.zeros((4, 32), np.uint16)),
     "b: must be an array, found NoneType"),
])
def test_wrong_gemm_arguments(args, kwargs, message):
    with pytest.raises(ArgumentError, match=message):
        pagedattn.grouped_gemm(*args, **kwargs, chip="gfx950")


def test_outputs_share_no_memory():
    """Bytes count, not ranges: rows of two arrays may alternate."""
    values = np.random.default_rng(0).standard_normal((3, 64), dtype=np.float32)
    rows = np.zeros((3, 40), np.int32)
    both = rows[:, :16], rows[:, 16:32].view(np.float32)
    pagedattn.topk(values, None, 16, out=both, return_values=True, chip="gfx950")
    np.testing.assert_array_equal(both[0], reference.topk(values, 16)[0])
    np.testing.assert_array_equal(both[1], reference.topk(values, 16)[1])
    for out, other in (((rows[:, :16], rows[:, 15:31].view(np.float32)), r"out(\[1\])?"),
                       ((values.view(np.int32)[:, 40:56], both[1]), "values")):
        with pytest.raises(ArgumentError, match=r"out(\[1\])?: must not share memory with another "
                                                f"array, found {other}"):
            pagedattn.topk(values, None, 16, out=out, return_values=True, chip="gfx950")


def test_compile_errors_have_diagnostics():
    with pytest.raises(CompileError, match="text:1:1: error:") as info:
        pagedattn.compile("func.fun @f() {}", "gfx950")
    assert len(info.value.diagnostics) >= 1
    case = Logits("gfx942", dim=64)
    codes = np.zeros((*case.q.shape[:3], 2), np.uint8)
    half = lambda array: np.ascontiguousarray(array[..., ::2])
    scales = np.zeros((*case.keys.shape[:2], 2), np.uint8)
    with pytest.raises(CompileError, match="mxfp4 needs a scaled matrix instruction, which gfx942"):
        pagedattn.paged_logits(half(case.q), half(case.keys), scales, *case.args[3:],
                               out=case.out, query_scales=codes, chip="gfx942")
    with pytest.raises(CompileError, match="has no op that becomes a kernel for gfx950"):
        pagedattn.compile("module {}", "gfx950")
    with pytest.raises(ArgumentError, match="option: must be a known one, found 'fast'"):
        pagedattn.compile("module {}", "gfx950", fast=True)
    with pytest.raises(ArgumentError, match="mlir_text_or_op: must be text or an op"):
        pagedattn.compile(7, "gfx950")


def test_dropped_stores_are_reported():
    """Offsets of 32 bits that do not fit, as kernels that lose rows have them."""
    values = np.zeros((3, 64), np.float32)
    memory = mmap.mmap(-1, 7 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    out = np.lib.stride_tricks.as_strided(
        np.frombuffer(memory, np.int32), (3, 16), (3 << 30, 4))
    with pagedattn.using(options={"force_address_form": "narrow"}):
        with pytest.warns(pagedattn.EmulatorWarning, match="dropped-store") as warned:
            result = pagedattn.topk(values, None, 16, out=out, chip="gfx950")
    assert warned[0].filename == __file__
    assert {r["kind"] for r in result.reports} == {"dropped-store"}
    assert (out[0] == np.arange(16)).all() and not out[1:].any()


# ===----------------------------------------------------------------------===//
# Settings, tuning, modules
# ===----------------------------------------------------------------------===//


def test_settings_and_tuning_change_no_bit():
    case = Logits("gfx950")
    first = pagedattn.paged_logits(*case.args, **case.kwargs, chip="gfx950")
    want = case.out.copy()
    kernels = {first.compiled.key}
    for settings, tuning in [(dict(seed=5, threads=1), {}), ({}, dict(num_workers=3)),
                             ({}, dict(chunk=32)), ({}, dict(query="memory", schedule="even")),
                             ({}, dict(force_address_form="global"))]:
        case.out[...] = SENTINEL
        with pagedattn.using(chip="gfx950", **settings):
            result = pagedattn.paged_logits(*case.args, **case.kwargs, **tuning)
        kernels.add(result.compiled.key)
        np.testing.assert_array_equal(case.out, want)
    assert len(kernels) == 4


@pytest.mark.parametrize("settings, message", [
    (dict(speed=1), "speed: must be a setting, found speed, allowed chip, device"),
    (dict(chip="gfx1"), "chip: must be a known chip, found 'gfx1'"),
    (dict(device="cpu"), "device: must be a known one, found 'cpu', allowed emulator, hip"),
    (dict(seed="a"), "seed: must be an integer in range, found 'a', allowed 0 to 18446744073709551615"),
    (dict(seed=2**64), "seed: must be an integer in range"),
    (dict(threads=-1), "threads: must be an integer in range, found -1, allowed 0 to 4096"),
    (dict(budget=1.5), "budget: must be an integer in range, found 1.5"),
    (dict(stream="x"), "stream: must be an integer in range, found 'x'"),
    (dict(options=5), "options: must be a dictionary, found 5"),
])
def test_wrong_settings(settings, message):
    with pytest.raises(ArgumentError, match=message):
        with pagedattn.using(**settings):
            pass


def test_chip_of_the_environment(monkeypatch):
    monkeypatch.setenv("PAGEDATTN_CHIP", "gfx1250")
    assert pagedattn.topk(VALUES, ENDS, 4).compiled.chip == "gfx1250"
    with pagedattn.using(chip="gfx942"):
        assert pagedattn.topk(VALUES, ENDS, 4).compiled.chip == "gfx942"


@on_all_chips
def test_nothing_to_do(chip):
    case = Logits(chip, lens=(5, 9))
    empty = [case.q[:0], case.keys, case.scales, case.weights[:0], case.table[:0], case.lens[:0]]
    pagedattn.paged_logits(*empty, out=case.out[:0], chip=chip)
    assert pagedattn.topk(VALUES[:0], ENDS[:0], 4, chip=chip).out.shape == (0, 4)
    got = pagedattn.topk(VALUES[:, :0], ENDS, 4, chip=chip).out
    np.testing.assert_array_equal(got, np.full((2, 4), -1))


def test_module_of_text(tmp_path):
    text = """
    func.func @f(%v: memref<3x64xf32>, %i: memref<3x8xi32>) {
      pa.topk values(%v : memref<3x64xf32>) outs(%i : memref<3x8xi32>)
      return
    }"""
    compiled = pagedattn.compile(text, "gfx950", opt_level=2)
    (kernel,) = compiled.kernels
    assert kernel["op"] == "pa.topk" and kernel["chip"] == "gfx950"
    assert "s_endpgm" in compiled.isa[kernel["symbol"]]
    compiled.save(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    stem = kernel["file"][:-len(".co")]
    assert names == {stem + ".co", stem + ".s", "manifest.json"}
    assert (tmp_path / kernel["file"]).stat().st_size == kernel["file_bytes"]
    values = np.random.default_rng(0).standard_normal((3, 64), dtype=np.float32)
    indices = np.zeros((3, 8), np.int32)
    result = compiled.launch({"values": values, "indices": indices})
    assert result.stats["workgroups"] == 3
    np.testing.assert_array_equal(indices, reference.topk(values, 8)[0])
    with pytest.raises(ArgumentError, match="values: must be a memref<3x64xf32>, found shape"):
        compiled.launch({"values": values[:, :63], "indices": indices})
    with pytest.raises(ArgumentError, match=r"values: must be a memref<3x64xf32>, found shape \(3, 64\), "
                                            r"strides \(64, 1\) of i32"):
        compiled.launch({"values": values.view(np.int32), "indices": indices})
    with pytest.raises(ArgumentError, match="indices: must not share memory with another array, found "
                                            "values"):
        compiled.launch({"values": values, "indices": values.view(np.int32).reshape(-1)[:24]
                         .reshape(3, 8)})
    with pytest.raises(ArgumentError, match="operands: must name all of the kernel"):
        compiled.launch({"values": values})
    with pytest.raises(ArgumentError, match="operands: must be of the kernel, found bias"):
        compiled.launch({"values": values, "indices": indices, "bias": values})


def test_threads_compile_and_run_at_once():
    errors = []

    def work(k):
        try:
            values = np.random.default_rng(k).standard_normal((2, 300), dtype=np.float32)
            got = pagedattn.topk(values, None, k, chip="gfx950").out
            np.testing.assert_array_equal(got, reference.topk(values, k)[0])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in (21, 22, 23, 24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def many_rows():
    """800 rows that take the emulator about a second."""
    row = np.random.default_rng(0).standard_normal(40000, dtype=np.float32)
    return np.broadcast_to(row, (800, 40000))


def test_python_runs_while_the_emulator_does():
    """The interpreter lock is free: another thread counts on."""
    values = many_rows()
    pagedattn.topk(values[:1, :9], None, 512, chip="gfx950", splits=1)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    result = pagedattn.topk(values, None, 512, chip="gfx950", splits=1)
    done.set()
    thread.join()
    assert result.stats["seconds"] > 0.1
    assert len(ticks) > result.stats["seconds"] / 0.005 / 10


def test_interrupt_ends_a_run():
    row = np.random.default_rng(0).standard_normal(40000, dtype=np.float32)
    values = np.broadcast_to(row, (2000, 40000))
    pagedattn.topk(values[:1, :9], None, 512, chip="gfx950", splits=1)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pagedattn.topk(values, None, 512, chip="gfx950", splits=1)
    assert time.monotonic() - start < 5


def test_progress_on_a_terminal_only(monkeypatch):
    class Terminal:
        def __init__(self, is_terminal):
            self.text, self.isatty = "", lambda: is_terminal

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    monkeypatch.setattr(emulator, "_QUIET_SECONDS", 0.0)
    values = many_rows()
    shown = {}
    for is_terminal in (True, False):
        terminal = Terminal(is_terminal)
        monkeypatch.setattr(sys, "stderr", terminal)
        pagedattn.topk(values, None, 512, chip="gfx950", splits=1)
        shown[is_terminal] = terminal.text
    assert "of 800 workgroups" in shown[True] and shown[True].endswith("\r\x1b[K")
    assert shown[False] == ""
