"""pa.paged_logits compiled for the chips and executed in the emulator, against
the float64 reference.

Every case has permuted pages with spare ones between them, a block table whose
unused entries are poison, pages with slack behind keys and scales, logits that
are a view with 16 guard columns on each side, and a sentinel everywhere before
the launch. Allocations end where their last element ends.
"""

import itertools
import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np
import pytest

import kernel_harness
from kernel_harness import Operand
from pagedattn import formats, reference

CHIPS = ("gfx942", "gfx950", "gfx1250")
FP8 = {"gfx942": ("e4m3fnuz", "f8E4M3FNUZ")}
SENTINEL = np.float32(12345.0)
GUARD = 16
# Of the greatest magnitude in a row.
TOLERANCE = 1.25e-4
LENS = (0, 1, 3, 257, 997)


@dataclass(frozen=True)
class Case:
    chip: str
    page: int = 64
    layout: str = "tiled"
    heads: int = 64
    dim: int = 128
    queries: int = 1
    lens: tuple = LENS
    fill: str = "none"
    columns: Optional[int] = None
    table_slack: int = 3
    poison: int = -1
    splits: Optional[int] = None
    chunk: Optional[int] = None
    query: Optional[str] = None
    schedule: Optional[str] = None
    row_ends: bool = False
    token_scales: bool = False
    scales_apart: bool = False
    column_slack: int = 0
    options: str = ""
    fmt: str = "fp8"
    seed: int = 0

    def __str__(self):
        changed = [f"{k}={v}" for k, v in vars(self).items()
                   if v != getattr(Case(self.chip), k)]
        return " ".join([self.chip] + changed).replace(", ", ",")


@dataclass
class Problem:
    mlir: str
    operands: dict
    expected: np.ndarray
    row_stride: int


def make(case: Case) -> Problem:
    """Operands with random contents, and what must come out."""
    rng = np.random.default_rng(case.seed)
    fmt, ty = FP8.get(case.chip, ("e4m3fn", "f8E4M3FN"))
    batch, n, h, d, p = len(case.lens), case.queries, case.heads, case.dim, case.page
    rows, lens = batch * n, np.array(case.lens, np.int32)
    columns = case.columns or max(case.lens) + 37
    used = -(-lens.astype(np.int64) // p)
    width = max(1, int(used.max())) + case.table_slack
    pages = int(used.sum()) + 5
    # The last page of the last sequence is the last one of the allocation.
    free = rng.permutation(pages)
    at, last = np.flatnonzero(free == pages - 1)[0], max(int(used.sum()) - 1, 0)
    free[[at, last]] = free[[last, at]]
    free = iter(free)
    table = np.full((batch, width), case.poison, np.int32)
    for b in range(batch):
        for j in range(used[b]):
            table[b, j] = next(free)

    is_fp4 = case.fmt == "mxfp4"
    if is_fp4:
        fmt, ty = "mxfp4", "i8"
    row = d // 2 if is_fp4 else d

    def data(*shape):
        if is_fp4:
            return rng.integers(0, 256, (*shape, row), dtype=np.uint8)
        return formats.encode(rng.standard_normal((*shape, row)), fmt)

    q, keys = data(batch, n, h), data(pages, p)
    weights = rng.standard_normal((rows, h)).astype(np.float32)
    stored = formats.tile_pages(keys) if case.layout == "tiled" else keys
    query_scales = None
    if is_fp4:
        query_scales = rng.integers(120, 134, (batch, n, h, d // 32), dtype=np.uint8)
        scales = rng.integers(120, 134, (pages, p, d // 32), dtype=np.uint8)
    else:
        scales = rng.uniform(0.25, 1.25, (pages, p)).astype(np.float32)
    scale_bytes = scales.reshape(pages, p, -1).view(np.uint8)
    unit = scales.itemsize

    # One allocation: pages of keys then scales, or of tokens each with its own.
    each = scale_bytes.shape[2]  # bytes of scale for one token
    inner = (1,) if is_fp4 else ()
    if case.token_scales:
        token = row + each
        stride = p * token
        cache = np.empty((pages, p, token), np.uint8)
        cache[:, :, :row] = stored
        cache[:, :, row:] = scale_bytes
        key_strides = (stride, token, 1)
        scale_strides = (stride // unit, token // unit) + inner
        scale_offset = row
    else:
        stride = -(-p * (row + each) // 16) * 16 + 32
        cache = np.full((pages, stride), 0x80 if fmt == "e4m3fnuz" else 0x7F, np.uint8)
        cache[:, :p * row] = stored.reshape(pages, -1)
        cache[:, p * row:p * (row + each)] = scale_bytes.reshape(pages, -1)
        key_strides = (stride, row, 1)
        scale_strides = (stride // unit, each // unit) + inner
        scale_offset = p * row
        cache = cache.reshape(-1)[:(pages - 1) * stride + p * (row + each)].copy()
    cache = scale_cache = cache.reshape(-1)
    if case.scales_apart:
        # An allocation of their own, with a stride that has nothing to do with P.
        scale_strides = (scales[0].size + 3,) + tuple(
            s // unit for s in scales.strides[1:])
        apart = np.zeros((pages, scales[0].size + 3), scales.dtype)
        apart[:, :-3] = scales.reshape(pages, -1)
        scale_cache = apart.reshape(-1)[:-3].copy().view(np.uint8)
        scale_offset = 0
    row_stride = columns + 2 * GUARD + case.column_slack
    logits = np.full((rows, row_stride), SENTINEL)
    ends = None
    if case.row_ends:
        ends = rng.integers(-2, columns + 9, rows).astype(np.int32)

    def types(rank_dims, element, strides=None):
        layout = f", strided<[{', '.join(map(str, strides))}]>" if strides else ""
        return f"memref<{'x'.join(map(str, rank_dims))}x{element}{layout}>"

    t = {
        "q": types(("?", n, h, row), ty),
        "query_scales": types(("?", n, h, d // 32), "i8"),
        "keys": types(("?", p, row), ty, key_strides),
        "key_scales": types(("?", p, d // 32), "i8", scale_strides) if is_fp4
        else types(("?", p), "f32", scale_strides),
        "weights": types(("?", h), "f32"),
        "block_table": types(("?", "?"), "i32"),
        "context_lens": types(("?",), "i32"),
        "row_ends": types(("?",), "i32"),
        "outs": types(("?", "?"), "f32", ("?", 1)),
    }
    absent = {"row_ends"} if not case.row_ends else set()
    absent |= {"query_scales"} if not is_fp4 else set()
    names = [name for name in t if name not in absent]
    attrs = [f"layout = #pa.layout<{case.layout}>", f"fill = #pa.fill<{case.fill}>",
             f"format = #pa.key_format<{case.fmt}>"]
    if case.chunk or case.query or case.schedule:
        mma = {("gfx942", "fp8"): "mfma_f32_16x16x32_fp8_fnuz",
               ("gfx950", "fp8"): "mfma_f32_16x16x128_fp8",
               ("gfx1250", "fp8"): "wmma_f32_16x16x128_fp8",
               ("gfx950", "mxfp4"): "mfma_scale_f32_16x16x128_fp4",
               ("gfx1250", "mxfp4"): "wmma_scale_f32_16x16x128_fp4"}[case.chip, case.fmt]
        attrs.append(f"config = #pa.logits_config<mma = {mma}, chunk = {case.chunk or 256}, "
                     f"waves = 4, splits = 0, query = {case.query or 'lds'}, "
                     f"schedule = {case.schedule or 'ragged'}>")
    args = ", ".join(f"%{name}: {t[name]}" for name in names)
    uses = " ".join(f"{'queries' if name == 'q' else name}(%{name} : {t[name]})" for name in names)
    mlir = f"func.func @f({args}) {{ pa.paged_logits {uses} {{{', '.join(attrs)}}} return }}"

    operands = {
        "q": Operand.of(q),
        "keys": Operand(cache, keys.shape, key_strides),
        "key_scales": Operand(scale_cache, scales.shape, scale_strides, scale_offset),
        "weights": Operand.of(weights),
        "block_table": Operand.of(table),
        "context_lens": Operand.of(lens),
        "logits": Operand(logits.reshape(-1).view(np.uint8), (rows, columns), (row_stride, 1),
                          4 * GUARD, is_output=True),
    }
    if case.row_ends:
        operands["row_ends"] = Operand.of(ends)
    if is_fp4:
        operands["query_scales"] = Operand.of(query_scales)
    expected = reference.paged_logits(
        q, stored, scales, weights, table, lens,
        np.full((rows, columns), SENTINEL, np.float64), row_ends=ends,
        query_scales=query_scales,
        layout=case.layout, fill=case.fill, fmt=fmt)
    return Problem(mlir, operands, expected, row_stride)


def launch(case: Case, problem: Problem, run_options=()) -> np.ndarray:
    """The whole logits allocation after the launch; a report is a failure."""
    folder, kernel = kernel_harness.compile_op(problem.mlir, case.chip, case.options)
    assert kernel["spills"] == {"vgprs": 0, "sgprs": 0}
    scalars = {"num_workers": case.splits} if case.splits else None
    result = kernel_harness.run(kernel, folder, problem.operands, scalars=scalars,
                                options=run_options)
    assert result.status == 0, result.text
    assert result.report["reports"] == [], result.text
    rows = problem.expected.shape[0]
    return result.outputs["logits"].view(np.float32).reshape(rows, problem.row_stride)


def check(case: Case, run_options=()) -> np.ndarray:
    problem = make(case)
    whole = launch(case, problem, run_options)
    rows, columns = problem.expected.shape
    assert (whole[:, :GUARD] == SENTINEL).all(), "columns before the view are written"
    assert (whole[:, GUARD + columns:] == SENTINEL).all(), "columns after the view are written"
    got = whole[:, GUARD:GUARD + columns].astype(np.float64)
    want = problem.expected
    untouched = want == SENTINEL
    np.testing.assert_array_equal(got[untouched], want[untouched],
                                  "columns at or beyond the row end are written")
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(want))
    scored = ~untouched & np.isfinite(want)
    assert not (got[scored] == SENTINEL).any(), "columns before the row end are not written"
    for row in range(rows):
        use = scored[row]
        if use.any():
            limit = TOLERANCE * np.abs(want[row, use]).max()
            np.testing.assert_allclose(got[row, use], want[row, use], rtol=0, atol=limit)
    return got


def parametrize(cases):
    return pytest.mark.parametrize("case", cases, ids=str)


def on_all_chips(*variants):
    return [Case(chip, **variant) for chip in CHIPS for variant in variants]


@parametrize(on_all_chips(
    dict(queries=4), dict(queries=4, fill="neg_inf"), dict(page=16, queries=2),
    dict(page=256, queries=2, fill="neg_inf"), dict(page=48, queries=3),
    dict(page=8), dict(page=8, layout="linear", fill="neg_inf"),
    dict(page=1, layout="linear", queries=2), dict(page=2, layout="linear"),
    dict(page=4, layout="linear"), dict(page=32, layout="linear", queries=3),
    dict(page=128, layout="linear"), dict(dim=64, queries=2), dict(dim=256),
    dict(heads=16, queries=8), dict(heads=128, queries=4),
    dict(page=64, row_ends=True, queries=3), dict(page=16, row_ends=True, fill="neg_inf"),
    dict(page=1, layout="linear", token_scales=True),
    dict(page=16, layout="linear", token_scales=True, queries=2),
    dict(page=64, scales_apart=True), dict(page=8, scales_apart=True, fill="neg_inf"),
    dict(heads=32, queries=5), dict(heads=48, queries=6, dim=64), dict(heads=80, queries=7),
    dict(heads=96, dim=256, page=32), dict(heads=112, page=48, layout="linear"),
    dict(heads=128, dim=256, queries=8, page=8, lens=(0, 7, 8, 9, 65))))
def test_shapes(case):
    check(case)


@parametrize([Case(chip, fmt="mxfp4", **variant) for chip in ("gfx950", "gfx1250")
              for variant in (
    dict(queries=4), dict(page=16, fill="neg_inf"), dict(page=8), dict(dim=64, queries=2),
    dict(dim=192), dict(dim=256, layout="linear"), dict(page=1, layout="linear"),
    dict(page=256, heads=128, queries=2), dict(page=32, token_scales=True, layout="linear"),
    dict(query="registers", heads=16), dict(query="memory", row_ends=True))])
def test_mxfp4(case):
    check(case)


@parametrize(on_all_chips(
    dict(lens=(64,), columns=64, table_slack=0), dict(lens=(257,), columns=257, table_slack=0),
    dict(lens=(63, 65), columns=65, table_slack=0, queries=2, fill="neg_inf"),
    dict(lens=(15, 16, 17), page=8, columns=17, table_slack=0),
    dict(lens=(0, 0), columns=5, fill="neg_inf"), dict(lens=(0,), columns=1),
    dict(lens=(2,), queries=4), dict(lens=(255, 256), poison=0x7FFFFFFF, page=256)))
def test_edges(case):
    check(case)


@parametrize(on_all_chips(
    dict(query="registers"), dict(query="lds", queries=2), dict(query="memory", queries=2)))
def test_query_places(case):
    check(case)


@pytest.mark.parametrize("chip", CHIPS)
def test_schedules_are_bit_equal(chip):
    """Splits, chunks, where queries are kept, the order of workgroups and waves,
    the row stride and the address form do not change a bit."""
    base = Case(chip, page=16, queries=2)
    first = check(base)
    variants = [replace(base, splits=1), replace(base, splits=7), replace(base, chunk=16),
                replace(base, chunk=48), replace(base, query="memory"),
                replace(base, column_slack=1000), replace(base, table_slack=0),
                replace(base, table_slack=4096), replace(base, poison=0x7FFFFFFF),
                replace(base, schedule="even"), replace(base, schedule="even", splits=3),
                replace(base, options="force-address-form=global")]
    if chip != "gfx1250":  # two queries of 64 heads take 192 of its 256 registers
        variants.append(replace(base, query="registers"))
    for variant in variants:
        np.testing.assert_array_equal(check(variant), first, str(variant))
    np.testing.assert_array_equal(check(base, ("--seed=7", "--threads=2")), first)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("page", (8, 64))
def test_batch_order_is_bit_equal(chip, page):
    """A sequence has the same logits wherever it stands in the batch."""
    case = Case(chip, queries=2, page=page)
    problem = make(case)
    rows = problem.expected.shape[0]
    first = launch(case, problem).reshape(rows // 2, 2, -1)
    order = np.array([3, 0, 4, 2, 1])
    operands = problem.operands
    for name, each in (("q", 1), ("weights", 2), ("block_table", 1), ("context_lens", 1)):
        operand = operands[name]
        data = operand.data.reshape(len(order), -1)[order].reshape(-1)
        assert operand.shape[0] == each * len(order)
        operands[name] = replace(operand, data=data)
    second = launch(case, problem).reshape(rows // 2, 2, -1)
    np.testing.assert_array_equal(second, first[order])


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("schedule", ("even", "ragged"))
@pytest.mark.parametrize("fill", ("none", "neg_inf"))
def test_no_sequence(chip, schedule, fill):
    """B = 0: the launch has a workgroup, which reads and writes nothing. What the
    operands would hold is there, so that a sequence 0 would be scored."""
    case = Case(chip, lens=(65,), schedule=schedule, fill=fill)
    problem = make(case)
    for name in ("q", "weights", "block_table", "context_lens", "logits"):
        operand = problem.operands[name]
        problem.operands[name] = replace(operand, shape=(0,) + operand.shape[1:])
    _, kernel = kernel_harness.compile_op(problem.mlir, chip, case.options)
    sizes = {"B": 0, "C": problem.expected.shape[1], "W": 1, "num_workers": 1}
    assert [kernel_harness.evaluate(text, sizes) for text in kernel["grid"]] == [1, 1, 1]
    assert (launch(case, problem) == SENTINEL).all()


def run_stats(case: Case) -> dict:
    problem = make(case)
    folder, kernel = kernel_harness.compile_op(problem.mlir, case.chip, case.options)
    result = kernel_harness.run(kernel, folder, problem.operands,
                                scalars={"num_workers": case.splits})
    assert result.status == 0 and result.report["reports"] == [], result.text
    return result.stats


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("queries, place", ((1, "registers"), (4, "lds")))
def test_keys_are_read_once(chip, queries, place):
    """One workgroup and one step for each of its waves: no step is read ahead of
    the end, and one read serves all queries."""
    wave = 32 if chip == "gfx1250" else 64
    tokens = 4 * wave
    case = Case(chip, queries=queries, lens=(tokens,), splits=1, query=place)
    loaded = run_stats(case)["bytes_loaded"]["global"]
    keys = tokens * case.dim
    # A wave reads the queries into its registers, and in every lane their weights,
    # or the workgroup does into LDS. Scales and page ids are 24 bytes for a token.
    readers, lanes = (4, 16) if place == "registers" else (1, 1)
    others = readers * queries * case.heads * (case.dim + 4 * lanes) + 24 * tokens
    assert keys <= loaded <= keys + others


@pytest.mark.parametrize("page, copies", ((1, 0), (4, 0), (8, 4), (16, 2), (32, 1), (48, 2),
                                          (256, 1)))
def test_tensor_copies(page, copies):
    """One copy for each page of a step, cut at the end of the context: no byte of
    a token that no query scores is read. Lanes load pages of fewer than 8 tokens, and
    tokens behind the end from its last page."""
    def run(tokens):
        return run_stats(Case("gfx1250", page=page, layout="linear", lens=(tokens,), splits=1,
                              heads=16))
    before, after = run(257), run(270)
    # 9 steps of 32 tokens.
    assert after["by_mnemonic"].get("tensor_load_to_lds", 0) == 9 * copies
    assert before["by_mnemonic"].get("tensor_load_to_lds", 0) == 9 * copies
    if copies == 0:
        return
    grown = after["bytes_loaded"]["global"] - before["bytes_loaded"]["global"]
    assert grown == 13 * 128


def assemble(source: pathlib.Path, target: pathlib.Path):
    tools = pathlib.Path(os.environ.get("PAGEDATTN_LLVM_BIN", "/usr/lib/llvm-22/bin"))
    subprocess.run([tools / "llvm-mc", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1250",
                    "-filetype=obj", source, "-o", target.with_suffix(".o")], check=True)
    subprocess.run([tools / "ld.lld", "-shared", target.with_suffix(".o"), "-o", target],
                   check=True)


@pytest.mark.parametrize("page, waits", ((8, (4, 0)), (64, (1, 0))))
def test_each_wait_for_keys_matters(page, waits, tmp_path):
    """The kernel with one of its waits weakened reads keys that have not come: the
    emulator lets a copy arrive no sooner than it is waited for."""
    case = Case("gfx1250", page=page, lens=(997,), splits=2)
    problem = make(case)
    made = subprocess.run(
        [kernel_harness.BIN / "pa-compile", "-", "--chip=gfx1250", "-o", tmp_path, "--emit=s"],
        input=problem.mlir, text=True, capture_output=True)
    assert made.returncode == 0, made.stderr
    folder, kernel = kernel_harness.compile_op(problem.mlir, "gfx1250")
    shutil.copytree(folder, tmp_path / "run")
    code = tmp_path / "run" / kernel["file"]
    (source,) = tmp_path.glob("*.s")
    text = source.read_text()

    def run(changed: str):
        source.write_text(changed)
        assemble(source, code)
        return kernel_harness.run(kernel, tmp_path / "run", problem.operands,
                                  scalars={"num_workers": 2})
    assert run(text).report["reports"] == []
    for count in waits:
        wait = f"s_wait_tensorcnt {count:#x}\n"
        assert wait in text
        weaker = text.replace(wait, f"s_wait_tensorcnt {count + 1:#x}\n")
        reports = run(weaker).report["reports"]
        assert any(report["kind"] == "async-not-waited" for report in reports), wait


@pytest.mark.parametrize("chip", CHIPS)
def test_causal_rows_keep_their_end(chip):
    """Interior steps are masked like the last one: with 4 queries the first row
    ends 3 columns before the last, also where a split ends in between."""
    for page, lens in ((128, 129), (256, 257)):
        check(Case(chip, page=page, lens=(lens,), queries=4, splits=2))


@pytest.mark.parametrize("chip", CHIPS)
def test_small_chunk_does_not_overlap(chip):
    """Two splits of a chunk smaller than a step share no column: the emulator's
    schedule cannot change what is written."""
    for schedule in ("even", "ragged"):
        case = Case(chip, page=8, chunk=16, lens=(40,), splits=2, schedule=schedule)
        first = check(case)
        for seed in range(1, 6):
            np.testing.assert_array_equal(check(case, (f"--seed={seed}",)), first)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("fill", ("none", "neg_inf"))
def test_workgroups_take_steps_in_turn(chip, fill):
    """A workgroup of the even schedule goes on behind what the others take: with the
    last step full, short of a column and one column long, alone in it or not, and with
    more workgroups than steps."""
    for splits, lens in ((3, (1535, 1536, 1537)), (2, (1025, 2047)), (9, (1, 257, 512))):
        for queries in (1, 4):
            check(Case(chip, lens=lens, heads=16, queries=queries, splits=splits, fill=fill,
                       schedule="even"))


@pytest.mark.parametrize("chip", CHIPS)
def test_empty_sequences_do_not_end_the_others(chip):
    for schedule in ("even", "ragged"):
        check(Case(chip, lens=(100, 0, 0, 70, 0, 300), schedule=schedule))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("workers", (1, 2, 3, 5, 64))
def test_ragged_batches(chip, workers):
    """More sequences than lanes, most of them empty, one long; as many chunks as
    workgroups, fewer and more. The block table has to be read of no empty one."""
    lens = [0] * 70 + [3000] + [0, 5, 300, 256, 257] * 5
    for fill in ("none", "neg_inf"):
        check(Case(chip, lens=tuple(lens), splits=workers, heads=16, fill=fill, page=16))


FULL_LENS = (0, 1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 997, 3000)


@pytest.mark.long
@parametrize([
    Case(chip, page=page, chunk=chunk, table_slack=slack, queries=queries, heads=heads,
         lens=lens, fill=fill, layout=layout, query="lds")
    for chip, page, chunk, slack, (queries, heads, lens), fill, layout in itertools.product(
        CHIPS, (1, 2, 4, 8, 16, 32, 64, 128, 256), (128, 256), (0, 4096),
        ((1, 32, (997, 63, 1)), (3, 64, (3000, 257, 3, 0))), ("none", "neg_inf"),
        ("linear", "tiled"))
    if chunk % page == 0 and (layout == "linear" or page >= 8)])
def test_full_matrix(case):
    check(case)


@pytest.mark.long
@parametrize([Case(chip, queries=queries, lens=FULL_LENS + (queries - 1, queries), page=page)
              for chip in CHIPS for queries in range(1, 9) for page in (8, 64)])
def test_full_queries(case):
    check(case)
