"""Where arrays lie, and in which library answers are given.

A place is that of the queries: ``to_host`` brings arrays to NumPy, ``from_host`` brings answers back. Arrays on a CUDA
device are searched there (``_device.py``).
"""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from ._neighbors import Neighbors, RadiusNeighbors

_CUDA = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged


def library_name(array: Any) -> str:
    """The package that an array's type comes from."""
    return type(array).__module__.partition(".")[0]


def cuda_device(array: Any) -> Optional[int]:
    """The CUDA device on which an array lies, None for the host."""
    if type(array) is np.ndarray:
        return None
    if hasattr(array, "__dlpack_device__"):
        kind, number = array.__dlpack_device__()
        return int(number) if int(kind) in _CUDA else None
    if hasattr(array, "__cuda_array_interface__"):
        return 0
    return None


class Place:
    """Host memory and NumPy."""

    on_device = False

    def to_host(self, array: Any) -> Any:
        return _to_host(array)

    def from_host(self, array: Any) -> Any:
        return array

    def neighbors(self, found: Neighbors) -> Neighbors:
        """An answer in host memory, brought here."""
        moved = Neighbors(self.from_host(found.distances), self.from_host(found.indices))
        moved.report = found.report
        return moved

    def radius_neighbors(self, found: RadiusNeighbors) -> RadiusNeighbors:
        moved = RadiusNeighbors(*(self.from_host(array) for array in found))
        moved.report = found.report
        return moved

    # Of places on a device; what lies on the host is searched by the functions themselves.

    def search(self, base: Any, queries: Any, k: int, options: Any, stream: Any) -> Neighbors:
        raise NotImplementedError

    def index(self, base: Any, options: Any, stream: Any) -> Any:
        raise NotImplementedError

    def reduce(self, base: Any, queries: Any, k: int, values: Any, op: str, options: Any, stream: Any) -> Any:
        raise NotImplementedError

    def topk(
        self, matrix: Any, k: int, largest: bool, output: str, backend: str, method: str, memory: int, stream: Any
    ) -> Any:
        raise NotImplementedError


class TorchHost(Place):
    """CPU tensors of PyTorch; they share memory with NumPy's."""

    def from_host(self, array: np.ndarray) -> Any:
        import torch

        return torch.from_numpy(array)


class JaxHost(Place):
    """CPU arrays of JAX; without its 64-bit mode it keeps indices in 32 bits."""

    def from_host(self, array: np.ndarray) -> Any:
        import jax.numpy

        return jax.numpy.asarray(array)


_HOST = Place()
_HOSTS: Dict[str, Place] = {"torch": TorchHost(), "jax": JaxHost(), "jaxlib": JaxHost()}


def place_of(queries: Any, base: Any) -> Place:
    """The place in which queries of a base are answered."""
    if cuda_device(queries) is not None or cuda_device(base) is not None:
        from ._device import device_place

        return device_place(queries, base)
    return _HOSTS.get(library_name(queries), _HOST)


def _to_host(array: Any) -> Any:
    if type(array) is np.ndarray:
        return array
    name = library_name(array)
    if name == "torch":
        return array.detach().cpu().numpy()
    if name == "cupy":
        return array.get()
    if hasattr(array, "__array__") or not hasattr(array, "__dlpack__"):
        return array
    return np.from_dlpack(array)
