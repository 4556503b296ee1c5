"""Runs an example, or the Python of a document: what it prints must be what it promises.

usage: run_example.py EXAMPLE.py | DOCUMENT.md
An example promises what follows "prints:" in its docstring. In a document, a block after <!-- python --> promises the
block after the next <!-- python prints -->. Exits with 77, which is skipped, where a library that is too large to be
installed for it is not here; all others must be.
"""

import ast
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^<!-- (python|python prints) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOO_LARGE = {"torch", "pyspark", "ray"}
SKIPPED = 77


def cases(path):
    """Sources, and what they promise."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield text, ast.get_docstring(ast.parse(text)).partition("prints:")[2].strip()
        return
    blocks = BLOCK.findall(text)
    for (kind, source), (next_kind, promised) in zip(blocks[::2], blocks[1::2]):
        if (kind, next_kind) != ("python", "python prints"):
            sys.exit(f"{path.name}: {kind} is followed by {next_kind}")
        yield source, promised.strip()


def missing_library(source):
    """One of TOO_LARGE that the source imports and that is not installed, else None."""
    lines = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    imported = {alias.name.partition(".")[0] for line in lines for alias in line.names}
    return next((name for name in imported & TOO_LARGE if importlib.util.find_spec(name) is None), None)


def main():
    path = pathlib.Path(sys.argv[1])
    count = 0
    for source, promised in cases(path):
        missing = missing_library(source)
        if missing:
            print(f"{path.name} is skipped: {missing} is not installed")
            sys.exit(SKIPPED)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", source], cwd=folder, text=True, stdout=subprocess.PIPE, check=True
            )
        if done.stdout.strip() != promised:
            sys.exit(f"{path.name} promised\n{promised}\nand printed\n{done.stdout}")
        count += 1
    if count == 0:
        sys.exit(f"{path.name} promises nothing")


main()
