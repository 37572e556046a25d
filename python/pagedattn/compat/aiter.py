"""AITER's entry points: its parameters, defaults and in-place results.

``from pagedattn.compat.aiter import top_k_per_row_decode`` in place of the import from
``aiter`` is the whole change to a caller. Arguments are torch tensors or NumPy arrays, the
latter on the emulator, whose chip :func:`pagedattn.using` or ``PAGEDATTN_CHIP`` names.

What differs:

* an argument that does not fit is a :class:`pagedattn.ArgumentError`, not an
  ``AssertionError``, and is one whatever Python's ``-O`` says;
* results are the same in every run: top-k is always stable, in ascending order of column;
* in top-k a NaN of either sign is worse than -inf (AITER takes +NaN for the best), and
  the values beyond a short row are -inf (AITER: 0);
* parameters of AITER's schedules (``ChunkK``, ``WavePerEU``, ``VarCtxSchedule``,
  ``SplitKV``, ``PersistentSchedule``, ``split_k``, ``config``, ``workspace``) are checked as
  far as AITER checks them and have no effect: no result depends on a schedule.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, Optional, Tuple

import numpy as np

from ..arrays import Array, as_array
from ..errors import ArgumentError
from ..gemm import grouped_gemm
from ..logits import paged_logits
from ..runtime import Result
from ..selection import topk

_SCALE_BYTES = 4


def _split_cache(kv_cache: Any, dim: int) -> Tuple[Array, Array]:
    """Keys ``[pages, P, D]`` and their scales ``[pages, P]`` as two views of the cache.

    A page has the values of all its tokens and then the scales of all its tokens,
    whatever the shape ``[pages, P, 1, D + 4]`` suggests.
    """
    cache = as_array("kv_cache", kv_cache)
    if cache.rank != 4 or cache.shape[2] != 1 or cache.shape[3] < dim + _SCALE_BYTES:
        raise ArgumentError(
            "kv_cache", f"must have shape [pages, P, 1, {dim + _SCALE_BYTES} or more]", cache.shape
        )
    if cache.itemsize != 1:
        raise ArgumentError("kv_cache", "must have elements of one byte", cache.dtype)
    pages, page, _, row = cache.shape
    stride = cache.strides[0]
    if (page > 1 and cache.strides[1] != row) or cache.strides[3] != 1:
        raise ArgumentError("kv_cache", "pages must be contiguous inside", cache.strides)
    if (pages > 1 and stride % _SCALE_BYTES) or (cache.address + page * dim) % _SCALE_BYTES:
        raise ArgumentError(
            "kv_cache",
            f"scales must be aligned to {_SCALE_BYTES} bytes",
            f"an address of {cache.address:#x} and {stride} bytes from page to page",
        )
    if pages <= 1:
        stride = -(-page * row // _SCALE_BYTES) * _SCALE_BYTES
    keys = replace(cache, shape=(pages, page, dim), strides=(stride, dim, 1))
    scales = replace(
        cache,
        address=cache.address + page * dim,
        shape=(pages, page),
        strides=(stride, _SCALE_BYTES),
        dtype="f32",
        itemsize=_SCALE_BYTES,
    )
    return keys, scales


def deepgemm_fp8_paged_mqa_logits(
    q_fp8: Any,
    kv_cache: Any,
    weights: Any,
    out_logits: Any,
    context_lens: Any,
    kv_indices: Any,
    max_model_len: int,
    Preshuffle: bool = False,
    KVBlockSize: int = 1,
    ChunkK: int = 256,
    TotalCuCount: Optional[int] = None,
    WavePerEU: int = 2,
    VarCtxSchedule: Any = None,
    SplitKV: Optional[int] = None,
    PersistentSchedule: Any = None,
) -> Result:
    """Scores of a decode step, into `out_logits`.

    Columns at or beyond a row's end are left alone: the caller fills them with -inf
    before, as for AITER.

    Args:
        q_fp8: ``[B, next_n, H, D]``, fp8 of the chip or bytes.
        kv_cache: ``[pages, KVBlockSize, 1, D + 4]`` bytes or fp8, a page's values and then
            its float32 scales; any stride between pages.
        weights: float32 ``[B * next_n, H]``.
        out_logits: float32 ``[B * next_n, max_model_len or more]``.
        context_lens: int32 ``[B]``.
        kv_indices: int32 ``[B, W]``, the block table.
        max_model_len: columns at or beyond it are not written.
        Preshuffle: pages are tiled (:func:`pagedattn.formats.tile_pages`).
        KVBlockSize: tokens of a page.
        ChunkK: a multiple or a divisor of `KVBlockSize`.
        TotalCuCount: compute units to fill, those of the chip where absent.

    Returns:
        A :class:`pagedattn.Result`. AITER returns a string that names its kernel.
    """
    q = as_array("q_fp8", q_fp8)
    if q.rank != 4:
        raise ArgumentError("q_fp8", "must have rank 4 [B, next_n, H, D]", q.shape)
    keys, scales = _split_cache(kv_cache, q.shape[3])
    if keys.shape[1] != KVBlockSize:
        raise ArgumentError(
            "KVBlockSize", "must be the tokens of a page of kv_cache", KVBlockSize, keys.shape[1]
        )
    if ChunkK < 1 or (ChunkK % KVBlockSize and KVBlockSize % ChunkK):
        raise ArgumentError("ChunkK", f"must be a multiple or a divisor of {KVBlockSize}", ChunkK)
    out = as_array("out_logits", out_logits)
    if out.rank != 2 or not 1 <= max_model_len <= out.shape[1]:
        raise ArgumentError(
            "max_model_len", f"must be a number of columns of out_logits {out.shape}", max_model_len
        )
    tuning: Any = {} if TotalCuCount is None else {"num_cus": TotalCuCount}
    result = paged_logits(
        q,
        keys,
        scales,
        weights,
        as_array("kv_indices", kv_indices),
        context_lens,
        out=replace(out, shape=(out.shape[0], int(max_model_len))),
        layout="tiled" if Preshuffle else "linear",
        **tuning,
    )
    return replace(result, out=out_logits)


def _rows_of(
    name: str, value: Any, rows: int, stride0: Optional[int] = None, stride1: int = 1
) -> Array:
    """The first `rows` rows of a matrix whose strides the caller states."""
    array = as_array(name, value)
    if array.rank != 2:
        raise ArgumentError(name, "must have rank 2", array.shape)
    if not 0 <= rows <= array.shape[0]:
        raise ArgumentError("numRows", f"must be rows of {name}", rows, f"0 to {array.shape[0]}")
    if stride0 is not None:
        strides = array.element_strides()
        if stride1 != 1 or (rows > 1 and strides[0] != stride0):
            raise ArgumentError(
                "stride0, stride1", f"must be those of {name}, and stride1 must be 1",
                (stride0, stride1), strides,
            )
    return replace(array, shape=(rows, array.shape[1]))


def _decode_ends(seq_lens: Any, next_n: int, rows: int) -> Any:
    """``seqLens[r // next_n] - next_n + r % next_n + 1`` for each row."""
    lens = as_array("seqLens", seq_lens)
    if lens.rank != 1 or lens.dtype != "i32":
        raise ArgumentError("seqLens", "must be int32 [B]", f"{lens.dtype} {lens.shape}")
    if next_n < 1 or rows > lens.shape[0] * next_n:
        raise ArgumentError(
            "next_n", f"must be positive and account for {rows} rows", next_n,
            f"with the {lens.shape[0]} sequences of seqLens",
        )
    if next_n == 1:
        step = lens.element_strides()[0] * lens.itemsize
        return replace(lens, shape=(rows,), strides=(step,))
    if not lens.on_device:
        i = np.arange(rows)
        return (lens.numpy(np.int32)[i // next_n] - next_n + i % next_n + 1).astype(np.int32)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(seq_lens, torch.Tensor):
        raise ArgumentError(
            "seqLens",
            "in device memory must be a torch tensor for next_n above 1; give pagedattn.topk the "
            "row ends otherwise",
            type(seq_lens).__name__,
        )
    within = torch.arange(1 - next_n, 1, dtype=torch.int32, device=seq_lens.device)
    return (seq_lens[:, None] + within).reshape(-1)[:rows]


def top_k_per_row_decode(
    logits: Any,
    next_n: int,
    seqLens: Any,
    indices: Any,
    numRows: int,
    stride0: int,
    stride1: int,
    k: int = 2048,
    stable: bool = False,
    *,
    workspace: Any = None,
) -> Result:
    """The `k` best columns of each row of a decode step, into `indices`.

    Row r counts to ``seqLens[r // next_n] - next_n + r % next_n + 1``. Columns are in ascending
    order, of equal values the lower ones, then -1.

    Args:
        logits: float32 ``[numRows, C]``.
        next_n: rows of a sequence.
        seqLens: int32 ``[numRows / next_n]``.
        indices: int32 ``[numRows, k]``.
        numRows, stride0, stride1: of `logits`, in elements.
        k: 1 to 4096.
        stable: has no effect, the result always is.
    """
    values = _rows_of("logits", logits, numRows, stride0, stride1)
    result = topk(
        values, _decode_ends(seqLens, next_n, numRows), k, out=_rows_of("indices", indices, numRows)
    )
    return replace(result, out=indices)


def top_k_per_row_prefill(
    logits: Any,
    rowStarts: Any,
    rowEnds: Any,
    indices: Any,
    values: Any,
    numRows: int,
    stride0: int,
    stride1: int,
    k: int = 2048,
    stable: bool = False,
) -> Result:
    """The `k` best columns of each row, into `indices` and, if it is not None, `values`.

    Row r counts from ``rowStarts[r]`` to ``rowEnds[r]``. Columns are absolute, in ascending
    order, of equal values the lower ones, then -1 (values: -inf).

    Args:
        logits: float32 ``[numRows, C]``.
        rowStarts, rowEnds: int32 ``[numRows]``.
        indices: int32 ``[numRows, k]``.
        values: float32 ``[numRows, k]`` or None.
        numRows, stride0, stride1: of `logits`, in elements.
        k: 1 to 4096.
        stable: has no effect, the result always is.
    """
    outputs: Any = _rows_of("indices", indices, numRows)
    if values is not None:
        outputs = (outputs, _rows_of("values", values, numRows))
    result = topk(
        _rows_of("logits", logits, numRows, stride0, stride1),
        as_array("rowEnds", rowEnds),
        k,
        row_starts=as_array("rowStarts", rowStarts),
        out=outputs,
        return_values=values is not None,
    )
    return replace(result, out=indices if values is None else (indices, values))


_DTYPES = {"bfloat16": "bf16", "bf16": "bf16", "float16": "f16", "f16": "f16", "half": "f16",
           "float32": "f32", "f32": "f32", "float": "f32"}


def gemm_a8w8_blockscale_group32(
    x: Any,
    w: Any,
    x_scale: Any,
    w_scale: Any,
    dtype: Any = "bfloat16",
    y: Any = None,
    weight_group_rows: int = 32,
    split_k: Optional[int] = None,
    config: Any = None,
) -> Any:
    """``x @ w.T`` with E8M0 scales for each 32 columns.

    Args:
        x: e4m3fn or bytes ``[M, K]``, K a multiple of 32; M may be 0.
        w: e4m3fn or bytes ``[N, K]``.
        x_scale: E8M0 codes ``[M, K / 32]``.
        w_scale: E8M0 codes ``[ceil(N / weight_group_rows), K / 32]``.
        dtype: of a new `y`: bfloat16, float16 or float32, as a torch or NumPy type or by name.
        y: the output ``[M, N]`` of that type.
        weight_group_rows: 1 or 32.
        split_k: None or a positive integer.

    Returns:
        `y`, or a new array: a torch tensor for torch, else NumPy's (bfloat16 as uint16).
    """
    name = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    kind = _DTYPES.get(name.rpartition(".")[2])
    if kind is None:
        raise ArgumentError("dtype", "must be an output type", name, "bfloat16, float16, float32")
    if weight_group_rows not in (1, 32):
        raise ArgumentError(
            "weight_group_rows", "must be a block of rows", weight_group_rows, "1, 32"
        )
    is_count = isinstance(split_k, int) and not isinstance(split_k, bool) and split_k > 0
    if split_k is not None and not is_count:
        raise ArgumentError("split_k", "must be None or a positive integer", repr(split_k))
    left, right = as_array("x", x), as_array("w", w)
    for array, axes in ((left, "[M, K]"), (right, "[N, K]")):
        if array.rank != 2:
            raise ArgumentError(array.name, f"must have rank 2 {axes}", array.shape)
    if not left.shape[1] or left.shape[1] % 32:
        raise ArgumentError("x", "K must be a positive multiple of 32", left.shape[1])
    torch = sys.modules.get("torch")
    if y is None and torch is not None and isinstance(x, torch.Tensor):
        torch_dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[kind]
        y = torch.empty((left.shape[0], right.shape[0]), dtype=torch_dtype, device=x.device)
    if left.shape[0] == 0 and y is not None:
        return y
    result = grouped_gemm(
        left,
        right,
        a_scale=as_array("x_scale", x_scale),
        b_scale=as_array("w_scale", w_scale),
        formats="a8w8",
        scales="e8m0_1x32" if weight_group_rows == 1 else "e8m0_32x32",
        out_dtype=kind,
        out=y,
    )
    return y if y is not None else result.out
