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
def test_a_forked_child_searches_as_its_parent(rng):
    base = rng.standard_normal((3000, 32)).astype(np.float32)
    index = kith.Index(base, backend="cpu", threads=3)
    want = index.search(base[:200], 5)  # the parent has used threads
    answers = multiprocessing.get_context("fork").SimpleQueue()

    def child():
        got = [index.search(base[:200], 5), kith.search(base, base[:200], 5, backend="cpu", threads=3)]
        threads = len(os.listdir("/proc/self/task"))
        answers.put(([bool((one.indices == want.indices).all()) for one in got], got[0].report.plan.threads, threads))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    hung = process.is_alive()
    if hung:
        process.kill()
    assert not hung
    right, planned, threads = answers.get()
    assert all(right) and planned == 3 and threads >= 3


@pytest.mark.parametrize("distance", ["auto", "gemm"])
def test_python_ends_while_a_daemon_thread_searches(distance):
    """With the usual exit code and no message: the thread wants the GIL when nobody has it any more."""
    script = textwrap.dedent(f"""
        import threading, time, numpy as np, kith
        points = np.random.default_rng(0).random((200_000, 64), dtype=np.float32)
        begun = threading.Event()
        def search():
            kith.search(points, points, 10, distance="{distance}", backend="cpu", method="brute",
                        progress=lambda done, total: begun.set())
        threading.Thread(target=search, daemon=True).start()
        begun.wait()
        """)
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")


def test_limits_of_other_libraries_are_kept():
    """threadpoolctl sets OpenMP's number of threads in the calling thread, which an index asks at every search."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    index = kith.Index(np.zeros((100_000, 32), np.float32), backend="cpu")
    with threadpoolctl.threadpool_limits(1):
        assert index.explain(10_000, 10).threads == 1
        assert kith.explain((100_000, 32), 10_000, 10, backend="cpu").threads == 1


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
    versions = kith.versions()
    assert "cpu" in versions["backends"]
    assert int(versions["threads"].split()[0]) >= 1 and "(" in versions["threads"]
