# scikit-learn has no types of its own; these are those of what is used most. All else is scikit-learn's.
from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

from .._types import Floats, Integers, SparseMatrix

Points = npt.ArrayLike | SparseMatrix
Weights = Literal["uniform", "distance"] | Callable[[Floats], Floats] | None
Algorithm = Literal["auto", "ball_tree", "kd_tree", "brute"]
MetricLike = str | Callable[[Floats, Floats], float]
Rows = npt.NDArray[np.object_]

class _Neighbors:
    effective_metric_: Any
    n_features_in_: int
    n_samples_fit_: int
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    @overload
    def kneighbors(
        self, X: Points | None = None, n_neighbors: int | None = None, return_distance: Literal[True] = True
    ) -> tuple[Floats, Integers]: ...
    @overload
    def kneighbors(
        self, X: Points | None = None, n_neighbors: int | None = None, *, return_distance: Literal[False]
    ) -> Integers: ...
    def kneighbors_graph(
        self,
        X: Points | None = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> SparseMatrix: ...
    def __getattr__(self, name: str) -> Any: ...

class _RadiusNeighbors(_Neighbors):
    @overload
    def radius_neighbors(
        self,
        X: Points | None = None,
        radius: float | npt.ArrayLike | None = None,
        return_distance: Literal[True] = True,
        sort_results: bool = False,
    ) -> tuple[Rows, Rows]: ...
    @overload
    def radius_neighbors(
        self,
        X: Points | None = None,
        radius: float | npt.ArrayLike | None = None,
        *,
        return_distance: Literal[False],
        sort_results: bool = False,
    ) -> Rows: ...
    def radius_neighbors_graph(
        self,
        X: Points | None = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
        sort_results: bool = False,
    ) -> SparseMatrix: ...

class NearestNeighbors(_RadiusNeighbors):
    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        metric: MetricLike = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: None = None) -> Self: ...

class KNeighborsClassifier(_Neighbors):
    classes_: Any
    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Weights = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: MetricLike = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: npt.ArrayLike) -> Self: ...
    def predict(self, X: Points | None) -> npt.NDArray[Any]: ...
    def predict_proba(self, X: Points | None) -> Any: ...
    def score(self, X: Points | None, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float: ...

class KNeighborsRegressor(_Neighbors):
    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Weights = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: MetricLike = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: npt.ArrayLike) -> Self: ...
    def predict(self, X: Points | None) -> npt.NDArray[Any]: ...
    def score(self, X: Points | None, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float: ...

class KNeighborsTransformer(_RadiusNeighbors):
    def __init__(
        self,
        *,
        mode: Literal["distance", "connectivity"] = "distance",
        n_neighbors: int = 5,
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        metric: MetricLike = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: None = None) -> Self: ...
    def transform(self, X: Points) -> SparseMatrix: ...
    def fit_transform(self, X: Points, y: None = None) -> SparseMatrix: ...

class _RadiusOnly:
    effective_metric_: Any
    n_features_in_: int
    n_samples_fit_: int
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    @overload
    def radius_neighbors(
        self,
        X: Points | None = None,
        radius: float | npt.ArrayLike | None = None,
        return_distance: Literal[True] = True,
        sort_results: bool = False,
    ) -> tuple[Rows, Rows]: ...
    @overload
    def radius_neighbors(
        self,
        X: Points | None = None,
        radius: float | npt.ArrayLike | None = None,
        *,
        return_distance: Literal[False],
        sort_results: bool = False,
    ) -> Rows: ...
    def __getattr__(self, name: str) -> Any: ...

class RadiusNeighborsClassifier(_RadiusOnly):
    classes_: Any
    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Weights = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: MetricLike = "minkowski",
        outlier_label: Any = None,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: npt.ArrayLike) -> Self: ...
    def predict(self, X: Points | None) -> npt.NDArray[Any]: ...
    def predict_proba(self, X: Points | None) -> Any: ...
    def score(self, X: Points | None, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float: ...

class RadiusNeighborsRegressor(_RadiusOnly):
    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Weights = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: MetricLike = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: npt.ArrayLike) -> Self: ...
    def predict(self, X: Points | None) -> npt.NDArray[Any]: ...
    def score(self, X: Points | None, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float: ...

class LocalOutlierFactor(_Neighbors):
    negative_outlier_factor_: Floats
    n_neighbors_: int
    offset_: float
    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        metric: MetricLike = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        contamination: float | Literal["auto"] = "auto",
        novelty: bool = False,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Points, y: None = None) -> Self: ...
    def fit_predict(self, X: Points, y: None = None) -> Integers: ...
    def predict(self, X: Points | None = None) -> Integers: ...
    def decision_function(self, X: Points) -> Floats: ...
    def score_samples(self, X: Points) -> Floats: ...

class KNNImputer:
    def __init__(
        self,
        *,
        missing_values: Any = ...,
        n_neighbors: int = 5,
        weights: Weights = "uniform",
        metric: Literal["nan_euclidean"] | Callable[..., float] = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def fit(self, X: npt.ArrayLike, y: None = None) -> Self: ...
    def transform(self, X: npt.ArrayLike) -> Floats: ...
    def fit_transform(self, X: npt.ArrayLike, y: None = None) -> Floats: ...
    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[np.object_]: ...
    def __getattr__(self, name: str) -> Any: ...
