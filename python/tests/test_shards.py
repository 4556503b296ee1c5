"""Blocks of a base, searched alone and merged: the answer of the whole, whatever the blocks."""

import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest
from answers import cuts, sha1, tied_points
from hypothesis import given
from hypothesis import strategies as st

import kith

METRICS = ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "correlation", "inner_product", "canberra",
           "hamming", "minkowski"]  # fmt: skip
DTYPES = [np.float32, np.float64, np.float16, np.uint8, np.int8]


def options_of(metric):
    return {"metric": metric, "p": 3.0} if metric == "minkowski" else {"metric": metric}


def merged_as_a_tree(rng, parts, k):
    """Merged in groups and in any order, some of them twice."""
    parts = [parts[i] for i in rng.permutation(len(parts))]
    parts += [parts[i] for i in rng.integers(0, len(parts), 2)]
    while len(parts) > 1:
        size = int(rng.integers(2, 5))
        parts = [kith.merge(parts[:size], k), *parts[size:]]
    return kith.merge(parts, k)


@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(METRICS),
    dtype=st.sampled_from(DTYPES),
    rows=st.integers(1, 80),
    blocks=st.integers(1, 9),
    k=st.integers(1, 100),
)
def test_any_blocks_give_the_answer_of_the_whole(seed, metric, dtype, rows, blocks, k):
    rng = np.random.default_rng(seed)
    base, queries = tied_points(rng, rows, 3, dtype), tied_points(rng, 7, 3, dtype)
    if metric == "correlation":  # constant rows have none
        base[:, 0], queries[:, 0] = 9, 9
    options = options_of(metric)
    whole = kith.search(base, queries, k, pad_missing=True, **options)
    parts = [
        kith.partial_search(base[start:end], queries, k, first_id=start, **options)
        for start, end in cuts(rng, rows, blocks)
    ]
    found = merged_as_a_tree(rng, parts, k)
    assert sha1(found.distances, found.indices) == sha1(whole.distances, whole.indices)


@given(seed=st.integers(0, 2**32 - 1), metric=st.sampled_from(METRICS), blocks=st.integers(1, 6), k=st.integers(1, 12))
def test_what_was_found_before_goes_on(seed, metric, blocks, k):
    """Blocks one after the other, in any order, each from the lists of those before, with ids of the caller's."""
    rng = np.random.default_rng(seed)
    base = tied_points(rng, 50, 3)
    if metric == "correlation":
        base[:, 0] = 9
    options = options_of(metric)
    ids = np.sort(rng.choice(10_000, 50, replace=False)) - 5_000
    ids[ids == -1] = 20_000
    ids.sort()
    whole = kith.search(base, base[:9], k, **options)
    found = None
    pieces = cuts(rng, 50, blocks)
    for start, end in [pieces[i] for i in rng.permutation(blocks)]:
        found = kith.partial_search(base[start:end], base[:9], k, ids=ids[start:end], found=found, **options)
    assert sha1(found.distances, found.indices) == sha1(whole.distances, ids[whole.indices])


@given(seed=st.integers(0, 2**32 - 1), blocks=st.integers(1, 6), k=st.integers(1, 39))
def test_points_leave_themselves_out(seed, blocks, k):
    rng = np.random.default_rng(seed)
    base = tied_points(rng, 40, 2)
    whole = kith.Index(base).search_self(k)
    parts = [
        kith.partial_search(base[start:end], base, k, first_id=start, self_ids=np.arange(40))
        for start, end in cuts(rng, 40, blocks)
    ]
    found = kith.merge(parts, k)
    assert sha1(*found.neighbors()) == sha1(*whole)


@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(["euclidean", "manhattan", "inner_product"]),
    blocks=st.integers(1, 6),
    one_radius=st.booleans(),
)
def test_radius(seed, metric, blocks, one_radius):
    rng = np.random.default_rng(seed)
    base, queries = tied_points(rng, 40, 3), tied_points(rng, 7, 3)
    radius = 2.0 if one_radius else rng.integers(0, 4, 7)
    whole = kith.search_radius(base, queries, radius, metric=metric)
    parts = [
        kith.partial_search_radius(base[start:end], queries, radius, first_id=start, metric=metric)
        for start, end in cuts(rng, 40, blocks)
    ]
    found = kith.merge([*parts[1:], parts[0], parts[-1]])
    for mine, theirs in zip(found.neighbors(), whole):
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)


def test_parts_can_be_pickled(rng):
    base = rng.random((20, 4))
    part = kith.partial_search(base, base[:3], 2, first_id=100, block_name="a")
    again = pickle.loads(pickle.dumps(part))
    assert again.blocks == part.blocks and list(again.blocks) == ["a"]
    assert sha1(*kith.merge([again, part]).neighbors()) == sha1(*part.neighbors())
    within = kith.partial_search_radius(base, base[:3], 0.5, first_id=100)
    assert np.array_equal(pickle.loads(pickle.dumps(within)).indices, within.indices)


def test_a_changed_block_is_an_error(rng):
    base = rng.random((20, 4))
    part = kith.partial_search(base, base[:3], 2, first_id=0, block_name="7")
    base[11, 2] += 1
    changed = kith.partial_search(base, base[:3], 2, first_id=0, block_name="7")
    with pytest.raises(ValueError, match="block 7 changed between two reads, with fingerprints"):
        kith.merge([part, changed])
    with pytest.raises(ValueError, match="block 7 changed between two reads"):
        kith.partial_search(base, base[:3], 2, first_id=0, block_name="7", found=part)


def test_a_point_in_two_blocks_is_an_error_unless_it_is_the_same(rng):
    base = rng.random((20, 4))
    part = kith.partial_search(base[:12], base[:3], 20, first_id=0)
    overlapping = kith.partial_search(base[8:], base[:3], 20, first_id=8)
    whole = kith.search(base, base[:3], 20)
    assert sha1(*kith.merge([part, overlapping]).neighbors()) == sha1(*whole)
    moved = kith.partial_search(base[8:] + 1, base[:3], 20, first_id=8)
    with pytest.raises(ValueError, match=r"point \d+ is at distance .* in one list and at .* in another"):
        kith.merge([part, moved])


def test_parts_must_belong_together(rng):
    base = rng.random((20, 4))
    part = kith.partial_search(base[:10], base[:3], 5, first_id=0)
    with pytest.raises(ValueError, match="k = 6 but a part has 5 places"):
        kith.merge([part], 6)
    with pytest.raises(ValueError, match="queries changed between two reads"):
        kith.merge([part, kith.partial_search(base[10:], base[1:4], 5, first_id=10)])
    within = kith.partial_search_radius(base[:10], base[:3], 1.0, first_id=0)
    with pytest.raises(ValueError, match="different queries or radii"):
        kith.merge([within, kith.partial_search_radius(base[10:], base[:3], 2.0, first_id=10)])
    with pytest.raises(ValueError, match="metrics euclidean and manhattan"):
        kith.merge([part, kith.partial_search(base[10:], base[:3], 5, first_id=10, metric="manhattan")])
    with pytest.raises(ValueError, match="there are no parts"):
        kith.merge([])
    with pytest.raises(TypeError, match="not tuple"):
        kith.merge([tuple(part.neighbors())])
    with pytest.raises(TypeError, match="PartialNeighbors and PartialRadiusNeighbors"):
        kith.merge([part, kith.partial_search_radius(base[10:], base[:3], 1.0, first_id=10)])


def test_minkowski_is_of_one_backend(rng):
    base = rng.random((20, 4))
    part = kith.partial_search(base[:10], base[:3], 5, first_id=0, metric="minkowski", p=3, backend="cpu")
    other = kith.partial_search(base[10:], base[:3], 5, first_id=10, metric="minkowski", p=3, backend="cpu")
    assert kith.merge([part, other]).backend == "cpu"
    with pytest.raises(ValueError, match="backends cpu and cuda, whose powers differ"):
        kith.merge([part, dataclasses.replace(other, backend="cuda")])
    elsewhere = dataclasses.replace(part, backend="cuda")
    with pytest.raises(ValueError, match="backends cpu and cuda, whose powers differ"):
        kith.partial_search(
            base[10:], base[:3], 5, first_id=10, metric="minkowski", p=3, backend="cpu", found=elsewhere
        )


def test_arguments(rng):
    base = rng.random((5, 4))
    with pytest.raises(TypeError, match="either first_id or ids"):
        kith.partial_search(base, base, 2)
    with pytest.raises(TypeError, match="either first_id or ids"):
        kith.partial_search(base, base, 2, first_id=0, ids=range(5))
    with pytest.raises(ValueError, match="ids has 1 in row 2 after 2"):
        kith.partial_search(base, base, 2, ids=[0, 2, 1, 3, 4])
    with pytest.raises(ValueError, match="ids has 2 in row 2 twice"):
        kith.partial_search(base, base, 2, ids=[0, 2, 2, 3, 4])
    with pytest.raises(ValueError, match="-1, which stands for no point"):
        kith.partial_search(base, base, 2, ids=[-2, -1, 0, 3, 4])
    with pytest.raises(ValueError, match=r"ids has shape \(4,\); 5 numbers"):
        kith.partial_search(base, base, 2, ids=range(4))
    with pytest.raises(ValueError, match="k = 0"):
        kith.partial_search(base, base, 0, first_id=0)
    with pytest.raises(ValueError, match="queries have 3 dimensions but the block has 4"):
        kith.partial_search(base, base[:, :3], 1, first_id=0)
    with pytest.raises(ValueError, match="shifted-sort"):
        kith.partial_search(base, base, 1, first_id=0, method="shifted-sort")
    with pytest.raises(ValueError, match="base row 0, column 0 is nan"):
        kith.partial_search(np.full((5, 4), np.nan), base, 1, first_id=0)


WITHOUT_ENGINES = """
import sys
for name in ("dask", "pyspark", "ray", "pyarrow"):
    sys.modules[name] = None

import kith, kith.ray, kith.spark

for module, use in (("dask", lambda: __import__("kith.dask")),
                    ("ray", lambda: kith.ray.search("a.parquet", [[0.0]], 1, "id", "x"))):
    try:
        use()
    except ImportError as error:
        print(error)
"""


def test_engines_are_optional():
    done = subprocess.run([sys.executable, "-c", WITHOUT_ENGINES], capture_output=True, text=True, check=True)
    without_dask, without_arrow = done.stdout.splitlines()
    assert "kith.dask needs Dask, which is not installed; pip install" in without_dask
    assert "kith.ray needs pyarrow" in without_arrow
