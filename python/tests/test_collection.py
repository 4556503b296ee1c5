"""Collections: ids, changes, filters, files, pickles."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import kith

RANDOM = np.random.default_rng(5)


def brute(points, ids, query, k, allowed):
    """The k nearest of one query by plain NumPy: ids and distances, padded."""
    keep = np.array([i in allowed for i in ids], bool)
    distances = np.sqrt(((points[keep].astype(float) - query.astype(float)) ** 2).sum(1))
    order = np.lexsort((ids[keep], distances))[:k]
    found = np.full(k, -1), np.full(k, np.inf)
    found[0][: len(order)], found[1][: len(order)] = ids[keep][order], distances[order]
    return found


def check(found, points, ids, queries, allowed_of):
    for q, query in enumerate(queries):
        indices, distances = brute(points, ids, query, found.indices.shape[1], allowed_of(q))
        np.testing.assert_array_equal(found.indices[q], indices)
        np.testing.assert_allclose(found.distances[q], distances, rtol=1e-6)


@pytest.fixture()
def made():
    points = RANDOM.integers(0, 9, (300, 4)).astype(np.float32)
    ids = RANDOM.permutation(1000)[:300] - 200
    ids[ids == -1] = 5000
    tags = RANDOM.integers(0, 4, 300)
    return points, ids, tags, kith.Collection(points, ids=ids, tags=tags), RANDOM.random((7, 4), np.float32) * 8


def test_ids_are_those_of_the_caller(made):
    points, ids, tags, collection, queries = made
    check(collection.search(queries, 5), points, ids, queries, lambda q: set(ids.tolist()))
    assert collection.ids().tolist() == sorted(ids.tolist())
    assert int(ids[3]) in collection and 123456 not in collection
    np.testing.assert_array_equal(collection.points(ids[:3]), points[:3])
    assert collection.shape == (300, 4) and len(collection) == 300 and collection.dtype == np.float32
    assert "300 points of 4 dimensions" in repr(collection)


def test_filters(made):
    points, ids, tags, collection, queries = made
    order = np.sort(ids)
    mask = RANDOM.random(300) < 0.3
    check(collection.search(queries, 4, mask=mask), points, ids, queries, lambda q: set(order[mask]))
    masks = RANDOM.random((7, 300)) < RANDOM.random((7, 1))
    check(collection.search(queries, 4, mask=masks), points, ids, queries, lambda q: set(order[masks[q]]))
    some = [int(i) for i in ids[:20]]
    check(collection.search(queries, 4, allowed=some), points, ids, queries, lambda q: set(some))
    check(collection.search(queries, 4, excluded=some), points, ids, queries, lambda q: set(ids) - set(some))
    lists = [ids[q : 3 * q] for q in range(7)]  # the first is empty
    check(collection.search(queries, 4, allowed=lists), points, ids, queries, lambda q: set(lists[q]))
    check(collection.search(queries, 4, tags=2), points, ids, queries, lambda q: set(ids[tags == 2]))
    check(
        collection.search(queries, 4, tags=[[q % 4] for q in range(7)], mask=mask),
        points, ids, queries, lambda q: set(ids[tags == q % 4]) & set(order[mask]),
    )  # fmt: skip
    report = collection.search(queries, 4, mask=mask).report
    assert report.filter["tested"] + report.filter["gathered"] >= 7
    assert collection.ids(tags=[1, 2]).tolist() == sorted(ids[(tags == 1) | (tags == 2)].tolist())


def test_changes(made):
    points, ids, tags, collection, queries = made
    report = collection.add(np.ones((2, 4)), ids=[7001, 7000])
    assert report["points"] == 2 and report["copied"] >= 2
    collection.remove(ids[:100])
    collection.update(np.zeros((1, 4), np.float32), ids=[7000])
    new_ids = np.concatenate([ids[100:], [7001, 7000]])
    new_points = np.concatenate([points[100:], np.ones((1, 4)), np.zeros((1, 4))]).astype(np.float32)
    check(collection.search(queries, 6), new_points, new_ids, queries, lambda q: set(new_ids.tolist()))
    assert collection.compact()["segments"] == 1
    check(collection.search(queries, 6), new_points, new_ids, queries, lambda q: set(new_ids.tolist()))
    with pytest.raises(ValueError, match="7000 already"):
        collection.add(np.ones((1, 4)), ids=[7000])
    with pytest.raises(ValueError, match="no point has id 8000"):
        collection.remove([7000, 8000])
    assert 7000 in collection


def test_graphs_and_radii_are_of_what_is_left(made):
    points, ids, tags, collection, queries = made
    kept = np.sort(ids[tags == 1])
    subset = points[[list(ids).index(i) for i in kept]]
    want = kith.graph(subset, 3, symmetrize="union").toarray()
    np.testing.assert_array_equal(collection.graph(3, symmetrize="union", tags=1).toarray(), want)
    found = collection.search_radius(queries, 3.0, tags=1)
    alone = kith.search_radius(subset, queries, 3.0)
    np.testing.assert_array_equal(found.offsets, alone.offsets)
    np.testing.assert_array_equal(found.indices, kept[alone.indices])
    np.testing.assert_array_equal(collection.search_radius(queries, 3.0, tags=1, count_only=True).counts, alone.counts)
    others = collection.search_self(2, tags=1)
    np.testing.assert_array_equal(others.indices, kept[kith.Index(subset).search_self(2).indices])
    values = np.arange(300.0)
    order = np.sort(ids)
    means = collection.reduce(queries, 3, values, tags=1)
    of_subset = values[np.searchsorted(order, kept)]
    np.testing.assert_array_equal(means, kith.reduce(subset, queries, 3, of_subset))


def test_files_and_pickles(made, tmp_path):
    points, ids, tags, collection, queries = made
    collection.add(np.ones((1, 4)), ids=[9000])
    path = tmp_path / "points.kith"
    collection.save(path)
    info = kith.collection_info(path)
    assert (info["rows"], info["dims"], info["dtype"], info["has_tags"]) == (301, 4, "float32", True)
    want = collection.search(queries, 5, tags=[1, 0])
    for other in (
        kith.Collection.load(path),
        kith.Collection.load(path, verify=True, threads=1),
        pickle.loads(pickle.dumps(collection)),
    ):
        found = other.search(queries, 5, tags=[1, 0])
        np.testing.assert_array_equal(found.indices, want.indices)
        np.testing.assert_array_equal(found.distances, want.distances)
    damaged = bytearray(path.read_bytes())
    damaged[70] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="head is damaged"):
        kith.Collection.load(path)
    assert os.listdir(tmp_path) == ["points.kith"]


def test_a_pickle_keeps_options():
    made = kith.Collection(np.eye(3), metric="minkowski", p=3, pad_missing=True, max_distance=1.0)
    again = pickle.loads(pickle.dumps(made))
    assert again.metric == made.metric
    assert again.search([[1.0, 0, 0]], 4).indices.tolist() == [[0, -1, -1, -1]]


@pytest.mark.parametrize("metric, missing", [("euclidean", np.inf), ("inner_product", -np.inf)])
def test_rows_are_padded_where_that_is_asked_for(metric, missing):
    points = np.array([[1.0, 2.0], [3.0, 1.0]])
    index = kith.Index(points, metric=metric, pad_missing=True)
    for found in (kith.search(points, points, 4, metric=metric, pad_missing=True), index.search(points, 4)):
        assert found.indices[:, 2:].tolist() == [[-1, -1]] * 2
        assert (found.distances[:, 2:] == missing).all()
        assert sorted(found.indices[0, :2].tolist()) == [0, 1]
    assert index.search_self(2).indices.tolist() == [[1, -1], [0, -1]]
    assert pickle.loads(pickle.dumps(index)).search(points, 3).indices[0, 2] == -1
    with pytest.raises(ValueError, match="k = 0"):
        index.search(points, 0)
    with pytest.raises(ValueError, match="k = 4 but"):
        kith.search(points, points, 4, metric=metric)


def test_collections_begin_empty():
    collection = kith.Collection(dims=2, dtype="float64")
    assert len(collection) == 0
    with pytest.raises(ValueError, match="k = 1 but the number of points is 0"):
        collection.search([[0, 0]], 1)
    collection.add([[1, 2], [3, 4]])
    assert collection.search([[3, 4]], 1).indices.tolist() == [[1]]
    padded = kith.Collection(dims=2, pad_missing=True)
    assert padded.search([[0, 0]], 2).indices.tolist() == [[-1, -1]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "int8", "float64"])
def test_types(dtype, tmp_path):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    points = RANDOM.integers(0, 9, (50, 3)).astype(dtype)
    collection = kith.Collection(points)
    collection.add(points[:5])
    collection.save(tmp_path / "x")
    loaded = kith.Collection.load(tmp_path / "x")
    assert loaded.dtype == np.dtype(dtype)
    found = loaded.search(points[:4], 3)
    want = kith.search(np.concatenate([points, points[:5]]), points[:4], 3)
    np.testing.assert_array_equal(found.indices, want.indices)
    np.testing.assert_array_equal(found.distances, want.distances)
    np.testing.assert_array_equal(np.asarray(loaded.points([7]), float), np.asarray(points[7:8], float))


@pytest.mark.parametrize(
    "error, words, call",
    [
        (TypeError, "ids must be integers", lambda c: c.remove([1.5])),
        (TypeError, "ids must be integers, not bool", lambda c: c.remove([True, False])),
        (TypeError, "ids must be integers, not bool", lambda c: c.points(np.array([True, False]))),
        (TypeError, "allowed must be integers, not bool", lambda c: c.ids(allowed=[True, False, True])),
        (TypeError, "excluded must be integers, not bool", lambda c: c.ids(excluded=[0, True])),
        (TypeError, "tags must be integers, not bool", lambda c: c.ids(tags=True)),
        (TypeError, "allowed must be integers, not bool", lambda c: c.search(np.zeros((1, 2)), 1, allowed=[[True]])),
        (TypeError, "mask must be of bool", lambda c: c.search(np.zeros((1, 2)), 1, mask=[1, 0])),
        (ValueError, "mask has 1 bytes", lambda c: c.search(np.zeros((1, 2)), 1, mask=[True])),
        (ValueError, "allowed has 2 lists; there are 1", lambda c: c.search(np.zeros((1, 2)), 1, allowed=[[1], [0]])),
        (ValueError, "3 dimensions|dimensions", lambda c: c.add(np.zeros((1, 3)))),
        (TypeError, "needs points, or dims", lambda c: kith.Collection()),
        (ValueError, "id 4 is there twice", lambda c: c.add(np.zeros((2, 2)), ids=[4, 4])),
        (ValueError, "no-such-file", lambda c: kith.Collection.load("no-such-file")),
        (TypeError, "an id is an integer", lambda c: 1.0 in c),
    ],
)
def test_messages(error, words, call):
    with pytest.raises(error, match=words):
        call(kith.Collection(np.zeros((2, 2))))


def test_points_stay_as_long_as_they_are_searched():
    collection = kith.Collection(np.arange(2000.0).reshape(1000, 2))
    assert collection.search([[10.0, 11.0]], 1).indices.tolist() == [[5]]


def test_a_large_file_opens_at_once(tmp_path):
    points = np.zeros((200_000, 64), np.float32)
    kith.Collection(points).save(tmp_path / "large")
    code = (
        "import kith, resource, time, sys\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "loaded = kith.Collection.load(sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    grown = subprocess.run([sys.executable, "-c", code, tmp_path / "large"], capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 10_000  # kilobytes, of the 51 MB that the file has
