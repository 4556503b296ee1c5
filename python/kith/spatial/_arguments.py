"""Arguments of the trees' methods, taken and refused as SciPy does it."""

from __future__ import annotations

import math
import os
from operator import index
from typing import Any, Optional, Tuple

import numpy as np

_ROUNDING = 1e-12  # many times what rounding changes a distance by, and less than anyone can mean by eps


def as_real(array: Any, copy: bool = False) -> np.ndarray:
    """Packed float64 of any numbers but complex ones; the array itself where it is that, unless it is to be copied."""
    numbers = np.asarray(array)
    if numbers.dtype.kind == "c":
        raise TypeError("KDTree does not work with complex data")
    return np.array(numbers, np.float64, order="C") if copy else np.asarray(numbers, np.float64, order="C")


def as_queries(x: Any, dims: int) -> Tuple[np.ndarray, Tuple[int, ...]]:
    """Points as rows, and the shape in which they came."""
    points = as_real(x)
    if points.ndim == 0 or points.shape[-1] != dims:
        raise ValueError(f"x must consist of vectors of length {dims} but has shape {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError("'x' must be finite, check for nan or inf values")
    shape = points.shape[:-1]
    return points.reshape(math.prod(shape), dims), shape


def as_number(value: Any, name: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return float(value)


def as_box(boxsize: Any, dims: int) -> np.ndarray:
    box = np.array(np.broadcast_to(as_real(boxsize), (dims,)))
    if not np.isfinite(box).all():
        raise ValueError("boxsize must be finite, check for nan or inf values")
    return box


def as_norm(p: float) -> float:
    p = as_number(p, "p")
    if not p >= 1:
        raise ValueError(f"p = {p}; only p-norms with 1 <= p <= infinity are permitted")
    return p


def as_radii(r: Any, eps: float, shape: Tuple[int, ...]) -> np.ndarray:
    """A radius for each of the points that came in that shape.

    By SciPy's rule, with eps points up to r · (1 + eps) may be counted in: those are that rounding alone keeps out.
    """
    radii = np.broadcast_to(np.asarray(r, np.float64), shape).reshape(-1)
    eps = as_number(eps, "eps")
    return radii * (1 + min(eps, _ROUNDING)) if eps > 0 else radii


def as_ranks(k: Any) -> Tuple[int, Optional[np.ndarray]]:
    """How many neighbors are needed, and of a list of ranks, counted from 1, the columns that are wanted."""
    if isinstance(k, (int, np.integer)):
        last = int(k)
        columns = None
    elif k is None:
        raise ValueError("k must be an integer or a sequence of integers")
    else:
        ranks = np.asarray(k)
        if ranks.size and (ranks.dtype.kind not in "biuf" or (ranks != np.floor(ranks)).any()):
            raise TypeError(f"k = {k!r}; it must be an integer or a sequence of integers")
        if ranks.ndim > 1:
            raise ValueError(f"k has shape {ranks.shape}; it must be an integer or a sequence of integers")
        if ranks.ndim == 0:
            return as_ranks(int(ranks))
        columns = ranks.astype(np.intp) - 1
        last = int(columns.max()) + 1 if columns.size and columns.min() >= 0 else 0
    if last < 1:
        raise ValueError(f"k = {k}; ranks count from 1, and at least one is needed")
    return last, columns


def as_threads(workers: Optional[int]) -> Optional[int]:
    """The threads of an index; None for as many as the work is worth."""
    count = 1 if workers is None else index(workers)
    if count == 1:
        return 1
    cores = os.cpu_count()  # which takes as long as a small search
    if count == -1:
        if cores is None:
            raise NotImplementedError("Cannot determine the number of CPUs, so workers cannot be -1")
        return None
    if count <= 0:
        raise ValueError(f"Invalid number of workers {workers}, must be -1 or > 0")
    return count if cores is None else min(count, cores)
