"""A base prepared for many searches."""

from __future__ import annotations

from operator import index as as_int
from typing import Any, Dict, Mapping, Optional

import numpy as np

from . import _kith, _places
from ._arrays import as_points, as_queries, distance_dtype
from ._kith import Plan
from ._neighbors import Neighbors, RadiusNeighbors
from ._options import make_options
from ._progress import ProgressLike, showing
from ._radius import as_radii, from_native


class Index:
    """A base of points, checked once and kept with what its metric needs.

    The points are not copied where :func:`kith.search` would not copy them: they must not change while the index is
    used. The keywords are those of :func:`kith.search` and hold for all searches. Searches may run in several threads
    at once. Pickling takes the points along. A base on a CUDA device is searched there, by queries from there.

    >>> import numpy as np, kith
    >>> points = np.random.default_rng(0).random((500, 16))
    >>> index = kith.Index(points, metric="cosine")
    >>> index.search(points[:3], k=1).indices.ravel().tolist()
    [0, 1, 2]
    >>> index
    Index(500 points of 16 dimensions, float64, cosine)
    """

    def __init__(
        self,
        base: Any,
        *,
        metric: str = "euclidean",
        p: Optional[float] = None,
        method: str = "auto",
        backend: str = "auto",
        distance: str = "auto",
        select: str = "auto",
        threads: Optional[int] = None,
        memory: Optional[int] = None,
        check_finite: bool = True,
        statistics: bool = False,
        tuning: Optional[Mapping[str, Any]] = None,
        stream: Any = None,
        progress: ProgressLike = False,
    ) -> None:
        self._keywords: Dict[str, Any] = dict(
            metric=metric, p=p, backend=backend, method=method, distance=distance, select=select, threads=threads,
            memory=memory, check_finite=check_finite, statistics=statistics, tuning=tuning,
        )  # fmt: skip
        self._options = make_options(**self._keywords)
        self._base = base
        place = _places.place_of(base, base)
        self._device = place.index(base, self._options, stream) if place.on_device else None
        if self._device is not None:
            self._shape = self._device.shape
            self._dtype = self._device.dtype
            return
        points = as_points(place.to_host(base), "base")
        self._shape = points.shape
        self._dtype = points.dtype
        with showing(progress) as watch:
            self._native = _kith.HostIndex(points, self._options, watch)

    def search(self, queries: Any, k: int, *, stream: Any = None, progress: ProgressLike = False) -> Neighbors:
        """The k nearest base points of each query. float64 queries of a float32 base are rounded to float32."""
        k = as_int(k)
        if self._device is not None:
            return self._device.search(queries, k, stream)
        if type(queries) is np.ndarray:
            return self._search_host(queries, k, progress)
        place = _places.place_of(queries, queries)
        return place.neighbors(self._search_host(place.to_host(queries), k, progress))

    def search_self(self, k: int, *, stream: Any = None, progress: ProgressLike = False) -> Neighbors:
        """The k nearest others of each base point, itself left out by its index, so right among duplicates."""
        if self._device is not None:
            return self._device.search_self(as_int(k), stream)
        with showing(progress) as watch:
            distances, indices, report = self._native.search_self(as_int(k), watch)
        found = Neighbors(distances, indices)
        found.report = report
        return _places.place_of(self._base, self._base).neighbors(found)

    def search_radius(
        self, queries: Any, radius: Any, *, count_only: bool = False, progress: ProgressLike = False
    ) -> RadiusNeighbors:
        """As :func:`kith.search_radius`. With ``queries=None``, of each base point, itself left out."""
        place = _places.place_of(self._base if queries is None else queries, self._base)
        native = self._host_index()
        if queries is not None:
            queries = as_queries(place.to_host(queries), self._dtype)
        radii = as_radii(place.to_host(radius), self._dtype)
        with showing(progress) as watch:
            return place.radius_neighbors(from_native(native.search_radius(queries, radii, count_only, watch)))

    def explain(self, queries: Any, k: int) -> Plan:
        """What a search would do; ``queries`` is an array or their number."""
        count = queries if isinstance(queries, (int, np.integer)) else len(queries)
        return _kith.explain(self._shape[0], int(count), self._shape[1], as_int(k), self._dtype.name, self._options)

    def _search_host(self, queries: Any, k: int, progress: ProgressLike) -> Neighbors:
        queries = as_queries(queries, self._dtype)
        rows = queries.shape[0]
        if rows == 0 or not 0 < k <= self._shape[0]:
            self.explain(max(rows, 1), k)  # refuses
        distances = np.empty((rows, k), distance_dtype(self._dtype))
        indices = np.empty((rows, k), np.int64)
        found = Neighbors(distances, indices)
        if rows > 0:
            with showing(progress) as watch:
                found.report = self._native.search(queries, k, distances, indices, watch)
        return found

    def _host_index(self) -> _kith.HostIndex:
        if self._device is None:
            return self._native
        points = as_points(_places.place_of(self._base, self._base).to_host(self._base), "base")
        return _kith.HostIndex(points, self._options, None)

    @property
    def base(self) -> Any:
        """The points, as they were given."""
        return self._base

    @property
    def shape(self) -> Any:
        """(rows, dims) of the base."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """The type in which points are compared."""
        return self._dtype

    @property
    def metric(self) -> str:
        return self._options.metric

    def __len__(self) -> int:
        return int(self._shape[0])

    def __repr__(self) -> str:
        rows, dims = self._shape
        return f"Index({rows} points of {dims} dimensions, {self._dtype.name}, {self.metric})"

    def __getstate__(self) -> Any:
        return {"base": self._base, **self._keywords}

    def __setstate__(self, state: Any) -> None:
        self.__init__(state.pop("base"), **state)  # type: ignore[misc]
