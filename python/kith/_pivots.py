"""Search among objects of any kind, under distances that take microseconds."""

from __future__ import annotations

from typing import Any, Callable, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _kith
from ._checks import as_flag, as_integer, as_name, as_real, as_threads, described
from ._kith import PivotReport
from ._neighbors import Neighbors, RadiusNeighbors
from ._progress import showing
from ._types import Floats, Integers, ProgressLike

ObjectMetric = Union[Literal["levenshtein", "dtw", "emd"], Callable[[Any, Any], float]]
_METRICS = ("levenshtein", "dtw", "emd")


class PivotIndex:
    """Exact nearest neighbors among strings, time series, distributions, or objects with a distance of your own.

    For distances that take microseconds, or milliseconds. Under the triangle inequality, distances of all objects to
    a few of them, the pivots, are computed once, and then rule out most of the distances of each query (LAESA). The
    answer is that of brute force; equal distances by the lower index. ``metric`` is

    - ``"levenshtein"``: edit distance of str, by code points, or of bytes;
    - ``"dtw"``: dynamic time warping of arrays of steps, or of steps × dims, within a ``window`` of steps |i − j|. The
      root of the least sum of squares. Not a metric: lower bounds take the place of pivots;
    - ``"emd"``: earth mover's distance (Wasserstein-1) of arrays of values, or of tuples (values, weights): for
      histograms, positions of bins and counts;
    - a function of two objects. It is slow, for Python calls it under the GIL, on one thread; what it raises comes out
      of the search. ``triangle_inequality`` must say whether it holds; ``symmetric`` and ``integer_valued``
      likewise. ``relative_error`` and ``absolute_error`` are what its rounding may be off by.

    ``pivots``: how many, 32 unless given, of less than 1,024 objects fewer. ``choice`` of them: "best-bounds" or
    "farthest-first". ``report`` counts what the last search evaluated. Objects must not change.

    >>> import kith
    >>> index = kith.PivotIndex(["kitten", "mitten", "sitting", "knitting"])
    >>> index.search(["fitting"], k=2).indices.tolist()
    [[2, 3]]
    >>> index.search_radius(["kitten"], 1).indices.tolist()
    [0, 1]
    >>> kith.PivotIndex([3, 14, 15, 92], lambda a, b: abs(a - b), triangle_inequality=True).search([16], k=1).distances
    array([[1.]])
    """

    def __init__(
        self,
        objects: Sequence[Any],
        metric: ObjectMetric = "levenshtein",
        *,
        triangle_inequality: Optional[bool] = None,
        symmetric: bool = True,
        integer_valued: bool = False,
        relative_error: float = 1e-9,
        absolute_error: float = 0.0,
        window: Optional[int] = None,
        pivots: Optional[int] = None,
        choice: Literal["best-bounds", "farthest-first"] = "best-bounds",
        threads: Optional[int] = None,
        progress: ProgressLike = False,
    ) -> None:
        if not callable(metric) and as_name(metric, "metric", "levenshtein") not in _METRICS:
            raise ValueError(f"metric = {metric!r}; it must be one of {', '.join(_METRICS)}, or a function")
        if triangle_inequality is None:
            if callable(metric):
                raise ValueError("triangle_inequality must be given for a metric that is a function")
            triangle_inequality = metric != "dtw"
        if as_flag(triangle_inequality, "triangle_inequality") and metric == "dtw":
            raise ValueError("triangle_inequality = True, but it does not hold for dtw")
        if window is not None and metric != "dtw":
            raise ValueError(f"window = {window}; only dtw has one")
        width = -1 if window is None else as_integer(window, "window")
        if window is not None and width < 0:
            raise ValueError(f"window = {window}; it must be 0 or more")
        self._metric = metric
        self._text = str
        listed = _listed(objects, "objects")
        if metric == "levenshtein" and listed and isinstance(listed[0], (bytes, bytearray)):
            self._text = bytes  # type: ignore[assignment]
        self._size = len(listed)
        self._report: Optional[PivotReport] = None
        with showing(progress) as watch:
            self._native = _kith.PivotIndex.make(
                self._ready(listed), metric, width, as_flag(symmetric, "symmetric"), bool(triangle_inequality),
                as_flag(integer_valued, "integer_valued"), as_real(relative_error, "relative_error"),
                as_real(absolute_error, "absolute_error"), 0 if pivots is None else as_integer(pivots, "pivots"),
                as_name(choice, "choice", "best-bounds"), as_threads(threads), watch,
            )  # fmt: skip

    def search(self, queries: Sequence[Any], k: int, *, progress: ProgressLike = False) -> Neighbors[Floats, Integers]:
        """The k nearest objects of each query."""
        asked = self._ready(_listed(queries, "queries"))
        return self._nearest(asked, as_integer(k, "k"), progress)

    def search_self(self, k: int, *, progress: ProgressLike = False) -> Neighbors[Floats, Integers]:
        """The k nearest others of each object. An object is left out by its index; its duplicates are not."""
        return self._nearest(None, as_integer(k, "k"), progress)

    def search_radius(
        self,
        queries: Optional[Sequence[Any]],
        radius: Union[float, Sequence[float], npt.NDArray[np.generic]],
        *,
        progress: ProgressLike = False,
    ) -> RadiusNeighbors[Floats, Integers]:
        """All objects within a radius, one for all queries or one for each. With ``None``, of each object, itself left out."""
        asked = None if queries is None else self._ready(_listed(queries, "queries"))
        radii = np.atleast_1d(np.asarray(radius, np.float64)).ravel().tolist()
        with showing(progress) as watch:
            distances, indices, offsets, self._report = self._native.search_radius(asked, radii, watch)
        return RadiusNeighbors(distances, indices, offsets)

    @property
    def report(self) -> Optional[PivotReport]:
        """Of the search that ended last: its counts of evaluations, and ``saved``, the share that was not needed."""
        return self._report

    @property
    def pivots(self) -> Integers:
        """Indices of the objects that are pivots."""
        return np.array(self._native.pivots, np.int64)

    @property
    def build_evaluations(self) -> int:
        """How many distances were computed to prepare the pivots."""
        return int(self._native.build_evaluations)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        name = self._metric if isinstance(self._metric, str) else getattr(self._metric, "__name__", "a function")
        return f"PivotIndex({self._size} objects, {name}, {len(self.pivots)} pivots)"

    def _nearest(self, asked: Optional[List[Any]], k: int, progress: ProgressLike) -> Neighbors[Floats, Integers]:
        with showing(progress) as watch:
            distances, indices, self._report = self._native.search(asked, k, watch)
        return Neighbors(distances, indices)

    def _ready(self, objects: List[Any]) -> List[Any]:
        """As the native functions take them."""
        if self._metric == "levenshtein":
            return [self._as_text(each, at) for at, each in enumerate(objects)]
        if self._metric == "dtw":
            return [_as_series(each, at) for at, each in enumerate(objects)]
        if self._metric == "emd":
            return [_as_sample(each, at) for at, each in enumerate(objects)]
        return objects

    def _as_text(self, value: Any, at: int) -> Union[str, bytes]:
        if isinstance(value, bytearray):
            value = bytes(value)
        if not isinstance(value, self._text):
            raise TypeError(f"object {at} must be {self._text.__name__}, as the first one is, not {described(value)}")
        return value


def _listed(objects: Any, role: str) -> List[Any]:
    if isinstance(objects, (str, bytes, bytearray)):
        raise TypeError(f"{role} must be a list of objects, not {described(objects)}; write [{described(objects)}]")
    try:
        return list(objects)
    except TypeError:
        raise TypeError(f"{role} must be a list of objects, not {described(objects)}") from None


def _as_numbers(value: Any, at: int) -> npt.NDArray[np.float64]:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"object {at} must be an array of numbers, not {described(value)}")
    return np.ascontiguousarray(numbers, np.float64)


def _as_series(value: Any, at: int) -> npt.NDArray[np.float64]:
    steps = _as_numbers(value, at)
    if steps.ndim == 1:
        return steps[:, None]
    if steps.ndim != 2 or steps.shape[1] == 0:
        raise ValueError(f"object {at} has the shape {steps.shape}; steps or steps × dims are needed")
    return steps


def _as_sample(value: Any, at: int) -> Tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    values, weights = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    positions = _as_numbers(values, at)
    if positions.ndim != 1:
        raise ValueError(f"object {at} has values of the shape {positions.shape}; one axis is needed")
    return positions, np.ones_like(positions) if weights is None else _as_numbers(weights, at).ravel()
