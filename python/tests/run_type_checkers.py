"""Type checkers over the package: how much of it has types, and what they make of typed_usage.py."""

import json
import pathlib
import subprocess
import sys

LEAST_COMPLETE = 0.95
USAGE = pathlib.Path(__file__).with_name("typed_usage.py")


def run(*command):
    done = subprocess.run([sys.executable, "-m", *command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout


def pyright(*arguments):
    answer = run("basedpyright", "--pythonpath", sys.executable, "--outputjson", *arguments)
    return json.loads(answer[answer.index("{") :])


def check_completeness():
    report = pyright("--verifytypes", "kith", "--ignoreexternal")["typeCompleteness"]
    share = report["completenessScore"]
    print(f"{100 * share:.1f} % of the public names have types")
    for symbol in report["symbols"]:
        if symbol["isExported"] and not (symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]):
            print("  without:", symbol["name"])
    return share >= LEAST_COMPLETE


def check_lines(name, refused):
    """The lines that a checker refuses are those marked as wrong."""
    lines = USAGE.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    for number in sorted(wrong ^ refused):
        print(f"{name}: {USAGE.name}:{number} is {'accepted' if number in wrong else 'refused'}: {lines[number - 1]}")
    return wrong == refused


def check_usage():
    found = pyright(str(USAGE))["generalDiagnostics"]
    by_pyright = {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}
    answer = run("mypy", "--strict", "--no-error-summary", "--cache-dir", "mypy-cache", str(USAGE))
    errors = [line.partition(": error:")[0] for line in answer.splitlines() if ": error:" in line]
    places = [(pathlib.Path(path).name, int(number)) for path, _, number in (error.rpartition(":") for error in errors)]
    by_mypy = {number for name, number in places if name == USAGE.name}
    elsewhere = [error for error, (name, _) in zip(errors, places) if name != USAGE.name]
    print(*elsewhere, sep="\n")
    return all((check_lines("pyright", by_pyright), check_lines("mypy", by_mypy), not elsewhere))


def main():
    sys.exit(0 if all((check_completeness(), check_usage())) else 1)


main()
