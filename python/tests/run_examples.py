"""Runs the examples, and the README's Python: what they print must be what they promise.

usage: run_examples.py EXAMPLES README
An example promises what follows "prints:" in its docstring. In the README, a block after <!-- python --> promises the
block after the next <!-- python prints -->.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^<!-- (python|python prints) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed_by(source, folder):
    done = subprocess.run([sys.executable, "-c", source], cwd=folder, text=True, stdout=subprocess.PIPE, check=True)
    return done.stdout.strip()


def cases(examples, readme):
    for path in sorted(examples.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        yield path.name, source, ast.get_docstring(ast.parse(source)).partition("prints:")[2].strip()
    blocks = BLOCK.findall(readme.read_text(encoding="utf-8"))
    for (kind, source), (next_kind, promised) in zip(blocks[::2], blocks[1::2]):
        if (kind, next_kind) != ("python", "python prints"):
            sys.exit(f"README: {kind} is followed by {next_kind}")
        yield "README", source, promised.strip()


def main():
    examples, readme = map(pathlib.Path, sys.argv[1:])
    failed, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
        for name, source, promised in cases(examples, readme):
            printed = printed_by(source, folder)
            count += 1
            if printed != promised:
                failed += 1
                print(f"{name} promised\n{promised}\nand printed\n{printed}\n")
    if failed or count < 4:
        sys.exit(f"{failed} of {count} differ")


main()
