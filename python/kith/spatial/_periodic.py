"""Searches in a periodic box, made of searches without one.

The distance of two points in a box is that of their nearest images: on each periodic axis the gap g of their
coordinates counts as min(g, size − g). The images of a query that can have a neighbor within a radius are those that
come so near to the bounds of the points: a query far from the walls has itself alone, near a wall another, in a corner
of three dimensions seven others. Each is searched as if there were no box; what they find is measured as above, sorted
by (distance, index), and each point kept once.

The k nearest are among the k nearest of each image, but for points that are as far, up to rounding, as the last: so
k + 1 are searched, and where the last of an image is as near as the k-th of all, a radius search settles who is nearer.

Cost: a search of k + 1 for each query and for each of its images, which on average are few; NumPy sorts what queries
near walls find. A query with more than 64 images, whose ball is about as large as the box, is measured against all
points instead, in NumPy.
"""

from __future__ import annotations

from typing import Callable, List, Tuple

import numpy as np

from .._index import Index
from .._neighbors import Neighbors, RadiusNeighbors
from ._blocks import blocks

_MOST_IMAGES = 64  # all of them, in up to six dimensions
_LANES = 8  # kith adds coordinate c to lane c % 8
_SLACK = 1e-12  # shifted coordinates are rounded, and so are the distances of two ways to compute them

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
        self._add: Callable[..., np.ndarray] = np.maximum if p == np.inf else np.add

    def search(self, queries: np.ndarray, k: int) -> Neighbors:
        x, shown = wrapped(queries, self._box), min(k + 1, len(self._points))
        distances, indices = self._index.search(x, shown)
        limits = distances[:, k - 1] * (1 + _SLACK)
        owner, _, open_rows = self._shifted(x, limits)
        at_wall = np.unique(owner)
        for block in blocks(len(at_wall), _MOST_IMAGES * shown):
            rows = at_wall[block]
            found, unclear = self._nearest_of_images(x[rows], limits[rows], indices[rows], distances[rows, -1], k)
            distances[rows, :k], indices[rows, :k] = found
            open_rows[rows] = unclear
        rest = np.flatnonzero(open_rows)
        if rest.size:
            found = _first(self.search_radius(x[rest], limits[rest]), k)
            distances[rest, :k], indices[rest, :k] = found
        return Neighbors(distances[:, :k], indices[:, :k])

    def search_radius(self, queries: np.ndarray, radius: np.ndarray, *, count_only: bool = False) -> RadiusNeighbors:
        x = wrapped(queries, self._box)
        radii = np.broadcast_to(radius, len(x))
        owner, _, crowded = self._shifted(x, radii)
        at_wall = np.unique(owner)
        alone = ~crowded
        alone[at_wall] = False
        parts = []
        for rows, search in (
            (at_wall, self._within_of_images),
            (np.flatnonzero(crowded), self._within_of_all_points),
        ):
            for block in blocks(len(rows), len(self._points)):
                parts.append((rows[block], search(x[rows[block]], radii[rows[block]])))
        if alone.any():
            found = self._index.search_radius(x[alone], radii[alone], count_only=count_only)
            parts.append((np.flatnonzero(alone), found))
        return _joined(parts, len(x), count_only)

    def _shifted(self, x: np.ndarray, radii: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The images of queries, but for themselves, that can have neighbors within the radii, and whose they are.

        Then which queries have too many, and so none of them here.
        """
        count, limits = len(x), self._powers(self._reach(radii))
        owner, images, gaps = np.arange(count), x, np.zeros(count)
        crowded = np.zeros(count, bool)
        for axis in self._axes:
            size, at, limit = self._box[axis], images[:, axis], limits[owner]
            # An image above the box is beyond the largest coordinate, one below before the smallest.
            above, below = at + size - self._maxes[axis], self._mins[axis] + size - at
            for shift, gap in ((size, above), (-size, below)):
                total = self._add(gaps[: len(gap)], self._powers(gap))
                # Across more than half the box, the point itself is nearer.
                reaching = np.flatnonzero((total <= limit) & (gap <= size * (0.5 + _SLACK)))
                if reaching.size:
                    moved = images[reaching]
                    moved[:, axis] += shift
                    images = np.concatenate((images, moved))
                    owner = np.concatenate((owner, owner[reaching]))
                    gaps = np.concatenate((gaps, total[reaching]))
            if len(owner) > count + _MOST_IMAGES - 1:
                crowded |= np.bincount(owner) > _MOST_IMAGES
                few = ~crowded[owner]
                few[:count] = True
                owner, images, gaps = owner[few], images[few], gaps[few]
        return owner[count:], images[count:], crowded

    def _reach(self, radii: np.ndarray) -> np.ndarray:
        """How far images must search so that rounding hides none of the neighbors."""
        return radii + _SLACK * (radii + self._box[self._axes].sum())

    def _nearest_of_images(
        self, x: np.ndarray, limits: np.ndarray, indices: np.ndarray, last: np.ndarray, k: int
    ) -> Tuple[Neighbors, np.ndarray]:
        """The k nearest, of which the queries themselves found some; and whether equal distances leave that unclear."""
        shown = indices.shape[1]
        owner, images, _ = self._shifted(x, limits)
        found = self._index.search(images, shown)
        owners = np.repeat(np.concatenate((np.arange(len(x)), owner)), shown)
        near = self._measured(x, limits, owners, np.concatenate((indices.ravel(), found.indices.ravel())))
        nearest = _first(near, k)
        # What an image did not show is no nearer than the last that it did.
        last = last.copy()
        np.minimum.at(last, owner, found.distances[:, -1])
        return nearest, (last <= self._reach(nearest.distances[:, -1])) & (shown < len(self._points))

    def _within_of_images(self, x: np.ndarray, radii: np.ndarray) -> RadiusNeighbors:
        owner, images, _ = self._shifted(x, radii)
        owner, images = np.concatenate((np.arange(len(x)), owner)), np.concatenate((x, images))
        found = self._index.search_radius(images, self._reach(radii)[owner])
        return self._measured(x, radii, np.repeat(owner, found.counts), found.indices)

    def _within_of_all_points(self, x: np.ndarray, radii: np.ndarray) -> RadiusNeighbors:
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
        """Of the nearest images; where those are the points themselves, kith's bit for bit with p = 1, 2 or infinity."""
        lanes = [np.zeros(1)] * _LANES
        for axis, size in enumerate(self._box):
            gap = np.abs(x[owner, axis] - self._points[indices, axis])
            if size > 0:
                gap = np.minimum(gap, size - gap)
            lanes[axis % _LANES] = self._add(lanes[axis % _LANES], self._powers(gap))
        for half in (4, 2, 1):  # kith's tree of additions
            lanes = [self._add(lanes[i], lanes[i + half]) for i in range(half)]
        total, p = lanes[0], self._p
        return total if p in (1, np.inf) else np.sqrt(total) if p == 2 else total ** (1 / p)

    def _powers(self, gaps: np.ndarray) -> np.ndarray:
        """What gaps add to a distance before its root."""
        return gaps if self._p in (1, np.inf) else gaps * gaps if self._p == 2 else gaps**self._p


def _first(found: RadiusNeighbors, k: int) -> Neighbors:
    """The k nearest of each query, all of which have as many."""
    nearest = found.offsets[:-1, None] + np.arange(k)
    return Neighbors(found.distances[nearest], found.indices[nearest])


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
