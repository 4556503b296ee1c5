"""Runs the real binary, named by the environment variable KITH_BIN, in a folder of its own for each test."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

KITH = os.path.abspath(os.environ["KITH_BIN"])

METRICS = ["sqeuclidean", "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation",
           "inner_product", "hamming", "canberra"]
OK, USAGE, BAD_DATA, MEMORY, NO_DEVICE, CANNOT_WRITE, INTERRUPTED = 0, 2, 3, 4, 5, 6, 130


class KithTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kith-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_kith(self, *arguments, code=OK, stdin=None, env=None):
        """Runs it, expects the exit code, and returns the finished process with bytes in stdout, text in stderr."""
        done = subprocess.run([KITH, *map(str, arguments)], input=stdin, capture_output=True, cwd=self.folder,
                              timeout=300, env={**os.environ, **(env or {})})
        done.stderr = done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stderr}")
        return done

    def run_json(self, *arguments, **options):
        done = self.run_kith(*arguments, "--json", **options)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["schema_version"], 1)
        self.assertEqual(answer["command"], arguments[0])
        return answer

    def fails(self, code, *arguments, says, **options):
        """Expects the exit code, every text of `says` in the message, nothing on stdout, and no new files."""
        before = sorted(os.listdir(self.folder))
        done = self.run_kith(*arguments, code=code, **options)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return done

    def absent_backends(self):
        return {"cuda", "emulated"} - set(self.run_json("info")["backends"])

    def save(self, name, array):
        np.save(self.path(name), array)
        return name

    def load(self, name):
        return np.load(self.path(name))


def rng(seed=0):
    return np.random.default_rng(seed)


def pairwise(base, queries, metric="euclidean", p=3):
    """queries × base distances in double, by the definition."""
    x, y = queries.astype(np.float64)[:, None, :], base.astype(np.float64)[None, :, :]
    if metric == "correlation":
        x, y = x - x.mean(axis=2, keepdims=True), y - y.mean(axis=2, keepdims=True)
    difference = np.abs(x - y)
    if metric == "sqeuclidean":
        return (difference**2).sum(axis=2)
    if metric == "euclidean":
        return np.sqrt((difference**2).sum(axis=2))
    if metric == "manhattan":
        return difference.sum(axis=2)
    if metric == "chebyshev":
        return difference.max(axis=2)
    if metric == "minkowski":
        return (difference**p).sum(axis=2) ** (1 / p)
    if metric in ("cosine", "correlation"):
        norms = np.sqrt((x**2).sum(axis=2) * (y**2).sum(axis=2))
        return 1 - (x * y).sum(axis=2) / norms
    if metric == "inner_product":
        return (x * y).sum(axis=2)
    if metric == "hamming":
        return (x != y).mean(axis=2)
    assert metric == "canberra"
    return np.divide(difference, np.abs(x) + np.abs(y), out=np.zeros_like(difference), where=difference > 0).sum(axis=2)


def nearest(distances, k, largest=False):
    """ids and distances of the k best of each row, by (distance, id)."""
    ids = np.argsort(-distances if largest else distances, axis=1, kind="stable")[:, :k]
    return ids, np.take_along_axis(distances, ids, axis=1)


def exact_points(rows, dims, seed, dtype=np.float32):
    """Points on a coarse grid: every distance is exact in any order of summation, and ties are many."""
    return rng(seed).integers(-8, 8, (rows, dims)).astype(dtype)
