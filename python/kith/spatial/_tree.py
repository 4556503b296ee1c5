"""The trees."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Sequence, Set, Tuple, Union

import numpy as np
import numpy.typing as npt

from .._neighbors import RadiusNeighbors
from .._types import SparseMatrix, overload
from ._arguments import as_box, as_norm, as_number, as_queries, as_radii, as_ranks, as_real, as_threads
from ._nodes import HasNodes, NodeClass
from ._pairs import as_entries, as_lists, as_matrix, by_index, count_pairs, unique_pairs, weigh_pairs
from ._searches import Searcher, index_of, within

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
MatrixName = Literal["dok_matrix", "coo_matrix", "dok_array", "coo_array"]
_MOST_EPSILON = 1e300  # of which kith takes finite ones
_MATRICES = ("dok_matrix", "coo_matrix", "dok_array", "coo_array")


class cKDTree(HasNodes):
    """As :class:`scipy.spatial.cKDTree`; see :mod:`kith.spatial` for what is different.

    ``leafsize``, ``compact_nodes`` and ``balanced_tree`` change no answer and no time. ``data`` is not copied where it
    is packed float64, unless ``copy_data``; it must not change while the tree is used.

    In a periodic box, ``boxsize`` for each axis or for all, 0 for an axis that is open, distances are those of the
    nearest images (``period`` of :func:`kith.search`).

    >>> from kith.spatial import cKDTree
    >>> cKDTree([[0.0], [4.0], [9.0]], boxsize=10).query([9.6], k=3)
    (array([0.4, 0.6, 4.4]), array([0, 2, 1]))
    """

    def __init__(
        self,
        data: npt.ArrayLike,
        leafsize: int = 16,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: Optional[npt.ArrayLike] = None,
    ) -> None:
        points = as_real(data, bool(copy_data))
        if points.ndim != 2:
            raise ValueError("data must be of shape (n, m), where there are n points of dimension m")
        if points.shape[1] == 0:
            raise ValueError("data has points of no dimensions; at least one is needed")
        if not np.isfinite(points).all():
            raise ValueError("data must be finite, check for nan or inf values")
        if leafsize < 1:
            raise ValueError(f"leafsize = {leafsize}; it must be at least 1")
        self._data, self._leafsize = points, int(leafsize)
        self._compact_nodes, self._balanced_tree = bool(compact_nodes), bool(balanced_tree)
        self._boxsize = None if boxsize is None else as_box(boxsize, points.shape[1])
        if self._boxsize is not None:
            self._check_box(self._boxsize)
        self._mins = points.min(axis=0) if len(points) else np.zeros(points.shape[1])
        self._maxes = points.max(axis=0) if len(points) else np.zeros(points.shape[1])
        self._searchers: Dict[Tuple[float, Optional[int], Optional[Tuple[float, ...]]], Searcher] = {}

    def _check_box(self, box: np.ndarray) -> None:
        periodic = box > 0
        if (self._data >= box)[:, periodic].any():
            raise ValueError("Some input data are greater than the size of the periodic box.")
        if (self._data < 0)[:, periodic].any():
            raise ValueError("Negative input data are outside of the periodic box.")

    @property
    def data(self) -> Floats:
        """The points, n × m."""
        return self._data

    @property
    def n(self) -> int:
        """The number of points."""
        return self._data.shape[0]

    @property
    def m(self) -> int:
        """The number of dimensions."""
        return self._data.shape[1]

    @property
    def maxes(self) -> Floats:
        """The largest coordinate in each dimension."""
        return self._maxes

    @property
    def mins(self) -> Floats:
        """The smallest coordinate in each dimension."""
        return self._mins

    @property
    def leafsize(self) -> int:
        """As it was given."""
        return self._leafsize

    @property
    def boxsize(self) -> Optional[Floats]:
        """The size of the periodic box in each dimension, or None."""
        return self._boxsize

    @overload
    def query(
        self,
        x: npt.ArrayLike,
        k: Union[Sequence[int], npt.NDArray[np.integer[Any]]],
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: Optional[int] = 1,
    ) -> Tuple[Floats, Integers]: ...
    @overload
    def query(
        self,
        x: npt.ArrayLike,
        k: int = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: Optional[int] = 1,
    ) -> Tuple[Any, Any]: ...
    def query(
        self,
        x: Any,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: Optional[int] = 1,
    ) -> Tuple[Any, Any]:
        """The k nearest points of each of x, as distances and indices; where there are fewer, infinity and n.

        ``x`` has shape (…, m), the answers (…, k); k = 1 leaves out the last axis, and of a single point makes numbers.
        A list k has the ranks that are wanted, from 1. Only distances below ``distance_upper_bound`` count. With ``eps``,
        each may be up to 1 + eps times the true one of its rank.

        >>> from kith.spatial import KDTree
        >>> tree = KDTree([[0.0], [1.0], [3.0]])
        >>> tree.query([[0.9], [9.0]], k=[1, 3])[1].tolist()
        [[1, 2], [2, 0]]
        >>> tree.query([[0.9], [9.0]], distance_upper_bound=1)[1].tolist()
        [1, 3]
        """
        last, columns = as_ranks(k)
        points, shape = as_queries(x, self.m)
        epsilon = min(max(as_number(eps, "eps"), 0.0), _MOST_EPSILON)
        bound = as_number(distance_upper_bound, "distance_upper_bound")
        index, have = self._searcher(as_norm(p), as_threads(workers), self._boxsize), min(last, self.n)
        # Distances below the bound are those up to the number before it.
        largest = np.nextafter(bound, -np.inf) if bound < np.inf else np.inf
        distances, indices = index.search(points, have, max_distance=max(largest, 0.0), epsilon=epsilon)
        if columns is not None or have < last:
            distances, indices = self._at_ranks(distances, indices, np.arange(last) if columns is None else columns)
        if bound != np.inf:
            missing = ~(distances < bound)
            distances[missing], indices[missing] = np.inf, self.n
        if columns is None and last == 1:
            if shape == ():
                return distances.item(), self._number(indices.item())
            return distances.reshape(shape), indices.reshape(shape)
        shape += (distances.shape[1],)
        return distances.reshape(shape), indices.reshape(shape)

    def _at_ranks(self, distances: np.ndarray, indices: np.ndarray, columns: np.ndarray) -> Tuple[Floats, Integers]:
        shape, there = (len(distances), len(columns)), columns < distances.shape[1]
        at_ranks = np.full(shape, np.inf), np.full(shape, self.n, np.intp)
        at_ranks[0][:, there], at_ranks[1][:, there] = distances[:, columns[there]], indices[:, columns[there]]
        return at_ranks

    @staticmethod
    def _number(index: int) -> Any:
        return index

    def query_ball_point(
        self,
        x: npt.ArrayLike,
        r: npt.ArrayLike,
        p: float = 2.0,
        eps: float = 0.0,
        workers: Optional[int] = 1,
        return_sorted: Optional[bool] = None,
        return_length: bool = False,
    ) -> Any:
        """The points within r of each of x: a list of their indices, or an array of lists for more than one.

        ``r`` is a number or one for each of x. Lists are nearest first, or in ascending order with ``return_sorted``,
        which is the default for more than one point. ``return_length`` gives their number instead.

        >>> from kith.spatial import KDTree
        >>> tree = KDTree([[0.0], [1.0], [3.0]])
        >>> tree.query_ball_point([[0.9], [9.0]], r=1)
        array([list([0, 1]), list([])], dtype=object)
        """
        points, shape = as_queries(x, self.m)
        index = self._searcher(as_norm(p), as_threads(workers), self._boxsize)
        found = within(index, points, as_radii(r, eps, shape), count_only=bool(return_length))
        if return_length:
            return found.counts.reshape(shape)[()]
        sort = len(shape) > 0 if return_sorted is None else return_sorted
        lists = as_lists(by_index(found, self.n) if sort else found.indices, found.offsets)
        if shape == ():
            return lists[0]
        answer = np.empty(len(points), object)
        answer[:] = lists
        return answer.reshape(shape)

    def query_ball_tree(self, other: cKDTree, r: float, p: float = 2.0, eps: float = 0.0) -> List[List[int]]:
        """For each point of this tree, those of the other within r, nearest first."""
        found = self._neighbors_in(other, r, p, eps)
        return as_lists(found.indices, found.offsets)

    @overload
    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, output_type: Literal["set"] = "set"
    ) -> Set[Tuple[int, int]]: ...
    @overload
    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, *, output_type: Literal["ndarray"]
    ) -> Integers: ...
    def query_pairs(self, r: float, p: float = 2.0, eps: float = 0.0, output_type: str = "set") -> Any:
        """The pairs (i, j) of points within r of each other, with i < j, as a set or as rows of an array.

        >>> from kith.spatial import KDTree
        >>> KDTree([[0.0], [1.0], [3.0]]).query_pairs(2) == {(0, 1), (1, 2)}
        True
        """
        if output_type not in ("set", "ndarray"):
            raise ValueError(f"Invalid output type {output_type!r}; it must be 'set' or 'ndarray'")
        pairs = unique_pairs(self._neighbors_in(self, r, p, eps))
        return pairs if output_type == "ndarray" else set(zip(*pairs.T.tolist()))

    def count_neighbors(
        self, other: cKDTree, r: npt.ArrayLike, p: float = 2.0, weights: Any = None, cumulative: bool = True
    ) -> Any:
        """How many pairs of a point of this tree and one of the other are within r; for each r, if it is a list.

        With ``weights`` a pair counts as the product of its points' weights: a tuple has those of each tree, None for
        ones, and an array those of a tree that is counted with itself. Without ``cumulative``, r[i] has the pairs that
        are further than r[i − 1].

        >>> from kith.spatial import KDTree
        >>> tree = KDTree([[0.0], [1.0], [3.0]])
        >>> tree.count_neighbors(tree, [0, 1, 2, 3]).tolist()
        [3, 5, 7, 9]
        """
        self._check_other(other)
        radii = np.asarray(r, np.float64)
        if radii.ndim > 1:
            raise ValueError("r must be either a single value or a one-dimensional array of values")
        if np.isnan(radii).any():
            raise ValueError("r is no number")
        edges = radii.reshape(-1)
        if not cumulative and (edges[1:] < edges[:-1]).any():
            raise ValueError("r must be non-decreasing for non-cumulative counting.")
        unique, first, inverse = np.unique(edges, return_index=True, return_inverse=True)
        if not isinstance(weights, tuple):
            if weights is not None and other is not self:
                raise ValueError("Two different trees are used. Specify weights for both in a tuple.")
            weights = weights, weights
        mine, theirs = self._weights(weights[0]), other._weights(weights[1])
        index = other._searcher(as_norm(p), None, self._boxsize)
        if mine is None and theirs is None:
            bins = count_pairs(index, self._data, other.n, unique)
        else:
            bins = weigh_pairs(index, self._data, other.n, unique, mine, theirs)
        if cumulative:
            counts = np.cumsum(bins)[inverse.reshape(-1)]
        else:  # of equal radii, the second is no further than the first
            counts = np.zeros(len(edges), bins.dtype)
            counts[first] = bins
        if radii.ndim > 0:
            return counts
        return counts[0] if bins.dtype.kind == "f" else int(counts[0])

    @overload
    def sparse_distance_matrix(
        self, other: cKDTree, max_distance: float, p: float = 2.0, output_type: MatrixName = "dok_matrix"
    ) -> SparseMatrix: ...
    @overload
    def sparse_distance_matrix(
        self, other: cKDTree, max_distance: float, p: float = 2.0, *, output_type: Literal["dict"]
    ) -> Dict[Tuple[int, int], float]: ...
    @overload
    def sparse_distance_matrix(
        self, other: cKDTree, max_distance: float, p: float = 2.0, *, output_type: Literal["ndarray"]
    ) -> npt.NDArray[np.void]: ...
    def sparse_distance_matrix(
        self, other: cKDTree, max_distance: float, p: float = 2.0, output_type: str = "dok_matrix"
    ) -> Any:
        """The distances of a point of this tree and one of the other that are at most ``max_distance``.

        ``output_type`` is a sparse matrix or array of SciPy, "dict" of pairs (i, j), or "ndarray" of records (i, j, v).

        >>> from kith.spatial import KDTree
        >>> tree = KDTree([[0.0], [1.0], [3.0]])
        >>> tree.sparse_distance_matrix(KDTree([[2.5]]), 2, output_type="dict")
        {(1, 0): 1.5, (2, 0): 0.5}
        """
        if output_type not in (*_MATRICES, "dict", "ndarray"):
            raise ValueError(f"Invalid output type {output_type!r}; it must be one of {_MATRICES}, 'dict' or 'ndarray'")
        entries = as_entries(self._neighbors_in(other, max_distance, p))
        if output_type == "ndarray":
            return entries
        if output_type == "dict":
            return dict(zip(zip(entries["i"].tolist(), entries["j"].tolist()), entries["v"].tolist()))
        return as_matrix(entries, (self.n, other.n), output_type)

    def _neighbors_in(self, other: cKDTree, r: float, p: float, eps: float = 0.0) -> RadiusNeighbors:
        """The points of the other tree within r of each of this one's, in this one's box."""
        self._check_other(other)
        radii = as_radii(as_number(r, "r"), eps, (self.n,))
        return within(other._searcher(as_norm(p), None, self._boxsize), self._data, radii)

    def _check_other(self, other: cKDTree) -> None:
        if not isinstance(other, cKDTree):
            raise TypeError(f"other must be a tree of kith.spatial, not {type(other).__name__}")
        if self.m != other.m:
            raise ValueError(f"the trees have different dimensionality, {self.m} and {other.m}")

    def _weights(self, weights: Any) -> Optional[np.ndarray]:
        if weights is None:
            return None
        numbers = as_real(weights)
        if numbers.shape != (self.n,):
            raise ValueError(f"weights has shape {numbers.shape}; the number of data points is {self.n}")
        return numbers

    def _searcher(self, p: float, threads: Optional[int], box: Optional[np.ndarray]) -> Searcher:
        """Made when it is first asked for, and kept."""
        key = p, threads, None if box is None else tuple(box)
        searcher = self._searchers.get(key)
        if searcher is None:
            searcher = self._searchers[key] = index_of(self._data, p, threads, box)
        return searcher

    def _arguments(self) -> Dict[str, Any]:
        return dict(
            data=self._data, leafsize=self._leafsize, compact_nodes=self._compact_nodes,
            balanced_tree=self._balanced_tree, boxsize=self._boxsize,
        )  # fmt: skip

    def __getstate__(self) -> Any:
        return {**self.__dict__, "_searchers": {}, "_scipy_tree": None}


class KDTree(cKDTree):
    """As :class:`scipy.spatial.KDTree`, which differs from cKDTree in its default leafsize and in what its nodes are.

    >>> import numpy as np
    >>> from kith.spatial import KDTree
    >>> tree = KDTree(np.arange(12).reshape(6, 2))
    >>> tree.query([0, 0], k=2)[1]
    array([0, 1])
    >>> tree.n, tree.m, tree.maxes.tolist()
    (6, 2, [10.0, 11.0])
    """

    _scipy_class = "KDTree"
    node: NodeClass = NodeClass()
    leafnode: NodeClass = NodeClass()
    innernode: NodeClass = NodeClass()

    def __init__(
        self,
        data: npt.ArrayLike,
        leafsize: int = 10,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: Optional[npt.ArrayLike] = None,
    ) -> None:
        super().__init__(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)

    @staticmethod
    def _number(index: int) -> Any:
        return np.intp(index)
