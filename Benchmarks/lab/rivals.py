#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lab's cases that are a claim, ours and others' in turn: `scripts/bench calls rivals`. Prints a table with limits.

Each run starts both servers anew, so that each has another phase between them. A case is judged on the chirps (delay), on a
sine, on noise, which nobody can conceal, and on speech. Time is slowed for all programs of a run (slow.c), LAB_SLOW times at 128
frames and twice as much at 64, and as many runs go on at once as there is room for (LAB_JOBS).
"""
import argparse
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from statistics import median

import lab


@dataclass(frozen=True)
class Case:
    peer: str
    options: str
    frames: int
    network: str
    kinds: tuple
    delay: float = 0  # limits of ours: milliseconds from mouth to ear
    faults: float = -1  # a minute, unrepaired, or on a clean line heard in the sine


CLEAN = ("both", "speech")
LOSSY = ("noise", "both", "speech")
OURS, AUTO = "codec=pcm,dial=sing,apart,warm=14", "q=auto,s=3,warm=14"
CASES = [
    Case("direct", "", 64, "clean", ("both",)),
    Case("earshot", OURS, 64, "clean", CLEAN, 4.5, 0),
    Case("jacktrip", "q=4,udprt", 64, "clean", CLEAN),
    Case("zita", "buff=2,warm=10", 64, "clean", CLEAN),
    Case("earshot", "codec=opus,frame=2.5,dial=sing,apart,warm=14", 64, "clean", CLEAN, 10.5),
    Case("earshot", "codec=opus-custom,dial=sing,apart,warm=14", 64, "clean", CLEAN, 7.5),
    Case("jamulus", "jb=auto,warm=12", 64, "clean", CLEAN),
    Case("earshot", OURS, 128, "l1j5", LOSSY, 16.5, 3),
    Case("jacktrip", "q=8,r=2,udprt", 128, "l1j5", LOSSY),
    Case("jacktrip", AUTO, 128, "l1j5", LOSSY),
    Case("earshot", OURS, 128, "stall5", LOSSY, 15, 3),
    Case("jacktrip", "q=8,r=2,udprt", 128, "stall5", LOSSY),
    Case("earshot", "codec=pcm,dial=0.15,apart,warm=24", 128, "l5j20", LOSSY, 31, 20),
    Case("jacktrip", "q=12,r=2,udprt", 128, "l5j20", LOSSY),
]
SLOW = max(1, int(os.environ.get("LAB_SLOW", 20)))
JOBS = int(os.environ.get("LAB_JOBS", 0))
SECONDS = {"both": 13, "noise": 13, "speech": 16}
if "LAB_SECONDS" in os.environ:
    SECONDS = dict.fromkeys(SECONDS, int(os.environ["LAB_SECONDS"]))


def spread(values, form="{:.1f}"):
    values = [v for v in values if v is not None]
    if not values:
        return ""
    middle = form.format(median(values))
    return middle if len(values) == 1 else f"{middle} ({form.format(min(values))} to {form.format(max(values))})"


def line(case, runs):
    """A row, and whether ours is within its limits."""
    good = [r for r in runs if "error" not in r]
    upto = lambda values, limit: bool(values := [v for v in values if v is not None]) and median(values) <= limit
    of = lambda kind: [r for r in good if r["kind"] == kind]
    silent = sum(r["lat"]["n"] <= r["lat"]["lost"] for r in good)
    delays = [r.get("m2e_med") for r in good]
    unrepaired, heard = [r["unrepaired_per_min"] for r in of("noise")], [r["glitch_per_min"] for r in of("both")]
    alone = [r["glitches_alone"] for r in of("both")]
    processes = [p for p in (good[0]["cpu"] if good else {}) if p not in ("jackd", "wire")]
    cpu = "; ".join(f"{p} " + spread([sum(r["cpu"][p]) / len(r["cpu"][p]) for r in good]) for p in processes)
    rate = median([r["kbps"]["A"] for r in good]) if good else 0
    limits, within = [], bool(good)
    if case.delay:
        within &= upto(delays, case.delay)
        limits.append(f"{case.delay} ms")
    if case.faults >= 0:
        within &= upto(unrepaired or alone, case.faults)
        limits.append(f"{case.faults:g} a minute")
    verdict = ", ".join(limits) + ("" if within or not limits else ": **missed**")
    return (f"| {case.peer} {case.options} | {case.frames} {case.network} | {spread(delays, '{:.2f}')} | {spread(unrepaired)} | "
            f"{spread(heard)} | {sum(v or 0 for v in alone)} | {spread([r['bad_pct'] for r in of('both')], '{:.2f}')} | "
            f"{spread([r['pesq'] for r in of('speech')], '{:.2f}')}, {spread([r['estoi'] for r in of('speech')], '{:.3f}')} | "
            f"{rate / 1000:.2f} | {cpu} | {spread([float(r['xruns']['A']) + float(r['xruns']['B']) for r in good], '{:.0f}')} | "
            f"{', '.join(str(r['phase_ms']) for r in of('both'))} | {len(good)}, {len(runs) - len(good)}, {silent} | {verdict} |",
            within or not limits)


def table(results):
    print("| peer | frames, network | mouth to ear, ms | unrepaired a minute (noise) | glitches a minute (sine) | of them "
          "away from xruns, all runs | bad time, % | PESQ-WB, eSTOI | Mb/s | CPU of a process, % of a core | xruns a run | "
          "phases, ms | runs, failed, silent | limit |")
    print("|" + " --- |" * 14)
    within = True
    for case in CASES:
        runs = [r for r in results if (r["peer"], r["opts"], r["period"], r["cond"]) ==
                (case.peer, case.options, case.frames, case.network)]
        if runs:
            text, good = line(case, runs)
            within &= good
            print(text, flush=True)
    return within


def work():
    """A worker: a run for each line that comes in, a line of figures for each. Its reckoning waits for others' calls, which
    are sessions of their own."""
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:
        file.write("19")
    lab.net_down()  # names that another left behind
    try:
        for text in sys.stdin:
            peer, options, frames, network, kind, repeat = json.loads(text)
            print(json.dumps(lab.run(peer, options, frames, network, SECONDS[kind], 1 + repeat, kind)), flush=True)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        lab.net_down()
    return 0


def pace(frames):
    """How much slower time passes, and how many runs that makes room for: one takes half a core of the time that it sees, and
    450 MB."""
    if SLOW == 1:
        return 1, 1
    slow = max(1, SLOW * 128 // frames)
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemAvailable"))
    return slow, JOBS or max(1, min(slow * 5 // 4, memory // 450_000))


def worker(number, slow):
    """Starts one in a lab of its own: namespaces, scratch folder, and the shared memory in which jackd counts its servers."""
    scratch = os.path.join(lab.SCR, f"w{number}")
    os.makedirs(scratch, exist_ok=True)
    return subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh", sys.executable, __file__, "--work"],
        env=dict(os.environ, LAB_PREFIX=f"{os.environ.get('LAB_PREFIX', 'lab')}{number}", LAB_SCRATCH=scratch,
                 OMP_NUM_THREADS="1", SLOW=f"{slow}",
                 **({"LD_PRELOAD": f"{lab.BIN}/libslow.so"} if slow > 1 else {})),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)


def ended(run):
    return dict(zip(("peer", "opts", "period", "cond", "kind"), run), time="", error="the lab's worker ended")


def measured(runs, slow, jobs):
    """The figures of each run, as they come; those that no worker is left for are errors."""
    waiting, done = queue.SimpleQueue(), queue.SimpleQueue()
    for run in runs:
        waiting.put(run)

    def serve(process):
        while process.poll() is None:
            try:
                run = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                process.stdin.write(json.dumps(run) + "\n")
                process.stdin.flush()
                done.put(dict(json.loads(process.stdout.readline()), time=time.strftime("%H:%M:%S")))
            except (OSError, ValueError):
                return done.put(ended(run))
        with contextlib.suppress(OSError):
            process.stdin.close()

    workers = [worker(number, slow) for number in range(min(jobs, len(runs)))]
    try:
        threads = [threading.Thread(target=serve, args=(process,), daemon=True) for process in workers]
        for thread in threads:
            thread.start()
        for _ in runs:
            while done.empty() and any(thread.is_alive() for thread in threads):
                time.sleep(1)
            yield ended(waiting.get_nowait()) if done.empty() else done.get_nowait()
    finally:
        for process in workers:
            process.terminate()
        for process in workers:
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose peer, network or frames is this")
    parser.add_argument("--table", action="store_true", help="of the results that are there")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work()
    path = os.path.join(lab.SCR, "rivals.jsonl")
    results = [json.loads(each) for each in open(path)] if options.table and os.path.exists(path) else []
    runs = [] if options.table else [
        (case.peer, case.options, case.frames, case.network, kind, repeat)
        for repeat in range(options.repeat) for case in CASES
        if not options.only or options.only in (case.peer, case.network, f"{case.frames}")
        for kind in case.kinds[:None if repeat == 0 or len(case.kinds) == 1 else -1]]  # speech once
    for frames in sorted({run[2] for run in runs}):
        slow, jobs = pace(frames)
        group = [run for run in runs if run[2] == frames]
        print(f"{len(group)} runs of {frames} frames, {min(jobs, len(group))} at once, each some {slow * 0.6:.0f} min "
              f"as time is {slow} times slower", flush=True, file=sys.stderr)
        for r in measured(group, slow, jobs):
            results.append(r)
            with open(path, "a") as file:
                file.write(json.dumps(r) + "\n")
            print(lab.show(r), f"[{len(results)} of {len(runs)}]", flush=True, file=sys.stderr)
    return 0 if table(results) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *a: sys.exit(1))
    sys.exit(main())
