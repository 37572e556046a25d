"""The summary that run-tests.sh ends with."""

import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "summarize_tests.py"

JUNIT = """<testsuites><testsuite>
<testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure message="m">text</failure></testcase>
<testcase classname="a" name="broken"><error message="m">text</error></testcase>
<testcase classname="a" name="left"><skipped message="no GPU"/></testcase>
<testcase classname="a" name="right"><skipped message="no GPU"/></testcase>
</testsuite></testsuites>"""


def run(*paths):
    return subprocess.run(
        [sys.executable, SCRIPT, *paths], capture_output=True, text=True, check=False
    )


def write_lit(path, *codes):
    tests = [{"name": f"t{i}", "code": code} for i, code in enumerate(codes)]
    path.write_text(json.dumps({"tests": tests}))
    return path


def test_adds_up_lit_and_pytest(tmp_path):
    lit = write_lit(tmp_path / "lit.json", "PASS", "XFAIL", "UNSUPPORTED", "TIMEOUT")
    junit = tmp_path / "python.xml"
    junit.write_text(JUNIT)
    result = run(lit, junit)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "3 passed, 3 failed, 3 skipped"
    assert "failed: t3: TIMEOUT" in result.stdout
    assert "skipped: a::left and 1 more: no GPU" in result.stdout


def test_succeeds_without_failures(tmp_path):
    result = run(write_lit(tmp_path / "lit.json", "PASS", "UNSUPPORTED"))
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"


def test_unexpected_pass_is_a_failure(tmp_path):
    assert run(write_lit(tmp_path / "lit.json", "PASS", "XPASS")).returncode == 1


def test_a_missing_or_unreadable_file_is_a_failure(tmp_path):
    lit = write_lit(tmp_path / "lit.json", "PASS")
    broken = tmp_path / "broken.xml"
    broken.write_text("<testsuites>")
    result = run(lit, tmp_path / "none.json", broken)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "1 passed, 2 failed, 0 skipped"


def test_nothing_ran_is_a_failure(tmp_path):
    assert run(write_lit(tmp_path / "lit.json")).returncode == 1
