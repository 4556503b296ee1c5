"""The k-nearest-neighbor graph."""

from __future__ import annotations

from typing import Optional

from ._index import Index
from ._types import (
    ArrayLike,
    BackendName,
    GraphMode,
    Devices,
    Memory,
    MethodName,
    MetricName,
    Period,
    ProgressLike,
    SparseMatrix,
    Symmetrize,
)


def graph(
    points: ArrayLike,
    k: int,
    *,
    symmetrize: Symmetrize = "none",
    mode: GraphMode = "distance",
    metric: MetricName = "euclidean",
    p: Optional[float] = None,
    method: MethodName = "auto",
    backend: BackendName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    devices: Devices = None,
    check_finite: bool = True,
    max_distance: Optional[float] = None,
    epsilon: float = 0.0,
    period: Period = None,
    stream: object = None,
    progress: ProgressLike = False,
) -> SparseMatrix:
    """Every point's k nearest others, itself left out, as a sparse matrix.

    Parameters
    ----------
    symmetrize : "none", "union" (an edge when either is a neighbor of the other) or "mutual" (when both are)
    mode : "distance", or "connectivity" for ones
    max_distance : edges are no longer than that; rows may have fewer than k
    The other parameters are those of :func:`kith.search`.

    Returns
    -------
    scipy.sparse.csr_matrix, or :class:`kith.Graph` where scipy is not installed. Points on a device have theirs there: a
    sparse CSR tensor of PyTorch, cupyx.scipy.sparse.csr_matrix for CuPy, else :class:`kith.Graph`. Directed rows are
    sorted by distance (PyTorch's by index), symmetrized ones by index. Neighbors at distance 0 are stored like any other;
    scipy's ``nonzero()`` leaves them out, ``indices`` and ``indptr`` have them.

    >>> import numpy as np, kith
    >>> edges = kith.graph(np.array([[0.0], [1.0], [3.0]]), k=1)
    >>> edges.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """
    index: Index = Index(
        points, metric=metric, p=p, method=method, backend=backend, threads=threads, memory=memory,
        devices=devices, check_finite=check_finite, max_distance=max_distance, epsilon=epsilon, period=period, stream=stream,
    )  # fmt: skip
    return index._last(index.graph(k, symmetrize=symmetrize, mode=mode, stream=stream, progress=progress))
