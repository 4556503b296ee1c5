"""Search by pivots beside brute force in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import kith


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(diagonal + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def dtw(a, b, window):
    sums = np.full((len(a) + 1, len(b) + 1), np.inf)
    sums[0, 0] = 0
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if window is None or abs(i - j) <= window:
                sums[i + 1, j + 1] = min(sums[i, j], sums[i, j + 1], sums[i + 1, j]) + ((x - y) ** 2).sum()
    return np.sqrt(sums[-1, -1])


def nearest(objects, query, distance, k, without=None):
    """Lists of distances and of indices."""
    found = sorted((distance(query, each), i) for i, each in enumerate(objects) if i != without)[:k]
    return [d for d, _ in found], [i for _, i in found]


def check(index, objects, queries, distance, k, rtol=0.0):
    found = index.search(queries, k)
    for q, query in enumerate(queries):
        distances, indices = nearest(objects, query, distance, k)
        assert found.indices[q].tolist() == indices
        np.testing.assert_allclose(found.distances[q], distances, rtol=rtol, atol=rtol)
    assert index.report.pairs == len(objects) * len(queries)
    assert 0 < index.report.evaluations <= index.report.pairs


letters = st.text(alphabet="abcé日🙂", max_size=12)


@given(st.lists(letters, min_size=1, max_size=60), st.lists(letters, min_size=1, max_size=5), st.data())
def test_levenshtein(objects, queries, data):
    k = data.draw(st.integers(1, len(objects)))
    index = kith.PivotIndex(objects, pivots=data.draw(st.integers(0, len(objects))), choice="farthest-first")
    check(index, objects, queries, levenshtein, k)
    if k < len(objects):
        found = index.search_self(k)
        for i, each in enumerate(objects):
            assert found.indices[i].tolist() == nearest(objects, each, levenshtein, k, without=i)[1]


def test_radius(rng):
    objects = ["".join(rng.choice(list("ab"), rng.integers(1, 9))) for _ in range(200)]
    index = kith.PivotIndex(objects, "levenshtein")
    queries = objects[:10]
    found = index.search_radius(queries, [q % 4 for q in range(10)])
    for q, (distances, indices) in enumerate(zip(*found.rows())):
        assert all(distances <= q % 4)
        want, ids = nearest(objects, queries[q], levenshtein, len(objects))
        inside = sum(d <= q % 4 for d in want)
        assert indices.tolist() == ids[:inside] and distances.tolist() == want[:inside]
    alone = index.search_radius(None, 1)
    assert (index.search_radius(objects, 1.0).counts == alone.counts + 1).all()


def test_bytes_are_compared_by_bytes():
    assert kith.PivotIndex(["naïve"]).search(["naive"], k=1).distances.tolist() == [[1]]
    assert kith.PivotIndex(["naïve".encode()]).search([b"naive"], k=1).distances.tolist() == [[2]]


@pytest.mark.parametrize("window", [None, 0, 4])
@pytest.mark.parametrize("dims", [1, 2])
def test_dtw(rng, window, dims):
    length = (lambda: 20) if window == 0 else (lambda: rng.integers(15, 20))
    series = [rng.standard_normal((length(), dims)).cumsum(0) for _ in range(60)]
    index = kith.PivotIndex([s[:, 0] if dims == 1 else s for s in series[10:]], "dtw", window=window)
    check(index, series[10:], series[:10], lambda a, b: dtw(a, b, window), 5, rtol=1e-12)
    assert index.pivots.size == 0


def test_emd_is_that_of_scipy(rng):
    samples = [rng.standard_normal(rng.integers(1, 30)) * 3 + rng.integers(0, 20) for _ in range(200)]
    index = kith.PivotIndex(samples, "emd", pivots=8)
    check(index, samples, samples[:10], wasserstein_distance, 3, rtol=1e-12)
    assert index.report.saved > 0.3
    weighted = [(values, rng.random(values.size)) for values in samples]
    weighted_emd = lambda a, b: wasserstein_distance(a[0], b[0], a[1], b[1])  # noqa: E731
    check(kith.PivotIndex(weighted, "emd"), weighted, weighted[:5], weighted_emd, 4, rtol=1e-12)
    histograms = [(np.arange(4), counts) for counts in ([1, 0, 0, 0], [0, 0, 0, 2])]
    assert kith.PivotIndex(histograms, "emd").search(histograms[:1], 2).distances.tolist() == [[0, 3]]


def test_functions(rng):
    points = [tuple(row) for row in rng.integers(0, 6, (150, 3)).tolist()]
    calls = 0

    def manhattan(a, b):
        nonlocal calls
        calls += 1
        return sum(abs(x - y) for x, y in zip(a, b))

    index = kith.PivotIndex(points, manhattan, triangle_inequality=True, integer_valued=True, pivots=6)
    assert index.build_evaluations == calls
    calls = 0
    found = index.search(points[:20], 4)
    assert index.report.evaluations == calls and index.report.build_evaluations == index.build_evaluations
    assert index.report.saved == pytest.approx(1 - calls / (20 * 150)) and index.report.threads == 1
    for q in range(20):
        assert found.indices[q].tolist() == nearest(points, points[q], manhattan, 4)[1]
    check(kith.PivotIndex(points, manhattan, triangle_inequality=False), points, points[:5], manhattan, 3)


def test_exceptions_of_a_function_come_out():
    class Stop(Exception):
        pass

    def distance(a, b):
        if 7 in (a, b):
            raise Stop(b)
        return abs(a - b)

    with pytest.raises(Stop):
        kith.PivotIndex(list(range(10)), distance, triangle_inequality=True, pivots=1)
    index = kith.PivotIndex([1, 2, 3], distance, triangle_inequality=True)
    with pytest.raises(Stop):
        index.search([7], 1)
    assert index.search([2], 1).indices.tolist() == [[1]]
    with pytest.raises(TypeError):
        kith.PivotIndex([1, 2], lambda a, b: "far", triangle_inequality=False).search([1], 1)
    with pytest.raises(ValueError, match="query 0 to object 1 is nan"):
        kith.PivotIndex([1, 2], lambda a, b: np.nan if b == 2 else 0.0, triangle_inequality=False).search([1], 1)


def test_a_function_that_is_no_metric_is_noticed():
    with pytest.raises(ValueError, match="triangle inequality was promised"):
        kith.PivotIndex(list(range(50)), lambda a, b: (a - b) ** 2, triangle_inequality=True, pivots=5)
    with pytest.raises(ValueError, match="symmetric"):
        kith.PivotIndex(list(range(50)), lambda a, b: abs(a - b) + max(b - a, 0), triangle_inequality=True, pivots=5)


def test_progress_and_ctrl_c():
    words = [str(i) for i in range(300)]
    seen = []
    index = kith.PivotIndex(words, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.search(words, 3, progress=stop)
    assert index.search(words[:2], 1).indices.tolist() == [[0], [1]]


def test_wrong_arguments():
    for wrong, message in [
        (lambda: kith.PivotIndex("words"), "list of objects"),
        (lambda: kith.PivotIndex(["a", 3]), "object 1 must be str"),
        (lambda: kith.PivotIndex([b"a", "b"]), "object 1 must be bytes"),
        (lambda: kith.PivotIndex([["a", "b"]], "dtw"), "object 0 must be an array of numbers"),
        (lambda: kith.PivotIndex(["a"]).search("a", 1), "write \\["),
        (lambda: kith.PivotIndex(["a"]).search(["a"], 1.0), "k must be an integer"),
    ]:
        with pytest.raises(TypeError, match=message):
            wrong()
    for wrong, message in [
        (lambda: kith.PivotIndex([]), "0 objects"),
        (lambda: kith.PivotIndex(["a"], "euclid"), "levenshtein, dtw, emd"),
        (lambda: kith.PivotIndex(["a"], lambda a, b: 0.0), "triangle_inequality must be given"),
        (lambda: kith.PivotIndex([[1.0]], "dtw", triangle_inequality=True), "does not hold for dtw"),
        (lambda: kith.PivotIndex(["a"], window=3), "only dtw"),
        (lambda: kith.PivotIndex([[1.0]], "dtw", window=-1), "0 or more"),
        (lambda: kith.PivotIndex([[1.0], []], "dtw"), "object 1: a time series of 0 steps"),
        (lambda: kith.PivotIndex([[1.0], ([1.0], [-1.0])], "emd"), "object 1: weight 0 is -1"),
        (lambda: kith.PivotIndex(["a"]).search(["a"], 2), "k = 2"),
        (lambda: kith.PivotIndex(["a"]).search_self(1), "other objects is 0"),
        (lambda: kith.PivotIndex(["a"]).search_radius(["a"], -1), "radius 0 is -1"),
        (lambda: kith.PivotIndex(["a"], pivots=2), "pivots = 2"),
        (lambda: kith.PivotIndex(["a"], choice="random"), "best-bounds, farthest-first"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(UnicodeEncodeError):
        kith.PivotIndex(["\ud800"])


def test_no_queries_and_repr():
    index = kith.PivotIndex(["a", "b"])
    assert index.search([], 2).indices.shape == (0, 2)
    assert repr(index) == "PivotIndex(2 objects, levenshtein, 0 pivots)" and len(index) == 2
    assert "of 0" in repr(index.report)
