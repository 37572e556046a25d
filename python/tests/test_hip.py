"""The HIP backend against a library that records its calls: what is called, with what
arguments, and that a warm call does nothing but launch."""

import ctypes
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest
from package_cases import FakeTorch, needs_native

import pagedattn
from pagedattn import ArgumentError, HipError, hip, reference
from pagedattn.compat import aiter

needs_native(pytest)


TIB = 1 << 40


class DeviceArray:
    """Memory of a GPU, by its __cuda_array_interface__ only."""

    def __init__(self, address, shape, dtype, strides=None, stream=None, read_only=False):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": np.dtype(dtype).str, "data": (address, read_only),
            "strides": strides, "version": 3, "stream": stream}


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("clang-22")
    assert compiler, "no C compiler"
    path = tmp_path_factory.mktemp("hip") / "libamdhip64.so"
    source = pathlib.Path(__file__).with_name("fake_hip.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, source], check=True)
    return path


@pytest.fixture
def calls(library, tmp_path, monkeypatch):
    """Gives the calls since it was last asked, as lists of words."""
    log = tmp_path / "calls"
    log.write_text("")
    monkeypatch.setenv("PAGEDATTN_HIP_LIBRARY", str(library))
    monkeypatch.setenv("FAKE_HIP_LOG", str(log))
    monkeypatch.setattr(hip, "_functions", {})
    monkeypatch.setattr(hip, "_workspaces", {})
    monkeypatch.setattr(hip, "_spares", {})
    hip._chip_of.cache_clear()

    def take():
        words = [line.split() for line in log.read_text().splitlines()]
        log.write_text("")
        return words

    return take


def topk_arrays(rows=3, columns=1000, k=16, **kwargs):
    return (DeviceArray(1 * TIB, (rows, columns), np.float32, **kwargs),
            DeviceArray(2 * TIB, (rows,), np.int32),
            DeviceArray(3 * TIB, (rows, k), np.int32))


def names(calls):
    return [words[0] for words in calls]


def test_cold_call_loads_and_warm_call_launches(calls):
    values, ends, out = topk_arrays()
    result = pagedattn.topk(values, ends, 16, out=out)
    assert result.device == "hip" and result.out is out and result.stats == {}
    assert result.compiled.chip == "gfx950"
    assert names(calls()) == [
        "hipGetDeviceProperties", "hipGetDevice", "hipStreamIsCapturing", "hipModuleLoadData",
        "hipModuleGetFunction", "hipModuleLaunchKernel"]
    for rows in (3, 5):
        values, ends, out = topk_arrays(rows)
        pagedattn.topk(values, ends, 16, out=out)
        assert names(calls()) == ["hipGetDevice", "hipModuleLaunchKernel"]


def test_arguments_of_the_launch(calls):
    values, ends, out = topk_arrays(strides=(8000, 4))
    result = pagedattn.topk(values, ends, 16, out=out)
    load, function, launch = calls()[-3:]
    (kernel,) = result.compiled.kernels
    assert load[1] == "ELF" and function[1] == kernel["symbol"]
    grid, block, lds, stream, tags, data = launch[1:]
    block_size = kernel["workgroup_size"][0]
    assert (grid, block, lds, stream, tags) == ("3,1,1", f"{block_size},1,1", "0", "(nil)", "111")
    raw = bytes.fromhex(data)
    assert len(raw) == kernel["kernarg_bytes"]
    found = {arg["name"]: struct.unpack_from("<q", raw, arg["offset"])[0]
             for arg in kernel["args"]}
    assert found["values.aligned"] == 1 * TIB and found["values.offset"] == 0
    assert (found["values.size0"], found["values.size1"]) == (3, 1000)
    assert (found["values.stride0"], found["values.stride1"]) == (2000, 1)
    assert found["row_ends.aligned"] == 2 * TIB and found["indices.aligned"] == 3 * TIB


def test_workspaces_are_allocated_once_for_a_stream(calls):
    """Few long rows: two launches, and memory between them."""
    def call(columns=1 << 20, stream=0):
        values, ends, out = topk_arrays(1, columns, 512)
        with pagedattn.using(stream=stream):
            return pagedattn.topk(values, ends, 512, out=out)

    result = call()
    splits = result.compiled.plans[0]._grid[1]({})
    cold = calls()
    assert names(cold).count("hipModuleLaunchKernel") == 2
    # For this stream, and one to spare, of each of two workspaces.
    assert [words[1] for words in cold if words[0] == "hipMalloc"] == [str(splits * 512 * 4)] * 4
    call()
    assert names(calls()) == ["hipGetDevice", "hipModuleLaunchKernel", "hipModuleLaunchKernel"]
    call(stream=0x77)
    assert names(calls()).count("hipMalloc") == 2
    launches = [words for words in (call(stream=0x77), calls())[1]]
    assert names(launches) == ["hipGetDevice", "hipModuleLaunchKernel", "hipModuleLaunchKernel"]
    assert {words[4] for words in launches[1:]} == {"0x77"}
    # A stream that is being captured takes the spare ones, and there is one set of them.
    call(stream=0xCA)
    assert "hipMalloc" not in names(calls())
    call(stream=0xCA)
    assert names(calls()) == ["hipGetDevice", "hipModuleLaunchKernel", "hipModuleLaunchKernel"]
    with pytest.raises(HipError, match="stream 0x1ca is being captured and workspace work_"):
        call(stream=0x1CA)


def test_stream_of_the_arrays(calls):
    values, ends, out = topk_arrays(stream=0x55)
    pagedattn.topk(values, ends, 16, out=out)
    assert calls()[-1][4] == "0x55"


class Torch:
    """As much of the torch module as these calls look at."""

    int32 = np.int32

    class Tensor(FakeTorch):
        made = []  # as torch's allocator does, memory stays until the stream is done with it

        def __init__(self, array):
            super().__init__(array, is_cuda=True)
            self.made.append(self)

        def __getitem__(self, index):
            return Torch.Tensor(self.array[index])

        def __add__(self, other):
            return Torch.Tensor(self.array + other.array)

        def reshape(self, *shape):
            return Torch.Tensor(self.array.reshape(*shape))

    class cuda:
        @staticmethod
        def current_stream(device):
            return type("stream", (), {"cuda_stream": 0x99})()

    @staticmethod
    def arange(first, last, dtype, device):
        return Torch.Tensor(np.arange(first, last, dtype=dtype))


def test_torch_stream_and_row_ends(calls, monkeypatch):
    """On torch's current stream; the row ends of AITER's decode call are made by torch."""
    monkeypatch.setitem(sys.modules, "torch", Torch)
    logits, lens = np.zeros((6, 500), np.float32), np.array([7, 500, 1], np.int32)
    tensors = [Torch.Tensor(a) for a in (logits, lens, np.zeros((6, 16), np.int32))]
    result = aiter.top_k_per_row_decode(tensors[0], 2, tensors[1], tensors[2], 6, 500, 1, k=16)
    launch = calls()[-1]
    assert launch[0] == "hipModuleLaunchKernel" and launch[4] == "0x99"
    (kernel,) = result.compiled.kernels
    (offset,) = [a["offset"] for a in kernel["args"] if a["name"] == "row_ends.aligned"]
    (address,) = struct.unpack_from("<Q", bytes.fromhex(launch[6]), offset)
    ends = (ctypes.c_int32 * 6).from_address(address)
    assert list(ends) == reference.row_ends(lens, 2).tolist()[:4] + [0, 1]
    with pytest.raises(ArgumentError, match="seqLens: in device memory must be a torch tensor"):
        aiter.top_k_per_row_decode(tensors[0], 2, DeviceArray(0x10, (3,), np.int32), tensors[2],
                                   6, 500, 1, k=16)


def test_capture_needs_a_warm_call(calls):
    values, ends, out = topk_arrays()
    with pagedattn.using(stream=0xCA):
        with pytest.raises(HipError, match="stream 0xca is being captured and the code object is not"):
            pagedattn.topk(values, ends, 16, out=out)
    pagedattn.topk(values, ends, 16, out=out)
    calls()
    with pagedattn.using(stream=0xCA):
        pagedattn.topk(values, ends, 16, out=out)
    assert names(calls()) == ["hipGetDevice", "hipModuleLaunchKernel"]


def test_paged_logits_on_another_device(calls):
    """Torch tensors of device 1; the current device is left as it was."""
    def tensor(shape, dtype, name=None):
        fake = FakeTorch(np.broadcast_to(np.zeros((), dtype), shape), name, is_cuda=True)
        fake.device.index = 1
        strides = np.empty(shape, np.uint8).strides
        fake.stride = lambda: strides
        return fake

    pagedattn.paged_logits(
        tensor((2, 1, 16, 64), np.uint8, "float8_e4m3fn"), tensor((9, 16, 64), np.uint8),
        tensor((9, 16), np.float32), tensor((2, 16), np.float32), tensor((2, 4), np.int32),
        tensor((2,), np.int32), out=tensor((2, 70), np.float32))
    words = calls()
    assert [w for w in words if w[0] == "hipSetDevice"] == [
        ["hipSetDevice", "1"], ["hipSetDevice", "0"]]
    assert names(words)[-2:] == ["hipModuleLaunchKernel", "hipSetDevice"]


def test_dlpack_of_a_device(calls):
    """Its producer is asked not to wait: the launch is on the caller's stream."""
    asked = []

    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return 10, 0

        def __dlpack__(self, stream=None):
            asked.append(stream)
            return self.array.__dlpack__()

    arrays = [np.zeros((3, 900), np.float32), np.zeros(3, np.int32), np.zeros((3, 16), np.int32)]
    values, ends, out = map(Tensor, arrays)
    result = pagedattn.topk(values, ends, 16, out=out)
    assert result.device == "hip" and set(asked) == {-1}
    launch = calls()[-1]
    assert launch[0] == "hipModuleLaunchKernel"
    assert struct.pack("<Q", arrays[0].ctypes.data).hex() in launch[6]
    values.__class__.__dlpack_device__ = lambda self: (4, 0)
    with pytest.raises(ArgumentError, match="values: must be in memory of the host or of a ROCm "
                                            "device, found DLPack device 4"):
        pagedattn.topk(values, ends, 16, out=out)


def test_errors(calls, monkeypatch):
    values, ends, out = topk_arrays()
    with pytest.raises(ArgumentError, match="row_ends: must be in device memory as the other"):
        pagedattn.topk(values, np.zeros(3, np.int32), 16, out=out)
    with pytest.raises(ArgumentError, match="out: must be in host memory for the emulator|"
                                            "must be in host memory for the emulator"):
        pagedattn.topk(values, ends, 16, out=out, device="emulator", chip="gfx950")
    host = np.zeros((3, 1000), np.float32)
    with pytest.raises(ArgumentError, match="must be in device memory for device='hip'"):
        pagedattn.topk(host, None, 16, device="hip")
    with pytest.raises(ArgumentError, match="out: must be given where values are in device memory"):
        pagedattn.topk(values, ends, 16)
    with pytest.raises(ArgumentError, match="out: must be writable"):
        pagedattn.topk(values, ends, 16, out=DeviceArray(3 * TIB, (3, 16), np.int32, read_only=True))
    many = [DeviceArray(1 * TIB, (2**26, 16), np.float32), DeviceArray(3 * TIB, (2**26, 4), np.int32)]
    with pytest.raises(ArgumentError, match="at most 4294967295 on HIP"):
        pagedattn.topk(many[0], None, 4, out=many[1])
    monkeypatch.setenv("FAKE_HIP_FAIL", "1")
    with pytest.raises(HipError, match="hipModuleLaunchKernel returned 719: unspecified launch"):
        pagedattn.topk(values, ends, 16, out=out)
    monkeypatch.setenv("FAKE_HIP_CHIP", "gfx90a")
    hip._chip_of.cache_clear()
    with pytest.raises(ArgumentError, match="chip: must be a known chip, found 'gfx90a'"):
        pagedattn.topk(values, ends, 16, out=out)


def test_missing_library(monkeypatch):
    monkeypatch.setenv("PAGEDATTN_HIP_LIBRARY", "/nowhere/libamdhip64.so")
    values, ends, out = topk_arrays()
    with pytest.raises(HipError, match="libamdhip64 cannot be loaded; install ROCm, or name the "
                                       "library in PAGEDATTN_HIP_LIBRARY"):
        pagedattn.topk(values, ends, 16, out=out)
