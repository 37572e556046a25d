"""pa.paged_logits lowered to loops, against the float64 reference."""

import mmap
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Optional

import numpy as np
import pytest

import loops_harness as loops
from pagedattn import formats, reference

SENTINEL = np.float32(12345.0)
MLIR_TYPES = {"e4m3fn": "f8E4M3FN", "e4m3fnuz": "f8E4M3FNUZ", "mxfp4": "i8"}


@dataclass(frozen=True)
class Case:
    """One call. Data are exact in f32 unless `random`, so that the comparison
    is for equality."""

    name: str
    page: int = 16
    layout: str = "linear"
    fmt: str = "e4m3fn"
    fill: str = "none"
    lens: tuple = (75, 0, 2, 33)
    queries: int = 3
    heads: int = 16
    dim: int = 64
    columns: int = 90
    table_columns: Optional[int] = None
    row_ends: Optional[tuple] = None
    poison: int = -1
    page_slack: int = 0
    random: bool = False
    query_codes: Optional[tuple] = None
    key_codes: Optional[tuple] = None
    dynamic: bool = False

    @cached_property
    def row_bytes(self) -> int:
        return self.dim // 2 if self.fmt == "mxfp4" else self.dim

    def codes(self, rng, shape):
        """Codes of numbers whose products and sums are exact in f32."""
        if self.fmt == "mxfp4":
            allowed = np.arange(16)
        else:
            allowed = formats.encode(np.arange(-4, 5) / 2, self.fmt)
            if self.random:
                values = formats.get_format(self.fmt).table()
                allowed = np.flatnonzero(~np.isnan(values))
        codes = rng.choice(allowed, shape).astype(np.uint8)
        return formats.pack_fp4(codes) if self.fmt == "mxfp4" else codes

    def pages(self, rng, count):
        """Keys and scales as views of one allocation, each page followed by its
        scales and by slack. Bytes that belong to nobody decode to NaN."""
        fp4 = self.fmt == "mxfp4"
        scale_bytes = self.dim // 32 if fp4 else 4
        key_bytes = self.page * self.row_bytes
        stride = key_bytes + self.page * scale_bytes + self.page_slack
        store = np.full((count, stride), 0x80 if self.fmt == "e4m3fnuz" else 0xFF)
        store = store.astype(np.uint8)
        keys = store[:, :key_bytes].reshape(count, self.page, self.row_bytes)
        keys = np.lib.stride_tricks.as_strided(
            store, keys.shape, (stride, self.row_bytes, 1)
        )
        data = self.codes(rng, (count, self.page, self.dim))
        keys[...] = formats.tile_pages(data) if self.layout == "tiled" else data
        tail = store[:, key_bytes : key_bytes + self.page * scale_bytes]
        if fp4:
            shape, strides = (self.dim // 32,), (self.dim // 32, 1)
        else:
            assert stride % 4 == 0
            tail, shape, strides = tail.view(np.float32), (), (4,)
        scales = np.lib.stride_tricks.as_strided(
            tail, (count, self.page) + shape, (stride,) + strides
        )
        scales[...] = self.scales(rng, scales.shape, fp4, self.key_codes)
        return store, keys, scales

    def scales(self, rng, shape, fp4, codes):
        if codes:
            return rng.choice(codes, shape)
        if fp4:
            return rng.integers(125, 130, shape)
        if self.random:
            return rng.uniform(0.25, 1.25, shape)
        return rng.choice([0.25, 0.5, 1.0, 2.0], shape)

    @cached_property
    def operands(self) -> dict:
        rng = np.random.default_rng(self.page)
        batch = len(self.lens)
        rows = batch * self.queries
        used = [max(0, -(-n // self.page)) for n in self.lens]
        pages = sum(used) + 3
        width = self.table_columns or max(used) + 2
        table = np.full((batch, width), self.poison, np.int32)
        order = rng.permutation(pages)[: sum(used)]
        first = 0
        for b, count in enumerate(used):
            # The last sequence shares its first page with the first sequence.
            ids = order[first : first + count].copy()
            if b == batch - 1 and count and b:
                ids[0] = order[0]
            table[b, :count] = ids[: min(count, width)]
            first += count
        store, keys, scales = self.pages(rng, pages)
        q = self.codes(rng, (batch, self.queries, self.heads, self.dim))
        found = {"q": q}
        if self.fmt == "mxfp4":
            shape = (batch, self.queries, self.heads, self.dim // 32)
            codes = self.scales(rng, shape, True, self.query_codes)
            found["query_scales"] = codes.astype(np.uint8)
        weights = rng.integers(-8, 9, (rows, self.heads)) / 4
        if self.random:
            weights = rng.normal(size=weights.shape)
        found.update(
            keys=keys,
            key_scales=scales,
            weights=weights.astype(np.float32),
            block_table=table,
            context_lens=np.array(self.lens, np.int32),
        )
        if self.row_ends is not None:
            found["row_ends"] = np.array(self.row_ends, np.int32)
        view, whole = loops.guarded((rows, self.columns), np.float32, SENTINEL)
        found["logits"] = view
        return {"arrays": found, "whole": whole, "store": store}

    def unknown(self, operand: str, array) -> tuple:
        """Dimensions of unknown size: all but those that must be known, which
        the op takes from q and keys."""
        if not self.dynamic:
            return ()
        known = {"q": (1, 2, 3), "keys": (1,)}.get(operand, ())
        return tuple(d for d in range(array.ndim) if d not in known)

    def function(self, arrays: Optional[dict] = None) -> str:
        """The function of the case, for its own operands or for some like them."""
        arrays = arrays or self.operands["arrays"]
        element = MLIR_TYPES[self.fmt]
        types = {}
        for name, array in arrays.items():
            kind = element if name in ("q", "keys") else ""
            if self.dynamic and array.dtype == np.uint8 and "scales" in name:
                kind = "f8E8M0FNU"
            types[name] = loops.memref_type(array, kind, self.unknown(name, array))
        arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        words = {"q": "queries", "logits": "outs"}
        operands = " ".join(
            f"{words.get(name, name)}(%{name} : {kind})" for name, kind in types.items()
        )
        key_format = "mxfp4" if self.fmt == "mxfp4" else "fp8"
        return f"""
func.func @{self.name}({arguments}) attributes {{llvm.emit_c_interface}} {{
  pa.paged_logits {operands} {{layout = #pa.layout<{self.layout}>,
    fill = #pa.fill<{self.fill}>, format = #pa.key_format<{key_format}>}}
  return
}}"""


def make_cases():
    for page in (1, 2, 4, 8, 16, 32, 64, 256):
        yield Case(f"page_{page}", page=page, fill="neg_inf")
        yield Case(f"page_{page}_mxfp4", page=page, fmt="mxfp4")
        if page >= 8:
            yield Case(f"page_{page}_tiled", page=page, layout="tiled", dim=128)
            yield Case(
                f"page_{page}_mxfp4_tiled", page=page, layout="tiled", fmt="mxfp4"
            )
    yield Case("poison_large", poison=0x7FFFFFFF, page=8, layout="tiled")
    yield Case("compact_table", page=64, table_columns=2, lens=(75, 0, 2, 128))
    yield Case("page_stride", page=64, page_slack=1002240 - 64 * 68, layout="tiled")
    yield Case("page_stride_linear", page=8, page_slack=64)
    yield Case("contexts_all_empty", lens=(0, 0), fill="neg_inf")
    yield Case("context_below_queries", lens=(1, 2, 3, 4), queries=4, page=1)
    yield Case("context_negative", lens=(-5, 3), fill="neg_inf")
    yield Case("columns_end_first", columns=20, lens=(75, 33), fill="neg_inf")
    yield Case("table_ends_first", table_columns=2, lens=(75, 33), fill="neg_inf")
    ends = (76, -1, 7, 0, 90, 2147483647, 75, 1, -2147483648, 33, 32, 34)
    for fill in ("none", "neg_inf"):
        yield Case(f"row_ends_{fill}", row_ends=ends, fill=fill)
        yield Case(f"fnuz_{fill}", fmt="e4m3fnuz", fill=fill, layout="tiled")
    for dim in (64, 128, 192, 256):
        yield Case(f"dim_{dim}", dim=dim, lens=(19,), queries=1)
        yield Case(f"dim_{dim}_mxfp4", dim=dim, fmt="mxfp4", lens=(19,), queries=8)
    yield Case("heads_128", heads=128, lens=(20,), queries=2)
    for fmt in MLIR_TYPES:
        for layout in ("linear", "tiled"):
            yield Case(
                f"dynamic_{fmt}_{layout}",
                dynamic=True,
                page=8,
                page_slack=4,
                fmt=fmt,
                layout=layout,
            )
    yield Case("random_fn", random=True, heads=64, dim=128, lens=(50, 17))
    yield Case("random_fnuz", random=True, fmt="e4m3fnuz", heads=32, lens=(50, 17))
    # Exponents of query and key combine: 2^-127 times 2^127 is 1.
    for query, key in [(0, 254), (254, 0), (0, 0), (253, 100), (1, 250), (255, 127)]:
        yield Case(
            f"codes_{query}_{key}",
            fmt="mxfp4",
            query_codes=(query,),
            key_codes=(key,),
            lens=(20, 5),
        )
    yield Case("some_keys_nan", fmt="mxfp4", key_codes=(126, 127, 127, 127, 255))


CASES = {case.name: case for case in make_cases()}


def fresh(name: str) -> Case:
    """The case of that name with outputs of its own."""
    return replace(CASES[name])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    functions = [case.function() for case in CASES.values()]
    return loops.compile_functions(functions, tmp_path_factory.mktemp("logits"))


def expected_of(case: Case, arrays: dict):
    operands = {name: a for name, a in arrays.items() if name not in ("row_ends",)}
    return reference.paged_logits(
        **operands,
        row_ends=arrays.get("row_ends"),
        layout=case.layout,
        fill=case.fill,
        fmt=case.fmt,
    )


@pytest.mark.parametrize("name", CASES)
def test_matches_the_reference(library, name):
    case = CASES[name]
    arrays, whole = case.operands["arrays"], case.operands["whole"]
    expected = expected_of(case, arrays)
    loops.call(library, name, list(arrays.values()))
    got = arrays["logits"]
    loops.assert_guards_intact(got, whole, SENTINEL)
    untouched = expected == SENTINEL
    np.testing.assert_array_equal(got == SENTINEL, untouched)
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(expected))
    if case.random:
        size = np.abs(expected[~untouched & np.isfinite(expected)]).max()
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6 * size)
    else:
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got, expected.astype(np.float32))


def test_the_cases_reach_what_they_are_for():
    """Guards the cases themselves: special scales give what the name says."""

    def results(name):
        case = CASES[name]
        expected = expected_of(case, case.operands["arrays"])
        return expected[expected != SENTINEL]

    assert np.isnan(results("codes_255_127")).all()
    assert 0 < np.isnan(results("some_keys_nan")).mean() < 1
    np.testing.assert_array_equal(results("codes_0_254"), results("codes_254_0"))
    assert np.abs(results("codes_0_254")).max() > 1
    assert 0 < np.abs(results("codes_0_0")).max() < 1e-60
    assert np.abs(results("codes_253_100")).max() > 1e29
    assert np.isneginf(results("contexts_all_empty")).all()
    assert results("context_below_queries").size == 1 + 3 + 6 + 10
    assert results("row_ends_none").size == 75 + 7 + 2 + 1 + 33 + 32 + 33


def test_page_ids_are_unsigned_and_addresses_wide(tmp_path):
    """Page 2^31 + 1: its keys lie 128 GiB into the cache."""
    dim, high = 64, 2**31 + 1
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
    try:
        memory = mmap.mmap(-1, (high + 1) * dim, flags=flags)
        scale_memory = mmap.mmap(-1, (high + 1) * 4, flags=flags)
    except OSError as error:
        pytest.skip(f"cannot reserve 136 GiB of address space: {error}")
    keys = np.frombuffer(memory, np.uint8).reshape(high + 1, 1, dim)
    scales = np.frombuffer(scale_memory, np.float32).reshape(high + 1, 1)
    rng = np.random.default_rng(7)
    ids = np.array([high, 0, high - 1], np.uint32)
    keys[ids] = formats.encode(rng.integers(-2, 3, (3, 1, dim)), "e4m3fn")
    scales[ids] = np.array([[1.0], [2.0], [4.0]])
    arrays = {
        "q": formats.encode(rng.integers(-2, 3, (1, 1, 16, dim)), "e4m3fn"),
        "keys": keys,
        "key_scales": scales,
        "weights": np.ones((1, 16), np.float32),
        "block_table": ids.view(np.int32).reshape(1, 3),
        "context_lens": np.array([3], np.int32),
        "logits": np.zeros((1, 3), np.float32),
    }
    case = Case("wide", page=1, queries=1, lens=(3,), columns=3, dynamic=True)
    object.__setattr__(case, "operands", {"arrays": arrays})
    library = loops.compile_functions([case.function()], tmp_path)
    expected = expected_of(case, arrays)
    loops.call(library, "wide", list(arrays.values()))
    assert (expected != 0).all()
    np.testing.assert_array_equal(arrays["logits"], expected)
