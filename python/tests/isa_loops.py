"""Loops of a compiled kernel, found in the assembly text."""

import re

LABEL = re.compile(r"(\.L\w+):")
BRANCH = re.compile(r"\s+s_(cbranch_\w+|branch)\s+(\.L\w+)")
# Vector instructions that make 64-bit numbers or the high half of products.
WIDE = re.compile(r"\s+v_(mad_(co_|nc_)?[ui]64_[ui]32|lshl_add_u64|add_nc_u64|sub_nc_u64|mul_u64"
                  r"|mul_hi_[ui]32|add_co_|add_co_ci_|addc_co_|ashrrev_i64|lshlrev_b64)")
MATRIX = re.compile(r"\s+v_(mfma|wmma|smfmac|swmmac)")


def blocks_of(text: str):
    """Basic blocks as lists of lines, and the successors of each."""
    blocks, names = [[]], {}
    for line in text.splitlines():
        label = LABEL.match(line)
        if label:
            if blocks[-1]:
                blocks.append([])
            names[label.group(1)] = len(blocks) - 1
            continue
        blocks[-1].append(line)
        if BRANCH.match(line) or re.match(r"\s+s_endpgm", line):
            blocks.append([])
    successors = []
    for i, lines in enumerate(blocks):
        last = lines[-1] if lines else ""
        branch = BRANCH.match(last)
        following = [names[branch.group(2)]] if branch and branch.group(2) in names else []
        ends = re.match(r"\s+s_(branch|endpgm)\b", last)
        if not ends and i + 1 < len(blocks):
            following.append(i + 1)
        successors.append(following)
    return blocks, successors


def components(nodes: set, successors: list) -> list:
    """Strongly connected sets of more than one node, or of one with an edge to
    itself."""
    def reach(start, edges):
        seen, stack = set(), [start]
        while stack:
            for following in edges[stack.pop()]:
                if following in nodes and following not in seen:
                    seen.add(following)
                    stack.append(following)
        return seen
    forward = {n: [s for s in successors[n] if s in nodes] for n in nodes}
    backward = {n: [] for n in nodes}
    for n, following in forward.items():
        for s in following:
            backward[s].append(n)
    found, left = [], set(nodes)
    while left:
        node = min(left)
        together = reach(node, forward) & reach(node, backward)
        left -= together | {node}
        if together:
            found.append(together)
    return found


def loops_of(text: str) -> list:
    """The lines of every loop, inner ones after those around them."""
    blocks, successors = blocks_of(text)
    result, work = [], components(set(range(len(blocks))), successors)
    while work:
        loop = work.pop(0)
        result.append([line for i in sorted(loop) for line in blocks[i]])
        outside = [i for i in range(len(blocks)) if i not in loop]
        headers = {s for i in outside for s in successors[i] if s in loop} or {min(loop)}
        work += components(loop - headers, successors)
    return result


def count(lines: list, pattern) -> int:
    return sum(bool(re.match(pattern, line)) for line in lines)
