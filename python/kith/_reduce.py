"""What is wanted of neighbors, without their lists."""

from __future__ import annotations

from operator import index as as_int
from typing import Any, Mapping, Optional

import numpy as np

from . import _kith, _places
from ._arrays import as_pair, as_points, as_values, distance_dtype
from ._options import make_options
from ._progress import ProgressLike, showing


def reduce(
    base: Any,
    queries: Any,
    k: int,
    values: Any = None,
    op: str = "mean",
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
    tuning: Optional[Mapping[str, Any]] = None,
    stream: Any = None,
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
    metric, p, method, backend, distance, select, threads, memory, check_finite, tuning, stream, progress
        As for :func:`search`.
        Method "shifted-sort", whose neighbors are approximate, reduces them on a device where it finds them.

    Returns
    -------
    array
        queries × columns, in the library and on the device of the queries; one dimension where values have one, and of
        "kth-distance" and "density". Sums are accumulated in float64 and rounded once, to float32 unless the points are
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
    name, needs_values = _kith.reduce_op(op)
    options = make_options(metric, p, backend, method, distance, select, threads, memory, check_finite, tuning=tuning)
    place = _places.place_of(queries, base)
    if needs_values and values is None:
        raise ValueError(f"op '{name}' needs values, one for each of the base points")
    if place.on_device:
        return place.reduce(base, queries, as_int(k), values if needs_values else None, name, options, stream)
    base, queries = as_pair(place.to_host(base), place.to_host(queries))
    flat = name in ("kth-distance", "density")
    rows = None
    if needs_values:
        rows = as_values(place.to_host(values), distance_dtype(base.dtype), base.shape[0])
        flat = rows.ndim == 1
    count = queries.shape[0]
    if count == 0:  # one that is made up tells what would be refused, and the columns
        queries = np.ones((1, queries.shape[1]), queries.dtype)
    with showing(progress) as watch:
        made: Any = _kith.reduce(base, queries, as_int(k), rows, name, options, watch)
    return place.from_host(made[:count, 0] if flat else made[:count])


def normals(covariances: Any, dims: int) -> Any:
    """The unit vectors along which neighborhoods extend least: normals of a surface of points.

    ``covariances`` are those of :func:`reduce`, rows of dims · (dims + 1) / 2. The first coordinate that is not 0 is
    positive. The answer is float32 unless they are float64; device arrays go through host memory.

    >>> import numpy as np, kith
    >>> plane = np.array([[x, y, 7.0] for x in range(5) for y in range(5)])
    >>> kith.normals(kith.reduce(plane, plane[:2], k=9, op="covariance"), dims=3).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    place = _places.place_of(covariances, covariances)
    ready = as_points(place.to_host(covariances), "covariances")
    ready = ready.astype(distance_dtype(ready.dtype), copy=False)
    dims = as_int(dims)
    if dims < 1:
        raise ValueError(f"dims = {dims}; it must be at least 1")
    if ready.shape[1] != dims * (dims + 1) // 2:
        raise ValueError(f"covariances of {ready.shape[1]} columns; {dims} dimensions have {dims * (dims + 1) // 2}")
    finite = np.isfinite(ready).all(axis=1)
    if not finite.all():
        raise ValueError(f"covariances hold NaN or infinity in row {int(np.argmin(finite))}")
    if ready.shape[0] == 0:
        return place.from_host(np.empty((0, dims), ready.dtype))
    return place.from_host(_kith.normals(ready, dims))
