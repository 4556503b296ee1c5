"""Searches of bases that Dask holds or reads: the neighbors of :func:`kith.search`, bit for bit.

A base is a dask array with points as rows, a Parquet or Zarr source, or a small array. Each of its blocks (a chunk of
rows) is searched by a task of its own, for a group of queries at a time, and lists are merged as a tree. Tasks depend
on nothing but what they read, so that a lost worker costs the time to search its blocks again and nothing else, and the
answer depends neither on the chunks nor on which worker did what.

Nothing is computed before an answer is asked for, but the number of rows where chunk sizes are unknown: indices are the
numbers of the base's rows.

>>> import dask, dask.array as da, kith.dask
>>> base = da.random.default_rng(0).random((10_000, 16), chunks=(2_500, 16))
>>> distances, indices = kith.dask.search(base, base[:4], k=1)
>>> indices.compute().ravel().tolist()
[0, 1, 2, 3]
"""

from importlib.util import find_spec as _find_spec

if _find_spec("dask") is None:
    raise ImportError("kith.dask needs Dask, which is not installed; pip install 'dask[array]'")

from ._estimators import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ._search import graph, search, search_radius
from ._sources import read_parquet

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "graph",
    "read_parquet",
    "search",
    "search_radius",
]
