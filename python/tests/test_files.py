"""Files, and NumPy's own readers and writers."""

import numpy as np
import pytest

import kith


@pytest.mark.parametrize("name", ["a.npy", "a.fvecs", "a.fbin", "a.npz", "a.h5", "a.csv"])
def test_round_trip(rng, tmp_path, name):
    points = rng.standard_normal((7, 3)).astype(np.float32)
    kith.write(tmp_path / name, points)
    again = kith.read(tmp_path / name)
    assert not again.flags.writeable and (again.astype(np.float32) == points).all()


def test_named_arrays(rng, tmp_path):
    points = rng.standard_normal((7, 3))
    kith.write(tmp_path / "all.npz", {"train": points, "labels": np.arange(7)}, compress=True)
    with np.load(tmp_path / "all.npz") as loaded:
        assert (loaded["train"] == points).all() and (loaded["labels"] == np.arange(7)).all()
    assert (kith.read(tmp_path / "all.npz", "train") == points).all()
    assert list(kith.read_all(tmp_path / "all.npz")) == ["train", "labels"]
    with pytest.raises(ValueError, match="other"):
        kith.read(tmp_path / "all.npz", "other")


def test_layouts_of_numpy(rng, tmp_path):
    for number, array in enumerate(
        (
            np.asfortranarray(rng.standard_normal((5, 4))),
            rng.standard_normal(6),
            np.arange(6, dtype=">i4").reshape(2, 3),
            rng.integers(0, 9, (3, 2), np.uint8),
        )
    ):
        np.save(tmp_path / f"{number}.npy", array)
        again = kith.read(tmp_path / f"{number}.npy")
        assert again.shape == array.shape and (again == array).all()
    kith.write(tmp_path / "half.npy", rng.standard_normal((5, 4)).astype(np.float16)[::2])
    assert np.load(tmp_path / "half.npy").shape == (3, 4)


def test_csv_columns(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z\n1,2,3\n4,5,6\n")
    assert kith.read(tmp_path / "a.csv", columns=["x", "z"]).tolist() == [[1, 3], [4, 6]]
    assert kith.read(tmp_path / "a.csv", columns=[1]).tolist() == [[2], [5]]


def test_a_mapped_file_can_be_searched(rng, tmp_path):
    np.save(tmp_path / "a.npy", rng.standard_normal((50, 3)))
    points = kith.read(tmp_path / "a.npy")
    assert kith.search(points, points[:2], 1).indices.ravel().tolist() == [0, 1]


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        kith.read(tmp_path / "none.npy")
    (tmp_path / "bad.npy").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="bad.npy"):
        kith.read(tmp_path / "bad.npy")
    with pytest.raises(OSError, match="missing"):
        kith.write(tmp_path / "missing" / "a.npy", np.eye(2))
    with pytest.raises(ValueError, match="nonsense"):
        kith.read(tmp_path / "bad.npy", format="nonsense")
