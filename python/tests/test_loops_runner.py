"""The loops under the stock mlir-runner, against the float64 references.

The data are constants of the module and the results come back as printed bits.
The other loops tests call a shared object, which takes far less time per case.
"""

import os
import re

import numpy as np
import pytest

import loops_harness as loops
import test_loops_gemm
import test_loops_logits
import test_loops_topk
from pagedattn import reference

INTEGERS = {1: ("i8", np.uint8), 2: ("i16", np.uint16), 4: ("i32", np.int32)}


def element_of(memref: str) -> str:
    """The element type of a memref type."""
    return re.match(r"memref<(?:[\d?]+x)*(\w+)", memref).group(1)


def main_function(function: str, name: str, arrays: dict, outputs: list) -> str:
    """Globals with the data, and a @main that calls `name` and prints outputs."""
    types = dict(re.findall(r"%(\w+): (memref<.*?>(?=, %|\)))", function))
    lines, globals_, arguments = [], [], []
    for operand, array in arrays.items():
        element = element_of(types[operand])
        shape = "x".join(str(n) for n in array.shape)
        plain = f"memref<{shape}x{element}>"
        data = np.ascontiguousarray(array).tobytes().hex()
        globals_.append(f'memref.global "private" @data_{operand} : {plain} = dense<"0x{data}">')
        lines.append(f"%{operand} = memref.get_global @data_{operand} : {plain}")
        arguments.append((f"%{operand}", plain))
    names = ", ".join(value for value, _ in arguments)
    signature = ", ".join(kind for _, kind in arguments)
    lines.append(f"func.call @{name}({names}) : ({signature}) -> ()")
    for operand in outputs:
        array, plain = arrays[operand], dict(arguments)[f"%{operand}"]
        integer, _ = INTEGERS[array.itemsize]
        rows, columns = array.shape
        bits = f"%{operand}_bits"
        lines += [
            f"{bits} = memref.alloc() : memref<{rows}x{columns}xi32>",
            f"affine.for %i = 0 to {rows} {{ affine.for %j = 0 to {columns} {{",
            f"  %value = affine.load %{operand}[%i, %j] : {plain}",
        ]
        stored = "%value"
        if element_of(plain) != integer:
            lines.append(
                f"  %as_bits = arith.bitcast %value : {element_of(plain)} to {integer}"
            )
            stored = "%as_bits"
        if integer != "i32":
            lines.append(f"  %wide = arith.extui {stored} : {integer} to i32")
            stored = "%wide"
        lines += [
            f"  affine.store {stored}, {bits}[%i, %j] : memref<{rows}x{columns}xi32>",
            "}}",
            f"{bits}_any = memref.cast {bits} : memref<{rows}x{columns}xi32> "
            "to memref<*xi32>",
            f"func.call @printMemrefI32({bits}_any) : (memref<*xi32>) -> ()",
        ]
    body = "\n  ".join(lines)
    return f"""
{chr(10).join(globals_)}
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {{
  {body}
  return
}}"""


def run_under_mlir_runner(case, arrays: dict, outputs: list) -> list:
    """What the outputs hold after @main, in their own types."""
    # Constants of a module have no strides of their own.
    contiguous = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
    function = case.function(contiguous)
    text = function + main_function(function, case.name, contiguous, outputs)
    lowered = loops.run(
        [loops.tool("pa-opt"), "--lower-affine", *loops.TO_LLVM], text
    )
    folder = os.path.join(os.path.dirname(loops.tool("mlir-runner-22")), "..", "lib")
    libraries = ["runner_utils", "c_runner_utils"]
    printed = loops.run(
        [loops.tool("mlir-runner-22"), "-e", "main", "--entry-point-result=void"]
        + [f"--shared-libs={folder}/libmlir_{name}.so" for name in libraries],
        lowered,
    )
    parts = printed.split("Unranked Memref")[1:]
    assert len(parts) == len(outputs), printed[:1000]
    results = []
    for operand, part in zip(outputs, parts):
        numbers = re.findall(r"-?\d+", part.split("data =")[1])
        array = arrays[operand]
        wide = np.array([int(n) for n in numbers], np.int64).astype(np.int32)
        bits = wide.astype(INTEGERS[array.itemsize][1])
        results.append(bits.view(array.dtype).reshape(array.shape))
    return results


@pytest.mark.parametrize(
    "name", ["page_8_tiled", "page_64_mxfp4", "row_ends_neg_inf", "fnuz_none"]
)
def test_paged_logits(name):
    case = test_loops_logits.fresh(name)
    arrays = case.operands["arrays"]
    expected = test_loops_logits.expected_of(case, arrays)
    (got,) = run_under_mlir_runner(case, arrays, ["logits"])
    np.testing.assert_array_equal(got, expected.astype(np.float32))


@pytest.mark.parametrize("name", ["special_values_by_value", "ranges_by_index"])
def test_topk(name):
    case = test_loops_topk.fresh(name)
    arrays = case.operands["arrays"]
    indices, best = reference.topk(
        arrays["values"],
        case.k,
        row_starts=arrays.get("row_starts"),
        row_ends=arrays.get("row_ends"),
        order=case.order,
    )
    got = run_under_mlir_runner(case, arrays, ["indices", "top_values"])
    np.testing.assert_array_equal(got[0], indices)
    np.testing.assert_array_equal(got[1].view(np.uint32), best.view(np.uint32))


@pytest.mark.parametrize(
    "name", ["k_640_e8m0_1x32", "n32k8_a4w4", "row_ids", "requantised_e2m1_None"]
)
def test_grouped_gemm(name):
    case = test_loops_gemm.fresh(name)
    arrays = case.operands()
    expected, touched = case.expected()
    outputs = [name for name in ("c", "c_scales") if name in arrays]
    got = run_under_mlir_runner(case, arrays, outputs)
    for (view, _), values in zip(case.outputs, got):
        view[...] = values
    test_loops_gemm.compare(case, expected, touched)
