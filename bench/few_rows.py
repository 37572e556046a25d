"""Which compute units have work where a group has few rows.

By what `pa-compile --tune=1` says of a problem: the tiles, and the compute units
that get one.
"""

import pathlib
import re
import subprocess

import configs

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
E8M0 = ("e8m0_1x32", "e8m0_1x32")
F32 = ("f32_1x128", "f32_128x128")
LINE = re.compile(r"tile (\d+)x(\d+)x\d+, .*: (\d+) cycles, (\w+) bound, .* ([0-9.]+)% of HBM;"
                  r".*; (\d+) tiles on (\d+) of (\d+) compute units")


def problems():
    """Chip, name, and what gives the MLIR."""
    for chip in ("gfx942", "gfx950", "gfx1250"):
        formats = [("a8w8", *F32), ("bf16", "none", "none")]
        if chip != "gfx942":
            formats += [("a8w4", *E8M0), ("a8w8", *E8M0)]
        for rows in (1, 4, 16):
            for fmt, *scales in formats:
                name = f"gemm {fmt} {scales[0]} one group, M {rows} N 1536 K 4096"
                kernel = configs.gemm(chip, fmt, *scales, rows, 1536, 4096, 1)
                yield chip, name, lambda kernel=kernel: kernel.mlir
        # Six experts for each of one and of 16 tokens.
        for rows in (6, 96):
            for example in ("moe_gemm1", "moe_two_stage"):
                def mlir(path=EXAMPLES / f"{example}.mlir", rows=rows):
                    return path.read_text().replace("<?x", f"<{rows}x")
                yield chip, f"{example} {rows} rows", mlir


def read(compiler: pathlib.Path, only: str = "") -> list:
    """For each grouped GEMM its chip, name, tile, the model's cycles and bound, tiles,
    and the part of the compute units that has none."""
    found = []
    for chip, name, mlir in problems():
        if only not in f"{chip} {name}":
            continue
        done = subprocess.run([compiler, "-", f"--chip={chip}", "--tune=1"], input=mlir(),
                              capture_output=True, text=True)
        matches = LINE.findall(done.stdout + done.stderr)
        if done.returncode != 0 or not matches:
            raise SystemExit(f"{name} for {chip}: {done.stdout}{done.stderr}")
        for i, (tile_m, tile_n, cycles, bound, of_hbm, tiles, busy, cus) in enumerate(matches):
            found.append({"chip": chip, "kernel": name + (f" op {i + 1}" if i else ""),
                          "tile_m": int(tile_m), "tile_n": int(tile_n), "cycles": int(cycles),
                          "bound": bound, "percent_of_hbm": float(of_hbm), "tiles": int(tiles),
                          "compute_units": int(cus),
                          "idle_compute_units": round(1 - int(busy) / int(cus), 3)})
    return found
