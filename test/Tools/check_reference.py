"""Checks that the generated reference has a section for every op and pass.

Prints the titles found; exits with 1 and names what is missing otherwise.
"""

import argparse
import pathlib
import re
import sys

OP = re.compile(r': (?:Op<PA_Dialect, |PA_DestinationOp<)"(\w+)"')
ATTRIBUTE = re.compile(r': PA_Attr<"(\w+)"')
PASS = re.compile(r': Pass<"([\w-]+)"')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=pathlib.Path, required=True)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    options = parser.parse_args()
    wanted = set()
    for path in options.include.rglob("*.td"):
        text = path.read_text(encoding="utf-8")
        wanted |= {f"`pa.{name}` " for name in OP.findall(text)}
        wanted |= {f"{name}Attr" for name in ATTRIBUTE.findall(text)}
        wanted |= {f"`-{name}`" for name in PASS.findall(text)}
    titles = [
        line
        for path in sorted(options.docs.glob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    ]
    missing = [
        name for name in sorted(wanted) if not any(name in title for title in titles)
    ]
    for title in titles:
        print(title.replace("`", ""))
    for name in missing:
        print(f"the reference has no section for {name}")
    if missing or not wanted:
        return 1
    print(f"complete: {len(wanted)} sections")
    return 0


if __name__ == "__main__":
    sys.exit(main())
