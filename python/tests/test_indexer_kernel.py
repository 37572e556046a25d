"""pa.indexer compiled for the chips and executed in the emulator: bit-equal to the
top-k of the logits that pa.paged_logits computes on the same chip, and right
against the float64 reference.

Operands are those of test_logits_kernel: permuted pages with spare ones between
them, block tables with poison behind their use. Outputs are views with guard
columns on each side; workspaces are poison before the launch.
"""

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


def random_scores(rng, problem, case):
    """As test_logits_kernel makes them."""


DATA = {f.__name__: f for f in (random_scores,)}


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
