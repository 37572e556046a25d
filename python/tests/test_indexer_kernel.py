"""pa.indexer compiled for the chips and executed in the emulator: bit-equal to the
top-k of the logits that pa.paged_logits computes on the same chip, and right
against the float64 reference.

Operands are those of test_logits_kernel: permuted pages with spare ones between
them, block tables with poison behind their use. Outputs are views with guard
columns on each side; workspaces are poison before the launch.
"""

import pathlib
import re
from dataclasses import dataclass, field, replace
from typing import Optional

import numpy as np
import pytest

import kernel_harness
import test_logits_kernel as logits_kernel
from kernel_harness import Operand
from pagedattn import formats, reference

CHIPS = logits_kernel.CHIPS
SENTINEL = np.int32(-77)
GUARD = 5
NAMES = ("mma", "waves", "steps", "query", "rows", "candidates", "splits")
MMAS = {("gfx942", "fp8"): "mfma_f32_16x16x32_fp8_fnuz",
        ("gfx950", "fp8"): "mfma_f32_16x16x128_fp8",
        ("gfx1250", "fp8"): "wmma_f32_16x16x128_fp8",
        ("gfx950", "mxfp4"): "mfma_scale_f32_16x16x128_fp4",
        ("gfx1250", "mxfp4"): "wmma_scale_f32_16x16x128_fp4"}


@dataclass(frozen=True)
class Case:
    scores: logits_kernel.Case
    k: int = 64
    order: str = "by_index"
    values: bool = True
    data: str = "random_scores"
    # waves, steps, query, rows, candidates, splits
    config: Optional[tuple] = None
    columns: Optional[int] = None
    options: str = ""

    @property
    def chip(self):
        return self.scores.chip

    def __str__(self):
        changed = [f"{n}={v}" for n, v in vars(self).items()
                   if n != "scores" and v != getattr(Case(self.scores), n)]
        return " ".join([str(self.scores)] + changed).replace(", ", ",")


def case_of(chip, k=64, order="by_index", values=True, data="random_scores", config=None,
            options="", **scores) -> Case:
    return Case(logits_kernel.Case(chip, **scores), k, order, values, data, config,
                options=options)


def make_mlir(case: Case, text: str) -> str:
    """The indexer of the operands of the logits op in `text`."""
    args, uses, attrs = re.fullmatch(
        r"func\.func @f\((.*), %outs: .*?\) \{ pa\.paged_logits (.*) outs\(.*?\) "
        r"\{(.*)\} return \}", text).groups()
    attrs = [a for a in attrs.split(", ") if re.match("layout|format", a)]
    attrs.append(f"order = #pa.order<{case.order}>")
    if case.config:
        mma = MMAS[case.chip, case.scores.fmt]
        attrs.append("config = #pa.indexer_config<" + ", ".join(
            f"{n} = {v}" for n, v in zip(NAMES, (mma,) + case.config)) + ">")
    out = "strided<[?, 1], offset: ?>"
    types = {"indices": f"memref<?x{case.k}xi32, {out}>"}
    if case.values:
        types["top_values"] = f"memref<?x{case.k}xf32, {out}>"
    outs = "".join(f", %{n}: {t}" for n, t in types.items())
    results = ", ".join(f"%{n} : {t}" for n, t in types.items())
    return (f"func.func @f({args}, %columns: index{outs}) {{ pa.indexer {uses} "
            f"columns(%columns) outs({results}) {{{', '.join(attrs)}}} return }}")


def output(rows: int, k: int, dtype) -> Operand:
    data = np.full((rows, k + 2 * GUARD), SENTINEL, np.int32).astype(dtype)
    return Operand(data.reshape(-1).view(np.uint8), (rows, k), (k + 2 * GUARD, 1), 4 * GUARD,
                   is_output=True)


def view(operand: Operand, dtype) -> np.ndarray:
    """The elements of an operand, to be changed in place."""
    size = np.dtype(dtype).itemsize
    data = operand.data[operand.offset:]
    data = data[:data.size // size * size].view(dtype)
    return np.lib.stride_tricks.as_strided(data, operand.shape,
                                           tuple(s * size for s in operand.strides))


def equal_keys(problem, case) -> np.ndarray:
    """All keys and queries the same, so that a score is its scale times a number of
    the row; returns the scales."""
    view(problem.operands["keys"], np.uint8)[...] = 0x38
    view(problem.operands["q"], np.uint8)[...] = 0x38
    return view(problem.operands["key_scales"], np.float32)


def scale_columns(problem, case, values):
    """Gives column c of every sequence the scale ``values[c]``, keys being equal."""
    scales = equal_keys(problem, case)
    view(problem.operands["weights"], np.float32)[...] = 0.25
    table, page = view(problem.operands["block_table"], np.int32), case.scores.page
    for b, length in enumerate(case.scores.lens):
        column = np.arange(length)
        scales[table[b, column // page], column % page] = values[:length]


def random_scores(rng, problem, case):
    """As test_logits_kernel makes them."""


def all_equal(rng, problem, case):
    equal_keys(problem, case)[...] = 0.5


def narrow_range(rng, problem, case):
    scales = equal_keys(problem, case)
    scales[...] = (0x3F800000 + rng.integers(0, 700, scales.shape)).astype(np.uint32).view(
        np.float32)


def zeros_of_both_signs(rng, problem, case):
    view(problem.operands["key_scales"], np.float32)[...] = 0.0


def special_scales(rng, problem, case):
    """NaN of both signs and several payloads, infinities, subnormals, zeros."""
    scales = view(problem.operands["key_scales"], np.float32)
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7F800000, 0x00000001,
                     0x00000000, 0x3F800000, 0x7F7FFFFF], np.uint32)
    scales[...] = np.where(rng.random(scales.shape) < 0.5, rng.choice(bits, scales.shape).view(
        np.float32), scales)


def mostly_nan(rng, problem, case):
    scales = view(problem.operands["key_scales"], np.float32)
    scales[rng.random(scales.shape) < 0.95] = np.nan


def minus_infinities(rng, problem, case):
    equal_keys(problem, case)[...] = np.inf
    view(problem.operands["weights"], np.float32)[...] = -0.5


def all_negative(rng, problem, case):
    weights = view(problem.operands["weights"], np.float32)
    weights[...] = -np.abs(weights)


def ascending(rng, problem, case):
    """Each column is better than all before, so that each is kept at first."""
    most = max(case.scores.lens)
    scale_columns(problem, case, (np.arange(most) + 1) / np.float32(4096))


def descending(rng, problem, case):
    most = max(case.scores.lens)
    scale_columns(problem, case, (most - np.arange(most)) / np.float32(4096))


def plateaus(rng, problem, case):
    """Ascending steps of many equal columns."""
    most = max(case.scores.lens)
    scale_columns(problem, case, (np.arange(most) // 300 + 1) / np.float32(64))


DATA = {f.__name__: f for f in (
    random_scores, all_equal, narrow_range, zeros_of_both_signs, special_scales, mostly_nan,
    minus_infinities, all_negative, ascending, descending, plateaus)}


def ends_of(case: Case, problem) -> np.ndarray:
    """Where the rows end."""
    scores = case.scores
    columns = problem.expected.shape[1]
    lens = np.asarray(scores.lens)
    table = problem.operands["block_table"].shape[1] * scores.page
    limits = np.minimum(lens, min(columns, table)).repeat(scores.queries)
    if scores.row_ends:
        ends = problem.operands["row_ends"].data.view(np.int32).astype(np.int64)
    else:
        ends = reference.row_ends(scores.lens, scores.queries)
    return np.clip(ends, 0, limits)


def launch(case: Case, problem, run_options=()):
    """Indices and values, the statistics of the launches, and their kernels."""
    rows, columns = problem.expected.shape
    operands = {n: o for n, o in problem.operands.items() if n != "logits"}
    operands["indices"] = output(rows, case.k, np.int32)
    operands["top_values"] = output(rows, case.k, np.float32)
    folder, kernels = kernel_harness.compile_kernels(
        make_mlir(case, problem.mlir), case.chip, case.options)
    for kernel in kernels:
        assert kernel["spills"] == {"vgprs": 0, "sgprs": 0}, kernel["symbol"]
        assert kernel["scratch_bytes"] == 0
    result = kernel_harness.run_all(kernels, folder, operands, options=run_options,
                                    scalars={"columns": columns})
    assert result.status == 0, result.text
    assert result.report["reports"] == [], result.text
    found = {}
    for name, dtype in (("indices", np.int32), ("top_values", np.float32)):
        if name == "top_values" and not case.values:
            continue
        whole = result.outputs[name].view(dtype).reshape(rows, -1)
        guards = np.concatenate([whole[:, :GUARD], whole[:, GUARD + case.k:]], axis=1)
        assert (guards == SENTINEL).all(), f"{name}: columns outside the view are written"
        found[name] = whole[:, GUARD:GUARD + case.k]
    return found["indices"], found.get("top_values"), result.stats, kernels


def check_scores(indices, ends, k, expected):
    """The float64 scores of what is selected are the best ones, up to rounding."""
    for row, (found, end) in enumerate(zip(indices, ends)):
        count = min(k, end)
        assert (found[count:] == -1).all() and (found[:count] >= 0).all()
        if count == 0:
            continue
        scores = expected[row, :end]
        best = np.sort(scores)[end - count:]
        np.testing.assert_allclose(np.sort(scores[found[:count]]), best, rtol=0,
                                   atol=logits_kernel.TOLERANCE * np.abs(scores).max())


def check(case: Case, run_options=()):
    problem = logits_kernel.make(case.scores)
    DATA[case.data](np.random.default_rng(case.scores.seed), problem, case)
    whole = logits_kernel.launch(case.scores, problem)
    columns = problem.expected.shape[1]
    logits = np.ascontiguousarray(
        whole[:, logits_kernel.GUARD:logits_kernel.GUARD + columns])
    ends = ends_of(case, problem)
    indices, values, stats, kernels = launch(case, problem, run_options)
    want, best = reference.topk(logits, case.k, row_ends=ends, order=case.order)
    np.testing.assert_array_equal(indices, want)
    if case.data == "random_scores":
        check_scores(indices, ends, case.k, problem.expected)
    if values is not None:
        np.testing.assert_array_equal(values.view(np.uint32), best.view(np.uint32))
    return indices, values, stats, kernels


def parametrize(cases):
    return pytest.mark.parametrize("case", cases, ids=str)


def on_all_chips(*variants):
    return [case_of(chip, **variant) for chip in CHIPS for variant in variants]


@parametrize(on_all_chips(
    dict(), dict(queries=4), dict(page=16, queries=2, order="by_value"),
    dict(page=256, queries=2, k=17), dict(page=48, queries=3, k=500), dict(page=8),
    dict(page=1, layout="linear", queries=2), dict(page=4, layout="linear", order="by_value"),
    dict(page=32, layout="linear", queries=3), dict(dim=64, queries=2, k=1),
    dict(dim=256, values=False), dict(heads=16, queries=8, k=1000),
    dict(heads=128, queries=4, k=2048), dict(page=64, row_ends=True, queries=3),
    dict(page=1, layout="linear", token_scales=True), dict(page=64, scales_apart=True),
    dict(heads=32, queries=5, k=2048, lens=(5000, 0, 2049)),
    dict(lens=(2,), queries=4), dict(lens=(0, 0), columns=5), dict(lens=(0,), columns=1),
    dict(lens=(300, 700), columns=257, queries=2),
    dict(lens=(15, 16, 17), page=8, columns=17, table_slack=0)))
def test_shapes(case):
    check(case)


@parametrize([case_of(chip, fmt="mxfp4", **variant) for chip in ("gfx950", "gfx1250")
              for variant in (
    dict(queries=4), dict(page=16), dict(page=8, k=300), dict(dim=192),
    dict(dim=256, layout="linear"), dict(page=1, layout="linear"),
    dict(page=32, token_scales=True, layout="linear"))])
def test_mxfp4(case):
    check(case)


@parametrize(on_all_chips(
    dict(k=64, config=(4, 1, "registers", 1, 512, 1), lens=(3000,)),
    dict(k=64, config=(8, 2, "registers", 1, 1088, 3), lens=(9000, 100, 0)),
    dict(k=64, config=(2, 4, "lds", 1, 600, 4), lens=(3000, 1, 512), queries=3),
    dict(k=100, config=(2, 1, "lds", 2, 300, 1), lens=(3000, 1, 512), queries=3),
    dict(k=100, config=(1, 1, "memory", 2, 165, 2), lens=(3000, 1, 512), queries=2),
    dict(k=300, config=(8, 1, "lds", 3, 900, 1), lens=(3000, 1, 512), queries=5,
         order="by_value")))
def test_configs(case):
    check(case)


# Few candidates beside k, so that they are dropped often.
SMALL = dict(k=96, config=(4, 1, "registers", 1, 512, 1))


@parametrize(on_all_chips(*(
    [dict(SMALL, lens=(3000, 77), page=16, data=data) for data in DATA]
    + [dict(k=48, lens=(5000, 40, 0), data=data, order="by_value",
            config=(8, 1, "registers", 1, 700, 3))
       for data in ("special_scales", "all_equal", "ascending", "zeros_of_both_signs",
                    "mostly_nan", "plateaus")])))
def test_data(case):
    check(case)


@parametrize(on_all_chips(
    dict(k=1, lens=(3000, 1), data="all_equal"), dict(k=1, lens=(3000,), data="ascending"),
    dict(k=2048, lens=(6000, 2048, 2049, 2047), data="plateaus"),
    dict(k=2048, lens=(9000,), queries=2, data="special_scales", order="by_value"),
    dict(k=2048, lens=(9000,), data="ascending"),
    dict(k=4096, lens=(9000, 4097), order="by_value")))
def test_k(case):
    check(case)


@pytest.mark.parametrize("chip", CHIPS)
def test_schedules_are_bit_equal(chip):
    """The order of workgroups and waves does not change a bit, and neither do the
    splits, the rows of a workgroup and the candidates that it keeps."""
    base = case_of(chip, k=40, queries=3, lens=(2500, 600, 1), page=16, data="special_scales",
                   config=(4, 1, "lds", 3, 400, 1))
    first = check(base)
    problem = logits_kernel.make(base.scores)
    DATA[base.data](np.random.default_rng(base.scores.seed), problem, base)
    for seed in range(20):
        found = launch(base, problem, (f"--seed={seed}", "--threads=2"))
        for one, other in zip(first[:2], found[:2]):
            np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))
    for config in ((4, 1, "lds", 2, 400, 5), (8, 2, "memory", 1, 2000, 2), (1, 4, "lds", 3, 300, 1),
                   (4, 1, "lds", 3, 32768 // 8, 9)):
        if fits_lds(chip, config):
            found = launch(replace(base, config=config), problem)
            for one, other in zip(first[:2], found[:2]):
                np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


def fits_lds(chip, config):
    """gfx942 has 64 KiB of LDS."""
    return chip != "gfx942" or config[3] * config[4] * 8 < 49152


@pytest.mark.parametrize("chip", CHIPS)
def test_memory_traffic(chip):
    """One workgroup for a sequence writes the results and nothing else, and reads each
    key once; splits write and read their candidates, less than a tenth of what the
    logits would take."""
    batch, context, k = 2, 8192, 64
    scores = dict(lens=(context,) * batch, columns=context, table_slack=0)
    problem = logits_kernel.make(logits_kernel.Case(chip, **scores))
    tokens = batch * context
    # A page id is one address for all lanes, which counts for each of them, and a
    # wave loads its queries itself where LDS has no room for them.
    most = tokens * (128 + 4 + 4) + batch * 8 * 2 * 64 * (128 + 4)
    results = batch * k * 4
    whole = case_of(chip, k=k, values=False, config=(8, 2, "registers", 1, 4096, 1), **scores)
    stats = launch(whole, problem)[2]
    assert stats["bytes_stored"]["global"] == results
    assert tokens * 132 <= stats["bytes_loaded"]["global"] <= most
    split = replace(whole, config=(8, 2, "registers", 1, 4096, 2))
    stats = launch(split, problem)[2]
    found = stats["bytes_stored"]["global"] - results
    assert found == batch * 2 * (8 * k + 4)
    assert 2 * found < 0.1 * tokens * 8


@pytest.mark.parametrize("chip", ("gfx950", "gfx1250"))
def test_addresses_of_the_example(chip):
    """GLM-5.2 with its own sizes: no access needs more than a rebase."""
    example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "glm52_indexer_fused.mlir"
    _, (kernel,) = kernel_harness.compile_kernels(example.read_text(), chip)
    assert kernel["op"] == "pa.indexer" and kernel["workspaces"] == {}
    assert {a["form"] for a in kernel["accesses"]} <= {"narrow", "rebase"}
