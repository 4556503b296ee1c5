import unittest

import numpy as np

from harness import KithTest, NO_DEVICE, USAGE, nearest, rng


class TopkTest(KithTest):
    def setUp(self):
        super().setUp()
        self.matrix = rng(1).integers(0, 50, (30, 200)).astype(np.float32)
        self.save("m.npy", self.matrix)

    def topk(self, *arguments, k=9):
        self.run_kith("topk", "--input", "m.npy", "-k", k, *arguments, "-o", "top.npz")
        return self.load("top.npz")


class Topk(TopkTest):

    def test_smallest_and_largest(self):
        for flags, largest in (([], False), (["--largest"], True)):
            top = self.topk(*flags)
            ids, values = nearest(self.matrix, 9, largest)
            np.testing.assert_array_equal(top["ids"], ids)
            np.testing.assert_array_equal(top["values"], values)
            self.assertEqual(top["values"].dtype, np.float32)

    def test_every_method_and_type(self):
        methods = self.run_json("info")["selects"]["cpu"]
        for dtype in (np.float32, np.float64, np.uint8, np.int8, np.float16):
            self.save("m.npy", self.matrix.astype(dtype))
            for method in methods:
                with self.subTest(f"{method}, {dtype.__name__}"):
                    top = self.topk("--backend", "cpu", "--method", method)
                    np.testing.assert_array_equal(top["ids"], nearest(self.matrix, 9)[0])
                    self.assertEqual(top["values"].dtype, np.float32 if dtype == np.float16 else dtype)

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
        self.fails(USAGE, *arguments, "2", "--first-row", "30", says="--first-row = 30")
        self.fails(USAGE, *arguments, "2", "--first-row", "-1", says="--first-row = -1")
        self.fails(USAGE, *arguments, "2", "--row-count", "31", says="--row-count = 31")
        self.fails(USAGE, *arguments, "2", "--unsorted", "--kth-only", says="excludes")
        self.fails(USAGE, *arguments, "2", "--method", "sotr", says="'sort'")

    def test_backends_that_are_not_there(self):
        for backend in self.absent_backends():
            self.fails(NO_DEVICE, "topk", "--input", "m.npy", "-k", "2", "--backend", backend, says=backend)


class Devices(TopkTest):
    """The methods of the backends for devices: cuda where there is one, and emulated."""

    def setUp(self):
        super().setUp()
        self.selects = self.run_json("info")["selects"]
        self.backends = [name for name in ("cuda", "emulated") if name in self.selects]
        if not self.backends:
            self.skipTest("there is no backend for devices here")
        self.matrix = self.matrix[:6]
        self.save("m.npy", self.matrix)

    def assert_topk(self, *arguments):
        for backend in self.backends:
            with self.subTest(f"{backend} {arguments}"):
                top = self.topk("--backend", backend, *arguments)
                ids, values = nearest(self.matrix, 9)
                np.testing.assert_array_equal(top["ids"], ids)
                np.testing.assert_array_equal(top["values"], values)

    def test_every_method(self):
        for backend in self.backends:
            self.assertEqual(self.selects[backend][0], "auto")
            self.assertGreater(len(self.selects[backend]), 10)
        for method in self.selects[self.backends[0]]:
            self.assert_topk("--method", method)

    def test_tuning(self):
        for arguments in (
                ["insertion-queue", "--buffered", "--full-buffer-vote", "--local-sort", "--buffer-size", "4"],
                ["heap-queue", "--hierarchical", "4", "--group", "warp"],
                ["merge-queue", "--unaligned", "--merge-size", "4", "--group", "thread"],
                ["merge-queue", "--aligned"],
                ["warp-select", "--thread-queue", "3"],
                ["quick-multi-select", "--group", "block"],
                ["sample-select", "--stages", "2"],
                ["bits-single-row", "--partitions", "3"],
                ["bits", "--transposed"], ["bits", "--scattered"]):
            self.assert_topk("--method", *arguments)

    def test_the_emulator_says_that_it_is_slow(self):
        if "emulated" not in self.backends:
            self.skipTest("there is no emulated backend here")
        arguments = ("topk", "--input", "m.npy", "-k", "2", "--backend", "emulated")
        self.assertIn("slow", self.run_kith(*arguments).stderr)
        self.assertNotIn(b"slow", self.run_kith(*arguments).stdout)
        self.assertEqual(self.run_kith(*arguments, "--quiet").stderr, "")
        self.run_json(*arguments)
        self.assertNotIn("slow", self.run_kith("topk", "--input", "m.npy", "-k", "2").stderr)

    def test_bad_tuning(self):
        arguments = ("topk", "--input", "m.npy", "-k", "2", "--backend", self.backends[0])
        for option, value, says in (("--hierarchical", 3, "hierarchical = 3"), ("--hierarchical", -2, "-2"),
                                    ("--stages", 3, "stages = 3"), ("--merge-size", 6, "merge_size = 6"),
                                    ("--buffer-size", -1, "-1"), ("--thread-queue", -4, "-4"),
                                    ("--partitions", -1, "-1"), ("--group", "wrap", "'warp'"),
                                    ("--stages", "two", "two")):
            with self.subTest(f"{option} {value}"):
                self.fails(USAGE, *arguments, option, value, says=says)
        self.fails(USAGE, *arguments, "--method", "warp-select", "--thread-queue", "9", says=["warp-select", "9", "8"])
        self.fails(USAGE, *arguments, "--method", "heap-queue", "--group", "block", says="block")


if __name__ == "__main__":
    unittest.main()
