#!/usr/bin/env python3
"""Times torch.topk on the shapes of the suite `must`, as kith_bench_select does, and adds a run to its file.

    torch_topk.py --json select.json

The smallest k of each row, sorted, values and indices. Device time from one CUDA event to another, the L2 cache filled
with something else before; the output's allocation is included, but PyTorch keeps that memory. Needs PyTorch with CUDA.
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
    sys.exit("torch_topk.py: PyTorch is not installed")

SHAPES = [
    (2048, 1 << 20, [1, 10, 32, 128, 256, 512, 1024, 2048]),
    (8192, 1 << 15, [10, 32, 128, 512, 2048]),
    (64, 1 << 20, [10, 32, 128, 256, 2048]),
    (1, 1 << 27, [1, 10, 256, 2048]),
    (256, 1 << 20, [8192, 65536, 262144]),
]
PATTERNS = ["random", "descending", "all-equal"]
ROUNDS = 5
BUDGET_MS = 200  # for the timed runs of one problem
SLOW_MS = 2000  # the rest of a shape is left out after this


def make(rows, length, pattern):
    if pattern == "random":
        generator = torch.Generator(device="cuda").manual_seed(1)
        return torch.rand(rows, length, device="cuda", generator=generator)
    if pattern == "descending":
        row = torch.arange(length, 0, -1, device="cuda", dtype=torch.float32)
        return row.repeat(rows, 1)
    return torch.ones(rows, length, device="cuda")


def select(matrix, k):
    return torch.topk(matrix, k, dim=1, largest=False, sorted=True)


def time_ms(matrix, k, other):
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    other.sum()
    before.record()
    answer = select(matrix, k)
    after.record()
    after.synchronize()
    return before.elapsed_time(after), answer


def check(matrix, k, answer):
    """Of the first and the last row; which of equal values torch takes is its own affair."""
    for row in {0, matrix.shape[0] - 1}:
        wanted = torch.sort(matrix[row]).values[:k]
        if not torch.equal(answer.values[row], wanted):
            return "other values than torch.sort has"
        if not torch.equal(matrix[row][answer.indices[row]], wanted):
            return "indices that are not those of the values"
    return ""


def measure(matrix, k, other):
    first_ms, answer = time_ms(matrix, k, other)
    fault = check(matrix, k, answer)
    del answer
    if fault:
        return {"status": "wrong", "reason": fault}
    if first_ms > SLOW_MS:
        samples = [first_ms]
    else:
        rounds = max(1, min(ROUNDS, int(BUDGET_MS / first_ms)))
        samples = [time_ms(matrix, k, other)[0] for _ in range(rounds)]
    ms = statistics.median(samples)
    return {
        "status": "timed",
        "median_ms": ms,
        "tb_per_s": matrix.numel() * 4 / ms * 1e-9,
        "samples_ms": samples,
    }


def measure_shape(rows, length, ks, pattern, other):
    results = []
    too_slow = False
    matrix = make(rows, length, pattern)
    for k in ks:
        row = {"suite": "must", "figure": "must", "rows": rows, "length": length, "pattern": pattern, "k": k}
        row.update({"form": "sorted", "contender": "torch.topk", "method": "torch.topk"})
        if too_slow:
            row.update({"status": "skipped", "reason": f"a smaller k took more than {SLOW_MS} ms"})
        else:
            try:
                row.update(measure(matrix, k, other))
            except torch.cuda.OutOfMemoryError:
                row.update({"status": "skipped", "reason": "out of memory"})
            too_slow = row.get("median_ms", 0) > SLOW_MS
        print(f"torch {rows} × {length} {pattern} k {k}: {row.get('median_ms', row['status'])}", flush=True)
        results.append(row)
    del matrix
    torch.cuda.empty_cache()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="add the results to this file")
    parser.add_argument("--all-patterns", action="store_true", help="descending and all-equal rows besides random ones")
    parser.add_argument("--driver", default="", help="what to record as the version of the device's driver")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("torch_topk.py: no CUDA device here", file=sys.stderr)
        sys.exit(5)
    other = torch.zeros(1 << 27, device="cuda")
    rows = []
    for pattern in PATTERNS if arguments.all_patterns else PATTERNS[:1]:
        for shape in SHAPES:
            rows += measure_shape(*shape, pattern, other)
    run = run_head("torch_topk", torch, arguments.driver)
    run["rows"] = rows
    if arguments.json:
        append_run(arguments.json, "kith-bench-select", run)
    if any(row["status"] == "wrong" for row in rows):
        sys.exit("torch_topk.py: there were wrong answers")


if __name__ == "__main__":
    main()
