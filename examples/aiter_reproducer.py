#!/usr/bin/env python3
"""The scenario of AITER's lost rows, with AITER's calls, on the emulator.

    PYTHONPATH=build/release/python python3 examples/aiter_reproducer.py --chip gfx950

256 sequences of 4 query rows score pages of 256 tokens into logits of
[1024, 1048576] float32: 4 GiB, of which row 512 starts at byte 2^31. A kernel that keeps
that offset in 32 bits writes no row from 512 on, and top-k then takes what was there
before. Contexts are short here, so that the run takes seconds.

All rows in one launch, the rows in chunks, and a float64 reference have to agree, and every
row has to be written. `--force narrow` compiles with offsets of 32 bits whatever they are,
and shows the loss.
"""

import argparse
import mmap
import sys
import warnings

import numpy as np

import pagedattn
from pagedattn import formats, ops, reference
from pagedattn.compat import aiter

BATCH, NEXT_N, HEADS, DIM, PAGE = 256, 4, 128, 128, 256
ROWS, COLUMNS, K = BATCH * NEXT_N, 1 << 20, 2048
SENTINEL = np.float32(12345.0)
TOLERANCE = 1.25e-4  # of the greatest magnitude in a row


def sparse_logits(touched: int) -> np.ndarray:
    """Logits whose first columns hold a sentinel. The others cost no memory."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(-1, ROWS * COLUMNS * 4, flags=flags)
    memory.madvise(getattr(mmap, "MADV_NOHUGEPAGE", mmap.MADV_NORMAL))
    logits = np.frombuffer(memory, np.float32).reshape(ROWS, COLUMNS)
    logits[:, :touched] = SENTINEL
    return logits


def random_fp8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Codes of numbers below 2 in either flavour."""
    return rng.choice(np.r_[0:0x40, 0x81:0xC0].astype(np.uint8), shape)


def make_inputs(chip: str, seed: int) -> dict:
    """Contexts of up to 40 tokens in pages that lie in any order."""
    rng = np.random.default_rng(seed)
    lens = rng.integers(NEXT_N, 40, BATCH).astype(np.int32)
    keys = random_fp8(rng, BATCH, PAGE, DIM)
    scales = rng.uniform(0.25, 1.25, (BATCH, PAGE)).astype(np.float32)
    cache = np.empty((BATCH, PAGE * (DIM + 4)), np.uint8)
    cache[:, :PAGE * DIM] = formats.tile_pages(keys).reshape(BATCH, -1)
    cache[:, PAGE * DIM:] = scales.view(np.uint8)
    return {
        "q": random_fp8(rng, BATCH, NEXT_N, HEADS, DIM),
        "cache": cache.reshape(BATCH, PAGE, 1, DIM + 4),
        "keys": keys,
        "scales": scales,
        "weights": rng.standard_normal((ROWS, HEADS)).astype(np.float32),
        "table": rng.permutation(BATCH).astype(np.int32).reshape(BATCH, 1),
        "lens": lens,
        "flavour": ops.native_fp8(chip),
    }


def score(data: dict, logits: np.ndarray, first: int, last: int) -> None:
    """Sequences `first` to `last` as AITER's callers score them."""
    aiter.deepgemm_fp8_paged_mqa_logits(
        data["q"][first:last],
        data["cache"],
        data["weights"][first * NEXT_N:last * NEXT_N],
        logits[first * NEXT_N:last * NEXT_N],
        data["lens"][first:last],
        data["table"][first:last],
        COLUMNS,
        Preshuffle=True,
        KVBlockSize=PAGE,
    )


def check(data: dict, chunk: int) -> int:
    """Runs all; prints what was found, and counts what is wrong."""
    width = int(data["lens"].max())
    ends = reference.row_ends(data["lens"], NEXT_N)
    column = np.arange(width)
    one_shot, chunked = sparse_logits(width + 16), sparse_logits(width + 16)
    score(data, one_shot, 0, BATCH)
    for first in range(0, BATCH, chunk):
        score(data, chunked, first, first + chunk)
    expected = reference.paged_logits(
        data["q"], data["keys"], data["scales"], data["weights"], data["table"], data["lens"],
        np.full((ROWS, width), SENTINEL), fmt=data["flavour"])

    valid = column < ends[:, None]
    got = one_shot[:, :width]
    untouched = np.flatnonzero((valid & (got == SENTINEL)).any(axis=1))
    print(f"rows with columns that nobody wrote: {untouched.size} of {ROWS}"
          + (f", the first is {untouched[0]}" if untouched.size else ""))
    beyond = (one_shot[:, :width + 16][:, width:] != SENTINEL).any() or (
        got[~valid] != SENTINEL).any()
    print(f"columns beyond a row's end: {'written' if beyond else 'left alone'}")
    limit = TOLERANCE * np.where(valid, np.abs(expected), 0).max(axis=1, keepdims=True)
    wrong = int((valid & ~(np.abs(got - expected) <= limit)).any(axis=1).sum())
    print(f"rows that differ from the reference: {wrong}")
    differ = int((got.view(np.uint32) != chunked[:, :width].view(np.uint32)).any(axis=1).sum())
    print(f"rows that differ between one launch and {BATCH // chunk}: {differ}")

    indices = np.full((ROWS, K), -77, np.int32)
    aiter.top_k_per_row_decode(one_shot, NEXT_N, data["lens"], indices, ROWS, COLUMNS, 1, K)
    selected = np.where(np.arange(K) < ends[:, None], np.arange(K), -1)
    unselected = int((indices != selected).any(axis=1).sum())
    print(f"rows whose top {K} are not all of their columns: {unselected}")
    return untouched.size + int(beyond) + wrong + differ + unselected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", default="gfx950")
    parser.add_argument("--chunk", type=int, default=64, help="sequences of one of the launches")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--force", choices=("narrow", "rebase", "global"), help="address form")
    options = parser.parse_args()
    if options.chunk < 1 or BATCH % options.chunk:
        parser.error(f"--chunk must divide {BATCH}, found {options.chunk}")
    compiler = {}
    if options.force:
        compiler["force_address_form"] = options.force
        warnings.simplefilter("ignore", pagedattn.EmulatorWarning)
    with pagedattn.using(chip=options.chip, options=compiler):
        wrong = check(make_inputs(options.chip, options.seed), options.chunk)
    print("all agree" if not wrong else "WRONG")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
