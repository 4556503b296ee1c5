"""kith index: collections in files, against a search of what is there."""
import json
import os
import unittest

import numpy as np

from harness import BAD_DATA, KithTest, USAGE, exact_points, pairwise

ROWS, DIMS, K = 120, 3, 5


class Index(KithTest):
    def setUp(self):
        super().setUp()
        self.base = exact_points(ROWS, DIMS, 1)
        self.queries = exact_points(9, DIMS, 2)
        self.ids = np.random.default_rng(3).permutation(ROWS) * 7 - 200
        self.tags = np.arange(ROWS) % 3
        for name in ("base", "queries", "ids", "tags"):
            self.save(f"{name}.npy", getattr(self, name))

    def index(self, *arguments, **options):
        return self.run_kith("index", *arguments, **options)

    def build(self, *arguments):
        return self.index("build", "--base", "base.npy", "--ids", "ids.npy", "--tags", "tags.npy", "-o", "points.kith",
                          *arguments)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def check_search(self, points, ids, *arguments, metric="euclidean", index="points.kith"):
        """The answer is that of all distances, ties by id; places that are left have id -1."""
        self.index("search", "--index", index, "--queries", "queries.npy", "-k", K, "-o", "out.npz", *arguments)
        answer = self.load("out.npz")
        distances = pairwise(points, self.queries, metric)
        for query in range(len(self.queries)):
            best = np.lexsort((ids, distances[query]))[:K]
            padding = K - len(best)
            np.testing.assert_array_equal(answer["ids"][query], np.append(ids[best], [-1] * padding))
            np.testing.assert_array_equal(answer["distances"][query],
                                          np.append(distances[query][best], [np.inf] * padding).astype(np.float32))

    def test_build_and_search(self):
        self.build()
        self.check_search(self.base, self.ids)

    def test_without_ids(self):
        self.index("build", "--base", "base.npy", "--metric", "manhattan", "-o", "points.kith")
        self.check_search(self.base, np.arange(ROWS), metric="manhattan")

    def test_filters(self):
        self.build()
        of_tag = self.tags == 1
        self.check_search(self.base[of_tag], self.ids[of_tag], "--tag", "1")
        self.check_search(self.base[~of_tag], self.ids[~of_tag], "--tag", "0,2")
        self.save("some.npy", self.ids[:20])
        self.check_search(self.base[:20], self.ids[:20], "--allow", "some.npy")
        self.check_search(self.base[20:], self.ids[20:], "--exclude", "some.npy")
        self.save("three.npy", self.ids[:3])
        self.check_search(self.base[:3], self.ids[:3], "--allow", "three.npy")

    def test_add_and_remove(self):
        self.save("first.npy", self.base[:50])
        self.save("first_ids.npy", self.ids[:50])
        self.save("rest.npy", self.base[50:])
        self.save("rest_ids.npy", self.ids[50:])
        self.index("build", "--base", "first.npy", "--ids", "first_ids.npy", "-o", "points.kith")
        self.index("add", "--index", "points.kith", "--base", "rest.npy", "--ids", "rest_ids.npy")
        self.check_search(self.base, self.ids)

        self.index("remove", "--index", "points.kith", "--ids", "first_ids.npy", "-o", "fewer.kith")
        self.check_search(self.base[50:], self.ids[50:], index="fewer.kith")
        self.check_search(self.base, self.ids)  # --output left it as it was
        self.index("remove", "--index", "points.kith", "--id", f"{self.ids[0]},{self.ids[7]}")
        left = np.setdiff1d(np.arange(ROWS), [0, 7])
        self.check_search(self.base[left], self.ids[left])

    def test_update(self):
        self.build()
        others = exact_points(10, DIMS, 4)
        self.save("others.npy", others)
        self.save("other_ids.npy", self.ids[30:40])
        self.index("add", "--update", "--index", "points.kith", "--base", "others.npy", "--ids", "other_ids.npy")
        base = self.base.copy()
        base[30:40] = others
        self.check_search(base, self.ids)
        of_tag = self.tags == 2
        self.check_search(base[of_tag], self.ids[of_tag], "--tag", "2")

    def test_types(self):
        unsigned = np.abs(self.base).astype(np.uint8)
        self.queries = np.abs(self.queries)
        self.save("queries.npy", self.queries)
        self.save("base.npy", unsigned)
        self.build()
        answer = json.loads(self.index("info", "--index", "points.kith", "--json").stdout)
        self.assertEqual(answer["dtype"], "uint8")
        self.check_search(unsigned, self.ids)

    def test_info(self):
        self.build("--metric", "cosine")
        answer = self.run_json("index", "info", "--index", "points.kith", "--verify")
        self.assertEqual((answer["rows"], answer["dims"], answer["metric"]), (ROWS, DIMS, "cosine"))
        self.assertTrue(answer["has_ids"] and answer["has_tags"] and answer["verified"])
        self.assertEqual(answer["file_bytes"], os.path.getsize(self.path("points.kith")))
        text = self.index("info", "--index", "points.kith").stdout.decode()
        self.assertIn("120 × 3 float32", text)
        self.assertIn("cosine", text)

    def test_json_and_text(self):
        self.build()
        answer = self.run_json("index", "search", "--index", "points.kith", "--queries", "queries.npy", "-k", 2)
        self.assertEqual((answer["action"], len(answer["ids"])), ("search", 9))
        lines = self.index("search", "--index", "points.kith", "--queries", "queries.npy", "-k", 2)
        lines = lines.stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["query", "rank", "id", "distance"])
        self.assertEqual([int(line.split()[2]) for line in lines[1:]], [id for row in answer["ids"] for id in row])
        self.save("ids.npy", self.ids + 10000)
        answer = self.run_json("index", "add", "--index", "points.kith", "--base", "base.npy", "--ids", "ids.npy")
        self.assertEqual((answer["action"], answer["points"], answer["rows"]), ("add", ROWS, 2 * ROWS))

    def test_failures(self):
        self.build()
        before = self.bytes_of("points.kith")
        search = ("index", "search", "--index", "points.kith", "--queries", "queries.npy")
        self.fails(USAGE, "index", says=["no command given", "Try 'kith index --help'"])
        self.fails(USAGE, "index", "bild", says=["unknown command 'bild'", "build", "Try 'kith index --help'"])
        self.fails(USAGE, "index", "build", "--base", "base.npy", says=["--output", "Try 'kith index build --help'"])
        for option in (["--distance", "direct"], ["--select", "threshold-filter"], ["--triangle-form", "sweet-knn"],
                       ["--no-remap"], ["--merge", "warp"]):
            self.fails(USAGE, "index", "build", "--base", "base.npy", "-o", "other.kith", *option,
                       says=f"unknown option '{option[0]}'")
        self.fails(USAGE, *search, "-k", 0, says="k = 0")
        self.fails(USAGE, *search, "-k", ROWS + 1, says="k = 121")
        self.fails(USAGE, *search, "-k", 2, "--tags", "1", says="unknown option '--tags'")
        self.fails(USAGE, "index", "remove", "--index", "points.kith", says="one of --ids and --id")
        self.fails(USAGE, "index", "remove", "--index", "points.kith", "--id", "12345", says="no point has id 12345")
        self.fails(USAGE, "index", "add", "--index", "points.kith", "--base", "base.npy", "--ids", "ids.npy",
                   says="update() replaces points")
        self.fails(USAGE, "index", "add", "--index", "points.kith", "--base", "base.npy", "--update", says="--ids")
        self.assertEqual(self.bytes_of("points.kith"), before)
        self.fails(BAD_DATA, "index", "info", "--index", "base.npy", says="base.npy")
        self.fails(BAD_DATA, "index", "info", "--index", "none.kith", says="none.kith")
        with open(self.path("cut.kith"), "wb") as file:
            file.write(before[:-1])
        self.fails(BAD_DATA, "index", "search", "--index", "cut.kith", "--queries", "queries.npy", "-k", 2,
                   says="it was cut off")
        damaged = bytearray(before)
        points = before.find(self.base[np.argsort(self.ids)].tobytes())
        self.assertGreater(points, 0)
        damaged[points + 70] ^= 1
        with open(self.path("damaged.kith"), "wb") as file:
            file.write(damaged)
        self.fails(BAD_DATA, "index", "info", "--index", "damaged.kith", "--verify", says="damaged")


if __name__ == "__main__":
    unittest.main()
