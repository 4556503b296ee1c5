#!/usr/bin/env python3
"""Draws docs/times.svg, times of exact searches beside their peers, from the files in bench/results.

usage: scripts/draw_times.py [PICTURE.svg]    needs matplotlib, from PyPI
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLORS = {"Kith": "#1b6ca8", "FAISS": "#e2a458", "nanoflann": "#9a9a9a",
          "PyTorch fp32": "#c7522a", "PyTorch bf16, not exact": "#e8b4a0"}
CPU_NAMES = {"kith": "Kith", "faiss": "FAISS", "nanoflann": "nanoflann"}
DEVICE_NAMES = {"auto": "Kith", "torch fp32": "PyTorch fp32", "torch bf16": "PyTorch bf16, not exact"}


def load(name):
    return json.loads((ROOT / "bench/results" / name).read_text(encoding="utf-8"))


def label(row, queries, points, k):
    """What a row differs in from most of its panel."""
    parts = [f"d = {row['dims']}"]
    if row["self"]:
        parts[0] = f"all pairs of {row['base_rows']:,}, " + parts[0]
    elif row["queries"] != queries:
        parts.append(f"{row['queries']:,} " + ("query" if row["queries"] == 1 else "queries"))
    if row["base_rows"] != points and not row["self"]:
        parts.append(f"{row['base_rows']:,} points")
    if row["k"] != k:
        parts.append(f"k = {row['k']}")
    if row["metric"] != "sqeuclidean":
        parts.append(row["metric"])
    return ", ".join(parts)


def ordered(rows):
    """Each row's label and times by contender: plain rows first, by dimensions."""
    rows = sorted(rows, key=lambda row: (row[0].count(","), row[1]["dims"]))
    return {name: times for name, _, times in rows if len(times) > 1}


def cpu():
    file = load("cpu-search.json")
    rows = []
    for row in file["rows"]:
        exact = {CPU_NAMES[one["name"]]: one["median_ms"] for one in row["contenders"]
                 if one["name"] in CPU_NAMES and one["check"]["status"] != "inexact"}
        if row["dtype"] == "float32" and row["data"] == "uniform" and row["queries"] != 8:
            rows.append((label(row, 1000, 100000, 10), row, exact))
    machine = f"{file['machine']['cpu']}, {file['threads']} threads (commit {file['kith']['commit'][:7]})"
    return f"{machine}\n1,000 queries, 100,000 points, k = 10", ordered(rows)


def device():
    runs = load("search-device.json")["runs"]
    ours = next(run for run in runs if run["suite"] == "search/must" and run["program"] != "torch")
    theirs = next(run for run in runs if run["program"] == "torch")
    rows = {}
    for row in ours["rows"] + theirs["rows"]:
        if row["status"] == "timed" and row["contender"] in DEVICE_NAMES:
            name = label(row, 10000, 1000000, 10)
            rows.setdefault(name, (name, row, {}))[2][DEVICE_NAMES[row["contender"]]] = row["median_ms"]
    machine = f"{ours['device']['name']} (commit {ours['commit']}), torch {theirs['torch'].split('+')[0]}"
    return f"{machine}\n10,000 queries, 1,000,000 points, k = 10", ordered(rows.values())


def draw(axes, title, rows):
    least, most = (pick(time for times in rows.values() for time in times.values()) for pick in (min, max))
    left = least / 2
    for at, times in enumerate(rows.values()):
        height = 0.8 / len(times)
        for place, (name, time) in enumerate(times.items()):
            y = at - 0.4 + (place + 0.5) * height
            axes.barh(y, time - left, height, left, color=COLORS[name], clip_on=False)
            axes.text(time * 1.1, y, f"{time:,.0f}" if time > 99 else f"{time:.3g}", va="center", fontsize=6.5, color="#444444")
    axes.set_xscale("log")
    axes.set_xlim(left, most * 1.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.xaxis.minorticks_off()
    axes.set_yticks(range(len(rows)), rows.keys())
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("milliseconds")
    axes.set_title(title, fontsize=8, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    names = [name for name in COLORS if any(name in times for times in rows.values())]
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=COLORS[name]) for name in names], names, frameon=False, fontsize=8,
                ncols=len(names), loc="lower left", bbox_to_anchor=(-0.05, 1.09), borderaxespad=0, handlelength=1,
                columnspacing=1)


def main():
    plt.rcParams.update({"font.family": "sans-serif", "font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "kith"})
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")
    for axes, (title, rows) in zip(panels, (device(), cpu())):
        draw(axes, title, rows)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/times.svg", metadata={"Date": None})


main()
