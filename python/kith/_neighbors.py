"""What searches return: tuples that unpack, with a report beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, List, NamedTuple, Optional, Tuple

from ._kith import Report
from ._types import Real, Value, Whole

if TYPE_CHECKING:

    class _Pair(NamedTuple, Generic[Real, Whole]):
        distances: Real
        indices: Whole

    class _Triple(NamedTuple, Generic[Real, Whole]):
        distances: Real
        indices: Whole
        offsets: Whole

    class _ValuePair(NamedTuple, Generic[Value, Whole]):
        values: Value
        indices: Whole

    class _Rows(NamedTuple, Generic[Real, Whole]):
        data: Real
        indices: Whole
        indptr: Whole
        shape: Tuple[int, int]

else:  # Python before 3.11 has no generic named tuples; as tuples, these take types in brackets all the same

    class _Pair(NamedTuple):
        distances: Any
        indices: Any

    class _Triple(NamedTuple):
        distances: Any
        indices: Any
        offsets: Any

    class _ValuePair(NamedTuple):
        values: Any
        indices: Any

    class _Rows(NamedTuple):
        data: Any
        indices: Any
        indptr: Any
        shape: Tuple[int, int]


class Neighbors(_Pair[Real, Whole]):
    """``distances`` and ``indices``, queries × k each, the nearest first; equal distances by the lower index.

    Unpacks as a pair. ``certified`` has a boolean for each query, True where its row is proven to be that of an exact
    search; None unless method shifted-sort was asked for it (``tuning={"certify": True}``). ``report`` tells what was
    done; it is not pickled.

    >>> import numpy as np, kith
    >>> base = np.array([[0.0], [2.0], [5.0]])
    >>> found = kith.search(base, [[1.0]], k=2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([[0, 1]], [[1.0, 1.0]])
    >>> found.report.plan.backend in ("cpu", "cuda")
    True
    """

    certified: Optional[Any] = None
    report: Optional[Report] = None

    def __reduce__(self) -> Any:
        return Neighbors, tuple(self), {"certified": self.certified}


class RadiusNeighbors(_Triple[Real, Whole]):
    """All neighbors within a radius, as compressed rows.

    Query q has ``indices[offsets[q]:offsets[q + 1]]`` with their ``distances``, sorted by distance, then index. With
    ``count_only`` there are offsets alone, and the others are empty. ``counts`` and ``rows()`` save the slicing.
    """

    report: Optional[Report] = None

    @property
    def counts(self) -> Whole:
        """How many neighbors each query has."""
        offsets: Any = self.offsets
        return offsets[1:] - offsets[:-1]

    def rows(self) -> Neighbors[List[Real], List[Whole]]:
        """Lists of one array of distances, and one of indices, for each query."""
        distances: Any = self.distances
        indices: Any = self.indices
        offsets: Any = self.offsets
        bounds = [int(offset) for offset in offsets]
        pairs = list(zip(bounds[:-1], bounds[1:]))
        return Neighbors([distances[a:b] for a, b in pairs], [indices[a:b] for a, b in pairs])

    def __reduce__(self) -> Any:
        return RadiusNeighbors, tuple(self)


class TopK(_ValuePair[Value, Whole]):
    """``values`` and ``indices``, rows × k each, the best first."""


class Graph(_Rows[Real, Whole]):
    """Compressed sparse rows, where no library has a type for them: row i holds ``indices[indptr[i]:indptr[i + 1]]``."""
