"""Runs the kernels of a compiled module on a device."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple

from . import ops
from .arrays import Array
from .context import DEVICES, check_chip, default_chip, settings
from .errors import ArgumentError
from .plan import check_operands, check_overlaps

if TYPE_CHECKING:
    from typing import ParamSpec

    from .compiler import CompiledModule

    _Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True)
class Result:
    """What a call has done.

    Attributes:
        out: the output, or outputs: what the caller gave, filled, or new arrays.
        compiled: the module that ran.
        device: where.
        stats: counts of the emulator (``instructions``, ``matrix_ops``, ``bytes_loaded``,
            ``bytes_stored``, ``by_buffer``, ``by_mnemonic``, ``seconds``, ...), empty on a GPU.
        reports: what the emulator has seen and the hardware would hide
            (docs/emulator.md), empty on a GPU.
    """

    out: Any
    compiled: "CompiledModule" = field(repr=False)
    device: str
    stats: Dict[str, Any] = field(default_factory=dict, repr=False)
    reports: List[Dict[str, Any]] = field(default_factory=list)


def choose_device(arrays: Mapping[str, Array], device: Optional[str]) -> str:
    """`device`, or what fits the arrays, which are all in one place."""
    on_device = {a.name for a in arrays.values() if a.on_device and a.size}
    on_host = {a.name for a in arrays.values() if not a.on_device and a.size}
    if on_device and on_host:
        raise ArgumentError(
            min(on_host),
            "must be in device memory as the other arrays",
            "host memory",
            f"device memory, where {', '.join(sorted(on_device))} are",
        )
    chosen = settings().device if device is None else device
    if chosen is None:
        chosen = "hip" if on_device else "emulator"
    ops.expect_choice("device", chosen, DEVICES)
    if chosen == "emulator" and on_device:
        raise ArgumentError(
            min(on_device), "must be in host memory for the emulator", "device memory"
        )
    if chosen == "hip" and on_host:
        raise ArgumentError(
            min(on_host), "must be in device memory for device='hip'", "host memory"
        )
    return chosen


def launch_all(
    compiled: "CompiledModule",
    arrays: Mapping[str, Array],
    scalars: Mapping[str, int],
    device: str,
    out: Any = None,
) -> Result:
    """Launches the kernels of a module one after another."""
    plans = compiled.plans
    check_overlaps(plans, arrays)
    if scalars:
        known = sorted({name for plan in plans for name in plan.scalars})
        for name in scalars:
            ops.expect_choice("scalars", name, known)
    if device == "hip":
        from . import hip

        hip.run(compiled, plans, arrays, scalars)
        return Result(out, compiled, device)
    from . import emulator

    stats, reports = emulator.run(compiled, plans, arrays, scalars)
    return Result(out, compiled, device, stats, reports)


def _chip_of(device: str, arrays: Mapping[str, Array], chip: Optional[str]) -> str:
    if chip is not None:
        return check_chip(chip)
    if device == "emulator":
        return default_chip()
    from . import hip

    return check_chip(hip.chip_of(next(iter(arrays.values())).device_index))


# Modules by all that they are chosen by, so that a call like one before only launches.
_modules: Dict[Tuple[Any, ...], "CompiledModule"] = {}
_MOST_MODULES = 4096


def run_op(call: ops.Call) -> Result:
    """Compiles the op of a call, unless that has been done, and runs it."""
    where = choose_device(call.arrays, call.device)
    chip = _chip_of(where, call.arrays, call.chip)
    tuning = {**settings().options, **call.compiled_tuning}
    key = (
        call.build,
        chip,
        repr(call.parameters),
        tuple(array.signature for array in call.arrays.values()),
        tuple(sorted((n, str(v)) for n, v in tuning.items())),
    )
    compiled = _modules.get(key)
    if compiled is None:
        from .compiler import compile

        op, options = call.op(chip, tuning)
        compiled = compile(op, chip, **options)
        check_operands(compiled.plans, call.arrays)
        if len(_modules) >= _MOST_MODULES:
            _modules.clear()
        _modules[key] = compiled
    if where == "emulator" and call.check_contents:
        call.check_contents(call.arrays)
    return launch_all(compiled, call.arrays, call.scalars, where, call.out)


def entry_point(describe: Callable[_Arguments, ops.Call]) -> Callable[_Arguments, Result]:
    """An entry point that runs the call that `describe` makes of its arguments.
    :mod:`pagedattn.ops` asks its attribute ``describe`` for the call alone."""

    @functools.wraps(describe)
    def run(*args: Any, **kwargs: Any) -> Result:
        return run_op(describe(*args, **kwargs))

    signature = inspect.signature(describe)
    run.__signature__ = signature.replace(return_annotation="Result")  # type: ignore[attr-defined]
    run.describe = describe  # type: ignore[attr-defined]
    return run
