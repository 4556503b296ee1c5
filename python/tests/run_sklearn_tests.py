"""scikit-learn's own tests of its neighbors, of local outliers and of imputing by neighbors, of kith's estimators.

The estimators of kith.sklearn stand in sklearn.neighbors and sklearn.impute while they run. DIFFERENT names every test that may fail,
with the reason; one of them that passes, or that is not there, is an error.
"""

import os
import pathlib
import sys

import pytest
import sklearn.impute
import sklearn.neighbors

import kith.sklearn
from kith.sklearn._search import KithSearch

MOST_DIFFERENT = 12
LOWEST_INDEX = "of equal points the lowest index comes first; scikit-learn leaves out whichever came first of one more"
ROUNDED = "distances of float32 points are float32: more of them are equal, and of these the lowest index comes first"
ALGORITHMS = ("ball_tree", "brute", "kd_tree", "auto")
DIFFERENT = {
    **{f"test_k_and_radius_neighbors_duplicates[{algorithm}]": LOWEST_INDEX for algorithm in ALGORITHMS},
    **{f"test_lof_dtype_equivalence[{of}-True-{algorithm}]": ROUNDED for of in ("0.5", "auto") for algorithm in ALGORITHMS},
}

TESTS = [
    pathlib.Path(module.__file__).parent / "tests" / name
    for module, name in (
        (sklearn.neighbors, "test_neighbors.py"), (sklearn.neighbors, "test_lof.py"), (sklearn.impute, "test_knn.py"),
    )
]  # fmt: skip


class Marks:
    """Marks the tests of DIFFERENT as those that must fail, and counts indices, so that something was searched."""

    def __init__(self):
        self.absent, self.indices = set(DIFFERENT), 0
        make_index = KithSearch._index

        def counted(estimator, dtype):
            self.indices += 1
            return make_index(estimator, dtype)

        KithSearch._index = counted

    def pytest_collection_modifyitems(self, items):
        for item in items:
            if item.name in DIFFERENT:
                self.absent.remove(item.name)
                item.add_marker(pytest.mark.xfail(reason=DIFFERENT[item.name], strict=True))


def main():
    for name in kith.sklearn.__all__:
        module = sklearn.impute if name == "KNNImputer" else sklearn.neighbors
        setattr(module, name, getattr(kith.sklearn, name))
    os.environ["SKLEARN_RUN_FLOAT32_TESTS"] = "1"
    marks = Marks()
    status = pytest.main([*map(str, TESTS), "-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[marks])
    if marks.absent:
        sys.exit(f"listed as different, but not among the tests: {sorted(marks.absent)}")
    if len(DIFFERENT) > MOST_DIFFERENT:
        sys.exit(f"{len(DIFFERENT)} tests are listed as different; the limit is {MOST_DIFFERENT}")
    if marks.indices < 100:
        sys.exit(f"kith searched {marks.indices} times; the estimators do not stand in for scikit-learn's")
    sys.exit(status)


main()
