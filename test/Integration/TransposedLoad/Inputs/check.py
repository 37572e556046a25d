"""Transposed loads against the matrix they are meant for.

Sixteen lanes together read E rows of sixteen elements that lie one after the
other; lane i must get column i.

    check.py PA_RUN LLVM_MC LD_LLD FOLDER INCLUDE_FOLDER
"""

import json
import pathlib
import random
import subprocess
import sys

# mnemonic, chip, element bits, dwords per lane, space
LOADS = [
    ("ds_read_b64_tr_b16", "gfx950", 16, 2, "lds"),
    ("ds_read_b64_tr_b8", "gfx950", 8, 2, "lds"),
    ("ds_read_b96_tr_b6", "gfx950", 6, 3, "lds"),
    ("ds_read_b64_tr_b4", "gfx950", 4, 2, "lds"),
    ("ds_load_tr16_b128", "gfx1250", 16, 4, "lds"),
    ("ds_load_tr8_b64", "gfx1250", 8, 2, "lds"),
    ("ds_load_tr6_b96", "gfx1250", 6, 3, "lds"),
    ("ds_load_tr4_b64", "gfx1250", 4, 2, "lds"),
    ("global_load_tr16_b128", "gfx1250", 16, 4, "global"),
    ("global_load_tr8_b64", "gfx1250", 8, 2, "global"),
    ("global_load_tr6_b96", "gfx1250", 6, 3, "global"),
    ("global_load_tr4_b64", "gfx1250", 4, 2, "global"),
]

GFX950 = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mul_u32_u24_e32 v1, {bytes}, v0
  global_load_dwordx{dwords} v[4:{last}], v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b{bits} v1, v[4:{last}]
  s_waitcnt lgkmcnt(0)
  {load} v[4:{last}], v1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx{dwords} v1, v[4:{last}], s[6:7]
"""
GFX1250_LDS = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_wait_kmcnt 0x0
  v_mul_u32_u24_e32 v1, {bytes}, v0
  global_load_b{bits} v[4:{last}], v1, s[4:5]
  s_wait_loadcnt 0x0
  ds_store_b{bits} v1, v[4:{last}]
  s_wait_dscnt 0x0
  {load} v[4:{last}], v1
  s_wait_dscnt 0x0
  global_store_b{bits} v1, v[4:{last}], s[6:7]
"""
GFX1250_GLOBAL = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_wait_kmcnt 0x0
  v_mul_u32_u24_e32 v1, {bytes}, v0
  {load} v[4:{last}], v1, s[4:5]
  s_wait_loadcnt 0x0
  global_store_b{bits} v1, v[4:{last}], s[6:7]
"""


def pack(elements, bits):
    value = sum(x << (i * bits) for i, x in enumerate(elements))
    return value.to_bytes(len(elements) * bits // 8, "little")


def run(pa_run, llvm_mc, lld, folder, include, load, chip, bits, dwords, space):
    folder.mkdir(parents=True, exist_ok=True)
    lanes = 64 if chip == "gfx950" else 32
    per_lane = 32 * dwords // bits
    source = random.Random(load)
    before, after = b"", b""
    for _ in range(lanes // 16):
        rows = [[source.randrange(1 << bits) for _ in range(16)] for _ in range(per_lane)]
        before += pack([x for row in rows for x in row], bits)
        for column in range(16):
            after += pack([row[column] for row in rows], bits)
    (folder / "before.bin").write_bytes(before)
    (folder / "after.bin").write_bytes(after)

    body = GFX950 if chip == "gfx950" else GFX1250_LDS if space == "lds" else GFX1250_GLOBAL
    body = body.format(
        bytes=4 * dwords, dwords=dwords, bits=32 * dwords, last=3 + dwords, load=load
    )
    name = "gfx9.inc" if chip == "gfx950" else "gfx1250.inc"
    (folder / "k.s").write_text(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        + body
        + f'  s_endpgm\n.include "{name}"\n',
        encoding="utf-8",
    )
    subprocess.run(
        [llvm_mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}", "-filetype=obj",
         "-I", include, folder / "k.s", "-o", folder / "k.o"], check=True)
    subprocess.run([lld, "-shared", folder / "k.o", "-o", folder / "kernel.co"], check=True)
    spec = {
        "arch": chip, "kernel": "k", "grid": [1], "block": [lanes],
        "args": [
            {"name": "a", "type": "buffer", "bytes": len(before), "init": "before.bin"},
            {"name": "b", "type": "buffer", "bytes": len(after), "expected": "after.bin"},
        ],
    }
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    done = subprocess.run([pa_run, folder / "spec.json"], capture_output=True, text=True)
    print(f"{load} on {chip}: {'ok' if done.returncode == 0 else 'FAILED'}")
    if done.returncode:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def main():
    pa_run, llvm_mc, lld, folder, include = sys.argv[1:]
    good = [
        run(pa_run, llvm_mc, lld, pathlib.Path(folder) / load[0], include, *load)
        for load in LOADS
    ]
    sys.exit(0 if all(good) else 1)


main()
