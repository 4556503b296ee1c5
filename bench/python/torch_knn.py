#!/usr/bin/env python3
"""Times PyTorch on the problems of the last run of search/engine in a file of kith_bench_device, and adds a run to it.

    torch_knn.py --json bench/results/search-engine.json [--row d128-k10]

A search is ‖y‖² − 2⟨x,y⟩ by addmm (−⟨x,y⟩ of unit vectors for cosine) and topk, in tiles of queries whose matrix has at most
8 GiB: in fp32, in tf32 and in fp16, of which only fp32 comes near the right neighbors on every kind of points; "cdist" is
torch.cdist in place of addmm. Norms and copies of the base in low precision are made beforehand. A radius search is the same
with a comparison and nonzero, and its lists are not sorted. With arrays of the host the copies both ways are part of the time,
from pinned memory. Points are of the same kinds, not the same. Times and recall are those of torch_peers.py. Needs PyTorch with
CUDA.
"""
import argparse
import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "device"))
from torch_peers import append_run, measure, recall, torch  # noqa: E402

TILE_BYTES = 8 << 30
SUITE = "search/engine"
PRECISIONS = {"torch fp32": torch.float32, "torch tf32": torch.float32, "torch fp16": torch.float16,
              "torch cdist": torch.float32}


def tight(rows, dims, generator, shuffle):
    """2000 clusters around the same centers for base and queries, a thousand times as tight as the centers are spread."""
    centers = torch.randn(2000, dims, device="cuda", generator=torch.Generator(device="cuda").manual_seed(3))
    cluster = torch.arange(rows, device="cuda") * 2000 // rows
    if shuffle:
        cluster = cluster[torch.randperm(rows, device="cuda", generator=generator)]
    return centers[cluster] + 1e-3 * torch.randn(rows, dims, device="cuda", generator=generator)


def copies(rows, dims, generator):
    distinct = torch.randn(3003, dims, device="cuda", generator=generator)
    return distinct[torch.randint(3003, (rows,), device="cuda", generator=generator)]


def points(rows, dims, data, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    if data in ("tight", "tight-shuffled"):
        return tight(rows, dims, generator, data == "tight-shuffled")
    if data == "copies":
        return copies(rows, dims, generator)
    if data == "bytes":
        return torch.randint(256, (rows, dims), device="cuda", generator=generator).float()
    if data == "uniform":
        return torch.rand(rows, dims, device="cuda", generator=generator)
    return torch.randn(rows, dims, device="cuda", generator=generator)


class Search:
    """A base made ready in one precision. `radius` None: the k nearest."""

    def __init__(self, name, base, problem):
        self.dtype = PRECISIONS[name]
        self.tf32 = name == "torch tf32"
        self.cdist = name == "torch cdist"
        self.cosine = problem["metric"] == "cosine"
        self.base = self.ready(base)
        self.norms = None if self.cosine else (base * base).sum(1).to(self.dtype)
        self.k = problem.get("k", 0) + bool(problem.get("self"))
        self.radius = problem.get("radius")

    def ready(self, rows):
        return (torch.nn.functional.normalize(rows) if self.cosine else rows).to(self.dtype)

    def scores(self, queries):
        if self.cdist:
            return torch.cdist(queries, self.base)
        if self.cosine:
            return (queries @ self.base.T).neg_()
        return torch.addmm(self.norms, queries, self.base.T, alpha=-2)

    def within(self, queries):
        scores = self.scores(queries)
        scores += (queries * queries).sum(1, keepdim=True)
        found = (scores <= self.radius).nonzero(as_tuple=True)
        return found[0], found[1], scores[found]

    def run(self, queries):
        torch.backends.cuda.matmul.allow_tf32 = self.tf32
        tile = max(1, TILE_BYTES // (self.base.shape[0] * self.base.element_size()))
        if self.radius is not None:  # nonzero takes fewer than 2³¹ values
            return [self.within(part) for part in self.ready(queries).split(max(1, tile // 2))]
        parts = self.ready(queries).split(tile)
        return torch.cat([torch.topk(self.scores(part), self.k, dim=1, largest=False).indices for part in parts])


def host_run(name, base, queries, problem):
    search = Search(name, base.to("cuda", non_blocking=True), problem)
    return search.run(queries.to("cuda", non_blocking=True)).cpu()


def why_not(name, problem):
    if name == "torch fp16" and problem["data"] == "bytes":
        return "sums of squares overflow"
    if name == "torch fp16" and problem.get("radius") is not None:
        return "the radius is below what it can tell apart"
    if name == "torch cdist" and (problem["metric"] != "sqeuclidean" or problem.get("radius") is not None):
        return "not measured"
    return ""


def judge(base, queries, problem, found):
    """Recall by squared distances, of unit vectors for cosine; a radius search has only its number of neighbors."""
    if problem.get("radius") is not None:
        return {"neighbors": sum(part[0].numel() for part in found)}
    if problem["metric"] == "cosine":
        normalize = torch.nn.functional.normalize
        return recall(normalize(base), normalize(queries[:: max(1, len(queries) // 16)]), "sqeuclidean",
                      found[:: max(1, len(queries) // 16)])
    return recall(base, queries, "sqeuclidean", found)


def measure_problem(problem, name, other):
    row = {key: problem[key] for key in
           ("figure", "problem", "queries", "base_rows", "dims", "k", "self", "metric", "data", "radius")
           if key in problem}
    row["contender"] = name
    reason = why_not(name, problem)
    if reason:
        return {**row, "status": "unsupported", "reason": reason}
    base = points(problem["base_rows"], problem["dims"], problem["data"], 1)
    queries = base if problem.get("self") else points(problem["queries"], problem["dims"], problem["data"], 2)
    if problem["contender"] == "host":
        host_base, host_queries = base.cpu().pin_memory(), queries.cpu().pin_memory()
        work = lambda: host_run(name, host_base, host_queries, problem)  # noqa: E731
    else:
        search = Search(name, base, problem)
        work = lambda: search.run(queries)  # noqa: E731
    measure(row, work, lambda found: judge(base, queries, problem, found if isinstance(found, list) else found.cuda()),
            1500, 3000, other)
    return row


def problems_of(path, wanted):
    with open(path, encoding="utf-8") as file:
        runs = [run for run in json.load(file)["runs"] if run["suite"] == SUITE and run["program"] != "torch"]
    if not runs:
        sys.exit(f"torch_knn.py: {path} has no run of {SUITE}")
    return [row for row in runs[-1]["rows"]
            if row["contender"] in ("auto", "host") and wanted in ("", row["figure"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True, help="the file with the problems, to which the results are added")
    parser.add_argument("--row", default="", help="only the problem of this name")
    parser.add_argument("--quick", action="store_true", help="recorded; the problems are those of the file")
    parser.add_argument("--driver", default="", help="what to record as the version of the device's driver")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("torch_knn.py: no CUDA device here", file=sys.stderr)
        sys.exit(5)
    other = torch.zeros(1 << 27, device="cuda")
    rows = []
    for problem in problems_of(arguments.json, arguments.row):
        for name in PRECISIONS:
            try:
                row = measure_problem(problem, name, other)
            except torch.cuda.OutOfMemoryError:
                row = {"figure": problem["figure"], "contender": name, "status": "skipped", "reason": "out of memory"}
            torch.cuda.empty_cache()
            print(f"{name} {problem['figure']}: {row.get('median_ms', row.get('reason'))}, recall "
                  f"{row.get('recall', '–')}", flush=True)
            rows.append(row)
    run = {"program": "torch", "suite": SUITE,
           "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
           "torch": torch.__version__,
           "device": {"name": torch.cuda.get_device_name(), "driver": arguments.driver},
           "quick": arguments.quick, "complete": not arguments.row, "rows": rows}
    append_run(arguments.json, run)


if __name__ == "__main__":
    main()
