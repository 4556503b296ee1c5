#!/usr/bin/env python3
"""Times kith.search beside faiss and scikit-learn, and what a call costs; prints tables, writes JSON.

    compare.py [--json bench/results/python.json] [--rounds 7] [--suites must metrics overhead] [--metrics NAME...]

must      1,000 queries × 100,000 points × 128 dimensions, k = 10, euclidean
metrics   200 queries × 100,000 points × 128 dimensions, k = 10, every metric that a contender has
overhead  1 query × 1,000 points × 16 dimensions: what a call takes beyond the time that the library measures inside

Everyone is called from data to answer, on all cores, in turns; the least of the rounds counts. Distances are compared
with float64 brute force on a sample of queries: `error` is the largest difference, relative to the true distance.
"""

import argparse
import json
import os
import pathlib
import platform
import time

import faiss
import numpy as np
import sklearn
from contenders import CONTENDERS, METRICS, P

import kith

SAMPLE = 8


def data(queries, rows, dims, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((rows, dims), dtype=np.float32), rng.random((queries, dims), dtype=np.float32)


def truth(base, queries, k, metric):
    """Sorted distances of the first queries, in float64."""
    p = P if metric == "minkowski" else None
    whole = kith.distances(base.astype(np.float64), queries[:SAMPLE].astype(np.float64), metric=metric, p=p)
    order = np.sort(-whole if metric == "inner_product" else whole, axis=1)[:, :k]
    return -order if metric == "inner_product" else order


def measure(metric, base, queries, k, rounds):
    """A row for each contender."""
    runs = {name: make(metric) for name, make in CONTENDERS.items()}
    runs = {name: run for name, run in runs.items() if run is not None}
    wanted = truth(base, queries, k, metric)
    rows = {}
    for name, run in runs.items():
        distances = np.asarray(run(base, queries, k)[0], np.float64)[:SAMPLE]  # and warms up
        error = np.abs(np.sort(distances, axis=1) - np.sort(wanted, axis=1)) / np.maximum(np.abs(wanted), 1e-30)
        rows[name] = {
            "metric": metric, "contender": name, "queries": len(queries), "rows": len(base), "dims": base.shape[1],
            "k": k, "seconds": [], "error": float(error.max()),
        }  # fmt: skip
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.perf_counter()
            run(base, queries, k)
            rows[name]["seconds"].append(time.perf_counter() - begin)
    return list(rows.values())


def call_overhead(calls=3000, rounds=9):
    """Microseconds of the calling process, so that others on the machine do not count."""
    base, queries = data(1, 1000, 16)
    index = kith.Index(base, threads=1, backend="cpu")
    native, k = index._native, 10
    options = index._options
    distances, indices = np.empty((1, k), np.float32), np.empty((1, k), np.int64)

    def least(call):
        best = float("inf")
        for _ in range(rounds):
            begin = time.process_time()
            for _ in range(calls):
                call()
            best = min(best, time.process_time() - begin)
        return best / calls * 1e6

    inside = min(native.search(queries, k, distances, indices, 0, None).seconds for _ in range(calls)) * 1e6
    index_call = least(lambda: index.search(queries, k))
    bare = least(lambda: kith._kith.search(base, queries, options, k, distances, indices, 0, None))
    search_call = least(lambda: kith.search(base, queries, k, threads=1, backend="cpu"))
    return {
        "index_search_us": index_call,
        "index_search_inside_us": inside,
        "index_overhead_us": index_call - inside,
        "search_us": search_call,
        "search_bare_us": bare,
        "search_overhead_us": search_call - bare,
    }


def print_table(rows):
    for row in rows:
        least = min(row["seconds"])
        row["least"] = least
        print(f"{row['metric']:14} {row['contender']:13} {1e3 * least:9.1f} ms   error {row['error']:.1e}", flush=True)


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--suites", nargs="*", default=["must", "metrics", "overhead"])
    parser.add_argument("--metrics", nargs="*", default=METRICS, choices=METRICS)
    arguments = parser.parse_args()
    before = (
        json.loads(pathlib.Path(arguments.json).read_text()) if pathlib.Path(arguments.json or "").is_file() else {}
    )
    result = {
        "cpu": cpu_name(),
        "threads": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "versions": {"kith": kith.__version__, "faiss": faiss.__version__, "scikit-learn": sklearn.__version__,
                     "numpy": np.__version__, "python": platform.python_version()},
    }  # fmt: skip
    print(f"{result['cpu']}, {result['threads']} threads, {result['versions']}")
    if "must" in arguments.suites:
        base, queries = data(1000, 100_000, 128)
        result["must"] = measure("euclidean", base, queries, 10, arguments.rounds)
        print_table(result["must"])
    if "metrics" in arguments.suites:
        base, queries = data(200, 100_000, 128)
        result["metrics"] = [row for row in before.get("metrics", []) if row["metric"] not in arguments.metrics]
        for metric in arguments.metrics:
            rows = measure(metric, base, queries, 10, max(1, arguments.rounds // 3))
            print_table(rows)
            result["metrics"] += rows
    if "overhead" in arguments.suites:
        result["overhead"] = call_overhead()
        print({name: round(value, 2) for name, value in result["overhead"].items()})
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({**before, **result}, indent=1) + "\n")


main()
