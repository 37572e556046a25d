"""The entry point of ``pa.paged_logits``."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from .arrays import Array, as_array
from .errors import ArgumentError
from .ops import (
    Call,
    Op,
    expect_choice,
    expect_dtype,
    expect_output,
    expect_rank,
    expect_shape,
    expect_unit_stride,
    fp8_element,
    native_fp8,
    operand,
)
from .runtime import entry_point


@entry_point
def paged_logits(
    q: Any,
    keys: Any,
    key_scales: Any,
    weights: Any,
    block_table: Any,
    context_lens: Any,
    *,
    out: Any,
    row_ends: Any = None,
    query_scales: Any = None,
    layout: str = "linear",
    fill: str = "none",
    chip: Optional[str] = None,
    device: Optional[str] = None,
    **tuning: Any,
) -> Call:
    """Scores of the cached keys of each sequence, into `out`.

    For row ``r = b * N + i`` and column ``c`` before the row's end, with page
    ``p = block_table[b, c // P]`` and slot ``t = c % P``::

        out[r, c] = key_scales[p, t] * sum_h weights[r, h] * max(q[b, i, h] . keys[p, t], 0)

    The row ends at ``row_ends[r]`` if given, else at ``context_lens[b] - N + i + 1``.
    Columns at or beyond it keep what they hold, or become -inf with
    ``fill="neg_inf"``. :func:`pagedattn.reference.paged_logits` has the same contract
    in float64.

    Args:
        q: fp8 ``[B, N, H, D]``; plain bytes are of the chip's own fp8 flavour. With
            `query_scales` fp4 pairs ``[B, N, H, D / 2]``, even elements low.
        keys: ``[pages, P, D]`` (``D / 2``) in the format of `q`. Any strides between
            pages and slots; the innermost stride is 1.
        key_scales: float32 ``[pages, P]``, not negative, any strides. With
            `query_scales` E8M0 codes ``[pages, P, D / 32]``.
        weights: float32 ``[B * N, H]``.
        block_table: int32 ``[B, W]``, page ids, read as unsigned.
        context_lens: int32 ``[B]`` in tokens, the N query tokens included.
        out: float32 ``[B * N, C]``, written in place; any stride between rows.
        row_ends: int32 ``[B * N]``.
        query_scales: E8M0 codes ``[B, N, H, D / 32]``; they make the format mxfp4.
        layout: bytes of a page: ``linear``, or ``tiled``
            (:func:`pagedattn.formats.tile_pages`).
        fill: ``none`` or ``neg_inf``.
        chip: gfx number; of the GPU, or a default (:func:`pagedattn.using`).
        device: ``emulator`` or ``hip``; by default where the arrays are.
        tuning: fields of ``#pa.logits_config`` (``chunk``, ``waves``, ``query``, ...),
            options of the compiler, or ``num_workers``, the workgroups of the launch.

    Returns:
        A :class:`Result` whose ``out`` is `out`.

    Raises:
        ArgumentError: an argument breaks a rule. Contents are checked only where
            they are in host memory.
        CompileError: the chip cannot do it.
        EmulatorError: the kernel has faulted in the emulator.
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
    arrays["logits"] = as_array("out", out)
    parameters = {"layout": layout, "fill": fill}
    return Call(build, arrays, parameters, out, chip, device, tuning, check_contents)


def build(arrays: Dict[str, Array], *, layout: str, fill: str, chip: str) -> Op:
    """The op of a call whose arguments fit."""
    expect_choice("layout", layout, ("linear", "tiled"))
    expect_choice("fill", fill, ("none", "neg_inf"))
    is_fp4 = "query_scales" in arrays
    _check_shapes(arrays, is_fp4)

    batch, queries, heads, row = arrays["q"].shape
    page = arrays["keys"].shape[1]
    if is_fp4:
        element = "i8"
        for name in ("q", "keys"):
            expect_dtype(arrays[name], "u8", "i8", "fp4x2")
    else:
        flavour = native_fp8(chip)
        element = fp8_element(arrays["q"], flavour, chip)
        fp8_element(arrays["keys"], flavour, chip)
    elements = {
        "q": element,
        "keys": element,
        "query_scales": "i8",
        "key_scales": "i8" if is_fp4 else "f32",
        "weights": "f32",
        "logits": "f32",
    }
    dynamic = {"block_table": (0, 1), "logits": (0, 1)}
    inputs = [
        operand(
            array,
            elements.get(name, "i32"),
            name=name,
            keyword="queries" if name == "q" else name,
            dynamic=dynamic.get(name, (0,)),
            free_strides=(0,) if name == "block_table" else (),
            # One sequence alone needs no balance.
            hints={0: 1} if name == "q" and batch == 1 else None,
        )
        for name, array in arrays.items()
        if name != "logits"
    ]
    logits = operand(
        arrays["logits"], "f32", name="logits", dynamic=(0, 1), free_strides=(0,)
    )
    fmt = "mxfp4" if is_fp4 else "fp8"
    attributes = (
        ("layout", f"#pa.layout<{layout}>"),
        ("fill", f"#pa.fill<{fill}>"),
        ("format", f"#pa.key_format<{fmt}>"),
    )
    dim = row * 2 if is_fp4 else row
    summary = f"{fmt} N={queries} H={heads} D={dim} P={page} {layout} fill={fill}"
    return Op("paged_logits", tuple(inputs), (logits,), attributes, summary)


def _check_shapes(arrays: Dict[str, Array], is_fp4: bool) -> None:
    expect_rank(arrays["q"], 4, "[B, N, H, D]")
    expect_rank(arrays["keys"], 3, "[pages, P, D]")
    expect_rank(arrays["block_table"], 2, "[B, W]")
    expect_rank(arrays["logits"], 2, "[B * N, C]")
    batch, queries, heads, row = arrays["q"].shape
    pages, page, _ = arrays["keys"].shape
    rows = batch * queries
    expect_shape(arrays["keys"], (pages, page, row), "[pages, P, D]")
    expect_shape(arrays["weights"], (rows, heads), "[B * N, H]")
    expect_shape(arrays["context_lens"], (batch,), "[B]")
    expect_shape(arrays["block_table"], (batch, arrays["block_table"].shape[1]), "[B, W]")
    expect_shape(arrays["logits"], (rows, arrays["logits"].shape[1]), "[B * N, C]")
    if "row_ends" in arrays:
        expect_shape(arrays["row_ends"], (rows,), "[B * N]")
        expect_dtype(arrays["row_ends"], "i32")
    if is_fp4:
        blocks = row // 16
        expect_shape(arrays["query_scales"], (batch, queries, heads, blocks), "[B, N, H, D / 32]")
        expect_shape(arrays["key_scales"], (pages, page, blocks), "[pages, P, D / 32]")
        for name in ("query_scales", "key_scales"):
            expect_dtype(arrays[name], "u8", "i8", "e8m0")
    else:
        expect_shape(arrays["key_scales"], (pages, page), "[pages, P]")
        expect_dtype(arrays["key_scales"], "f32")
    expect_dtype(arrays["weights"], "f32")
    expect_dtype(arrays["block_table"], "i32", "u32")
    expect_dtype(arrays["context_lens"], "i32")
    expect_dtype(arrays["logits"], "f32")
    for name in ("q", "keys", "weights", "block_table"):
        expect_unit_stride(arrays[name])
    expect_output(arrays["logits"])


def check_contents(arrays: Dict[str, Array]) -> None:
    """What the kernel relies on, for arrays in host memory."""
    pages, page, _ = arrays["keys"].shape
    lens = arrays["context_lens"].numpy(np.int32).astype(np.int64)
    table = arrays["block_table"].numpy(np.uint32)
    limit = table.shape[1] * page
    if lens.size and lens.max() > limit:
        b = int(lens.argmax())
        raise ArgumentError(
            f"context_lens[{b}]",
            f"must fit the {table.shape[1]} pages of {page} tokens of the block table",
            lens[b],
            f"at most {limit}",
        )
    used = -(-np.maximum(lens, 0) // page)
    if not used.size or not used.max():
        return
    columns = np.arange(used.max())
    sequence, column = np.nonzero(columns < used[:, None])
    ids = table[sequence, column]
    wrong = np.flatnonzero(ids >= pages)
    if wrong.size:
        b, j = sequence[wrong[0]], column[wrong[0]]
        raise ArgumentError(
            f"block_table[{b}, {j}]",
            f"must be a page, since sequence {b} has {lens[b]} tokens",
            ids[wrong[0]],
            f"0 to {pages - 1}" if pages else "none, since keys has no pages",
        )
    if arrays["key_scales"].dtype != "f32":
        return
    slots = column[:, None] * page + np.arange(page)
    is_used = slots < lens[sequence][:, None]
    scales = arrays["key_scales"].numpy(np.float32)[ids]
    negative = np.argwhere((scales < 0) & is_used)
    if negative.size:
        i, t = negative[0]
        raise ArgumentError(
            f"key_scales[{ids[i]}, {t}]", "must not be negative", scales[i, t], "0 or more"
        )
