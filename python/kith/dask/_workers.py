"""What tasks know of the worker that they run on, and what the cluster knows of the data they read."""

from __future__ import annotations

from typing import Any, List, Optional

import dask.array as da
from dask.sizeof import sizeof

from .._shards import PartialNeighbors, PartialRadiusNeighbors
from ._blocks import values_in

_PART_OF_A_SHARE = 4  # the others are for the block, the queries and lists


@sizeof.register(PartialNeighbors)
@sizeof.register(PartialRadiusNeighbors)
def _size(part: Any) -> int:
    return part.distances.nbytes + part.indices.nbytes + 100 * len(part.blocks)


def memory_of_a_task() -> Optional[int]:
    """Bytes of workspace: a part of what a thread of the worker has; None without a limit or a worker."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):
        return None
    limit = worker.memory_manager.memory_limit
    return limit // worker.state.nthreads // _PART_OF_A_SHARE if limit else None


def futures_of(array: da.Array) -> List[Any]:
    """Chunks that a cluster holds."""
    values = (value for layer in array.dask.layers.values() for value in values_in(layer))
    return [value for value in values if type(value).__name__ == "Future"]


def refuse_scattered(array: da.Array, role: str) -> None:
    """Data that was sent to workers is lost with them. Persisted chunks are not such: they can be computed again."""
    futures = futures_of(array)
    if not futures:
        return
    lost = futures[0].client.run_on_scheduler(_without_a_task, keys=[future.key for future in futures])
    if lost:
        raise ValueError(
            f"{role} has {len(lost)} of {len(futures)} chunks that were scattered, and are lost with the worker that "
            "holds them; make it of tasks that read, such as kith.dask.read_parquet() or dask.array.from_zarr()"
        )


def _without_a_task(dask_scheduler: Any, keys: List[Any]) -> List[Any]:
    """The keys of those that the scheduler cannot compute again; it runs this."""
    known = dask_scheduler.tasks
    return [key for key in keys if key in known and known[key].run_spec is None]
