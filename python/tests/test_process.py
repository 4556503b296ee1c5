"""What a library must not do to its process: signals, threads, forks, references, progress."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import kith


def test_ctrl_c_stops_a_long_search(rng):
    base = rng.standard_normal((200_000, 64)).astype(np.float32)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        kith.search(base, base, 10, backend="cpu", method="brute", metric="manhattan")
    assert time.monotonic() - begin < 20
    timer.join()


@pytest.mark.parametrize("installed", [True, False])
def test_progress_bar(rng, capsys, monkeypatch, installed):
    if not installed:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    base = rng.standard_normal((2000, 8)).astype(np.float32)
    kith.search(base, base, 3, backend="cpu", progress=True)
    assert "100%" in capsys.readouterr().err


def test_threads_at_once(rng):
    base = rng.standard_normal((2000, 16)).astype(np.float32)
    index = kith.Index(base)
    want = index.search(base[:100], 5)
    wrong = []

    def work(seed):
        for _ in range(5):
            got = index.search(base[:100], 5) if seed % 2 else kith.search(base, base[:100], 5)
            if not ((got.indices == want.indices).all() and (got.distances == want.distances).all()):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_released(rng):
    base = rng.standard_normal((40_000, 64)).astype(np.float32)
    ticks = []
    done = threading.Event()

    def search():
        kith.search(base, base[:2000], 10, backend="cpu", metric="manhattan")
        done.set()

    thread = threading.Thread(target=search)
    thread.start()
    while not done.wait(0.005):
        ticks.append(1)
    thread.join()
    assert len(ticks) >= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_searches_by_one_thread(rng):
    base = rng.standard_normal((3000, 32)).astype(np.float32)
    index = kith.Index(base, backend="cpu")
    want = index.search(base[:200], 5)  # the parent has used threads
    answers = multiprocessing.get_context("fork").SimpleQueue()

    def child():
        got = index.search(base[:200], 5)
        once = kith.search(base, base[:200], 5, backend="cpu")
        try:
            kith.search(base, base, 1, threads=2, backend="cpu")
            refused = False
        except ValueError as error:
            refused = "fork" in str(error)
        answers.put(
            (
                bool((got.indices == want.indices).all()),
                bool((once.indices == want.indices).all()),
                refused,
                got.report.plan.threads,
            )
        )

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    hung = process.is_alive()
    if hung:
        process.kill()
    assert not hung and answers.get() == (True, True, True, 1)


def test_nothing_is_left_when_the_interpreter_ends():
    """nanobind says so on standard error where the module outlives it."""
    source = "import numpy as np, kith; x = np.eye(9); kith.Index(x).search(x, 2); kith.graph(x, 2); kith.topk(x, 1)"
    done = subprocess.run([sys.executable, "-c", source], text=True, stderr=subprocess.PIPE, check=True)
    assert done.stderr == ""


def test_no_references_leak(rng):
    base = rng.standard_normal((200, 4)).astype(np.float32)
    queries = base[:3].copy()
    index = kith.Index(base)

    def calls():
        kith.search(base, queries, 2)
        index.search(queries, 2)
        kith.search_radius(base, queries, 1.0)
        kith.topk(base, 2)
        kith.graph(base, 2)
        with pytest.raises(ValueError):
            kith.search(base, queries, 1000)

    calls()
    gc.collect()
    before = sys.getrefcount(base), sys.getrefcount(queries)
    for _ in range(20):
        calls()
    gc.collect()
    assert (sys.getrefcount(base), sys.getrefcount(queries)) == before


def test_memory_does_not_grow():
    """In a process of its own: large answers come and go."""
    script = textwrap.dedent("""
        import resource, numpy as np, kith
        base = np.random.default_rng(0).standard_normal((2000, 4)).astype(np.float32)
        peaks = []
        for turn in range(12):
            kith.search(base, base, 500)
            kith.distances(base, base)
            kith.search_radius(base, base, 1.0)
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        assert peaks[-1] < peaks[4] + 20_000, peaks
        """)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_versions(capsys):
    kith.show_versions()
    assert f"kith       {kith.__version__}" in capsys.readouterr().out
    assert "cpu" in kith.versions()["backends"]
