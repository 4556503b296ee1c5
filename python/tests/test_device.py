"""What only a CUDA device shows: no copies, the order of streams, types of the libraries. Skipped where there is none.

That answers are those of the CPU is for test_abilities.py.
"""

import threading

import numpy as np
import pytest

import kith

pytestmark = pytest.mark.skipif(
    "cuda" not in kith.versions()["backends"], reason="there is no CUDA device, or no backend"
)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def points(rows, dims, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal((rows, dims)).astype(dtype)


def assert_exact(found, base, queries, k):
    """Bit for bit the answer of the CPU, which its own tests hold against float64."""
    want = kith.search(base, queries, k, backend="cpu")
    for one, other in zip(found, want):
        assert ((one.cpu().numpy() if hasattr(one, "cpu") else one.get()) == other).all()


def test_torch_against_double(torch):
    base, queries = (torch.from_numpy(points(rows, 64, seed=rows)).cuda() for rows in (20_000, 500))
    found = kith.search(base, queries, 10)
    distances = torch.cdist(queries.double(), base.double(), compute_mode="donot_use_mm_for_euclid_dist")
    want = distances.topk(10, largest=False)
    assert found.distances.is_cuda and found.indices.dtype == torch.int64
    assert torch.allclose(found.distances.double(), want.values, rtol=1e-6)
    assert (found.indices == want.indices).float().mean() > 0.9999
    assert found.report.plan.backend == "cuda"


def test_torch_without_copies(torch):
    base = torch.from_numpy(points(1000, 16)).cuda()
    library = kith._libraries.library_of(base)
    for array in (base, base[:, :8], base[::2], base[3:4], base.T, (base * 9).to(torch.int8)):
        assert library.ready(array, "base").data_ptr() == array.data_ptr()
    for values in (base, base[:, 1:3], base[:, 1]):
        assert library.values(values, np.dtype(np.float32), 1000).data_ptr() == values.data_ptr()
    before = torch.cuda.memory_allocated()
    index = kith.Index(base)
    assert torch.cuda.memory_allocated() == before
    found = index.search(base[:10], 5)
    assert torch.cuda.memory_allocated() - before <= 2 * 512 + 2 * 512
    assert found.indices[:, 0].tolist() == list(range(10))


def test_types_of_the_libraries(torch, cupy):
    base = points(500, 12)
    tensor, array = torch.from_numpy(base).cuda(), cupy.asarray(base)
    assert kith.graph(tensor, 3).layout == torch.sparse_csr
    assert torch.equal(kith.graph(tensor, 3).to_dense().cpu(), torch.from_numpy(kith.graph(base, 3).toarray()))
    assert type(kith.graph(array, 3)).__module__.startswith("cupyx")
    half = tensor.bfloat16()
    rounded = half.float().cpu().numpy()
    assert_exact(kith.search(half, half[:20], 3), rounded, rounded[:20], 3)
    assert_exact(kith.search(array, tensor[:20], 3), base, base[:20], 3)
    assert type(kith.search(tensor, array[:20], 3).indices) is cupy.ndarray


def slow_copy(torch, target, source):
    """Fills the target, after a while, on the current stream."""
    torch.cuda._sleep(200_000_000)
    target.copy_(source)


@pytest.mark.parametrize("use_index", [False, True])
@pytest.mark.parametrize("explicit", [False, True])
def test_a_delayed_producer_is_waited_for(torch, use_index, explicit):
    base, queries = points(5000, 32), points(100, 32, seed=2)
    values = [torch.from_numpy(array).cuda() for array in (base, queries)]
    torch.cuda.synchronize()
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


def test_answers_come_in_the_order_of_the_stream(torch):
    """Nothing is waited for by hand: the next operation on the stream sees the answer."""
    tensor = torch.from_numpy(points(5000, 32)).cuda()
    index = kith.Index(tensor)
    others = kith.Index(points(5000, 32), backend="cpu").search_radius(None, 5.0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(20):
            queries = tensor[torch.randperm(5000, device="cuda")[:200]]
            found = index.search(queries, 3)
            nearest = tensor[found.indices[:, 0]]
            del found
            assert torch.equal(nearest, queries)
        near = index.search_radius(None, 5.0)
        assert near.indices.sum().item() == others.indices.sum()
        assert kith.reduce(tensor, tensor[:9], 1, tensor[:, 0]).tolist() == tensor[:9, 0].tolist()


def test_threads_with_streams_of_their_own(torch):
    tensor = torch.from_numpy(points(3000, 16)).cuda()
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


def test_streams_of_cupy(cupy):
    base = points(2000, 24)
    array = cupy.asarray(base)
    stream = cupy.cuda.Stream(non_blocking=True)
    assert_exact(kith.Index(array, stream=stream).search(array[:50], 5, stream=stream), base, base[:50], 5)
    with stream:
        assert_exact(kith.search(array.T.copy().T, array[:50], 5), base, base[:50], 5)
    means = kith.reduce(array, array[:50], 5, array[:, 0], stream=stream)
    assert (means.get() == kith.reduce(base, base[:50], 5, base[:, 0], backend="cpu")).all()


def test_cuda_array_interface_alone(cupy):
    class Only:
        def __init__(self, array):
            self._array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    base = points(300, 8)
    array = cupy.asarray(base)
    assert_exact(kith.search(Only(array), Only(array[:20]), 3), base, base[:20], 3)
