"""Small problems for the tests of the package, with what must come out."""

import os
import pathlib

import numpy as np

from pagedattn import formats, reference

CHIPS = ("gfx942", "gfx950", "gfx1250")
FP8 = {"gfx942": "e4m3fnuz", "gfx950": "e4m3fn", "gfx1250": "e4m3fn"}
SENTINEL = np.float32(12345.0)
TOLERANCE = 1.25e-4  # of the greatest magnitude in a row


def needs_native(pytest):
    """Skips a test file where the compiled part of the package is not built. One that is
    built has to load."""
    build = pathlib.Path(os.environ.get("PAGEDATTN_BUILD_DIR", "build/release"))
    if not list(build.glob("python/pagedattn/_pagedattn*.so")):
        pytest.skip("the Python package is not built (PAGEDATTN_PYTHON)", allow_module_level=True)


class Logits:
    """Arguments of paged_logits in the order of its signature, and the result."""

    def __init__(self, chip, lens=(100, 0, 270), queries=2, heads=16, dim=64, page=16,
                 layout="linear", fill="none", seed=0):
        rng = np.random.default_rng(seed)
        self.chip, self.fmt, self.layout, self.fill = chip, FP8[chip], layout, fill
        batch, rows = len(lens), len(lens) * queries
        self.lens = np.array(lens, np.int32)
        used = -(-self.lens // page)
        width = max(int(used.max()), 1) + 2
        pages = int(used.sum()) + 3
        free = iter(rng.permutation(pages))
        self.table = np.full((batch, width), -1, np.int32)
        for b in range(batch):
            for j in range(used[b]):
                self.table[b, j] = next(free)
        self.q = formats.encode(rng.standard_normal((batch, queries, heads, dim)), self.fmt)
        self.plain_keys = formats.encode(rng.standard_normal((pages, page, dim)), self.fmt)
        self.keys = self.plain_keys
        if layout == "tiled":
            self.keys = formats.tile_pages(self.plain_keys)
        self.scales = rng.uniform(0.25, 1.25, (pages, page)).astype(np.float32)
        self.weights = rng.standard_normal((rows, heads)).astype(np.float32)
        self.columns = int(self.lens.max()) + 5
        self.out = np.full((rows, self.columns), SENTINEL)

    @property
    def args(self):
        return (self.q, self.keys, self.scales, self.weights, self.table, self.lens)

    @property
    def kwargs(self):
        return dict(out=self.out, layout=self.layout, fill=self.fill)

    def expected(self, row_ends=None):
        return reference.paged_logits(
            *self.args, np.full(self.out.shape, SENTINEL, np.float64), layout=self.layout,
            fill=self.fill, fmt=self.fmt, row_ends=row_ends)


def check_logits(got, want):
    """The same columns are written, with the same values."""
    special = (want == SENTINEL) | np.isneginf(want)
    np.testing.assert_array_equal(got[special], want[special].astype(np.float32))
    assert not ((got == SENTINEL) & ~special).any(), "columns are not written"
    finite = np.where(special, 0, want)
    limit = TOLERANCE * np.abs(finite).max(axis=1, keepdims=True)
    assert (np.abs(np.where(special, 0, got) - finite) <= limit).all()


class FakeTorch:
    """What this package uses of a torch tensor, over a NumPy array."""

    def __init__(self, array, dtype=None, is_cuda=False):
        self.array, self.is_cuda, self.shape = array, is_cuda, array.shape
        self.dtype = "torch." + (dtype or array.dtype.name)
        self.device = type("device", (), {"index": 0 if is_cuda else None})()

    def data_ptr(self):
        return self.array.ctypes.data

    def element_size(self):
        return self.array.itemsize

    def stride(self):
        return tuple(s // self.array.itemsize for s in self.array.strides)
