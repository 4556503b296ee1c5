"""Who is measured: functions of (base, queries, k) that return (distances, indices), made for a metric or None."""

import faiss
import numpy as np
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


CONTENDERS = {"kith": kith_search, "faiss": faiss_knn, "scikit-learn": sklearn_brute}
