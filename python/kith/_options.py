"""Keywords that searches share, made into the library's options."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, Mapping, Optional, Sequence

from ._checks import (
    as_bytes,
    as_devices,
    as_flag,
    as_limit,
    as_name,
    as_period,
    as_power,
    as_real,
    as_threads,
    check_mapping,
)
from ._kith import Options, cuda_devices
from ._types import Devices, Memory

_HAMMING_HINT = "'hamming' compares whole elements; packed bits are for kith.search_bits and kith.BitIndex"


@lru_cache(maxsize=1)
def _warn_of_unusable_devices() -> None:
    """Backend auto takes the CPU where no device can be used; that one is here is said once."""
    problems = [device["problem"] for device in cuda_devices()]
    if problems and all(problems):
        for problem in problems:
            warnings.warn(f"{problem}; backend='cpu' says that the CPU is wanted", RuntimeWarning, stacklevel=5)


def _made(
    metric: str,
    p: Optional[float],
    backend: str,
    method: str,
    distance: str,
    select: str,
    threads: Optional[int],
    memory: Memory,
    check_finite: bool,
    statistics: bool,
    max_distance: Optional[float],
    epsilon: float,
    period: Optional[Sequence[float]],
    tuning: Optional[Mapping[str, object]] = None,
    devices: Devices = None,
) -> Options:
    if backend == "auto" and devices is None:
        _warn_of_unusable_devices()
    if tuning is not None:
        check_mapping(tuning, "tuning")
    arguments = (
        as_name(metric, "metric", "euclidean"),
        as_power(p),
        as_name(backend, "backend", "cpu"),
        as_name(method, "method", "brute"),
        as_name(distance, "distance", "direct"),
        as_name(select, "select", "heap-queue"),
        as_threads(threads),
        as_bytes(memory),
        as_flag(check_finite, "check_finite"),
        as_flag(statistics, "statistics"),
        as_limit(max_distance),
        as_real(epsilon, "epsilon"),
        as_period(period),
        None if tuning is None else dict(tuning),
        as_devices(devices),
    )
    try:
        return Options(*arguments)
    except ValueError as error:
        if "hamming" in str(error):
            raise ValueError(f"{error}; {_HAMMING_HINT}") from None
        raise


_cached = lru_cache(maxsize=256, typed=True)(_made)


def make_options(
    metric: str = "euclidean",
    p: Optional[float] = None,
    backend: str = "auto",
    method: str = "auto",
    distance: str = "auto",
    select: str = "auto",
    threads: Optional[int] = None,
    memory: Memory = None,
    check_finite: bool = True,
    statistics: bool = False,
    max_distance: Optional[float] = None,
    epsilon: float = 0.0,
    period: Optional[Sequence[float]] = None,
    tuning: Optional[Mapping[str, Any]] = None,
    devices: Devices = None,
) -> Options:
    """The keywords as the library takes them; the same ones are made once."""
    keywords = (
        metric, p, backend, method, distance, select, threads, memory, check_finite, statistics, max_distance, epsilon,
        period,
    )  # fmt: skip
    if tuning is None:
        try:
            return _cached(*keywords, None, devices)
        except TypeError:  # also what cannot be hashed, which is then refused by its name
            pass
    return _made(*keywords, tuning, devices)
