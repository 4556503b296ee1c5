"""Bad input gets a clear error, the right exit code, and loses nothing."""

import os
import resource
import subprocess
import unittest

import numpy as np

from harness import BAD_DATA, CANNOT_WRITE, KITH, KithTest, MEMORY, NO_DEVICE, USAGE, exact_points, rng


class Failures(KithTest):
    def setUp(self):
        super().setUp()
        self.save("base.npy", exact_points(50, 4, 1))
        self.save("q.npy", exact_points(9, 4, 2))

    def search_fails(self, code, *arguments, says, base="base.npy", queries="q.npy", k="3"):
        return self.fails(code, "search", "--base", base, "--queries", queries, "-k", k, *arguments, "-o", "out.npz",
                          says=says)

    def test_usage(self):
        self.fails(USAGE, says=["no command given", "kith --help"])
        self.fails(USAGE, "serch", says=["unknown command 'serch'", "'search'"])
        self.fails(USAGE, "search", "--bse", "x", says=["unknown option '--bse'", "'--base'", "kith search --help"])
        self.fails(USAGE, "search", "--bse=x", says="'--base'")
        self.fails(USAGE, "search", "--base", "base.npy", says="-k is required")
        self.search_fails(USAGE, "extra", says="unexpected argument 'extra'")
        self.search_fails(USAGE, "--metric", "euclidian", says=["euclidian", "did you mean 'euclidean'?"])
        self.search_fails(USAGE, "--method", "brut", says="did you mean 'brute'?")
        self.search_fails(USAGE, "--select", "srot", says="did you mean 'sort'?")
        self.search_fails(USAGE, "--distance", "gem", says="did you mean 'gemm'?")
        self.search_fails(USAGE, "--format", "np", says="np")
        self.search_fails(USAGE, "--threads", "-2", says="--threads")
        self.search_fails(USAGE, "--base-array", "a", says="base.npy")

    def test_outputs_that_cannot_be_written_are_refused_before_the_work(self):
        # The input does not exist: what is refused first is what was looked at first.
        search = ["search", "--base", "none.npy", "--queries", "none.npy"]
        self.fails(USAGE, *search, "-k", "3", "--compress", "-o", "out.csv", says=["csv is not compressed", "npz"])
        self.fails(USAGE, *search, "-k", "3", "--compress", says=["--compress", "npz"])
        self.fails(USAGE, *search, "-k", "3", "--ids", "ids.npy", "--compress", says="npy is not compressed")
        self.fails(USAGE, *search, "-k", "3", "--ids", "ids.ply", says=["ply cannot hold this answer", "ivecs"])
        self.fails(USAGE, *search, "-k", "4", "--distances", "far.ply", says="ply cannot hold this answer")
        self.fails(BAD_DATA, *search, "-k", "3", "--distances", "far.ply", says="none.npy")
        self.fails(USAGE, "topk", "--input", "none.npy", "-k", "3", "-o", "out", "--output-format", "groundtruth",
                   says="groundtruth cannot hold this answer")
        self.fails(USAGE, "gen", "--rows", "5", "--dims", "4", "-o", "out.ply",
                   says="ply cannot hold this answer")

    def test_ids_that_float_cannot_hold(self):
        self.save("ids.npy", np.array([[16777216], [16777217]], np.int64))
        self.fails(BAD_DATA, "convert", "ids.npy", "-o", "out.fvecs", says=["row 1", "16777217", "float32"])

    def test_k_out_of_range(self):
        self.search_fails(USAGE, k="51", says=["k = 51", "50"])
        self.search_fails(USAGE, k="0", says="k = 0")
        self.search_fails(USAGE, k="-3", says="k = -3")
        self.search_fails(USAGE, k="many", says="many")
        self.search_fails(USAGE, k="99999999999999999999", says="99999999999999999999")

    def test_shapes(self):
        self.save("five.npy", exact_points(9, 5, 2))
        self.search_fails(USAGE, queries="five.npy", says=["4", "5"])
        self.save("empty.npy", np.zeros((0, 4), np.float32))
        self.search_fails(USAGE, base="empty.npy", says="base")
        self.save("cube.npy", np.zeros((2, 2, 2), np.float32))
        self.search_fails(BAD_DATA, base="cube.npy", says="cube.npy")

    def test_missing_and_malformed_files(self):
        self.search_fails(BAD_DATA, base="none.npy", says=["none.npy", "No such file"])
        self.search_fails(BAD_DATA, base=".", says=".")
        with open(self.path("base.npy"), "rb") as file:
            whole = file.read()
        malformed = {"empty.npy": b"", "cut.npy": whole[:-5], "noise.npy": b"\x93NUMPY" + bytes(range(100)),
                     "cut.npz": b"PK\x03\x04 nothing", "noise.h5": b"\x89HDF\r\n\x1a\n" + bytes(50),
                     "ragged.csv": b"1,2,3,4\n1,2\n", "words.csv": b"1,2,3,4\n1,2,x,4\n", "cut.fvecs": whole[:11],
                     "cut.fbin": b"\x05\0\0\0\x04\0\0\0\0\0", "noise.ply": b"ply\nformat what 1.0\nend_header\n"}
        for name, content in malformed.items():
            with self.subTest(name):
                with open(self.path(name), "wb") as file:
                    file.write(content)
                self.search_fails(BAD_DATA, base=name, says=name)

    def test_huge_headers_do_not_allocate(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000000), }"
        header += b" " * (118 - len(header) - 1) + b"\n"
        with open(self.path("huge.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
        with open(self.path("huge.fbin"), "wb") as file:
            file.write((2**31 - 1).to_bytes(4, "little") * 2 + bytes(64))
        for name in ("huge.npy", "huge.fbin"):
            self.search_fails(BAD_DATA, base=name, says=name)

    def test_nan_and_inf_are_named(self):
        for value, name in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "inf")):
            base = exact_points(50, 4, 1)
            base[17, 2] = value
            self.save("bad.npy", base)
            done = self.search_fails(BAD_DATA, base="bad.npy", says=["base", "row 17", "column 2"])
            self.assertIn(name, done.stderr.lower())
            queries = exact_points(9, 4, 2)
            queries[8, 3] = value
            self.save("badq.npy", queries)
            self.search_fails(BAD_DATA, queries="badq.npy", says=["row 8", "column 3"])
        self.run_kith("search", "--base", "bad.npy", "--queries", "q.npy", "-k", "3", "--no-check-finite", "--quiet")

    def test_vectors_without_direction(self):
        base = exact_points(50, 4, 1) + 20
        base[31] = 0
        self.save("zero.npy", base)
        self.search_fails(BAD_DATA, "--metric", "cosine", base="zero.npy", says="31")
        base[31] = 7
        self.save("constant.npy", base)
        self.search_fails(BAD_DATA, "--metric", "correlation", base="constant.npy", says="31")

    def test_no_such_device(self):
        for backend in self.absent_backends():
            self.search_fails(NO_DEVICE, "--backend", backend, says=backend)

    def test_a_budget_too_small(self):
        self.search_fails(MEMORY, "--memory", "1", says="budget")

    def test_standard_input_twice(self):
        with open(self.path("q.npy"), "rb") as file:
            self.fails(USAGE, "search", "--base", "-", "--queries", "-", "-k", "1", says="standard input",
                       stdin=file.read())


class FullDisk(KithTest):
    def setUp(self):
        super().setUp()
        self.save("base.npy", rng(1).normal(size=(3000, 4)).astype(np.float32))

    def commands(self):
        return [("search", "--base", "base.npy", "--queries", "base.npy", "-k", "10"), ("graph", "--base", "base.npy", "-k", "10"),
                ("topk", "--input", "base.npy", "-k", "2"), ("gen", "--rows", "3000", "--dims", "9"),
                ("convert", "base.npy")]

    def test_dev_full_as_output(self):
        for command in self.commands():
            for form in ("npz", "json"):
                with self.subTest(f"{command[0]}, {form}"):
                    self.fails(CANNOT_WRITE, *command, "-o", "/dev/full", "--output-format", form,
                               says=["/dev/full", "No space left"])

    def test_dev_full_as_stdout(self):
        others = [("info",), ("info", "--json"), ("--help",), ("--version",), ("completion", "bash"),
                  ("explain", "--rows", "9", "--dims", "9", "--queries", "9", "-k", "1")]
        for command in self.commands() + others:
            with self.subTest(command[0]), open("/dev/full", "wb") as full:
                done = subprocess.run([KITH, *command], stdout=full, stderr=subprocess.PIPE, cwd=self.folder)
                self.assertEqual(done.returncode, CANNOT_WRITE)
                self.assertIn(b"No space left", done.stderr)

    def mount_small_disk(self):
        mount = self.path("disk")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount], capture_output=True).returncode:
            self.skipTest("mounting a tmpfs needs root")
        self.addCleanup(subprocess.run, ["umount", mount])
        return mount

    def test_small_tmpfs(self):
        mount = self.mount_small_disk()
        for command in self.commands():
            for name in ("out.npz", "out.json", "out.h5"):
                with self.subTest(f"{command[0]}, {name}"):
                    if command[0] == "topk" or command[0] == "convert":
                        subprocess.run(["dd", "if=/dev/zero", f"of={mount}/filler", "bs=1k", "count=60"],
                                       capture_output=True)
                    before = os.listdir(mount)
                    done = self.run_kith(*command, "-o", f"disk/{name}", code=CANNOT_WRITE)
                    self.assertIn(f"disk/{name}", done.stderr)
                    self.assertEqual(os.listdir(mount), before)

    def test_the_old_file_survives(self):
        mount = self.mount_small_disk()
        self.run_kith("gen", "--rows", "5", "--dims", "2", "-o", "disk/p.npy")
        old = self.load("disk/p.npy")
        self.run_kith("gen", "--rows", "50000", "--dims", "2", "-o", "disk/p.npy", code=CANNOT_WRITE)
        np.testing.assert_array_equal(self.load("disk/p.npy"), old)
        self.assertEqual(os.listdir(mount), ["p.npy"])

    def test_a_limit_on_file_sizes(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        for name in ("out.npy", "out.npz", "out.csv", "out.h5"):
            done = subprocess.run([KITH, "gen", "--rows", "50000", "--dims", "2", "-o", name], capture_output=True,
                                  cwd=self.folder, preexec_fn=limit)
            self.assertEqual(done.returncode, CANNOT_WRITE, name)
            self.assertEqual(done.stderr.decode(), f"kith: error: cannot write {name}: File too large\n")
            self.assertEqual(os.listdir(self.folder), ["base.npy"])

    def test_two_outputs_that_are_one_file(self):
        # The input does not exist: it was not looked at.
        search = ["search", "--base", "none.npy", "-k", "3"]
        os.symlink(".", self.path("here"))
        for first, second in (("--ids", "--distances"), ("--ids", "-o")):
            for other in ("x.csv", "./x.csv", "here/x.csv", self.path("x.csv")):
                with self.subTest(f"{first} {second} {other}"):
                    self.fails(USAGE, *search, first, "x.csv", second, other, says=["one file", "x.csv", other])

    def test_links_that_lead_nowhere(self):
        os.symlink("missing.npy", self.path("link.npy"))
        self.fails(CANNOT_WRITE, "gen", "--rows", "5", "--dims", "2", "-o", "link.npy",
                   says=["link.npy", "'missing.npy', which does not exist"])

    def test_two_files_appear_together_or_not_at_all(self):
        self.fails(CANNOT_WRITE, "search", "--base", "base.npy", "--queries", "base.npy", "-k", "3", "--ids", "ids.npy",
                   "--distances", "missing/d.npy", says="missing/d.npy")


class Pipes(KithTest):
    def test_a_reader_that_leaves_ends_it_quietly(self):
        self.save("base.npy", rng(1).normal(size=(4000, 4)).astype(np.float32))
        commands = [("search", "--base", "base.npy", "--queries", "base.npy", "-k", "50"),
                    ("search", "--base", "base.npy", "--queries", "base.npy", "-k", "50", "--output-format", "npz"),
                    ("gen", "--rows", "200000", "--dims", "5")]
        for command in commands:
            with self.subTest(command):
                with subprocess.Popen([KITH, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      cwd=self.folder) as process:
                    process.stdout.read(10)
                    process.stdout.close()
                    self.assertEqual(process.stderr.read(), b"")
                    self.assertEqual(process.wait(timeout=60), CANNOT_WRITE)


if __name__ == "__main__":
    unittest.main()
