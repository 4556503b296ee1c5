import hashlib
import io
import unittest

import numpy as np

from harness import KithTest, MEMORY, USAGE

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def word(seed, stream, row, index):
    start = mix((mix((seed + stream * STEP) & MASK) + row * STEP) & MASK)
    return mix((start + (index + 1) * STEP) & MASK)


def gaussian(seed, stream, row, col):
    words = [word(seed, stream, row, 4 * col + i) for i in range(4)]
    total = sum((w >> shift) & (2**21 - 1) for w in words for shift in (0, 21, 42))
    return (total + 6 - 6 * 2**21) / 2**21


class Gen(KithTest):
    def gen(self, kind, rows, dims, *arguments):
        self.run_kith("gen", "--kind", kind, "--rows", rows, "--dims", dims, *arguments, "-o", "points.npy")
        return self.load("points.npy")

    def test_points_are_the_same_everywhere(self):
        # SHA-256 of the values in little-endian order, 500 × 5, seed 42.
        checksums = {
            ("uniform", "float32"): "f7cd4863f177baf7061f6c4717c88547870c9edf793cf0f04e086beba3033d1c",
            ("uniform", "float64"): "ad72d68fa45ad85173d9042da12e442e0d05d1a77f0022d63d63f2f6701b9cb9",
            ("uniform", "uint8"): "2ad4a52c294b1ee1c27638eecf616f1a85d04ef769e20a47d7ed3077524ae180",
            ("gaussian", "float32"): "8006f59f8491d68903b32c7be4de86aba81280a49cc9c2cd583d6ff64639f1a6",
            ("gaussian", "int8"): "f261a372662181fb7d53944c7a289399f5f9351c807520da2377a5374f68b583",
            ("clustered", "float32"): "2cf20bb2cf69d3f03e84d538281f181aa01f7a9954073e3c4a8de156d622a9c6",
            ("clustered", "float64"): "7f353b105c8ca09a649e678ba3167f357cc40271b392a9fa310521bccd577b2b",
            ("clustered", "uint8"): "aee87d4089d3a8c0549307babdc438d18bb81275d5e894e0c25a68708ec42174",
            ("surface", "float32"): "ecb3253d00056459719f6169166484d174caf61f1bf30f6eb407de1cfb0bb70c",
            ("surface", "float64"): "99eb46fa85529db95f45e31bde6a8bd18ca2eda3dc60a12092ceca720459da41",
            ("surface", "int8"): "5ef2757fcc3b1c56eefa4fc042a70516ea1ad49db6e3e401d51ea47fb92f3012",
            ("duplicates", "float32"): "8c347e1572624b9a1732bb99d3b9b81a756719293421edd3ea80c6c7f4ab379c",
            ("duplicates", "uint8"): "67283245e2e64eb2b2384b06b7053b65898b10cf2c2da91f3479b5e0f279a43d",
        }
        for (kind, dtype), expected in checksums.items():
            with self.subTest(f"{kind}, {dtype}"):
                points = self.gen(kind, 500, 5, "--seed", 42, "--dtype", dtype)
                self.assertEqual((points.shape, str(points.dtype)), ((500, 5), dtype))
                self.assertEqual(hashlib.sha256(points.tobytes()).hexdigest(), expected)

    def test_uniform_and_gaussian_by_their_definition(self):
        uniform = self.gen("uniform", 20, 3, "--seed", 7, "--dtype", "float64")
        expected = [[(word(7, 1, row, col) >> 11) * 2.0**-53 for col in range(3)] for row in range(20)]
        np.testing.assert_array_equal(uniform, expected)
        normal = self.gen("gaussian", 20, 3, "--seed", 7, "--dtype", "float64")
        np.testing.assert_array_equal(normal, [[gaussian(7, 1, row, col) for col in range(3)] for row in range(20)])

    def test_distributions(self):
        uniform = self.gen("uniform", 20000, 4)
        self.assertTrue((uniform >= 0).all() and (uniform <= 1).all())
        np.testing.assert_allclose(uniform.mean(axis=0), 0.5, atol=0.02)
        normal = self.gen("gaussian", 20000, 4)
        np.testing.assert_allclose(np.cov(normal.T), np.eye(4), atol=0.04)
        np.testing.assert_allclose(normal.mean(axis=0), 0, atol=0.03)

    def test_clusters(self):
        points = self.gen("clustered", 4000, 8, "--clusters", 10).astype(np.float64)
        seeds = points[:1]
        while len(seeds) < 10:  # farthest first: one point of each cluster
            distances = np.sqrt(((points[:, None] - seeds[None]) ** 2).sum(axis=2)).min(axis=1)
            seeds = np.concatenate([seeds, points[distances.argmax()][None]])
        labels = ((points[:, None] - seeds[None]) ** 2).sum(axis=2).argmin(axis=1)
        for label in range(10):
            members = points[labels == label]
            self.assertGreater(len(members), 200)
            np.testing.assert_allclose(members.std(axis=0), 0.125, atol=0.03)

    def test_duplicates(self):
        points = self.gen("duplicates", 2000, 3, "--clusters", 30)
        self.assertEqual(len(np.unique(points, axis=0)), 30)

    def test_surface_is_two_dimensional(self):
        points = self.gen("surface", 3000, 6).astype(np.float64)
        self.assertTrue((np.abs(points[:, :2]) <= 1).all())
        u, v = points[:, 0], points[:, 1]
        terms = np.stack([u**a * v**b for a in range(4) for b in range(4 - a)], axis=1)
        _, residuals, rank, _ = np.linalg.lstsq(terms, points[:, 2:], rcond=None)
        self.assertEqual(rank, 10)
        self.assertLess(residuals.max(), 1e-9)
        self.assertGreater(points[:, 2:].std(axis=0).min(), 0.1)

    def test_skip_continues_the_same_set(self):
        whole = self.gen("clustered", 100, 4, "--seed", 3)
        part = self.gen("clustered", 40, 4, "--seed", 3, "--skip", 60)
        np.testing.assert_array_equal(part, whole[60:])
        other = self.gen("clustered", 100, 4, "--seed", 4)
        self.assertTrue((other != whole).any(axis=1).all())

    def test_bytes(self):
        points = self.gen("uniform", 20000, 2, "--dtype", "uint8")
        self.assertEqual((points.min(), points.max()), (0, 255))
        signed = self.gen("uniform", 20000, 2, "--dtype", "int8")
        np.testing.assert_array_equal(signed.astype(int), points.astype(int) - 128)

    def test_floats_of_16_bits_are_rounded_once(self):
        for kind in ("uniform", "gaussian", "clustered", "surface", "duplicates"):
            exact = self.gen(kind, 500, 5, "--seed", 42, "--dtype", "float64")
            half = self.gen(kind, 500, 5, "--seed", 42, "--dtype", "float16")
            self.assertEqual(half.dtype, np.float16)
            np.testing.assert_array_equal(half, exact.astype(np.float16))
            self.run_kith("gen", "--kind", kind, "--rows", 500, "--dims", 5, "--seed", 42, "--dtype", "bfloat16", "-o",
                          "p.bf16bin")
            self.run_kith("convert", "p.bf16bin", "-o", "p.fbin")
            bits = np.fromfile(self.path("p.fbin"), np.uint32, offset=8)
            self.assertFalse((bits & 0xFFFF).any())
            # The nearest with eight binary digits, which frexp counts.
            nearest = np.ldexp(np.rint(np.ldexp(np.frexp(exact)[0], 8)), np.frexp(exact)[1] - 8)
            np.testing.assert_array_equal(bits.view(np.float32).reshape(500, 5), nearest)
        self.fails(USAGE, "gen", "--rows", 5, "--dims", 3, "--dtype", "bfloat16", "-o", "p.npy", says="bf16bin")

    def test_pipe_and_text(self):
        done = self.run_kith("gen", "--rows", 5, "--dims", 3, "-o", "-", "--output-format", "npy")
        points = np.load(io.BytesIO(done.stdout))
        text = self.run_kith("gen", "--rows", 5, "--dims", 3).stdout
        np.testing.assert_array_equal(np.loadtxt(io.BytesIO(text), delimiter=",").astype(np.float32), points)
        answer = self.run_json("gen", "--rows", 5, "--dims", 3)
        np.testing.assert_array_equal(np.array(answer["points"]).astype(np.float32), points)
        answer = self.run_json("gen", "--rows", 5, "--dims", 3, "-o", "p.fvecs")
        self.assertEqual((answer["rows"], answer["dims"], answer["outputs"]), (5, 3, ["p.fvecs"]))

    def test_failures(self):
        self.fails(USAGE, "gen", "--kind", "gausian", "--rows", "5", "--dims", "3", says="'gaussian'")
        self.fails(USAGE, "gen", "--rows", "0", "--dims", "3", says=["--rows", "0 is less than 1"])
        self.fails(USAGE, "gen", "--rows", "5x", "--dims", "3", says="'5x' is not a whole number")
        self.fails(USAGE, "gen", "--rows", "5", "--dims", "3", "--seed", str(1 << 70), says="does not fit")
        self.fails(USAGE, "gen", "--rows", "5", "--dims", "3", "--clusters", "4", says="--clusters")
        self.fails(USAGE, "gen", "--rows", "5", says="--dims is required")
        self.fails(USAGE, "gen", "--rows", "5", "--dims", "3", "--dtype", "int32", says="int32")
        self.fails(MEMORY, "gen", "--rows", str(1 << 62), "--dims", str(1 << 40), "-o", "p.npy", says="memory")
        self.fails(MEMORY, "gen", "--rows", str(1 << 50), "--dims", "8", "-o", "p.npy", says="memory")


if __name__ == "__main__":
    unittest.main()
