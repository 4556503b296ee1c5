"""Votes and means of all fitted points within a radius, of all queries at once."""

from __future__ import annotations

import warnings
from typing import Any, List, Optional, Tuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._neighbors import RadiusNeighbors
from ._search import KithSearch

# Neighbors whose targets are copied at once.
_AT_ONCE = 1 << 22


def _weights(found: RadiusNeighbors, how: Any) -> Optional[np.ndarray]:
    """The weight of each neighbor; None where all are alike. Where some are at distance 0 the others have none."""
    if how != "distance":
        return None
    distances, query = np.asarray(found.distances), _query_of_each(found)
    zero = distances == 0
    at_zero = np.zeros(len(found.counts), bool)
    at_zero[query[zero]] = True
    with np.errstate(divide="ignore"):
        return np.where(at_zero[query], zero, 1.0 / distances)


def _query_of_each(found: RadiusNeighbors) -> np.ndarray:
    return np.repeat(np.arange(len(found.counts)), found.counts)


class _KithWithin(KithSearch):
    """What classifier and regressor share."""

    weights: Any

    def _neighborhoods(self, X: Any) -> Optional[RadiusNeighbors]:
        """None where scikit-learn has to do it: its own search, and weights that are functions of a query's distances."""
        check_is_fitted(self, "_fit_method")
        if callable(self.weights) or not self._searches_for(X):
            return None
        return self._within(X)


class KithRadiusVotes(_KithWithin):
    """To be put before scikit-learn's classifier."""

    def predict_proba(self, X: Any) -> Any:
        """The share of each class among the fitted points within the radius of each row of X."""
        found = self._neighborhoods(X)
        if found is None:
            return super(KithRadiusVotes, self._for_scikit_learn(X)).predict_proba(X)
        lonely = np.flatnonzero(found.counts == 0)
        if self.outlier_label_ is None and lonely.size > 0:
            raise ValueError(
                f"No neighbors found for test samples {lonely!r}, you can try using larger radius, giving a label for "
                "outliers, or considering removing them from your dataset."
            )
        weights = _weights(found, self.weights)
        outputs: List[Tuple[Any, np.ndarray]] = [(self.classes_, self._y)]
        if self.outputs_2d_:
            outputs = [(classes, self._y[:, column]) for column, classes in enumerate(self.classes_)]
        shares = [self._shares(found, weights, *output) for output in outputs]
        for column, (classes, _) in enumerate(outputs):
            if lonely.size > 0:
                self._give_label(shares[column], lonely, classes, self.outlier_label_[column])
        return shares if self.outputs_2d_ else shares[0]

    @staticmethod
    def _shares(found: RadiusNeighbors, weights: Optional[np.ndarray], classes: Any, y: np.ndarray) -> np.ndarray:
        queries = len(found.counts)
        votes = np.zeros((queries, classes.size))
        for first, last in _parts(found.offsets):
            a, b = found.offsets[first], found.offsets[last]
            query = np.repeat(np.arange(last - first), found.counts[first:last])
            cells = query * classes.size + y[found.indices[a:b]]
            part = None if weights is None else weights[a:b]
            counted = np.bincount(cells, part, minlength=(last - first) * classes.size)
            votes[first:last] = counted.reshape(-1, classes.size)
        total = votes.sum(axis=1, keepdims=True)
        total[total == 0] = 1
        votes /= total
        return votes

    @staticmethod
    def _give_label(shares: np.ndarray, lonely: np.ndarray, classes: Any, label: Any) -> None:
        place = np.flatnonzero(classes == label)
        if place.size == 1:
            shares[lonely, place[0]] = 1
        else:
            warnings.warn(
                f"Outlier label {label} is not in training classes. All class probabilities of outliers will be "
                "assigned with 0.",
                stacklevel=4,
            )

    def _for_scikit_learn(self, X: Any) -> KithRadiusVotes:
        """The same estimator. Where kith searches for it, with another name for brute force, which counts by itself."""
        if self._fit_method != "brute" or not self._searches_for(X) or self.effective_metric_ == "cosine":
            return self
        same = object.__new__(type(self))
        same.__dict__.update(self.__dict__, _fit_method="kith")
        return same


class KithRadiusMeans(_KithWithin):
    """To be put before scikit-learn's regressor."""

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the targets of the fitted points within the radius of each row of X; NaN where there are none."""
        found = self._neighborhoods(X)
        if found is None or np.asarray(self._y).dtype.kind not in "biuf":
            return super().predict(X)
        y = self._y.reshape(len(self._y), -1)
        weights = _weights(found, self.weights)
        lonely = found.counts == 0
        means = np.empty((len(lonely), y.shape[1]))
        for first, last in _parts(found.offsets):
            means[first:last] = _means(found, y, weights, first, last)
        if lonely.any():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                means[lonely] = np.full_like(y[0], np.nan)  # of integers what NumPy makes of it, as scikit-learn does
        if np.isnan(means).any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.", stacklevel=2
            )
        return means.ravel() if self._y.ndim == 1 else means


def _means(
    found: RadiusNeighbors, y: np.ndarray, weights: Optional[np.ndarray], first: int, last: int
) -> np.ndarray:
    """Of queries first to last - 1; zeros where they have no neighbors."""
    offsets = found.offsets[first : last + 1]
    a, b = offsets[0], offsets[-1]
    counts = found.counts[first:last]
    sums = np.zeros((last - first, y.shape[1]))
    some = counts > 0
    if not some.any():
        return sums
    starts = (offsets[:-1] - a)[some]
    values = y[found.indices[a:b]].astype(np.float64, copy=False)
    if weights is None:
        sums[some] = np.add.reduceat(values, starts, axis=0) / counts[some, None]
    else:
        part = weights[a:b, None]
        sums[some] = np.add.reduceat(values * part, starts, axis=0) / np.add.reduceat(part, starts, axis=0)
    return sums


def _parts(offsets: np.ndarray) -> List[Tuple[int, int]]:
    """Ranges of queries that have about as many neighbors as are copied at once."""
    queries = len(offsets) - 1
    parts, first = [], 0
    while first < queries:
        last = int(np.searchsorted(offsets, offsets[first] + _AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), queries)
        parts.append((first, last))
        first = last
    return parts
