"""Searches of a base that lies in blocks: one block at a time, and the lists of all of them put together.

A distance depends on its query and its point alone, with the same bits wherever it is computed, and no two neighbors of
a query have the same (distance, id). So the k nearest of a base are the first k of those of its blocks, however the
base is cut, in whatever order blocks are searched, and if one of them is searched twice. These functions keep nothing
and change nothing: an engine may run them anywhere, and again where a machine is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Dict, Iterable, List, Mapping, Optional, Set, Tuple, Union

import numpy as np

from . import _kith
from ._arrays import INT64, UINT8, as_radii, distance_dtype, dtype_of, is_sparse, name_of
from ._checks import as_integer, described
from ._kith import Options
from ._libraries import NUMPY, library_of, ready_queries, stream_number, to_host
from ._neighbors import Neighbors, RadiusNeighbors
from ._options import make_options
from ._types import (
    ArrayLike,
    BackendName,
    DistanceName,
    Floats,
    Integers,
    Memory,
    MethodName,
    MetricName,
    Period,
    SelectName,
    Values,
    overload,
)


@dataclass(frozen=True, eq=False)
class PartialNeighbors:
    """The nearest of some blocks: what :func:`partial_search` and :func:`merge` return. It can be pickled.

    ``distances`` and ``indices`` are queries × k, as those of :class:`kith.Neighbors`; places for which there are no
    points have index -1. ``blocks`` has the name and the fingerprint of each block that was searched: 64 bits of a hash
    of its type, shape and values. ``queries`` is the fingerprint of the queries.
    """

    distances: Floats
    indices: Integers
    metric: str
    backend: str
    queries: int
    blocks: Mapping[str, int]

    def neighbors(self) -> Neighbors[Floats, Integers]:
        """The lists alone."""
        return Neighbors(self.distances, self.indices)


@dataclass(frozen=True, eq=False)
class PartialRadiusNeighbors:
    """All neighbors within the radii in some blocks: what :func:`partial_search_radius` and :func:`merge` return.

    ``distances``, ``indices`` and ``offsets`` are those of :class:`kith.RadiusNeighbors`, the others those of
    :class:`PartialNeighbors`; the fingerprint of the queries is that of their radii, too.
    """

    distances: Floats
    indices: Integers
    offsets: Integers
    metric: str
    backend: str
    queries: int
    blocks: Mapping[str, int]

    def neighbors(self) -> RadiusNeighbors[Floats, Integers]:
        """The lists alone."""
        return RadiusNeighbors(self.distances, self.indices, self.offsets)


def fingerprint(array: ArrayLike) -> int:
    """64 bits of a hash of an array: of its type, its shape and its values.

    >>> import numpy as np
    >>> points = np.eye(3, dtype=np.float32)
    >>> fingerprint(points) == fingerprint(points.copy()), fingerprint(points) == fingerprint(points.astype(float))
    (True, False)
    """
    values = np.ascontiguousarray(to_host(array))
    summary = blake2b(f"{name_of(values.dtype)} {values.shape}".encode(), digest_size=8)
    summary.update(values.reshape(-1).view(UINT8))
    return int.from_bytes(summary.digest(), "little")


def partial_search(
    block: ArrayLike,
    queries: ArrayLike,
    k: int,
    *,
    first_id: Optional[int] = None,
    ids: Optional[Values] = None,
    self_ids: Optional[Values] = None,
    found: Optional[PartialNeighbors] = None,
    block_name: Optional[str] = None,
    metric: MetricName = "euclidean",
    p: Optional[float] = None,
    method: MethodName = "auto",
    backend: BackendName = "auto",
    distance: DistanceName = "auto",
    select: SelectName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    check_finite: bool = True,
    max_distance: Optional[float] = None,
    period: Period = None,
) -> PartialNeighbors:
    """The k nearest of each query in one block of a base, for :func:`merge`.

    The block may have fewer than k points, or none. Its rows are points ``first_id``, ``first_id`` + 1, … of the base;
    or those that ``ids`` names, whole numbers in ascending order, any but -1. ``self_ids`` are the ids of the queries
    where they are points of the base, which are no neighbors of their own. ``found`` is what other blocks gave: the
    answer is of these too, and points that are farther away than its lists need not be looked at. ``block_name`` stands
    in errors; without one it is the first id. The other parameters are those of :func:`kith.search`; method
    shifted-sort, whose neighbors depend on all points, is refused.

    >>> import numpy as np, kith
    >>> base = np.random.default_rng(0).random((1000, 8), dtype=np.float32)
    >>> parts = [kith.partial_search(base[i : i + 300], base[:2], k=3, first_id=i) for i in range(0, 1000, 300)]
    >>> found = kith.merge(parts, k=3)
    >>> whole = kith.search(base, base[:2], k=3)
    >>> np.array_equal(found.indices, whole.indices) and np.array_equal(found.distances, whole.distances)
    True
    """
    options = make_options(
        metric, p, backend, method, distance, select, threads, memory, check_finite,
        max_distance=max_distance, period=period,
    )  # fmt: skip
    if method == "shifted-sort":
        raise ValueError("method shifted-sort cannot search blocks: its neighbors depend on all points of the base")
    k = _as_count(k)
    task = _Task(block, queries, first_id, ids, self_ids, block_name, options)
    if found is not None:
        _check_alike((found, task))
        found = merge((found,), k)
    if task.is_idle:
        return task.nothing(k) if found is None else task.added_to(found)
    before = (None, None) if found is None else (found.distances, found.indices)
    report, distances, indices = _kith.search_shard(
        task.points, task.asked, options, k, task.first_id, task.ids, task.self_ids, *before, task.stream
    )
    used = report.plan.backend
    if found is None:
        return PartialNeighbors(distances, indices, task.metric, used, task.queries, task.blocks)
    _check_backends(task.metric, {found.backend, used})
    blocks = joined_blocks((found.blocks, task.blocks))
    return PartialNeighbors(distances, indices, task.metric, used, task.queries, blocks)


def partial_search_radius(
    block: ArrayLike,
    queries: ArrayLike,
    radius: Union[float, Values],
    *,
    first_id: Optional[int] = None,
    ids: Optional[Values] = None,
    self_ids: Optional[Values] = None,
    block_name: Optional[str] = None,
    metric: MetricName = "euclidean",
    p: Optional[float] = None,
    distance: DistanceName = "auto",
    backend: BackendName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    check_finite: bool = True,
    period: Period = None,
) -> PartialRadiusNeighbors:
    """All points of one block of a base within a distance of each query, for :func:`merge`.

    ``radius`` is that of :func:`kith.search_radius`, the other parameters those of :func:`partial_search`.

    >>> import kith
    >>> base, queries = [[0.0], [1.0], [2.0], [5.0]], [[0.0], [5.0]]
    >>> parts = [kith.partial_search_radius(base[i : i + 2], queries, 3.0, first_id=i) for i in (0, 2)]
    >>> found = kith.merge(parts)
    >>> found.offsets.tolist(), found.indices.tolist(), found.distances.tolist()
    ([0, 3, 5], [0, 1, 2, 3, 2], [0.0, 1.0, 2.0, 0.0, 3.0])
    """
    options = make_options(
        metric, p, backend, distance=distance, threads=threads, memory=memory, check_finite=check_finite, period=period
    )
    task = _Task(block, queries, first_id, ids, self_ids, block_name, options)
    radii = as_radii(to_host(radius), task.distance_dtype)
    task.queries ^= fingerprint(radii)
    if task.is_idle:
        return task.nothing_within()
    report, distances, indices, offsets = _kith.search_shard_radius(
        task.points, task.asked, options, radii, task.first_id, task.ids, task.self_ids, task.stream
    )
    return PartialRadiusNeighbors(
        distances, indices, offsets, task.metric, report.plan.backend, task.queries, task.blocks
    )


@overload
def merge(parts: Iterable[PartialNeighbors], k: Optional[int] = None) -> PartialNeighbors: ...
@overload
def merge(parts: Iterable[PartialRadiusNeighbors], k: None = None) -> PartialRadiusNeighbors: ...
def merge(parts: Any, k: Optional[int] = None) -> Any:
    """The lists of some blocks as one: for each query the first k of all, each id once, sorted by (distance, id).

    Parts may come in any order, be merged in groups, and be there twice. Without ``k`` it is that of the parts. Within
    a radius there is no k, and all are kept. A ValueError says so where a block or an id has been read twice and was
    not the same, where parts are of different queries or metrics, or have fewer than k places.

    >>> import kith
    >>> part = kith.partial_search([[1.0], [2.0]], [[0.0]], k=3, first_id=0)
    >>> changed = kith.partial_search([[1.0], [9.0]], [[0.0]], k=3, first_id=0)
    >>> kith.merge([part, part]).indices.tolist()
    [[0, 1, -1]]
    >>> kith.merge([part, changed])
    Traceback (most recent call last):
        ...
    ValueError: block 0 changed between two reads, with fingerprints 83eb9becf2dc50e4 and c27624c582c894a6
    """
    parts = list(parts)
    _check_kinds(parts)
    _check_alike(parts)
    first, blocks = parts[0], joined_blocks(part.blocks for part in parts)
    backend = next((part.backend for part in parts if part.backend), "")
    order = first.metric
    if isinstance(first, PartialRadiusNeighbors):
        if k is not None:
            raise TypeError(f"k = {k}, but neighbors within a radius are all kept")
        lists: Any = [(part.distances, part.indices, part.offsets) for part in parts]
        merged = lists[0] if len(parts) == 1 else _kith.merge_radius(lists, order)
        return PartialRadiusNeighbors(*merged, order, backend, first.queries, blocks)
    places = min(part.indices.shape[1] for part in parts)
    k = places if k is None else _as_count(k)
    if k > places:
        raise ValueError(f"k = {k} but a part has {places} places for each query; search all blocks with k = {k}")
    lists = [(part.distances, part.indices) for part in parts]
    if len(parts) == 1 and k == places:
        merged = lists[0]
    else:
        merged = _kith.merge_neighbors(lists, k, order, 0)
    return PartialNeighbors(*merged, order, backend, first.queries, blocks)


class _Task:
    """A block and what it is searched for, checked, as the native functions take them."""

    backend = ""

    def __init__(
        self,
        block: Any,
        queries: Any,
        first_id: Optional[int],
        ids: Any,
        self_ids: Any,
        name: Optional[str],
        options: Options,
    ) -> None:
        if is_sparse(block):
            raise TypeError("block is a sparse matrix; blocks are dense")
        library = library_of(block)
        points = library.ready(block, "block")
        asked = ready_queries(NUMPY, queries, dtype_of(points))
        self.rows, self.asked_rows = int(points.shape[0]), int(asked.shape[0])
        if points.shape[1] != asked.shape[1]:
            raise ValueError(f"queries have {asked.shape[1]} dimensions but the block has {points.shape[1]}")
        self.first_id, self.ids = _ids_of(first_id, ids, self.rows)
        self.self_ids = None if self_ids is None else _as_ids(self_ids, "self_ids", self.asked_rows)
        self.metric = options.metric
        self.distance_dtype = distance_dtype(dtype_of(points))
        self.queries = fingerprint(asked)
        self.blocks = self._named(name, points)
        self.is_idle = self.rows == 0 or self.asked_rows == 0
        self.stream = stream_number(None, library)
        self.points, self.asked = library.take(points, self.stream), asked

    def _named(self, name: Optional[str], points: Any) -> Dict[str, int]:
        if self.rows == 0:
            return {}
        if name is None:
            name = str(self.first_id if self.ids is None else self.ids[0])
        mark = fingerprint(points) if self.ids is None else fingerprint(points) ^ fingerprint(self.ids)
        return {name: mark}

    def nothing(self, k: int) -> PartialNeighbors:
        """No point for any query."""
        shape = (self.asked_rows, k)
        farthest = -np.inf if self.metric == "inner_product" else np.inf
        distances = np.full(shape, farthest, self.distance_dtype)
        return PartialNeighbors(distances, np.full(shape, -1, INT64), self.metric, "", self.queries, self.blocks)

    def added_to(self, found: PartialNeighbors) -> PartialNeighbors:
        return PartialNeighbors(
            found.distances,
            found.indices,
            found.metric,
            found.backend,
            found.queries,
            joined_blocks((found.blocks, self.blocks)),
        )

    def nothing_within(self) -> PartialRadiusNeighbors:
        distances, indices = np.empty(0, self.distance_dtype), np.empty(0, INT64)
        offsets = np.zeros(self.asked_rows + 1, INT64)
        return PartialRadiusNeighbors(distances, indices, offsets, self.metric, "", self.queries, self.blocks)


def _as_count(k: object) -> int:
    count = as_integer(k, "k")
    if count < 1:
        raise ValueError(f"k = {count}; it must be 1 or more")
    return count


def _as_ids(ids: Any, role: str, count: int) -> np.ndarray:
    array = np.asarray(to_host(ids))
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{role} has dtype {array.dtype}; whole numbers are needed")
    if array.shape != (count,):
        raise ValueError(f"{role} has shape {array.shape}; {count} numbers are needed, one for each row")
    if array.dtype == np.uint64 and array.size > 0 and int(array.max()) >= 2**63:
        raise ValueError(f"{role} holds {array.max()}; the largest id is {2**63 - 1}")
    return np.ascontiguousarray(array, INT64)


def _ids_of(first_id: Optional[int], ids: Any, rows: int) -> Tuple[int, Optional[np.ndarray]]:
    """The id of the first row, or that of each."""
    if (first_id is None) == (ids is None):
        raise TypeError("either first_id or ids says which points of the base the rows of a block are")
    if ids is None:
        first = as_integer(first_id, "first_id")
        if first < 0:
            raise ValueError(f"first_id = {first}; it must not be negative")
        return first, None
    array = _as_ids(ids, "ids", rows)
    falls = np.flatnonzero(array[1:] <= array[:-1])
    if falls.size:
        row = int(falls[0]) + 1
        what = "twice" if array[row] == array[row - 1] else f"after {array[row - 1]}"
        raise ValueError(f"ids has {array[row]} in row {row} {what}; ids ascend, so sort the rows of the block by them")
    if (array == -1).any():
        raise ValueError("ids has -1, which stands for no point")
    return 0, array


def _check_kinds(parts: List[Any]) -> None:
    if not parts:
        raise ValueError("there are no parts to merge")
    kind = type(parts[0])
    for part in parts:
        if not isinstance(part, (PartialNeighbors, PartialRadiusNeighbors)):
            raise TypeError(f"parts are what partial_search() or partial_search_radius() return, not {described(part)}")
        if type(part) is not kind:
            raise TypeError(f"parts are of one kind, but there are {kind.__name__} and {type(part).__name__}")


def _check_alike(parts: Iterable[Any]) -> None:
    """Parts are of the same queries under the same metric, with distances of one type."""
    first, *others = parts
    for other in others:
        if other.metric != first.metric:
            raise ValueError(f"parts are of metrics {first.metric} and {other.metric}")
        if other.queries != first.queries:
            raise ValueError(
                "queries changed between two reads, or parts are of different queries or radii: their fingerprints are "
                f"{first.queries:016x} and {other.queries:016x}"
            )
        types = _distance_type(first), _distance_type(other)
        if types[0] != types[1]:
            raise ValueError(f"parts have distances of {types[0]} and {types[1]}; all blocks are of one type")
    _check_backends(first.metric, {part.backend for part in (first, *others)})


def _check_backends(metric: str, backends: Set[str]) -> None:
    """All powers come from one backend; "" is that of parts without points."""
    used = sorted(backends - {""})
    if metric.startswith("minkowski") and len(used) > 1:
        raise ValueError(
            f"parts under {metric} were computed by backends {' and '.join(used)}, whose powers differ in the last "
            "bit; name one backend"
        )


def _distance_type(part: Any) -> np.dtype:
    return part.distance_dtype if isinstance(part, _Task) else part.distances.dtype


def joined_blocks(blocks: Iterable[Mapping[str, int]]) -> Dict[str, int]:
    """The fingerprints of all blocks; a ValueError where one has two."""
    joined: Dict[str, int] = {}
    for each in blocks:
        for name, mark in each.items():
            known = joined.setdefault(name, mark)
            if known != mark:
                raise ValueError(
                    f"block {name} changed between two reads, with fingerprints {known:016x} and {mark:016x}"
                )
    return joined
