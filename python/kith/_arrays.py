"""Arrays as the library takes them: two dimensions, float32, float64, uint8 or int8; the rules, and NumPy's arrays.

Nothing is copied when an array of NumPy has one of these types in native byte order and its strides are whole elements
and not negative; any others are copied. bool becomes uint8; float16 and 16-bit integers become float32; longer integers
become float64, and a ValueError says so where that would round them. Other types are a TypeError.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

FLOAT32, FLOAT64, INT64 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)

_READY = "fdBb"
_EXACT_INTEGERS = 2**53  # float64 holds all integers up to here


def as_points(array: Any, role: str) -> np.ndarray:
    """``array``, in host memory, ready for the library: itself where possible."""
    if type(array) is not np.ndarray:
        array = _to_numpy(array, role)
    if array.ndim != 2:
        check_points(array.ndim, role)
    dtype = array.dtype
    if dtype.char not in _READY or not dtype.isnative:
        array = _converted(array, role)
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return array if _has_whole_strides(array) else array.copy(order="C")


def as_values(values: Any, dtype: np.dtype, rows: int) -> np.ndarray:
    """Numbers of host memory that come with the points, one or a row for each of them, packed in that type."""
    array = _to_numpy(values, "values")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values has dtype {array.dtype}; real numbers are needed")
    check_values(array.shape, rows)
    return np.ascontiguousarray(array, dtype)


def as_radii(radius: Any, dtype: np.dtype) -> np.ndarray:
    """One radius or several, of host memory, in the type of the distances."""
    radii = np.ascontiguousarray(np.atleast_1d(radius), dtype)
    if radii.ndim != 1:
        raise ValueError(f"radius has shape {radii.shape}; a number or one for each query is needed")
    return radii


def check_points(dimensions: int, role: str) -> None:
    if dimensions != 2:
        plural = "" if dimensions == 1 else "s"
        raise ValueError(f"{role} has {dimensions} dimension{plural}; points are the rows of a two-dimensional array")


def check_values(shape: Sequence[int], rows: int) -> None:
    if len(shape) not in (1, 2):
        raise ValueError(f"values has {len(shape)} dimensions; 1, or 2 with a row for each base point, are needed")
    if shape[0] != rows:
        raise ValueError(f"values has {shape[0]} rows; the {rows} base points have one each")


def dtype_of(array: Any) -> np.dtype:
    """The type of an array of any library, in NumPy's words; bfloat16, which it has not, counts as float16."""
    if type(array) is np.ndarray:
        return array.dtype
    return np.dtype(str(array.dtype).rpartition(".")[2].replace("bfloat16", "float16"))


def searched_dtype(dtype: np.dtype, role: str) -> np.dtype:
    """The type in which points of that type are searched; a TypeError where there is none."""
    native = dtype.newbyteorder("=")
    if native.char in _READY:
        return native
    if native.kind == "b":
        return np.dtype(np.uint8)
    if native == np.float16 or (native.kind in "iu" and native.itemsize == 2):
        return FLOAT32
    if native.kind in "iu":
        return FLOAT64
    raise TypeError(
        f"{role} has dtype {dtype}; float32, float64, uint8 and int8 are searched, and smaller ones that convert to them"
    )


def common_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    """Of points of two types: that of both, else float64 where one of them is, else float32, which holds bytes."""
    return a if a == b else FLOAT64 if FLOAT64 in (a, b) else FLOAT32


def distance_dtype(dtype: np.dtype) -> np.dtype:
    """The type of distances between points of that type."""
    return FLOAT64 if dtype.char == "d" else FLOAT32


def _has_whole_strides(array: np.ndarray) -> bool:
    size = array.itemsize
    return array.flags.aligned and all(stride >= 0 and stride % size == 0 for stride in array.strides)


def _to_numpy(array: Any, role: str) -> np.ndarray:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{role} is a masked array, whose mask would be lost; fill it first")
    if hasattr(array, "tocsr"):
        raise TypeError(f"{role} is a sparse matrix; only dense points are searched, so try .toarray()")
    return np.asarray(array)


def _converted(array: np.ndarray, role: str) -> np.ndarray:
    target = searched_dtype(array.dtype, role)
    if array.dtype.kind in "iu" and target == np.float64 and array.size:
        largest = max(abs(int(array.max())), abs(int(array.min())))
        if largest > _EXACT_INTEGERS:
            raise ValueError(f"{role} holds the integer {largest}; beyond 2**53 float64 would round it")
    return array.astype(target)
