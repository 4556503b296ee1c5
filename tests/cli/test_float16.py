"""Points of 16-bit floating-point numbers: every command answers as it does for the same numbers in float32."""

import unittest

import numpy as np

from harness import BAD_DATA, KithTest, rng


def to_bfloat16(points):
    """Cut to eight binary digits, as float32."""
    return (points.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


class Float16(KithTest):
    def save_both(self, name, points, dtype):
        """NAME.npy in float32, and the same numbers in 16 bits; returns the name of that file."""
        narrow = points.astype(np.float16).astype(np.float32) if dtype == "float16" else to_bfloat16(points)
        self.save(f"{name}.npy", narrow)
        suffix = "f16bin" if dtype == "float16" else "bf16bin"
        self.run_kith("convert", f"{name}.npy", "-o", f"{name}.{suffix}")
        return f"{name}.{suffix}"

    def assert_same(self, *arguments):
        """The answer to files of 16 bits is that to files of float32, and nothing was converted."""
        done = self.run_kith(*(a.replace(".npy", self.suffix) for a in arguments), "-o", "narrow.npz")
        self.assertNotIn("converted", done.stderr)
        self.run_kith(*arguments, "-o", "wide.npz")
        narrow, wide = self.load("narrow.npz"), self.load("wide.npz")
        self.assertEqual(narrow.files, wide.files)
        for name in wide.files:
            self.assertEqual(narrow[name].dtype, wide[name].dtype)
            np.testing.assert_array_equal(narrow[name], wide[name])

    def test_every_command(self):
        base, queries = rng(1).normal(size=(700, 7)), rng(2).normal(size=(40, 7))
        for dtype in ("float16", "bfloat16"):
            self.save_both("base", base, dtype)
            self.suffix = "." + self.save_both("q", queries, dtype).rpartition(".")[2]
            points = ("--base", "base.npy", "--queries", "q.npy")
            for method in ("auto", "brute", "tree", "triangle", "shifted-sort"):
                with self.subTest(f"{dtype}, search by {method}"):
                    self.assert_same("search", *points, "-k", "9", "--method", method)
            for metric in ("manhattan", "cosine", "inner_product", "hamming", "canberra"):
                with self.subTest(f"{dtype}, {metric}"):
                    self.assert_same("search", *points, "-k", "9", "--metric", metric)
            with self.subTest(f"{dtype}, others"):
                self.assert_same("radius", *points, "--radius", "2")
                self.assert_same("graph", "--base", "base.npy", "-k", "5")
                self.assert_same("reduce", *points, "-k", "5", "--op", "covariance")
                self.assert_same("topk", "--input", "base.npy", "-k", "3")
                self.run_kith("search", *points, "-k", "5", "-o", "found.npz")
                judged = self.run_json("eval", "--base", f"base{self.suffix}", "--queries", f"q{self.suffix}",
                                       "--result", "found.npz")
                self.assertEqual((judged["recall"], judged["distance_error"]), (1, 0))

    def test_npy_is_searched_as_it_lies(self):
        base = rng(1).normal(size=(300, 6)).astype(np.float16)
        self.save("base.npy", base)
        answer = self.run_json("search", "--base", "base.npy", "--queries", "base.npy", "-k", "3")
        self.assertEqual(answer["plan"]["problem"]["dtype"], "float16")
        self.assertEqual([row[0] for row in answer["ids"]], list(range(300)))
        base[7, 2] = np.inf
        self.save("base.npy", base)
        self.fails(BAD_DATA, "search", "--base", "base.npy", "--queries", "base.npy", "-k", "3",
                   says=["row 7", "column 2"])

    def test_values_as_text(self):
        self.save("m.npy", np.array([[0.1, 3, 2]], np.float16))
        text = self.run_kith("topk", "--input", "m.npy", "-k", "2").stdout.decode()
        self.assertEqual(text.splitlines()[1].split(), ["0", "1", "0", "0.099975586"])
        self.assertEqual(self.run_json("topk", "--input", "m.npy", "-k", "2")["values"], [[float(np.float16(0.1)), 2]])
        self.assertEqual(self.run_kith("convert", "m.npy").stdout, b"0.099975586,3,2\n")


if __name__ == "__main__":
    unittest.main()
