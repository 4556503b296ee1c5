"""Blocks of a base that are made in the tasks that search them.

A block then lives no longer than its search, however many blocks there are, and is read again where it is searched
again. What several blocks need, such as a mean by which all are centered, stays a task of its own, and so does what is
in memory already: arrays of the client and persisted chunks.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

import dask
import dask.array as da
import numpy as np
from dask.array.optimization import optimize
from dask.core import get_dependencies

Tasks = Dict[Any, Any]


class Reader:
    """The tasks that make one block, and no other, of what the tasks named by ``inputs`` give."""

    def __init__(self, tasks: Tasks, key: Any, inputs: List[Any]) -> None:
        self._tasks, self._key, self.inputs = tasks, key, inputs

    def __call__(self, values: Sequence[Any]) -> Any:
        given = dict(zip(self.inputs, values))
        return given[self._key] if self._key in given else dask.get({**self._tasks, **given}, self._key)


def readers(points: da.Array) -> Tuple[List[Reader], Tasks]:
    """A reader for each chunk of rows, and the tasks that several of them need."""
    keys = [(points.name, block, 0) for block in range(points.numblocks[0])]
    tasks: Tasks = dict(optimize(points.dask, keys))
    needs = {key: get_dependencies(tasks, key) for key in tasks}
    owners = _owners(keys, tasks, needs)
    found = []
    for block in keys:
        mine: Tasks = {}
        inputs: List[Any] = []
        waiting, seen = [block], {block}
        while waiting:
            key = waiting.pop()
            if owners[key] is None:
                inputs.append(key)
                continue
            mine[key] = tasks[key]
            waiting += needs[key] - seen
            seen |= needs[key]
        found.append(Reader(mine, block, inputs))
    return found, {key: tasks[key] for key, owner in owners.items() if owner is None}


def values_in(layer: Any) -> List[Any]:
    """What a layer of a graph holds as it is, among its tasks; layers by a rule hold none."""
    mapping = getattr(layer, "mapping", layer if isinstance(layer, dict) else {})
    return [getattr(value, "value", value) for value in mapping.values()]


def _owners(blocks: List[Any], tasks: Tasks, needs: Dict[Any, Any]) -> Dict[Any, Any]:
    """For each task the one block that needs it; None where several do. Small constants are every block's own."""
    owners: Dict[Any, Any] = {}
    for block in blocks:
        waiting = [(block, block)]
        while waiting:
            key, owner = waiting.pop()
            value = getattr(tasks[key], "value", None)
            if isinstance(value, np.ndarray):
                owner = None
            elif value is None and key in owners:
                if owners[key] is None or owners[key] == owner:
                    continue
                owner = None
            owners[key] = owner
            waiting += [(other, owner) for other in needs[key]]
    return owners
