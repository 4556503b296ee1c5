"""Searches of Spark's data frames, with ids of the caller's: the neighbors of :func:`kith.search`, bit for bit.

The base stays where it is: every partition is searched by a task of its own, for all queries, and its lists go to the
tasks that merge them, a piece of the queries each. Only the queries pass through the driver. No id but those of
neighbors is sent anywhere. Neighbors at equal distances come by id, so that the answer depends neither on partitions
nor on which task ran where, or again.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

import numpy as np

from ._arrow import pyarrow_for
from ._checks import as_flag, as_integer, as_name
from ._shards import PartialNeighbors, merge, partial_search
from ._tables import ranges, sorted_block
from ._types import ShardOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["search"]

LARGEST_QUERIES = 256 << 20  # bytes of queries and their lists
BLOCK_BYTES = 64 << 20  # rows of a partition that are searched at once
PIECE_BYTES = 64 << 10  # lists of a piece of the queries, of one partition

# Spark's types of numbers, those in which points are compared, and the type of distances.
_POINTS = {
    "float": ("float32", "float"),
    "double": ("float64", "double"),
    "tinyint": ("int8", "float"),
    "smallint": ("float32", "float"),
    "int": ("float64", "double"),
    "bigint": ("float64", "double"),
}


def search(
    df: Any,
    queries_df: Any,
    k: int,
    id_col: str,
    vector_col: str,
    *,
    query_id_col: Optional[str] = None,
    query_vector_col: Optional[str] = None,
    exclude_self: bool = False,
    **options: Unpack[ShardOptions],
) -> Any:
    """The k nearest rows of ``df`` for each row of ``queries_df``, as a data frame (query_id, rank, id, distance).

    Parameters
    ----------
    df, queries_df : data frames with a column of ids and one of vectors
        Ids are whole numbers, of ``df`` each once, any but -1; vectors are arrays of numbers, such as array<float>, of
        one length. The queries go to every task: with their lists (12 k bytes each) they may take 256 MiB.
    id_col, vector_col : the columns, of ``queries_df`` too, unless ``query_id_col`` and ``query_vector_col`` name them
    exclude_self : leave out the row whose id is the query's
    options : those of :func:`kith.dask.search`

    Ranks begin at 1. Where ``df`` has fewer than k rows, so do the queries. Nothing of ``df`` is computed before the
    answer is; the queries are collected at once.

    With a session of Spark 4 or later and pyarrow::

        found = kith.spark.search(items, questions, k=10, id_col="id", vector_col="embedding", metric="cosine")
        found.orderBy("query_id", "rank").show()
    """
    pa = pyarrow_for("kith.spark")
    query_id_col = id_col if query_id_col is None else query_id_col
    query_vector_col = vector_col if query_vector_col is None else query_vector_col
    k = as_integer(k, "k")
    dtype, distance = _types_of(df, as_name(id_col, "id_col", "id"), as_name(vector_col, "vector_col", "embedding"))
    _types_of(
        queries_df, as_name(query_id_col, "query_id_col", "id"), as_name(query_vector_col, "query_vector_col", "x")
    )
    keywords: Dict[str, Any] = dict(options)
    ids, queries = _collected(queries_df, query_id_col, query_vector_col, k)
    empty = np.empty((0, queries.shape[1]), dtype)
    partial_search(empty, queries[:1], k, first_id=0, **keywords)  # refuses
    own = ids if as_flag(exclude_self, "exclude_self") else None
    pieces = ranges(len(ids), max(PIECE_BYTES // (12 * k), 1))

    def lists_of_a_partition(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        found: Optional[PartialNeighbors] = None
        for number, table in enumerate(_blocks(batches) if pieces else ()):
            block_ids, points = sorted_block(table, id_col, vector_col)
            name = f"{partition}.{number}"
            found = partial_search(
                points, queries, k, ids=block_ids, self_ids=own, found=found, block_name=name, **keywords
            )
        if found is not None:
            for number, (start, end) in enumerate(pieces):
                part = pickle.dumps(_rows(found, start, end), pickle.HIGHEST_PROTOCOL)
                yield pa.RecordBatch.from_pydict({"piece": pa.array([number], pa.int32()), "part": [part]})

    def merged(table: Any) -> Any:
        number = table["piece"][0].as_py()
        start, end = pieces[number]
        found = merge((pickle.loads(part.as_py()) for part in table["part"]), k)
        query, place = np.nonzero(found.indices != -1)
        columns = ids[start:end][query], (place + 1).astype(np.int32), found.indices[query, place]
        return pa.table(
            [*map(pa.array, columns), pa.array(found.distances[query, place])], ["query_id", "rank", "id", "distance"]
        )

    partials = df.select(id_col, vector_col).mapInArrow(lists_of_a_partition, "piece int, part binary")
    return partials.groupBy("piece").applyInArrow(merged, f"query_id long, rank int, id long, distance {distance}")


def _types_of(df: Any, id_col: str, vector_col: str) -> Any:
    """(type of points, Spark's type of distances); what is not searched is refused before anything runs."""
    kinds = dict(df.dtypes)
    for name in (id_col, vector_col):
        if name not in kinds:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(kinds)}")
    if kinds[id_col] not in ("tinyint", "smallint", "int", "bigint"):
        raise TypeError(f"column {id_col!r} is of {kinds[id_col]}; ids are whole numbers, such as bigint")
    kind = kinds[vector_col]
    element = kind[len("array<") : -1] if kind.startswith("array<") else ""
    if element not in _POINTS:
        hint = "; pyspark.ml.functions.vector_to_array makes arrays of ML vectors" if kind == "vector" else ""
        raise TypeError(
            f"column {vector_col!r} is of {kind}; vectors are arrays of numbers, such as array<float>{hint}"
        )
    return _POINTS[element]


def _collected(df: Any, id_col: str, vector_col: str, k: int) -> Any:
    """(ids, queries) in ascending order of the ids."""
    chosen = df.select(id_col, vector_col)
    first = chosen.first()
    if first is None or first[1] is None:
        width = 0
    else:
        width = len(first[1])
    most = LARGEST_QUERIES // (8 * width + 12 * max(k, 1))
    table = chosen.limit(most + 1).toArrow()
    if table.num_rows > most:
        raise ValueError(
            f"there are more than {most} queries of {width} numbers with k = {k}; queries and their lists may take "
            f"{LARGEST_QUERIES} bytes in every task: search them in parts, such as those of queries_df.randomSplit()"
        )
    return sorted_block(table, id_col, vector_col)


def _blocks(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches of a partition, in tables that are worth a search."""
    import pyarrow as pa

    held: List[Any] = []
    size = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch)
        size += batch.nbytes
        if size >= BLOCK_BYTES:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _rows(found: PartialNeighbors, start: int, end: int) -> PartialNeighbors:
    """The lists of some of the queries. All pieces keep the fingerprint of all queries."""
    distances, indices = found.distances[start:end], found.indices[start:end]
    return PartialNeighbors(distances, indices, found.metric, found.backend, found.queries, found.blocks)
