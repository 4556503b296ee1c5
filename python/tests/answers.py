"""Answers to compare: their bits, and points with many ties."""

import hashlib

import numpy as np


def sha1(distances, indices):
    """Of the bits of both, types and shapes included."""
    digest = hashlib.sha1()
    for array in (distances, indices):
        array = np.ascontiguousarray(array)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def tied_points(rng, rows, dims, dtype=np.float32):
    """Points of few coordinates, so that many distances are equal and many points are there twice."""
    return rng.integers(1, 4, (rows, dims)).astype(dtype)


def cuts(rng, rows, blocks):
    """Where uneven blocks begin and end; some are empty."""
    inner = np.sort(rng.integers(0, rows + 1, blocks - 1))
    edges = [0, *inner.tolist(), rows]
    return list(zip(edges[:-1], edges[1:]))


def parquet_set(folder):
    """Four files of 3,000 points that all engines search, with ids that are their row numbers; (points, queries)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    base = tied_points(np.random.default_rng(21), 3000, 8)
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.split(np.arange(3000), [100, 1500, 1501])):
        kind = pa.list_(pa.float32())
        table = pa.table({"id": pa.array(rows), "embedding": pa.array(list(base[rows]), kind)})
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=333)
    return base, base[::300]
