"""Answers to compare: their bits, and points with many ties."""

import hashlib

import numpy as np


def sha1(distances, indices):
    """Of the bits of both, types and shapes included."""
    digest = hashlib.sha1()
    for array in (distances, indices):
        array = np.ascontiguousarray(array)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def tied_points(rng, rows, dims, dtype=np.float32):
    """Points of few coordinates, so that many distances are equal and many points are there twice."""
    return rng.integers(1, 4, (rows, dims)).astype(dtype)


def cuts(rng, rows, blocks):
    """Where uneven blocks begin and end; some are empty."""
    inner = np.sort(rng.integers(0, rows + 1, blocks - 1))
    edges = [0, *inner.tolist(), rows]
    return list(zip(edges[:-1], edges[1:]))
