"""What the emitted code costs stays within the thresholds of bench/."""

import json
import pathlib
import subprocess
import sys

import kernel_harness
import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
BUILD = kernel_harness.BIN.parent
FIXTURES = BENCH.parent / "test" / "Integration" / "fixtures"


def bench(*arguments: str, at: pathlib.Path = BENCH) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, at / "run", "--build", BUILD, *arguments],
                          capture_output=True, text=True)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "costs.json"
    done = bench("--check", "--json", str(path))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return json.loads(path.read_text())


def test_costs_stay_within_their_thresholds(measured):
    assert all(row["vgpr_spills"] == 0 for row in measured["static"])
    assert all(row["sgpr_spills"] == 0 for row in measured["static"] if row["op"] == "gemm")


@pytest.mark.parametrize("rows", ("?", "6"))
@pytest.mark.parametrize("name", ("moe_gemm1", "moe_two_stage"))
def test_a_mixture_of_experts_layer_spills_nothing(name, rows, tmp_path):
    """With the tiles of many rows, and those of one token's six experts."""
    example = (BENCH.parent / "examples" / f"{name}.mlir").read_text().replace("<?x", f"<{rows}x")
    subprocess.run([kernel_harness.BIN / "pa-compile", "-",
                    "--chip=gfx942,gfx950,gfx1250", "-o", tmp_path],
                   input=example, text=True, check=True)
    kernels = json.loads((tmp_path / "manifest.json").read_text())["kernels"]
    assert len(kernels) == (3 if name == "moe_gemm1" else 9)
    spilled = {(k["chip"], k["symbol"]): k["spills"] for k in kernels
               if any(k["spills"].values())}
    assert not spilled, spilled


def test_few_rows_read_their_weights_once_without_a_wait_for_all_loads(measured):
    sys.path.insert(0, str(BENCH))
    import peers
    counted = [r["counted"] for r in measured["counted"] if r["kernel"].endswith("rows 16")]
    assert len(counted) == 12
    for figures in counted:
        assert figures["weight_reads"] == figures["weight_reads_of_one_row"] == 1
    static = [r for r in measured["static"] if r["kernel"].endswith("rows 16")]
    assert len(static) == 12
    for row in static:
        # Scaled sums of f32 blocks: half an instruction for each of 4 or 8 results, and
        # the product of the scales for two of them. Nothing else is a vector's.
        per_matrix = {"gfx942": 0.75, "gfx950": 2.5, "gfx1250": 4.5}[row["chip"]]
        limit = per_matrix if "f32" in row["kernel"] else 0
        assert row["vector_per_matrix"] <= limit, row
        assert row["lds_per_matrix"] == row["full_waits"] == 0, row
    compared = [(row, peers.FIGURES[row["chip"], row["kernel"]]) for row in static
                if (row["chip"], row["kernel"]) in peers.FIGURES]
    assert len(compared) == 3
    for row, peer in compared:
        for name in ("vector_per_matrix", "lds_per_matrix"):
            assert row[name] <= peer[name] / 2, (row, peer)


def test_few_rows_idle_no_compute_unit_for_which_there_is_a_smaller_tile(measured):
    """16 columns are the least, 64 where they become 32 requantised ones of an
    activation. Larger ones may idle some where the others, at 64 bytes a cycle, take in
    twice what HBM brings; and on gfx942 where it converts the rows for each tile."""
    hbm_bytes_per_cycle = {"gfx942": 5300 / 2.1, "gfx950": 8000 / 2.4, "gfx1250": 19600 / 2.4}
    rows = measured["few_rows"]
    assert len(rows) == 3 * (2 + 4 + 4) + 3 * 2 * 3
    for r in rows:
        is_requantised = "moe" in r["kernel"] and not r["kernel"].endswith("op 2")
        intake = 64 * min(r["tiles"], r["compute_units"])
        assert (r["idle_compute_units"] == 0 or r["tile_n"] == (64 if is_requantised else 16)
                or intake > 2 * hbm_bytes_per_cycle[r["chip"]]
                or (r["chip"] == "gfx942" and r["bound"] == "vector")), r
    assert any(r["idle_compute_units"] == 0 for r in rows)


def test_logits_beat_the_peers(measured):
    """Ratios to the best peer of the same kernel, in the same units."""
    sys.path.insert(0, str(BENCH))
    import peers
    static = {(r["chip"], r["kernel"]): r for r in measured["static"]}
    executed = {(r["chip"], r["kernel"]): r["counted"] for r in measured["counted"]}
    compared = 0
    for key, figures in peers.FIGURES.items():
        if "logits" not in key[1]:
            continue
        ours = static[key] | executed[key]
        for name, peer in figures.items():
            compared += 1
            assert ours[name] <= peer, (key, name, ours[name], peer)
    assert compared > 30


def test_logits_have_no_wide_addresses_and_full_stores(measured):
    """Pages of 16 tokens and more have scalar addresses; every lane stores."""
    pages = {"page 64", "page 256", "page 16"}
    rows = [r for r in measured["static"] if any(f"{p} tiled" in r["kernel"] for p in pages)]
    assert len(rows) == 15
    assert all(r["wide_multiplies"] == 0 for r in rows)
    logits = [r["counted"] for r in measured["counted"] if "logits" in r["kernel"]]
    assert logits and all(r["idle_store_lanes"] < 0.001 for r in logits)


def test_a_regression_fails_with_both_numbers(tmp_path):
    """The same kernel against thresholds that it misses by a third."""
    thresholds = json.loads((BENCH / "thresholds.json").read_text())
    name = "gfx950 logits h64 n1 page 64 tiled"
    limits = {"loop_vector": thresholds[name]["loop_vector"] * 3 // 4,
              "instructions_per_logit": thresholds[name]["instructions_per_logit"] * 3 / 4}
    thresholds[name] |= limits
    copy = tmp_path / "bench"
    copy.mkdir()
    for file in BENCH.glob("*"):
        if file.is_file():
            (copy / file.name).write_text(file.read_text())
    (copy / "thresholds.json").write_text(json.dumps(thresholds))
    done = bench("--check", "--only", name, "--json", str(tmp_path / "costs.json"), at=copy)
    assert done.returncode == 1, done.stderr
    rows = json.loads((tmp_path / "costs.json").read_text())
    figures = rows["static"][0] | rows["counted"][0]["counted"]
    for limit, value in limits.items():
        assert (f"{limit} is {figures[limit]}, at most {value} within 3 % is allowed"
                in done.stdout)


def cost_of(path: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([kernel_harness.BIN / "pa-run", "--cost", path], capture_output=True,
                          text=True)


@pytest.mark.parametrize("chip", ("gfx942", "gfx950", "gfx1250"))
def test_the_hot_loops_of_another_compilers_code(chip):
    """In each of its kernels with matrix instructions a loop with such is found,
    and its classes add up to the instructions of its text."""
    found = 0
    for path in sorted((FIXTURES / chip).glob("*/kernel.co")):
        done = cost_of(path)
        assert done.returncode == 0, done.stderr
        for kernel in json.loads(done.stdout):
            if "hot_loop" not in kernel:
                continue
            loop, text = kernel["hot_loop"]["cost"], kernel["text"]
            matrix = sum("mfma" in line or "wmma" in line for line in text)
            assert loop["matrix"] == matrix
            assert loop["lds"] == sum(line.startswith("ds_") for line in text)
            total = sum(loop[c] for c in ("matrix", "vector", "memory", "lds", "scalar", "sync"))
            assert len(text) < total <= 1.02 * len(text) + 12, "branches only are left out"
            found += matrix > 0
    assert found >= 2


def test_two_code_objects_are_compared():
    code = FIXTURES / "gfx950" / "gemm_fp8" / "kernel.co"
    done = bench("--compare", str(code), str(code))
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == second and "matrix cycles" in first


@pytest.mark.parametrize("spoil, message", (
    (lambda elf: b"not an ELF", "Invalid ELF class"),
    (lambda elf: elf[:200], "section header table"),
    (lambda elf: elf[:18] + b"\x3e\x00" + elf[20:], "not an AMDGPU ELF file"),
))
def test_what_is_no_code_object_is_named(spoil, message, tmp_path):
    bad = tmp_path / "bad.co"
    bad.write_bytes(spoil((FIXTURES / "gfx950" / "gemm_fp8" / "kernel.co").read_bytes()))
    done = cost_of(bad)
    assert done.returncode == 2 and "bad.co" in done.stderr
    assert message in done.stderr, done.stderr


def test_the_cost_of_a_code_object_has_no_statistics(tmp_path):
    code = FIXTURES / "gfx950" / "gemm_fp8" / "kernel.co"
    done = subprocess.run([kernel_harness.BIN / "pa-run", "--cost", code,
                           f"--stats={tmp_path / 'stats.json'}"], capture_output=True, text=True)
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert "--cost runs nothing, so that --stats and --trace do not go with it" in done.stderr
