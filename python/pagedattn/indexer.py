"""The entry point of ``pa.indexer``."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from . import logits
from .arrays import Array, as_array
from .ops import (
    Call,
    Op,
    expect_choice,
    expect_dtype,
    expect_output,
    expect_rank,
    expect_shape,
    operand,
)
from .runtime import entry_point
from .selection import expect_outputs

_MAX_COLUMNS = 2**31 - 1


@entry_point
def indexer(
    q: Any,
    keys: Any,
    key_scales: Any,
    weights: Any,
    block_table: Any,
    context_lens: Any,
    k: int,
    *,
    row_ends: Any = None,
    query_scales: Any = None,
    layout: str = "linear",
    order: str = "by_index",
    out: Any = None,
    return_values: bool = False,
    chip: Optional[str] = None,
    device: Optional[str] = None,
    **tuning: Any,
) -> Call:
    """The `k` best cached keys of each query row, without logits in memory.

    What :func:`pagedattn.topk` selects in the logits of :func:`pagedattn.paged_logits`,
    with the same bits. A row ends at ``row_ends[r]`` if given, else at
    ``context_lens[b] - N + i + 1``, and never after its context; a row with fewer
    than `k` columns gives all of them, then -1 and -inf.

    Args:
        q, keys, key_scales, weights, block_table, context_lens, row_ends, query_scales,
            layout: as for :func:`pagedattn.paged_logits`.
        k: 1 to 4096.
        order: ``by_index``, ascending columns, or ``by_value``, best first.
        out: int32 ``[B * N, k]``, or with `return_values` a pair of it and float32
            ``[B * N, k]``. Without it NumPy arrays are made; in device memory it has to
            be given.
        return_values: also the logits of the columns.
        chip, device: as for :func:`pagedattn.paged_logits`.
        tuning: fields of ``#pa.indexer_config``, options of the compiler.

    Returns:
        A :class:`Result` whose ``out`` is the columns, or with `return_values` the pair
        of columns and logits.

    Raises:
        ArgumentError, CompileError, EmulatorError: as for
            :func:`pagedattn.paged_logits`.
    """
    given = {
        "q": q,
        "query_scales": query_scales,
        "keys": keys,
        "key_scales": key_scales,
        "weights": weights,
        "block_table": block_table,
        "context_lens": context_lens,
        "row_ends": row_ends,
    }
    arrays = {
        name: as_array(name, value)
        for name, value in given.items()
        if value is not None or name not in ("query_scales", "row_ends")
    }
    expect_rank(arrays["q"], 4, "[B, N, H, D]")
    rows = arrays["q"].shape[0] * arrays["q"].shape[1]
    on_device = "q is" if arrays["q"].on_device else None
    outputs = expect_outputs(on_device, rows, k, out, return_values)
    arrays["indices"] = as_array("out", outputs[0] if return_values else outputs)
    if return_values:
        arrays["top_values"] = as_array("out[1]", outputs[1])
    parameters = {"k": int(k), "layout": layout, "order": order}
    return Call(
        build, arrays, parameters, outputs, chip, device, tuning, logits.check_contents
    )


def build(arrays: Dict[str, Array], *, k: int, layout: str, order: str, chip: str) -> Op:
    """The op of a call whose arguments fit."""
    expect_choice("order", order, ("by_index", "by_value"))
    rows = arrays["q"].shape[0] * arrays["q"].shape[1]
    outputs = {n: arrays[n] for n in ("indices", "top_values") if n in arrays}
    for name, array in outputs.items():
        expect_shape(array, (rows, k), "[B * N, k]")
        expect_dtype(array, "i32" if name == "indices" else "f32")
        expect_output(array)
    # Logits that nobody makes, so that what is scored is checked and typed as there.
    scored = {n: a for n, a in arrays.items() if n not in outputs}
    scored["logits"] = as_array("logits", np.empty((rows, 1), np.float32))
    scores = logits.build(scored, layout=layout, fill="none", chip=chip)
    attributes = tuple((n, text) for n, text in scores.attributes if n != "fill")
    return Op(
        "indexer",
        scores.inputs,
        tuple(
            operand(
                array,
                "i32" if name == "indices" else "f32",
                name=name,
                dynamic=(0,),
                free_strides=(0,),
            )
            for name, array in outputs.items()
        ),
        attributes + (("order", f"#pa.order<{order}>"),),
        f"k={k} {order}" + " values" * ("top_values" in outputs) + f" of {scores.summary}",
        # Rows end with their contexts and block tables.
        scalars=(("columns", _MAX_COLUMNS),),
    )
