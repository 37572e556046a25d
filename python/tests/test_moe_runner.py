"""examples/moe_two_stage.mlir under the stock mlir-runner with the emulator's
runtime: the shipped text with smaller sizes, against the float64 reference."""

import json
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest

import kernel_harness
from pagedattn import formats, reference
from test_runner import HOST_PASSES, LIB, LLVM_BIN

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "moe_two_stage.mlir"
CHIPS = ("gfx942", "gfx950", "gfx1250")
TYPE = re.compile(r"memref<([^<>]*)>")
PARAMETER = re.compile(r"%(\w+): (memref<[^<>]*>)")
OUTPUTS = ("inner", "inner_scales", "rows", "out")
# What outputs hold before, as bytes.
UNTOUCHED = 0x5A


@dataclass(frozen=True)
class Sizes:
    experts: int
    hidden: int
    inner: int
    top_k: int

    def extents(self) -> tuple:
        """The extents of the operands' types, in an order that sizes share."""
        return (self.experts, self.experts + 1, self.hidden, self.hidden // 2,
                self.hidden // 32, 2 * self.inner, self.inner, self.inner // 2,
                self.inner // 32, self.top_k)


SHIPPED = Sizes(experts=256, hidden=4096, inner=640, top_k=6)
SMALL = Sizes(experts=5, hidden=256, inner=640, top_k=3)
TOKENS = 21


def scaled_down(text: str, sizes: Sizes) -> str:
    """The example with other extents in its types."""
    assert len(set(SHIPPED.extents())) == len(SHIPPED.extents())
    extents = dict(zip(map(str, SHIPPED.extents()), map(str, sizes.extents())))

    def shrink(match):
        *shape, element = match.group(1).split("x")
        return f"memref<{'x'.join([extents.get(n, n) for n in shape] + [element])}>"

    for extent in extents:
        assert re.search(rf"[<x]{extent}x", text), f"the example has no {extent}"
    return TYPE.sub(shrink, text)


def route(rng, sizes: Sizes, tokens: int) -> dict:
    """What a router hands over: expert 1 has no token, one route of every seven is
    dropped, and three rows at the end are spare."""
    choices = [e for e in range(sizes.experts) if e != 1]
    experts = np.array([rng.permutation(choices)[: sizes.top_k] for _ in range(tokens)])
    dropped = np.arange(tokens * sizes.top_k).reshape(experts.shape) % 7 == 3
    kept = [(experts[t, j], t, j) for t, j in np.argwhere(~dropped)]
    kept.sort()
    rows = len(kept) + 3
    slots = np.full(experts.shape, -1, np.int32)
    row_ids = np.full(rows, -1, np.int32)
    for row, (_, t, j) in enumerate(kept):
        slots[t, j], row_ids[row] = row, t
    counts = np.bincount([e for e, _, _ in kept], minlength=sizes.experts)
    return {
        "offsets": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "row_ids": row_ids,
        "row_weights": rng.uniform(0.1, 0.9, rows).astype(np.float32),
        "slots": slots,
    }


def make_operands(sizes: Sizes, tokens: int) -> dict:
    rng = np.random.default_rng(7)
    experts, hidden, inner = sizes.experts, sizes.hidden, sizes.inner
    codes, scales = formats.quantize_mx(0.5 * rng.standard_normal((tokens, hidden)), "e4m3fn")

    def weights(n, k):
        values = rng.standard_normal((experts, n, k)) / np.sqrt(k)
        packed, exponents = formats.quantize_mx(values, "e2m1")
        return formats.pack_fp4(packed), exponents

    gate_up, gate_up_scales = weights(2 * inner, hidden)
    down, down_scales = weights(hidden, inner)
    routed = route(rng, sizes, tokens)
    rows = len(routed["row_ids"])

    def untouched(shape, dtype):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.full(size, UNTOUCHED, np.uint8).view(dtype).reshape(shape)

    return {
        "tokens": codes, "token_scales": scales,
        "gate_up": gate_up, "gate_up_scales": gate_up_scales,
        "down": down, "down_scales": down_scales, **routed,
        "inner": untouched((rows, inner), np.uint8),
        "inner_scales": untouched((rows, inner // 32), np.uint8),
        "rows": untouched((rows, hidden), np.uint16),
        "out": untouched((tokens, hidden), np.uint16),
    }


def host_module(text: str, operands: dict) -> str:
    """The example with a main that makes every operand from a constant, calls it
    and prints the words of the outputs."""
    head, body = text.split("module attributes {gpu.container_module} {", 1)
    globals_, calls, types, prints = [], [], [], []
    signature = body.split("{", 1)[0]
    assert [n for n, _ in PARAMETER.findall(signature)] == list(operands)
    for name, type_ in PARAMETER.findall(signature):
        array = operands[name]
        flat = f"memref<{array.nbytes}xi8>"
        element = TYPE.match(type_).group(1).split("x")[-1]
        known = f"memref<{'x'.join(map(str, array.shape))}x{element}>"
        globals_.append(f'memref.global "private" @{name} : {flat} = '
                        f'dense<"0x{array.tobytes().hex().upper()}"> {{alignment = 64}}')
        calls += [
            f"%flat_{name} = memref.get_global @{name} : {flat}",
            f"%any_{name} = memref.cast %flat_{name} : {flat} to memref<*xi8>",
            f"gpu.host_register %any_{name} : memref<*xi8>",
            f"%known_{name} = memref.view %flat_{name}[%c0][] : {flat} to {known}",
            f"%{name} = memref.cast %known_{name} : {known} to {type_}"
            if known != type_ else
            f"%{name} = memref.view %flat_{name}[%c0][] : {flat} to {known}"]
        types.append(type_)
        if name in OUTPUTS:
            words = f"memref<{array.nbytes // 4}xi32>"
            prints += [
                f"%words_{name} = memref.view %flat_{name}[%c0][] : {flat} to {words}",
                f"%print_{name} = memref.cast %words_{name} : {words} to memref<*xi32>",
                f"call @printMemrefI32(%print_{name}) : (memref<*xi32>) -> ()"]
    arguments = ", ".join(f"%{name}" for name in operands)
    main = ["func.func private @printMemrefI32(memref<*xi32>)", "func.func @main() {",
            "%c0 = arith.constant 0 : index", *calls,
            f"call @moe({arguments}) : ({', '.join(types)}) -> ()", *prints, "return", "}"]
    return "\n".join([head, "module attributes {gpu.container_module} {", *globals_, *main,
                      body])


def run_example(text: str, operands: dict, chip: str, folder: pathlib.Path) -> tuple:
    """The outputs, and what each launch executed."""
    module, stats = folder / "host.mlir", folder / "stats.jsonl"
    module.write_text(host_module(text, operands))
    lowered = subprocess.run(
        [kernel_harness.BIN / "pa-opt", module, f"--pa-lower-to-binary=chip={chip}",
         *HOST_PASSES], capture_output=True)
    assert lowered.returncode == 0, lowered.stderr.decode()[:3000]
    done = subprocess.run(
        [LLVM_BIN / "mlir-runner", "-e", "main", "--entry-point-result=void",
         f"--shared-libs={LIB / 'libpagedattn_emu_runtime.so'}",
         f"--shared-libs={LLVM_BIN.parent / 'lib' / 'libmlir_runner_utils.so'}"],
        input=lowered.stdout, capture_output=True,
        env={**os.environ, "PAGEDATTN_EMU_STATS": str(stats)})
    assert done.returncode == 0, done.stderr.decode()[:3000]
    printed = done.stdout.decode().split("data =")[1:]
    assert len(printed) == len(OUTPUTS)
    outputs = {}
    for name, text in zip(OUTPUTS, printed):
        words = re.findall(r"-?\d+", text.split("]", 1)[0])
        like = operands[name]
        data = np.array(words, np.int64).astype(np.int32)
        outputs[name] = data.view(like.dtype).reshape(like.shape)
    return outputs, [json.loads(line) for line in stats.read_text().splitlines()]


def expected_inner(operands: dict) -> tuple:
    return reference.grouped_gemm(
        operands["tokens"], operands["gate_up"], len(operands["row_ids"]), "a8w4",
        a_scales=operands["token_scales"], a_scale="e8m0_1x32",
        b_scales=operands["gate_up_scales"], b_scale="e8m0_1x32",
        offsets=operands["offsets"], row_ids=operands["row_ids"],
        activation=reference.Activation("silu"))


def expected_rows(operands: dict, codes, scales) -> tuple:
    return reference.grouped_gemm(
        codes, operands["down"], len(codes), "a8w4", a_scales=scales, a_scale="e8m0_1x32",
        b_scales=operands["down_scales"], b_scale="e8m0_1x32",
        offsets=operands["offsets"], row_weights=operands["row_weights"])


def summed(operands: dict, rows, dtype):
    """The rows of each token one after another, in `dtype`."""
    total = np.zeros((len(operands["slots"]), rows.shape[1]), dtype)
    for slots in operands["slots"].T:
        kept = slots >= 0
        total[kept] += rows[slots[kept]].astype(dtype)
    return total


def logits_diff(x, y) -> float:
    return float(((x - y) ** 2).sum() / ((x**2).sum() + (y**2).sum()))


@pytest.mark.parametrize("chip", CHIPS)
def test_two_stages_and_the_weighted_sum(chip, tmp_path):
    operands = make_operands(SMALL, TOKENS)
    got, launches = run_example(scaled_down(EXAMPLE.read_text(), SMALL), operands, chip, tmp_path)

    # The first stage: codes and scales of the reference, but for values next to
    # the middle of two codes.
    inner, touched = expected_inner(operands)
    assert touched.tolist() == (operands["row_ids"] >= 0).tolist() and not touched.all()
    codes, scales = formats.quantize_mx(inner, "e4m3fn")
    for name, wanted in (("inner", codes), ("inner_scales", scales)):
        assert (got[name][touched] != wanted[touched]).mean() < 2e-3
        assert (got[name][~touched] == UNTOUCHED).all()

    # The second stage, from what the first one stored: sums in f32, one rounding.
    rows, _ = expected_rows(operands, got["inner"], got["inner_scales"])
    found = formats.decode_bf16(got["rows"])
    np.testing.assert_allclose(found[touched], rows[touched], rtol=2.0**-8,
                               atol=1e-5 * np.abs(rows[touched]).max())
    assert (got["rows"][~touched] == UNTOUCHED * 0x101).all()

    # The sum, from what the second one stored: bit by bit.
    np.testing.assert_array_equal(
        got["out"], formats.encode_bf16(summed(operands, found, np.float32)))

    # All of it.
    rows, _ = expected_rows(operands, codes, scales)
    want = summed(operands, rows, np.float64)
    difference = logits_diff(formats.decode_bf16(got["out"]), want)
    assert difference < 1e-5, "the criterion is 0.01"

    kept = int(touched.sum())
    assert len(launches) == 3
    for stage, launch, columns in zip(
            ("gemm1", "gemm2", "combine"), launches,
            (kept * SMALL.inner, kept * SMALL.hidden, TOKENS * SMALL.hidden)):
        moved = launch["bytes_loaded"].get("global", 0) + launch["bytes_stored"].get("global", 0)
        print(f"{chip} {stage}: {launch['instructions'] / columns:.3f} wave instructions and "
              f"{moved / columns:.2f} global bytes per output, {columns} outputs")


def test_the_sizes_that_are_shipped():
    """The substitution is one of extents alone: with those shipped it changes
    nothing; and the K of the second stage has a rest after tiles of 256."""
    text = EXAMPLE.read_text()
    assert scaled_down(text, SHIPPED) == text
    assert scaled_down(text, SMALL) != text
    assert SHIPPED.inner % 256 and SMALL.inner % 256
