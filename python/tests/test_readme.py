"""The table of README.md that says what works, and the limits behind it, are what the compiler
does: numbers and words are taken from the text, what they allow compiles, the next number is
refused."""

import pathlib
import re
import subprocess

import pytest

import kernel_harness
import test_indexer_kernel
import test_logits_kernel
import test_loops_gemm
import test_topk_kernel
from test_gemm_kernel import without_c_interface

README = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()
CHIPS = ("gfx942", "gfx950", "gfx1250")
FLAVOURS = {"e4m3fn": "f8E4M3FN", "e4m3fnuz": "f8E4M3FNUZ"}
GEMM_SCALES = {
    "E8M0": [("e8m0_1x32", "e8m0_1x32"), ("e8m0_1x32", "e8m0_32x32")],
    "f32 block": [("f32_1x128", "f32_128x128"), ("f32_1x128", "none")],
    "f32 row": [("f32_row", "f32_row")],
    "no": [("none", "none")],
}


def table(text):
    """Cells (formats, loops, chip...) by operator and first format."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and re.fullmatch(r"`pa\.\w+`", cells[0]):
            found[cells[0].strip("`"), re.match(r"\w+", cells[1])[0]] = cells[1:]
    return found


def limits(text):
    """What is said of paged logits and top-k, by name."""
    (line,) = re.findall(r"\* N \(query rows.*?k up to \d+", text, re.DOTALL)
    line = line.replace("\n ", "")
    n, heads, dim, page, k = re.search(
        r"1 to (\d+), H a multiple of 16 up to (\d+), D a multiple of 64 up to (\d+), pages of 1 to "
        r"(\d+) tokens that divide 16 or are a multiple of 16, tiled ones of 8 or more; "
        r"k up to (\d+)", line).groups()
    return dict(queries=int(n), heads=int(heads), dim=int(dim), page=int(page), k=int(k))


def logits_mlir(chip, **changes):
    return test_logits_kernel.make(test_logits_kernel.Case(chip, lens=(3,), **changes)).mlir


def works(op, mlir, chip, is_wanted=True):
    """Compiles, or is an error on the op that names what is wrong."""
    if is_wanted:
        kernel_harness.compile_kernels(mlir, chip)
        return
    with pytest.raises(RuntimeError, match=f"'{op}' op "):
        kernel_harness.compile_kernels(mlir, chip)


def opt(mlir, *passes):
    return subprocess.run([kernel_harness.BIN / "pa-opt", *passes], input=mlir, text=True,
                          capture_output=True, check=True).stdout


def check_logits(formats, chip, cell):
    fmt = re.match(r"\w+", formats)[0]
    first, last, first_tiled, last_tiled = map(int, re.search(
        r"linear pages of (\d+) to (\d+) tokens, tiled ones of (\d+) to (\d+)", formats).groups())
    assert last == last_tiled
    is_wanted = cell.startswith("yes")
    pages = [p for p in (1, 4, 8, 48) if first <= p < last] + [last]
    for page in pages if is_wanted else [64]:
        for layout, least in (("linear", first), ("tiled", first_tiled)):
            works("pa.paged_logits", logits_mlir(chip, page=page, layout=layout, fmt=fmt), chip,
                  is_wanted and page >= least)
    works("pa.paged_logits", logits_mlir(chip, page=(last // 16 + 1) * 16, fmt=fmt), chip, False)
    flavour = re.search(r"\((\w+)\)", cell)
    assert bool(flavour) == (fmt == "fp8")
    if flavour:
        mlir = re.sub(r"f8E4M3FN(UZ)?", FLAVOURS[flavour[1]], logits_mlir(chip))
        works("pa.paged_logits", mlir, chip)
        (other,) = set(FLAVOURS) - {flavour[1]}
        works("pa.paged_logits", re.sub(r"f8E4M3FN(UZ)?\b", FLAVOURS[other], mlir), chip, False)
    return logits_mlir(chip, fmt=fmt)


def check_topk(formats, chip, cell):
    last = int(re.fullmatch(r"f32, k up to (\d+)", formats)[1])
    for k in (1, last, last + 1):
        works("pa.topk", test_topk_kernel.make_mlir(test_topk_kernel.Case(chip, k=k)), chip,
              k <= last and cell.startswith("yes"))
    return test_topk_kernel.make_mlir(test_topk_kernel.Case(chip, k=5))


def indexer_mlir(chip, **changes):
    case = test_indexer_kernel.case_of(chip, lens=(3,), **changes)
    return test_indexer_kernel.make_mlir(case, test_logits_kernel.make(case.scores).mlir)


def check_indexer(formats, chip, cell):
    fmt = re.match(r"\w+", formats)[0]
    is_wanted = cell.startswith("yes")
    for page, layout, k in ((1, "linear", 1), (16, "tiled", 2048), (256, "linear", 512)):
        works("pa.indexer", indexer_mlir(chip, page=page, layout=layout, k=k, fmt=fmt), chip,
              is_wanted)
    flavour = re.search(r"\((\w+)\)", cell)
    assert bool(flavour) == (fmt == "fp8")
    if flavour:
        assert FLAVOURS[flavour[1]] + "," in indexer_mlir(chip)
    return indexer_mlir(chip, fmt=fmt)


def gemm_mlir(fmt, a_scale, b_scale, **changes):
    return without_c_interface(test_loops_gemm.Case(
        "f", fmt=fmt, a_scale=a_scale, b_scale=b_scale, **changes))


def mma_of(mlir, chip):
    text = opt(mlir, f"--pa-set-target=chip={chip}", "--pa-configure")
    return re.search(r"mma = (\w+)", text)[1]


def check_gemm(formats, chip, cell):
    names, _, scales = formats.partition("; ")
    kinds = [("none", "none")]
    if scales:
        words = re.split(r", | or ", scales.replace(" scales", ""))
        assert sorted(words) == sorted(GEMM_SCALES)
        kinds = [kind for word in words for kind in GEMM_SCALES[word]]
    for fmt in names.split(", "):
        # Blocks of several rows with the first format only.
        for kind in kinds if fmt == "a8w8" else [k for k in kinds if not k[1].startswith("e8m0_32")]:
            works("pa.grouped_gemm", gemm_mlir(fmt, *kind), chip, cell.startswith("yes"))
    if "exact conversion to bf16" in cell:
        assert mma_of(gemm_mlir("a8w8", "e8m0_1x32", "e8m0_1x32"), chip).endswith("bf16")
        assert "e4m3fnuz with f32 scales as fp8" in cell
        assert mma_of(gemm_mlir("a8w8", "f32_row", "f32_row", fp8="e4m3fnuz"), chip).endswith("fp8_fnuz")
    elif "a8w8" in names:
        assert "fp8" in mma_of(gemm_mlir("a8w8", "e8m0_1x32", "e8m0_1x32"), chip)
    return gemm_mlir(names.split(", ")[0], "none", "none")


ROWS = {
    ("pa.paged_logits", "fp8"): check_logits,
    ("pa.paged_logits", "mxfp4"): check_logits,
    ("pa.topk", "f32"): check_topk,
    ("pa.indexer", "fp8"): check_indexer,
    ("pa.indexer", "mxfp4"): check_indexer,
    ("pa.grouped_gemm", "a8w8"): check_gemm,
    ("pa.grouped_gemm", "bf16"): check_gemm,
}


def check_row(text, row, chip):
    formats, loops, *cells = table(text)[row]
    cell = cells[CHIPS.index(chip)]
    assert cell.startswith(("yes", "no")) and loops in ("yes", "no")
    mlir = ROWS[row](formats, chip, cell)
    assert (f"{row[0]} " not in opt(mlir, "--pa-lower-to-loops")) == (loops == "yes")


def test_every_row_is_known():
    assert set(table(README)) == set(ROWS)
    (head,) = [line for line in README.splitlines() if line.startswith("| op | format |")]
    assert [cell.strip() for cell in head.strip("|").split("|")][3:] == list(CHIPS)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_the_table_is_true(row, chip):
    check_row(README, row, chip)


@pytest.mark.parametrize("row, chip, true, false", [
    (("pa.paged_logits", "fp8"), "gfx950", "1 to 256 tokens", "1 to 512 tokens"),
    (("pa.paged_logits", "fp8"), "gfx950", "1 to 256 tokens", "1 to 128 tokens"),
    (("pa.paged_logits", "fp8"), "gfx950", "tiled ones of 8", "tiled ones of 4"),
    (("pa.paged_logits", "fp8"), "gfx942", "yes (e4m3fnuz)", "yes (e4m3fn)"),
    (("pa.paged_logits", "mxfp4"), "gfx942", "| no |", "| yes |"),
    (("pa.paged_logits", "mxfp4"), "gfx1250", "| yes |", "| no |"),
    (("pa.topk", "f32"), "gfx942", "f32, k up to 4096", "f32, k up to 4097"),
    (("pa.topk", "f32"), "gfx942", "f32, k up to 4096", "f32, k up to 4000"),
    (("pa.topk", "f32"), "gfx950", "| yes |", "| no |"),
    (("pa.grouped_gemm", "a8w8"), "gfx950", "E8M0, ", "E4M3, "),
    (("pa.grouped_gemm", "a8w8"), "gfx950", "| yes | yes, by", "| no | yes, by"),
    (("pa.grouped_gemm", "bf16"), "gfx950", "| yes | yes | yes", "| yes | yes | no"),
])
def test_a_table_that_lies_fails(row, chip, true, false):
    lines = [line.replace(true, false) if line.startswith(f"| `{row[0]}` | {row[1]}") else line
             for line in README.splitlines()]
    assert "\n".join(lines) != README.rstrip("\n")
    with pytest.raises(BaseException) as info:
        check_row("\n".join(lines), row, chip)
    assert isinstance(info.value, (AssertionError, RuntimeError, pytest.fail.Exception))


def test_the_limits_are_true():
    largest = limits(README)
    k = largest.pop("k")
    step = dict(queries=1, heads=16, dim=64, page=16)
    wrong = dict(heads=(24,), dim=(96,), page=(3, 24))
    for name, most in largest.items():
        works("pa.paged_logits", logits_mlir("gfx950", **{name: most}), "gfx950")
        for value in [most + step[name], *wrong.get(name, ())]:
            works("pa.paged_logits", logits_mlir("gfx950", layout="linear", **{name: value}), "gfx950",
                  False)
    assert f"f32, k up to {k}" == table(README)["pa.topk", "f32"][0]
    for row in ("fp8", "mxfp4"):
        assert f"1 to {largest['page']} tokens" in table(README)["pa.paged_logits", row][0]
