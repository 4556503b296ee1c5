#!/usr/bin/env python3
"""Prints the results of kith_bench_device, and of torch_peers.py where there are any, as Markdown tables.

    report.py device.json [--suite select/must] [--against bench/results/select.json]

Of each suite the last complete run in the file is shown, or the last one where none is complete. With --against, times are
compared with those of the same contenders on the same problems in another file.
"""
import argparse
import json
import math
import sys


def timed(row):
    return row["status"] == "timed"


def power(number):
    """2^15 where it is one from 2^10 on, the number otherwise."""
    return f"2^{number.bit_length() - 1}" if number >= 1024 and number & (number - 1) == 0 else str(number)


def shape_of(row):
    return f"{power(row['rows'])} × {power(row['length'])}"


def milliseconds(row):
    if timed(row):
        return f"{row['median_ms']:.4g}"
    return {"skipped": "skipped", "unsupported": "–", "wrong": "WRONG", "counted": "–"}[row["status"]]


def billions(row):
    """Values of the matrix a second, in 10^9."""
    if timed(row):
        return f"{row['rows'] * row['length'] / row['median_ms'] * 1e-6:.0f}"
    return milliseconds(row)


def table(heads, lines):
    print("| " + " | ".join(str(head) for head in heads) + " |")
    print("|" + "---|" * len(heads))
    for line in lines:
        print("| " + " | ".join(str(cell) for cell in line) + " |")
    print()


def distinct(values):
    return list(dict.fromkeys(values))


def pivot(rows, line, column, cell, corner=""):
    """A line for each line(row), a column for each column(row), both in the order they come."""
    lines = distinct(line(row) for row in rows)
    columns = distinct(column(row) for row in rows)
    cells = {(line(row), column(row)): cell(row) for row in rows}
    table([corner] + columns, [[l] + [cells.get((l, c), "") for c in columns] for l in lines])


def ranking(rows):
    """Contenders by their time over that of the fastest on the same problem, geometric mean of the problems they did."""
    problems = {}
    for row in filter(timed, rows):
        problem = (row["rows"], row["length"], row["pattern"], row["k"], row["form"])
        problems.setdefault(problem, {})[row["contender"]] = row["median_ms"]
    factors = {}
    for times in problems.values():
        fastest = min(times.values())
        for contender, ms in times.items():
            factors.setdefault(contender, []).append(ms / fastest)
    lines = [
        (math.exp(sum(map(math.log, found)) / len(found)), contender, sum(f == 1 for f in found), len(found))
        for contender, found in factors.items()
    ]
    table(
        ["rank", "contender", "× the fastest, mean", "fastest in", "of"],
        [[i + 1, name, f"{mean:.2f}", first, count] for i, (mean, name, first, count) in enumerate(sorted(lines))],
    )


def left_aside(rows):
    """What was not timed, and why."""
    lines = [
        [row["figure"], shape_of(row), row["k"], row["contender"], row["status"], row.get("reason", "")]
        for row in rows
        if row["status"] in ("skipped", "wrong")
    ]
    if lines:
        print("Not timed:\n")
        table(["figure", "rows × length", "k", "contender", "", "why"], lines)


def by_figure(rows, figure):
    return [row for row in rows if row.get("figure", "") == figure]


def best_rate(run, name):
    """Of the ceilings whose name begins with this."""
    return max(ceiling["rate"] for ceiling in run["ceilings"] if ceiling["name"].startswith(name))


def has_ceiling(run, name):
    return any(ceiling["name"].startswith(name) for ceiling in run["ceilings"])


def bar_of(row):
    """What is asked, and whether it was reached."""
    return [row["bar"]["asked"], f"{row['bar']['result']}: {row['bar']['reached']}"] if "bar" in row else ["", ""]


def bars_met(rows):
    bars = [row["bar"]["result"] for row in rows if "bar" in row]
    if bars:
        print(f"Bars met: {bars.count('ok')} of {len(bars)}.\n")


def beside(row, peer):
    """A peer's milliseconds, and how many times as long that is."""
    if peer is None:
        return ["", ""]
    return [milliseconds(peer), f"{peer['median_ms'] / row['median_ms']:.1f}" if timed(peer) and timed(row) else ""]


# ---- select


def report_select_must(run, torch):
    rows = run["rows"]
    found = {(row["rows"], row["length"], row["k"], row["pattern"]): row for row in rows}
    peers = {(row["rows"], row["length"], row["k"], row["pattern"]): row for row in torch["rows"]} if torch else {}
    print(f"R = {best_rate(run, 'read'):.3f} TB/s.\n")
    lines = []
    for row in rows:
        if row["pattern"] != "random":
            continue
        key = (row["rows"], row["length"], row["k"])
        line = [shape_of(row), power(row["k"]), row.get("chosen", ""), milliseconds(row)]
        if timed(row):
            line += [f"{row['tb_per_s']:.2f}", f"{row['read_fraction']:.3f}"]
            line += [f"{row['same_bytes_read_ms'] / row['median_ms']:.3f}"]
        else:
            line += ["", "", ""]
        line += bar_of(row)
        for pattern in ("descending", "all-equal", "smooth"):
            other = found.get(key + (pattern,))
            line.append(f"{milliseconds(other)} ({' '.join(bar_of(other)[1:])})" if other else "")
        line += beside(row, peers.get(key + ("random",)))
        lines.append(line)
    table(
        ["rows × length", "k", "auto is", "ms", "TB/s", "of R", "of a read of the same bytes", "bar", "",
         "descending ms", "all-equal ms", "smooth ms", "torch.topk ms", "torch / kith"],
        lines,
    )
    bars_met(rows)


QUEUES = ("insertion", "heap", "merge")


def improvement(rows, variants):
    """Times of the plain queue over those of its variants, by k at N = 2^15 or by N at k = 2^8."""
    times = {(row["contender"], row["length"], row["k"]): row["median_ms"] for row in rows if timed(row)}

    def line(label, base, problems):
        cells = []
        for length, k in problems:
            both = times.get((base, length, k)), times.get((label, length, k))
            cells.append(f"{both[0] / both[1]:.2f}" if all(both) else "–")
        return [label] + cells

    by_k = distinct((row["length"], row["k"]) for row in rows if row["length"] == 1 << 15)
    by_length = sorted(distinct((row["length"], row["k"]) for row in rows if row["k"] == 1 << 8))
    for problems, head in ((by_k, lambda p: f"k = {p[1]}"), (by_length, lambda p: f"N = {power(p[0])}")):
        lines = [line(queue + variant, queue, problems) for queue in QUEUES for variant in variants]
        # A variant that was measured for one of them only is in the other table.
        lines = [cells for cells in lines if sum(cell != "–" for cell in cells[1:]) > 1]
        if lines and problems:
            table(["improvement"] + [head(p) for p in problems], lines)


def report_updates(updates):
    counted = [count for count in updates if "updates_a_row" in count]
    print("#### Figure 5: updates of a queue, mean of a row\n")
    slots = [0, 1, 2, 4, 8, 16, 32, 63]
    table(
        ["k = 64, slot"] + slots,
        [[c["queue"]] + [f"{c['updates_a_row'][s]:.1f}" for s in slots] for c in counted if c["k"] == 64],
    )
    totals = {(c["queue"], c["k"]): sum(c["updates_a_row"]) for c in counted}
    ks = distinct(c["k"] for c in updates)
    table(
        ["all slots"] + [f"k = {k}" for k in ks],
        [[q] + [f"{totals[q, k]:.0f}" if (q, k) in totals else "skipped" for k in ks] for q in QUEUES],
    )


def report_queues(run, _):
    rows = run["rows"]
    report_updates([row for row in rows if "queue" in row])
    rows = [row for row in rows if "queue" not in row]
    print("#### Table I: milliseconds, 2^13 rows\n")

    def column(row):
        return f"N = {power(row['length'])}, k = {row['k']}"

    optimized = [" +buf+hp"]
    names = [queue + variant for variant in ["", *optimized] for queue in (*QUEUES, "merge aligned")]
    names += ["truncated bitonic", "quick multi-select", "auto"]
    chosen = sorted((row for row in rows if row["contender"] in names), key=lambda row: names.index(row["contender"]))
    pivot(chosen, lambda row: row["contender"], column, milliseconds)
    ranking(chosen)
    print("#### Figure 6: buffered search\n")
    improvement(rows, [" +buffer", " +buffer+full", " +buffer+full+sort"])
    print("#### Figures 7 and 8: hierarchical partition\n")
    improvement(rows, [" +hp G=2", " +hp G=4", " +hp G=8"])
    print("#### Figure 9: both\n")
    improvement(rows, optimized)
    print("#### A row a warp: milliseconds\n")
    by_warp = [row for row in rows if row["contender"].startswith("warp: ")]
    if by_warp:
        pivot(by_warp, lambda row: row["contender"], column, milliseconds)
    left_aside(rows)


def k_column(row):
    return f"k = {row['k']}"


def contender_line(row):
    return row["contender"]


def report_best(rows):
    """Figure 5.5: the best thread queue of each k."""
    lines = []
    for k in distinct(row["k"] for row in rows):
        own = [row for row in rows if row["k"] == k and timed(row) and "tuning" not in row]
        tuned = [row for row in rows if row["k"] == k and timed(row) and "tuning" in row]
        if own and tuned:
            best = min(tuned, key=lambda row: row["median_ms"])
            lines.append([k, best["contender"], milliseconds(best), billions(best), milliseconds(own[0])])
    table(["k", "best", "ms", "10^9 values/s", "of its own choice, ms"], lines)


def report_thesis(run, _):
    rows = run["rows"]
    part = by_figure(rows, "Figures 5.2 and 5.3")
    if part:
        print(f"#### Figures 5.2 and 5.3: partial bitonic sort, {shape_of(part[0])}, milliseconds\n")
        pivot(part, contender_line, k_column, milliseconds)
    part = by_figure(rows, "Figure 5.5")
    if part:
        print(f"#### Figure 5.5: warp-select, {shape_of(part[0])}\n")
        pivot(part, contender_line, k_column, milliseconds, "ms")
        report_best(part)
    part = by_figure(rows, "Figure 5.6")
    if part:
        print("#### Figure 5.6: single-pass selection, 10^9 values a second\n")
        for shape in distinct(shape_of(row) for row in part):
            pivot([row for row in part if shape_of(row) == shape], contender_line, k_column, billions, shape)
        ranking(part)
    part = by_figure(rows, "Figure 5.7")
    if part:
        print(f"#### Figure 5.7: a single row, {shape_of(part[0])}, 10^9 values a second\n")
        pivot(part, contender_line, k_column, billions)
    part = by_figure(rows, "Figures 5.10 and 5.11")
    if part:
        print("#### Figures 5.10 and 5.11: multi-pass selection, 10^9 values a second\n")
        for shape in distinct(shape_of(row) for row in part):
            pivot(
                [row for row in part if shape_of(row) == shape],
                lambda row: f"{row['contender']}, {row['form']}",
                lambda row: f"k = {round(100 * row['k'] / row['length'])} %",
                billions,
                shape,
            )
        for form in ("sorted", "unsorted"):
            print(f"{form.capitalize()}:\n")
            ranking([row for row in part if row["form"] == form])
    left_aside(rows)


def report_variation(rows):
    def cell(row):
        if not timed(row):
            return milliseconds(row)
        return f"{row['mean_ms']:.4g} ± {100 * row['std_ms'] / row['mean_ms']:.2f} %"

    pivot(rows, lambda row: f"{row['contender']}, n = {power(row['length'])}", k_column, cell)


def report_multi_select(run, _):
    rows = run["rows"]
    for figure in distinct(row["figure"] for row in rows):
        part = by_figure(rows, figure)
        if figure == "Table 2":
            print("#### Table 2: mean and deviation over data sets, ms, 2^13 rows\n")
            report_variation(part)
            continue
        print(f"#### {figure}: milliseconds\n")
        for k in distinct(row["k"] for row in part):
            pivot([row for row in part if row["k"] == k], contender_line, shape_of, milliseconds, f"k = {k}")
        ranking(part)
    left_aside(rows)


# ---- search and lowdim


def problem_of(row):
    if "problem" in row:
        return row["problem"]
    shape = f"{row['queries']} × {row['base_rows']}" + (f" × {row['dims']}" if "dims" in row else "")
    parts = [row.get("name") or row.get("set", ""), shape, f"k {row['k']}" if "k" in row else ""]
    return " ".join(part for part in parts if part)


def report_search_must(run, torch):
    def key(row):
        return row["queries"], row["base_rows"], row["dims"], row["k"], row["metric"]

    peers = {(row["contender"], *key(row)): row for row in torch["rows"]} if torch else {}
    lines = []
    for row in run["rows"]:
        steps = ", ".join(f"{step['queries']} by {step['distance']}" for step in row.get("steps", []))
        line = [problem_of(row), row["data"], row["contender"], milliseconds(row), steps, *bar_of(row)]
        for name in ("torch fp32", "torch bf16"):
            line += beside(row, peers.get((name, *key(row))))
        lines.append(line)
    table(["problem", "data", "by", "ms", "queries", "bar", "", "torch fp32", "/ kith", "torch bf16", "/ kith"], lines)
    bars_met(run["rows"])


def report_engine(run, torch):
    """A line a contender; torch beside the row of the same name, with how many times as long it takes."""
    peers = {(row["contender"], row["figure"]): row for row in torch["rows"]} if torch else {}
    names = distinct(name for name, _ in peers)
    lines = []
    for row in run["rows"]:
        plan = row.get("plan", {})
        steps = ", ".join(f"{step['queries']} by {step['distance']}" for step in row.get("steps", []))
        by = f"{plan['method']} {plan['distance']}" + (f": {steps}" if steps else "") if plan else row["contender"]
        wall = f"{row['wall_median_ms']:.4g}" if "wall_median_ms" in row else milliseconds(row)
        shares = [f"{100 * row[name]:.0f} %" if name in row else "" for name in ("tensor_share", "read_share")]
        line = [row["figure"], row["problem"], wall, "" if "clock" in row else milliseconds(row), *bar_of(row),
                by, *shares]
        for name in names:
            peer = peers.get((name, row["figure"])) if row["contender"] in ("auto", "host") else None
            line.append(" ".join(f"({cell} ×)" if i else cell for i, cell in enumerate(beside(row, peer)) if cell))
        lines.append(line)
    rate = f"{best_rate(run, 'gemm fp16'):.0f} TFLOP/s of fp16, " if has_ceiling(run, "gemm fp16") else ""
    print(f"Ceilings: {rate}{best_rate(run, 'read'):.2f} TB/s read.\n")
    table(["row", "problem", "wall ms", "device ms", "bound", "", "by", "of tensor", "of read", *names], lines)
    bars_met(run["rows"])


def report_memory(run, _):
    def mebibytes(value):
        return f"{value / 2**20:.1f}"

    table(
        ["row", "problem", "by", "MiB", "of them outside pools", "planned MiB", "ratio", "first search MiB", ""],
        [[row["figure"], row["problem"], f"{row['plan']['method']} {row['plan']['distance']}",
          mebibytes(row["pool_bytes"] + row["outside_bytes"]), mebibytes(row["outside_bytes"]),
          mebibytes(row["planned_bytes"]), f"{row['ratio']:.3f}",
          mebibytes(row["first_pool_bytes"] + row["first_outside_bytes"]), *bar_of(row)[1:]]
         for row in run["rows"] if "ratio" in row],
    )
    bars_met(run["rows"])


def report_grid(run, _):
    """How near the planner's choices are to the best, by kind of points, and those that are not near."""
    rows = [row for row in run["rows"] if "ratio" in row]
    lines = []
    for kind in ["all", *distinct(row["data"] for row in rows)]:
        ratios = [row["ratio"] for row in rows if kind in ("all", row["data"])]
        near = sum(ratio <= 1.10 for ratio in ratios)
        lines.append([kind, len(ratios), near, f"{100 * near / len(ratios):.1f} %", f"{max(ratios):.2f}"])
    table(["points", "problems", "within 1.10 of the best", "", "worst"], lines)
    missed = sorted((row for row in rows if row["ratio"] > 1.10), key=lambda row: -row["ratio"])
    if missed:
        table(["problem", "choice", "ms", "best", "ms", "ratio"],
              [[row["problem"], f"{row['plan']['method']} {row['plan']['distance']}", milliseconds(row), row["best"],
                f"{row['best_ms']:.4g}", f"{row['ratio']:.2f}"] for row in missed])


def report_figures(run, _):
    """Billions of distances a second beside what the run's ceilings allow: one multiply-add a coordinate of a pair, or
    reading both sets of points, where stages run alone also writing the scores; whichever takes longer."""
    fma, read = best_rate(run, "fma"), best_rate(run, "read")

    def ceiling(row):
        pairs = row["queries"] * row["base_rows"]
        values = (row["queries"] + row["base_rows"]) * row["dims"] + (0 if "k" in row else pairs)
        return pairs / max(pairs * row["dims"] / fma, 4 * values / read) * 1e3

    for figure in distinct(row["figure"] for row in run["rows"]):
        part = by_figure(run["rows"], figure)
        print(f"#### Figure {figure}: 10^9 distances/s\n")
        contenders = distinct(row["contender"] for row in part)
        lines = {}
        for row in part:
            line = lines.setdefault(problem_of(row), {"ceiling": f"{ceiling(row):.4g}"})
            line[row["contender"]] = f"{row['g_distances_per_s']:.4g}" if timed(row) else "–"
        table(["", *contenders, "ceiling"],
              [[name] + [line.get(column, "") for column in (*contenders, "ceiling")] for name, line in lines.items()])


def report_contenders(run, _):
    """A table a figure: problems by contenders."""
    for figure in distinct(row.get("figure", "") for row in run["rows"]):
        part = by_figure(run["rows"], figure)
        if figure:
            print(f"#### {figure}\n")
        pivot(part, problem_of, contender_line, milliseconds, "ms")
    missed = [[problem_of(row), *bar_of(row)] for row in run["rows"] if row.get("bar", {}).get("result") == "missed"]
    if missed:
        table(["missed", "bar", ""], missed)
    bars_met(run["rows"])


def report_lowdim(run, _):
    columns = ["queries_a_ms", "orders_ms", "search_ms", "recall"]
    ratios = ["mean", "p99", "p999", "max", "from_1.5"]
    lines = [
        [problem_of(row)] + [f"{row[name]:.4g}" for name in columns] + [f"{row['ratio'][name]:.4g}" for name in ratios]
        for row in run["rows"]
        if timed(row)
    ]
    table(["", "queries/ms", "orders, ms", "search, ms", "recall"] + ["ε " + name for name in ratios], lines)


REPORTS = {
    "select/must": report_select_must,
    "select/queues": report_queues,
    "select/thesis": report_thesis,
    "select/multi-select": report_multi_select,
    "search/must": report_search_must,
    "search/engine": report_engine,
    "search/memory": report_memory,
    "search/grid": report_grid,
    "search/figures": report_figures,
}


# ---- comparison

PROBLEM = ("figure", "rows", "length", "pattern", "form", "set", "name", "queries", "base_rows", "dims", "k", "self",
           "metric", "data", "radius", "shifts", "window", "curve", "guaranteed", "merge", "positions", "contender")


def compare(run, before, tolerance):
    """Times over those of an earlier run; those that differ by more than the tolerance in a table."""
    old = {tuple(str(row.get(name)) for name in PROBLEM): row for row in before["rows"] if timed(row)}
    lines, ratios = [], []
    for row in filter(timed, run["rows"]):
        match = old.get(tuple(str(row.get(name)) for name in PROBLEM))
        if match is None:
            continue
        ratios.append(row["median_ms"] / match["median_ms"])
        if abs(ratios[-1] - 1) > tolerance:
            lines.append([row.get("figure", ""), problem_of(row), row["contender"], milliseconds(match),
                          milliseconds(row), f"{ratios[-1]:.3f}"])
    if not ratios:
        print("No row is in both files.\n")
        return
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"Against commit {before.get('commit')}: {len(ratios)} rows in both, {len(ratios) - len(lines)} within "
          f"{100 * tolerance:g} %; geometric mean {mean:.3f}, from {min(ratios):.3f} to {max(ratios):.3f}.\n")
    if lines:
        table(["figure", "problem", "contender", "ms before", "ms", "ratio"], lines)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"]


def last_run_of(runs, suite, program="kith_bench_device"):
    """The last complete one, or the last at all where none is."""
    found = None
    for run in runs:
        if run["suite"] == suite and run["program"] == program:
            if found is None or run.get("complete", True) or not found.get("complete", True):
                found = run
    return found


def head(run):
    device = run["device"]
    print(f"### {run['suite']}\n")
    print(f"{device['name']}, driver {device.get('driver') or 'not recorded'}, commit {run['commit']}, {run['date']}.\n")
    if not run.get("complete", True):
        print("Only a part of the suite was run.\n")
    if run.get("left_out"):
        print(f"Left out: {run['left_out']}.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--suite", action="append", help="default: all that the file has")
    parser.add_argument("--against", help="an earlier file")
    parser.add_argument("--tolerance", type=float, default=0.03, help="of a ratio of times (default: 0.03)")
    arguments = parser.parse_args()
    runs = load(arguments.file)
    suites = distinct(run["suite"] for run in runs if run["program"] != "torch")
    shown = [suite for suite in suites if not arguments.suite or suite in arguments.suite]
    for suite in shown:
        run = last_run_of(runs, suite)
        head(run)
        if arguments.against:
            before = last_run_of(load(arguments.against), suite)
            if before:
                compare(run, before, arguments.tolerance)
            continue
        default = report_lowdim if suite.startswith("lowdim/") else report_contenders
        REPORTS.get(suite, default)(run, last_run_of(runs, suite, "torch"))
    if not shown:
        sys.exit(f"{arguments.file} has no suite to show")


if __name__ == "__main__":
    main()
