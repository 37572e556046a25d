"""Compiles an op with pa-compile and runs its code object with pa-run.

The launch is made from the manifest alone: operands become descriptors, sizes
and scalars are computed from their text.
"""

import functools
import json
import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from typing import Optional

import numpy as np

BIN = pathlib.Path(os.environ.get("PAGEDATTN_BUILD_DIR", "build/release")) / "bin"


@dataclass
class Operand:
    """A view of an allocation: bytes, where the view starts, and its shape and
    strides in elements."""

    data: np.ndarray  # uint8, the whole allocation
    shape: tuple
    strides: tuple
    offset: int = 0  # bytes
    is_output: bool = False
    # Where the pieces of `data` lie in an allocation that is too large to write
    # out: bytes of the allocation, of each piece, and from one to the next. The
    # rest of the allocation holds `fill`.
    sparse: Optional[tuple] = None
    # Or, in place of a regular distance, where each of the equal pieces starts.
    starts: Optional[tuple] = None
    fill: int = 0
    # What the pieces must hold after the launch, compared where they lie.
    expected: Optional[np.ndarray] = None
    # Rows that must have been stored: bytes of each, from one to the next, count.
    written: Optional[tuple] = None

    @staticmethod
    def of(array: np.ndarray, is_output: bool = False) -> "Operand":
        array = np.ascontiguousarray(array)
        strides = tuple(s // array.itemsize for s in array.strides)
        data = array.reshape(-1).view(np.uint8)
        return Operand(data, array.shape, strides, 0, is_output)


@dataclass
class Result:
    outputs: dict
    status: int
    report: dict
    stats: dict
    kernel: dict = field(repr=False)
    text: str = ""


@functools.lru_cache(maxsize=256)
def compile_kernels(mlir: str, chip: str, options: str = "") -> tuple:
    """The folder with the code object and the manifest entries of the kernels, in
    the order of their launches."""
    folder = tempfile.mkdtemp(prefix="pagedattn-")
    done = subprocess.run(
        [BIN / "pa-compile", "-", f"--chip={chip}", "-o", folder,
         f"--options={options}"],
        input=mlir, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    manifest = json.loads(pathlib.Path(folder, "manifest.json").read_text())
    return pathlib.Path(folder), manifest["kernels"]


def compile_op(mlir: str, chip: str, options: str = "") -> tuple:
    """The same for an op that becomes one kernel."""
    folder, (kernel,) = compile_kernels(mlir, chip, options)
    return folder, kernel


def evaluate(text: str, sizes: dict) -> int:
    """The value of a manifest expression: + - * ceildiv, min, max."""
    names = dict(sizes, min=min, max=max, ceildiv=lambda a, b: -(-a // b))
    return int(eval(text, {"__builtins__": {}}, names))


def sizes_of(kernel: dict, operands: dict, scalars: Optional[dict] = None) -> dict:
    """The named sizes and scalars of a launch, scalars given by hand where they are."""
    sizes = {name: operands[size["operand"]].shape[size["dim"]]
             for name, size in kernel["sizes"].items()}
    for name, text in kernel["scalars"].items():
        sizes[name] = (scalars or {}).get(name, evaluate(text, sizes))
    return sizes


def launched(kernels: list, operands: dict, scalars: Optional[dict] = None) -> list:
    """The kernels whose grid is not empty."""
    return [kernel for kernel in kernels
            if all(evaluate(text, sizes_of(kernel, operands, scalars))
                   for text in kernel["grid"])]


def pieces(operand: Operand, data: np.ndarray, path: pathlib.Path):
    """How a spec names the pieces of `data`, which `path` holds one after another."""
    if not operand.sparse:
        return str(path)
    _, row, stride = operand.sparse
    if operand.starts is None:
        return {"strided": {"file": str(path), "offset": 0, "row_bytes": row,
                            "stride_bytes": stride}}
    files = []
    parts = np.ascontiguousarray(data).reshape(-1).view(np.uint8).reshape(-1, row)
    for i, (start, piece) in enumerate(zip(operand.starts, parts)):
        file = path.with_name(f"{path.name}.{i}")
        piece.tofile(file)
        files.append({"file": str(file), "offset": start})
    return {"sparse": files}


def run(kernel: dict, folder: pathlib.Path, operands: dict, *,
        scalars: Optional[dict] = None, options: tuple = ()) -> Result:
    sizes = sizes_of(kernel, operands, scalars)
    with tempfile.TemporaryDirectory(prefix="pagedattn-run-") as work:
        args = []
        for arg in kernel["args"]:
            name, _, part = arg["name"].partition(".")
            if not part:
                args.append({"name": name, "type": "i64", "value": sizes[name]})
                continue
            operand = operands[name]
            if part == "allocated":
                value = 0
            elif part == "aligned":
                path = pathlib.Path(work, name + ".bin")
                operand.data.tofile(path)
                buffer = {"name": name, "type": "buffer",
                          "bytes": operand.data.nbytes, "init": str(path),
                          "pointer_offset": operand.offset}
                if operand.sparse:
                    buffer["bytes"] = operand.sparse[0]
                    buffer["init"] = {"fill_u32": operand.fill,
                                      **pieces(operand, operand.data, path)}
                if operand.expected is not None:
                    want = pathlib.Path(work, name + ".expected")
                    operand.expected.tofile(want)
                    buffer["expected"] = pieces(operand, operand.expected, want)
                    buffer["expected_dtype"] = "i32"
                if operand.written:
                    row, stride, rows = operand.written
                    buffer["written"] = {"offset": operand.offset, "rows": rows,
                                         "row_bytes": row, "stride_bytes": stride}
                if operand.is_output and not operand.sparse:
                    buffer["out"] = str(path) + ".out"
                args.append(buffer)
                continue
            elif part == "offset":
                value = 0
            elif part.startswith("size"):
                value = operand.shape[int(part[4:])]
            else:
                value = operand.strides[int(part[6:])]
            args.append({"name": arg["name"], "type": "i64", "value": value})
        spec = {"arch": kernel["chip"], "kernel": kernel["symbol"],
                "code_object": str(folder / kernel["file"]),
                "grid": [evaluate(text, sizes) for text in kernel["grid"]],
                "block": kernel["workgroup_size"], "args": args}
        path = pathlib.Path(work, "spec.json")
        path.write_text(json.dumps(spec))
        stats = pathlib.Path(work, "stats.json")
        done = subprocess.run(
            [BIN / "pa-run", path, "--report=json", f"--stats={stats}", *options],
            capture_output=True, text=True)
        outputs = {}
        for name, operand in operands.items():
            out = pathlib.Path(work, name + ".bin.out")
            if operand.is_output and out.exists():
                outputs[name] = np.fromfile(out, dtype=np.uint8)
        return Result(outputs, done.returncode, json.loads(done.stdout or "{}"),
                      json.loads(stats.read_text()) if stats.exists() else {},
                      kernel, done.stdout + done.stderr)


def add_workspaces(kernel: dict, operands: dict, scalars: Optional[dict] = None) -> dict:
    """The operands with the kernel's workspaces, of four-byte elements, among
    them. What they hold at first is poison."""
    sizes = sizes_of(kernel, operands, scalars)
    added = dict(operands)
    for name, extents in kernel["workspaces"].items():
        if name in operands:
            continue
        shape = tuple(evaluate(text, sizes) for text in extents)
        added[name] = Operand.of(np.full(shape, 0x7F800000, np.uint32), is_output=True)
    return added


def run_all(kernels: list, folder: pathlib.Path, operands: dict, *,
            scalars: Optional[dict] = None, options: tuple = ()) -> Result:
    """Launches the kernels of one op one after another. Each starts with what the
    one before left in its outputs. The statistics are those of all."""
    outputs, instructions, loaded, stored = {}, 0, 0, 0
    for kernel in launched(kernels, operands, scalars):
        operands = add_workspaces(kernel, operands, scalars)
        result = run(kernel, folder, operands, scalars=scalars, options=options)
        outputs.update(result.outputs)
        result.outputs = outputs
        if result.status != 0 or result.report["reports"]:
            break
        for name, data in outputs.items():
            operands[name] = replace(operands[name], data=data)
        instructions += result.stats["instructions"]
        loaded += result.stats["bytes_loaded"].get("global", 0)
        result.stats["instructions"] = instructions
        result.stats["bytes_loaded"]["global"] = loaded
        stored += result.stats["bytes_stored"].get("global", 0)
        result.stats["bytes_stored"]["global"] = stored
    return result
