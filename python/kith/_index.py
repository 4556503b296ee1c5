"""A base prepared for many searches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Dict, Generic, Mapping, Optional, Tuple, Union

import numpy as np

from . import _kith
from ._answers import Lists, find_neighbors
from ._arrays import INT64, as_radii, count_of, distance_dtype, dtype_of, is_sparse, name_of, usual_dtype
from ._checks import as_flag, as_integer, as_limit, as_name, as_real
from ._kith import Plan
from ._libraries import FRESH, library_of, ready_queries, stream_number, to_host
from ._neighbors import Neighbors, RadiusNeighbors
from ._options import make_options
from ._progress import showing
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    CallOptions,
    Devices,
    DistanceName,
    Floats,
    GraphMode,
    HostArray,
    Integers,
    Memory,
    MethodName,
    MetricName,
    Period,
    ProgressLike,
    Real,
    ReduceName,
    SearchCallOptions,
    SearchOptions,
    SelectName,
    SparseMatrix,
    Symmetrize,
    Values,
    Whole,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Index(Generic[Real, Whole]):
    """A base of points, checked once and kept with what its metric needs.

    The points are not copied where :func:`kith.search` would not copy them: they must not change while the index is
    used. The keywords are those of :func:`kith.search` and hold for all searches. Searches may run in several threads
    at once. Pickling takes the points along. A base on a CUDA device is searched there.

    Queries and values may lie in host memory or on the device; answers come in the library, and on the device, of the
    queries, or of the base where there are none. Queries are converted to the type of the base as :func:`kith.search`
    does it. ``stream`` and ``progress`` are those of :func:`kith.search`.

    A matrix of scipy.sparse is searched as it is, which :func:`kith.search` explains;
    reductions and plans are of dense points.

    >>> import numpy as np, kith
    >>> points = np.random.default_rng(0).random((500, 16))
    >>> index = kith.Index(points, metric="cosine")
    >>> index.search(points[:3], k=1).indices.ravel().tolist()
    [0, 1, 2]
    >>> index
    Index(500 points of 16 dimensions, float64, cosine)
    """

    if not TYPE_CHECKING:  # for type checkers the constructor says it all

        def __new__(cls, base=None, **options):
            if cls is Index and is_sparse(base):
                from ._sparse import SparseIndex

                cls = SparseIndex
            return object.__new__(cls)

    @overload
    def __init__(self: Index[Floats, Integers], base: HostArray, **options: Unpack[SearchOptions]) -> None: ...
    @overload
    def __init__(self: Index[Array, Array], base: Array, **options: Unpack[SearchOptions]) -> None: ...
    def __init__(
        self,
        base: ArrayLike,
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
        statistics: bool = False,
        max_distance: Optional[float] = None,
        epsilon: float = 0.0,
        period: Period = None,
        tuning: Optional[Mapping[str, object]] = None,
        pad_missing: bool = False,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> None:
        self._keywords: Dict[str, Any] = dict(
            metric=metric, p=p, backend=backend, method=method, distance=distance, select=select, threads=threads,
            memory=memory, check_finite=check_finite, statistics=statistics, max_distance=max_distance, epsilon=epsilon,
            period=period, tuning=tuning, devices=devices,
        )  # fmt: skip
        self._pads = as_flag(pad_missing, "pad_missing")
        self._options = make_options(**self._keywords)
        if self._pads:
            self._options = self._options.padded()
        self._base = base
        self._library = library_of(base)
        points = self._library.ready(base, "base")
        self._shape = int(points.shape[0]), int(points.shape[1])
        self._dtype = dtype_of(points)
        self._distance_dtype = distance_dtype(self._dtype)
        number = stream_number(stream, self._library)
        with showing(progress) as watch:
            self._native = _kith.Index(self._library.take(points, number), self._options, number, watch)

    @overload
    def search(
        self, queries: HostArray, k: int, **options: Unpack[SearchCallOptions]
    ) -> Neighbors[Floats, Integers]: ...
    @overload
    def search(self, queries: Array, k: int, **options: Unpack[SearchCallOptions]) -> Neighbors[Array, Array]: ...
    def search(
        self,
        queries: ArrayLike,
        k: int,
        *,
        max_distance: Optional[float] = None,
        epsilon: Optional[float] = None,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> Neighbors[Any, Any]:
        """The k nearest base points of each query; ``max_distance`` and ``epsilon`` of the index unless they are given."""
        k = as_integer(k, "k")
        native_search = self._native.search
        if max_distance is not None or epsilon is not None:
            usual = self._keywords
            limits = (
                as_limit(usual["max_distance"] if max_distance is None else max_distance),
                as_real(usual["epsilon"] if epsilon is None else epsilon, "epsilon"),
            )
            native_search = partial(native_search, limits=limits)
        library = library_of(queries)
        number = stream_number(stream, library, self._library)
        points = ready_queries(library, queries, self._dtype)
        rows = points.shape[0]
        if rows == 0 or not 0 < k <= (k if self._pads else self._shape[0]):
            self._native.explain(max(rows, 1), min(k, self._shape[0]) if self._pads else k)  # refuses
        found = find_neighbors(
            library,
            rows,
            k,
            self._distance_dtype,
            self._options,
            number,
            progress,
            native_search,
            library.take(points, number),
        )
        library.finish((points,), number)
        return found

    def search_self(self, k: int, *, stream: object = None, progress: ProgressLike = False) -> Neighbors[Real, Whole]:
        """The k nearest others of each base point. A point is left out by its index; its duplicates are not."""
        k = as_integer(k, "k")
        library, rows = self._library, self._shape[0]
        if not 0 < k < (k + 1 if self._pads else rows):
            raise ValueError(f"k = {k} but the number of other points is {rows - 1}")
        number = stream_number(stream, library)
        found = find_neighbors(
            library, rows, k, self._distance_dtype, self._options, number, progress, self._native.search, None
        )
        library.finish((), number)
        return found

    @overload
    def search_radius(
        self, queries: None, radius: Union[float, Values], *, count_only: bool = False, **options: Unpack[CallOptions]
    ) -> RadiusNeighbors[Real, Whole]: ...
    @overload
    def search_radius(
        self,
        queries: HostArray,
        radius: Union[float, Values],
        *,
        count_only: bool = False,
        **options: Unpack[CallOptions],
    ) -> RadiusNeighbors[Floats, Integers]: ...
    @overload
    def search_radius(
        self, queries: Array, radius: Union[float, Values], *, count_only: bool = False, **options: Unpack[CallOptions]
    ) -> RadiusNeighbors[Array, Array]: ...
    def search_radius(
        self,
        queries: Optional[ArrayLike],
        radius: Union[float, Values],
        *,
        count_only: bool = False,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> RadiusNeighbors[Any, Any]:
        """As :func:`kith.search_radius`. With ``queries=None``, of each base point, itself left out."""
        library = self._library if queries is None else library_of(queries)
        number = stream_number(stream, library, self._library)
        points = None if queries is None else ready_queries(library, queries, self._dtype)
        rows = self._shape[0] if points is None else points.shape[0]
        count_only = as_flag(count_only, "count_only")
        radii = as_radii(to_host(radius), self._distance_dtype)
        if rows == 0:
            parts = np.empty(0, self._distance_dtype), np.empty(0, INT64), np.zeros(1, INT64)
            return RadiusNeighbors(*map(library.from_host, parts))
        offsets = library.empty((rows + 1,), INT64, number)
        lists = Lists(library, self._distance_dtype, number)
        if count_only:
            lists(0)
        with showing(progress) as watch:
            report = self._native.search_radius(
                None if points is None else library.take(points, number),
                radii,
                library.take(offsets, FRESH),
                None if count_only else lists,
                number,
                watch,
            )
        library.finish(() if points is None else (points,), number)
        found = RadiusNeighbors(*map(library.answer, (lists.distances, lists.indices, offsets)))
        found.report = report
        return found

    def graph(
        self,
        k: int,
        *,
        symmetrize: Symmetrize = "none",
        mode: GraphMode = "distance",
        stream: object = None,
        progress: ProgressLike = False,
    ) -> SparseMatrix:
        """The graph of every point's k nearest others, as :func:`kith.graph`."""
        k = as_integer(k, "k")
        as_name(symmetrize, "symmetrize", "union")
        if as_name(mode, "mode", "distance") not in ("distance", "connectivity"):
            raise ValueError(f"mode = {mode!r}; it must be 'distance' or 'connectivity'")
        library = self._library
        number = stream_number(stream, library)
        indptr = library.empty((self._shape[0] + 1,), INT64, number)
        lists = Lists(library, self._distance_dtype, number)
        with showing(progress) as watch:
            self._native.graph(k, symmetrize, library.take(indptr, FRESH), lists, number, watch)
        library.finish((), number)
        data = lists.distances if mode == "distance" else library.ones_like(lists.distances, number)
        return library.sparse(data, lists.indices, indptr, symmetrize != "none", number)

    @overload
    def reduce(
        self,
        queries: HostArray,
        k: int,
        values: Optional[Values] = None,
        op: ReduceName = "mean",
        **options: Unpack[CallOptions],
    ) -> Floats: ...
    @overload
    def reduce(
        self,
        queries: Array,
        k: int,
        values: Optional[Values] = None,
        op: ReduceName = "mean",
        **options: Unpack[CallOptions],
    ) -> Array: ...
    def reduce(
        self,
        queries: ArrayLike,
        k: int,
        values: Optional[Values] = None,
        op: ReduceName = "mean",
        *,
        stream: object = None,
        progress: ProgressLike = False,
    ) -> Any:
        """A row for each query, made of its k nearest base points, as :func:`kith.reduce`."""
        k = as_integer(k, "k")
        name, needs_values = _kith.reduce_op(as_name(op, "op", "mean"))
        if needs_values and values is None:
            raise ValueError(f"op '{name}' needs values, one for each of the base points")
        library = library_of(queries)
        values_library = library_of(values)
        number = stream_number(stream, library, self._library, values_library)
        points = ready_queries(library, queries, self._dtype)
        rows, dims = self._shape
        if not 0 < k <= rows:
            self._native.explain(1, k)  # refuses
        inputs, flat, columns, taken = [points], name != "covariance", 0, None
        if needs_values:
            numbers = values_library.values(values, self._distance_dtype, rows)
            flat = len(numbers.shape) == 1
            columns = 1 if flat else numbers.shape[1]
            inputs.append(numbers)
            taken = values_library.take(numbers, number)
        shape = (points.shape[0], _kith.reduced_columns(name, columns, dims))
        made = library.empty(shape, self._distance_dtype, number)
        if shape[0] > 0:
            with showing(progress) as watch:
                out = library.take(made, FRESH)
                self._native.reduce(library.take(points, number), k, taken, name, out, number, watch)
        library.finish(inputs, number)
        return library.answer(made[:, 0] if flat else made)

    def explain(self, queries: Union[int, ArrayLike], k: int) -> Plan:
        """What a search would do; ``queries`` is an array or their number."""
        return self._native.explain(count_of(queries), as_integer(k, "k"))

    def _last(self, answer: Any) -> Any:
        """The last answer, for which the index stays as long as it must."""
        self._native.wait()
        return answer

    @property
    def base(self) -> ArrayLike:
        """The points, as they were given."""
        return self._base

    @property
    def shape(self) -> Tuple[int, int]:
        """(rows, dims) of the base."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type in which points are compared; bfloat16 is that of ml_dtypes where this is installed."""
        return usual_dtype(self._dtype)

    @property
    def metric(self) -> str:
        """Its name; that of minkowski has its p."""
        return self._options.metric

    def __len__(self) -> int:
        return self._shape[0]

    def __repr__(self) -> str:
        rows, dims = self._shape
        return f"Index({rows} points of {dims} dimensions, {name_of(self._dtype)}, {self.metric})"

    def __getstate__(self) -> Any:
        return {"base": self._base, **self._keywords, "pad_missing": self._pads}

    def __setstate__(self, state: Any) -> None:
        self.__init__(state.pop("base"), **state)  # type: ignore[misc]
