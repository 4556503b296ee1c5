#!/usr/bin/env python3
"""Draws what Kith finds of points in space: draw_points.py POINTS.npy|scan PICTURE.png

Three views of the same points: their normals, from 20 neighbors each; how many others lie within a radius; and the
2000 nearest points of some of them. "scan" stands for a made-up scan: a spinning sensor with 64 beams on a street of
boxes and poles, and a few returns that hit nothing. Needs the module kith, and NumPy.
"""

import struct
import sys
import zlib

import numpy as np

import kith

SIZE = 640  # pixels of a view


def write_png(path, image):
    rows = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) +
                   chunk(b"IEND", b""))


def to_boxes(origin, ray, low, high):
    """How far each ray goes until it hits a box; infinite where it does not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort([(low - origin) / ray, (high - origin) / ray], axis=0)
    near, far = np.nanmax(ends[0], axis=1), np.nanmin(ends[1], axis=1)
    return np.where((near <= far) & (near > 0), near, np.inf)


def scan():
    """Points as a sensor 1.8 m above a street sees them."""
    random = np.random.default_rng(1)
    beams, turns = np.meshgrid(np.radians(np.linspace(-25, 3, 64)), np.radians(np.arange(0, 360, 0.18)))
    ray = np.stack([np.cos(beams) * np.cos(turns), np.cos(beams) * np.sin(turns), np.sin(beams)], axis=-1)
    ray = ray.reshape(-1, 3)
    origin = np.array([0.0, 0.0, 1.8])
    with np.errstate(divide="ignore"):
        length = np.where(ray[:, 2] < 0, -origin[2] / ray[:, 2], np.inf)
    boxes = [([-40, 9, 0], [40, 10, 7]), ([-40, -12, 0], [-3, -11, 5]), ([4, -12, 0], [40, -11, 6])]  # walls
    boxes += [([x, y, 0], [x + 4.3, y + 1.8, 1.5]) for x, y in [(5, 3), (12, 3.2), (-10, 3), (-16, -5), (8, -5.5)]]
    boxes += [([x, y, 0], [x + 0.25, y + 0.25, 6]) for x in range(-30, 31, 12) for y in (7, -8)]  # poles
    for low, high in boxes:
        length = np.minimum(length, to_boxes(origin, ray, np.array(low), np.array(high)))
    seen = length < 22
    length = length[seen] + random.normal(0, 0.01, seen.sum())
    lost = random.choice(length.size, 150, replace=False)  # rain and birds
    length[lost] *= random.uniform(0.2, 0.9, lost.size)
    return (origin + length[:, None] * ray[seen]).astype(np.float32)


def view(points, from_above):
    """Places on the picture, and how near they are to the eye."""
    places = points.astype(float)
    if from_above:  # z is up, and the eye looks down at an angle
        turn, tilt = np.radians([-12, 40])
        x = places[:, 0] * np.cos(turn) - places[:, 1] * np.sin(turn)
        y = places[:, 0] * np.sin(turn) + places[:, 1] * np.cos(turn)
        places = np.stack([x, y * np.sin(tilt) + places[:, 2] * np.cos(tilt),
                           places[:, 2] * np.sin(tilt) - y * np.cos(tilt)], axis=1)
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - (low + high) / 2) / (high - low)[:2].max()
    columns = np.round((places[:, 0] + 0.53) / 1.06 * (SIZE - 1)).astype(int)
    rows = np.round((0.53 - places[:, 1]) / 1.06 * (SIZE - 1)).astype(int)
    return columns, rows, places[:, 2]


def draw(place, colors, splat):
    """What is nearer covers what is behind it; a point covers `splat` pixels around it."""
    columns, rows, nearness = place
    image = np.full((SIZE, SIZE, 3), 255, np.uint8)
    depth = np.full((SIZE, SIZE), -np.inf)
    for dy in range(-splat, splat + 1):
        for dx in range(-splat, splat + 1):
            column, row = np.clip(columns + dx, 0, SIZE - 1), np.clip(rows + dy, 0, SIZE - 1)
            near = nearness - 1e-3 * (dx * dx + dy * dy)
            nearest = np.full((SIZE, SIZE), -np.inf)
            np.maximum.at(nearest, (row, column), near)
            wins = (near >= nearest[row, column]) & (near > depth[row, column])
            image[row[wins], column[wins]] = colors[wins]
            depth = np.maximum(depth, nearest)
    return image


def crop(image):
    """Without empty rows above and below."""
    drawn = np.flatnonzero((image < 255).any(axis=(1, 2)))
    return np.ascontiguousarray(image[max(drawn[0] - 10, 0):drawn[-1] + 10])


def scale(values):
    """Colors from blue over green to yellow."""
    stops = np.array([[48, 18, 100], [40, 90, 150], [35, 150, 130], [140, 200, 60], [250, 230, 40]])
    at = np.clip(values, 0, 1) * (len(stops) - 1)
    return np.stack([np.interp(at, range(len(stops)), stops[:, i]) for i in range(3)], axis=1).astype(np.uint8)


def by_normals(points, up):
    normals = kith.normals(kith.reduce(points, points, k=20, op="covariance"), 3)
    facing = normals * np.where(normals[:, up:up + 1] < 0, -1, 1)
    light = np.array([-0.4, 0.6, 0.7]) / np.linalg.norm([-0.4, 0.6, 0.7])
    shade = 0.25 + 0.75 * np.abs(facing @ light)
    return np.clip(255 * shade[:, None] * (0.7 + 0.3 * np.abs(facing)), 0, 255).astype(np.uint8)


def by_counts(points, radius):
    counts = kith.search_radius(points, points, radius, count_only=True).counts
    few, many = np.log1p(np.percentile(counts, [1, 99]))
    return scale((np.log1p(counts) - few) / max(many - few, 1e-9))


def by_neighbors(points):
    chosen = np.linspace(0, len(points) - 1, 9).astype(int)[1:-1]
    found = np.asarray(kith.search(points, points[chosen], k=2000).indices)
    colors = np.full((len(points), 3), 190, np.uint8)
    for rank, row in enumerate(found):
        colors[row] = scale(np.full(len(row), rank / (len(found) - 1)))
    return colors


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    scanned = sys.argv[1] == "scan"
    points = scan() if scanned else np.load(sys.argv[1]).astype(np.float32)
    place = view(points, scanned)
    radius = 0.5 if scanned else float(np.ptp(points, axis=0).max()) / 40
    views = [by_normals(points, 2), by_counts(points, radius), by_neighbors(points)]
    write_png(sys.argv[2], crop(np.concatenate([draw(place, colors, 1 if scanned else 4) for colors in views], axis=1)))


if __name__ == "__main__":
    main()
