"""Exact k-nearest-neighbor search, on the CPU and on CUDA devices.

>>> import numpy as np, kith
>>> points = np.random.default_rng(0).random((1000, 8), dtype=np.float32)
>>> distances, indices = kith.search(points, points[:2], k=3)
>>> indices[:, 0].tolist()
[0, 1]

Searches release the GIL, may run in several threads at once, and stop at Ctrl-C; a forked process searches as its
parent does. Without a number of threads a search takes as many as its work is worth, at most the least of CPU affinity,
CPU quota of the container, KITH_NUM_THREADS, and OMP_NUM_THREADS or threadpoolctl: :func:`show_versions` tells.

Arrays may come from NumPy, PyTorch, CuPy, JAX, or anything with DLPack or ``__cuda_array_interface__``; the answer comes
back in the library, and on the device, of the queries.
"""

from ._batches import search_batches
from ._bits import BitIndex, search_bits
from ._collection import Collection, collection_info
from ._files import read, read_all, write
from ._graph import graph
from ._index import Index
from ._kith import BitPlan, BitReport, PivotReport, Plan, Report
from ._metrics import CustomIndex, Expression, c_metric
from ._neighbors import Graph, Neighbors, RadiusNeighbors, TopK
from ._pivots import PivotIndex
from ._radius import search_radius
from ._reduce import normals, reduce
from ._search import distances, explain, search
from ._shards import PartialNeighbors, PartialRadiusNeighbors, merge, partial_search, partial_search_radius
from ._topk import topk
from ._versions import __version__, known_devices, show_versions, versions

__all__ = [
    "BitIndex",
    "BitPlan",
    "BitReport",
    "Collection",
    "CustomIndex",
    "Expression",
    "Graph",
    "Index",
    "Neighbors",
    "PartialNeighbors",
    "PartialRadiusNeighbors",
    "PivotIndex",
    "PivotReport",
    "Plan",
    "RadiusNeighbors",
    "Report",
    "TopK",
    "__version__",
    "c_metric",
    "collection_info",
    "distances",
    "explain",
    "graph",
    "known_devices",
    "merge",
    "normals",
    "partial_search",
    "partial_search_radius",
    "read",
    "read_all",
    "reduce",
    "search",
    "search_batches",
    "search_bits",
    "search_radius",
    "show_versions",
    "topk",
    "versions",
    "write",
]
