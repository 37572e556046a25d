"""The entry point of ``pa.topk``."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from .arrays import Array, as_array
from .errors import ArgumentError, expect_integer
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
    floor_power,
    operand,
)
from .runtime import entry_point

_MAX_K = 4096
_MAX_COLUMNS = 2**31 - 1


@entry_point
def topk(
    values: Any,
    row_ends: Any,
    k: int,
    *,
    row_starts: Any = None,
    order: str = "by_index",
    out: Any = None,
    return_values: bool = False,
    chip: Optional[str] = None,
    device: Optional[str] = None,
    **tuning: Any,
) -> Call:
    """The `k` best columns of every row.

    Of row r the columns from ``row_starts[r]`` (0) to ``row_ends[r]`` (C) count; nothing
    else is read. Numbers have IEEE's order with +0 above -0, NaN is below -inf, and the
    lower column is the better one of equals: the result is unique. A row with fewer
    columns gives all of them, then -1 and -inf.
    :func:`pagedattn.reference.topk` has the same contract.

    Args:
        values: float32 ``[R, C]``, any stride between rows, C up to 2^31 - 1.
        row_ends: int32 ``[R]``, or None for whole rows.
        k: 1 to 4096.
        row_starts: int32 ``[R]``.
        order: ``by_index``, ascending columns, or ``by_value``, best first.
        out: int32 ``[R, k]``, or with `return_values` a pair of it and float32
            ``[R, k]``. Without it NumPy arrays are made; in device memory it has to be
            given.
        return_values: also the values of the columns.
        chip, device: as for :func:`pagedattn.paged_logits`.
        tuning: fields of ``#pa.topk_config``, options of the compiler.

    Returns:
        A :class:`Result` whose ``out`` is the columns, or with `return_values` the pair
        of columns and values.

    Raises:
        ArgumentError, CompileError, EmulatorError: as for
            :func:`pagedattn.paged_logits`.
    """
    arrays: Dict[str, Array] = {"values": as_array("values", values)}
    expect_rank(arrays["values"], 2, "[R, C]")
    rows = arrays["values"].shape[0]
    on_device = "values are" if arrays["values"].on_device else None
    outputs = expect_outputs(on_device, rows, k, out, return_values)
    if row_starts is not None:
        arrays["row_starts"] = as_array("row_starts", row_starts)
    if row_ends is not None:
        arrays["row_ends"] = as_array("row_ends", row_ends)
    arrays["indices"] = as_array("out", outputs[0] if return_values else outputs)
    if return_values:
        arrays["top_values"] = as_array("out[1]", outputs[1])
    parameters = {"k": int(k), "order": order}
    return Call(build, arrays, parameters, outputs, chip, device, tuning)


def expect_outputs(
    on_device: Optional[str], rows: int, k: Any, out: Any, return_values: bool
) -> Any:
    """What the caller gave for `rows` rows, or new arrays; not where something is
    `on_device`."""
    expect_integer("k", k, 1, _MAX_K)
    if out is not None:
        is_pair = isinstance(out, (tuple, list)) and len(out) == 2
        if return_values and not is_pair:
            raise ArgumentError(
                "out", "must be a pair (columns, values) with return_values", type(out).__name__
            )
        return tuple(out) if return_values else out
    if on_device:
        raise ArgumentError("out", f"must be given where {on_device} in device memory", None)
    shape = (rows, int(k))
    if return_values:
        return np.empty(shape, np.int32), np.empty(shape, np.float32)
    return np.empty(shape, np.int32)


def build(arrays: Dict[str, Array], *, k: int, order: str, chip: str) -> Op:
    """The op of a call whose arguments fit."""
    expect_choice("order", order, ("by_index", "by_value"))
    expect_rank(arrays["values"], 2, "[R, C]")
    expect_dtype(arrays["values"], "f32")
    expect_unit_stride(arrays["values"])
    rows, columns = arrays["values"].shape
    if columns > _MAX_COLUMNS:
        raise ArgumentError("values", "has too many columns", columns, f"at most {_MAX_COLUMNS}")
    for name in ("row_starts", "row_ends"):
        if name in arrays:
            expect_shape(arrays[name], (rows,), "[R]")
            expect_dtype(arrays[name], "i32")
    for name in ("indices", "top_values"):
        if name in arrays:
            expect_shape(arrays[name], (rows, k), "[R, k]")
            expect_dtype(arrays[name], "i32" if name == "indices" else "f32")
            expect_output(arrays[name])

    # The compiler chooses how many workgroups share a row for about these sizes.
    hints = {0: ceil_power(max(rows, 1)), 1: floor_power(max(columns, 1))}
    inputs = [
        operand(
            arrays["values"],
            "f32",
            name="values",
            dynamic=(0, 1),
            free_strides=(0,),
            hints=hints,
        )
    ]
    inputs += [
        operand(arrays[name], "i32", name=name, dynamic=(0,))
        for name in ("row_starts", "row_ends")
        if name in arrays
    ]
    outputs = [
        operand(arrays[name], element, name=name, dynamic=(0,), free_strides=(0,))
        for name, element in (("indices", "i32"), ("top_values", "f32"))
        if name in arrays
    ]
    summary = f"k={k} {order}" + " values" * ("top_values" in arrays)
    attributes = (("order", f"#pa.order<{order}>"),)
    return Op("topk", tuple(inputs), tuple(outputs), attributes, summary)
