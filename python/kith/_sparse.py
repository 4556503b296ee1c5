"""Sparse points: matrices of scipy.sparse, searched as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from . import _kith
from ._answers import Lists
from ._arrays import FLOAT32, FLOAT64, INT64, accepted_queries, as_radii, check_points, is_sparse, searched_dtype
from ._checks import as_bytes, as_flag, as_integer, as_limit, as_name, as_power, as_real, as_threads
from ._index import Index
from ._libraries import FRESH, NUMPY, Library, host_memory, library_of, to_host
from ._neighbors import Neighbors, RadiusNeighbors
from ._progress import showing
from ._types import ArrayLike, ProgressLike, Values

if TYPE_CHECKING:
    from ._kith import Plan

# What the native functions take: indptr, indices, values, columns.
_Parts = Tuple[np.ndarray, np.ndarray, np.ndarray, int]

_EXACT_INTEGERS = 2**53  # float64 holds all integers up to here


class SparseIndex(Index):
    """What :class:`kith.Index` makes of a sparse base."""

    def __init__(
        self,
        base: Any,
        *,
        metric: str = "euclidean",
        p: Optional[float] = None,
        method: str = "auto",
        backend: str = "auto",
        distance: str = "auto",
        select: str = "auto",
        threads: Optional[int] = None,
        memory: Union[None, int, float, str] = None,
        check_finite: bool = True,
        statistics: bool = False,
        max_distance: Optional[float] = None,
        epsilon: float = 0.0,
        period: Any = None,
        tuning: Optional[Mapping[str, object]] = None,
        devices: Any = None,
        pad_missing: bool = False,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> None:
        if as_flag(pad_missing, "pad_missing"):
            raise ValueError("pad_missing is for dense points; k is at most the number of sparse ones")
        self._pads = False
        self._keywords: Dict[str, Any] = dict(
            metric=metric, p=p, backend=backend, method=method, distance=distance, select=select, threads=threads,
            memory=memory, check_finite=check_finite, statistics=statistics, max_distance=max_distance, epsilon=epsilon,
            period=period, tuning=tuning, devices=devices,
        )  # fmt: skip
        _refuse_what_is_of_dense_points(method, distance, select, statistics, period, tuning, devices)
        as_real(epsilon, "epsilon")
        self._base = base
        self._library = NUMPY
        self._metric = _sparse_metric(metric, p)
        self._parts = _parts_of(base, "base")
        self._shape = len(self._parts[0]) - 1, self._parts[3]
        self._dtype = self._distance_dtype = self._parts[2].dtype
        with showing(progress) as watch:
            self._sparse = _kith.SparseIndex(
                self._parts, self._metric, as_name(backend, "backend", "cpu"), as_threads(threads), as_bytes(memory),
                as_flag(check_finite, "check_finite"), as_limit(max_distance), watch,
            )  # fmt: skip

    def search(  # type: ignore[override]
        self,
        queries: ArrayLike,
        k: int,
        *,
        max_distance: Optional[float] = None,
        epsilon: Optional[float] = None,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> Neighbors[Any, Any]:
        if max_distance is not None and max_distance != self._keywords["max_distance"]:
            raise ValueError("max_distance of one search is for dense points; give it to the index of sparse ones")
        k = as_integer(k, "k")
        if not 0 < k <= self._shape[0]:
            raise ValueError(f"k = {k} but the number of base points is {self._shape[0]}")
        library, asked = self._queries(queries)
        return self._neighbors(library, asked, len(asked[0]) - 1, k, progress)

    def search_self(self, k: int, *, stream: object = None, progress: ProgressLike = False) -> Neighbors[Any, Any]:
        k, rows = as_integer(k, "k"), self._shape[0]
        if not 0 < k < rows:
            raise ValueError(f"k = {k} but the number of other points is {rows - 1}")
        return self._neighbors(NUMPY, None, rows, k, progress)

    def _neighbors(
        self, library: Library, asked: Optional[_Parts], rows: int, k: int, progress: ProgressLike
    ) -> Neighbors[Any, Any]:
        distances, indices = host_memory((rows, k), self._dtype), host_memory((rows, k), INT64)
        report = None
        if rows > 0:
            with showing(progress) as watch:
                report = self._sparse.search(asked, k, distances, indices, watch)
        found = Neighbors(library.answer(distances), library.answer(indices))
        found.report = report
        return found

    def search_radius(  # type: ignore[override]
        self,
        queries: Optional[ArrayLike],
        radius: Union[float, Values],
        *,
        count_only: bool = False,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> RadiusNeighbors[Any, Any]:
        library, asked = (NUMPY, None) if queries is None else self._queries(queries)
        rows = self._shape[0] if asked is None else len(asked[0]) - 1
        radii = as_radii(to_host(radius), self._dtype)
        lists = Lists(NUMPY, self._dtype, 0)
        offsets = np.zeros(rows + 1, INT64)
        count_only = as_flag(count_only, "count_only")
        if count_only or rows == 0:
            lists(0)
        report = None
        if rows > 0:
            with showing(progress) as watch:
                report = self._sparse.search_radius(asked, radii, offsets, None if count_only else lists, watch)
        found = RadiusNeighbors(*map(library.answer, (lists.distances, lists.indices, offsets)))
        found.report = report
        return found

    def graph(
        self,
        k: int,
        *,
        symmetrize: str = "none",
        mode: str = "distance",
        stream: object = None,
        progress: ProgressLike = False,
    ) -> Any:
        k = as_integer(k, "k")
        as_name(symmetrize, "symmetrize", "union")
        if as_name(mode, "mode", "distance") not in ("distance", "connectivity"):
            raise ValueError(f"mode = {mode!r}; it must be 'distance' or 'connectivity'")
        indptr = np.empty(self._shape[0] + 1, INT64)
        lists = Lists(NUMPY, self._dtype, 0)
        with showing(progress) as watch:
            self._sparse.graph(k, symmetrize, indptr, lists, watch)
        data = lists.distances if mode == "distance" else NUMPY.ones_like(lists.distances, FRESH)
        return NUMPY.sparse(data, lists.indices, indptr, symmetrize != "none", 0)

    def reduce(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError("reductions are of dense points; the base is a sparse matrix")

    def explain(self, queries: Any, k: int) -> Plan:
        raise TypeError("plans are of searches of dense points; the report of a sparse one says what was done")

    def _last(self, answer: Any) -> Any:
        return answer

    @property
    def metric(self) -> str:
        return self._metric

    def __repr__(self) -> str:
        rows, dims = self._shape
        return f"Index({rows} sparse points of {dims} dimensions, {self._dtype}, {self.metric})"

    def _queries(self, queries: Any) -> Tuple[Library, _Parts]:
        """Queries, sparse or dense, as the native functions take them."""
        library = NUMPY
        if not is_sparse(queries):
            library = library_of(queries)
            if library.device is not None:
                raise TypeError("queries lie on a device; sparse points are searched in host memory")
            queries = _sparse_rows(library.ready(queries, "queries"))
        indptr, indices, values, columns = _parts_of(queries, "queries", self._dtype)
        if columns != self._shape[1]:
            raise ValueError(f"the base has {self._shape[1]} dimensions but the queries have {columns}")
        return library, (indptr, indices, values, columns)


def _refuse_what_is_of_dense_points(
    method: str,
    distance: str,
    select: str,
    statistics: bool,
    period: Any,
    tuning: Optional[Mapping[str, object]],
    devices: Any,
) -> None:
    unusual = {
        "method": as_name(method, "method", "brute") not in ("auto", "brute"),
        "distance": as_name(distance, "distance", "direct") != "auto",
        "select": as_name(select, "select", "heap-queue") != "auto",
        "statistics": as_flag(statistics, "statistics"),
        "period": period is not None,
        "tuning": bool(tuning),
        "devices": devices is not None,
    }
    for name, is_set in unusual.items():
        if is_set:
            raise ValueError(f"{name} is for dense points; there is one way to search sparse ones, which is exact")


def _sparse_metric(metric: str, p: Optional[float]) -> str:
    """The name of a metric, minkowski with p = 1 or 2 among them."""
    name, power = as_name(metric, "metric", "euclidean"), as_power(p)
    if name == "minkowski":
        name = {None: "euclidean", 1.0: "manhattan", 2.0: "euclidean"}.get(power, name)
    elif power is not None:
        raise ValueError(f"p is for metric minkowski, not for {name}")
    try:
        return _kith.sparse_metric(name)
    except ValueError as error:
        raise ValueError(f"{error}; .toarray() makes points of which all metrics are known") from None


def _parts_of(matrix: Any, role: str, dtype: Optional[np.dtype] = None) -> _Parts:
    """The arrays of a sparse matrix of any format: without a copy where it is CSR of float32 or float64."""
    if type(matrix).__module__.partition(".")[0] == "cupyx":
        raise TypeError(f"{role} lies on a device; sparse points are searched in host memory: .get() brings them")
    check_points(len(matrix.shape), role)
    rows = matrix.tocsr()
    values = _converted(rows.data, role, dtype)
    indices = rows.indices if rows.indices.dtype.char in "ilq" else rows.indices.astype(INT64)
    parts = np.ascontiguousarray(rows.indptr, INT64), np.ascontiguousarray(indices), values
    return (*parts, as_integer(matrix.shape[1], f"dims of {role}"))


def _converted(values: np.ndarray, role: str, dtype: Optional[np.dtype]) -> np.ndarray:
    """Values in float32 or float64; of queries, in the type of the base."""
    own = searched_dtype(values.dtype, role)
    own = FLOAT64 if own == FLOAT64 else FLOAT32
    if values.dtype.kind in "iu" and own == FLOAT64 and values.size:
        largest = max(abs(int(values.max())), abs(int(values.min())))
        if largest > _EXACT_INTEGERS:
            raise ValueError(f"{role} holds the integer {largest}; beyond 2**53 float64 would round it")
    target = own if dtype is None else dtype
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(values, target)
    if target.itemsize < own.itemsize:
        bad = np.isfinite(values) & ~np.isfinite(converted)
        if bad.any():
            raise ValueError(f"{role} hold {values[np.argmax(bad)]}; {accepted_queries(target)}")
    return converted


def _sparse_rows(points: np.ndarray) -> Any:
    from scipy.sparse import csr_matrix

    if points.dtype.kind != "f" or points.dtype.itemsize < FLOAT32.itemsize:
        points = NUMPY.astype(points, FLOAT32)
    return csr_matrix(points)
