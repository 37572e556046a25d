"""What one top-k kernel costs for each column of a long row, by the emulator's
counters: wave instructions per 64 or 32 columns and bytes loaded per column.

    PAGEDATTN_BUILD_DIR=build/release PYTHONPATH=python:python/tests \\
        python3 bench/topk_cost.py [k [columns]]
"""

import sys

import kernel_harness
from test_topk_kernel import CHIPS, Case, make, make_mlir


def main() -> None:
    k, columns = (int(x) for x in (sys.argv[1:] + ["2048", "131072"][len(sys.argv) - 1:]))
    print(f"k {k}, one row of {columns} columns")
    print("chip     data             instructions  bytes  VGPRs  SGPRs  spills (VGPR, SGPR)  LDS")
    for chip in CHIPS:
        for data in ("random_values", "narrow_range", "all_equal", "ascending"):
            case = Case(chip, k=k, lens=(columns,), data=data, row_slack=0,
                        config=(8, 8, k + 4096, 1))
            operands, _ = make(case)
            folder, kernels = kernel_harness.compile_kernels(make_mlir(case), chip)
            stats = kernel_harness.run_all(kernels, folder, operands).stats
            (kernel,) = kernels
            registers, spills = kernel["registers"], kernel["spills"]
            print(f"{chip:8} {data:16} "
                  f"{stats['instructions'] * kernel['wave_size'] / columns:12.2f}  "
                  f"{stats['bytes_loaded']['global'] / columns:5.2f}  {registers['vgprs']:5}  "
                  f"{registers['sgprs']:5}  {spills['vgprs']:12}, {spills['sgprs']:4}  "
                  f"{kernel['lds_bytes']:6}")


main()
