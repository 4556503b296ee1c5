"""Missing values from the nearest rows that have them."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np
from sklearn import get_config
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors._base import _get_weights
from sklearn.utils import gen_batches
from sklearn.utils._mask import _get_mask
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted

from .._topk import topk
from ._search import _validate

_Estimator: Any = object  # what scikit-learn's classes have is not known to type checkers


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


class NanDistances:
    """Distances between rows in the columns that both have, to the same bits as scikit-learn's ``nan_euclidean``.

    What is known of the fitted rows is made once, and shared columns are counted by a product of floats, which are exact
    and many times as fast as integers.
    """

    def __init__(self, rows: np.ndarray, missing: np.ndarray) -> None:
        self._missing = missing
        self._rows = np.where(missing, 0, rows).astype(rows.dtype, copy=False)
        self._squares = (self._rows * self._rows).T
        self._present = (~missing).astype(np.float64).T

    def __call__(self, rows: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """NaN where no column is shared."""
        rows = np.where(missing, 0, rows).astype(rows.dtype, copy=False)
        distances = euclidean_distances(rows, self._rows, squared=True)
        distances -= np.dot(rows * rows, self._missing.T)
        distances -= np.dot(missing, self._squares)
        np.clip(distances, 0, None, out=distances)
        shared = np.dot((~missing).astype(np.float64), self._present)
        distances[shared == 0] = np.nan
        distances /= np.maximum(shared, 1, out=shared)
        distances *= rows.shape[1]
        return np.sqrt(distances, out=distances)


class KithImputes(_Estimator):
    """To be put before scikit-learn's imputer: all columns take their donors from one list of the nearest rows."""

    metric: Any
    missing_values: Any
    n_neighbors: int
    weights: Any

    def transform(self, X: Any) -> Any:
        """X with its missing values filled in."""
        check_is_fitted(self)
        if self.metric != "nan_euclidean":
            return super().transform(X)
        X = _validate(
            self,
            X,
            accept_sparse=False,
            dtype=FLOAT_DTYPES,
            force_writeable=True,
            ensure_all_finite="allow-nan" if _is_nan(self.missing_values) else True,
            copy=self.copy,
            reset=False,
        )
        mask = _get_mask(X, self.missing_values)
        indicator = super()._transform_indicator(mask)
        incomplete = np.flatnonzero(mask[:, self._valid_mask].any(axis=1))
        if incomplete.size:
            self._impute(X, mask, incomplete)
        if self.keep_empty_features:
            X[:, ~self._valid_mask] = 0
        else:
            X = X[:, self._valid_mask]
        return super()._concatenate_indicator(X, indicator)

    def _impute(self, X: np.ndarray, mask: np.ndarray, incomplete: np.ndarray) -> None:
        distances_to = NanDistances(self._fit_X, self._mask_fit_X)
        donors = len(self._fit_X)
        nearest = min(4 * self.n_neighbors + 16, donors)
        # Distances, shared columns and a temporary.
        rows = max(1, int(get_config()["working_memory"] * 2**20) // (24 * donors))
        for part in gen_batches(len(incomplete), rows):
            receivers = incomplete[part]
            distances = distances_to(X[receivers], mask[receivers])
            lists = topk(distances, nearest).indices
            for column in np.flatnonzero(mask[receivers].any(axis=0) & self._valid_mask):
                rows_of_part = np.flatnonzero(mask[receivers, column])
                X[receivers[rows_of_part], column] = self._values(
                    distances[rows_of_part] if len(rows_of_part) < len(receivers) else distances,
                    lists[rows_of_part],
                    column,
                )

    def _values(self, distances: np.ndarray, lists: np.ndarray, column: int) -> np.ndarray:
        """The values of a column for rows with these distances to all fitted rows and these nearest of them."""
        missing = self._mask_fit_X[:, column]
        count = min(self.n_neighbors, int((~missing).sum()))
        donors, near = self._donors(distances, lists, missing, count)
        weights = _get_weights(near, self.weights)
        if weights is None:
            weights = np.ones_like(near)
            weights[np.isnan(near)] = 0
        else:
            weights[np.isnan(weights)] = 0
        alone = np.isnan(near).all(axis=1)
        column_values = np.ma.array(self._fit_X[:, column], mask=missing)
        values = np.empty(len(near), self._fit_X.dtype)
        if alone.any():
            values[alone] = column_values.mean()
        if not alone.all():
            some = ~alone
            values[some] = np.ma.average(column_values[donors[some]], axis=1, weights=weights[some]).data
        return values

    @staticmethod
    def _donors(
        distances: np.ndarray, lists: np.ndarray, missing: np.ndarray, count: int
    ) -> Tuple[np.ndarray, np.ndarray]:
        """The nearest rows that have the column, and their distances. Of equally near ones the first are taken."""
        has_it = ~missing[lists]
        order = np.argsort(~has_it, axis=1, kind="stable")[:, :count]
        donors = np.take_along_axis(lists, order, axis=1)
        if donors.shape[1] < count:
            donors = np.pad(donors, ((0, 0), (0, count - donors.shape[1])))
        short = np.flatnonzero(has_it.sum(axis=1) < count)
        if short.size:
            candidates = np.flatnonzero(~missing)
            donors[short] = candidates[topk(distances[short][:, candidates], count).indices]
        return donors, np.take_along_axis(distances, donors, axis=1)
