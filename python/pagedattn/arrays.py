"""Arrays of any library, by address, shape, strides and number format.

Nothing is copied or converted. NumPy arrays (with ml_dtypes' types too), torch
tensors, ``__cuda_array_interface__`` and DLPack are understood; none of the
libraries but NumPy is imported for it.
"""

from __future__ import annotations

import ctypes
import math
import sys
from dataclasses import dataclass, replace
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError

# Names of NumPy, ml_dtypes and torch, and what they are called here.
_DTYPES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "uint32": "u32",
    "uint16": "u16",
    "int16": "i16",
    "uint8": "u8",
    "int8": "i8",
    "float8_e4m3fn": "e4m3fn",
    "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e8m0fnu": "e8m0",
    "float4_e2m1fn_x2": "fp4x2",
}
# The codes of DLPack: (type, bits). From version 1.1 it has narrow floats.
_DLPACK_DTYPES = {
    (0, 8): "i8",
    (0, 32): "i32",
    (1, 8): "u8",
    (1, 16): "u16",
    (1, 32): "u32",
    (2, 16): "f16",
    (2, 32): "f32",
    (4, 16): "bf16",
    (10, 8): "e4m3fn",
    (11, 8): "e4m3fnuz",
    (14, 8): "e8m0",
}
_TooHard = getattr(np, "exceptions", np).TooHardError
# Steps that a comparison of two arrays' addresses may take.
_MOST_WORK = 10000
_HOST_DEVICES, _GPU_DEVICES = (1, 3, 11), (2, 10)


@dataclass(frozen=True)
class Array:
    """One argument. Strides are in bytes."""

    name: str
    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: str
    itemsize: int
    on_device: bool
    writable: bool
    owner: Any
    device_index: int = 0
    stream: Optional[int] = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def signature(self) -> Tuple[Any, ...]:
        """Everything but where the data is: what a kernel is chosen by."""
        return (
            self.name,
            self.shape,
            self.strides,
            self.dtype,
            self.itemsize,
            self.on_device,
            self.writable,
        )

    def element_strides(self) -> Tuple[int, ...]:
        """Strides in elements."""
        for stride in self.strides:
            if stride % self.itemsize or stride < 0:
                raise ArgumentError(
                    self.name,
                    f"strides must be multiples of the element's {self.itemsize} bytes and not "
                    "negative",
                    f"{self.strides} bytes",
                )
        return tuple(stride // self.itemsize for stride in self.strides)

    def span(self) -> Tuple[int, int]:
        """The addresses of the first byte and of that behind the last."""
        if self.size == 0:
            return self.address, self.address
        last = sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        return self.address, self.address + last + self.itemsize

    def overlaps(self, other: "Array") -> bool:
        """Whether both have a byte in common. Where that is too hard to say of two
        patterns of strides, they are taken not to."""
        begin, end = self.span()
        first, last = other.span()
        if self.on_device != other.on_device or begin >= last or first >= end:
            return False
        elements = f"V{self.itemsize}", f"V{other.itemsize}"
        try:
            # Nothing is read here: the addresses may be those of a device.
            return np.shares_memory(self.numpy(elements[0]), other.numpy(elements[1]), _MOST_WORK)
        except _TooHard:
            return False

    def numpy(self, dtype: Any) -> NDArray:
        """A view of host memory as `dtype`, which has the array's item size."""
        begin, end = self.span()
        data: Any = b""
        if end > begin:
            data = (ctypes.c_char * (end - begin)).from_address(begin)
        flat: NDArray = np.frombuffer(data, np.uint8)
        return np.ndarray(self.shape, dtype, flat, 0, self.strides)


def contiguous_strides(shape: Tuple[int, ...], itemsize: int) -> Tuple[int, ...]:
    """Strides in bytes of rows that follow each other."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _from_numpy(name: str, array: NDArray) -> Array:
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(name, "must have no mask", "a masked array")
    if not array.dtype.isnative:
        raise ArgumentError(name, "must have the byte order of the machine", array.dtype)
    kind = _DTYPES.get(array.dtype.name, array.dtype.name)
    return Array(
        name,
        array.ctypes.data,
        array.shape,
        array.strides,
        kind,
        array.itemsize,
        False,
        array.flags.writeable,
        array,
    )


def _from_torch(name: str, tensor: Any) -> Array:
    dtype = str(tensor.dtype).rpartition(".")[2]
    itemsize = int(tensor.element_size())
    on_device = bool(tensor.is_cuda)
    index = int(tensor.device.index or 0) if on_device else 0
    stream = None
    if on_device and "torch" in sys.modules:
        stream = int(sys.modules["torch"].cuda.current_stream(tensor.device).cuda_stream)
    return Array(
        name,
        int(tensor.data_ptr()),
        tuple(int(n) for n in tensor.shape),
        tuple(int(s) * itemsize for s in tensor.stride()),
        _DTYPES.get(dtype, dtype),
        itemsize,
        on_device,
        True,
        tensor,
        index,
        stream,
    )


def _from_cuda_interface(name: str, owner: Any) -> Array:
    interface = owner.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise ArgumentError(name, "must have no mask", "a masked array")
    dtype = np.dtype(interface["typestr"])
    address, is_read_only = interface["data"]
    shape = tuple(int(n) for n in interface["shape"])
    strides = interface.get("strides") or contiguous_strides(shape, dtype.itemsize)
    stream = interface.get("stream")
    # 1 and 2 name the legacy and the per-thread default stream.
    return Array(
        name,
        int(address),
        shape,
        tuple(int(s) for s in strides),
        _DTYPES.get(dtype.name, dtype.name),
        dtype.itemsize,
        True,
        not is_read_only,
        owner,
        stream=None if stream in (None, 1) else int(stream),
    )


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _from_dlpack(name: str, owner: Any) -> Array:
    device_type, _ = owner.__dlpack_device__()
    on_device = int(device_type) in _GPU_DEVICES
    if not on_device and int(device_type) not in _HOST_DEVICES:
        raise ArgumentError(
            name,
            "must be in memory of the host or of a ROCm device",
            f"DLPack device {device_type}",
        )
    # -1: the producer does not wait for a stream. The launch is on the caller's.
    capsule = owner.__dlpack__(stream=-1) if on_device else owner.__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    kind = _DLPACK_DTYPES.get((tensor.code, tensor.bits))
    if kind is None or tensor.lanes != 1:
        kind = f"DLPack type {tensor.code} of {tensor.bits} bits and {tensor.lanes} lanes"
    itemsize = max(tensor.bits // 8, 1)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] * itemsize for i in range(tensor.ndim))
    else:
        strides = contiguous_strides(shape, itemsize)
    # The capsule is not consumed: its own destructor gives the tensor back.
    return Array(
        name,
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        strides,
        kind,
        itemsize,
        on_device,
        True,
        (owner, capsule),
        tensor.device_id,
    )


def as_array(name: str, value: Any) -> Array:
    """The argument called `name`. An :class:`Array` keeps the name that it has."""
    if isinstance(value, Array):
        return value
    array = _describe(name, value)
    # The strides of an empty array are whatever its library makes them.
    if array.size == 0:
        return replace(array, strides=contiguous_strides(array.shape, array.itemsize))
    if array.address % array.itemsize:
        raise ArgumentError(
            name, f"must be aligned to its elements of {array.itemsize} bytes", hex(array.address)
        )
    return array


def _describe(name: str, value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return _from_numpy(name, value)
    if hasattr(value, "data_ptr") and hasattr(value, "element_size"):
        return _from_torch(name, value)
    if hasattr(value, "__cuda_array_interface__"):
        return _from_cuda_interface(name, value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _from_dlpack(name, value)
    raise ArgumentError(
        name,
        "must be an array",
        type(value).__name__,
        "a NumPy array, a torch tensor, __cuda_array_interface__ or DLPack",
    )
