"""Estimators that look like scikit-learn's, for dask arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Literal, Optional, Tuple, Union

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt

from .._checks import as_flag, as_integer
from .._neighbors import Graph, Neighbors
from .._types import GraphMode, ShardOptions
from ._search import as_graph, search, search_self
from ._sources import LARGEST_IN_MEMORY, as_dask

if TYPE_CHECKING:
    from typing_extensions import Unpack

Weights = Literal["uniform", "distance"]


class NearestNeighbors:
    """As :class:`sklearn.neighbors.NearestNeighbors`, for points and queries that :func:`kith.dask.search` takes.

    The keywords after ``n_neighbors`` are those of :func:`kith.dask.search`. Fitting computes nothing, unless chunk
    sizes are unknown; answers are dask arrays.

    >>> import dask, kith.dask
    >>> nearest = kith.dask.NearestNeighbors(n_neighbors=1).fit([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])
    >>> [part.tolist() for part in dask.compute(*nearest.kneighbors([[3.0, 5.0]]))]
    [[[2.0]], [[2]]]
    >>> nearest.kneighbors(return_distance=False).compute().tolist()
    [[1], [0], [1]]
    """

    n_neighbors: int
    n_samples_fit_: int
    n_features_in_: int

    def __init__(self, n_neighbors: int = 5, **options: Unpack[ShardOptions]) -> None:
        self.n_neighbors = as_integer(n_neighbors, "n_neighbors")
        self._options: Dict[str, Any] = dict(options)
        self._base: Optional[da.Array] = None

    def fit(self, X: Any, y: Any = None, *, column: Optional[str] = None) -> Any:
        """Takes the points; ``y`` is not looked at, ``column`` names the vectors of Parquet."""
        self._base = as_dask(X, "X", column)
        self.n_samples_fit_, self.n_features_in_ = map(int, self._base.shape)
        return self

    def kneighbors(
        self, X: Any = None, n_neighbors: Optional[int] = None, return_distance: bool = True
    ) -> Union[da.Array, Tuple[da.Array, da.Array]]:
        """(distances, indices) of the neighbors of X, or of each fitted point without itself; or indices alone."""
        found = self._found(X, n_neighbors)
        return found if as_flag(return_distance, "return_distance") else found.indices

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: Optional[int] = None, mode: GraphMode = "connectivity"
    ) -> Graph[da.Array, da.Array]:
        """Compressed sparse rows, as :func:`kith.dask.graph` returns them: of ones, or of distances."""
        found = self._found(X, n_neighbors)
        return as_graph(found, self.n_samples_fit_, mode, self._options.get("max_distance"))

    def _found(self, X: Any, n_neighbors: Optional[int]) -> Neighbors[da.Array, da.Array]:
        if self._base is None:
            raise ValueError(f"this {type(self).__name__} has not been fitted")
        k = self.n_neighbors if n_neighbors is None else as_integer(n_neighbors, "n_neighbors")
        return search_self(self._base, k, **self._options) if X is None else search(self._base, X, k, **self._options)


class _Predicts(NearestNeighbors):
    """Neighbors that have values, one for each fitted point, in memory."""

    weights: Weights

    def __init__(self, n_neighbors: int = 5, *, weights: Weights = "uniform", **options: Unpack[ShardOptions]) -> None:
        super().__init__(n_neighbors, **options)
        if weights not in ("uniform", "distance"):
            raise ValueError(f"weights = {weights!r}; it must be 'uniform' or 'distance'")
        self.weights = weights

    def _values(self, y: Any) -> np.ndarray:
        """The values, which every worker gets."""
        if y is None:
            raise ValueError("y is needed: a value for each point")
        values = np.asarray(y)
        if len(values) != self.n_samples_fit_:
            raise ValueError(f"y has {len(values)} values for {self.n_samples_fit_} points")
        if values.nbytes > LARGEST_IN_MEMORY:
            raise ValueError(
                f"y holds {values.nbytes} bytes, which every worker would get; the most is {LARGEST_IN_MEMORY}"
            )
        return values

    def _mapped(self, function: Any, X: Any, values: np.ndarray, columns: Tuple[int, ...], **more: Any) -> Any:
        """``function``, which makes float64, of the neighbors of each chunk of queries."""
        found = self._found(X, None)
        kept = dask.delayed(values, pure=True)
        shape: Dict[str, Any] = {"chunks": (found.indices.chunks[0], *((size,) for size in columns))}
        if not columns:
            shape["drop_axis"] = 1
        meta = np.empty((0,) * (1 + len(columns)))
        return da.map_blocks(
            function, found.distances, found.indices, values=kept, weights=self.weights, meta=meta, **shape, **more
        )


class KNeighborsClassifier(_Predicts):
    """As :class:`sklearn.neighbors.KNeighborsClassifier`, with labels in memory.

    >>> import kith.dask
    >>> fitted = kith.dask.KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> fitted.predict([[1.1]]).compute().tolist(), fitted.predict_proba([[1.1]]).compute().round(2).tolist()
    ([0], [[0.67, 0.33]])
    """

    classes_: npt.NDArray[Any]

    def fit(self, X: Any, y: Any = None, *, column: Optional[str] = None) -> Any:
        super().fit(X, column=column)
        self.classes_, self._codes = np.unique(self._values(y), return_inverse=True)
        return self

    def predict_proba(self, X: Any) -> da.Array:
        """The share of each class among the neighbors of each query."""
        count = len(self.classes_)
        return self._mapped(_shares, X, self._codes, (count,), classes=count)

    def predict(self, X: Any) -> da.Array:
        """The class with the largest share; of equal ones the first."""
        classes = self.classes_
        return da.map_blocks(
            lambda shares: classes[shares.argmax(1)], self.predict_proba(X), meta=classes[:0], drop_axis=1
        )


class KNeighborsRegressor(_Predicts):
    """As :class:`sklearn.neighbors.KNeighborsRegressor`, with one value for each point, in memory.

    >>> import kith.dask
    >>> fitted = kith.dask.KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> fitted.predict([[1.5]]).compute().tolist()
    [0.5]
    """

    def fit(self, X: Any, y: Any = None, *, column: Optional[str] = None) -> Any:
        super().fit(X, column=column)
        values = self._values(y)
        if values.ndim != 1:
            raise ValueError(f"y has shape {values.shape}; one value for each point is needed")
        self._targets = values
        return self

    def predict(self, X: Any) -> da.Array:
        """The mean of the values of the neighbors of each query."""
        return self._mapped(_means, X, self._targets, ())


def _shares(
    distances: np.ndarray, indices: np.ndarray, *, values: np.ndarray, weights: Weights, classes: int
) -> np.ndarray:
    shares = np.zeros((len(indices), classes))
    rows = np.arange(len(indices))
    each = _weights(distances, weights)
    for neighbor in range(indices.shape[1]):  # in their order, so that sums do not depend on chunks
        shares[rows, values[indices[:, neighbor]]] += each[:, neighbor]
    return shares / shares.sum(1, keepdims=True)


def _means(distances: np.ndarray, indices: np.ndarray, *, values: np.ndarray, weights: Weights) -> np.ndarray:
    if weights == "uniform":
        return values[indices].mean(1)
    each = _weights(distances, weights)
    return (values[indices] * each).sum(1) / each.sum(1)


def _weights(distances: np.ndarray, weights: Weights) -> np.ndarray:
    """1, or 1/distance; where a distance is 0, those of distance 0 alone count."""
    if weights == "uniform":
        return np.ones(distances.shape)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / distances.astype(np.float64)
    at_query = np.isinf(inverse)
    return np.where(at_query.any(1, keepdims=True), at_query, inverse)
