"""Points of float16 and bfloat16: answers are those of the same numbers in float32, bit for bit, without a copy."""

import pickle
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

import kith
from kith import _arrays, _libraries

KINDS = ["float16", "bits", "ml_dtypes"]


def narrow(values, kind):
    """Numbers rounded to a type of 16 bits, and the same as float32. `bits`: bfloat16 by its bits alone."""
    if kind == "float16":
        rounded = values.astype(np.float16)
        return rounded, rounded.astype(np.float32)
    cut = (values.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    if kind == "ml_dtypes":
        return cut.astype(pytest.importorskip("ml_dtypes").bfloat16), cut
    return (cut.view(np.uint32) >> 16).astype(np.uint16).view(_arrays.BFLOAT16), cut


@pytest.fixture(params=KINDS)
def points(request, rng):
    """Base and queries, and both as float32."""
    base, wide = narrow(rng.standard_normal((300, 7)), request.param)
    queries, wide_queries = narrow(rng.standard_normal((20, 7)), request.param)
    return base, queries, wide, wide_queries


def assert_same(found, want):
    for one, other in zip(found, want):
        assert one.dtype == other.dtype and (one == other).all()


@pytest.mark.parametrize("method", ["auto", "brute", "tree", "triangle", "shifted-sort"])
def test_search(points, method):
    base, queries, wide, wide_queries = points
    want = kith.search(wide, wide_queries, 5, method=method)
    assert want.distances.dtype == np.float32
    assert_same(kith.search(base, queries, 5, method=method), want)
    assert_same(kith.Index(base, method=method).search(queries, 5), want)
    assert_same(kith.Index(base, method=method).search_self(5), kith.Index(wide, method=method).search_self(5))


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan", "chebyshev", "cosine", "inner_product", "hamming"])
def test_metrics(points, metric):
    base, queries, wide, wide_queries = points
    assert_same(kith.search(base, queries, 5, metric=metric), kith.search(wide, wide_queries, 5, metric=metric))
    assert (kith.distances(base, queries, metric=metric) == kith.distances(wide, wide_queries, metric=metric)).all()


def test_other_abilities(points):
    base, queries, wide, wide_queries = points
    assert_same(kith.search_radius(base, queries, 2.0), kith.search_radius(wide, wide_queries, 2.0))
    edges, want = kith.graph(base, 4, symmetrize="union"), kith.graph(wide, 4, symmetrize="union")
    assert_same((edges.data, edges.indices, edges.indptr), (want.data, want.indices, want.indptr))
    for op in ("mean", "weighted-mean", "max", "kth-distance", "density", "covariance"):
        values = wide if op in ("mean", "weighted-mean", "max") else None
        given = base if values is wide else None
        assert_same((kith.reduce(base, queries, 4, given, op),), (kith.reduce(wide, wide_queries, 4, values, op),))
    lengths = dict(lengths=[100, 0, 200], query_lengths=[5, 5, 10])
    assert_same(kith.search_batches(base, queries, 3, **lengths), kith.search_batches(wide, wide_queries, 3, **lengths))
    padded, wide_padded = base.reshape((3, 100, 7)), wide.reshape((3, 100, 7))
    for given in ({}, {"lengths": [100, 7, 50]}):
        assert_same(kith.search_batches(padded, None, 3, **given), kith.search_batches(wide_padded, None, 3, **given))


@pytest.mark.parametrize("largest", [False, True])
def test_topk(points, largest):
    base, _, wide, _ = points
    for output in ("sorted", "unsorted"):
        want = kith.topk(wide, 3, largest=largest, output=output)
        assert_same(kith.topk(base, 3, largest=largest, output=output), want)
    for output in ("values_only", "kth_only"):
        want = kith.topk(wide, 3, largest=largest, output=output)
        assert_same((kith.topk(base, 3, largest=largest, output=output),), (want,))


def test_layouts(points):
    base, queries, wide, wide_queries = points
    want = kith.search(wide, wide_queries, 3)
    for layout in (
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: a[::-1].copy()[::-1],
    ):
        assert_same(kith.search(layout(base), layout(queries), 3), want)
    assert_same(kith.search(base[:, :1], queries[:, :1], 3), kith.search(wide[:, :1], wide_queries[:, :1], 3))
    assert_same(kith.search(base, queries[:0], 1), kith.search(wide, wide_queries[:0], 1))
    assert_same(kith.search_radius(base, queries[:0], 1.0), kith.search_radius(wide, wide_queries[:0], 1.0))
    with pytest.raises(ValueError, match="0 points"):
        kith.search(base[:0], queries, 1)
    with pytest.raises(ValueError, match="base has 1 dimension"):
        kith.search(base[0], queries, 1)


def test_big_endian(rng):
    base, wide = narrow(rng.standard_normal((50, 4)), "float16")
    assert_same(kith.search(base.astype(">f2"), base[:5], 3), kith.search(wide, wide[:5], 3))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(rng, kind, value):
    values = rng.standard_normal((40, 5))
    good = narrow(values, kind)[0]
    values[13, 3] = value
    bad = narrow(values, kind)[0]
    for call in (lambda: kith.search(bad, good, 1), lambda: kith.search(good, bad, 1), lambda: kith.Index(bad)):
        with pytest.raises(ValueError, match="row 13.*column 3"):
            call()


@pytest.mark.parametrize("kind", KINDS)
def test_queries_take_the_type_of_the_base(rng, kind):
    whole = rng.integers(0, 100, (40, 3))
    base, wide = narrow(whole, kind)
    want = kith.search(wide, wide[:5], 4)
    for queries in (whole[:5].tolist(), *(whole[:5].astype(d) for d in ("f2", "f4", "f8", "i8", "i2", "u1", "i1"))):
        assert_same(kith.search(base, queries, 4), want)
        assert_same(kith.Index(base).search(queries, 4), want)
    for dtype in ("f4", "f8", "u1", "i1"):
        assert_same(kith.search(whole.astype(dtype), base[:5], 4), kith.search(whole.astype(dtype), wide[:5], 4))
    assert_same((kith.distances(base, whole.astype("f8")),), (kith.distances(whole.astype("f8"), whole.astype("f8")),))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("query, shown", [(0.1, "0.1"), (2049, "2049.0"), (1e30, r"1e\+30"), (1e300, r"1e\+300")])
def test_queries_that_the_type_does_not_hold(kind, query, shown):
    base, _ = narrow(np.ones((3, 2)), kind)
    name = "float16" if kind == "float16" else "bfloat16"
    message = f"queries hold {shown} in row 1; a base of {name} takes numbers that {name} holds"
    for search in (kith.search, lambda base, queries, k: kith.Index(base).search(queries, k)):
        with pytest.raises(ValueError, match=message):
            search(base, [[1.0, 1.0], [1.0, query]], 1)


def test_queries_that_are_not_finite_are_the_searchs_to_refuse():
    for kind in ("float16", "bits"):
        base, _ = narrow(np.ones((3, 2)), kind)
        for query in (np.nan, np.inf):
            with pytest.raises(ValueError, match="row 1.*column 1"):
                kith.search(base, [[1.0, 1.0], [1.0, query]], 1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_base_is_never_copied(rng, kind):
    base, _ = narrow(rng.integers(0, 100, (200_000, 16)), kind)
    for view in (base, base[::2], base[:, :8], base.T):
        assert np.shares_memory(_arrays.as_points(view, "base").view(np.uint16), view.view(np.uint16))
    whole = _arrays.widened(base[:1]).astype(np.float64)
    tracemalloc.start()
    kith.search(base, base[:1], 5)
    kith.search(base, whole, 5)
    kith.search_radius(base, whole.tolist(), 1.0)
    kith.reduce(base, whole.tolist(), 5, op="kth-distance")
    kith.topk(base, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < base.nbytes


@pytest.mark.parametrize("kind", ["float16", "bits"])
def test_the_process_takes_no_memory_for_float32(kind):
    """In a process of its own, whose peak grows by less than the base; in float32 that would take two times as much."""
    script = textwrap.dedent(f"""
        import resource, numpy as np, kith
        from kith._arrays import BFLOAT16
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        base = np.full((2_000_000, 16), 0x3C00, np.uint16).view({"np.float16" if kind == "float16" else "BFLOAT16"})
        options = dict(method="brute", memory="4MB", backend="cpu")
        kith.search(base[:1000], base[:10], 3, **options)
        before = peak()
        kith.search(base, base[:10], 3, **options)
        kith.Index(base, **options).search(base[:10], 3)
        kith.topk(base[:1000], 3)
        assert peak() - before < base.nbytes / 2, (before, peak(), base.nbytes)
        """)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_types_by_name(points):
    base, _, _, _ = points
    index = kith.Index(base)
    name = "float16" if base.dtype == np.float16 else "bfloat16"
    assert repr(index) == f"Index(300 points of 7 dimensions, {name}, euclidean)"
    assert _arrays.name_of(index.dtype) == name
    if base.dtype != _arrays.BFLOAT16:
        assert index.dtype == base.dtype
    again = pickle.loads(pickle.dumps(index))
    assert_same(again.search(base[:3], 2), index.search(base[:3], 2))
    for plan in (kith.explain(base, 10, 3), kith.explain((300, 7), 10, 3, dtype=name), index.explain(10, 3)):
        assert plan.method
    assert kith.explain((300, 7), 10, 3, dtype=base.dtype).method


@pytest.mark.parametrize("dtype", [np.complex64, "M8[s]", [("x", np.uint16)], [("x", "f4"), ("y", "f4")], "V2"])
def test_other_types_are_refused(dtype):
    with pytest.raises(TypeError, match="float32, float64, float16, bfloat16, uint8 and int8 are searched"):
        kith.search(np.zeros((2, 2), dtype), np.zeros((2, 2)), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_files(rng, tmp_path, kind):
    base, wide = narrow(rng.standard_normal((30, 5)), kind)
    names = ["a.h5", "a.f16bin", "a.npy", "a.npz"] if kind == "float16" else ["a.h5", "a.bf16bin"]
    for name in names:
        kith.write(tmp_path / name, base[::2])
        again = kith.read(tmp_path / name)
        assert _arrays.name_of(again.dtype) == _arrays.name_of(base.dtype)
        assert (_arrays.widened(again) == wide[::2]).all()
        assert_same(kith.search(again, again[:3], 2), kith.search(wide[::2], wide[:6:2], 2))
        for loaded in kith.read_all(tmp_path / name).values():
            assert loaded.dtype == again.dtype
    if kind == "float16":
        assert np.load(tmp_path / "a.npy").dtype == np.float16
    else:
        for name in ("a.npy", "a.npz"):
            with pytest.raises(ValueError, match="bfloat16; convert to float32"):
                kith.write(tmp_path / name, base)
    kith.write(tmp_path / "a.fvecs", base)
    assert (kith.read(tmp_path / "a.fvecs") == wide).all()


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_h5py(rng, tmp_path, kind):
    h5py = pytest.importorskip("h5py")
    base, wide = narrow(rng.standard_normal((30, 5)), kind)
    kith.write(tmp_path / "a.h5", {"x": base})
    with h5py.File(tmp_path / "a.h5") as file:
        assert (np.asarray(file["x"], np.float32) == wide).all()
        assert kind != "float16" or file["x"].dtype == np.float16
    if kind == "float16":
        with h5py.File(tmp_path / "b.h5", "w") as file:
            file["x"] = base
        assert kith.read(tmp_path / "b.h5").dtype == np.float16


def test_bfloat16_of_files_without_ml_dtypes(rng, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    base, wide = narrow(rng.standard_normal((30, 5)), "bits")
    kith.write(tmp_path / "a.bf16bin", base)
    again = kith.read(tmp_path / "a.bf16bin")
    assert again.dtype == _arrays.BFLOAT16 == kith.Index(again).dtype
    assert_same(kith.search(again, again[:3], 2), kith.search(wide, wide[:3], 2))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_torch(rng, name):
    torch = pytest.importorskip("torch")
    wide = torch.from_numpy(rng.standard_normal((60, 5)).astype(np.float32)).to(getattr(torch, name)).float()
    base = wide.to(getattr(torch, name))
    for given, plain in ((base, wide), (base.T, wide.T), (base[::2], wide[::2])):
        assert_same(kith.search(given, given[:4], 3), kith.search(plain, plain[:4], 3))
        assert_same(kith.topk(given, 2), kith.topk(plain, 2))
    assert _libraries.library_of(base).ready(base, "base").ctypes.data == base.data_ptr()
    assert_same((kith.reduce(wide, wide, 3, base),), (kith.reduce(wide, wide, 3, wide),))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_jax(rng, name):
    jax = pytest.importorskip("jax")
    base = jax.numpy.asarray(rng.standard_normal((60, 5))).astype(name)
    if next(iter(base.devices())).platform != "cpu":
        pytest.skip("JAX's default device is no CPU")
    wide = base.astype("float32")
    found = kith.search(base, base[:4], 3)
    assert type(found.distances) is type(base)
    assert_same(found, kith.search(wide, wide[:4], 3))
    assert_same(kith.topk(base, 2), kith.topk(wide, 2))


def test_queries_on_a_device():
    """What is done to them before they are searched needs no device."""
    from emulated_arrays import Array, Device

    device = Device(0)
    half = Array(np.ones((2, 2), np.float16))
    assert np.shares_memory(half.values, device.ready(half, "base").values)
    held = device.convert_queries(Array(np.array([[0.5, np.nan], [-65504, np.inf]])), _arrays.FLOAT16)
    assert held.dtype == np.float16 and np.isnan(held.values[0, 1]) and held.values[1, 0] == -65504
    assert device.widened(half, 0).dtype == np.float32
    for bad in (0.1, 65520.0):
        with pytest.raises(ValueError, match="queries hold other numbers; a base of float16 takes numbers that float16"):
            device.convert_queries(Array(np.array([[bad]])), _arrays.FLOAT16)


class FakeTorch:
    """A tensor of bfloat16 as PyTorch has it, in its words: of which NumPy gets the bits alone."""

    int16 = "torch.int16"

    class Tensor:
        dtype = "torch.bfloat16"

        def __init__(self, array):
            self.array, self.shape = array, array.shape

        def detach(self):
            return self

        cpu = detach

        def view(self, dtype):
            assert dtype == FakeTorch.int16
            return FakeTorch.Bits(self.array.view(np.int16))

        def numpy(self):
            raise TypeError("Got unsupported ScalarType BFloat16")

    class Bits:
        def __init__(self, array):
            self.array = array

        def numpy(self):
            return self.array


def test_bits_of_torch(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", FakeTorch)
    base, _ = narrow(rng.standard_normal((60, 5)), "bits")
    FakeTorch.Tensor.__module__ = "torch"
    seen = _libraries.to_host(FakeTorch.Tensor(base))
    assert seen.dtype == _arrays.BFLOAT16 and np.shares_memory(seen.view(np.uint16), base.view(np.uint16))
