"""``python -m kith convert``: makes files that the command line tool reads of those that it does not: Parquet, Arrow."""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from ._files import read, write


def main(arguments: Optional[List[str]] = None) -> int:
    """Returns the exit code: 0, or 1 for what cannot be read or written."""
    parser = argparse.ArgumentParser(prog="python -m kith")
    commands = parser.add_subparsers(dest="command", required=True)
    convert = commands.add_parser(
        "convert", help="write the points of a file, such as one of Parquet, in another format"
    )
    convert.add_argument("input", help="any file that kith.read() takes")
    convert.add_argument("output", help="its extension is the format: .npy, .fbin, .h5, ...")
    convert.add_argument("--column", help="the column of vectors of Parquet or Arrow, where there are several")
    asked = parser.parse_args(arguments)
    try:
        write(asked.output, read(asked.input, column=asked.column))
    except (OSError, ValueError, ImportError, MemoryError) as error:
        print(f"kith: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
