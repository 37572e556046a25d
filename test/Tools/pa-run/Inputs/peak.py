"""Runs a command and fails if it commits more than a number of megabytes."""

import resource
import subprocess
import sys

limit = int(sys.argv[1])
status = subprocess.run(sys.argv[2:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
if peak > limit:
    sys.exit(f"peak memory {peak} MB, expected at most {limit}")
sys.exit(status)
