#!/usr/bin/env python3
"""Times PyTorch on the shapes of select/must and search/must as kith_bench_device does, and adds runs to its file.

    torch_peers.py --suite select/must --suite search/must --json device.json

Selection is torch.topk: the smallest k of each row, sorted, values and indices. Search is ‖y‖² − 2⟨x,y⟩ by addmm, or cdist
for manhattan, then topk, in tiles of queries whose matrix has at most 8 GiB; in float32 (no TF32) and in bfloat16, which
only ranks. Norms and low-precision copies of the base are made beforehand. Recall is that of a sample of rows against
distances in double. Device time from one CUDA event to another, the L2 cache filled with something else before; the
output's allocation is included, but PyTorch keeps that memory. Needs PyTorch with CUDA.
"""
import argparse
import datetime
import json
import os
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("torch_peers.py: PyTorch is not installed")

SELECTIONS = [
    (2048, 1 << 20, [1, 10, 32, 128, 256, 512, 1024, 2048]),
    (8192, 1 << 15, [10, 32, 128, 512, 2048]),
    (64, 1 << 20, [10, 32, 128, 256, 2048]),
    (1, 1 << 27, [1, 10, 256, 2048]),
    (256, 1 << 20, [8192, 65536, 262144]),
]
# queries, base rows, dims, k, metric, all-kNN
SEARCHES = [
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
SAMPLE = 16  # rows whose recall is found


def time_ms(work, other):
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    other.sum()
    before.record()
    answer = work()
    after.record()
    after.synchronize()
    return before.elapsed_time(after), answer


def measure(row, work, judge, budget_ms, slow_ms, other):
    """Times work() and adds what was found to the row; judge(answer) returns facts, `reason` among them if it is wrong."""
    try:
        first_ms, answer = time_ms(work, other)
        row.update(judge(answer))
        del answer
        rounds = 0 if first_ms > slow_ms else max(1, min(ROUNDS, int(budget_ms / first_ms)))
        samples = [time_ms(work, other)[0] for _ in range(rounds)] or [first_ms]
    except torch.cuda.OutOfMemoryError:
        row.update({"status": "skipped", "reason": "out of memory"})
        return
    row["status"] = "wrong" if "reason" in row else "timed"
    if row["status"] == "timed":
        row.update({"median_ms": statistics.median(samples), "samples_ms": samples})


def selection_fault(matrix, k, answer):
    """Of the first and the last row; which of equal values torch takes is its own affair."""
    for row in {0, matrix.shape[0] - 1}:
        wanted = torch.sort(matrix[row]).values[:k]
        if not torch.equal(answer.values[row], wanted):
            return {"reason": "other values than torch.sort has"}
        if not torch.equal(matrix[row][answer.indices[row]], wanted):
            return {"reason": "indices that are not those of the values"}
    return {}


def measure_selections(quick, other):
    rows = []
    for count, length, ks in SELECTIONS:
        count, length = (min(count, 16), min(length, 1 << 15)) if quick else (count, length)
        matrix = torch.rand(count, length, device="cuda", generator=torch.Generator(device="cuda").manual_seed(1))
        for k in [k for k in ks if k <= length]:
            row = {"contender": "torch.topk", "rows": count, "length": length, "pattern": "random", "k": k,
                   "form": "sorted"}
            measure(row, lambda: torch.topk(matrix, k, dim=1, largest=False, sorted=True),
                    lambda answer: selection_fault(matrix, k, answer), 200, 2000, other)
            print(f"torch {count} × {length} k {k}: {row.get('median_ms', row['status'])}", flush=True)
            rows.append(row)
        del matrix
        torch.cuda.empty_cache()
    return rows


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


def recall(base, queries, metric, found):
    rows = torch.linspace(0, queries.shape[0] - 1, min(SAMPLE, queries.shape[0])).long().tolist()
    k = found.shape[1]
    shared = 0
    for row in rows:
        parts = []
        for part in base.split(1 << 17):
            difference = part.double() - queries[row].double()
            parts.append(difference.abs().sum(1) if metric == "manhattan" else (difference * difference).sum(1))
        distances = torch.cat(parts)
        last = torch.topk(distances, k, largest=False).values[-1]
        shared += (distances[found[row]] <= last).sum().item()
    return {"recall": shared / (k * len(rows))}


def measure_searches(quick, other):
    results = []
    for count, rows, dims, k, metric, self_search in SEARCHES:
        if quick:
            count = max(1, count // 20)
            rows = count if self_search else rows // 50
        generator = torch.Generator(device="cuda").manual_seed(1)
        base = torch.randn(rows, dims, device="cuda", generator=generator)
        queries = base if self_search else torch.randn(count, dims, device="cuda", generator=generator)
        for dtype, name in ((torch.float32, "torch fp32"), (torch.bfloat16, "torch bf16")):
            row = {"contender": name, "queries": count, "base_rows": rows, "dims": dims, "k": k, "self": self_search,
                   "metric": metric, "data": "gaussian"}
            if dtype == torch.bfloat16 and metric == "manhattan":
                row.update({"status": "unsupported", "reason": "cdist has no bfloat16"})
            else:
                search = Search(base, metric, dtype)
                measure(row, lambda: search.run(queries, k + 1 if self_search else k),
                        lambda found: recall(base, queries, metric, found), 1500, 3000, other)
                del search
            print(f"{name} {count} × {rows} × {dims}, k {k}: {row.get('median_ms', row['status'])}", flush=True)
            results.append(row)
            torch.cuda.empty_cache()
    return results


SUITES = {"select/must": measure_selections, "search/must": measure_searches}


def append_run(path, run):
    document = {"schema": "kith-bench-device", "schema_version": 2, "runs": []}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    document["runs"].append(run)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument("--json", help="add the results to this file")
    parser.add_argument("--quick", action="store_true", help="small problems, to test the script itself")
    parser.add_argument("--driver", default="", help="what to record as the version of the device's driver")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("torch_peers.py: no CUDA device here", file=sys.stderr)
        sys.exit(5)
    torch.backends.cuda.matmul.allow_tf32 = False
    other = torch.zeros(1 << 27, device="cuda")
    wrong = False
    for suite in arguments.suite or SUITES:
        run = {
            "program": "torch",
            "suite": suite,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "torch": torch.__version__,
            "device": {"name": torch.cuda.get_device_name(), "driver": arguments.driver},
            "quick": arguments.quick,
            "rows": SUITES[suite](arguments.quick, other),
        }
        if arguments.json:
            append_run(arguments.json, run)
        wrong = wrong or any(row["status"] == "wrong" for row in run["rows"])
    if wrong:
        sys.exit("torch_peers.py: there were wrong answers")


if __name__ == "__main__":
    main()
