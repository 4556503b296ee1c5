"""Index: reuse, self-search, lifetime, pickling."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from brute_force import assert_nearest

import kith


def test_reuse(rng):
    base = rng.standard_normal((500, 12)).astype(np.float32)
    index = kith.Index(base)
    for rows, k in ((1, 1), (7, 3), (100, 20), (500, 500)):
        queries = rng.standard_normal((rows, 12)).astype(np.float32)
        assert_nearest(index.search(queries, k), base, queries, k)
    assert len(index) == 500 and index.shape == (500, 12) and index.dtype == np.float32
    assert index.metric == "euclidean" and index.base is base
    assert index.explain(10, 3).backend in ("cpu", "cuda")


def test_self_is_left_out_among_duplicates(rng):
    base = np.repeat(rng.standard_normal((20, 3)), 5, axis=0)
    found = kith.Index(base).search_self(4)
    own = np.arange(100)
    assert found.indices.dtype.char == own.dtype.char  # not another type of the same size
    assert not (found.indices == own[:, None]).any()
    assert (found.distances == 0).all() and (np.sort(found.indices // 5, axis=1) == own[:, None] // 5).all()


def test_index_keeps_its_points_and_answers_outlive_it(rng):
    base = rng.standard_normal((100, 4))
    seen = weakref.ref(base)
    index = kith.Index(base)
    del base
    gc.collect()
    assert seen() is not None
    found = index.search_self(3)
    del index
    gc.collect()
    assert seen() is None
    assert found.indices.shape == (100, 3) and np.isfinite(found.distances).all()


def test_answers_are_pickled(rng):
    base = rng.standard_normal((100, 4))
    found = kith.search(base, base, 5)
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is kith.Neighbors and (again.indices == found.indices).all()
