"""Files of points and answers: npy, npz, fvecs, fbin, HDF5, CSV, PLY and their kin; Parquet and Arrow are read."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arrow, _kith
from ._arrays import BFLOAT16, is_bfloat16, usual_dtype
from ._checks import as_flag, as_name, check_mapping
from ._libraries import to_host
from ._neighbors import Neighbors
from ._types import Numbers, Values

Path = Union[str, "os.PathLike[str]"]


def read(
    path: Path,
    array: Optional[str] = None,
    *,
    column: Optional[str] = None,
    columns: Sequence[Union[str, int]] = (),
    format: str = "auto",
) -> Numbers:
    """One array of a file, read-only; where the layout allows, a view into the mapped file.

    ``array`` names one of an npz, HDF5 or ground-truth file; ``columns`` are those of a CSV, by name or number, or
    properties of a PLY file. ``format`` is "auto" (by extension, else by the first bytes) or a name.

    Files of Parquet (.parquet) and Arrow (.arrow, .feather) are read by pyarrow. Their rows of points are the lists of
    one column, of type fixed_size_list, list or large_list: ``column`` names it where there are several. A file of
    plain numbers gives its columns side by side, all or those of ``columns``. Numbers keep their type, float16 too;
    lists of several lengths and nulls are a ValueError.

    bfloat16 comes as ml_dtypes has it where this is installed, else as records of its bits; both can be searched.

    A mapped file must not be changed in place or shortened while the array lives; ``read(path).copy()`` is safe.

    >>> import numpy as np, kith, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.fvecs"
    >>> kith.write(path, np.eye(2, dtype=np.float32))
    >>> kith.read(path).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    wanted = "" if array is None else as_name(array, "array", "train")
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names or numbers, not str {columns!r}")
    name = os.fspath(path)
    kind = _arrow.format_of(name, _format(format))
    if kind is not None:
        if array is not None:
            raise ValueError(f"{name}: columns of {kind} are named by column=, not by array=")
        chosen = None if column is None else as_name(column, "column", "embedding")
        return _arrow.read(_existing(name), kind, chosen, [as_name(each, "a column", "x") for each in columns])
    if column is not None:
        raise ValueError(f"{name}: column = {column!r} is for files of Parquet and Arrow")
    return _named(_kith.read(_existing(path), _format(format), wanted, [str(column) for column in columns]))


def read_all(path: Path, *, format: str = "auto") -> Dict[str, Numbers]:
    """Every array of a file by its name, as :func:`read` gives it; that of a format without names is called "".

    Of Parquet and Arrow they are the columns of numbers and of vectors.
    """
    kind = _arrow.format_of(os.fspath(path), _format(format))
    if kind is not None:
        return _arrow.read_all(_existing(path), kind)
    loaded: Any = _kith.read_all(_existing(path), _format(format))
    return {name: _named(array) for name, array in loaded.items()}


def write(
    path: Path,
    arrays: Union[Values, Mapping[str, Values], Neighbors],
    *,
    format: str = "auto",
    attributes: Optional[Mapping[str, str]] = None,
    compress: bool = False,
    text: bool = False,
) -> None:
    """Writes an array, a mapping of names to arrays, or :class:`Neighbors`, whole or not at all.

    ``compress`` is for npz and HDF5, ``attributes`` for HDF5, ``text`` for PLY.

    >>> import numpy as np, kith, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "found.npz"
    >>> points = np.eye(3, dtype=np.float32)
    >>> kith.write(path, kith.search(points, points, k=2))
    >>> sorted(kith.read_all(path))
    ['distances', 'ids']
    """
    if isinstance(arrays, Neighbors):
        named: Mapping[str, Any] = {"ids": arrays.indices, "distances": arrays.distances}
    elif isinstance(arrays, Mapping):
        named = arrays
    else:
        named = {"": arrays}
    attributes = {} if attributes is None else attributes
    check_mapping(attributes, "attributes")
    texts = {name: as_name(value, f"attribute {name!r}", "text") for name, value in attributes.items()}
    flags = as_flag(compress, "compress"), as_flag(text, "text")
    ready = {str(name): _writable(to_host(array)) for name, array in named.items()}
    _kith.write(os.fspath(path), ready, _format(format), texts, *flags)


def _format(name: object) -> str:
    return as_name(name, "format", "npy")


def _existing(path: Path) -> str:
    name = os.fspath(path)
    if name != "-":
        os.stat(name)  # what is missing is a FileNotFoundError
    return name


def _named(array: Any) -> Any:
    """What the native functions read: uint16 are the bits of bfloat16."""
    return array.view(usual_dtype(BFLOAT16)) if array.dtype == np.uint16 else array


def _writable(array: Any) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind in "iu" and array.dtype.itemsize not in (1, 4, 8) or array.dtype in (np.uint32, np.uint64):
        array = array.astype(np.int64)
    elif is_bfloat16(array.dtype):
        array = array.view(BFLOAT16)
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
