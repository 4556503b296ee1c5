"""KITH_EMULATOR_CHIP: what the emulated device says it is, and searches on chips that are not an H200's."""

import unittest

import numpy as np

from harness import KithTest, NO_DEVICE, rng


class Chips(KithTest):
    def setUp(self):
        super().setUp()
        if "emulated" in self.absent_backends():
            self.skipTest("backend emulated is not in this build")
        self.save("base.npy", rng().standard_normal((300, 9)).astype(np.float32))

    def search(self, chip, output):
        arguments = ("search", "--base", "base.npy", "-k", "4", "--backend", "emulated", "-o", output)
        return arguments, {"KITH_EMULATOR_CHIP": chip}

    def device(self, chip):
        answer = self.run_json("info", env={"KITH_EMULATOR_CHIP": chip})
        listed = answer["devices"] + answer["unusable_devices"]
        return next(device for device in listed if device["name"].startswith("Kith emulator"))

    def test_devices_are_what_the_variable_says(self):
        for chip, capability in (("", [9, 0]), ("sm_90", [9, 0]), ("sm_86", [8, 6]), ("sm_120", [12, 0]),
                                 ("sm_50", [5, 0])):
            self.assertEqual(self.device(chip)["compute_capability"], capability, chip)

    def test_answers_are_the_same(self):
        answers = []
        for chip in ("sm_90", "sm_80", "sm_120", "least"):
            arguments, env = self.search(chip, f"{chip}.npz")
            self.run_kith(*arguments, env=env)
            answers.append(self.load(f"{chip}.npz"))
        for other in answers[1:]:
            for name in answers[0].files:
                np.testing.assert_array_equal(other[name], answers[0][name])

    def test_a_chip_that_no_build_can_use(self):
        arguments, env = self.search("sm_50", "out.npz")
        self.fails(NO_DEVICE, *arguments, env=env, says=["compute capability 5.0", "8.0 or later"])
        self.assertIn("compute capability 5.0", self.device("sm_50")["problem"])
        self.assertIn("Kith emulator sm_50", self.run_kith("info", env=env).stdout.decode())

    def test_too_little_shared_memory(self):
        arguments, env = self.search("too_small", "out.npz")
        self.fails(NO_DEVICE, *arguments, env=env, says=["49152 bytes of shared memory", "101376"])

    def test_unknown_chips(self):
        arguments, env = self.search("sm_1", "out.npz")
        done = self.run_kith(*arguments, env=env, code=1)
        for text in ("no chip 'sm_1'", "sm_80", "sm_120"):
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
