"""What the bench compiles: the shapes of peers' published figures."""

from dataclasses import dataclass
from typing import Callable, Optional

import counted


@dataclass(frozen=True)
class Kernel:
    """One compiled op."""

    name: str
    chip: str
    mlir: str
    op: str
    # Runs the fixed small problem of counted.py with the package `pagedattn`.
    count: Callable
    # Query rows of a sequence, and the depth of its products, for logits.
    queries: int = 1
    depth: Optional[int] = None


FP8 = {"gfx942": "f8E4M3FNUZ", "gfx950": "f8E4M3FN", "gfx1250": "f8E4M3FN"}


def logits(chip: str, heads: int, page: int, layout: str, queries: int = 1) -> Kernel:
    t, d = FP8[chip], 128
    keys = f"memref<?x{page}x{d}x{t}, strided<[{page * (d + 4)}, {d}, 1]>>"
    scales = f"memref<?x{page}xf32, strided<[{page * (d + 4) // 4}, 1]>>"
    types = {
        "q": f"memref<?x{queries}x{heads}x{d}x{t}>", "k": keys, "s": scales,
        "w": f"memref<?x{heads}xf32>", "t": "memref<?x?xi32>", "l": "memref<?xi32>",
        "o": "memref<?x?xf32>"}
    args = ", ".join(f"%{n}: {x}" for n, x in types.items())
    mlir = (f"func.func @f({args}) {{ pa.paged_logits queries(%q : {types['q']}) "
            f"keys(%k : {types['k']}) key_scales(%s : {types['s']}) "
            f"weights(%w : {types['w']}) block_table(%t : {types['t']}) "
            f"context_lens(%l : {types['l']}) outs(%o : {types['o']}) "
            f"{{layout = #pa.layout<{layout}>}} return }}")
    name = f"logits h{heads} n{queries} page {page} {layout}"
    return Kernel(name, chip, mlir, "logits",
                  lambda pa: counted.logits(pa, chip, heads, page, layout, queries), queries, d)


def topk(chip: str, k: int) -> Kernel:
    v, e, i = "memref<?x?xf32>", "memref<?xi32>", f"memref<?x{k}xi32>"
    mlir = (f"func.func @f(%v: {v}, %e: {e}, %i: {i}) {{ pa.topk values(%v : {v}) "
            f"row_ends(%e : {e}) outs(%i : {i}) return }}")
    wave_size = 32 if chip == "gfx1250" else 64
    return Kernel(f"topk k{k}", chip, mlir, "topk",
                  lambda pa: counted.topk(pa, chip, k, wave_size))


def gemm(chip: str, fmt: str, a_scale: str, b_scale: str, rows: int,
         n: int = 3072, k: int = 7168, experts: int = 8) -> Kernel:
    fp8 = FP8[chip]
    is_fp4 = {"a": fmt == "a4w4", "b": fmt in ("a4w4", "a8w4")}
    element = {s: "i8" if is_fp4[s] else {"bf16": "bf16"}.get(fmt, fp8) for s in "ab"}
    width = {s: k // 2 if is_fp4[s] else k for s in "ab"}
    blocks = {"e8m0_1x32": (1, 32, "i8"), "e8m0_32x32": (32, 32, "i8"),
              "f32_1x128": (1, 128, "f32"), "f32_128x128": (128, 128, "f32")}
    types = {"a": f"memref<{rows}x{width['a']}x{element['a']}>",
             "b": f"memref<{experts}x{n}x{width['b']}x{element['b']}>",
             "offsets": f"memref<{experts + 1}xi32>"}
    for side, kind, lead, count in (("a", a_scale, "", rows), ("b", b_scale, f"{experts}x", n)):
        if kind != "none":
            r, c, x = blocks[kind]
            types[f"{side}_scales"] = f"memref<{lead}{-(-count // r)}x{k // c}x{x}>"
    out = f"memref<{rows}x{n}xbf16>"
    order = [x for x in ("a", "a_scales", "b", "b_scales", "offsets") if x in types]
    args = ", ".join(f"%{x}: {types[x]}" for x in order) + f", %c: {out}"
    uses = " ".join(f"{x}(%{x} : {types[x]})" for x in order)
    mlir = (f"func.func @f({args}) {{ pa.grouped_gemm {uses} outs(%c : {out}) "
            f"{{format = #pa.gemm_format<{fmt}>, a_scale = #pa.scale<{a_scale}>, "
            f"b_scale = #pa.scale<{b_scale}>}} return }}")
    scales = "" if a_scale == "none" else f" {a_scale} {b_scale}"
    formats = "a8w8_fnuz" if fmt == "a8w8" and chip == "gfx942" else fmt
    kind = {"f32_1x128": "f32_128x128"}.get(a_scale, a_scale)
    return Kernel(f"gemm {fmt}{scales} rows {rows // experts}", chip, mlir, "gemm",
                  lambda pa: counted.gemm(pa, chip, formats, kind, is_large=rows > 1024))


def all_kernels():
    for chip in ("gfx942", "gfx950", "gfx1250"):
        for heads in (64, 128):
            yield logits(chip, heads, 64, "tiled")
        for page in (256, 16, 8):
            yield logits(chip, 64, page, "tiled")
        yield logits(chip, 64, 1, "linear")
        yield logits(chip, 64, 64, "tiled", queries=4)
        yield topk(chip, 2048)
        for rows in (128, 32768):
            if chip != "gfx942":
                yield gemm(chip, "a4w4", "e8m0_1x32", "e8m0_1x32", rows)
                yield gemm(chip, "a8w4", "e8m0_1x32", "e8m0_1x32", rows)
                yield gemm(chip, "a8w8", "e8m0_1x32", "e8m0_1x32", rows)
            yield gemm(chip, "a8w8", "f32_1x128", "f32_128x128", rows)
            yield gemm(chip, "bf16", "none", "none", rows)
