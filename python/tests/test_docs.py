"""Every command of the documentation runs, and prints what the page shows.

A page is README.md, a file of docs/, or the text at the head of an example. Of a page,

* a fenced block `mlir NAME` or `json NAME` is written to the file NAME;
* the blocks `sh` run one after another in one shell, in a tree like a checkout whose
  `build/release` is the build that is tested; each line has to be a success;
* a block `text` after one is what it prints, but for what depends on register allocation or
  on a clock;
* the blocks `python` run one after another;
* what NOT_RUN names does not run, for the reason that stands there.

Commands in running text have to be those of a block, or in NOT_RUN.
"""

import ast
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
LLVM = pathlib.Path(os.environ.get("PAGEDATTN_LLVM_BIN", "/usr/lib/llvm-22/bin")).parent

NOT_RUN = {
    "./quickstart.sh": "installs packages and builds; examples.test and row_coverage.py are its end",
    "./run-tests.sh": "is what runs this test",
    "./run-tests.sh --long": "is what runs this test",
    "cmake --preset release": "has made the build that is tested; reconfigure.test",
    "ninja -C build/release": "has made the build that is tested",
    "ninja -C build/release check-pa": "is what runs this test",
    "ninja -C build/release check-pa-unit": "runs beside this test",
    "ninja -C build/release pa-docs": "has run before; reference-docs.test, reference-cpp.test",
    "cmake --install build/release --prefix prefix": "consumer.test",
    'cmake -S test/Consumer -B consumer -G Ninja -DCMAKE_CXX_COMPILER=clang++-22 '
    '"-DCMAKE_PREFIX_PATH=$PWD/prefix;/usr/lib/llvm-22"': "consumer.test",
    "cmake --build consumer": "consumer.test",
    "consumer/consumer test/Tools/Inputs/topk.mlir gfx950": "consumer.test",
    "python3 -m venv --system-site-packages .venv": "test_installing, which is long",
    ".venv/bin/pip install --no-build-isolation --no-index .": "test_installing, which is long",
    "bench/run --check": "test_bench.py",
    "bench/run --only gemm": "a part of bench/run --check; test_bench.py",
    "bench/run --compare A.co B.co": "has placeholders; test_bench.py",
    "bench/run --update": "changes the thresholds; test_bench.py",
    "PAGEDATTN_LONG_TESTS=1 PYTHONPATH=python:python/tests python3 -m pytest -m long "
    "python/tests/test_logits_kernel.py": "takes minutes; is part of ./run-tests.sh --long",
}
BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What is no part of what a page promises.
VOLATILE = re.compile(r"0x[0-9a-f]+(?= *,| \()|\b[vsa](\d+|\[\d+:\d+\])|[\d.]+ s$|\d+ wave instr",
                      re.MULTILINE)
INLINE = re.compile(r"`((?:\./|build/|bench/|/usr/|ninja |cmake |python3 )[^`\n]* [^`\n]+|"
                    r"\./[\w.-]+)`")


def pages():
    """Blocks (language, file, text) by the name of the page."""
    found = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        found[str(path.relative_to(ROOT))] = BLOCK.findall(path.read_text())
    for path in sorted((ROOT / "examples").iterdir()):
        found[str(path.relative_to(ROOT))] = [("sh", "", text) for text in indented(head_of(path))]
    return found


def head_of(path):
    """What an example says of itself."""
    text = path.read_text()
    if path.suffix == ".py":
        return ast.get_docstring(ast.parse(text))
    lines = re.match(r"(?://.*\n)*", text)[0].splitlines()
    return "\n".join(line[3:] for line in lines)


def indented(text):
    """Blocks of lines that are indented by four blanks."""
    return [re.sub("^    ", "", block, flags=re.MULTILINE)
            for block in re.findall(r"(?:^|\n)((?:    .*(?:\n|$))+)", text)]


def commands(text):
    """Lines without comments; continued ones are one."""
    lines = text.replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+", " ", re.sub(r"\s+# .*", "", line)).strip() for line in lines if line]


PAGES = pages()
COMMANDS = {c for blocks in PAGES.values() for kind, _, text in blocks if kind == "sh"
            for c in commands(text)}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Like a checkout, with links to the sources; the current folder."""
    for path in ROOT.iterdir():
        if path.name not in ("build", "out", ".git"):
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "release").symlink_to(BUILD)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "programs" / "python3").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    monkeypatch.setenv("PAGEDATTN", str(BUILD))
    monkeypatch.setenv("MLIR", str(LLVM))
    return tmp_path


def run_shell(blocks, tree):
    """Runs the blocks in one shell. Gives what is shown, and what each block has printed."""
    script, shown = [], []
    for kind, name, text in blocks:
        if name:
            (tree / name).write_text(text)
        elif kind == "sh":
            lines = re.split(r"(?<!\\)\n", text)
            left = [line for line in lines if not set(commands(line)) & set(NOT_RUN)]
            output = tree / f"block{len(shown)}.out"
            script.append("\n".join([f"exec > {output} 2>&1", *left]))
            shown.append([output, None])
        elif kind == "text":
            shown[-1][1] = text
    done = subprocess.run(["bash", "-e", "-c", "\n".join(script)], cwd=tree, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=500)
    printed = [(path.read_text() if path.exists() else "(not reached)", text)
               for path, text in shown]
    reached = [text for text, _ in printed if text != "(not reached)"]
    assert done.returncode == 0, f"{done.stderr}\n{reached[-1] if reached else ''}"
    return printed


@pytest.mark.parametrize("page", [name for name, blocks in PAGES.items()
                                  if any(kind == "sh" for kind, _, _ in blocks)])
def test_shell_blocks(page, tree):
    blocks = PAGES[page]
    if page.startswith("examples/"):
        # Most are on a page as well.
        on_pages = {c for name in PAGES if not name.startswith("examples/")
                    for kind, _, text in PAGES[name] if kind == "sh" for c in commands(text)}
        blocks = [b for b in blocks if not set(commands(b[2])) <= on_pages]
    for printed, shown in run_shell(blocks, tree):
        if shown is not None:
            assert VOLATILE.sub("_", printed) == VOLATILE.sub("_", shown)


def test_every_command_is_one_of_them():
    """Nothing is indented instead of fenced, no fence has another language, and commands in
    running text are in a block."""
    wrong = []
    for name, blocks in PAGES.items():
        wrong += [f"{name}: language {kind!r}" for kind, file, text in blocks
                  if kind not in ("sh", "text", "mlir", "python", "json", "")]
        if not name.endswith(".md"):
            continue
        plain = BLOCK.sub("", (ROOT / name).read_text())
        wrong += [f"{name}: indented: {text}" for text in indented(plain)]
        wrong += [f"{name}: {c}" for c in map(str.strip, INLINE.findall(plain))
                  if c not in COMMANDS and c not in NOT_RUN]
        # A block without a language is a picture.
        wrong += [f"{name}: no language: {text}" for kind, _, text in blocks
                  if not kind and not re.search(r"--+>|\.\.\.", text)]
    assert wrong == []


def test_what_does_not_run_is_still_there():
    inline = {c for name in PAGES if name.endswith(".md")
              for c in INLINE.findall((ROOT / name).read_text())}
    assert [c for c in NOT_RUN if c not in COMMANDS | inline] == []


def test_readme_links_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "README.md" or f"]({path.name})" in index, path.name


@pytest.mark.parametrize("page", [name for name in PAGES if name.endswith(".md")])
def test_links(page):
    """Links to files lead somewhere."""
    for link in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        if not link.startswith("http"):
            assert (ROOT / page).parent.joinpath(link).exists(), link


def test_the_manifest_is_described():
    """The table of docs/manifest.md has a row for every key that the page prints."""
    (shown,) = [text for kind, _, text in PAGES["docs/manifest.md"] if kind == "text"]
    rows = "".join(re.findall(r"^\| (`.*?) \|", (ROOT / "docs/manifest.md").read_text(), re.M))
    assert set(re.findall(r"`(\w+)`", rows)) == set(shown.splitlines()[1].split())


def test_python_blocks(tree):
    names = {}
    blocks = [text for kind, _, text in PAGES["docs/python.md"] if kind == "python"]
    assert len(blocks) >= 7
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert (tree / "kernels" / "manifest.json").exists()


def test_readme_block():
    (block,) = [text for kind, _, text in PAGES["README.md"] if kind == "python"]
    logits = np.random.default_rng(0).standard_normal((2, 3000), dtype=np.float32)
    names = {"pagedattn": pagedattn, "logits": logits, "row_ends": np.array([3000, 7], np.int32)}
    exec(block, names)
    want = reference.topk(logits, 2048, row_ends=names["row_ends"])[0]
    np.testing.assert_array_equal(names["result"].out, want)


def test_python_is_in_known_pages():
    assert {name for name, blocks in PAGES.items() for kind, _, _ in blocks
            if kind == "python"} == {"README.md", "docs/python.md"}


@pytest.mark.parametrize("shown, message", [
    ("```sh\necho a\n```\n```text\nb\n```\n", "b"),
    ("```sh\nfalse\necho a\n```\n```text\na\n```\n", ""),
    ("```sh\necho a\nbuild/release/bin/pa-compile missing.mlir -o out\n```\n", "missing.mlir"),
], ids=("other_output", "failure", "failing_command"))
def test_a_page_that_lies_fails(shown, message, tree, monkeypatch):
    monkeypatch.setitem(PAGES, "page", BLOCK.findall(shown))
    with pytest.raises(AssertionError, match=message):
        test_shell_blocks("page", tree)


@pytest.mark.long
def test_installing(tmp_path):
    """In a copy of the sources, with this build's library in place of a new build."""
    (block,) = [text for kind, _, text in PAGES["docs/python.md"] if kind == "sh" and "venv" in text]
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
