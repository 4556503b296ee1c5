"""The search that takes the place of scikit-learn's."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import Any, Dict, Optional

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from .._index import Index
from .._neighbors import RadiusNeighbors

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # scikit-learn before 1.6

    def _validate(estimator: Any, *arguments: Any, **keywords: Any) -> Any:
        return estimator._validate_data(*arguments, **keywords)


_METRICS = {
    "euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "minkowski", "cosine", "correlation",
    "hamming", "canberra",
}  # fmt: skip
_FIT_METHOD = "kith"  # scikit-learn's own code looks for "brute", "kd_tree" and "ball_tree"


_Estimator: Any = object  # what scikit-learn's classes have is not known to type checkers


class KithSearch(_Estimator):
    """To be put before an estimator of ``sklearn.neighbors``."""

    algorithm: str

    def _fit(self, X: Any, y: Any = None) -> Any:
        asked = self.algorithm
        self.algorithm = "brute"  # no tree is to be built
        try:
            fitted = super()._fit(X, y)
        finally:
            self.algorithm = asked
        self._kith_indices: Dict[np.dtype, Index] = {}
        if self._can_search():
            self._fit_method = _FIT_METHOD
        return fitted

    def kneighbors(self, X: Any = None, n_neighbors: Optional[int] = None, return_distance: bool = True) -> Any:
        """The k nearest of each row of X; of each fitted point, itself left out, where X is None."""
        check_is_fitted(self)
        if self._fit_method != _FIT_METHOD or issparse(X):
            return self._left_to_sklearn().kneighbors(X, n_neighbors, return_distance)
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
            return self._left_to_sklearn().kneighbors(X, n_neighbors, return_distance)
        else:
            found = self._index(queries.dtype).search(queries, n_neighbors)
        return (found.distances, found.indices) if return_distance else found.indices

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All fitted points within the radius, which may be one for each row of X; by index unless they are sorted."""
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        if self._fit_method != _FIT_METHOD or issparse(X):
            return self._left_to_sklearn().radius_neighbors(X, radius, return_distance, sort_results)
        queries = None if X is None else self._queries(X)
        if queries is not None and self._has_zero_vectors(queries):
            return self._left_to_sklearn().radius_neighbors(X, radius, return_distance, sort_results)
        index = self._index(self._fit_X.dtype if queries is None else queries.dtype)
        found = index.search_radius(queries, self.radius if radius is None else radius)
        rows = (found if sort_results else _by_index(found)).rows()
        indices = _object_array(rows.indices)
        return (_object_array(rows.distances), indices) if return_distance else indices

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_kith_indices" in state:
            state = {**state, "_kith_indices": {}}
        return state

    def _can_search(self) -> bool:
        metric, parameters = self.effective_metric_, self.effective_metric_params_
        if not isinstance(metric, str) or metric not in _METRICS or not isinstance(self._fit_X, np.ndarray):
            return False
        if any(value is not None for name, value in parameters.items() if name != "p"):
            return False
        if metric == "minkowski" and not parameters.get("p", 2) >= 1:
            return False
        return not self._has_zero_vectors(self._fit_X)

    def _has_zero_vectors(self, points: np.ndarray) -> bool:
        return self.effective_metric_ == "cosine" and not points.any(axis=1).all()

    def _queries(self, X: Any) -> np.ndarray:
        return _validate(self, X, reset=False, order="C")

    def _index(self, dtype: np.dtype) -> Index:
        """The fitted points in float32 if all are, else in float64."""
        single = dtype == np.float32 and self._fit_X.dtype == np.float32
        common = np.dtype(np.float32 if single else np.float64)
        if common not in self._kith_indices:
            metric = self.effective_metric_
            self._kith_indices[common] = Index(
                self._fit_X.astype(common, copy=False),
                metric=metric,
                p=self.effective_metric_params_.get("p", 2) if metric == "minkowski" else None,
                threads=None if self.n_jobs is None else effective_n_jobs(self.n_jobs),
                check_finite=False,  # scikit-learn has looked
            )
        return self._kith_indices[common]

    def _left_to_sklearn(self) -> Any:
        """The estimator below, by brute force, over the same points."""
        below = copy.copy(self)
        below._fit_method = "brute" if self._fit_method == _FIT_METHOD else self._fit_method
        return super(KithSearch, below)


def _by_index(found: RadiusNeighbors) -> RadiusNeighbors:
    """The same rows, each in the order of its indices."""
    query = np.repeat(np.arange(len(found.counts)), found.counts)
    order = np.lexsort((found.indices, query))
    return RadiusNeighbors(found.distances[order], found.indices[order], found.offsets)


def _object_array(rows: Any) -> np.ndarray:
    out = np.empty(len(rows), dtype=object)
    out[:] = rows
    return out
