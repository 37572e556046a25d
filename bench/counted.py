"""What runs of fixed small problems execute and move, by the emulator's counters.

Logits: two sequences, of 4096 and 2048 tokens in five shares each, as the peers'
figures were counted, and of 65536 and 32768 tokens in ten shares in all; the first
shows what a workgroup costs before its loop, the second the loop. Top-k: one row
of 131072 columns. GEMM: two experts with rows, K 1024; 16 rows each and N 512, with
the tiles of the compiled kernel; or 512 rows each and N 1024, as two compute units
do it, with the tiles of many rows.
"""

import numpy as np

DIM, PAGE_EXTRA = 128, 4


def _logits(pa, chip: str, heads: int, page: int, layout: str, queries: int, contexts, **tuning):
    rng = np.random.default_rng(7)
    counts = [-(-c // page) for c in contexts]
    pages, batch = sum(counts), len(contexts)
    memory = rng.integers(0, 0x70, (pages, page * (DIM + PAGE_EXTRA)), dtype=np.uint8)
    step = memory.shape[1]
    keys = np.lib.stride_tricks.as_strided(memory, (pages, page, DIM), (step, DIM, 1))
    scales = np.ones((pages, page), np.float32)
    table = np.zeros((batch, max(counts)), np.int32)
    order, first = rng.permutation(pages), 0
    for row, count in enumerate(counts):
        table[row, :count] = order[first:first + count]
        first += count
    result = pa.paged_logits(
        rng.integers(0, 0x70, (batch, queries, heads, DIM), dtype=np.uint8), keys, scales,
        rng.standard_normal((batch * queries, heads)).astype(np.float32), table,
        np.array(contexts, np.int32), out=np.empty((batch * queries, max(contexts)), np.float32),
        layout=layout, chip=chip, device="emulator", **tuning)
    stats, tokens = result.stats, sum(contexts)
    by_class = stats["by_class"]
    stores = sum(n for name, n in stats["by_mnemonic"].items()
                 if name.startswith(("buffer_store", "global_store")))
    lanes = 32 if chip == "gfx1250" else 64
    return {"instructions_per_logit": stats["instructions"] / tokens / queries,
            "vector_per_logit": by_class["vector-alu"] / tokens / queries,
            "bytes_per_token": stats["bytes_loaded"]["global"] / tokens,
            "lds_conflicts_per_logit": stats["lds_bank_conflicts"] / tokens / queries,
            "idle_store_lanes": 1 - stats["bytes_stored"]["global"] / (4 * lanes * stores)}


def logits(pa, chip, heads, page, layout, queries) -> dict:
    short = _logits(pa, chip, heads, page, layout, queries, (4096, 2048),
                    schedule="even", num_workers=5)
    long = _logits(pa, chip, heads, page, layout, queries, (65536, 32768), num_workers=10)
    return {"short_" + k: round(v, 3) for k, v in short.items()} | {
        k: round(v, 3) for k, v in long.items()}


def topk_values(data: str, columns: int) -> np.ndarray:
    rng = np.random.default_rng(11)
    if data == "narrow":
        return (1 + rng.random((1, columns)) / 64).astype(np.float32)
    if data == "equal":
        return np.full((1, columns), 0.5, np.float32)
    if data == "ascending":
        return np.arange(columns, dtype=np.float32)[None]
    return rng.standard_normal((1, columns)).astype(np.float32)


def topk(pa, chip, k, wave_size, columns=131072) -> dict:
    found = {}
    for data in ("random", "narrow", "equal", "ascending"):
        stats = pa.topk(topk_values(data, columns), np.array([columns], np.int32), k, chip=chip,
                        device="emulator", splits=1).stats
        found[f"{data}_instructions_per_element"] = round(
            stats["instructions"] * wave_size / columns, 3)
        found[f"{data}_lds_conflicts_per_element"] = round(
            stats["lds_bank_conflicts"] / columns, 4)
        found[f"{data}_reads_per_element"] = round(
            stats["bytes_loaded"]["global"] / 4 / columns, 3)
    return found


def _gemm(pa, chip, formats, scales, offsets, n, k, **tuning):
    """Statistics of a run, and the bytes of the weights of one expert."""
    rng = np.random.default_rng(5)
    rows, experts = offsets[-1], len(offsets) - 1
    shapes = {"a": (rows, k), "b": (experts, n, k)}
    operands = {}
    for side, shape in shapes.items():
        is_fp4 = formats == "a4w4" or (formats == "a8w4" and side == "b")
        lead, width = shape[:-1], shape[-1]
        if formats == "bf16":
            bits = rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16
            operands[side] = bits.astype(np.uint16)
        else:
            operands[side] = rng.integers(0, 0x70, (*lead, width // 2 if is_fp4 else width),
                                          dtype=np.uint8)
    expert_bytes = operands["b"][0].nbytes
    if scales == "e8m0_1x32":
        operands |= {"a_scale": np.full((rows, k // 32), 120, np.uint8),
                     "b_scale": np.full((experts, n, k // 32), 120, np.uint8)}
    elif scales == "f32_128x128":
        operands |= {"a_scale": np.ones((rows, k // 128), np.float32),
                     "b_scale": np.ones((experts, n // 128, k // 128), np.float32)}
    stats = pa.grouped_gemm(operands.pop("a"), operands.pop("b"), np.array(offsets, np.int32),
                            formats=formats, scales=scales, chip=chip, device="emulator",
                            **operands, **tuning).stats
    return stats, expert_bytes


FEW_ROWS = {"tile_m": 16, "tile_n": 32, "waves_m": 1, "waves_n": 1, "waves_k": 4, "stages": 0}


def gemm(pa, chip, formats, scales, is_large, k=1024) -> dict:
    n = 1024 if is_large else 512
    # Few rows with an expert between that has none.
    offsets = (0, 512, 1024) if is_large else (0, 16, 16, 32)
    tuning = {"num_cus": 2} if is_large else FEW_ROWS
    stats, expert_bytes = _gemm(pa, chip, formats, scales, offsets, n, k, **tuning)
    outputs = offsets[-1] * n
    found = {"instructions_per_output": round(stats["instructions"] / outputs, 4),
             "bytes_per_output": round(stats["bytes_loaded"]["global"] / outputs, 3),
             "lds_bytes_per_output": round((stats["bytes_loaded"]["lds"] +
                                            stats["bytes_stored"]["lds"]) / outputs, 3),
             "lds_conflicts_per_output": round(stats["lds_bank_conflicts"] / outputs, 4)}
    if is_large:
        return found

    def reads(stats):
        return round(stats["by_buffer"]["b"]["bytes_loaded"] / (2 * expert_bytes), 3)

    # How often the weights of the experts with rows are read; also with the tiles that
    # one row gets.
    one_row, _ = _gemm(pa, chip, formats, scales, (0, 1, 1, 2), n, k)
    return found | {"weight_reads": reads(stats), "weight_reads_of_one_row": reads(one_row)}
