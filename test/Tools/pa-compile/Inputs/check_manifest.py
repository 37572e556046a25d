"""Checks a manifest against docs/manifest.md's rules."""

import json
import pathlib
import sys

COST = {name: int for name in ("matrix", "vector", "memory", "lds", "scalar", "sync",
                               "full_waits", "vector_cycles")}
SCHEMA = {
    "instructions": int,
    "hot_loop": {"cost": COST | {"matrix_cycles": int, "matrix_flops": int}, "around": COST},
    "symbol": str, "op": str, "chip": str, "file": str, "file_bytes": int,
    "wave_size": int, "workgroup_size": list, "lds_bytes": int, "scratch_bytes": int,
    "registers": {"vgprs": int, "agprs": int, "sgprs": int},
    "spills": {"vgprs": int, "sgprs": int}, "waves_per_simd": int,
    "kernarg_bytes": int, "grid": list, "operands": [{"name": str, "type": str}],
    "args": [{"name": str, "kind": str, "bytes": int, "offset": int}],
    "sizes": dict, "scalars": dict, "workspaces": dict, "preconditions": list,
    "accesses": [{"operand": str, "kind": str, "form": str, "max_offset": int,
                  "count": int, "reason": str}],
}


def check(value, schema, where):
    if isinstance(schema, dict):
        assert isinstance(value, dict), f"{where} is not an object"
        assert value.keys() == schema.keys(), f"{where} has {sorted(value)}, not {sorted(schema)}"
        for key, inner in schema.items():
            check(value[key], inner, f"{where}.{key}")
    elif isinstance(schema, list):
        for i, item in enumerate(value):
            check(item, schema[0], f"{where}[{i}]")
    else:
        assert isinstance(value, schema), f"{where} is {type(value).__name__}, not {schema.__name__}"


folder = pathlib.Path(sys.argv[1])
manifest = json.loads((folder / "manifest.json").read_text())
assert manifest["manifest_version"] == 1
assert manifest["kernels"]
for kernel in manifest["kernels"]:
    check(kernel, SCHEMA, kernel["symbol"])
    assert (folder / kernel["file"]).stat().st_size == kernel["file_bytes"]
    end = 0
    for arg in kernel["args"]:
        assert arg["kind"] in ("pointer", "i64") and arg["offset"] == end, arg
        end += arg["bytes"]
    assert end == kernel["kernarg_bytes"]
    names = {operand["name"] for operand in kernel["operands"]}
    assert {size["operand"] for size in kernel["sizes"].values()} <= names
    assert kernel["workspaces"].keys() <= names
    assert {access["operand"] for access in kernel["accesses"]} <= names
    assert all(a["form"] in ("narrow", "rebase", "global") for a in kernel["accesses"])
