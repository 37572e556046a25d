"""Defaults of the calls in a block of code: chip, device, stream, emulator."""

from __future__ import annotations

import contextlib
import contextvars
import os
from dataclasses import dataclass, field, replace
from typing import Any, Iterator, Mapping, Optional

from ._native import chips
from .errors import ArgumentError, expect_integer

DEVICES = ("emulator", "hip")
_MOST_THREADS = 4096


@dataclass(frozen=True)
class Settings:
    """What :func:`using` sets.

    Attributes:
        chip: gfx number where a call names none.
        device: ``emulator`` or ``hip`` where a call names none.
        stream: the HIP stream to launch on, as an integer.
        seed: 0 keeps the emulator's workgroups and waves in order, any other
            number permutes them.
        threads: host threads of the emulator, 0 for one per core.
        budget: wave instructions that a workgroup may execute in the emulator, 0
            for the default of 2^36.
        options: options of the compiler for every op, where a call does not say
            otherwise.
    """

    chip: Optional[str] = None
    device: Optional[str] = None
    stream: Optional[int] = None
    seed: int = 0
    threads: int = 0
    budget: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)


_settings: contextvars.ContextVar[Settings] = contextvars.ContextVar(
    "pagedattn_settings", default=Settings()
)


def settings() -> Settings:
    """The settings in effect."""
    return _settings.get()


def _check(name: str, value: Any) -> None:
    """A setting has a value that can be used."""
    known = Settings.__dataclass_fields__
    if name not in known:
        raise ArgumentError(name, "must be a setting", name, ", ".join(known))
    if name in ("seed", "budget"):
        expect_integer(name, value, 0, 2**64 - 1)
    elif name == "threads":
        expect_integer(name, value, 0, _MOST_THREADS)
    elif name == "options":
        if not isinstance(value, Mapping):
            raise ArgumentError(name, "must be a dictionary", repr(value))
    elif value is None:
        pass
    elif name == "chip":
        check_chip(value)
    elif name == "device":
        if value not in DEVICES:
            raise ArgumentError(name, "must be a known one", repr(value), ", ".join(DEVICES))
    else:
        expect_integer(name, value, 0, 2**64 - 1)


@contextlib.contextmanager
def using(**changes: Any) -> Iterator[Settings]:
    """Changes fields of :class:`Settings` for the calls inside a ``with`` block::

        with pagedattn.using(chip="gfx950", seed=7):
            pagedattn.topk(values, row_ends, 512)
    """
    for name, value in changes.items():
        _check(name, value)
    token = _settings.set(replace(settings(), **changes))
    try:
        yield settings()
    finally:
        _settings.reset(token)


def check_chip(chip: Any) -> str:
    """`chip`, if it is known."""
    if chip not in chips():
        raise ArgumentError("chip", "must be a known chip", repr(chip), ", ".join(chips()))
    return chip


def default_chip() -> str:
    """The chip of a call on the emulator that names none: that of :func:`using`,
    or of ``PAGEDATTN_CHIP``. There is no further default: the chip decides what
    plain fp8 bytes mean."""
    chip = settings().chip or os.environ.get("PAGEDATTN_CHIP")
    if not chip:
        raise ArgumentError(
            "chip",
            "is needed on the emulator, as an argument, with pagedattn.using(chip=...) or "
            "in PAGEDATTN_CHIP",
            "none",
            ", ".join(chips()),
        )
    return check_chip(chip)
