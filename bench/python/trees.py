"""Trees of SciPy and scikit-learn on the shapes of suite tree of kith_bench, made and asked with two threads; seconds,
the least of the rounds. Kith takes part where its package is there.

    python bench/python/trees.py [--rounds 2] [--json FILE] [--only scipy,sklearn,kith] [--dims 2,3,8]
"""

import argparse
import json
import os
import time

import numpy as np

SHAPES = [(1_000_000, 2), (1_000_000, 3), (200_000, 3), (300_000, 8)]
NEIGHBORS = (1, 10, 50)
THREADS = 2


def with_scipy(points, k):
    from scipy.spatial import cKDTree

    cKDTree(points).query(points, k=k, workers=THREADS)


def with_sklearn(points, k):
    from sklearn.neighbors import NearestNeighbors

    NearestNeighbors(n_neighbors=k, algorithm="kd_tree", n_jobs=THREADS).fit(points).kneighbors(points)


def with_kith(points, k):
    import kith

    kith.search(points, points, k, method="tree", threads=THREADS)


CONTENDERS = {"scipy": with_scipy, "sklearn": with_sklearn, "kith": with_kith}


def seconds_of(search, points, k, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        search(points, k)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--only", default="scipy,sklearn,kith")
    parser.add_argument("--dims", default="2,3,8")
    arguments = parser.parse_args()
    dims_wanted = [int(each) for each in arguments.dims.split(",")]
    rows = []
    for count, dims in SHAPES:
        if dims not in dims_wanted:
            continue
        points = np.random.default_rng(1).random((count, dims), dtype=np.float32)
        for k in NEIGHBORS:
            for name in arguments.only.split(","):
                try:
                    seconds = seconds_of(CONTENDERS[name], points, k, arguments.rounds)
                except ImportError:
                    continue
                rows.append({"contender": name, "points": count, "dims": dims, "k": k, "seconds": round(seconds, 4),
                             "load": os.getloadavg()[0]})
                print(rows[-1], flush=True)
                if arguments.json:
                    with open(arguments.json, "w") as file:
                        json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
