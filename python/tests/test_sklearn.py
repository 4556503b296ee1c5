"""The estimators: scikit-learn's own checks, and its answers."""

import doctest
import pickle
import re
import warnings

import numpy as np
import pytest
import sklearn.impute
import sklearn.neighbors as theirs
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import kith.sklearn as ours

NAMES = ours.__all__
WITH_NEIGHBORS = [name for name in NAMES if not name.startswith("Radius") and name != "KNNImputer"]


def of_theirs(name):
    return getattr(sklearn.impute if name == "KNNImputer" else theirs, name)


@pytest.mark.parametrize("name", NAMES)
def test_check_estimator(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(getattr(ours, name)())


@pytest.mark.parametrize("name", NAMES)
def test_same_parameters(name):
    mine, other = getattr(ours, name)().get_params(), of_theirs(name)().get_params()
    assert repr(mine) == repr(other)  # nan is among them


METRICS = [dict(metric=name) for name in ("euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming")]
METRICS += [dict(metric="canberra")]
METRICS += [dict(metric="minkowski", p=p) for p in (1, 2, 3, np.inf)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keywords", METRICS, ids=str)
def test_same_neighbors(rng, keywords, dtype):
    X, Q = rng.standard_normal((200, 6)).astype(dtype), rng.standard_normal((20, 6)).astype(dtype)
    mine = ours.NearestNeighbors(n_neighbors=4, radius=1.0, **keywords).fit(X)
    other = theirs.NearestNeighbors(n_neighbors=4, radius=1.0, **keywords).fit(X)
    for queries in (Q, None):
        a, b = mine.kneighbors(queries), other.kneighbors(queries)
        np.testing.assert_allclose(a[0], b[0], rtol=1e-5, atol=1e-6)
        if keywords["metric"] != "hamming":
            assert (a[1] == b[1]).all() and (mine.kneighbors(queries, return_distance=False) == a[1]).all()
        a = mine.radius_neighbors(queries, sort_results=True)
        b = other.radius_neighbors(queries, sort_results=True)
        if keywords["metric"] != "hamming":
            assert all((x == y).all() for x, y in zip(a[1], b[1]))
        assert (mine.radius_neighbors_graph(queries).indptr == other.radius_neighbors_graph(queries).indptr).all()
        np.testing.assert_allclose(
            mine.kneighbors_graph(queries, mode="distance").sum(),
            other.kneighbors_graph(queries, mode="distance").sum(),
            rtol=1e-5,
        )


def test_what_is_left_to_scikit_learn(rng):
    import scipy.sparse

    X = rng.standard_normal((50, 4))
    X[7] = 0
    cases = [
        (X, dict(metric="cosine")),
        (scipy.sparse.csr_matrix(X), dict(metric="cosine")),
        (scipy.sparse.csr_matrix(abs(X)), dict(metric=lambda a, b: abs(a - b).sum())),
        (X, dict(metric=lambda a, b: abs(a - b).sum())),
        (X, dict(metric="braycurtis")),
        (X, dict(metric="minkowski", p=3, metric_params={"w": np.ones(4)})),
    ]
    for points, keywords in cases:
        a = ours.NearestNeighbors(n_neighbors=3, **keywords).fit(points)
        b = theirs.NearestNeighbors(n_neighbors=3, **keywords).fit(points)
        assert not a._kith_indices
        np.testing.assert_allclose(a.kneighbors(points)[0], b.kneighbors(points)[0], atol=1e-7)
    fitted = ours.NearestNeighbors(metric="cosine").fit(X[:5])
    assert fitted.kneighbors(X[7:8])[0].shape == (1, 5)
    brute = ours.NearestNeighbors(algorithm="brute").fit(X)
    assert len(brute.kneighbors(scipy.sparse.csr_matrix(X))) == 2
    with pytest.raises(ValueError, match="kd_tree does not work with sparse matrices"):
        ours.NearestNeighbors().fit(X).kneighbors(scipy.sparse.csr_matrix(X))


FIT_METHODS = [
    dict(),
    dict(metric="haversine"),
    dict(metric="haversine", algorithm="ball_tree"),
    dict(metric="canberra"),
    dict(metric="braycurtis"),
    dict(metric="mahalanobis", metric_params={"VI": np.eye(2)}),
    dict(metric="seuclidean", metric_params={"V": np.ones(2)}),
    dict(metric=lambda a, b: float(np.abs(a - b).sum())),
    dict(metric="minkowski", p=3, metric_params={"w": np.ones(2)}),
    dict(metric="minkowski", p=0.5),
    dict(metric="cosine"),
    dict(metric="correlation", algorithm="brute"),
    dict(metric="hamming"),
    dict(n_neighbors=30),
    dict(algorithm="kd_tree"),
    dict(algorithm="ball_tree", leaf_size=7),
    dict(algorithm="brute"),
]


@pytest.mark.parametrize("keywords", FIT_METHODS, ids=str)
def test_the_method_is_the_one_that_scikit_learn_takes(rng, keywords):
    """What kith leaves to scikit-learn is then no slower; and trees can be looked at."""
    X = rng.random((50, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, other = (module.NearestNeighbors(**keywords).fit(X) for module in (ours, theirs))
    assert mine._fit_method == other._fit_method
    assert mine.effective_metric_ == other.effective_metric_
    assert repr(mine.effective_metric_params_) == repr(other.effective_metric_params_)
    assert type(mine._tree) is type(other._tree)
    if other._tree is not None:
        assert mine._tree.get_tree_stats() == other._tree.get_tree_stats()
        assert (np.asarray(mine._tree.query(X, 2)[1]) == np.asarray(other._tree.query(X, 2)[1])).all()
    np.testing.assert_allclose(mine.kneighbors(X, 3)[0], other.kneighbors(X, 3)[0], atol=1e-7)


def test_no_tree_is_built_unless_it_is_looked_at(rng):
    fitted = ours.NearestNeighbors(algorithm="kd_tree").fit(rng.random((50, 2)))
    fitted.kneighbors(rng.random((3, 2)))
    assert fitted._kith_tree is None and fitted._tree is fitted._tree is not None


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "auto"])
def test_algorithms_are_hints(rng, algorithm):
    """Kith searches all the same, with the answers of brute force, ties included."""
    X, Q = rng.integers(0, 3, (80, 3)).astype(float), rng.integers(0, 3, (20, 3)).astype(float)
    hinted, brute = (ours.NearestNeighbors(n_neighbors=9, algorithm=name).fit(X) for name in (algorithm, "brute"))
    for mine, want in (
        (hinted.kneighbors(Q), brute.kneighbors(Q)),
        (hinted.kneighbors(), brute.kneighbors()),
        (hinted.radius_neighbors(Q, 1.0), brute.radius_neighbors(Q, 1.0)),
    ):
        assert all(np.array_equal(a, b) for parts in zip(mine, want) for a, b in zip(*parts))
    assert hinted._kith_indices and hinted._kith_tree is None


@pytest.mark.parametrize(
    "keywords", [dict(metric="p"), dict(metric="p", metric_params={"p": 3}), dict(metric="infinity")]
)
def test_names_that_only_trees_know(rng, keywords):
    X = rng.random((60, 3))
    mine, other = (module.NearestNeighbors(**keywords).fit(X) for module in (ours, theirs))
    a, b = mine.kneighbors(X), other.kneighbors(X)
    assert (a[1] == b[1]).all() and mine._kith_indices
    np.testing.assert_allclose(a[0], b[0], rtol=1e-12)
    for module in (ours, theirs):
        with pytest.raises(ValueError, match="not valid"):
            module.NearestNeighbors(algorithm="brute", **keywords).fit(X)


def test_fitted_from_trees_and_estimators(rng):
    X = rng.random((60, 3))
    for given in (theirs.KDTree(X), theirs.NearestNeighbors().fit(X), ours.NearestNeighbors().fit(X)):
        found = ours.NearestNeighbors(n_neighbors=4).fit(given).kneighbors(X)
        assert (found[1] == theirs.NearestNeighbors(n_neighbors=4).fit(X).kneighbors(X)[1]).all()


def test_votes_are_of_kiths_neighbors():
    """Of brute force, scikit-learn counts votes without kneighbors, and not by the lowest index of equal distances."""
    X, y = np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.array([0, 0, 1, 1])
    for keywords in (dict(), dict(algorithm="brute"), dict(algorithm="kd_tree")):
        fitted = ours.KNeighborsClassifier(2, **keywords).fit(X, y)
        assert fitted.predict([[0.0]]).tolist() == [0] and fitted.predict_proba([[0.0]]).tolist() == [[1, 0]]
        assert fitted._kith_indices


def test_ties_go_to_the_lowest_index():
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert ours.NearestNeighbors(n_neighbors=3).fit(X).kneighbors([[0.0]])[1].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classifier_and_regressor(weights):
    X, y = load_iris(return_X_y=True)
    mine, other = (module.KNeighborsClassifier(7, weights=weights).fit(X, y) for module in (ours, theirs))
    assert (mine.predict(X) == other.predict(X)).mean() > 0.98
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), atol=0.3)
    mine, other = (module.KNeighborsRegressor(3, weights=weights).fit(X, X[:, :2]) for module in (ours, theirs))
    np.testing.assert_allclose(mine.predict(X + 0.01), other.predict(X + 0.01), atol=0.3)


@pytest.mark.parametrize("name", WITH_NEIGHBORS)
def test_pickle_and_clone(name):
    X, y = load_iris(return_X_y=True)
    fitted = getattr(ours, name)(n_neighbors=3, metric="manhattan").fit(X, y)
    want = fitted.kneighbors(X[:5])
    again = pickle.loads(pickle.dumps(fitted))
    got = again.kneighbors(X[:5])
    assert (got[0] == want[0]).all() and (got[1] == want[1]).all()
    assert clone(fitted).get_params() == fitted.get_params()


def test_pipelines_grids_and_output():
    X, y = load_iris(return_X_y=True)
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), ours.KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5]},
        cv=3,
    )
    assert grid.fit(X, y).best_score_ > 0.9
    transformer = ours.KNeighborsTransformer(n_neighbors=3).set_output(transform="default").fit(X)
    assert transformer.transform(X).shape == (150, 150)
    assert list(transformer.get_feature_names_out())[0] == "kneighborstransformer0"
    precomputed = make_pipeline(
        ours.KNeighborsTransformer(n_neighbors=7, mode="distance"),
        ours.KNeighborsClassifier(n_neighbors=5, metric="precomputed"),
    )
    assert precomputed.fit(X, y).score(X, y) > 0.9


def test_mixed_precision(rng):
    X = rng.standard_normal((50, 4)).astype(np.float32)
    fitted = ours.NearestNeighbors(n_neighbors=2).fit(X)
    assert fitted.kneighbors(X)[0].dtype == np.float32
    assert fitted.kneighbors(X.astype(np.float64))[0].dtype == np.float64
    assert ours.NearestNeighbors(n_neighbors=1).fit([[0], [3]]).kneighbors([[2.0]])[1].tolist() == [[1]]


def test_errors_are_those_of_scikit_learn(rng):
    X = rng.standard_normal((5, 2))
    fitted = ours.NearestNeighbors(n_neighbors=6).fit(X)
    for call in (
        lambda: fitted.kneighbors(X),
        lambda: fitted.kneighbors(n_neighbors=5),
        lambda: fitted.kneighbors(X, n_neighbors=0),
        lambda: fitted.kneighbors(X * np.nan),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError, match="integer"):
        fitted.kneighbors(X, n_neighbors=2.5)


def _examples_of(name):
    """scikit-learn's own examples, of the class and of its methods."""
    theirs_class = of_theirs(name)
    for member in (None, "fit", "kneighbors", "kneighbors_graph", "radius_neighbors", "radius_neighbors_graph"):
        documented = theirs_class if member is None else getattr(theirs_class, member, None)
        text = getattr(documented, "__doc__", None) or ""
        text = re.sub(r"from sklearn[.](neighbors|impute) import", "from kith.sklearn import", text)
        examples = doctest.DocTestParser().get_doctest(text, {}, f"{name}.{member}", None, 0)
        if examples.examples:
            yield examples


class RoughNumbers(doctest.OutputChecker):
    """Numbers need only agree as far as they are printed in the example."""

    NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")

    def check_output(self, want, got, flags):
        if super().check_output(want, got, flags):
            return True
        if self.NUMBER.sub("0", want).split() != self.NUMBER.sub("0", got).split():
            return False
        pairs = zip(self.NUMBER.findall(want), self.NUMBER.findall(got))
        return all(abs(float(a) - float(b)) < 0.01 for a, b in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_scikit_learns_own_examples(name):
    runner = doctest.DocTestRunner(RoughNumbers(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    ran = 0
    for examples in _examples_of(name):
        ran += len(examples.examples)
        assert runner.run(examples).failed == 0, examples.name
    assert ran > 0
