"""All points within a distance."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _kith, _places
from ._arrays import as_pair, distance_dtype
from ._neighbors import RadiusNeighbors
from ._options import make_options
from ._progress import ProgressLike, showing


def search_radius(
    base: Any,
    queries: Any,
    radius: Any,
    *,
    metric: str = "euclidean",
    p: Optional[float] = None,
    count_only: bool = False,
    distance: str = "auto",
    backend: str = "auto",
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    check_finite: bool = True,
    progress: ProgressLike = False,
) -> RadiusNeighbors:
    """All base points whose distance is at most ``radius``; under inner_product, whose product is at least that.

    ``radius`` is a number or one for each query, rounded to the type of the distances. ``count_only`` leaves out
    everything but the offsets. Device arrays go through host memory.

    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> found = kith.search_radius(base, [[0.0], [5.0]], radius=[1.0, 3.0])
    >>> found.offsets.tolist(), found.indices.tolist(), found.distances.tolist()
    ([0, 2, 4], [0, 1, 3, 2], [0.0, 1.0, 0.0, 3.0])
    >>> kith.search_radius(base, [[0.0]], 4.0, count_only=True).counts.tolist()
    [3]
    """
    options = make_options(
        metric, p, backend, distance=distance, threads=threads, memory=memory, check_finite=check_finite
    )
    place = _places.place_of(queries, base)
    base, queries = as_pair(place.to_host(base), place.to_host(queries))
    radii = as_radii(place.to_host(radius), base.dtype)
    if queries.shape[0] == 0:
        empty = np.empty(0, np.int64)
        return place.radius_neighbors(RadiusNeighbors(radii[:0], empty, np.zeros(1, np.int64)))
    with showing(progress) as watch:
        answer = _kith.search_radius(base, queries, radii, count_only, options, watch)
    return place.radius_neighbors(from_native(answer))


def as_radii(radius: Any, dtype: np.dtype) -> np.ndarray:
    """One radius or several, in the type of the distances."""
    radii = np.ascontiguousarray(np.atleast_1d(radius), distance_dtype(dtype))
    if radii.ndim != 1:
        raise ValueError(f"radius has shape {radii.shape}; a number or one for each query is needed")
    return radii


def from_native(answer: Any) -> RadiusNeighbors:
    offsets, indices, distances, report = answer
    found = RadiusNeighbors(distances, indices, offsets)
    found.report = report
    return found
