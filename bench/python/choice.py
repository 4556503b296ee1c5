"""How well ``auto`` chooses on the CPU, and how well its plans predict: random problems, each method by name beside it.

    choice.py [--problems 300] [--seed 0] [--json FILE] [--all]

A problem has 100 to 100,000 points in 1 to 64 dimensions, float32 or float64, uniform, in clusters or near a curved
surface, and 1 to as many queries as points. Every way searches with one thread and is timed by the CPU time of that
thread, the least of some rounds; the answers are compared. ``auto`` includes its sample, triangle its
clusters, tree its boxes.
"""

import argparse
import json
import math
import time

import kith
import numpy as np


def points(rng, kind, rows, dims, dtype):
    if kind == "uniform":
        made = rng.random((rows, dims))
    elif kind == "clusters":
        centers = rng.random((max(2, rows // 200), dims))
        made = centers[rng.integers(len(centers), size=rows)] + 0.01 * rng.standard_normal((rows, dims))
    else:  # a surface of two dimensions, bent and with a little noise
        flat = rng.random((rows, min(2, dims)))
        waves = np.sin(3 * flat @ rng.standard_normal((flat.shape[1], dims)) + rng.random(dims))
        made = waves + 0.005 * rng.standard_normal((rows, dims))
    return made.astype(dtype)


def log_uniform(rng, least, most):
    return int(round(math.exp(rng.uniform(math.log(least), math.log(most)))))


def make_problem(rng):
    rows = log_uniform(rng, 100, 100_000)
    dims = log_uniform(rng, 1, 64)
    queries = log_uniform(rng, 1, rows)
    queries = max(1, min(queries, int(4e9 / rows / dims)))  # a few seconds at the most
    kind = rng.choice(["uniform", "clusters", "surface"])
    dtype = rng.choice(["float32", "float64"])
    base = points(rng, kind, rows + queries, dims, dtype)
    rng.shuffle(base)
    name = f"{queries} × {rows} × {dims} {dtype} {kind}"
    return name, base[:rows], base[rows:], min(rows, int(rng.choice([1, 5, 10, 30])))


def time_ways(rng, base, queries, k, ways, rounds):
    """The least CPU time of a search by each, and its plan. The clock does not resolve the smallest searches, and whoever
    comes after a long one finds the points out of cache: small ones run some times in a row, and the order changes."""
    least = dict.fromkeys(ways, math.inf)
    plans, calls, right = {}, {}, None
    total = 0.0
    for turn in range(rounds):
        for way in rng.permutation(ways):
            begin = time.thread_time()
            for _ in range(calls.get(way, 1)):
                found = kith.search(base, queries, k, method=way, threads=1, backend="cpu")
            seconds = time.thread_time() - begin
            total += seconds
            if turn > 0:
                least[way] = min(least[way], seconds / calls[way])
            else:
                calls[way] = max(1, min(100, int(2e-3 / seconds)))
            plans[way] = found.report.plan
            if right is None:
                right = found.indices
            assert np.array_equal(found.indices, right), f"{way} finds other neighbors"
        if total > 1.5 and turn >= 2:
            break
    return least, plans


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json")
    parser.add_argument("--commit", default="", help="what is measured, for the file")
    parser.add_argument("--all", action="store_true", help="print every problem, not only those far off")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    rows = []
    for _ in range(arguments.problems):
        name, base, queries, k = make_problem(rng)
        ways = ["auto", "brute", "triangle", "tree"]
        least, plans = time_ways(rng, base, queries, k, ways, arguments.rounds)
        best = min(least, key=least.get)
        row = {
            "problem": name,
            "k": k,
            "chosen": plans["auto"].method,
            "stage": plans["brute"].distance,
            "seconds": least,
            "predicted": {way: plan.seconds for way, plan in plans.items()},
            "choice": least["auto"] / least[best],
            "prediction": plans["auto"].seconds / least["auto"],
        }
        rows.append(row)
        if arguments.all or row["choice"] > 1.15 or not 0.5 < row["prediction"] < 2:
            listed = ", ".join(
                f"{way} {1e3 * least[way]:.3g} ms (predicted {1e3 * plans[way].seconds:.3g})" for way in least
            )
            print(f"{name}, k = {k}: {row['chosen']}; {listed}", flush=True)
    choices = np.array([row["choice"] for row in rows])
    predictions = np.array([row["prediction"] for row in rows])
    within = np.mean((predictions > 0.5) & (predictions < 2))
    print(f"{len(rows)} problems: auto within 1.15 of the best in {np.mean(choices <= 1.15):.1%}, at most {choices.max():.2f};")
    print(f"predicted within a factor of 2 in {within:.1%}, from {predictions.min():.2f} to {predictions.max():.2f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"commit": arguments.commit, "rows": rows}, file)


if __name__ == "__main__":
    main()
