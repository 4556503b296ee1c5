"""SciPy's own tests of its k-d trees (scipy/spatial/tests/test_kdtree.py), of kith's.

The two trees of kith.spatial stand in scipy.spatial while the tests are collected, which is when they take their names.
DIFFERENT names every test that may fail, with the reason; one of them that passes, or that is not there, is an error.
"""

import pathlib
import sys

import pytest
import scipy.spatial

import kith.spatial
from kith.spatial import _searches

MOST_DIFFERENT = 0
DIFFERENT = {}

TESTS = pathlib.Path(scipy.spatial.__file__).parent / "tests" / "test_kdtree.py"


class Run:
    """Puts kith's trees in the place of SciPy's, and counts tests and indices, so that something was searched."""

    def __init__(self):
        self.absent, self.passed, self.run, self.indices = set(DIFFERENT), 0, 0, 0
        self._theirs = {name: getattr(scipy.spatial, name) for name in kith.spatial.__all__}
        make_index = _searches.Index

        def counted(*arguments, **keywords):
            self.indices += 1
            return make_index(*arguments, **keywords)

        _searches.Index = counted

    def pytest_collection(self):
        for name in kith.spatial.__all__:
            setattr(scipy.spatial, name, getattr(kith.spatial, name))

    def pytest_collection_modifyitems(self, items):
        for item in items:
            assert item.module.KDTree is kith.spatial.KDTree and item.module.cKDTree is kith.spatial.cKDTree
            if item.name in DIFFERENT:
                self.absent.discard(item.name)
                item.add_marker(pytest.mark.xfail(reason=DIFFERENT[item.name], strict=True))

    def pytest_collection_finish(self):
        # Nodes come from SciPy's own trees.
        for name, theirs in self._theirs.items():
            setattr(scipy.spatial, name, theirs)

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.run += 1
            self.passed += report.outcome == "passed"


def main():
    run = Run()
    # SciPy's marks are of a plugin that is not here.
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestUnknownMarkWarning"]
    status = pytest.main([str(TESTS), *quiet, *sys.argv[1:]], plugins=[run])
    print(f"{run.run} of SciPy's tests run, {run.passed} passed, {len(DIFFERENT)} may fail")
    for name, reason in DIFFERENT.items():
        print(f"  {name}: {reason}")
    if run.absent:
        sys.exit(f"listed as different, but not among the tests: {sorted(run.absent)}")
    if len(DIFFERENT) > MOST_DIFFERENT:
        sys.exit(f"{len(DIFFERENT)} tests are listed as different; the limit is {MOST_DIFFERENT}")
    if run.indices < 100:
        sys.exit(f"kith searched {run.indices} indices; the trees do not stand in for SciPy's")
    sys.exit(status)


main()
