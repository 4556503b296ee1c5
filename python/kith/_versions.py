"""What is installed here: for reports of trouble."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from typing import Any, Dict, List, Union

from . import _kith

__version__: str = _kith.version()

_COMPANIONS = (
    "numpy", "scipy", "sklearn", "torch", "cupy", "jax", "ml_dtypes", "tqdm", "pyarrow", "dask", "pyspark", "ray",
)  # fmt: skip


def known_devices() -> List[Dict[str, Any]]:
    """GPUs that :func:`explain` can plan for where there is none, and what their datasheets say of them.

    >>> import kith
    >>> [device["name"] for device in kith.known_devices()][:2]
    ['a100', 'a100-40gb']
    """
    return list(_kith.known_devices())


def versions() -> Dict[str, Union[str, List[str]]]:
    """Versions, backends, instruction sets, devices, and what a search may use here, as a dictionary."""
    limits = _kith.host_limits()
    found: Dict[str, Union[str, List[str]]] = {
        "kith": __version__,
        "python": sys.version.split()[0],
        "system": platform.platform(),
        "backends": _kith.backends(),
        "cuda": "in the build" if _kith.has_cuda else "not in the build",
        "devices": [device["problem"] or device["name"] for device in _kith.cuda_devices()],
        "simd": _kith.simd_targets(),
        "threads": f"{limits['threads']} ({limits['threads_source']})",
        "memory": f"{limits['memory'] / 2**30:.1f} GiB available ({limits['memory_source']})",
        "metrics": _kith.metrics(),
        "formats": _kith.format_names(),
    }
    for name in _COMPANIONS:
        module = sys.modules.get(name)
        if module is None:
            try:
                found[name] = importlib.metadata.version("scikit-learn" if name == "sklearn" else name)
            except importlib.metadata.PackageNotFoundError:
                found[name] = "not installed"
        else:
            found[name] = getattr(module, "__version__", "unknown")
    return found


def show_versions() -> None:
    """Prints :func:`versions`, a line each."""
    for name, value in versions().items():
        text = ", ".join(map(str, value)) or "none" if isinstance(value, list) else value
        print(f"{name:10} {text}")
