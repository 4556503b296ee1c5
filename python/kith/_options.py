"""Keywords that searches share, made into the library's options."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Mapping, Optional

from ._kith import Options


@lru_cache(maxsize=256)
def _cached(
    metric: str,
    p: Optional[float],
    backend: str,
    method: str,
    distance: str,
    select: str,
    threads: int,
    memory: int,
    check_finite: bool,
    statistics: bool,
) -> Options:
    return Options(metric, p, backend, method, distance, select, threads, memory, check_finite, statistics, None)


def make_options(
    metric: str = "euclidean",
    p: Optional[float] = None,
    backend: str = "auto",
    method: str = "auto",
    distance: str = "auto",
    select: str = "auto",
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    check_finite: bool = True,
    statistics: bool = False,
    tuning: Optional[Mapping[str, Any]] = None,
) -> Options:
    """The keywords as the library takes them; the same ones are made once."""
    if not isinstance(metric, str):
        raise TypeError(f"metric must be a name such as 'euclidean', not {type(metric).__name__}")
    if tuning is not None:
        return Options(
            metric,
            p,
            backend,
            method,
            distance,
            select,
            threads or 0,
            memory or 0,
            check_finite,
            statistics,
            dict(tuning),
        )
    return _cached(metric, p, backend, method, distance, select, threads or 0, memory or 0, check_finite, statistics)
