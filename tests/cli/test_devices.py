"""--devices: the same files from one emulated device, from several, and from the CPU."""

import unittest

import numpy as np

from harness import KithTest, NO_DEVICE, USAGE, rng

THREE = {"KITH_EMULATOR_DEVICES": "3"}


class Devices(KithTest):
    def setUp(self):
        super().setUp()
        if "emulated" in self.absent_backends():
            self.skipTest("backend emulated is not in this build")
        points = rng().integers(0, 4, (150, 3)).astype(np.float32)  # many of them equal
        self.save("base.npy", points)
        self.save("queries.npy", points[::40] + 1)

    def same(self, command, *arguments):
        answers = []
        for name, others in (("cpu", ("--backend", "cpu")), ("one", ("--backend", "emulated")),
                             ("all", ("--backend", "emulated", "--devices", "all")),
                             ("some", ("--backend", "emulated", "--devices", "2,0,0"))):
            self.run_kith(command, "--base", "base.npy", *arguments, *others, "-o", f"{name}.npz", env=THREE)
            answers.append(self.load(f"{name}.npz"))
        for other in answers[1:]:
            self.assertEqual(sorted(other.files), sorted(answers[0].files))
            for array in answers[0].files:
                np.testing.assert_array_equal(other[array], answers[0][array])

    def test_answers_are_the_same(self):
        self.same("search", "--queries", "queries.npy", "-k", "70")
        self.same("search", "-k", "20")
        self.same("radius", "--queries", "queries.npy", "--radius", "1.5")
        self.same("graph", "-k", "9", "--symmetrize", "union")

    def test_the_plan_has_a_stripe_for_each(self):
        answer = self.run_json("search", "--base", "base.npy", "-k", "2", "--backend", "emulated", "--devices", "1,1,2",
                               "--explain", env=THREE)
        stripes = answer["plan"]["stripes"]
        self.assertEqual([stripe["device"] for stripe in stripes], [1, 1, 2])
        self.assertEqual([stripe["first_row"] for stripe in stripes], [0, 38, 75])
        self.assertEqual(sum(stripe["rows"] for stripe in stripes), 150)

    def test_what_is_wrong_is_said(self):
        search = ("search", "--base", "base.npy", "-k", "2")
        emulated = (*search, "--backend", "emulated")
        self.fails(NO_DEVICE, *emulated, "--devices", "0,3", says=("no device 3", "has 0, 1, 2"), env=THREE)
        self.fails(USAGE, *emulated, "--devices", "0,", says=("--devices", "'0,'"))
        self.fails(USAGE, *search, "--backend", "cpu", "--devices", "0", says="backend cpu")
        self.fails(USAGE, *emulated, "--devices", "all", "--method", "shifted-sort", says="all points", env=THREE)


if __name__ == "__main__":
    unittest.main()
