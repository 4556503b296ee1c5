import io
import json
import unittest

import numpy as np

from harness import BAD_DATA, CANNOT_WRITE, KithTest, METRICS, USAGE, exact_points, nearest, pairwise, rng


class Search(KithTest):
    def setUp(self):
        super().setUp()
        self.base = exact_points(500, 6, 1)
        self.queries = exact_points(40, 6, 2)
        self.save("base.npy", self.base)
        self.save("q.npy", self.queries)

    def search(self, *arguments, k=7, **options):
        return self.run_kith("search", "--base", "base.npy", "--queries", "q.npy", "-k", k, *arguments, **options)

    def assert_answer(self, ids, distances, k=7, metric="euclidean"):
        expected_ids, expected = nearest(pairwise(self.base, self.queries, metric), k)
        np.testing.assert_array_equal(ids, expected_ids)
        np.testing.assert_array_equal(distances, expected.astype(distances.dtype))

    def assert_out(self, out=None, **options):
        """That out.npz, or what was loaded, holds the answer."""
        out = out or self.load("out.npz")
        self.assert_answer(out["ids"], out["distances"], **options)
        return out

    def test_the_spelling_of_the_readme(self):
        self.search("--metric", "euclidean", "--method", "auto", "--backend", "auto", "-o", "out.npz")
        out = self.assert_out()
        self.assertEqual(sorted(out.files), ["distances", "ids"])
        self.assertEqual((out["ids"].dtype, out["distances"].dtype), (np.int64, np.float32))

    def test_zero_vectors(self):
        base, queries = rng(5).normal(size=(3000, 8)), rng(6).normal(size=(400, 8))
        base[[7, 2000]] = 0
        queries[3] = 0
        self.save("base.npy", base)
        self.save("queries.npy", queries)
        lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(base, axis=1)
        with np.errstate(invalid="ignore"):
            cosines = 1 - queries @ base.T / lengths
        for policy, distance in [("zero", 0), ("one", 1)]:
            wanted = np.where(lengths == 0, distance, cosines)
            self.run_kith("search", "--base", "base.npy", "--queries", "queries.npy", "-k", 5, "--metric", "cosine", "--zero-vectors", policy,
                          "-o", "found.npz", "--stats")
            found = self.load("found.npz")
            np.testing.assert_allclose(found["distances"], np.sort(wanted)[:, :5], atol=1e-12)
            np.testing.assert_array_equal(found["ids"][3], np.arange(5))
        search = ["search", "--base", "base.npy", "--queries", "queries.npy", "-k", 5]
        self.fails(BAD_DATA, *search, "--metric", "cosine", "--zero-vectors", "error", says="row 7 has length zero")
        self.fails(BAD_DATA, *search, "--metric", "cosine", says="row 7 has length zero")
        self.fails(USAGE, *search, "--zero-vectors", "one", says="only cosine takes it")
        self.fails(USAGE, *search, "--metric", "sum(x * y)", "--zero-vectors", "one", says="is a formula")
        self.fails(USAGE, *search, "--metric", "cosine", "--zero-vectors", "two", says="unknown zero_vectors")

    def test_formulas(self):
        differences = np.abs(self.queries[:, None].astype(float) - self.base)
        wanted = (differences / (1 + np.abs(self.queries[:, None].astype(float)))).sum(axis=2).astype(np.float32)
        order = np.argsort(wanted, axis=1, kind="stable")[:, :7]
        self.search("--metric", "sum(abs(x - y) / (1 + abs(x)))", "-o", "out.npz")
        out = self.load("out.npz")
        np.testing.assert_array_equal(out["ids"], order)
        np.testing.assert_allclose(out["distances"], np.take_along_axis(wanted, order, axis=1), rtol=1e-6)
        self.search("--metric", "sum(abs(x - y))", "-o", "out.npz")
        self.assert_out(metric="manhattan")
        for arguments, said in [
            (["--metric", "sum(abs(x - ))"], "position 13: expected a number"),
            (["--metric", "sum(x * y)", "--p", "3"], "--metric is a formula"),
            (["--metric", "sum(x * y)", "--explain"], "--metric is a formula"),
            (["--metric", "sum(x * y)", "--method", "tree"], "brute force"),
        ]:
            self.assertIn(said, self.search(*arguments, code=USAGE).stderr)

    def test_every_metric_against_numpy(self):
        base, queries = rng(3).normal(size=(300, 5)), rng(4).normal(size=(20, 5))
        self.save("base.npy", base)
        self.save("q.npy", queries)
        for metric in METRICS:
            with self.subTest(metric):
                extra = ["--p", "3"] if metric == "minkowski" else []
                self.search("--metric", metric, *extra, "-o", "out.npz")
                out = self.load("out.npz")
                ids, distances = nearest(pairwise(base, queries, metric), 7, largest=metric == "inner_product")
                self.assertEqual(out["distances"].dtype, np.float64)
                np.testing.assert_allclose(out["distances"], distances, rtol=1e-12, atol=1e-14)
                if metric != "hamming":  # all points differ in every coordinate: nothing but ties, in numpy's rounding
                    np.testing.assert_array_equal(out["ids"], ids)

    def test_every_element_type(self):
        for dtype in (np.float32, np.float64, np.uint8, np.int8, np.float16):
            with self.subTest(dtype):
                self.base = (exact_points(300, 6, 1) + (8 if dtype == np.uint8 else 0)).astype(dtype)
                self.queries = (exact_points(10, 6, 2) + (8 if dtype == np.uint8 else 0)).astype(dtype)
                self.save("base.npy", self.base)
                self.save("q.npy", self.queries)
                self.search("-o", "out.npz")
                self.assert_out()

    def test_different_types_are_promoted_and_said(self):
        pairs = [(np.uint8, np.int8, "float32"), (np.float32, np.float64, "float64"), (np.uint8, np.float32, "float32"),
                 (np.int32, np.float32, "float64"), (np.int64, np.int64, "float64"), (np.float16, np.float32, "float32"),
                 (np.float64, np.float16, "float64"), (np.uint8, np.float16, "float32")]
        self.base, self.queries = np.abs(self.base), np.abs(self.queries)
        for base_type, queries_type, common in pairs:
            with self.subTest(f"{base_type.__name__}, {queries_type.__name__}"):
                self.save("base.npy", self.base.astype(base_type))
                self.save("q.npy", self.queries.astype(queries_type))
                done = self.search("-o", "out.npz")
                self.assertIn(f"to {common}", done.stderr)
                self.assertEqual(self.assert_out()["distances"].dtype, np.dtype(common))

    def test_a_largest_distance(self):
        self.search("-o", "all.npz")
        all_of_them = self.load("all.npz")
        limit = float(np.median(all_of_them["distances"]))
        near = all_of_them["distances"] <= limit
        for method in ("brute", "tree"):
            done = self.search("--max-distance", repr(limit), "--method", method, "--explain", "-o", "out.npz")
            out = self.load("out.npz")
            np.testing.assert_array_equal(out["ids"], np.where(near, all_of_them["ids"], -1))
            np.testing.assert_array_equal(out["distances"], np.where(near, all_of_them["distances"], np.inf))
            self.assertIn("up to a distance of", done.stderr)
        done = self.search("--max-distance", "-1", code=USAGE)
        self.assertIn("max_distance = -1", done.stderr)

    def test_an_epsilon(self):
        done = self.search("--epsilon", "0.5", "--method", "tree", "--explain", "-o", "out.npz")
        self.assertIn("approximate within a factor 1 + 0.5", done.stderr)
        found = self.load("out.npz")["distances"]
        expected = nearest(pairwise(self.base, self.queries, "euclidean"), 7)[1]
        self.assertTrue((found <= 1.5 * expected * (1 + 1e-6)).all())
        self.assertIn("epsilon = -1", self.search("--epsilon", "-1", code=USAGE).stderr)

    def test_periodic_axes(self):
        period = np.array([5, 0, 3, 7.5, 2, 1])
        gaps = np.abs(self.queries[:, None].astype(float) - self.base)
        folded = np.fmod(gaps, np.where(period > 0, period, np.inf))
        gaps = np.where(period > 0, np.minimum(folded, period - folded), gaps)
        truth = np.sqrt((gaps**2).sum(-1))
        self.search("--period", "5,0,3,7.5,2,1", "-o", "out.npz")
        out = self.load("out.npz")
        np.testing.assert_allclose(out["distances"], np.sort(truth)[:, :7], rtol=1e-6)
        np.testing.assert_allclose(np.take_along_axis(truth, out["ids"], 1), out["distances"], rtol=1e-6)
        self.assertIn("2 periods for points of 6 dimensions", self.search("--period", "1,1", code=USAGE).stderr)

    def test_separate_files(self):
        self.search("--ids", "ids.ivecs", "--distances", "d.npy")
        ids = np.fromfile(self.path("ids.ivecs"), np.int32).reshape(40, 8)
        self.assertTrue((ids[:, 0] == 7).all())
        self.assert_answer(ids[:, 1:], self.load("d.npy"))

    def test_csv_and_json_files(self):
        self.search("-o", "out.csv")
        table = np.genfromtxt(self.path("out.csv"), delimiter=",", names=True)
        ids = np.stack([table[f"ids_{i}"] for i in range(7)], axis=1)
        distances = np.stack([table[f"distances_{i}"] for i in range(7)], axis=1)
        self.assert_answer(ids, distances.astype(np.float32))
        self.search("-o", "out.json")
        with open(self.path("out.json")) as file:
            out = json.load(file)
        self.assert_answer(np.array(out["ids"]), np.array(out["distances"]).astype(np.float32))

    def test_hdf5_file(self):
        self.search("-o", "out.h5")
        for name in ("ids", "distances"):
            self.run_kith("convert", "--input", "out.h5", "--array", name, "-o", f"{name}.npy")
        self.assert_answer(self.load("ids.npy"), self.load("distances.npy"))

    def test_text_on_stdout(self):
        lines = self.search(k=3).stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["query", "rank", "id", "distance"])
        rows = np.array([line.split() for line in lines[1:]]).astype(float).reshape(40, 3, 4)
        np.testing.assert_array_equal(rows[:, :, 0], np.repeat(np.arange(40), 3).reshape(40, 3))
        np.testing.assert_array_equal(rows[:, :, 1], np.tile([1, 2, 3], (40, 1)))
        self.assert_answer(rows[:, :, 2], rows[:, :, 3].astype(np.float32), k=3)

    def test_json_on_stdout(self):
        arguments = ("search", "--base", "base.npy", "--queries", "q.npy", "-k", "7")
        answer = self.run_json(*arguments)
        self.assert_answer(np.array(answer["ids"]), np.array(answer["distances"]).astype(np.float32))
        self.assertEqual(answer["plan"]["problem"],
                         {"base_rows": 500, "queries": 40, "dims": 6, "k": 7, "dtype": "float32"})
        answer = self.run_json(*arguments, "-o", "out.npz")
        self.assertEqual(answer["outputs"], ["out.npz"])
        self.assertNotIn("ids", answer)
        self.assertGreaterEqual(answer["report"]["finalists"], 40 * 7)
        self.assertGreater(answer["report"]["seconds"], 0)

    def test_explain_prints_the_plan_and_runs(self):
        done = self.search("--explain", "--stats", "-o", "out.npz")
        self.assertIn("method", done.stderr)
        self.assertIn("finalists", done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(self.load("out.npz")["ids"].shape, (40, 7))

    def test_quiet_says_nothing(self):
        self.save("q.npy", self.queries.astype(np.float64))
        done = self.search("--explain", "--stats", "--quiet", "-o", "out.npz")
        self.assertEqual((done.stdout, done.stderr), (b"", ""))

    def test_pipes(self):
        buffer = io.BytesIO()
        np.save(buffer, self.queries)
        done = self.run_kith("search", "--base", "base.npy", "--queries", "-", "-k", "7", "-o", "-",
                             "--output-format", "npz", stdin=buffer.getvalue())
        self.assert_out(np.load(io.BytesIO(done.stdout)))

    def test_pipe_of_a_format_without_a_signature(self):
        rows = np.insert(self.queries.view(np.int32), 0, 6, axis=1)
        done = self.run_kith("search", "--base", "base.npy", "--queries", "-", "--queries-format", "fvecs", "-k", "7",
                             "--output-format", "npz", stdin=rows.astype("<i4").tobytes())
        self.assert_out(np.load(io.BytesIO(done.stdout)))

    def test_ids_alone_into_a_pipe(self):
        done = self.search("--ids", "-", "--output-format", "npy", "--distances", "d.npy", "--quiet")
        self.assert_answer(np.load(io.BytesIO(done.stdout)), self.load("d.npy"))
        arguments = ("search", "--base", "base.npy", "--queries", "q.npy", "-k", "7", "--output-format", "npy")
        self.fails(USAGE, *arguments, "--ids", "-", "--distances", "-", says="stdout")
        self.fails(USAGE, *arguments, "--ids", "-", "--json", says="stdout")

    def test_named_arrays(self):
        np.savez(self.path("both.npz"), train=self.base, test=self.queries, other=np.zeros((3, 6), np.float32))
        self.run_kith("search", "--base", "both.npz", "--queries", "both.npz", "-k", "7", "-o", "out.npz")
        self.assert_out()
        self.run_kith("search", "--base", "both.npz", "--base-array", "train", "--queries", "both.npz",
                      "--queries-array", "other", "-k", "2", "-o", "other.npz")
        self.assertEqual(self.load("other.npz")["ids"].shape, (3, 2))
        self.run_kith("convert", "--input", "both.npz", "-o", "both.h5")
        self.run_kith("search", "--base", "both.h5", "--queries", "both.h5", "-k", "7", "-o", "out.npz")
        self.assert_out()

    def test_the_base_itself(self):
        self.run_kith("search", "--base", "base.npy", "-k", 7, "-o", "out.npz")
        distances = pairwise(self.base, self.base)
        np.fill_diagonal(distances, np.inf)
        ids, expected = nearest(distances, 7)
        out = self.load("out.npz")
        np.testing.assert_array_equal(out["ids"], ids)
        np.testing.assert_array_equal(out["distances"], expected.astype(np.float32))

    def test_a_single_query_vector(self):
        self.save("q.npy", self.queries[5])
        self.search("-o", "out.npz")
        self.queries = self.queries[5:6]
        self.assert_out()

    def test_forced_stages_threads_and_budget_do_not_change_the_answer(self):
        stages = self.run_json("info")["distances"]["cpu"]
        forced = [["--distance", name] for name in stages if name != "int8"]
        forced += [["--select", "auto"], ["--select", "threshold-filter"]]
        forced += [["--threads", "1"], ["--threads", "3"], ["--memory", "8MiB"], ["--method", "brute"],
                   ["--backend", "cpu"], ["--no-check-finite"]]
        for arguments in forced:
            with self.subTest(arguments):
                self.search(*arguments, "-o", "out.npz")
                self.assert_out()

    def test_products_of_bytes_do_not_change_the_answer(self):
        self.base = rng(3).integers(0, 256, size=(400, 21)).astype(np.uint8)
        self.queries = rng(4).integers(0, 256, size=(9, 21)).astype(np.uint8)
        self.save("base.npy", self.base)
        self.save("q.npy", self.queries)
        self.search("--distance", "int8", "-o", "out.npz")
        self.assert_out()

    def test_method_triangle_and_its_statistics(self):
        for arguments in ([], ["--landmarks", "3"], ["--landmarks", "500", "--query-landmarks", "1"]):
            with self.subTest(arguments):
                done = self.search("--backend", "cpu", "--method", "triangle", "--stats", *arguments, "-o", "out.npz")
                self.assert_out()
                for word in ("triangle", "clusters", "level 1", "level 2", "saved", "landmarks"):
                    self.assertIn(word, done.stderr)
        found = self.run_json("search", "--base", "base.npy", "--queries", "q.npy", "-k", "5", "--backend", "cpu",
                              "--method", "triangle", "--stats")
        counted = found["report"]["triangle"]
        self.assertEqual(counted["pairs"], 500 * 40)
        self.assertLessEqual(counted["distances"], counted["pairs"])
        self.assertAlmostEqual(counted["saved"], 1 - (counted["distances"] + counted["center_distances"]) / counted["pairs"])
        self.assertEqual(found["plan"]["method"], "triangle")
        plain = self.run_json("search", "--base", "base.npy", "--queries", "q.npy", "-k", "5", "--method", "brute",
                              "--backend", "cpu", "--stats")
        self.assertNotIn("triangle", plain["report"])
        self.assertEqual(plain["ids"], found["ids"])

    def test_method_triangle_refuses_what_it_cannot_do(self):
        arguments = ("search", "--base", "base.npy", "--queries", "q.npy", "-k", "7", "--backend", "cpu", "--method",
                     "triangle")
        self.fails(USAGE, *arguments, "--metric", "inner_product", says="triangle inequality")
        self.fails(USAGE, *arguments, "--distance", "gemm", says="gemm")
        self.fails(USAGE, *arguments, "--landmarks", "-1", says="--landmarks")
        self.fails(USAGE, *arguments, "--triangle-form", "round", says="round")
        self.fails(USAGE, *arguments, "--triangle-form", "sweet-knn", says="cpu")

    def test_every_backend_gives_the_same_answer(self):
        info = self.run_json("info")
        want = self.run_json("search", "--base", "base.npy", "--queries", "q.npy", "-k", "5", "--backend", "cpu")
        for backend in info["backends"]:
            got = self.run_json("search", "--base", "base.npy", "--queries", "q.npy", "-k", "5", "--backend", backend)
            self.assertEqual(got["plan"]["backend"], backend)
            self.assertEqual(got["ids"], want["ids"])
            self.assertEqual(got["distances"], want["distances"])

    def test_k_of_all_points(self):
        self.search("-o", "out.npz", k=500)
        self.assert_out(k=500)

    def test_an_older_output_is_replaced(self):
        self.save("out.npz.npy", self.base)
        self.search("-o", "out.npz")
        first = self.load("out.npz")["ids"]
        self.search("-o", "out.npz", k=2)
        np.testing.assert_array_equal(self.load("out.npz")["ids"], first[:, :2])

    def test_outputs_that_cannot_hold_the_answer(self):
        arguments = ("search", "--base", "base.npy", "--queries", "q.npy", "-k", "7", "-o")
        self.fails(USAGE, *arguments, "out.npy", says=["npy cannot hold", "npz"])
        self.fails(USAGE, *arguments, "out.xyz", says="--output-format")
        self.fails(CANNOT_WRITE, *arguments, "no/such/folder/out.npz", says="no/such/folder/out.npz")
        self.fails(USAGE, *arguments, "-", "--output-format", "npz", "--json", says="--json")


if __name__ == "__main__":
    unittest.main()
