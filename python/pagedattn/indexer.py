"""The entry point of ``pa.indexer``."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from . import logits
from .arrays import Array, as_array
from .errors import ArgumentError
from .ops import (
    Op,
    expect_choice,
    expect_dtype,
    expect_output,
    expect_rank,
    expect_shape,
    operand,
)
from .runtime import Result, run_op

_MAX_K = 4096
_MAX_COLUMNS = 2**31 - 1


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
) -> Result:
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
    build, arrays, parameters, outputs = describe(
        q,
        keys,
        key_scales,
        weights,
        block_table,
        context_lens,
        k,
        row_ends=row_ends,
        query_scales=query_scales,
        layout=layout,
        order=order,
        out=out,
        return_values=return_values,
    )
    return run_op(
        build,
        arrays,
        parameters,
        out=outputs,
        chip=chip,
        device=device,
        tuning=tuning,
        check_contents=logits._check_contents,
    )


def _outputs(q: Array, k: Any, out: Any, return_values: bool) -> Any:
    """What the caller gave, or new arrays."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= _MAX_K:
        raise ArgumentError("k", "must be an integer in range", repr(k), f"1 to {_MAX_K}")
    if out is not None:
        is_pair = isinstance(out, (tuple, list)) and len(out) == 2
        if return_values and not is_pair:
            raise ArgumentError(
                "out", "must be a pair (columns, values) with return_values", type(out).__name__
            )
        return tuple(out) if return_values else out
    if q.on_device:
        raise ArgumentError("out", "must be given where q is in device memory", None)
    expect_rank(q, 4, "[B, N, H, D]")
    shape = (q.shape[0] * q.shape[1], int(k))
    if return_values:
        return np.empty(shape, np.int32), np.empty(shape, np.float32)
    return np.empty(shape, np.int32)


def describe(
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
) -> Tuple[Callable[..., Op], Dict[str, Array], Dict[str, Any], Any]:
    """The operands of a call by the names of the manifest, the rest of it, and its
    outputs."""
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
    arrays = {name: as_array(name, value) for name, value in given.items() if value is not None}
    outputs = _outputs(arrays["q"], k, out, return_values)
    arrays["indices"] = as_array("out", outputs[0] if return_values else outputs)
    if return_values:
        arrays["top_values"] = as_array("out[1]", outputs[1])
    return build, arrays, {"k": int(k), "layout": layout, "order": order}, outputs


def build(arrays: Dict[str, Array], *, k: int, layout: str, order: str, chip: str) -> Op:
    """The op of a call whose arguments fit."""
    expect_choice("order", order, ("by_index", "by_value"))
    expect_rank(arrays["q"], 4, "[B, N, H, D]")
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
