"""Checks that every constraint label of an op has a negative test.

An op description lists its constraints as `(C1)`, `(C2)`, ...; a negative test
is a function called `OP_cN_...` with an `expected-error` in its part of a file
`*-invalid.mlir`. Prints what is missing on either side and exits with 1.
"""

import argparse
import pathlib
import re
import sys

OP = re.compile(r': (?:Op<PA_Dialect, |PA_DestinationOp<)"(\w+)"')
LABEL = re.compile(r"^\s*\* \((C\d+)\)", re.MULTILINE)
TEST = re.compile(r"func\.func @(\w+?)_c(\d+)_\w+")


def declared_labels(td_files):
    """The (op, label) pairs of op descriptions."""
    labels = set()
    for path in td_files:
        text = path.read_text(encoding="utf-8")
        ops = list(OP.finditer(text))
        for op, following in zip(ops, [*ops[1:], None]):
            end = following.start() if following else len(text)
            found = LABEL.findall(text, op.end(), end)
            if not found:
                sys.exit(f"{path}: op {op.group(1)} has no labelled constraint")
            labels |= {(op.group(1), label) for label in found}
    return labels


def tested_labels(test_files):
    """The (op, label) pairs of negative tests."""
    labels = set()
    for path in test_files:
        for part in path.read_text(encoding="utf-8").split("// -----"):
            if "expected-error" in part:
                labels |= {(op, f"C{n}") for op, n in TEST.findall(part)}
    return labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--td", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--tests", type=pathlib.Path, required=True)
    options = parser.parse_args()
    declared = declared_labels(options.td)
    tested = tested_labels(options.tests.glob("*-invalid.mlir"))
    for op, label in sorted(declared - tested):
        print(f"{label} of pa.{op} has no negative test")
    for op, label in sorted(tested - declared):
        print(f"a negative test names {label} of pa.{op}, which is not described")
    if not declared or declared != tested:
        return 1
    print(f"{len(declared)} labels have negative tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
