# SPDX-License-Identifier: Apache-2.0
"""Calls in slowed time (Benchmarks/lab/slow.c), all at once: what stops the machine for a while is shorter for them."""
import concurrent.futures
import os
import pathlib
import subprocess
import time

FACTOR = 4
SINCE = str(int(time.time()))


def library(folder):
    """Builds the library that slows time, and returns its path."""
    source = pathlib.Path(__file__).parents[2] / "Benchmarks/lab/slow.c"
    path = os.path.join(folder, "libslow.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl"], check=True)
    return path


def environment(path, factor):
    """The variables of a program for which time passes `factor` times slower."""
    return dict(os.environ, SLOW=str(factor), SLOW_SINCE=SINCE, LD_PRELOAD=path)


def judged(cases, run):
    """Runs all cases at once, those that fail again one by one, four times slower; prints a line for each. Returns how many
    failed. `run(case, factor)` returns whether the case passed, whether its clocks saw a stall, and its line."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        first = list(pool.map(lambda case: run(case, FACTOR), cases))
    for case, (good, _, text) in zip(cases, first):
        stalled = False
        if not good:
            print(f"scenario again: {text}", flush=True)
            good, stalled, text = run(case, 4 * FACTOR)
        # If the machine paused even then, nothing was proven about the program.
        failed += not good and not stalled
        verdict = "passed" if good else "undecided, the machine stalled" if stalled else "FAILED"
        print(f"scenario {verdict}: {text}", flush=True)
    return failed
