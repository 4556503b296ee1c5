"""Radius search against NumPy."""

import pickle

import numpy as np
import pytest
from brute_force import distances
from hypothesis import given
from hypothesis import strategies as st

import kith


@given(st.integers(1, 80), st.integers(1, 10), st.integers(1, 10), st.integers(0, 2**32 - 1), st.booleans())
def test_equals_numpy(rows, queries, dims, seed, many):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 4, (rows, dims)).astype(np.float64)
    asked = rng.integers(0, 4, (queries, dims)).astype(np.float64)
    radius = rng.integers(0, 6, queries).astype(np.float64) if many else 2.0
    found = kith.search_radius(base, asked, radius, metric="manhattan")
    truth = distances(base, asked, "manhattan")
    within = truth <= np.broadcast_to(radius, queries)[:, None]
    assert found.counts.tolist() == within.sum(1).tolist()
    for q, (row, indices) in enumerate(zip(*found.rows())):
        wanted = sorted((truth[q, i], i) for i in np.flatnonzero(within[q]))
        assert list(zip(row.tolist(), indices.tolist())) == wanted
    counted = kith.search_radius(base, asked, radius, metric="manhattan", count_only=True)
    assert (counted.offsets == found.offsets).all() and counted.indices.size == 0


def test_self_pickle_and_plan(rng):
    base = rng.standard_normal((300, 5)).astype(np.float32)
    found = kith.search_radius(base, base, 1.5)
    assert (kith.Index(base).search_radius(None, 1.5).counts == found.counts - 1).all()
    assert pickle.loads(pickle.dumps(found)).offsets.tolist() == found.offsets.tolist()
    assert "radius" in str(found.report.plan)


def test_inner_product_is_at_least(rng):
    base = rng.standard_normal((50, 3))
    found = kith.search_radius(base, base[:2], 0.5, metric="dot")
    assert found.counts.tolist() == (base[:2] @ base.T >= 0.5).sum(1).tolist()
    assert (np.diff(found.rows().distances[0]) <= 0).all()


def test_refusals(rng):
    base = rng.standard_normal((10, 3))
    for radius, message in (
        (-1.0, "-1"),
        ([1.0, 2.0], "2 radii for 10 queries"),
        (np.nan, "nan"),
        (np.ones((2, 2)), "shape"),
    ):
        with pytest.raises(ValueError, match=message):
            kith.search_radius(base, base, radius)
    assert kith.search_radius(base, base[:0], 1.0).offsets.tolist() == [0]
