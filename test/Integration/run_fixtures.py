"""Runs every fixture of a folder and prints those that do not pass.

    run_fixtures.py PA_RUN FOLDER [PA_RUN OPTIONS...]
"""

import pathlib
import subprocess
import sys


def main():
    pa_run, folder, options = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    specs = sorted(folder.glob("*/spec.json"))
    failed = []
    for spec in specs:
        done = subprocess.run(
            [pa_run, spec, *options], capture_output=True, text=True
        )
        if done.returncode:
            failed.append(spec.parent.name)
            print(f"{spec.parent.name}: exit status {done.returncode}")
            print(done.stdout + done.stderr)
    print(f"{len(specs) - len(failed)} of {len(specs)} fixtures pass")
    sys.exit(1 if failed or not specs else 0)


main()
