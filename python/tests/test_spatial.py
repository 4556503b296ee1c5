"""The trees of kith.spatial beside SciPy's; run_scipy_tests.py runs SciPy's own tests of them."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.spatial as theirs
from hypothesis import given
from hypothesis import strategies as st

import kith.spatial as ours
from kith.spatial import KDTree, _blocks

NORMS = [1, 2, 3, 1.5, np.inf]
BOXES = [None, 1.0, (1.0, 0.0, 2.5), 0.0]


def both(points, **keywords):
    return KDTree(points, **keywords), theirs.KDTree(points, **keywords)


def assert_same_neighbors(a, b):
    np.testing.assert_allclose(a[0], b[0], rtol=1e-12, atol=1e-15)
    assert np.array_equal(a[1], b[1]) and np.shape(a[1]) == np.shape(b[1])
    assert type(a[0]) is type(b[0]) and type(a[1]) is type(b[1])


def entries_of(matrix):
    """The distances of a dict, by pair."""
    return [matrix[pair] for pair in sorted(matrix)]


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("p", NORMS)
def test_query_equals_scipy(rng, p, box):
    mine, other = both(rng.random((300, 3)), boxsize=box)
    points = rng.random((40, 3)) * 4 - 1.5
    for k in (1, 2, 7, 300, 310, [1], [3, 1], [2, 305], np.array([1, 2]), (5,), 2.0):
        assert_same_neighbors(mine.query(points, k, p=p), other.query(points, k, p=p))
        assert_same_neighbors(mine.query(points[0], k, p=p), other.query(points[0], k, p=p))
    for bound in (0.0, 0.05, 0.3, np.nan, np.inf):
        a, b = (tree.query(points, 5, p=p, distance_upper_bound=bound) for tree in (mine, other))
        assert_same_neighbors(a, b)


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("p", NORMS)
def test_balls_equal_scipys(rng, p, box):
    mine, other = both(rng.random((300, 3)), boxsize=box)
    points = rng.random((4, 5, 3)) * 4 - 1.5
    for r in (0.0, 0.1, 0.45, 0.7, 3.0, np.inf, rng.random((4, 5)), rng.random(5), np.nan):
        a, b = mine.query_ball_point(points, r, p=p), other.query_ball_point(points, r, p=p)
        assert a.shape == b.shape == (4, 5) and (a == b).all()
        lengths = mine.query_ball_point(points, r, p=p, return_length=True)
        assert (lengths == other.query_ball_point(points, r, p=p, return_length=True)).all()
    single = mine.query_ball_point(points[0, 0], 0.4, p=p)
    assert isinstance(single, list) and sorted(single) == sorted(other.query_ball_point(points[0, 0], 0.4, p=p))
    assert type(mine.query_ball_point(points[0, 0], 0.4, p=p, return_length=True)) is np.intp


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("p", NORMS)
def test_pairs_of_trees_equal_scipys(rng, p, box):
    first, second = rng.random((60, 3)), rng.random((80, 3))
    (mine, other), (mine2, other2) = both(first, boxsize=box), both(second, boxsize=box)
    for r in (0.0, 0.2, 0.6, 5.0):
        assert mine.query_pairs(r, p=p) == other.query_pairs(r, p=p)
        pairs = mine.query_pairs(r, p=p, output_type="ndarray")
        assert pairs.dtype == np.intp and set(map(tuple, pairs.tolist())) == other.query_pairs(r, p=p)
        assert len(pairs) == len(other.query_pairs(r, p=p))
        lists = mine.query_ball_tree(mine2, r, p=p)
        assert list(map(sorted, lists)) == list(map(sorted, other.query_ball_tree(other2, r, p=p)))
        a, b = (x.sparse_distance_matrix(y, r, p=p, output_type="dict") for x, y in ((mine, mine2), (other, other2)))
        assert a.keys() == b.keys()
        np.testing.assert_allclose(entries_of(a), entries_of(b), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("box", [None, 1.0], ids=str)
@pytest.mark.parametrize("cumulative", [True, False])
@pytest.mark.parametrize("radii", [0.3, [0.1, 0.3], [0.0, 0.1, 0.1, 0.2, 0.5, 0.9, np.inf], [-1.0, 0.2], []], ids=str)
def test_counts_equal_scipys(rng, radii, cumulative, box, monkeypatch):
    first, second = rng.random((60, 3)), rng.random((80, 3))
    (mine, other), (mine2, other2) = both(first, boxsize=box), both(second, boxsize=box)
    weights = rng.random(60), rng.random(80)
    if isinstance(radii, list) and radii[:1] == [-1.0]:  # which SciPy squares
        assert mine.count_neighbors(mine2, radii, cumulative=cumulative)[0] == 0
        return
    for limit in (2**24, 100):  # pairs in one block, and in many
        monkeypatch.setattr(_blocks, "PAIRS_AT_ONCE", limit)
        for given_weights in (None, weights, (None, weights[1]), (weights[0], None), (None, None)):
            keywords = dict(cumulative=cumulative, weights=given_weights)
            a, b = mine.count_neighbors(mine2, radii, **keywords), other.count_neighbors(other2, radii, **keywords)
            assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-12)
        a, b = (tree.count_neighbors(tree, radii, weights=weights[0], cumulative=cumulative) for tree in (mine, other))
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kind", ["dok_matrix", "coo_matrix", "dok_array", "coo_array", "ndarray"])
def test_matrices(rng, kind):
    first, second = KDTree(rng.random((20, 2))), KDTree(rng.random((30, 2)))
    found = first.sparse_distance_matrix(second, 0.3, output_type=kind)
    truth = theirs.distance_matrix(first.data, second.data)
    truth[truth > 0.3] = 0
    if kind == "ndarray":
        dense = np.zeros((20, 30))
        dense[found["i"], found["j"]] = found["v"]
        other = theirs.KDTree(first.data)
        assert found.dtype == other.sparse_distance_matrix(other, 0.3, output_type="ndarray").dtype
    else:
        assert type(found).__name__ == kind
        dense = found.toarray()
    np.testing.assert_allclose(dense, truth, rtol=1e-12)


def torus_distances(points, queries, box, p):
    """By the definition alone."""
    gap = np.abs(queries[:, None] - points)
    return np.linalg.norm(np.where(box > 0, np.minimum(gap, box - gap), gap), p, axis=-1)


@given(
    st.integers(1, 60), st.integers(1, 5), st.integers(1, 70), st.sampled_from(NORMS), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_torus_by_definition(rows, dims, k, p, open_axis, seed):
    """On a grid, with many ties, in boxes of all shapes: the order is (distance, index), and each index comes once."""
    rng = np.random.default_rng(seed)
    box = rng.integers(2, 7, dims).astype(float)
    points = np.floor(rng.random((rows, dims)) * box)
    queries = np.floor(rng.random((6, dims)) * box * 2) / 2
    if open_axis:
        box[0] = 0
    tree = KDTree(points, boxsize=box)
    truth = torus_distances(points, queries, box, p)
    distances, indices = tree.query(queries, [*range(1, k + 1)], p=p)
    shown = min(k, rows)
    np.testing.assert_allclose(distances[:, :shown], np.sort(truth)[:, :shown], rtol=1e-12)
    assert np.isinf(distances[:, shown:]).all() and (indices[:, shown:] == rows).all()
    np.testing.assert_allclose(np.take_along_axis(truth, indices[:, :shown], 1), distances[:, :shown], rtol=1e-12)
    if p in (1, 2, np.inf):  # sums of powers of small numbers are exact
        assert (indices[:, :shown] == np.argsort(truth, kind="stable")[:, :shown]).all()
    for r in (0.0, 0.5, 1.7, 4.1, 100.1):
        found = tree.query_ball_point(queries, r, p=p)
        assert found.tolist() == [np.flatnonzero(row <= r).tolist() for row in truth]


def test_torus_by_blocks(rng, monkeypatch):
    points, queries = rng.random((200, 3)), rng.random((30, 3))
    want = theirs.KDTree(points, boxsize=1.0)
    tree = KDTree(points, boxsize=1.0)
    for k in (1, 10, 200):
        assert_same_neighbors(tree.query(queries, k), want.query(queries, k))
    for r in (0.1, 0.55, 2.0):
        assert (tree.query_ball_point(queries, r) == want.query_ball_point(queries, r)).all()
    monkeypatch.setattr(_blocks, "PAIRS_AT_ONCE", 1)
    radii = np.arange(0.1, 1.0, 0.1)
    others = KDTree(queries, boxsize=1.0), theirs.KDTree(queries, boxsize=1.0)
    assert (tree.count_neighbors(others[0], radii) == want.count_neighbors(others[1], radii)).all()


def test_query_within_a_factor(rng):
    points, queries = rng.random((20000, 4)), rng.random((50, 4))
    for box in (None, 1.0):
        tree = KDTree(points, boxsize=box)
        exact, rough = tree.query(queries, 10)[0], tree.query(queries, 10, eps=2.0)[0]
        assert (rough >= exact).all() and (rough <= 3 * exact * (1 + 1e-14)).all()
        assert box is None or (rough > exact).any()  # few queries without a box are searched by brute force
        assert (tree.query(queries, 10, eps=1e-12)[0] <= exact * (1 + 1e-11)).all()


@pytest.mark.parametrize("box", [None, 1.0])
def test_bounds_are_strict(rng, box):
    """A neighbor at the bound is none, one just below it is."""
    points, queries = rng.random((3000, 2)), rng.random((20, 2))
    tree = KDTree(points, boxsize=box)
    distances, indices = tree.query(queries, 8)
    for bound in (distances[3, 4], np.nextafter(distances[3, 4], 2), 0.0, -1.0, 5e-324):
        near = distances < bound
        got = tree.query(queries, 8, distance_upper_bound=bound)
        assert (got[0] == np.where(near, distances, np.inf)).all()
        assert (got[1] == np.where(near, indices, tree.n)).all()


@pytest.mark.parametrize("p", [1, 2, np.inf])
@pytest.mark.parametrize("dims", [3, 9])
def test_torus_distances_have_kiths_bits(rng, dims, p):
    """Of pairs that are nearest without going through a wall."""
    points = rng.random((200, dims)) * 0.7
    periodic, plain = (
        KDTree(points, boxsize=box).sparse_distance_matrix(KDTree(points, boxsize=box), 9, p=p, output_type="dict")
        for box in (1.0, None)
    )
    straight = [(i, j) for i, j in periodic if (np.abs(points[i] - points[j]) < 0.5).all()]
    assert 1000 < len(straight) < len(periodic) == len(plain) == 200**2
    assert all(periodic[pair] == plain[pair] for pair in straight)


def test_boxes_of_two_trees(rng):
    """The box of the tree whose method is called counts; the other's points are moved into it."""
    points, others = rng.random((30, 2)), rng.random((40, 2))
    periodic = KDTree(points, boxsize=1.0)
    want = KDTree(others, boxsize=1.0)
    for other in (KDTree(others), KDTree(others + 3), KDTree(others, boxsize=5)):
        assert periodic.query_ball_tree(other, 0.3) == periodic.query_ball_tree(want, 0.3)
        assert periodic.count_neighbors(other, 0.3) == periodic.count_neighbors(want, 0.3)
    assert KDTree(points).query_ball_tree(want, 0.3) == KDTree(points).query_ball_tree(KDTree(others), 0.3)


def test_equal_distances_go_to_the_lower_index():
    tree = KDTree([[1.0], [-1.0], [1.0], [-1.0]])
    assert tree.query([0.0], k=4)[1].tolist() == [0, 1, 2, 3]
    assert tree.query_ball_point([0.9], 3.0) == [0, 2, 1, 3]
    assert tree.query_ball_point([0.9], 3.0, return_sorted=True) == [0, 1, 2, 3]
    assert tree.query_ball_point([[0.9]], 3.0, return_sorted=False).tolist() == [[0, 2, 1, 3]]


def test_eps_counts_what_rounding_keeps_out():
    points = np.arange(10)[:, None] * 0.1
    assert KDTree(points).query_pairs(0.1, eps=1e-3) == {(i, i + 1) for i in range(9)}
    assert KDTree(points).query(points, eps=10.0)[1].tolist() == list(range(10))


def test_shapes_of_nothing():
    empty = KDTree(np.empty((0, 2)))
    distances, indices = empty.query([[0.0, 1.0]], 3)
    assert np.isinf(distances).all() and indices.tolist() == [[0, 0, 0]]
    assert empty.query([0.0, 1.0]) == (np.inf, 0)
    assert empty.query_ball_point([0.0, 1.0], 1) == [] and empty.query_pairs(1) == set()
    assert empty.query_ball_tree(empty, 1) == [] and empty.count_neighbors(empty, [1, 2]).tolist() == [0, 0]
    assert KDTree(np.empty((0, 2)), boxsize=1).query([0.0, 1.0]) == (np.inf, 0)
    tree = KDTree([[0.0, 1.0]])
    assert tree.query_ball_tree(empty, 1) == [[]] and empty.count_neighbors(tree, 1) == 0
    for shape in ((0,), (0, 3), (3, 0)):
        points = np.empty((*shape, 2))
        assert tree.query(points)[0].shape == shape and tree.query(points, 2)[1].shape == (*shape, 2)
        assert tree.query_ball_point(points, 1).shape == shape
    assert tree.query_pairs(1) == set() and tree.query_pairs(1, output_type="ndarray").shape == (0, 2)


def test_attributes_and_nodes(rng):
    points = rng.random((50, 3))
    for name, leafsize in (("KDTree", 10), ("cKDTree", 16)):
        mine, other = getattr(ours, name)(points, boxsize=1), getattr(theirs, name)(points, boxsize=1)
        for attribute in ("n", "m", "leafsize", "size"):
            assert getattr(mine, attribute) == getattr(other, attribute)
        for attribute in ("data", "maxes", "mins", "boxsize", "indices"):
            assert (getattr(mine, attribute) == getattr(other, attribute)).all()
        assert mine.leafsize == leafsize and type(mine.tree) is type(other.tree)
        with pytest.raises(AttributeError):
            mine.data = points
    assert KDTree(points).boxsize is None and KDTree(points).data is points
    assert issubclass(KDTree, ours.cKDTree) and KDTree.leafnode is theirs.KDTree.leafnode
    copied = KDTree(points, copy_data=True)
    assert copied.data is not points
    assert KDTree(points.astype(np.float32)).data.dtype == np.float64
    assert KDTree(points, 5, False, False, False).size == theirs.KDTree(points, 5, False, False, False).size


def test_an_index_for_each_norm_is_kept(rng):
    tree = KDTree(rng.random((50, 3)))
    for _ in range(2):
        for p in (1, 1.0, 2, np.inf, 3):
            tree.query([0, 0, 0], p=p)
    assert len(tree._searchers) == 4
    assert sorted(index.metric for index in tree._searchers.values()) == [
        "chebyshev", "euclidean", "manhattan", "minkowski(3)",
    ]  # fmt: skip


def test_workers(rng):
    tree = KDTree(rng.random((500, 3)))
    want = tree.query(tree.data, 3)
    for workers in (None, 1, 2, 64, -1):
        assert_same_neighbors(tree.query(tree.data, 3, workers=workers), want)
    for workers, error in ((0, ValueError), (-2, ValueError), (1.5, TypeError), ("2", TypeError)):
        with pytest.raises(error):
            tree.query(tree.data, workers=workers)


def test_one_tree_in_several_threads(rng):
    tree = KDTree(rng.random((500, 3)), boxsize=1.0)
    want = KDTree(tree.data, boxsize=1.0).query(tree.data, 3)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: tree.query(tree.data, 3), range(8)):
            assert_same_neighbors(found, want)


def test_pickle_and_copy(rng):
    for box in (None, (1.0, 0.0, 3.0)):
        tree = KDTree(rng.random((50, 3)), leafsize=3, boxsize=box)
        want, size = tree.query(tree.data, 5), tree.size
        for again in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
            assert_same_neighbors(again.query(tree.data, 5), want)
            assert type(again) is KDTree and again.leafsize == 3 and again.size == size


TREE = KDTree(np.arange(12.0).reshape(4, 3))
REFUSED = {
    ValueError: [
        lambda: KDTree([1.0, 2.0]),
        lambda: KDTree(np.empty((3, 0))),
        lambda: KDTree([[np.nan]]),
        lambda: KDTree([["a"]]),
        lambda: KDTree([[1.0]], leafsize=0),
        lambda: KDTree([[1.0]], boxsize=1),
        lambda: KDTree([[-1.0]], boxsize=1),
        lambda: KDTree([[0.5]], boxsize=[1, 1]),
        lambda: KDTree([[0.5]], boxsize=np.inf),
        lambda: TREE.query([1.0, 2.0]),
        lambda: TREE.query(1.0),
        lambda: TREE.query([0, np.inf, 0]),
        lambda: TREE.query([0, 0, 0], k=0),
        lambda: TREE.query([0, 0, 0], k=-1),
        lambda: TREE.query([0, 0, 0], k=[]),
        lambda: TREE.query([0, 0, 0], k=[1, 0]),
        lambda: TREE.query([0, 0, 0], k=[[1]]),
        lambda: TREE.query([0, 0, 0], k=None),
        lambda: TREE.query([0, 0, 0], p=0.5),
        lambda: TREE.query([0, 0, 0], p=np.nan),
        lambda: TREE.query_ball_point([0, 0, 0], 1, p=0.5),
        lambda: TREE.query_ball_point([0, np.nan, 0], 1),
        lambda: TREE.query_ball_point(TREE.data, [1, 2]),
        lambda: TREE.query_ball_point([0, 0, 0], "r"),
        lambda: TREE.query_ball_tree(KDTree([[1.0]]), 1),
        lambda: TREE.query_pairs(1, output_type="list"),
        lambda: TREE.count_neighbors(TREE, [[1]]),
        lambda: TREE.count_neighbors(TREE, [2, 1], cumulative=False),
        lambda: TREE.count_neighbors(TREE, 1, weights=[1.0]),
        lambda: TREE.count_neighbors(KDTree(TREE.data), 1, weights=np.ones(4)),
        lambda: TREE.count_neighbors(TREE, np.nan),
        lambda: TREE.sparse_distance_matrix(TREE, 1, output_type="csr_matrix"),
    ],
    TypeError: [
        lambda: KDTree([[1j]]),
        lambda: KDTree([[1.0]], leafsize="10"),
        lambda: TREE.query([1j, 0, 0]),
        lambda: TREE.query([0, 0, 0], k="1"),
        lambda: TREE.query([0, 0, 0], k=1.5),
        lambda: TREE.query([0, 0, 0], workers=1.5),
        lambda: TREE.query([0, 0, 0], p="2"),
        lambda: TREE.query([0, 0, 0], distance_upper_bound="1"),
        lambda: TREE.query_pairs("r"),
        lambda: TREE.query_ball_tree(TREE.data, 1),
        lambda: TREE.count_neighbors(None, 1),
        lambda: TREE.query([0, 0, 0], jobs=1),
    ],
}


@pytest.mark.parametrize("error", REFUSED)
def test_errors(error):
    for call in REFUSED[error]:
        with pytest.raises(error):
            call()


def test_negative_radii_hold_nothing():
    assert TREE.query_ball_point(TREE.data, [-1, 0, np.nan, 5.5]).tolist() == [[], [1], [], [2, 3]]
    assert TREE.query_ball_point(TREE.data, [-1, 0, np.nan, 5.5], return_length=True).tolist() == [0, 1, 0, 2]
    assert TREE.query_pairs(-1) == set()


def test_scipy_is_imported_only_for_what_is_its():
    """Searches, lists and pairs need NumPy alone."""
    program = (
        "import sys; from kith.spatial import KDTree; t = KDTree([[0.0], [1.0]], boxsize=3); t.query([[2.5]], 2)\n"
        "t.query_ball_point([0.0], 1); t.query_pairs(1); t.count_neighbors(t, 1)\n"
        "t.sparse_distance_matrix(t, 1, output_type='dict'); sys.exit('scipy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
