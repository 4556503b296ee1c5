"""The estimators: scikit-learn's, over kith's search."""

from sklearn import impute, neighbors

from ._imputer import KithImputes
from ._radius import KithRadiusMeans, KithRadiusVotes
from ._search import KithNearest, KithVotes


class NearestNeighbors(KithNearest, neighbors.NearestNeighbors):
    """As :class:`sklearn.neighbors.NearestNeighbors`.

    >>> from kith.sklearn import NearestNeighbors
    >>> samples = [[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [1.0, 1.0, 0.5]]
    >>> nearest = NearestNeighbors(n_neighbors=1).fit(samples)
    >>> [part.tolist() for part in nearest.kneighbors([[1.0, 1.0, 1.0]])]
    [[[0.5]], [[2]]]
    >>> nearest.radius_neighbors([[1.0, 1.0, 1.0]], radius=1.6)[1][0].tolist()
    [1, 2]
    """


class KNeighborsClassifier(KithVotes, neighbors.KNeighborsClassifier):
    """As :class:`sklearn.neighbors.KNeighborsClassifier`.

    >>> from kith.sklearn import KNeighborsClassifier
    >>> KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.1]]).tolist()
    [0]
    """


class KNeighborsRegressor(KithNearest, neighbors.KNeighborsRegressor):
    """As :class:`sklearn.neighbors.KNeighborsRegressor`.

    >>> from kith.sklearn import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]]).tolist()
    [0.5]
    """


class KNeighborsTransformer(KithNearest, neighbors.KNeighborsTransformer):
    """As :class:`sklearn.neighbors.KNeighborsTransformer`.

    >>> from kith.sklearn import KNeighborsTransformer
    >>> KNeighborsTransformer(n_neighbors=1, mode="connectivity").fit_transform([[0], [1], [3]]).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """


class RadiusNeighborsClassifier(KithRadiusVotes, neighbors.RadiusNeighborsClassifier):
    """As :class:`sklearn.neighbors.RadiusNeighborsClassifier`.

    >>> from kith.sklearn import RadiusNeighborsClassifier
    >>> RadiusNeighborsClassifier(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]]).tolist()
    [0]
    """


class RadiusNeighborsRegressor(KithRadiusMeans, neighbors.RadiusNeighborsRegressor):
    """As :class:`sklearn.neighbors.RadiusNeighborsRegressor`.

    >>> from kith.sklearn import RadiusNeighborsRegressor
    >>> RadiusNeighborsRegressor(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]]).tolist()
    [0.5]
    """


class LocalOutlierFactor(KithNearest, neighbors.LocalOutlierFactor):
    """As :class:`sklearn.neighbors.LocalOutlierFactor`.

    >>> from kith.sklearn import LocalOutlierFactor
    >>> LocalOutlierFactor(n_neighbors=2).fit_predict([[-1.1], [0.2], [101.1], [0.3]]).tolist()
    [1, 1, -1, 1]
    """


class KNNImputer(KithImputes, impute.KNNImputer):
    """As :class:`sklearn.impute.KNNImputer`.

    >>> from kith.sklearn import KNNImputer
    >>> KNNImputer(n_neighbors=2).fit_transform([[1, 2, None], [3, 4, 3], [None, 6, 5], [8, 8, 7]]).tolist()
    [[1.0, 2.0, 4.0], [3.0, 4.0, 3.0], [5.5, 6.0, 5.0], [8.0, 8.0, 7.0]]
    """
