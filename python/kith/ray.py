"""Searches of Ray's datasets, with ids of the caller's: the neighbors of :func:`kith.search`, bit for bit.

Every block of the dataset is searched by a task of its own, for all queries; the caller merges the lists as they come.
The base never passes through the caller, and a task that Ray runs again changes nothing. Neighbors at equal distances
come by id, so that the answer does not depend on the blocks.
"""

from __future__ import annotations

import os
import pickle
from functools import partial
from typing import TYPE_CHECKING, Any, Dict, List

import numpy as np

from ._arrays import as_points
from ._arrow import pyarrow_for
from ._checks import as_flag, as_integer, as_name
from ._libraries import to_host
from ._neighbors import Neighbors
from ._shards import merge, partial_search
from ._tables import sorted_block
from ._types import ArrayLike, Floats, Integers, ShardOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["search"]

FAN_IN = 8  # lists that the caller holds before it merges them


def search(
    dataset: Any,
    queries: ArrayLike,
    k: int,
    id_column: str,
    vector_column: str,
    *,
    pad_missing: bool = False,
    **options: Unpack[ShardOptions],
) -> Neighbors[Floats, Integers]:
    """The k nearest rows of a dataset for each query, by the ids of the rows.

    Parameters
    ----------
    dataset : ray.data.Dataset, or one or several paths of Parquet for ray.data.read_parquet()
    queries : an array of points as rows, which every task gets; answers have its order
    id_column, vector_column : whole numbers, each once, any but -1; and lists of numbers of one length
    pad_missing : the base may have fewer than k rows, whose places have index -1 then
    options : those of :func:`kith.dask.search`

    With a cluster, or ``ray.init()`` on one machine::

        found = kith.ray.search("s3://bucket/points", queries, k=10, id_column="id", vector_column="embedding")
    """
    pyarrow_for("kith.ray")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError(f"kith.ray needs Ray, which cannot be imported ({error}); pip install 'ray[data]'") from None
    k = as_integer(k, "k")
    names = as_name(id_column, "id_column", "id"), as_name(vector_column, "vector_column", "embedding")
    asked = as_points(to_host(queries), "queries")
    keywords: Dict[str, Any] = dict(options)
    partial_search(np.empty((0, asked.shape[1]), asked.dtype), asked, k, first_id=0, **keywords)  # refuses
    if isinstance(dataset, (str, os.PathLike, list, tuple)):
        paths = [os.fspath(path) for path in ([dataset] if isinstance(dataset, (str, os.PathLike)) else dataset)]
        dataset = ray.data.read_parquet(paths)
    task = partial(_lists_of_a_block, ray.put(asked), k, names, keywords)
    parts = dataset.select_columns(list(names)).map_batches(task, batch_size=None, batch_format="pyarrow")
    held: List[Any] = []
    for row in parts.iter_rows():
        held.append(pickle.loads(row["part"]))
        if len(held) == FAN_IN:
            held = [merge(held, k)]
    found = merge(held, k).neighbors() if held else _none(asked, k, keywords)
    missing = (found.indices == -1).any() and keywords.get("max_distance") is None
    if missing and not as_flag(pad_missing, "pad_missing"):
        raise ValueError(f"k = {k} but the base has fewer points; pad_missing=True leaves the last places empty")
    return found


def _none(asked: np.ndarray, k: int, keywords: Dict[str, Any]) -> Neighbors[Floats, Integers]:
    empty = np.empty((0, asked.shape[1]), asked.dtype)
    return partial_search(empty, asked, k, first_id=0, **keywords).neighbors()


def _lists_of_a_block(queries: Any, k: int, names: Any, keywords: Dict[str, Any], table: Any) -> Dict[str, Any]:
    """What a task does with a block of the dataset."""
    import ray

    if table.num_rows == 0:
        return {"part": []}
    ids, points = sorted_block(table, *names)
    part = partial_search(points, ray.get(queries), k, ids=ids, **keywords)
    return {"part": [pickle.dumps(part, pickle.HIGHEST_PROTOCOL)]}
