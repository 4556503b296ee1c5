"""The k-nearest-neighbor graph."""

from __future__ import annotations

from operator import index as as_int
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _kith, _places
from ._arrays import as_points
from ._options import make_options
from ._progress import ProgressLike, showing


class Graph(NamedTuple):
    """Compressed sparse rows, where scipy is not installed: row i holds ``indices[indptr[i]:indptr[i + 1]]``."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: Tuple[int, int]


def graph(
    points: Any,
    k: int,
    *,
    symmetrize: str = "none",
    mode: str = "distance",
    metric: str = "euclidean",
    p: Optional[float] = None,
    method: str = "auto",
    backend: str = "auto",
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    check_finite: bool = True,
    progress: ProgressLike = False,
) -> Any:
    """Every point's k nearest others, itself left out, as a sparse matrix in host memory.

    Parameters
    ----------
    symmetrize : "none", "union" (an edge when either is a neighbor of the other) or "mutual" (when both are)
    mode : "distance", or "connectivity" for ones
    The rest is as in :func:`kith.search`.

    Returns
    -------
    scipy.sparse.csr_matrix, or :class:`kith.Graph` where scipy is not installed. Directed rows are sorted by distance,
    symmetrized ones by index. Neighbors at distance 0 are stored like any other.

    >>> import numpy as np, kith
    >>> edges = kith.graph(np.array([[0.0], [1.0], [3.0]]), k=1)
    >>> edges.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """
    if mode not in ("distance", "connectivity"):
        raise ValueError(f"mode = {mode!r}; it must be 'distance' or 'connectivity'")
    options = make_options(metric, p, backend, method, threads=threads, memory=memory, check_finite=check_finite)
    points = as_points(_places.place_of(points, points).to_host(points), "points")
    with showing(progress) as watch:
        indptr, indices, data, _ = _kith.graph(points, as_int(k), options, symmetrize, watch)
    if mode == "connectivity":
        data = np.ones_like(data)
    shape = (points.shape[0], points.shape[0])
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        return Graph(data, indices, indptr, shape)
    return csr_matrix((data, indices, indptr), shape=shape)
