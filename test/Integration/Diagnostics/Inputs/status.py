"""Runs a command and succeeds if its exit status is exactly the given one."""

import subprocess
import sys

expected = int(sys.argv[1])
found = subprocess.run(sys.argv[2:]).returncode
if found != expected:
    print(f"exit status {found}, expected {expected}")
    sys.exit(1)
