"""Lists, pairs, counts and matrices, made of radius searches."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from .._neighbors import RadiusNeighbors
from ._blocks import blocks
from ._searches import Searcher, within

ENTRIES = np.dtype([("i", np.intp), ("j", np.intp), ("v", np.float64)], align=True)

_FEW_RADII = 4  # counted one by one, without a list of pairs

Weights = Optional[np.ndarray]


def rows_of(found: RadiusNeighbors) -> np.ndarray:
    """The query of each neighbor."""
    return np.repeat(np.arange(len(found.offsets) - 1), found.counts)


def by_index(found: RadiusNeighbors, points: int) -> np.ndarray:
    """The indices, each query's in ascending order."""
    before = rows_of(found) * points
    return np.sort(before + found.indices) - before


def as_lists(indices: np.ndarray, offsets: np.ndarray) -> List[List[int]]:
    """A list for each query."""
    numbers, bounds = indices.tolist(), offsets.tolist()
    return [numbers[begin:end] for begin, end in zip(bounds, bounds[1:])]


def unique_pairs(found: RadiusNeighbors) -> np.ndarray:
    """Of the neighbors of the points among themselves, each pair (i, j) with i < j."""
    rows = rows_of(found)
    once = rows < found.indices
    return np.column_stack((rows[once], found.indices[once]))


def as_entries(found: RadiusNeighbors) -> np.ndarray:
    """Records of a query i, a point j and their distance v."""
    entries = np.empty(len(found.indices), ENTRIES)
    entries["i"], entries["j"], entries["v"] = rows_of(found), found.indices, found.distances
    return entries


def as_matrix(entries: np.ndarray, shape: Tuple[int, int], kind: str) -> Any:
    """A sparse matrix of SciPy, or where it has them a sparse array: coo_matrix, dok_matrix, coo_array or dok_array."""
    from scipy import sparse

    container = sparse.coo_array if kind.endswith("array") else sparse.coo_matrix
    matrix = container((entries["v"], (entries["i"], entries["j"])), shape=shape)
    return matrix.todok() if kind.startswith("dok") else matrix


def count_pairs(index: Searcher, queries: np.ndarray, points: int, radii: np.ndarray) -> np.ndarray:
    """How many pairs have distances up to the first radius, from there up to the second, and so on."""
    if len(radii) > _FEW_RADII:
        return weigh_pairs(index, queries, points, radii, None, None).astype(np.intp)
    counts = [within(index, queries, radius, count_only=True).offsets[-1] for radius in radii]
    return np.diff(np.array(counts, np.intp), prepend=0)


def weigh_pairs(
    index: Searcher, queries: np.ndarray, points: int, radii: np.ndarray, query_weights: Weights, weights: Weights
) -> np.ndarray:
    """The same, where each pair counts as the product of its weights, which are 1 for None."""
    sums = np.zeros(len(radii))
    if len(radii) == 0:
        return sums
    for rows in blocks(len(queries), points):
        found = within(index, queries[rows], radii[-1])
        products = np.ones(len(found.indices)) if weights is None else weights[found.indices]
        if query_weights is not None:
            products = products * np.repeat(query_weights[rows], found.counts)
        sums += np.bincount(np.searchsorted(radii, found.distances), products, len(radii))
    return sums
