"""Who is measured, as functions that return (distances, indices).

CONTENDERS are functions of (base, queries, k), made for a metric, or None where a contender has not got it. LAPTOP are
functions of a base that make one of (queries, k), by euclidean distances, each with the type that it is given.
"""

import faiss
import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

import kith

METRICS = [
    "sqeuclidean", "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation", "inner_product",
    "hamming",
]  # fmt: skip
P = 3.0  # of minkowski

_FAISS = {
    "sqeuclidean": faiss.METRIC_L2,
    "euclidean": faiss.METRIC_L2,
    "manhattan": faiss.METRIC_L1,
    "chebyshev": faiss.METRIC_Linf,
    "minkowski": faiss.METRIC_Lp,
    "cosine": faiss.METRIC_INNER_PRODUCT,
    "inner_product": faiss.METRIC_INNER_PRODUCT,
}


def kith_search(metric):
    p = P if metric == "minkowski" else None
    return lambda base, queries, k: kith.search(base, queries, k, metric=metric, p=p, backend="cpu")


def faiss_knn(metric):
    """Roots are taken, and rows scaled to unit length, where the metric asks for it."""
    if metric not in _FAISS:
        return None

    def unit(points):
        return points / np.linalg.norm(points, axis=1, keepdims=True) if metric == "cosine" else points

    def run(base, queries, k):
        # faiss.knn() has no argument for the power, so a flat index stands in.
        if metric == "minkowski":
            index = faiss.IndexFlat(base.shape[1], faiss.METRIC_Lp)
            index.metric_arg = P
            index.add(base)
            distances, indices = index.search(queries, k)
            return distances ** (1 / P), indices
        distances, indices = faiss.knn(unit(queries), unit(base), k, _FAISS[metric])
        if metric == "euclidean":
            distances = np.sqrt(np.maximum(distances, 0))
        return (1 - distances if metric == "cosine" else distances), indices

    return run


def sklearn_brute(metric):
    if metric == "inner_product":
        return None
    p = P if metric == "minkowski" else 2

    def run(base, queries, k):
        return (
            NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric, p=p, n_jobs=-1)
            .fit(base)
            .kneighbors(queries)
        )

    return run


# Of sparse points.
SPARSE = {"kith": kith_search, "scikit-learn": sklearn_brute}
CONTENDERS = {"kith": kith_search, "faiss": faiss_knn, "scikit-learn": sklearn_brute}


def kith_index(base):
    return kith.Index(base, backend="cpu").search


def faiss_flat(base):
    index = faiss.IndexFlatL2(base.shape[1])
    index.add(base)

    def search(queries, k):
        squares, indices = index.search(queries, k)
        return np.sqrt(np.maximum(squares, 0)), indices

    return search


def sklearn_auto(base):
    """A tree in up to 15 dimensions, else brute force."""
    nearest = NearestNeighbors().fit(base)

    def search(queries, k):
        nearest.n_jobs = None if len(queries) == 1 else -1  # threads for one query take longer than the query
        return nearest.kneighbors(queries, k)

    return search


def scipy_tree(base):
    tree = cKDTree(base)
    return lambda queries, k: tree.query(queries, k, workers=-1)


LAPTOP = {
    "kith float32": (kith_index, np.float32),
    "kith float64": (kith_index, np.float64),
    "faiss": (faiss_flat, np.float32),
    "scikit-learn float32": (sklearn_auto, np.float32),
    "scikit-learn float64": (sklearn_auto, np.float64),
    "cKDTree": (scipy_tree, np.float64),
}
