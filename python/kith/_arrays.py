"""Host arrays as the library takes them: two dimensions, float32, float64, uint8 or int8.

Nothing is copied when an array has one of these types in native byte order and its strides are whole elements and not
negative; any others are copied. bool becomes uint8; float16 and 16-bit integers become float32; longer integers become
float64, and a ValueError says so where that would round them. Other types are a TypeError.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

_READY = "fdBb"
_EXACT_INTEGERS = 2**53  # float64 holds all integers up to here


def as_points(array: Any, role: str) -> np.ndarray:
    """``array`` ready for the library, itself where possible."""
    if type(array) is not np.ndarray:
        array = _to_numpy(array, role)
    if array.ndim != 2:
        raise ValueError(
            f"{role} has {array.ndim} dimension{'' if array.ndim == 1 else 's'}; points are the rows of a "
            "two-dimensional array"
        )
    dtype = array.dtype
    if dtype.char not in _READY or not dtype.isnative:
        array = _converted(array, role)
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return array if _has_whole_strides(array) else array.copy(order="C")


def as_pair(base: Any, queries: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Base and queries ready and of one type: where they differ, the one that holds both."""
    base = as_points(base, "base")
    queries = as_points(queries, "queries")
    if base.dtype != queries.dtype:
        common = common_dtype(base.dtype, queries.dtype)
        base = base.astype(common, copy=False)
        queries = queries.astype(common, copy=False)
    return base, queries


def common_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    """float64 where one of them is, else float32: it holds all 8-bit integers."""
    return np.dtype(np.float64 if np.float64 in (a, b) else np.float32)


def as_queries(queries: Any, dtype: np.dtype) -> np.ndarray:
    """Queries for a base of that type. float64 is rounded to a float32 base's type; 8-bit bases take their own type."""
    queries = as_points(queries, "queries")
    if queries.dtype == dtype:
        return queries
    if dtype.kind != "f":
        raise TypeError(f"queries are {queries.dtype} but the base is {dtype}; make them the same")
    return queries.astype(dtype)


def as_values(values: Any, dtype: np.dtype, rows: int) -> np.ndarray:
    """Numbers that come with the points, one or a row for each of them, packed in that type."""
    array = _to_numpy(values, "values")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values has dtype {array.dtype}; real numbers are needed")
    if array.ndim not in (1, 2):
        raise ValueError(f"values has {array.ndim} dimensions; 1, or 2 with a row for each base point, are needed")
    if array.shape[0] != rows:
        raise ValueError(f"values has {array.shape[0]} rows; the {rows} base points have one each")
    return np.ascontiguousarray(array, dtype)


def distance_dtype(dtype: np.dtype) -> np.dtype:
    """The type of distances between points of that type."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _has_whole_strides(array: np.ndarray) -> bool:
    size = array.itemsize
    return array.flags.aligned and all(stride >= 0 and stride % size == 0 for stride in array.strides)


def _to_numpy(array: Any, role: str) -> np.ndarray:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{role} is a masked array, whose mask would be lost; fill it first")
    if hasattr(array, "tocsr"):
        raise TypeError(f"{role} is a sparse matrix; only dense points are searched, so try .toarray()")
    return np.asarray(array)


def searched_dtype(dtype: Any, role: str) -> np.dtype:
    """The type in which points of that type are searched; a TypeError where there is none."""
    native = np.dtype(dtype).newbyteorder("=")
    if native.char in _READY:
        return native
    if native.kind == "b":
        return np.dtype(np.uint8)
    if native == np.float16 or (native.kind in "iu" and native.itemsize == 2):
        return np.dtype(np.float32)
    if native.kind in "iu":
        return np.dtype(np.float64)
    raise TypeError(
        f"{role} has dtype {dtype}; float32, float64, uint8 and int8 are searched, and smaller ones that convert to them"
    )


def _converted(array: np.ndarray, role: str) -> np.ndarray:
    target = searched_dtype(array.dtype, role)
    if array.dtype.kind in "iu" and target == np.float64 and array.size:
        largest = max(abs(int(array.max())), abs(int(array.min())))
        if largest > _EXACT_INTEGERS:
            raise ValueError(f"{role} holds the integer {largest}; beyond 2**53 float64 would round it")
    return array.astype(target)
