"""Selection from the rows of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Optional

from . import _kith
from ._arrays import INT64, dtype_of, has_16_bits
from ._checks import as_bytes, as_flag, as_integer, as_name, as_threads
from ._libraries import FRESH, library_of, stream_number
from ._neighbors import TopK
from ._progress import showing
from ._types import (
    Array,
    ArrayLike,
    BackendName,
    HostArray,
    Integers,
    Memory,
    Numbers,
    ProgressLike,
    SelectName,
    TopKOptions,
    overload,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

Pairs = Literal["sorted", "unsorted"]
ValuesAlone = Literal["values_only", "kth_only"]


@overload
def topk(
    matrix: HostArray, k: int, *, output: Pairs = "sorted", **options: Unpack[TopKOptions]
) -> TopK[Numbers, Integers]: ...
@overload
def topk(matrix: HostArray, k: int, *, output: ValuesAlone, **options: Unpack[TopKOptions]) -> Numbers: ...
@overload
def topk(matrix: Array, k: int, *, output: Pairs = "sorted", **options: Unpack[TopKOptions]) -> TopK[Array, Array]: ...
@overload
def topk(matrix: Array, k: int, *, output: ValuesAlone, **options: Unpack[TopKOptions]) -> Array: ...
def topk(
    matrix: ArrayLike,
    k: int,
    *,
    largest: bool = False,
    output: Literal["sorted", "unsorted", "values_only", "kth_only"] = "sorted",
    method: SelectName = "auto",
    backend: BackendName = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    stream: object = None,
    progress: ProgressLike = False,
) -> Any:
    """The k smallest values of each row, or the largest.

    ``output`` is "sorted", "unsorted" (the same set in any order), "values_only" or "kth_only" (the k-th value of each
    row); the last two return the values alone. NaN comes last; among equal values the lower index wins. Values are of
    the type of the matrix, those of float16 and bfloat16 float32. Matrices on a CUDA device are taken there.

    >>> import numpy as np, kith
    >>> values, indices = kith.topk(np.array([[3.0, 1.0, 2.0]]), k=2)
    >>> values.tolist(), indices.tolist()
    ([[1.0, 2.0]], [[1, 2]])
    >>> kith.topk(np.array([[3.0, 1.0, 2.0]]), k=1, largest=True, output="kth_only").tolist()
    [[3.0]]
    """
    k = as_integer(k, "k")
    largest = as_flag(largest, "largest")
    names = (
        as_name(output, "output", "sorted"),
        as_name(backend, "backend", "cpu"),
        as_name(method, "method", "heap-queue"),
    )
    library = library_of(matrix)
    number = stream_number(stream, library)
    ready = library.ready(matrix, "matrix")
    rows, cols = ready.shape
    if not 0 < k <= cols:  # before memory for the answer is asked for
        raise ValueError(f"k = {k} but the number of columns is {cols}")
    shape = (rows, 1 if output == "kth_only" else k)
    values = library.empty(shape, dtype_of(ready), number)
    indices = library.empty(shape, INT64, number) if output in ("sorted", "unsorted") else None
    with showing(progress) as watch:
        _kith.topk(
            library.take(ready, number), k, largest, *names, as_threads(threads), as_bytes(memory),
            library.take(values, FRESH), None if indices is None else library.take(indices, FRESH), number, watch,
        )  # fmt: skip
    library.finish((ready,), number)
    if has_16_bits(dtype_of(ready)):
        values = library.widened(values, number)
    return library.answer(values) if indices is None else TopK(library.answer(values), library.answer(indices))
