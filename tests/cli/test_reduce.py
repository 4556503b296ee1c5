import unittest

import numpy as np

from harness import BAD_DATA, KithTest, USAGE, nearest, pairwise, rng


class Reduce(KithTest):
    def setUp(self):
        super().setUp()
        self.base = rng(1).normal(size=(120, 3)).astype(np.float32)
        self.queries = rng(2).normal(size=(11, 3)).astype(np.float32)
        self.values = rng(3).normal(size=(120, 2)).astype(np.float32)
        self.save("base.npy", self.base)
        self.save("queries.npy", self.queries)
        self.save("values.npy", self.values)
        self.ids, self.distances = nearest(pairwise(self.base, self.queries), 6)

    def reduce(self, *arguments, k=6, **options):
        return self.run_kith("reduce", "--base", "base.npy", "-k", k, *arguments, **options)

    def reduced(self, *arguments):
        self.reduce("--queries", "queries.npy", *arguments, "-o", "out.npy")
        return self.load("out.npy")

    def test_values(self):
        near = self.values[self.ids].astype(float)
        weights = 1 / self.distances[:, :, None]
        for op, expected in (("mean", near.mean(axis=1)), ("sum", near.sum(axis=1)), ("min", near.min(axis=1)),
                             ("max", near.max(axis=1)),
                             ("weighted-mean", (weights * near).sum(axis=1) / weights.sum(axis=1))):
            with self.subTest(op):
                got = self.reduced("--values", "values.npy", "--op", op)
                np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)

    def test_distances_densities_and_covariances(self):
        radius = self.distances[:, -1]
        np.testing.assert_allclose(self.reduced("--op", "kth-distance").ravel(), radius, rtol=1e-6)
        volume = 4 / 3 * np.pi * radius**3
        np.testing.assert_allclose(self.reduced("--op", "density").ravel(), 6 / volume, rtol=1e-5)
        upper = np.triu_indices(3)
        expected = [np.cov(self.base[row].T, bias=True)[upper] for row in self.ids]
        np.testing.assert_allclose(self.reduced("--op", "covariance"), expected, rtol=1e-4, atol=1e-5)

    def test_normals_of_a_sphere(self):
        points = rng(4).normal(size=(500, 3))
        points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
        self.save("base.npy", points)
        for method in ("auto", "shifted-sort"):
            self.reduce("--normals", "--method", method, "-o", "normals.npy", k=12)
            normals = self.load("normals.npy")
            self.assertGreater(np.abs((normals * points).sum(axis=1)).min(), 0.9)
        self.reduce("--normals", "-o", "out.ply", k=12)
        self.run_kith("convert", "out.ply", "-o", "back.npy", "--columns", "x,y,z,nx,ny,nz")
        back = self.load("back.npy")
        np.testing.assert_array_equal(back[:, :3], points)
        self.assertGreater(np.abs((back[:, 3:] * points).sum(axis=1)).min(), 0.9)

    def test_json(self):
        answer = self.run_json("reduce", "--base", "base.npy", "--op", "kth-distance", "-k", "2")
        self.assertEqual(answer["op"], "kth-distance")
        self.assertEqual(len(answer["values"]), 120)

    def test_refusals(self):
        self.fails(USAGE, "reduce", "--base", "base.npy", "-k", "6", "--op", "mean", says="--values")
        self.fails(USAGE, "reduce", "--base", "base.npy", "-k", "6", "--op", "density", "--values", "values.npy",
                   says="looks at none")
        self.save("few.npy", self.values[:9])
        self.fails(BAD_DATA, "reduce", "--base", "base.npy", "-k", "6", "--values", "few.npy",
                   says=["9 rows of values", "120 points"])


class ShiftedSort(KithTest):
    def test_search_and_eval(self):
        self.save("base.npy", rng(5).random((2000, 3)).astype(np.float32))
        self.save("queries.npy", rng(6).random((50, 3)).astype(np.float32))
        points = ("--base", "base.npy", "--queries", "queries.npy")
        done = self.run_kith("search", *points, "-k", "10", "--method", "shifted-sort", "--stats", "-o", "found.npz")
        self.assertIn("approximate: recall", done.stderr)
        answer = self.run_json("eval", *points, "--result", "found.npz")
        self.assertGreater(answer["recall"], 0.9)
        self.assertEqual(answer["repeated_ids"], 0)
        self.assertEqual(answer["distance_error"], 0)
        self.assertLess(answer["distance_ratio"]["p999"], 1.5)
        self.assertEqual(sum(bin["queries"] for bin in answer["distance_ratio"]["histogram"]), 50)
        plan = self.run_json("explain", "--rows", "2000", "--queries", "50", "--dims", "3", "-k", "10", "--method",
                             "shifted-sort", "--shifts", "3", "--curve", "hilbert")["plan"]
        self.assertTrue(plan["approximate"])
        self.assertEqual(plan["shifts"], 3)

    def test_certified(self):
        self.save("base.npy", rng(5).random((2000, 3)).astype(np.float32))
        self.save("queries.npy", rng(6).random((50, 3)).astype(np.float32))
        exact = ("search", "--base", "base.npy", "--queries", "queries.npy", "-k", "5")
        certified = (*exact, "--method", "shifted-sort", "--window", "60", "--certify")
        done = self.run_kith(*certified, "-o", "found.npz")
        self.run_kith(*exact, "-o", "exact.npz")
        found, right = np.load(self.path("found.npz")), np.load(self.path("exact.npz"))
        flags = found["certified"].ravel()
        count = np.count_nonzero(flags)
        self.assertEqual(flags.shape, (50,))
        self.assertGreater(count, 10)
        for name in ("ids", "distances"):
            np.testing.assert_array_equal(found[name][flags == 1], right[name][flags == 1])
        self.assertIn(f"certified: {count} of 50 queries", done.stderr)
        self.assertNotIn("certified", right.files)
        answer = self.run_json(*certified)
        self.assertEqual(answer["report"]["certified"], count)
        self.assertEqual(answer["certified"], flags.tolist())
        self.run_kith(*certified, "-o", "found.csv")
        header, *lines = self.run_kith(*certified).stdout.decode().splitlines()
        self.assertEqual(header.split(), ["query", "rank", "id", "certified", "distance"])
        self.assertEqual([int(line.split()[3]) for line in lines[::5]], flags.tolist())
        self.assertNotIn(b"certified", self.run_kith(*exact).stdout)
        self.run_kith(*certified, "--ids", "ids.npy", "-o", "found.npz")
        self.assertIn("certified", np.load(self.path("found.npz")).files)
        self.fails(USAGE, *exact, "--certify", says=["--method is auto", "only shifted-sort can certify"])
        self.fails(USAGE, *exact, "--certify", "--method", "tree", "--epsilon", "1", says="--method is tree")
        for files in (("--ids", "new.npy"), ("--distances", "new.npy"), ("--ids", "new.npy", "--json")):
            self.fails(USAGE, *certified, *files, says=["--certify", "hold no flags", "with -o: npz, h5, csv, json"])
        self.fails(USAGE, *certified, "-o", "found.gt", "--output-format", "groundtruth", says="cannot hold")

    def test_refusals(self):
        self.save("base.npy", np.zeros((20, 3), np.float32))
        points = ("--base", "base.npy", "--queries", "base.npy")
        self.fails(USAGE, "search", *points, "-k", "1", "--method", "shifted-sort", "--metric", "cosine",
                   says="cannot search by cosine")
        self.fails(USAGE, "search", *points, "-k", "1", "--method", "shifted-sort", "--shift", "0.9", says="0.9")
        self.fails(USAGE, "search", *points, "-k", "1", "--method", "shifted-sort", "--positions", "guess", says="guess")
        self.fails(USAGE, "search", *points, "-k", "1", "--method", "shifted-sort", "--positions", "sort", "--backend",
                   "cpu", says="is for devices")


if __name__ == "__main__":
    unittest.main()
