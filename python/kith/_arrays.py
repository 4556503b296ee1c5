"""Arrays as the library takes them: two dimensions; float32, float64, float16, bfloat16, uint8 or int8; the rules, and
NumPy's arrays.

Nothing is copied when an array of NumPy has one of these types in native byte order and its strides are whole elements
and not negative; any others are copied. bool becomes uint8; 16-bit integers become float32; longer integers become
float64, and a ValueError says so where that would round them. Other types are a TypeError.

The type of the base is the one in which points are compared, and queries are converted to it, never the base: float64
queries are rounded to a float32 base; a base of bytes takes whole numbers that fit, and one of float16 or bfloat16 the
numbers that these hold. Numbers that cannot be converted so are a ValueError.

NumPy has no bfloat16. Arrays of ml_dtypes, which adds it, and of other libraries are seen as records of their bits
(``BFLOAT16``), which the native functions take for what they are; no other package is needed.
"""

from __future__ import annotations

import os
from typing import Any, List, Sequence, Tuple

import numpy as np

from ._checks import as_integer

FLOAT16, FLOAT32, FLOAT64, INT64, UINT8 = (
    np.dtype(t) for t in (np.float16, np.float32, np.float64, np.int64, np.uint8)
)
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])

_READY = "fdBbe"
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


def is_sparse(array: Any) -> bool:
    """Whether it is a sparse matrix or array, of scipy or the like."""
    return type(array) is not np.ndarray and hasattr(array, "tocsr")


def convert_queries(points: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Queries of the host in the type of the base."""
    points = widened(points)
    with np.errstate(over="ignore", invalid="ignore"):
        converted = _cut_to_bfloat16(points) if dtype == BFLOAT16 else points.astype(dtype)
    if has_16_bits(dtype):
        bad = (widened(converted) != points) & (points == points)  # the search finds NaN
    elif dtype.kind == "f":
        bad = np.isfinite(points) & ~np.isfinite(converted) if dtype.itemsize < points.itemsize else None
    else:
        bad = converted != points
    if bad is not None and bad.any():
        row, column = np.unravel_index(np.argmax(bad), bad.shape)
        raise ValueError(f"queries hold {points[row, column]} in row {row}; {accepted_queries(dtype)}")
    return converted


def accepted_queries(dtype: np.dtype) -> str:
    """Which numbers a base of that type takes, for errors."""
    if has_16_bits(dtype):
        name = name_of(dtype)
        return (
            f"a base of {name} takes numbers that {name} holds; round the queries to {name}, or give the base as "
            "float32 to compare others"
        )
    if dtype.kind == "f":
        return f"a base of {dtype} takes numbers up to {np.finfo(dtype).max:.3g}; give the base as float64 to compare others"
    limits = np.iinfo(dtype)
    return (
        f"a base of {dtype} takes whole numbers from {limits.min} to {limits.max}; "
        "give the base as float32 to compare others"
    )


def has_16_bits(dtype: np.dtype) -> bool:
    """Whether it is one of the floating-point types of 16 bits."""
    return dtype.itemsize == 2 and dtype in (FLOAT16, BFLOAT16)


def is_bfloat16(dtype: np.dtype) -> bool:
    """Whether it is bfloat16, as ml_dtypes has it or by its bits."""
    return dtype.itemsize == 2 and (dtype == BFLOAT16 or dtype.name == "bfloat16")


def name_of(dtype: np.dtype) -> str:
    return "bfloat16" if is_bfloat16(dtype) else dtype.name


def named_dtype(dtype: Any) -> np.dtype:
    """What NumPy calls a type, or what it is called elsewhere: "bfloat16", torch.float16."""
    name = str(dtype).rpartition(".")[2]
    return BFLOAT16 if name == "bfloat16" else np.dtype(dtype if isinstance(dtype, (type, np.dtype)) else name)


def usual_dtype(dtype: np.dtype) -> np.dtype:
    """The type by the name under which callers know it: bfloat16 is that of ml_dtypes where this is installed."""
    if dtype != BFLOAT16:
        return dtype
    try:
        import ml_dtypes
    except ImportError:
        return BFLOAT16
    return np.dtype(ml_dtypes.bfloat16)


def widened(array: np.ndarray) -> np.ndarray:
    """bfloat16 as float32, which NumPy computes with; other arrays as they are."""
    if not is_bfloat16(array.dtype):
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(FLOAT32)


def _cut_to_bfloat16(points: np.ndarray) -> np.ndarray:
    """The upper halves of float32: the same numbers, where bfloat16 holds them. NaN stays NaN."""
    bits = (points.astype(FLOAT32).view(np.uint32) >> 16).astype(np.uint16)
    bits[points != points] = 0x7FC0
    return bits.view(BFLOAT16)


def as_values(values: Any, dtype: np.dtype, rows: int) -> np.ndarray:
    """Numbers of host memory that come with the points, one or a row for each of them, packed in that type."""
    array = widened(_to_numpy(values, "values"))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values has dtype {array.dtype}; real numbers are needed")
    check_values(array.shape, rows)
    return np.ascontiguousarray(array, dtype)


def as_radii(radius: Any, dtype: np.dtype) -> np.ndarray:
    """One radius or several, of host memory, in the type of the distances."""
    radii = widened(np.atleast_1d(_to_numpy(radius, "radius")))
    if radii.dtype.kind not in "biuf":
        raise TypeError(f"radius has dtype {radii.dtype}; a number or one for each query is needed")
    if radii.ndim != 1:
        raise ValueError(f"radius has shape {radii.shape}; a number or one for each query is needed")
    return np.ascontiguousarray(radii, dtype)


def check_points(dimensions: int, role: str) -> None:
    if dimensions == 1:
        raise ValueError(
            f"{role} has 1 dimension; points are the rows of a two-dimensional array: one point is {role}[None], "
            f"points of one coordinate are {role}[:, None]"
        )
    if dimensions != 2:
        raise ValueError(f"{role} has {dimensions} dimensions; points are the rows of a two-dimensional array")


def check_values(shape: Sequence[int], rows: int) -> None:
    if len(shape) not in (1, 2):
        raise ValueError(f"values has {len(shape)} dimensions; 1, or 2 with a row for each base point, are needed")
    if shape[0] != rows:
        raise ValueError(f"values has {shape[0]} rows; the {rows} base points have one each")


def count_of(queries: Any) -> int:
    """How many there are, of queries or of their number or shape."""
    return int(queries) if isinstance(queries, (int, np.integer)) else shape_of(queries, "queries")[0]


def shape_of(points: Any, role: str) -> Tuple[int, int]:
    """(rows, dims) of points, or the shape itself."""
    shape = points if isinstance(points, tuple) else getattr(points, "shape", None)
    if shape is None or type(points).__module__.partition(".")[0] == "pyarrow":
        shape = as_points(points, role).shape
    if len(shape) != 2:
        raise ValueError(f"{role} has shape {tuple(shape)}; (rows, dims) is needed")
    return as_integer(shape[0], f"rows of {role}"), as_integer(shape[1], f"dims of {role}")


def dtype_of(array: Any) -> np.dtype:
    """The type of an array of any library, in NumPy's words."""
    return array.dtype if type(array) is np.ndarray else named_dtype(str(array.dtype))


def searched_dtype(dtype: np.dtype, role: str) -> np.dtype:
    """The type in which points of that type are searched; a TypeError where there is none."""
    if is_bfloat16(dtype):
        return BFLOAT16
    native = dtype.newbyteorder("=")
    if native.char in _READY:
        return native
    if native.kind == "b":
        return np.dtype(np.uint8)
    if native.kind in "iu" and native.itemsize == 2:
        return FLOAT32
    if native.kind in "iu":
        return FLOAT64
    raise TypeError(
        f"{role} has dtype {dtype}; float32, float64, float16, bfloat16, uint8 and int8 are searched, and bool and "
        "integers, which are converted"
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
        raise TypeError(
            f"{role} is a sparse matrix, which only a sparse base can be searched for; .toarray() makes dense points"
        )
    if isinstance(array, (str, os.PathLike)):
        raise TypeError(f"{role} is a path or other text, {str(array)!r}; arrays are searched: kith.read() reads one")
    if hasattr(array, "__next__"):
        raise TypeError(f"{role} is a {type(array).__name__}, which can be read only once; make a list of it first")
    if hasattr(array, "collect") and not hasattr(array, "__array__"):
        raise TypeError(f"{role} is a {type(array).__name__}, which holds no rows yet; .collect() makes them")
    package = type(array).__module__.partition(".")[0]
    if package == "pandas":
        return _from_pandas(array, role)
    if package == "pyarrow":
        from ._arrow import points_of

        return points_of(array, role)
    try:
        made = np.asarray(array)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{role} cannot be read as an array: {error}") from None
    if made.ndim == 0 and made.dtype == object:
        raise TypeError(f"{role} is of type {type(array).__name__}; an array is needed")
    return made


def _from_pandas(frame: Any, role: str) -> np.ndarray:
    """A data frame or series. Types of pandas and of Arrow have missing values, which no array of numbers has."""
    is_frame = hasattr(frame, "columns")
    columns: List[Tuple[Any, Any]] = list(zip(frame.columns, frame.dtypes)) if is_frame else [(frame.name, frame.dtype)]
    plain = []
    for name, dtype in columns:
        # Of types of pandas, the one of NumPy that holds their numbers.
        number = next((kind for kind in (dtype, *_numpy_kinds(dtype)) if isinstance(kind, np.dtype)), None)
        if number is None or number.kind not in "biuf":
            raise TypeError(f"{role} has dtype {dtype} in column {name!r}; numbers are needed")
        plain.append(number)
    if all(number is dtype for number, (_, dtype) in zip(plain, columns)):
        return np.asarray(frame)
    missing = frame.isna().to_numpy().reshape(len(frame), -1)
    if missing.any():
        row, column = np.unravel_index(np.argmax(missing), missing.shape)
        raise ValueError(
            f"{role} has a missing value in row {row}, column {columns[column][0]!r}; fill or drop it first"
        )
    return frame.to_numpy(dtype=np.result_type(*plain))


def _numpy_kinds(dtype: Any) -> Tuple[Any, Any]:
    return getattr(dtype, "numpy_dtype", None), getattr(dtype, "subtype", None)


def _converted(array: np.ndarray, role: str) -> np.ndarray:
    target = searched_dtype(array.dtype, role)
    if target == BFLOAT16:
        return array.view(BFLOAT16)
    if array.dtype.kind in "iu" and target == np.float64 and array.size:
        largest = max(abs(int(array.max())), abs(int(array.min())))
        if largest > _EXACT_INTEGERS:
            raise ValueError(f"{role} holds the integer {largest}; beyond 2**53 float64 would round it")
    return array.astype(target)
