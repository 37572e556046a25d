"""What the operators mean, in float64 NumPy.

Operands are the arrays that a kernel gets: codes in the layout that the
attributes name, and any strides that NumPy can express. Results are float64
and are not rounded to an output type, so that a test can choose its tolerance.
Functions raise ``ValueError`` where shapes or attributes disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import formats
from .formats import BLOCK, Floats, _expect

_COLUMNS_AT_ONCE = 8192
"""Columns of logits in work at a time, which bounds the memory of a call."""


def row_ends(
    context_lens: ArrayLike, num_queries: int, limit: Optional[int] = None
) -> NDArray[np.int64]:
    """Where each of the B * N rows ends without explicit row ends.

    Row ``b * N + i`` ends at ``context_lens[b] - N + i + 1``, at least 0 and at
    most ``limit``.
    """
    lens = np.asarray(context_lens, dtype=np.int64)
    ends = lens[:, None] - num_queries + 1 + np.arange(num_queries)
    most = np.iinfo(np.int64).max if limit is None else limit
    return np.clip(ends, 0, most).reshape(-1)


def _scaled(values: Floats, scales: Floats, block: int = BLOCK) -> Floats:
    """`values` times the scale of their block along the last axis."""
    blocks = values.reshape(*values.shape[:-1], values.shape[-1] // block, block)
    return (blocks * scales[..., None]).reshape(values.shape)


def _key_rows(keys, key_scales, pages, layout: str, fmt: str) -> Floats:
    """The decoded keys of `pages` one after the other, with their E8M0 scales."""
    data = np.asarray(keys)[pages]
    if data.dtype == np.int8:
        data = data.view(np.uint8)
    if layout == "tiled":
        data = formats.untile_pages(data)
    if fmt == "mxfp4":
        rows = formats.decode_fp4_pairs(data)
        rows = _scaled(rows, formats.decode_e8m0(np.asarray(key_scales)[pages]))
    else:
        rows = formats.decode(data, fmt)
    return rows.reshape(-1, rows.shape[-1])


def paged_logits(
    q: ArrayLike,
    keys: ArrayLike,
    key_scales: ArrayLike,
    weights: ArrayLike,
    block_table: ArrayLike,
    context_lens: ArrayLike,
    logits: ArrayLike,
    *,
    query_scales: Optional[ArrayLike] = None,
    row_ends: Optional[ArrayLike] = None,
    layout: str = "linear",
    fill: str = "none",
    fmt: str = "e4m3fn",
) -> Floats:
    """Scores of the cached keys of each sequence (``pa.paged_logits``).

    Args:
        q: codes ``[B, N, H, R]``, R = D for fp8 and D / 2 for mxfp4.
        keys: codes ``[pages, P, R]``, each page in `layout`.
        key_scales: float32 ``[pages, P]``, or E8M0 codes ``[pages, P, D / 32]``.
        weights: float32 ``[B * N, H]``.
        block_table: page ids ``[B, W]``, read as unsigned.
        context_lens: tokens of each sequence ``[B]``.
        logits: ``[B * N, C]``, what the output holds before.
        query_scales: E8M0 codes ``[B, N, H, D / 32]`` for mxfp4.
        row_ends: ``[B * N]``, in place of those that `context_lens` gives.
        layout: ``linear`` or ``tiled``.
        fill: ``none`` or ``neg_inf``.
        fmt: ``e4m3fn``, ``e4m3fnuz`` or ``mxfp4``.

    Returns:
        A float64 copy of `logits` with the columns of the rows written.
    """
    q = np.asarray(q)
    _expect(q.ndim == 4, f"q must have rank 4, found {q.ndim}")
    batch, num_queries, heads, _ = q.shape
    page = np.asarray(keys).shape[1]
    table = np.asarray(block_table).astype(np.int32).view(np.uint32)
    lens = np.asarray(context_lens, dtype=np.int64)
    out = np.array(logits, dtype=np.float64)
    weights = np.asarray(weights, dtype=np.float64)
    _expect(layout in ("linear", "tiled"), f"unknown layout {layout!r}")
    _expect(fill in ("none", "neg_inf"), f"unknown fill {fill!r}")
    _expect(
        fmt in ("e4m3fn", "e4m3fnuz", "mxfp4"),
        f"unknown format {fmt!r}, known are e4m3fn, e4m3fnuz, mxfp4",
    )
    _expect(
        (query_scales is not None) == (fmt == "mxfp4"),
        "query_scales belong to mxfp4, and only to it",
    )
    for name, found, wanted in [
        ("weights", weights.shape, (batch * num_queries, heads)),
        ("block_table", table.shape[:1], (batch,)),
        ("context_lens", lens.shape, (batch,)),
        ("logits", out.shape[:1], (batch * num_queries,)),
    ]:
        _expect(found == wanted, f"{name} must be {wanted}, found {found}")

    if q.dtype == np.int8:
        q = q.view(np.uint8)
    if query_scales is not None:
        queries = formats.decode_fp4_pairs(q)
        queries = _scaled(queries, formats.decode_e8m0(query_scales))
    else:
        queries = formats.decode(q, fmt)

    limits = np.minimum(lens, min(out.shape[1], table.shape[1] * page))
    if row_ends is None:
        ends = lens[:, None] - num_queries + 1 + np.arange(num_queries)
    else:
        ends = np.asarray(row_ends, dtype=np.int64).reshape(batch, num_queries)
    ends = np.clip(ends, 0, np.maximum(limits, 0)[:, None])

    step = max(1, _COLUMNS_AT_ONCE // page) * page
    for b in range(batch):
        last = int(ends[b].max())
        for first in range(0, last, step):
            stop = min(first + step, last)
            pages = table[b, first // page : -(-stop // page)]
            rows = _key_rows(keys, key_scales, pages, layout, fmt)[: stop - first]
            dots = queries[b].reshape(num_queries * heads, -1) @ rows.T
            dots = np.maximum(dots, 0).reshape(num_queries, heads, -1)
            weight = weights[b * num_queries : (b + 1) * num_queries]
            scores = np.matmul(weight[:, None, :], dots)[:, 0]
            if fmt != "mxfp4":
                scales = np.asarray(key_scales)[pages].astype(np.float64)
                scores = scores * scales.reshape(-1)[: stop - first]
            for i in range(num_queries):
                end = min(stop, int(ends[b, i]))
                if end > first:
                    out[b * num_queries + i, first:end] = scores[i, : end - first]
    if fill == "neg_inf":
        for row, end in enumerate(ends.reshape(-1)):
            out[row, end:] = -np.inf
    return out


def topk_keys(values: ArrayLike) -> NDArray[np.uint32]:
    """Unsigned numbers in the order of ``pa.topk``: the greater, the better.

    0 stands for every NaN, and +0 is above -0.
    """
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    flipped = np.where(bits >> 31 == 1, ~bits, bits | 0x80000000)
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, 0, flipped).astype(np.uint32)


def topk(
    values: ArrayLike,
    k: int,
    *,
    row_starts: Optional[ArrayLike] = None,
    row_ends: Optional[ArrayLike] = None,
    order: str = "by_index",
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The k best columns of every row (``pa.topk``).

    Args:
        values: float32 ``[R, C]``.
        k: columns to select, at least 1.
        row_starts, row_ends: ``[R]``, the range of each row, all of it where
            absent.
        order: ``by_index`` or ``by_value``.

    Returns:
        Columns int32 ``[R, k]`` and values float32 ``[R, k]``; rows of fewer
        columns end with -1 and -inf.
    """
    values = np.asarray(values)
    _expect(values.ndim == 2, f"values must have rank 2, found {values.ndim}")
    _expect(values.dtype == np.float32, f"values must be f32, found {values.dtype}")
    _expect(k >= 1, f"k must be at least 1, found {k}")
    _expect(order in ("by_index", "by_value"), f"unknown order {order!r}")
    rows, columns = values.shape
    starts = np.zeros(rows, np.int64) if row_starts is None else np.asarray(row_starts)
    ends = np.full(rows, columns) if row_ends is None else np.asarray(row_ends)
    _expect(
        starts.shape == ends.shape == (rows,),
        f"row starts and ends must be ({rows},), found {starts.shape}, {ends.shape}",
    )
    indices = np.full((rows, k), -1, np.int32)
    best = np.full((rows, k), -np.inf, np.float32)
    for row in range(rows):
        start, end = max(int(starts[row]), 0), min(int(ends[row]), columns)
        if end <= start:
            continue
        worse = ~topk_keys(values[row, start:end])
        candidates = np.arange(worse.size)
        if worse.size > k:
            worst = np.partition(worse, k - 1)[k - 1]
            candidates = np.flatnonzero(worse <= worst)
        ranked = candidates[np.argsort(worse[candidates], kind="stable")][:k]
        if order == "by_index":
            ranked = np.sort(ranked)
        indices[row, : ranked.size] = ranked + start
        best[row, : ranked.size] = values[row, ranked + start]
    return indices, best


@dataclass(frozen=True)
class Activation:
    """A gated activation on interleaved gate and up columns.

    ``kind`` is ``silu``, ``swiglu`` or ``situv2``. ``limit`` belongs to the
    first two, where 0 and ``None`` mean none for silu and 7 for swiglu; ``beta``
    and ``linear_beta`` belong to situv2 and are 1 where ``None``.
    """

    kind: str
    limit: Optional[float] = None
    beta: Optional[float] = None
    linear_beta: Optional[float] = None

    def __post_init__(self) -> None:
        _expect(
            self.kind in ("silu", "swiglu", "situv2"),
            f"unknown activation {self.kind!r}, known are silu, swiglu, situv2",
        )

    def __call__(self, product: Floats) -> Floats:
        """Columns ``[M, N / 2]`` of a product ``[M, N]``."""
        _expect(
            product.shape[-1] % 2 == 0,
            f"an activation needs an even N, found {product.shape[-1]}",
        )
        gate, up = product[..., 0::2], product[..., 1::2]
        if self.kind == "situv2":
            beta, linear_beta = self.beta or 1.0, self.linear_beta or 1.0
            bounded = beta * np.tanh(gate / beta) * _sigmoid(gate)
            return bounded * linear_beta * np.tanh(up / linear_beta)
        limit = self.limit or (7.0 if self.kind == "swiglu" else np.inf)
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
        if self.kind == "silu":
            return gate * _sigmoid(gate) * up
        return gate * _sigmoid(1.702 * gate) * (up + 1)


def _sigmoid(x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


_GEMM_FORMATS = {
    "a8w8": ("fp8", "fp8"),
    "a8w4": ("fp8", "e2m1"),
    "a4w4": ("e2m1", "e2m1"),
    "bf16": ("bf16", "bf16"),
    "f16": ("f16", "f16"),
}
_SCALE_BLOCKS = {
    "e8m0_1x32": (1, 32),
    "e8m0_32x32": (32, 32),
    "f32_1x128": (1, 128),
    "f32_128x128": (128, 128),
}


def _decode_operand(data: NDArray, kind: str, fp8: str) -> Floats:
    if kind == "bf16":
        return formats.decode_bf16(data)
    if kind == "f16":
        return data.view(np.float16).astype(np.float64)
    data = data.view(np.uint8) if data.dtype == np.int8 else data
    if kind == "e2m1":
        return formats.decode_fp4_pairs(data)
    return formats.decode(data, fp8)


def _scale_operand(values: Floats, scales: Optional[ArrayLike], kind: str) -> Floats:
    """Values ``[..., rows, K]`` with their scales."""
    if kind == "none":
        return values
    if scales is None:
        raise ValueError(f"scales of kind {kind} are missing")
    if kind == "f32_row":
        return values * np.asarray(scales, dtype=np.float64)[..., None]
    _expect(
        kind in _SCALE_BLOCKS,
        f"unknown scale kind {kind!r}, known are none, f32_row, "
        f"{', '.join(_SCALE_BLOCKS)}",
    )
    rows, k = values.shape[-2:]
    block_rows, block = _SCALE_BLOCKS[kind]
    factors = (
        formats.decode_e8m0(scales)
        if kind.startswith("e8m0")
        else np.asarray(scales, dtype=np.float64)
    )
    wanted = (-(-rows // block_rows), k // block)
    _expect(
        factors.shape[-2:] == wanted,
        f"scales of kind {kind} must be {wanted}, found {factors.shape[-2:]}",
    )
    return _scaled(values, np.repeat(factors, block_rows, axis=-2)[..., :rows, :], block)


def grouped_gemm(
    a: ArrayLike,
    b: ArrayLike,
    rows: int,
    fmt: str,
    *,
    a_scales: Optional[ArrayLike] = None,
    a_scale: str = "none",
    b_scales: Optional[ArrayLike] = None,
    b_scale: str = "none",
    bias: Optional[ArrayLike] = None,
    offsets: Optional[ArrayLike] = None,
    row_ids: Optional[ArrayLike] = None,
    row_weights: Optional[ArrayLike] = None,
    weight_layout: str = "linear",
    scale_layout: str = "linear",
    a_scale_layout: str = "linear",
    activation: Optional[Activation] = None,
    fp8: str = "e4m3fn",
) -> tuple[Floats, NDArray[np.bool_]]:
    """One matrix product per group of rows (``pa.grouped_gemm``).

    Args:
        a: codes ``[rows of A, K]``; fp4 pairs and 16-bit codes as stored.
        b: codes ``[E, N, K]`` in `weight_layout`.
        rows: rows of the output.
        fmt: ``a8w8``, ``a8w4``, ``a4w4``, ``bf16`` or ``f16``.
        a_scales, b_scales: scales as the kinds `a_scale` and `b_scale` say, those
            of B in `scale_layout`, those of A in `a_scale_layout` with rows rounded
            up to a multiple of 32.
        bias: float32 ``[E, N]``.
        offsets: ``[E + 1]``; one group of all rows where absent.
        row_ids: row of A for each output row; rows whose id is outside of A are
            not touched.
        row_weights: float32 ``[rows]``.
        activation: what turns N product columns into N / 2.
        fp8: flavour of the fp8 operands.

    Returns:
        The output float64 ``[rows, N or N / 2]``, 0 where not touched, and for
        each row whether it is touched.
    """
    _expect(
        fmt in _GEMM_FORMATS,
        f"unknown format {fmt!r}, known are {', '.join(_GEMM_FORMATS)}",
    )
    kind_a, kind_b = _GEMM_FORMATS[fmt]
    left = _decode_operand(np.asarray(a), kind_a, fp8)
    weights = np.asarray(b)
    _expect(
        weight_layout in ("linear", "shuffled_16x16"),
        f"unknown weight layout {weight_layout!r}, known are linear, shuffled_16x16",
    )
    groups, n, k = weights.shape
    k = k * 2 if kind_b == "e2m1" else k
    _expect(left.shape[1] == k, f"K of a must be {k}, found {left.shape[1]}")
    if a_scale_layout != "linear":
        a_scales = formats.unshuffle_scales(np.asarray(a_scales), a_scale_layout)
        a_scales = a_scales[: left.shape[0]]
    left = _scale_operand(left, a_scales, a_scale)

    def expert(e: int) -> Floats:
        """Weights of one expert with their scales."""
        data = weights[e]
        if weight_layout == "shuffled_16x16":
            data = formats.unshuffle_16x16(data)
        values = _decode_operand(data, kind_b, fp8)
        if b_scale == "none":
            return values
        codes = formats.unshuffle_scales(np.asarray(b_scales)[e], scale_layout)
        return _scale_operand(values, codes, b_scale)

    if offsets is None:
        _expect(groups == 1, f"without offsets there is one group, found {groups}")
        offsets = np.array([0, rows])
    cuts = np.clip(np.asarray(offsets, dtype=np.int64), 0, rows)
    _expect(
        cuts.shape == (groups + 1,),
        f"offsets must have {groups + 1} entries, found {cuts.shape}",
    )
    ids = np.arange(rows) if row_ids is None else np.asarray(row_ids, np.int64)

    columns = n if activation is None else n // 2
    out = np.zeros((rows, columns))
    touched = np.zeros(rows, np.bool_)
    for e in range(groups):
        chosen = np.arange(cuts[e], cuts[e + 1])
        chosen = chosen[(ids[chosen] >= 0) & (ids[chosen] < left.shape[0])]
        if not chosen.size:
            continue
        product = left[ids[chosen]] @ expert(e).T
        if bias is not None:
            product = product + np.asarray(bias, np.float64)[e]
        result = product if activation is None else activation(product)
        if row_weights is not None:
            result = result * np.asarray(row_weights, np.float64)[chosen, None]
        out[chosen] = result
        touched[chosen] = True
    return out, touched
