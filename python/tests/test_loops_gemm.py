"""pa.grouped_gemm lowered to loops, against the float64 reference."""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Optional

import numpy as np
import pytest

import loops_harness as loops
from pagedattn import formats, reference

FP8_TYPES = {"e4m3fn": "f8E4M3FN", "e4m3fnuz": "f8E4M3FNUZ"}
SCALES = {
    "e8m0_1x32": (1, 32),
    "e8m0_32x32": (32, 32),
    "f32_1x128": (1, 128),
    "f32_128x128": (128, 128),
}
A_SCALES = ("none", "e8m0_1x32", "f32_1x128", "f32_row")
B_SCALES = ("none", "e8m0_1x32", "e8m0_32x32", "f32_128x128", "f32_row")
ACTIVATIONS = {
    "silu": reference.Activation("silu"),
    "silu_limit": reference.Activation("silu", limit=1.5),
    "silu_limit_0": reference.Activation("silu", limit=0.0),
    "swiglu": reference.Activation("swiglu"),
    "swiglu_limit": reference.Activation("swiglu", limit=1.0),
    "situv2": reference.Activation("situv2"),
    "situv2_beta": reference.Activation("situv2", beta=4.0, linear_beta=25.0),
}
GUARD = 0x5A


@dataclass(frozen=True)
class Case:
    """One call on data whose products and sums are exact in f32."""

    name: str
    fmt: str = "a8w8"
    fp8: str = "e4m3fn"
    k: int = 128
    n: int = 40
    offsets: Optional[tuple] = (0, 2, 2, 7)
    rows: int = 7
    a_scale: str = "none"
    b_scale: str = "none"
    a_codes: tuple = (126, 127, 128)
    b_codes: tuple = (126, 127, 128)
    weight_layout: str = "linear"
    scale_layout: str = "linear"
    a_scale_layout: str = "linear"
    activation: Optional[str] = None
    bias: bool = False
    row_ids: Optional[tuple] = None
    row_weights: bool = False
    out: str = "f32"
    requantised: bool = False
    magnitude: float = 2.0
    dynamic: bool = False
    e8m0_type: bool = False
    boundary: bool = False
    config: str = ""

    @cached_property
    def groups(self) -> int:
        return 1 if self.offsets is None else len(self.offsets) - 1

    @cached_property
    def columns(self) -> int:
        return self.n // 2 if self.activation else self.n

    def data(self, rng, shape, is_fp4):
        if self.boundary:
            # Times 1, rows of A are the amax of their blocks: the largest numbers
            # of the output formats times powers of two, and their neighbours.
            mantissas = np.array([[1.5], [1.75], [1.875]]) + np.array([-1, 0, 1]) / 128
            amax = np.multiply.outer([2.0**-9, 1.0, 2.0**20], mantissas).reshape(-1, 1)
            rest = 2.0 ** -rng.integers(0, 6, shape)
            rest[..., ::32, :] = 1
            return formats.encode_bf16(amax if len(shape) == 2 else rest)
        numbers = rng.integers(-4, 5, shape) * (self.magnitude / 4)
        if self.fmt == "bf16":
            return formats.encode_bf16(numbers)
        if self.fmt == "f16":
            return numbers.astype(np.float16)
        if is_fp4:
            return formats.pack_fp4(formats.encode(numbers, "e2m1"))
        return formats.encode(numbers, self.fp8)

    def scales(self, rng, kind, lead, rows, codes):
        if kind == "f32_row":
            return rng.choice([0.5, 1.0, 2.0], lead + (rows,)).astype(np.float32)
        block_rows, block = SCALES[kind]
        shape = lead + (-(-rows // block_rows), self.k // block)
        if kind.startswith("e8m0"):
            return rng.choice(codes, shape).astype(np.uint8)
        return rng.choice([0.5, 1.0, 2.0], shape).astype(np.float32)

    @cached_property
    def arrays(self) -> dict:
        rng = np.random.default_rng(self.k + self.n)
        is_fp4_a = self.fmt == "a4w4"
        is_fp4_b = self.fmt in ("a4w4", "a8w4")
        a_rows = self.rows if self.row_ids is None else 5
        found = {"a": self.data(rng, (a_rows, self.k), is_fp4_a)}
        if self.a_scale != "none":
            found["a_scales"] = self.scales(
                rng, self.a_scale, (), a_rows, self.a_codes
            )
            if self.a_scale_layout != "linear":
                padding = ((0, -a_rows % 32), (0, 0))
                codes = np.pad(found["a_scales"], padding, constant_values=255)
                found["a_scales"] = np.ascontiguousarray(
                    formats.shuffle_scales(codes, self.a_scale_layout)
                )
        b = self.data(rng, (self.groups, self.n, self.k), is_fp4_b)
        if self.weight_layout == "shuffled_16x16":
            b = formats.shuffle_16x16(b)
        found["b"] = np.ascontiguousarray(b)
        if self.b_scale != "none":
            codes = self.scales(
                rng, self.b_scale, (self.groups,), self.n, self.b_codes
            )
            shuffled = formats.shuffle_scales(codes, self.scale_layout)
            found["b_scales"] = np.ascontiguousarray(shuffled)
        if self.bias:
            bias = rng.integers(-8, 9, (self.groups, self.n)) / 4
            found["bias"] = bias.astype(np.float32)
        if self.offsets is not None:
            found["offsets"] = np.array(self.offsets, np.int32)
        if self.row_ids is not None:
            found["row_ids"] = np.array(self.row_ids, np.int32)
        if self.row_weights:
            weights = rng.choice([0.5, 1.0, 2.0, -1.0], self.rows)
            found["row_weights"] = weights.astype(np.float32)
        return found

    @cached_property
    def outputs(self) -> list:
        """Each output and the larger array around it."""
        dtypes = {"f32": np.float32, "bf16": np.uint16, "f16": np.float16}
        dtype = dtypes.get(self.out, np.uint8)
        width = self.columns // 2 if self.out == "e2m1" else self.columns
        found = [loops.guarded((self.rows, width), dtype, GUARD)]
        if self.requantised:
            shape = (self.rows, self.columns // 32)
            found.append(loops.guarded(shape, np.uint8, GUARD))
        return found

    def element(self, operand: str) -> str:
        is_fp8 = {
            "a": self.fmt in ("a8w8", "a8w4"),
            "b": self.fmt == "a8w8",
            "c": self.out in FP8_TYPES,
        }
        if is_fp8.get(operand):
            return FP8_TYPES[self.out if operand == "c" else self.fp8]
        return "f8E8M0FNU" if self.e8m0_type and operand.endswith("scales") else ""

    def unknown(self, operand: str, array) -> tuple:
        """Dimensions of unknown size: all but K in A and N in B, from which the
        op takes these two."""
        if not self.dynamic:
            return ()
        known = {"a": 1, "b": 1}.get(operand)
        return tuple(d for d in range(array.ndim) if d != known)

    def operands(self) -> dict:
        """Inputs and outputs in the order of the function's arguments."""
        outputs = zip(("c", "c_scales"), (view for view, _ in self.outputs))
        return {**self.arrays, **dict(outputs)}

    def function(self, operands: Optional[dict] = None) -> str:
        """The function of the case, for its own operands or for some like them."""
        operands = operands or self.operands()
        types = {}
        for operand, array in operands.items():
            unknown = self.unknown(operand, array)
            types[operand] = loops.memref_type(array, self.element(operand), unknown)
        arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        inputs = " ".join(f"{name}(%{name} : {types[name]})" for name in self.arrays)
        outputs = ", ".join(
            f"%{name} : {types[name]}" for name in ("c", "c_scales") if name in types
        )
        attributes = [
            f"format = #pa.gemm_format<{self.fmt}>",
            f"a_scale = #pa.scale<{self.a_scale}>",
            f"b_scale = #pa.scale<{self.b_scale}>",
            f"weight_layout = #pa.weight_layout<{self.weight_layout}>",
            f"scale_layout = #pa.scale_layout<{self.scale_layout}>",
            f"a_scale_layout = #pa.scale_layout<{self.a_scale_layout}>",
        ]
        if self.activation:
            act = ACTIVATIONS[self.activation]
            given = [act.kind]
            for name in ("limit", "beta", "linear_beta"):
                if getattr(act, name) is not None:
                    given.append(f"{name} = {getattr(act, name)} : f64")
            attributes.append(f"activation = #pa.activation<{', '.join(given)}>")
        if self.config:
            attributes.append(f"config = #pa.gemm_config<{self.config}>")
        return f"""
func.func @{self.name}({arguments}) attributes {{llvm.emit_c_interface}} {{
  pa.grouped_gemm {inputs} outs({outputs}) {{{", ".join(attributes)}}}
  return
}}"""

    def expected(self) -> tuple:
        operands = dict(self.arrays)
        a, b = operands.pop("a"), operands.pop("b")
        return reference.grouped_gemm(
            a,
            b,
            self.rows,
            self.fmt,
            **operands,
            a_scale=self.a_scale,
            b_scale=self.b_scale,
            weight_layout=self.weight_layout,
            scale_layout=self.scale_layout,
            a_scale_layout=self.a_scale_layout,
            activation=ACTIVATIONS.get(self.activation),
            fp8=self.fp8,
        )


def scale_cases():
    """Every format with every pair of scale kinds; activations take turns."""
    turns = itertools.cycle([None, "silu", None, "swiglu", None, "situv2"])
    lengths = itertools.cycle([640, 128, 384])
    for fmt, fp8 in (
        ("a8w8", "e4m3fn"),
        ("a8w8", "e4m3fnuz"),
        ("a8w4", "e4m3fn"),
        ("a8w4", "e4m3fnuz"),
        ("a4w4", "e4m3fn"),
    ):
        for a_scale, b_scale in itertools.product(A_SCALES, B_SCALES):
            yield Case(
                f"{fmt}_{fp8}_{a_scale}_{b_scale}",
                fmt=fmt,
                fp8=fp8,
                k=next(lengths),
                a_scale=a_scale,
                b_scale=b_scale,
                activation=next(turns),
            )


def make_cases():
    yield from scale_cases()
    for fmt in ("a8w8", "a8w4", "a4w4", "bf16", "f16"):
        for activation in ACTIVATIONS:
            yield Case(f"{fmt}_{activation}", fmt=fmt, activation=activation, bias=True)
        for out in ("f32", "bf16", "f16"):
            yield Case(f"{fmt}_to_{out}", fmt=fmt, out=out, k=96, bias=True)
        k = 320 if fmt.endswith("w4") else 352
        yield Case(
            f"{fmt}_shuffled", fmt=fmt, n=48, k=k, weight_layout="shuffled_16x16"
        )
    for k in (32, 96, 352, 640, 2336):
        for b_scale in ("e8m0_1x32", "e8m0_32x32"):
            yield Case(
                f"k_{k}_{b_scale}", k=k, a_scale="e8m0_1x32", b_scale=b_scale, n=70
            )
    yield Case("k_odd", k=5, n=3)
    for layout, k in (("n32k4", 640), ("n32k8", 768)):
        for fmt in ("a8w8", "a8w4", "a4w4"):
            yield Case(
                f"{layout}_{fmt}",
                fmt=fmt,
                n=96,
                k=k,
                a_scale="e8m0_1x32",
                b_scale="e8m0_1x32",
                b_codes=tuple(range(124, 131)),
                scale_layout=layout,
                weight_layout="shuffled_16x16",
            )
    for layout, k in (("n32k4", 640), ("n32k8", 768)):
        for fmt in ("a8w8", "a4w4"):
            yield Case(
                f"a_{layout}_{fmt}",
                fmt=fmt,
                n=96,
                k=k,
                offsets=(0, 31, 33, 70),
                rows=70,
                a_scale="e8m0_1x32",
                b_scale="e8m0_1x32",
                a_codes=tuple(range(124, 131)),
                a_scale_layout=layout,
                scale_layout=layout,
                weight_layout="shuffled_16x16",
            )
    yield Case(
        "a_n32k4_row_ids",
        k=128,
        row_ids=(4, -1, 0, 0, 5, 2, 3),
        a_scale="e8m0_1x32",
        b_scale="e8m0_32x32",
        a_codes=tuple(range(124, 131)),
        a_scale_layout="n32k4",
    )
    for name, offsets in {
        "first": (0, 0, 3, 7),
        "middle": (0, 3, 3, 7),
        "last": (0, 3, 7, 7),
        "all": (0, 0, 0, 0),
        "but_outside": (2, 3, 3, 5),
        "backwards": (5, 3, 4, 2),
        "beyond": (-2147483648, 3, 2147483647, 9),
        "of_one": (0, 7),
    }.items():
        yield Case(f"groups_empty_{name}", offsets=offsets, bias=True)
    yield Case("no_offsets", offsets=None, n=33)
    yield Case("no_rows", offsets=(0, 0, 0), rows=0)
    yield Case(
        "row_ids",
        row_ids=(4, -1, 0, 0, 5, 2, -2147483648),
        row_weights=True,
        bias=True,
        a_scale="e8m0_1x32",
        b_scale="e8m0_1x32",
    )
    yield Case("row_weights_silu", row_weights=True, activation="silu")
    yield Case("dynamic", dynamic=True, row_weights=True, bias=True, fmt="a8w4")
    for out, requantised in (("f32", False), ("e2m1", True), ("e4m3fn", True)):
        yield Case(
            f"dynamic_shuffled_{out}",
            dynamic=True,
            n=96,
            k=256,
            fmt="a8w4",
            a_scale="e8m0_1x32",
            b_scale="e8m0_1x32",
            b_codes=tuple(range(124, 131)),
            scale_layout="n32k8",
            weight_layout="shuffled_16x16",
            e8m0_type=True,
            out=out,
            requantised=requantised,
        )
    # Two scales of one block meet as exponents: 2^-127 times 2^127 is 1.
    for a, b in ((0, 254), (254, 0), (0, 0), (1, 200), (253, 120), (128, 0), (255, 127)):
        for b_scale in ("e8m0_1x32", "e8m0_32x32"):
            yield Case(
                f"codes_{a}_{b}_{b_scale}",
                k=1280,
                a_scale="e8m0_1x32",
                b_scale=b_scale,
                a_codes=(a,),
                b_codes=(b,),
            )
    for side, a, b in (("a", (127, 127, 255), (127,)), ("b", (127,), (127,) * 30 + (255,))):
        yield Case(
            f"some_nan_{side}",
            fmt="a8w4",
            k=96,
            a_scale="e8m0_1x32",
            b_scale="e8m0_1x32",
            a_codes=a,
            b_codes=b,
        )
        yield Case(
            f"some_nan_{side}_swiglu",
            k=64,
            a_scale="e8m0_1x32",
            b_scale="e8m0_1x32",
            a_codes=a,
            b_codes=b,
            activation="swiglu",
            out="bf16",
        )
    yield Case("tiny_with_f32", a_scale="e8m0_1x32", b_scale="f32_row", a_codes=(0,))
    for out in ("e4m3fn", "e4m3fnuz", "e2m1"):
        for activation in (None, "silu", "swiglu_limit", "situv2"):
            yield Case(
                f"requantised_{out}_{activation}",
                n=128,
                activation=activation,
                out=out,
                requantised=True,
                bias=True,
                row_weights=True,
            )
        yield Case(
            f"requantised_boundary_{out}",
            boundary=True,
            fmt="bf16",
            rows=27,
            offsets=None,
            k=1,
            n=64,
            out=out,
            requantised=True,
        )
        yield Case(f"requantised_zero_{out}", n=64, out=out, requantised=True, magnitude=0)
        yield Case(
            f"requantised_nan_{out}",
            n=64,
            k=64,
            out=out,
            requantised=True,
            a_scale="e8m0_1x32",
            a_codes=(127, 127, 127, 255),
        )
        yield Case(
            f"requantised_tiny_{out}",
            n=64,
            k=32,
            out=out,
            requantised=True,
            a_scale="e8m0_1x32",
            b_scale="e8m0_1x32",
            a_codes=(20,),
            b_codes=tuple(range(88, 112)),
        )
        yield Case(
            f"requantised_huge_{out}",
            n=64,
            k=32,
            out=out,
            requantised=True,
            a_scale="e8m0_1x32",
            b_scale="e8m0_1x32",
            a_codes=(254,),
            b_codes=(80, 127, 130, 254),
        )


CASES = {case.name: case for case in make_cases()}


def fresh(name: str) -> Case:
    """The case of that name with outputs of its own."""
    return replace(CASES[name])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    functions = [case.function() for case in CASES.values()]
    return loops.compile_functions(functions, tmp_path_factory.mktemp("gemm"))


def stored(values, out: str):
    """Values as the output type holds them, and back as f64."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
        if out == "bf16":
            return formats.decode_bf16(formats.encode_bf16(single))
        return single.astype({"f32": np.float32, "f16": np.float16}[out]).astype(float)


def read(view, out: str):
    if out == "bf16":
        return formats.decode_bf16(np.ascontiguousarray(view))
    return view.astype(np.float64)


def compare_plain(case: Case, expected, touched):
    got = read(case.outputs[0][0], case.out)
    if case.activation is None:
        np.testing.assert_array_equal(got[touched], stored(expected, case.out)[touched])
        return
    # exp and tanh of the C library in f32, and one rounding to the output.
    spacing = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11}[case.out]
    np.testing.assert_allclose(
        got[touched], expected[touched], rtol=2e-6 + spacing, atol=2e-6
    )


def compare_requantised(case: Case, expected, touched):
    codes, scales = (view for view, _ in case.outputs)
    with np.errstate(over="ignore"):
        single = expected[touched].astype(np.float32).astype(np.float64)
    codes, scales = codes[touched], scales[touched]
    wide = formats.unpack_fp4(codes) if case.out == "e2m1" else codes
    wanted_codes, wanted_scales = formats.quantize_mx(single, case.out)
    if case.activation is None:
        np.testing.assert_array_equal(scales, wanted_scales)
        is_number = np.repeat(scales, 32, -1) != 255
        np.testing.assert_array_equal(wide[is_number], wanted_codes[is_number])
        return
    # An amax that rounds otherwise may move a scale, a value its code.
    assert (scales != wanted_scales).mean() < 0.05
    step = np.repeat(formats.decode_e8m0(np.maximum(scales, wanted_scales)), 32, -1)
    values = formats.decode(wide, case.out) * np.repeat(
        formats.decode_e8m0(scales), 32, -1
    )
    fmt = formats.get_format(case.out)
    relative = 2.0 ** -(fmt.mantissa_bits + 1) + 1e-5
    least = fmt.table()[1] / 2
    allowed = np.maximum(np.abs(single) * relative, least * step) + 2e-6
    assert (np.abs(values - single) <= allowed).all()


def compare(case: Case, expected, touched):
    """The outputs of the case hold what the reference expects."""
    if case.requantised:
        compare_requantised(case, expected, touched)
    else:
        compare_plain(case, expected, touched)


@pytest.mark.parametrize("name", CASES)
def test_matches_the_reference(library, name):
    case = CASES[name]
    expected, touched = case.expected()
    loops.call(library, name, list(case.operands().values()))
    compare(case, expected, touched)
    for view, whole in case.outputs:
        loops.assert_guards_intact(view, whole, GUARD)
        assert (view[~touched] == GUARD).all(), "a row outside of every group changed"


def test_the_cases_reach_what_they_are_for():
    """Guards the cases themselves: special codes and rows do what names say."""

    def values(name):
        expected, touched = CASES[name].expected()
        return expected[touched]

    assert np.isnan(values("codes_255_127_e8m0_1x32")).all()
    for side in "ab":
        assert 0 < np.isnan(values(f"some_nan_{side}")).mean() < 1
        assert 0 < np.isnan(values(f"some_nan_{side}_swiglu")).mean() < 1
    assert np.abs(values("codes_0_254_e8m0_1x32")).max() > 1
    assert 0 < np.abs(values("codes_1_200_e8m0_1x32")).max() < 1e-10
    assert np.abs(values("codes_253_120_e8m0_1x32")).max() > 1e36
    touched = {name: CASES[name].expected()[1].tolist() for name in CASES}
    assert touched["groups_empty_but_outside"] == [False] * 2 + [True] * 3 + [False] * 2
    assert touched["groups_empty_all"] == [False] * 7
    assert touched["row_ids"] == [True, False, True, True, False, True, False]
    assert touched["groups_empty_backwards"] == [False] * 3 + [True] + [False] * 3
    gate = CASES["a8w8_silu_limit"]
    plain = Case(gate.name, activation="silu", bias=True).expected()[0]
    assert not np.allclose(plain, gate.expected()[0])


def test_column_counts_beyond_one_tile_are_computed_whole():
    """K = 640: the last 128 columns change the result of every row."""
    case = CASES["k_640_e8m0_1x32"]
    whole = case.expected()[0]
    short = Case("short", k=640, n=70, a_scale="e8m0_1x32", b_scale="e8m0_1x32")
    arrays = dict(case.arrays)
    arrays["a"] = arrays["a"].copy()
    arrays["a"][:, 512:] = 0
    object.__setattr__(short, "arrays", arrays)
    assert (short.expected()[0] != whole).any(axis=1).all()
