"""Rows of packed bits: fingerprints, hashes, binary embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Union

import numpy as np

from . import _kith
from ._arrays import FLOAT32, INT64, UINT8, as_radii, count_of
from ._checks import as_flag, as_integer, as_name
from ._kith import BitPlan
from ._libraries import host_memory, library_of, to_host
from ._neighbors import Neighbors, RadiusNeighbors
from ._options import make_options
from ._progress import showing
from ._types import ArrayLike, BackendName, BitMetricName, BitOptions, Memory, ProgressLike, Values

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _packed(array: Any, role: str) -> np.ndarray:
    """Rows of bytes as they lie, or a copy where those of a row are not next to each other."""
    bytes_ = np.asarray(to_host(array))
    if bytes_.dtype != UINT8:
        raise TypeError(
            f"{role} has dtype {bytes_.dtype}; packed bits are uint8, as np.packbits(bits, axis=1) makes them"
        )
    if bytes_.ndim != 2:
        raise ValueError(f"{role} has {bytes_.ndim} dimension(s); packed bits are rows of bytes, in two")
    if bytes_.shape[1] > 1 and bytes_.strides[1] != 1 or bytes_.strides[0] < 0:
        bytes_ = np.ascontiguousarray(bytes_)
    return bytes_


class BitIndex:
    """A base of packed bits, checked once and kept.

    The bytes are not copied: they must not change while the index is used. The keywords are those of
    :func:`kith.search_bits` and hold for all searches, which may run in several threads at once. Pickling takes the
    bytes along.

    >>> import numpy as np, kith
    >>> bits = np.random.default_rng(0).random((500, 100)) < 0.5
    >>> index = kith.BitIndex(np.packbits(bits, axis=1), bits=100, metric="tanimoto")
    >>> index.search(index.points[:3], k=1).indices.ravel().tolist()
    [0, 1, 2]
    >>> index
    BitIndex(500 rows of 100 bits, jaccard)
    """

    def __init__(
        self,
        points: ArrayLike,
        bits: Optional[int] = None,
        metric: BitMetricName = "hamming",
        *,
        backend: BackendName = "auto",
        threads: Optional[int] = None,
        memory: Memory = None,
        check_finite: bool = True,
        max_distance: Optional[float] = None,
        progress: ProgressLike = False,
    ) -> None:
        self._keywords: Dict[str, Any] = dict(
            backend=backend, threads=threads, memory=memory, check_finite=check_finite, max_distance=max_distance
        )
        self._metric = _kith.bit_metric(as_name(metric, "metric", "hamming"))
        self._library = library_of(points)
        self._points = points
        rows = _packed(points, "points")
        self._bytes = rows.shape[1]
        self._bits: int = 8 * self._bytes if bits is None else as_integer(bits, "bits")
        if not 8 * (self._bytes - 1) < self._bits <= 8 * self._bytes:
            raise ValueError(
                f"bits = {self._bits} but rows are of {self._bytes} bytes, which hold "
                f"{max(8 * self._bytes - 7, 0)} to {8 * self._bytes} bits"
            )
        self._rows: int = rows.shape[0]
        with showing(progress) as watch:
            self._native = _kith.BitIndex(rows, self._bits, self._metric, make_options(**self._keywords), watch)

    def search(self, queries: ArrayLike, k: int, *, progress: ProgressLike = False) -> Neighbors[Any, Any]:
        """The k nearest rows of each query."""
        k = as_integer(k, "k")
        rows = self._queries(queries)
        if rows.shape[0] == 0 or not 0 < k <= self._rows:
            self._native.explain(max(rows.shape[0], 1), k)  # refuses
        return self._found(library_of(queries), rows, rows.shape[0], k, progress)

    def search_self(self, k: int, *, progress: ProgressLike = False) -> Neighbors[Any, Any]:
        """The k nearest others of each row. A row is left out by its index; its duplicates are not."""
        k = as_integer(k, "k")
        if not 0 < k < self._rows:
            raise ValueError(f"k = {k} but the number of other rows is {self._rows - 1}")
        return self._found(self._library, None, self._rows, k, progress)

    def search_radius(
        self,
        queries: Optional[ArrayLike],
        radius: Union[float, Values],
        *,
        count_only: bool = False,
        progress: ProgressLike = False,
    ) -> RadiusNeighbors[Any, Any]:
        """All rows whose distance is at most ``radius``, a number or one for each query.

        With ``queries=None``, of each row of the base, itself left out. ``count_only`` leaves out everything but the
        offsets.
        """
        library = self._library if queries is None else library_of(queries)
        rows = None if queries is None else self._queries(queries)
        count_only = as_flag(count_only, "count_only")
        radii = as_radii(to_host(radius), FLOAT32)
        if rows is not None and rows.shape[0] == 0:
            parts = np.empty(0, FLOAT32), np.empty(0, INT64), np.zeros(1, INT64)
            return RadiusNeighbors(*map(library.from_host, parts))
        report: Any
        with showing(progress) as watch:
            report, *lists = self._native.search_radius(rows, radii, count_only, watch)
        found: RadiusNeighbors[Any, Any] = RadiusNeighbors(*map(library.from_host, lists))
        found.report = report
        return found

    def explain(self, queries: Union[int, ArrayLike], k: int) -> BitPlan:
        """What a search would do; ``queries`` is an array or their number."""
        return self._native.explain(count_of(queries), as_integer(k, "k"))

    def _queries(self, queries: ArrayLike) -> np.ndarray:
        rows = _packed(queries, "queries")
        if rows.shape[1] != self._bytes:
            raise ValueError(f"queries have rows of {rows.shape[1]} bytes, the base of {self._bytes}")
        return rows

    def _found(self, library: Any, rows: Any, count: int, k: int, progress: ProgressLike) -> Neighbors[Any, Any]:
        distances, indices = host_memory((count, k), FLOAT32), host_memory((count, k), INT64)
        report: Any = None
        if count > 0:
            with showing(progress) as watch:
                report = self._native.search(rows, k, distances, indices, watch)
        found: Neighbors[Any, Any] = Neighbors(library.from_host(distances), library.from_host(indices))
        found.report = report
        return found

    @property
    def points(self) -> ArrayLike:
        """The packed rows, as they were given."""
        return self._points

    @property
    def bits(self) -> int:
        """Of a row."""
        return self._bits

    @property
    def metric(self) -> str:
        """hamming or jaccard"""
        return self._metric

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"BitIndex({self._rows} rows of {self._bits} bits, {self._metric})"

    def __getstate__(self) -> Any:
        return {"points": self._points, "bits": self._bits, "metric": self._metric, **self._keywords}

    def __setstate__(self, state: Any) -> None:
        self.__init__(**state)  # type: ignore[misc]


def search_bits(
    base: ArrayLike,
    queries: ArrayLike,
    k: int,
    bits: Optional[int] = None,
    metric: BitMetricName = "hamming",
    *,
    progress: ProgressLike = False,
    **options: Unpack[BitOptions],
) -> Neighbors[Any, Any]:
    """The k nearest rows of packed bits of each query, exactly. Equal distances go to the lower index.

    Parameters
    ----------
    base, queries : arrays of uint8, eight bits in a byte, as ``np.packbits(bits, axis=1)`` makes them
        That bytes are bits is never guessed: :func:`kith.search` compares whole bytes.
    k : 1 ≤ k ≤ number of rows
    bits : of a row; None for all of its bytes
        The last byte may hold up to seven more, which must be 0 (else a ValueError): the first bit of a byte is its
        highest, so that rows packed with ``bitorder="little"`` have a multiple of eight.
    metric : hamming or jaccard
        hamming is the share of bits that differ, bit for bit what :func:`kith.search` returns under hamming for the
        rows unpacked. jaccard, or tanimoto, is 1 − |x ∧ y| / |x ∨ y|, and 0 for two rows without a bit.
    backend, threads, memory, check_finite, max_distance, progress : as of :func:`kith.search`
        Rows on a device are brought to the host first, and searched where ``backend`` says.

    Returns
    -------
    Neighbors
        (distances, indices), float32 and int64, in the library of the queries.

    >>> import numpy as np, kith
    >>> rows = np.packbits([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 1]], axis=1)
    >>> kith.search_bits(rows, rows[:1], k=3, bits=4)
    Neighbors(distances=array([[0.  , 0.25, 0.75]], dtype=float32), indices=array([[0, 1, 2]]))
    >>> kith.search_bits(rows, rows[:1], k=3, bits=4, metric="tanimoto").distances
    array([[0.  , 0.5 , 0.75]], dtype=float32)
    """
    return BitIndex(base, bits, metric, **options).search(queries, k, progress=progress)
