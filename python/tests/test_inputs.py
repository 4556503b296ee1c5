"""What points may come as: data frames, other types than the base's; and how the rest is refused."""

import pathlib
import tracemalloc

import numpy as np
import pytest

import kith


@pytest.fixture
def points(rng):
    return rng.integers(0, 100, (40, 3))


def test_datasets_of_files(points, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"], file["y"] = points.astype(np.float32), points.astype(np.float64)
        for stored in (file["x"], file["y"]):
            assert kith.search(stored, stored[:3], 2).indices[:, 0].tolist() == [0, 1, 2]


def test_byte_order_of_what_is_written(points, tmp_path):
    for code in ("<i8", "<i4", "<f4", "<f8"):
        dtype = np.dtype(code).newbyteorder("<")
        kith.write(tmp_path / "a.npy", points.astype(dtype))
        assert (np.load(tmp_path / "a.npy") == points).all()


PANDAS_TYPES = ["Float32", "Float64", "Int64", "UInt8", "float[pyarrow]", "int64[pyarrow]"]


@pytest.mark.parametrize("dtype", PANDAS_TYPES)
def test_pandas_types_of_its_own(points, dtype):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(points, columns=list("abc")).astype(dtype)
    index = kith.Index(frame)
    assert index.dtype == {"Float32": "f", "float[pyarrow]": "f", "UInt8": "B"}.get(dtype, "d")
    want = kith.search(points, points[:5], 3)
    for found in (index.search(frame[:5], 3), kith.search(frame, points[:5].tolist(), 3)):
        assert (found.indices == want.indices).all()
    assert (kith.reduce(points, points, 3, frame["b"]) == kith.reduce(points, points, 3, points[:, 1])).all()
    frame.iloc[7, 1] = None
    with pytest.raises(ValueError, match="base has a missing value in row 7, column 'b'"):
        kith.search(frame, frame, 1)


def test_pandas_columns(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points, columns=list("abc"))
    mixed = frame.astype({"a": "Float32", "b": "float32"})
    assert (kith.search(mixed, mixed, 3).indices == kith.search(points, points, 3).indices).all()
    for column in (["x"] * 40, np.arange(40).astype("datetime64[s]")):
        with pytest.raises(TypeError, match="queries has dtype .* in column 'd'; numbers"):
            kith.search(points, frame.assign(d=column), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int8])
@pytest.mark.parametrize("given", [list, "float32", "float64", "int64", "uint8", "int8"])
def test_queries_take_the_type_of_the_base(points, dtype, given):
    base = points.astype(dtype)
    queries = points[:5].tolist() if given is list else points[:5].astype(given)
    want = kith.search(base, base[:5], 4)
    assert want.distances.dtype == (np.float64 if dtype == np.float64 else np.float32)
    radius, mean = kith.search_radius(base, base[:5], 20.0), kith.reduce(base, base[:5], 3, points[:, 0])
    for found, other in (
        (kith.search(base, queries, 4), want),
        (kith.Index(base).search(queries, 4), want),
        (kith.search_radius(base, queries, 20.0), radius),
        (kith.Index(base).search_radius(queries, 20.0), radius),
        ((kith.reduce(base, queries, 3, points[:, 0]),), (mean,)),
    ):
        for one, another in zip(found, other):
            assert one.dtype == another.dtype and (one == another).all()


def test_float64_queries_are_rounded_to_a_float32_base():
    base = np.array([[0.1], [0.3]], np.float32)
    queries = np.array([[0.2000000043]])  # nearer to the second in float64
    for found in (kith.search(base, queries, 2), kith.Index(base).search(queries, 2)):
        assert found.indices.tolist() == kith.search(base, queries.astype(np.float32), 2).indices.tolist()
        assert found.distances.dtype == np.float32


@pytest.mark.parametrize(
    "dtype, query, message",
    [
        (np.float32, 1e39, r"queries hold 1e\+39 in row 1; a base of float32 takes numbers up to 3.4e\+38"),
        (np.float32, -np.inf, "row 1"),
        (np.uint8, 0.5, "queries hold 0.5 in row 1; a base of uint8 takes whole numbers from 0 to 255"),
        (np.uint8, -1, "queries hold -1.0 in row 1"),
        (np.uint8, 256, "queries hold 256.0 in row 1"),
        (np.int8, 128, "a base of int8 takes whole numbers from -128 to 127"),
        (np.int8, np.nan, "queries hold nan in row 1"),
    ],
)
def test_queries_that_do_not_fit_the_base(dtype, query, message):
    base = np.ones((3, 2), dtype)
    queries = [[1.0, 1.0], [1.0, query]]
    for search in (lambda: kith.search(base, queries, 1), lambda: kith.Index(base).search(queries, 1)):
        with pytest.raises(ValueError, match=message):
            search()


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_the_base_is_never_converted(rng, dtype):
    base = rng.integers(0, 100, (200_000, 16)).astype(dtype)
    tracemalloc.start()
    kith.search(base, base[:1].astype(np.float64), 5)
    kith.search(base, base[:1].tolist(), 5)
    kith.search_radius(base, base[:1].tolist(), 1.0)
    kith.reduce(base, base[:1].tolist(), 5, op="kth-distance")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < base.nbytes / 8


class LazyFrame:
    def collect(self):
        raise AssertionError("not asked for")


@pytest.mark.parametrize(
    "array, kind, message",
    [
        (np.ones(3), ValueError, r"queries has 1 dimension; .* one point is queries\[None\]"),
        (np.ones((1, 1, 3)), ValueError, "queries has 3 dimensions"),
        (5.0, ValueError, "queries has 0 dimensions"),
        ((row for row in [[1, 2, 3]]), TypeError, "queries is a generator, .* make a list of it"),
        (LazyFrame(), TypeError, r"queries is a LazyFrame, .* \.collect\(\)"),
        ("points.npy", TypeError, r"'points.npy'; .* kith.read\(\)"),
        (pathlib.Path("points.npy"), TypeError, r"'points.npy'; .* kith.read\(\)"),
        (None, TypeError, "queries is of type NoneType"),
        ({"a": 1}, TypeError, "queries is of type dict"),
        ([[1, 2, 3], [4, 5]], ValueError, "queries cannot be read as an array"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_array_of_points(points, array, kind, message):
    with pytest.raises(kind, match=message):
        kith.search(points, array, 1)
