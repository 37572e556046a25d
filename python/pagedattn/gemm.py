"""The entry point of ``pa.grouped_gemm``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from .arrays import Array, as_array
from .errors import ArgumentError
from .ops import (
    Call,
    Op,
    ceil_power,
    expect_choice,
    expect_dtype,
    expect_output,
    expect_rank,
    expect_shape,
    expect_unit_stride,
    fp8_element,
    operand,
)
from .reference import Activation
from .runtime import entry_point

# Formats of A and B by word: fp8 of a flavour, fp4 pairs, or 16-bit floats.
FORMATS: Dict[str, Tuple[str, str]] = {
    "a8w8": ("e4m3fn", "e4m3fn"),
    "a8w8_fnuz": ("e4m3fnuz", "e4m3fnuz"),
    "a8w4": ("e4m3fn", "fp4"),
    "a8w4_fnuz": ("e4m3fnuz", "fp4"),
    "a4w4": ("fp4", "fp4"),
    "bf16": ("bf16", "bf16"),
    "f16": ("f16", "f16"),
}
# Kinds of the scales of A and B by word. Blocks of several rows are of weights only.
SCALES: Dict[str, Tuple[str, str]] = {
    "none": ("none", "none"),
    "e8m0_1x32": ("e8m0_1x32", "e8m0_1x32"),
    "e8m0_32x32": ("e8m0_1x32", "e8m0_32x32"),
    "f32_1x128": ("f32_1x128", "none"),
    "f32_128x128": ("f32_1x128", "f32_128x128"),
    "f32_row": ("f32_row", "f32_row"),
}
# Rows and columns of a block of each kind.
_BLOCKS = {
    "e8m0_1x32": (1, 32),
    "e8m0_32x32": (32, 32),
    "f32_1x128": (1, 128),
    "f32_128x128": (128, 128),
}
# The output's element type in MLIR, its name here, and bytes that stand for it.
_OUTPUTS: Dict[str, Tuple[str, Tuple[str, ...]]] = {
    "bf16": ("bf16", ("bf16", "u16")),
    "f16": ("f16", ("f16", "u16")),
    "f32": ("f32", ("f32",)),
    "mxfp8": ("f8E4M3FN", ("e4m3fn", "u8", "i8")),
    "mxfp8_fnuz": ("f8E4M3FNUZ", ("e4m3fnuz", "u8", "i8")),
    "mxfp4": ("i8", ("u8", "i8", "fp4x2")),
}
_NEW = {"bf16": np.uint16, "f16": np.float16, "f32": np.float32}


@entry_point
def grouped_gemm(
    a: Any,
    b: Any,
    offsets: Any = None,
    *,
    a_scale: Any = None,
    b_scale: Any = None,
    formats: str = "a8w8",
    scales: Union[str, Tuple[str, str]] = "e8m0_1x32",
    bias: Any = None,
    activation: Union[str, Activation, None] = None,
    out_dtype: str = "bf16",
    out: Any = None,
    out_scale: Any = None,
    row_ids: Any = None,
    row_weights: Any = None,
    weight_layout: str = "linear",
    scale_layout: str = "linear",
    a_scale_layout: str = "linear",
    chip: Optional[str] = None,
    device: Optional[str] = None,
    **tuning: Any,
) -> Call:
    """One product for each group of rows, with block scales.

    For row m of group e, from ``offsets[e]`` to ``offsets[e + 1]``::

        out[m] = row_weights[m] * act((a[row_ids[m]] * a_scale) @ (b[e] * b_scale).T + bias[e])

    where ``row_ids[m]`` is m without `row_ids`. Without `offsets` there is one group of
    all rows, and `b` and `b_scale` may lack the axis of groups. Rows outside of every
    group are not touched. :func:`pagedattn.reference.grouped_gemm` has the same contract
    in float64.

    Args:
        a: ``[M, K]``. fp8 as bytes or a typed array, fp4 as pairs ``[M, K / 2]``, bf16 as
            uint16 or a typed array.
        b: ``[E, N, K]`` likewise; columns of gate and up alternate for an activation.
        offsets: int32 ``[E + 1]``.
        a_scale, b_scale: of the kinds that `scales` names: E8M0 codes or float32, one for
            each block along K (and rows of `b`), float32 for each row with ``f32_row``.
        formats: ``a8w8`` (e4m3fn), ``a8w8_fnuz`` (e4m3fnuz), ``a8w4``, ``a8w4_fnuz``,
            ``a4w4``, ``bf16``, ``f16``.
        scales: ``none``, ``e8m0_1x32``, ``e8m0_32x32`` (1x32 for `a`), ``f32_128x128`` (1x128
            for `a`), ``f32_1x128`` (`a` only), ``f32_row``, or a pair of kinds for `a`
            and `b`. bf16 and f16 have none.
        bias: float32 ``[E, N]``.
        activation: ``silu``, ``swiglu``, ``situv2``, or an
            :class:`pagedattn.reference.Activation` with its limits.
        out_dtype: ``bf16``, ``f16``, ``f32``, or requantised ``mxfp8``, ``mxfp8_fnuz``,
            ``mxfp4``, which need `out` and `out_scale`.
        out: ``[M, N]``, ``[M, N / 2]`` with an activation; written in place. Without it a
            NumPy array of zeros is made, uint16 for bf16; in device memory it has to
            be given.
        out_scale: E8M0 codes ``[M, columns / 32]``, written in place.
        row_ids: int32 ``[M]``, rows of `a`; others are not touched.
        row_weights: float32 ``[M]``.
        weight_layout: ``linear`` or ``shuffled_16x16``.
        scale_layout: of `b_scale`: ``linear``, ``n32k4``, ``n32k8``
            (:func:`pagedattn.formats.shuffle_scales`).
        a_scale_layout: of `a_scale`, likewise. It then has a multiple of 32 rows, at least
            those of `a`; codes of rows beyond them are not used.
        chip, device: as for :func:`pagedattn.paged_logits`.
        tuning: fields of the op's configuration, options of the compiler.

    Returns:
        A :class:`Result` whose ``out`` is the output, or with `out_scale` the pair of it
        and the scales.

    Raises:
        ArgumentError, CompileError, EmulatorError: as for
            :func:`pagedattn.paged_logits`.
    """
    outputs = _outputs(a, b, out, out_dtype, out_scale, row_ids, activation)
    if formats in ("bf16", "f16") and a_scale is None and b_scale is None:
        scales = "none"
    kinds = dict(zip(("a_scales", "b_scales"), _scale_kinds(scales)))
    given = {
        "a": ("a", a),
        "a_scales": ("a_scale", a_scale),
        "b": ("b", b),
        "b_scales": ("b_scale", b_scale),
        "bias": ("bias", bias),
        "offsets": ("offsets", offsets),
        "row_ids": ("row_ids", row_ids),
        "row_weights": ("row_weights", row_weights),
        "c": ("out", outputs[0]),
        "c_scales": ("out_scale", outputs[1]),
    }
    arrays = {
        name: as_array(argument, value)
        for name, (argument, value) in given.items()
        if value is not None or name in ("a", "b")
    }
    if offsets is None:
        for name in ("b", "bias"):
            if name in arrays:
                arrays[name] = _with_groups(arrays[name], 3 if name == "b" else 2)
        if "b_scales" in arrays:
            rank = 2 if kinds["b_scales"] == "f32_row" else 3
            arrays["b_scales"] = _with_groups(arrays["b_scales"], rank)
    parameters = {
        "formats": formats,
        "kinds": kinds,
        "activation": activation,
        "out_dtype": out_dtype,
        "weight_layout": weight_layout,
        "scale_layout": scale_layout,
        "a_scale_layout": a_scale_layout,
    }
    return Call(
        build,
        arrays,
        parameters,
        outputs if out_scale is not None else outputs[0],
        chip,
        device,
        tuning,
        _check_contents,
    )


def _outputs(a, b, out, out_dtype, out_scale, row_ids, activation) -> Tuple[Any, Any]:
    """What the caller gave, or a new array."""
    expect_choice("out_dtype", out_dtype, tuple(_OUTPUTS))
    needs_scale = out_dtype.startswith("mx")
    if (out_scale is not None) != needs_scale:
        raise ArgumentError(
            "out_scale",
            f"must {'be' if needs_scale else 'not be'} given for out_dtype={out_dtype!r}",
            "none" if out_scale is None else "an array",
        )
    if out is not None:
        return out, out_scale
    left, right = as_array("a", a), as_array("b", b)
    if left.on_device or out_scale is not None:
        raise ArgumentError("out", "must be given in device memory and with out_scale", None)
    rows = left if row_ids is None else as_array("row_ids", row_ids)
    expect_rank(left, 2, "[M, K]")
    if right.rank < 2:
        expect_rank(right, 3, "[E, N, K]")
    columns = right.shape[-2] // (1 if activation is None else 2)
    return np.zeros((rows.shape[0], columns), _NEW[out_dtype]), None


def _scale_kinds(scales: Any) -> Tuple[str, str]:
    kinds = ("none", "f32_row", *_BLOCKS)
    if isinstance(scales, str):
        expect_choice("scales", scales, tuple(SCALES))
        return SCALES[scales]
    if not isinstance(scales, Sequence) or len(scales) != 2:
        raise ArgumentError("scales", "must be a word or a pair of kinds", repr(scales))
    for kind in scales:
        expect_choice("scales", kind, kinds)
    return scales[0], scales[1]


def _element(array: Array, kind: str) -> str:
    if kind == "fp4":
        expect_dtype(array, "u8", "i8", "fp4x2")
        return "i8"
    if kind in ("bf16", "f16"):
        expect_dtype(array, kind, "u16")
        return kind
    return fp8_element(array, kind, "the word in formats")


def _with_groups(array: Array, rank: int) -> Array:
    """`array` with an axis of one group in front if it lacks it."""
    if array.rank != rank - 1:
        return array
    size = array.itemsize
    for extent in array.shape:
        size *= max(extent, 1)
    return replace(array, shape=(1, *array.shape), strides=(size, *array.strides))


def _activation(activation: Union[str, Activation]) -> str:
    if isinstance(activation, str):
        expect_choice("activation", activation, ("silu", "swiglu", "situv2"))
        activation = Activation(activation)
    if not isinstance(activation, Activation):
        raise ArgumentError(
            "activation", "must be a word or an Activation", type(activation).__name__
        )
    fields = [activation.kind]
    for name in ("limit", "beta", "linear_beta"):
        value = getattr(activation, name)
        if value is not None:
            fields.append(f"{name} = {float(value)!r} : f64")
    return f"#pa.activation<{', '.join(fields)}>"


def build(
    arrays: Dict[str, Array],
    *,
    formats: str,
    kinds: Dict[str, str],
    activation: Union[str, Activation, None],
    out_dtype: str,
    weight_layout: str,
    scale_layout: str,
    a_scale_layout: str,
    chip: str,
) -> Op:
    """The op of a call whose arguments fit."""
    expect_choice("formats", formats, tuple(FORMATS))
    expect_choice("weight_layout", weight_layout, ("linear", "shuffled_16x16"))
    layouts = {"a_scales": a_scale_layout, "b_scales": scale_layout}
    for argument, layout in (("scale_layout", scale_layout), ("a_scale_layout", a_scale_layout)):
        expect_choice(argument, layout, ("linear", "n32k4", "n32k8"))
    _check_shapes(arrays, kinds, layouts, formats, activation, out_dtype)
    elements = {
        "a": _element(arrays["a"], FORMATS[formats][0]),
        "b": _element(arrays["b"], FORMATS[formats][1]),
        "bias": "f32",
        "offsets": "i32",
        "row_ids": "i32",
        "row_weights": "f32",
        "c": _OUTPUTS[out_dtype][0],
        "c_scales": "i8",
    }
    for name, kind in kinds.items():
        elements[name] = "i8" if kind.startswith("e8m0") else "f32"
    # Tiles are chosen for about so many rows.
    hint = {0: ceil_power(max(arrays["c"].shape[0], 1))}
    per_row = ("a", "a_scales", "row_ids", "row_weights", "c", "c_scales")
    operands = [
        operand(
            array,
            elements[name],
            name=name,
            dynamic=(0,) if name in per_row else (),
            hints=hint if name == "c" or (name == "a" and "row_ids" not in arrays) else None,
        )
        for name, array in arrays.items()
    ]
    attributes = [
        ("format", f"#pa.gemm_format<{formats.replace('_fnuz', '')}>"),
        ("a_scale", f"#pa.scale<{kinds['a_scales']}>"),
        ("b_scale", f"#pa.scale<{kinds['b_scales']}>"),
        ("weight_layout", f"#pa.weight_layout<{weight_layout}>"),
        ("scale_layout", f"#pa.scale_layout<{scale_layout}>"),
        ("a_scale_layout", f"#pa.scale_layout<{a_scale_layout}>"),
    ]
    if activation is not None:
        attributes.append(("activation", _activation(activation)))
    groups, n, row = arrays["b"].shape
    k = row * 2 if FORMATS[formats][1] == "fp4" else row
    summary = f"{formats} E={groups} N={n} K={k} scales={','.join(kinds.values())} {out_dtype}"
    inputs = tuple(o for o in operands if o.name not in ("c", "c_scales"))
    outputs = tuple(o for o in operands if o.name in ("c", "c_scales"))
    return Op("grouped_gemm", inputs, outputs, tuple(attributes), summary)


def _check_shapes(arrays, kinds, layouts, formats, activation, out_dtype) -> None:
    expect_rank(arrays["a"], 2, "[M, K]")
    expect_rank(arrays["b"], 3, "[E, N, K], or [N, K] without offsets")
    kind_a, kind_b = FORMATS[formats]
    groups, n, row = arrays["b"].shape
    k = row * 2 if kind_b == "fp4" else row
    a_rows = arrays["a"].shape[0]
    rows = arrays["row_ids"].shape[0] if "row_ids" in arrays else a_rows
    columns = n if activation is None else n // 2
    expect_shape(arrays["a"], (a_rows, k // 2 if kind_a == "fp4" else k), "[M, K]")
    stored = columns // 2 if out_dtype == "mxfp4" else columns
    expect_shape(arrays["c"], (rows, stored), "[M, N], [M, N / 2] with an activation")
    expect_dtype(arrays["c"], *_OUTPUTS[out_dtype][1])
    expect_output(arrays["c"])
    if "c_scales" in arrays:
        expect_shape(arrays["c_scales"], (rows, columns // 32), "[M, columns / 32]")
        expect_dtype(arrays["c_scales"], "u8", "i8", "e8m0")
        expect_output(arrays["c_scales"])
    for name, wanted, axes, dtype in (
        ("bias", (groups, n), "[E, N]", "f32"),
        ("offsets", (groups + 1,), "[E + 1]", "i32"),
        ("row_ids", (rows,), "[M]", "i32"),
        ("row_weights", (rows,), "[M]", "f32"),
    ):
        if name in arrays:
            expect_shape(arrays[name], wanted, axes)
            expect_dtype(arrays[name], dtype)
    if "offsets" not in arrays and groups != 1:
        raise ArgumentError("offsets", f"must be given for the {groups} groups of b", None)
    for name, lead in (("a_scales", (a_rows,)), ("b_scales", (groups, n))):
        _check_scales(arrays, name, kinds[name], layouts[name], lead, k)
    for name in ("a", "b", "bias"):
        if name in arrays:
            expect_unit_stride(arrays[name])


def _check_contents(arrays: Dict[str, Array]) -> None:
    """What the kernel relies on, for arrays in host memory."""
    if "offsets" not in arrays:
        return
    cuts = arrays["offsets"].numpy(np.int32)
    descents = np.flatnonzero(cuts[1:] < cuts[:-1])
    if descents.size:
        e = descents[0]
        raise ArgumentError(
            f"offsets[{e + 1}]",
            "must not be below the one before",
            cuts[e + 1],
            f"{cuts[e]} or more",
        )


def _check_scales(
    arrays: Dict[str, Array], name: str, kind: str, layout: str, lead: Tuple, k: int
) -> None:
    argument = arrays[name].name if name in arrays else name[:-1]
    if kind == "none":
        if name in arrays:
            raise ArgumentError(argument, "must not be given for scales of kind none", "an array")
        return
    if name not in arrays:
        raise ArgumentError(argument, f"must be given for scales of kind {kind}", None)
    if kind == "f32_row":
        expect_shape(arrays[name], lead, "of one for each row")
        expect_dtype(arrays[name], "f32")
        return
    block_rows, block = _BLOCKS[kind]
    if k % block:
        raise ArgumentError(argument, f"K must be a multiple of {block} for {kind}", k)
    wanted = (*lead[:-1], -(-lead[-1] // block_rows), k // block)
    if name == "a_scales" and layout != "linear":
        # Whole tiles of rows, and more than `a` needs: a buffer for the largest batch.
        found = arrays[name].shape[0] if arrays[name].rank else 0
        wanted = (max(-(-found // 32), -(-lead[0] // 32)) * 32, k // block)
    expect_shape(arrays[name], wanted, f"of blocks of {block_rows}x{block}")
    expect_dtype(arrays[name], *(("u8", "i8", "e8m0") if kind.startswith("e8m0") else ("f32",)))
