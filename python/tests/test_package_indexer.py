"""pagedattn.indexer: the same bits as pagedattn.paged_logits and a top-k of its
logits, and arguments that break a rule."""

import numpy as np
import pytest

import pagedattn
from pagedattn import formats, reference


def problem(lens, queries=2, heads=16, dim=64, page=16):
    rng = np.random.default_rng(3)
    batch, used = len(lens), [-(-n // page) for n in lens]
    pages, width = sum(used) + 2, max(used) + 1
    table = np.zeros((batch, width), np.int32)
    order, first = rng.permutation(pages), 0
    for b, count in enumerate(used):
        table[b, :count] = order[first:first + count]
        first += count
    q = formats.encode(rng.standard_normal((batch, queries, heads, dim)), "e4m3fn")
    keys = formats.encode(rng.standard_normal((pages, page, dim)), "e4m3fn")
    scales = rng.uniform(0.25, 1.25, (pages, page)).astype(np.float32)
    weights = rng.standard_normal((batch * queries, heads)).astype(np.float32)
    return q, keys, scales, weights, table, np.array(lens, np.int32)


@pytest.mark.parametrize("order", ("by_index", "by_value"))
def test_same_bits_as_the_two_ops(order):
    args, lens = problem((300, 5, 0)), (300, 5, 0)
    logits = np.empty((6, 300), np.float32)
    with pagedattn.using(chip="gfx950"):
        pagedattn.paged_logits(*args, out=logits, fill="neg_inf")
        result = pagedattn.indexer(*args, 20, order=order, return_values=True)
    assert result.reports == []
    want = reference.topk(logits, 20, row_ends=reference.row_ends(lens, 2), order=order)
    for found, expected in zip(result.out, want):
        np.testing.assert_array_equal(found, expected)


def test_tuning_and_given_outputs():
    args = problem((700, 90))
    out = np.full((4, 8), -7, np.int32)
    with pagedattn.using(chip="gfx950"):
        first = pagedattn.indexer(*args, 8).out
        result = pagedattn.indexer(*args, 8, out=out, splits=3, waves=2, candidates=1000)
    assert result.out is out
    np.testing.assert_array_equal(out, first)
    assert [k["op"] for k in result.compiled.manifest["kernels"]] == ["pa.indexer"] * 2


@pytest.mark.parametrize("change, message", (
    (dict(k=0), "k: must be an integer in range"),
    (dict(k=4097), "k: must be an integer in range"),
    (dict(order="best"), "order: must be a known one"),
    (dict(out=np.empty((3, 8), np.int32)), r"out: must have shape \[B \* N, k\]"),
    (dict(out=np.empty((4, 8), np.int64)), "out: has the wrong type"),
    (dict(out=np.empty((4, 8), np.int32), return_values=True), "out: must be a pair"),
))
def test_arguments(change, message):
    args = problem((40, 9))
    keywords = {"k": 8, **change}
    with pytest.raises(pagedattn.ArgumentError, match=message):
        pagedattn.indexer(*args, chip="gfx950", **keywords)
