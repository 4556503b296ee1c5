"""Sparse points: the bits of dense ones, matrices of all formats and types, and errors in words."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

import kith

DENSE_TOO = ["euclidean", "sqeuclidean", "cosine", "inner_product", "manhattan"]


def points(rng, rows, dims=60, density=0.1, dtype=np.float32):
    X = rng.standard_normal((rows, dims)) * (rng.random((rows, dims)) < density)
    X[~X.any(axis=1), 0] = 1
    return scipy.sparse.csr_matrix(X.astype(dtype))


def assert_same(a, b):
    for mine, want in zip(a, b):
        np.testing.assert_array_equal(mine, want)
        assert mine.dtype == want.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", DENSE_TOO)
def test_the_bits_of_dense_points(rng, metric, dtype):
    base, queries = points(rng, 500, dtype=dtype), points(rng, 30, dtype=dtype)
    dense = kith.Index(base.toarray(), metric=metric, backend="cpu", method="brute")
    index = kith.Index(base, metric=metric)
    want = dense.search(queries.toarray(), 7)
    assert_same(kith.search(base, queries, 7, metric=metric), want)
    assert_same(index.search(queries, 7), want)
    assert_same(index.search(queries.toarray(), 7), want)
    assert_same(index.search_self(7), dense.search_self(7))
    radius = float(np.sort(want.distances[:, 3])[15])
    assert_same(index.search_radius(queries, radius), dense.search_radius(queries.toarray(), radius))
    assert_same(kith.search_radius(base, queries, radius, metric=metric), dense.search_radius(queries.toarray(), radius))
    assert_same(index.search_radius(None, radius), dense.search_radius(None, radius))
    counted = index.search_radius(queries, radius, count_only=True)
    assert (counted.offsets == index.search_radius(queries, radius).offsets).all() and not len(counted.indices)
    for how in ("none", "union", "mutual"):
        a, b = index.graph(4, symmetrize=how), dense.graph(4, symmetrize=how)
        assert_same((a.data, a.indices, a.indptr), (b.data, b.indices, b.indptr))
    assert set(kith.graph(base, 3, metric=metric, mode="connectivity").data) == {1}


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_beside_scikit_learn(rng, metric):
    base, queries = points(rng, 800, 200, 0.05, np.float64), points(rng, 50, 200, 0.05, np.float64)
    want = NearestNeighbors(n_neighbors=9, algorithm="brute", metric=metric).fit(base).kneighbors(queries)
    found = kith.search(base, queries, 9, metric=metric)
    np.testing.assert_allclose(found.distances, want[0], atol=1e-7)
    assert (found.indices == want[1]).mean() > 0.97  # it may order equal distances otherwise


def test_jaccard_is_of_sets(rng):
    base, queries = points(rng, 300, 30), points(rng, 20, 30)
    found = kith.search(base, queries, 300, metric="jaccard")
    truth = pairwise_distances(queries.toarray() != 0, base.toarray() != 0, metric="jaccard")
    np.testing.assert_allclose(found.distances, np.take_along_axis(truth, found.indices, 1), rtol=1e-6)
    np.testing.assert_allclose(found.distances, np.sort(truth, axis=1), rtol=1e-6)
    empty = scipy.sparse.csr_matrix((2, 5), dtype=np.float32)
    assert kith.search(empty, empty, 2, metric="jaccard").distances.tolist() == [[0, 0], [0, 0]]


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("name", FORMATS)
def test_formats(rng, name, kind):
    base = points(rng, 50)
    given = base.asformat(name) if kind == "matrix" else scipy.sparse.csr_array(base).asformat(name)
    assert_same(kith.search(given, given, 3), kith.search(base, base, 3))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64, np.float64])
def test_types(rng, dtype):
    base = points(rng, 60)
    base.data[:] = rng.integers(1, 5, len(base.data))
    given = base.astype(dtype)
    found = kith.search(given, given, 4)
    want = np.float64 if np.dtype(dtype).itemsize >= 4 else np.float32
    assert found.distances.dtype == want
    assert_same(found, kith.search(given.toarray().astype(want), given.toarray().astype(want), 4))


def test_wide_unsorted_and_repeated_columns(rng):
    base = points(rng, 40, dtype=np.float64)
    want = kith.search(base, base, 5)
    wide = base.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same(kith.search(wide, wide, 5), want)
    halves = scipy.sparse.csr_matrix(
        (np.repeat(base.data / 2, 2), np.repeat(base.indices, 2), base.indptr * 2), shape=base.shape
    )
    backwards = scipy.sparse.csr_matrix(base.shape)
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(halves.indptr[:-1], halves.indptr[1:])])
    backwards = scipy.sparse.csr_matrix((halves.data[order], halves.indices[order], halves.indptr), shape=base.shape)
    for given in (halves, backwards):
        assert_same(kith.search(given, given, 5), want)
        assert given.nnz == 2 * base.nnz  # nothing of the caller's was changed


def test_queries_take_the_type_of_the_base(rng):
    base = points(rng, 40)
    asked = points(rng, 5, dtype=np.float64)
    assert_same(kith.search(base, asked, 3), kith.search(base, asked.astype(np.float32), 3))
    assert_same(kith.search(base, asked.toarray(), 3), kith.search(base, asked, 3))
    assert_same(kith.search(base, asked.toarray().tolist(), 3), kith.search(base, asked, 3))
    assert kith.search(base, asked[:0], 3).indices.shape == (0, 3)
    assert len(kith.search_radius(base, asked[:0], 1.0).counts) == 0
    asked.data[0] = 1e300
    with pytest.raises(ValueError, match="queries hold 1e[+]300.*float32"):
        kith.search(base, asked, 3)


def test_an_index_of_them(rng):
    base = points(rng, 100)
    index = kith.Index(base, metric="cosine", threads=2, memory="4MB")
    assert repr(index) == "Index(100 sparse points of 60 dimensions, float32, cosine)"
    assert isinstance(index, kith.Index) and index.shape == (100, 60) and len(index) == 100 and index.base is base
    assert index.dtype == np.float32 and index.metric == "cosine"
    again = pickle.loads(pickle.dumps(index))
    found = index.search(base, 5)
    assert_same(again.search(base, 5), found)
    report = found.report
    assert report.threads <= 2 and 0 < report.workspace <= report.budget == 4_000_000
    assert report.seconds > 0 and report.finalists >= 500 and report.base_parts == 1
    small = kith.Index(points(rng, 3000), memory=120_000).search_self(3)
    assert small.report.base_parts > 1
    assert kith.Index(base, metric="minkowski", p=1).metric == "manhattan"
    assert kith.Index(base, metric="minkowski", p=2).metric == "euclidean"
    near = kith.search(base, base, 9, max_distance=0.5)
    assert_same(near, kith.search(base.toarray(), base.toarray(), 9, max_distance=0.5))


def test_progress_and_interrupts(rng):
    base, seen = points(rng, 2000), []
    kith.search(base, base, 3, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (2000 * 2000, 2000 * 2000)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kith.search(base, base, 3, progress=stop)


def changed(matrix, **parts):
    other = matrix.copy()
    for name, value in parts.items():
        setattr(other, name, value)
    return other


def test_errors(rng):
    base = points(rng, 20)
    dense = base.toarray()
    cases = [
        (ValueError, "metric of sparse points 'chebyshev'.*euclidean.*toarray", lambda: kith.Index(base, metric="chebyshev")),
        (ValueError, "'minkowski'", lambda: kith.Index(base, metric="minkowski", p=3)),
        (ValueError, "p is for metric minkowski", lambda: kith.Index(base, p=2)),
        (ValueError, "method is for dense points", lambda: kith.Index(base, method="tree")),
        (ValueError, "tuning is for dense points", lambda: kith.Index(base, tuning={"shifts": 2})),
        (ValueError, "period is for dense points", lambda: kith.Index(base, period=[1] * 60)),
        (ValueError, "backend cuda for sparse points", lambda: kith.Index(base, backend="cuda")),
        (ValueError, "k = 21 but the number of base points is 20", lambda: kith.search(base, base, 21)),
        (ValueError, "k = 20 but the number of other points is 19", lambda: kith.Index(base).search_self(20)),
        (ValueError, "60 dimensions but the queries have 59", lambda: kith.search(base, base[:, :59], 1)),
        (ValueError, "row 0, column [0-9]+ is nan", lambda: kith.search(changed(base, data=base.data * np.nan), base, 1)),
        (ValueError, "length zero", lambda: kith.search(base * 0, base, 1, metric="cosine")),
        (TypeError, "complex", lambda: kith.search(base.astype(complex), base, 1)),
        (TypeError, "sparse matrix", lambda: kith.search(dense, base, 1)),
        (TypeError, "sparse matrix", lambda: kith.distances(base, base)),
        (TypeError, "reductions", lambda: kith.Index(base).reduce(base, 1)),
        (TypeError, "plans", lambda: kith.Index(base).explain(1, 1)),
        (MemoryError, "memory budget", lambda: kith.search(base, base, 1, memory=10)),
        (ValueError, "max_distance of one search", lambda: kith.Index(base).search(base, 1, max_distance=1)),
        (ValueError, "beyond 2\\*\\*53", lambda: kith.Index(scipy.sparse.csr_matrix([[2**60 + 1]]))),
        (ValueError, "column 60 at position 0", lambda: kith.Index(changed(base, indices=base.indices * 0 + 60))),
        (ValueError, "indptr", lambda: kith.Index(changed(base, indptr=base.indptr[::-1].copy()))),
    ]  # fmt: skip
    for error, words, call in cases:
        with pytest.raises(error, match=words):
            call()
