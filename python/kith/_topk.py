"""Selection from the rows of a matrix."""

from __future__ import annotations

from operator import index as as_int
from typing import Any, Optional

from . import _kith, _places
from ._arrays import as_points
from ._neighbors import TopK
from ._progress import ProgressLike, showing


def topk(
    matrix: Any,
    k: int,
    *,
    largest: bool = False,
    output: str = "sorted",
    method: str = "auto",
    backend: str = "auto",
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    stream: Any = None,
    progress: ProgressLike = False,
) -> Any:
    """The k smallest values of each row, or the largest.

    ``output`` is "sorted", "unsorted" (the same set in any order), "values_only" or "kth_only" (the k-th value of each
    row); the last two return the values alone. NaN comes last; among equal values the lower index wins. Matrices on a
    CUDA device are taken there, float32 and float64 without a copy.

    >>> import numpy as np, kith
    >>> values, indices = kith.topk(np.array([[3.0, 1.0, 2.0]]), k=2)
    >>> values.tolist(), indices.tolist()
    ([[1.0, 2.0]], [[1, 2]])
    >>> kith.topk(np.array([[3.0, 1.0, 2.0]]), k=1, largest=True, output="kth_only").tolist()
    [[3.0]]
    """
    place = _places.place_of(matrix, matrix)
    if place.on_device:
        return place.topk(matrix, as_int(k), largest, output, backend, method, memory or 0, stream)
    ready = as_points(place.to_host(matrix), "matrix")
    with showing(progress) as watch:
        values, indices = _kith.topk(
            ready, as_int(k), largest, output, backend, method, threads or 0, memory or 0, watch
        )
    if indices is None:
        return place.from_host(values)
    return TopK(place.from_host(values), place.from_host(indices))
