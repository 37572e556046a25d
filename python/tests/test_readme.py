"""The table of README.md that says what works is what the compiler does."""

import itertools
import pathlib
import re

import pytest

import kernel_harness
import test_indexer_kernel
import test_logits_kernel
import test_loops_gemm
import test_topk_kernel
from test_gemm_kernel import without_c_interface

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
CHIPS = ("gfx942", "gfx950", "gfx1250")


def table() -> dict:
    """What the table says, by operator, format and chip."""
    found = {}
    for line in README.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and re.fullmatch(r"`pa\.\w+`", cells[0]):
            for chip, cell in zip(CHIPS, cells[3:]):
                found[cells[0].strip("`"), cells[1].split(",")[0].split(";")[0], chip] = cell
    return found


def logits(chip: str, fmt: str):
    for page, layout in itertools.product((1, 2, 4, 8, 16, 64, 256), ("linear", "tiled")):
        if layout == "linear" or page >= 8:
            yield test_logits_kernel.make(test_logits_kernel.Case(
                chip, page=page, layout=layout, fmt=fmt, lens=(3,))).mlir


def topk(chip: str):
    for k in (1, 4096):
        yield test_topk_kernel.make_mlir(test_topk_kernel.Case(chip, k=k))


def indexer(chip: str, fmt: str):
    for page, layout in ((1, "linear"), (16, "tiled"), (64, "linear")):
        for k in (1, 2048):
            case = test_indexer_kernel.case_of(chip, k=k, page=page, layout=layout, fmt=fmt,
                                               lens=(3,))
            yield test_indexer_kernel.make_mlir(
                case, test_logits_kernel.make(case.scores).mlir)


def gemm(chip: str, formats):
    for fmt in formats:
        scales = [("none", "none")]
        if fmt.startswith("a"):
            scales += [("e8m0_1x32", "e8m0_1x32"), ("e8m0_1x32", "e8m0_32x32"),
                       ("f32_1x128", "f32_128x128"), ("f32_row", "f32_row")]
        for a_scale, b_scale in scales:
            yield without_c_interface(test_loops_gemm.Case(
                "f", fmt=fmt, a_scale=a_scale, b_scale=b_scale))


ROWS = {
    ("pa.paged_logits", "fp8"): lambda chip: logits(chip, "fp8"),
    ("pa.paged_logits", "mxfp4"): lambda chip: logits(chip, "mxfp4"),
    ("pa.topk", "f32"): topk,
    ("pa.indexer", "fp8"): lambda chip: indexer(chip, "fp8"),
    ("pa.indexer", "mxfp4"): lambda chip: indexer(chip, "mxfp4"),
    ("pa.grouped_gemm", "a8w8"): lambda chip: gemm(chip, ("a8w8", "a8w4", "a4w4")),
    ("pa.grouped_gemm", "bf16"): lambda chip: gemm(chip, ("bf16", "f16")),
}


def test_every_row_is_known():
    assert set(table()) == {(*row, chip) for row in ROWS for chip in CHIPS}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_the_table_is_true(row, chip):
    cell = table()[(*row, chip)]
    assert cell.startswith(("yes", "no"))
    for mlir in ROWS[row](chip):
        if cell.startswith("yes"):
            kernel_harness.compile_kernels(mlir, chip)
        else:
            with pytest.raises(RuntimeError, match=f"'{row[0]}' op .*{chip}"):
                kernel_harness.compile_kernels(mlir, chip)
