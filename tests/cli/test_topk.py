import unittest

import numpy as np

from harness import KithTest, USAGE, nearest, rng


class Topk(KithTest):
    def setUp(self):
        super().setUp()
        self.matrix = rng(1).integers(0, 50, (30, 200)).astype(np.float32)
        self.save("m.npy", self.matrix)

    def topk(self, *arguments, k=9):
        self.run_kith("topk", "--input", "m.npy", "-k", k, *arguments, "-o", "top.npz")
        return self.load("top.npz")

    def test_smallest_and_largest(self):
        for flags, largest in (([], False), (["--largest"], True)):
            top = self.topk(*flags)
            ids, values = nearest(self.matrix, 9, largest)
            np.testing.assert_array_equal(top["ids"], ids)
            np.testing.assert_array_equal(top["values"], values)
            self.assertEqual(top["values"].dtype, np.float32)

    def test_every_method_and_type(self):
        methods = self.run_json("info")["selects"]["cpu"]
        for dtype in (np.float32, np.float64, np.uint8, np.int8):
            self.save("m.npy", self.matrix.astype(dtype))
            for method in methods:
                with self.subTest(f"{method}, {dtype.__name__}"):
                    top = self.topk("--method", method)
                    np.testing.assert_array_equal(top["ids"], nearest(self.matrix, 9)[0])
                    self.assertEqual(top["values"].dtype, dtype)

    def test_output_forms(self):
        ids, values = nearest(self.matrix, 9)
        unsorted = self.topk("--unsorted")
        np.testing.assert_array_equal(np.sort(unsorted["ids"], axis=1), np.sort(ids, axis=1))
        np.testing.assert_array_equal(np.take_along_axis(self.matrix, unsorted["ids"], 1), unsorted["values"])
        values_only = self.topk("--values-only")
        self.assertEqual(values_only.files, ["values"])
        np.testing.assert_array_equal(values_only["values"], values)
        kth = self.topk("--kth-only")
        self.assertEqual(kth.files, ["values"])
        np.testing.assert_array_equal(kth["values"].ravel(), values[:, -1])
        self.run_kith("topk", "--input", "m.npy", "-k", "9", "--values-only", "-o", "values.npy")
        np.testing.assert_array_equal(self.load("values.npy"), values)

    def test_nan_comes_last(self):
        self.matrix[:, ::2] = np.nan
        self.save("m.npy", self.matrix)
        for flags, largest in (([], False), (["--largest"], True)):
            top = self.topk(*flags, k=150)
            filled = np.where(np.isnan(self.matrix), -np.inf if largest else np.inf, self.matrix)
            np.testing.assert_array_equal(top["ids"], nearest(filled, 150, largest)[0])
            self.assertEqual(np.isnan(top["values"]).sum(), 30 * 50)

    def test_chosen_rows(self):
        top = self.topk("--first-row", 10, "--row-count", 4)
        np.testing.assert_array_equal(top["ids"], nearest(self.matrix[10:14], 9)[0])
        text = self.run_kith("topk", "--input", "m.npy", "-k", "1", "--first-row", "29").stdout.decode()
        self.assertEqual(text.split()[4:7], ["29", "1", str(self.matrix[29].argmin())])

    def test_json(self):
        answer = self.run_json("topk", "--input", "m.npy", "-k", "2", "--largest")
        np.testing.assert_array_equal(answer["ids"], nearest(self.matrix, 2, True)[0])
        self.assertEqual((answer["rows"], answer["k"], answer["largest"]), (30, 2, True))

    def test_stats(self):
        self.assertIn("values/s", self.run_kith("topk", "--input", "m.npy", "-k", "2", "--stats").stderr)

    def test_failures(self):
        arguments = ("topk", "--input", "m.npy", "-k")
        self.fails(USAGE, *arguments, "201", says=["k = 201", "200"])
        self.fails(USAGE, *arguments, "0", says="k = 0")
        self.fails(USAGE, *arguments, "2", "--first-row", "30", says="--row-count")
        self.fails(USAGE, *arguments, "2", "--first-row", "-1", says="--first-row = -1")
        self.fails(USAGE, *arguments, "2", "--row-count", "31", says="--row-count = 31")
        self.fails(USAGE, *arguments, "2", "--unsorted", "--kth-only", says="excludes")
        self.fails(USAGE, *arguments, "2", "--method", "sotr", says="'sort'")


if __name__ == "__main__":
    unittest.main()
