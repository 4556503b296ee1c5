import io
import itertools
import json
import unittest

import numpy as np

from harness import BAD_DATA, KithTest, USAGE, rng

READ_AND_WRITTEN = {  # extension: element types it keeps
    "npy": ["float32", "float64", "uint8", "int8", "int32", "int64", "float16"],
    "npz": ["float32", "float64", "uint8", "int8", "int32", "int64", "float16"],
    "h5": ["float32", "float64", "uint8", "int8", "int32", "int64", "float16"],
    "csv": ["float32", "float64", "uint8", "int8", "int32", "float16"],
    "ply": ["float32", "float64", "uint8", "int8", "int32"],
    "fvecs": ["float32"], "bvecs": ["uint8"], "ivecs": ["int32"],
    "fbin": ["float32"], "f16bin": ["float16"], "u8bin": ["uint8"], "i8bin": ["int8"], "ibin": ["int32"],
}


def sample(dtype):
    if dtype.startswith("float"):
        return (rng(1).normal(size=(17, 3)) * 1e3).astype(dtype)
    bounds = np.iinfo(dtype)
    return rng(1).integers(bounds.min, bounds.max, (17, 3), dtype=dtype)


class Convert(KithTest):
    def test_round_trips_over_all_formats(self):
        for dtype in ("float32", "float64", "uint8", "int8", "int32", "int64", "float16"):
            points = sample(dtype)
            self.save("in.npy", points)
            formats = [name for name, kept in READ_AND_WRITTEN.items() if dtype in kept]
            for first in formats:
                self.run_kith("convert", "--input", "in.npy", "-o", f"a.{first}")
            # What a format loses, it loses to any other: each is followed by itself and by one more.
            for first, second in itertools.chain(zip(formats, formats), zip(formats, formats[1:] + formats[:1])):
                with self.subTest(f"{dtype}: npy → {first} → {second} → npy"):
                    self.run_kith("convert", "--input", f"a.{first}", "-o", f"b.{second}")
                    self.run_kith("convert", "--input", f"b.{second}", "--dtype", dtype, "-o", "back.npy")
                    back = self.load("back.npy")
                    self.assertEqual(back.dtype, np.dtype(dtype))
                    np.testing.assert_array_equal(back, points)

    def test_bfloat16(self):
        """NumPy has none: what was rounded to it comes back as float32."""
        points = sample("float32")
        rounded = (points.view(np.uint32) & 0xFFFF0000).view(np.float32)
        self.save("in.npy", rounded)
        self.run_kith("convert", "in.npy", "--dtype", "bfloat16", "-o", "a.bf16bin")
        with open(self.path("a.bf16bin"), "rb") as file:
            stored = file.read()
        self.assertEqual(stored[:8], np.array([17, 3], "<u4").tobytes())
        self.assertEqual(stored[8:], (rounded.view(np.uint32) >> 16).astype("<u2").tobytes())
        for name in ("h5", "csv", "fbin", "bf16bin"):
            self.run_kith("convert", "a.bf16bin", "-o", f"b.{name}")
            self.run_kith("convert", f"b.{name}", "--dtype", "float32", "-o", "back.npy")
            np.testing.assert_array_equal(self.load("back.npy"), rounded)
        self.assertEqual(self.run_json("info", "b.h5")["arrays"][0]["dtype"], "bfloat16")
        for name in ("npy", "npz"):
            self.fails(USAGE, "convert", "a.bf16bin", "-o", f"c.{name}", says=["bfloat16", "float32", "bf16bin", "hdf5"])
        self.fails(USAGE, "convert", "a.bf16bin", "-o", "c.ply", says=["bfloat16", "float32"])

    def test_json_holds_the_values(self):
        points = sample("float64")
        self.save("in.npy", points)
        self.run_kith("convert", "in.npy", "-o", "out.json")
        with open(self.path("out.json")) as file:
            np.testing.assert_array_equal(json.load(file), points)

    def test_several_arrays(self):
        first, second = sample("float32"), sample("int64")
        np.savez(self.path("in.npz"), first=first, second=second)
        self.run_kith("convert", "in.npz", "-o", "out.h5")
        self.run_kith("convert", "out.h5", "-o", "back.npz", "--compress")
        back = self.load("back.npz")
        np.testing.assert_array_equal(back["first"], first)
        np.testing.assert_array_equal(back["second"], second)
        self.run_kith("convert", "in.npz", "--array", "second", "-o", "second.npy")
        np.testing.assert_array_equal(self.load("second.npy"), second)
        self.fails(USAGE, "convert", "in.npz", "-o", "which.npy", says=["first", "second"])

    def test_types(self):
        self.save("in.npy", np.array([[1.0, 2.0], [3.0, 255.0]], np.float32))
        self.run_kith("convert", "in.npy", "--dtype", "uint8", "-o", "out.npy")
        self.assertEqual(self.load("out.npy").tolist(), [[1, 2], [3, 255]])
        self.fails(BAD_DATA, "convert", "in.npy", "--dtype", "int8", "-o", "o.npy", says=["255", "row 1", "column 1"])
        self.save("in.npy", np.array([[1.0001, -70000.0]]))
        self.fails(BAD_DATA, "convert", "in.npy", "--dtype", "float16", "-o", "o.npy",
                   says=["-70000", "column 1", "float16"])
        self.save("in.npy", np.array([[1.0001, 1e-9]]))
        self.run_kith("convert", "in.npy", "--dtype", "float16", "-o", "out.npy")
        self.assertEqual(self.load("out.npy").tolist(), [[1, 0]])

    def test_columns_of_a_csv(self):
        with open(self.path("in.csv"), "w") as file:
            file.write("name,x,y\n1,2,3\n4,5,6\n")
        self.run_kith("convert", "in.csv", "--columns", "y,x", "-o", "out.npy")
        self.assertEqual(self.load("out.npy").tolist(), [[3, 2], [6, 5]])
        self.fails(BAD_DATA, "convert", "in.csv", "--header", "absent", "-o", "o.npy", says="in.csv")

    def test_pipes(self):
        points = sample("float32")
        self.save("in.npy", points)
        piped = self.run_kith("convert", "in.npy", "--output-format", "fvecs").stdout
        back = self.run_kith("convert", "-", "--format", "fvecs", "-o", "-", "--output-format", "npy", stdin=piped)
        np.testing.assert_array_equal(np.load(io.BytesIO(back.stdout)), points)
        text = self.run_kith("convert", "in.npy").stdout
        np.testing.assert_array_equal(np.loadtxt(io.BytesIO(text), delimiter=",").astype(np.float32), points)

    def test_json_summary(self):
        self.save("in.npy", sample("int32"))
        answer = self.run_json("convert", "in.npy", "-o", "out.ivecs")
        self.assertEqual(answer["arrays"], [{"name": "", "dtype": "int32", "rows": 17, "cols": 3}])
        self.assertEqual(answer["outputs"], ["out.ivecs"])


if __name__ == "__main__":
    unittest.main()
