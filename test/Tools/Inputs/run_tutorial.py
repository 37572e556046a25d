"""Runs the commands of a page and compares their output with what it shows.

A fenced block `mlir NAME` is written to the file NAME, a block `sh` is run in
one shell with those before it, and a block `text` is what the last one prints.
"""

import difflib
import pathlib
import re
import subprocess
import sys

page, folder = map(pathlib.Path, sys.argv[1:3])
folder.mkdir(parents=True, exist_ok=True)
blocks = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", page.read_text(), re.M | re.S)
script, compared, failures = "", 0, 0
for kind, name, body in blocks:
    if kind == "mlir":
        (folder / name).write_text(body)
    elif kind == "sh":
        # What earlier blocks print has been compared before.
        done = subprocess.run(["bash", "-c", f"{{\n:\n{script}\n}} >/dev/null 2>&1\n{body}"],
                              cwd=folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        script += body
        output = done.stdout + done.stderr
    elif kind == "text":
        compared += 1
        difference = list(difflib.unified_diff(body.splitlines(), output.splitlines(),
                                               "shown", "printed", lineterm=""))
        if difference:
            failures += 1
            print("\n".join(difference))
print(f"{compared} blocks compared")
sys.exit(failures != 0 or compared == 0)
