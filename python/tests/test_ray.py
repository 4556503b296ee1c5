"""Searches of Ray: the answer of kith.search, whatever the blocks, and if workers are killed."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from answers import parquet_set, sha1, tied_points
from processes import with_command

import kith
import kith.ray

pa = pytest.importorskip("pyarrow")
os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")


@pytest.fixture(scope="module", autouse=True)
def session():
    paths = {"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}}
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000, runtime_env=paths
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def dataset(points, ids, blocks):
    kind = pa.list_(pa.from_numpy_dtype(points.dtype))
    table = pa.table({"id": pa.array(ids), "vector": pa.array(list(points), kind)})
    return ray.data.from_arrow(table).repartition(blocks)


@pytest.mark.parametrize("blocks", [1, 7])
def test_any_blocks_give_the_answer_of_the_whole(rng, blocks):
    base = tied_points(rng, 60, 3)
    shuffled = rng.permutation(60)
    points = dataset(base[shuffled], shuffled, blocks)
    found = kith.ray.search(points, base[:9], 5, "id", "vector", metric="manhattan")
    assert sha1(*found) == sha1(*kith.search(base, base[:9], 5, metric="manhattan"))


def test_fewer_rows_than_k(rng):
    base = tied_points(rng, 6, 3)
    points = dataset(base, np.arange(6), 2)
    with pytest.raises(ValueError, match="k = 7 but the base has fewer points"):
        kith.ray.search(points, base, 7, "id", "vector")
    found = kith.ray.search(points, base, 7, "id", "vector", pad_missing=True)
    assert sha1(*found) == sha1(*kith.search(base, base, 7, pad_missing=True))


def test_rows_that_are_no_points(rng):
    base = tied_points(rng, 6, 3)
    with pytest.raises(Exception, match="id 3 occurs twice"):
        kith.ray.search(dataset(base, [0, 1, 3, 3, 4, 5], 1), base, 2, "id", "vector")
    with pytest.raises(ValueError, match="k = 0"):
        kith.ray.search(dataset(base, np.arange(6), 1), base, 0, "id", "vector")


def test_one_parquet_set_with_a_worker_killed(tmp_path):
    base, queries = parquet_set(tmp_path / "points")
    whole = sha1(*kith.search(base, queries, 10))
    found = kith.ray.search(tmp_path / "points", queries, 10, "id", "embedding")
    assert sha1(*found) == whole

    def slowly(table):
        time.sleep(0.3)
        return table

    slow = ray.data.read_parquet(str(tmp_path / "points")).repartition(10).map_batches(slowly, batch_format="pyarrow")
    answer = []
    search = threading.Thread(target=lambda: answer.append(kith.ray.search(slow, queries, 10, "id", "embedding")))
    search.start()
    killed = None
    while killed is None and search.is_alive():
        time.sleep(0.05)
        killed = next(iter(with_command("ray::", "slowly")), None)
    os.kill(killed, signal.SIGKILL)
    assert search.is_alive()  # it was killed in the midst of the search
    search.join(timeout=120)
    assert sha1(*answer[0]) == whole
