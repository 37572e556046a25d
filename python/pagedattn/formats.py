"""Narrow number formats and memory layouts, in NumPy.

Numbers travel as unsigned codes (``uint8``, ``uint16``) beside the ``float64``
values that they stand for; decoding is exact. Layout functions permute the
last two axes and keep the shape, so that a leading axis may count pages or
experts. All functions raise ``ValueError`` on a shape or a value that the
format cannot have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.unsignedinteger]
Floats = NDArray[np.float64]

BLOCK = 32
"""Elements that share one E8M0 scale."""


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class FloatFormat:
    """A sign, exponent and mantissa format of at most 8 bits.

    ``max_code`` is the code of the largest number, ``nan_code`` what NaN
    encodes to, or ``None`` where the format has none.
    """

    name: str
    bits: int
    mantissa_bits: int
    bias: int
    max_code: int
    nan_code: Union[int, None]
    has_negative_zero: bool = True

    @property
    def max(self) -> float:
        """The largest number."""
        return float(self.table()[self.max_code])

    def table(self) -> Floats:
        """The value of every code, in a vector of ``2**bits``."""
        if self.name not in _TABLES:
            _TABLES[self.name] = self._make_table()
        return _TABLES[self.name]

    def _make_table(self) -> Floats:
        codes = np.arange(2**self.bits)
        magnitude = codes & (2 ** (self.bits - 1) - 1)
        exponent = magnitude >> self.mantissa_bits
        mantissa = magnitude & (2**self.mantissa_bits - 1)
        implicit = np.where(exponent > 0, 2**self.mantissa_bits, 0)
        power = np.maximum(exponent, 1) - self.bias - self.mantissa_bits
        values = np.ldexp((implicit + mantissa).astype(np.float64), power)
        values = np.where(codes >> (self.bits - 1) == 1, -values, values)
        if self.nan_code is not None:
            same = codes if not self.has_negative_zero else magnitude
            values[same == self.nan_code] = np.nan
        return values


_TABLES: Dict[str, Floats] = {}

E4M3FN = FloatFormat("e4m3fn", 8, 3, 7, 0x7E, 0x7F)
"""fp8 of OCP: largest 448, no infinity, NaN 0x7f and 0xff."""

E4M3FNUZ = FloatFormat("e4m3fnuz", 8, 3, 8, 0x7F, 0x80, has_negative_zero=False)
"""fp8 of gfx942: largest 240, no infinity, no -0, NaN 0x80."""

E2M1 = FloatFormat("e2m1", 4, 1, 1, 0x7, None)
"""fp4 of OCP: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives."""

FORMATS: Dict[str, FloatFormat] = {f.name: f for f in (E4M3FN, E4M3FNUZ, E2M1)}


def get_format(kind: Union[str, FloatFormat]) -> FloatFormat:
    """The format of that name."""
    if isinstance(kind, FloatFormat):
        return kind
    _expect(
        kind in FORMATS,
        f"unknown format {kind!r}, known formats are {', '.join(FORMATS)}",
    )
    return FORMATS[kind]


def decode(codes: ArrayLike, kind: Union[str, FloatFormat]) -> Floats:
    """Values of codes, exactly. Codes outside of the format are an error."""
    table = get_format(kind).table()
    codes = np.asarray(codes)
    _expect(codes.dtype.kind in "ui", f"codes must be integers, found {codes.dtype}")
    has_all_codes = codes.dtype == np.uint8 and table.size == 256
    if not has_all_codes and codes.size and not 0 <= codes.min() <= codes.max() < table.size:
        raise ValueError(
            f"codes of {get_format(kind).name} are 0 to {table.size - 1}, "
            f"found {codes.min()} to {codes.max()}"
        )
    return table[codes]


def encode(values: ArrayLike, kind: Union[str, FloatFormat]) -> NDArray[np.uint8]:
    """Nearest codes, ties to even, beyond the largest number saturating.

    NaN becomes the NaN of the format, and 0 where it has none.
    """
    fmt = get_format(kind)
    values = np.asarray(values, dtype=np.float64)
    grid = fmt.table()[: fmt.max_code + 1]
    middles = (grid[:-1] + grid[1:]) / 2
    magnitude = np.abs(values)
    codes = np.searchsorted(middles, np.where(np.isnan(magnitude), 0, magnitude))
    # A value in the middle is found at the code below; odd codes give it up.
    is_tie = magnitude == middles[np.minimum(codes, middles.size - 1)]
    codes = codes + (is_tie & (codes < middles.size) & (codes % 2 == 1))
    sign = np.signbit(values)
    if not fmt.has_negative_zero:
        sign = sign & (codes != 0)
    codes = codes | (sign.astype(codes.dtype) << (fmt.bits - 1))
    codes = np.where(np.isnan(values), fmt.nan_code or 0, codes)
    return codes.astype(np.uint8)


def decode_bf16(codes: ArrayLike) -> Floats:
    """Values of bf16 codes (``uint16``)."""
    wide = np.asarray(codes, dtype=np.uint16).astype(np.uint32) << 16
    with np.errstate(invalid="ignore"):
        return wide.view(np.float32).astype(np.float64)


def encode_bf16(values: ArrayLike) -> NDArray[np.uint16]:
    """Nearest bf16 codes of the float32 nearest to each value, ties to even."""
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return np.where(np.isnan(single), quiet, rounded).astype(np.uint16)


def decode_e8m0(codes: ArrayLike) -> Floats:
    """``2**(code - 127)``, NaN for 255."""
    codes = np.asarray(codes)
    if codes.dtype == np.int8:
        codes = codes.view(np.uint8)
    exponent = codes.astype(np.int64) - 127
    return np.where(codes == 255, np.nan, np.ldexp(1.0, exponent))


def encode_e8m0(amax: ArrayLike, kind: Union[str, FloatFormat]) -> NDArray[np.uint8]:
    """Scale codes for blocks with these greatest magnitudes.

    The code is that of the least power of two which is not below ``amax`` over
    the largest number of the format, clamped to 0 below. An infinite ``amax``
    counts as the largest float32; NaN gives 255.
    """
    limit = np.finfo(np.float32).max
    amax = np.asarray(amax, dtype=np.float64)
    _expect(not np.any(amax < 0), "amax must not be negative")
    is_nan = np.isnan(amax)
    finite = np.minimum(np.where(is_nan, 0, amax), limit)
    mantissa, exponent = np.frexp(finite)
    largest_mantissa, largest_exponent = np.frexp(get_format(kind).max)
    power = exponent - largest_exponent + (mantissa > largest_mantissa)
    codes = np.where(finite > 0, np.clip(power + 127, 0, 254), 0)
    return np.where(is_nan, 255, codes).astype(np.uint8)


def quantize_mx(
    values: ArrayLike, kind: Union[str, FloatFormat]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Codes and E8M0 scales of blocks of 32 along the last axis.

    ``values [..., C]`` gives codes ``[..., C]``, one to a byte, and scales
    ``[..., C / 32]``.
    """
    values = np.asarray(values, dtype=np.float64)
    _expect(
        values.shape[-1] % BLOCK == 0,
        f"the last axis must be a multiple of {BLOCK}, found {values.shape[-1]}",
    )
    blocks = values.reshape(*values.shape[:-1], values.shape[-1] // BLOCK, BLOCK)
    scales = encode_e8m0(np.abs(blocks).max(axis=-1), kind)
    codes = encode(blocks / decode_e8m0(scales)[..., None], kind)
    return codes.reshape(values.shape), scales


def pack_fp4(codes: ArrayLike) -> NDArray[np.uint8]:
    """Bytes ``[..., C / 2]`` of fp4 codes ``[..., C]``, even ones low."""
    codes = np.asarray(codes)
    _expect(
        codes.shape[-1] % 2 == 0,
        f"the last axis must be even, found {codes.shape[-1]}",
    )
    _expect(
        not codes.size or (codes.max() < 16 and codes.min() >= 0),
        "fp4 codes are 0 to 15",
    )
    return (codes[..., 0::2] | (codes[..., 1::2] << 4)).astype(np.uint8)


def decode_fp4_pairs(packed: ArrayLike) -> Floats:
    """Values ``[..., 2 * C]`` of fp4 pairs in bytes ``[..., C]``."""
    packed = np.asarray(packed)
    if packed.dtype == np.int8:
        packed = packed.view(np.uint8)
    pairs = decode(unpack_fp4(np.arange(256, dtype=np.uint8)[:, None]), E2M1)
    return pairs[packed].reshape(*packed.shape[:-1], -1)


def unpack_fp4(packed: ArrayLike) -> NDArray[np.uint8]:
    """Fp4 codes ``[..., 2 * C]`` of bytes ``[..., C]``."""
    packed = np.asarray(packed)
    if packed.dtype == np.int8:
        packed = packed.view(np.uint8)
    pairs = np.stack([packed & 0xF, packed >> 4], axis=-1)
    return pairs.reshape(*packed.shape[:-1], -1).astype(np.uint8)


def _permute(data: ArrayLike, split: tuple[int, ...], order: tuple[int, ...]):
    """Splits the last two axes into `split` and reads them in `order`."""
    data = np.asarray(data)
    lead = data.shape[:-2]
    axes = tuple(range(len(lead))) + tuple(len(lead) + axis for axis in order)
    return data.reshape(*lead, *split).transpose(axes).reshape(data.shape)


def _inverse(
    split: tuple[int, ...], order: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The split and the order that undo a permutation."""
    return tuple(split[axis] for axis in order), tuple(np.argsort(order).tolist())


def _tile_split(page: int, row: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    group = min(page, 16)
    _expect(
        page % group == 0 and row % 16 == 0,
        f"tiled pages need a multiple of {group} tokens and rows of a multiple of "
        f"16 bytes, found {page} and {row}",
    )
    return (page // group, group, row // 16, 16), (0, 2, 1, 3)


def tile_pages(pages: ArrayLike) -> NDArray[np.uint8]:
    """Bytes ``[..., P, R]`` from row order to ``#pa.layout<tiled>``."""
    pages = np.asarray(pages)
    return _permute(pages, *_tile_split(*pages.shape[-2:]))


def untile_pages(pages: ArrayLike) -> NDArray[np.uint8]:
    """The inverse of :func:`tile_pages`."""
    pages = np.asarray(pages)
    return _permute(pages, *_inverse(*_tile_split(*pages.shape[-2:])))


def _shuffle_split(
    rows: int, columns: int, itemsize: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    piece = 16 // itemsize
    _expect(
        rows % 16 == 0 and columns * itemsize % 32 == 0,
        "shuffled_16x16 needs a multiple of 16 rows of a multiple of 32 bytes, "
        f"found {rows} rows of {columns * itemsize} bytes",
    )
    return (rows // 16, 16, columns // piece, piece), (0, 2, 1, 3)


def shuffle_16x16(weights: ArrayLike) -> NDArray:
    """Weights ``[..., N, R]`` from rows to ``#pa.weight_layout<shuffled_16x16>``.

    Elements have 1 or 2 bytes; fp4 pairs are bytes here.
    """
    weights = np.asarray(weights)
    return _permute(
        weights, *_shuffle_split(weights.shape[-2], weights.shape[-1], weights.dtype.itemsize)
    )


def unshuffle_16x16(weights: ArrayLike) -> NDArray:
    """The inverse of :func:`shuffle_16x16`."""
    weights = np.asarray(weights)
    split = _shuffle_split(weights.shape[-2], weights.shape[-1], weights.dtype.itemsize)
    return _permute(weights, *_inverse(*split))


def _scale_split(
    rows: int, columns: int, layout: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    steps = {"n32k4": 4, "n32k8": 8}
    _expect(
        layout in steps,
        f"unknown scale layout {layout!r}, known are linear, {', '.join(steps)}",
    )
    step = steps[layout]
    _expect(
        rows % 32 == 0 and columns % step == 0,
        f"{layout} needs a multiple of 32 rows and of {step} columns, found {rows} "
        f"and {columns}",
    )
    if layout == "n32k4":
        return (rows // 32, 32, columns // 4, 4), (0, 2, 1, 3)
    # Axes: row tile, half, row; column tile, half, column.
    return (rows // 32, 2, 16, columns // 8, 2, 4), (0, 3, 5, 2, 4, 1)


def shuffle_scales(codes: ArrayLike, layout: str) -> NDArray[np.uint8]:
    """E8M0 codes ``[..., N, C]`` from rows to ``#pa.scale_layout<layout>``."""
    codes = np.asarray(codes)
    if layout == "linear":
        return codes
    return _permute(codes, *_scale_split(codes.shape[-2], codes.shape[-1], layout))


def unshuffle_scales(codes: ArrayLike, layout: str) -> NDArray[np.uint8]:
    """The inverse of :func:`shuffle_scales`."""
    codes = np.asarray(codes)
    if layout == "linear":
        return codes
    return _permute(codes, *_inverse(*_scale_split(codes.shape[-2], codes.shape[-1], layout)))
