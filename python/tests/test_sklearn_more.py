"""Estimators of a radius, of outliers and of missing values, and sparse points, beside scikit-learn's."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.impute
import sklearn.neighbors as theirs
from sklearn.base import clone
from sklearn.metrics.pairwise import nan_euclidean_distances

import kith.sklearn as ours
from kith.sklearn._imputer import NanDistances


def both(name, *arguments, **keywords):
    module = sklearn.impute if name == "KNNImputer" else theirs
    return getattr(ours, name)(*arguments, **keywords), getattr(module, name)(*arguments, **keywords)


WEIGHTS = ["uniform", "distance", None, lambda distances: np.array([1 / (1 + each) for each in distances], object)]


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "distance", "none", "function"])
def test_radius_classifier(rng, weights, algorithm):
    X, Q = rng.random((300, 3)), rng.random((60, 3))
    if algorithm != "brute":  # whose distances of equal points are not 0 in scikit-learn
        Q[:20] = X[:20]
    y = rng.integers(0, 4, 300)
    keywords = dict(weights=weights, algorithm=algorithm, outlier_label="most_frequent")
    mine, other = (one.fit(X, y) for one in both("RadiusNeighborsClassifier", 0.25, **keywords))
    np.testing.assert_allclose(mine.predict_proba(Q), other.predict_proba(Q), rtol=1e-12)
    assert (mine.predict(Q) == other.predict(Q)).all() and mine.score(Q, mine.predict(Q)) == 1
    assert mine._kith_indices
    several = np.stack([y, y % 2], axis=1)
    mine, other = (one.fit(X, several) for one in both("RadiusNeighborsClassifier", 0.25, **keywords))
    for a, b in zip(mine.predict_proba(Q), other.predict_proba(Q)):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert (mine.predict(Q) == other.predict(Q)).all()


def test_radius_classifier_of_fitted_points(rng):
    X, y = rng.random((200, 2)), rng.integers(0, 3, 200)
    mine, other = (one.fit(X, y) for one in both("RadiusNeighborsClassifier", 0.3, algorithm="kd_tree"))
    np.testing.assert_allclose(mine.predict_proba(None), other.predict_proba(None), rtol=1e-12)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_radius_classifier_with_outliers(rng, algorithm):
    X, y = rng.random((50, 2)), rng.integers(0, 3, 50)
    Q = np.vstack([X[:3], [[9.0, 9.0]]])
    for estimator in both("RadiusNeighborsClassifier", 0.3, algorithm=algorithm):
        with pytest.raises(ValueError, match=r"No neighbors found for test samples .*3"):
            estimator.fit(X, y).predict(Q)
    mine, other = (
        one.fit(X, y) for one in both("RadiusNeighborsClassifier", 0.3, algorithm=algorithm, outlier_label=1)
    )
    np.testing.assert_allclose(mine.predict_proba(Q), other.predict_proba(Q), rtol=1e-12)
    assert mine.predict(Q)[3] == 1
    mine, other = (
        one.fit(X, y) for one in both("RadiusNeighborsClassifier", 0.3, algorithm=algorithm, outlier_label=-7)
    )
    with pytest.warns(UserWarning, match="Outlier label -7 is not in training classes"):
        got = mine.predict_proba(Q)
    assert not got[3].any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (mine.predict(Q) == other.predict(Q)).all() and mine.predict(Q)[3] == -7


@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "distance", "none", "function"])
@pytest.mark.parametrize("shape", [(), (1,), (3,)], ids=str)
def test_radius_regressor(rng, weights, shape):
    X, Q = rng.random((300, 3)), rng.random((60, 3))
    Q[:20] = X[:20]
    y = rng.standard_normal((300, *shape))
    mine, other = (one.fit(X, y) for one in both("RadiusNeighborsRegressor", 0.3, weights=weights))
    got = mine.predict(Q)
    assert got.shape == other.predict(Q).shape
    np.testing.assert_allclose(got, other.predict(Q), rtol=1e-9, atol=1e-12)
    Q[5] = 9
    with pytest.warns(UserWarning, match="no neighbors within specified radius"):
        got = mine.predict(Q)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(got, other.predict(Q), rtol=1e-9, atol=1e-12)
    assert np.isnan(got[5]).all()


def test_radius_means_in_parts(rng, monkeypatch):
    """Neighbors are copied a part at a time."""
    X, y = rng.random((200, 2)), rng.standard_normal((200, 2))
    mine, other = (one.fit(X, y) for one in both("RadiusNeighborsRegressor", 0.4))
    labels = rng.integers(0, 3, 200)
    votes, their_votes = (one.fit(X, labels) for one in both("RadiusNeighborsClassifier", 0.4))
    for most in (1, 70, 1000):
        monkeypatch.setattr("kith.sklearn._radius._AT_ONCE", most)
        np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-9)
        np.testing.assert_allclose(votes.predict_proba(X), their_votes.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", ["RadiusNeighborsClassifier", "RadiusNeighborsRegressor"])
@pytest.mark.parametrize("keywords", [dict(metric="precomputed"), dict(metric="braycurtis")], ids=str)
def test_what_is_left_to_scikit_learn(rng, name, keywords):
    X = rng.random((40, 40))
    X = (X + X.T) / 2
    np.fill_diagonal(X, 0)
    y = rng.integers(0, 2, 40)
    mine, other = (one.fit(X, y) for one in both(name, 0.6, **keywords))
    assert not mine._kith_indices
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keywords", [dict(), dict(metric="manhattan"), dict(contamination=0.1), dict(n_neighbors=5)], ids=str)
def test_outliers(rng, keywords, dtype):
    X = np.vstack([rng.standard_normal((300, 4)), rng.uniform(-9, 9, (10, 4))]).astype(dtype)
    Q = rng.uniform(-5, 5, (50, 4)).astype(dtype)
    mine, other = both("LocalOutlierFactor", **keywords)
    assert (mine.fit_predict(X) == other.fit_predict(X)).all()
    np.testing.assert_allclose(mine.negative_outlier_factor_, other.negative_outlier_factor_, rtol=1e-4)
    assert mine._kith_indices and not hasattr(mine, "predict")
    mine, other = (one.fit(X) for one in both("LocalOutlierFactor", novelty=True, **keywords))
    np.testing.assert_allclose(mine.score_samples(Q), other.score_samples(Q), rtol=1e-4)
    assert (mine.predict(Q) == other.predict(Q)).all()
    again = pickle.loads(pickle.dumps(mine))
    assert (again.score_samples(Q) == mine.score_samples(Q)).all()


def with_holes(rng, shape, share, dtype=np.float64):
    X = rng.standard_normal(shape).astype(dtype)
    X[rng.random(shape) < share] = np.nan
    return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_rows_with_holes_have_scikit_learns_bits(rng, dtype):
    X, Q = with_holes(rng, (80, 7), 0.3, dtype), with_holes(rng, (30, 7), 0.6, dtype)
    got = NanDistances(X, np.isnan(X))(Q, np.isnan(Q))
    want = nan_euclidean_distances(Q, X)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    assert np.isnan(want).any()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("keywords", [dict(), dict(weights="distance"), dict(n_neighbors=1), dict(n_neighbors=200)], ids=str)
def test_imputer(rng, share, keywords):
    X, Q = with_holes(rng, (150, 6), share), with_holes(rng, (40, 6), share)
    Q[0] = np.nan  # nearest to nobody
    mine, other = (one.fit(X) for one in both("KNNImputer", **keywords))
    for points in (X, Q):
        np.testing.assert_allclose(mine.transform(points), other.transform(points), rtol=1e-9, atol=1e-12)
    assert not np.isnan(mine.transform(Q)).any()


def test_imputer_options(rng):
    X = with_holes(rng, (100, 5), 0.3)
    X[:, 2] = np.nan
    weights = lambda distances: 1 / (1 + distances)  # noqa: E731
    cases = [
        dict(add_indicator=True), dict(keep_empty_features=True), dict(weights=weights),
        dict(metric=lambda a, b, missing_values=np.nan: float(np.nansum(abs(a - b)))),
    ]  # fmt: skip
    for keywords in cases:
        mine, other = both("KNNImputer", **keywords)
        np.testing.assert_allclose(mine.fit_transform(X), other.fit_transform(X), rtol=1e-9, atol=1e-12)
        assert (mine.get_feature_names_out() == other.get_feature_names_out()).all()
        assert clone(mine).get_params() == mine.get_params()
    whole = rng.standard_normal((30, 4))
    whole[whole < -1] = -99
    mine, other = both("KNNImputer", missing_values=-99)
    np.testing.assert_allclose(mine.fit_transform(whole), other.fit_transform(whole), rtol=1e-9)
    kept = with_holes(rng, (50, 4), 0.2)
    copy = kept.copy()
    ours.KNNImputer().fit_transform(kept)
    np.testing.assert_array_equal(kept, copy)


def test_imputer_works_in_parts(rng):
    X = with_holes(rng, (300, 5), 0.4)
    want = sklearn.impute.KNNImputer().fit_transform(X)
    with sklearn.config_context(working_memory=0.01):
        np.testing.assert_allclose(ours.KNNImputer().fit_transform(X), want, rtol=1e-9)


def test_equally_near_donors_are_the_first_ones():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, np.nan]])
    assert ours.KNNImputer(n_neighbors=2).fit_transform(X)[3].tolist() == [0.0, 1.5]


SPARSE_METRICS = [dict(), dict(metric="manhattan"), dict(metric="cosine"), dict(metric="l2"), dict(p=1)]


def sparse_points(rng, rows, dtype=np.float64):
    X = rng.standard_normal((rows, 30)) * (rng.random((rows, 30)) < 0.2)
    X[~X.any(axis=1), 0] = 1
    return scipy.sparse.csr_matrix(X.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keywords", SPARSE_METRICS, ids=str)
def test_sparse_neighbors(rng, keywords, dtype):
    X, Q = sparse_points(rng, 200, dtype), sparse_points(rng, 20, dtype)
    mine, other = (one.fit(X) for one in both("NearestNeighbors", n_neighbors=4, radius=1.0, **keywords))
    for queries in (Q, None, Q.toarray()):
        a, b = mine.kneighbors(queries), other.kneighbors(queries)
        np.testing.assert_allclose(a[0], b[0], rtol=1e-4, atol=1e-5)
        assert (a[1] == b[1]).all() and a[0].dtype == dtype
        a, b = mine.radius_neighbors_graph(queries), other.radius_neighbors_graph(queries)
        assert (a.indptr == b.indptr).all()
    assert mine._kith_indices and mine._fit_method == other._fit_method == "brute"
    again = pickle.loads(pickle.dumps(mine))
    assert (again.kneighbors(Q)[1] == mine.kneighbors(Q)[1]).all()


def test_sparse_votes_means_and_outliers(rng):
    X, Q = sparse_points(rng, 200), sparse_points(rng, 20)
    y = rng.integers(0, 3, 200)
    for name, keywords in (
        ("KNeighborsClassifier", {}), ("KNeighborsRegressor", {}), ("RadiusNeighborsRegressor", dict(radius=3.0)),
        ("RadiusNeighborsClassifier", dict(radius=3.0, outlier_label=0)), ("LocalOutlierFactor", dict(novelty=True)),
    ):  # fmt: skip
        mine, other = (one.fit(X, y) for one in both(name, **keywords))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(mine.predict(Q), other.predict(Q), rtol=1e-6)
        assert mine._kith_indices, name
    mine, other = (one.fit(X) for one in both("KNeighborsTransformer", n_neighbors=4))
    np.testing.assert_allclose(mine.transform(Q).toarray(), other.transform(Q).toarray(), rtol=1e-6)
    whole = scipy.sparse.csr_matrix(rng.integers(0, 2, (50, 10)))
    mine, other = (one.fit(whole) for one in both("NearestNeighbors"))
    np.testing.assert_allclose(mine.kneighbors(whole)[0], other.kneighbors(whole)[0], atol=1e-6)


def test_sparse_zero_vectors_are_left_to_scikit_learn(rng):
    X = sparse_points(rng, 30)
    zero = scipy.sparse.csr_matrix((1, 30))
    mine, other = (one.fit(X) for one in both("NearestNeighbors", metric="cosine"))
    np.testing.assert_allclose(mine.kneighbors(zero)[0], other.kneighbors(zero)[0])
    assert not mine._kith_indices
    stacked = scipy.sparse.vstack([X, zero]).tocsr()
    mine, other = (one.fit(stacked) for one in both("NearestNeighbors", metric="cosine"))
    np.testing.assert_allclose(mine.kneighbors(X)[0], other.kneighbors(X)[0], atol=1e-12)
    assert not mine._kith_indices
    with pytest.raises(ValueError):
        mine.kneighbors(sparse_points(rng, 3)[:, :7])
