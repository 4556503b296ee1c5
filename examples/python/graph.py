"""A k-NN graph as scipy's compressed sparse rows, ready for UMAP, Leiden or spectral methods.

prints:
3000 points, 69642 edges, 5 parts of [600, 600, 600, 600, 600] points
each point has 15 neighbors; the median distance to the first is 3.012
the first edges: [(0, 16), (0, 95), (0, 106)]
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

# UMAP takes the neighbors themselves: umap.UMAP(precomputed_knn=(indices, distances)).
distances, indices = kith.Index(points).search_self(15)
print(
    f"each point has {indices.shape[1]} neighbors; the median distance to the first is {np.median(distances[:, 0]):.3f}"
)

# Leiden takes the edges: igraph.Graph(zip(*graph.nonzero())).
sources, targets = graph.nonzero()
print(f"the first edges: {list(zip(sources[:3].tolist(), targets[:3].tolist()))}")
