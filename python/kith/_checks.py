"""Keywords of the wrong type or size, refused in words before the native functions see them."""

from __future__ import annotations

import re
from numbers import Real
from operator import index
from typing import Mapping, Optional, Sequence, Tuple, Union

import numpy as np

_UNITS = "kmgt"
_SIZE = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(?:([kmgt])(i?b)?|b)?\s*", re.IGNORECASE)
_LARGEST = 2**63 - 1


def as_integer(value: object, name: str, largest: int = _LARGEST) -> int:
    """An integer of any library; floats are none, and -largest - 1 ≤ value ≤ largest."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {described(value)}") from None
    if not -largest <= number + 1 <= largest + 1:
        raise ValueError(f"{name} = {number}; the largest that can be meant is {largest}")
    return number


def as_threads(threads: Optional[int]) -> int:
    return 0 if threads is None else as_integer(threads, "threads", 2**31 - 1)


def as_power(p: Optional[float]) -> Optional[float]:
    if p is None:
        return None
    if isinstance(p, bool) or not isinstance(p, Real):
        raise TypeError(f"p must be a number of at least 1, not {described(p)}")
    return float(p)


def as_real(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {described(value)}")
    return float(value)


def as_limit(max_distance: Optional[float]) -> float:
    """Infinity for None."""
    return np.inf if max_distance is None else as_real(max_distance, "max_distance")


def as_period(period: Optional[Sequence[float]]) -> Tuple[float, ...]:
    """Numbers in any sequence or array; none for None."""
    if period is None:
        return ()
    if isinstance(period, (str, bytes)) or np.ndim(period) != 1:
        raise TypeError(f"period must have a number for each dimension, not {described(period)}")
    return tuple(as_real(each, "a period") for each in period)


def as_devices(devices: Union[None, str, Sequence[int]]) -> Tuple[int, ...]:
    """Ids of devices; none for None, -1 for "all"."""
    if devices is None:
        return ()
    if isinstance(devices, str) and devices.lower() == "all":
        return (-1,)
    if isinstance(devices, (str, bytes)) or np.ndim(devices) != 1:
        raise TypeError(f"devices must be several ids, as [0, 1], or 'all', not {described(devices)}")
    ids = tuple(as_integer(each, "an id of devices", 2**31 - 1) for each in devices)
    if not ids or min(ids) < 0:
        raise ValueError(f"devices = {list(ids)}; it must have an id, and none below 0")
    return ids


def as_bytes(memory: Union[None, int, float, str]) -> int:
    """Bytes, given as a number or as text; 0 for None.

    As on the command line, "1GB" is 1000³ and "1GiB", or "1G", 1024³.

    >>> as_bytes("1.5 GiB"), as_bytes("500MB"), as_bytes(1e9)
    (1610612736, 500000000, 1000000000)
    """
    if memory is None:
        return 0
    if isinstance(memory, str):
        return _parsed_size(memory)
    if isinstance(memory, bool) or not isinstance(memory, Real):
        raise TypeError(f"memory must be a number of bytes or text such as '512MiB', not {described(memory)}")
    if memory != memory or memory in (np.inf, -np.inf) or memory != int(memory):
        raise ValueError(f"memory = {memory}; a whole number of bytes is needed")
    return as_integer(int(memory), "memory")


def _parsed_size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"memory = {text!r} is not a size; write '512MiB', '1GB' or plain bytes")
    number, prefix, suffix = found.groups()
    scale = 1
    if prefix:
        step = 1000 if suffix and suffix.lower() == "b" else 1024
        scale = step ** (_UNITS.index(prefix.lower()) + 1)
    size = int(float(number) * scale)
    if size < 1:
        raise ValueError(f"memory = {text!r} is less than one byte")
    return as_integer(size, "memory")


def as_name(value: object, keyword: str, example: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{keyword} must be a name such as '{example}', not {described(value)}")
    return value


def as_flag(value: object, keyword: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{keyword} must be True or False, not {described(value)}")
    return bool(value)


def check_mapping(value: object, keyword: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{keyword} must be a mapping of names, not {described(value)}")
    for name in value:
        as_name(name, f"a key of {keyword}", "landmarks" if keyword == "tuning" else "source")


def described(value: object) -> str:
    """The type of a value, with the value where that is short."""
    kind = type(value).__name__
    return f"{kind} {value!r}" if isinstance(value, (bool, int, float, complex, str)) else kind
