"""pa.topk compiled for the chips and executed in the emulator, bit-exact against
the reference.

Values are a view into an allocation that ends with the last column of the last
row, with odd row strides; what lies outside the range of a row is poison that
would be selected. Outputs are views with guard columns on each side.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np
import pytest

import kernel_harness
from kernel_harness import Operand
from pagedattn import reference

CHIPS = ("gfx942", "gfx950", "gfx1250")
SENTINEL = np.int32(-77)
GUARD = 5
# One workgroup for each row, as pa-configure has it for many long rows.
ONE_GROUP = (8, 8, 4608, 1)
POISON = np.float32(np.inf)


def random_values(rng, shape, k):
    return rng.standard_normal(shape, dtype=np.float32)


def low_mantissa_bits(rng, shape, k):
    """Only the low ten bits differ."""
    return (0x40490000 | rng.integers(0, 1024, shape, dtype=np.uint32)).view(np.float32)


def narrow_range(rng, shape, k):
    return rng.uniform(1.0, 1.245, shape).astype(np.float32)


def around_two(rng, shape, k):
    """The best half of a narrow range begins with another byte than the rest."""
    return rng.uniform(1.99, 2.01, shape).astype(np.float32)


def all_equal(rng, shape, k):
    return np.full(shape, 2.5, np.float32)


def repeated_kth(rng, shape, k):
    """About k columns of one value, and half as many above it."""
    values = rng.uniform(-1.0, 0.0, shape).astype(np.float32)
    for row in values:
        row[rng.permutation(row.size)[:k + 3]] = 0.5
        row[rng.permutation(row.size)[:k // 2]] = rng.uniform(1.0, 2.0, min(k // 2, row.size))
    return values


def zeros_of_both_signs(rng, shape, k):
    return np.where(rng.random(shape) < 0.5, np.float32(0.0), np.float32(-0.0))


def special_values(rng, shape, k):
    """NaN of both signs and of several payloads, zeros of both signs, infinities,
    subnormals and a few ordinary numbers."""
    bits = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7FFFFFFF]
    bits += [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x00000001]
    bits += [0x80000001, 0x3F800000, 0xBF800000, 0x007FFFFF]
    return rng.choice(np.array(bits, np.uint32), shape).view(np.float32)


def mostly_nan(rng, shape, k):
    """Fewer numbers than k in some rows."""
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32)
    values = rng.choice(bits, shape).view(np.float32)
    is_number = rng.random(shape) < k / (1.5 * shape[1])
    return np.where(is_number, rng.standard_normal(shape, dtype=np.float32), values)


def minus_infinities(rng, shape, k):
    return np.full(shape, -np.inf, np.float32)


def ascending(rng, shape, k):
    return np.broadcast_to(np.arange(shape[1], dtype=np.float32), shape).copy()


def peak(rng, shape, k):
    """The best columns close together, as attention logits have them."""
    x = np.linspace(-30.0, 30.0, shape[1], dtype=np.float32)
    return (-x * x + rng.standard_normal(shape, dtype=np.float32)).astype(np.float32)


DATA = {f.__name__: f for f in (
    random_values, low_mantissa_bits, narrow_range, around_two, all_equal, repeated_kth,
    zeros_of_both_signs, special_values, mostly_nan, minus_infinities, ascending, peak)}


@dataclass(frozen=True)
class Case:
    chip: str
    k: int = 512
    lens: tuple = (0, 1, 8, 511, 512, 513, 1024)
    data: str = "random_values"
    order: str = "by_index"
    starts: Optional[tuple] = None
    values: bool = False
    ends: bool = True
    # Row ends from context lengths in place of `lens`, with that many queries.
    contexts: Optional[tuple] = None
    next_n: int = 1
    columns: Optional[int] = None
    config: Optional[tuple] = None
    row_slack: int = 7
    options: str = ""
    seed: int = 0

    def __str__(self):
        changed = [f"{k}={v}" for k, v in vars(self).items()
                   if v != getattr(Case(self.chip), k)]
        return " ".join([self.chip] + changed).replace(", ", ",")


def make_mlir(case: Case) -> str:
    wide = "memref<?x?xf32, strided<[?, 1]>>"
    t = {"values": wide, "row_starts": "memref<?xi32>", "row_ends": "memref<?xi32>",
         "context_lens": "memref<?xi32>",
         "indices": f"memref<?x{case.k}xi32, strided<[?, 1], offset: ?>>",
         "top_values": f"memref<?x{case.k}xf32, strided<[?, 1], offset: ?>>"}
    inputs = ["values"] + ["row_starts"] * bool(case.starts)
    if case.contexts:
        inputs += ["context_lens"]
    elif case.ends:
        inputs += ["row_ends"]
    outs = ["indices"] + ["top_values"] * case.values
    attrs = [f"order = #pa.order<{case.order}>"]
    if case.contexts:
        attrs.append(f"next_n = {case.next_n} : i64")
    if case.config:
        names = ("waves", "loads", "candidates", "splits")
        attrs.append("config = #pa.topk_config<"
                     + ", ".join(f"{n} = {v}" for n, v in zip(names, case.config)) + ">")
    args = ", ".join(f"%{n}: {t[n]}" for n in inputs + outs)
    uses = " ".join(f"{n}(%{n} : {t[n]})" for n in inputs)
    results = ", ".join(f"%{n} : {t[n]}" for n in outs)
    return (f"func.func @f({args}) {{ pa.topk {uses} outs({results}) "
            f"{{{', '.join(attrs)}}} return }}")


def make(case: Case) -> tuple:
    """The operands, and what must come out."""
    rng = np.random.default_rng(case.seed)
    rows = len(case.contexts) * case.next_n if case.contexts else len(case.lens)
    starts = np.array(case.starts or (0,) * rows, np.int32)
    ends = starts + np.array(case.lens if not case.contexts else 0, np.int32)
    if case.contexts:
        ends = reference.row_ends(case.contexts, case.next_n, limit=case.columns)
    columns = case.columns or max(1, int(ends.max()))
    if not case.ends:
        ends = np.full(rows, columns, np.int32)
    values = DATA[case.data](rng, (rows, columns), case.k)
    column = np.arange(columns)
    outside = (column < starts[:, None]) | (column >= ends[:, None])
    values[outside] = POISON
    stride = columns + case.row_slack
    whole = np.full(rows * stride - case.row_slack, POISON)
    for row in range(rows):
        whole[row * stride:row * stride + columns] = values[row]
    # Nothing may be read from here on, so that it is not there.
    last = (rows - 1) * stride + max(int(min(ends[-1], columns)), 1)
    whole = whole[:last]

    def output(dtype, fill):
        data = np.full((rows, case.k + 2 * GUARD), fill, dtype)
        return Operand(data.reshape(-1).view(np.uint8), (rows, case.k),
                       (case.k + 2 * GUARD, 1), 4 * GUARD, is_output=True)

    operands = {"values": Operand(whole.view(np.uint8), (rows, columns), (stride, 1)),
                "row_starts": Operand.of(starts), "row_ends": Operand.of(ends),
                "context_lens": Operand.of(np.array(case.contexts or (), np.int32)),
                "indices": output(np.int32, SENTINEL),
                "top_values": output(np.float32, np.float32(SENTINEL))}
    expected = reference.topk(values, case.k, row_starts=starts, row_ends=ends,
                              order=case.order)
    return operands, expected


def check(case: Case, run_options=()) -> np.ndarray:
    return launch(case, *make(case), run_options)


def launch(case: Case, operands: dict, expected: tuple, run_options=()) -> np.ndarray:
    indices, best = expected
    folder, kernels = kernel_harness.compile_kernels(make_mlir(case), case.chip, case.options)
    for kernel in kernels:
        assert kernel["spills"] == {"vgprs": 0, "sgprs": 0}
        assert kernel["scratch_bytes"] == 0
    result = kernel_harness.run_all(kernels, folder, operands, options=run_options)
    assert result.status == 0, result.text
    assert result.report["reports"] == [], result.text

    def output(name, want, fill):
        whole = result.outputs[name].view(want.dtype).reshape(len(want), -1)
        guards = np.concatenate([whole[:, :GUARD], whole[:, GUARD + case.k:]], axis=1)
        assert (guards == fill).all(), f"{name}: columns outside the view are written"
        return whole[:, GUARD:GUARD + case.k]

    got = output("indices", indices, SENTINEL)
    np.testing.assert_array_equal(got, indices)
    if case.values:
        got_values = output("top_values", best, np.float32(SENTINEL))
        np.testing.assert_array_equal(got_values.view(np.uint32), best.view(np.uint32))
    return got


def parametrize(cases):
    return pytest.mark.parametrize("case", cases, ids=str)


def on_all_chips(*variants):
    return [Case(chip, **variant) for chip in CHIPS for variant in variants]


@parametrize(on_all_chips(
    dict(), dict(order="by_value", values=True), dict(k=1, lens=(0, 1, 2, 4097)),
    dict(k=16, lens=(0, 15, 16, 17, 9000), values=True),
    dict(k=1000, lens=(999, 1000, 1001, 5000), order="by_value"),
    dict(k=2048, lens=(0, 8, 2047, 2048, 2049, 16385)),
    dict(k=4096, lens=(4095, 4097, 20000), values=True, order="by_value")))
def test_shapes(case):
    check(case)


@parametrize(on_all_chips(*(
    dict(data=data, order=order, values=True, k=k, lens=lens)
    for data in DATA for order, k, lens in (
        ("by_index", 512, (511, 16385)), ("by_value", 100, (99, 101, 9000))))))
def test_data(case):
    check(case)


@parametrize(on_all_chips(
    dict(starts=(0, 1, 2, 3, 4, 5, 6), order="by_value", values=True),
    dict(starts=(5, 1000, 77, 3, 2, 1, 9), lens=(-3, 0, 1, 600, 5000, 513, 9001)),
    dict(starts=(-5, 0), lens=(600, 700), k=16), dict(columns=700, lens=(5, 900, 2147483647)),
    dict(ends=False, lens=(1000, 1000), row_slack=0), dict(row_slack=1, lens=(6000, 6001, 6002))))
def test_ranges(case):
    check(case)


@parametrize(on_all_chips(*(
    dict(contexts=contexts, next_n=next_n, columns=columns, starts=starts, k=100, values=True)
    for contexts, next_n, columns, starts in (
        ((0, 1, 2, 3, 4, 99, 100, 5000), 1, 5000, None),
        ((0, 1, 2, 3, 4, 5, 102, 103, 9001), 4, 9001, None),
        ((0, 1, 5, 100, 3000), 3, 2999, None),
        ((-2**31, -1, 2**31 - 1), 4, 600, None),
        ((7, 700, 30), 2, 700, (-1, 3, 300, 5, 20, 29))))))
def test_row_ends_from_contexts(case):
    """Row b * N + i ends at max(0, context_lens[b] - N + i + 1)."""
    check(case)


def check_launched(case: Case, options: str, names: tuple) -> None:
    """The launch takes the kernels whose names begin so, and all is right."""
    case = replace(case, options=options)
    operands, expected = make(case)
    _, kernels = kernel_harness.compile_kernels(make_mlir(case), case.chip, options)
    found = kernel_harness.launched(kernels, operands)
    assert len(found) == len(names), [k["symbol"] for k in found]
    for kernel, name in zip(found, names):
        assert kernel["symbol"].startswith(name)
    launch(case, operands, expected)


@pytest.mark.parametrize("rows, columns, names", (
    (6, 4096, ("topk_wave_k100",)), (5, 4096, ("topk_k100",)), (6, 4097, ("topk_k100",)),
    ("half", 32768, ("topk_split_k100", "topk_merge_k100")), ("more", 32768, ("topk_k100",)),
    (1, 49152, ("topk_split_k100", "topk_merge_k100")), (3, 32767, ("topk_k100",))))
@pytest.mark.parametrize("chip", CHIPS)
def test_launch_chooses_by_shape(chip, rows, columns, names):
    """On a part with six compute units: waves for many short rows, splits for few
    long ones, of which the chip has to hold twice as many workgroups. The LDS of two
    fits a compute unit of other chips than gfx942."""
    half = 3 if chip == "gfx942" else 6
    rows = {"half": half, "more": half + 1}.get(rows, rows)
    lens = tuple(columns - 97 * i for i in range(rows))
    case = Case(chip, k=100, lens=lens, columns=columns, values=True, order="by_value",
                data="repeated_kth")
    check_launched(case, "num-cus=6", names)


@parametrize(on_all_chips(*(
    dict(config=(1, loads, k + 256 * loads, 1), k=k, lens=lens, data=data, values=True,
         order=order)
    for loads, k, lens in ((2, 512, (0, 1, 511, 512, 513, 1024, 1025, 4096)),
                           (1, 16, (15, 17, 900, 4000)), (4, 1, (0, 1, 2, 3, 4095)),
                           (2, 1000, (999, 1000, 4096)))
    for data, order in (("random_values", "by_value"), ("special_values", "by_index"),
                        ("repeated_kth", "by_index"), ("ascending", "by_value")))))
def test_one_wave_for_each_row(case):
    check(case)


@parametrize(on_all_chips(
    dict(lens=(131072,), k=2048), dict(lens=(65536,), data="narrow_range", k=1000),
    dict(lens=(65536,), data="all_equal", k=2048), dict(lens=(65536,), data="ascending", k=16),
    # The sample's key is below 2, some of the candidates are not.
    dict(lens=(8192,), data="around_two", k=4096), dict(lens=(65536,), data="around_two", k=2048),
    dict(lens=(65536,), data="peak", k=2048), dict(lens=(40000,), data="mostly_nan", k=4096),
    dict(lens=(65536,), data="repeated_kth", k=4096)))
def test_long_rows(case):
    check(case)


@parametrize(on_all_chips(
    *(dict(config=(waves, loads, candidates, 1), k=100, lens=(99, 3000, 30000), data=data)
      for waves, loads, candidates in ((1, 1, 1124), (3, 2, 2000), (16, 1, 1500), (8, 2, 4000))
      for data in ("peak", "ascending"))))
def test_configs(case):
    """Crowded tiles and many rounds of dropping candidates."""
    check(case)


@parametrize(on_all_chips(
    *(dict(config=(8, 2, 4096, splits), k=k, lens=lens, data=data, order=order, values=True,
           starts=starts)
      for splits, k, lens, starts, data, order in (
          (2, 512, (0, 1, 511, 512, 513, 9000), None, "random_values", "by_index"),
          (7, 100, (3, 99, 101, 699, 700, 701, 40000), (0, 1, 2, 3, 4, 5, 6), "repeated_kth",
           "by_value"),
          (16, 2048, (65536, 2047), None, "peak", "by_index"),
          (256, 16, (65536, 257), None, "special_values", "by_value"),
          (5, 1000, (30000,), None, "mostly_nan", "by_index"),
          (3, 1, (30000, 2), None, "all_equal", "by_index")))))
def test_splits(case):
    """Several workgroups for each row give what one gives."""
    check(case)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("config", (None, ONE_GROUP, (4, 2, 2000, 3), (1, 2, 612, 1)), ids=str)
def test_schedule_of_the_emulator_changes_nothing(chip, config):
    """The order of workgroups and waves, and what LDS holds at first."""
    case = Case(chip, k=100, lens=(4000, 9000), data="repeated_kth", order="by_value",
                config=config)
    for seed in range(1, 21 if config is None else 4):
        check(case, (f"--seed={seed}", "--threads=2"))


@pytest.mark.parametrize("chip", CHIPS)
def test_poison_past_the_row_end_changes_nothing(chip):
    """What would be selected, NaN and other bits lie outside the range of a row."""
    case = Case(chip, k=100, lens=(99, 3000, 101, 9000), starts=(5, 3, 77, 0), columns=9000)
    first = check(case)
    for poison in (np.float32(-np.inf), np.float32(np.nan), np.float32(3e38)):
        operands, expected = make(case)
        values = operands["values"].data.view(np.float32)
        values[np.isposinf(values)] = poison
        np.testing.assert_array_equal(launch(case, operands, expected), first)


@parametrize(on_all_chips(dict(k=2048), dict(k=2048, data="narrow_range"), dict(k=512),
                          dict(k=16)))
def test_instructions_for_each_column(case):
    """Of a row of 131072 columns, with the waves that the compiler chooses;
    `bench/run --only topk` prints them."""
    waves = 8 if case.chip == "gfx942" and case.k > 16 else 4
    case = replace(case, lens=(131072,), row_slack=0, config=(waves, 8, case.k + 4096, 1))
    operands, _ = make(case)
    folder, (kernel,) = kernel_harness.compile_kernels(make_mlir(case), case.chip)
    stats = kernel_harness.run(kernel, folder, operands).stats
    assert kernel["spills"] == {"vgprs": 0, "sgprs": 0}
    assert stats["instructions"] * kernel["wave_size"] / 131072 < (
        14 if case.k < 2048 else 15.5 if waves == 8 else 14.5)


@pytest.mark.parametrize("chip", CHIPS)
def test_every_column_is_read_once(chip):
    """And a sample, in vectors of 16 bytes, and the values of the candidates."""
    case = Case(chip, k=512, lens=(131072,), row_slack=0, config=ONE_GROUP)
    for data in ("random_values", "narrow_range"):
        operands, _ = make(replace(case, data=data))
        folder, kernels = kernel_harness.compile_kernels(make_mlir(case), chip)
        stats = kernel_harness.run_all(kernels, folder, operands).stats
        assert stats["bytes_loaded"]["global"] <= 1.05 * 4 * 131072


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("stride", (2**29 - 1, 2**29 + 3, 2**31 + 1, 3 * 2**30))
@pytest.mark.parametrize("splits", (1, 3))
def test_rows_far_apart(chip, stride, splits):
    """Rows on both sides of 2^31 bytes and of 2^31 elements."""
    case = Case(chip, k=100, lens=(3000, 4001, 4002), values=True, order="by_value",
                config=(8, 2, 2000, splits))
    operands, expected = make(case)
    view = operands["values"]
    columns = view.shape[1]
    rows = np.full((3, columns), POISON)
    for row in range(3):
        part = view.data.view(np.float32)[row * view.strides[0]:][:columns]
        rows[row, :part.size] = part
    operands["values"] = Operand(
        rows.reshape(-1).view(np.uint8), view.shape, (stride, 1), 0,
        sparse=(4 * (2 * stride + columns), 4 * columns, 4 * stride), fill=0x7F800000)
    launch(case, operands, expected)


FULL_LENS = (0, 1, 8, 1024, 4096, 16384, 16385, 65536, 131072)


def lens_of(k, next_n):
    """Every length with the rows of `next_n` queries that end with it."""
    return tuple(max(0, n - next_n + i + 1)
                 for n in FULL_LENS + (k - 1, k, k + 1) for i in range(next_n))


@pytest.mark.long
@parametrize([
    Case(chip, k=k, lens=lens_of(k, next_n), data=data, values=True, order=order)
    for chip, k, next_n, data, order in itertools.product(
        CHIPS, (1, 16, 512, 1000, 2048, 4096), (1, 4), DATA, ("by_index", "by_value"))])
def test_full_sweep(case):
    check(case)


@pytest.mark.long
@parametrize([Case(chip, k=k, lens=tuple(i * 7919 % 20000 for i in range(batch)))
              for chip in CHIPS for k in (1, 512, 2048) for batch in (4, 24, 96)])
def test_batches(case):
    check(case)
