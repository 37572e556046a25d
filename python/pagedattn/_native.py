"""The compiled part of the package, loaded when it is first needed.

``pagedattn.formats`` and ``pagedattn.reference`` work without it.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
from types import ModuleType
from typing import Any, Dict


@functools.lru_cache(maxsize=None)
def native() -> ModuleType:
    """The module ``_pagedattn``."""
    try:
        from . import _pagedattn  # type: ignore[attr-defined]
    except ImportError as error:
        raise ImportError(
            "pagedattn is here without its compiled part: run `pip install .` in the checkout, or "
            f"build the target _pagedattn and put BUILD/python on PYTHONPATH ({error})"
        ) from error
    return _pagedattn


@functools.lru_cache(maxsize=None)
def chips() -> Dict[str, Dict[str, Any]]:
    """What is known of every chip, by its gfx number."""
    return native().chips()


@functools.lru_cache(maxsize=None)
def build_id() -> str:
    """A hash of the compiler: of this package's library and of LLVM's version."""
    library = pathlib.Path(str(native().__file__)).read_bytes()
    return hashlib.sha256(library + native().llvm_version.encode()).hexdigest()
