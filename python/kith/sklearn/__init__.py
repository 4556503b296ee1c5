"""scikit-learn's nearest neighbors, searched by kith.

The estimators are scikit-learn's own, with the same parameters; only the search is another. Where kith searches, it is
exact whatever ``algorithm`` and ``leaf_size`` say, equal distances go to the lower index, and ``n_jobs`` is the number
of CPU threads, all of them unless it is given. Distances are float32 where fitted points and queries both are, else
float64, as in scikit-learn.

Kith searches dense points under euclidean, sqeuclidean, manhattan, chebyshev, minkowski with p ≥ 1 and no weights,
cosine, correlation, hamming and canberra, by any of scikit-learn's names of them, and sparse points under euclidean,
manhattan and cosine. All else is left to scikit-learn, with the algorithm that was asked for or that its "auto" chooses:
precomputed input, callables, other metrics, zero vectors under cosine, and sparse queries of dense points. Fitted
attributes are the same either way. KNNImputer has scikit-learn's distances, ``nan_euclidean``, and takes the first of
donors that are equally near.

>>> from sklearn.datasets import load_iris
>>> from kith.sklearn import KNeighborsClassifier
>>> X, y = load_iris(return_X_y=True)
>>> float(KNeighborsClassifier(n_neighbors=5).fit(X, y).score(X, y))
0.9666666666666667
"""

from ._estimators import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    KNNImputer,
    LocalOutlierFactor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

__all__ = [
    "KNNImputer",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "LocalOutlierFactor",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
]
