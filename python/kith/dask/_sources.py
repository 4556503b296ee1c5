"""What is searched, as a dask array with known chunks of whole rows."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterable, List, NamedTuple, Optional, Tuple, Union

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .._arrays import searched_dtype
from .._arrow import choose_column, pyarrow_for, shape_of_column, vectors
from ._blocks import values_in

LARGEST_IN_MEMORY = 100_000_000  # bytes that may be a part of the graph, which goes through client and scheduler

_FOOTERS_AT_ONCE = 16
_WAY_OUT = (
    "save it and let the workers read it, with dask.array.to_zarr() and from_zarr(), or as Parquet with "
    "kith.dask.read_parquet()"
)


def as_dask(source: Any, role: str, column: Optional[str] = None) -> da.Array:
    """Points of any kind, whose chunks are whole rows of known numbers."""
    if _is_path(source) or (isinstance(source, (list, tuple)) and source and all(map(_is_path, source))):
        source = _opened(source, role, column)
    elif column is not None:
        raise ValueError(f"column = {column!r} is for Parquet, but {role} is a {type(source).__name__}")
    elif type(source).__module__.partition(".")[0] == "zarr":
        source = da.from_zarr(source)
    elif isinstance(getattr(source, "data", None), da.Array):  # of xarray
        source = source.data
    elif hasattr(source, "to_dask_array"):
        raise TypeError(f"{role} is a {type(source).__name__} of Dask; its to_dask_array() is searched")
    elif not isinstance(source, da.Array):
        source = _from_memory(source, role)
    if source.ndim != 2:
        raise ValueError(f"{role} has {source.ndim} dimension(s); points are the rows of a two-dimensional array")
    searched_dtype(source.dtype, role)  # refuses what is not numbers
    _refuse_embedded(source, role)
    if np.isnan(source.shape[1]):
        raise ValueError(f"{role} has an unknown number of columns; compute_chunk_sizes() finds it out")
    if source.numblocks[1] != 1:
        source = source.rechunk({1: -1})
    if np.isnan(source.shape[0]):
        source = source.copy()
        source.compute_chunk_sizes()
    return source


class RowGroup(NamedTuple):
    """Where a block of Parquet is."""

    path: str
    number: int
    first_row: int  # in the file
    rows: int


def read_parquet(
    path: Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]], column: Optional[str] = None
) -> da.Array:
    """A column of vectors of Parquet as a dask array, of which each chunk is a row group.

    ``path`` is a file, a folder, a pattern such as "data/*.parquet", or a list of these; also at a URL of a file system
    that fsspec knows, such as "s3://bucket/points". Rows are numbered in the order of the files' names, or of the list.
    ``column`` names the vectors where there are several columns of them; types are those of :func:`kith.read`. The
    footers of all files are read at once, the rows when they are searched.

    >>> import pyarrow as pa, pyarrow.parquet, numpy as np, kith.dask, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> table = pa.table({"id": [0, 1, 2], "embedding": [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]})
    >>> pyarrow.parquet.write_table(table, folder / "part-0.parquet", row_group_size=2)
    >>> points = kith.dask.read_parquet(folder)
    >>> points.chunks, points.compute()[2].tolist()
    (((2, 1), (2,)), [4.0, 5.0])
    """
    pyarrow_for("kith.dask.read_parquet")
    if column is not None and not isinstance(column, str):
        raise TypeError(f"column must be a name, not {type(column).__name__}")
    system, files = _files_of(path)
    with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as pool:
        footers = list(pool.map(lambda file: _footer(system, file, column), files))
    name, width, dtype = footers[0][0]
    for file, (kind, _) in zip(files, footers):
        if kind != (name, width, dtype):
            raise ValueError(
                f"{file} has {kind[1]} numbers of {kind[2]} in column {kind[0]!r}, but {files[0]} has {width} of {dtype} "
                f"in {name!r}"
            )
    groups = [group for _, each in footers for group in each if group.rows > 0]
    chunks = (tuple(group.rows for group in groups) or (0,), (width,))
    stamps = [(file, system.ukey(file)) for file in files]
    label = f"read-parquet-{tokenize(stamps, name, chunks)}"
    if groups:
        tasks = {(label, i, 0): (read_row_group, system, group, name, width, dtype) for i, group in enumerate(groups)}
    else:
        tasks = {(label, 0, 0): (np.empty, (0, width), dtype)}
    return da.Array(HighLevelGraph.from_collections(label, tasks), label, chunks, dtype)


def read_row_group(system: Any, group: RowGroup, column: str, width: int, dtype: np.dtype) -> np.ndarray:
    """The vectors of a row group; a ValueError where they are no longer those that the footer told of."""
    pa = pyarrow_for("kith.dask.read_parquet")
    what = f"{group.path}, row group {group.number}"
    with system.open(group.path, "rb") as file:
        table = pa.parquet.ParquetFile(file).read_row_group(group.number, columns=[column])
    points = vectors(table[column], what, column, group.first_row)
    if points.shape != (group.rows, width) or points.dtype != dtype:
        raise ValueError(
            f"{what}: it has {points.shape[0]} rows of {points.shape[1]} numbers of {points.dtype}, and had "
            f"{group.rows} of {width} of {dtype} when the file was opened"
        )
    return points


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _opened(source: Any, role: str, column: Optional[str]) -> da.Array:
    if _is_path(source) and os.fspath(source).rstrip("/").endswith((".zarr", ".zarr.zip")):
        if column is not None:
            raise ValueError(f"column = {column!r} is for Parquet, but {role} is {os.fspath(source)}")
        return da.from_zarr(os.fspath(source))
    return read_parquet(source, column)


def _from_memory(source: Any, role: str) -> da.Array:
    if hasattr(source, "nbytes") and source.nbytes > LARGEST_IN_MEMORY:
        _refuse_large(role, source.nbytes)
    array = source if hasattr(source, "__array_function__") else np.asarray(source)
    if array.ndim != 2:
        raise ValueError(f"{role} has {array.ndim} dimension(s); points are the rows of a two-dimensional array")
    return da.from_array(array, chunks=("auto", -1))


def _refuse_embedded(array: da.Array, role: str) -> None:
    """Arrays within the graph would pass through the scheduler, which they can bring down."""
    held = sum(
        value.nbytes
        for layer in array.dask.layers.values()
        for value in values_in(layer)
        if isinstance(value, np.ndarray)
    )
    if held > LARGEST_IN_MEMORY:
        _refuse_large(role, held)


def _refuse_large(role: str, size: int) -> None:
    raise ValueError(
        f"{role} holds {size} bytes of the client's memory, which would travel with every graph; the most is "
        f"{LARGEST_IN_MEMORY}: {_WAY_OUT}"
    )


def _files_of(source: Any) -> Tuple[Any, List[str]]:
    """A file system, and the Parquet files that a path, a pattern or several of them name."""
    from fsspec.core import url_to_fs

    sources = [source] if _is_path(source) else list(source)
    files: List[str] = []
    system: Any = None
    for each in sources:
        system, path = url_to_fs(os.fspath(each))
        if any(letter in path for letter in "*?["):
            found = sorted(system.glob(path))
        elif system.isdir(path):
            found = sorted(name for name in system.find(path) if name.endswith((".parquet", ".pq")))
        else:
            found = [path]
        if not found:
            raise FileNotFoundError(f"{os.fspath(each)}: there are no Parquet files")
        files += found
    if not files:
        raise ValueError("the list of Parquet files is empty")
    return system, files


def _footer(system: Any, path: str, column: Optional[str]) -> Tuple[Tuple[str, int, np.dtype], List[RowGroup]]:
    """(column, width, type) of the vectors, and the row groups."""
    pa = pyarrow_for("kith.dask.read_parquet")
    with system.open(path, "rb") as opened:
        try:
            file = pa.parquet.ParquetFile(opened)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path}: {error}") from None
        name = choose_column(file.schema_arrow, column, path)
        if name is None:
            raise ValueError(f"{path} has no column of vectors; plain numbers side by side are read by kith.read")
        width, dtype = shape_of_column(file.schema_arrow.field(name).type)
        metadata = file.metadata
        rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        if width is None:  # lists may be of any length: all must have that of the first
            first = next(file.iter_batches(batch_size=1, columns=[name]), None)
            width = 0 if first is None else vectors(first[name], path, name).shape[1]
    starts = np.cumsum([0, *rows])
    return (name, width, dtype), [RowGroup(path, i, int(starts[i]), count) for i, count in enumerate(rows)]
