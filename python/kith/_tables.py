"""Blocks of a base that come as tables of Arrow, with ids of the caller's: how Spark and Ray hand them out."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from ._arrow import vectors


def sorted_block(table: Any, id_column: str, vector_column: str) -> Tuple[np.ndarray, np.ndarray]:
    """(ids, points) of a table in ascending order of the ids, whatever order its rows are in."""
    for name in (id_column, vector_column):
        if name not in table.schema.names:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(table.schema.names)}")
    ids = _ids(table[id_column], id_column)
    _refuse_null_vectors(table[vector_column], ids, vector_column)
    points = vectors(table[vector_column], "the table", vector_column)
    if (ids[1:] > ids[:-1]).all():
        return ids, points
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if twice.size:
        raise ValueError(f"id {ids[twice[0]]} occurs twice in column {id_column!r}; every point has its own")
    return ids, points[order]


def _ids(column: Any, name: str) -> np.ndarray:
    if column.null_count:
        raise ValueError(
            f"column {name!r} has a null in row {column.is_null().index(True).as_py()}; ids are whole numbers"
        )
    array = column.to_numpy()
    if array.dtype.kind not in "iu":
        raise TypeError(f"column {name!r} is of {column.type}; ids are whole numbers")
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise ValueError(f"column {name!r} holds {array.max()}; the largest id is {2**63 - 1}")
    return array.astype(np.int64, copy=False)


def _refuse_null_vectors(column: Any, ids: np.ndarray, name: str) -> None:
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise ValueError(f"column {name!r} is null where the id is {ids[row]}; fill or drop it first")


def ranges(rows: int, most: int) -> List[Tuple[int, int]]:
    """Rows in pieces of at most so many."""
    return [(start, min(start + most, rows)) for start in range(0, rows, most)]
