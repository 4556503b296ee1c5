"""search() against NumPy: metrics, types, layouts."""

import pickle

import numpy as np
import pytest
from brute_force import assert_nearest, distances
from hypothesis import given
from hypothesis import strategies as st

import kith

METRICS = [
    "sqeuclidean", "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "inner_product", "hamming",
    "canberra",
]  # fmt: skip
DTYPES = [np.float32, np.float64, np.uint8, np.int8]


def make(rng, shape, dtype):
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(1, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_equals_numpy(rng, metric, dtype):
    base, queries = make(rng, (300, 9), dtype), make(rng, (17, 9), dtype)
    assert_nearest(kith.search(base, queries, 7, metric=metric), base, queries, 7, metric)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_minkowski(rng, p):
    base, queries = make(rng, (200, 5), np.float64), make(rng, (5, 5), np.float64)
    found = kith.search(base, queries, 4, metric="minkowski", p=p)
    if p == np.inf:
        assert_nearest(found, base, queries, 4, "chebyshev")
    else:
        assert_nearest(found, base, queries, 4, "minkowski", p)


@pytest.mark.parametrize(
    "alias, name",
    [
        ("l2", "euclidean"),
        ("l1", "manhattan"),
        ("cityblock", "manhattan"),
        ("linf", "chebyshev"),
        ("dot", "inner_product"),
        ("Euclidean", "euclidean"),
    ],
)
def test_aliases(rng, alias, name):
    points = make(rng, (50, 3), np.float32)
    a, b = kith.search(points, points, 3, metric=alias), kith.search(points, points, 3, metric=name)
    assert (a.distances == b.distances).all() and (a.indices == b.indices).all()


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 12), st.data())
def test_any_shape(rows, queries, dims, data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    k = data.draw(st.integers(1, rows))
    dtype = data.draw(st.sampled_from(DTYPES))
    metric = data.draw(st.sampled_from(["euclidean", "manhattan", "chebyshev", "sqeuclidean", "inner_product"]))
    rng = np.random.default_rng(seed)
    # Few values, so that many distances are equal.
    base = rng.integers(0, 4, (rows, dims)).astype(dtype)
    asked = rng.integers(0, 4, (queries, dims)).astype(dtype)
    assert_nearest(kith.search(base, asked, k, metric=metric), base, asked, k, metric)


LAYOUTS = {
    "C": lambda x: np.ascontiguousarray(x),
    "Fortran": lambda x: np.asfortranarray(x),
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "little-endian": lambda x: x.astype(x.dtype.newbyteorder("<")),  # spelled out, as zarr, h5py and loadmat do
    "a field of records": lambda x: _record_field(x),
    "unaligned": lambda x: _unaligned(x),
    "list": lambda x: x.tolist(),
    "subclass": lambda x: x.view(type("Mine", (np.ndarray,), {})),
    "memory map": lambda x: x.view(np.memmap),
}


def _record_field(x):
    records = np.zeros(x.shape, [("tag", np.uint8), ("value", x.dtype)])
    records["value"] = x
    return records["value"]


def _unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)[1:]
    out = memory.view(x.dtype).reshape(x.shape)
    out[:] = x
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layouts(rng, layout, dtype):
    base, queries = make(rng, (64, 6), dtype), make(rng, (5, 6), dtype)
    want = kith.search(base, queries, 3)
    got = kith.search(LAYOUTS[layout](base), LAYOUTS[layout](queries), 3)
    assert (got.indices == want.indices).all()
    np.testing.assert_allclose(got.distances, want.distances, rtol=1e-6)


def test_read_only(rng):
    base = make(rng, (64, 6), np.float32)
    base.flags.writeable = False
    assert kith.search(base, base[:2], 1).indices.ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    "dtype, searched",
    [
        (np.float16, np.float32),
        (np.int16, np.float32),
        (np.uint16, np.float32),
        (np.int32, np.float64),
        (np.uint32, np.float64),
        (np.int64, np.float64),
        (np.uint64, np.float64),
        (bool, np.float32),
    ],
)
def test_converted_types(rng, dtype, searched):
    base = rng.integers(0, 2, (50, 4)).astype(dtype)
    found = kith.search(base, base[:3], 2, metric="manhattan")
    assert found.distances.dtype == searched
    assert_nearest(found, base, base[:3], 2, "manhattan")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2), complex),
        np.zeros((2, 2), object),
        np.array([["a", "b"]]),
        np.zeros((2, 2), "datetime64[s]"),
        np.ma.masked_array(np.zeros((2, 2)), True),
    ],
)
def test_refused_types(array):
    with pytest.raises(TypeError):
        kith.search(array, array, 1)


def test_integers_that_float64_would_round():
    with pytest.raises(ValueError, match=str(2**53 + 1)):
        kith.search(np.array([[2**53 + 1]]), np.array([[0]]), 1)


def test_errors_name_the_value(rng):
    base = make(rng, (10, 3), np.float32)
    with pytest.raises(ValueError, match="3 dimensions but the queries have 2"):
        kith.search(base, base[:, :2], 1)
    with pytest.raises(ValueError, match="nonsense"):
        kith.search(base, base, 1, metric="nonsense")
    with pytest.raises(ValueError, match="p"):
        kith.search(base, base, 1, metric="minkowski", p=0.5)
    with pytest.raises(ValueError, match="minkowski"):
        kith.search(base, base, 1, metric="cosine", p=3)
    with pytest.raises(MemoryError, match="budget of 1 bytes"):
        kith.search(base, base, 1, memory=1, backend="cpu")
    with pytest.raises(ValueError, match="0 points"):
        kith.search(base[:0], base, 1)
    bad = base.copy()
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match="row 4"):
        kith.search(bad, base, 1)
    if "cuda" not in kith.versions()["backends"]:
        with pytest.raises(RuntimeError, match="cuda"):
            kith.search(base, base, 1, backend="cuda")


def test_methods_agree(rng):
    base, queries = make(rng, (2000, 6), np.float32), make(rng, (100, 6), np.float32)
    want = kith.search(base, queries, 5, backend="cpu", method="brute")
    for keywords in (
        {"method": "triangle", "tuning": {"base_landmarks": 40}, "statistics": True},
        {"method": "triangle", "tuning": {"landmarks": 40, "query_landmarks": 5}},
        {"distance": "gemm"},
        {"distance": "direct"},
        {"method": "tree"},
        {"threads": 1},
        {"memory": 1 << 20},
    ):
        got = kith.search(base, queries, 5, backend="cpu", **keywords)
        assert (got.distances == want.distances).all() and (got.indices == want.indices).all(), keywords
        assert (got.report.triangle is not None) == ("statistics" in keywords)
    with pytest.raises(ValueError, match="rubbish"):
        kith.search(base, queries, 5, tuning={"rubbish": 1})
    with pytest.raises(TypeError, match="'shifts'.*str"):
        kith.search(base, queries, 5, tuning={"shifts": "many"})


def test_shifted_sort(rng):
    base, queries = make(rng, (2000, 3), np.float32), make(rng, (200, 3), np.float32)
    truth = kith.search(base, queries, 5).distances
    recalls = []
    for tuning in (
        {"shifts": 1},
        {"shifts": 12, "shift": 0.02, "window": 20, "curve": "hilbert"},
        {"guaranteed": True},
    ):
        found = kith.search(base, queries, 5, method="shifted_sort", tuning=tuning, statistics=True)
        assert found.report.plan.method == "shifted-sort"
        assert (found.distances >= truth).all()
        quality = found.report.quality
        assert quality["queries"] == 200 and quality["ratio_max"] >= quality["ratio_mean"] >= 1
        assert quality["recall"] == pytest.approx((found.distances <= truth[:, -1:]).mean())
        recalls.append(quality["recall"])
    assert recalls[1] > recalls[0]
    assert kith.Index(base, method="shifted-sort").search(queries, 5).report.quality is None
    for tuning, message in (
        ({"shifts": 33}, "33"),
        ({"curve": "peano"}, "peano"),
        ({"positions": "guess"}, "known are"),
    ):
        with pytest.raises(ValueError, match=message):
            kith.search(base, queries, 5, method="shifted-sort", tuning=tuning)
    with pytest.raises(ValueError, match="cosine"):
        kith.search(base, queries, 5, method="shifted-sort", metric="cosine")


def test_certified(rng):
    base, queries = make(rng, (2000, 3), np.float32), make(rng, (200, 3), np.float32)
    keywords = {"method": "shifted-sort", "tuning": {"window": 60, "certify": True}}
    found = kith.search(base, queries, 5, **keywords)
    right = kith.search(base, queries, 5)
    assert right.certified is None and right.report.certified is None
    assert found.certified.dtype == bool and found.certified.shape == (200,)
    assert found.report.certified == found.certified.sum() > 50
    assert (found.indices[found.certified] == right.indices[found.certified]).all()
    assert (found.distances[found.certified] == right.distances[found.certified]).all()
    index = kith.Index(base, **keywords)
    assert (index.search(queries, 5).certified == found.certified).all()
    assert index.search_self(5).certified.shape == (2000,)
    assert (pickle.loads(pickle.dumps(found)).certified == found.certified).all()
    with pytest.raises(ValueError, match="graphs"):
        index.graph(3)


def test_report_and_plan(rng):
    base = make(rng, (100, 3), np.float32)
    found = kith.search(base, base, 2, backend="cpu")
    assert found.report.seconds > 0 and found.report.plan.backend == "cpu"
    plan = kith.explain(base, base, 2, backend="cpu")
    assert repr(plan) == str(plan) and repr(plan).startswith("search    100 queries × 100 points")
    assert plan._repr_html_().count("<tr>") == len(str(plan).splitlines())
    assert kith.explain((100, 3), (7, 3), 2, dtype=np.float64, backend="cpu").workspace > 0
    assert kith.explain((100, 3), 7, 2, dtype="uint8", backend="cpu").threads >= 1
    assert "float64" in str(kith.explain(base.astype(int), 7, 2, backend="cpu"))
    with pytest.raises(TypeError, match="complex"):
        kith.explain((100, 3), 7, 2, dtype=complex)


def test_plans_for_devices_that_are_not_here():
    names = [device["name"] for device in kith.known_devices()]
    assert {"a100", "h200", "rtx4090"} <= set(names)
    for device in kith.known_devices():
        plan = kith.explain((10**6, 128), 10**4, 10, device=device["name"])
        assert (plan.backend, plan.device, plan.profile) == ("cuda", device["title"], device["profile"])
        assert ("not measured" in plan.profile) == (device["name"] != "h200")
        assert plan.base_fits and plan.seconds > 0
    assert not kith.explain((10**8, 128), 10, 10, device="RTX 4090").base_fits
    with pytest.raises(ValueError, match="'t4'.*a100"):
        kith.explain((100, 3), 7, 2, device="t4")
    with pytest.raises(TypeError, match="known_devices"):
        kith.explain((100, 3), 7, 2, device=3)
    with pytest.raises(ValueError, match="cpu"):
        kith.explain((100, 3), 7, 2, device="a100", backend="cpu")


def test_distances(rng):
    """Rows are the first argument's, as in scipy's cdist."""
    a, b = make(rng, (5, 4), np.float32), make(rng, (30, 4), np.float32)
    for metric in METRICS:
        found = kith.distances(a, b, metric=metric)
        assert found.shape == (5, 30) and found.dtype == np.float32
        np.testing.assert_allclose(found, distances(b, a, metric), rtol=2e-6, atol=2e-6)
        assert (kith.distances(b, a, metric=metric).T == found).all()
    assert kith.distances(a, b.astype(np.float64)).dtype == kith.distances(a.tolist(), b).dtype == np.float64
    assert kith.distances(a.astype(np.int8), b).dtype == np.float32


def test_max_distance(rng):
    base, queries = make(rng, (500, 3), np.float32), make(rng, (20, 3), np.float32)
    want = kith.search(base, queries, 9)
    limit = float(np.median(want.distances))
    index = kith.Index(base)
    for found in (
        kith.search(base, queries, 9, max_distance=limit),
        kith.search(base, queries, 9, max_distance=limit, method="brute"),
        kith.Index(base, max_distance=limit).search(queries, 9),
        index.search(queries, 9, max_distance=limit),
    ):
        near = want.distances.astype(float) <= limit
        assert (found.indices == np.where(near, want.indices, -1)).all() and not near.all()
        assert (found.distances == np.where(near, want.distances, np.inf)).all()
        assert found.report.plan.max_distance == limit
    again = index.search(queries, 9)
    assert (again.indices == want.indices).all()
    edges = kith.graph(base, 9, max_distance=limit)
    assert 0 < edges.data.max() <= limit and len(edges.data) < 9 * len(base)


def test_epsilon(rng):
    base, queries = rng.random((20000, 4)), rng.random((30, 4))
    want = kith.search(base, queries, 10, method="tree")
    assert not want.report.plan.approximate
    for found in (
        kith.search(base, queries, 10, method="tree", epsilon=2, statistics=True),
        kith.Index(base, method="tree").search(queries, 10, epsilon=2.0),
    ):
        assert found.report.plan.approximate and found.report.plan.epsilon == 2
        assert (found.distances <= 3 * want.distances * (1 + 1e-14)).all()
        assert (found.distances > want.distances).any()
    assert "approximate" in str(kith.explain((10**5, 3), 10**5, 5, epsilon=0.5, backend="cpu"))


def test_period(rng):
    base, queries = rng.random((2000, 3)) * 5 - 1, rng.random((20, 3))
    period = np.array([1.0, 0.0, 2.5])
    gaps = np.abs(queries[:, None] - base)
    wrapped = np.fmod(gaps[..., [0, 2]], period[[0, 2]])
    gaps[..., [0, 2]] = np.minimum(wrapped, period[[0, 2]] - wrapped)
    truth = np.sqrt((gaps**2).sum(-1))
    order = np.argsort(truth, kind="stable")[:, :7]
    for given in (period, [1, 0, 2.5], (1.0, 0.0, 2.5)):
        found = kith.search(base, queries, 7, period=given)
        assert (found.indices == order).all() and found.report.plan.method == "tree"
        assert found.report.plan.period == [1.0, 0.0, 2.5]
        np.testing.assert_allclose(found.distances, np.take_along_axis(truth, order, 1), rtol=1e-14)
    counts = kith.search_radius(base, queries, 0.3, period=period, count_only=True).counts
    assert (counts == (truth <= 0.3).sum(1)).all()
    kth = kith.reduce(base, queries, 7, op="kth-distance", period=period)
    assert (kth == found.distances[:, -1]).all()
    index = kith.Index(base, period=period)
    assert (index.search_self(3).indices == kith.search(base, base, 4, period=period).indices[:, 1:]).all()
    assert kith.graph(base, 3, period=period).shape == (2000, 2000)
    assert kith.explain(base.shape, 20, 7).period == []
    with pytest.raises(ValueError, match="2 periods for points of 3 dimensions"):
        kith.search(base, queries, 7, period=[1.0, 1.0])
    with pytest.raises(ValueError, match="method brute"):
        kith.search(base, queries, 7, period=period, method="brute")
