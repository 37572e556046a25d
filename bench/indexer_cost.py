"""What pa.indexer costs beside pa.paged_logits and pa.topk, by the emulator's
counters: bytes of global memory, wave instructions for each logit, and how often
candidates are dropped.

    PAGEDATTN_BUILD_DIR=build/release PYTHONPATH=python:python/tests \\
        python3 bench/indexer_cost.py [--chip CHIP] [sequences [queries [context [k [heads]]]]]
"""

import argparse

import numpy as np

import kernel_harness
import test_indexer_kernel as indexer
import test_logits_kernel as logits_kernel
from kernel_harness import Operand


def run_pair(case, problem):
    """Statistics of the logits kernel and of the top-k kernels."""
    folder, kernel = kernel_harness.compile_op(problem.mlir, case.chip)
    logits = kernel_harness.run(kernel, folder, problem.operands)
    rows, columns = problem.expected.shape
    k, n = case.k, case.scores.queries
    mlir = (f"func.func @f(%v: memref<?x?xf32, strided<[?, 1]>>, %c: memref<?xi32>, "
            f"%i: memref<?x{k}xi32>) {{ pa.topk values(%v : memref<?x?xf32, strided<[?, 1]>>) "
            f"context_lens(%c : memref<?xi32>) outs(%i : memref<?x{k}xi32>) "
            f"{{next_n = {n} : i64}} return }}")
    whole = problem.operands["logits"]
    operands = {"values": Operand(logits.outputs["logits"], whole.shape, whole.strides,
                                  whole.offset),
                "context_lens": problem.operands["context_lens"],
                "indices": Operand.of(np.zeros((rows, k), np.int32), is_output=True)}
    folder, kernels = kernel_harness.compile_kernels(mlir, case.chip)
    return logits.stats, kernel_harness.run_all(kernels, folder, operands).stats


def measure(case):
    """Loaded and stored bytes and instructions of the logits kernel, the top-k and
    the fused kernels, and the passes that select in LDS."""
    problem = logits_kernel.make(case.scores)
    logits, topk = run_pair(case, problem)
    _, _, fused, kernels = indexer.launch(case, problem)
    return logits, topk, fused, kernels


def numbers(stats):
    return (stats["bytes_loaded"].get("global", 0), stats["bytes_stored"].get("global", 0),
            stats["instructions"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chip", action="append")
    parser.add_argument("sizes", nargs="*", type=int)
    args = parser.parse_args()
    defaults = [64, 1, 16384, 2048, 64]
    batch, queries, context, k, heads = args.sizes + defaults[len(args.sizes):]
    print(f"{batch} sequences of {queries} rows, context {context}, k {k}, {heads} heads")
    print("chip     kernel      loaded       stored  wave instructions  for 64 logits")
    for chip in args.chip or indexer.CHIPS:
        case = indexer.case_of(chip, k=k, values=False, queries=queries, heads=heads,
                               lens=(context,) * batch)
        stats = measure(case)
        tiles = batch * queries * context / 64
        for name, part in zip(("logits", "topk", "indexer"), stats):
            loaded, stored, count = numbers(part)
            print(f"{chip:8} {name:8} {loaded:11} {stored:12} {count:18} {count / tiles:14.1f}")
        for kernel in stats[3]:
            print(f"         {kernel['symbol']}: {kernel['registers']}, {kernel['lds_bytes']} LDS")


if __name__ == "__main__":
    main()
