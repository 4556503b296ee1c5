"""What searches return: tuples that unpack, with a report beside them."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

from ._kith import Report


class _Pair(NamedTuple):
    distances: Any
    indices: Any


class Neighbors(_Pair):
    """``distances`` and ``indices``, queries × k each, the nearest first; equal distances by the lower index.

    Unpacks as a pair. ``report`` tells what was done; it is not pickled.

    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [2.0], [5.0]])
    >>> found = kith.search(base, [[1.0]], k=2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([[0, 1]], [[1.0, 1.0]])
    >>> found.report.plan.backend in ("cpu", "cuda")
    True
    """

    report: Optional[Report] = None

    def __reduce__(self) -> Any:
        return Neighbors, tuple(self)


class _Triple(NamedTuple):
    distances: Any
    indices: Any
    offsets: Any


class RadiusNeighbors(_Triple):
    """All neighbors within a radius, as compressed rows.

    Query q has ``indices[offsets[q]:offsets[q + 1]]`` with their ``distances``, sorted by distance, then index. With
    ``count_only`` there are offsets alone, and the others are empty. ``counts`` and ``rows()`` save the slicing.
    """

    report: Optional[Report] = None

    @property
    def counts(self) -> Any:
        """How many neighbors each query has."""
        return self.offsets[1:] - self.offsets[:-1]

    def rows(self) -> Neighbors:
        """Lists of one array of distances, and one of indices, for each query."""
        bounds = [int(offset) for offset in self.offsets]
        pairs = list(zip(bounds[:-1], bounds[1:]))
        return Neighbors([self.distances[a:b] for a, b in pairs], [self.indices[a:b] for a, b in pairs])

    def __reduce__(self) -> Any:
        return RadiusNeighbors, tuple(self)


class TopK(NamedTuple):
    """``values`` and ``indices``, rows × k each, the best first."""

    values: Any
    indices: Any


class Graph(NamedTuple):
    """Compressed sparse rows, where no library has a type for them: row i holds ``indices[indptr[i]:indptr[i + 1]]``."""

    data: Any
    indices: Any
    indptr: Any
    shape: Tuple[int, int]
