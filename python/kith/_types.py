"""Types of the public functions: what they take and return, and the names they know.

Answers are NumPy's arrays for points of NumPy, of lists and of data frames, else arrays of the library of the queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Optional, Protocol, Sequence, TypedDict, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing import overload

    from typing_extensions import TypeVar

    from ._metrics import OwnMetric
else:
    from typing import TypeVar as _TypeVar

    def overload(function):  # that of typing keeps the module alive when the interpreter ends
        return function

    def TypeVar(name, *, default=None, **keywords):  # Python before 3.13 knows no defaults
        return _TypeVar(name, **keywords)


DenseMetricName = Literal[
    "sqeuclidean", "l2_squared", "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "linf", "minkowski",
    "cosine", "correlation", "pearson", "inner_product", "ip", "dot", "hamming", "canberra",
]  # fmt: skip
MetricName = Union[DenseMetricName, Literal["jaccard"]]  # of sparse points alone
NamedMetric = Literal[
    "braycurtis", "dice", "haversine", "jaccard", "jensenshannon", "mahalanobis", "nan_euclidean", "russellrao",
    "seuclidean",
]  # fmt: skip
ZeroVectors = Literal["error", "zero", "one"]
# Formulas may be plain text, too, which a type checker cannot tell from a name that does not exist: kith.Expression says
# that it is one.
MetricLike = Union[MetricName, NamedMetric, "OwnMetric", Callable[[Any, Any], Any]]
BitMetricName = Literal["hamming", "jaccard", "tanimoto"]
BackendName = Literal["auto", "cpu", "cuda"]
MethodName = Literal["auto", "brute", "two-stage", "fused", "triangle", "shifted-sort", "tree"]
DistanceName = Literal[
    "auto", "exact", "direct", "tiled", "register-tiled", "gemm", "fp16", "split-fp16", "int8", "bf16",
]  # fmt: skip
SelectName = Literal[
    "auto", "insertion-queue", "heap-queue", "merge-queue", "warp-select", "partial-bitonic", "block-select",
    "merge-path", "bits", "bits-global", "bits-single-row", "quick-multi-select", "sample-select", "radix-select",
    "sort", "threshold-filter",
]  # fmt: skip
ReduceName = Literal[
    "mean", "weighted-mean", "weighted_mean", "sum", "min", "max", "kth-distance", "kth_distance", "density",
    "covariance",
]  # fmt: skip
Symmetrize = Literal["none", "union", "mutual"]
GraphMode = Literal["distance", "connectivity"]


class DLPackArray(Protocol):
    """An array of PyTorch, CuPy, JAX or another library that exchanges arrays by DLPack."""

    @property
    def shape(self) -> Any: ...

    def __dlpack__(self, *arguments: Any, **keywords: Any) -> Any: ...


class Frame(Protocol):
    """A data frame of pandas or polars, or an array of xarray."""

    def to_numpy(self, *arguments: Any, **keywords: Any) -> Any: ...


class SparsePoints(Protocol):
    """A matrix or array of scipy.sparse."""

    @property
    def shape(self) -> Any: ...

    def tocsr(self, *arguments: Any, **keywords: Any) -> Any: ...


Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.number[Any]]
HostArray = Union[
    npt.NDArray[np.generic], Sequence[Sequence[float]], Sequence[npt.NDArray[np.generic]], Frame, SparsePoints
]
ArrayLike = Union[HostArray, DLPackArray]
Values = Union[ArrayLike, Sequence[float]]
SparseMatrix = Any  # of scipy, PyTorch or CuPy; not all of them have types

Array = TypeVar("Array", bound=DLPackArray)
Real = TypeVar("Real", default=Floats)  # an array of distances
Whole = TypeVar("Whole", default=Integers)  # an array of indices
Value = TypeVar("Value", default=Numbers)

Memory = Union[None, int, float, str]
Devices = Union[None, Literal["all"], Sequence[int]]
Period = Union[None, Sequence[float], npt.NDArray[np.floating[Any]]]
ProgressLike = Union[bool, Callable[[int, int], object]]


class _Common(TypedDict, total=False):
    p: Optional[float]
    backend: BackendName
    threads: Optional[int]
    check_finite: bool
    stream: object
    progress: ProgressLike


class _Radius(TypedDict, total=False):
    distance: DistanceName
    memory: Memory
    period: Period


class _Devices(TypedDict, total=False):
    devices: Devices


class _Method(TypedDict, total=False):
    method: MethodName
    select: SelectName
    tuning: Optional[Mapping[str, object]]


class CommonOptions(_Common, total=False):
    metric: MetricName


class RadiusOptions(CommonOptions, _Radius, _Devices, total=False):
    pass


class ReduceOptions(RadiusOptions, _Method, total=False):
    pass


class BatchOptions(CommonOptions, _Radius, _Method, total=False):
    offsets: Any  # whole numbers of any library
    query_offsets: Any
    lengths: Any
    query_lengths: Any
    batch: Any
    query_batch: Any
    max_distance: Optional[float]
    epsilon: float


class _Search(TypedDict, total=False):
    statistics: bool
    max_distance: Optional[float]
    epsilon: float
    pad_missing: bool


class SearchOptions(ReduceOptions, _Search, total=False):
    pass


class OwnCommonOptions(_Common, total=False):
    """With metrics that are computed by their definition."""

    metric: MetricLike
    w: Any
    V: Any
    VI: Any
    zero_vectors: Optional[ZeroVectors]


class OwnRadiusOptions(OwnCommonOptions, _Radius, _Devices, total=False):
    pass


class OwnSearchOptions(OwnRadiusOptions, _Method, _Search, total=False):
    pass


class ShardRadiusOptions(TypedDict, total=False):
    """Of a radius search of a base in blocks."""

    metric: MetricName
    p: Optional[float]
    distance: DistanceName
    backend: BackendName
    threads: Optional[int]
    memory: Memory
    check_finite: bool
    period: Period


class ShardOptions(ShardRadiusOptions, total=False):
    """Of a search of a base in blocks."""

    method: MethodName
    select: SelectName
    max_distance: Optional[float]


class BitOptions(TypedDict, total=False):
    backend: BackendName
    threads: Optional[int]
    memory: Memory
    check_finite: bool
    max_distance: Optional[float]


class TopKOptions(TypedDict, total=False):
    largest: bool
    method: SelectName
    backend: BackendName
    threads: Optional[int]
    memory: Memory
    stream: object
    progress: ProgressLike


class CallOptions(TypedDict, total=False):
    """Of one call of an index."""

    stream: object
    progress: ProgressLike


class SearchCallOptions(CallOptions, total=False):
    """Of one search of an index."""

    max_distance: Optional[float]
    epsilon: Optional[float]
