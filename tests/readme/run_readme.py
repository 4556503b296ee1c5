"""Runs the README, or a document: its marked blocks, in one shell and one empty folder, as a reader would paste them.

A block is marked by an HTML comment on the line before it:
  <!-- run -->          shell commands; they must succeed
  <!-- prints -->       what the commands before it print on standard output
  <!-- file: NAME -->   a file that the commands find in their folder

usage: run_readme.py README PREFIX EXAMPLES
PREFIX holds an installed tree; it is seen as $HOME/.local, where the README installs to. A file that also lies in
EXAMPLES must be the same there, but for CMakeLists.txt.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^<!-- (run|prints|file: (\S+)) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "--- end of block ---"


def fail(message):
    sys.exit(f"{sys.argv[1]}: {message}")


def run(scripts, folder, home):
    """What each script prints, all run by one shell."""
    whole = "".join(f"{script}\necho '{END}'\n" for script in scripts)
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", whole], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    printed = done.stdout.split(END + "\n")
    if done.returncode != 0:
        fail(f"exit code {done.returncode} from\n{scripts[len(printed) - 1]}\n{printed[-1]}")
    return printed


def main():
    readme, prefix, examples = map(pathlib.Path, sys.argv[1:])
    scripts, promised, files = [], {}, {}
    for kind, name, body in BLOCK.findall(readme.read_text(encoding="utf-8")):
        if kind == "run":
            scripts.append(body)
        elif kind == "prints":
            promised[len(scripts) - 1] = body
        else:
            files[name] = body
    if not (scripts and promised and files):
        fail(f"too little is marked: {len(scripts)} to run, {len(promised)} printed, {len(files)} files")

    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        (home / ".local").symlink_to(prefix.resolve())
        folder = home / "work"
        folder.mkdir()
        for name, body in files.items():
            (folder / name).write_text(body, encoding="utf-8")
            example = examples / name
            if name != "CMakeLists.txt" and example.exists() and example.read_text(encoding="utf-8") != body:
                fail(f"{name} differs from {example}")
        printed = run(scripts, folder, home)
    for number, text in promised.items():
        if printed[number].strip() != text.strip():
            fail(f"promised\n{text}\nprinted\n{printed[number]}")


main()
