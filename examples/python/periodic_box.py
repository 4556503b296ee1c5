"""SciPy's k-d tree with kith's search, in a box whose opposite walls are one: how much points crowd together.

prints:
across the walls: 92 of the first point's 100 nearest
pairs of clustered points, and how many times as many as of uniform ones:
  0.00 to 0.02:  11754, 41.1
  0.02 to 0.05:  81364, 18.9
  0.05 to 0.10:  84964, 2.6
  0.10 to 0.20: 278164, 1.1
"""

import numpy as np

from kith.spatial import KDTree  # from scipy.spatial import KDTree

rng = np.random.default_rng(0)
centers = rng.random((60, 3))
centers[0] = 0  # a cluster in a corner is in all eight of them
points = (np.repeat(centers, 50, axis=0) + 0.02 * rng.standard_normal((3000, 3))) % 1.0
clusters, uniform = KDTree(points, boxsize=1.0), KDTree(rng.random((3000, 3)), boxsize=1.0)

_, nearest = clusters.query(points[0], k=100)
far = (np.abs(points[nearest] - points[0]) > 0.5).any(axis=1)
print(f"across the walls: {far.sum()} of the first point's 100 nearest")

# A point is no pair with itself, so the first bin, of distance 0, is left out.
edges = np.array([0.0, 0.02, 0.05, 0.1, 0.2])
clustered = clusters.count_neighbors(clusters, edges, cumulative=False)[1:]
expected = uniform.count_neighbors(uniform, edges, cumulative=False)[1:]
print("pairs of clustered points, and how many times as many as of uniform ones:")
for begin, end, count, ratio in zip(edges[:-1], edges[1:], clustered, clustered / expected):
    print(f"  {begin:.2f} to {end:.2f}: {count:6}, {ratio:.1f}")
