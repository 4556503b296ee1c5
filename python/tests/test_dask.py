"""Searches of Dask: the answer of kith.search, whatever the chunks, and whichever workers are lost."""

import os
import signal
import threading
import time
import types

import numpy as np
import pytest
from answers import parquet_set, sha1, tied_points
from hypothesis import given, settings
from hypothesis import strategies as st

import kith

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zarr = pytest.importorskip("zarr")

import kith.dask  # noqa: E402
from kith.dask import _search, _sources  # noqa: E402


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def cluster():
    """Four processes of one thread and 400 MB each."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 5, "distributed.worker.memory.terminate": 0.95}):
        with (
            distributed.LocalCluster(
                n_workers=4, threads_per_worker=1, processes=True, memory_limit="400MB", dashboard_address=None
            ) as made,
            distributed.Client(made, set_as_default=False) as client,
        ):
            yield client


def computed(found):
    return [np.asarray(part) for part in dask.compute(*found)]


def uneven(rng, rows, blocks):
    sizes = np.diff([0, *np.sort(rng.integers(0, rows + 1, blocks - 1)), rows])
    return tuple(int(size) for size in sizes)


@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(["euclidean", "manhattan", "cosine", "inner_product"]),
    blocks=st.integers(1, 20),
    query_blocks=st.integers(1, 4),
    k=st.integers(1, 30),
)
@settings(max_examples=25)
def test_any_chunks_give_the_answer_of_the_whole(seed, metric, blocks, query_blocks, k):
    rng = np.random.default_rng(seed)
    base, queries = tied_points(rng, 60, 3), tied_points(rng, 9, 3)
    chunks, query_chunks = uneven(rng, 60, blocks), uneven(rng, 9, query_blocks)
    asked = da.from_array(queries, chunks=(query_chunks, 3))
    found = kith.dask.search(da.from_array(base, chunks=(chunks, (1, 2))), asked, k, metric=metric)
    assert found.indices.chunks == (asked.chunks[0], (k,)) == found.distances.chunks
    whole = kith.search(base, queries, k, metric=metric)
    assert found.distances.dtype == whole.distances.dtype and found.indices.dtype == whole.indices.dtype
    with dask.config.set(scheduler="synchronous"):
        assert sha1(*computed(found)) == sha1(*whole)


@pytest.fixture
def several_groups(monkeypatch):
    """Queries are searched a few at a time, so that blocks are read again."""
    monkeypatch.setattr(_search, "GROUP_BYTES", 500)


def test_several_groups_of_queries(rng, several_groups):
    base, queries = tied_points(rng, 100, 3), tied_points(rng, 50, 3)
    points, asked = da.from_array(base, chunks=(9, 3)) + 0, da.from_array(queries, chunks=((7, 0, 23, 20), 3))
    found = kith.dask.search(points, asked, 11)
    assert found.indices.chunks == ((7, 0, 23, 20), (11,))
    assert sha1(*computed(found)) == sha1(*kith.search(base, queries, 11))


def test_graph(rng, several_groups):
    base = tied_points(rng, 70, 2)
    points = da.from_array(base, chunks=(9, 2))
    edges, whole = kith.dask.graph(points, 5), kith.graph(base, 5)
    data, indices, indptr = computed(edges[:3])
    assert edges.shape == whole.shape and (indptr == whole.indptr).all()
    assert sha1(data, indices) == sha1(whole.data, whole.indices.astype(np.int64))
    ones = kith.dask.graph(points, 5, mode="connectivity")
    assert (ones.data.compute() == 1).all() and (ones.indices.compute() == indices).all()
    with pytest.raises(ValueError, match="k = 70 but the number of other points is 69"):
        kith.dask.graph(points, 70)
    with pytest.raises(ValueError, match="max_distance"):
        kith.dask.graph(points, 7, max_distance=1.0)


def test_radius(rng):
    base, queries = tied_points(rng, 70, 3), tied_points(rng, 9, 3)
    points, asked = da.from_array(base, chunks=(9, 3)), da.from_array(queries, chunks=(4, 3))
    found = kith.dask.search_radius(points, asked, 1.5)
    whole = kith.search_radius(base, queries, 1.5)
    for mine, theirs in zip(computed(found), whole):
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
    with pytest.raises(ValueError, match="one radius"):
        kith.dask.search_radius(points, asked, np.ones(9))


def test_unknown_chunks_are_counted(rng):
    base = tied_points(rng, 60, 3)
    points = da.from_array(base, chunks=(13, 3))
    filtered = points[points[:, 0] > 1]
    assert np.isnan(filtered.shape[0])
    found = kith.dask.search(filtered, base[:5], 3)
    assert sha1(*computed(found)) == sha1(*kith.search(base[base[:, 0] > 1], base[:5], 3))
    assert np.isnan(filtered.shape[0])  # the caller's array is as it was


def parquet(folder, base, files=3, layout="list"):
    """Files of several row groups of uneven sizes, some of them empty of rows."""
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(base)), files)):
        kind = pa.list_(pa.float32(), base.shape[1]) if layout == "fixed" else pa.list_(pa.float32())
        table = pa.table({"id": pa.array(rows), "embedding": pa.array(list(base[rows]), kind)})
        with pq.ParquetWriter(folder / f"part-{number}.parquet", table.schema) as writer:
            for start in range(0, len(rows), 17 + number):
                writer.write_table(table.slice(start, 17 + number))
    return folder


@pytest.mark.parametrize("layout", ["list", "fixed"])
def test_parquet(rng, tmp_path, layout):
    base = tied_points(rng, 150, 4)
    folder = parquet(tmp_path / "points", base, layout=layout)
    points = kith.dask.read_parquet(folder)
    assert points.shape == (150, 4) and points.dtype == np.float32 and points.numblocks[0] == 9
    assert (points.compute() == base).all()
    whole = kith.search(base, base[:5], 7)
    for source in (folder, str(folder), str(folder / "*.parquet"), [folder / f"part-{i}.parquet" for i in range(3)]):
        assert sha1(*computed(kith.dask.search(source, base[:5], 7))) == sha1(*whole)
    assert sha1(*computed(kith.dask.search(folder, base[:5], 7, column="embedding"))) == sha1(*whole)
    with pytest.raises(ValueError, match="no column 'other'"):
        kith.dask.search(folder, base[:5], 7, column="other")
    with pytest.raises(FileNotFoundError, match="no Parquet files"):
        kith.dask.read_parquet(tmp_path / "*.nothing")


def test_the_parquet_set_of_all_engines(cluster, tmp_path):
    base, queries = parquet_set(tmp_path / "points")
    found = cluster.compute(dask.delayed(list)(kith.dask.search(tmp_path / "points", queries, 10))).result(60)
    assert sha1(*found) == sha1(*kith.search(base, queries, 10))


def test_parquet_that_is_no_matrix(rng, tmp_path):
    path = tmp_path / "a.parquet"
    rows = tied_points(rng, 20, 4).tolist()
    pq.write_table(pa.table({"v": [*rows[:17], None, *rows[18:]]}), path, row_group_size=10)
    with pytest.raises(ValueError, match="a.parquet, row group 1, column 'v': row 17 is null"):
        kith.dask.read_parquet(path).compute()
    pq.write_table(pa.table({"v": [*rows[:17], [1.0], *rows[18:]]}), path, row_group_size=10)
    with pytest.raises(ValueError, match="column 'v': row 17 has 1 numbers, and rows before have 4"):
        kith.dask.read_parquet(path).compute()


def test_zarr(rng, tmp_path):
    base = tied_points(rng, 150, 4)
    stored = zarr.open(str(tmp_path / "points.zarr"), mode="w", shape=base.shape, chunks=(40, 3), dtype=base.dtype)
    stored[:] = base
    whole = kith.search(base, base[:5], 7)
    for source in (stored, tmp_path / "points.zarr"):
        found = kith.dask.search(source, base[:5], 7)
        assert sha1(*computed(found)) == sha1(*whole)


def test_what_else_dask_holds(rng):
    base = tied_points(rng, 60, 3)
    labeled = types.SimpleNamespace(data=da.from_array(base, chunks=(13, 3)))  # as xarray's arrays are
    assert sha1(*computed(kith.dask.search(labeled, base[:5], 3))) == sha1(*kith.search(base, base[:5], 3))
    frame = dask.dataframe.from_dask_array(da.from_array(base, chunks=(13, 3)), columns=["x", "y", "z"])
    with pytest.raises(TypeError, match="to_dask_array"):
        kith.dask.search(frame, base[:5], 3)
    found = kith.dask.search(frame.to_dask_array(), base[:5], 3)
    assert sha1(*computed(found)) == sha1(*kith.search(base, base[:5], 3))


def test_large_arrays_of_the_client_are_refused(rng, monkeypatch):
    monkeypatch.setattr(_sources, "LARGEST_IN_MEMORY", 1000)
    base = tied_points(rng, 100, 3)
    for source in (base, da.from_array(base, chunks=(10, 3)), da.from_array(base, chunks=(10, 3)) + 1):
        with pytest.raises(ValueError, match="1200 bytes of the client.s memory.*dask.array.to_zarr"):
            kith.dask.search(source, base[:5], 3)


def test_a_changed_block_is_an_error(rng, several_groups):
    base = tied_points(rng, 60, 3)
    reads = [0] * 6

    def read(block_info=None):
        number = block_info[None]["chunk-location"][0]
        reads[number] += 1
        points = base[10 * number : 10 * number + 10].copy()
        points[3, 1] += number == 4 and reads[number] > 1
        return points

    points = da.map_blocks(read, chunks=((10,) * 6, (3,)), dtype=base.dtype, meta=base[:0])
    found = kith.dask.search(points, da.from_array(base, chunks=(20, 3)), 3)
    with pytest.raises(ValueError, match="block 4 changed between two reads"):
        computed(found)


def test_no_queries_and_no_points(rng):
    base = tied_points(rng, 60, 3)
    none = computed(kith.dask.search(da.from_array(base, chunks=(10, 3)), base[:0], 3))
    assert sha1(*none) == sha1(*kith.search(base, base[:0], 3))
    empty = da.from_array(base, chunks=(10, 3))[:0]
    with pytest.raises(ValueError, match="k = 3 but the number of base points is 0"):
        kith.dask.search(empty, base, 3)
    assert (computed(kith.dask.search(empty, base, 3, pad_missing=True))[1] == -1).all()


def test_errors_name_the_block(rng):
    base = tied_points(rng, 60, 3)
    base[37, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 3, rows 30 to 39: base row 7, column 1 is nan"):
        computed(kith.dask.search(da.from_array(base, chunks=(10, 3)), base[:5], 3))


def test_arguments(rng):
    base = tied_points(rng, 60, 3)
    points = da.from_array(base, chunks=(10, 3))
    with pytest.raises(ValueError, match="k = 61 but the number of base points is 60"):
        kith.dask.search(points, base[:5], 61)
    padded = computed(kith.dask.search(points, base[:5], 61, pad_missing=True))
    assert sha1(*padded) == sha1(*kith.search(base, base[:5], 61, pad_missing=True))
    with pytest.raises(ValueError, match="queries have 2 dimensions but the base has 3"):
        kith.dask.search(points, base[:5, :2], 6)
    with pytest.raises(ValueError, match="euclidian"):
        kith.dask.search(points, base[:5], 6, metric="euclidian")
    with pytest.raises(TypeError, match="epsilon"):
        kith.dask.search(points, base[:5], 6, epsilon=0.1)
    with pytest.raises(ValueError, match="column = 'v' is for Parquet"):
        kith.dask.search(points, base[:5], 6, column="v")
    with pytest.raises(ValueError, match="1 dimension"):
        kith.dask.search(points[:, 0], base[:5], 6)


def test_estimators(rng):
    from sklearn import neighbors

    base, queries = rng.random((80, 3)), rng.random((11, 3))
    labels, values = rng.integers(0, 3, 80), rng.random(80)
    points, asked = da.from_array(base, chunks=(9, 3)), da.from_array(queries, chunks=(4, 3))
    mine, theirs = kith.dask.NearestNeighbors(n_neighbors=4).fit(points), neighbors.NearestNeighbors(n_neighbors=4).fit(
        base
    )
    for X, x in ((asked, queries), (None, None)):
        distances, indices = computed(mine.kneighbors(X))
        wanted = theirs.kneighbors(x)
        assert (indices == wanted[1]).all() and np.allclose(distances, wanted[0])
        edges = mine.kneighbors_graph(X, mode="distance")
        assert edges.shape == theirs.kneighbors_graph(x, mode="distance").shape
    for weights in ("uniform", "distance"):
        options = {"n_neighbors": 4, "weights": weights}
        ours = kith.dask.KNeighborsClassifier(**options).fit(points, labels)
        other = neighbors.KNeighborsClassifier(**options).fit(base, labels)
        assert np.allclose(ours.predict_proba(asked).compute(), other.predict_proba(queries))
        assert (ours.predict(asked).compute() == other.predict(queries)).all()
        means = kith.dask.KNeighborsRegressor(**options).fit(points, values).predict(asked)
        assert means.chunks == ((4, 4, 3),)
        assert np.allclose(means.compute(), neighbors.KNeighborsRegressor(**options).fit(base, values).predict(queries))
    with pytest.raises(ValueError, match="max_distance is not for graphs"):
        kith.dask.NearestNeighbors(4, max_distance=0.1).fit(points).kneighbors_graph(asked)
    with pytest.raises(ValueError, match="has not been fitted"):
        kith.dask.NearestNeighbors().kneighbors(asked)


# On a cluster of processes.

ROWS, DIMS, BLOCKS = 200_000, 64, 40


def read_slowly(number, seed, rows, dims, seconds):
    """A block, made anew whenever it is read."""
    time.sleep(seconds)
    return np.random.default_rng([seed, number]).integers(0, 4, (rows, dims)).astype(np.float32)


def slow_points(seconds):
    rows = ROWS // BLOCKS
    read = dask.delayed(read_slowly, pure=True)
    blocks = [da.from_delayed(read(i, 5, rows, DIMS, seconds), (rows, DIMS), np.float32) for i in range(BLOCKS)]
    return da.concatenate(blocks)


def kill_workers(pids, future, killed):
    """Kills workers, one after the other, while they search."""
    for pid in pids:
        time.sleep(0.7)
        os.kill(pid, signal.SIGKILL)
        if not future.done():
            killed.append(pid)


@pytest.fixture(scope="module")
def slow_answer():
    with dask.config.set(scheduler="synchronous"):
        base = slow_points(0).compute()
    queries = base[::2000]
    return queries, sha1(*kith.search(base, queries, 10))


@pytest.mark.parametrize("killed", [0, 1, 2])
def test_killed_workers(cluster, slow_answer, killed):
    queries, wanted = slow_answer
    cluster.wait_for_workers(4, timeout=60)
    found = kith.dask.search(slow_points(0.3), queries, 10)
    pids = list(cluster.run(os.getpid).values())[:killed]
    future = cluster.compute(dask.delayed(list)(found))
    dead = []
    killer = threading.Thread(target=kill_workers, args=(pids, future, dead))
    killer.start()
    answer = future.result(timeout=120)
    killer.join()
    assert sha1(*answer) == wanted
    assert len(dead) == killed


def test_memory_of_workers(cluster, rng):
    """A base of 1 GB passes through workers of 400 MB; no worker is stopped or holds more."""
    cluster.wait_for_workers(4, timeout=60)
    rows, dims, blocks = 62_500, 64, 64
    read = dask.delayed(read_slowly, pure=True)
    points = da.concatenate(
        [da.from_delayed(read(i, 6, rows, dims, 0), (rows, dims), np.float32) for i in range(blocks)]
    )
    assert points.nbytes == 1_024_000_000
    pids = set(cluster.run(os.getpid).values())
    distances, indices = cluster.compute(
        dask.delayed(list)(kith.dask.search(points, rng.random((4, dims)), 10))
    ).result(120)
    assert (indices >= 0).all() and (np.diff(distances) >= 0).all()
    peaks = cluster.run(peak_memory)
    print("peak memory of workers:", {name: f"{peak / 1e6:.0f} MB" for name, peak in peaks.items()})
    assert set(cluster.run(os.getpid).values()) == pids and max(peaks.values()) < 400e6


def peak_memory():
    """Of this process alone: that of resource.getrusage() begins with its parent's."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def test_persisted_and_scattered_bases(cluster, rng):
    base = tied_points(rng, 60, 3)
    whole = sha1(*kith.search(base, base[:5], 3))
    with cluster.as_current():
        persisted = cluster.persist(da.from_array(base, chunks=(10, 3)) + 0)
        found = kith.dask.search(persisted, base[:5], 3)
        assert sha1(*cluster.gather(cluster.compute(list(found)))) == whole
        scattered = da.from_delayed(cluster.scatter(base), base.shape, base.dtype)
        with pytest.raises(ValueError, match="1 of 1 chunks that were scattered"):
            kith.dask.search(scattered, base[:5], 3)
