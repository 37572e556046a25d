"""Static cost of a kernel: its hot loop by instruction class, and the cycles that
one wave keeps the vector and the matrix unit of a SIMD busy.

The hot loop is the innermost loop with the most matrix instructions, or where
there are none the one with the most instructions. Cycles are those of a SIMD of
gfx942 and gfx950 for a wave of 64: 4 for a vector instruction, 16 for a
transcendental one, 8 for a 64-bit multiply-add; matrix instructions by their
documented rate.
"""

import collections
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Optional

LLVM_BIN = pathlib.Path("/usr/lib/llvm-22/bin")
LINE = re.compile(r"^\s+(\S+)\s*(.*?)\s*// ([0-9A-F]+): [0-9A-F ]+(?:<\S+?\+(0x[0-9a-f]+)>)?")
TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos|tanh)_")
CLASSES = ("matrix", "vector", "memory", "lds", "scalar", "sync")


@dataclass
class Loop:
    """Instructions of one iteration."""

    counts: dict
    mnemonics: collections.Counter
    matrix_cycles: int
    vector_cycles: int
    text: list = field(repr=False, default_factory=list)

    def per_matrix(self, name: str) -> float:
        return self.counts[name] / max(self.counts["matrix"], 1)


def classify(mnemonic: str) -> str:
    if "mfma" in mnemonic or "wmma" in mnemonic:
        return "matrix"
    if mnemonic.startswith(("s_wait", "s_barrier", "s_nop", "s_delay", "s_sleep",
                            "s_set_vgpr_msb", "s_setprio", "s_clause", "v_nop")):
        return "sync"
    if mnemonic.startswith("v_"):
        return "vector"
    if mnemonic.startswith("ds_"):
        return "lds"
    if mnemonic.startswith(("buffer_", "global_", "flat_", "scratch_", "tensor_")):
        return "memory"
    return "scalar"


def matrix_cycles(mnemonic: str, operands: str) -> int:
    """Cycles of the matrix unit of one SIMD. f8f6f4 has twice the rate where both
    operands have 4 bits."""
    shape = re.search(r"_(\d+)x(\d+)x(\d+)_", mnemonic)
    if not shape:
        return 16
    m, n, k = map(int, shape.groups())
    if "f8f6f4" in mnemonic:
        both_fp4 = "cbsz:4" in operands and "blgp:4" in operands
        return m * n * k // (2048 if both_fp4 else 1024)
    per_cycle = {"fp8": 512, "bf8": 512, "bf16": 512, "f16": 512}.get(
        mnemonic.rsplit("_", 1)[1], 512)
    if m * n * k == 16 * 16 * 16:
        return 16
    return max(8, m * n * k // per_cycle)


def vector_cycles(mnemonic: str) -> int:
    if TRANSCENDENTAL.match(mnemonic):
        return 16
    return 8 if mnemonic.startswith("v_mad_u64_u32") else 4


def disassemble(path: pathlib.Path) -> list:
    """(address, mnemonic, operands, address of a branch's target) of all kernels."""
    tool = shutil.which("llvm-objdump-22") or str(LLVM_BIN / "llvm-objdump")
    text = subprocess.run([tool, "-d", str(path)], capture_output=True, text=True,
                          check=True).stdout
    start, found = 0, []
    for line in text.splitlines():
        head = re.match(r"^([0-9a-f]+) <", line)
        if head:
            start = int(head.group(1), 16)
            continue
        match = LINE.match(line)
        if match:
            mnemonic, operands, address, target = match.groups()
            found.append((int(address, 16), mnemonic, operands,
                          start + int(target, 16) if target else None))
    return found


def hot_loop(code: list) -> Optional[Loop]:
    index = {address: i for i, (address, *_) in enumerate(code)}
    spans = [(index[target], i) for i, (address, name, _, target) in enumerate(code)
             if target is not None and "branch" in name and target <= address
             and target in index]
    best, best_key = None, None
    for first, last in spans:
        body = code[first:last + 1]
        counts = collections.Counter(classify(name) for _, name, _, _ in body)
        is_inner = not any(first <= a and b <= last and (a, b) != (first, last)
                           for a, b in spans)
        key = (is_inner, counts["matrix"], len(body))
        if best_key is None or key > best_key:
            best, best_key = body, key
    if best is None:
        return None
    counts = collections.Counter(classify(name) for _, name, _, _ in best)
    return Loop({c: counts[c] for c in CLASSES},
                collections.Counter(name for _, name, _, _ in best),
                sum(matrix_cycles(n, o) for _, n, o, _ in best if classify(n) == "matrix"),
                sum(vector_cycles(n) for _, n, _, _ in best if classify(n) == "vector"),
                [f"{n} {o}" for _, n, o, _ in best])


def mca_cycles(loop: Loop, chip: str) -> Optional[float]:
    """Cycles of one iteration by llvm-mca, for ratios only; None where it has no
    model of the chip or does not know an instruction."""
    lines = [t for t in loop.text if "branch" not in t]
    done = subprocess.run(
        [shutil.which("llvm-mca-22") or str(LLVM_BIN / "llvm-mca"),
         "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", "-iterations=10"],
        input="\n".join(lines), capture_output=True, text=True)
    match = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    return int(match.group(1)) / 10 if done.returncode == 0 and match else None
