"""Paged attention scoring, selection and grouped matrix products for AMD GPUs.

Operators, compiled for a chip when they are first called, and run on a GPU or,
without one, in an emulator of its code objects:

* :func:`paged_logits`: scores of the cached keys of each sequence;
* :func:`topk`: the best columns of every row;
* :func:`indexer`: the two of them without logits in memory;
* :func:`grouped_gemm`: one matrix product for each group of rows, with block scales.

``pagedattn.reference`` says what they mean, in float64 NumPy; ``pagedattn.formats`` has the
narrow number formats and the memory layouts; ``pagedattn.compat.aiter`` has AITER's
signatures. docs/python.md is the guide.
"""

from . import cache, formats, ops, reference
from .compiler import CompiledModule, compile, precompile
from .context import Settings, using
from .errors import (
    ArgumentError,
    CacheWarning,
    CompileError,
    EmulatorError,
    EmulatorWarning,
    HipError,
    MissingKernelsError,
    PagedAttnError,
)
from .gemm import grouped_gemm
from .indexer import indexer
from .logits import paged_logits
from .runtime import Result
from .selection import topk

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "CacheWarning",
    "CompileError",
    "CompiledModule",
    "EmulatorError",
    "EmulatorWarning",
    "HipError",
    "MissingKernelsError",
    "PagedAttnError",
    "Result",
    "Settings",
    "cache",
    "compile",
    "formats",
    "grouped_gemm",
    "indexer",
    "ops",
    "paged_logits",
    "precompile",
    "reference",
    "topk",
    "using",
]
