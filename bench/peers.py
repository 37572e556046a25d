"""Figures of other kernels, by chip and kernel of this bench; less is better.

Logits: AITER's Gluon kernel at e4048607, compiled with Triton 3.6 with AITER's own
options; cycles by the rules of HotLoop.h, executed instructions and bytes of the
short problem of counted.py in an emulator. Top-k: AITER's HIP radix kernel compiled
with clang 22, the passes over the row only. GEMM: the best of AITER's hand-tuned
code objects and of Triton 3.6 with AITER's configurations, hot loop.
"""


def _logits(most, total, instructions=None, vector=None, bytes_per_token=None) -> dict:
    found = {"max_per_1024": most, "sum_per_1024": total,
             "short_instructions_per_logit": instructions, "short_vector_per_logit": vector,
             "short_bytes_per_token": bytes_per_token}
    return {name: value for name, value in found.items() if value is not None}


def _gemm(vector, lds) -> dict:
    return {"vector_per_matrix": vector, "lds_per_matrix": lds}


def _topk(instructions) -> dict:
    return {"random_instructions_per_element": instructions, "random_reads_per_element": 4.0}


FIGURES = {
    ("gfx942", "logits h64 n1 page 64 tiled"): _logits(270, 526, 7.84, 4.49, 192),
    ("gfx942", "logits h64 n4 page 64 tiled"): _logits(270, 526, 7.84, 4.49, 768),
    ("gfx942", "logits h128 n1 page 64 tiled"): _logits(256, 487, 12.28, 7.58, 232),
    ("gfx950", "logits h64 n1 page 64 tiled"): _logits(270, 526, 7.72, 4.48, 192),
    ("gfx950", "logits h64 n4 page 64 tiled"): _logits(270, 526, 7.72, 4.48, 768),
    ("gfx950", "logits h64 n1 page 16 tiled"): _logits(274, 530, 7.84, 4.52, 200),
    ("gfx950", "logits h64 n1 page 1 linear"): _logits(283, 539),
    ("gfx950", "logits h128 n1 page 64 tiled"): _logits(256, 487, 12.18, 7.56, 232),
    ("gfx1250", "logits h64 n1 page 16 tiled"): {"vector_per_matrix": 19.3},
    ("gfx1250", "logits h64 n1 page 64 tiled"): {"vector_per_matrix": 16.1},
    ("gfx1250", "logits h64 n1 page 256 tiled"): {"vector_per_matrix": 25.6},
    ("gfx942", "topk k2048"): _topk(32.5),
    ("gfx950", "topk k2048"): _topk(32.5),
    ("gfx1250", "topk k2048"): _topk(36.7),
    ("gfx942", "gemm a8w8 f32_1x128 f32_128x128 rows 4096"): _gemm(0.75, 0.25),
    ("gfx950", "gemm a4w4 e8m0_1x32 e8m0_1x32 rows 4096"): _gemm(0.0, 0.16),
    ("gfx950", "gemm a8w4 e8m0_1x32 e8m0_1x32 rows 4096"): _gemm(0.61, 1.11),
    ("gfx950", "gemm a8w8 e8m0_1x32 e8m0_1x32 rows 4096"): _gemm(0.77, 1.34),
    ("gfx950", "gemm a8w8 f32_1x128 f32_128x128 rows 4096"): _gemm(3.50, 1.38),
    ("gfx950", "gemm a8w8 e8m0_1x32 e8m0_1x32 rows 16"): _gemm(3.88, 4.75),
    ("gfx950", "gemm a8w4 e8m0_1x32 e8m0_1x32 rows 16"): _gemm(1.81, 3.12),
    ("gfx1250", "gemm a8w4 e8m0_1x32 e8m0_1x32 rows 4096"): _gemm(2.23, 1.09),
    ("gfx1250", "gemm a8w4 e8m0_1x32 e8m0_1x32 rows 16"): _gemm(13.4, 4.6),
    ("gfx1250", "gemm a8w8 f32_1x128 f32_128x128 rows 4096"): _gemm(6.5, 1.50),
}
