"""scikit-learn's nearest neighbors, searched by kith.

The estimators are scikit-learn's own, with the same parameters; only the search is another. It is exact whatever
``algorithm`` and ``leaf_size`` say, equal distances go to the lower index, and ``n_jobs`` is the number of CPU threads,
all of them unless it is given. Dense points are searched by kith under the metrics it has; sparse and precomputed
input, callables and other metrics are left to scikit-learn, and so are zero vectors under cosine.

>>> from sklearn.datasets import load_iris
>>> from kith.sklearn import KNeighborsClassifier
>>> X, y = load_iris(return_X_y=True)
>>> float(KNeighborsClassifier(n_neighbors=5).fit(X, y).score(X, y))
0.9666666666666667
"""

from ._estimators import KNeighborsClassifier, KNeighborsRegressor, KNeighborsTransformer, NearestNeighbors

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor", "KNeighborsTransformer", "NearestNeighbors"]
