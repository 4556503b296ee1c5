"""Vectors of Arrow and Parquet."""

import subprocess
import sys

import numpy as np
import pytest

import kith
from kith import _kith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def fixed(points):
    return pa.FixedSizeListArray.from_arrays(pa.array(points.reshape(-1)), points.shape[1])


def lists(points, kind=None):
    return pa.array(list(points), kind or pa.list_(pa.from_numpy_dtype(points.dtype)))


@pytest.fixture
def points(rng):
    return rng.random((25, 4), dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8, np.int8, np.int32])
@pytest.mark.parametrize("layout", ["fixed", "list", "large_list"])
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
def test_columns_of_vectors(rng, tmp_path, dtype, layout, name):
    points = rng.integers(0, 100, (25, 4)).astype(dtype)
    kind = {"list": pa.list_, "large_list": pa.large_list}.get(layout)
    column = fixed(points) if kind is None else lists(points, kind(pa.from_numpy_dtype(points.dtype)))
    write(pa.table({"id": range(25), "vector": column}), tmp_path / name)
    again = kith.read(tmp_path / name)
    assert again.dtype == dtype and np.array_equal(again, points) and not again.flags.writeable
    assert np.array_equal(kith.read_all(tmp_path / name)["id"], np.arange(25))


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=7)
    elif path.suffix == ".feather":
        import pyarrow.feather

        pyarrow.feather.write_feather(table, path, chunksize=7)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table, max_chunksize=7)


def test_streams_are_read(tmp_path, points):
    table = pa.table({"vector": fixed(points)})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    assert np.array_equal(kith.read(tmp_path / "a.arrow"), points)


def test_one_piece_is_not_copied(tmp_path, points):
    table = pa.table({"vector": fixed(points)})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    before = pa.total_allocated_bytes()
    again = kith.read(tmp_path / "a.arrow")
    assert np.array_equal(again, points)
    assert pa.total_allocated_bytes() == before and not again.flags.owndata  # it is in the mapped file


def test_which_column(tmp_path, points):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": range(25), "a": fixed(points), "b": fixed(points + 1)}), path)
    with pytest.raises(ValueError, match="several columns of vectors, name one by column=: a, b"):
        kith.read(path)
    assert np.array_equal(kith.read(path, column="b"), points + 1)
    with pytest.raises(ValueError, match="no column 'c'; it has id, a, b"):
        kith.read(path, column="c")
    with pytest.raises(ValueError, match="column 'id' is of int64"):
        kith.read(path, column="id")
    with pytest.raises(ValueError, match="by column=, not by array="):
        kith.read(path, "b")
    with pytest.raises(ValueError, match="for files of Parquet and Arrow"):
        kith.read(tmp_path / "a.npy", column="b")


def test_plain_columns_side_by_side(tmp_path, points):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({name: points[:, i] for i, name in enumerate("xyzw")}), path)
    assert np.array_equal(kith.read(path), points)
    assert np.array_equal(kith.read(path, columns=["z", "x"]), points[:, [2, 0]])
    pq.write_table(pa.table({"name": ["a"]}), path)
    with pytest.raises(ValueError, match="no column of vectors, but name: string"):
        kith.read(path)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_what_is_no_matrix(tmp_path, points, name):
    rows = points.tolist()
    path = tmp_path / name

    def refused(rows, match, kind=pa.list_(pa.float32())):
        write(pa.table({"vector": pa.array(rows, kind)}), path)
        with pytest.raises(ValueError, match=match):
            kith.read(path)

    refused([*rows[:17], None, *rows[18:]], "'vector': row 17 is null")
    refused([*rows[:17], None, *rows[18:]], "'vector': row 17 is null", pa.list_(pa.float32(), 4))
    refused([*rows[:17], [1, None, 3, 4], *rows[18:]], "'vector': row 17 has a null at 1")
    refused([*rows[:17], [1, 2, 3], *rows[18:]], "'vector': row 17 has 3 numbers, and rows before have 4")
    refused([*rows[:14], *[[1, 2, 3]] * 11], "'vector': row 14 has 3 numbers, and rows before have 4")
    refused([["a"]], "no column of vectors", pa.list_(pa.string()))


def test_damaged_and_missing_files(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 but nothing more")
    with pytest.raises(ValueError, match="a.parquet"):
        kith.read(tmp_path / "a.parquet")
    with pytest.raises(FileNotFoundError):
        kith.read(tmp_path / "b.parquet")


def test_without_pyarrow(tmp_path, points, monkeypatch):
    pq.write_table(pa.table({"vector": fixed(points)}), tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="a.parquet: reading Parquet needs pyarrow, .* pip install pyarrow"):
        kith.read(tmp_path / "a.parquet")


def test_empty_files(tmp_path, points):
    for column in (fixed(points)[:0], lists(points)[:0]):
        pq.write_table(pa.table({"vector": column}), tmp_path / "a.parquet")
        assert kith.read(tmp_path / "a.parquet").shape[0] == 0


def test_arrays_of_arrow_are_searched(points):
    whole = kith.search(points, points[:3], 2)
    column = pa.chunked_array([fixed(points[:9]), fixed(points[9:])])
    for base in (fixed(points), lists(points), column, pa.table({"id": range(25), "v": column}), fixed(points)[:]):
        found = kith.search(base, lists(points[:3]), 2)
        assert np.array_equal(found.indices, whole.indices) and np.array_equal(found.distances, whole.distances)
    assert kith.explain(pa.table({"v": column}), 3, 2).base_fits is not None
    with pytest.raises(ValueError, match="base: row 1 is null"):
        kith.search(pa.array([[1.0], None]), [[1.0]], 1)
    with pytest.raises(ValueError, match="1 dimension"):
        kith.search(pa.array([1.0, 2.0]), [[1.0]], 1)


def test_the_command_line_says_how_to_convert(tmp_path, points):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": fixed(points), "b": fixed(points + 1)}), path)
    with pytest.raises(ValueError, match="Parquet is read by the Python package; 'python -m kith convert .*a.parquet"):
        _kith.read(str(path), "auto", "", [])
    command = [sys.executable, "-m", "kith", "convert", str(path), str(tmp_path / "points.npy")]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert (
        refused.returncode == 1 and "name one by column=" in refused.stderr and not (tmp_path / "points.npy").exists()
    )
    subprocess.run([*command, "--column", "b"], check=True)
    assert np.array_equal(np.load(tmp_path / "points.npy"), points + 1)
