"""Searches in a periodic box, made of searches without one.

The distance of two points in a box is that of their nearest images: on each periodic axis the gap g of their coordinates
counts as min(g, size − g). The images of a query that can have a neighbor within a radius are those that reach the
points' bounds, so a query far from the walls has one, near a wall two, in a corner of three dimensions eight. All of them
are searched for their balls; what they find is measured as above, sorted by (distance, index), and each point kept once.
The k nearest are within the k-th distance that a search without the box finds, which gives that radius.

Cost: a search for each query, and a radius search of its images for those near a wall. A query with more than 16 images,
whose ball is about as large as the box, is measured against all points instead, in NumPy.
"""

from __future__ import annotations

from functools import reduce
from typing import List, Tuple

import numpy as np

from .._index import Index
from .._neighbors import Neighbors, RadiusNeighbors
from ._blocks import blocks

_MOST_IMAGES = 16
_LANES = 8  # kith adds coordinate c to lane c % 8
_SLACK = 1e-12  # shifted coordinates are rounded, and measured distances in another order than shifted ones

Part = Tuple[np.ndarray, RadiusNeighbors]  # some of the queries, and their neighbors


def wrapped(points: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Points moved into the box by whole sizes; axes whose size is not positive are left alone."""
    axes = np.flatnonzero(box > 0)
    size, inside = box[axes], points.copy()
    moved = points[:, axes] - np.floor(points[:, axes] / size) * size
    moved -= np.where(moved >= size, size, 0)
    inside[:, axes] = moved + np.where(moved < 0, size, 0)
    return inside


class PeriodicIndex:
    """Has the two searches of :class:`kith.Index` that trees need. ``index`` is of ``points``, which lie in the box."""

    def __init__(self, index: Index, points: np.ndarray, box: np.ndarray, p: float) -> None:
        self._index, self._points, self._p = index, points, p
        self._box, self._axes = box, np.flatnonzero(box > 0)
        self._mins, self._maxes = points.min(0), points.max(0)

    def search(self, queries: np.ndarray, k: int) -> Neighbors:
        x = wrapped(queries, self._box)
        distances, indices = self._index.search(x, k)
        limits = distances[:, -1] * (1 + _SLACK)
        at_wall = np.flatnonzero(self._count_images(x, limits) > 1)
        if at_wall.size:
            found = self.search_radius(x[at_wall], limits[at_wall])
            nearest = found.offsets[:-1, None] + np.arange(k)
            distances[at_wall], indices[at_wall] = found.distances[nearest], found.indices[nearest]
        return Neighbors(distances, indices)

    def search_radius(self, queries: np.ndarray, radius: np.ndarray, *, count_only: bool = False) -> RadiusNeighbors:
        x = wrapped(queries, self._box)
        radii = np.broadcast_to(radius, len(x))
        images = self._count_images(x, radii)
        alone = np.flatnonzero(images == 1)
        parts = [(alone, self._index.search_radius(x[alone], radii[alone], count_only=count_only))]
        for few, search in ((True, self._by_images), (False, self._by_all_points)):
            several = np.flatnonzero((images > 1) & ((images <= _MOST_IMAGES) == few))
            for block in blocks(len(several), len(self._points)):
                rows = several[block]
                parts.append((rows, search(x[rows], radii[rows])))
        return _joined(parts, len(x), count_only)

    def _reach(self, radii: np.ndarray) -> np.ndarray:
        """What a shifted query must search so that rounding hides none of its neighbors."""
        return radii + _SLACK * (radii + self._box[self._axes].sum())

    def _count_images(self, x: np.ndarray, radii: np.ndarray) -> np.ndarray:
        reach, count = self._reach(radii), np.ones(len(x), np.int64)
        for axis in self._axes:
            above, below = self._reaching(x, reach, axis)
            count *= 1 + above.astype(np.int64) + below
        return count

    def _reaching(self, x: np.ndarray, reach: np.ndarray, axis: int) -> Tuple[np.ndarray, np.ndarray]:
        """Whether the images one size above, and one below, come as near to the points' bounds as they must."""
        size = self._box[axis]
        return x[:, axis] + size - self._maxes[axis] <= reach, self._mins[axis] + size - x[:, axis] <= reach

    def _by_images(self, x: np.ndarray, radii: np.ndarray) -> RadiusNeighbors:
        reach, images, owner = self._reach(radii), x, np.arange(len(x))
        for axis in self._axes:
            shift = np.zeros(len(self._box))
            shift[axis] = self._box[axis]
            above, below = self._reaching(images, reach[owner], axis)
            images = np.concatenate((images, images[above] + shift, images[below] - shift))
            owner = np.concatenate((owner, owner[above], owner[below]))
        found = self._index.search_radius(images, reach[owner])
        return self._measured(x, radii, np.repeat(owner, found.counts), found.indices)

    def _by_all_points(self, x: np.ndarray, radii: np.ndarray) -> RadiusNeighbors:
        points = np.arange(len(self._points))
        return self._measured(x, radii, np.repeat(np.arange(len(x)), len(points)), np.tile(points, len(x)))

    def _measured(self, x: np.ndarray, radii: np.ndarray, owner: np.ndarray, indices: np.ndarray) -> RadiusNeighbors:
        """Of pairs of a query and a point, some of them perhaps several times, those that are neighbors."""
        distances = self._distances(x, owner, indices)
        near = distances <= radii[owner]
        owner, indices, distances = owner[near], indices[near], distances[near]
        order = np.lexsort((indices, distances, owner))
        owner, indices, distances = owner[order], indices[order], distances[order]
        # The same pair has the same distance, so it follows itself.
        first = np.ones(len(owner), bool)
        first[1:] = (owner[1:] != owner[:-1]) | (indices[1:] != indices[:-1])
        counts = np.bincount(owner[first], minlength=len(x))
        return RadiusNeighbors(distances[first], indices[first], _offsets(counts))

    def _distances(self, x: np.ndarray, owner: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Of the nearest images; where they are the points themselves, kith's to the last bit, or nearly with another p."""
        p, lanes = self._p, [np.zeros(1)] * _LANES
        for axis, size in enumerate(self._box):
            gap = np.abs(x[owner, axis] - self._points[indices, axis])
            if size > 0:
                gap = np.minimum(gap, size - gap)
            lane = lanes[axis % _LANES]
            if p == np.inf:
                lane = np.maximum(lane, gap)
            else:
                lane = lane + (gap if p == 1 else gap * gap if p == 2 else gap**p)
            lanes[axis % _LANES] = lane
        if p == np.inf:
            return reduce(np.maximum, lanes)
        a, b, c, d, e, f, g, h = lanes
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        return total if p == 1 else np.sqrt(total) if p == 2 else total ** (1 / p)


def _joined(parts: List[Part], queries: int, count_only: bool) -> RadiusNeighbors:
    """The neighbors of all queries, which the parts have between them."""
    counts = np.zeros(queries, np.int64)
    for rows, found in parts:
        counts[rows] = found.counts
    offsets = _offsets(counts)
    if count_only:
        return RadiusNeighbors(np.empty(0), np.empty(0, np.int64), offsets)
    distances, indices = np.empty(offsets[-1]), np.empty(offsets[-1], np.int64)
    for rows, found in parts:
        where = np.repeat(offsets[rows] - found.offsets[:-1], found.counts) + np.arange(len(found.indices))
        distances[where], indices[where] = found.distances, found.indices
    return RadiusNeighbors(distances, indices, offsets)


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
