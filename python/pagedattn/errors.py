"""What this package raises and warns of."""

from __future__ import annotations

import operator
import os
import pathlib
import sys
import warnings
from typing import Any, Dict, List, Sequence


class PagedAttnError(Exception):
    """Everything that this package raises, but for a missing compiled part."""


class ArgumentError(PagedAttnError, ValueError):
    """An argument breaks a rule.

    Attributes:
        argument: name of the argument, as the caller wrote it.
        rule: what holds for it.
        found: the value that breaks the rule, as text.
        allowed: what would be accepted, as text; may be empty.
    """

    def __init__(self, argument: str, rule: str, found: Any, allowed: Any = "") -> None:
        self.argument, self.rule = argument, rule
        self.found, self.allowed = str(found), str(allowed)
        text = f"{argument}: {rule}, found {self.found}"
        super().__init__(text + (f", allowed {self.allowed}" if self.allowed else ""))


def expect_integer(name: str, value: Any, least: int, most: int) -> int:
    """`value`, if it is an integer from `least` to `most`."""
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_integer or not least <= operator.index(value) <= most:
        raise ArgumentError(name, "must be an integer in range", repr(value), f"{least} to {most}")
    return operator.index(value)


class CompileError(PagedAttnError):
    """The compiler has refused a module. ``diagnostics`` has what it said."""

    def __init__(self, diagnostics: Sequence[str]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(diagnostics) or "the compiler gave no reason")


class MissingKernelsError(PagedAttnError):
    """Kernels are not in the cache, and compiling is switched off.

    ``missing`` has one line for each: its chip, what it computes and its key.
    """

    def __init__(self, missing: Sequence[str], folder: str) -> None:
        self.missing = tuple(missing)
        lines = "".join(f"\n  {line}" for line in missing)
        super().__init__(
            f"compiling is switched off and {len(self.missing)} modules are not in {folder}:{lines}"
        )


class EmulatorError(PagedAttnError):
    """A kernel has faulted in the emulator.

    Attributes:
        status: ``invalid-access``, ``unknown-instruction`` or ``no-progress``.
        reports: what was reported until then, the fault among it.
        stats: what had been executed.
    """

    def __init__(
        self, message: str, status: str, reports: List[Dict[str, Any]], stats: Dict[str, Any]
    ) -> None:
        self.status, self.reports, self.stats = status, reports, stats
        super().__init__(message)


class HipError(PagedAttnError):
    """The HIP runtime is missing or has returned an error."""


class EmulatorWarning(UserWarning):
    """A run in the emulator has reports of what the hardware would hide."""


class CacheWarning(UserWarning):
    """The disk cache cannot be used."""


def warn(text: str, category: type) -> None:
    """Warns of the line that called into this package."""
    package, level = str(pathlib.Path(__file__).parent) + os.sep, 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
