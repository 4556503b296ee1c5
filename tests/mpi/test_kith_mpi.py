"""The tool kith-mpi (KITH_MPI_BIN, started by KITH_MPIRUN): the files of kith (KITH_BIN), byte for byte; and what happens
when one of its processes fails."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import numpy as np

KITH = os.path.abspath(os.environ["KITH_BIN"])
KITH_MPI = os.path.abspath(os.environ["KITH_MPI_BIN"])
LAUNCHER = os.environ["KITH_MPIRUN"]
START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpirun.sh")
SECONDS = 10  # in which all ranks must have ended after one failed
USAGE, BAD_DATA, MEMORY, CANNOT_WRITE = 2, 3, 4, 6


def points(rows, dims=6, seed=0):
    return np.random.default_rng(seed).random((rows, dims), dtype=np.float32)


def fbin(array):
    return np.array(array.shape, dtype=np.uint32).tobytes() + array.astype(np.float32).tobytes()


class KithMpi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kith-mpi-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        np.save(self.path("base.npy"), points(400))
        np.save(self.path("queries.npy"), points(45, seed=1))

    def path(self, name):
        return os.path.join(self.folder, name)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def kith(self, *arguments):
        subprocess.run([KITH, *map(str, arguments)], check=True, cwd=self.folder, capture_output=True, timeout=60)

    def mpirun(self, ranks, *command, seconds=60):
        # The launcher's own children end with it where the time is over.
        return subprocess.run(["timeout", "-k", "2", str(seconds), START, LAUNCHER, str(ranks), *map(str, command)],
                              cwd=self.folder, capture_output=True, text=True)

    def kith_mpi(self, ranks, *arguments):
        done = self.mpirun(ranks, KITH_MPI, *arguments, "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fails(self, code, says, *command):
        """Ends in time with the code, says it once, and leaves no file behind."""
        before = sorted(os.listdir(self.folder))
        start = time.monotonic()
        done = self.mpirun(3, *command, seconds=SECONDS)
        self.assertLess(time.monotonic() - start, SECONDS)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("kith: error: "), 1, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_answers_are_those_of_one_process(self):
        search = ["search", "--base", "base.npy", "-k", 7]
        asked = [*search, "--queries", "queries.npy", "--metric", "manhattan"]
        self.kith(*asked, "-o", "asked.npz")
        self.kith(*search, "-o", "self.h5")
        self.kith("graph", "--base", "base.npy", "-k", 7, "-o", "graph.npz")
        within = ["radius", "--base", "base.npy", "--queries", "queries.npy", "--radius", 0.4]
        self.kith(*within, "-o", "within.npz")
        for ranks, layout in (1, "auto"), (2, "stationary"), (3, "ring"), (4, "grid"), (3, "landmarks"), (2, "replicated"):
            with self.subTest(ranks=ranks, layout=layout):
                self.kith_mpi(ranks, *asked, "--layout", layout, "-o", "got.npz")
                self.assertEqual(self.bytes_of("got.npz"), self.bytes_of("asked.npz"))
        self.kith_mpi(3, *search, "--layout", "ring", "-o", "got.h5")
        self.assertEqual(self.bytes_of("got.h5"), self.bytes_of("self.h5"))
        self.kith_mpi(3, "graph", "--base", "base.npy", "-k", 7, "-o", "got.npz")
        self.assertEqual(self.bytes_of("got.npz"), self.bytes_of("graph.npz"))
        self.kith_mpi(3, *within, "-o", "got.npz")
        self.assertEqual(self.bytes_of("got.npz"), self.bytes_of("within.npz"))

    def test_formats_of_files(self):
        for name in "base.fvecs", "base.fbin", "base.csv", "base.npz":
            with self.subTest(name=name):
                self.kith("convert", "base.npy", "-o", name)
                search = ["search", "--base", name, "--queries", "queries.npy", "-k", 3]
                self.kith(*search, "-o", "one.npz")
                self.kith_mpi(3, *search, "-o", "got.npz")
                self.assertEqual(self.bytes_of("got.npz"), self.bytes_of("one.npz"))

    def test_one_query_and_integers(self):
        np.save(self.path("query.npy"), points(6, seed=2)[0])
        np.save(self.path("integers.npy"), np.arange(120, dtype=np.int64).reshape(20, 6) % 17)
        for base, queries in ("base.npy", "query.npy"), ("integers.npy", "queries.npy"):
            search = ["search", "--base", base, "--queries", queries, "-k", 3]
            self.kith(*search, "-o", "one.npz")
            self.kith_mpi(3, *search, "-o", "got.npz")
            self.assertEqual(self.bytes_of("got.npz"), self.bytes_of("one.npz"))

    def test_reports(self):
        done = self.kith_mpi(3, "search", "--base", "base.npy", "-k", 3, "-o", "got.npz", "--layout", "ring", "--explain",
                             "--stats")
        self.assertIn("landmarks", done.stderr)
        self.assertIn("layout ring", done.stderr)
        for rank in range(3):
            self.assertRegex(done.stderr, rf"(?m)^ +{rank} +\d")
        done = self.mpirun(2, KITH_MPI, "explain", "--ranks", 64, "--model")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 14, done.stdout)

    def test_nan_on_one_rank(self):
        bad = points(400)
        bad[390, 2] = np.nan
        np.save(self.path("bad.npy"), bad)
        search = [KITH_MPI, "search", "--queries", "queries.npy", "-k", 3, "-o", "out.npz", "--base"]
        self.fails(BAD_DATA, "rank 2: base row 390, column 2 is nan", *search, "bad.npy")

    def test_budget_too_small_on_one_rank(self):
        search = [KITH_MPI, "search", "--base", "base.npy", "-k", 3, "-o", "out.npz", "--backend", "cpu"]
        more = ["--memory", "1GiB"]
        self.fails(MEMORY, "rank 1: a memory budget of 100 bytes is too small",
                   *self.one_differs(search, more, ["--memory", "100"]))

    def test_file_cut_short_on_one_rank(self):
        whole = fbin(points(400))
        for name, content in ("whole.fbin", whole), ("short.fbin", whole[:-20]):
            with open(self.path(name), "wb") as file:
                file.write(content)
        search = [KITH_MPI, "search", "-k", 3, "-o", "out.npz"]
        self.fails(BAD_DATA, "rank 1: short.fbin: byte 9588: 400 rows of 6 columns need 9600 bytes",
                   *self.one_differs(search, ["--base", "whole.fbin"], ["--base", "short.fbin"]))

    def one_differs(self, command, others, of_rank_1):
        """A script that gives rank 1 other arguments."""
        script = self.path("start.sh")
        with open(script, "w") as file:
            file.write("#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK}}\n"
                       'if [ "$rank" = 1 ]; then shift; first=$1; shift; set -- "$@" ' + " ".join(of_rank_1) +
                       '; else shift; first=$1; shift; set -- "$@" ' + " ".join(others) + '; fi\nexec "$first" "$@"\n')
        os.chmod(script, 0o755)
        return [script, "--", *command]

    def test_output_that_cannot_be_written(self):
        search = [KITH_MPI, "search", "--base", "base.npy", "-k", 3, "-o"]
        self.fails(CANNOT_WRITE, "missing/out.npz: No such file or directory", *search, "missing/out.npz")
        self.fails(USAGE, "its name does not tell the format", *search, "out.what")

    def test_usage(self):
        self.fails(USAGE, "k = 400", KITH_MPI, "search", "--base", "base.npy", "-k", 400, "-o", "out.npz")
        self.fails(USAGE, "--base", KITH_MPI, "search", "-k", 3, "-o", "out.npz")
        self.fails(USAGE, "epsilon", KITH_MPI, "search", "--base", "base.npy", "-k", 3, "-o", "out.npz", "--epsilon", 1)

    def test_a_rank_that_is_killed(self):
        np.save(self.path("large.npy"), points(60_000, 128))
        process = subprocess.Popen([START, LAUNCHER, "3", KITH_MPI, "search", "--base", "large.npy", "-k", "5", "--method",
                                    "brute", "--threads", "1", "-o", "out.npz"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            ranks = self.wait_for_ranks(process.pid, 3)
            time.sleep(1)  # they search for much longer
            self.assertIsNone(process.poll(), "the search was over before a rank was killed")
            before = sorted(os.listdir(self.folder))
            os.kill(ranks[1], signal.SIGKILL)
            process.communicate(timeout=SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertNotIn("out.npz", before)

    def wait_for_ranks(self, launcher, count):
        """The processes of the tool below the launcher."""
        for _ in range(100):
            parents = {}
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{name}/stat") as file:
                        parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
                except OSError:
                    continue
            below = {launcher}
            for _ in parents:
                below |= {child for child, parent in parents.items() if parent in below}
            ranks = []
            for process in sorted(below):
                try:
                    if os.readlink(f"/proc/{process}/exe") == os.path.realpath(KITH_MPI):
                        ranks.append(process)
                except OSError:
                    continue
            if len(ranks) == count:
                return ranks
            time.sleep(0.1)
        self.fail("the ranks did not start")

    def test_copies_of_kith(self):
        done = self.mpirun(2, KITH, "search", "--base", "base.npy", "-k", 3, "-o", "out.npz")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("2 copies of kith were started", done.stderr)
        self.assertIn("kith-mpi", done.stderr)
        self.assertNotIn("out.npz", os.listdir(self.folder))
        self.assertEqual(self.mpirun(2, KITH, "--version").returncode, 0)


if __name__ == "__main__":
    unittest.main()
