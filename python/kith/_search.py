"""One search over one base."""

from __future__ import annotations

from operator import index as as_int
from typing import Any, Mapping, Optional

import numpy as np

from . import _kith
from ._answers import find_neighbors
from ._arrays import as_points, distance_dtype, dtype_of, searched_dtype
from ._kith import Plan
from ._libraries import library_of, ready_pair, stream_number
from ._neighbors import Neighbors
from ._options import make_options
from ._progress import ProgressLike, showing


def search(
    base: Any,
    queries: Any,
    k: int,
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
) -> Neighbors:
    """The k nearest base points of each query: exactly, unless ``method`` is "shifted-sort".

    Parameters
    ----------
    base, queries : arrays of points as rows, with equal numbers of columns
        Host arrays are searched by ``backend``; when either lies on a CUDA device, that device searches, and the other
        is brought there. The answer is in the library, and on the device, of the queries.
    k : 1 ≤ k ≤ number of base points
    metric : name, as scipy and scikit-learn have it
        sqeuclidean, euclidean (l2), manhattan (l1, cityblock), chebyshev, minkowski with ``p`` ≥ 1, cosine,
        correlation, inner_product (the largest come first), hamming, canberra.
    method, distance, select : names that force a way of searching; see :func:`explain`
        Methods are brute, triangle and shifted-sort, on a device also two-stage and fused. Neighbors by shifted-sort
        are approximate; it has 1 to 16 dimensions and euclidean, sqeuclidean, manhattan or chebyshev distances.
    backend : "auto", "cpu" or "cuda"
    threads : CPU threads; None for all that this process may use
    memory : bytes of workspace beyond inputs and outputs; None for a quarter of what is free
    check_finite : False skips the look for NaN and infinity, which are otherwise a ValueError
    statistics : the report has what method triangle counts, or how good the neighbors by shifted-sort are
    tuning : settings by name
        Of method triangle: landmarks (of the base), query_landmarks, and on a device form, filter, placement, layout,
        remapped, threads_per_query. Of shifted-sort: shifts, shift, guaranteed, window, curve, and on a device merge
        and positions.
    stream : of device arrays: what the work is enqueued on; None for the library's current one. An integer, or an
        object of PyTorch, CuPy or with ``__cuda_stream__``
    progress : True for a bar, or a function of (done, total); what that raises stops the search

    Returns
    -------
    Neighbors
        (distances, indices), queries × k each. Distances are accumulated in float64 and rounded once, to float32
        unless the points are float64; indices are int64.

    Examples
    --------
    >>> import numpy as np, kith
    >>> base = np.array([[0, 0], [3, 4], [6, 8]], dtype=np.float32)
    >>> kith.search(base, base[:1], k=2)
    Neighbors(distances=array([[0., 5.]], dtype=float32), indices=array([[0, 1]]))
    >>> kith.search(base, base[:1], k=2, method="shifted-sort", tuning={"shifts": 8, "curve": "hilbert"}).indices
    array([[0, 1]])
    >>> kith.search(base, base[:1], k=4)
    Traceback (most recent call last):
        ...
    ValueError: k = 4 but the number of base points is 3
    """
    options = make_options(
        metric, p, backend, method, distance, select, threads, memory, check_finite, statistics, tuning
    )
    k = as_int(k)
    library = library_of(queries)
    number = stream_number(stream, library, library_of(base))
    points, asked = ready_pair(base, queries)
    dtype = dtype_of(points)
    rows = asked.shape[0]
    if rows == 0 or not 0 < k <= points.shape[0]:
        _kith.explain(points.shape[0], max(rows, 1), points.shape[1], k, dtype.name, options)  # refuses
    return find_neighbors(
        library,
        rows,
        k,
        distance_dtype(dtype),
        number,
        progress,
        _kith.search,
        library_of(points).take(points, number),
        library.take(asked, number),
        options,
    )


def distances(
    base: Any,
    queries: Any,
    *,
    metric: str = "euclidean",
    p: Optional[float] = None,
    backend: str = "auto",
    threads: Optional[int] = None,
    check_finite: bool = True,
    stream: Any = None,
    progress: ProgressLike = False,
) -> Any:
    """The whole queries × base matrix of distances, each as :func:`search` would return it.

    That of points on a device goes through host memory.

    >>> import kith
    >>> kith.distances([[0.0], [2.0]], [[1.0], [5.0]], metric="manhattan").tolist()
    [[1.0, 1.0], [5.0, 3.0]]
    """
    options = make_options(metric, p, backend, threads=threads, check_finite=check_finite)
    library = library_of(queries)
    number = stream_number(stream, library, library_of(base))
    points, asked = ready_pair(base, queries)
    taken = library_of(points).take(points, number), library.take(asked, number)
    with showing(progress) as watch:
        return library.from_host(_kith.distances(*taken, options, number, watch))


def explain(
    base: Any,
    queries: Any,
    k: int,
    *,
    dtype: Any = None,
    metric: str = "euclidean",
    p: Optional[float] = None,
    method: str = "auto",
    backend: str = "auto",
    distance: str = "auto",
    select: str = "auto",
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    tuning: Optional[Mapping[str, Any]] = None,
) -> Plan:
    """What :func:`search` would do, why, and what it should cost, without doing it.

    ``base`` is an array or its shape (rows, dims); ``queries`` an array, a shape or a number. ``dtype`` is that of the
    points where only shapes are given; float32 unless it is named.

    >>> import kith
    >>> plan = kith.explain((100_000, 128), 1000, k=10, backend="cpu")
    >>> plan.method, plan.workspace <= plan.budget
    ('brute', True)
    """
    options = make_options(metric, p, backend, method, distance, select, threads, memory, tuning=tuning)
    rows, dims = _shape(base, "base")
    count = queries if isinstance(queries, (int, np.integer)) else _shape(queries, "queries")[0]
    if dtype is None:
        dtype = dtype_of(base) if hasattr(base, "dtype") else np.float32
    return _kith.explain(rows, int(count), dims, as_int(k), searched_dtype(np.dtype(dtype), "base").name, options)


def _shape(points: Any, role: str) -> Any:
    shape = points if isinstance(points, tuple) else getattr(points, "shape", None)
    if shape is None:
        shape = as_points(points, role).shape
    if len(shape) != 2:
        raise ValueError(f"{role} has shape {tuple(shape)}; (rows, dims) is needed")
    return int(shape[0]), int(shape[1])
