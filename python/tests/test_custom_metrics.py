"""Metrics that are computed by their definition, beside SciPy's and scikit-learn's; formulas and functions of one's own."""

import ctypes
import math
import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances, nan_euclidean_distances

import kith

SHAPES = [(1, 1, 1), (40, 7, 2), (300, 20, 5), (65, 33, 40)]


def points(rng, rows, dims, low=-1.0, high=1.0, dtype=np.float64):
    return (low + (high - low) * rng.random((rows, dims))).astype(dtype)


def check(base, queries, wanted, k=None, rtol=1e-12, **options):
    """The values of cdist, and the k nearest by them."""
    found = kith.distances(queries, base, **options)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-300)
    k = min(10, len(base)) if k is None else k
    near = kith.search(base, queries, k, **options)
    order = np.argsort(found, axis=1, kind="stable")[:, :k]
    assert near.indices.tolist() == order.tolist()
    np.testing.assert_array_equal(near.distances, np.take_along_axis(found, order, axis=1))
    radius = float(np.nanmedian(found))
    within = kith.search_radius(base, queries, radius, **options)
    assert within.counts.tolist() == (found <= radius).sum(axis=1).tolist()


@pytest.mark.parametrize("rows, count, dims", SHAPES)
def test_braycurtis(rng, rows, count, dims):
    base, queries = points(rng, rows, dims), points(rng, count, dims)
    check(base, queries, cdist(queries, base, "braycurtis"), metric="braycurtis")


@pytest.mark.parametrize("rows, count, dims", SHAPES)
def test_jensenshannon(rng, rows, count, dims):
    base, queries = points(rng, rows, dims, 0), points(rng, count, dims, 0)
    base[:, -1] = 0 if dims > 1 else 1
    found = kith.distances(queries, base, metric="jensenshannon")
    # Its terms cancel: roundings of 1e-16 are those of the square, SciPy's too, which may be below 0 there.
    wanted = np.nan_to_num(cdist(queries, base, "jensenshannon"))
    np.testing.assert_allclose(found**2, wanted**2, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rows, count, dims", SHAPES)
@pytest.mark.parametrize("metric", ["jaccard", "dice", "russellrao"])
def test_booleans(rng, metric, rows, count, dims):
    base, queries = rng.random((rows, dims)) < 0.6, rng.random((count, dims)) < 0.6
    base[:, 0], queries[:, 0] = True, True  # pairs without any are told apart below
    wanted = cdist(queries, base, metric)
    # bool is uint8 here, whose distances are float32.
    check(base, queries, wanted.astype(np.float32), metric=metric, rtol=1e-7)
    check(base * 2.5, queries * -3.0, wanted, metric=metric)


def test_empty_pairs_are_those_of_scipy():
    zeros = np.zeros((1, 3))
    for metric in ["jaccard", "dice", "russellrao"]:
        with np.errstate(all="ignore"):
            wanted = cdist(zeros.astype(bool), zeros.astype(bool), metric)
        np.testing.assert_array_equal(kith.distances(zeros, zeros, metric=metric), wanted)
    with np.errstate(all="ignore"):
        wanted = cdist(zeros, zeros, "braycurtis")
    np.testing.assert_array_equal(kith.distances(zeros, zeros, metric="braycurtis"), wanted)


@pytest.mark.parametrize("rows, count, dims", SHAPES)
def test_parameters(rng, rows, count, dims):
    base, queries = points(rng, rows, dims), points(rng, count, dims)
    weights, variances = rng.random(dims) + 0.1, rng.random(dims) + 0.1
    root = rng.random((dims, dims))
    inverse = root @ root.T + np.eye(dims)
    check(base, queries, cdist(queries, base, "seuclidean", V=variances), metric="seuclidean", V=variances)
    check(base, queries, cdist(queries, base, "mahalanobis", VI=inverse), metric="mahalanobis", VI=inverse)
    for p in [1, 1.5, 2, 3.7, math.inf]:
        wanted = cdist(queries, base, "minkowski", p=p, w=weights)
        check(base, queries, wanted, metric="minkowski", p=p, w=weights)


def test_matrices_that_are_not_symmetric(rng):
    base, queries = points(rng, 30, 4), points(rng, 5, 4)
    inverse = rng.random((4, 4)) * 0.1 + 3 * np.eye(4)
    check(base, queries, cdist(queries, base, "mahalanobis", VI=inverse), metric="mahalanobis", VI=inverse)


def test_haversine(rng):
    base = points(rng, 500, 2) * [np.pi / 2, np.pi]
    queries = points(rng, 30, 2) * [np.pi / 2, np.pi]
    check(base, queries, haversine_distances(queries, base), metric="haversine")
    poles = np.array([[np.pi / 2, 0.0]])
    assert kith.distances(poles, -poles, metric="haversine")[0, 0] == pytest.approx(np.pi)


def test_nan_euclidean(rng):
    base, queries = points(rng, 200, 6), points(rng, 20, 6)
    base[rng.random(base.shape) < 0.3] = np.nan
    queries[rng.random(queries.shape) < 0.3] = np.nan
    base[3] = np.nan
    found = kith.distances(queries, base, metric="nan_euclidean")
    squares = (queries[:, None] - base) ** 2
    with np.errstate(all="ignore"):
        wanted = np.sqrt(np.nansum(squares, axis=2) / (~np.isnan(squares)).sum(axis=2) * 6)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    # scikit-learn takes squares from products, in which digits of small distances are lost.
    np.testing.assert_allclose(found**2, nan_euclidean_distances(queries, base) ** 2, rtol=1e-12, atol=1e-13)
    near = kith.search(base, queries, 200, metric="nan_euclidean")
    assert (near.indices[:, -1] == 3).any() and np.isnan(near.distances[:, -1]).all()
    with pytest.raises(ValueError, match="finite or NaN"):
        kith.search(base, [[np.inf] * 6], 1, metric="nan_euclidean")


def test_zero_vectors():
    base, queries = [[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]]
    assert kith.distances(queries, base, metric="cosine", zero_vectors="one").tolist() == [[1, 1], [1, 1]]
    assert kith.distances(queries, base, metric="cosine", zero_vectors="zero").tolist() == [[0, 0], [0, 1]]
    for options in [{}, {"zero_vectors": "error"}]:
        with pytest.raises(ValueError, match="length zero"):
            kith.distances(queries, base, metric="cosine", **options)


@pytest.mark.parametrize("policy, distance", [("zero", 0.0), ("one", 1.0)])
def test_zero_vectors_among_many(rng, policy, distance):
    base, queries = rng.standard_normal((4000, 6)), rng.standard_normal((300, 6))
    base[[11, 3000]] = 0
    queries[4] = 0
    found = kith.search(base, queries, 7, metric="cosine", zero_vectors=policy)
    all_distances = kith.distances(queries, base, metric="cosine", zero_vectors=policy)
    order = np.argsort(all_distances, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.distances, np.take_along_axis(all_distances, order, axis=1))
    assert (found.distances[4] == distance).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_haversine_among_many(rng, dtype):
    base = np.column_stack([np.arcsin(rng.uniform(-1, 1, 5000)), rng.uniform(-np.pi, np.pi, 5000)]).astype(dtype)
    queries = base[:200]
    found = kith.search(base, queries, 4, metric="haversine")
    all_distances = kith.distances(queries, base, metric="haversine")
    order = np.argsort(all_distances, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.distances, np.take_along_axis(all_distances, order, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8, np.int8, np.int64, bool])
def test_types(rng, dtype):
    base = (rng.random((60, 5)) * 20 + 1).astype(dtype)
    wanted = cdist(base[:9].astype(np.float64), base.astype(np.float64), "braycurtis")
    found = kith.distances(base[:9], base, metric="braycurtis")
    assert found.dtype == (np.float64 if dtype in (np.float64, np.int64) else np.float32)
    np.testing.assert_allclose(found, wanted, rtol=1e-12 if found.dtype == np.float64 else 2e-7)


def test_formulas(rng):
    base, queries = points(rng, 300, 7), points(rng, 20, 7)
    wanted = (np.abs(queries[:, None] - base) / (1 + np.abs(queries[:, None]))).sum(axis=2)
    text = "sum(abs(x - y) / (1 + abs(x)))"
    for metric in [text, kith.Expression(text), kith.Expression(text, recognize=False, fuse=False)]:
        check(base, queries, wanted, metric=metric)
    check(base, queries, cdist(queries, base, "cityblock"), metric="sum(abs(x - y))")
    check(base, queries, cdist(queries, base, "cityblock"), metric=kith.Expression("sum(abs(x - y))", recognize=False))
    report = kith.search(base, queries, 2, metric="sqrt(sum((x - y)^2))").report
    assert "euclidean" in str(report.plan)
    assert kith.search(base, queries, 2, metric="max(abs(x - y))", method="tree").report.plan.method == "tree"
    assert kith.search(base, queries, 2, metric="minkowski(3)").report.plan.method == "brute"
    assert repr(kith.Expression(text)) == f"<Expression {text}>"


def test_formulas_that_are_none():
    for text, mentions in [
        ("sum(abs(x - ))", "position 13.*found '\\)'"),
        ("abs(x - y)", "x is a coordinate"),
        ("nothing(x)", "found 'nothing'"),
        ("(" * 500 + "1", "levels of nesting"),
    ]:
        with pytest.raises(ValueError, match=mentions):
            kith.search([[1.0]], [[1.0]], 1, metric=text)
    with pytest.raises(ValueError, match="unknown metric 'braycurti'"):
        kith.search([[1.0]], [[1.0]], 1, metric="braycurti")
    for metric in [None, 3]:
        with pytest.raises(TypeError, match="metric must be a name"):
            kith.search([[1.0]], [[1.0]], 1, metric=metric)
    with pytest.raises(ValueError, match="unknown metric ''"):
        kith.search([[1.0]], [[1.0]], 1, metric="")


def weighted_sum(x, y, n, context):
    total = 0.0
    for c in range(n):
        total += abs(x[c] - y[c]) * (c + 1)
    return total


def expect_weighted_sum(metric, rng, **options):
    base, queries = points(rng, 90, 4), points(rng, 6, 4)
    wanted = (np.abs(queries[:, None] - base) * np.arange(1, 5)).sum(axis=2)
    check(base, queries, wanted, metric=metric, **options)


def test_numba_functions(rng):
    numba = pytest.importorskip("numba")
    made = numba.cfunc("float64(CPointer(float64), CPointer(float64), int64, voidptr)")(weighted_sum)
    expect_weighted_sum(kith.c_metric(made), rng)
    expect_weighted_sum(kith.c_metric(made.address), rng, threads=3)


def test_ctypes_functions(rng):
    pointer = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(ctypes.c_double, pointer, pointer, ctypes.c_int64, ctypes.c_void_p)
    expect_weighted_sum(kith.c_metric(kind(weighted_sum)), rng)
    expect_weighted_sum(kith.c_metric(kind(weighted_sum), threads=1), rng, threads=2)
    scale = ctypes.c_double(3)
    scaled = kind(lambda x, y, n, context: abs(x[0] - y[0]) * ctypes.cast(context, pointer)[0])
    metric = kith.c_metric(scaled, context=ctypes.addressof(scale))
    assert kith.distances([[1.0]], [[3.0]], metric=metric).tolist() == [[6.0]]
    for wrong in ["abs", 1.5, None, len]:
        with pytest.raises(TypeError, match="cfunc of Numba"):
            kith.c_metric(wrong)
    with pytest.raises(ValueError, match="null pointer"):
        kith.c_metric(0)


def test_python_functions(rng):
    base, queries = points(rng, 70, 3), points(rng, 9, 3)
    check(base, queries, cdist(queries, base, "canberra"), metric=lambda x, y: np.sum(np.abs(x - y) / (np.abs(x) + np.abs(y))))
    kept = []
    kith.search(base, queries, 1, metric=lambda x, y: kept.append((x, y)) or 0)
    assert sorted({tuple(x) for x, _ in kept}) == sorted(map(tuple, queries))
    assert sorted({tuple(y) for _, y in kept}) == sorted(map(tuple, base))
    # On the thread that calls, whatever the number of threads.
    threads = set()
    kith.search(base, queries, 1, metric=lambda x, y: threads.add(threading.get_ident()) or 0, threads=4)
    assert threads == {threading.get_ident()}


def test_exceptions_of_python_functions():
    class OwnError(Exception):
        pass

    def raises(x, y):
        raise OwnError("no distance")

    with pytest.raises(OwnError, match="no distance"):
        kith.search([[1.0], [2.0]], [[1.0]], 1, metric=raises)
    with pytest.raises(TypeError):
        kith.search([[1.0], [2.0]], [[1.0]], 1, metric=lambda x, y: "far")
    with pytest.raises(TypeError):
        kith.search([[1.0], [2.0]], [[1.0]], 1, metric=lambda x: 1.0)
    # Another search is none the worse.
    assert kith.search([[1.0], [2.0]], [[2.0]], 1, metric=lambda x, y: abs(x[0] - y[0])).indices.tolist() == [[1]]


def test_searches_inside_a_metric():
    def by_search(x, y):
        return kith.search([[0.0], [1.0]], [[float(x[0] == y[0])]], 1).indices[0, 0]

    assert kith.distances([[1.0]], [[1.0], [2.0]], metric=by_search).tolist() == [[1, 0]]


def test_an_index(rng):
    base, queries = points(rng, 200, 5, 0.1), points(rng, 9, 5, 0.1)
    index = kith.CustomIndex(base, "braycurtis")
    for _ in range(2):
        found = index.search(queries, 4)
        assert found.indices.tolist() == kith.search(base, queries, 4, metric="braycurtis").indices.tolist()
    distances = cdist(base, base, "braycurtis")
    np.fill_diagonal(distances, np.inf)
    near = index.search_self(3)
    assert near.indices.tolist() == np.argsort(distances, axis=1, kind="stable")[:, :3].tolist()
    assert index.search_radius(None, 0.2).counts.tolist() == (distances <= 0.2).sum(axis=1).tolist()
    assert index.search_radius(queries, 0.2, count_only=True).indices.size == 0
    with pytest.raises(ValueError, match="kith.Index"):
        kith.CustomIndex(base, "euclidean")
    with pytest.raises(ValueError, match="kith.Index"):
        kith.CustomIndex(base, "sum(abs(x - y))")


def test_options(rng):
    base, queries = points(rng, 100, 3, 0.1), points(rng, 5, 3, 0.1)
    found = kith.search(base, queries, 100, metric="braycurtis", max_distance=0.1)
    all_of = kith.search(base, queries, 100, metric="braycurtis")
    assert (found.indices >= 0).tolist() == (all_of.distances <= 0.1).tolist()
    calls = []
    kith.search(base, queries, 1, metric="braycurtis", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (500, 500)
    assert kith.search(base, np.empty((0, 3)), 2, metric="braycurtis").indices.shape == (0, 2)
    for options, mentions in [
        ({"backend": "cuda"}, "backend cuda"),
        ({"method": "tree"}, "brute force"),
        ({"distance": "gemm"}, "gemm"),
        ({"epsilon": 0.5}, "epsilon"),
        ({"period": [1, 1, 1]}, "periodic"),
        ({"w": [1, 2, 3]}, "takes no weights"),
        ({"p": 3}, "takes no p"),
        ({"zero_vectors": "one"}, "takes no zero_vectors"),
    ]:
        with pytest.raises(ValueError, match=mentions):
            kith.search(base, queries, 1, metric="braycurtis", **options)
    with pytest.raises(ValueError, match="k = 101"):
        kith.search(base, queries, 101, metric="braycurtis")
    with pytest.raises(ValueError, match="V has shape"):
        kith.search(base, queries, 1, metric="seuclidean", V=[[1, 2, 3]])
    with pytest.raises(ValueError, match="VI has shape"):
        kith.search(base, queries, 1, metric="mahalanobis", VI=[1, 2, 3])
    with pytest.raises(ValueError, match="2 variances for points of 3"):
        kith.search(base, queries, 1, metric="seuclidean", V=[1, 2])
    with pytest.raises(ValueError, match="unknown metric 'euclidean'"):
        kith.search(base, queries, 1, metric="euclidean", w=[1, 2, 3])
    with pytest.raises(ValueError, match="metrics by name"):
        kith.search(base, queries, 1, metric=lambda x, y: 0, p=2)
    with pytest.raises(ValueError, match="unknown zero_vectors 'two'"):
        kith.search(base, queries, 1, metric="cosine", zero_vectors="two")
