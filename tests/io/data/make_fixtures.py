"""Writes the fixtures of this folder with NumPy, so that the readers meet files they did not write themselves.

The values of every 2-D array are row * 10 + column - 20, of every 1-D array index * 3 (uint64: 2 ** 63 added to the last
in uint64_large.npy). Run with NumPy 1.24; the files do not change from run to run.
"""

import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
matrix = (np.arange(4)[:, None] * 10 + np.arange(3)[None, :] - 20).astype(np.int64)
positive = matrix + 20

for descr in ["<f4", ">f4", "<f8", ">f8", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"]:
    name = descr.replace("<", "le_").replace(">", "be_").replace("|", "")
    np.save(here / f"{name}.npy", matrix.astype(descr))
for descr in ["|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"]:
    name = descr.replace("<", "le_").replace(">", "be_").replace("|", "")
    np.save(here / f"{name}.npy", positive.astype(descr))
np.save(here / "bool.npy", positive % 2 == 1)
np.save(here / "fortran.npy", np.asfortranarray(matrix.astype("<f4")))
np.save(here / "fortran_be.npy", np.asfortranarray(matrix.astype(">f8")))
np.save(here / "vector.npy", np.arange(5, dtype="<f8") * 3)
np.save(here / "empty.npy", np.zeros((0, 7), "<f4"))
for version in [(1, 0), (2, 0), (3, 0)]:
    with open(here / f"version{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, matrix.astype("<f4"), version=version)

large = np.arange(3, dtype="<u8") * 3
large[2] += 2**63
np.save(here / "uint64_large.npy", large)
np.save(here / "float16.npy", matrix.astype("<f2"))
np.save(here / "be_f2.npy", matrix.astype(">f2"))
np.save(here / "complex.npy", matrix.astype("<c8"))
np.save(here / "scalar.npy", np.float32(1))
np.save(here / "cube.npy", np.zeros((2, 2, 2), "<f4"))
np.save(here / "object.npy", np.array([None, 1], dtype=object), allow_pickle=True)
np.save(here / "structured.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<f4")]))

np.savez(here / "stored.npz", ids=matrix, distances=matrix.astype("<f4"))
np.savez_compressed(here / "deflated.npz", ids=matrix, distances=np.asfortranarray(matrix.astype(">f8")))
np.savez(here / "single.npz", matrix.astype("<f4"))
np.savez(here / "mixed.npz", words=np.array(["a", "bc"]), values=np.arange(3, dtype="<f8"))
np.savetxt(here / "savetxt.csv", matrix, delimiter=",", header="a,b,c", fmt="%.18e")
