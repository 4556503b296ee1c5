#!/usr/bin/env python3
"""Draws points by their normals: draw_normals.py POINTS.npy NORMALS.npy PICTURE.png

Points and normals are as `kith reduce --normals` takes and gives them. A light from above the eye shades each point; the
nearest point of each pixel is seen. Needs NumPy alone.
"""

import struct
import sys
import zlib

import numpy as np

SIZE = 720
SPLAT = 4  # pixels around a point that it covers


def write_png(path, image):
    rows = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) +
                   chunk(b"IEND", b""))


def draw(points, normals):
    low, high = points.min(axis=0), points.max(axis=0)
    places = (points - (low + high) / 2) / (high - low).max()
    light = np.array([-0.4, 0.6, 0.7]) / np.linalg.norm([-0.4, 0.6, 0.7])
    facing = normals * np.where(normals[:, 2:] < 0, -1, 1)  # towards the eye, on the z axis
    shade = 0.15 + 0.85 * np.clip(facing @ light, 0, 1)
    tint = 0.75 + 0.25 * np.abs(facing)
    colors = np.clip(255 * shade[:, None] * tint, 0, 255).astype(np.uint8)
    x = np.round((places[:, 0] + 0.53) / 1.06 * (SIZE - 1)).astype(int)
    y = np.round((0.53 - places[:, 1]) / 1.06 * (SIZE - 1)).astype(int)
    image = np.full((SIZE, SIZE, 3), 255, np.uint8)
    order = np.argsort(places[:, 2], kind="stable")  # what is nearer is painted later
    depth = np.full((SIZE, SIZE), -np.inf)
    for dy in range(-SPLAT, SPLAT + 1):
        for dx in range(-SPLAT, SPLAT + 1):
            column, row = np.clip(x[order] + dx, 0, SIZE - 1), np.clip(y[order] + dy, 0, SIZE - 1)
            near = places[order, 2] - 1e-3 * (dx * dx + dy * dy)
            nearest = np.full((SIZE, SIZE), -np.inf)
            np.maximum.at(nearest, (row, column), near)
            wins = (near >= nearest[row, column]) & (near > depth[row, column])
            image[row[wins], column[wins]] = colors[order][wins]
            depth = np.maximum(depth, nearest)
    return image


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    write_png(sys.argv[3], draw(np.load(sys.argv[1]).astype(float), np.load(sys.argv[2]).astype(float)))


if __name__ == "__main__":
    main()
