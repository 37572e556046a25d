"""Random strided accesses, compiled with a limit of a few hundred bytes where the
hardware has 2^31, and run in the emulator against 64-bit arithmetic."""

import json
import os
import pathlib
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kernel_harness
from address_programs import BLOCKS, LANES, Program

BIN = kernel_harness.BIN
LONG = bool(os.environ.get("PAGEDATTN_LONG_TESTS"))
CHIPS = ("gfx942", "gfx950", "gfx1250")
LIMITS = (64, 1024, 6000, 20000, 100000, 2**31 - 1)
SEEDS = range(120 if LONG else 12)
KERNELS, SITES = 12, 6


def make_module(seed: int):
    rng = np.random.default_rng(seed)
    programs = []
    for i in range(KERNELS):
        program = Program(rng, f"k{i}")
        for _ in range(SITES):
            program.add_site()
        programs.append(program)
    text = "module attributes {gpu.container_module} {\ngpu.module @m {\n" + \
        "".join(p.text() for p in programs) + "}\n}\n"
    return text, programs


def count_forms(text: str, limit: int) -> Counter:
    done = subprocess.run([BIN / "pa-opt", "-", f"--pa-annotate-address-form=max-offset-bytes={limit}"],
                          input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Counter({form: done.stdout.count(f"#pa.address<{form},")
                    for form in ("narrow", "rebase", "global")})


def compile_module(text: str, chip: str, limit: int, folder: pathlib.Path) -> pathlib.Path:
    done = subprocess.run(
        [BIN / "pa-compile", "-", f"--chip={chip}", "-o", folder,
         f"--options=max-offset-bytes={limit}"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / f"m.{chip}.co"


def run_program(program: Program, code: pathlib.Path, chip: str, folder: pathlib.Path) -> list:
    """What is wrong with the run, in words."""
    before, after = program.make_data()
    folder = folder / program.name
    folder.mkdir()
    sites = {site["name"]: site for site in program.sites}
    args = []
    for name, type_ in program.args:
        if type_ == "index":
            args.append({"name": name, "type": "i64", "value": program.u[int(name[1:])]})
            continue
        data = before[name]
        path = folder / f"{name}.bin"
        data.tofile(path)
        buffer = {"name": name, "type": "buffer", "bytes": data.nbytes, "init": str(path)}
        if name in after:
            buffer["out"] = f"{path}.out"
        site = sites.get(name)
        sizes, strides = (site["sizes"], site["strides"]) if site else ([data.size], [1])
        args += [{"name": f"{name}.allocated", "type": "i64", "value": 0}, buffer]
        args += [{"name": f"{name}.{i}", "type": "i64", "value": value}
                 for i, value in enumerate([0, *sizes, *strides])]
    spec = folder / "spec.json"
    spec.write_text(json.dumps({
        "arch": chip, "kernel": program.name, "code_object": str(code),
        "grid": [BLOCKS, 1, 1], "block": [LANES, 1, 1], "args": args}))
    done = subprocess.run([BIN / "pa-run", spec, "--report=json"], capture_output=True, text=True)
    problems = []
    # Resources of the program drop what lies outside on purpose, ours never.
    reports = json.loads(done.stdout)["reports"] if done.stdout else [{"kind": done.stderr}]
    if not any(site["is_bounded"] for site in program.sites):
        problems += [f"{chip} {program.name}: {report}" for report in reports]
    for name, expected in after.items():
        out = folder / f"{name}.bin.out"
        if not out.exists():
            problems.append(f"{chip} {program.name}: {name} was not written: {done.stdout}{done.stderr}")
            break
        found = np.fromfile(out, expected.dtype)
        wrong = np.flatnonzero(found != expected)
        if wrong.size:
            site = sites.get(name)
            if not site:
                site = next(s for s in reversed(program.sites) if s["first"] <= wrong[0])
            problems.append(
                f"{chip} {program.name}: {name} ({site['kind']} of {site['name']}) has {wrong.size} "
                f"wrong elements, element {wrong[0]} is {found[wrong[0]]}, not {expected[wrong[0]]}")
    return problems


@pytest.mark.parametrize("seed", SEEDS)
def test_fuzz(seed, tmp_path):
    text, programs = make_module(seed)
    (tmp_path / "m.mlir").write_text(text)
    limit = LIMITS[seed % len(LIMITS)]
    chip = CHIPS[seed % len(CHIPS)]
    code = compile_module(text, chip, limit, tmp_path / "code")
    with ThreadPoolExecutor(2) as pool:
        problems = sum(pool.map(lambda p: run_program(p, code, chip, tmp_path), programs), [])
    assert not problems, "\n".join(problems)


def test_every_form_occurs():
    """The programs above use each form, often, in both directions, at a limit that
    cuts through them; and they are thousands."""
    forms, accesses, kinds = Counter(), 0, Counter()
    for seed in SEEDS:
        text, programs = make_module(seed)
        if LIMITS[seed % len(LIMITS)] < 2**31 - 1:
            forms += count_forms(text, LIMITS[seed % len(LIMITS)])
        accesses += sum(p.accesses for p in programs)
        kinds.update(site["kind"] for p in programs for site in p.sites)
    assert min(forms[form] for form in ("narrow", "rebase", "global")) >= 40, forms
    assert accesses >= 10000
    assert min(kinds[kind] for kind in (
        "load", "store", "vload", "vstore", "masked", "maskedstore", "atomic", "raw",
        "rawstore", "rawatomic", "fat", "fatstore")) >= 5, kinds
