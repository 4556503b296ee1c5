"""What the environment says of threads: who is heard, and that no setting of OpenMP or OpenBLAS makes a search hang."""

import json
import os
import subprocess
import unittest

import numpy as np

from harness import KITH, KithTest, MEMORY, USAGE, rng


class Environment(KithTest):
    def clean(self, **variables):
        """The environment with these variables, and no others that are about threads."""
        others = ("OMP_", "GOMP_", "OPENBLAS_", "KITH_")
        return {**{name: value for name, value in os.environ.items() if not name.startswith(others)}, **variables}

    def search(self, *arguments, **variables):
        """A search by matrix products: ids and distances. A minute is enough by far."""
        done = subprocess.run([KITH, "search", "--base", "base.npy", "--queries", "queries.npy", "-k", "5", "--distance",
                               "gemm", "--quiet", *arguments, "-o", "out.npz"], cwd=self.folder, capture_output=True,
                              timeout=60, env=self.clean(**variables))
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        with np.load(self.path("out.npz")) as answer:
            return [answer[name] for name in sorted(answer.files)]

    def test_openmp_and_openblas_do_not_hang_or_change_the_answer(self):
        self.save("base.npy", rng(1).normal(size=(6000, 512)).astype(np.float32))
        self.save("queries.npy", rng(2).normal(size=(40, 512)).astype(np.float32))
        want = self.search()
        for variables in ({"OMP_THREAD_LIMIT": "1"}, {"OMP_MAX_ACTIVE_LEVELS": "0"}, {"OMP_DYNAMIC": "true"},
                          {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "7"}, {"OPENBLAS_NUM_THREADS": "3"},
                          {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "infinity"}, {"OMP_STACKSIZE": "16k"}):
            for threads in ("0", "1", "4"):
                with self.subTest(variables, threads=threads):
                    for got, expected in zip(self.search("--threads", threads, **variables), want):
                        np.testing.assert_array_equal(got, expected)

    @unittest.skipIf("KITH_QEMU" in os.environ, "the limit would be qemu's")
    def test_little_address_space_means_fewer_threads_and_no_hang(self):
        self.save("base.npy", rng(1).normal(size=(6000, 512)).astype(np.float32))
        self.save("queries.npy", rng(2).normal(size=(300, 512)).astype(np.float32))

        def limited(mebibytes, *arguments):
            return subprocess.run(["bash", "-c", f"ulimit -v {mebibytes * 1024} && exec \"$0\" \"$@\"", KITH, *arguments],
                                  cwd=self.folder, capture_output=True, timeout=60,
                                  env=self.clean(OPENBLAS_NUM_THREADS="1"))

        if limited(2000, "info").returncode != 0:
            self.skipTest("this build cannot do with less than all of the address space")
        for mebibytes in (450, 600, 900, 2000):
            for distance in ("auto", "gemm"):
                with self.subTest(mebibytes, distance=distance):
                    done = limited(mebibytes, "search", "--base", "base.npy", "--queries", "queries.npy", "-k", "5",
                                   "--distance", distance, "--threads", "256", "--quiet", "-o", "out.npz")
                    self.assertIn(done.returncode, (0,) if mebibytes == 2000 else (0, MEMORY), done.stderr)

    def threads(self, *wrapper, **variables):
        """How many threads a search may have, and what says so."""
        done = subprocess.run([*wrapper, KITH, "info", "--json"], capture_output=True, env=self.clean(**variables))
        cpu = json.loads(done.stdout)["cpu"]
        return cpu["threads"], cpu["threads_source"]

    def test_info_says_what_limits_threads(self):
        most, source = self.threads()
        self.assertGreaterEqual(most, 1)
        self.assertTrue(source)
        if most == 1:
            self.skipTest("there is one processor here")
        self.assertEqual(self.threads(KITH_NUM_THREADS="1"), (1, "KITH_NUM_THREADS"))
        self.assertEqual(self.threads(KITH_NUM_THREADS="100000"), (most, source))
        self.assertEqual(self.threads(OMP_NUM_THREADS="1")[0], 1)
        self.assertIn("OMP_NUM_THREADS", self.threads(OMP_NUM_THREADS="1")[1])
        self.assertEqual(self.threads(OMP_THREAD_LIMIT="1")[0], 1)
        self.assertIn("OMP_", self.threads(OMP_THREAD_LIMIT="1")[1])
        self.assertEqual(self.threads("taskset", "-c", str(min(os.sched_getaffinity(0)))), (1, "CPU affinity"))

    def test_a_number_of_threads_wins_over_the_environment(self):
        shape = ("explain", "--rows", "1000000", "--dims", "64", "--queries", "10000", "-k", "10", "--backend", "cpu")
        for variables in ({"KITH_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "1"}):
            self.assertEqual(self.run_json(*shape, env=variables)["plan"]["threads"], 1)
            plan = self.run_json(*shape, "--threads", "3", env=variables)["plan"]
            self.assertEqual((plan["threads"], plan["threads_reason"]), (3, "asked for by name"))

    def test_a_number_that_is_none_is_refused(self):
        for text in ("0", "-2", "two", "2x"):
            self.fails(USAGE, "explain", "--rows", "1000", "--dims", "8", "--queries", "10", "-k", "5", "--backend", "cpu",
                       env={"KITH_NUM_THREADS": text}, says=["KITH_NUM_THREADS", f"'{text}'"])

    def test_small_work_takes_one_thread_and_says_why(self):
        plan = self.run_json("explain", "--rows", "10000", "--dims", "3", "--queries", "1", "-k", "5", "--backend",
                             "cpu")["plan"]
        self.assertEqual(plan["threads"], 1)
        text = self.run_kith("explain", "--rows", "10000", "--dims", "3", "--queries", "1", "-k", "5", "--backend",
                             "cpu", env={"KITH_NUM_THREADS": "1"}).stdout.decode()
        self.assertIn("1 thread (KITH_NUM_THREADS)", text)


if __name__ == "__main__":
    unittest.main()
