import unittest

import numpy as np

from harness import BAD_DATA, KithTest, USAGE, exact_points, pairwise

RADIUS = 5.0


class Radius(KithTest):
    def setUp(self):
        super().setUp()
        self.base = exact_points(150, 3, 1)
        self.queries = exact_points(20, 3, 2)
        self.save("base.npy", self.base)
        self.save("queries.npy", self.queries)
        self.distances = pairwise(self.base, self.queries)
        self.within = self.distances <= RADIUS
        self.assertGreater(self.within.sum(), 20)

    def radius(self, *arguments, **options):
        return self.run_kith("radius", "--base", "base.npy", *arguments, **options)

    def check(self, file, distances, within):
        self.assertEqual(sorted(file.files), ["distances", "ids", "offsets"])
        np.testing.assert_array_equal(np.diff(file["offsets"]), within.sum(axis=1))
        for row, (begin, end) in enumerate(zip(file["offsets"], file["offsets"][1:])):
            order = np.lexsort((np.arange(len(within[row])), distances[row]))
            expected = order[within[row][order]]
            np.testing.assert_array_equal(file["ids"][begin:end], expected)
            np.testing.assert_array_equal(file["distances"][begin:end], distances[row][expected].astype(np.float32))

    def test_one_radius(self):
        self.radius("--queries", "queries.npy", "--radius", str(RADIUS), "-o", "out.npz")
        self.check(self.load("out.npz"), self.distances, self.within)

    def test_a_radius_for_each_query(self):
        radii = np.linspace(0, 6, 20).astype(np.float32)
        self.save("radii.npy", radii)
        self.radius("--queries", "queries.npy", "--radii", "radii.npy", "-o", "out.npz")
        self.check(self.load("out.npz"), self.distances, self.distances <= radii[:, None])

    def test_the_base_itself(self):
        distances = pairwise(self.base, self.base)
        within = distances <= RADIUS
        np.fill_diagonal(within, False)
        self.radius("--radius", str(RADIUS), "-o", "out.npz")
        self.check(self.load("out.npz"), distances, within)

    def test_counts(self):
        self.radius("--queries", "queries.npy", "--radius", str(RADIUS), "--count", "-o", "counts.npy")
        np.testing.assert_array_equal(self.load("counts.npy").ravel(), self.within.sum(axis=1))

    def test_json_and_text(self):
        answer = self.run_json("radius", "--base", "base.npy", "--queries", "queries.npy", "--radius", str(RADIUS))
        self.assertEqual(answer["neighbors"], self.within.sum())
        self.assertEqual(answer["offsets"][-1], len(answer["ids"]))
        lines = self.radius("--queries", "queries.npy", "--radius", str(RADIUS)).stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["query", "id", "distance"])
        self.assertEqual(len(lines), 1 + self.within.sum())

    def test_failures(self):
        self.fails(USAGE, "radius", "--base", "base.npy", says="--radius and --radii")
        self.fails(USAGE, "radius", "--base", "base.npy", "--radius", "-1", says="radius = -1")
        self.save("radii.npy", np.ones(3, np.float32))
        self.fails(USAGE, "radius", "--base", "base.npy", "--radii", "radii.npy", says="3 radii for 150 queries")
        self.fails(BAD_DATA, "radius", "--base", "none.npy", "--radius", "1", says="none.npy")


if __name__ == "__main__":
    unittest.main()
