"""Memory for answers, which native searches fill."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ._arrays import INT64, UINT8
from ._kith import Options
from ._libraries import FRESH, Library
from ._neighbors import Neighbors
from ._progress import showing
from ._types import ProgressLike


def find_neighbors(
    library: Library,
    rows: int,
    k: int,
    dtype: np.dtype,
    options: Options,
    stream: int,
    progress: ProgressLike,
    search: Any,
    *inputs: Any,
) -> Neighbors:
    """The rows × k neighbors that ``search`` finds, a native function of the inputs and of what follows them."""
    shape = (rows, k)
    distances, indices = library.empty(shape, dtype, stream), library.empty(shape, INT64, stream)
    certified = library.empty((rows,), UINT8, stream) if options.certifies else None
    report = None
    if rows > 0:
        flags = None if certified is None else library.take(certified, FRESH)
        with showing(progress) as watch:
            report = search(
                *inputs, k, library.take(distances, FRESH), library.take(indices, FRESH), flags, stream, watch
            )
    found = Neighbors(library.answer(distances), library.answer(indices))
    found.certified = None if certified is None else library.flags(certified, stream)
    found.report = report
    return found


class Lists:
    """Lists whose length a native search finds out; it then calls this to have them made."""

    def __init__(self, library: Library, dtype: np.dtype, stream: int) -> None:
        self._library, self._dtype, self._stream = library, dtype, stream
        self.indices: Optional[Any] = None
        self.distances: Optional[Any] = None

    def __call__(self, count: int) -> Tuple[Any, Any]:
        library = self._library
        self.indices = library.empty((count,), INT64, self._stream)
        self.distances = library.empty((count,), self._dtype, self._stream)
        return library.take(self.indices, FRESH), library.take(self.distances, FRESH)
