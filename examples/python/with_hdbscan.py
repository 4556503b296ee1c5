"""HDBSCAN from a sparse matrix of neighbors' distances instead of all distances.

prints:
3 clusters and 10 points of noise
as with all distances: True
"""

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import kith

blobs, _ = make_blobs(n_samples=900, n_features=3, centers=3, cluster_std=0.8, random_state=4)
points = np.concatenate([blobs, np.random.default_rng(0).uniform(-60, 60, (10, 3))])

# Enough neighbors that the graph holds together; the diagonal, which is 0, is not stored.
graph = kith.graph(points, k=400, symmetrize="union")
labels = HDBSCAN(metric="precomputed", min_cluster_size=20, min_samples=5, copy=True).fit_predict(graph)
print(f"{labels.max() + 1} clusters and {(labels < 0).sum()} points of noise")

whole = HDBSCAN(min_cluster_size=20, min_samples=5, copy=True).fit_predict(points)
print(f"as with all distances: {adjusted_rand_score(whole, labels) > 0.99}")
