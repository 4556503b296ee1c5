"""What is wanted of neighbors, without their lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np

from . import _kith
from ._arrays import as_points, distance_dtype, widened
from ._checks import as_integer
from ._index import Index
from ._libraries import library_of, to_host
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    Devices,
    DistanceName,
    Floats,
    HostArray,
    Memory,
    MethodName,
    MetricName,
    Period,
    ProgressLike,
    ReduceName,
    ReduceOptions,
    SelectName,
    Values,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def reduce(
    base: ArrayLike,
    queries: HostArray,
    k: int,
    values: Optional[Values] = None,
    op: ReduceName = "mean",
    **options: Unpack[ReduceOptions],
) -> Floats: ...
@overload
def reduce(
    base: ArrayLike,
    queries: Array,
    k: int,
    values: Optional[Values] = None,
    op: ReduceName = "mean",
    **options: Unpack[ReduceOptions],
) -> Array: ...
def reduce(
    base: ArrayLike,
    queries: ArrayLike,
    k: int,
    values: Optional[Values] = None,
    op: ReduceName = "mean",
    *,
    metric: MetricName = "euclidean",
    p: Optional[float] = None,
    method: MethodName = "auto",
    backend: BackendName = "auto",
    distance: DistanceName = "auto",
    select: SelectName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    devices: Devices = None,
    check_finite: bool = True,
    period: Period = None,
    tuning: Optional[Mapping[str, object]] = None,
    stream: object = None,
    progress: ProgressLike = False,
) -> Any:
    """A row for each query, made of its k nearest base points.

    Their lists are never in memory as a whole. Arrays on a device are searched and reduced there.

    Parameters
    ----------
    base, queries, k : as :func:`search` takes them
    values : a number for each base point, or a row of them
        Rounded to the type of the result, and taken as they are: NaN is not refused. Only the first five operations
        look at them.
    op : name, with "-" or "_"
        - "mean", "sum", "min", "max": of each column of the values
        - "weighted-mean": with weights 1 / distance; where neighbors lie at distance 0, the mean of those
        - "kth-distance": of the k-th neighbor
        - "density": k over the volume of the ball that reaches to the k-th neighbor; euclidean, sqeuclidean,
          manhattan and chebyshev have one
        - "covariance": of the neighbors' coordinates; rows of the upper triangle, dims · (dims + 1) / 2 columns, of
          which :func:`normals` makes normals
    metric, p, method, backend, distance, select, threads, memory, devices, check_finite, period, tuning, stream, progress
        As for :func:`search`.
        Method "shifted-sort", whose neighbors are approximate, reduces them on a device where it finds them.

    Returns
    -------
    array
        queries × columns, in the library and on the device of the queries; one dimension where values have one, and of
        "kth-distance" and "density". Sums are accumulated in float64 and rounded once, to float32 unless the base is
        float64.

    Examples
    --------
    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> kith.reduce(base, [[0.2], [4.0]], 2, values=[10, 20, 30, 60]).tolist()
    [15.0, 45.0]
    >>> kith.reduce(base, [[0.2], [4.0]], 2, values=[[10, -1], [20, -2], [30, -3], [60, -6]], op="min").tolist()
    [[10.0, -2.0], [30.0, -6.0]]
    >>> kith.reduce(base, [[0.0]], 3, op="kth-distance").tolist()
    [2.0]
    >>> kith.reduce(base, base, 2, values=[10, 20, 30])
    Traceback (most recent call last):
        ...
    ValueError: values has 3 rows; the 4 base points have one each
    """
    index: Index = Index(
        base, metric=metric, p=p, method=method, backend=backend, distance=distance,
        select=select, threads=threads, memory=memory, check_finite=check_finite, period=period, tuning=tuning,
        stream=stream, devices=devices,
    )  # fmt: skip
    asked: Any = queries
    return index._last(index.reduce(asked, k, values, op, stream=stream, progress=progress))


@overload
def normals(covariances: HostArray, dims: int) -> Floats: ...
@overload
def normals(covariances: Array, dims: int) -> Array: ...
def normals(covariances: ArrayLike, dims: int) -> Any:
    """The unit vectors along which neighborhoods extend least: normals of a surface of points.

    ``covariances`` are those of :func:`reduce`, rows of dims · (dims + 1) / 2. The first coordinate that is not 0 is
    positive. The answer is float32 unless they are float64; device arrays go through host memory.

    >>> import numpy as np, kith
    >>> plane = np.array([[x, y, 7.0] for x in range(5) for y in range(5)])
    >>> kith.normals(kith.reduce(plane, plane[:2], k=9, op="covariance"), dims=3).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    library = library_of(covariances)
    ready = widened(as_points(to_host(covariances), "covariances"))
    ready = ready.astype(distance_dtype(ready.dtype), copy=False)
    dims = as_integer(dims, "dims")
    if dims < 1:
        raise ValueError(f"dims = {dims}; it must be at least 1")
    if ready.shape[1] != dims * (dims + 1) // 2:
        raise ValueError(f"covariances of {ready.shape[1]} columns; {dims} dimensions have {dims * (dims + 1) // 2}")
    finite = np.isfinite(ready).all(axis=1)
    if not finite.all():
        raise ValueError(f"covariances hold NaN or infinity in row {int(np.argmin(finite))}")
    if ready.shape[0] == 0:
        return library.from_host(np.empty((0, dims), ready.dtype))
    return library.from_host(_kith.normals(ready, dims))
