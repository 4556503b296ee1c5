"""A k-NN graph as scipy's compressed sparse rows, ready for spectral methods and scipy.sparse.csgraph.

prints:
3000 points, 69642 edges, 5 parts of [600, 600, 600, 600, 600] points
the first edges: [(0, 16), (0, 95), (0, 106)]
10 equal points have 20 edges of length 0, of which nonzero() tells none
"""

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs

import kith

points, _ = make_blobs(n_samples=3000, n_features=16, centers=5, cluster_std=1.0, random_state=0)

# An edge wherever one point is among the 15 nearest of the other; the weights are distances.
graph = kith.graph(points, k=15, symmetrize="union")
count, member = connected_components(graph, directed=False)
print(f"{graph.shape[0]} points, {graph.nnz} edges, {count} parts of {np.bincount(member).tolist()} points")

# A symmetric graph has each edge twice. The edges themselves are in indptr and indices:
sources = np.repeat(np.arange(len(points)), np.diff(graph.indptr))
targets = graph.indices
print(f"the first edges: {list(zip(sources[:3].tolist(), targets[:3].tolist()))}")

# scipy's nonzero() leaves out edges between equal points, whose length is 0; mode="connectivity" stores ones instead.
equal = kith.graph(np.zeros((10, 2)), k=2)
print(
    f"10 equal points have {equal.nnz} edges of length 0, of which nonzero() tells {len(equal.nonzero()[0]) or 'none'}"
)
