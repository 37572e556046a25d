"""Tensor DMA descriptors against an element-by-element model.

Every case packs a descriptor from named fields, runs kernel.s on it and
compares LDS and memory with what the model says, byte for byte.
"""

import itertools
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

LDS_BYTES = 16384
DATA_BYTES = 1 << 16


def put(words, word, bit, width, value):
    assert 0 <= value < 1 << width, (word, bit, width, value)
    for i in range(width):
        position = word * 32 + bit + i
        words[position // 32] |= (value >> i & 1) << position % 32


class Case:
    def __init__(self, name, tensor, tile, strides=(), size=4, **options):
        self.name = name
        self.tensor, self.tile, self.strides, self.size = tensor, tile, strides, size
        self.lds = options.pop("lds", 0)
        self.offset = options.pop("offset", 0)  # of the tile in data, in bytes
        self.pad = options.pop("pad", None)  # (every, amount) in dwords
        self.rows = options.pop("rows", None)  # of a gather
        self.wide_rows = options.pop("wide_rows", False)
        self.iterate = options.pop("iterate", None)  # lds step, step, count
        self.store = options.pop("store", False)
        self.count = options.pop("count", 1)
        self.data_bytes = options.pop("data_bytes", DATA_BYTES)
        self.report = options.pop("report", None)
        self.mask = options.pop("mask", 0)
        assert not options

    def descriptor(self):
        g0, g1, g2, g3 = [0] * 4, [0] * 8, [0] * 4, [0] * 4
        put(g0, 0, 0, 2, self.count)
        put(g0, 1, 0, 32, self.lds)
        put(g0, 2, 0, 57, self.offset)
        put(g0, 3, 30, 2, 2)
        put(g1, 0, 0, 16, self.mask)
        put(g1, 0, 16, 2, {1: 0, 2: 1, 4: 2, 8: 3}[self.size])
        if self.pad:
            every, amount = self.pad
            put(g1, 0, 20, 1, 1)
            put(g1, 0, 22, 3, every.bit_length() - 2)
            put(g1, 0, 25, 7, amount - 1)
        tensor = list(self.tensor) + [0] * (5 - len(self.tensor))
        tile = list(self.tile) + [0] * (5 - len(self.tile))
        strides = list(self.strides) + [0] * (4 - len(self.strides))
        put(g1, 1, 16, 32, tensor[0])
        put(g1, 2, 16, 32, tensor[1])
        put(g1, 3, 16, 16, tile[0])
        put(g1, 4, 0, 16, len(self.rows) if self.rows is not None else tile[1])
        put(g1, 5, 0, 48, strides[0])
        if self.rows is not None:
            put(g0, 0, 31, 1, 1)
            put(g0, 0, 30, 1, int(self.wide_rows))
            width = 32 if self.wide_rows else 16
            packed = [0] * 8
            for i, row in enumerate(self.rows):
                put(packed, 0, i * width, width, row)
            g2, g3 = packed[:4], packed[4:]
            return g0 + g1 + g2 + g3
        put(g1, 4, 16, 16, tile[2])
        put(g1, 6, 16, 48, strides[1])
        put(g2, 0, 0, 32, tensor[2])
        if self.iterate:
            lds_step, step, count = self.iterate
            put(g1, 0, 19, 1, 1)
            put(g2, 1, 0, 32, lds_step)
            put(g2, 2, 0, 48, step)
            put(g2, 3, 16, 16, count - 1)
            return g0 + g1 + g2 + g3
        put(g2, 1, 0, 32, tensor[3])
        put(g2, 2, 0, 48, strides[2])
        put(g2, 3, 16, 16, tile[3])
        put(g3, 0, 0, 48, strides[3])
        put(g3, 1, 16, 32, tensor[4])
        put(g3, 2, 16, 16, tile[4])
        return g0 + g1 + g2 + g3

    def elements(self):
        """(LDS byte, data byte or None outside the tensor) of every element."""
        if self.count == 0:
            return
        lds_step, step, count = self.iterate or (0, 0, 1)
        dims = [range(n) for n in reversed(self.tile)]
        if self.rows is not None:
            dims = [range(len(self.rows)), range(self.tile[0])]
        for n in range(count):
            for linear, index in enumerate(itertools.product(*dims)):
                index = list(reversed(index))
                if self.rows is not None:
                    index[1] = self.rows[index[1]]
                inside = all(i < t for i, t in zip(index, self.tensor))
                at = index[0] + sum(i * s for i, s in zip(index[1:], self.strides))
                byte = linear * self.size
                if self.pad and not self.store:
                    every, amount = self.pad
                    byte += byte // (4 * every) * 4 * amount
                yield (
                    self.lds + n * lds_step * self.size + byte,
                    self.offset + (at + n * step) * self.size if inside else None,
                )

    def run(self, pa_run, code_object, folder):
        folder = pathlib.Path(folder)
        os.makedirs(folder, exist_ok=True)
        source = random.Random(self.name)
        image = source.randbytes(LDS_BYTES)
        sparse = self.data_bytes > DATA_BYTES
        data = {} if sparse else source.randbytes(self.data_bytes)
        (folder / "d.bin").write_bytes(struct.pack("<20I", *self.descriptor()))
        (folder / "image.bin").write_bytes(image)

        lds = bytearray(image)
        after = bytearray(data) if not sparse else None
        for to, at in self.elements():
            if self.store:
                if at is not None:
                    after[at : at + self.size] = image[to : to + self.size]
                continue
            value = bytes(self.size)
            if at is not None and sparse:
                value = data[at] = source.randbytes(self.size)
            elif at is not None:
                value = data[at : at + self.size]
            lds[to : to + self.size] = value
        (folder / "lds.bin").write_bytes(lds)
        buffer = {"name": "data", "type": "buffer", "bytes": self.data_bytes}
        if sparse:
            pieces = []
            for i, (at, value) in enumerate(sorted(data.items())):
                (folder / f"piece{i}.bin").write_bytes(value)
                pieces.append({"offset": at, "file": f"piece{i}.bin"})
            buffer["init"] = {"fill_u32": 0, "sparse": pieces}
        else:
            (folder / "data.bin").write_bytes(data)
            (folder / "after.bin").write_bytes(after)
            buffer |= {"init": "data.bin", "expected": "after.bin"}
        spec = {
            "arch": "gfx1250",
            "kernel": "k",
            "code_object": code_object,
            "grid": [1],
            "block": [32],
            "args": [
                {"name": "d", "type": "buffer", "bytes": 80, "init": "d.bin"},
                buffer,
                {"name": "image", "type": "buffer", "bytes": LDS_BYTES, "init": "image.bin"},
                {
                    "name": "out",
                    "type": "buffer",
                    "bytes": LDS_BYTES,
                    "expected": "lds.bin",
                },
                {"name": "store", "type": "i32", "value": int(self.store)},
            ],
        }
        (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        done = subprocess.run(
            [pa_run, folder / "spec.json"], capture_output=True, text=True
        )
        ok = done.returncode == 0
        reports = [l for l in done.stdout.splitlines() if l.startswith("report:")]
        ok &= bool(reports) == bool(self.report)
        if self.report:
            ok &= self.report in done.stdout
        print(f"{self.name}: {'ok' if ok else 'FAILED'}")
        if not ok:
            print(done.stdout, done.stderr)
        return ok


def cases():
    yield Case("one dimension", (100,), (64,))
    yield Case("predicated off", (100,), (64,), count=0)
    for size in (1, 2, 4, 8):
        yield Case(f"two dimensions, {size} bytes", (40, 9), (32, 8), (50,), size)
        yield Case(f"store of {size} bytes", (40, 9), (32, 8), (50,), size, store=True)
    yield Case("clipped rows and columns", (20, 5), (32, 8), (24,))
    yield Case("nothing inside", (0, 8), (32, 8), (40,))
    yield Case("no rows inside", (32, 0), (32, 8), (40,))
    yield Case("clipped store", (20, 5), (32, 8), (24,), store=True)
    yield Case("LDS and data offsets", (32, 8), (16, 8), (32,), lds=512, offset=4096)
    yield Case("three dimensions", (10, 6, 3), (8, 4, 4), (11, 70))
    yield Case("four dimensions", (5, 4, 3, 2), (4, 4, 4, 3), (6, 30, 100))
    yield Case("five dimensions", (5, 3, 2, 2, 2), (4, 2, 3, 2, 2), (5, 20, 50, 120))
    yield Case("five dimensions stored", (5, 3, 2, 2, 2), (4, 2, 3, 2, 2), (5, 20, 50, 120), store=True)
    yield Case("transposed strides", (8, 8), (8, 8), (0,))
    for every, amount in ((2, 1), (16, 1), (32, 4), (256, 128)):
        yield Case(f"padding of {amount} every {every}", (64, 16), (64, 16), (70,), pad=(every, amount))
    yield Case("padding and clipping", (50, 12), (64, 16), (70,), pad=(64, 2))
    yield Case("padding across rows of bytes", (24, 16), (24, 16), (24,), 1, pad=(16, 3))
    yield Case("padding on a store", (64, 4), (64, 4), (64,), pad=(16, 1), store=True, report="LDS padding is ignored on a store")
    yield Case("gather of 16-bit rows", (20, 100), (16, 0), (30,), rows=[3, 99, 0, 100, 7, 7, 65535])
    yield Case("gather of 32-bit rows", (20, 100), (24, 0), (30,), rows=[99, 1 << 31, 5], wide_rows=True)
    yield Case("gather of all 16 rows", (8, 64), (8, 0), (16,), rows=list(range(60, 44, -1)))
    yield Case("scatter of rows", (8, 64), (8, 0), (16,), rows=[5, 64, 9, 2], store=True)
    yield Case("iterate", (16, 4), (16, 4), (20,), iterate=(80, 200, 3))
    yield Case("iterate in three dimensions", (8, 4, 2), (8, 4, 2), (10, 60), iterate=(100, 150, 4))
    yield Case("iterated store", (16, 4), (16, 4), (20,), iterate=(80, 200, 3), store=True)
    yield Case("stride beyond 32 bits", (4, 3), (4, 3), ((1 << 32) + 64,), 1, data_bytes=1 << 34)
    yield Case("address beyond 32 bits", (4, 2), (4, 2), (8,), offset=(1 << 33) + 256, data_bytes=1 << 34)
    yield Case("workgroup mask", (32,), (32,), mask=3, report="workgroup mask 0x3 is ignored")


def main():
    pa_run, code_object, folder = sys.argv[1:]
    failed = [
        case.name
        for number, case in enumerate(cases())
        if not case.run(pa_run, code_object, f"{folder}/{number}")
    ]
    if failed:
        sys.exit(f"{len(failed)} cases failed: " + ", ".join(failed))


main()
