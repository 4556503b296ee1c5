"""PyTorch: tensors in, tensors out, on the device on which they lie.

prints:
indices are a tensor of torch.int64 where the queries lie: True
each of 1000 points has itself as its nearest: True
a sparse graph of (1000, 1000)
"""

import torch

import kith

device = "cuda" if torch.cuda.is_available() else "cpu"
points = torch.randn(1000, 32, generator=torch.Generator().manual_seed(0)).to(device)

distances, indices = kith.search(points, points, k=5)
print(f"indices are a tensor of {indices.dtype} where the queries lie: {indices.device == points.device}")
nearest_is_itself = indices[:, 0] == torch.arange(1000, device=device)
print(f"each of 1000 points has itself as its nearest: {bool(nearest_is_itself.all())}")

graph = kith.graph(points, k=5)  # on a device a sparse tensor of PyTorch, else a matrix of scipy
print(f"a sparse graph of {tuple(graph.shape)}")
