"""Exact k-nearest-neighbor search, on the CPU and on CUDA devices.

>>> import numpy as np, kith
>>> points = np.random.default_rng(0).random((1000, 8), dtype=np.float32)
>>> distances, indices = kith.search(points, points[:2], k=3)
>>> indices[:, 0].tolist()
[0, 1]

Searches release the GIL, may run in several threads at once, and stop at Ctrl-C. A forked process searches with one
thread, since the threads of its parent are not there; processes started by 'spawn' or 'forkserver' have all of them.

Arrays may come from NumPy, PyTorch, CuPy, JAX, or anything with DLPack or ``__cuda_array_interface__``; the answer comes
back in the library, and on the device, of the queries.
"""

from ._files import read, read_all, write
from ._graph import graph
from ._index import Index
from ._kith import Plan, Report
from ._neighbors import Graph, Neighbors, RadiusNeighbors, TopK
from ._radius import search_radius
from ._reduce import normals, reduce
from ._search import distances, explain, search
from ._topk import topk
from ._versions import __version__, show_versions, versions

__all__ = [
    "Graph",
    "Index",
    "Neighbors",
    "Plan",
    "RadiusNeighbors",
    "Report",
    "TopK",
    "__version__",
    "distances",
    "explain",
    "graph",
    "normals",
    "read",
    "read_all",
    "reduce",
    "search",
    "search_radius",
    "show_versions",
    "topk",
    "versions",
    "write",
]
