"""imbalanced-learn's SMOTE with kith's neighbors: hand it the estimator.

prints:
before: [451, 49], after: [451, 451]
the same samples as with scikit-learn's neighbors: True
"""

import numpy as np
import sklearn.neighbors
from imblearn.over_sampling import SMOTE
from sklearn.datasets import make_classification

import kith.sklearn

points, classes = make_classification(n_samples=500, n_features=12, weights=[0.9], flip_y=0, random_state=0)


def balanced(neighbors):
    return SMOTE(random_state=0, k_neighbors=neighbors(n_neighbors=6)).fit_resample(points, classes)


more_points, more_classes = balanced(kith.sklearn.NearestNeighbors)
print(f"before: {np.bincount(classes).tolist()}, after: {np.bincount(more_classes).tolist()}")

own_points, _ = balanced(sklearn.neighbors.NearestNeighbors)
print(f"the same samples as with scikit-learn's neighbors: {np.allclose(more_points, own_points)}")
