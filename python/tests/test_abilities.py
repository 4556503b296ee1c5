"""Every ability, of points of the host on each backend and of points on a device: the answers of the CPU, bit for bit.

Points on a device are those of the emulator; with a CUDA device also PyTorch's and CuPy's, where they are installed.
"""

import importlib.util
import pickle
from typing import Any, Callable, NamedTuple

import emulated_arrays
import numpy as np
import pytest

import kith

BACKENDS = kith.versions()["backends"]
OPS = ("mean", "weighted-mean", "sum", "min", "max", "kth-distance", "density", "covariance")


def same(array):
    return array


class Where(NamedTuple):
    """Where points lie, and what searches them."""

    backend: str
    put: Callable[[np.ndarray], Any] = same  # a host array there
    get: Callable[[Any], np.ndarray] = same  # and back


WHERE = {f"host-{name}": Where(name) for name in BACKENDS}
if "emulated" in BACKENDS:
    WHERE["device-emulated"] = Where("emulated", emulated_arrays.Array, lambda array: array.values)
if "cuda" in BACKENDS and importlib.util.find_spec("torch"):
    import torch

    WHERE["device-torch"] = Where(
        "auto", lambda array: torch.from_numpy(array).cuda(), lambda array: array.cpu().numpy()
    )
if "cuda" in BACKENDS and importlib.util.find_spec("cupy"):
    import cupy

    WHERE["device-cupy"] = Where("cuda", cupy.asarray, cupy.asnumpy)


@pytest.fixture(params=WHERE)
def where(request):
    return WHERE[request.param]


def make(rng, dtype):
    """A base and queries; some points are equal."""
    values = rng.standard_normal((250, 5)) if np.dtype(dtype).kind == "f" else rng.integers(1, 100, (250, 5))
    values[230:240] = values[:10] = values[10:20]
    return values[:230].astype(dtype), values[224:].astype(dtype)


@pytest.fixture(params=["float32", "float64", "uint8", "int8"])
def points(rng, request):
    return make(rng, request.param)


@pytest.fixture
def floats(rng):
    return make(rng, np.float32)


def assert_same(where, found, want):
    """Arrays that lie there, equal to NumPy's."""
    for one, other in zip(found, want) if isinstance(want, tuple) else [(found, want)]:
        assert type(one) is type(where.put(np.empty((1, 1))))
        one = where.get(one)
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)


def both(where, base, **keywords):
    """An index of points that lie there, and one of the CPU."""
    return kith.Index(where.put(base), backend=where.backend, **keywords), kith.Index(base, backend="cpu", **keywords)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "inner_product"])
def test_search(where, points, metric):
    base, queries = points
    index, other = both(where, base, metric=metric)
    for asked in (queries, queries[:0]):
        want = other.search(asked, 7)
        assert_same(where, index.search(where.put(asked), 7), want)
        found = kith.search(where.put(base), where.put(asked), 7, backend=where.backend, metric=metric)
        assert_same(where, found, want)


def test_search_self(where, points):
    index, other = both(where, points[0])
    assert_same(where, index.search_self(6), other.search_self(6))


@pytest.mark.parametrize("count_only", [False, True])
def test_search_radius(where, points, count_only):
    base, queries = points
    radius = 1.2 if base.dtype.kind == "f" else 40
    index, other = both(where, base)
    for asked, radii in ((queries, radius), (queries, np.linspace(0, radius, len(queries))), (queries[:0], radius)):
        want = other.search_radius(asked, radii, count_only=count_only)
        assert len(asked) == 0 or 0 <= want.counts.min() < want.counts.max()
        assert_same(where, index.search_radius(where.put(asked), radii, count_only=count_only), want)
        keywords = {"count_only": count_only, "backend": where.backend}
        assert_same(where, kith.search_radius(where.put(base), where.put(asked), radii, **keywords), want)
    want = other.search_radius(None, radius, count_only=count_only)
    assert_same(where, index.search_radius(None, radius, count_only=count_only), want)


def edges(where, graph):
    """Of a sparse matrix of any library, or a kith.Graph: its arrays, rows sorted by index as some have them."""
    torch_names = "crow_indices", "col_indices", "values"
    names = torch_names if hasattr(graph, torch_names[0]) else ("indptr", "indices", "data")
    parts = (getattr(graph, name) for name in names)
    parts = (part() if callable(part) else part for part in parts)
    indptr, indices, data = (part if isinstance(part, np.ndarray) else where.get(part) for part in parts)
    order = np.lexsort((indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
    return indptr.tolist(), indices[order].tolist(), data[order].tolist()


@pytest.mark.parametrize("symmetrize", ["none", "union", "mutual"])
def test_graph(where, points, symmetrize):
    index, other = both(where, points[0])
    want = edges(where, other.graph(4, symmetrize=symmetrize))
    found = index.graph(4, symmetrize=symmetrize)
    assert tuple(found.shape) == (230, 230) and edges(where, found) == want
    ones = kith.graph(where.put(points[0]), 4, symmetrize=symmetrize, mode="connectivity", backend=where.backend)
    assert edges(where, ones) == (*want[:2], [1.0] * len(want[1]))


@pytest.mark.parametrize("op", OPS)
def test_reduce(where, points, rng, op):
    base, queries = points
    values = rng.standard_normal((230, 3)).astype(np.float64 if base.dtype == np.float64 else np.float32)
    index, other = both(where, base)
    for numbers in (values, np.ascontiguousarray(values[:, 1])):
        want = other.reduce(queries, 7, numbers, op)
        assert_same(where, index.reduce(where.put(queries), 7, where.put(numbers), op), want)
    assert_same(where, index.reduce(where.put(queries[:0]), 7, numbers, op), want[:0])
    found = kith.reduce(where.put(base), where.put(queries), 7, numbers, op, backend=where.backend)
    assert_same(where, found, want)


@pytest.mark.parametrize("output", ["sorted", "unsorted", "values_only", "kth_only"])
def test_topk(where, points, output):
    matrix = np.ascontiguousarray(points[0].T)
    for largest in (False, True):
        found = kith.topk(where.put(matrix), 9, largest=largest, output=output, backend=where.backend)
        want = kith.topk(matrix, 9, largest=largest, output=output, backend="cpu")
        if output == "unsorted":
            assert (np.sort(where.get(found.indices), axis=1) == np.sort(want.indices, axis=1)).all()
        else:
            assert_same(where, found, want)


def test_distances(where, points):
    base, queries = points
    found = kith.distances(where.put(queries), where.put(base), backend=where.backend)
    assert_same(where, found, kith.distances(queries, base, backend="cpu"))


def test_explain(where, floats):
    index = both(where, floats[0])[0]
    plan = index.explain(where.put(floats[1]), 4)
    done = index.search(where.put(floats[1]), 4).report.plan
    assert (plan.backend, plan.method, plan.distance) == (done.backend, done.method, done.distance)
    assert plan.backend == kith.explain(where.put(floats[0]), 26, 4, backend=where.backend).backend


CALLS = {
    "search": lambda index, queries, **keywords: index.search(queries, 3, **keywords),
    "search_self": lambda index, queries, **keywords: index.search_self(3, **keywords),
    "search_radius": lambda index, queries, **keywords: index.search_radius(queries, 1.0, **keywords),
    "graph": lambda index, queries, **keywords: index.graph(3, **keywords),
    "reduce": lambda index, queries, **keywords: index.reduce(queries, 3, op="kth-distance", **keywords),
}


@pytest.mark.parametrize("name", CALLS)
def test_progress_and_cancel(where, floats, name):
    index = both(where, floats[0])[0]
    queries = where.put(floats[1])
    seen = []
    CALLS[name](index, queries, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] == seen[-1][1] > 0

    def refuse(done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        CALLS[name](index, queries, progress=refuse)
    assert_same(where, index.search(queries, 3), kith.search(*floats, 3, backend="cpu"))


def test_statistics(where, floats):
    base, queries = floats
    index, other = both(where, base, method="triangle", tuning={"landmarks": 12}, statistics=True)
    found = index.search(where.put(queries), 5)
    assert_same(where, found, other.search(queries, 5))
    counted = found.report.triangle
    assert counted["pairs"] == 26 * 230 and 0 < counted["distances"] and counted["base_clusters"] > 0
    found = both(where, base, method="shifted-sort", statistics=True)[0].search(where.put(queries), 5)
    assert found.report.quality["queries"] == 26 and found.report.quality["recall"] > 0.5


def test_pickle(where, floats):
    index, other = both(where, floats[0], metric="minkowski", p=3)
    again = pickle.loads(pickle.dumps(index))
    assert again.metric == "minkowski(3)"
    assert_same(where, again.search(where.put(floats[1]), 5), other.search(floats[1], 5))


def test_layouts(where, points):
    """Rows and columns that are left out, and rows that do not lie side by side."""
    base = np.repeat(points[0], 2, axis=1)
    for cut in (lambda a: a[:, 2:7], lambda a: a[::2], lambda a: a[:, ::2]):
        given, plain = cut(where.put(base)), cut(base)
        found = kith.search(given, given[:9], 3, backend=where.backend)
        assert_same(where, found, kith.search(plain, plain[:9], 3, backend="cpu"))


def test_types_meet(where, floats):
    """Queries are converted to the type of the base, by search() as by an index."""
    base, queries = floats
    half, byte, whole = base.astype(np.float16), base.astype(np.int8), np.abs(queries).astype(np.uint8)
    double = base.astype(np.float64)
    for a, b, same_b in (
        (base, queries.astype(np.float64), queries),
        (double, queries, queries.astype(np.float64)),
        (half, half[:9], half[:9]),
        (byte, whole, whole.astype(np.int8)),
        (byte, whole.astype(np.float32), whole.astype(np.int8)),
    ):
        want = kith.search(a, same_b, 3, backend="cpu")
        assert_same(where, kith.search(where.put(a), where.put(b), 3, backend=where.backend), want)
        assert_same(where, kith.Index(where.put(a), backend=where.backend).search(where.put(b), 3), want)
    huge = queries.astype(np.float64)
    huge[2, 1] = 1e300
    for a, b, message in ((byte, queries, "whole numbers from -128 to 127"), (base, huge, "row 2")):
        for call in (
            lambda: kith.search(where.put(a), where.put(b), 3, backend=where.backend),
            lambda: kith.Index(where.put(a), backend=where.backend).search(where.put(b), 3),
        ):
            with pytest.raises(ValueError, match=message):
                call()


def test_host_and_device_together(where, floats, rng):
    base, queries = floats
    values = rng.standard_normal(230).astype(np.float32)
    want, mean = kith.search(base, queries, 3, backend="cpu"), kith.reduce(base, queries, 3, values, backend="cpu")
    near = kith.search_radius(base, queries, 1.0, backend="cpu")
    for points in (base, where.put(base)):
        index = kith.Index(points, backend=where.backend)
        for there, asked in ((Where(""), queries), (where, where.put(queries))):
            assert_same(there, index.search(asked, 3), want)
            assert_same(there, kith.search(points, asked, 3, backend=where.backend), want)
            assert_same(there, index.search_radius(asked, 1.0), near)
            assert_same(there, index.reduce(asked, 3, values), mean)
            assert_same(there, index.reduce(asked, 3, where.put(values)), mean)


def test_bad_input(where, floats):
    base, queries = floats
    index = both(where, base)[0]
    there, none = where.put(queries), where.put(queries[:0])
    bad = queries.copy()
    bad[4, 1] = np.nan
    for call, message in (
        (lambda: index.search(there, 0), "k = 0"),
        (lambda: index.search(none, 231), "k = 231 but the number of base points is 230"),
        (lambda: kith.search(where.put(base), none, 231, backend=where.backend), "k = 231"),
        (lambda: index.search_self(230), "k = 230 but the number of other points is 229"),
        (lambda: index.graph(230), "k = 230"),
        (lambda: index.graph(3, symmetrize="both"), "both"),
        (lambda: index.search(there[0], 1), "queries has 1 dimension"),
        (lambda: index.search(there[:, :3], 1), "5 dimensions but the queries have 3"),
        (lambda: index.search(where.put(bad), 1), "row 4"),
        (lambda: index.search_radius(there, -1.0), "-1"),
        (lambda: index.search_radius(there, [1.0, 2.0]), "2 radii for 26 queries"),
        (lambda: index.reduce(none, 231, where.put(base)), "k = 231"),
        (lambda: index.reduce(there, 3), "'mean' needs values"),
        (lambda: index.reduce(there, 3, where.put(base[:9])), "values has 9 rows; the 230 base points"),
        (lambda: kith.Index(where.put(bad), backend=where.backend), "row 4"),
        (lambda: kith.topk(there, 6, backend=where.backend), "k = 6"),
        (lambda: kith.topk(there, 1, output="all", backend=where.backend), "all"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    if where.put is not same:
        with pytest.raises(ValueError, match="cpu"):
            kith.search(there, there, 1, backend="cpu")


def test_lists_that_cannot_be_made(where, floats, monkeypatch):
    """What the allocation raises stops the search and comes out."""
    index = both(where, floats[0])[0]
    library = type(kith._libraries.library_of(where.put(floats[0])))
    empty = library.empty

    def offsets_only(self, shape, dtype, stream):
        if shape != (27,):
            raise MemoryError(f"no room for {shape}")
        return empty(self, shape, dtype, stream)

    monkeypatch.setattr(library, "empty", offsets_only)
    with pytest.raises(MemoryError, match="no room"):
        index.search_radius(where.put(floats[1]), 1.0)


def test_batches(where, points):
    base, queries = points
    lengths, query_lengths = [100, 0, 1, 129], [10, 3, 2, 11]
    ways = dict(lengths=lengths, query_lengths=query_lengths)
    want = kith.search_batches(base, queries, 7, backend="cpu", **ways)
    found = kith.search_batches(where.put(base), where.put(queries), 7, backend=where.backend, **ways)
    assert_same(where, found, want)
    clouds = base[:228].reshape(4, 57, 5)
    want = kith.search_batches(clouds, None, 3, lengths=[57, 2, 0, 40], backend="cpu")
    found = kith.search_batches(where.put(clouds), None, 3, lengths=[57, 2, 0, 40], backend=where.backend)
    assert_same(where, found, want)
