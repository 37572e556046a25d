#!/usr/bin/env python3
"""How long pa-compile takes: for one op of each kind on one chip, and for 1, 2, 4
and 8 different ops in one file, where the time of each should stay what it is.

    bench/compile_time.py [--build FOLDER]

Seconds are processor time of the process, its start included. On a machine with
idle cores the ops of a file and the chips of a call compile side by side.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import configs  # noqa: E402


def seconds(binary: pathlib.Path, mlir: str, chips: str) -> tuple:
    """Processor and elapsed seconds."""
    with tempfile.TemporaryDirectory(prefix="pagedattn-bench-") as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        subprocess.run([binary / "pa-compile", "-", f"--chip={chips}", "-o", folder], input=mlir,
                       text=True, check=True)
        elapsed = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PAGEDATTN_BUILD_DIR", str(HERE.parent / "build/release"))
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(default))
    binary = parser.parse_args().build / "bin"
    print("one op                                             processor  elapsed")
    for kernel in configs.all_kernels():
        print(f"{kernel.chip:8}{kernel.name:42} " +
              "{:9.2f}{:9.2f}".format(*seconds(binary, kernel.mlir, kernel.chip)))
    print("ops of one file, gfx950                            processor  elapsed  processor each")
    for count in (1, 2, 4, 8):
        # Heads differ, so that no two ops are the same.
        functions = [configs.logits("gfx950", 16 * (i + 1), 64, "tiled").mlir.replace("@f", f"@f{i}")
                     for i in range(count)]
        used, elapsed = seconds(binary, "\n".join(functions), "gfx950")
        print(f"{count:8}{'':43}{used:9.2f}{elapsed:9.2f}{used / count:16.2f}")


if __name__ == "__main__":
    main()
