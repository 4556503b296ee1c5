"""What trees search: an index, or no points at all; both have the same two searches."""

from __future__ import annotations

from typing import Optional, Union

import numpy as np

from .._index import Index
from .._neighbors import Neighbors, RadiusNeighbors
from .._types import MetricName

_METRICS = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}


class NoPoints:
    """The index of no points, which kith has not."""

    def search(
        self, queries: np.ndarray, k: int, *, max_distance: Optional[float] = None, epsilon: Optional[float] = None
    ) -> Neighbors:
        return Neighbors(np.empty((len(queries), k)), np.empty((len(queries), k), np.int64))

    def search_radius(self, queries: np.ndarray, radius: np.ndarray, *, count_only: bool = False) -> RadiusNeighbors:
        return RadiusNeighbors(np.empty(0), np.empty(0, np.int64), np.zeros(len(queries) + 1, np.int64))


Searcher = Union[Index, NoPoints]


def index_of(points: np.ndarray, p: float, threads: Optional[int], box: Optional[np.ndarray] = None) -> Searcher:
    """Of points whose axes have the sizes of the box as periods; sizes that are not positive are none."""
    if len(points) == 0:
        return NoPoints()
    metric: MetricName = _METRICS.get(p, "minkowski")  # type: ignore[assignment]
    period = None if box is None else np.maximum(box, 0.0)
    return Index(points, metric=metric, p=p if metric == "minkowski" else None, threads=threads, period=period)


def within(
    index: Searcher, queries: np.ndarray, radii: Union[float, np.ndarray], count_only: bool = False
) -> RadiusNeighbors:
    """A radius search in which nothing is within a radius that is negative or no number."""
    radii = np.broadcast_to(radii, len(queries))
    valid = radii >= 0
    if valid.all():
        return index.search_radius(queries, radii, count_only=count_only)
    found = index.search_radius(queries[valid], radii[valid], count_only=count_only)
    offsets = np.zeros(len(queries) + 1, np.int64)
    offsets[1:][valid] = found.counts
    return RadiusNeighbors(found.distances, found.indices, np.cumsum(offsets))
