#!/usr/bin/env python3
"""Times kith.search beside faiss, scikit-learn and scipy, and what a call costs; prints tables, writes JSON.

    compare.py [--json bench/results/python.json] [--rounds 7] [--suites NAME...] [--metrics NAME...]

must      1,000 queries × 100,000 points × 128 dimensions, k = 10, euclidean
laptop    six shapes of uniform points, euclidean, in float32 and float64: the table of the README
metrics   200 queries × 100,000 points × 128 dimensions, k = 10, every metric that a contender has
sparse    1,000 queries × 50,000 sparse rows × 10,000 columns, k = 10, euclidean and cosine, beside scikit-learn:
          10 or 100 entries a row in columns that are all alike, or 100 in columns as popular as words are
overhead  1 query × 1,000 points × 16 dimensions: what a call takes beyond the time that the library measures inside

Everyone is called from data to answer, on all cores, in turns; the least of the rounds counts. Of rows of laptop that
are `ready`, the index or tree is made before, and one query at a time is asked for. Whoever has taken ten seconds sits
out. Distances are compared with float64 brute force on a sample of queries: `error` is the largest difference, relative
to the farthest neighbor; an answer of kith that is off by more than its type allows ends the run.
"""

import argparse
import json
import os
import pathlib
import platform
import time
from functools import partial

import faiss
import numpy as np
import scipy
import scipy.sparse
import sklearn
from contenders import CONTENDERS, LAPTOP, METRICS, SPARSE, P

import kith

SAMPLE = 8
ENOUGH = 10.0  # seconds of rounds
ONE_BY_ONE = 50  # queries of a round of a ready index

# (rows, dims, queries, k), queries = None for all points, 1 for one at a time of a ready index.
SHAPES = [
    (100_000, 3, None, 10), (100_000, 3, 1, 10), (20_000, 20, 1000, 10), (100_000, 128, 1000, 10),
    (20_000, 784, 1000, 5), (100_000, 384, 1, 10),
]  # fmt: skip


def data(queries, rows, dims, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((rows, dims), dtype=np.float32), rng.random((queries, dims), dtype=np.float32)


def truth(base, queries, k, metric):
    """Sorted distances of the first queries, in float64."""
    p = P if metric == "minkowski" else None
    whole = kith.distances(queries[:SAMPLE].astype(np.float64), base.astype(np.float64), metric=metric, p=p)
    order = np.sort(-whole if metric == "inner_product" else whole, axis=1)[:, :k]
    return -order if metric == "inner_product" else order


def check(name, distances, wanted):
    """How far the sample's distances are off; an error of kith ends the run."""
    distances = np.sort(np.asarray(distances, np.float64)[:SAMPLE], axis=1)
    farthest = np.maximum(np.abs(wanted[:, -1:]), 1e-30)
    error = float((np.abs(distances - np.sort(wanted, axis=1)) / farthest).max())
    if name.startswith("kith") and not error < (1e-12 if name.endswith("float64") else 1e-6):
        raise SystemExit(f"{name} is off by {error:.1e}")
    return error


def take_turns(runs, rows, rounds, calls=1):
    """Adds the seconds of a call to each row, round by round, until it has had enough."""
    for _ in range(rounds):
        for name, run in runs.items():
            if calls * sum(rows[name]["seconds"]) > ENOUGH:
                continue
            begin = time.perf_counter()
            run()
            rows[name]["seconds"].append((time.perf_counter() - begin) / calls)


def measure(metric, base, queries, k, rounds):
    """A row for each contender."""
    made = {name: make(metric) for name, make in CONTENDERS.items()}
    runs = {name: partial(run, base, queries, k) for name, run in made.items() if run is not None}
    wanted = truth(base, queries, k, metric)
    rows = {}
    for name, run in runs.items():
        rows[name] = {
            "metric": metric, "contender": name, "queries": len(queries), "rows": len(base), "dims": base.shape[1],
            "k": k, "seconds": [], "error": check(name, run()[0], wanted),  # and warms up
        }  # fmt: skip
    take_turns(runs, rows, rounds)
    return list(rows.values())


def measure_shape(shape, rounds):
    """A row for each contender of LAPTOP."""
    count, dims, asked, k = shape
    ready = asked == 1
    base, queries = data(ONE_BY_ONE if ready else asked or 1, count, dims)
    if asked is None:
        queries = base
    wanted = truth(base, queries, k, "euclidean")
    bases = {dtype: base.astype(dtype, copy=False) for dtype in (np.float32, np.float64)}
    runs, rows = {}, {}
    for name, (prepare, dtype) in LAPTOP.items():
        points = bases[dtype]
        questions = points if asked is None else queries.astype(dtype, copy=False)
        if ready:
            one_by_one = [questions[i : i + 1] for i in range(len(questions))]
            runs[name] = partial(ask_one_by_one, prepare(points), one_by_one, k)
        else:
            runs[name] = partial(ask_at_once, prepare, points, questions, k)
        distances, indices = runs[name]()  # and warms up
        # Of the points that were named, in float64, and as they were returned.
        sample = queries[:SAMPLE, None].astype(np.float64) - base[np.asarray(indices)[:SAMPLE]]
        error = max(check(name, np.sqrt((sample**2).sum(axis=2)), wanted), check(name, distances, wanted))
        rows[name] = {
            "metric": "euclidean", "contender": name, "queries": len(base) if asked is None else asked, "rows": count,
            "dims": dims, "k": k, "ready": ready, "seconds": [], "error": error,
        }  # fmt: skip
    take_turns(runs, rows, rounds, ONE_BY_ONE if ready else 1)
    return list(rows.values())


def sparse_data(queries, rows, cols, entries, popularity, seed=1):
    """Rows of so many entries; columns are drawn in proportion to 1 / their number where `popularity` is "words"."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, cols + 1) if popularity == "words" else np.ones(cols)
    ends = np.cumsum(shares / shares.sum())

    def make(count):
        columns = np.minimum(np.searchsorted(ends, rng.random(count * entries)), cols - 1)
        values = rng.random(count * entries, dtype=np.float32)
        made = scipy.sparse.csr_matrix((values, columns, np.arange(0, len(columns) + 1, entries)), shape=(count, cols))
        made.sum_duplicates()
        return made

    return make(rows), make(queries)


def measure_sparse(entries, popularity, metric, k, rounds):
    """A row for each contender of SPARSE; distances are compared with those of a few queries and the dense points."""
    base, queries = sparse_data(1000, 50_000, 10_000, entries, popularity)
    some, few = queries[:SAMPLE].toarray().astype(np.float64), 5000
    wanted = np.concatenate(
        [kith.distances(some, base[i : i + few].toarray().astype(np.float64), metric=metric)
         for i in range(0, base.shape[0], few)], axis=1,
    )  # fmt: skip
    wanted = np.sort(wanted, axis=1)[:, :k]
    runs = {name: partial(make(metric), base, queries, k) for name, make in SPARSE.items()}
    rows = {}
    for name, run in runs.items():
        rows[name] = {
            "metric": metric, "contender": name, "queries": queries.shape[0], "rows": base.shape[0],
            "dims": base.shape[1], "entries": entries, "columns": popularity, "k": k, "seconds": [],
            "error": check(name, run()[0], wanted),
        }  # fmt: skip
    take_turns(runs, rows, rounds)
    return list(rows.values())


def ask_at_once(prepare, points, queries, k):
    return prepare(points)(queries, k)


def ask_one_by_one(search, queries, k):
    found = [search(query, k) for query in queries]
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])


def print_shape(rows):
    """A line of the README's table. Of scikit-learn, the faster type."""
    least = {row["contender"]: 1e3 * min(row["seconds"]) for row in rows}
    least["scikit-learn"] = min(least["scikit-learn float32"], least["scikit-learn float64"])
    columns = ("kith float32", "kith float64", "faiss", "scikit-learn", "cKDTree")
    row = rows[0]
    shape = f"{row['rows']:,} × {row['dims']}, {row['queries']:,} queries, k = {row['k']}{', ready' * row['ready']}"
    times = (f"{least[name]:.3g}" if least[name] < 999.5 else f"{least[name]:,.0f}" for name in columns)
    print(f"| {shape} | " + " | ".join(times) + " |", flush=True)


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
        print(f"{row['metric']:14} {row['contender']:20} {1e3 * least:9.3f} ms   error {row['error']:.1e}", flush=True)


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    parser.add_argument("--commit", default="", help="what is measured, for the file")
    parser.add_argument("--rounds", type=int, default=7)
    suites = ["must", "laptop", "metrics", "sparse", "overhead"]
    parser.add_argument("--suites", nargs="*", default=suites, choices=suites)
    parser.add_argument("--metrics", nargs="*", default=METRICS, choices=METRICS)
    arguments = parser.parse_args()
    before = (
        json.loads(pathlib.Path(arguments.json).read_text()) if pathlib.Path(arguments.json or "").is_file() else {}
    )
    result = {
        "commit": arguments.commit,
        "cpu": cpu_name(),
        "threads": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "versions": {"kith": kith.__version__, "faiss": faiss.__version__, "scikit-learn": sklearn.__version__,
                     "scipy": scipy.__version__, "numpy": np.__version__, "python": platform.python_version()},
    }  # fmt: skip
    print(f"{result['cpu']}, {result['threads']} threads, {result['versions']}")
    if "must" in arguments.suites:
        base, queries = data(1000, 100_000, 128)
        result["must"] = measure("euclidean", base, queries, 10, arguments.rounds)
        print_table(result["must"])
    if "laptop" in arguments.suites:
        result["laptop"] = []
        for shape in SHAPES:
            rows = measure_shape(shape, arguments.rounds)
            print_table(rows)
            print_shape(rows)
            result["laptop"] += rows
    if "metrics" in arguments.suites:
        base, queries = data(200, 100_000, 128)
        result["metrics"] = [row for row in before.get("metrics", []) if row["metric"] not in arguments.metrics]
        for metric in arguments.metrics:
            rows = measure(metric, base, queries, 10, max(1, arguments.rounds // 3))
            print_table(rows)
            result["metrics"] += rows
    if "sparse" in arguments.suites:
        result["sparse"] = []
        for entries, popularity in ((10, "alike"), (100, "alike"), (100, "words")):
            for metric in ("euclidean", "cosine"):
                print(f"{entries} entries a row, columns {popularity}")
                rows = measure_sparse(entries, popularity, metric, 10, arguments.rounds)
                print_table(rows)
                result["sparse"] += rows
    if "overhead" in arguments.suites:
        result["overhead"] = call_overhead()
        print({name: round(value, 2) for name, value in result["overhead"].items()})
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({**before, **result}, indent=1) + "\n")


main()
