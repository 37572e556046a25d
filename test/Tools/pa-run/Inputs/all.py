"""Runs pa-run on every bad call and spec, and prints status and messages."""

import pathlib
import subprocess
import sys

pa_run, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def run(title, *arguments):
    done = subprocess.run(
        [pa_run, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(f"{title}: {done.returncode}\n{done.stdout.strip()}")


run("no arguments")
run("unknown option", "--sead=1", "x.json")
run("bad trace", "--trace=3-1", "x.json")
for name in (folder / "order.txt").read_text(encoding="utf-8").split():
    run(f"{name}.json", folder / f"{name}.json")
