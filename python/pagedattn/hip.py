"""Launches on a GPU through libamdhip64, which is loaded when it is first needed.

The first call with a module on a device loads its code objects, the first on a
stream allocates the workspaces. Afterwards a call does nothing but launch: no
allocation, no synchronisation, no compilation, so that it can be captured in a
graph.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Sequence, Tuple

from .arrays import Array
from .context import settings
from .errors import ArgumentError, HipError
from .plan import KernelPlan, Launch, bind_all

if TYPE_CHECKING:
    from .compiler import CompiledModule

_LIBRARIES = ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")
# Tags of the list that hipModuleLaunchKernel takes in place of argument pointers.
_BUFFER_POINTER, _BUFFER_SIZE, _BUFFER_END = 1, 2, 3
_PROPERTY_BYTES = 16384
_MAX_WORK_ITEMS = 2**32 - 1


class Hip:
    """The few functions of the HIP runtime that launches need."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._library = ctypes.CDLL(path)
        self._library.hipGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *args: Any) -> None:
        """Calls a function that returns a hipError_t."""
        function = getattr(self._library, name, None)
        if function is None:
            raise HipError(f"{self.path} has no function {name}")
        status = function(*args)
        if status != 0:
            text = self._library.hipGetErrorString(status)
            raise HipError(f"{name} returned {status}: {(text or b'unknown error').decode()}")

    def current_device(self) -> int:
        device = ctypes.c_int()
        self.call("hipGetDevice", ctypes.byref(device))
        return device.value

    @contextlib.contextmanager
    def on(self, device: int) -> Iterator[None]:
        """Makes `device` the current one in a block of code."""
        before = self.current_device()
        if device != before:
            self.call("hipSetDevice", ctypes.c_int(device))
        try:
            yield
        finally:
            if device != before:
                self.call("hipSetDevice", ctypes.c_int(before))

    def is_capturing(self, stream: int) -> bool:
        status = ctypes.c_int()
        self.call("hipStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return status.value != 0

    def launch(self, function: int, launch: Launch, stream: int) -> None:
        size = ctypes.c_size_t(len(launch.kernarg))
        # The runtime copies the arguments before it returns.
        data = ctypes.create_string_buffer(launch.kernarg, len(launch.kernarg))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER_POINTER,
            ctypes.cast(data, ctypes.c_void_p),
            _BUFFER_SIZE,
            ctypes.cast(ctypes.byref(size), ctypes.c_void_p),
            _BUFFER_END,
        )
        dims = [ctypes.c_uint(n) for n in launch.grid + launch.block]
        self.call(
            "hipModuleLaunchKernel",
            ctypes.c_void_p(function),
            *dims,
            ctypes.c_uint(0),
            ctypes.c_void_p(stream),
            None,
            extra,
        )


@functools.lru_cache(maxsize=None)
def _load(named: str) -> Hip:
    tried = []
    for path in [named] if named else _LIBRARIES:
        try:
            return Hip(path)
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
    raise HipError(
        "device='hip' needs the HIP runtime, and libamdhip64 cannot be loaded; install ROCm, or "
        "name the library in PAGEDATTN_HIP_LIBRARY. Tried:\n  " + "\n  ".join(tried)
    )


def hip() -> Hip:
    """The HIP runtime."""
    return _load(os.environ.get("PAGEDATTN_HIP_LIBRARY", ""))


@functools.lru_cache(maxsize=None)
def _chip_of(runtime: Hip, device: int) -> str:
    # Where the name stands in the structure depends on the release of ROCm.
    properties = ctypes.create_string_buffer(_PROPERTY_BYTES)
    runtime.call("hipGetDeviceProperties", properties, ctypes.c_int(device))
    match = re.search(rb"gfx[0-9a-f]+", properties.raw)
    if not match:
        raise HipError(f"hipGetDeviceProperties names no gfx number for device {device}")
    return match[0].decode()


def chip_of(device: int) -> str:
    """The gfx number of a GPU."""
    return _chip_of(hip(), device)


# Functions by (device, key of the module); address and size of workspaces by (device,
# stream, key, name), and of those that wait for a stream to be captured.
_functions: Dict[Tuple[int, str], Dict[str, int]] = {}
_workspaces: Dict[Tuple[int, int, str, str], Tuple[int, int]] = {}
_spares: Dict[Tuple[int, str, str], Tuple[int, int]] = {}


def _functions_of(
    runtime: Hip, device: int, stream: int, compiled: "CompiledModule", plans: Sequence[KernelPlan]
) -> Dict[str, int]:
    key = (device, compiled.key)
    if key not in _functions:
        if runtime.is_capturing(stream):
            raise HipError(
                f"stream {stream:#x} is being captured and the code object is not loaded yet; make "
                "the same call once before the capture"
            )
        loaded: Dict[str, int] = {}
        for plan in plans:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            image = ctypes.create_string_buffer(compiled.objects[plan.file])
            runtime.call("hipModuleLoadData", ctypes.byref(module), image)
            runtime.call(
                "hipModuleGetFunction", ctypes.byref(function), module, plan.symbol.encode()
            )
            loaded[plan.symbol] = function.value or 0
        _functions[key] = loaded
    return _functions[key]


def _allocate(runtime: Hip, size: int) -> Tuple[int, int]:
    pointer = ctypes.c_void_p()
    runtime.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(size))
    return pointer.value or 0, size


def _workspace(runtime: Hip, device: int, stream: int, key: str, name: str, size: int) -> int:
    """Memory of at least `size` bytes that only calls on this stream use.

    Beside that of the stream one more is allocated. A stream that is being captured,
    which is often made for that, takes it, since nothing can be allocated then.
    """
    place = (device, stream, key, name)
    address, capacity = _workspaces.get(place, (0, 0))
    if capacity >= size:
        return address
    spare = _spares.get((device, key, name), (0, 0))
    if runtime.is_capturing(stream):
        if spare[1] < size:
            raise HipError(
                f"stream {stream:#x} is being captured and workspace {name} of {size} bytes is not "
                "allocated; make the same call once before the capture"
            )
        _workspaces[place] = _spares.pop((device, key, name))
    else:
        # What was there may still be in use on the stream, or be part of a graph, so that it
        # stays.
        _workspaces[place] = _allocate(runtime, size)
        if spare[1] < size:
            _spares[device, key, name] = _allocate(runtime, size)
    return _workspaces[place][0]


def _stream_of(arrays: Mapping[str, Array]) -> int:
    """The stream of :func:`pagedattn.using`, or that of the arrays' library."""
    chosen = settings().stream
    if chosen is not None:
        return chosen
    streams = [a.stream for a in arrays.values() if a.stream is not None]
    return streams[0] if streams else 0


def run(
    compiled: "CompiledModule",
    plans: Sequence[KernelPlan],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, int],
) -> None:
    """Puts the launches of one op on the stream."""
    devices = {a.device_index for a in arrays.values() if a.on_device}
    if len(devices) > 1:
        raise ArgumentError("arrays", "must be on one device", sorted(devices))
    runtime, stream = hip(), _stream_of(arrays)
    device = devices.pop() if devices else runtime.current_device()
    with runtime.on(device):
        functions = _functions_of(runtime, device, stream, compiled, plans)

        def allocate(name: str, size: int) -> int:
            return _workspace(runtime, device, stream, compiled.key, name, size)

        launches = bind_all(plans, arrays, scalars, allocate)
        for launch in launches:
            if launch.grid[0] * launch.block[0] > _MAX_WORK_ITEMS:
                raise ArgumentError(
                    "arrays",
                    f"need {launch.grid[0]} workgroups of {launch.block[0]} work-items",
                    f"{launch.grid[0] * launch.block[0]} work-items",
                    f"at most {_MAX_WORK_ITEMS} on HIP",
                )
            if not launch.is_empty:
                runtime.launch(functions[launch.symbol], launch, stream)
