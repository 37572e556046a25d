"""Host code with pa.paged_logits under the stock mlir-runner: our lowering, the
emulator's mgpu* runtime, nothing else in between."""

import os
import pathlib
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import kernel_harness
from kernel_harness import Operand
from pagedattn import reference
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


def run_text(text: str, chip: str, tmp_path) -> str:
    """What the main of the module prints."""
    module = tmp_path / "host.mlir"
    module.write_text(text)
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
    return done.stdout.decode()


def run_module(text: str, chip: str, tmp_path) -> np.ndarray:
    """The numbers that the main of the module prints."""
    numbers = run_text(text, chip, tmp_path).split("data =", 1)[1]
    return np.array([float(x) for x in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?|-?inf|nan", numbers)])


@pytest.mark.parametrize("chip", ("gfx942", "gfx950", "gfx1250"))
def test_logits_under_mlir_runner(chip, tmp_path):
    case = Case(chip, queries=4, lens=(0, 1, 3, 257, 997, 64, 0, 130))
    problem = make(case)
    values = run_module(host_module(problem), chip, tmp_path)
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


@pytest.mark.parametrize("schedule", ("even", "ragged"))
@pytest.mark.parametrize("chip", ("gfx942", "gfx950", "gfx1250"))
def test_no_sequence_under_mlir_runner(chip, schedule, tmp_path):
    """The host launches a workgroup for a batch of none, and it writes nothing."""
    problem = make(Case(chip, lens=(65,), schedule=schedule))
    for name in ("q", "weights", "block_table", "context_lens", "logits"):
        operand = problem.operands[name]
        problem.operands[name] = replace(operand, shape=(0,) + operand.shape[1:])
    text = host_module(problem)
    logits = problem.operands["logits"]
    values = run_module(text, chip, tmp_path)
    assert values.size == logits.data.nbytes // 4
    assert (values == SENTINEL).all()


@pytest.mark.parametrize("splits", (1, 2))
@pytest.mark.parametrize("chip", ("gfx942", "gfx950", "gfx1250"))
def test_logits_and_topk_under_mlir_runner(chip, splits, tmp_path):
    """The indexer in one module: logits without a fill, then the best columns of
    what was written."""
    k, queries = 60, 2
    lens = (0, 1, 3, 257, 997, 64, 130)
    problem = make(Case(chip, queries=queries, lens=lens))
    rows, columns = problem.expected.shape
    ends = np.array([max(0, n - queries + i + 1) for n in lens for i in range(queries)], np.int32)
    logits = next(t for n, t in PARAMETER.findall(with_offsets(problem)) if n == "outs")
    text = host_module(problem)
    head, tail = text.split("func.func private @printMemrefF32(memref<*xf32>)")
    before, after = tail.split("call @printMemrefF32")
    config = f"#pa.topk_config<waves = 4, loads = 1, candidates = 2000, splits = {splits}>"
    chain = "\n".join([
        head,
        f'memref.global "private" @ends : memref<{rows}xi32> = '
        f'dense<"0x{ends.tobytes().hex().upper()}">',
        f'memref.global "private" @best : memref<{rows}x{k}xi32> = dense<-9>',
        f"func.func @g(%v: {logits}, %e: memref<{rows}xi32>, %i: memref<{rows}x{k}xi32>) {{",
        f"pa.topk values(%v : {logits}) row_ends(%e : memref<{rows}xi32>) "
        f"outs(%i : memref<{rows}x{k}xi32>) {{config = {config}}} return }}",
        "func.func private @printMemrefI32(memref<*xi32>)", before,
        f"%ends = memref.get_global @ends : memref<{rows}xi32>",
        f"%best = memref.get_global @best : memref<{rows}x{k}xi32>",
        f"%any_ends = memref.cast %ends : memref<{rows}xi32> to memref<*xi32>",
        f"%any_best = memref.cast %best : memref<{rows}x{k}xi32> to memref<*xi32>",
        "gpu.host_register %any_ends : memref<*xi32>",
        "gpu.host_register %any_best : memref<*xi32>",
        f"call @g(%arg_outs, %ends, %best) : ({logits}, memref<{rows}xi32>, "
        f"memref<{rows}x{k}xi32>) -> ()",
        "call @printMemrefI32(%any_best) : (memref<*xi32>) -> ()", "return", "}"])
    got = run_module(chain, chip, tmp_path).reshape(rows, k).astype(np.int32)
    indices, _ = reference.topk(problem.expected.astype(np.float32), k, row_ends=ends)
    for row in range(rows):
        # Logits in f32 may order two columns of nearly the same value otherwise.
        found = got[row, got[row] >= 0]
        assert found.size == min(k, ends[row]) and (np.diff(found) > 0).all()
        assert (found < ends[row]).all()
        if found.size:
            want = np.sort(problem.expected[row, indices[row, :found.size]])
            np.testing.assert_allclose(
                np.sort(problem.expected[row, found]), want, rtol=0,
                atol=2 * TOLERANCE * np.abs(problem.expected[row, :ends[row]]).max())
