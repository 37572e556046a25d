"""Ops as data: what is compiled for a call, by shapes, strides and formats.

The functions of this module take what the entry points of the same names take and give
the :class:`Op` that such a call compiles. They do not look at the contents of the arrays,
so that kernels can be compiled before they are needed::

    op = pagedattn.ops.topk(logits, row_ends, 2048, chip="gfx950")
    pagedattn.compile(op, "gfx950")

Sizes that change from call to call (batch, rows, pages, columns of the block
table and of the logits) are dynamic: one kernel serves all. Strides between
pages and inside of them are part of the op, since addresses are proven with
them; strides between rows are dynamic where that costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

from ._native import chips, native
from .arrays import Array
from .context import check_chip, default_chip
from .errors import ArgumentError, CompileError

Dim = Optional[int]

PIPELINE_OPTIONS = {
    "num_cus": r"-?\d+",
    "fuse_indexer": r"\w+",
    "fusion_remarks": "true|false",
    "max_offset_bytes": r"-?\d+",
    "require_address_form": r"\w+",
    "force_address_form": r"\w+",
    "address_remarks": "true|false",
    "abi": r"-?\d+",
    "opt_level": r"-?\d+",
}
"""Options of the compiler, whatever the op, and what their values look like."""
_KINDS = {r"-?\d+": "an integer", r"\w+": "a word", "true|false": "a boolean"}


@dataclass(frozen=True)
class Operand:
    """One operand of an op: its name, what the op's text calls it, its type.
    ``None`` stands for a dynamic extent or stride. `hints` are extents to choose a
    configuration for."""

    name: str
    keyword: str
    element: str
    shape: Tuple[Dim, ...]
    strides: Tuple[Dim, ...]
    hints: Tuple[Tuple[int, int], ...] = ()

    def type(self, with_hints: bool = False) -> str:
        """The memref type."""
        shape = list(self.shape)
        if with_hints:
            for dim, extent in self.hints:
                shape[dim] = extent
        dims = "".join(f"{'?' if n is None else n}x" for n in shape)
        if self._is_contiguous():
            return f"memref<{dims}{self.element}>"
        strides = ", ".join("?" if s is None else str(s) for s in self.strides)
        return f"memref<{dims}{self.element}, strided<[{strides}]>>"

    def _is_contiguous(self) -> bool:
        step: Dim = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if stride is None or stride != step:
                return False
            step = None if extent is None else step * extent
        return True


@dataclass(frozen=True)
class Op:
    """One op on memrefs, with constant `scalars` behind its inputs. ``mlir`` is the
    module that is compiled."""

    name: str
    inputs: Tuple[Operand, ...]
    outputs: Tuple[Operand, ...]
    attributes: Tuple[Tuple[str, str], ...]
    summary: str = field(default="", compare=False)
    scalars: Tuple[Tuple[str, int], ...] = ()

    @property
    def mlir(self) -> str:
        return self._print(with_hints=False)

    @property
    def hinted_mlir(self) -> str:
        """The same with the extents of the hints, to choose a configuration."""
        return self._print(with_hints=True)

    def __str__(self) -> str:
        return f"pa.{self.name} {self.summary}"

    def _print(self, with_hints: bool) -> str:
        def value(operand: Operand) -> str:
            return f"%{operand.name} : {operand.type(with_hints)}"

        inputs = "\n      ".join(f"{o.keyword}({value(o)})" for o in self.inputs)
        inputs += "".join(f" {name}(%{name})" for name, _ in self.scalars)
        constants = "".join(
            f"  %{name} = arith.constant {number} : index\n" for name, number in self.scalars
        )
        outputs = ", ".join(map(value, self.outputs))
        attributes = ", ".join(f"{key} = {text}" for key, text in self.attributes)
        args = ", ".join(
            f"%{o.name}: {o.type(with_hints)}" for o in self.inputs + self.outputs
        )
        return (
            f"func.func @{self.name}({args}) {{\n{constants}  pa.{self.name} {inputs}\n"
            f"      outs({outputs})\n      {{{attributes}}}\n  return\n}}\n"
        )


# ===----------------------------------------------------------------------===//
# Checks of arguments, with the names that the caller knows
# ===----------------------------------------------------------------------===//


def expect_rank(array: Array, rank: int, axes: str) -> None:
    if array.rank != rank:
        raise ArgumentError(array.name, f"must have rank {rank} {axes}", array.shape)


def expect_shape(array: Array, wanted: Sequence[int], axes: str) -> None:
    if array.shape != tuple(wanted):
        raise ArgumentError(array.name, f"must have shape {axes}", array.shape, tuple(wanted))


def expect_dtype(array: Array, *allowed: str) -> None:
    if array.dtype not in allowed:
        raise ArgumentError(array.name, "has the wrong type", array.dtype, ", ".join(allowed))


def expect_unit_stride(array: Array) -> None:
    if array.shape[-1] > 1 and array.element_strides()[-1] != 1:
        raise ArgumentError(
            array.name, "innermost stride must be 1", array.element_strides()[-1]
        )


def expect_output(array: Array) -> None:
    """Can be written, row by row without overlap."""
    if not array.writable:
        raise ArgumentError(array.name, "must be writable", "a read-only array")
    expect_unit_stride(array)
    stride = array.element_strides()[0]
    if array.shape[0] > 1 and stride < array.shape[1]:
        raise ArgumentError(
            array.name,
            f"rows of {array.shape[1]} elements must not overlap",
            f"a stride of {stride}",
        )


def expect_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ArgumentError(name, "must be a known one", repr(value), ", ".join(allowed))


def operand(
    array: Array,
    element: str,
    *,
    name: str = "",
    keyword: str = "",
    dynamic: Sequence[int] = (),
    free_strides: Sequence[int] = (),
    hints: Optional[Mapping[int, int]] = None,
) -> Operand:
    """The operand that an array becomes. Extents in `dynamic` and strides in
    `free_strides` are left open."""
    shape = tuple(None if d in dynamic else n for d, n in enumerate(array.shape))
    strides = list(array.element_strides())
    # The stride of an axis with one entry is never used: no reason to differ. One that
    # is wider than the rest, as between pages, may be needed for the next array.
    step = 1
    for d in range(array.rank - 1, -1, -1):
        if array.shape[d] <= 1 and (d not in dynamic or strides[d] < step):
            strides[d] = step
        step = strides[d] * max(array.shape[d], 1)
    return Operand(
        name or array.name,
        keyword or name or array.name,
        element,
        shape,
        tuple(None if d in free_strides else s for d, s in enumerate(strides)),
        tuple(sorted((hints or {}).items())),
    )


def ceil_power(n: int) -> int:
    """The least power of two that is not below `n`."""
    return 1 << max(n - 1, 0).bit_length()


def floor_power(n: int) -> int:
    """The greatest power of two that is not above `n`, at least 1."""
    return 1 << max(n.bit_length() - 1, 0)


# ===----------------------------------------------------------------------===//
# Configurations
# ===----------------------------------------------------------------------===//

_configs: Dict[Tuple[str, str, str], str] = {}


def option_text(options: Mapping[str, Any]) -> str:
    """Options of the compiler as its command line has them."""
    texts = []
    for name, value in sorted(options.items()):
        expect_choice("option", name, tuple(PIPELINE_OPTIONS))
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not re.fullmatch(PIPELINE_OPTIONS[name], text):
            raise ArgumentError(name, f"must be {_KINDS[PIPELINE_OPTIONS[name]]}", repr(value))
        texts.append(f"{name.replace('_', '-')}={text}")
    return " ".join(texts)


def configure(op: Op, chip: str, tuning: Mapping[str, Any]) -> Tuple[Op, Dict[str, Any]]:
    """The op with the configuration that the compiler chooses for the extents of
    the hints, changed by what `tuning` says of it; and the rest of `tuning`, which
    are options of the compiler."""
    options = {k: v for k, v in tuning.items() if k in PIPELINE_OPTIONS}
    fields = {k: v for k, v in tuning.items() if k not in PIPELINE_OPTIONS}
    key = (op.hinted_mlir, chip, option_text(options))
    if key not in _configs:
        answer = native().configure(*key)
        if "config" not in answer:
            raise CompileError(answer["errors"])
        _configs[key] = answer["config"]
    config = _configs[key]
    known = re.findall(r"(\w+) = ", config)
    for name, value in fields.items():
        if name not in known:
            raise ArgumentError(
                "tuning",
                f"pa.{op.name} must have such a parameter",
                name,
                ", ".join(known + list(PIPELINE_OPTIONS)),
            )
        if not re.fullmatch(r"\w+", str(value)):
            raise ArgumentError(name, "must be a number or a word", repr(value))
        config = re.sub(rf"\b{name} = \w+", f"{name} = {value}", config)
    if config:
        op = replace(op, attributes=op.attributes + (("config", config),))
    return op, options


LAUNCH_SCALARS = ("num_workers",)
"""What of a call's tuning is an argument of the launch."""


@dataclass(frozen=True)
class Call:
    """One call of an entry point, before anything is compiled.

    Attributes:
        build: ``build(arrays, chip=chip, **parameters)`` checks the arguments and makes
            the op.
        arrays: the operands by the names of the manifest.
        parameters: what else the op is made from.
        out: what the result has as ``out``.
        chip, device, tuning: as the caller gave them.
        check_contents: checks what a kernel relies on, for arrays in host memory.
    """

    build: Callable[..., Op]
    arrays: Dict[str, Array]
    parameters: Mapping[str, Any]
    out: Any
    chip: Optional[str]
    device: Optional[str]
    tuning: Mapping[str, Any]
    check_contents: Optional[Callable[[Dict[str, Array]], None]] = None

    @property
    def scalars(self) -> Dict[str, Any]:
        """The arguments of the launch in `tuning`."""
        return {n: v for n, v in self.tuning.items() if n in LAUNCH_SCALARS}

    @property
    def compiled_tuning(self) -> Dict[str, Any]:
        """The rest of it."""
        return {n: v for n, v in self.tuning.items() if n not in LAUNCH_SCALARS}

    def op(self, chip: str, tuning: Mapping[str, Any]) -> Tuple[Op, Dict[str, Any]]:
        """The op for a chip, and the options of the compiler in `tuning`."""
        return configure(self.build(self.arrays, chip=chip, **self.parameters), chip, tuning)


def fp8_element(array: Array, flavour: str, why: str) -> str:
    """The element type of fp8 data that has to be of one flavour; plain bytes are."""
    expect_dtype(array, "u8", "i8", "e4m3fn", "e4m3fnuz")
    if array.dtype in ("e4m3fn", "e4m3fnuz") and array.dtype != flavour:
        raise ArgumentError(
            array.name, f"must have the fp8 flavour of {why}", array.dtype, f"{flavour}, uint8"
        )
    return {"e4m3fn": "f8E4M3FN", "e4m3fnuz": "f8E4M3FNUZ"}[flavour]


def native_fp8(chip: str) -> str:
    """The fp8 flavour of a chip."""
    return chips()[chip]["fp8"]


def _op_of(entry: Any, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> Op:
    call: Call = entry.describe(*args, **kwargs)
    chip = default_chip() if call.chip is None else check_chip(call.chip)
    return call.op(chip, call.compiled_tuning)[0]


def paged_logits(*args: Any, **kwargs: Any) -> Op:
    """The op of :func:`pagedattn.paged_logits` for arrays like these."""
    from .logits import paged_logits as entry

    return _op_of(entry, args, kwargs)


def topk(*args: Any, **kwargs: Any) -> Op:
    """The op of :func:`pagedattn.topk` for arrays like these."""
    from .selection import topk as entry

    return _op_of(entry, args, kwargs)


def indexer(*args: Any, **kwargs: Any) -> Op:
    """The op of :func:`pagedattn.indexer` for arrays like these."""
    from .indexer import indexer as entry

    return _op_of(entry, args, kwargs)


def grouped_gemm(*args: Any, **kwargs: Any) -> Op:
    """The op of :func:`pagedattn.grouped_gemm` for arrays like these."""
    from .gemm import grouped_gemm as entry

    return _op_of(entry, args, kwargs)
