"""From a kernel's entry in the manifest and arrays to the bytes of a launch.

Everything that a launch needs is in the manifest (docs/manifest.md); nothing here
knows an operator.
"""

from __future__ import annotations

import ast
import math
import re
import struct
from dataclasses import dataclass
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple

from .arrays import Array, contiguous_strides
from .errors import ArgumentError, expect_integer

_FUNCTIONS = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b)}
_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.UnaryOp,
    ast.USub,
    ast.Call,
    ast.Name,
    ast.Load,
    ast.Constant,
)


class Formula:
    """An expression of the manifest: names, integers, ``+ - *``, ``min``, ``max`` and
    ``ceildiv``."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if not isinstance(node, _NODES):
                raise ValueError(f"expression {text!r} of the manifest has a {type(node).__name__}")
        self._code = compile(tree, "<manifest>", "eval")

    def __call__(self, names: Mapping[str, int]) -> int:
        return int(eval(self._code, {"__builtins__": {}}, {**_FUNCTIONS, **names}))


# What holds elements of each type; any type of the size where it is not listed.
_HOLDERS = {
    "f32": ("f32",),
    "f16": ("f16", "u16"),
    "bf16": ("bf16", "u16"),
    "i32": ("i32", "u32"),
    "i8": ("i8", "u8", "e8m0", "fp4x2"),
    "f8E8M0FNU": ("e8m0", "u8", "i8"),
    "f8E4M3FN": ("e4m3fn", "u8", "i8"),
    "f8E4M3FNUZ": ("e4m3fnuz", "u8", "i8"),
}

_MEMREF = re.compile(r"memref<((?:[?\d]+x)*)(\w+)(?:, strided<\[([^\]]*)\])?")


@dataclass(frozen=True)
class MemRef:
    """A memref type of the manifest."""

    text: str
    shape: Tuple[Optional[int], ...]
    element: str
    strides: Tuple[Optional[int], ...]

    @staticmethod
    def parse(text: str) -> Optional["MemRef"]:
        """None for a type that is no memref."""
        match = _MEMREF.match(text)
        if not match:
            return None

        def number(part: str) -> Optional[int]:
            return None if part == "?" else int(part)

        shape = tuple(number(n) for n in match[1].split("x")[:-1])
        if match[3] is not None:
            strides = tuple(number(n.strip()) for n in match[3].split(","))
        else:
            # Rows follow each other; what a dynamic extent decides stays open.
            steps: List[Optional[int]] = []
            step: Optional[int] = 1
            for extent in reversed(shape):
                steps.append(step)
                step = None if step is None or extent is None else step * extent
            strides = tuple(reversed(steps))
        return MemRef(text, shape, match[2], strides)

    @property
    def element_bytes(self) -> int:
        bits = re.match(r"[a-z]+(\d+)", self.element)
        return max(1, int(bits[1]) // 8) if bits else 1

    def check(self, array: Array) -> None:
        """The array is one that the type describes."""
        strides = array.element_strides()
        fits = (
            array.rank == len(self.shape)
            and array.itemsize == self.element_bytes
            and array.dtype in _HOLDERS.get(self.element, (array.dtype,))
            and all(w in (None, n) for w, n in zip(self.shape, array.shape))
            and all(
                w in (None, s) or n <= 1 for w, s, n in zip(self.strides, strides, array.shape)
            )
        )
        if not fits:
            raise ArgumentError(
                array.name,
                f"must be a {self.text}",
                f"shape {array.shape}, strides {strides} of {array.dtype}",
            )


@dataclass(frozen=True)
class Launch:
    """One launch: everything but where it runs."""

    symbol: str
    file: str
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    kernarg: bytes

    @property
    def is_empty(self) -> bool:
        return 0 in self.grid


class KernelPlan:
    """A kernel of the manifest, read once."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.symbol: str = entry["symbol"]
        self.file: str = entry["file"]
        self.op: str = entry.get("op", "")
        x, y, z = entry["workgroup_size"]
        self.block = (x, y, z)
        self.types = {o["name"]: MemRef.parse(o["type"]) for o in entry["operands"]}
        self.stored: FrozenSet[str] = frozenset(
            a["operand"] for a in entry["accesses"] if a["kind"] != "load"
        )
        self._sizes = {n: (s["operand"], s["dim"]) for n, s in entry["sizes"].items()}
        self._scalars = {n: Formula(text) for n, text in entry["scalars"].items()}
        self._workspaces = {
            name: [Formula(text) for text in extents]
            for name, extents in entry["workspaces"].items()
        }
        self._grid = [Formula(text) for text in entry["grid"]]
        self._args = [self._parse_arg(arg["name"]) for arg in entry["args"]]
        # One pack for all: pointers are unsigned, all others are signed.
        kinds = ("Q" if arg["kind"] == "pointer" else "q" for arg in entry["args"])
        self._format = "<" + "".join(kinds)

    @staticmethod
    def _parse_arg(text: str) -> Tuple[str, str, int]:
        """Operand or scalar, the part of the descriptor, the dimension."""
        name, _, part = text.partition(".")
        match = re.fullmatch(r"(size|stride)(\d+)", part)
        return (name, match[1], int(match[2])) if match else (name, part, 0)

    @property
    def operands(self) -> List[str]:
        """Names of what the caller has to provide."""
        return [
            n for n, t in self.types.items() if t is not None and n not in self._workspaces
        ]

    @property
    def scalars(self) -> List[str]:
        """Names of the arguments that have a default and may be given."""
        return list(self._scalars)

    def names(self, arrays: Mapping[str, Array], scalars: Mapping[str, int]) -> Dict[str, int]:
        """Values of the named sizes and scalars."""
        names = {n: arrays[operand].shape[dim] for n, (operand, dim) in self._sizes.items()}
        for name, formula in self._scalars.items():
            if name in scalars:
                names[name] = expect_integer(name, scalars[name], 1, 2**31 - 1)
            else:
                names[name] = formula(names)
        return names

    def workspaces(self, names: Mapping[str, int]) -> Dict[str, Tuple[Tuple[int, ...], int]]:
        """Shape and bytes of an element of each workspace."""
        result = {}
        for name, extents in self._workspaces.items():
            memref = self.types[name]
            assert memref is not None
            result[name] = (tuple(extent(names) for extent in extents), memref.element_bytes)
        return result

    def bind(self, arrays: Mapping[str, Array], names: Mapping[str, int]) -> Launch:
        """The launch for these arrays, workspaces among them."""
        values = []
        for name, part, dim in self._args:
            if part == "":
                values.append(names[name])
            elif part == "size":
                values.append(arrays[name].shape[dim])
            elif part == "stride":
                memref, array = self.types[name], arrays[name]
                static = memref.strides[dim] if memref else None
                values.append(array.strides[dim] // array.itemsize if static is None else static)
            elif part == "offset":
                values.append(0)
            else:
                values.append(arrays[name].address)
        x, y, z = (formula(names) for formula in self._grid)
        return Launch(
            self.symbol, self.file, (x, y, z), self.block, struct.pack(self._format, *values)
        )


def plan_kernels(kernels: Sequence[Mapping[str, Any]]) -> List[KernelPlan]:
    """The kernels of one op, in the order of their launches."""
    plans = [KernelPlan(entry) for entry in kernels]
    ops = sorted({plan.op for plan in plans})
    if len(ops) > 1:
        raise ArgumentError(
            "module", "must have one op to be launched as a whole", ", ".join(ops)
        )
    return plans


def bind_all(
    plans: Sequence[KernelPlan],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, int],
    allocate: Callable[[str, int], int],
) -> List[Launch]:
    """The launches of one op. ``allocate(name, bytes)`` gives the address of a workspace."""
    available = dict(arrays)
    launches = []
    for plan in plans:
        names = plan.names(arrays, {n: v for n, v in scalars.items() if n in plan.scalars})
        for name, (shape, itemsize) in plan.workspaces(names).items():
            if name not in available:
                address = allocate(name, itemsize * math.prod(shape))
                available[name] = Array(
                    name, address, shape, contiguous_strides(shape, itemsize), "bytes", itemsize,
                    False, True, None,
                )
        launches.append(plan.bind(available, names))
    return launches


def check_operands(plans: Sequence[KernelPlan], arrays: Mapping[str, Array]) -> None:
    """Everything that the kernels take is there and is what they take."""
    wanted = list(dict.fromkeys(name for plan in plans for name in plan.operands))
    for name in wanted:
        if name not in arrays:
            raise ArgumentError("operands", "must name all of the kernel", sorted(arrays), wanted)
    for name in arrays:
        if name not in wanted:
            raise ArgumentError("operands", "must be of the kernel", name, wanted)
    for plan in plans:
        for name in plan.operands:
            memref = plan.types[name]
            if memref is not None:
                memref.check(arrays[name])
        for name in plan.stored:
            if name in arrays and not arrays[name].writable:
                raise ArgumentError(arrays[name].name, "must be writable", "a read-only array")


def check_overlaps(plans: Sequence[KernelPlan], arrays: Mapping[str, Array]) -> None:
    """No array that is written shares memory with another one: workgroups run in any
    order, so that nobody could say what is read."""
    stored = {name for plan in plans for name in plan.stored}
    for name in stored & arrays.keys():
        for other, array in arrays.items():
            if other != name and arrays[name].overlaps(array):
                raise ArgumentError(
                    arrays[name].name, "must not share memory with another array", array.name
                )
