"""The cache of compiled modules: what its key covers, processes that share it, files that
are damaged, and the mode without compiling."""

import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from package_cases import needs_native

import pagedattn
from pagedattn import cache, compiler, ops

needs_native(pytest)

VALUES, ENDS = np.zeros((2, 50), np.float32), np.zeros(2, np.int32)


def op(k=16, **kwargs):
    return ops.topk(VALUES, ENDS, k, chip="gfx950", **kwargs)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, on disk and in memory."""
    monkeypatch.setenv("PAGEDATTN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_memory", {})
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch):
    """How often the compiler has run."""
    calls, make = [], compiler._make
    monkeypatch.setattr(compiler, "_make", lambda *args: calls.append(args) or make(*args))
    return calls


def test_disk_then_memory(folder, compiled):
    first = pagedattn.compile(op(), "gfx950")
    assert pagedattn.compile(op(), "gfx950") is first and len(compiled) == 1
    (path,) = folder.iterdir()
    assert path.name == first.key + ".zip"
    cache.clear_memory()
    again = pagedattn.compile(op(), "gfx950")
    assert len(compiled) == 1 and again is not first and again == first


def test_key_covers_everything(folder, compiled, monkeypatch):
    pagedattn.compile(op(), "gfx950")
    pagedattn.compile(op(), "gfx1250")
    pagedattn.compile(op(17), "gfx950")
    pagedattn.compile(op(order="by_value"), "gfx950")
    pagedattn.compile(op(), "gfx950", opt_level=1)
    monkeypatch.setattr(cache, "build_id", lambda: "another compiler")
    pagedattn.compile(op(), "gfx950")
    assert len(compiled) == 6 and len(list(folder.iterdir())) == 6


@pytest.mark.parametrize("damage", (b"", b"not an archive", None))
def test_damaged_file_is_replaced(folder, compiled, damage):
    first = pagedattn.compile(op(), "gfx950")
    (path,) = folder.iterdir()
    data = path.read_bytes()
    middle = len(data) // 2
    broken = data[:middle] + b"\xff" * 64 + data[middle + 64:]
    path.write_bytes(broken if damage is None else damage)
    cache.clear_memory()
    assert pagedattn.compile(op(), "gfx950") == first
    assert len(compiled) == 2 and cache.load(first.key) is not None


def test_folder_that_cannot_be_used(folder, compiled, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PAGEDATTN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(pagedattn.CacheWarning, match="cannot use the cache in") as warned:
        pagedattn.compile(op(), "gfx950")
    assert len(compiled) == 1 and warned[0].filename == __file__
    monkeypatch.setenv("PAGEDATTN_CACHE_DIR", str(tmp_path / "file" / "other"))
    with pytest.warns(pagedattn.CacheWarning) as warned:
        pagedattn.topk(VALUES, ENDS, 5, chip="gfx950")
    assert warned[0].filename == __file__


def test_disk_cache_switched_off(folder, compiled, monkeypatch):
    monkeypatch.setenv("PAGEDATTN_CACHE_DIR", "")
    pagedattn.compile(op(), "gfx950")
    cache.clear_memory()
    pagedattn.compile(op(), "gfx950")
    assert len(compiled) == 2 and not folder.exists()


def test_no_compile_lists_what_is_missing(folder, monkeypatch):
    pagedattn.compile(op(16), "gfx950")
    wanted = [(op(k), "gfx950") for k in (16, 17, 18)]
    with cache.no_compile():
        assert pagedattn.compile(op(16), "gfx950").kernels
        with pytest.raises(pagedattn.MissingKernelsError) as info:
            pagedattn.precompile(wanted)
        with pytest.raises(pagedattn.MissingKernelsError, match="gfx950 pa.topk k=18 by_index"):
            pagedattn.compile(op(18), "gfx950")
    assert [line.partition(" (")[0] for line in info.value.missing] == [
        "gfx950 pa.topk k=17 by_index", "gfx950 pa.topk k=18 by_index"]
    assert str(folder) in str(info.value)
    assert len(pagedattn.precompile(wanted)) == 3
    monkeypatch.setenv("PAGEDATTN_NO_COMPILE", "1")
    assert len(pagedattn.precompile(wanted)) == 3
    with pytest.raises(pagedattn.MissingKernelsError):
        pagedattn.compile(op(19), "gfx950")


def test_precompiled_ops_are_those_of_calls(folder):
    """What an op of pagedattn.ops compiles is what the call needs."""
    pagedattn.precompile([(op(23), "gfx950")])
    with cache.no_compile():
        pagedattn.topk(VALUES, ENDS, 23, chip="gfx950")


PROGRAM = """
import numpy as np, pagedattn
values = np.arange(100, dtype=np.float32).reshape(2, 50)
for k in (1, 2, 3):
    result = pagedattn.topk(values, None, k, chip="gfx950")
    assert result.out[1].tolist() == list(range(50 - k, 50))
print(result.compiled.key)
"""


def test_processes_share_the_folder(folder):
    """Three processes compile the same three modules at once."""
    environment = {**os.environ, "PAGEDATTN_CACHE_DIR": str(folder)}
    running = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for _ in range(3)]
    outputs = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 3, outputs
    assert len({out for out, _ in outputs}) == 1
    assert sorted(p.suffix for p in folder.iterdir()) == [".zip"] * 3
    strict = subprocess.run([sys.executable, "-c", PROGRAM], text=True, capture_output=True,
                            env={**environment, "PAGEDATTN_NO_COMPILE": "1"})
    assert strict.returncode == 0, strict.stderr


def test_a_forked_process_compiles(folder):
    """Also what another thread of the parent was compiling when it was forked."""
    key, started, go_on = "0" * 64, threading.Event(), threading.Event()

    def slowly():
        started.set()
        go_on.wait(30)
        return {}

    thread = threading.Thread(target=cache.get, args=(key, "slow", slowly, dict))
    thread.start()
    started.wait()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(20)
            assert cache.get(key, "fast", lambda: {"a": b"b"}, dict) == {"a": b"b"}
            out = pagedattn.topk(VALUES, ENDS, 9, chip="gfx950").out
            status = 0 if out.shape == (VALUES.shape[0], 9) else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    go_on.set()
    thread.join()
    assert status == 0


def test_default_folder(monkeypatch):
    monkeypatch.delenv("PAGEDATTN_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.folder() == pathlib.Path("/somewhere/pagedattn")
