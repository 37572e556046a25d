"""What the emitted code costs stays within the thresholds of bench/."""

import json
import pathlib
import subprocess
import sys

import kernel_harness
import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import isa  # noqa: E402


def bench(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, BENCH / "run", "--bin", kernel_harness.BIN,
                           *arguments], capture_output=True, text=True)


def test_costs_stay_within_their_thresholds(tmp_path):
    done = bench("--check", "--json", str(tmp_path / "costs.json"))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    rows = json.loads((tmp_path / "costs.json").read_text())
    spilled = [row["kernel"] for row in rows if row["vgpr_spills"]
               or ("gemm" in row["kernel"] and row["sgpr_spills"])]
    assert not spilled, spilled


@pytest.mark.parametrize("name", ("moe_gemm1", "moe_two_stage"))
def test_a_mixture_of_experts_layer_spills_nothing(name, tmp_path):
    example = BENCH.parent / "examples" / f"{name}.mlir"
    subprocess.run([kernel_harness.BIN / "pa-compile", example,
                    "--chip=gfx942,gfx950,gfx1250", "-o", tmp_path], check=True)
    kernels = json.loads((tmp_path / "manifest.json").read_text())["kernels"]
    assert len(kernels) == (3 if name == "moe_gemm1" else 9)
    spilled = {(k["chip"], k["symbol"]): k["spills"] for k in kernels
               if any(k["spills"].values())}
    assert not spilled, spilled


def test_a_regression_fails_with_both_numbers(tmp_path, monkeypatch):
    """The same kernel against a threshold that it misses by a third."""
    thresholds = json.loads((BENCH / "thresholds.json").read_text())
    name = "gfx950 logits h64 n1 page 64 tiled"
    limit = thresholds[name]["loop_vector"] * 3 // 4
    thresholds[name]["loop_vector"] = limit
    copy = tmp_path / "bench"
    copy.mkdir()
    for file in ("run", "isa.py", "configs.py"):
        (copy / file).write_text((BENCH / file).read_text())
    (copy / "thresholds.json").write_text(json.dumps(thresholds))
    done = subprocess.run([sys.executable, copy / "run", "--bin", kernel_harness.BIN, "--check",
                           "--only", name], capture_output=True, text=True)
    assert done.returncode == 1
    rows = subprocess.run([sys.executable, copy / "run", "--bin", kernel_harness.BIN, "--only", name,
                           "--json", tmp_path / "costs.json"], capture_output=True, text=True)
    assert rows.returncode == 0, rows.stderr
    (row,) = json.loads((tmp_path / "costs.json").read_text())
    assert (f"loop_vector is {row['loop_vector']}, at most {limit} within 3 % is allowed"
            in done.stdout)


def test_the_hot_loop_of_another_compilers_code():
    """A fixture of another compiler: matrix instructions in a loop are found."""
    fixtures = BENCH.parent / "test" / "Integration" / "fixtures"
    code = next(fixtures.glob("gfx950/gemm_fp8/kernel.co"), None)
    assert code is not None
    loop = isa.hot_loop(isa.disassemble(code))
    assert loop.counts["matrix"] > 0 and loop.matrix_cycles >= 8 * loop.counts["matrix"]
    done = bench("--compare", str(code), str(code))
    assert done.returncode == 0 and done.stdout.count("matrix cycles") == 2
