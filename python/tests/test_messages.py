"""Arguments of the wrong type or size are refused in words that name them, whatever function takes them."""

import inspect
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import kith

POINTS = np.arange(12, dtype=np.float32).reshape(4, 3)
FUNCTIONS = {
    "search": (kith.search, POINTS, POINTS, 1),
    "search_radius": (kith.search_radius, POINTS, POINTS, 1.0),
    "distances": (kith.distances, POINTS, POINTS),
    "explain": (kith.explain, POINTS, POINTS, 1),
    "graph": (kith.graph, POINTS, 1),
    "reduce": (kith.reduce, POINTS, POINTS, 1, POINTS),
    "topk": (kith.topk, POINTS, 1),
    "Index": (kith.Index, POINTS),
}
NAMES = ("metric", "backend", "method", "distance", "select", "symmetrize", "mode", "output")
FLAGS = ("check_finite", "statistics", "largest", "count_only")
WRONG = {
    **{name: [(True, TypeError), (3, TypeError), (["a"], TypeError), ("no such", ValueError)] for name in NAMES},
    **{flag: [("no", TypeError), (2, TypeError), (None, TypeError)] for flag in FLAGS},
    "threads": [("all", TypeError), (1.0, TypeError), ([2], TypeError), (2**31, ValueError), (-1, ValueError)],
    "memory": [("lots", ValueError), ("0.1 B", ValueError), ("1 EB", ValueError), ([1], TypeError), (True, TypeError)]
    + [(1.5, ValueError), (np.nan, ValueError), (np.inf, ValueError), (2**63, ValueError), (-1, ValueError)],
    "devices": [("0", TypeError), (0, TypeError), ([0.5], TypeError), (["a"], TypeError), ([[0]], TypeError)]
    + [([], ValueError), ([0, -1], ValueError), ([2**31], ValueError)],
    "p": [("a", TypeError), ([3], TypeError), (True, TypeError), (0.5, ValueError), (np.nan, ValueError)],
    "tuning": [("shifts", TypeError), ([("shifts", 1)], TypeError), ({1: 2}, TypeError)],
    "max_distance": [("far", TypeError), ([1.0], TypeError), (True, TypeError), (-1.0, ValueError), (np.nan, ValueError)],
    "epsilon": [("some", TypeError), (None, TypeError), (-0.1, ValueError), (np.nan, ValueError), (np.inf, ValueError)],
    "period": [(1.0, TypeError), ("111", TypeError), ([1.0, "a", 0.0], TypeError), ([1.0, 1.0], ValueError)]
    + [([1.0, -1.0, 1.0], ValueError), ([1.0, np.nan, 1.0], ValueError), ([[1.0, 1.0, 1.0]], TypeError)],
    "progress": [("bar", TypeError), (3, TypeError)],
}
CASES = [
    (name, keyword, value, kind)
    for name, (function, *_) in FUNCTIONS.items()
    for keyword, values in WRONG.items()
    if keyword in inspect.signature(function).parameters
    for value, kind in values
]


@pytest.mark.parametrize("name, keyword, value, kind", CASES)
def test_keywords(name, keyword, value, kind):
    function, *arguments = FUNCTIONS[name]
    keywords = {"metric": "minkowski"} if keyword == "p" else {}
    with pytest.raises(kind) as caught:
        function(*arguments, **{**keywords, keyword: value})
    text = str(caught.value)
    assert "incompatible" not in text and "_kith" not in text and "\n" not in text
    # By its keyword; or, where it is a name that is not known, by itself.
    assert keyword in text or str(value) in text


@pytest.mark.parametrize("value, kind", [(2.0, TypeError), ("2", TypeError), (None, TypeError), (2**63, ValueError)])
def test_k(value, kind):
    index = kith.Index(POINTS)
    for call in (
        lambda: kith.search(POINTS, POINTS, value),
        lambda: kith.explain(POINTS, 1, value),
        lambda: kith.graph(POINTS, value),
        lambda: kith.reduce(POINTS, POINTS, value, POINTS),
        lambda: kith.topk(POINTS, value),
        lambda: index.search(POINTS, value),
        lambda: index.search_self(value),
        lambda: index.explain(1, value),
    ):
        with pytest.raises(kind, match="k must be an integer, not" if kind is TypeError else f"k = {2**63}"):
            call()
    assert kith.search(POINTS, POINTS, np.int64(2)).indices.shape == (4, 2)


@pytest.mark.parametrize("memory", ["1GB", "1 gb", 1e9, np.float64(1e9), 10**9, np.int64(10**9)])
def test_sizes_of_memory(memory):
    assert kith.explain(POINTS, POINTS, 1, backend="cpu", memory=memory).budget == 10**9
    assert kith.topk(POINTS, 1, memory=memory).indices.shape == (4, 1)


def test_units_of_memory():
    for text, size in (("512MiB", 2**29), ("64k", 2**16), ("1.5GiB", 3 * 2**29), ("500 MB", 5 * 10**8), ("9000", 9000)):
        assert kith._checks.as_bytes(text) == size


def test_backends_that_are_offered():
    for call in (lambda: kith.search(POINTS, POINTS, 1, backend="gpu"), lambda: kith.topk(POINTS, 1, backend="gpu")):
        with pytest.raises(ValueError, match="known are auto, cpu, cuda$"):
            call()


def test_bits_are_not_elements():
    with pytest.raises(ValueError, match="compares whole elements; packed bits are for kith.search_bits"):
        kith.search(POINTS, POINTS, 1, metric="bit_hamming")
    packed = np.array([[0b0000], [0b1111]], np.uint8)
    query = np.array([[0b0001]], np.uint8)
    assert kith.search(packed, query, 2, metric="hamming").distances.tolist() == [[1, 1]]
    bits, query = np.unpackbits(packed, axis=1), np.unpackbits(query, axis=1)
    assert kith.search(bits, query, 2, metric="hamming").distances.tolist() == [[1 / 8, 3 / 8]]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: kith.search_radius(POINTS, POINTS, "far"), "radius is a path or other text"),
        (lambda: kith.search_radius(POINTS, POINTS, [1j]), "radius has dtype complex128"),
        (lambda: kith.reduce(POINTS, POINTS, 1, POINTS, op=None), "op must be a name such as 'mean', not NoneType"),
        (lambda: kith.normals(POINTS, 2.0), "dims must be an integer, not float 2.0"),
        (lambda: kith.read(__file__, format=3), "format must be a name such as 'npy', not int 3"),
        (lambda: kith.read(__file__, array=3), "array must be a name"),
        (lambda: kith.read(__file__, columns="xyz"), "columns must be a list of names or numbers, not str 'xyz'"),
        (lambda: kith.write("a.h5", POINTS, attributes={"rows": 4}), "attribute 'rows' must be"),
        (lambda: kith.write("a.h5", POINTS, compress="yes"), "compress must be True or False, not str 'yes'"),
    ],
)
def test_other_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_the_names_that_types_list_are_the_names():
    """Of typing.Literal, for type checkers, and of the library."""
    from typing import get_args

    from kith import _kith, _types

    backends = [name for name in get_args(_types.BackendName) if name != "auto"]
    listed = {
        "metric": (_types.DenseMetricName, _kith.metrics()),
        "method": (_types.MethodName, sum(map(_kith.method_names, backends), [])),
        "distance": (_types.DistanceName, sum(map(_kith.distance_names, backends), [])),
        "select": (_types.SelectName, _kith.select_names("cuda")),
    }
    for keyword, (names, known) in listed.items():
        assert set(known) <= set(get_args(names)), keyword
        for name in get_args(names):
            _kith.Options(*(name if keyword == one else default for one, default in OPTIONS.items()))
    for op in get_args(_types.ReduceName):
        _kith.reduce_op(op)
    for symmetrize in get_args(_types.Symmetrize):
        kith.graph(POINTS, 1, symmetrize=symmetrize)


OPTIONS = {
    "metric": "euclidean", "p": None, "backend": "auto", "method": "auto", "distance": "auto", "select": "auto",
    "threads": 0, "memory": 0, "check_finite": True, "statistics": False,
    "max_distance": np.inf, "epsilon": 0.0, "period": (), "tuning": None, "devices": (),
}  # fmt: skip


def test_answers_that_a_container_does_not_hold(monkeypatch):
    limits = {"memory": 20 << 20, "memory_source": "memory limit of a cgroup"}
    monkeypatch.setattr(kith._libraries, "_kith", SimpleNamespace(host_limits=lambda: limits))
    many = np.zeros((3000, 1), np.float32)
    with pytest.raises(MemoryError, match="3000 × 3000 takes 36000000 bytes; the memory limit of a cgroup has 20971520"):
        kith.distances(many, many)
    assert kith.distances(many, many[:1000]).shape == (3000, 1000)
    limits["memory_source"] = "the machine's memory"  # which may have pages to swap out
    assert kith.distances(many, many).shape == (3000, 3000)


def test_devices_that_cannot_be_used_are_named_once(monkeypatch):
    from kith import _options

    old = {"name": "Old", "problem": "Old (compute capability 5.0) is here, but no build can use it"}
    monkeypatch.setattr(_options, "cuda_devices", lambda: [old])
    _options._warn_of_unusable_devices.cache_clear()
    with pytest.warns(RuntimeWarning, match="compute capability 5.0.*backend='cpu'") as found:
        for threads in (1, 2):  # other keywords, so that both are made
            kith.search(POINTS, POINTS, 1, memory="77 MB", threads=threads)
    assert len(found) == 1
    assert found[0].filename == __file__

    monkeypatch.setattr(_options, "cuda_devices", lambda: [old, {"name": "New", "problem": ""}])
    _options._warn_of_unusable_devices.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.search(POINTS, POINTS, 1, memory="78 MB")
    _options._warn_of_unusable_devices.cache_clear()
