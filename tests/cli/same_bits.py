"""A binary that an emulator runs, for another processor, writes the same bytes as that of KITH_NATIVE_BIN."""

import itertools
import json
import os
import subprocess
import unittest

import numpy as np

from harness import KITH, KithTest, METRICS, rng

NATIVE = os.path.abspath(os.environ["KITH_NATIVE_BIN"])
TYPES = [np.float32, np.float64, np.uint8, np.int8, np.float16]


def points(rows, dims, dtype, seed):
    """Clusters, whose distances nearly tie; bytes tie for certain."""
    random = rng(seed)
    values = 40 * random.integers(-2, 3, size=(rows, dims)) + random.normal(size=(rows, dims))
    return (np.abs(values) if dtype == np.uint8 else values).astype(dtype)


class SameBits(KithTest):
    def both(self, *arguments):
        """What each binary writes into the two output files, as bytes."""
        answers = []
        for binary in (NATIVE, KITH):
            done = subprocess.run([binary, *arguments, "--ids", "ids.npy", "--distances", "distances.npy"],
                                  cwd=self.folder, capture_output=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            answers.append([])
            for name in ("ids.npy", "distances.npy"):
                with open(self.path(name), "rb") as file:
                    answers[-1].append(file.read())
                os.remove(self.path(name))
        return answers

    def assert_same(self, *arguments):
        native, other = self.both(*arguments)
        self.assertEqual(native[0], other[0], "ids differ")
        self.assertEqual(native[1], other[1], "distances differ")

    def save_points(self, dims, dtype):
        self.save("base.npy", points(700, dims, dtype, 1))
        self.save("q.npy", points(30, dims, dtype, 2))

    def test_they_take_different_instructions(self):
        targets = []
        for binary in (NATIVE, KITH):
            done = subprocess.run([binary, "info", "--json"], capture_output=True, timeout=300, check=True)
            targets.append(json.loads(done.stdout)["cpu"]["simd_targets"][0])
        self.assertNotEqual(*targets)

    def test_every_metric_and_type(self):
        for metric, dtype in itertools.product(METRICS, TYPES):
            with self.subTest(metric, dtype=dtype.__name__):
                self.save_points(19, dtype)
                self.assert_same("search", "--base", "base.npy", "--queries", "q.npy", "-k", "23", "--metric", metric,
                                 *(["--p", "2.5"] if metric == "minkowski" else []))

    def test_every_method(self):
        for dtype in (np.float32, np.float64):
            self.save_points(5, dtype)
            for method in ("brute", "tree", "triangle", "shifted-sort"):
                with self.subTest(method, dtype=dtype.__name__):
                    self.assert_same("search", "--base", "base.npy", "--queries", "q.npy", "-k", "8", "--method", method)

    def test_every_distance_stage(self):
        for dtype in TYPES:
            self.save_points(130, dtype)
            more = {1: ("int8", "bf16"), 4: ("bf16",)}.get(np.dtype(dtype).itemsize, ())
            for stage in ("direct", "register-tiled", "gemm") + more:
                with self.subTest(stage, dtype=dtype.__name__):
                    self.assert_same("search", "--base", "base.npy", "--queries", "q.npy", "-k", "8", "--distance", stage)


if __name__ == "__main__":
    unittest.main()
