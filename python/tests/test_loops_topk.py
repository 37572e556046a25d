"""pa.topk lowered to loops, against the reference."""

import mmap
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Callable, Optional

import numpy as np
import pytest

import loops_harness as loops
from pagedattn import reference

SENTINEL = np.int32(-77)
ROWS = 6


def random_values(rng, columns):
    return rng.normal(size=(ROWS, columns)).astype(np.float32)


def few_values(rng, columns):
    return rng.integers(0, 4, (ROWS, columns)).astype(np.float32)


def equal_values(rng, columns):
    return np.full((ROWS, columns), 2.5, np.float32)


def ascending_values(rng, columns):
    return np.tile(np.arange(columns, dtype=np.float32), (ROWS, 1))


def minus_infinities(rng, columns):
    return np.full((ROWS, columns), -np.inf, np.float32)


def special_values(rng, columns):
    """NaN of both signs and of several payloads, zeros of both signs, infinities,
    subnormals and a few ordinary numbers."""
    bits = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7FFFFFFF]
    bits += [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x00000001]
    bits += [0x80000001, 0x3F800000, 0xBF800000, 0x007FFFFF]
    chosen = rng.choice(np.array(bits, np.uint32), (ROWS, columns))
    return chosen.view(np.float32)


def low_mantissa_bits(rng, columns):
    """Only the low ten bits differ."""
    bits = 0x40490000 | rng.integers(0, 1024, (ROWS, columns))
    return bits.astype(np.uint32).view(np.float32)


@dataclass(frozen=True)
class Case:
    name: str
    k: int
    columns: int = 200
    values: Callable = random_values
    starts: Optional[tuple] = None
    ends: Optional[tuple] = None
    order: str = "by_index"
    with_values: bool = True
    dynamic: bool = False

    @cached_property
    def operands(self) -> dict:
        rng = np.random.default_rng(self.columns + self.k)
        # Outside of its row, every value would be the best.
        view, whole = loops.guarded((ROWS, self.columns), np.float32, np.inf)
        view[...] = self.values(rng, self.columns)
        for row in range(ROWS):
            if self.starts is not None:
                view[row, : max(self.starts[row], 0)] = np.inf
            if self.ends is not None:
                view[row, max(self.ends[row], 0) :] = np.inf
        found = {"values": view}
        if self.starts is not None:
            found["row_starts"] = np.array(self.starts, np.int32)
        if self.ends is not None:
            found["row_ends"] = np.array(self.ends, np.int32)
        indices = loops.guarded((ROWS, self.k), np.int32, SENTINEL)
        found["indices"] = indices[0]
        guards = [indices]
        if self.with_values:
            best = loops.guarded((ROWS, self.k), np.float32, np.float32(SENTINEL))
            found["top_values"] = best[0]
            guards.append(best)
        return {"arrays": found, "guards": guards}

    def function(self, arrays: Optional[dict] = None) -> str:
        """The function of the case, for its own operands or for some like them."""
        arrays = arrays or self.operands["arrays"]
        return function_text(self.name, arrays, self.order, self.dynamic)


def function_text(name, arrays, order, dynamic=False):
    types = {}
    for operand, array in arrays.items():
        is_output = operand in ("indices", "top_values")
        unknown = (0,) if is_output else tuple(range(array.ndim))
        types[operand] = loops.memref_type(array, "", unknown if dynamic else ())
    arguments = ", ".join(f"%{operand}: {kind}" for operand, kind in types.items())
    inputs = " ".join(
        f"{operand}(%{operand} : {kind})"
        for operand, kind in types.items()
        if operand not in ("indices", "top_values")
    )
    outputs = ", ".join(
        f"%{operand} : {types[operand]}"
        for operand in ("indices", "top_values")
        if operand in types
    )
    return f"""
func.func @{name}({arguments}) attributes {{llvm.emit_c_interface}} {{
  pa.topk {inputs} outs({outputs}) {{order = #pa.order<{order}>}}
  return
}}"""


def make_cases():
    kinds = (
        random_values,
        few_values,
        equal_values,
        ascending_values,
        minus_infinities,
        special_values,
        low_mantissa_bits,
    )
    for order in ("by_index", "by_value"):
        for kind in kinds:
            yield Case(f"{kind.__name__}_{order}", 17, values=kind, order=order)
        yield Case(f"k_is_1_{order}", 1, order=order)
        yield Case(f"k_is_the_row_{order}", 200, order=order, values=few_values)
        yield Case(f"k_above_the_row_{order}", 300, order=order, values=special_values)
        yield Case(f"k_4096_{order}", 4096, columns=5000, order=order)
        yield Case(f"k_2048_{order}", 2048, columns=5000, order=order)
        ends = (0, -5, 1, 16, 17, 2147483647)
        yield Case(f"ends_{order}", 17, ends=ends, order=order, values=few_values)
        starts = (-2147483648, 0, 150, 199, 200, 2147483647)
        yield Case(f"starts_{order}", 17, starts=starts, order=order)
        yield Case(
            f"ranges_{order}",
            17,
            starts=(3, 60, -9, 50, 190, 7),
            ends=(9, 160, 300, 40, 200, 24),
            order=order,
            values=special_values,
        )
        yield Case(f"no_values_{order}", 17, order=order, with_values=False)
        yield Case(f"dynamic_{order}", 17, order=order, dynamic=True, ends=ends)


CASES = {case.name: case for case in make_cases()}


def fresh(name: str) -> Case:
    """The case of that name with outputs of its own."""
    return replace(CASES[name])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    functions = [case.function() for case in CASES.values()]
    return loops.compile_functions(functions, tmp_path_factory.mktemp("topk"))


@pytest.mark.parametrize("name", CASES)
def test_matches_the_reference(library, name):
    case = CASES[name]
    arrays = case.operands["arrays"]
    indices, best = reference.topk(
        arrays["values"],
        case.k,
        row_starts=arrays.get("row_starts"),
        row_ends=arrays.get("row_ends"),
        order=case.order,
    )
    loops.call(library, name, list(arrays.values()))
    np.testing.assert_array_equal(arrays["indices"], indices)
    if case.with_values:
        # Bit for bit: a NaN keeps its sign and payload.
        got = np.ascontiguousarray(arrays["top_values"]).view(np.uint32)
        np.testing.assert_array_equal(got, best.view(np.uint32))
    for view, whole in case.operands["guards"]:
        loops.assert_guards_intact(view, whole, SENTINEL)


def test_the_special_values_decide_the_result(library):
    """Guards the cases themselves: the order of zeros and NaN matters in them."""
    values = CASES["k_above_the_row_by_value"].operands["arrays"]["values"]
    indices, _ = reference.topk(values, 300, order="by_value")
    for row in range(ROWS):
        bits = np.ascontiguousarray(values[row]).view(np.uint32)[indices[row, :200]]
        plus, minus = (np.flatnonzero(bits == zero) for zero in (0, 0x80000000))
        assert plus.size and minus.size and plus.max() < minus.min()
        is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
        assert is_nan.any() and not is_nan[: 200 - is_nan.sum()].any()


def test_rows_far_apart(tmp_path):
    """A row stride of 3 * 2^30 elements: 64-bit offsets inside one operand."""
    stride, columns = 3 * 2**30, 100
    try:
        memory = mmap.mmap(
            -1,
            4 * (stride + columns),
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000,  # MAP_NORESERVE
        )
    except OSError as error:
        pytest.skip(f"cannot reserve 12 GiB of address space: {error}")
    flat = np.frombuffer(memory, np.float32)
    values = np.lib.stride_tricks.as_strided(flat, (2, columns), (4 * stride, 4))
    values[...] = np.random.default_rng(8).normal(size=(2, columns))
    arrays = {"values": values, "indices": np.zeros((2, 9), np.int32)}
    library = loops.compile_functions(
        [function_text("far", arrays, "by_value")], tmp_path
    )
    loops.call(library, "far", list(arrays.values()))
    expected, _ = reference.topk(values, 9, order="by_value")
    np.testing.assert_array_equal(arrays["indices"], expected)
