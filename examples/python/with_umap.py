"""UMAP of handwritten digits over exact neighbors.

UMAP expects each point as its own first neighbor, so search() among the points themselves is right, search_self() not.

prints:
UMAP's own neighbors and kith's make the same graph: True
a map of (600, 2)
"""

import warnings

import numpy as np
import umap
from sklearn.datasets import load_digits

import kith

warnings.filterwarnings("ignore")  # umap: of one thread because of random_state, of no transform for new points
points = load_digits().data[:600].astype(np.float32)

distances, indices = kith.search(points, points, k=15)
settings = {"n_neighbors": 15, "random_state": 0, "n_epochs": 20, "init": "random"}
mapped = umap.UMAP(precomputed_knn=(indices, distances), **settings).fit(points)

own = umap.UMAP(**settings).fit(points)
print(f"UMAP's own neighbors and kith's make the same graph: {bool(abs(mapped.graph_ - own.graph_).max() < 1e-4)}")
print(f"a map of {mapped.embedding_.shape}")
