#!/usr/bin/env python3
"""Prints which folder includes which, and fails on a cycle or on an edge that ALLOWED does not have.

usage: scripts/include_graph.py [--quiet]    --quiet prints only what is wrong

A file belongs to the deepest folder named in ALLOWED that holds it. What lies in a folder's papers/ exists for comparison
with a publication: it counts as part of that folder, and only other papers/, the files of DISPATCH, tests and benchmarks
may include it.
"""

import collections
import pathlib
import re
import sys

PUBLIC = {"include", "include/kith"}
CORE = PUBLIC | {"src/core"}
CHOICE = CORE | {"src/plan", "src/backend"}
DEVICE_BASE = CORE | {"src/cuda/runtime", "src/cuda/primitives", "src/cuda/points"}
DEVICE = CHOICE | DEVICE_BASE | {"src/cuda/distance", "src/cuda/select"}
SEARCHES = {"src/cuda/bits", "src/cuda/pairs", "src/cuda/brute", "src/cuda/radius", "src/cuda/triangle", "src/cuda/shifted_sort", "src/cuda/tree"}
LIBRARY = CHOICE | {"src/api", "src/cpu", "src/io"}
DEVICE_LIBRARY = DEVICE | SEARCHES | {"src/cuda/tensor", "src/cuda/reduce", "src/cuda/graph", "src/cuda/host_data"}

BENCH_SUITE = CORE | DEVICE_LIBRARY | {"bench/common", "bench/device/harness", "support"}

# What each folder may include besides itself.
ALLOWED = {
    "include": set(),
    "include/kith": set(),
    "src/core": PUBLIC,
    "src/plan": CORE,
    "src/backend": CORE | {"src/plan"},
    "src/io": CORE,
    "src/api": CHOICE,
    "src/pivots": CHOICE | {"src/api", "src/cpu"},
    "src/c": CORE | {"src/api"},
    "src/cpu": CHOICE,
    "src/custom": CHOICE | {"src/api", "src/cpu"},
    "src/shards": CHOICE | {"src/api", "src/cpu"},
    "src/cuda/runtime": CORE,
    "src/cuda/primitives": CORE | {"src/cuda/runtime"},
    "src/cuda/points": DEVICE_BASE,
    "src/cuda/distance": DEVICE_BASE | {"src/plan"},
    "src/cuda/select": DEVICE_BASE | {"src/plan"},
    "src/cuda/tensor": DEVICE_BASE | {"src/cuda/distance"},
    "src/cuda/reduce": DEVICE,
    "src/cuda/bits": DEVICE,
    "src/cuda/pairs": DEVICE,
    "src/cuda/brute": DEVICE | {"src/cuda/tensor", "src/cuda/reduce"},
    "src/cuda/radius": DEVICE | {"src/cuda/brute", "src/cuda/tensor"},
    "src/cuda/triangle": DEVICE | {"src/cuda/reduce"},
    "src/cuda/shifted_sort": DEVICE | {"src/cuda/reduce"},
    "src/cuda/tree": DEVICE | {"src/cuda/radius"},
    "src/cuda/graph": DEVICE,
    "src/cuda/host_data": CHOICE | DEVICE_BASE | {"src/cuda/radius"},
    "src/cuda": DEVICE_LIBRARY,
    "emulator": set(),
    "support": PUBLIC,
    "cli": CORE | {"support"},
    "python/src": LIBRARY,
    "examples": PUBLIC,
    "fuzz": CORE | {"src/io", "src/backend", "src/api"},
    "bench/common": CORE | {"support"},
    "bench/cpu/problem": PUBLIC | {"bench/common", "support"},
    "bench/cpu/suites": {"bench/common", "bench/cpu/problem"},
    "bench/cpu/contenders": PUBLIC | {"bench/common", "bench/cpu/problem", "support"},
    "bench/cpu": PUBLIC | {"bench/common", "bench/cpu/problem", "bench/cpu/contenders", "bench/cpu/suites", "support"},
    "bench/plan": CORE | {"src/plan"},
    "bench/words": PUBLIC | {"bench/common", "bench/cpu"},
    "bench/device/harness": PUBLIC | DEVICE_BASE | {"bench/common"},
    "bench/device/select": BENCH_SUITE,
    "bench/device/search": BENCH_SUITE,
    "bench/device/lowdim": BENCH_SUITE,
    "bench/device": BENCH_SUITE | {"src/cpu", "bench/device/select", "bench/device/search", "bench/device/lowdim"},
    "tests": LIBRARY | DEVICE_LIBRARY | {"src/cuda", "src/custom", "src/pivots", "src/shards", "emulator"},
}

# The files that choose among a folder's methods.
DISPATCH = {
    "src/cuda/select/select.cpp",
    "src/cuda/triangle/triangle_search.cpp",
    "src/cuda/shifted_sort/shifted_sort_search.cpp",
}

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(kith/[^>]+)>)')
# Where the compiler looks for them, beside the folder of the file that includes.
SEARCHED = ["src", "include", ".", "emulator", "emulator/include", "tests", "tests/cuda", "tests/cuda_api", "bench"]


def sources():
    for top in sorted({folder.split("/")[0] for folder in ALLOWED}):
        yield from sorted(path for path in (ROOT / top).rglob("*") if path.suffix in SUFFIXES)


def folder_of(path):
    for parent in pathlib.PurePosixPath(path).parents:
        if str(parent) in ALLOWED:
            return str(parent)
    return None


def includes(path):
    """(line number, included file) of each include that is ours, both relative to the root."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            name = match[1] or match[2]
            for start in [path.parent, *(ROOT / folder for folder in SEARCHED)]:
                if (start / name).is_file():
                    yield number, (start / name).resolve().relative_to(ROOT).as_posix()
                    break


def wrong(source, target):
    """Why a file may not include another, or nothing."""
    here, there = folder_of(source), folder_of(target)
    if there is None:
        return f"{target} lies in no folder that is known"
    if here != there and there not in ALLOWED[here]:
        return f"{here} may not include {there}"
    if "/papers/" in target and "/papers/" not in source and source not in DISPATCH and here.split("/")[0] not in ("bench", "tests"):
        return "it is for comparison with a paper"
    return None


def cycle(graph):
    """Folders that include one another in a ring, or nothing."""
    done, trail = set(), []

    def visit(folder):
        if folder in trail:
            return trail[trail.index(folder):] + [folder]
        if folder not in done:
            trail.append(folder)
            for there in sorted(set(graph.get(folder, ())) - {folder}):
                if found := visit(there):
                    return found
            trail.pop()
            done.add(folder)
        return None

    for folder in sorted(graph):
        if found := visit(folder):
            return found
    return None


def main():
    edges, faults = collections.defaultdict(collections.Counter), []
    for path in sources():
        source = path.relative_to(ROOT).as_posix()
        if folder_of(source) is None:
            faults.append(f"{source}: lies in no folder that is known")
            continue
        for number, target in includes(path):
            if reason := wrong(source, target):
                faults.append(f"{source}:{number}: includes {target}: {reason}")
            if folder_of(target) not in (None, folder_of(source)):
                edges[folder_of(source)][folder_of(target)] += 1
    if ring := cycle(edges):
        faults.append("cycle: " + " -> ".join(ring))
    if ring := cycle(ALLOWED):
        faults.append("cycle in ALLOWED: " + " -> ".join(ring))
    if "--quiet" not in sys.argv:
        for folder in ALLOWED:
            print(f"{folder} -> {', '.join(f'{there} ({count})' for there, count in sorted(edges[folder].items()))}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
