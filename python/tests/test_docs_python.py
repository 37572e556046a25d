"""docs/python.md: its Python blocks run one after another, its shell blocks run as they are
with this build in place of build/release."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from package_cases import needs_native

import pagedattn
from pagedattn import reference

needs_native(pytest)

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("PAGEDATTN_BUILD_DIR", "build/release")).absolute()
TEXT = (ROOT / "docs" / "python.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_python_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    found = blocks("python")
    assert len(found) >= 7
    for block in found:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert (tmp_path / "kernels" / "manifest.json").exists()


def test_readme_block():
    (block,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(),
                          re.MULTILINE | re.DOTALL)
    logits = np.random.default_rng(0).standard_normal((2, 3000), dtype=np.float32)
    names = {"pagedattn": pagedattn, "logits": logits, "row_ends": np.array([3000, 7], np.int32)}
    exec(block, names)
    want = reference.topk(logits, 2048, row_ends=names["row_ends"])[0]
    np.testing.assert_array_equal(names["result"].out, want)


SHELL = blocks("sh")


@pytest.mark.parametrize("block", [b for b in SHELL if "venv" not in b])
def test_shell_blocks(block):
    assert "build/release/" in block
    command = block.replace("build/release/", f"{BUILD}/").replace("python3 ", f"{sys.executable} ")
    subprocess.run(["bash", "-e", "-c", command], cwd=ROOT, check=True)


@pytest.mark.long
def test_installing(tmp_path):
    """In a copy of the sources, with this build's library in place of a new build."""
    (block,) = [b for b in SHELL if "venv" in b]
    if subprocess.run([sys.executable, "-c", "import venv, ensurepip, setuptools, wheel"],
                      capture_output=True).returncode:
        pytest.skip("python3-venv, python3-setuptools or python3-wheel is not installed")
    for name in ("pyproject.toml", "setup.py", "README.md", "CMakeLists.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "python" / "pagedattn", tmp_path / "python" / "pagedattn")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["PAGEDATTN_BUILD_DIR"] = str(BUILD)
    subprocess.run(["bash", "-e", "-c", block.replace("python3 ", f"{sys.executable} ")],
                   cwd=tmp_path, check=True, env=environment)
    program = ("import numpy as np, pagedattn; print(pagedattn.__file__); "
               "print(pagedattn.topk(np.eye(3, dtype=np.float32), None, 1, chip='gfx942').out.tolist())")
    done = subprocess.run([tmp_path / ".venv/bin/python", "-c", program], cwd="/", text=True,
                          capture_output=True, env=environment, check=True)
    path, out = done.stdout.splitlines()
    assert path.startswith(str(tmp_path / ".venv")) and out == "[[0], [1], [2]]"
