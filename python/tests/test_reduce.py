"""Reductions over neighbors, and normals, against NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kith

DTYPES = [np.float32, np.float64, np.uint8, np.int8]
OPS = ["mean", "weighted-mean", "sum", "min", "max", "kth-distance", "density", "covariance"]
BALLS = {
    "euclidean": lambda d: math.pi ** (d / 2) / math.gamma(d / 2 + 1),
    "manhattan": lambda d: 2**d / math.factorial(d),
    "chebyshev": lambda d: 2.0**d,
}


def reduced(base, found, values, op, metric="euclidean"):
    """The same from the lists of a search."""
    distances = np.asarray(found.distances, np.float64)
    near = np.asarray(values, np.float64)[found.indices]
    k, dims = distances.shape[1], base.shape[1]
    if op in ("mean", "sum", "min", "max"):
        return getattr(np, op)(near, axis=1)
    if op == "weighted-mean":
        zero = distances == 0
        with np.errstate(divide="ignore"):
            weights = np.where(zero.any(1, keepdims=True), zero, 1 / distances)
        weights = weights.reshape(weights.shape + (1,) * (near.ndim - 2))
        return (weights * near).sum(1) / weights.sum(1)
    if op == "kth-distance":
        return distances[:, -1]
    if op == "density":
        with np.errstate(divide="ignore"):
            return k / (BALLS[metric](dims) * distances[:, -1] ** dims)
    points = np.asarray(base, np.float64)[found.indices]
    points = points - points.mean(1, keepdims=True)
    covariances = np.einsum("qki,qkj->qij", points, points) / k
    return covariances[(slice(None), *np.triu_indices(dims))]


def make(rng, shape, dtype):
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 100, shape).astype(dtype)


def assert_near(got, want, dtype):
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    assert got.shape == want.shape
    assert got.dtype == (np.float64 if dtype == np.float64 else np.float32)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("method", ["auto", "shifted-sort"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_equals_numpy(rng, op, dtype, method):
    base, queries = make(rng, (400, 3), dtype), make(rng, (30, 3), dtype)
    queries[:5] = base[:5]
    values = rng.standard_normal((400, 2))
    found = kith.search(base, queries, 7, method=method)
    for each in (values, values[:, 0]):
        got = kith.reduce(base, queries, 7, each, op, method=method)
        rounded = each if dtype == np.float64 else each.astype(np.float32)
        assert_near(got, reduced(base, found, rounded, op), dtype)
        assert (got == kith.reduce(base, queries, 7, each, op.replace("-", "_"), method=method)).all()


@pytest.mark.parametrize("metric", list(BALLS))
def test_density(rng, metric):
    base = rng.random((500, 4))
    found = kith.search(base, base, 9, metric=metric)
    got = kith.reduce(base, base, 9, op="density", metric=metric)
    assert_near(got, reduced(base, found, base, "density", metric), np.float64)
    if metric == "euclidean":
        assert_near(kith.reduce(base, base, 9, op="density", metric="sqeuclidean"), got, np.float64)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 5), st.integers(1, 4), st.data())
def test_any_shape(rows, queries, dims, columns, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    k = data.draw(st.integers(1, rows))
    op = data.draw(st.sampled_from(OPS))
    dtype = data.draw(st.sampled_from(DTYPES))
    # Few values, so that many distances are equal, or 0.
    base = rng.integers(0, 4, (rows, dims)).astype(dtype)
    asked = rng.integers(0, 4, (queries, dims)).astype(dtype)
    values = rng.integers(-9, 9, (rows, columns))
    found = kith.search(base, asked, k, metric="manhattan")
    got = kith.reduce(base, asked, k, values, op, metric="manhattan")
    assert_near(got, reduced(base, found, values, op, "manhattan"), dtype)


def test_layouts_and_types_of_values(rng):
    base = rng.standard_normal((60, 3)).astype(np.float32)
    values = rng.integers(0, 100, (60, 4))
    want = kith.reduce(base, base, 5, values)
    for same in (
        np.asfortranarray(values),
        values[::-1].copy()[::-1],
        np.repeat(values, 2, axis=1)[:, ::2],
        values.astype(">f8"),
        values.astype(np.uint8),
        values.astype(np.float16),
        values.tolist(),
    ):
        assert (kith.reduce(base, base, 5, same) == want).all()
    shares = kith.reduce(base, base, 5, values > 50)
    assert shares.shape == (60, 4) and ((0 <= shares) & (shares <= 1)).all()


def test_refusals(rng):
    base = rng.standard_normal((10, 3))
    for arguments, keywords, message in (
        ((0, base), {}, "k = 0"),
        ((11, base), {}, "k = 11 but the number of base points is 10"),
        ((2,), {}, "'mean' needs values"),
        ((2, base, "median"), {}, "'median'.*weighted-mean.*covariance"),
        ((2, base[:9]), {}, "values has 9 rows; the 10 base points"),
        ((2, base[:, :0]), {}, "values is 10 × 0"),
        ((2, base[None]), {}, "values has 3 dimensions"),
        ((2, 1.0), {}, "values has 0 dimensions"),
        ((2, base, "weighted_mean"), {"metric": "dot"}, "negative"),
        ((2, base, "density"), {"metric": "cosine"}, "cosine"),
        ((2, base), {"tuning": {"rubbish": 1}}, "rubbish"),
        ((2, base), {"method": "shifted-sort", "tuning": {"shifts": 33}}, "33"),
    ):
        with pytest.raises(ValueError, match=message):
            kith.reduce(base, base, *arguments, **keywords)
    for values in (np.full(10, "a"), np.ones(10, complex), np.ma.ones(10)):
        with pytest.raises(TypeError, match="values"):
            kith.reduce(base, base, 2, values)
    with pytest.raises(TypeError):
        kith.reduce(base, base, 2.5, base)
    bad = base.copy()
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match="row 4"):
        kith.reduce(bad, base, 2, base)
    assert np.isnan(kith.reduce(base, base, 2, bad)[4, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [1, 2, 3, 6])
def test_normals(rng, dims, dtype):
    spread = np.einsum("nki,nkj->nij", *[rng.standard_normal((40, 12, dims))] * 2)
    covariances = spread[(slice(None), *np.triu_indices(dims))].astype(dtype)
    got = kith.normals(covariances, dims)
    assert got.dtype == dtype and got.shape == (40, dims)
    want = np.linalg.eigh(spread).eigenvectors[:, :, 0]
    tolerance = 1e-4 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(np.abs((got * want).sum(1)), 1, atol=tolerance)
    assert (got[:, 0] > 0).all()
    assert (kith.normals(np.asfortranarray(covariances), dims) == got).all()
    assert kith.normals(covariances[:0], dims).shape == (0, dims)


def test_normals_refuse():
    for covariances, dims, message in (
        (np.ones((2, 6)), 2, "6 columns; 2 dimensions have 3"),
        (np.ones((2, 6)), 0, "dims = 0"),
        (np.ones((2, 6)), 2**62, "6 columns"),
        (np.ones(6), 3, "1 dimension"),
        (np.array([[1, 0, 1], [1, np.nan, 1]]), 2, "row 1"),
    ):
        with pytest.raises(ValueError, match=message):
            kith.normals(covariances, dims)
