"""One search over one base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _kith
from ._answers import find_neighbors
from ._arrays import count_of, distance_dtype, dtype_of, is_sparse, name_of, named_dtype, searched_dtype, shape_of
from ._checks import as_flag, as_integer
from ._index import Index
from ._kith import Plan
from ._libraries import host_memory, library_of, ready_alike, ready_queries, stream_number
from ._metrics import Numbers, choose_metric, distances_own, search_own
from ._neighbors import Neighbors
from ._options import make_options
from ._progress import showing
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    OwnCommonOptions,
    Devices,
    DistanceName,
    Floats,
    HostArray,
    Integers,
    Memory,
    MethodName,
    MetricLike,
    MetricName,
    Period,
    ProgressLike,
    OwnSearchOptions,
    SelectName,
    ZeroVectors,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

Shape = Union[ArrayLike, Tuple[int, int]]


@overload
def search(
    base: ArrayLike, queries: HostArray, k: int, **options: Unpack[OwnSearchOptions]
) -> Neighbors[Floats, Integers]: ...
@overload
def search(base: ArrayLike, queries: Array, k: int, **options: Unpack[OwnSearchOptions]) -> Neighbors[Array, Array]: ...
def search(
    base: ArrayLike,
    queries: ArrayLike,
    k: int,
    *,
    metric: MetricLike = "euclidean",
    p: Optional[float] = None,
    w: Numbers = None,
    V: Numbers = None,
    VI: Numbers = None,
    zero_vectors: Optional[ZeroVectors] = None,
    method: MethodName = "auto",
    backend: BackendName = "auto",
    distance: DistanceName = "auto",
    select: SelectName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    devices: Devices = None,
    check_finite: bool = True,
    statistics: bool = False,
    max_distance: Optional[float] = None,
    epsilon: float = 0.0,
    period: Period = None,
    tuning: Optional[Mapping[str, object]] = None,
    pad_missing: bool = False,
    stream: object = None,
    progress: ProgressLike = False,
) -> Neighbors[Any, Any]:
    """The k nearest base points of each query: exactly, unless ``method`` is "shifted-sort" or ``epsilon`` not 0.

    Parameters
    ----------
    base, queries : arrays of points as rows, with equal numbers of columns
        Host arrays are searched by ``backend``; when either lies on a CUDA device, that device searches, and the other
        is brought there. The answer is in the library, and on the device, of the queries.
        Points are compared in the type of the base: float32, float64, float16, bfloat16, uint8 or int8. Queries are
        converted to it, and the base never is: float64 queries, and lists, are rounded to float32 for a float32 base (a
        ValueError beyond 3.4e38); a base of bytes takes whole numbers that fit, one of float16 or bfloat16 numbers that
        these hold (else a ValueError). bool counts as uint8, 16-bit integers as float32, longer integers as float64;
        bases of those types are copied. bfloat16 is that of ml_dtypes, PyTorch or JAX.
        A base may be a matrix or array of scipy.sparse, of any format: CSR of float32 or float64 is not copied. Its
        queries are sparse or dense. It is searched on the CPU under euclidean, sqeuclidean, cosine, inner_product,
        manhattan and jaccard (of the columns that are not 0), with the neighbors and distances of the dense points.
    k : 1 ≤ k ≤ number of base points
    metric : name, as scipy and scikit-learn have it; or a formula or function of your own
        sqeuclidean, euclidean (l2), manhattan (l1, cityblock), chebyshev, minkowski with ``p`` ≥ 1, cosine,
        correlation, canberra, inner_product (the largest come first), hamming (the share of elements that differ: of
        bytes, whole bytes are compared; packed bits are for :func:`kith.search_bits`).
        By their definition, with brute force on the CPU: braycurtis, jaccard, dice, russellrao, jensenshannon,
        nan_euclidean (NaN is missing), haversine, seuclidean with ``V``, mahalanobis with ``VI``, minkowski with a
        weight ``w`` for each dimension, cosine with ``zero_vectors``.
        So are formulas, "sum(abs(x - y) / (1 + abs(x)))" (:class:`kith.Expression`), C functions and Numba's
        (:func:`kith.c_metric`), and Python functions of two rows, which take about a microsecond a pair.
    zero_vectors : of cosine: "one" or "zero", the distance of zero vectors from all others, or "error"
    method, distance, select : names that force a way of searching; see :func:`explain`
        Methods are brute, tree, triangle and shifted-sort, on a device also two-stage and fused. Neighbors by
        shifted-sort are approximate; it has 1 to 16 dimensions and euclidean, sqeuclidean, manhattan or chebyshev
        distances.
    backend : "auto", "cpu" or "cuda"
    threads : CPU threads; None for as many as the work is worth, at most the least of CPU affinity, CPU quota of the
        container, KITH_NUM_THREADS, and OMP_NUM_THREADS or threadpoolctl (:func:`kith.show_versions` tells which)
    memory : bytes of workspace beyond inputs and outputs, as a number or as "512MiB", "1GB"; None for a quarter of
        what is free. Each of several devices has as much
    devices : ids of CUDA devices that share out the base, as [0, 1], or "all"; None for the current one
        Each has a stripe of the points and searches it with a thread of its own. Points and queries are host arrays,
        and so is the answer, which is that of one device. Not for method "shifted-sort".
    check_finite : False skips the look for NaN and infinity, which are otherwise a ValueError
    statistics : the report has what method triangle counts, or how good approximate neighbors are
    max_distance : neighbors that are farther away are left out
        Where fewer than k remain, the last places of a row have index -1 and an infinite distance. Not for
        inner_product.
    epsilon : the i-th distance returned may be up to 1 + epsilon times the true i-th
        Method tree gets faster by it; others are exact all the same.
    period : a number for each dimension, 0 for those without: axes whose ends meet
        Along a periodic axis the difference of two coordinates is that of their nearest images, wherever they lie. Of
        method tree and its metrics: sqeuclidean, euclidean, manhattan, chebyshev, minkowski.
    tuning : settings by name
        Of method triangle: landmarks (of the base), query_landmarks, and on a device form, filter, placement, layout,
        remapped, threads_per_query. Of shifted-sort: shifts, shift, guaranteed, window, curve, and on a device merge
        and positions; certify, which is for searches: True makes them say which rows are proven to be exact.
    pad_missing : k may be larger than the number of points
        The last places of a row then have index -1 and an infinite distance (inner_product: -infinity). Not for answers
        that lie on a device.
    stream : of device arrays: what the work is enqueued on; None for the library's current one. An integer, or an
        object of PyTorch, CuPy or with ``__cuda_stream__``
    progress : True for a bar, or a function of (done, total); what that raises stops the search

    Returns
    -------
    Neighbors
        (distances, indices), queries × k each. Distances are accumulated in float64 and rounded once, to float32
        unless the base is float64; indices are int64. ``certified``, where tuning asks for it, has True for every
        query whose row is proven to be that of an exact search.

    Examples
    --------
    >>> import numpy as np, kith
    >>> base = np.array([[0, 0], [3, 4], [6, 8]], dtype=np.float32)
    >>> kith.search(base, base[:1], k=2)
    Neighbors(distances=array([[0., 5.]], dtype=float32), indices=array([[0, 1]]))
    >>> kith.search(base, base[:1], k=2, method="shifted-sort", tuning={"shifts": 8, "curve": "hilbert"}).indices
    array([[0, 1]])
    >>> kith.search(base, base[:1], k=2, max_distance=3).indices
    array([[ 0, -1]])
    >>> import scipy.sparse
    >>> kith.search(scipy.sparse.csr_matrix(base), base[:1], k=2).indices
    array([[0, 1]])
    >>> kith.search(base, [[9, 9]], k=1, period=[10, 10])
    Neighbors(distances=array([[1.4142135]], dtype=float32), indices=array([[0]]))
    >>> kith.search(base, base[:1], k=4)
    Traceback (most recent call last):
        ...
    ValueError: k = 4 but the number of base points is 3
    """
    if is_sparse(base):
        if any(each is not None for each in (w, V, VI, zero_vectors)):
            raise ValueError("w, V, VI and zero_vectors are for dense points")
        index: Index = Index(
            base, metric=metric, p=p, method=method, backend=backend, distance=distance, select=select,
            threads=threads, memory=memory, check_finite=check_finite, statistics=statistics,
            max_distance=max_distance, epsilon=epsilon, period=period, tuning=tuning, pad_missing=pad_missing,
            devices=devices,
        )  # fmt: skip
        return index.search(queries, k, progress=progress)
    chosen = choose_metric(metric, p, w, V, VI, zero_vectors)
    options = make_options(
        chosen.name, chosen.p, backend, method, distance, select, threads, memory, check_finite,
        statistics, max_distance, epsilon, period, tuning, devices,
    )  # fmt: skip
    if as_flag(pad_missing, "pad_missing"):
        options = options.padded()
    if chosen.own is not None:
        return search_own(chosen.own, base, queries, k, options, stream, progress)
    k = as_integer(k, "k")
    library, base_library = library_of(queries), library_of(base)
    number = stream_number(stream, library, base_library)
    points = base_library.ready(base, "base")
    dtype = dtype_of(points)
    asked = ready_queries(library, queries, dtype)
    rows = asked.shape[0]
    if rows == 0 or not 0 < k <= (k if pad_missing else points.shape[0]):
        least = min(k, points.shape[0]) if pad_missing else k
        _kith.explain(points.shape[0], max(rows, 1), points.shape[1], least, name_of(dtype), options)  # refuses
    return find_neighbors(
        library,
        rows,
        k,
        distance_dtype(dtype),
        options,
        number,
        progress,
        _kith.search,
        base_library.take(points, number),
        library.take(asked, number),
        options,
    )


@overload
def distances(a: HostArray, b: ArrayLike, **options: Unpack[OwnCommonOptions]) -> Floats: ...
@overload
def distances(a: Array, b: ArrayLike, **options: Unpack[OwnCommonOptions]) -> Array: ...
def distances(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    p: Optional[float] = None,
    w: Numbers = None,
    V: Numbers = None,
    VI: Numbers = None,
    zero_vectors: Optional[ZeroVectors] = None,
    backend: BackendName = "auto",
    threads: Optional[int] = None,
    check_finite: bool = True,
    stream: object = None,
    progress: ProgressLike = False,
) -> Any:
    """All distances between two sets of points, as a matrix of len(a) × len(b), like scipy's cdist.

    Each is as :func:`search` would return it. Points of two types are compared in the one that holds both: float64 if
    either is, else float32. The matrix is in the library, and on the device, of ``a``; that of points on a device goes
    through host memory.

    >>> import kith
    >>> kith.distances([[0.0], [2.0]], [[1.0], [5.0], [9.0]], metric="manhattan").tolist()
    [[1.0, 5.0, 9.0], [1.0, 3.0, 7.0]]
    """
    chosen = choose_metric(metric, p, w, V, VI, zero_vectors)
    options = make_options(
        chosen.name, chosen.p, backend, threads=threads, check_finite=check_finite
    )
    if chosen.own is not None:
        return distances_own(chosen.own, a, b, options, stream, progress)
    library, other = library_of(a), library_of(b)
    number = stream_number(stream, library, other)
    rows, columns = ready_alike(a, b)
    taken = other.take(columns, number), library.take(rows, number)
    found = host_memory((rows.shape[0], columns.shape[0]), distance_dtype(dtype_of(rows)))
    with showing(progress) as watch:
        _kith.distances(*taken, found, options, number, watch)
    return library.from_host(found)


def explain(
    base: Shape,
    queries: Union[int, Shape],
    k: int,
    *,
    dtype: Optional[npt.DTypeLike] = None,
    metric: MetricName = "euclidean",
    p: Optional[float] = None,
    method: MethodName = "auto",
    backend: BackendName = "auto",
    distance: DistanceName = "auto",
    select: SelectName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    devices: Devices = None,
    max_distance: Optional[float] = None,
    epsilon: float = 0.0,
    period: Period = None,
    tuning: Optional[Mapping[str, object]] = None,
    device: Optional[str] = None,
) -> Plan:
    """What :func:`search` would do, why, and what it should cost, without doing it.

    ``base`` is an array or its shape (rows, dims); ``queries`` an array, a shape or a number. ``dtype`` is that of the
    points where only shapes are given; float32 unless it is named ("bfloat16" is, too). ``device`` plans for a GPU that need not be here, by
    a name of :func:`known_devices`; its costs are derived from its datasheet, but for the H200's.

    >>> import kith
    >>> plan = kith.explain((100_000, 128), 1000, k=10, backend="cpu")
    >>> plan.method, plan.workspace <= plan.budget
    ('brute', True)
    """
    options = make_options(
        metric, p, backend, method, distance, select, threads, memory, max_distance=max_distance, epsilon=epsilon,
        period=period, tuning=tuning, devices=devices,
    )  # fmt: skip
    rows, dims = shape_of(base, "base")
    count = count_of(queries)
    if dtype is None:
        dtype = dtype_of(base) if hasattr(base, "dtype") else np.float32
    name = name_of(searched_dtype(named_dtype(dtype), "base"))
    shape = rows, count, dims, as_integer(k, "k")
    if device is None:
        return _kith.explain(*shape, name, options)
    if not isinstance(device, str):
        raise TypeError(f"device = {device!r}; it must be a name of known_devices()")
    return _kith.explain_on(*shape, name, options, device)
