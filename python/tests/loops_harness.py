"""Compiles pa-lower-to-loops output to a shared object and calls it.

All functions of a test file go into one module, which is compiled once.
Arguments are NumPy arrays with whatever strides they have.
"""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Iterable, Sequence

import numpy as np

TO_LLVM = [
    "--pa-lower-to-loops",
    "--convert-math-to-libm",
    "--convert-scf-to-cf",
    "--expand-strided-metadata",
    "--lower-affine",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]

ELEMENT_TYPES = {
    np.dtype(np.float32): "f32",
    np.dtype(np.float16): "f16",
    np.dtype(np.int32): "i32",
    np.dtype(np.uint8): "i8",
    np.dtype(np.int8): "i8",
    np.dtype(np.uint16): "bf16",
}


def tool(name: str) -> str:
    """The path of one of our tools or, with a trailing -22, of LLVM's."""
    folder = "PAGEDATTN_LLVM_BIN" if name.endswith("-22") else "PAGEDATTN_BUILD_DIR"
    base = name[: -len("-22")] if name.endswith("-22") else os.path.join("bin", name)
    if folder in os.environ:
        return os.path.join(os.environ[folder], base)
    if name.endswith("-22"):
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError(f"set {folder} to find {name}")


def memref_type(
    array: np.ndarray, element: str = "", dynamic: Sequence[int] = ()
) -> str:
    """The memref type of an array; dimensions in `dynamic` become unknown."""
    element = element or ELEMENT_TYPES[array.dtype]
    shape = ["?" if d in dynamic else str(n) for d, n in enumerate(array.shape)]
    text = "x".join(shape + [element])
    if array.flags.c_contiguous:
        return f"memref<{text}>"
    strides = ", ".join(str(s // array.itemsize) for s in array.strides)
    return f"memref<{text}, strided<[{strides}]>>"


def run(command: Sequence[str], text: str) -> str:
    """Output of a tool that reads standard input."""
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[:4000]}")
    return done.stdout


def compile_functions(functions: Iterable[str], folder: Path) -> ctypes.CDLL:
    """A library with the functions, which have the C interface attribute."""
    lowered = run([tool("pa-opt"), *TO_LLVM], "\n".join(functions))
    ir = run([tool("mlir-translate-22"), "--mlir-to-llvmir"], lowered)
    library = folder / "loops.so"
    # No fused products and no fast math: the lowering is the meaning.
    run(
        [tool("clang-22"), "-O1", "-shared", "-fPIC", "-ffp-contract=off"]
        + ["-Wno-override-module", "-x", "ir", "-", "-o", str(library), "-lm"],
        ir,
    )
    return ctypes.CDLL(str(library))


def descriptor(array: np.ndarray) -> ctypes.Structure:
    """A memref descriptor of the array, strides in elements."""
    rank = array.ndim
    extents = ctypes.c_int64 * rank

    class Descriptor(ctypes.Structure):
        _fields_ = [
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
            ("sizes", extents),
            ("strides", extents),
        ]

    strides = [stride // array.itemsize for stride in array.strides]
    address = array.ctypes.data
    return Descriptor(address, address, 0, extents(*array.shape), extents(*strides))


def call(library: ctypes.CDLL, name: str, arrays: Sequence[np.ndarray]) -> None:
    """Runs function `name` on the arrays, which it may change."""
    descriptors = [descriptor(array) for array in arrays]
    function = getattr(library, "_mlir_ciface_" + name)
    function.restype = None
    function(*[ctypes.byref(each) for each in descriptors])


def guarded(shape: Sequence[int], dtype, fill, margin: int = 16):
    """A view of `shape` in the middle of a larger array filled with `fill`.

    Returns the view and the larger array; the view's rows have `margin` columns
    and the array has one more row on either side.
    """
    rows, columns = shape
    whole = np.full((rows + 2, columns + 2 * margin), fill, dtype)
    return whole[1:-1, margin:-margin], whole


def assert_guards_intact(view: np.ndarray, whole: np.ndarray, fill) -> None:
    """Nothing outside of the view has changed."""
    outside = np.ones(whole.shape, bool)
    margin = (whole.shape[1] - view.shape[1]) // 2
    outside[1:-1, margin : whole.shape[1] - margin] = False
    assert (whole[outside] == fill).all(), "something was written outside"
