"""All points within a distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from ._index import Index
from ._metrics import Numbers, choose_metric, search_radius_own
from ._neighbors import RadiusNeighbors
from ._options import make_options
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    Devices,
    DistanceName,
    Floats,
    HostArray,
    Integers,
    Memory,
    MetricLike,
    Period,
    ProgressLike,
    OwnRadiusOptions,
    Values,
    ZeroVectors,
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
    **options: Unpack[OwnRadiusOptions],
) -> RadiusNeighbors[Floats, Integers]: ...
@overload
def search_radius(
    base: ArrayLike,
    queries: Array,
    radius: Union[float, Values],
    *,
    count_only: bool = False,
    **options: Unpack[OwnRadiusOptions],
) -> RadiusNeighbors[Array, Array]: ...
def search_radius(
    base: ArrayLike,
    queries: ArrayLike,
    radius: Union[float, Values],
    *,
    metric: MetricLike = "euclidean",
    p: Optional[float] = None,
    w: Numbers = None,
    V: Numbers = None,
    VI: Numbers = None,
    zero_vectors: Optional[ZeroVectors] = None,
    count_only: bool = False,
    distance: DistanceName = "auto",
    backend: BackendName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    devices: Devices = None,
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
    chosen = choose_metric(metric, p, w, V, VI, zero_vectors)
    if chosen.own is not None:
        options = make_options(
            backend=backend, distance=distance, threads=threads, memory=memory, check_finite=check_finite, period=period,
            devices=devices,
        )  # fmt: skip
        return search_radius_own(chosen.own, base, queries, radius, count_only, options, stream, progress)
    index: Index = Index(
        base, metric=chosen.name, p=chosen.p, distance=distance, backend=backend, threads=threads,
        memory=memory, devices=devices, check_finite=check_finite, period=period, stream=stream,
    )  # fmt: skip
    asked: Any = queries
    return index._last(index.search_radius(asked, radius, count_only=count_only, stream=stream, progress=progress))
