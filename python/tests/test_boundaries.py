"""Tensors whose byte offsets pass 2^31 and 2^32, executed in the emulator on
memory that costs only what is touched.

Every boundary has a last index before it, the first behind it and one far away.
Where the cure can be turned off, a test shows that the case needs it: one buffer
resource over the whole tensor drops the stores, or reads zeros, and the emulator
says so.
"""

from dataclasses import replace

import numpy as np
import pytest

import kernel_harness
import test_topk_kernel as topk
from kernel_harness import Operand
from pagedattn import formats, reference

CHIPS = ("gfx942", "gfx950", "gfx1250")
SENTINEL = np.float32(12345.0)
TOLERANCE = 1.25e-4
NARROW = "force-address-form=narrow"


def element_type(chip):
    return ("e4m3fnuz", "f8E4M3FNUZ") if chip == "gfx942" else ("e4m3fn", "f8E4M3FN")


def memref(shape, element, strides=None):
    def text(n):
        return "?" if n is None else str(n)

    layout = f", strided<[{', '.join(map(text, strides))}]>" if strides else ""
    return f"memref<{'x'.join(map(text, shape))}x{element}{layout}>"


def function(types, attrs):
    """A function of one pa.paged_logits; the last operand is the output."""
    names = {"q": "queries", "logits": "outs"}
    args = ", ".join(f"%{name}: {type_}" for name, type_ in types.items())
    uses = " ".join(f"{names.get(n, n)}(%{n} : {t})" for n, t in types.items())
    return f"func.func @f({args}) {{ pa.paged_logits {uses} {{{attrs}}} return }}"


# The published shape: 1024 rows of logits whose offsets pass 2^31 bytes.

BATCH, QUERIES, HEADS, DIM, PAGE = 256, 4, 16, 128, 256
ROWS = BATCH * QUERIES
NEEDED = 130  # columns that a context of that many tokens writes


class Indexer:
    """Operands of a decode step with short contexts in wide rows of logits."""

    def __init__(self, chip, columns):
        rng = np.random.default_rng(columns)
        fmt, _ = element_type(chip)
        self.chip, self.columns = chip, columns
        self.lens = rng.integers(QUERIES, NEEDED + 1, BATCH).astype(np.int32)
        self.lens[[0, 127, 128, 223, 224, 255]] = NEEDED

        def codes(*shape):
            return formats.encode(rng.standard_normal(shape), fmt)

        self.q = codes(BATCH, QUERIES, HEADS, DIM)
        self.keys = formats.tile_pages(codes(BATCH, PAGE, DIM))
        self.scales = rng.uniform(0.25, 1.25, (BATCH, PAGE)).astype(np.float32)
        self.weights = rng.standard_normal((ROWS, HEADS)).astype(np.float32)
        self.table = rng.permutation(BATCH).astype(np.int32).reshape(BATCH, 1)

    def mlir(self, is_static):
        _, element = element_type(self.chip)
        batch, rows = (BATCH, ROWS) if is_static else (None, None)
        logits = (memref((rows, self.columns), "f32") if is_static
                  else memref((None, None), "f32", (None, 1)))
        return function({
            "q": memref((batch, QUERIES, HEADS, DIM), element),
            "keys": memref((None, PAGE, DIM), element),
            "key_scales": memref((None, PAGE), "f32"),
            "weights": memref((rows, HEADS), "f32"),
            "block_table": memref((batch, None), "i32"),
            "context_lens": memref((batch,), "i32"), "logits": logits},
            "layout = #pa.layout<tiled>")

    def run(self, first, last, stride, *, is_static=False, options="", **logits):
        """Launches sequences `first` to `last`, whose logits are `stride` apart."""
        rows = (last - first) * QUERIES
        row_bytes = 4 * NEEDED
        operands = {
            "q": Operand.of(self.q[first:last]), "keys": Operand.of(self.keys),
            "key_scales": Operand.of(self.scales),
            "weights": Operand.of(self.weights[first * QUERIES:last * QUERIES]),
            "block_table": Operand.of(self.table[first:last]),
            "context_lens": Operand.of(self.lens[first:last])}
        if stride == NEEDED:
            operands["logits"] = Operand.of(
                np.full((rows, NEEDED), SENTINEL), is_output=True)
        else:
            operands["logits"] = Operand(
                np.full(rows * NEEDED, SENTINEL).view(np.uint8),
                (rows, self.columns), (stride, 1), is_output=True,
                sparse=(4 * ((rows - 1) * stride + self.columns), row_bytes, 4 * stride),
                fill=int(SENTINEL.view(np.uint32)), **logits)
        folder, kernel = kernel_harness.compile_op(self.mlir(is_static), self.chip, options)
        return kernel_harness.run(kernel, folder, operands)


def expect_clean(result):
    assert result.status == 0, result.text
    assert result.report["reports"] == [], result.text


@pytest.mark.parametrize("columns, first_dropped", ((2**20, 512), (600_000, 895)))
@pytest.mark.parametrize("chip", CHIPS)
def test_rows_of_logits(chip, columns, first_dropped):
    case = Indexer(chip, columns)
    compact = case.run(0, BATCH, NEEDED)
    expect_clean(compact)
    got = compact.outputs["logits"].view(np.float32).reshape(ROWS, NEEDED)
    fmt, _ = element_type(chip)
    want = reference.paged_logits(
        case.q, case.keys, case.scales, case.weights, case.table, case.lens,
        np.full((ROWS, NEEDED), SENTINEL, np.float64), layout="tiled", fmt=fmt)
    limit = TOLERANCE * np.abs(want[want != SENTINEL]).max()
    np.testing.assert_allclose(got, want, rtol=0, atol=limit)
    np.testing.assert_array_equal(got[want == SENTINEL], SENTINEL)

    # Every row has at least its first column.
    written = (4, 4 * columns, ROWS)
    for is_static in (True, False):
        expect_clean(case.run(0, BATCH, columns, is_static=is_static, expected=got,
                              written=written))
    for first in (0, BATCH // 2):
        part = got[first * QUERIES:][:ROWS // 2]
        expect_clean(case.run(first, first + BATCH // 2, columns, expected=part,
                              written=(4, 4 * columns, ROWS // 2)))

    # One resource over the whole tensor drops the rows behind 2^31 bytes.
    dropped = case.run(0, BATCH, columns, is_static=True, options=NARROW, written=written)
    kinds = {report["kind"] for report in dropped.report["reports"]}
    assert kinds == {"dropped-store"}, dropped.text
    (buffer,) = (b for b in dropped.report["buffers"] if b["name"] == "logits")
    assert buffer["first_untouched_row"] == first_dropped
    assert buffer["rows_untouched"] == ROWS - first_dropped


# Key caches, a page for each sequence.


def check_pages(chip, page_ids, page_stride, scale_strides=None, *, page=64, layout="tiled",
                far=False, options="", expect=expect_clean):
    """Scores the pages `page_ids` of a cache with `page_stride` bytes from one to
    the next, each for a sequence of its own. Scales lie behind the keys of their
    page, or with `scale_strides`, in elements, in an allocation of their own. With
    `far` the rows of all other operands are wide apart too. Returns what differs
    from the reference, as a number for each sequence."""
    rng = np.random.default_rng(page_stride)
    fmt, element = element_type(chip)
    batch, pages = len(page_ids), max(page_ids) + 1
    keys = formats.encode(rng.standard_normal((batch, page, DIM)), fmt)
    stored = formats.tile_pages(keys) if layout == "tiled" else keys
    scales = rng.uniform(0.25, 1.25, (batch, page)).astype(np.float32)
    q = formats.encode(rng.standard_normal((batch, 1, HEADS, DIM)), fmt)
    weights = rng.standard_normal((batch, HEADS)).astype(np.float32)
    table = np.array(page_ids, np.int32).reshape(batch, 1)
    lens = np.full(batch, page, np.int32)

    def wide(array, stride_bytes):
        if not far:
            return Operand.of(array)
        strides = [s // array.itemsize for s in array.strides]
        strides[0] = stride_bytes // array.itemsize
        row = array.nbytes // batch
        return Operand(array.reshape(-1).view(np.uint8), array.shape, tuple(strides),
                       sparse=((batch - 1) * stride_bytes + row, row, stride_bytes))

    key_bytes, page_bytes = page * DIM, page * (DIM + 4)
    starts = tuple(p * page_stride for p in page_ids)
    if scale_strides:
        keys_only = stored.reshape(-1).view(np.uint8)
        key_operand = Operand(keys_only, (pages, page, DIM), (page_stride, DIM, 1),
                              sparse=(starts[-1] + key_bytes, key_bytes, page_stride),
                              starts=starts)
        first, step = scale_strides
        offsets = tuple(4 * (p * first + t * step) for p in page_ids for t in range(page))
        scale_operand = Operand(scales.reshape(-1).view(np.uint8), (pages, page),
                                scale_strides, sparse=(max(offsets) + 4, 4, 4),
                                starts=offsets)
    else:
        cache = np.concatenate([stored.reshape(batch, -1),
                                scales.view(np.uint8).reshape(batch, -1)], axis=1)
        key_operand = Operand(cache.reshape(-1), (pages, page, DIM), (page_stride, DIM, 1),
                              sparse=(starts[-1] + page_bytes, page_bytes, page_stride),
                              starts=starts)
        scale_operand = replace(key_operand, shape=(pages, page),
                                strides=(page_stride // 4, 1), offset=key_bytes)
        scale_strides = scale_operand.strides
    logits = np.full((batch, page), SENTINEL)
    operands = {"q": wide(q, 2**30 + 2**20), "keys": key_operand, "key_scales": scale_operand,
                "weights": wide(weights, 2**30 + 4), "block_table": wide(table, 2**30 + 4),
                "context_lens": wide(lens, 2**30 + 4),
                "logits": Operand.of(logits, is_output=True)}
    row = (None, 1) if far else None
    mlir = function({
        "q": memref((None, 1, HEADS, DIM), element,
                    (None, HEADS * DIM, DIM, 1) if far else None),
        "keys": memref((None, page, DIM), element, (page_stride, DIM, 1)),
        "key_scales": memref((None, page), "f32", scale_strides),
        "weights": memref((None, HEADS), "f32", row),
        "block_table": memref((None, None), "i32", row),
        "context_lens": memref((None,), "i32", (None,) if far else None),
        "logits": memref((None, None), "f32")}, f"layout = #pa.layout<{layout}>")
    folder, kernel = kernel_harness.compile_op(mlir, chip, options)
    result = kernel_harness.run(kernel, folder, operands)
    expect(result)
    got = result.outputs["logits"].view(np.float32).reshape(batch, page)
    want = reference.paged_logits(
        q, stored, scales, weights, np.arange(batch, dtype=np.int32).reshape(batch, 1), lens,
        np.full((batch, page), SENTINEL, np.float64), layout=layout, fmt=fmt)
    return np.abs(got - want).max(axis=1) / np.abs(want).max(axis=1)


# Pages on both sides of 2^31 and 2^32 bytes, and far behind.
CACHES = ((1_002_240, (7, 2142, 2143, 4285, 4286, 4564)),
          (1_435_968, (7, 1495, 1496, 2990, 2991, 4564)),
          (8_448, (7, 254_200, 254_201, 254_202, 508_400, 508_401, 508_402)))


@pytest.mark.parametrize("stride, pages", CACHES, ids=lambda x: str(x).replace(" ", ""))
@pytest.mark.parametrize("chip", CHIPS)
def test_pages_of_the_cache(chip, stride, pages):
    for layout in ("tiled", "linear"):
        assert (check_pages(chip, pages, stride, layout=layout) <= TOLERANCE).all()


@pytest.mark.long
@pytest.mark.parametrize("page", (1, 4, 8, 16, 32, 128, 256))
@pytest.mark.parametrize("stride, pages", CACHES[:2], ids=lambda x: str(x).replace(" ", ""))
@pytest.mark.parametrize("chip", CHIPS)
def test_pages_of_other_sizes(chip, stride, pages, page):
    for layout in ("tiled", "linear"):
        if layout == "linear" or page >= 8:
            assert (check_pages(chip, pages, stride, page=page, layout=layout)
                    <= TOLERANCE).all()


@pytest.mark.parametrize("chip", CHIPS)
def test_one_resource_misreads_the_far_pages(chip):
    """The pages of the test above are where the defect is."""
    def reports(result):
        assert {r["kind"] for r in result.report["reports"]} == {"out-of-range-load"}

    errors = check_pages(chip, (7, 2142, 2143, 4285, 4286, 4564), 1_002_240, options=NARROW,
                         expect=reports)
    np.testing.assert_array_equal(errors <= TOLERANCE, [True, True] + [False] * 4)


@pytest.mark.parametrize("strides, pages", (
    ((2**20, 1), (0, 511, 512, 1023, 1024, 3000)),  # a page of scales every 4 MiB
    ((2**20 + 3, 1), (0, 511, 512, 1023, 1024, 3000)),
    ((64, 2**23), (0, 1)),  # a scale every 32 MiB
    ((2**29 - 1, 5), (0, 1, 2, 3)),
    ((2**29 - 4 * 63, 4), (0, 1, 2, 3))), ids=str)
@pytest.mark.parametrize("chip", CHIPS)
def test_scales_of_the_cache(chip, strides, pages):
    """The offsets of scales pass the boundaries, those of keys do not."""
    assert (check_pages(chip, pages, 64 * DIM, strides) <= TOLERANCE).all()


@pytest.mark.parametrize("chip", CHIPS)
def test_all_operands_far_apart(chip):
    """Queries, weights, block table and contexts on both sides of the boundaries."""
    assert (check_pages(chip, (0, 1, 2, 2142, 2143, 4286), 1_002_240, far=True)
            <= TOLERANCE).all()


# Top-k.


def check_topk(chip, *, row_ids, k, lens, splits=1, in_stride, out_stride, columns=None,
               order="by_value", static=None, options="", expect=expect_clean):
    """Selects in a tensor of max(row_ids) + 1 rows, of which all but `row_ids` are
    empty. Strides are in elements; `static` are the static extents of values."""
    rng = np.random.default_rng(k)
    rows, longest = max(row_ids) + 1, max(lens)
    columns = columns or longest
    values = rng.standard_normal((len(row_ids), longest), dtype=np.float32)
    ends = np.zeros(rows, np.int32)
    ends[list(row_ids)] = lens
    values[np.arange(longest) >= np.array(lens)[:, None]] = np.inf

    def far(array, stride, width, **output):
        row = array.nbytes // len(row_ids)
        return Operand(array.reshape(-1).view(np.uint8), (rows, width), (stride, 1),
                       sparse=(4 * ((rows - 1) * stride + width), row, 4 * stride),
                       starts=tuple(4 * stride * r for r in row_ids), **output)

    indices, best = reference.topk(values, k, row_ends=lens, order=order)
    stale = np.full((len(row_ids), k), -77, np.int32)
    written = (4 * k, 4 * out_stride, rows)
    operands = {
        "values": far(values, in_stride, columns, fill=0x7F800000),
        "row_ends": Operand.of(ends),
        "indices": far(stale, out_stride, k, is_output=True, expected=indices,
                       written=written),
        "top_values": far(stale, out_stride, k, is_output=True, expected=best,
                          written=written)}
    case = topk.Case(chip, k=k, order=order, values=True,
                     config=(4, 1, k + 1024, splits))
    mlir = topk.make_mlir(case)
    if static:
        mlir = mlir.replace("memref<?x?xf32, strided<[?, 1]>>", memref(static, "f32"))
    folder, kernels = kernel_harness.compile_kernels(mlir, chip, options)
    expect(kernel_harness.run_all(kernels, folder, operands))


@pytest.mark.parametrize("splits", (1, 3))
@pytest.mark.parametrize("stride", (2**29 - 1, 2**29, 2**30 + 1, 2**31 - 1, 2**31 + 5))
@pytest.mark.parametrize("chip", CHIPS)
def test_outputs_of_topk(chip, stride, splits):
    """Rows of indices and values around 2^31 and 2^32 bytes and 2^31 elements."""
    check_topk(chip, row_ids=(0, 1, 2, 3), k=100, lens=(3000, 99, 4001, 100), splits=splits,
               in_stride=4096, out_stride=stride)


@pytest.mark.parametrize("chip", CHIPS)
def test_one_resource_drops_the_far_outputs(chip):
    """The rows of the test above are where the defect is."""
    def reports(result):
        assert {r["kind"] for r in result.report["reports"]} == {"dropped-store"}
        for name in ("indices", "top_values"):
            (buffer,) = (b for b in result.report["buffers"] if b["name"] == name)
            assert buffer["first_untouched_row"] == 1 and buffer["rows_untouched"] == 3

    check_topk(chip, row_ids=(0, 1, 2, 3), k=100, lens=(3000, 99, 4001, 100), in_stride=4096,
               out_stride=2**29, options=NARROW, expect=reports)


@pytest.mark.parametrize("chip", CHIPS)
def test_many_rows_of_topk(chip):
    """Rows of 2^20 columns: rows 512, 1024, 2048 and 4096 begin 2^31 and 2^32
    bytes, 2^31 and 2^32 elements from the first."""
    rows = (0, 511, 512, 1023, 1024, 2047, 2048, 4095, 4096, 4099)
    check_topk(chip, row_ids=rows, k=16, lens=(100, 17, 3000, 16, 15, 2000, 1, 5000, 40, 6000),
               in_stride=2**20, out_stride=2**20, columns=2**20, static=(4100, 2**20))


@pytest.mark.long
@pytest.mark.parametrize("k", (1, 2048, 4096))
@pytest.mark.parametrize("splits", (1, 5))
@pytest.mark.parametrize("chip", CHIPS)
def test_far_topk_of_other_sizes(chip, splits, k):
    for stride in (2**29 - 1, 2**31 + 5):
        for order in ("by_index", "by_value"):
            check_topk(chip, row_ids=(0, 1, 2, 4, 5), k=k, lens=(9000, k - 1, k, k + 1, 40000),
                       splits=splits, in_stride=stride, out_stride=stride, order=order)
