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


def host_module(problem, kernel_text: str) -> str:
    """A main that makes every operand from a constant, calls the op and prints
    the logits."""
    signature = re.search(r"func.func @f\((.*?)\) \{", kernel_text).group(1)
    params = re.findall(r"%(\w+): (memref<[^<>]*(?:<[^<>]*>)?[^<>]*>)", signature)
    lines, arguments, tail = [], [], []
    for name, type_ in params:
        operand: Operand = problem.operands["logits" if name == "outs" else name]
        element = re.search(r"x(f8E4M3FN(?:UZ)?|f32|i32|i8)[,>]", type_).group(1)
        width = 4 if element in ("f32", "i32") else 1
        count = operand.data.nbytes // width
        flat = f"memref<{count}x{element}>"
        lines.append(f'memref.global "private" @{name} : {flat} = '
                     f'dense<"0x{operand.data.tobytes().hex().upper()}">')
        tail.append(f"%flat_{name} = memref.get_global @{name} : {flat}")
        tail.append(f"%any_{name} = memref.cast %flat_{name} : {flat} to memref<*x{element}>")
        tail.append(f"gpu.host_register %any_{name} : memref<*x{element}>")
        sizes = ", ".join(map(str, operand.shape))
        strides = ", ".join(map(str, operand.strides))
        static = f"memref<{'x'.join(map(str, operand.shape))}x{element}, " \
                 f"strided<[{strides}], offset: {operand.offset // width}>>"
        tail.append(f"%view_{name} = memref.reinterpret_cast %flat_{name} to offset: "
                    f"[{operand.offset // width}], sizes: [{sizes}], strides: [{strides}] "
                    f": {flat} to {static}")
        dynamic = re.sub(r"^memref<", "memref<", type_)
        if "strided" not in dynamic:
            plain = ", ".join(["?"] * (len(operand.shape)))
        arguments.append((name, static, dynamic))
    # The views carry their offset; the function takes them as its types say.
    body = "\n    ".join(tail)
    calls = []
    for name, static, dynamic in arguments:
        offset = problem.operands["logits" if name == "outs" else name].offset
        if offset == 0:
            source = re.sub(r", offset: 0>", ">", static)
            body = body.replace(static, source)
            calls.append(f"%arg_{name} = memref.cast %view_{name} : {source} to {dynamic}")
        else:
            calls.append(f"%arg_{name} = memref.cast %view_{name} : {static} to {dynamic}")
    values = ", ".join(f"%arg_{name}" for name, _, _ in arguments)
    types = ", ".join(dynamic for _, _, dynamic in arguments)
    return "\n".join(lines) + f"""
  {kernel_text}
  func.func private @printMemrefF32(memref<*xf32>)
  func.func @main() {{
    {body}
    {chr(10).join("    " + line for line in calls)}
    call @f({values}) : ({types}) -> ()
    call @printMemrefF32(%any_outs) : (memref<*xf32>) -> ()
    return
  }}
"""


def with_offsets(problem, text: str) -> str:
    """The function with dynamic offsets where a view does not start at 0."""
    def fix(match):
        name, type_ = match.group(1), match.group(2)
        operand = problem.operands["logits" if name == "outs" else name]
        if operand.offset == 0:
            return match.group(0)
        return f"%{name}{match.group(3)}: {type_.replace(']>', '], offset: ?>')}"
    pattern = r"%(\w+)( ?):? ?(memref<[^<>]*(?:<[^<>]*>)?[^<>]*>)"
    return re.sub(r"%(\w+)( ?): (memref<[^<>]*(?:<[^<>]*>)?[^<>]*>)",
                  lambda m: (m.group(0) if problem.operands[
                      "logits" if m.group(1) == "outs" else m.group(1)].offset == 0
                      else f"%{m.group(1)}{m.group(2)}: "
                           f"{m.group(3).replace(']>', '], offset: ?>')}"), text)


@pytest.mark.parametrize("chip", ("gfx942", "gfx950", "gfx1250"))
def test_logits_under_mlir_runner(chip, tmp_path):
    case = Case(chip, queries=4, lens=(0, 1, 3, 257, 997, 64, 0, 130))
    problem = make(case)
    module = tmp_path / "host.mlir"
    module.write_text(host_module(problem, with_offsets(problem, problem.mlir)))
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
