"""Static cost of the kernels of a code object, as pa-run --cost reads it.

The hot loop is the innermost loop with the most matrix instructions. Where it has
no loads from memory, the loop around it loads what it goes through: for logits a
step of keys, which the inner loop scores for one query after another.
"""

import json
import pathlib
import re
import shutil
import subprocess
from typing import Optional

LLVM_BIN = pathlib.Path("/usr/lib/llvm-22/bin")


def read(pa_run: pathlib.Path, path: pathlib.Path) -> list:
    """Kernels of a code object: symbol, instructions, hot_loop, text."""
    done = subprocess.run([pa_run, "--cost", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout)


LOADS = ("buffer_load", "global_load", "flat_load", "tensor_load")


def per_queries(loop: dict, text: list, queries: int) -> dict:
    """Instructions and cycles for one query of one step of keys: the hot loop, and
    where it loads nothing, its share of what the loop around it does."""
    total = dict(loop["cost"])
    if not any(line.startswith(LOADS) for line in text):
        for name, count in loop["around"].items():
            total[name] = total.get(name, 0) + count / queries
    return total


def mca_cycles(text: list, chip: str) -> Optional[float]:
    """Cycles of one iteration by llvm-mca, for ratios only; None where it has no
    model of the chip or does not know an instruction."""
    tool = shutil.which("llvm-mca-22") or str(LLVM_BIN / "llvm-mca")
    done = subprocess.run(
        [tool, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", "-iterations=10"],
        input="\n".join(text), capture_output=True, text=True)
    match = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    return int(match.group(1)) / 10 if done.returncode == 0 and match else None
