"""Runs kernels in the emulator, on the caller's own memory."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ._native import native
from .arrays import Array
from .context import settings
from .errors import EmulatorError, EmulatorWarning, warn
from .plan import KernelPlan, bind_all

if TYPE_CHECKING:
    from .compiler import CompiledModule

_QUIET_SECONDS = 2.0


def regions(
    arrays: Mapping[str, Array], stored: Sequence[str]
) -> List[Tuple[int, int, bool, str]]:
    """Ranges of host memory to map: begin, end, writable, name. Views that share
    memory become one range."""
    spans = sorted(
        (*array.span(), name in stored, array.name)
        for name, array in arrays.items()
        if array.size
    )
    merged: List[Tuple[int, int, bool, str]] = []
    for begin, end, writable, name in spans:
        if merged and begin < merged[-1][1]:
            first, last, was_writable, names = merged[-1]
            merged[-1] = (first, max(last, end), was_writable or writable, f"{names}, {name}")
        else:
            merged.append((begin, end, writable, name))
    return merged


def _progress(symbol: str) -> Optional[Callable[[int, int], None]]:
    """Shows how far a long run is, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    start = time.monotonic()

    def show(finished: int, total: int) -> None:
        seconds = time.monotonic() - start
        if seconds >= _QUIET_SECONDS:
            sys.stderr.write(
                f"\r\x1b[Kemulator: {symbol}: {finished} of {total} workgroups, {seconds:.0f} s"
            )
            sys.stderr.flush()

    return show


def _clear_progress(show: Optional[Callable[[int, int], None]]) -> None:
    if show:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _add(total: Dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds counts, also those inside of counts."""
    for name, value in more.items():
        if isinstance(value, dict):
            _add(total.setdefault(name, {}), value)
        else:
            total[name] = total.get(name, 0) + value


def run(
    compiled: "CompiledModule",
    plans: Sequence[KernelPlan],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, int],
) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
    """Statistics and reports of the launches of one op."""
    device = native().Device(compiled.chip)
    stored = {name for plan in plans for name in plan.stored}
    for begin, end, writable, name in regions(arrays, sorted(stored)):
        device.map_host(begin, end - begin, writable, name)
    config = settings()
    stats: Dict[str, Any] = {}
    reports: List[Dict[str, Any]] = []

    def allocate(name: str, size: int) -> int:
        return device.allocate(size, name)

    for launch in bind_all(plans, arrays, scalars, allocate):
        if launch.is_empty:
            continue
        show = _progress(launch.symbol)
        try:
            answer = json.loads(
                device.launch(
                    compiled.objects[launch.file],
                    launch.symbol,
                    launch.grid,
                    launch.block,
                    launch.kernarg,
                    config.seed,
                    config.threads,
                    config.budget,
                    show,
                )
            )
        finally:
            _clear_progress(show)
        _add(stats, answer["stats"])
        reports += answer["reports"]
        if answer["status"] != "ok":
            raise EmulatorError(answer["message"], answer["status"], reports, stats)
    if reports:
        kinds = ", ".join(sorted({f"{r['kind']} in {r.get('kernel', '?')}" for r in reports}))
        warn(f"the emulator has {len(reports)} reports: {kinds}", EmulatorWarning)
    return stats, reports


__all__ = ["run", "regions"]
