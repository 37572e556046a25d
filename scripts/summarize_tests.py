"""Adds up the results that the check targets leave in one folder.

Prints every failed test, every reason to skip with how many tests it skips, and
last the line `N passed, N failed, N skipped`. Exits with 1 if a test failed, if a result file
that was asked for is missing, or if nothing ran.
"""

import argparse
import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


@dataclass
class Totals:
    """Counts of one or more result files, with what a reader has to know."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    # Names of skipped tests by reason.
    skipped: dict[str, list[str]] = field(
        default_factory=lambda: collections.defaultdict(list)
    )


def add_lit(path: pathlib.Path, totals: Totals) -> None:
    """Adds the JSON results of a lit run; unknown result codes are failures."""
    for test in json.loads(path.read_text(encoding="utf-8"))["tests"]:
        if test["code"] in LIT_PASSED:
            totals.passed += 1
        elif test["code"] in LIT_SKIPPED:
            reason = " ".join(test.get("output", "").split()) or "unsupported here"
            totals.skipped[reason].append(test["name"])
        else:
            totals.failed.append(f"{test['name']}: {test['code']}")


def add_pytest(path: pathlib.Path, totals: Totals) -> None:
    """Adds a junit file of pytest."""
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            totals.failed.append(name)
        elif skipped is not None:
            totals.skipped[skipped.get("message")].append(name)
        else:
            totals.passed += 1


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    options = parser.parse_args(arguments)
    totals = Totals()
    for path in options.results:
        try:
            (add_lit if path.suffix == ".json" else add_pytest)(path, totals)
        except (OSError, ValueError, KeyError, ElementTree.ParseError) as error:
            totals.failed.append(f"{path}: no readable results ({error})")
    for line in totals.failed:
        print(f"failed: {line}")
    for reason, names in totals.skipped.items():
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"skipped: {names[0]}{others}: {reason}")
    if not totals.passed and not totals.failed:
        totals.failed.append("nothing ran")
        print("failed: nothing ran")
    print(
        f"{totals.passed} passed, {len(totals.failed)} failed, "
        f"{sum(map(len, totals.skipped.values()))} skipped"
    )
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
