"""Compiled modules, in memory and on disk.

A module is kept under a hash of the compiler's build, the chip, the text of the
module and the options. Files are complete or absent: they are written under
another name and renamed, so that processes may share a folder. A file that cannot
be read counts as absent.

``PAGEDATTN_CACHE_DIR`` names the folder, by default ``~/.cache/pagedattn``; empty
switches the disk cache off. ``PAGEDATTN_NO_COMPILE=1`` or :func:`no_compile` make
a miss an error that lists what is missing.
"""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import io
import json
import os
import pathlib
import tempfile
import threading
import zipfile
import zlib
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from ._native import build_id
from .errors import CacheWarning, MissingKernelsError, warn

Files = Dict[str, bytes]

_memory: Dict[str, Any] = {}
_locks: Dict[str, threading.Lock] = {}
_guard = threading.Lock()
_strict: contextvars.ContextVar[bool] = contextvars.ContextVar("pagedattn_strict", default=False)
# (folder, text of the error) that have been warned of.
_warned: set = set()


def _forget_locks() -> None:
    """A thread that held one of them does not exist in a forked process."""
    global _guard
    _guard = threading.Lock()
    _locks.clear()


os.register_at_fork(after_in_child=_forget_locks)


def folder() -> Optional[pathlib.Path]:
    """The folder of the disk cache, None if it is switched off."""
    name = os.environ.get("PAGEDATTN_CACHE_DIR")
    if name is not None:
        return pathlib.Path(name) if name else None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base, "pagedattn")


def key_of(text: str, chip: str, options: str) -> str:
    """The hash under which a module is kept."""
    parts = json.dumps([build_id(), chip, text, options])
    return hashlib.sha256(parts.encode()).hexdigest()


@contextlib.contextmanager
def no_compile() -> Iterator[None]:
    """In the ``with`` block a module that is not in the cache is a
    :class:`MissingKernelsError`."""
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


def is_strict() -> bool:
    """Whether compiling is switched off."""
    return _strict.get() or os.environ.get("PAGEDATTN_NO_COMPILE", "") not in ("", "0")


def clear_memory() -> None:
    """Forgets what is in memory; the disk keeps it."""
    with _guard:
        _memory.clear()


def _warn(place: pathlib.Path, error: OSError) -> None:
    if (str(place), str(error)) not in _warned:
        _warned.add((str(place), str(error)))
        warn(f"cannot use the cache in {place}: {error}", CacheWarning)


def load(key: str) -> Optional[Files]:
    """Files of a module on disk."""
    place = folder()
    if place is None:
        return None
    try:
        with zipfile.ZipFile(place / (key + ".zip")) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(place, error)
        return None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError,
            RuntimeError):
        return None


def store(key: str, files: Files) -> None:
    """Writes a module to disk. Failing to is no error: it is compiled again."""
    place = folder()
    if place is None:
        return
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data.getvalue())
            os.replace(temporary, place / (key + ".zip"))
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        _warn(place, error)


def get(
    key: str,
    label: str,
    make: Callable[[], Files],
    wrap: Callable[[Files], Any],
) -> Any:
    """The module under `key`: from memory, from disk, or made. `label` says in one
    line what it is."""
    found = _memory.get(key)
    if found is not None:
        return found
    with _guard:
        lock = _locks.setdefault(key, threading.Lock())
    with lock:
        if key in _memory:
            return _memory[key]
        files = load(key)
        if files is None:
            if is_strict():
                raise MissingKernelsError([f"{label} ({key[:16]})"], str(folder()))
            files = make()
            store(key, files)
        _memory[key] = wrap(files)
        return _memory[key]


def missing(modules: Iterable[Tuple[str, str]]) -> List[str]:
    """The labels of those ``(key, label)`` that neither memory nor disk has."""
    return [
        f"{label} ({key[:16]})"
        for key, label in modules
        if key not in _memory and load(key) is None
    ]
