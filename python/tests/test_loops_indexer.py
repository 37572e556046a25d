"""pa.indexer lowered to loops, against the float64 references of its two halves.
Data are exact in f32, so that ties are ties and the comparison is for equality."""

from dataclasses import dataclass

import numpy as np
import pytest

import loops_harness as loops
import test_loops_logits as logits
from pagedattn import reference

SENTINEL = -77


@dataclass(frozen=True)
class Case:
    scores: logits.Case
    k: int
    order: str = "by_index"
    with_values: bool = True
    columns: int = 90

    @property
    def name(self) -> str:
        return f"indexer_{self.scores.name}_{self.k}_{self.order}_{self.columns + 9}"

    def inputs(self) -> dict:
        arrays = dict(self.scores.operands["arrays"])
        del arrays["logits"]
        return arrays

    def outputs(self) -> dict:
        rows = len(self.scores.lens) * self.scores.queries
        found = {"indices": loops.guarded((rows, self.k), np.int32, SENTINEL)}
        if self.with_values:
            found["top_values"] = loops.guarded(
                (rows, self.k), np.float32, np.float32(SENTINEL)
            )
        return found

    def function(self) -> str:
        inputs = self.inputs()
        arrays = {**inputs, **{n: view for n, (view, _) in self.outputs().items()}}
        types = {
            n: loops.memref_type(
                a, logits.MLIR_TYPES[self.scores.fmt] if n in ("q", "keys") else ""
            )
            for n, a in arrays.items()
        }
        arguments = ", ".join(f"%{n}: {t}" for n, t in types.items())
        uses = " ".join(
            f"{'queries' if n == 'q' else n}(%{n} : {types[n]})" for n in inputs
        )
        outs = ", ".join(f"%{n} : {types[n]}" for n in types if n not in inputs)
        key_format = "mxfp4" if self.scores.fmt == "mxfp4" else "fp8"
        return f"""
func.func @{self.name}({arguments}) attributes {{llvm.emit_c_interface}} {{
  %columns = arith.constant {self.columns} : index
  pa.indexer {uses} columns(%columns) outs({outs})
    {{layout = #pa.layout<{self.scores.layout}>, order = #pa.order<{self.order}>,
     format = #pa.key_format<{key_format}>}}
  return
}}"""

    def expected(self) -> tuple:
        """What the two ops give one after the other."""
        arrays, scores = self.inputs(), self.scores
        rows, columns = len(scores.lens) * scores.queries, max(self.columns, 0)
        values = reference.paged_logits(
            arrays["q"], arrays["keys"], arrays["key_scales"], arrays["weights"],
            arrays["block_table"], scores.lens, np.zeros((rows, columns)),
            query_scales=arrays.get("query_scales"), row_ends=arrays.get("row_ends"),
            layout=scores.layout, fmt=scores.fmt,
        )
        width = arrays["block_table"].shape[1] * scores.page
        limit = np.minimum(scores.lens, min(columns, width)).repeat(scores.queries)
        ends = arrays.get("row_ends")
        if ends is None:
            ends = reference.row_ends(scores.lens, scores.queries)
        ends = np.clip(np.minimum(ends, limit), 0, None)
        return reference.topk(
            values.astype(np.float32), self.k, row_ends=ends, order=self.order
        )


def make_cases():
    for order in ("by_index", "by_value"):
        for page, layout in ((1, "linear"), (16, "tiled"), (64, "linear")):
            scores = logits.Case(f"page_{page}_{layout}", page=page, layout=layout)
            yield Case(scores, 7, order)
            yield Case(scores, 100, order, with_values=order == "by_value")
        yield Case(logits.Case("mxfp4", fmt="mxfp4"), 9, order)
    ends = (76, -1, 7, 0, 90, 2147483647, 75, 1, -2147483648, 33, 32, 34)
    yield Case(logits.Case("ends", row_ends=ends), 5)
    yield Case(logits.Case("ends", row_ends=ends), 80)
    yield Case(logits.Case("columns"), 30, columns=20)
    yield Case(logits.Case("columns"), 3, columns=0)
    yield Case(logits.Case("columns"), 3, columns=-4)
    yield Case(logits.Case("table", table_columns=2), 40)
    yield Case(logits.Case("empty", lens=(0, -3)), 2)
    yield Case(logits.Case("fnuz", fmt="e4m3fnuz", layout="tiled"), 1)


CASES = {case.name: case for case in make_cases()}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    functions = [case.function() for case in CASES.values()]
    return loops.compile_functions(functions, tmp_path_factory.mktemp("indexer"))


@pytest.mark.parametrize("name", CASES)
def test_loops(library, name):
    case = CASES[name]
    outputs = case.outputs()
    views = [view for view, _ in outputs.values()]
    loops.call(library, name, [*case.inputs().values(), *views])
    for view, want in zip(views, case.expected()):
        np.testing.assert_array_equal(view, want)
    for view, whole in outputs.values():
        loops.assert_guards_intact(view, whole, SENTINEL)
