"""openTSNE's affinities over exact neighbors; here, as for most methods, a point is not its own neighbor.

prints:
affinities like those of openTSNE's exact search: True
an embedding of (600, 2)
"""

import numpy as np
from openTSNE import TSNE
from openTSNE.affinity import PerplexityBasedNN
from openTSNE.nearest_neighbors import PrecomputedNeighbors
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import kith

points = PCA(20, random_state=0).fit_transform(load_digits().data[:600]).astype(np.float32)
perplexity = 20

distances, indices = kith.Index(points).search_self(3 * perplexity)
affinities = PerplexityBasedNN(perplexity=perplexity, knn_index=PrecomputedNeighbors(indices, distances))

own = PerplexityBasedNN(points, perplexity=perplexity, method="exact")
print(f"affinities like those of openTSNE's exact search: {bool(abs(affinities.P - own.P).max() < 1e-6)}")

start = np.random.default_rng(0).normal(scale=1e-4, size=(len(points), 2))
embedding = TSNE(early_exaggeration_iter=20, n_iter=20).fit(affinities=affinities, initialization=start)
print(f"an embedding of {embedding.shape}")
