import io
import unittest

import numpy as np

from harness import BAD_DATA, KithTest, USAGE, exact_points, nearest, pairwise, rng


class Eval(KithTest):
    def setUp(self):
        super().setUp()
        points = exact_points(60, 3, 1)
        self.base = np.concatenate([points, points, points])  # every distance comes three times
        self.queries = exact_points(25, 3, 2)
        self.save("base.npy", self.base)
        self.save("q.npy", self.queries)
        self.ids, self.distances = nearest(pairwise(self.base, self.queries), 8)

    def limit(self):
        """A distance that leaves rows with all, some and none of their neighbors; and which are within it."""
        distances = self.distances.astype(np.float32)  # as they are returned
        limit = np.median(distances[:, 3])
        near = distances <= limit
        self.assertTrue(near.all(axis=1).any() and not near[:, 0].all() and (near[:, 0] & ~near[:, 7]).any())
        return float(limit), near

    def evaluate(self, ids, *arguments, distances=None):
        arrays = {"ids": ids} if distances is None else {"ids": ids, "distances": distances}
        np.savez(self.path("out.npz"), **arrays)
        return self.run_json("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "out.npz", *arguments)

    def test_a_search_is_perfect(self):
        self.run_kith("search", "--base", "base.npy", "--queries", "q.npy", "-k", "8", "-o", "out.npz")
        answer = self.run_json("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "out.npz")
        self.assertEqual((answer["recall"], answer["k"], answer["queries"]), (1, 8, 25))
        ratio = answer["distance_ratio"]
        self.assertEqual([ratio[name] for name in ("mean", "p99", "p999", "max", "unbounded_rows")], [1, 1, 1, 1, 0])
        self.assertEqual([bin["queries"] for bin in ratio["histogram"] if bin["from"] > 1], 40 * [0])
        self.assertEqual((answer["distance_error"], answer["identical_rows"], answer["truth"]), (0, 25, "computed"))

    def test_other_ids_at_the_same_distance_are_right(self):
        full_ids, full = nearest(pairwise(self.base, self.queries), 180)
        ids, swapped = self.ids.copy(), 0
        for row in range(25):
            if full[row, 8] == full[row, 7]:
                ids[row, 7] = full_ids[row, 8]
                swapped += 1
        self.assertGreater(swapped, 5)
        answer = self.evaluate(ids)
        self.assertEqual((answer["recall"], answer["right_rows"]), (1, 25))
        self.assertEqual(answer["identical_rows"], 25 - swapped)
        self.assertEqual(answer["distance_ratio"]["max"], 1)

    def test_wrong_neighbors(self):
        distances = pairwise(self.base, self.queries)
        ids = self.ids.copy()
        ids[3, 0] = distances[3].argmax()
        ids[9, 2:4] = distances[9].argmax()  # twice the same: wrong and repeated
        answer = self.evaluate(ids)
        self.assertAlmostEqual(answer["recall"], (200 - 3) / 200)
        self.assertEqual((answer["right"], answer["right_rows"], answer["repeated_ids"]), (197, 23, 1))
        ratios = np.ones(25)
        for row in (3, 9):
            ratios[row] = np.float32(distances[row].max()) / np.float64(np.float32(self.distances[row, 7]))
        self.assertAlmostEqual(answer["distance_ratio"]["mean"], ratios.mean())
        self.assertAlmostEqual(answer["distance_ratio"]["max"], ratios.max())
        self.assertAlmostEqual(answer["distance_ratio"]["p99"], np.sort(ratios)[24])

    def test_repeated_right_id_counts_once(self):
        ids = self.ids.copy()
        ids[0, :] = ids[0, 0]
        answer = self.evaluate(ids)
        self.assertEqual((answer["right"], answer["repeated_ids"]), (193, 7))

    def test_ids_out_of_range(self):
        ids = self.ids.copy()
        ids[0, 7], ids[1, 7] = -2, 180
        answer = self.evaluate(ids)
        self.assertEqual((answer["right"], answer["invalid_ids"], answer["missing_ids"]), (198, 2, 0))
        self.assertEqual(answer["distance_ratio"]["unbounded_rows"], 2)

    def test_places_without_a_neighbor(self):
        ids, distances = self.ids.copy(), self.distances.astype(np.float32)
        ids[0, 7], ids[1, 6:], ids[2, 7] = -1, -1, -1
        distances[0, 7], distances[1, 6:] = np.inf, np.inf  # of row 2 it is finite
        answer = self.evaluate(ids)
        self.assertEqual((answer["right"], answer["missing_ids"], answer["invalid_ids"]), (196, 4, 0))
        answer = self.evaluate(ids, distances=distances)
        self.assertEqual((answer["right"], answer["missing_ids"], answer["invalid_ids"]), (196, 3, 1))
        self.assertEqual((answer["recall"], answer["true_neighbors"], answer["distance_error"]), (0.98, 200, 0))
        self.assertEqual((answer["distance_ratio"]["unbounded_rows"], answer["right_rows"]), (3, 22))

    def test_a_largest_distance(self):
        limit, near = self.limit()
        arguments = ("--base", "base.npy", "--queries", "q.npy")
        for name in ("out.npz", "out.csv", "out.h5"):
            self.run_kith("search", *arguments, "-k", "8", "--max-distance", limit, "-o", name)
            answer = self.run_json("eval", *arguments, "--result", name, "--max-distance", limit)
            self.assertEqual((answer["recall"], answer["true_neighbors"], answer["right"]), (1, near.sum(), near.sum()))
            self.assertEqual((answer["identical_rows"], answer["right_rows"]), (25, 25), name)
            self.assertEqual((answer["missing_ids"], answer["invalid_ids"], answer["distance_error"]), (0, 0, 0), name)
            ratio = answer["distance_ratio"]
            self.assertEqual((ratio["mean"], ratio["max"], ratio["unbounded_rows"]), (1, 1, 0), name)
        self.run_kith("search", *arguments, "-k", "8", "--max-distance", limit, "--ids", "ids.npy")
        ids = self.load("ids.npy")
        answer = self.evaluate(ids, "--max-distance", limit)
        self.assertEqual((answer["recall"], answer["right_rows"], answer["invalid_ids"]), (1, 25, 0))
        missed = next(row for row in range(25) if near[row].sum() > 1)
        ids[missed, near[missed].sum() - 1] = -1
        answer = self.evaluate(ids, "--max-distance", limit)
        self.assertEqual((answer["right"], answer["missing_ids"], answer["right_rows"]), (near.sum() - 1, 1, 24))
        self.assertEqual(answer["distance_ratio"]["unbounded_rows"], 1)

    def test_neighbors_beyond_the_largest_distance(self):
        limit, near = self.limit()
        answer = self.evaluate(self.ids, "--max-distance", limit)
        self.assertEqual((answer["recall"], answer["right"]), (1, near.sum()))  # all true ones are there, and others
        self.assertEqual(answer["right_rows"], near.all(axis=1).sum())
        self.assertEqual(answer["distance_ratio"]["unbounded_rows"], (~near[:, 0]).sum())

    def test_no_true_neighbors(self):
        self.save("q.npy", self.queries + 1000)
        answer = self.evaluate(np.full((25, 4), -1), "--max-distance", 1)
        self.assertEqual((answer["recall"], answer["true_neighbors"], answer["right_rows"]), (1, 0, 25))
        self.assertEqual(answer["distance_ratio"]["max"], 1)
        answer = self.evaluate(self.ids, "--max-distance", 1)
        self.assertEqual((answer["right"], answer["right_rows"]), (0, 0))
        self.assertEqual(answer["distance_ratio"]["unbounded_rows"], 25)

    def test_a_truth_file_and_a_largest_distance(self):
        limit, near = self.limit()
        cut = np.where(near, self.ids, -1)
        for truth in (self.ids, cut):  # the limit cuts what a search without one has found
            self.save("truth.npy", truth)
            answer = self.evaluate(cut, "--truth", "truth.npy", "--max-distance", limit)
            self.assertEqual((answer["recall"], answer["identical_rows"]), (1, 25))
        answer = self.evaluate(cut, "--truth", "truth.npy")  # one that says itself where it ends
        self.assertEqual((answer["recall"], answer["right_rows"]), (1, 25))
        arguments = ("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "out.npz", "--truth", "truth.npy")
        self.fails(USAGE, *arguments, "--max-distance", "-1", says="max_distance = -1")
        self.fails(USAGE, *arguments, "--period", "1,1", says="2 periods for points of 3 dimensions")
        self.fails(USAGE, *arguments[:-2], "--method", "shifted-sort", says=["approximate", "--truth"])

    def test_periodic_axes(self):
        period = np.array([5, 0, 7])
        gaps = np.abs(self.queries[:, None] - self.base[None]).astype(np.float64)
        folded = np.fmod(gaps, np.where(period > 0, period, np.inf))
        distances = np.sqrt((np.where(period > 0, np.minimum(folded, period - folded), gaps) ** 2).sum(axis=2))
        limit = float(np.median(nearest(distances, 8)[1]))
        points, periodic = ("--base", "base.npy", "--queries", "q.npy"), ("--period", "5,0,7")
        for limits in ((), ("--max-distance", limit)):
            self.run_kith("search", *points, *periodic, *limits, "-k", "8", "-o", "out.npz")
            answer = self.run_json("eval", *points, *periodic, *limits, "--result", "out.npz")
            self.assertEqual((answer["recall"], answer["identical_rows"], answer["right_rows"]), (1, 25, 25))
            self.assertEqual((answer["distance_error"], answer["distance_ratio"]["max"]), (0, 1))
            self.assertEqual(answer["plan"]["period"], period.tolist())
        ids, best = nearest(distances, 8)
        self.assertEqual(self.evaluate(ids, *periodic)["recall"], 1)
        ids[4, 2] = distances[4].argmax()
        answer = self.evaluate(ids, *periodic)
        self.assertEqual((answer["right"], answer["right_rows"]), (199, 24))
        self.assertAlmostEqual(answer["distance_ratio"]["max"], distances[4].max() / best[4, 7], places=6)
        self.assertLess(self.evaluate(self.ids, *periodic)["recall"], 1)  # those of axes without ends that meet

    def test_an_answer_with_epsilon_is_measured(self):
        self.base, self.queries = rng(3).random((5000, 4)), rng(4).random((40, 4))
        self.save("base.npy", self.base)
        self.save("q.npy", self.queries)
        points = ("--base", "base.npy", "--queries", "q.npy")
        distances = pairwise(self.base, self.queries)
        limit = float(np.median(nearest(distances, 10)[1][:, 7]))
        self.run_kith("search", *points, "-k", "10", "--method", "tree", "--epsilon", "1", "-o", "out.npz")
        answer = self.run_json("eval", *points, "--result", "out.npz")
        self.assertTrue(0.3 < answer["recall"] < 1)
        self.assertTrue(1 < answer["distance_ratio"]["max"] <= 2)
        self.assertEqual((answer["missing_ids"], answer["invalid_ids"], answer["distance_error"]), (0, 0, 0))
        self.run_kith("search", *points, "-k", "10", "--method", "tree", "--epsilon", "1", "--max-distance", limit,
                      "-o", "out.npz")
        answer = self.run_json("eval", *points, "--result", "out.npz", "--max-distance", limit)
        self.assertTrue(0.3 < answer["recall"] < 1)
        self.assertEqual(answer["invalid_ids"], 0)

    def test_zero_distances(self):
        self.queries = self.base[:25]
        self.save("q.npy", self.queries)
        ids, _ = nearest(pairwise(self.base, self.queries), 3)  # the three copies, all at distance 0
        self.assertEqual(self.evaluate(ids)["distance_ratio"]["max"], 1)
        ids[4, 1] = pairwise(self.base, self.queries)[4].argmax()
        self.assertEqual(self.evaluate(ids)["distance_ratio"]["unbounded_rows"], 1)

    def test_p99_is_the_nearest_rank(self):
        self.queries = exact_points(300, 3, 5)
        self.save("q.npy", self.queries)
        distances = pairwise(self.base, self.queries)
        ids, best = nearest(distances, 8)
        ids[::20, 0] = distances[::20].argmax(axis=1)
        found = np.take_along_axis(distances, ids, 1).astype(np.float32).astype(np.float64).max(axis=1)
        ratios = np.sort(found / best[:, 7].astype(np.float32).astype(np.float64))
        self.assertAlmostEqual(self.evaluate(ids)["distance_ratio"]["p99"], ratios[int(np.ceil(0.99 * 300)) - 1])

    def test_reported_distances_are_compared(self):
        distances = self.distances.astype(np.float32)
        self.assertEqual(self.evaluate(self.ids, distances=distances)["distance_error"], 0)
        distances[2, 5] += 0.5
        self.assertAlmostEqual(self.evaluate(self.ids, distances=distances)["distance_error"], 0.5, places=6)
        self.assertIsNone(self.evaluate(self.ids)["distance_error"])

    def test_truth_file_and_smaller_k(self):
        np.save(self.path("truth.npy"), nearest(pairwise(self.base, self.queries), 20)[0].astype(np.int32))
        ids = self.ids.copy()
        ids[:, 7] = pairwise(self.base, self.queries).argmax(axis=1)
        answer = self.evaluate(ids, "--truth", "truth.npy")
        self.assertEqual((answer["right"], answer["truth"]), (175, "truth.npy"))
        answer = self.evaluate(ids, "--truth", "truth.npy", "-k", "7")
        self.assertEqual((answer["recall"], answer["k"]), (1, 7))

    def test_inner_product(self):
        ids, _ = nearest(pairwise(self.base, self.queries, "inner_product"), 8, largest=True)
        answer = self.evaluate(ids, "--metric", "inner_product")
        self.assertEqual((answer["recall"], answer["distance_ratio"]), (1, None))
        answer = self.evaluate(ids[:, ::-1], "--metric", "inner_product")
        self.assertEqual((answer["recall"], answer["identical_rows"]), (1, 0))

    def test_other_result_formats(self):
        for name in ("out.csv", "out.h5", "out.npz"):
            self.run_kith("search", "--base", "base.npy", "--queries", "q.npy", "-k", "8", "-o", name)
            answer = self.run_json("eval", "--base", "base.npy", "--queries", "q.npy", "--result", name)
            self.assertEqual((answer["recall"], answer["distance_error"]), (1, 0), name)
        self.run_kith("search", "--base", "base.npy", "--queries", "q.npy", "-k", "8", "--ids", "ids.ivecs")
        answer = self.run_json("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "ids.ivecs")
        self.assertEqual((answer["recall"], answer["distance_error"]), (1, None))

    def test_result_from_a_pipe(self):
        buffer = io.BytesIO()
        np.savez(buffer, ids=self.ids, distances=self.distances.astype(np.float32))
        done = self.run_kith("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "-",
                             stdin=buffer.getvalue())
        self.assertIn("1.000000", done.stdout.decode())
        self.assertIn("distance error  at most 0", done.stdout.decode())

    def test_explain_and_stats(self):
        np.savez(self.path("out.npz"), ids=self.ids)
        done = self.run_kith("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "out.npz", "--explain",
                             "--stats")
        self.assertIn("method", done.stderr)
        self.assertIn("finalists", done.stderr)
        self.assertIn("recall@8", done.stdout.decode())

    def test_failures(self):
        arguments = ("eval", "--base", "base.npy", "--queries", "q.npy", "--result", "out.npz")
        np.savez(self.path("out.npz"), ids=self.ids[:20])
        self.fails(BAD_DATA, *arguments, says=["20 rows", "25 queries"])
        np.savez(self.path("out.npz"), ids=self.ids)
        self.fails(USAGE, *arguments, "-k", "9", says=["k = 9", "8 columns"])
        self.fails(USAGE, *arguments, "-k", "0", says="k = 0")
        truth = self.ids.copy()
        truth[6, 1] = 180
        np.save(self.path("truth.npy"), truth)
        self.fails(BAD_DATA, *arguments, "--truth", "truth.npy", says=["180", "row 6, column 1"])


if __name__ == "__main__":
    unittest.main()
