"""The progress bar and colors: only on a terminal, and only when wanted."""

import os
import pty
import select
import subprocess
import unittest


from harness import KITH, KithTest, rng


class Terminal(KithTest):
    def stderr_on_a_terminal(self, *arguments, **environment):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([KITH, *arguments], stderr=theirs, stdout=subprocess.DEVNULL, cwd=self.folder,
                                   env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment})
        os.close(theirs)
        text = b""
        while select.select([ours], [], [], 120)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        process.wait(timeout=60)
        return text.decode()

    def long_search(self):
        """A search that lasts long enough to draw its progress bar several times, and what it says on a terminal."""
        self.save("base.npy", rng(1).normal(size=(20000, 64)))
        command = ("search", "--base", "base.npy", "--queries", "q.npy", "-k", "1", "--distance", "direct", "--metric",
                   "minkowski", "--p", "2.5", "-o", "out.npz")
        for queries in (20, 75, 300, 1200, 4800):
            self.save("q.npy", rng(2).normal(size=(queries, 64)))
            text = self.stderr_on_a_terminal(*command)
            if text.count("searching") > 2:
                break
        return command, text

    def test_progress_bar(self):
        command, text = self.long_search()
        self.assertRegex(text, r"searching \[[#.]*\] +\d+%  .* distances/s  .* left")
        self.assertTrue(text.endswith("\r\x1b[K"))
        self.assertEqual(self.stderr_on_a_terminal(*command, "--quiet"), "")
        self.assertEqual(self.run_kith(*command).stderr, "")

    def test_color(self):
        self.assertIn("\x1b[31merror", self.stderr_on_a_terminal("info", "none"))
        self.assertNotIn("\x1b", self.stderr_on_a_terminal("info", "none", NO_COLOR="1"))
        self.assertNotIn("\x1b", self.stderr_on_a_terminal("info", "none", TERM="dumb"))
        self.assertNotIn("\x1b", self.run_kith("info", "none", code=3).stderr)


if __name__ == "__main__":
    unittest.main()
