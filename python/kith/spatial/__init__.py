"""SciPy's k-d trees, searched by kith: change the import and nothing else.

``KDTree`` and ``cKDTree`` have the interface and the rules of :mod:`scipy.spatial`: shapes, ranks, missing neighbors as
(infinity, n), periodic boxes. What is searched is a :class:`kith.Index` of the points in float64, made for each p when
it is first asked for, and kept. So answers are the same whatever ``leafsize``, ``compact_nodes`` and ``balanced_tree``
say, and exact but for ``query`` with ``eps``; neighbors at equal distances come by the lower index; lists that are not
sorted are nearest first.

``workers`` is the number of CPU threads, no more than there are; with -1, as many as the work is worth. Methods without
it take those, too. A point is within r if its distance, rounded to float64, is at most r; no point is within a negative
radius. With ``eps`` > 0, points that only rounding keeps out of a ball are in it.

``tree``, ``size`` and ``indices``, which tell how SciPy splits the points, are those of a tree that SciPy builds when
they are asked for; matrices are SciPy's. Nothing else needs SciPy.

>>> import numpy as np
>>> from kith.spatial import KDTree
>>> tree = KDTree([[0, 0], [3, 4], [6, 8]])
>>> distances, indices = tree.query([[0, 1], [6, 7]], k=2)
>>> indices.tolist()
[[0, 1], [2, 1]]
>>> tree.query_ball_point([3, 3], r=1)
[1]
"""

from ._tree import KDTree, cKDTree

__all__ = ["KDTree", "cKDTree"]
