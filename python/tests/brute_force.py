"""Neighbors by NumPy alone: every distance, then a stable sort."""

import numpy as np


def distances(base, queries, metric, p=2.0):
    """queries × base, accumulated in float64."""
    x = np.asarray(queries, np.float64)[:, None, :]
    y = np.asarray(base, np.float64)[None, :, :]
    if metric == "sqeuclidean":
        return ((x - y) ** 2).sum(-1)
    if metric == "euclidean":
        return np.sqrt(((x - y) ** 2).sum(-1))
    if metric == "manhattan":
        return np.abs(x - y).sum(-1)
    if metric == "chebyshev":
        return np.abs(x - y).max(-1)
    if metric == "minkowski":
        return (np.abs(x - y) ** p).sum(-1) ** (1 / p)
    if metric == "hamming":
        return (x != y).mean(-1)
    if metric == "canberra":
        gap = np.abs(x - y)
        return np.divide(gap, np.abs(x) + np.abs(y), out=np.zeros_like(gap), where=gap > 0).sum(-1)
    if metric == "inner_product":
        return (x * y).sum(-1)
    if metric == "correlation":
        x = x - x.mean(-1, keepdims=True)
        y = y - y.mean(-1, keepdims=True)
    return 1 - (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))


def assert_nearest(found, base, queries, k, metric="euclidean", p=2.0):
    """The answer is right: distances within rounding, each that of its index, sorted, none missing."""
    truth = distances(base, queries, metric, p)
    assert found.distances.shape == found.indices.shape == (len(queries), k)
    assert found.indices.dtype == np.int64
    got = np.asarray(found.distances, np.float64)
    tolerance = 1e-6 if found.distances.dtype == np.float32 else 1e-12
    scale = max(1.0, float(np.abs(truth).max()))
    np.testing.assert_allclose(got, np.take_along_axis(truth, found.indices, 1), rtol=tolerance, atol=tolerance * scale)
    wanted = np.sort(truth if metric != "inner_product" else -truth, axis=1)[:, :k]
    wanted = wanted if metric != "inner_product" else -wanted
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)
    for row_distances, row in zip(found.distances, found.indices):
        order = row_distances if metric != "inner_product" else -row_distances
        pairs = list(zip(order.tolist(), row.tolist()))
        assert pairs == sorted(pairs) and len(set(row.tolist())) == k
