"""devices=: the same answers from one emulated device and from several. How many there are is read once in a process."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kith

emulated = pytest.mark.skipif("emulated" not in kith.versions()["backends"], reason="no emulated backend here")

ANSWERS = """
import numpy as np, kith
points = np.random.default_rng(3).integers(0, 4, (90, 3)).astype(np.float32)
queries = points[::17] + 1
values = np.arange(90, dtype=np.float32)

def answers(**where):
    index = kith.Index(points, **where)
    yield from index.search(queries, 40)
    yield from index.search_self(8)
    found = kith.search_radius(points, queries, 2.0, **where)
    yield from (found.offsets, found.indices, found.distances)
    yield kith.reduce(points, queries, 7, values, **where)
    yield kith.search(points, queries, 3, max_distance=1.0, **where).indices
    graph = kith.graph(points, 5, **where)
    yield from (graph.indptr, graph.indices, graph.data)

one = list(answers(backend="emulated"))
for devices in ([0, 1, 2], "all", [1, 1], np.array([2])):
    for mine, wanted in zip(answers(backend="emulated", devices=devices), one):
        np.testing.assert_array_equal(mine, wanted)
plan = kith.explain(points, queries, 3, backend="emulated", devices=[2, 0])
print([stripe[:3] for stripe in plan.stripes])
try:
    kith.search(points, queries, 3, backend="emulated", devices=[0, 5])
except Exception as error:
    print(error)
"""


@emulated
def test_answers_are_the_same():
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS], env={**os.environ, "KITH_EMULATOR_DEVICES": "3"}, text=True,
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    stripes, error = done.stdout.splitlines()
    assert stripes == "[(2, 0, 45), (0, 45, 45)]"
    assert "no device 5" in error and "0, 1, 2" in error


def test_what_is_not_for_several_devices():
    points = np.zeros((4, 2), np.float32)
    with pytest.raises(ValueError, match="devices = 0,1 but backend cpu"):
        kith.search(points, points, 1, backend="cpu", devices=[0, 1])
    with pytest.raises(ValueError, match="devices = all but method shifted-sort"):
        kith.Index(points, method="shifted-sort", devices="all")
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="devices is for dense points"):
        kith.search(sparse.csr_matrix(points), points, 1, devices=[0])
