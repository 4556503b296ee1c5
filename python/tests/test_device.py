"""Arrays on a CUDA device: exact, without copies, in the order of streams. Skipped where there is none.

Needs PyTorch or CuPy beside NumPy; runs under pytest or by itself:
    PYTHONPATH=... python test_device.py
which also prints times beside torch.cdist and topk.
"""

import sys
import unittest

import numpy as np

import kith


def library(name):
    """The module, where it is installed and there is a device."""
    if "cuda" not in kith.versions()["backends"]:
        raise unittest.SkipTest("there is no CUDA device here, or kith was built without CUDA")
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed")


def to_host(array):
    return array.cpu().numpy() if hasattr(array, "cpu") else array.get()


def points(rows, dims, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal((rows, dims)).astype(dtype)


def assert_exact(found, base, queries, k, metric="euclidean"):
    """Bit for bit the answer of the CPU, which its own tests hold against float64."""
    want = kith.search(base, queries, k, metric=metric, backend="cpu")
    assert (to_host(found.indices) == want.indices).all()
    assert (to_host(found.distances) == want.distances).all()


def nearest_in_double(torch, base, queries, k):
    distances = torch.cdist(queries.double(), base.double(), compute_mode="donot_use_mm_for_euclid_dist")
    return distances.topk(k, largest=False)


def test_torch_against_double():
    torch = library("torch")
    base, queries = (torch.from_numpy(points(rows, 64, seed=rows)).cuda() for rows in (20_000, 500))
    found = kith.search(base, queries, 10)
    want = nearest_in_double(torch, base, queries, 10)
    assert found.distances.is_cuda and found.indices.dtype == torch.int64
    assert torch.allclose(found.distances.double(), want.values, rtol=1e-6)
    assert (found.indices == want.indices).float().mean() > 0.9999
    assert found.report.plan.backend == "cuda"


def test_every_metric_and_type():
    torch = library("torch")
    for dtype in (np.float32, np.float64):
        base, queries = points(2000, 24, dtype), points(50, 24, dtype, 2)
        on_device = [torch.from_numpy(array).cuda() for array in (base, queries)]
        for metric in ("sqeuclidean", "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "inner_product"):
            assert_exact(kith.search(*on_device, 7, metric=metric), base, queries, 7, metric)


def test_torch_without_copies():
    torch = library("torch")
    base = torch.from_numpy(points(1000, 16)).cuda()
    place = kith._device.device_place(base, base)
    for array in (base, base[:, :8], base[::2], base[3:4]):
        ready = place.mine(array)
        assert ready.data_ptr() == array.data_ptr()
        assert place.take(ready, 1).data == array.data_ptr()
    assert place.mine(base.T).data_ptr() != base.data_ptr()  # columns lie apart
    before = torch.cuda.memory_allocated()
    index = kith.Index(base)
    assert torch.cuda.memory_allocated() == before
    found = index.search(base[:10], 5)
    assert torch.cuda.memory_allocated() - before <= 2 * 512 + 2 * 512
    assert found.indices[:, 0].tolist() == list(range(10))


def test_strides_and_conversions():
    torch = library("torch")
    base = points(500, 12)
    tensor = torch.from_numpy(base).cuda()
    assert_exact(kith.search(tensor[:, 2:9], tensor[:20, 2:9], 3), base[:, 2:9], base[:20, 2:9], 3)
    assert_exact(kith.search(tensor.T.contiguous().T, tensor[:20], 3), base, base[:20], 3)
    assert_exact(kith.search(tensor, tensor[:20].double(), 3), base.astype(np.float64), base[:20].astype(np.float64), 3)
    half = tensor.half()
    rounded = base.astype(np.float16).astype(np.float32)
    assert_exact(kith.search(half, half[:20], 3), rounded, rounded[:20], 3)
    bytes_ = (tensor * 20).to(torch.int8)
    assert_exact(
        kith.search(bytes_, bytes_[:20], 3),
        to_host(bytes_).astype(np.float32),
        to_host(bytes_[:20]).astype(np.float32),
        3,
    )


def test_host_and_device_together():
    torch = library("torch")
    base = points(500, 12)
    tensor = torch.from_numpy(base).cuda()
    found = kith.search(base, tensor[:20], 3)
    assert found.indices.is_cuda
    assert_exact(found, base, base[:20], 3)
    found = kith.search(tensor, base[:20], 3)
    assert type(found.indices) is np.ndarray
    want = kith.search(base, base[:20], 3, backend="cpu")
    assert (found.indices == want.indices).all() and (found.distances == want.distances).all()
    found = kith.Index(tensor).search(base[:20], 3)
    assert type(found.indices) is np.ndarray and (found.indices == want.indices).all()


def test_index_self_radius_topk():
    torch = library("torch")
    base = np.repeat(points(200, 6), 3, axis=0)
    tensor = torch.from_numpy(base).cuda()
    index = kith.Index(tensor, metric="manhattan")
    want = kith.Index(base, metric="manhattan", backend="cpu")
    found, others = index.search_self(4), want.search_self(4)
    assert (to_host(found.indices) == others.indices).all() and (to_host(found.distances) == others.distances).all()
    near = index.search_radius(tensor[:9], 1.5)
    assert near.offsets.is_cuda and (to_host(near.indices) == want.search_radius(base[:9], 1.5).indices).all()
    values, indices = kith.topk(tensor, 3, largest=True)
    assert (to_host(indices) == kith.topk(base, 3, largest=True, backend="cpu").indices).all()
    assert kith.topk(tensor, 3, output="kth_only").shape == (600, 1)
    assert len(index) == 600 and index.dtype == np.float32


def test_refusals():
    torch = library("torch")
    tensor = torch.from_numpy(points(50, 6)).cuda()
    for call in (
        lambda: kith.search(tensor, tensor, 51),
        lambda: kith.search(tensor, tensor, 0),
        lambda: kith.search(tensor, tensor[:, :3], 1),
        lambda: kith.search(tensor, tensor[0], 1),
        lambda: kith.search(tensor * float("nan"), tensor, 1),
        lambda: kith.search(tensor, tensor, 1, backend="cpu"),
    ):
        try:
            call()
        except ValueError:
            continue
        raise AssertionError("was not refused")
    assert kith.search(tensor, tensor[:0], 3).indices.shape == (0, 3)


OPS = ("mean", "weighted-mean", "sum", "min", "max", "kth-distance", "density", "covariance")


def test_reduce():
    torch = library("torch")
    for dtype in (np.float32, np.float64):
        base, queries, values = points(3000, 3, dtype), points(200, 3, dtype, 2), points(3000, 4, dtype, 3)
        on_device = [torch.from_numpy(array).cuda() for array in (base, queries)]
        numbers = torch.from_numpy(values).cuda()
        for method in ("auto", "shifted-sort"):
            keywords = {"method": method, "tuning": {"curve": "hilbert"}}
            for op in OPS:
                found = kith.reduce(*on_device, 9, numbers, op, **keywords)
                assert found.is_cuda
                want = kith.reduce(base, queries, 9, values, op, backend="cpu", **keywords)
                assert found.shape == want.shape and (to_host(found) == want).all(), (op, method)


def test_reduce_takes_what_search_takes():
    torch = library("torch")
    base, values = points(500, 6), points(500, 4, seed=2)
    tensor, numbers = torch.from_numpy(base).cuda(), torch.from_numpy(values).cuda()
    want = kith.reduce(base, base[:20], 5, values[:, 1], backend="cpu")
    for given in (numbers[:, 1], values[:, 1], values[:, 1].tolist(), numbers[:, 1].double()):
        assert (to_host(kith.reduce(tensor, tensor[:20], 5, given)) == want).all()
    found = kith.reduce(tensor, base[:20], 5, numbers)
    assert type(found) is np.ndarray and (found[:, 1] == want).all()
    part = kith.reduce(base, base[:20], 5, values[:, 1:3], backend="cpu")
    assert (to_host(kith.reduce(tensor, tensor[:20], 5, numbers[:, 1:3])) == part).all()
    stream = torch.cuda.Stream()
    assert (to_host(kith.reduce(tensor, tensor[:20], 5, numbers[:, 1:3], stream=stream)) == part).all()
    assert kith.reduce(tensor, tensor[:0], 5, numbers).shape == (0, 4)
    place = kith._device.device_place(tensor, tensor)
    for given in (numbers, numbers[:, 1:3], numbers[:, 1]):
        taken, flat = place.values(given, "float32", 500)
        assert taken.data_ptr() == given.data_ptr() and flat == (given.dim() == 1)
    for call in (
        lambda: kith.reduce(tensor, tensor, 501, numbers),
        lambda: kith.reduce(tensor, tensor[:0], 501, numbers),
        lambda: kith.reduce(tensor, tensor, 5, numbers[:10]),
        lambda: kith.reduce(tensor, tensor, 5),
        lambda: kith.reduce(tensor, tensor[:, :3], 5, numbers),
        lambda: kith.reduce(tensor, tensor, 5, op="density", metric="cosine"),
        lambda: kith.reduce(tensor, tensor, 5, numbers, backend="cpu"),
    ):
        try:
            call()
        except ValueError:
            continue
        raise AssertionError("was not refused")


def slow_copy(torch, target, source):
    """Fills the target, after a while, on the current stream."""
    torch.cuda._sleep(200_000_000)
    target.copy_(source)


def test_a_delayed_producer_is_waited_for():
    torch = library("torch")
    base, queries = points(5000, 32), points(100, 32, seed=2)
    values = [torch.from_numpy(array).cuda() for array in (base, queries)]
    torch.cuda.synchronize()
    for use_index in (False, True):
        for explicit in (False, True):
            producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
            with torch.cuda.stream(producer):
                filled = [torch.zeros_like(array) for array in values]
                for target, source in zip(filled, values):
                    slow_copy(torch, target, source)
                stream = consumer if explicit else None
                if use_index:
                    found = kith.Index(filled[0], stream=stream).search(filled[1], 5, stream=stream)
                else:
                    found = kith.search(*filled, 5, stream=stream)
            (consumer if explicit else producer).synchronize()
            assert_exact(found, base, queries, 5)


def test_answers_come_in_the_order_of_the_stream():
    """Nothing is waited for by hand: the next operation on the stream sees the answer."""
    torch = library("torch")
    base = points(5000, 32)
    tensor = torch.from_numpy(base).cuda()
    index = kith.Index(tensor)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(20):
            queries = tensor[torch.randperm(5000, device="cuda")[:200]]
            found = index.search(queries, 3)
            nearest = tensor[found.indices[:, 0]]
            del found
            assert torch.equal(nearest, queries)


def test_threads_with_streams_of_their_own():
    torch = library("torch")
    import threading

    base = points(3000, 16)
    tensor = torch.from_numpy(base).cuda()
    index = kith.Index(tensor)
    wrong = []

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(10):
                if index.search(tensor[:100], 1).indices[:, 0].tolist() != list(range(100)):
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_cupy():
    cupy = library("cupy")
    base = points(2000, 24)
    array = cupy.asarray(base)
    found = kith.search(array, array[:50], 5)
    assert type(found.indices) is cupy.ndarray
    assert_exact(found, base, base[:50], 5)
    assert kith._device.device_place(array, array).take(array, 1).data == array.data.ptr
    stream = cupy.cuda.Stream(non_blocking=True)
    assert_exact(kith.Index(array, stream=stream).search(array[:50], 5, stream=stream), base, base[:50], 5)
    with stream:
        assert_exact(kith.search(array.T.copy().T, array[:50], 5), base, base[:50], 5)
    assert_exact(kith.Index(array).search(array[:50].astype(cupy.float64), 5), base, base[:50], 5)
    values, indices = kith.topk(array, 4)
    assert (indices.get() == kith.topk(base, 4, backend="cpu").indices).all()
    others = kith.Index(base, backend="cpu").search_self(3)
    assert (kith.Index(array).search_self(3).indices.get() == others.indices).all()
    means = kith.reduce(array, array[:50], 5, array[:, 0], stream=stream)
    assert type(means) is cupy.ndarray
    assert (means.get() == kith.reduce(base, base[:50], 5, base[:, 0], backend="cpu")).all()


def test_cuda_array_interface_alone():
    cupy = library("cupy")

    class Only:
        def __init__(self, array):
            self._array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    base = points(300, 8)
    array = cupy.asarray(base)
    assert_exact(kith.search(Only(array), Only(array[:20]), 3), base, base[:20], 3)


def time_beside_torch():
    """Milliseconds of a search of prepared points, on the device's clock."""
    torch = library("torch")
    base = torch.from_numpy(points(200_000, 128)).cuda()
    queries = torch.from_numpy(points(2000, 128, seed=2)).cuda()
    index = kith.Index(base)

    def least(call):
        times = []
        for _ in range(7):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        return min(times)

    return {
        "kith.Index.search": least(lambda: index.search(queries, 10)),
        "kith.search": least(lambda: kith.search(base, queries, 10)),
        "torch.cdist + topk": least(lambda: torch.cdist(queries, base).topk(10, largest=False)),
    }


if __name__ == "__main__":
    failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"{name}: ok")
        except unittest.SkipTest as reason:
            print(f"{name}: skipped, {reason}")
        except Exception as error:
            failed += 1
            print(f"{name}: FAILED, {type(error).__name__}: {error}")
    try:
        for name, milliseconds in time_beside_torch().items():
            print(f"{name:20} {milliseconds:8.2f} ms, 2,000 queries x 200,000 x 128, k = 10")
    except unittest.SkipTest:
        pass
    sys.exit(failed)
