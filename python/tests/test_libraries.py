"""Host arrays of other libraries: answers come back in theirs."""

import numpy as np
import pytest

import kith


class OnlyDLPack:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array):
        self._array = array
        self.shape = array.shape

    def __dlpack__(self, **keywords):
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack(rng):
    base = rng.standard_normal((50, 4)).astype(np.float32)
    found = kith.search(OnlyDLPack(base), OnlyDLPack(base[:3]), 2)
    assert type(found.indices) is np.ndarray
    assert (found.indices == kith.search(base, base[:3], 2).indices).all()


@pytest.mark.parametrize("name", ["torch", "jax.numpy"])
def test_library_of_the_queries(rng, name):
    library = pytest.importorskip(name)
    base = rng.standard_normal((50, 4)).astype(np.float32)
    mine = library.asarray(base)
    if name == "jax.numpy" and mine.device.platform != "cpu":
        pytest.skip("JAX's default device has indices in its 64-bit mode only")
    for points, queries in ((mine, mine[:3]), (base, mine[:3])):
        found = kith.search(points, queries, 2)
        assert type(found.distances) is type(mine)
        assert (np.asarray(found.indices) == kith.search(base, base[:3], 2).indices).all()
    index = kith.Index(mine)
    assert type(index.search_self(2).indices) is type(mine)
    assert type(index.search(base[:3], 2).indices) is np.ndarray
    assert type(kith.search_radius(mine, mine[:3], 1.0).offsets) is type(mine)
    assert type(kith.topk(mine, 2).values) is type(mine)
    assert type(kith.distances(mine, base)) is type(mine) and type(kith.distances(base, mine)) is np.ndarray
    assert type(kith.normals(kith.reduce(mine, mine, 4, op="covariance"), 4)) is type(mine)
    for values in (base, mine, mine[:, 0]):
        got = kith.reduce(base, mine, 4, values)
        assert type(got) is type(mine)
        assert (np.asarray(got) == kith.reduce(base, base, 4, np.asarray(values))).all()


def test_torch_without_a_copy(rng):
    torch = pytest.importorskip("torch")
    tensor = torch.randn(50, 4, requires_grad=True)
    assert kith._libraries.library_of(tensor).ready(tensor, "base").ctypes.data == tensor.data_ptr()


class OnACudaDevice:
    """Claims to lie on a device."""

    shape = (2, 2)
    dtype = np.dtype(np.float32)

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **keywords):
        raise AssertionError("never asked for")


def test_device_arrays_need_a_library_for_the_answer(rng, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TypeError, match="CuPy or PyTorch"):
        kith.search(OnACudaDevice(), OnACudaDevice(), 1)


def test_streams():
    from kith._libraries import stream_handle

    class Torch:
        cuda_stream = 7

    class Cupy:
        ptr = 8

    class Protocol:
        def __cuda_stream__(self):
            return (0, 9)

    assert [stream_handle(s) for s in (None, 0, 1, 5, Torch(), Cupy(), Protocol())] == [None, 1, 1, 5, 7, 8, 9]
    with pytest.raises(ValueError, match="-1"):
        stream_handle(-1)
    with pytest.raises(TypeError, match="str"):
        stream_handle("default")
