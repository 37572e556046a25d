"""The references on cases small enough to work out by hand."""

import numpy as np
import pytest

from pagedattn import formats, reference

ONE = int(formats.encode([1.0], "e4m3fn")[0])
NAN = np.float32(np.nan)


def logits(**changes):
    """Two tokens on two pages of one token, one head of two elements."""
    arguments = dict(
        q=formats.encode([[[[1.0, 2.0]]]], "e4m3fn"),
        keys=formats.encode([[[1.0, 1.0]], [[-1.0, 0.0]], [[0.5, 4.0]]], "e4m3fn"),
        key_scales=np.array([[2.0], [8.0], [0.5]], np.float32),
        weights=np.array([[3.0]], np.float32),
        block_table=np.array([[2, 0, 1]], np.int32),
        context_lens=np.array([3], np.int32),
        logits=np.full((1, 5), 7.0),
    )
    arguments.update(changes)
    return reference.paged_logits(**arguments).tolist()


def test_logits_by_hand():
    # Page 2: 0.5 * 3 * (0.5 + 8); page 0: 2 * 3 * (1 + 2); page 1: below 0.
    assert logits() == [[12.75, 18.0, 0.0, 7.0, 7.0]]


def test_logits_row_ends_and_fill():
    inf = float("inf")
    assert logits(fill="neg_inf") == [[12.75, 18.0, 0.0, -inf, -inf]]
    assert logits(row_ends=[1]) == [[12.75, 7.0, 7.0, 7.0, 7.0]]
    assert logits(row_ends=[9], fill="neg_inf")[0][2:] == [0.0, -inf, -inf]
    assert logits(context_lens=[0]) == [[7.0] * 5]
    assert logits(logits=np.full((1, 2), 7.0)) == [[12.75, 18.0]]


def test_logits_never_read_the_table_beyond_the_context():
    table = np.array([[2, 0, -1]], np.int32)
    assert logits(context_lens=[2], block_table=table)[0] == [12.75, 18.0, 7, 7, 7]


def test_logits_rows_of_several_queries():
    got = reference.paged_logits(
        q=np.full((2, 3, 1, 16), ONE, np.uint8),
        keys=np.full((1, 8, 16), ONE, np.uint8),
        key_scales=np.ones((1, 8), np.float32),
        weights=np.arange(6).reshape(6, 1).astype(np.float32),
        block_table=np.zeros((2, 1), np.int32),
        context_lens=[2, 4],
        logits=np.zeros((6, 5)),
        layout="tiled",
    )
    written = [0, 1, 2, 2, 3, 4]
    assert [np.count_nonzero(row) for row in got] == [0, 1, 2, 2, 3, 4]
    for row, count in enumerate(written):
        assert got[row, :count].tolist() == [16.0 * row] * count
    assert reference.row_ends([2, 4], 3).tolist() == written
    assert reference.row_ends([2, 4], 3, limit=2).tolist() == [0, 1, 2, 2, 2, 2]


def test_logits_mxfp4_scales_apply_inside_the_product():
    q = formats.pack_fp4(np.full((1, 1, 1, 64), 2))
    keys = formats.pack_fp4(np.full((1, 1, 64), 2))
    got = reference.paged_logits(
        q,
        keys,
        np.array([[[254, 126]]], np.uint8),
        np.ones((1, 1), np.float32),
        np.zeros((1, 1), np.int32),
        [1],
        np.zeros((1, 1)),
        query_scales=np.array([[[[0, 127]]]], np.uint8),
        fmt="mxfp4",
    )
    assert got.tolist() == [[32.0 + 16.0]]


def test_topk_order_is_total():
    values = np.array([[0.0, -0.0, NAN, -np.inf, 1.0, -NAN, 1.0, np.inf]], np.float32)
    best, _ = reference.topk(values, 8, order="by_value")
    assert best.tolist() == [[7, 4, 6, 0, 1, 3, 2, 5]]
    best, chosen = reference.topk(values, 3)
    assert best.tolist() == [[4, 6, 7]] and chosen.tolist() == [[1.0, 1.0, np.inf]]


def test_topk_short_and_empty_rows():
    values = np.tile(np.arange(6, dtype=np.float32), (4, 1))
    best, chosen = reference.topk(
        values, 3, row_starts=[0, 4, 5, -3], row_ends=[2, 99, 5, -1], order="by_value"
    )
    assert best.tolist() == [[1, 0, -1], [5, 4, -1], [-1] * 3, [-1] * 3]
    assert chosen[1].tolist() == [5.0, 4.0, -np.inf]


def test_gemm_by_hand():
    a = formats.encode([[1.0] * 32, [2.0] * 32], "e4m3fn")
    b = formats.encode([[[0.5] * 32, [-1.0] * 32]], "e4m3fn")
    out, touched = reference.grouped_gemm(
        a,
        b,
        2,
        "a8w8",
        a_scales=np.array([[128], [0]], np.uint8),
        a_scale="e8m0_1x32",
        b_scales=np.array([[[127], [254]]], np.uint8),
        b_scale="e8m0_1x32",
        bias=np.array([[1.0, 0.0]], np.float32),
        row_weights=np.array([1.0, 10.0], np.float32),
    )
    assert touched.all()
    assert out.tolist() == [[33.0, -64.0 * 2.0**127], [10 + 320 * 2.0**-127, -640.0]]


def test_gemm_groups_and_rows():
    a = np.array([[1, 2], [3, 4]], np.float16).view(np.uint16)
    b = np.array([[[1, 0]], [[0, 1]], [[1, 1]]], np.float16).view(np.uint16)
    out, touched = reference.grouped_gemm(
        a, b, 6, "f16", offsets=[-1, 2, 2, 4], row_ids=[1, 0, 0, 2, 0, 0]
    )
    # The second group is empty; row 3 asks for a row that a does not have.
    assert touched.tolist() == [True, True, True, False, False, False]
    assert out[:, 0].tolist() == [3.0, 1.0, 3.0, 0.0, 0.0, 0.0]


def test_activations_by_hand():
    product = np.array([[0.0, 3.0, 2.0, -9.0]])
    silu = reference.Activation("silu", limit=1.0)(product)
    assert silu[0, 0] == 0.0
    assert silu[0, 1] == pytest.approx(1 / (1 + np.exp(-1)) * -1.0)
    swiglu = reference.Activation("swiglu")(product)
    assert swiglu[0, 1] == pytest.approx(2 / (1 + np.exp(-3.404)) * -6.0)
    situ = reference.Activation("situv2", beta=4.0, linear_beta=25.0)(product)
    expected = 4 * np.tanh(0.5) / (1 + np.exp(-2)) * 25 * np.tanh(-9 / 25)
    assert situ[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: logits(q=np.zeros((1, 2), np.uint8)), "q must have rank 4, found 2"),
        (lambda: logits(layout="shuffled"), "unknown layout 'shuffled'"),
        (lambda: logits(fill="zero"), "unknown fill 'zero'"),
        (lambda: logits(fmt="e5m2"), "unknown format 'e5m2'"),
        (lambda: logits(fmt="mxfp4"), "query_scales belong to mxfp4"),
        (lambda: logits(weights=np.ones((1, 2))), r"weights must be \(1, 1\), found"),
        (lambda: reference.topk(np.zeros(3, np.float32), 1), "rank 2, found 1"),
        (lambda: reference.topk(np.zeros((1, 3)), 1), "must be f32, found float64"),
        (lambda: reference.topk(np.zeros((1, 3), np.float32), 0), "found 0"),
        (lambda: reference.Activation("relu"), "unknown activation 'relu'"),
        (
            lambda: reference.grouped_gemm(
                np.zeros((1, 2), np.uint8), np.zeros((1, 1, 3), np.uint8), 1, "a8w8"
            ),
            "K of a must be 3, found 2",
        ),
        (
            lambda: reference.grouped_gemm(
                np.zeros((1, 2), np.uint8), np.zeros((2, 1, 2), np.uint8), 1, "a8w8"
            ),
            "one group, found 2",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
