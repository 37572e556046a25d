"""How fast the emulator runs on this machine, per core.

    bench/emulator.py [--pa-run PATH] [--repeat N]

Prints one line per instruction loop: wave instructions per second of CPU time of
one host thread, and matrix instructions per second where the loop has them. CPU
time, less that of a run of one iteration, does not depend on what else the
machine does. Each number is the best of the repetitions.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LLVM = "/usr/lib/llvm-22/bin"

VECTOR = """
  v_fma_f32 v4, v4, v2, v3
  v_add_f32_e32 v5, v4, v3
  v_mul_f32_e32 v6, v5, v2
  v_max_f32_e32 v7, v6, v4
  v_add_u32_e32 v8, v8, v1
  v_xor_b32_e32 v9, v8, v1
  v_lshlrev_b32_e32 v10, 3, v9
  v_and_b32_e32 v11, v10, v9
  v_cmp_lt_u32_e32 vcc, v8, v9
  v_cndmask_b32_e32 v12, v8, v9, vcc
  v_mad_u32_u24 v13, v11, v9, v10
  v_cvt_f32_u32_e32 v14, v13
"""
LDS = """
  v_lshlrev_b32_e32 v4, 4, v0
  ds_write_b128 v4, v[8:11]
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[12:15], v4
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v16, v4
  s_waitcnt lgkmcnt(0)
"""


def matrix(text):
    return text * 8


LOOPS = [
    ("vector, wave64", "gfx950", VECTOR, 400_000),
    ("vector, wave32", "gfx1250", VECTOR.replace("v_add_u32", "v_add_nc_u32").replace("vcc", "vcc_lo"), 400_000),
    ("LDS 16 bytes per lane", "gfx950", LDS, 100_000),
    ("mfma 16x16x32 fp8", "gfx942", matrix("  v_mfma_f32_16x16x32_fp8_fp8 v[8:11], v[20:21], v[22:23], v[8:11]\n"), 100_000),
    ("mfma 32x32x16 bf16", "gfx950", matrix("  v_mfma_f32_32x32x16_bf16 v[32:47], v[20:23], v[24:27], v[32:47]\n"), 20_000),
    ("mfma_scale 16x16x128 fp8", "gfx950", matrix("  v_mfma_scale_f32_16x16x128_f8f6f4 v[8:11], v[20:27], v[28:35], v[8:11], v1, v1\n"), 20_000),
    ("wmma 16x16x128 fp8", "gfx1250", matrix("  v_wmma_f32_16x16x128_fp8_fp8 v[8:15], v[20:35], v[40:55], v[8:15]\n"), 20_000),
]


def measure(pa_run, chip, body, iterations, folder):
    wave32 = chip == "gfx1250"
    text = (HERE / "emulator" / "loop.s.in").read_text(encoding="utf-8")
    for key, value in {
        "ITERATIONS": str(iterations),
        "BODY": body.strip("\n"),
        "WAVE": "32" if wave32 else "64",
        "EXTRA": ".amdhsa_wavefront_size32 1" if wave32 else ".amdhsa_accum_offset 128",
    }.items():
        text = text.replace(f"@{key}@", value)
    if wave32:
        text = text.replace("s_sub_u32", "s_sub_co_u32")
    (folder / "k.s").write_text(text, encoding="utf-8")
    subprocess.run(
        [f"{LLVM}/llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}",
         "-filetype=obj", folder / "k.s", "-o", folder / "k.o"], check=True)
    subprocess.run([f"{LLVM}/ld.lld", "-shared", folder / "k.o", "-o", folder / "kernel.co"], check=True)
    spec = {
        "arch": chip, "kernel": "k", "grid": [1], "block": [32 if wave32 else 64],
        "args": [{"type": "buffer", "bytes": 64, "init": "zero"}],
    }
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [pa_run, folder / "spec.json", "--threads=1", f"--stats={folder}/stats.json"],
        check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    stats = json.loads((folder / "stats.json").read_text(encoding="utf-8"))
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return stats["instructions"], stats["matrix_ops"], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pa-run", default=str(HERE.parent / "build/release/bin/pa-run"))
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'loop':28} {'chip':8} {'instructions/s':>16} {'matrix/s':>14}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, chip, body, iterations in LOOPS:
            start = min(
                measure(arguments.pa_run, chip, body, 1, folder)[2]
                for _ in range(arguments.repeat)
            )
            runs = [
                measure(arguments.pa_run, chip, body, iterations, folder)
                for _ in range(arguments.repeat)
            ]
            instructions, matrix_ops, _ = runs[0]
            seconds = min(run[2] for run in runs) - start
            rate = f"{instructions / seconds / 1e6:14.2f} M"
            ops = f"{matrix_ops / seconds / 1e6:12.2f} M" if matrix_ops else ""
            print(f"{title:28} {chip:8} {rate} {ops}")


if __name__ == "__main__":
    main()
