"""All points within a distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from ._index import Index
from ._neighbors import RadiusNeighbors
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    DistanceName,
    Floats,
    HostArray,
    Integers,
    Memory,
    MetricName,
    Period,
    ProgressLike,
    RadiusOptions,
    Values,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def search_radius(
    base: ArrayLike,
    queries: HostArray,
    radius: Union[float, Values],
    *,
    count_only: bool = False,
    **options: Unpack[RadiusOptions],
) -> RadiusNeighbors[Floats, Integers]: ...
@overload
def search_radius(
    base: ArrayLike,
    queries: Array,
    radius: Union[float, Values],
    *,
    count_only: bool = False,
    **options: Unpack[RadiusOptions],
) -> RadiusNeighbors[Array, Array]: ...
def search_radius(
    base: ArrayLike,
    queries: ArrayLike,
    radius: Union[float, Values],
    *,
    metric: MetricName = "euclidean",
    p: Optional[float] = None,
    count_only: bool = False,
    distance: DistanceName = "auto",
    backend: BackendName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    check_finite: bool = True,
    period: Period = None,
    stream: object = None,
    progress: ProgressLike = False,
) -> RadiusNeighbors[Any, Any]:
    """All base points whose distance is at most ``radius``; under inner_product, whose product is at least that.

    ``radius`` is a number or one for each query, rounded to the type of the distances. ``count_only`` leaves out
    everything but the offsets. The other parameters, and the type in which points are compared, are those of
    :func:`kith.search`.

    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> found = kith.search_radius(base, [[0.0], [5.0]], radius=[1.0, 3.0])
    >>> found.offsets.tolist(), found.indices.tolist(), found.distances.tolist()
    ([0, 2, 4], [0, 1, 3, 2], [0.0, 1.0, 0.0, 3.0])
    >>> kith.search_radius(base, [[0.0]], 4.0, count_only=True).counts.tolist()
    [3]
    """
    index: Index = Index(
        base, metric=metric, p=p, distance=distance, backend=backend, threads=threads,
        memory=memory, check_finite=check_finite, period=period, stream=stream,
    )  # fmt: skip
    asked: Any = queries
    return index._last(index.search_radius(asked, radius, count_only=count_only, stream=stream, progress=progress))
