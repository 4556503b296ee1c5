"""Normals of a surface from its points alone: the direction in which each point's neighborhood extends least.

Takes a file of points (ply, npy, csv, ...), such as the Stanford bunny; without one, points of a torus, whose normals
are known. Open3D's estimate_normals does the same on the CPU.

prints:
20000 normals, each from 16 neighbors
off the true ones by 0.8 degrees in the median
"""

import sys

import numpy as np

import kith


def torus(count: int, seed: int = 0):
    """Points on a torus of radii 2 and 1, and their normals."""
    u, v = np.random.default_rng(seed).random((2, count)) * 2 * np.pi
    outward = np.stack([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)], axis=1)
    ring = np.stack([2 * np.cos(u), 2 * np.sin(u), np.zeros(count)], axis=1)
    return (ring + outward).astype(np.float32), outward


points, truth = (kith.read(sys.argv[1]), None) if len(sys.argv) > 1 else torus(20_000)
found = kith.normals(kith.reduce(points, points, k=16, op="covariance"), points.shape[1])
print(f"{len(found)} normals, each from 16 neighbors")
if truth is not None:
    angles = np.degrees(np.arccos(np.clip(np.abs((found * truth).sum(1)), 0, 1)))
    print(f"off the true ones by {np.median(angles):.1f} degrees in the median")
