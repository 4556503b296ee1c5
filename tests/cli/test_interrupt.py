"""SIGINT, SIGTERM, SIGHUP: exit code 130, and no output file. SIGQUIT: no output file."""

import os
import resource
import signal
import subprocess
import time
import unittest

import numpy as np

from harness import INTERRUPTED, KITH, KithTest, rng


class Interrupt(KithTest):
    def start(self, *arguments, **options):
        process = subprocess.Popen([KITH, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   cwd=self.folder, **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def assert_interrupted(self, process):
        self.assertEqual(process.wait(timeout=60), INTERRUPTED)
        self.assertIn(b"interrupted", process.stderr.read())

    def start_long_search(self, command, *arguments):
        """A search of minutes, returned when its plan is printed: it is then under way."""
        np.save(self.path("base.npy"), rng(1).normal(size=(60000, 64)))
        process = self.start(*command, "--base", "base.npy", "-k", "1000", "--distance", "direct", "--metric",
                             "minkowski", "--p", "2.5", "--threads", "1", "--explain", *arguments)
        self.assertTrue(process.stderr.readline())
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        return process

    def test_search(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = self.start_long_search(["search", "--queries", "base.npy"], "-o", "out.npz")
                process.send_signal(number)
                self.assert_interrupted(process)
                self.assertEqual(os.listdir(self.folder), ["base.npy"])

    def test_graph(self):
        process = self.start_long_search(["graph"], "-o", "graph.npz")
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process)
        self.assertEqual(os.listdir(self.folder), ["base.npy"])

    def test_a_second_signal_is_not_needed_but_allowed(self):
        process = self.start_long_search(["search", "--queries", "base.npy"], "--ids", "ids.npy")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        self.assert_interrupted(process)
        self.assertEqual(os.listdir(self.folder), ["base.npy"])

    def wait_until_it_catches(self, process, number):
        """It may take its time to start, under qemu for one."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with open(f"/proc/{process.pid}/status") as status:
                caught = next(line for line in status if line.startswith("SigCgt:"))
            if int(caught.split()[1], 16) >> (number - 1) & 1:
                return
            time.sleep(0.01)
        self.fail(f"signal {number} is not caught")

    def test_while_reading_standard_input(self):
        process = self.start("topk", "--input", "-", "-k", "1", stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.wait_until_it_catches(process, signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process)

    def start_saving(self, **options):
        process = self.start("gen", "--rows", "2000000", "--dims", "16", "-o", "points.csv", **options)
        deadline = time.monotonic() + 60
        while not os.listdir(self.folder) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        self.assertTrue(os.listdir(self.folder), "no temporary file was seen")
        self.assertNotIn("points.csv", os.listdir(self.folder))
        return process

    def test_while_saving(self):
        for number in (signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                process = self.start_saving()
                process.send_signal(number)
                self.assert_interrupted(process)
                self.assertEqual(os.listdir(self.folder), [])

    def test_quit_while_saving(self):
        no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        process = self.start_saving(preexec_fn=no_core)
        process.send_signal(signal.SIGQUIT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGQUIT)
        self.assertEqual(os.listdir(self.folder), [])

    def test_ignored_signals_stay_so(self):
        # By nohup, and by scripts that start a job in the background.
        for ignored in (signal.SIGHUP, signal.SIGINT):
            process = self.start_saving(preexec_fn=lambda: signal.signal(ignored, signal.SIG_IGN))
            process.send_signal(ignored)
            time.sleep(0.2)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            self.assert_interrupted(process)


if __name__ == "__main__":
    unittest.main()
