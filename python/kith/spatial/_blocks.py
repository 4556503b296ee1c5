"""Queries some at a time, so that lists of their neighbors take bounded memory whatever the radius."""

from __future__ import annotations

from typing import List

PAIRS_AT_ONCE = 2**24  # of a query and a point


def blocks(queries: int, points: int) -> List[slice]:
    step = max(1, PAIRS_AT_ONCE // max(1, points))
    return [slice(begin, begin + step) for begin in range(0, queries, step)]
