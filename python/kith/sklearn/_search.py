"""The search that takes the place of scikit-learn's."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Dict, Optional

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.neighbors import VALID_METRICS, BallTree, KDTree
from sklearn.neighbors._base import NeighborsBase
from sklearn.utils.validation import check_is_fitted

from .._index import Index
from .._neighbors import RadiusNeighbors

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # scikit-learn before 1.6

    def _validate(estimator: Any, *arguments: Any, **keywords: Any) -> Any:
        return estimator._validate_data(*arguments, **keywords)


# scikit-learn's names of the metrics that kith has too; kith calls two of them by other names.
_METRICS = {
    "euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "infinity", "minkowski", "p",
    "cosine", "correlation", "hamming", "canberra",
}  # fmt: skip
_KITH_NAMES = {"p": "minkowski", "infinity": "chebyshev"}
# Names that only scikit-learn's trees know, and what its brute force calls the like.
_TREE_NAMES = {"p": "euclidean", "infinity": "chebyshev"}
_TREES = {"kd_tree": KDTree, "ball_tree": BallTree}
# Those of sparse points.
_SPARSE_METRICS = {"euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "cosine"}
_MOST_TREE_FEATURES = 15  # scikit-learn's auto takes brute force beyond

_Estimator: Any = object  # what scikit-learn's classes have is not known to type checkers


class KithSearch(_Estimator):
    """To be put before an estimator of ``sklearn.neighbors``.

    ``_fit_method`` is what scikit-learn's would be. It says what is done with queries that are left to scikit-learn;
    where ``_kith_searches``, kith does the others, and a tree is built when something asks for it.
    """

    algorithm: str
    metric: Any

    def _fit(self, X: Any, y: Any = None) -> Any:
        self._kith_indices: Dict[np.dtype, Index] = {}
        self._kith_searches = False
        if isinstance(X, (KDTree, BallTree, NeighborsBase)) or issparse(X) or not self._has_metric():
            fitted = super()._fit(X, y)
        else:
            fitted = self._fit_without_tree(X, y)
        self._kith_searches = self._can_search()
        return fitted

    def _fit_without_tree(self, X: Any, y: Any) -> Any:
        """As scikit-learn does it with brute force, and what it would have chosen."""
        algorithm, metric = self.algorithm, self.metric
        if metric not in VALID_METRICS.get(algorithm, _METRICS):
            self._check_algorithm_metric()  # refuses
        self.algorithm, self.metric = "brute", _TREE_NAMES.get(metric, metric)
        try:
            fitted = super()._fit(X, y)
        finally:
            self.algorithm, self.metric = algorithm, metric
        if metric in _TREE_NAMES:
            self.effective_metric_ = metric
        if isinstance(self._fit_X, np.ndarray):  # no sparse matrix of a data frame of sparse columns
            self._fit_method = self._chosen_by_sklearn() if algorithm == "auto" else algorithm
        return fitted

    def _chosen_by_sklearn(self) -> str:
        rows, features = self._fit_X.shape
        many = self.n_neighbors is not None and self.n_neighbors >= rows // 2
        if features > _MOST_TREE_FEATURES or many:
            return "brute"
        return next((name for name in _TREES if self.effective_metric_ in VALID_METRICS[name]), "brute")

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All fitted points within the radius, which may be one for each row of X; by index unless they are sorted."""
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        found = self._within(X, radius) if self._searches_for(X) else None
        if found is None:
            return super().radius_neighbors(X, radius, return_distance, sort_results)
        rows = (found if sort_results else _by_index(found)).rows()
        indices = _object_array(rows.indices)
        return (_object_array(rows.distances), indices) if return_distance else indices

    def _searches_for(self, X: Any) -> bool:
        """Whether kith searches for these queries, zero vectors aside; sparse ones among sparse points only."""
        return self._kith_searches and (not issparse(X) or issparse(self._fit_X))

    def _within(self, X: Any, radius: Any = None) -> Optional[RadiusNeighbors]:
        """All fitted points within the radius; None for zero vectors under cosine, which are left to scikit-learn."""
        queries = None if X is None else self._queries(X)
        if queries is not None and self._has_zero_vectors(queries):
            return None
        index = self._index(self._fit_X.dtype if queries is None else queries.dtype)
        return index.search_radius(queries, self.radius if radius is None else radius)

    @property
    def _tree(self) -> Any:
        """scikit-learn's tree of the points; where kith searches, one is only built to be looked at."""
        if self._kith_tree is None and self._kith_searches and self._fit_method in _TREES:
            tree, parameters = _TREES[self._fit_method], self.effective_metric_params_
            self._kith_tree = tree(self._fit_X, self.leaf_size, metric=self.effective_metric_, **parameters)
        return self._kith_tree

    @_tree.setter
    def _tree(self, tree: Any) -> None:
        self._kith_tree = tree

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_kith_indices" in state:
            state = {**state, "_kith_indices": {}}
        return state

    def _has_metric(self) -> bool:
        """Kith has the metric with its parameters: no weights, and a p of minkowski that makes it a metric."""
        if not isinstance(self.metric, str) or self.metric not in _METRICS:
            return False
        parameters = {name: value for name, value in (self.metric_params or {}).items() if value is not None}
        p = parameters.pop("p", self.p if self.metric == "minkowski" else 2)
        return not parameters and p is not None and p >= 1

    def _can_search(self) -> bool:
        if not self._has_metric() or self._has_zero_vectors(self._fit_X):
            return False
        if not issparse(self._fit_X):
            return isinstance(self._fit_X, np.ndarray)
        return self.effective_metric_ in _SPARSE_METRICS and self._fit_X.dtype.kind in "biuf"

    def _has_zero_vectors(self, points: Any) -> bool:
        if self.effective_metric_ != "cosine":
            return False
        if not issparse(points):
            return not points.any(axis=1).all()
        rows = np.repeat(np.arange(points.shape[0]), np.diff(points.indptr))
        return not np.bincount(rows[points.data != 0], minlength=points.shape[0]).all()

    def _queries(self, X: Any) -> Any:
        return _validate(self, X, reset=False, order="C", accept_sparse="csr" if issparse(self._fit_X) else False)

    def _index(self, dtype: np.dtype) -> Index:
        """The fitted points in float32 if all are, else in float64."""
        single = dtype == np.float32 and self._fit_X.dtype == np.float32
        common = np.dtype(np.float32 if single else np.float64)
        if common not in self._kith_indices:
            metric: Any = _KITH_NAMES.get(self.effective_metric_, self.effective_metric_)
            self._kith_indices[common] = Index(
                self._fit_X.astype(common, copy=False),
                metric=metric,
                p=self.effective_metric_params_.get("p", 2) if metric == "minkowski" else None,
                threads=None if self.n_jobs is None else effective_n_jobs(self.n_jobs),
                check_finite=False,  # scikit-learn has looked
            )
        return self._kith_indices[common]


class KithNearest(KithSearch):
    """For estimators that look for the k nearest."""

    def kneighbors(self, X: Any = None, n_neighbors: Optional[int] = None, return_distance: bool = True) -> Any:
        """The k nearest of each row of X; of each fitted point, itself left out, where X is None."""
        check_is_fitted(self)
        if not self._searches_for(X):
            return super().kneighbors(X, n_neighbors, return_distance)
        if n_neighbors is None:
            n_neighbors = self.n_neighbors
        elif not isinstance(n_neighbors, Integral):
            raise TypeError(f"n_neighbors does not take {type(n_neighbors)} value, enter integer value")
        elif n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        queries = None if X is None else self._queries(X)
        most = self.n_samples_fit_ - (queries is None)
        if n_neighbors > most:
            raise ValueError(
                f"Expected n_neighbors {'<' if queries is None else '<='} n_samples_fit, but n_neighbors = "
                f"{n_neighbors}, n_samples_fit = {self.n_samples_fit_}, n_samples = "
                f"{self.n_samples_fit_ if queries is None else queries.shape[0]}"
            )
        if queries is None:
            found = self._index(self._fit_X.dtype).search_self(n_neighbors)
        elif self._has_zero_vectors(queries):
            return super().kneighbors(X, n_neighbors, return_distance)
        else:
            found = self._index(queries.dtype).search(queries, n_neighbors)
        return (found.distances, found.indices) if return_distance else found.indices


class KithVotes(KithNearest):
    """Classifiers: scikit-learn's have a way of their own where they search by brute force, without ``kneighbors``."""

    def predict(self, X: Any) -> Any:
        """The class of each row of X; of each fitted point, itself left out, where X is None."""
        return super(KithVotes, self._for_votes(X)).predict(X)

    def predict_proba(self, X: Any) -> Any:
        """The share of each class among the neighbors of each row of X."""
        return super(KithVotes, self._for_votes(X)).predict_proba(X)

    def _for_votes(self, X: Any) -> KithVotes:
        """The same estimator; where kith searches instead of brute force, with another name for that."""
        if not getattr(self, "_kith_searches", False) or self._fit_method != "brute" or not self._searches_for(X):
            return self
        if self.effective_metric_ == "cosine":  # which that way has not, and whose zero vectors are left to brute force
            return self
        same = object.__new__(type(self))
        same.__dict__.update(self.__dict__, _fit_method="kith")
        return same


def _by_index(found: RadiusNeighbors) -> RadiusNeighbors:
    """The same rows, each in the order of its indices."""
    query = np.repeat(np.arange(len(found.counts)), found.counts)
    order = np.lexsort((found.indices, query))
    return RadiusNeighbors(found.distances[order], found.indices[order], found.offsets)


def _object_array(rows: Any) -> np.ndarray:
    out = np.empty(len(rows), dtype=object)
    out[:] = rows
    return out
