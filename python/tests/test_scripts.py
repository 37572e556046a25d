"""What quickstart.sh and run-tests.sh share: neither configures again what the other did."""

import os
import pathlib
import shutil
import subprocess

import pytest

COMMON = pathlib.Path(__file__).parents[2] / "scripts" / "common.sh"
CMAKE = """#!/bin/bash
echo "cmake $*" >> calls
mkdir -p build/release
for word; do [[ $word == -DPAGEDATTN_BUILD_TESTS=* ]] && tests=${word#*=}; done
echo "PAGEDATTN_BUILD_TESTS:BOOL=$tests" > build/release/CMakeCache.txt
[[ -e broken ]] && { echo "no such compiler"; exit 1; }
touch build/release/build.ninja
"""


@pytest.fixture
def build(tmp_path):
    """Runs `build release TESTS` in a tree of its own; gives the calls of cmake and ninja."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(COMMON, tmp_path / "scripts")
    for name, text in (("cmake", CMAKE), ("ninja", '#!/bin/bash\necho "ninja" >> calls\n')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def run(tests):
        (tmp_path / "calls").write_text("")
        done = subprocess.run(
            ["bash", "-c", f"source scripts/common.sh; build release {tests}"], cwd=tmp_path,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, text=True,
            capture_output=True)
        calls = [line.split()[0] for line in (tmp_path / "calls").read_text().splitlines()]
        return done, calls

    return run


def test_a_configured_folder_is_kept(build):
    for tests, want in (("OFF", ["cmake", "ninja"]), ("OFF", ["ninja"]), ("ON", ["cmake", "ninja"]),
                        ("ON", ["ninja"]), ("OFF", ["ninja"])):
        done, calls = build(tests)
        assert (done.returncode, calls) == (0, want), done.stderr


def test_a_failed_configuration_is_tried_again(build, tmp_path):
    (tmp_path / "broken").touch()
    done, calls = build("OFF")
    assert done.returncode == 1 and calls == ["cmake"]
    assert "no such compiler" in done.stderr and "build/release.configure.log" in done.stderr
    (tmp_path / "broken").unlink()
    assert build("OFF")[1] == ["cmake", "ninja"]
