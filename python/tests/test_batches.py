"""search_batches() against one search for each batch: packed and padded points, and every way to tell the batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kith


def one_by_one(base, lengths, queries, query_lengths, k, **options):
    """Rows of the whole base, by a search for each batch; missing neighbors are -1, at an infinite distance."""
    rows = len(queries)
    found = np.full((rows, k), np.inf, np.float64 if base.dtype == np.float64 else np.float32), np.full((rows, k), -1)
    first = first_query = 0
    for count, asked in zip(lengths, query_lengths):
        if count and asked:
            points, mine = base[first : first + count], slice(first_query, first_query + asked)
            near = kith.search(points, queries[mine], min(k, count), **options)
            found[0][mine, : near.distances.shape[1]] = near.distances
            found[1][mine, : near.indices.shape[1]] = near.indices + first
        first, first_query = first + count, first_query + asked
    return found


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def batch_of(lengths):
    return np.repeat(np.arange(len(lengths)), lengths)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), min_size=1, max_size=12),
    st.integers(1, 35),
    st.sampled_from([np.float32, np.float64, np.uint8]),
)
def test_packed(counts, k, dtype):
    lengths, query_lengths = np.array(counts).T
    rng = np.random.default_rng(3)
    base = (10 * rng.random((lengths.sum(), 3))).astype(dtype)
    queries = (10 * rng.random((query_lengths.sum(), 3))).astype(dtype)
    want = one_by_one(base, lengths, queries, query_lengths, k)
    for ways in (
        dict(lengths=lengths, query_lengths=query_lengths),
        dict(offsets=offsets_of(lengths), query_offsets=offsets_of(query_lengths)),
        dict(batch=batch_of(lengths), query_batch=batch_of(query_lengths)),
        dict(lengths=list(map(int, lengths)), query_offsets=offsets_of(query_lengths).astype(np.int32)),
    ):
        found = kith.search_batches(base, queries, k, **ways)
        np.testing.assert_array_equal(found.indices, want[1])
        np.testing.assert_array_equal(found.distances, want[0])
        assert found.indices.dtype == np.int64


def test_self_leaves_each_point_out(rng):
    lengths = [5, 0, 1, 40, 3]
    base = rng.random((49, 3), dtype=np.float32)
    found = kith.search_batches(base, None, 4, lengths=lengths)
    for first, count in zip(offsets_of(lengths), lengths):
        for row in range(first, first + count):
            near = np.linalg.norm(base[first : first + count] - base[row], axis=1)
            near[row - first] = np.inf
            want = first + np.argsort(near, kind="stable")[: min(4, count - 1)]
            assert found.indices[row].tolist() == want.tolist() + [-1] * (4 - len(want))


@pytest.mark.parametrize(
    "metric, missing",
    [("euclidean", np.inf), ("cosine", np.inf), ("inner_product", -np.inf), ("Inner product", -np.inf)],
)
def test_padded(rng, metric, missing):
    lengths, query_lengths = [4, 7, 0, 2], [3, 5, 1, 0]
    base, queries = np.full((4, 7, 3), np.nan), np.zeros((4, 5, 3))  # what padding holds does not matter
    for b in range(4):
        base[b, : lengths[b]] = rng.standard_normal((lengths[b], 3))
        queries[b, : query_lengths[b]] = rng.standard_normal((query_lengths[b], 3))
    found = kith.search_batches(base, queries, 3, lengths=lengths, query_lengths=query_lengths, metric=metric)
    assert found.indices.shape == found.distances.shape == (4, 5, 3)
    for b in range(4):
        near = min(3, lengths[b])
        if near and query_lengths[b]:
            want = kith.search(base[b, : lengths[b]], queries[b, : query_lengths[b]], near, metric=metric)
            np.testing.assert_array_equal(found.indices[b, : query_lengths[b], :near], want.indices)
            np.testing.assert_array_equal(found.distances[b, : query_lengths[b], :near], want.distances)
        assert (found.indices[b, : query_lengths[b], near:] == -1).all()
        assert (found.indices[b, query_lengths[b] :] == -1).all()
    assert (found.distances[found.indices == -1] == missing).all()


def test_padded_without_lengths(rng):
    clouds = rng.random((6, 20, 2))
    found = kith.search_batches(clouds, None, 5)
    for b, cloud in enumerate(clouds):
        np.testing.assert_array_equal(found.indices[b], kith.Index(cloud).search_self(5).indices)


def test_a_batch_vector_may_end_early(rng):
    base, queries = rng.random((5, 2)), rng.random((4, 2))
    found = kith.search_batches(base, queries, 1, batch=[0, 0, 2, 2, 2], query_batch=[0, 1, 2, 4])
    assert found.indices[:, 0].tolist()[1::2] == [-1, -1]
    assert (found.indices[::2] >= 0).all()


def test_limits_are_those_of_each_batch(rng):
    lengths, k = [40, 3, 200], 5
    base = rng.random((243, 3))
    for limits in (dict(max_distance=0.2), dict(period=[1, 0, 1]), dict(max_distance=0.2, period=[1, 0, 1])):
        found = kith.search_batches(base, base, k, lengths=lengths, query_lengths=lengths, **limits)
        want = one_by_one(base, lengths, base, lengths, k, **limits)
        np.testing.assert_array_equal(found.distances, want[0])
        np.testing.assert_array_equal(found.indices, np.where(np.isinf(want[0]), -1, want[1]))
    near = kith.search_batches(base, base, k, lengths=lengths, query_lengths=lengths, epsilon=0.5, method="tree")
    exact = one_by_one(base, lengths, base, lengths, k)[0]
    assert (near.distances[np.isfinite(exact)] <= 1.5 * exact[np.isfinite(exact)]).all()


def test_no_queries(rng):
    found = kith.search_batches(rng.random((5, 2)), np.empty((0, 2)), 3, lengths=[5], query_lengths=[0])
    assert found.indices.shape == (0, 3)


def test_report_and_progress(rng):
    seen = []
    base = rng.random((3000, 3), dtype=np.float32)
    found = kith.search_batches(
        base, None, 3, lengths=[30] * 100, threads=1, progress=lambda done, total: seen.append((done, total))
    )
    assert found.report.plan.method == "brute"
    assert seen[-1] == (100 * 30 * 30,) * 2  # the end is always told


@pytest.mark.parametrize(
    "ways, message",
    [
        (dict(), "one of offsets, lengths and batch must tell the batches of the base; none given"),
        (dict(lengths=[4], batch=[0] * 4), "offsets, lengths and batch"),
        (dict(lengths=[3]), "lengths is of 3 rows; base has 4"),
        (dict(lengths=[5, -1]), r"lengths\[1\] = -1"),
        (dict(lengths=[[4]]), "2 dimensions"),
        (dict(batch=[0, 1, 0, 1]), r"batch\[2\] = 0; it must ascend"),
        (dict(batch=[-1, 0, 0, 0]), r"batch\[0\] = -1"),
        (dict(offsets=[0, 3]), "offsets of the base end with 3 but it has 4 rows"),
        (dict(offsets=[0, 3, 2, 4]), "fall from 3 to 2"),
        (dict(offsets=[]), "offsets of the base are empty"),
        (dict(lengths=[4], query_lengths=[4]), "queries are None"),
    ],
)
def test_bad_batches(ways, message):
    with pytest.raises(ValueError, match=message):
        kith.search_batches(np.zeros((4, 2)), None, 1, **ways)


def test_bad_arguments(rng):
    base = rng.random((4, 2))
    with pytest.raises(ValueError, match="certify"):
        kith.search_batches(base, None, 1, lengths=[4], method="shifted-sort", tuning={"certify": True})
    with pytest.raises(ValueError, match="k = 0"):
        kith.search_batches(base, None, 0, lengths=[4])
    with pytest.raises(TypeError, match="lengths has dtype float64"):
        kith.search_batches(base, None, 1, lengths=[4.0])
    with pytest.raises(ValueError, match="both"):
        kith.search_batches(base[None], base, 1, query_lengths=[4])
    with pytest.raises(ValueError, match=r"lengths\[0\] = 5; at most 4"):
        kith.search_batches(base[None], None, 1, lengths=[5])
    with pytest.raises(ValueError, match="2 numbers; base has 1 batches"):
        kith.search_batches(base[None], None, 1, lengths=[4, 4])
    with pytest.raises(ValueError, match="1 batches of the base but of 2"):
        kith.search_batches(base, base, 1, lengths=[4], query_lengths=[2, 2])
    with pytest.raises(ValueError, match="lengths alone"):
        kith.search_batches(base[None], None, 1, offsets=[0, 4])
