"""Graphs and selection."""

import sys

import numpy as np
import pytest

import kith


def test_graph(rng):
    points = rng.standard_normal((60, 4))
    graph = kith.graph(points, 5)
    found = kith.Index(points).search_self(5)
    assert graph.shape == (60, 60) and (np.diff(graph.indptr) == 5).all()
    assert (graph.indices.reshape(60, 5) == found.indices).all()
    assert (graph.data.reshape(60, 5) == found.distances).all()
    union, mutual = kith.graph(points, 5, symmetrize="union"), kith.graph(points, 5, symmetrize="mutual")
    dense = graph.toarray()
    assert (union.toarray() == np.maximum(dense, dense.T)).all()
    assert (mutual.toarray() == np.where((dense > 0) & (dense.T > 0), dense, 0)).all()
    assert set(kith.graph(points, 5, mode="connectivity").data) == {1.0}
    for keywords in ({"symmetrize": "both"}, {"mode": "both"}):
        with pytest.raises(ValueError, match="both"):
            kith.graph(points, 5, **keywords)


def test_graph_without_scipy(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    graph = kith.graph(rng.standard_normal((20, 2)), 3)
    assert type(graph) is kith.Graph and graph.shape == (20, 20) and graph.indices.size == 60


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int8])
@pytest.mark.parametrize("largest", [False, True])
def test_topk(rng, dtype, largest):
    matrix = rng.integers(0, 50, (20, 200)).astype(dtype)
    values, indices = kith.topk(matrix, 9, largest=largest)
    key = -matrix.astype(float) if largest else matrix.astype(float)
    order = np.argsort(key, axis=1, kind="stable")[:, :9]
    assert (indices == order).all() and (values == np.take_along_axis(matrix, order, 1)).all()
    assert values.dtype == dtype
    unsorted = kith.topk(matrix, 9, largest=largest, output="unsorted")
    assert (np.sort(unsorted.indices, axis=1) == np.sort(order, axis=1)).all()
    assert (kith.topk(matrix, 9, largest=largest, output="values_only") == values).all()
    assert (kith.topk(matrix, 9, largest=largest, output="kth_only")[:, 0] == values[:, -1]).all()


def test_topk_refusals():
    for keywords, message in (({"k": 4}, "k = 4"), ({"k": 1, "output": "all"}, "all"), ({"k": 1, "method": "x"}, "x")):
        with pytest.raises(ValueError, match=message):
            kith.topk(np.zeros((2, 3)), **keywords)
