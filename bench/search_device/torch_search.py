#!/usr/bin/env python3
"""Times exact search by PyTorch on the shapes of kith_bench_search, and adds a run to its file.

    torch_search.py --json search.json [--quick]

Squared distances are ‖y‖² − 2⟨x,y⟩ by addmm, manhattan ones by cdist, then topk, in tiles of queries whose matrix has at
most 8 GiB; in float32 (no TF32) and in bfloat16, which only ranks. Device time from one CUDA event to another, the L2 cache
filled with something else before; norms and low-precision copies of the base are made beforehand. Recall is that of a
sample of rows against distances in double. Needs PyTorch with CUDA.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device"))
from torch_run import append_run, run_head  # noqa: E402

try:
    import torch
except ImportError:
    sys.exit("torch_search.py: PyTorch is not installed")

# queries, base rows, dims, k, metric, all-kNN
PROBLEMS = [
    (10000, 1000000, 128, 10, "sqeuclidean", False),
    (10000, 1000000, 128, 100, "sqeuclidean", False),
    (10000, 1000000, 128, 1024, "sqeuclidean", False),
    (10000, 1000000, 768, 10, "sqeuclidean", False),
    (10000, 1000000, 32, 10, "sqeuclidean", False),
    (10000, 1000000, 16, 32, "sqeuclidean", False),
    (10000, 1000000, 3, 10, "sqeuclidean", False),
    (1000, 1000000, 128, 10, "sqeuclidean", False),
    (1, 1000000, 128, 10, "sqeuclidean", False),
    (100000, 100000, 96, 32, "sqeuclidean", True),
    (10000, 1000000, 64, 10, "manhattan", False),
]
TILE_BYTES = 8 << 30
ROUNDS = 5
BUDGET_MS = 1500  # for the timed runs of one problem
SLOW_MS = 3000  # a problem slower than this is run once
SAMPLE = 16  # rows whose recall is found


def shrunk(problem):
    queries, rows, dims, k, metric, self_search = problem
    queries = max(1, queries // 20)
    return queries, queries if self_search else rows // 50, dims, k, metric, self_search


class Search:
    """A base made ready in one precision."""

    def __init__(self, base, metric, dtype):
        self.metric = metric
        self.dtype = dtype
        self.base = base.to(dtype)
        self.norms = (base * base).sum(1).to(dtype) if metric == "sqeuclidean" else None

    def scores(self, queries):
        if self.metric == "manhattan":
            return torch.cdist(queries, self.base, p=1)
        return torch.addmm(self.norms, queries, self.base.T, alpha=-2)

    def run(self, queries, k):
        tile = max(1, TILE_BYTES // (self.base.shape[0] * self.base.element_size()))
        found = []
        for part in queries.to(self.dtype).split(tile):
            found.append(torch.topk(self.scores(part), k, dim=1, largest=False, sorted=True).indices)
        return torch.cat(found)


def exact_distances(base, query, metric):
    parts = []
    for part in base.split(1 << 17):
        difference = part.double() - query.double()
        parts.append(difference.abs().sum(1) if metric == "manhattan" else (difference * difference).sum(1))
    return torch.cat(parts)


def recall(base, queries, metric, found):
    rows = torch.linspace(0, queries.shape[0] - 1, min(SAMPLE, queries.shape[0])).long().tolist()
    k = found.shape[1]
    shared = 0
    for row in rows:
        distances = exact_distances(base, queries[row], metric)
        last = torch.topk(distances, k, largest=False).values[-1]
        shared += (distances[found[row]] <= last).sum().item()
    return shared / (k * len(rows))


def time_ms(search, queries, k, other):
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    other.sum()
    before.record()
    found = search.run(queries, k)
    after.record()
    after.synchronize()
    return before.elapsed_time(after), found


def measure(base, queries, k, metric, dtype, other):
    search = Search(base, metric, dtype)
    first_ms, found = time_ms(search, queries, k, other)
    result = {"status": "timed", "recall": recall(base, queries, metric, found)}
    del found
    if first_ms > SLOW_MS:
        samples = [first_ms]
    else:
        rounds = max(1, min(ROUNDS, int(BUDGET_MS / first_ms)))
        samples = [time_ms(search, queries, k, other)[0] for _ in range(rounds)]
    result.update({"median_ms": statistics.median(samples), "samples_ms": samples})
    return result


def measure_problem(problem, other):
    queries_count, rows, dims, k, metric, self_search = problem
    generator = torch.Generator(device="cuda").manual_seed(1)
    base = torch.randn(rows, dims, device="cuda", generator=generator)
    queries = base if self_search else torch.randn(queries_count, dims, device="cuda", generator=generator)
    results = []
    for dtype in (torch.float32, torch.bfloat16):
        name = "torch " + ("fp32" if dtype == torch.float32 else "bf16")
        row = {"queries": queries_count, "base_rows": rows, "dims": dims, "k": k, "self": self_search}
        row.update({"metric": metric, "data": "gaussian", "contender": name})
        if dtype == torch.bfloat16 and metric == "manhattan":
            row.update({"status": "unsupported", "reason": "cdist has no bfloat16"})
        else:
            try:
                row.update(measure(base, queries, k + 1 if self_search else k, metric, dtype, other))
            except torch.cuda.OutOfMemoryError:
                row.update({"status": "skipped", "reason": "out of memory"})
        print(f"{name} {queries_count} × {rows} × {dims}, k {k}: {row.get('median_ms', row['status'])}", flush=True)
        results.append(row)
        torch.cuda.empty_cache()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="add the results to this file")
    parser.add_argument("--quick", action="store_true", help="small problems, to test the script itself")
    parser.add_argument("--driver", default="", help="what to record as the version of the device's driver")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("torch_search.py: no CUDA device here", file=sys.stderr)
        sys.exit(5)
    torch.backends.cuda.matmul.allow_tf32 = False
    other = torch.zeros(1 << 27, device="cuda")
    rows = []
    for problem in PROBLEMS:
        rows += measure_problem(shrunk(problem) if arguments.quick else problem, other)
    run = run_head("torch_search", torch, arguments.driver)
    run["quick"] = arguments.quick
    run["rows"] = rows
    if arguments.json:
        append_run(arguments.json, "kith-bench-search", run)


if __name__ == "__main__":
    main()
