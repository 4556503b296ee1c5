"""Searches of batches: many sets of points in one call, each query in its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _kith
from ._answers import find_neighbors
from ._arrays import INT64, distance_dtype, dtype_of
from ._checks import as_integer
from ._libraries import NUMPY, Library, library_of, ready_queries, stream_number, to_host
from ._neighbors import Neighbors
from ._options import make_options
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    BatchOptions,
    DistanceName,
    DLPackArray,
    Floats,
    HostArray,
    Integers,
    Memory,
    MethodName,
    MetricName,
    Period,
    ProgressLike,
    SelectName,
    overload,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    Numbers = Union[Sequence[int], npt.NDArray[np.integer[Any]], DLPackArray]


@overload
def search_batches(
    base: HostArray, queries: None, k: int, **options: Unpack[BatchOptions]
) -> Neighbors[Floats, Integers]: ...
@overload
def search_batches(base: Array, queries: None, k: int, **options: Unpack[BatchOptions]) -> Neighbors[Array, Array]: ...
@overload
def search_batches(
    base: ArrayLike, queries: HostArray, k: int, **options: Unpack[BatchOptions]
) -> Neighbors[Floats, Integers]: ...
@overload
def search_batches(
    base: ArrayLike, queries: Array, k: int, **options: Unpack[BatchOptions]
) -> Neighbors[Array, Array]: ...
def search_batches(
    base: ArrayLike,
    queries: Optional[ArrayLike],
    k: int,
    *,
    offsets: Optional[Numbers] = None,
    query_offsets: Optional[Numbers] = None,
    lengths: Optional[Numbers] = None,
    query_lengths: Optional[Numbers] = None,
    batch: Optional[Numbers] = None,
    query_batch: Optional[Numbers] = None,
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
    epsilon: float = 0.0,
    period: Period = None,
    tuning: Optional[Mapping[str, object]] = None,
    stream: object = None,
    progress: ProgressLike = False,
) -> Neighbors[Any, Any]:
    """The k nearest base points of each query in its own batch: many small point clouds in one call.

    The answer is that of one :func:`kith.search` for each batch. Batches may have fewer than ``k`` points, or none, or
    none within ``max_distance``: places that are left have index -1 and an infinite distance (-inf under
    inner_product).

    Parameters
    ----------
    base, queries : the points of all batches, in one of two forms
        Packed: points as rows, those of a batch after those of the batch before. Indices of neighbors are row numbers
        of the whole base. Where the batches are is told by one of

        - ``offsets`` (and ``query_offsets``): batch b has rows offsets[b] to offsets[b + 1] - 1, so there is one number
          more than batches;
        - ``lengths`` (and ``query_lengths``): how many rows each batch has;
        - ``batch`` (and ``query_batch``): the number of each row's batch, ascending, as torch_cluster has it.

        Padded: batches × rows × dims, as pytorch3d has it, where batch b has the first lengths[b] rows (all of them
        without ``lengths``) and the others are not looked at. The answer is batches × rows × k, indices count within
        the batch, and rows of padding have none.

        Queries of None stand for the base: each point's nearest others, itself left out.
    k : 1 or more
    other parameters : those of :func:`kith.search`, applied to each batch

    Returns
    -------
    Neighbors
        (distances, indices), queries × k, or batches × rows × k for padded queries.

    Examples
    --------
    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [1.0], [5.0], [0.0], [7.0]])  # batches of 3 and 2 points
    >>> kith.search_batches(base, [[4.0], [4.0]], k=1, lengths=[3, 2], query_lengths=[1, 1]).indices.tolist()
    [[2], [4]]
    >>> kith.search_batches(base, None, k=2, batch=[0, 0, 0, 1, 1]).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [4, -1], [3, -1]]
    >>> clouds = np.zeros((2, 3, 1))
    >>> clouds[0, :, 0], clouds[1, :2, 0] = [0, 1, 5], [0, 7]
    >>> kith.search_batches(clouds, None, k=1, lengths=[3, 2]).indices.tolist()
    [[[1], [0], [1]], [[1], [0], [-1]]]
    """
    options = make_options(
        metric, p, backend, method, distance, select, threads, memory, check_finite, max_distance=max_distance,
        epsilon=epsilon, period=period, tuning=tuning,
    )  # fmt: skip
    k = as_integer(k, "k")
    if k < 1:
        raise ValueError(f"k = {k}; it must be at least 1")
    if queries is None and not (query_offsets is None and query_lengths is None and query_batch is None):
        raise ValueError("queries are None, so they have the batches of the base; offsets of their own cannot be given")
    base_layout = query_layout = _layout_of("base", base, offsets, lengths, batch)
    if queries is not None:
        query_layout = _layout_of("queries", queries, query_offsets, query_lengths, query_batch, "query_")
        base_layout = base_layout.with_as_many_batches_as(query_layout)
        query_layout = query_layout.with_as_many_batches_as(base_layout)
    if (base_layout.padded_rows is None) != (query_layout.padded_rows is None):
        raise ValueError("base and queries must both be packed, or both padded (batches × rows × dims)")
    library, base_library = library_of(base if queries is None else queries), library_of(base)
    number = stream_number(stream, library, base_library)
    points = base_library.ready(_packed(base_library, base, base_layout), "base")
    dtype = dtype_of(points)
    asked = None if queries is None else ready_queries(library, _packed(library, queries, query_layout), dtype)
    inputs = (
        base_library.take(points, number),
        base_layout.offsets,
        None if asked is None else library.take(asked, number),
        query_layout.offsets,
        options,
    )
    rows = points.shape[0] if asked is None else asked.shape[0]
    is_packed = query_layout.padded_rows is None
    answers = library if is_packed else NUMPY
    found = find_neighbors(
        answers, rows, k, distance_dtype(dtype), options, number, progress, _kith.search_batches, *inputs
    )
    library.finish([one for one in (points, asked) if one is not None], number)
    return found if is_packed else _padded(library, found, base_layout, query_layout, options)


class _BatchLayout(NamedTuple):
    """Where the points of each batch are."""

    offsets: np.ndarray  # of the packed points
    padded_rows: Optional[int] = None  # of each batch; None of packed points
    may_omit_last_batches: bool = False  # numbers of the rows' batches say nothing of empty ones at the end

    def with_as_many_batches_as(self, other: _BatchLayout) -> _BatchLayout:
        """The same, with empty batches at the end where the other has more and this one may omit them."""
        missing = len(other.offsets) - len(self.offsets)
        if not self.may_omit_last_batches or missing <= 0:
            return self
        return self._replace(offsets=np.concatenate([self.offsets, np.full(missing, self.offsets[-1])]))


def _layout_of(role: str, points: Any, offsets: Any, lengths: Any, batch: Any, prefix: str = "") -> _BatchLayout:
    given = {"offsets": offsets, "lengths": lengths, "batch": batch}
    names = [prefix + name for name, value in given.items() if value is not None]
    shape = points.shape if hasattr(points, "shape") else np.shape(points)
    if len(shape) == 3:
        if offsets is not None or batch is not None:
            raise ValueError(f"{role} has 3 dimensions, batches × rows × dims; its batches have {prefix}lengths alone")
        batches, rows = int(shape[0]), int(shape[1])
        counts = np.full(batches, rows) if lengths is None else _whole(lengths, prefix + "lengths")
        if len(counts) != batches:
            raise ValueError(f"{prefix}lengths has {len(counts)} numbers; {role} has {batches} batches")
        _refuse(counts > rows, counts, prefix + "lengths", f"at most {rows}, the rows of a batch, are allowed")
        return _BatchLayout(_sums(counts, prefix + "lengths"), rows)
    if len(names) != 1:
        wanted = f"{prefix}offsets, {prefix}lengths and {prefix}batch"
        raise ValueError(f"one of {wanted} must tell the batches of the {role}; {', '.join(names) or 'none'} given")
    if offsets is not None:
        return _BatchLayout(_whole(offsets, names[0]))
    if lengths is not None:
        return _checked_sum(_sums(_whole(lengths, names[0]), names[0]), int(shape[0]), names[0], role)
    numbers = _whole(batch, names[0])
    _refuse(numbers < 0, numbers, names[0], "numbers of batches begin with 0")
    _refuse(np.diff(numbers, prepend=numbers[:1]) < 0, numbers, names[0], "it must ascend")
    counted = _checked_sum(_sums(np.bincount(numbers), names[0]), int(shape[0]), names[0], role)
    return counted._replace(may_omit_last_batches=True)


def _checked_sum(sums: np.ndarray, rows: int, name: str, role: str) -> _BatchLayout:
    if sums[-1] != rows:
        raise ValueError(f"{name} is of {sums[-1]} rows; {role} has {rows}")
    return _BatchLayout(sums)


def _whole(values: Any, name: str) -> np.ndarray:
    """Whole numbers of any library, in one dimension."""
    array = np.asarray(to_host(values))
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; 1 is needed")
    if array.size == 0:
        return array.astype(INT64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}; whole numbers are needed")
    return np.ascontiguousarray(array, INT64)


def _refuse(bad: np.ndarray, values: np.ndarray, name: str, why: str) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"{name}[{at}] = {values[at]}; {why}")


def _sums(counts: np.ndarray, name: str) -> np.ndarray:
    _refuse(counts < 0, counts, name, "it must not be negative")
    return np.concatenate([np.zeros(1, INT64), np.cumsum(counts, dtype=INT64)])


def _positions(layout: _BatchLayout) -> np.ndarray:
    """Rows of padded points, all batches after each other, that are no padding."""
    counts = np.diff(layout.offsets)
    return np.flatnonzero(np.arange(layout.padded_rows) < counts[:, None])


def _packed(library: Library, points: Any, layout: _BatchLayout) -> Any:
    """Points as rows, without padding."""
    if layout.padded_rows is None:
        return points
    if library.device is None:
        points = to_host(points)
        points = points if hasattr(points, "reshape") else np.asarray(points)
    batches, rows, dims = points.shape
    flat = points.reshape((batches * rows, dims))
    if int(layout.offsets[-1]) == batches * rows:
        return flat
    positions = _positions(layout)
    return flat[positions if library.device is None else library.from_host(positions)]


def _padded(
    library: Library, found: Neighbors, base: _BatchLayout, queries: _BatchLayout, options: _kith.Options
) -> Neighbors:
    """An answer for packed queries as one for padded ones, whose indices count within their batch."""
    batches, rows, k = len(queries.offsets) - 1, queries.padded_rows or 0, found.indices.shape[1]
    missing = -np.inf if options.metric == "inner_product" else np.inf
    positions = _positions(queries)
    first = np.repeat(base.offsets[:-1], np.diff(queries.offsets))[:, None]
    indices = np.full((batches * rows, k), -1, INT64)
    indices[positions] = np.maximum(found.indices - first, -1)
    distances = np.full((batches * rows, k), missing, found.distances.dtype)
    distances[positions] = found.distances
    shape = (batches, rows, k)
    padded = Neighbors(library.from_host(distances.reshape(shape)), library.from_host(indices.reshape(shape)))
    padded.report = found.report
    return padded
