"""Graphs of searches: a task for each block of the base and each group of queries, and merges as a tree.

Queries are searched in groups, of rows that with their lists take about 64 MiB, so that a task is worth its block. Each
group reads the blocks again, for all of them may be more than the memory of the cluster. An answer is given only if a
group finds blocks with the fingerprints that the first group found.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .._arrays import INT64, distance_dtype, searched_dtype
from .._checks import as_flag, as_integer, as_name
from .._neighbors import Graph, Neighbors, RadiusNeighbors
from .._shards import (
    PartialNeighbors,
    PartialRadiusNeighbors,
    joined_blocks,
    merge,
    partial_search,
    partial_search_radius,
)
from .._types import GraphMode, ShardOptions, ShardRadiusOptions
from ._blocks import Reader, readers
from ._sources import as_dask
from ._workers import futures_of, memory_of_a_task, refuse_scattered

if TYPE_CHECKING:
    from typing_extensions import Unpack

FAN_IN = 8  # lists that a task merges
GROUP_BYTES = 64 << 20  # of queries and of their lists
LEAST_TASKS = 32  # where the queries have chunks enough


def search(
    base: Any,
    queries: Any,
    k: int,
    *,
    column: Optional[str] = None,
    pad_missing: bool = False,
    **options: Unpack[ShardOptions],
) -> Neighbors[da.Array, da.Array]:
    """The k nearest base points of each query, as dask arrays with the chunks of the queries.

    Parameters
    ----------
    base, queries : dask arrays of points as rows; paths; arrays of Zarr; arrays in memory of up to 100 MB
        A path that ends in .zarr is one of Zarr, others are of Parquet (:func:`read_parquet`, whose ``column`` is that
        of the base). Chunks along columns are joined, and unknown chunk sizes are computed first. Points are compared
        in the type of the base, as :func:`kith.search` says.
    k : 1 ≤ k ≤ number of base points, or more with ``pad_missing``
    options : metric, p, method, backend, distance, select, threads, memory, check_finite, max_distance, period
        Those of :func:`kith.search`, for each task. ``memory`` is that of a task's workspace: a quarter of its share of
        the worker's limit, unless it is given.

    Compute both arrays by one call, ``dask.compute(*found)``: two calls search twice.

    >>> import dask, dask.array as da, numpy as np, kith, kith.dask
    >>> points = np.random.default_rng(0).random((1000, 8), dtype=np.float32)
    >>> found = kith.dask.search(da.from_array(points, chunks=(300, 8)), points[:5], k=3, metric="manhattan")
    >>> distances, indices = dask.compute(*found)
    >>> whole = kith.search(points, points[:5], k=3, metric="manhattan")
    >>> np.array_equal(distances, whole.distances) and np.array_equal(indices, whole.indices)
    True
    """
    points, asked = as_dask(base, "base", column), as_dask(queries, "queries")
    return _neighbors(points, asked, k, False, pad_missing, options)


def search_self(base: Any, k: int, *, column: Optional[str] = None, **options: Any) -> Neighbors[da.Array, da.Array]:
    """The k nearest others of each base point."""
    points = as_dask(base, "base", column)
    return _neighbors(points, points, k, True, False, options)


def search_radius(
    base: Any,
    queries: Any,
    radius: float,
    *,
    column: Optional[str] = None,
    **options: Unpack[ShardRadiusOptions],
) -> RadiusNeighbors[da.Array, da.Array]:
    """All base points within a distance of each query, as compressed rows of dask arrays.

    How many there are is not known before they are searched: chunk sizes of ``distances`` and ``indices`` are unknown;
    each chunk has the neighbors of a chunk of the queries. ``options`` are metric, p, distance, backend, threads,
    memory, check_finite and period.

    >>> import dask, kith.dask
    >>> found = kith.dask.search_radius([[0.0], [1.0], [2.0], [5.0]], [[0.0], [5.0]], 3.0)
    >>> [part.tolist() for part in dask.compute(*found)]
    [[0.0, 1.0, 2.0, 0.0, 3.0], [0, 1, 2, 3, 2], [0, 3, 5]]
    """
    points, asked = as_dask(base, "base", column), as_dask(queries, "queries")
    _check_dims(points, asked)
    numbers = np.asarray(radius)
    if numbers.ndim != 0:
        raise ValueError(f"radius has shape {numbers.shape}; all queries have one radius here")
    keywords: Dict[str, Any] = dict(options)
    partial_search_radius(*_empty(points, asked), float(radius), first_id=0, **keywords)  # refuses
    task = partial(_search_block_radius, radius=float(radius), options=keywords)
    lists = _Lists(points, asked, task, merge, False, tokenize("radius", float(radius), keywords))
    chunks, unknown = asked.chunks[0], (np.nan,) * asked.numblocks[0]
    counts = lists.array("counts", (chunks,), np.dtype(INT64))
    offsets = da.concatenate([da.zeros(1, dtype=INT64), da.cumsum(counts)])
    distances = lists.array("distances", (unknown,), distance_dtype(searched_dtype(points.dtype, "base")))
    return RadiusNeighbors(distances, lists.array("indices", (unknown,), np.dtype(INT64)), offsets)


def graph(
    points: Any,
    k: int,
    *,
    mode: GraphMode = "distance",
    column: Optional[str] = None,
    **options: Unpack[ShardOptions],
) -> Graph[da.Array, da.Array]:
    """Every point's k nearest others, itself left out, as compressed sparse rows of dask arrays.

    ``scipy.sparse.csr_matrix(dask.compute(*graph[:3]), graph.shape)`` is what :func:`kith.graph` returns, bit for bit.
    The parameters are those of :func:`search`, without ``max_distance``.

    >>> import dask, kith.dask
    >>> edges = kith.dask.graph([[0.0], [1.0], [3.0]], k=1)
    >>> [part.tolist() for part in dask.compute(*edges[:3])], edges.shape
    ([[1.0, 1.0, 2.0], [1, 0, 1], [0, 1, 2, 3]], (3, 3))
    """
    found = search_self(points, k, column=column, **options)
    return as_graph(found, found.indices.shape[0], mode, options.get("max_distance"))


def as_graph(
    found: Neighbors[da.Array, da.Array], base_rows: int, mode: str, max_distance: Optional[float]
) -> Graph[da.Array, da.Array]:
    """Lists of k neighbors each as compressed sparse rows."""
    if max_distance is not None:
        raise ValueError("max_distance is not for graphs in Dask, whose rows have k neighbors each")
    if as_name(mode, "mode", "distance") not in ("distance", "connectivity"):
        raise ValueError(f"mode = {mode!r}; it must be 'distance' or 'connectivity'")
    rows, k = found.indices.shape
    data = found.distances if mode == "distance" else da.ones_like(found.distances)
    starts = da.arange(0, (rows + 1) * k, k, dtype=INT64)
    return Graph(data.reshape(-1), found.indices.reshape(-1), starts, (rows, base_rows))


def _neighbors(
    points: da.Array, asked: da.Array, k: int, is_self: bool, pad_missing: bool, options: Any
) -> Neighbors[da.Array, da.Array]:
    _check_dims(points, asked)
    keywords: Dict[str, Any] = dict(options)
    k = as_integer(k, "k")
    partial_search(*_empty(points, asked), k, first_id=0, **keywords)  # refuses
    rows = points.shape[0]
    if is_self and k > rows - 1:
        raise ValueError(f"k = {k} but the number of other points is {rows - 1}")
    if not as_flag(pad_missing, "pad_missing") and k > rows:
        raise ValueError(f"k = {k} but the number of base points is {rows}")
    groups = _grouped(asked, k, points.numblocks[0])
    task = partial(_search_block, k=k, options=keywords)
    lists = _Lists(points, groups, task, partial(merge, k=k), is_self, tokenize("nearest", k, keywords))
    chunks = (groups.chunks[0], (k,))
    distances = lists.array("distances", chunks, distance_dtype(searched_dtype(points.dtype, "base")))
    indices = lists.array("indices", chunks, np.dtype(INT64))
    whole = (asked.chunks[0], (k,))
    return Neighbors(distances.rechunk(whole), indices.rechunk(whole))


def _check_dims(points: da.Array, asked: da.Array) -> None:
    if points.shape[1] != asked.shape[1]:
        raise ValueError(f"queries have {asked.shape[1]} dimensions but the base has {points.shape[1]}")


def _empty(points: da.Array, asked: da.Array) -> Tuple[np.ndarray, np.ndarray]:
    """No rows of both, by which options are checked before anything is computed."""
    return np.empty((0, points.shape[1]), points.dtype), np.empty((0, asked.shape[1]), asked.dtype)


def _grouped(asked: da.Array, k: int, blocks: int) -> da.Array:
    """The queries in chunks that are searched together."""
    rows, dims = asked.shape
    size = dims * asked.dtype.itemsize + k * 12
    most = max(GROUP_BYTES // size, 1)
    least_groups = min(-(-LEAST_TASKS // max(blocks, 1)), asked.numblocks[0])
    return asked.rechunk({0: min(most, max(-(-rows // least_groups), 1))})


class _Lists:
    """The tasks that make the lists of each group of queries."""

    def __init__(
        self,
        points: da.Array,
        asked: da.Array,
        search_block: Callable[..., Any],
        merge_lists: Callable[..., Any],
        is_self: bool,
        token: str,
    ) -> None:
        refuse_scattered(points, "base")
        refuse_scattered(asked, "queries")
        self.name = f"kith-lists-{tokenize(points.name, asked.name, is_self, token)}"
        self.groups = asked.numblocks[0]
        first_ids, first_queries = _starts(points.chunks[0]), _starts(asked.chunks[0])
        depends, shared = [asked], {}
        if futures_of(points):  # in memory already
            depends.append(points)
            blocks = [Reader({}, (points.name, block, 0), [(points.name, block, 0)]) for block in range(len(first_ids))]
        else:
            blocks, shared = readers(points)
        tasks: Dict[Any, Any] = {}
        for group in range(self.groups):
            level: List[Any] = []
            self_id = first_queries[group] if is_self else None
            for block, first_id in enumerate(first_ids):
                key = (self.name, "block", group, block)
                search = partial(search_block, blocks[block], first_id, self_id, block)
                tasks[key] = (search, list(blocks[block].inputs), (asked.name, group, 0))
                level.append(key)
            depth = 0
            while len(level) > 1:
                above = []
                for i in range(0, len(level), FAN_IN):
                    key = (self.name, "merge", group, depth, i // FAN_IN)
                    tasks[key] = (merge_lists, level[i : i + FAN_IN])
                    above.append(key)
                level, depth = above, depth + 1
            tasks[(self.name, "found", group)] = (_checked, level[0], (self.name, "blocks"))
            if group == 0:
                tasks[(self.name, "blocks")] = (_blocks_of, level[0])
        graph = HighLevelGraph.from_collections(self.name, tasks, dependencies=depends)
        inputs = f"kith-inputs-{points.name}"
        self._layers = {**graph.layers, inputs: shared}
        self._dependencies = {**graph.dependencies, inputs: set()}
        self._dependencies[self.name] = self._dependencies[self.name] | {inputs}

    def array(self, part: str, chunks: Any, dtype: np.dtype) -> da.Array:
        """One of the arrays of the lists, a chunk for each group."""
        name = f"kith-{part}-{self.name[len('kith-lists-'):]}"
        zeros = (0,) * (len(chunks) - 1)
        tasks = {
            (name, group, *zeros): (partial(_part_of, part=part), (self.name, "found", group))
            for group in range(self.groups)
        }
        graph = HighLevelGraph({**self._layers, name: tasks}, {**self._dependencies, name: {self.name}})
        return da.Array(graph, name, chunks, dtype)


def _starts(chunks: Tuple[int, ...]) -> List[int]:
    """The number of the first row of each chunk."""
    return [int(start) for start in np.cumsum([0, *chunks[:-1]])]


# What the tasks run.


def _search_block(
    read: Reader,
    first_id: int,
    self_id: Optional[int],
    number: int,
    inputs: List[Any],
    queries: Any,
    *,
    k: int,
    options: Dict[str, Any],
) -> PartialNeighbors:
    options = {"memory": memory_of_a_task(), **options}
    block = read(inputs)
    own = None if self_id is None else np.arange(self_id, self_id + len(queries))
    with _naming(number, first_id, block):
        return partial_search(block, queries, k, first_id=first_id, self_ids=own, block_name=str(number), **options)


def _search_block_radius(
    read: Reader,
    first_id: int,
    self_id: Optional[int],
    number: int,
    inputs: List[Any],
    queries: Any,
    *,
    radius: float,
    options: Dict[str, Any],
) -> PartialRadiusNeighbors:
    options = {"memory": memory_of_a_task(), **options}
    block = read(inputs)
    with _naming(number, first_id, block):
        return partial_search_radius(block, queries, radius, first_id=first_id, block_name=str(number), **options)


@contextmanager
def _naming(number: int, first_id: int, block: Any) -> Iterator[None]:
    """Errors say which block they are of."""
    try:
        yield
    except (ValueError, TypeError, MemoryError) as error:
        raise type(error)(f"block {number}, rows {first_id} to {first_id + len(block) - 1}: {error}") from error


def _blocks_of(found: Any) -> Mapping[str, int]:
    return found.blocks


def _checked(found: Any, blocks: Mapping[str, int]) -> Any:
    """The lists of one group, if its blocks are those that the first group read."""
    joined_blocks((blocks, found.blocks))
    return found


def _part_of(found: Any, *, part: str) -> np.ndarray:
    return np.diff(found.offsets) if part == "counts" else getattr(found, part)
