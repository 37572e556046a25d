#!/usr/bin/env python3
"""Runs the compiled GLM-5.2 indexer in the emulator and reports row coverage.

    build/release/bin/pa-compile examples/glm52_indexer.mlir --chip=gfx950 -o out
    python3 examples/row_coverage.py out --pa-run build/release/bin/pa-run

The launch has the real shape: logits [1024, 1048576] f32, 4 GiB with a row stride
of 4 MiB, key pages 1002240 bytes apart. Contexts are short, so that memory that is
not touched costs nothing. A kernel that keeps the row's offset in 32 bits leaves
rows 512 to 1023 untouched and says nothing; here every row has to be written.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BATCH, QUERIES, HEADS, DIM, PAGE = 256, 4, 128, 128, 64
COLUMNS, TABLE_WIDTH = 1048576, 16384
PAGE_STRIDE = 1002240
SENTINEL = 0x4640E400  # 12345.0


def fp8(rng, *shape):
    """Random fp8 codes of finite numbers, in either flavour."""
    return rng.choice(np.r_[0:0x7F, 0x81:0xFF], shape).astype(np.uint8)


def make_spec(kernel, folder: pathlib.Path, context: int) -> dict:
    """The spec of the launch, made from the kernel's manifest entry."""
    rng = np.random.default_rng(0)
    rows = BATCH * QUERIES
    used = -(-context // PAGE)
    pages = BATCH * used
    table = np.full((BATCH, TABLE_WIDTH), -1, np.int32)
    table[:, :used] = rng.permutation(pages).reshape(BATCH, used)

    def save(name, array):
        array.tofile(folder / name)
        return str(folder / name)

    def plain(name, array):
        return {"type": "buffer", "bytes": array.nbytes, "init": save(name, array)}

    def strided(name, array, stride):
        row = array.nbytes // len(array)
        return {"type": "buffer", "bytes": (len(array) - 1) * stride + row,
                "init": {"strided": {"file": save(name, array), "offset": 0,
                                     "row_bytes": row, "stride_bytes": stride}}}

    shortest = context - QUERIES + 1
    buffers = {
        "q": plain("q", fp8(rng, BATCH, QUERIES, HEADS, DIM)),
        "keys": strided("keys", fp8(rng, pages, PAGE * DIM), PAGE_STRIDE),
        "key_scales": strided("key_scales",
                              rng.uniform(0.25, 1.25, (pages, PAGE)).astype(np.float32),
                              PAGE_STRIDE),
        "weights": plain("weights", rng.standard_normal((rows, HEADS)).astype(np.float32)),
        "block_table": plain("block_table", table),
        "context_lens": plain("context_lens", np.full(BATCH, context, np.int32)),
        "logits": {"type": "buffer", "bytes": rows * COLUMNS * 4,
                   "init": {"fill_u32": SENTINEL},
                   "written": {"offset": 0, "rows": rows, "row_bytes": 4 * shortest,
                               "stride_bytes": 4 * COLUMNS}},
    }
    shapes = {"q": (BATCH, QUERIES, HEADS, DIM), "keys": (pages, PAGE, DIM),
              "key_scales": (pages, PAGE), "weights": (rows, HEADS),
              "block_table": (BATCH, TABLE_WIDTH), "context_lens": (BATCH,),
              "logits": (rows, COLUMNS)}
    page_strides = {"keys": (PAGE_STRIDE, DIM, 1), "key_scales": (PAGE_STRIDE // 4, 1)}
    workers = 512
    args = []
    for arg in kernel["args"]:
        operand, _, part = arg["name"].partition(".")
        if part == "aligned":
            args.append({"name": operand, **buffers[operand]})
            continue
        if part.startswith("size"):
            value = shapes[operand][int(part[4:])]
        elif part.startswith("stride"):
            dim, shape = int(part[6:]), shapes[operand]
            value = page_strides.get(operand, tuple(
                int(np.prod(shape[i + 1:])) for i in range(len(shape))))[dim]
        else:
            value = {"": workers}.get(part, 0)
        args.append({"name": arg["name"], "type": "i64", "value": int(value)})
    return {"arch": kernel["chip"], "kernel": kernel["symbol"],
            "grid": [workers, 1, 1], "block": kernel["workgroup_size"], "args": args}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where pa-compile wrote to")
    parser.add_argument("--pa-run", default="pa-run", help="the emulator's front end")
    parser.add_argument("--chip", default="gfx950")
    parser.add_argument("--context", type=int, default=150, help="tokens of every sequence")
    parser.add_argument("--threads", type=int, default=0, help="of the emulator, 0 for one per core")
    options = parser.parse_args()
    manifest = json.loads((options.folder / "manifest.json").read_text())
    kernels = [k for k in manifest["kernels"] if k["chip"] == options.chip
               and k["op"] == "pa.paged_logits"]
    if len(kernels) != 1:
        parser.error(f"expected one pa.paged_logits kernel for {options.chip} in "
                     f"{options.folder}, found {len(kernels)}")
    with tempfile.TemporaryDirectory(prefix="pagedattn-") as work:
        spec = make_spec(kernels[0], pathlib.Path(work), options.context)
        spec["code_object"] = str((options.folder / kernels[0]["file"]).resolve())
        path = pathlib.Path(work, "spec.json")
        path.write_text(json.dumps(spec))
        return subprocess.run([options.pa_run, path, f"--threads={options.threads}"]).returncode


if __name__ == "__main__":
    sys.exit(main())
