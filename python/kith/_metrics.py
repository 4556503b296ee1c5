"""Metrics beyond the names of :func:`kith.search`: more of SciPy's and scikit-learn's, formulas, functions of your own."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _kith
from ._arrays import as_radii, distance_dtype, dtype_of
from ._checks import as_flag, as_integer, as_name, as_power, described
from ._kith import Options
from ._libraries import library_of, ready_alike, ready_queries, stream_number
from ._neighbors import Neighbors, RadiusNeighbors
from ._options import make_options
from ._progress import showing
from ._types import ArrayLike, Memory, ProgressLike

Numbers = Union[None, Sequence[float], Sequence[Sequence[float]], npt.NDArray[np.floating[Any]]]

# Those that take nothing, or take what makes them another metric than the built-in one of the name.
_NAMES = frozenset(_kith.named_metric_names()) - {"cosine", "minkowski"}


class OwnMetric:
    """A metric that is computed by its definition, for the ``metric`` of :func:`kith.search` and others."""

    _native: Any
    _kept: object = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._native.name}>"


class Expression(OwnMetric):
    """A distance by a formula of ``x``, a coordinate of the query, and ``y``, that of the base point.

    ``sum``, ``prod``, ``mean``, and ``min`` and ``max`` of one argument make a number of all coordinates; it may be
    combined with others. There are ``+ - * / ^``, comparisons (1 or 0), ``abs sqrt exp log sin cos asin acos pow``,
    ``min`` and ``max`` of several, ``select(condition, a, b)``, ``i`` (the number of the coordinate, from 0), ``n`` (the
    dimensions) and ``pi``. A string with a parenthesis given as ``metric`` is such a formula.

    Formulas that are a metric of the library by their form, such as ``sum(abs(x - y))``, are searched as that metric,
    unless ``recognize`` is False; ``fuse=False`` interprets sums of common terms, which have loops of their own.

    >>> import kith
    >>> kith.distances([[1.0, 2.0]], [[3.0, 0.0]], metric="sum(abs(x - y)) / (1 + max(abs(x - y)))").tolist()
    [[1.3333333333333333]]
    >>> kith.Expression("sum(abs(x - ))")
    Traceback (most recent call last):
        ...
    ValueError: expression 'sum(abs(x - ))': position 13: expected a number, x, y, i, n, pi, '(' or a function: sum, prod, mean, min, max, abs, sqrt, exp, log, sin, cos, asin, acos, pow, select but found ')'
    """

    def __init__(self, text: str, *, recognize: bool = True, fuse: bool = True) -> None:
        self._native = _kith.expression_metric(
            as_name(text, "an expression", "sum(abs(x - y))"), as_flag(recognize, "recognize"), as_flag(fuse, "fuse")
        )


class CMetric(OwnMetric):
    """A metric by a C function; :func:`c_metric` makes one."""

    def __init__(self, address: int, context: int, threads: int, kept: object) -> None:
        self._native = _kith.function_metric(address, context, threads)
        self._kept = kept


def c_metric(function: Any, *, context: Optional[int] = None, threads: Optional[int] = None) -> CMetric:
    """A metric by a C function ``double (*)(const double *query, const double *row, int64_t dims, void *context)``.

    ``function`` is a cfunc of Numba, a function pointer of ctypes, or an address. It is called by several threads at
    once, without the GIL; ``threads=1`` keeps it to one. It is trusted: a wrong pointer ends the process.

    With Numba::

        @numba.cfunc("float64(CPointer(float64), CPointer(float64), int64, voidptr)")
        def canberra_like(x, y, n, context):
            total = 0.0
            for c in range(n):
                total += abs(x[c] - y[c]) / (1.0 + abs(x[c]))
            return total

        kith.search(base, queries, k=5, metric=kith.c_metric(canberra_like))
    """
    address = getattr(function, "address", function)
    if not isinstance(address, (int, np.integer)) or isinstance(address, bool):
        import ctypes

        if not isinstance(function, ctypes._CFuncPtr):  # type: ignore[attr-defined]
            raise TypeError(
                "a C metric is a cfunc of Numba, a function pointer of ctypes or an address, not "
                f"{described(function)}"
            )
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
    most = 0 if threads is None else as_integer(threads, "threads", 2**31 - 1)
    if most < 0:
        raise ValueError(f"threads = {most}; it must be 1 or more")
    return CMetric(int(address), 0 if context is None else as_integer(context, "context"), most, function)


MetricFunction = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], float]


class Chosen(NamedTuple):
    """What searches: a metric of the library by its name and p, or, if there is one, ``own``, computed by its definition."""

    name: Any
    p: Optional[float]
    own: Any = None


def choose_metric(
    metric: Any,
    p: Optional[float] = None,
    w: Numbers = None,
    V: Numbers = None,
    VI: Numbers = None,
    zero_vectors: Optional[str] = None,
) -> Chosen:
    """What ``metric`` and its parameters mean."""
    plain = w is None and V is None and VI is None and zero_vectors is None
    if isinstance(metric, str):
        name = metric.strip().lower().replace("-", "_").replace(" ", "_")
        if "(" in metric and not name.startswith("minkowski("):
            metric = Expression(metric)
        elif name in _NAMES or not plain:
            return Chosen("euclidean", None, _named(metric, p, w, V, VI, zero_vectors))
        else:
            return Chosen(metric, p)
    if not isinstance(metric, OwnMetric) and not callable(metric):
        return Chosen(metric, p)  # which is refused by its type
    if not plain or p is not None:
        raise ValueError("p, w, V, VI and zero_vectors are for metrics by name")
    if not isinstance(metric, OwnMetric):
        return Chosen("euclidean", None, _kith.callable_metric(metric))
    native = metric._native
    return Chosen(native.built_in, None) if native.built_in else Chosen("euclidean", None, native)


def _named(
    metric: str, p: Optional[float], w: Numbers, V: Numbers, VI: Numbers, zero_vectors: Optional[str]
) -> Any:
    if zero_vectors is not None:
        as_name(zero_vectors, "zero_vectors", "one")
    return _kith.named_metric(
        metric, as_power(p), _numbers(w, "w", 1), _numbers(V, "V", 1), _numbers(VI, "VI", 2), zero_vectors
    )


def _numbers(values: Numbers, name: str, rank: int) -> Optional[np.ndarray]:
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}; real numbers are needed")
    square = rank == 1 or (array.ndim == 2 and array.shape[0] == array.shape[1])
    if array.ndim != rank or not square or array.size == 0:
        needed = "a number for each dimension" if rank == 1 else "a square matrix"
        raise ValueError(f"{name} has shape {array.shape}; {needed} is needed")
    return np.ascontiguousarray(array, np.float64)


class CustomIndex:
    """A base prepared for many searches by a metric that is computed by its definition, on the CPU.

    Brute force, but for haversine, mahalanobis, seuclidean, minkowski with ``w`` and cosine with ``zero_vectors``, of which
    few distances are needed.

    ``metric`` is a name ("braycurtis", "jaccard", …), a formula, a :class:`kith.Expression`, what :func:`kith.c_metric`
    returns, or a function of two rows, as for :func:`kith.search`, which has the other parameters too. Formulas that
    are a metric of the library are refused: :class:`kith.Index` has these, and is faster.

    >>> import kith
    >>> index = kith.CustomIndex([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]], "braycurtis")
    >>> index.search([[2.0, 1.0]], k=2).indices
    array([[1, 0]])
    >>> index.search_self(1).indices.tolist()
    [[1], [2], [1]]
    """

    def __init__(
        self,
        base: ArrayLike,
        metric: Any,
        *,
        p: Optional[float] = None,
        w: Numbers = None,
        V: Numbers = None,
        VI: Numbers = None,
        zero_vectors: Optional[str] = None,
        threads: Optional[int] = None,
        memory: Memory = None,
        check_finite: bool = True,
        max_distance: Optional[float] = None,
    ) -> None:
        chosen = choose_metric(metric, p, w, V, VI, zero_vectors)
        if chosen.own is None:
            raise ValueError(f"metric {chosen.name!r} is one of kith.Index; CustomIndex has those that it has not")
        options = make_options(
            backend="cpu", threads=threads, memory=memory, check_finite=check_finite, max_distance=max_distance
        )
        self._library = library_of(base)
        self._base = self._library.ready(base, "base")
        self._index = _made(chosen.own, self._library, self._base, options, True, 0, False)

    def search(self, queries: ArrayLike, k: int, *, progress: ProgressLike = False) -> Neighbors[Any, Any]:
        """The k nearest base points of each query."""
        library = library_of(queries)
        asked = ready_queries(library, queries, dtype_of(self._base))
        return _search(self._index, library, library.take(asked, 0), k, progress)

    def search_self(self, k: int, *, progress: ProgressLike = False) -> Neighbors[Any, Any]:
        """The k nearest of each base point, itself left out."""
        return _search(self._index, self._library, None, k, progress)

    def search_radius(
        self, queries: Optional[ArrayLike], radius: Any, *, count_only: bool = False, progress: ProgressLike = False
    ) -> RadiusNeighbors[Any, Any]:
        """All base points within the radius; of each base point, itself left out, where queries are None."""
        library = self._library if queries is None else library_of(queries)
        asked = None if queries is None else ready_queries(library, queries, dtype_of(self._base))
        taken = None if asked is None else library.take(asked, 0)
        return _search_radius(self._index, library, taken, dtype_of(self._base), radius, count_only, progress)


def _made(own: Any, library: Any, points: Any, options: Options, keep: bool, stream: int, progress: ProgressLike) -> Any:
    with showing(progress) as watch:
        return _kith.PairIndex(own, library.take(points, stream), options, keep, watch)


def _search(index: Any, library: Any, taken: Any, k: int, progress: ProgressLike) -> Neighbors[Any, Any]:
    with showing(progress) as watch:
        report, distances, indices = index.search(taken, as_integer(k, "k"), watch)
    found: Neighbors[Any, Any] = Neighbors(library.from_host(distances), library.from_host(indices))
    found.report = report
    return found


def _search_radius(
    index: Any, library: Any, taken: Any, dtype: np.dtype, radius: Any, count_only: bool, progress: ProgressLike
) -> RadiusNeighbors[Any, Any]:
    radii = as_radii(radius, distance_dtype(dtype))
    with showing(progress) as watch:
        report, distances, indices, offsets = index.search_radius(taken, radii, as_flag(count_only, "count_only"), watch)
    found: RadiusNeighbors[Any, Any] = RadiusNeighbors(*map(library.from_host, (distances, indices, offsets)))
    found.report = report
    return found


def search_own(
    own: Any, base: ArrayLike, queries: ArrayLike, k: int, options: Options, stream: object, progress: ProgressLike
) -> Neighbors[Any, Any]:
    """What :func:`kith.search` does for such a metric."""
    library, base_library = library_of(queries), library_of(base)
    number = stream_number(stream, library, base_library)
    points = base_library.ready(base, "base")
    asked = ready_queries(library, queries, dtype_of(points))
    index = _made(own, base_library, points, options, False, number, False)
    if asked.shape[0] == 0 and 0 < as_integer(k, "k") <= points.shape[0]:
        return Neighbors(
            library.empty((0, k), distance_dtype(dtype_of(points)), number), library.empty((0, k), np.dtype(int), number)
        )
    return _search(index, library, library.take(asked, number), k, progress)


def search_radius_own(
    own: Any,
    base: ArrayLike,
    queries: ArrayLike,
    radius: Any,
    count_only: bool,
    options: Options,
    stream: object,
    progress: ProgressLike,
) -> RadiusNeighbors[Any, Any]:
    """What :func:`kith.search_radius` does for such a metric."""
    library, base_library = library_of(queries), library_of(base)
    number = stream_number(stream, library, base_library)
    points = base_library.ready(base, "base")
    dtype = dtype_of(points)
    asked = ready_queries(library, queries, dtype)
    index = _made(own, base_library, points, options, False, number, False)
    return _search_radius(index, library, library.take(asked, number), dtype, radius, count_only, progress)


def distances_own(
    own: Any, a: ArrayLike, b: ArrayLike, options: Options, stream: object, progress: ProgressLike
) -> Any:
    """What :func:`kith.distances` does for such a metric."""
    library, other = library_of(a), library_of(b)
    number = stream_number(stream, library, other)
    rows, columns = ready_alike(a, b)
    index = _made(own, other, columns, options, False, number, False)
    with showing(progress) as watch:
        return library.from_host(index.distances(library.take(rows, number), watch))
