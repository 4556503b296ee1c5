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


class Where(NamedTuple):
    """Where points lie, and what searches them."""

    backend: str
    put: Callable[[np.ndarray], Any]  # a host array there
    get: Callable[[Any], np.ndarray]  # and back


def same(array):
    return array


def torch_array(array):
    return __import__("torch").from_numpy(np.ascontiguousarray(array)).cuda()


def cupy_array(array):
    return __import__("cupy").asarray(array)


WHERE = {f"host-{name}": Where(name, same, same) for name in kith.versions()["backends"]}
if "cuda" in kith.versions()["backends"]:
    if importlib.util.find_spec("torch") is not None:
        WHERE["device-torch"] = Where("auto", torch_array, lambda array: array.cpu().numpy())
    if importlib.util.find_spec("cupy") is not None:
        WHERE["device-cupy"] = Where("cuda", cupy_array, lambda array: array.get())

OPS = ("mean", "weighted-mean", "sum", "min", "max", "kth-distance", "density", "covariance")


@pytest.fixture(params=WHERE)
def where(request):
    return WHERE[request.param]


def make(rng, shape, dtype):
    """Among them points that are equal, and points that queries are equal to."""
    values = rng.standard_normal(shape) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, shape)
    values[1::5] = values[::5][: len(values[1::5])]
    return values.astype(dtype)


@pytest.fixture(params=[np.float32, np.float64, np.uint8, np.int8], ids=lambda dtype: np.dtype(dtype).name)
def points(rng, request):
    base = make(rng, (230, 5), request.param)
    return base, np.concatenate([make(rng, (20, 5), request.param), base[:6]])


@pytest.fixture
def floats(rng):
    base = make(rng, (230, 5), np.float32)
    return base, np.concatenate([make(rng, (20, 5), np.float32), base[:6]])


def assert_same(where, found, want):
    """Arrays of the place, equal to NumPy's."""
    assert type(found) is type(want) or isinstance(want, np.ndarray)
    for one, other in zip(found, want) if isinstance(want, tuple) else [(found, want)]:
        assert type(one) is type(where.put(np.empty((1, 1))))
        one = where.get(one)
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)


def both(where, base, **keywords):
    """An index of the place, and one of the CPU."""
    return (
        kith.Index(where.put(base), backend=where.backend, **keywords),
        kith.Index(base, backend="cpu", **keywords),
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "inner_product"])
def test_search(where, points, metric):
    base, queries = points[0] + np.array(1, points[0].dtype), points[1] + np.array(1, points[1].dtype)
    keywords = {"metric": metric}
    want = kith.search(base, queries, 7, backend="cpu", **keywords)
    found = kith.search(where.put(base), where.put(queries), 7, backend=where.backend, **keywords)
    assert_same(where, found, want)
    assert found.report.plan.backend == kith.explain(base, queries, 7, backend=where.backend).backend
    index = both(where, base, **keywords)[0]
    assert_same(where, index.search(where.put(queries), 7), want)
    assert_same(where, index.search(where.put(queries[:0]), 7), kith.Neighbors(want.distances[:0], want.indices[:0]))


def test_search_self(where, points):
    index, other = both(where, points[0])
    assert_same(where, index.search_self(6), other.search_self(6))


def test_search_radius(where, points):
    base, queries = points
    radius = 1.2 if base.dtype.kind == "f" else 40
    index, other = both(where, base)
    for asked, radii in ((queries, radius), (queries, np.linspace(0, radius, len(queries))), (None, radius)):
        given = None if asked is None else where.put(asked)
        for count_only in (False, True):
            want = other.search_radius(asked, radii, count_only=count_only)
            assert want.counts.max() > 0 and (asked is None or want.counts.min() < want.counts.max())
            assert_same(where, index.search_radius(given, radii, count_only=count_only), want)
            if asked is not None:
                found = kith.search_radius(where.put(base), given, radii, count_only=count_only, backend=where.backend)
                assert_same(where, found, want)
    none = index.search_radius(where.put(queries[:0]), radius)
    assert where.get(none.offsets).tolist() == [0] and where.get(none.indices).shape == (0,)


def rows_of(where, graph):
    """Of a sparse matrix of any library, or a kith.Graph: its arrays, rows sorted by index as some have them."""
    if hasattr(graph, "crow_indices"):
        parts = graph.crow_indices(), graph.col_indices(), graph.values()
    else:
        parts = graph.indptr, graph.indices, graph.data
    indptr, indices, data = (part if isinstance(part, np.ndarray) else where.get(part) for part in parts)
    order = np.lexsort((indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
    return indptr.tolist(), indices[order].tolist(), data[order].tolist()


@pytest.mark.parametrize("symmetrize", ["none", "union", "mutual"])
def test_graph(where, points, symmetrize):
    index, other = both(where, points[0])
    want = other.graph(4, symmetrize=symmetrize)
    found = index.graph(4, symmetrize=symmetrize)
    assert tuple(found.shape) == (230, 230) and rows_of(where, found) == rows_of(where, want)
    again = kith.graph(where.put(points[0]), 4, symmetrize=symmetrize, mode="connectivity", backend=where.backend)
    assert rows_of(where, again)[:2] == rows_of(where, want)[:2] and set(rows_of(where, again)[2]) == {1.0}


@pytest.mark.parametrize("op", OPS)
def test_reduce(where, points, rng, op):
    base, queries = points
    values = rng.standard_normal((230, 3)).astype(np.float64 if base.dtype == np.float64 else np.float32)
    index, other = both(where, base)
    for numbers in (values, values[:, 1]):
        want = other.reduce(queries, 7, numbers, op)
        assert_same(where, index.reduce(where.put(queries), 7, where.put(numbers), op), want)
    found = kith.reduce(where.put(base), where.put(queries), 7, numbers, op, backend=where.backend)
    assert_same(where, found, want)
    assert where.get(index.reduce(where.put(queries[:0]), 7, numbers, op)).shape == (0,) + want.shape[1:]


@pytest.mark.parametrize("output", ["sorted", "unsorted", "values_only", "kth_only"])
def test_topk(where, points, output):
    matrix = np.ascontiguousarray(points[0].T)
    for largest in (False, True):
        found = kith.topk(where.put(matrix), 9, largest=largest, output=output, backend=where.backend)
        want = kith.topk(matrix, 9, largest=largest, output=output, backend="cpu")
        if output == "unsorted":
            found, want = where.get(found.indices), want.indices
            assert (np.sort(found, axis=1) == np.sort(want, axis=1)).all()
        else:
            assert_same(where, found, want)


def test_distances(where, points):
    base, queries = points
    found = kith.distances(where.put(base), where.put(queries), backend=where.backend)
    assert_same(where, found, kith.distances(base, queries, backend="cpu"))


def test_explain(where, floats):
    index = both(where, floats[0])[0]
    plan = index.explain(where.put(floats[1]), 4)
    done = index.search(where.put(floats[1]), 4).report.plan
    assert (plan.backend, plan.method, plan.distance) == (done.backend, done.method, done.distance)


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


def test_statistics(where, floats):
    base, queries = floats
    keywords = {"method": "triangle", "tuning": {"landmarks": 12}, "statistics": True}
    index, other = both(where, base, **keywords)
    found, want = index.search(where.put(queries), 5), other.search(queries, 5)
    assert_same(where, found, want)
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
    """Columns and rows that are left out, and a matrix of columns."""
    base, queries = points
    wide = where.put(np.repeat(base, 2, axis=1))
    for given, plain in (
        (wide[:, 2:7], np.repeat(base, 2, axis=1)[:, 2:7]),
        (wide[::2], np.repeat(base, 2, axis=1)[::2]),
    ):
        found = kith.search(given, given[:9], 3, backend=where.backend)
        assert_same(where, found, kith.search(plain, plain[:9], 3, backend="cpu"))
    if where.put is emulated_arrays.Array:
        base = np.asfortranarray(base)
        found = kith.search(where.put(base), where.put(queries), 3, backend=where.backend)
        assert_same(where, found, kith.search(base, queries, 3, backend="cpu"))


def test_host_and_device_together(where, floats, rng):
    base, queries = floats
    values = rng.standard_normal(230).astype(np.float32)
    want, mean = kith.search(base, queries, 3, backend="cpu"), kith.reduce(base, queries, 3, values, backend="cpu")
    host = Where("", same, same)
    for index_base in (base, where.put(base)):
        index = kith.Index(index_base, backend=where.backend)
        for there, asked in ((host, queries), (where, where.put(queries))):
            assert_same(there, index.search(asked, 3), want)
            assert_same(there, index.reduce(asked, 3, where.put(values)), mean)
            assert_same(there, index.reduce(asked, 3, values), mean)
            assert_same(there, kith.search(index_base, asked, 3, backend=where.backend), want)
            near = index.search_radius(asked, 1.0)
            assert_same(there, near, kith.search_radius(base, queries, 1.0, backend="cpu"))


def test_types_meet(where, floats):
    base, queries = floats
    halves = base.astype(np.float16)
    for a, b in (
        (base, queries.astype(np.float64)),
        (halves, halves[:9]),
        (base.astype(np.int8), queries.astype(np.uint8)),
    ):
        found = kith.search(where.put(a), where.put(b), 3, backend=where.backend)
        assert_same(where, found, kith.search(a, b, 3, backend="cpu"))
    found = kith.Index(where.put(base), backend=where.backend).search(where.put(queries.astype(np.float64)), 3)
    assert_same(where, found, kith.search(base, queries, 3, backend="cpu"))
    with pytest.raises(TypeError, match="uint8"):
        kith.Index(where.put(base.astype(np.uint8)), backend=where.backend).search(where.put(queries), 1)


def test_bad_input(where, floats):
    base, queries = floats
    index = both(where, base)[0]
    bad = queries.copy()
    bad[4, 1] = np.nan
    there = where.put(queries)
    for call, message in (
        (lambda: index.search(there, 0), "k = 0"),
        (lambda: index.search(there, 231), "k = 231"),
        (lambda: index.search(where.put(queries[:0]), 231), "k = 231"),
        (lambda: index.search_self(230), "k = 230 but the number of other points is 229"),
        (lambda: index.graph(230), "k = 230"),
        (lambda: index.graph(3, symmetrize="both"), "both"),
        (lambda: index.graph(3, mode="both"), "both"),
        (lambda: index.search(there[0], 1), "queries has 1 dimension"),
        (lambda: index.search(there[:, :3], 1), "5 dimensions but the queries have 3"),
        (lambda: index.search(where.put(bad), 1), "row 4"),
        (lambda: index.search_radius(there, -1.0), "-1"),
        (lambda: index.search_radius(there, [1.0, 2.0]), "2 radii for 26 queries"),
        (lambda: index.reduce(there, 231, where.put(base)), "k = 231"),
        (lambda: index.reduce(there, 3), "'mean' needs values"),
        (lambda: index.reduce(there, 3, where.put(base[:9])), "values has 9 rows; the 230 base points"),
        (lambda: index.reduce(there, 3, op="median"), "median"),
        (lambda: kith.Index(where.put(bad), backend=where.backend), "row 4"),
        (lambda: kith.topk(there, 6, backend=where.backend), "k = 6"),
        (lambda: kith.topk(there, 1, output="all", backend=where.backend), "all"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    if where.put is not same:
        with pytest.raises(ValueError, match="cpu"):
            kith.search(there, there, 1, backend="cpu")


def test_no_memory_for_a_list(where, floats, monkeypatch):
    """What the allocation raises comes out."""
    library = type(kith._libraries.library_of(where.put(floats[0])))

    def fail(self, shape, dtype, stream):
        raise MemoryError(f"no {shape}")

    index = both(where, floats[0])[0]
    empty = library.empty
    monkeypatch.setattr(library, "empty", lambda *given: empty(*given) if given[1] == (27,) else fail(*given))
    with pytest.raises(MemoryError, match="no "):
        index.search_radius(where.put(floats[1]), 1.0)
