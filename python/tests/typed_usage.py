"""What type checkers make of the public functions. Lines that end in "wrong" must be refused, all others accepted.

Never run, only checked: by run_type_checkers.py.
"""

from __future__ import annotations

from typing import Any, Dict, List, Set, Tuple

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import kith
import kith.dask
import kith.ray
import kith.spark
from kith.sklearn import KNNImputer, LocalOutlierFactor, NearestNeighbors, RadiusNeighborsRegressor
from kith.spatial import KDTree

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]


class Tensor:
    """An array of another library."""

    @property
    def shape(self) -> Tuple[int, ...]:
        raise NotImplementedError

    def __dlpack__(self, stream: Any = None) -> Any:
        raise NotImplementedError


class Sparse:
    """A matrix of scipy.sparse, which has no types."""

    @property
    def shape(self) -> Tuple[int, int]:
        raise NotImplementedError

    def tocsr(self) -> Any:
        raise NotImplementedError


points = np.zeros((3, 2), np.float32)
tensor = Tensor()

distances, indices = kith.search(points, points, 2, metric="cosine", memory="1GB", tuning={"shifts": 3})
assert_type(distances, Floats)
assert_type(indices, Integers)
assert_type(kith.search(points, [[1.0, 2.0]], k=2).indices, Integers)
assert_type(kith.search(points, tensor, 2).indices, Tensor)
assert_type(kith.search_batches(points, None, 2, lengths=[3]).indices, Integers)
assert_type(kith.search_batches(points, tensor, 2, batch=[0, 1], query_batch=tensor).indices, Tensor)
assert_type(kith.search_batches(tensor, None, 2, offsets=[0, 3]).distances, Tensor)
assert_type(kith.distances(points, points), Floats)
assert_type(kith.distances(tensor, points), Tensor)
assert_type(kith.search_radius(points, points, 0.5).offsets, Integers)
assert_type(kith.search_radius(points, points, [0.5, 1, 2]).rows().distances, List[Floats])
assert_type(kith.reduce(points, points, 2, [1.0, 2.0, 3.0]), Floats)
assert_type(kith.normals(points, 3), Floats)
assert_type(kith.topk(points, 1).indices, Integers)
assert_type(kith.topk(points, 1, output="kth_only"), npt.NDArray[np.number[Any]])
assert_type(kith.explain((10, 2), 3, k=1).method, str)
assert_type(kith.explain((10, 2), 3, k=1, device="a100").device, str)
assert_type(kith.explain((10, 2), 3, k=1, period=[1.0, 0.0]).period, List[float])
assert_type(kith.explain((10, 2), 3, k=1, devices=[0, 1]).stripes, List[Tuple[int, int, int, float]])
assert_type(kith.search(points, points, 2, devices="all").indices, Integers)

assert_type(kith.search(points, points, 2, metric="seuclidean", V=[1.0, 2.0]).indices, Integers)
assert_type(kith.search(points, points, 2, metric=kith.Expression("sum(abs(x - y))")).distances, Floats)
assert_type(kith.search_radius(points, tensor, 0.5, metric=kith.c_metric(1234)).indices, Tensor)
assert_type(kith.distances(points, points, metric=lambda x, y: float(x[0] - y[0])), Floats)
assert_type(kith.distances(points, points, metric="cosine", zero_vectors="one"), Floats)

index = kith.Index(points, metric="minkowski", p=3, progress=lambda done, total: None)
assert_type(index.search_self(1).distances, Floats)
assert_type(index.search(tensor, 1).distances, Tensor)
assert_type(index.search_radius(None, 1.0).counts, Integers)
assert_type(kith.Index(tensor).search_self(1).indices, Tensor)

assert_type(kith.search(Sparse(), Sparse(), 2, metric="jaccard").indices, Integers)
assert_type(kith.Index(Sparse()).search_self(1).distances, Floats)
assert_type(RadiusNeighborsRegressor(radius=2).fit(points, [1.0, 2.0, 3.0]).predict(points), npt.NDArray[Any])
assert_type(LocalOutlierFactor(2).fit_predict(points), Integers)
assert_type(KNNImputer(n_neighbors=1).fit_transform(points), Floats)

packed = np.zeros((3, 2), np.uint8)
assert_type(kith.search_bits(packed, packed, 2, metric="tanimoto").report is None, bool)
assert_type(kith.BitIndex(packed, bits=9).explain(1, 2).threads, int)

neighbors = NearestNeighbors(n_neighbors=2).fit(points)
assert_type(neighbors.kneighbors(points)[1], Integers)
assert_type(neighbors.kneighbors(return_distance=False), Integers)

tree = KDTree(points, leafsize=8, boxsize=[1.0, 2.0])
assert_type(tree.query(points, k=[1, 2], workers=-1)[1], npt.NDArray[np.intp])
assert_type(tree.data, npt.NDArray[np.float64])
assert_type(tree.query_ball_tree(tree, 0.5), List[List[int]])
assert_type(tree.query_pairs(0.5), Set[Tuple[int, int]])
assert_type(tree.query_pairs(0.5, output_type="ndarray"), npt.NDArray[np.intp])
assert_type(tree.sparse_distance_matrix(tree, 0.5, output_type="dict"), Dict[Tuple[int, int], float])


def nearest(which: kith.Index, found: kith.Neighbors) -> Floats:
    """Without brackets they are NumPy's."""
    return found.distances + which.search_self(1).distances


kith.search(points, points, 2, metric="euclid")  # wrong
kith.search(points, points, 2, metric="cosine", zero_vectors="two")  # wrong
kith.search(points, points, "2")  # wrong
kith.search(points, points, 2, backend="gpu")  # wrong
kith.search(points, points, 2, foo=1)  # wrong
kith.search("points.npy", points, 2)  # wrong
kith.Index(points, method="hnsw")  # wrong
kith.search_bits(packed, packed, 2, metric="dice")  # wrong
kith.graph(points, 2, symmetrize=True)  # wrong
kith.topk(points, 1, output="all")  # wrong
KDTree(points, leafsize="8")  # wrong
tree.query_pairs(0.5, output_type="list")  # wrong
tree.count_neighbors(points, 0.5)  # wrong

part = kith.partial_search(points, points, 2, first_id=0, metric="cosine")
assert_type(kith.merge([part, part], 2), kith.PartialNeighbors)
assert_type(part.neighbors().indices, Integers)
within = kith.partial_search_radius(points, points, 0.5, ids=[0, 2, 5])
assert_type(kith.merge([within]), kith.PartialRadiusNeighbors)
assert_type(within.neighbors().offsets, Integers)
kith.partial_search(points, points, 2, first_id=0, epsilon=0.1)  # wrong
assert_type(kith.ray.search("points", points, 2, "id", "vector").indices, Integers)
kith.dask.search(points, points, 2, metric="manhattan", pad_missing=True)
kith.dask.search(points, points, 2, metric="manhatten")  # wrong
kith.dask.NearestNeighbors(3, metric="cosine").fit(points)
kith.dask.KNeighborsClassifier(3, weights="far")  # wrong
kith.search_batches(points, points, 1, devices=[0])  # wrong
kith.search(points, points, 2, devices="0,1")  # wrong
