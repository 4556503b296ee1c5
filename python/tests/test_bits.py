"""Packed bits: answers beside NumPy's, layouts, options, messages."""

import pickle

import numpy as np
import pytest

import kith


def packed(rng, rows, bits, density=0.5):
    return np.packbits(rng.random((rows, bits)) < density, axis=1)


def all_distances(base, queries, bits, metric):
    """Float32 distances of all pairs, by the definition."""
    x = np.unpackbits(base, axis=1, count=bits).astype(np.int64)
    y = np.unpackbits(queries, axis=1, count=bits).astype(np.int64)
    both = y @ x.T
    in_x, in_y = x.sum(axis=1), y.sum(axis=1)
    if metric == "hamming":
        return ((in_y[:, None] + in_x - 2 * both) / bits).astype(np.float32)
    either = in_y[:, None] + in_x - both
    return np.where(either == 0, 0, 1 - both / np.maximum(either, 1)).astype(np.float32)


def assert_exact(found, base, queries, k, bits, metric):
    every = all_distances(base, queries, bits, metric)
    order = np.argsort(every, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.distances, np.take_along_axis(every, order, axis=1))
    assert found.distances.dtype == np.float32 and found.indices.dtype == np.int64


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
@pytest.mark.parametrize("bits", [1, 7, 8, 30, 64, 100, 1024])
def test_nearest(rng, metric, bits):
    base, queries = packed(rng, 400, bits, 0.3), packed(rng, 11, bits, 0.3)
    for k in (1, 9, 400):
        assert_exact(kith.search_bits(base, queries, k, bits, metric), base, queries, k, bits, metric)


def test_hamming_is_that_of_unpacked_rows(rng):
    base, queries = packed(rng, 900, 333), packed(rng, 20, 333)
    unpacked = [np.unpackbits(rows, axis=1, count=333) for rows in (base, queries)]
    want = kith.search(*unpacked, 17, metric="hamming")
    found = kith.search_bits(base, queries, 17, bits=333)
    np.testing.assert_array_equal(found.indices, want.indices)
    np.testing.assert_array_equal(found.distances, want.distances)


def test_empty_rows_are_alike():
    rows = np.zeros((3, 4), np.uint8)
    assert kith.search_bits(rows, rows[:1], 3, metric="tanimoto").distances.tolist() == [[0, 0, 0]]


def test_no_queries_have_no_neighbors():
    assert kith.search_bits(ROWS, ROWS[:0], 2).indices.shape == (0, 2)


def test_any_layout(rng):
    wide = packed(rng, 120, 256)
    for rows in (wide[::2], wide[:, 3:17], wide[::-1], wide[:, ::2], np.asfortranarray(wide)):
        bits = 8 * rows.shape[1]
        assert_exact(kith.search_bits(rows, rows[:5], 6, metric="jaccard"), rows, rows[:5], 6, bits, "jaccard")


def test_index(rng):
    base = packed(rng, 300, 44)
    index = kith.BitIndex(base, bits=44, metric="tanimoto", threads=1, max_distance=0.75)
    assert (len(index), index.bits, index.metric) == (300, 44, "jaccard") and index.points is base
    assert repr(index) == "BitIndex(300 rows of 44 bits, jaccard)"
    found = index.search(base[:7], 20)
    every = all_distances(base, base[:7], 44, "jaccard")
    assert ((found.indices == -1) == np.isinf(found.distances)).all()
    np.testing.assert_array_equal((found.indices >= 0).sum(axis=1), np.minimum((every <= 0.75).sum(axis=1), 20))
    again = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(again.search(base[:7], 20).indices, found.indices)
    plan = index.explain(7, 20)
    assert plan.metric == "jaccard" and plan.threads == 1 and plan.workspace <= plan.budget
    assert "300 rows × 44 packed bits" in str(plan) and found.report.plan.kernel == plan.kernel
    assert found.report.candidates > 0


def test_self_is_left_out_among_duplicates(rng):
    base = np.repeat(packed(rng, 20, 60), 5, axis=0)
    found = kith.BitIndex(base, 60).search_self(4)
    own = np.arange(100)[:, None]
    assert not (found.indices == own).any() and (found.distances == 0).all()
    assert (np.sort(found.indices // 5, axis=1) == own // 5).all()


def test_radius(rng):
    base, queries = packed(rng, 250, 70), packed(rng, 8, 70)
    every = all_distances(base, queries, 70, "hamming")
    index = kith.BitIndex(base, 70)
    for radius in (0.4, np.linspace(0.3, 0.6, 8, dtype=np.float32)):
        found = index.search_radius(queries, radius)
        within = every <= np.broadcast_to(np.float32(radius), 8)[:, None]
        assert found.counts.tolist() == within.sum(axis=1).tolist()
        for query, ids in enumerate(found.rows().indices):
            order = np.argsort(every[query], kind="stable")
            assert ids.tolist() == [i for i in order.tolist() if within[query, i]]
        assert index.search_radius(queries, radius, count_only=True).counts.tolist() == found.counts.tolist()
    around = index.search_radius(None, 0.4)
    assert not any(row in ids for row, ids in enumerate(around.rows().indices))
    assert index.search_radius(queries[:0], 0.4).offsets.tolist() == [0]


def test_progress_stops_a_search(rng):
    base = packed(rng, 200_000, 512)
    index = kith.BitIndex(base, threads=1)
    seen = []
    index.search(base[:64], 3, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (64 * 200_000,) * 2

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.search(base[:64], 3, progress=stop)


ROWS = np.zeros((5, 3), np.uint8)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: kith.search_bits(ROWS > 0, ROWS, 1), TypeError, "points has dtype bool; packed bits are uint8"),
        (lambda: kith.search_bits(ROWS, ROWS.astype(int), 1), TypeError, "queries has dtype int64"),
        (lambda: kith.search_bits(ROWS[0], ROWS, 1), ValueError, "points has 1 dimension"),
        (lambda: kith.search_bits(ROWS, ROWS[:, :2], 1), ValueError, "queries have rows of 2 bytes, the base of 3"),
        (lambda: kith.search_bits(ROWS, ROWS, 1, bits=25), ValueError, "bits = 25 but rows are of 3 bytes"),
        (lambda: kith.search_bits(ROWS, ROWS, 1, bits=16), ValueError, "which hold 17 to 24 bits"),
        (lambda: kith.search_bits(ROWS + 1, ROWS, 1, bits=23), ValueError, "base row 0 has a bit set past its 23 bits"),
        (lambda: kith.search_bits(ROWS, ROWS + 1, 1, bits=23), ValueError, "query 0 has a bit set past"),
        (lambda: kith.search_bits(ROWS, ROWS, 1, metric="dice"), ValueError, "known are hamming, jaccard, tanimoto"),
        (lambda: kith.search_bits(ROWS, ROWS, 6), ValueError, "k = 6 but the number of base rows is 5"),
        (lambda: kith.BitIndex(ROWS).search_self(5), ValueError, "the number of other rows is 4"),
        (lambda: kith.BitIndex(ROWS[:0]), ValueError, "base of 0 rows"),
        (lambda: kith.search_bits(ROWS, ROWS, 1, memory=10), MemoryError, "10 bytes is too small"),
        (lambda: kith.search_bits(ROWS, ROWS, 1, threads=-1), ValueError, "threads = -1"),
        (lambda: kith.BitIndex(ROWS).search_radius(ROWS, -1.0), ValueError, "radius = -1"),
    ],
)
def test_messages(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
