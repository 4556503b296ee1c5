"""Vectors of Arrow and Parquet: columns of lists as rows of points, by pyarrow, which is optional.

A column of type ``fixed_size_list`` in one piece is seen in place; one of ``list`` or ``large_list`` too, once its
lists are found to be of one length. A column in several pieces is copied once. Numbers keep their type: float16 stays
float16. A null is a ValueError, for no array of numbers has it.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ._libraries import host_memory

PARQUET, IPC = ("parquet", "pq"), ("arrow", "feather", "ipc")


def is_arrow(data: Any) -> bool:
    """Whether it is an array, a chunked array, a table or a batch of pyarrow."""
    return type(data).__module__.partition(".")[0] == "pyarrow"


def format_of(path: str, format: str) -> Optional[str]:
    """ "parquet" or "arrow", by the name of the format or the file's extension; None for other formats."""
    name = os.path.splitext(path)[1][1:] if format == "auto" else format
    return {**dict.fromkeys(PARQUET, "parquet"), **dict.fromkeys(IPC, "arrow")}.get(name.lower())


def pyarrow_for(what: str) -> Any:
    """The module; an ImportError says what it is needed for."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"{what} needs pyarrow, which cannot be imported ({error}); pip install pyarrow") from None
    return pyarrow


def points_of(data: Any, role: str) -> np.ndarray:
    """The points of an array, chunked array, table or batch of pyarrow; plain numbers as an array of one dimension."""
    if hasattr(data, "schema"):
        name = choose_column(data.schema, None, role)
        if name is None:
            return _side_by_side(data, data.schema.names, role)
        return vectors(data[name], role, name)
    if _is_list(data.type):
        return vectors(data, role)
    if _is_number(data.type):
        return _numbers(data, role)
    raise TypeError(f"{role} is a pyarrow array of {data.type}; points are lists of numbers, such as list<float>")


def choose_column(schema: Any, column: Optional[str], what: str) -> Optional[str]:
    """The column of vectors; None where all columns are plain numbers, which are coordinates side by side."""
    vector_columns = [field.name for field in schema if _is_list(field.type)]
    if column is not None:
        if column not in schema.names:
            raise ValueError(f"{what} has no column {column!r}; it has {', '.join(schema.names)}")
        if column not in vector_columns:
            raise ValueError(f"{what}: column {column!r} is of {schema.field(column).type}, not of lists of numbers")
        return column
    if len(vector_columns) > 1:
        raise ValueError(f"{what} has several columns of vectors, name one by column=: {', '.join(vector_columns)}")
    if vector_columns:
        return vector_columns[0]
    if len(schema) > 0 and all(_is_number(field.type) for field in schema):
        return None
    kinds = ", ".join(f"{field.name}: {field.type}" for field in schema)
    raise ValueError(f"{what} has no column of vectors, but {kinds or 'no columns'}")


def vectors(column: Any, what: str, name: Optional[str] = None, first_row: int = 0) -> np.ndarray:
    """Rows × width numbers of an array or chunked array of lists, whose first row has that number in errors."""
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk) > 0]
    where = what if name is None else f"{what}, column {name!r}"
    parts: List[np.ndarray] = []
    for chunk in chunks:
        parts.append(_rows(chunk, where, first_row, parts[0].shape[1] if parts else None))
        first_row += len(chunk)
    if not parts:
        kind = _storage_type(column.type)
        return np.empty((0, getattr(kind, "list_size", 0)), _numpy_type(kind.value_type, where))
    return parts[0] if len(parts) == 1 else _stacked(parts)


def shape_of_column(kind: Any) -> Tuple[Optional[int], np.dtype]:
    """The width of a column of lists, None where each list has its own, and the type of its numbers."""
    kind = _storage_type(kind)
    return getattr(kind, "list_size", None), _numpy_type(kind.value_type, "the column")


def read(path: str, kind: str, column: Optional[str], columns: Sequence[str]) -> np.ndarray:
    """The vectors of a file, or its named columns side by side; read-only."""
    pa = pyarrow_for(f"{path}: reading {'Parquet' if kind == 'parquet' else 'Arrow'}")
    if column is not None and columns:
        raise ValueError(f"{path}: both a column of vectors and columns of numbers are named")
    with _opened(pa, path, kind) as file:
        names = list(columns)
        if names:
            for name in names:
                if name not in file.schema.names:
                    raise ValueError(f"{path} has no column {name!r}; it has {', '.join(file.schema.names)}")
        else:
            chosen = choose_column(file.schema, column, path)
            if chosen is not None:
                return _read_only(_filled(file, chosen, path))
            names = file.schema.names
        return _read_only(_side_by_side(file.table(names), names, path))


def read_all(path: str, kind: str) -> Dict[str, np.ndarray]:
    """Every column of numbers or of vectors by its name."""
    pa = pyarrow_for(f"{path}: reading {'Parquet' if kind == 'parquet' else 'Arrow'}")
    found = {}
    with _opened(pa, path, kind) as file:
        for field in file.schema:
            if _is_list(field.type):
                found[field.name] = _read_only(_filled(file, field.name, path))
            elif _is_number(field.type):
                found[field.name] = _read_only(_numbers(file.table([field.name])[field.name], path, field.name))
    return found


class _ParquetFile:
    """A Parquet file, of which a row group at a time is in memory."""

    def __init__(self, pa: Any, path: str) -> None:
        self._file = pa.parquet.ParquetFile(path)
        self.schema = self._file.schema_arrow
        self.rows = self._file.metadata.num_rows

    def pieces(self, name: str) -> Iterator[Any]:
        for group in range(self._file.num_row_groups):
            yield self._file.read_row_group(group, columns=[name])[name]

    def table(self, names: List[str]) -> Any:
        return self._file.read(columns=names)

    def __enter__(self) -> _ParquetFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


class _ArrowFile:
    """An Arrow file or stream, mapped: what is not compressed is seen where it lies."""

    def __init__(self, pa: Any, path: str) -> None:
        mapped = pa.memory_map(path)
        try:
            self._table = pa.ipc.open_file(mapped).read_all()
        except pa.ArrowInvalid:
            mapped.seek(0)
            self._table = pa.ipc.open_stream(mapped).read_all()
        self.schema = self._table.schema
        self.rows = self._table.num_rows

    def pieces(self, name: str) -> Iterator[Any]:
        yield from self._table[name].chunks

    def table(self, names: List[str]) -> Any:
        return self._table.select(names)

    def __enter__(self) -> _ArrowFile:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _opened(pa: Any, path: str, kind: str) -> Any:
    try:
        return _ParquetFile(pa, path) if kind == "parquet" else _ArrowFile(pa, path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None


def _filled(file: Any, name: str, path: str) -> np.ndarray:
    """The vectors of a file, in memory for all of them that its pieces fill one by one; one piece alone as it is."""
    filled: Optional[np.ndarray] = None
    row = 0
    for piece in file.pieces(name):
        if len(piece) == 0:
            continue
        part = vectors(piece, path, name, row)
        if len(piece) == file.rows:
            return part
        if filled is None:
            filled = host_memory((file.rows, part.shape[1]), part.dtype)
        if part.shape[1] != filled.shape[1]:
            raise ValueError(
                f"{path}, column {name!r}: row {row} has {part.shape[1]} numbers, and rows before have "
                f"{filled.shape[1]}"
            )
        filled[row : row + len(part)] = part
        row += len(part)
    if filled is None:
        kind = _storage_type(file.schema.field(name).type)
        return np.empty((0, getattr(kind, "list_size", 0)), _numpy_type(kind.value_type, path))
    return filled


def _rows(array: Any, where: str, first_row: int, width: Optional[int]) -> np.ndarray:
    """One array of lists, which must have ``width`` numbers each unless it is None."""
    while hasattr(array, "storage"):
        array = array.storage
    _refuse_null(array, where, first_row)
    size = getattr(array.type, "list_size", None)
    if size is None:
        lengths = np.diff(array.offsets.to_numpy())
        size = int(lengths[0]) if width is None else width
        wrong = np.flatnonzero(lengths != size)
        if wrong.size:
            row = int(wrong[0])
            raise ValueError(
                f"{where}: row {first_row + row} has {lengths[row]} numbers, and rows before have {size}; "
                "points have equally many"
            )
    elif width is not None and size != width:
        raise ValueError(f"{where}: row {first_row} has {size} numbers, and rows before have {width}")
    values = array.flatten()
    if values.null_count:
        place = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(
            f"{where}: row {first_row + place // size} has a null at {place % size}; fill or drop it first"
        )
    _numpy_type(values.type, where)
    return values.to_numpy(zero_copy_only=False).reshape(-1, size)


def _side_by_side(table: Any, names: Sequence[str], what: str) -> np.ndarray:
    """Columns of plain numbers as the columns of a matrix."""
    return np.column_stack([_numbers(table[name], what, name) for name in names])


def _numbers(column: Any, what: str, name: Optional[str] = None) -> np.ndarray:
    where = what if name is None else f"{what}, column {name!r}"
    if not _is_number(column.type):
        raise ValueError(f"{where} is of {column.type}, not of numbers")
    _refuse_null(column, where, 0)
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)


def _refuse_null(array: Any, where: str, first_row: int) -> None:
    if array.null_count:
        nulls = array.is_null()
        row = nulls.index(True).as_py()
        raise ValueError(f"{where}: row {first_row + row} is null; fill or drop it first")


def _stacked(parts: List[np.ndarray]) -> np.ndarray:
    whole = host_memory((sum(map(len, parts)), parts[0].shape[1]), parts[0].dtype)
    return np.concatenate(parts, out=whole)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _storage_type(kind: Any) -> Any:
    while hasattr(kind, "storage_type"):
        kind = kind.storage_type
    return kind


def _is_list(kind: Any) -> bool:
    """Whether it is one of lists of numbers, of any of Arrow's three types of them."""
    import pyarrow.types as types

    kind = _storage_type(kind)
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return lists and _is_number(kind.value_type)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _numpy_type(kind: Any, where: str) -> np.dtype:
    if not _is_number(kind):
        raise ValueError(f"{where} is of {kind}, not of numbers")
    return np.dtype(kind.to_pandas_dtype())
