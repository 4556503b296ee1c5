"""Points with ids that come and go, searched all or in part, and kept in files."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _kith
from ._arrays import (
    INT64,
    as_points,
    as_radii,
    check_values,
    convert_queries,
    count_of,
    distance_dtype,
    dtype_of,
    name_of,
    named_dtype,
    searched_dtype,
    usual_dtype,
    widened,
)
from ._checks import as_flag, as_integer, as_name, described
from ._kith import Plan
from ._libraries import NUMPY, to_host
from ._neighbors import Neighbors, RadiusNeighbors
from ._options import make_options
from ._progress import showing
from ._types import (
    ArrayLike,
    BackendName,
    Floats,
    GraphMode,
    Integers,
    Memory,
    MethodName,
    MetricName,
    Period,
    ProgressLike,
    ReduceName,
    SparseMatrix,
    Symmetrize,
    Values,
)

if TYPE_CHECKING:
    from os import PathLike

Ids = Union[Sequence[int], npt.NDArray[Any]]
# One list for all queries, or one for each.
Lists = Union[Ids, Iterable[Ids]]


def _integers(values: Any, name: str) -> np.ndarray:
    """Integers in one dimension, as int64. Flags are none: as integers all of them would be 0 and 1."""
    array = np.asarray(to_host(values))
    if array.dtype == np.bool_ or (
        isinstance(values, (list, tuple)) and any(isinstance(each, (bool, np.bool_)) for each in values)
    ):
        raise TypeError(f"{name} must be integers, not bool; mask takes a flag for each point")
    if array.size == 0 and array.ndim <= 1:
        return np.empty(0, INT64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers in one dimension, not {array.dtype} in {array.ndim}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and (array > np.iinfo(np.int64).max).any():
        raise ValueError(f"{name} hold {array.max()}; the largest is {np.iinfo(np.int64).max}")
    return np.ascontiguousarray(array, INT64)


def _lists(values: Any, name: str, queries: Optional[int]) -> Optional[Tuple[np.ndarray, Optional[np.ndarray]]]:
    """(values, offsets) of one list for all queries, or of one for each, where the values are lists themselves."""
    if values is None:
        return None
    if isinstance(values, (int, np.integer)):
        values = [values]
    values = to_host(values)
    is_each = values.ndim == 2 if isinstance(values, np.ndarray) else any(np.ndim(each) > 0 for each in values)
    if not is_each:
        return _integers(values, name), None
    rows = [_integers(each, name) for each in values]
    if queries is not None and len(rows) != queries:
        raise ValueError(f"{name} has {len(rows)} lists; there are {queries} queries")
    offsets = np.zeros(len(rows) + 1, INT64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.concatenate([*rows, np.empty(0, INT64)]), offsets


def _filter(
    mask: Optional[ArrayLike],
    allowed: Optional[Lists],
    excluded: Optional[Lists],
    tags: Optional[Lists],
    queries: Optional[int] = None,
) -> Optional[Tuple[Any, ...]]:
    if mask is None and allowed is None and excluded is None and tags is None:
        return None
    flags, each = None, False
    if mask is not None:
        array = np.asarray(to_host(mask))
        if array.dtype != np.bool_ or array.ndim not in (1, 2):
            raise TypeError(f"mask must be of bool in one or two dimensions, not {array.dtype} in {array.ndim}")
        each = array.ndim == 2
        flags = np.ascontiguousarray(array).view(np.uint8)
    lists = (_lists(given, name, queries) for given, name in ((allowed, "allowed"), (excluded, "excluded"), (tags, "tags")))
    return (flags, each, *lists)


class Collection:
    """Points with ids of your own, which may be added, removed and replaced, searched in part, and saved.

    Answers are those of an index made of the same points, and have ids where those of :class:`Index` have row numbers;
    equal distances are ordered by id. A change is seen by the searches that begin after it, and copies each point a
    logarithmic number of times at most. Searches and changes may run in several threads at once.

    ``ids`` are any integers but -1, no two alike; without them points are numbered from 0, and later ones go on from the
    largest. ``tags``, an integer for each point, serve filters. Points are viewed, not copied, where their ids ascend:
    then they must not change. The other keywords are those of :func:`kith.search`; ``pad_missing`` lets searches ask for
    more neighbors than there are. Without points, ``dims`` and ``dtype`` say what they will be.

    What a search may find is said by these keywords, all of which must hold:

    mask : bool for each point, in the order of their ids; with two dimensions, a row for each query
    allowed, excluded : ids; a list of lists has one for each query
    tags : of points that may be found; likewise

    Where fewer than k points are left, rows end with id -1 and an infinite distance.

    >>> import numpy as np, kith
    >>> points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> collection = kith.Collection(points, ids=[10, 20, 30], tags=[1, 2, 1])
    >>> collection.search([[3.0, 3.0]], k=2).indices
    array([[20, 10]])
    >>> collection.search([[3.0, 3.0]], k=2, tags=[1]).indices
    array([[10, 30]])
    >>> collection.remove([10])["points"], collection.add([[3.0, 3.0]], ids=[5])["points"]
    (1, 1)
    >>> collection.search([[3.0, 3.0]], k=3, excluded=[20])
    Neighbors(distances=array([[0.        , 5.83095189,        inf]]), indices=array([[ 5, 30, -1]]))
    """

    def __init__(
        self,
        points: Optional[ArrayLike] = None,
        *,
        ids: Optional[Ids] = None,
        tags: Optional[Ids] = None,
        dims: Optional[int] = None,
        dtype: Optional[npt.DTypeLike] = None,
        metric: MetricName = "euclidean",
        p: Optional[float] = None,
        method: MethodName = "auto",
        backend: BackendName = "auto",
        threads: Optional[int] = None,
        memory: Memory = None,
        check_finite: bool = True,
        max_distance: Optional[float] = None,
        epsilon: float = 0.0,
        period: Period = None,
        tuning: Optional[Mapping[str, object]] = None,
        pad_missing: bool = False,
        progress: ProgressLike = False,
    ) -> None:
        self._keywords: Dict[str, Any] = dict(
            metric=metric, p=p, backend=backend, method=method, threads=threads, memory=memory,
            check_finite=check_finite, max_distance=max_distance, epsilon=epsilon, period=period, tuning=tuning,
        )  # fmt: skip
        self._pads = as_flag(pad_missing, "pad_missing")
        options = self._options()
        if points is None:
            if dims is None:
                raise TypeError("a collection needs points, or dims and dtype for those that will come")
            if ids is not None or tags is not None:
                raise TypeError("ids and tags are of points, and there are none")
            like = np.empty((1, 1), searched_dtype(named_dtype("float32" if dtype is None else dtype), "points"))
            self._native = _kith.Collection(like, as_integer(dims, "dims"), options)
        else:
            if dims is not None or dtype is not None:
                raise TypeError("dims and dtype are for collections without points")
            array = as_points(to_host(points), "points")
            with showing(progress) as watch:
                self._native = _kith.Collection(
                    array,
                    None if ids is None else _integers(ids, "ids"),
                    None if tags is None else _integers(tags, "tags"),
                    options,
                    watch,
                )
        self._describe()

    def _options(self) -> _kith.Options:
        options = make_options(**self._keywords)
        return options.padded() if self._pads else options

    def _describe(self) -> None:
        self._dims = int(self._native.dims)
        self._dtype = searched_dtype(named_dtype(self._native.dtype), "points")
        self._distance_dtype = distance_dtype(self._dtype)

    def _ready(self, points: Any, role: str) -> np.ndarray:
        array = as_points(to_host(points), role)
        return array if dtype_of(array) == self._dtype else convert_queries(array, self._dtype)

    def add(self, points: ArrayLike, *, ids: Optional[Ids] = None, tags: Optional[Ids] = None) -> Dict[str, Any]:
        """Adds points, whose ids must be new. Says how many rows were copied, and how many segments there are."""
        return self._native.add(
            self._ready(points, "points"),
            None if ids is None else _integers(ids, "ids"),
            None if tags is None else _integers(tags, "tags"),
        )

    def remove(self, ids: Ids) -> Dict[str, Any]:
        """Removes the points of these ids, all of which must be there."""
        return self._native.remove(_integers(ids, "ids"))

    def update(self, points: ArrayLike, *, ids: Ids, tags: Optional[Ids] = None) -> Dict[str, Any]:
        """Puts other points in the place of those of these ids; tags stay where none are given."""
        return self._native.update(
            self._ready(points, "points"), _integers(ids, "ids"), None if tags is None else _integers(tags, "tags")
        )

    def compact(self) -> Dict[str, Any]:
        """Puts all points side by side, without what was removed."""
        return self._native.compact()

    def search(
        self,
        queries: ArrayLike,
        k: int,
        *,
        mask: Optional[ArrayLike] = None,
        allowed: Optional[Lists] = None,
        excluded: Optional[Lists] = None,
        tags: Optional[Lists] = None,
        progress: ProgressLike = False,
    ) -> Neighbors[Floats, Integers]:
        """The k nearest of each query among the points that may be found, by their ids."""
        points = self._ready(queries, "queries")
        k = as_integer(k, "k")
        if points.shape[0] == 0:
            return Neighbors(np.empty((0, k), self._distance_dtype), np.empty((0, k), INT64))
        chosen = _filter(mask, allowed, excluded, tags, points.shape[0])
        with showing(progress) as watch:
            distances, indices, report = self._native.search(points, k, chosen, watch)
        found = Neighbors(distances, indices)
        found.report = report
        return found

    def search_self(
        self,
        k: int,
        *,
        mask: Optional[ArrayLike] = None,
        allowed: Optional[Lists] = None,
        excluded: Optional[Lists] = None,
        tags: Optional[Lists] = None,
        progress: ProgressLike = False,
    ) -> Neighbors[Floats, Integers]:
        """The k nearest others of each point that may be found, in the order of :meth:`ids` with the same filter."""
        with showing(progress) as watch:
            distances, indices, report = self._native.search(
                None, as_integer(k, "k"), _filter(mask, allowed, excluded, tags), watch
            )
        found = Neighbors(distances, indices)
        found.report = report
        return found

    def search_radius(
        self,
        queries: Optional[ArrayLike],
        radius: Union[float, Values],
        *,
        count_only: bool = False,
        mask: Optional[ArrayLike] = None,
        allowed: Optional[Lists] = None,
        excluded: Optional[Lists] = None,
        tags: Optional[Lists] = None,
        progress: ProgressLike = False,
    ) -> RadiusNeighbors[Floats, Integers]:
        """All points that may be found within the radius, as :func:`kith.search_radius`; of the points themselves,
        each leaving itself out, where ``queries`` is None."""
        points = None if queries is None else self._ready(queries, "queries")
        radii = as_radii(to_host(radius), self._distance_dtype)
        count_only = as_flag(count_only, "count_only")
        if points is not None and points.shape[0] == 0:
            return RadiusNeighbors(np.empty(0, self._distance_dtype), np.empty(0, INT64), np.zeros(1, INT64))
        chosen = _filter(mask, allowed, excluded, tags, None if points is None else points.shape[0])
        with showing(progress) as watch:
            distances, indices, offsets, report = self._native.search_radius(points, radii, chosen, count_only, watch)
        found = RadiusNeighbors(distances, indices, offsets)
        found.report = report
        return found

    def graph(
        self,
        k: int,
        *,
        symmetrize: Symmetrize = "none",
        mode: GraphMode = "distance",
        mask: Optional[ArrayLike] = None,
        allowed: Optional[Lists] = None,
        excluded: Optional[Lists] = None,
        tags: Optional[Lists] = None,
        progress: ProgressLike = False,
    ) -> SparseMatrix:
        """The graph of the points that may be found; its rows are in the order of :meth:`ids` with the same filter."""
        as_name(symmetrize, "symmetrize", "union")
        if as_name(mode, "mode", "distance") not in ("distance", "connectivity"):
            raise ValueError(f"mode = {mode!r}; it must be 'distance' or 'connectivity'")
        with showing(progress) as watch:
            data, indices, indptr, _ = self._native.graph(
                as_integer(k, "k"), symmetrize, _filter(mask, allowed, excluded, tags), watch
            )
        return NUMPY.sparse(data if mode == "distance" else np.ones_like(data), indices, indptr, symmetrize != "none", 0)

    def reduce(
        self,
        queries: ArrayLike,
        k: int,
        values: Optional[Values] = None,
        op: ReduceName = "mean",
        *,
        mask: Optional[ArrayLike] = None,
        allowed: Optional[Lists] = None,
        excluded: Optional[Lists] = None,
        tags: Optional[Lists] = None,
        progress: ProgressLike = False,
    ) -> Floats:
        """A row for each query, made of its k nearest that may be found, as :func:`kith.reduce`. ``values`` has a row for
        each point, in the order of their ids."""
        name, needs_values = _kith.reduce_op(as_name(op, "op", "mean"))
        points = self._ready(queries, "queries")
        flat, numbers = name != "covariance", None
        if needs_values:
            if values is None:
                raise ValueError(f"op '{name}' needs values, one for each of the points")
            array = widened(np.asarray(to_host(values)))
            check_values(array.shape, len(self))
            flat = array.ndim == 1
            numbers = np.ascontiguousarray(array.reshape(len(array), -1), self._distance_dtype)
        chosen = _filter(mask, allowed, excluded, tags, points.shape[0])
        with showing(progress) as watch:
            made = self._native.reduce(points, as_integer(k, "k"), numbers, name, chosen, watch)
        return made[:, 0] if flat else made

    def explain(self, queries: Union[int, ArrayLike], k: int) -> Plan:
        """What a search of the largest segment would do."""
        return self._native.explain(count_of(queries), as_integer(k, "k"))

    def ids(
        self,
        *,
        mask: Optional[ArrayLike] = None,
        allowed: Optional[Lists] = None,
        excluded: Optional[Lists] = None,
        tags: Optional[Lists] = None,
    ) -> Integers:
        """The ids of all points, or of those that may be found, ascending."""
        return self._native.ids(_filter(mask, allowed, excluded, tags))

    def points(self, ids: Ids) -> np.ndarray:
        """The points of these ids."""
        wanted = _integers(ids, "ids")
        found = np.empty((len(wanted), self._dims), self._dtype)
        self._native.points(wanted, found)
        return found.view(usual_dtype(self._dtype))

    def save(self, path: Union[str, PathLike[str]]) -> None:
        """Writes a file, whole or not at all, with what searches have prepared."""
        self._native.save(os.fspath(path))

    @classmethod
    def load(
        cls,
        path: Union[str, PathLike[str]],
        *,
        verify: bool = False,
        backend: BackendName = "auto",
        threads: Optional[int] = None,
        memory: Memory = None,
        check_finite: bool = True,
        max_distance: Optional[float] = None,
        epsilon: float = 0.0,
        pad_missing: bool = False,
    ) -> Collection:
        """A collection of a file, which is mapped into memory: its pages are read as searches need them.

        The file must not be written to meanwhile; :meth:`save` does not, it replaces it. ``verify`` reads all of it and
        compares its checksums. Metric and method are those of the file.
        """
        made = cls.__new__(cls)
        made._pads = as_flag(pad_missing, "pad_missing")
        name = os.fspath(path)
        info = _kith.collection_info(name)
        made._keywords = dict(
            backend=backend, threads=threads, memory=memory, check_finite=check_finite, max_distance=max_distance,
            epsilon=epsilon, method=info["method"],
        )  # fmt: skip
        made._native = _kith.Collection(name, made._options(), as_flag(verify, "verify"))
        made._describe()
        return made

    @property
    def shape(self) -> Tuple[int, int]:
        """(points, dims)"""
        return len(self), self._dims

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type in which points are compared."""
        return usual_dtype(self._dtype)

    @property
    def metric(self) -> str:
        """Its name; that of minkowski has its p."""
        return self._native.metric

    def __len__(self) -> int:
        return int(self._native.rows)

    def __contains__(self, id: object) -> bool:
        if isinstance(id, (bool, float)) or not isinstance(id, (int, np.integer)):
            raise TypeError(f"an id is an integer, not {described(id)}")
        return self._native.contains(int(id))

    def __repr__(self) -> str:
        rows, dims = self.shape
        return f"Collection({rows} points of {dims} dimensions, {name_of(self._dtype)}, {self.metric})"

    def __getstate__(self) -> Any:
        """The bytes of a file, with what the file does not have."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "collection")
            self.save(path)
            with open(path, "rb") as file:
                return {"file": file.read(), "keywords": self._keywords, "pads": self._pads}

    def __setstate__(self, state: Any) -> None:
        self._keywords, self._pads = state["keywords"], state["pads"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "collection")
            with open(path, "wb") as file:
                file.write(state["file"])
            self._native = _kith.Collection(path, self._options(), True)  # stays mapped when the file is gone
        self._describe()


def collection_info(path: Union[str, PathLike[str]]) -> Dict[str, Any]:
    """What the file of a :class:`Collection` holds: its head is read, and nothing else."""
    return _kith.collection_info(os.fspath(path))


__all__: List[str] = ["Collection", "collection_info"]
