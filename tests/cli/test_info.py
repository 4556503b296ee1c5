"""info, explain, demo, completion, help: what the program says about itself."""

import shutil
import subprocess
import unittest

import numpy as np

from harness import BAD_DATA, KithTest, METRICS, NO_DEVICE, USAGE

COMMANDS = ["search", "radius", "graph", "reduce", "index", "topk", "explain", "tune", "info", "gen", "eval", "convert", "demo", "completion"]


class Info(KithTest):
    def test_build(self):
        info = self.run_json("info")
        self.assertEqual(info["version"], self.run_kith("--version").stdout.decode().split()[1])
        self.assertIn("cpu", info["backends"])
        self.assertEqual(info["methods"]["cpu"][:2], ["auto", "brute"])
        self.assertEqual(info["distances"]["cpu"][0], "auto")
        self.assertEqual(info["selects"]["cpu"][0], "auto")
        self.assertEqual(info["metrics"], METRICS)
        self.assertTrue({"npy", "npz", "fvecs", "hdf5", "csv", "ply", "json"} <= set(info["formats"]))
        self.assertGreaterEqual(info["cpu"]["cores"], info["cpu"]["usable_cores"])
        self.assertGreaterEqual(info["cpu"]["usable_cores"], 1)
        self.assertGreaterEqual(len(info["cpu"]["simd_targets"]), 1)
        self.assertGreater(info["memory"]["total_bytes"], info["memory"]["available_bytes"])
        self.assertEqual(info["devices"][0]["backend"], "cpu")
        self.assertNotEqual(info["backends"][0], "emulated")
        for device in info["devices"][1:]:
            self.assertIn(device["backend"], ("cuda", "emulated"))
            self.assertGreaterEqual(device["compute_capability"], [1, 0])
            self.assertGreater(device["multiprocessors"], 0)
            self.assertGreater(device["memory_bytes"], 0)
            self.assertEqual(device["policy"]["multiprocessors"]["value"], device["multiprocessors"])
            self.assertGreater(device["policy"]["radix_select_min_k"]["value"], 0)
            self.assertIn("radix_select_min_k", self.run_kith("info").stdout.decode())
        self.assertEqual({device["backend"] for device in info["devices"]}, set(info["backends"]))
        self.assertEqual(set(info["unavailable"]), self.absent_backends())
        for backend, why in info["unavailable"].items():
            self.assertIn(backend, why)
        for device in info["unusable_devices"]:
            self.assertIn(device["name"], device["problem"])

    def test_says_why_there_is_no_cuda(self):
        why = self.run_json("info")["unavailable"].get("cuda")
        if why is None:
            self.skipTest("backend cuda is available")
        self.assertIn(why, self.run_kith("info").stdout.decode())

    def test_build_as_text(self):
        text = self.run_kith("info").stdout.decode()
        for word in ("kith", "backends", "brute", "chebyshev", "fvecs", "simd"):
            self.assertIn(word, text)

    def test_file(self):
        np.savez(self.path("f.npz"), a=np.zeros((3, 4), np.float32), b=np.zeros(7, np.int64))
        info = self.run_json("info", "f.npz")
        self.assertEqual(info["format"], "npz")
        self.assertEqual([(a["name"], a["dtype"], a["rank"], a["rows"], a["cols"]) for a in info["arrays"]],
                         [("a", "float32", 2, 3, 4), ("b", "int64", 1, 7, 1)])
        self.assertIn("3 rows × 4 cols, float32", self.run_kith("info", "f.npz").stdout.decode())
        self.fails(BAD_DATA, "info", "none.npz", says="none.npz")


    def test_control_characters_are_shown_not_obeyed(self):
        np.savez(self.path("f.npz"), **{"a\x9b1mé": np.zeros((3, 4), np.float32)})
        self.assertIn("  a\\xc2\\x9b1mé: 3 rows", self.run_kith("info", "f.npz").stdout.decode())
        with open(self.path("f.csv"), "w") as file:
            file.write("a\x1b[31m\x7f,b\n1,2\n")
        self.assertIn("a\\x1b[31m\\x7f b", self.run_kith("info", "f.csv").stdout.decode())
        self.fails(BAD_DATA, "info", "\x1b[31m\n.npy", says="kith: error: \\x1b[31m\\x0a.npy: No such file")


class Explain(KithTest):
    SHAPE = ("explain", "--rows", "1000000", "--dims", "128", "--queries", "10000", "-k", "10")

    def test_plan(self):
        plan = self.run_json(*self.SHAPE)["plan"]
        self.assertEqual(plan["problem"],
                         {"base_rows": 1000000, "queries": 10000, "dims": 128, "k": 10, "dtype": "float32"})
        self.assertEqual((plan["metric"], plan["backend"], plan["method"]), ("euclidean", "cpu", "brute"))
        self.assertGreater(plan["seconds"], 0)
        self.assertGreater(plan["workspace_bytes"], 0)
        self.assertLessEqual(plan["workspace_bytes"], plan["budget_bytes"])
        self.assertTrue(plan["reason"])
        self.assertIn(plan["distance"], self.run_kith(*self.SHAPE).stdout.decode())

    def test_options_reach_the_plan(self):
        for size, expected in (("256MiB", 2**28), ("1GiB", 2**30), ("500MB", 500 * 10**6), ("0.5g", 2**29),
                               (str(2**27), 2**27)):
            self.assertEqual(self.run_json(*self.SHAPE, "--memory", size)["plan"]["budget_bytes"], expected)
        plan = self.run_json(*self.SHAPE, "--metric", "minkowski", "--p", "3", "--threads", "1", "--dtype", "float64",
                             "--distance", "direct")["plan"]
        self.assertEqual((plan["metric"], plan["threads"], plan["distance"]), ("minkowski(3)", 1, "direct"))
        self.assertEqual(plan["problem"]["dtype"], "float64")
        for dtype in ("float16", "bfloat16"):
            self.assertEqual(self.run_json(*self.SHAPE, "--dtype", dtype)["plan"]["problem"]["dtype"], dtype)
        self.assertEqual(self.run_json(*self.SHAPE, "--metric", "L2")["plan"]["metric"], "euclidean")

    def test_failures(self):
        self.fails(USAGE, *self.SHAPE[:-1], "1000001", says=["k = 1000001", "1000000"])
        self.fails(USAGE, *self.SHAPE, "--memory", "12q", says=["12q", "256MiB"])
        self.fails(USAGE, *self.SHAPE, "--memory", "0", says="'0'")
        self.fails(USAGE, *self.SHAPE, "--metric", "minkowski", "--p", "0.5", says="0.5")
        self.fails(USAGE, *self.SHAPE, "--p", "3", says="minkowski")
        unavailable = self.run_json("info")["unavailable"]
        for backend in self.absent_backends():
            self.fails(NO_DEVICE, *self.SHAPE, "--backend", backend, says=unavailable[backend])

    def test_a_device_that_is_not_here(self):
        plan = self.run_json(*self.SHAPE, "--device", "a100")["plan"]
        self.assertEqual((plan["backend"], plan["device"], plan["base_fits"]), ("cuda", "NVIDIA A100 80 GB", True))
        self.assertEqual(plan["profile"], "derived from a datasheet, not measured")
        self.assertEqual(self.run_json(*self.SHAPE, "--device", "NVIDIA A100-SXM4-80GB")["plan"], plan)
        text = self.run_kith(*self.SHAPE, "--device", "a100").stdout.decode()
        self.assertIn("costs     derived from a datasheet, not measured", text)
        self.assertIn("device    NVIDIA A100 80 GB", text)
        self.assertEqual(self.run_json(*self.SHAPE, "--device", "h200")["plan"]["profile"], "built in, of an H200")
        options = ("--memory", "1GiB", "--metric", "cosine", "--distance", "gemm")
        plan = self.run_json(*self.SHAPE, "--device", "l40s", *options)["plan"]
        self.assertEqual((plan["budget_bytes"], plan["metric"], plan["distance"]), (2**30, "cosine", "gemm"))
        self.fails(USAGE, *self.SHAPE, "--device", "rtx4091", says=["'rtx4091'", "a100", "rtx5090", "did you mean 'rtx4090'"])
        self.fails(USAGE, *self.SHAPE, "--device", "a100", "--backend", "cpu", says="--backend")

    def test_comparison(self):
        answer = self.run_json(*self.SHAPE, "--compare")["devices"]
        self.assertEqual(answer[0]["name"], "cpu")
        self.assertEqual(answer[0]["plan"]["backend"], "cpu")
        names = [row["name"] for row in answer[1:]]
        self.assertTrue({"a100", "h100", "h200", "l40s", "rtx3090", "rtx4090", "rtx5090", "b200", "a10", "gh200", "orin"}
                        <= set(names))
        lines = self.run_kith(*self.SHAPE, "--compare").stdout.decode().splitlines()
        self.assertEqual(len(lines), len(answer) + 2)
        for row, line in zip(answer[1:], lines[2:]):
            self.assertEqual(row["plan"], self.run_json(*self.SHAPE, "--device", row["name"])["plan"])
            self.assertAlmostEqual(row["bring_seconds"], 512e6 / {"gh200": 450e9, "orin": 102.4e9}.get(
                row["name"], 64e9 if row["name"] in ("h100", "h100-pcie", "h200", "b200", "rtx5090") else 32e9))
            self.assertEqual(line.split()[0], row["name"])
            self.assertTrue(line.endswith("fits"), line)
        large = ("explain", "--rows", "50000000", "--dims", "128", "--queries", "10", "-k", "10")
        fits = {row["name"]: row["plan"]["base_fits"] for row in self.run_json(*large, "--compare")["devices"]}
        self.assertEqual((fits["b200"], fits["rtx4090"]), (True, False))
        self.assertIn("is streamed", self.run_kith(*large, "--compare").stdout.decode())

    def test_a_comparison_says_who_cannot(self):
        rows = {row["name"]: row for row in self.run_json(*self.SHAPE, "--compare", "--distance", "int8", "--dtype",
                                                          "uint8")["devices"]}
        for name in ("cpu", "h100"):
            self.assertEqual(rows[name]["plan"]["distance"], "int8")
        self.assertIn("compute capability 9", rows["a100"]["error"])
        rows = {row["name"]: row for row in self.run_json(*self.SHAPE, "--compare", "--distance", "fp16")["devices"]}
        self.assertEqual(rows["a100"]["plan"]["distance"], "fp16")
        self.assertIn("fp16", rows["cpu"]["error"])
        self.fails(USAGE, *self.SHAPE, "--compare", "--device", "a100", says="--device")


class Demo(KithTest):
    def test_demo_proves_itself(self):
        text = self.run_kith("demo", "--rows", "5000", "--queries", "60").stdout.decode()
        self.assertIn("ids and distances agree exactly", text)
        self.assertIn("Checked 60 queries", text)

    def test_json(self):
        answer = self.run_json("demo", "--rows", "3000", "--queries", "50", "--dims", "7", "-k", "4")
        self.assertEqual((answer["proof"]["queries"], answer["proof"]["different"]), (50, 0))
        self.assertEqual(answer["plan"]["problem"]["k"], 4)


class Completion(KithTest):
    def script(self, shell):
        text = self.run_kith("completion", shell).stdout.decode()
        for command in COMMANDS:
            self.assertIn(command, text)
        return text

    def complete(self, *words):
        """What bash would offer after these words, the last of which may be unfinished."""
        code = self.script("bash") + f"""
COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
COMP_CWORD={len(words) - 1}
_kith
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_syntax(self):
        subprocess.run(["bash", "-n"], input=self.script("bash").encode(), check=True)

    def test_bash_offers(self):
        self.assertEqual(self.complete("kith", "")[:len(COMMANDS)], COMMANDS)
        self.assertEqual(self.complete("kith", "se"), ["search"])
        self.assertEqual(self.complete("kith", "search", "--met"), ["--metric", "--method"])
        self.assertEqual(self.complete("kith", "search", "--metric", "c"), [m for m in METRICS if m.startswith("c")])
        self.assertEqual(self.complete("kith", "graph", "--symmetrize", "u"), ["union"])
        self.assertEqual(self.complete("kith", "completion", "z"), ["zsh"])
        self.assertEqual(self.complete("kith", "search", "--base", ""), [])  # bash's own file names
        self.save("points.npy", np.zeros(3))
        self.assertEqual(self.complete("kith", "info", "po"), ["points.npy"])

    def check_syntax(self, shell):
        text = self.script(shell)
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is not installed")
        with open(self.path(shell), "w") as file:
            file.write(text)
        subprocess.run([shell, "-n", self.path(shell)], check=True)

    def test_zsh_syntax(self):
        self.check_syntax("zsh")

    def test_fish_syntax(self):
        self.check_syntax("fish")

    def test_unknown_shell(self):
        self.fails(USAGE, "completion", "bsh", says="'bash'")


class Help(KithTest):
    def test_every_command_has_help(self):
        text = self.run_kith("--help").stdout.decode()
        for command in COMMANDS:
            self.assertIn(f"  {command} ", text)
            self.assertIn(f"kith {command}", self.run_kith(command, "--help").stdout.decode())

    def test_exit_codes_are_documented(self):
        text = self.run_kith("--help").stdout.decode()
        for code in ("0 ok", "2 usage", "3 bad data", "4 memory", "5 no such device", "6 cannot write",
                     "130 interrupted"):
            self.assertIn(code, text)


if __name__ == "__main__":
    unittest.main()
