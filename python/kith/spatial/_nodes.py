"""How SciPy would split the points: attributes that only its own tree has, built when someone looks."""

from __future__ import annotations

from typing import Any

import numpy as np


class NodeClass:
    """A class of SciPy's nodes, as an attribute of our class of trees."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tree: Any, owner: type) -> Any:
        from scipy.spatial import KDTree

        return getattr(KDTree, self._name)


class HasNodes:
    """To be derived from by trees, which say how they were made, and which of SciPy's classes they stand for."""

    _scipy_class = "cKDTree"
    _scipy_tree: Any = None

    def _arguments(self) -> Any:
        raise NotImplementedError

    def _nodes(self) -> Any:
        if self._scipy_tree is None:
            from scipy import spatial

            self._scipy_tree = getattr(spatial, self._scipy_class)(**self._arguments())
        return self._scipy_tree

    @property
    def tree(self) -> Any:
        """The root of SciPy's tree."""
        return self._nodes().tree

    @property
    def size(self) -> int:
        """The number of nodes of SciPy's tree."""
        return self._nodes().size

    @property
    def indices(self) -> np.ndarray:
        """The points in the order of the leaves of SciPy's tree."""
        return self._nodes().indices

    def _build_weights(self, weights: Any) -> Any:
        return self._nodes()._build_weights(weights)
