import unittest

import numpy as np

from harness import BAD_DATA, KithTest, USAGE, exact_points, nearest, pairwise


class Graph(KithTest):
    def setUp(self):
        super().setUp()
        points = exact_points(150, 3, 1)
        self.points = np.concatenate([points, points[:50]])  # duplicates: a point must not be its own neighbor
        self.save("base.npy", self.points)
        distances = pairwise(self.points, self.points)
        np.fill_diagonal(distances, np.inf)
        self.ids, self.distances = nearest(distances, 5)

    def graph(self, *arguments, **options):
        return self.run_kith("graph", "--base", "base.npy", "-k", "5", *arguments, **options)

    def directed(self):
        dense = np.full((200, 200), np.nan)
        np.put_along_axis(dense, self.ids, self.distances, axis=1)
        return dense

    def dense(self, file):
        self.assertEqual(sorted(file.files), ["data", "indices", "indptr", "shape"])
        np.testing.assert_array_equal(file["shape"], [200, 200])
        indptr, dense = file["indptr"], np.full((200, 200), np.nan)
        self.assertEqual((indptr[0], indptr[-1], len(indptr)), (0, len(file["indices"]), 201))
        for row in range(200):
            dense[row, file["indices"][indptr[row]:indptr[row + 1]]] = file["data"][indptr[row]:indptr[row + 1]]
        return dense

    def test_directed_rows_are_sorted_and_without_self(self):
        self.graph("-o", "graph.npz")
        file = self.load("graph.npz")
        np.testing.assert_array_equal(file["indices"].reshape(200, 5), self.ids)
        np.testing.assert_array_equal(file["data"].reshape(200, 5), self.distances.astype(np.float32))
        self.assertEqual(file["data"].dtype, np.float32)

    def test_symmetrized(self):
        directed = self.directed()
        either = np.where(np.isnan(directed), directed.T, directed)
        mutual = np.where(np.isnan(directed.T), np.nan, directed)
        for name, expected in (("union", either), ("mutual", mutual)):
            with self.subTest(name):
                self.graph("--symmetrize", name, "-o", "graph.npz")
                got = self.dense(self.load("graph.npz"))
                np.testing.assert_array_equal(got, expected.astype(np.float32))
                np.testing.assert_array_equal(got, got.T)

    def test_json_and_text(self):
        answer = self.run_json("graph", "--base", "base.npy", "-k", "5", "--symmetrize", "union")
        self.assertEqual(answer["points"], 200)
        self.assertEqual(answer["edges"], len(answer["indices"]))
        self.assertEqual(answer["indptr"][-1], len(answer["data"]))
        lines = self.graph().stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["point", "id", "distance"])
        rows = np.array([line.split() for line in lines[1:]]).astype(float)
        np.testing.assert_array_equal(rows[:, 1].reshape(200, 5), self.ids)

    def test_other_formats(self):
        self.graph("-o", "graph.h5", "--explain")
        self.run_kith("convert", "--input", "graph.h5", "--array", "indices", "-o", "indices.npy")
        np.testing.assert_array_equal(self.load("indices.npy").reshape(200, 5), self.ids)

    def test_failures(self):
        self.fails(USAGE, "graph", "--base", "base.npy", "-k", "200", says="k = 200")
        self.fails(USAGE, "graph", "--base", "base.npy", "-k", "5", "-o", "graph.csv", says="csv cannot hold")
        self.fails(USAGE, "graph", "--base", "base.npy", "-k", "5", "--symmetrize", "unoin", says="'union'")
        self.fails(BAD_DATA, "graph", "--base", "none.npy", "-k", "5", says="none.npy")


if __name__ == "__main__":
    unittest.main()
