"""Libraries whose arrays are searched: NumPy, PyTorch, CuPy, JAX, and those with DLPack or ``__cuda_array_interface__``.

Arrays are searched in place, in host memory or on a CUDA device, and answers are made in the library, and on the
device, of the queries. Points on a device that are float32, float64, float16, bfloat16, uint8 or int8 are not copied on
the way; the array's own library converts the others there.

Streams. All work is enqueued on one stream: the one that was asked for, else the current one of the library. An array
is taken by ``__dlpack__(stream=...)``, by which its library makes that stream wait for what the caller's current stream
still does to the array. Answers are ready in the order of the stream; those of JAX, which has streams of its own, and
those of CuPy on another stream than its current one are waited for.
"""

from __future__ import annotations

import importlib.util
import math
from contextlib import contextmanager, nullcontext
from typing import Any, Callable, ContextManager, Dict, Iterator, Optional, Sequence, Tuple

import numpy as np

from . import _kith
from ._arrays import (
    BFLOAT16,
    FLOAT32,
    accepted_queries,
    as_points,
    as_values,
    check_points,
    check_values,
    common_dtype,
    convert_queries,
    dtype_of,
    has_16_bits,
    name_of,
    searched_dtype,
    widened,
)
from ._neighbors import Graph

_LEGACY = 1  # the default stream, as DLPack calls it
FRESH = -1  # DLPack's word for an array for which no stream has to wait

_WORTH_A_LOOK = 1 << 24  # bytes; the system takes a while to tell what is free


def host_memory(shape: Tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory for an answer. MemoryError where a control group (of a container, of a batch system) holds no more: it
    would end the process that writes to what NumPy gives."""
    size = math.prod(shape) * dtype.itemsize
    if size >= _WORTH_A_LOOK:
        limits = _kith.host_limits()
        source, free = limits["memory_source"], limits["memory"]
        if "cgroup" in source and size > free:
            dims = " × ".join(map(str, shape))
            raise MemoryError(f"a result of {dims} takes {size} bytes; the {source} has {free} left")
    return np.empty(shape, dtype)


class Library:
    """NumPy and what it can read, in host memory; the others differ from it."""

    device: Optional[int] = None  # None for host memory

    def current_stream(self) -> int:
        return 0

    def ready(self, array: Any, role: str) -> Any:
        """Points as the library takes them: the array itself, where it is so."""
        return as_points(to_host(array), role)

    def values(self, values: Any, dtype: np.dtype, rows: int) -> Any:
        """Numbers in that type, one or a row for each of the base points."""
        return as_values(to_host(values), dtype, rows)

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return widened(array).astype(dtype, copy=False)

    def widened(self, array: Any, stream: int) -> Any:
        """An array of ``empty``, of numbers of 16 bits, once the work on the stream is finished: as float32."""
        return self.astype(array, FLOAT32)

    def convert_queries(self, points: Any, dtype: np.dtype) -> Any:
        """Ready queries in the type of the base; ValueError where they cannot be."""
        return convert_queries(points, dtype)

    def take(self, array: Any, stream: int) -> Any:
        """A ready array as the native functions take it, once the stream may read it."""
        return array

    def empty(self, shape: Tuple[int, ...], dtype: np.dtype, stream: int) -> Any:
        """Memory for an answer that the stream will write."""
        return host_memory(shape, dtype)

    def answer(self, array: Any) -> Any:
        """An array of ``empty``, filled, as the caller gets it."""
        return array

    def flags(self, array: Any, stream: int) -> Any:
        """Bytes of ``empty`` that the stream writes as 0 or 1, as booleans for the caller."""
        return self.answer(array.view(np.bool_))

    def from_host(self, array: Any) -> Any:
        """An answer that was made by NumPy, as the caller gets it."""
        return self.answer(array)

    def finish(self, inputs: Sequence[Any], stream: int) -> None:
        """The stream has been given its work: what it reads may be let go, and answers be used."""

    def sparse(self, data: Any, indices: Any, indptr: Any, by_index: bool, stream: int) -> Any:
        """A graph as a sparse matrix of the library; ``by_index``: its rows are sorted so."""
        rows = indptr.shape[0] - 1
        try:
            from scipy.sparse import csr_matrix
        except ImportError:
            return Graph(data, indices, indptr, (rows, rows))
        return csr_matrix((data, indices, indptr), shape=(rows, rows))

    def ones_like(self, array: Any, stream: int) -> Any:
        return np.ones_like(array)


class TorchHost(Library):
    """CPU tensors of PyTorch; they share memory with NumPy's."""

    def answer(self, array: Any) -> Any:
        import torch

        return torch.from_numpy(array)


class JaxHost(Library):
    """CPU arrays of JAX; without its 64-bit mode it keeps indices in 32 bits."""

    def answer(self, array: Any) -> Any:
        import jax.numpy

        return jax.numpy.asarray(array)


class DeviceLibrary(Library):
    """A library's arrays on one device."""

    device: int

    def __init__(self, device: int) -> None:
        self.device = device

    # What a library must do.

    def current_stream(self) -> int:
        return _LEGACY

    def using(self, stream: Optional[int] = None) -> ContextManager[Any]:
        """While it lasts, the library works on this device, and on the stream that is named."""
        return nullcontext()

    def own(self, array: Any) -> Any:
        """The same memory, where strides are not negative, as an array of the library."""
        return array

    # What is made of it.

    def ready(self, array: Any, role: str) -> Any:
        array = self.own(array)
        check_points(len(array.shape), role)
        return self.astype(array, searched_dtype(dtype_of(array), role))

    def values(self, values: Any, dtype: np.dtype, rows: int) -> Any:
        values = self.own(values)
        check_values(values.shape, rows)
        searched_dtype(dtype_of(values), "values")  # refuses what is not real
        return self.astype(values, dtype)

    def convert_queries(self, points: Any, dtype: np.dtype) -> Any:
        """What float32 cannot hold becomes infinite here, and is found by the search, as is NaN."""
        with self.using():
            converted = self.astype(points, dtype)
            if has_16_bits(dtype):
                bad = (converted != points) & ~(points != points)
            else:
                bad = None if dtype.kind == "f" else converted != points
            if bad is not None and bool(bad.any()):
                raise ValueError(f"queries hold other numbers; {accepted_queries(dtype)}")
        return converted

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.astype(dtype, copy=False)

    def widened(self, array: Any, stream: int) -> Any:
        with self.using(stream):
            return self.astype(array, FLOAT32)

    def take(self, array: Any, stream: int) -> Any:
        with self.using():
            return array.__dlpack__(stream=stream)

    def from_host(self, array: Any) -> Any:
        raise NotImplementedError

    def sparse(self, data: Any, indices: Any, indptr: Any, by_index: bool, stream: int) -> Any:
        return Graph(data, indices, indptr, (indptr.shape[0] - 1, indptr.shape[0] - 1))


class TorchDevice(DeviceLibrary):
    def __init__(self, device: int) -> None:
        super().__init__(device)
        self._torch: Any = importlib.import_module("torch")

    def current_stream(self) -> int:
        return self._torch.cuda.current_stream(self.device).cuda_stream or _LEGACY

    def using(self, stream: Optional[int] = None) -> ContextManager[Any]:
        if stream is None or stream == self.current_stream():
            return self._torch.cuda.device(self.device)
        return self._torch.cuda.stream(self._stream(stream))

    def own(self, array: Any) -> Any:
        torch = self._torch
        if not isinstance(array, torch.Tensor):
            array = torch.from_dlpack(array) if hasattr(array, "__dlpack__") else torch.as_tensor(array)
        return array.detach()

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.to(getattr(self._torch, name_of(dtype)))

    def empty(self, shape: Tuple[int, ...], dtype: np.dtype, stream: int) -> Any:
        with self.using(stream):
            return self._torch.empty(shape, dtype=getattr(self._torch, name_of(dtype)), device=f"cuda:{self.device}")

    def flags(self, array: Any, stream: int) -> Any:
        return array.view(self._torch.bool)

    def from_host(self, array: Any) -> Any:
        return self._torch.from_numpy(array).to(f"cuda:{self.device}")

    def finish(self, inputs: Sequence[Any], stream: int) -> None:
        is_current = stream == self.current_stream()
        for array in inputs:
            if not isinstance(array, self._torch.Tensor):
                _kith.synchronize(self.device, stream)
            elif not is_current:
                array.record_stream(self._stream(stream))

    def sparse(self, data: Any, indices: Any, indptr: Any, by_index: bool, stream: int) -> Any:
        """PyTorch asks for rows that are sorted by index."""
        rows = indptr.shape[0] - 1
        with self.using(stream):
            if not by_index:
                indices, order = indices.view(rows, -1).sort(1)
                indices, data = indices.flatten(), data.view(rows, -1).gather(1, order).flatten()
            return self._torch.sparse_csr_tensor(indptr, indices, data, (rows, rows))

    def ones_like(self, array: Any, stream: int) -> Any:
        with self.using(stream):
            return self._torch.ones_like(array)

    def _stream(self, stream: int) -> Any:
        if stream == _LEGACY:
            return self._torch.cuda.default_stream(self.device)
        return self._torch.cuda.ExternalStream(stream, device=self.device)


class CupyDevice(DeviceLibrary):
    def __init__(self, device: int) -> None:
        super().__init__(device)
        self._cupy: Any = importlib.import_module("cupy")

    def current_stream(self) -> int:
        with self.using():
            return self._cupy.cuda.get_current_stream().ptr or _LEGACY

    @contextmanager
    def using(self, stream: Optional[int] = None) -> Iterator[None]:
        cuda = self._cupy.cuda
        with cuda.Device(self.device):
            if stream is None or stream == self.current_stream():
                yield
                return
            with cuda.Stream.null if stream == _LEGACY else cuda.ExternalStream(stream, self.device):
                yield

    def own(self, array: Any) -> Any:
        cupy = self._cupy
        if not isinstance(array, cupy.ndarray):
            array = cupy.from_dlpack(array) if hasattr(array, "__dlpack__") else cupy.asarray(array)
        return array if all(stride >= 0 for stride in array.strides) else cupy.ascontiguousarray(array)

    def empty(self, shape: Tuple[int, ...], dtype: np.dtype, stream: int) -> Any:
        with self.using(stream):
            return self._cupy.empty(shape, dtype)

    def from_host(self, array: Any) -> Any:
        with self.using():
            return self._cupy.asarray(array)

    def finish(self, inputs: Sequence[Any], stream: int) -> None:
        if stream != self.current_stream():
            _kith.synchronize(self.device, stream)

    def sparse(self, data: Any, indices: Any, indptr: Any, by_index: bool, stream: int) -> Any:
        from cupyx.scipy.sparse import csr_matrix

        rows = indptr.shape[0] - 1
        with self.using(stream):
            return csr_matrix((data, indices, indptr), shape=(rows, rows))

    def ones_like(self, array: Any, stream: int) -> Any:
        with self.using(stream):
            return self._cupy.ones_like(array)


class JaxDevice(DeviceLibrary):
    """Answers are written into arrays that JAX has just made and shown to nobody. Indices need its 64-bit mode."""

    def __init__(self, device: int) -> None:
        super().__init__(device)
        self._jax: Any = importlib.import_module("jax")

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.astype(name_of(dtype))

    def empty(self, shape: Tuple[int, ...], dtype: np.dtype, stream: int) -> Any:
        made = self.from_host(self._jax.numpy.zeros(shape, name_of(dtype))).block_until_ready()
        if dtype_of(made) != dtype:
            raise TypeError(f"JAX makes {dtype} only in 64-bit mode; set jax_enable_x64")
        return made

    def from_host(self, array: Any) -> Any:
        devices = self._jax.devices()
        return self._jax.device_put(array, next(one for one in devices if one.local_hardware_id == self.device))

    def flags(self, array: Any, stream: int) -> Any:
        _kith.synchronize(self.device, stream)  # JAX converts on a stream of its own
        return array.astype(bool)

    def finish(self, inputs: Sequence[Any], stream: int) -> None:
        _kith.synchronize(self.device, stream)

    def ones_like(self, array: Any, stream: int) -> Any:
        return self._jax.numpy.ones_like(array)


NUMPY = Library()
_HOST: Dict[str, Library] = {"torch": TorchHost(), "jax": JaxHost(), "jaxlib": JaxHost()}
# By the package of the array's type; and the kinds of devices, which are DLPack's kDLCUDA and kDLCUDAManaged.
DEVICE_LIBRARIES: Dict[str, Callable[[int], DeviceLibrary]] = {
    "torch": TorchDevice, "cupy": CupyDevice, "jax": JaxDevice, "jaxlib": JaxDevice,
}  # fmt: skip
DEVICE_KINDS = {2, 13}


def library_of(array: Any) -> Library:
    """The library of an array, and its device."""
    if type(array) is np.ndarray:
        return NUMPY
    package = type(array).__module__.partition(".")[0]
    device = None
    if hasattr(array, "__dlpack_device__"):
        kind, number = array.__dlpack_device__()
        device = int(number) if int(kind) in DEVICE_KINDS else None
    elif hasattr(array, "__cuda_array_interface__"):
        device = 0
    if device is None:
        return _HOST.get(package, NUMPY)
    return (DEVICE_LIBRARIES.get(package) or _any_device_library())(device)


def _any_device_library() -> Callable[[int], DeviceLibrary]:
    """For arrays of a library unknown to us: one that can make the answer."""
    for name in ("cupy", "torch"):
        if importlib.util.find_spec(name) is not None:
            return DEVICE_LIBRARIES[name]
    raise TypeError("an array lies on a CUDA device; CuPy or PyTorch is needed to hold the answer there")


def to_host(array: Any) -> Any:
    """The array in host memory, in a form that NumPy reads."""
    if type(array) is np.ndarray:
        return array
    package = type(array).__module__.partition(".")[0]
    if package == "torch":
        return _torch_to_numpy(array.detach().cpu())
    if package == "cupy":
        return array.get()
    if hasattr(array, "__array__") or not hasattr(array, "__dlpack__"):
        return array
    return np.from_dlpack(array)


def _torch_to_numpy(tensor: Any) -> np.ndarray:
    """The same memory; bfloat16, of which PyTorch makes no NumPy array, by its bits."""
    if not str(tensor.dtype).endswith("bfloat16"):
        return tensor.numpy()
    torch: Any = importlib.import_module("torch")
    return tensor.view(torch.int16).numpy().view(BFLOAT16)


def ready_queries(library: Library, queries: Any, dtype: np.dtype) -> Any:
    """Queries of that library as it takes them, in the type of the base."""
    points = library.ready(queries, "queries")
    return points if dtype_of(points) == dtype else library.convert_queries(points, dtype)


def ready_alike(a: Any, b: Any) -> Tuple[Any, Any]:
    """Two sets of points as the library takes them, of one type: where they differ, the one that holds both."""
    points, others = library_of(a).ready(a, "a"), library_of(b).ready(b, "b")
    dtype, other = dtype_of(points), dtype_of(others)
    if dtype != other:
        common = common_dtype(dtype, other)
        points, others = library_of(points).astype(points, common), library_of(others).astype(others, common)
    return points, others


def stream_number(stream: Any, *libraries: Library) -> int:
    """The stream that the work of a call goes to: the current one of the first library of a device; 0 without one."""
    for library in libraries:
        if library.device is not None:
            return stream_handle(stream) or library.current_stream()
    return 0


def stream_handle(stream: Any) -> Optional[int]:
    """The number of a stream given as such or as an object; None stays None."""
    if stream is None:
        return None
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    elif hasattr(stream, "cuda_stream"):
        stream = stream.cuda_stream
    elif hasattr(stream, "ptr"):
        stream = stream.ptr
    if not isinstance(stream, int):
        raise TypeError(f"stream must be a number or a CUDA stream, not {type(stream).__name__}")
    if stream < 0:
        raise ValueError(f"stream = {stream}; it must not be negative")
    return stream or _LEGACY
