import json
import unittest

import numpy as np

from harness import BAD_DATA, KithTest, MEMORY, USAGE, rng


def distances(base, queries, bits, metric):
    x = np.unpackbits(base, axis=1, count=bits).astype(np.int64)
    y = np.unpackbits(queries, axis=1, count=bits).astype(np.int64)
    both = y @ x.T
    either = y.sum(axis=1)[:, None] + x.sum(axis=1) - both
    if metric == "hamming":
        return ((either - both) / bits).astype(np.float32)
    return np.where(either == 0, 0, 1 - both / np.maximum(either, 1)).astype(np.float32)


class PackedBits(KithTest):
    def setUp(self):
        super().setUp()
        self.base = np.packbits(rng(1).random((600, 77)) < 0.4, axis=1)
        self.queries = np.packbits(rng(2).random((9, 77)) < 0.4, axis=1)
        self.save("base.npy", self.base)
        self.save("q.npy", self.queries)

    def search(self, *arguments, k=8, **options):
        return self.run_kith("search", "--base", "base.npy", "--queries", "q.npy", "-k", k, *arguments, **options)

    def assert_out(self, bits, metric, k=8):
        every = distances(self.base, self.queries, bits, metric)
        order = np.argsort(every, axis=1, kind="stable")[:, :k]
        out = self.load("out.npz")
        np.testing.assert_array_equal(out["ids"], order)
        np.testing.assert_array_equal(out["distances"], np.take_along_axis(every, order, axis=1))
        self.assertEqual((out["ids"].dtype, out["distances"].dtype), (np.int64, np.float32))

    def test_metrics_and_their_names(self):
        for name, metric in (("hamming", "hamming"), ("jaccard", "jaccard"), ("tanimoto", "jaccard")):
            with self.subTest(name):
                self.search("--packed-bits", 77, "--metric", name, "-o", "out.npz")
                self.assert_out(77, metric)

    def test_auto_is_all_bits_under_hamming(self):
        self.search("--packed-bits", "auto", "-o", "out.npz")
        self.assert_out(80, "hamming")

    def test_bytes_are_bytes_without_the_flag(self):
        self.search("--metric", "hamming", "-o", "out.npz")
        whole = (self.base[None] != self.queries[:, None]).mean(axis=2)
        np.testing.assert_allclose(self.load("out.npz")["distances"][:, 0], whole.min(axis=1), rtol=1e-6)

    def test_columns_may_lie_apart(self):
        self.save("base.npy", np.asfortranarray(self.base))
        self.search("--packed-bits", 77, "-o", "out.npz")
        self.assert_out(77, "hamming")

    def test_each_row_without_queries(self):
        self.run_kith("search", "--base", "base.npy", "-k", 3, "--packed-bits", 77, "-o", "out.npz")
        every = distances(self.base, self.base, 77, "hamming")
        np.fill_diagonal(every, np.inf)
        np.testing.assert_array_equal(self.load("out.npz")["ids"], np.argsort(every, axis=1, kind="stable")[:, :3])

    def test_json_plan_and_report(self):
        done = self.search("--packed-bits", 77, "--json", "--stats")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["plan"]["problem"], {"base_rows": 600, "queries": 9, "bits": 77, "k": 8})
        self.assertEqual(answer["plan"]["metric"], "hamming")
        self.assertEqual(np.shape(answer["ids"]), (9, 8))
        self.assertGreaterEqual(answer["report"]["candidates"], 9 * 8)
        self.assertIn("9 queries × 600 rows × 77 bits, k = 8", done.stderr)
        self.assertIn("600 rows × 77 packed bits", self.search("--packed-bits", 77, "--explain").stderr)

    def test_options(self):
        self.search("--packed-bits", 77, "--threads", 2, "--backend", "cpu", "--max-distance", 0.3, "-o", "out.npz")
        out = self.load("out.npz")
        self.assertTrue((out["distances"][out["ids"] >= 0] <= np.float32(0.3)).all())
        self.assertTrue((out["ids"] == -1).any())

    def test_what_is_refused(self):
        search = ("search", "--base", "base.npy", "--queries", "q.npy", "-k", 3)
        self.save("float.npy", self.base.astype(np.float32))
        for extra, says in ((("--packed-bits", 70), "--packed-bits 70 takes rows of 9 bytes; those of the base have 10"),
                            (("--packed-bits", "some"), "some"),
                            (("--packed-bits", 0), "0"),
                            (("--packed-bits", 77, "--metric", "cosine"), "known are hamming, jaccard, tanimoto"),
                            (("--packed-bits", 77, "--method", "tree"), "method tree"),
                            (("--packed-bits", 77, "--epsilon", 0.5), "epsilon = 0.5"),
                            (("--metric", "tanimoto"), "tanimoto")):
            with self.subTest(extra):
                self.fails(USAGE, *search, *extra, says=says)
        self.fails(USAGE, "search", "--base", "float.npy", "-k", 3, "--packed-bits", 77, says="elements of float32")
        self.fails(BAD_DATA, *search, "--packed-bits", 74, says=("base row", "past its 74 bits"))
        self.fails(MEMORY, *search, "--packed-bits", 77, "--memory", 64, says="64 bytes is too small")


if __name__ == "__main__":
    unittest.main()
