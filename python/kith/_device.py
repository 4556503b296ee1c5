"""Arrays on CUDA devices: PyTorch's, CuPy's, JAX's, and those with DLPack or ``__cuda_array_interface__`` alone.

Nothing is copied when points are float32 or float64 and the values of a row lie side by side. The array's own library
converts the others on the device: 8-bit integers and half precision to float32, longer integers to float64.

Streams. All work is enqueued on one stream: the one that was asked for, else the current one of the library. An array
is taken by ``__dlpack__(stream=...)``, by which its library makes that stream wait for what the caller's current stream
still does to the array. Answers are ready in the order of the stream; those of JAX, which has streams of its own, and
those of CuPy on another stream than its current one are waited for.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import Any, ContextManager, Iterator, Optional, Tuple

import numpy as np

from . import _kith
from ._arrays import as_values
from ._neighbors import Neighbors, TopK
from ._places import Place, cuda_device, library_name

_LEGACY = 1  # the default stream, as DLPack calls it


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


class DevicePlace(Place):
    """A device and the library that makes the answers there."""

    on_device = True

    def __init__(self, device: int) -> None:
        self.device = device

    # What a library must do.

    def current_stream(self) -> int:
        return _LEGACY

    def using(self, stream: int) -> ContextManager[Any]:
        """While it lasts, the library works on this device and stream."""
        return nullcontext()

    def bring(self, array: Any) -> Any:
        """A host array, brought to the device and made ready."""
        raise NotImplementedError

    def ready(self, array: Any) -> Any:
        """An array of the library, float32 or float64, rows side by side: itself where it is so."""
        raise NotImplementedError

    def as_dtype(self, array: Any, dtype: str) -> Any:
        raise NotImplementedError

    def empty(self, shape: Tuple[int, int], dtype: str) -> Any:
        raise NotImplementedError

    def without_self(self, found: Neighbors) -> Neighbors:
        """From the k + 1 nearest of every point, the k nearest others."""
        raise NotImplementedError

    def release(self, array: Any, stream: int) -> None:
        """An input was handed to work on the stream: its memory may not be used again before that is done."""

    # What is made of it.

    def search(self, base: Any, queries: Any, k: int, options: Any, stream: Any) -> Neighbors:
        number = self.number(stream)
        points, asked = self.pair(base, queries)
        index = _kith.DeviceIndex(self.take(points, number), options, number)
        found = self.search_index(index, asked, k, number)
        _kith.synchronize(self.device, number)  # the index goes
        return found if cuda_device(queries) is not None else _to_host(found)

    def reduce(self, base: Any, queries: Any, k: int, values: Any, op: str, options: Any, stream: Any) -> Any:
        """As :func:`kith.reduce`, whose operation this is; values are None where it has none."""
        number = self.number(stream)
        points, asked = self.pair(base, queries)
        taken = self.take(asked, number)
        index = _kith.DeviceIndex(self.take(points, number), options, number)
        if not 0 < k <= index.base.rows:  # also where there is no query
            raise ValueError(f"k = {k} but the number of base points is {index.base.rows}")
        flat = op in ("kth-distance", "density")
        columns = 1 if flat else index.base.cols * (index.base.cols + 1) // 2
        rows = None
        if values is not None:
            numbers, flat = self.values(values, taken.dtype, index.base.rows)
            rows = self.take(numbers, number)
            columns = rows.cols
        with self.using(number):
            made = self.empty((taken.rows, columns), taken.dtype)
            output = _output(made)
        if taken.rows > 0:
            index.reduce(taken, k, op, rows, output, number)
        _kith.synchronize(self.device, number)  # the index goes
        made = made[:, 0] if flat else made
        return made if cuda_device(queries) is not None else Place().to_host(made)

    def values(self, values: Any, dtype: str, rows: int) -> Tuple[Any, bool]:
        """A row for each base point, brought here, and whether they are single numbers."""
        if cuda_device(values) is None:
            values = as_values(self.to_host(values), np.dtype(dtype), rows)
        shape = tuple(values.shape)
        if len(shape) not in (1, 2):
            raise ValueError(f"values has {len(shape)} dimensions; 1, or 2 with a row for each base point, are needed")
        if shape[0] != rows:
            raise ValueError(f"values has {shape[0]} rows; the {rows} base points have one each")
        flat = len(shape) == 1
        return self.as_dtype(self.mine(values[:, None] if flat else values), dtype), flat

    def index(self, base: Any, options: Any, stream: Any) -> "DeviceBase":
        return DeviceBase(self, base, options, stream)

    def topk(
        self, matrix: Any, k: int, largest: bool, output: str, backend: str, method: str, memory: int, stream: Any
    ) -> Any:
        number = self.number(stream)
        mine = self.mine(matrix)
        taken = self.take(mine, number)
        shape = (taken.rows, 1 if output == "kth_only" else k)
        has_ids = output in ("sorted", "unsorted")
        with self.using(number):
            values = self.empty(shape, taken.dtype)
            indices = self.empty(shape if has_ids else (1, 1), "int64")
            outputs = _output(values), _output(indices)
        _kith.device_topk(taken, k, largest, output, backend, method, memory, *outputs, number)
        self.release(mine, number)
        return TopK(values, indices) if has_ids else values

    def number(self, stream: Any) -> int:
        """The stream that the work goes to."""
        return stream_handle(stream) or self.current_stream()

    def pair(self, base: Any, queries: Any) -> Tuple[Any, Any]:
        """Base and queries, both ready and of one type."""
        points, asked = self.mine(base), self.mine(queries)
        if _dtype_name(points) != _dtype_name(asked):
            points, asked = self.as_dtype(points, "float64"), self.as_dtype(asked, "float64")
        return points, asked

    def mine(self, array: Any) -> Any:
        """An array of the library on this device, ready to be taken."""
        device = cuda_device(array)
        if device is None:
            return self.bring(array)
        if device != self.device:
            raise ValueError(f"one array lies on CUDA device {device}, another on {self.device}; bring them together")
        return self.ready(array)

    def take(self, array: Any, stream: int) -> _kith.DeviceArray:
        """The array as the library sees it; the stream waits for what the current one does to it."""
        return _kith.DeviceArray.from_dlpack(array.__dlpack__(stream=stream))

    def search_index(self, index: _kith.DeviceIndex, queries: Any, k: int, stream: int) -> Neighbors:
        if not 0 < k <= index.base.rows:  # before memory for the answer is asked for
            raise ValueError(f"k = {k} but the number of base points is {index.base.rows}")
        taken = self.take(queries, stream)
        with self.using(stream):
            distances = self.empty((taken.rows, k), taken.dtype)
            indices = self.empty((taken.rows, k), "int64")
            outputs = _output(distances), _output(indices)
        found = Neighbors(distances, indices)
        if taken.rows > 0:
            found.report = index.search(taken, k, *outputs, stream)
            self.release(queries, stream)
        return found


class DeviceBase:
    """The device's side of :class:`kith.Index`."""

    def __init__(self, place: DevicePlace, base: Any, options: Any, stream: Any) -> None:
        number = place.number(stream)
        self._place = place
        self._points = place.mine(base)  # kept: the index only looks at them
        self._index = _kith.DeviceIndex(place.take(self._points, number), options, number)
        self.shape = (self._index.base.rows, self._index.base.cols)
        self.dtype = np.dtype(self._index.base.dtype)

    def search(self, queries: Any, k: int, stream: Any) -> Neighbors:
        place = self._place
        number = place.number(stream)
        asked = place.as_dtype(place.mine(queries), self.dtype.name)
        found = place.search_index(self._index, asked, k, number)
        if cuda_device(queries) is not None:
            return found
        _kith.synchronize(place.device, number)
        return _to_host(found)

    def search_self(self, k: int, stream: Any) -> Neighbors:
        rows = self.shape[0]
        if not 0 < k < rows:
            raise ValueError(f"k = {k} but the number of other points is {rows - 1}")
        place = self._place
        number = place.number(stream)
        found = place.search_index(self._index, self._points, k + 1, number)
        with place.using(number):
            others = place.without_self(found)
        others.report = found.report
        return others


class TorchDevice(DevicePlace):
    def current_stream(self) -> int:
        import torch

        return torch.cuda.current_stream(self.device).cuda_stream or _LEGACY

    @contextmanager
    def using(self, stream: int) -> Iterator[None]:
        import torch

        if stream == self.current_stream():
            with torch.cuda.device(self.device):
                yield
            return
        with torch.cuda.stream(self._stream(stream)):
            yield

    def _stream(self, stream: int) -> Any:
        import torch

        if stream == _LEGACY:
            return torch.cuda.default_stream(self.device)
        return torch.cuda.ExternalStream(stream, device=self.device)

    def bring(self, array: Any) -> Any:
        import torch

        array = array if isinstance(array, torch.Tensor) else torch.as_tensor(np.ascontiguousarray(array))
        return self.ready(array.to(f"cuda:{self.device}"))

    def ready(self, array: Any) -> Any:
        import torch

        if not isinstance(array, torch.Tensor):
            array = torch.as_tensor(array, device=f"cuda:{self.device}")
        array = array.detach()
        if array.dtype not in (torch.float32, torch.float64):
            small = array.dtype in (torch.uint8, torch.int8, torch.bool, torch.int16, torch.float16, torch.bfloat16)
            array = array.to(torch.float32 if small else torch.float64)
        return _with_whole_rows(array, array.stride() if array.dim() == 2 else None, lambda: array.contiguous())

    def as_dtype(self, array: Any, dtype: str) -> Any:
        import torch

        return array.to(getattr(torch, dtype))

    def empty(self, shape: Tuple[int, int], dtype: str) -> Any:
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=f"cuda:{self.device}")

    def take(self, array: Any, stream: int) -> _kith.DeviceArray:
        import torch

        with torch.cuda.device(self.device):
            return super().take(array, stream)

    def release(self, array: Any, stream: int) -> None:
        if stream != self.current_stream():
            array.record_stream(self._stream(stream))

    def from_host(self, array: np.ndarray) -> Any:
        import torch

        return torch.from_numpy(array).to(f"cuda:{self.device}")

    def without_self(self, found: Neighbors) -> Neighbors:
        import torch

        rows, k = found.indices.shape[0], found.indices.shape[1] - 1
        device = found.indices.device
        is_self = found.indices[:, :k] == torch.arange(rows, device=device)[:, None]
        at = torch.where(is_self.any(1), is_self.to(torch.int32).argmax(1), k)
        columns = torch.arange(k, device=device)[None, :].expand(rows, k)
        columns = columns + (columns >= at[:, None]).to(columns.dtype)
        return Neighbors(found.distances.gather(1, columns), found.indices.gather(1, columns))


class CupyDevice(DevicePlace):
    def current_stream(self) -> int:
        import cupy

        with cupy.cuda.Device(self.device):
            return cupy.cuda.get_current_stream().ptr or _LEGACY

    @contextmanager
    def using(self, stream: int) -> Iterator[None]:
        import cupy

        with cupy.cuda.Device(self.device):
            if stream == self.current_stream():
                yield
                return
            with cupy.cuda.Stream.null if stream == _LEGACY else cupy.cuda.ExternalStream(stream, self.device):
                yield

    def bring(self, array: Any) -> Any:
        import cupy

        return self.ready(cupy.asarray(np.ascontiguousarray(array)))

    def ready(self, array: Any) -> Any:
        import cupy

        if not isinstance(array, cupy.ndarray):
            array = cupy.asarray(array)
        if array.dtype not in (np.float32, np.float64):
            small = array.dtype.itemsize == 1 or array.dtype in (np.float16, np.int16, np.uint16)
            array = array.astype(cupy.float32 if small else cupy.float64)
        strides = tuple(stride // array.itemsize for stride in array.strides) if array.ndim == 2 else None
        return _with_whole_rows(array, strides, lambda: cupy.ascontiguousarray(array))

    def as_dtype(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype, copy=False)

    def empty(self, shape: Tuple[int, int], dtype: str) -> Any:
        import cupy

        return cupy.empty(shape, dtype)

    def take(self, array: Any, stream: int) -> _kith.DeviceArray:
        import cupy

        with cupy.cuda.Device(self.device):
            return super().take(array, stream)

    def release(self, array: Any, stream: int) -> None:
        if stream != self.current_stream():
            _kith.synchronize(self.device, stream)

    def from_host(self, array: np.ndarray) -> Any:
        import cupy

        with cupy.cuda.Device(self.device):
            return cupy.asarray(array)

    def without_self(self, found: Neighbors) -> Neighbors:
        import cupy

        rows, k = found.indices.shape[0], found.indices.shape[1] - 1
        is_self = found.indices[:, :k] == cupy.arange(rows)[:, None]
        at = cupy.where(is_self.any(1), is_self.argmax(1), k)
        columns = cupy.arange(k)[None, :]
        columns = columns + (columns >= at[:, None])
        return Neighbors(
            cupy.take_along_axis(found.distances, columns, 1), cupy.take_along_axis(found.indices, columns, 1)
        )


class JaxDevice(DevicePlace):
    """Answers are written into arrays that JAX has just made and shown to nobody. Indices need its 64-bit mode."""

    def bring(self, array: Any) -> Any:
        return self.ready(self.from_host(np.asarray(array)))

    def ready(self, array: Any) -> Any:
        import jax.numpy

        if array.dtype not in (np.float32, np.float64):
            small = array.dtype.itemsize == 1 or array.dtype in (np.float16, np.int16, np.uint16, jax.numpy.bfloat16)
            array = array.astype(np.float32 if small else np.float64)
        return array

    def as_dtype(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def empty(self, shape: Tuple[int, int], dtype: str) -> Any:
        import jax
        import jax.numpy

        made = jax.device_put(jax.numpy.zeros(shape, dtype), self._device()).block_until_ready()
        if made.dtype != np.dtype(dtype):
            raise TypeError(f"JAX makes {dtype} only in 64-bit mode; set jax_enable_x64")
        return made

    def release(self, array: Any, stream: int) -> None:
        _kith.synchronize(self.device, stream)

    def from_host(self, array: np.ndarray) -> Any:
        import jax

        return jax.device_put(array, self._device())

    def _device(self) -> Any:
        import jax

        return next(device for device in jax.devices() if device.local_hardware_id == self.device)

    def without_self(self, found: Neighbors) -> Neighbors:
        import jax.numpy as xp

        rows, k = found.indices.shape[0], found.indices.shape[1] - 1
        is_self = found.indices[:, :k] == xp.arange(rows)[:, None]
        at = xp.where(is_self.any(1), is_self.argmax(1), k)
        columns = xp.arange(k)[None, :] + (xp.arange(k)[None, :] >= at[:, None])
        return Neighbors(xp.take_along_axis(found.distances, columns, 1), xp.take_along_axis(found.indices, columns, 1))


_LIBRARIES = {"torch": TorchDevice, "cupy": CupyDevice, "jax": JaxDevice, "jaxlib": JaxDevice}


def device_place(queries: Any, base: Any) -> DevicePlace:
    """The place of a search in which at least one array lies on a device."""
    placed = queries if cuda_device(queries) is not None else base
    device = cuda_device(placed)
    assert device is not None
    kind = _LIBRARIES.get(library_name(placed)) or _any_library()
    return kind(device)


def _any_library() -> Any:
    """For arrays of a library unknown to us: one that can make the answer."""
    import importlib.util

    for name in ("cupy", "torch"):
        if importlib.util.find_spec(name) is not None:
            return _LIBRARIES[name]
    raise TypeError("an array lies on a CUDA device; CuPy or PyTorch is needed to hold the answer there")


def _output(array: Any) -> _kith.DeviceArray:
    """Memory for an answer; it was made on the stream that fills it."""
    return _kith.DeviceArray.from_dlpack(array.__dlpack__(stream=-1))


def _dtype_name(array: Any) -> str:
    return str(array.dtype).rsplit(".", 1)[-1]


def _with_whole_rows(array: Any, strides: Optional[Tuple[int, ...]], packed: Any) -> Any:
    if strides is None:
        raise ValueError(f"an array has shape {tuple(array.shape)}; points are the rows of a two-dimensional one")
    rows, cols = array.shape
    whole = (cols == 1 or strides[1] == 1) and (rows == 1 or strides[0] >= cols)
    return array if whole else packed()


def _to_host(found: Neighbors) -> Neighbors:
    host = Place()
    moved = Neighbors(host.to_host(found.distances), host.to_host(found.indices))
    moved.report = found.report
    return moved
