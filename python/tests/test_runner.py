"""Host code with pa.paged_logits under the stock mlir-runner: our lowering, the
emulator's mgpu* runtime, nothing else in between."""

import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import kernel_harness
from kernel_harness import Operand
from test_logits_kernel import Case, SENTINEL, TOLERANCE, make

LLVM_BIN = pathlib.Path(os.environ.get("PAGEDATTN_LLVM_BIN", "/usr/lib/llvm-22/bin"))
LIB = kernel_harness.BIN.parent / "lib"
HOST_PASSES = ["--convert-scf-to-cf", "--expand-strided-metadata", "--lower-affine",
               "--gpu-to-llvm", "--convert-to-llvm", "--reconcile-unrealized-casts"]


PARAMETER = re.compile(r"%(\w+): (memref<[^<>]*(?:<[^<>]*>)?[^<>]*>)")


def operand_of(problem, name: str) -> Operand:
    return problem.operands["logits" if name == "outs" else name]


def with_offsets(problem) -> str:
    """The function of the problem, with dynamic offsets in the types of views
    that do not start at 0."""
    def fix(match):
        name, type_ = match.groups()
        if operand_of(problem, name).offset:
            type_ = type_.replace("]>", "], offset: ?>")
        return f"%{name}: {type_}"
    text = problem.mlir.replace(" : memref", ": memref")
    return PARAMETER.sub(fix, text)


def host_module(problem) -> str:
    """A main that makes every operand from a constant, calls the function of the
    problem and prints the logits."""
    function = with_offsets(problem)
    globals_, body, arguments, types = [], [], [], []
    for name, type_ in PARAMETER.findall(function.split("{", 1)[0]):
        operand = operand_of(problem, name)
        element = re.search(r"x(f8E4M3FN(?:UZ)?|f32|i32|i8)[,>]", type_).group(1)
        width = 4 if element in ("f32", "i32") else 1
        flat = f"memref<{operand.data.nbytes // width}x{element}>"
        offset = operand.offset // width
        sizes, strides = (", ".join(map(str, x)) for x in (operand.shape, operand.strides))
        layout = f"strided<[{strides}]" + (f", offset: {offset}>" if offset else ">")
        view = f"memref<{'x'.join(map(str, operand.shape))}x{element}, {layout}>"
        globals_.append(f'memref.global "private" @{name} : {flat} = '
                        f'dense<"0x{operand.data.tobytes().hex().upper()}">')
        body += [
            f"%flat_{name} = memref.get_global @{name} : {flat}",
            f"%any_{name} = memref.cast %flat_{name} : {flat} to memref<*x{element}>",
            f"gpu.host_register %any_{name} : memref<*x{element}>",
            f"%view_{name} = memref.reinterpret_cast %flat_{name} to offset: [{offset}], "
            f"sizes: [{sizes}], strides: [{strides}] : {flat} to {view}",
            f"%arg_{name} = memref.cast %view_{name} : {view} to {type_}"]
        arguments.append(f"%arg_{name}")
        types.append(type_)
    return "\n".join([
        *globals_, function, "func.func private @printMemrefF32(memref<*xf32>)",
        "func.func @main() {", *body,
        f"call @f({', '.join(arguments)}) : ({', '.join(types)}) -> ()",
        "call @printMemrefF32(%any_outs) : (memref<*xf32>) -> ()", "return", "}"])


@pytest.mark.parametrize("chip", ("gfx942", "gfx950", "gfx1250"))
def test_logits_under_mlir_runner(chip, tmp_path):
    case = Case(chip, queries=4, lens=(0, 1, 3, 257, 997, 64, 0, 130))
    problem = make(case)
    module = tmp_path / "host.mlir"
    module.write_text(host_module(problem))
    lowered = subprocess.run(
        [kernel_harness.BIN / "pa-opt", module, f"--pa-lower-to-binary=chip={chip}",
         *HOST_PASSES], capture_output=True)
    assert lowered.returncode == 0, lowered.stderr.decode()[:3000]
    done = subprocess.run(
        [LLVM_BIN / "mlir-runner", "-e", "main", "--entry-point-result=void",
         f"--shared-libs={LIB / 'libpagedattn_emu_runtime.so'}",
         f"--shared-libs={LLVM_BIN.parent / 'lib' / 'libmlir_runner_utils.so'}"],
        input=lowered.stdout, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[:3000]
    numbers = done.stdout.decode().split("data =", 1)[1]
    values = np.array([float(x) for x in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?|-?inf|nan", numbers)])
    rows, columns = problem.expected.shape
    got = values.reshape(rows, problem.row_stride)[:, 16:16 + columns]
    want = problem.expected
    untouched = want == SENTINEL
    assert (got[untouched] == SENTINEL).all()
    for row in range(rows):
        use = ~untouched[row]
        if use.any():
            # printMemrefF32 gives six digits.
            limit = TOLERANCE * np.abs(want[row, use]).max()
            np.testing.assert_allclose(got[row, use], want[row, use], rtol=1e-5, atol=limit)
