"""Progress of long calls: a bar of tqdm where it is installed, a plain line where it is not."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ._checks import described
from ._types import ProgressLike

Callback = Callable[[int, int], object]


@contextmanager
def _tqdm_bar(make_bar: Any) -> Iterator[Callback]:
    bar = make_bar(total=1.0, unit="", bar_format="{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}", desc="kith ")

    def show(done: int, total: int) -> None:
        bar.update(done / total - bar.n)

    try:
        yield show
    finally:
        bar.close()


@contextmanager
def _plain_line() -> Iterator[Callback]:
    def show(done: int, total: int) -> None:
        print(f"\rkith {100 * done // total:3d}%", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(file=sys.stderr)


class _Quiet:
    """No progress, at no cost."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


_QUIET = _Quiet()


@contextmanager
def _own(callback: Callback) -> Iterator[Callback]:
    yield callback


def showing(progress: ProgressLike) -> Any:
    """A context whose value is called with (done, total), or None.

    ``progress`` is False, True for a bar on standard error, or a function of its own; what that raises stops the work.
    """
    if progress is False or progress is None:
        return _QUIET
    if callable(progress):
        return _own(progress)
    if progress is not True:
        raise TypeError(f"progress must be True, False or a function of (done, total), not {described(progress)}")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain_line()
    return _tqdm_bar(tqdm)
