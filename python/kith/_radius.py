"""All points within a distance."""

from __future__ import annotations

from typing import Any, Optional

from ._index import Index
from ._libraries import ready_pair
from ._neighbors import RadiusNeighbors
from ._progress import ProgressLike


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
    stream: Any = None,
    progress: ProgressLike = False,
) -> RadiusNeighbors:
    """All base points whose distance is at most ``radius``; under inner_product, whose product is at least that.

    ``radius`` is a number or one for each query, rounded to the type of the distances. ``count_only`` leaves out
    everything but the offsets. ``stream`` and ``progress`` are those of :func:`kith.search`.

    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> found = kith.search_radius(base, [[0.0], [5.0]], radius=[1.0, 3.0])
    >>> found.offsets.tolist(), found.indices.tolist(), found.distances.tolist()
    ([0, 2, 4], [0, 1, 3, 2], [0.0, 1.0, 0.0, 3.0])
    >>> kith.search_radius(base, [[0.0]], 4.0, count_only=True).counts.tolist()
    [3]
    """
    index = Index(
        ready_pair(base, queries)[0], metric=metric, p=p, distance=distance, backend=backend, threads=threads,
        memory=memory, check_finite=check_finite, stream=stream,
    )  # fmt: skip
    return index._last(index.search_radius(queries, radius, count_only=count_only, stream=stream, progress=progress))
