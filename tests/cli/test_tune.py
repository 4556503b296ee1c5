"""tune: measures a device, writes its profile, and searches then go by it."""

import json
import os
import unittest

from harness import BAD_DATA, CANNOT_WRITE, KithTest, NO_DEVICE, USAGE

EXPLAIN = ("explain", "--rows", "1000", "--dims", "16", "--queries", "10", "-k", "5", "--backend", "emulated")


class Tune(KithTest):
    def setUp(self):
        super().setUp()
        if "emulated" in self.absent_backends():
            self.skipTest("backend emulated is not in this build")
        self.env = {"XDG_CONFIG_HOME": self.path("config"), "KITH_PROFILE": ""}

    def tune(self, *arguments, **env):
        return self.run_kith("tune", "--backend", "emulated", *arguments, env={**self.env, **env})

    def plan(self, **env):
        return self.run_json(*EXPLAIN, env={**self.env, **env})["plan"]

    def test_writes_a_file_that_searches_go_by(self):
        self.assertEqual(self.plan()["profile"], "built in, of an H200")
        before = self.plan()["seconds"]
        done = self.tune("--quick")
        file = self.path("config/kith/Kith emulator.json")
        self.assertIn(file, done.stderr)
        with open(file) as text:
            profile = json.load(text)
        self.assertEqual((profile["schema"], profile["device"]), ("kith-device-profile", "Kith emulator"))
        self.assertTrue(all(seconds > 0 for seconds in profile["seconds"].values()))
        for name in profile["seconds"]:
            self.assertIn(name, done.stdout.decode())
        self.assertEqual(self.plan()["profile"], file)
        self.assertGreater(self.plan()["seconds"], before)
        text = self.run_kith(*EXPLAIN, env=self.env).stdout.decode()
        self.assertIn(f"costs     {file}", text)

    def test_another_file(self):
        answer = self.run_json("tune", "--backend", "emulated", "-o", "mine.json", env=self.env)
        self.assertEqual(answer["output"], "mine.json")
        self.assertEqual(answer["source"], "built in, of an H200")
        self.assertTrue(any(cost["measured"] for cost in answer["costs"]))
        for cost in answer["costs"]:
            self.assertGreater(cost["seconds"], 0)
            self.assertTrue(cost["measured"] or cost["seconds"] == cost["seconds_before"])
        self.assertEqual(self.plan()["profile"], "built in, of an H200")
        self.assertEqual(self.plan(KITH_PROFILE="mine.json")["profile"], "mine.json")
        again = self.run_json("tune", "--backend", "emulated", "-o", "mine.json",
                              env={**self.env, "KITH_PROFILE": "mine.json"})
        self.assertEqual([cost["seconds_before"] for cost in again["costs"]],
                         [cost["seconds"] for cost in answer["costs"]])
        self.assertEqual(os.listdir(self.folder), ["mine.json"])

    def test_files_that_are_wrong(self):
        self.tune("-o", "mine.json")
        with open(self.path("mine.json")) as file:
            profile = json.load(file)
        profile["seconds"]["read"] = "fast"
        with open(self.path("mine.json"), "w") as file:
            json.dump(profile, file)
        env = {**self.env, "KITH_PROFILE": "mine.json"}
        self.fails(BAD_DATA, *EXPLAIN, env=env, says=["mine.json", "'read'", "fast"])
        self.fails(BAD_DATA, *EXPLAIN, env={**env, "KITH_PROFILE": "none.json"}, says=["none.json", "KITH_PROFILE"])
        os.makedirs(self.path("config/kith"))
        os.rename(self.path("mine.json"), self.path("config/kith/Kith emulator.json"))
        self.assertIn("'read'", self.plan()["profile"])
        self.assertIn("passed over", self.plan()["profile"])

    def test_failures(self):
        self.fails(CANNOT_WRITE, "tune", "--backend", "emulated", "-o", "none/mine.json", env=self.env,
                   says="none/mine.json")
        self.fails(USAGE, "tune", "--backend", "cpu", env=self.env, says="cpu")


class TuneWithoutADevice(KithTest):
    def test_says_so(self):
        if "cuda" in self.absent_backends():
            self.fails(NO_DEVICE, "tune", says="cuda")


if __name__ == "__main__":
    unittest.main()
