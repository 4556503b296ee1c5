"""Neighbors within each of many small point clouds, in one call: packed ones and padded ones.

prints:
112369 points in 1000 clouds, 8 neighbors each
neighbors of other clouds: 0
edges: 898952
nearest to the centers of the first clouds: [122, 103, 51, 56, 57]
"""

import numpy as np

import kith

rng = np.random.default_rng(0)
lengths = rng.integers(20, 200, 1000)  # points of each of a thousand clouds
points = rng.random((lengths.sum(), 3), dtype=np.float32)

# Packed: clouds after each other, as PyTorch Geometric has them; indices are rows of all points.
distances, indices = kith.search_batches(points, None, k=8, lengths=lengths)
batch = np.repeat(np.arange(len(lengths)), lengths)
print(f"{len(points)} points in {len(lengths)} clouds, {indices.shape[1]} neighbors each")
print(f"neighbors of other clouds: {(batch[indices] != batch[:, None]).sum()}")

# Edges as torch_cluster.knn_graph() lists them: from neighbor to point.
edges = np.stack([indices.ravel(), np.repeat(np.arange(len(points)), 8)])
print(f"edges: {edges.shape[1]}")

# Padded: clouds × rows × 3, as PyTorch3D has them; indices count within the cloud, and padding has none.
padded = np.zeros((len(lengths), lengths.max(), 3), np.float32)
padded[np.arange(lengths.max()) < lengths[:, None]] = points
centers = padded.sum(axis=1, keepdims=True) / lengths[:, None, None]
nearest = kith.search_batches(padded, centers, k=1, lengths=lengths)
print(f"nearest to the centers of the first clouds: {nearest.indices[:5, 0, 0].tolist()}")
