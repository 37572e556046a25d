"""Number formats over all their codes, and layouts against their formulas."""

import numpy as np
import pytest

from pagedattn import formats

FP8 = [formats.E4M3FN, formats.E4M3FNUZ]
ALL = FP8 + [formats.E2M1]


def by_definition(code: int, fmt: formats.FloatFormat) -> float:
    sign = -1.0 if code >> (fmt.bits - 1) else 1.0
    magnitude = code & ((1 << (fmt.bits - 1)) - 1)
    exponent, mantissa = divmod(magnitude, 1 << fmt.mantissa_bits)
    fraction = mantissa / (1 << fmt.mantissa_bits)
    if fmt.name == "e4m3fn" and magnitude == 0x7F:
        return float("nan")
    if fmt.name == "e4m3fnuz" and code == 0x80:
        return float("nan")
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - fmt.bias)
    return sign * (1 + fraction) * 2.0 ** (exponent - fmt.bias)


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_every_code_decodes(fmt):
    codes = np.arange(2**fmt.bits)
    expected = [by_definition(code, fmt) for code in codes]
    decoded = formats.decode(codes, fmt)
    np.testing.assert_array_equal(decoded, expected)
    finite = ~np.isnan(decoded)
    np.testing.assert_array_equal(
        np.signbit(decoded[finite]), np.signbit(np.array(expected)[finite])
    )


@pytest.mark.parametrize(
    "fmt, largest", [("e4m3fn", 448), ("e4m3fnuz", 240), ("e2m1", 6)]
)
def test_largest_number(fmt, largest):
    assert formats.get_format(fmt).max == largest


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_every_code_survives_a_round_trip(fmt):
    codes = np.arange(2**fmt.bits)
    values = formats.decode(codes, fmt)
    again = formats.encode(values, fmt)
    if fmt.name == "e4m3fn":
        codes = np.where(codes == 0xFF, 0x7F, codes)
    np.testing.assert_array_equal(again, codes)


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_encode_takes_the_nearest_and_ties_to_even(fmt):
    grid = fmt.table()[: fmt.max_code + 1]
    for low in range(fmt.max_code):
        middle = (grid[low] + grid[low + 1]) / 2
        below, above = np.nextafter(middle, 0), np.nextafter(middle, np.inf)
        even = low + low % 2
        got = formats.encode([below, middle, above, -middle], fmt)
        negative = even | (1 << (fmt.bits - 1))
        if even == 0 and not fmt.has_negative_zero:
            negative = 0
        assert got.tolist() == [low, even, low + 1, negative]


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_encode_saturates_and_keeps_nan(fmt):
    sign = 1 << (fmt.bits - 1)
    got = formats.encode([1e30, np.inf, -np.inf, np.nan], fmt)
    nan = fmt.nan_code if fmt.nan_code is not None else 0
    assert got.tolist() == [fmt.max_code, fmt.max_code, fmt.max_code | sign, nan]


def test_bf16_rounds_to_nearest_even():
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3.0e38])
    codes = formats.encode_bf16(values)
    assert codes.tolist() == [0x3F80, 0x3F80, 0x3F82, 0x3F81, 0xFF62]
    everything = np.arange(2**16, dtype=np.uint16)
    again = formats.encode_bf16(formats.decode_bf16(everything))
    is_nan = (everything & 0x7FFF) > 0x7F80
    np.testing.assert_array_equal(again[~is_nan], everything[~is_nan])
    assert np.isnan(formats.decode_bf16(again[is_nan])).all()
    assert formats.encode_bf16([1e39]).tolist() == [0x7F80]


def test_e8m0_every_code():
    values = formats.decode_e8m0(np.arange(256, dtype=np.uint8))
    assert values[0] == 2.0**-127 and values[127] == 1.0 and values[254] == 2.0**127
    assert np.isnan(values[255])
    np.testing.assert_array_equal(values[1:255] / values[:254], 2.0)
    np.testing.assert_array_equal(
        formats.decode_e8m0(np.array([-1, -2], np.int8)), [np.nan, 2.0**127]
    )


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_e8m0_is_the_least_power_that_holds_amax(fmt):
    rng = np.random.default_rng(1)
    amax = np.ldexp(rng.uniform(1, 2, 500), rng.integers(-110, 120, 500))
    amax = np.concatenate([amax, fmt.max * 2.0 ** np.arange(-20, 20)])
    amax = np.concatenate([amax, np.nextafter(amax, np.inf), np.nextafter(amax, 0)])
    scale = formats.decode_e8m0(formats.encode_e8m0(amax, fmt))
    assert (scale * fmt.max >= amax).all()
    assert (scale / 2 * fmt.max < amax).all()


def test_e8m0_of_the_extremes():
    got = formats.encode_e8m0([0.0, 2.0**-149, np.inf, np.nan], "e4m3fn")
    assert got.tolist() == [0, 0, 247, 255]
    with pytest.raises(ValueError, match="negative"):
        formats.encode_e8m0([-1.0], "e4m3fn")


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_quantize_mx_keeps_what_the_grid_holds(fmt):
    grid = fmt.table()
    grid = grid[~np.isnan(grid)]
    rng = np.random.default_rng(2)
    values = rng.choice(grid, (3, 64))
    values[:, ::32] = fmt.max
    values *= 2.0**-5
    codes, scales = formats.quantize_mx(values, fmt)
    assert (scales == 122).all()
    back = formats.decode(codes, fmt) * np.repeat(formats.decode_e8m0(scales), 32, -1)
    np.testing.assert_array_equal(back, values)


def test_fp4_pairs():
    codes = np.arange(32).reshape(2, 16) % 16
    packed = formats.pack_fp4(codes)
    assert packed.shape == (2, 8) and packed[0, 0] == 0x10 and packed[0, 7] == 0xFE
    np.testing.assert_array_equal(formats.unpack_fp4(packed), codes)
    np.testing.assert_array_equal(formats.unpack_fp4(packed.view(np.int8)), codes)


@pytest.mark.parametrize("page", [8, 16, 64, 256])
@pytest.mark.parametrize("row", [32, 64, 128])
def test_tiled_pages_follow_the_formula(page, row):
    data = np.random.default_rng(3).integers(0, 256, (2, page, row), dtype=np.uint8)
    flat = formats.tile_pages(data).reshape(2, -1)
    group = min(page, 16)
    t, b = np.meshgrid(np.arange(page), np.arange(row), indexing="ij")
    offset = t // group * group * row + b // 16 * 16 * group + t % group * 16 + b % 16
    np.testing.assert_array_equal(flat[:, offset], data)
    np.testing.assert_array_equal(formats.untile_pages(formats.tile_pages(data)), data)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_shuffled_weights_follow_the_formula(dtype):
    data = np.random.default_rng(4).integers(0, 256, (2, 48, 96)).astype(dtype)
    flat = formats.shuffle_16x16(data).reshape(2, -1).view(np.uint8)
    rows = data.view(np.uint8)
    n, b = np.meshgrid(np.arange(48), np.arange(rows.shape[-1]), indexing="ij")
    offset = n // 16 * 16 * rows.shape[-1] + b // 16 * 256 + n % 16 * 16 + b % 16
    np.testing.assert_array_equal(flat[:, offset], rows)
    back = formats.unshuffle_16x16(formats.shuffle_16x16(data))
    np.testing.assert_array_equal(back, data)


@pytest.mark.parametrize("layout", ["n32k4", "n32k8"])
def test_shuffled_scales_follow_the_formula(layout):
    data = np.random.default_rng(5).integers(0, 256, (2, 96, 24), dtype=np.uint8)
    flat = formats.shuffle_scales(data, layout).reshape(2, -1)
    n, c = np.meshgrid(np.arange(96), np.arange(24), indexing="ij")
    offset = n // 32 * 32 * 24
    if layout == "n32k4":
        offset += c // 4 * 128 + n % 32 * 4 + c % 4
    else:
        offset += c // 8 * 256 + c % 4 * 64 + n % 16 * 4 + c % 8 // 4 * 2 + n % 32 // 16
    np.testing.assert_array_equal(flat[:, offset], data)
    back = formats.unshuffle_scales(formats.shuffle_scales(data, layout), layout)
    np.testing.assert_array_equal(back, data)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: formats.get_format("e5m2"), "unknown format 'e5m2'"),
        (lambda: formats.decode([16], "e2m1"), "found 16 to 16"),
        (lambda: formats.decode([1.0], "e2m1"), "must be integers, found float64"),
        (lambda: formats.tile_pages(np.zeros((24, 64))), "found 24 and 64"),
        (lambda: formats.shuffle_16x16(np.zeros((8, 64), np.uint8)), "found 8 rows"),
        (lambda: formats.shuffle_scales(np.zeros((32, 3)), "n32k4"), "found 32"),
        (lambda: formats.shuffle_scales(np.zeros((32, 4)), "n4"), "unknown scale"),
        (lambda: formats.quantize_mx(np.zeros(33), "e2m1"), "found 33"),
        (lambda: formats.pack_fp4(np.array([16, 0])), "0 to 15"),
    ],
)
def test_what_a_format_cannot_have_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
