# SPDX-License-Identifier: Apache-2.0
"""The cases of Benchmarks/lab on virtual time: two calls' ends in step, a network as its `wire` makes it, `earshot simulate`.
Where the lab measures a machine with all that goes on in it, this shows what playout and redundancy make of the network alone.

    lab.py PROGRAM [--check]     prints a table, or `scenario` lines; the status says whether all reach their limits
"""
import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MINUTES = 2
FROM = 10  # seconds until redundancy and the delay have settled


@dataclass(frozen=True)
class Case:
    block: int
    network: str
    options: tuple
    delay: float  # ms from mouth to ear, below
    glitches: float  # a minute at most
    rivals: str  # the lab's figures of others


PCM = ("--codec", "pcm", "--channels", "2")
CASES = [
    Case(64, "clean", PCM + ("--dial", "sing"), 4.5, 0, "zita-njbridge 4.7, JackTrip 5.7 to 6.2, Jamulus raw 5.5 to 7.2"),
    Case(64, "clean", ("--codec", "opus", "--frame", "2.5", "--dial", "sing"), 10.5, 0, "Jamulus 8.7 to 10.4"),
    Case(64, "clean", ("--codec", "opus-custom", "--dial", "sing"), 7.5, 0, "Jamulus 8.7 to 10.4"),
    Case(128, "l1j5", PCM + ("--dial", "sing"), 16.5, 3, "JackTrip 16.5 with 178, 26.3 with 0 to 7; Jamulus raw 18.5 with 165"),
    Case(128, "stall5", PCM + ("--dial", "sing"), 15, 3, "JackTrip 14.5 with 18, 27.0 with 1"),
    Case(128, "l5j20", PCM + ("--dial", "0.15"), 31, 20, "JackTrip 31.7 with 73 to 86"),
]


def wire(network, spacing, at_once, seed):
    """What becomes of packets, so many at once every `spacing` ms: lost at random, held by jitter or stalls, their order kept."""
    source = random.Random(seed)
    share = {"clean": 0, "l1j5": 0.01, "stall5": 0.01, "l5j20": 0.05}[network]
    lines, last, begin, end = [], 0.0, 0.0, 0.0
    for n in range(int(MINUTES * 60_000 / spacing) * at_once):
        sent = n // at_once * spacing
        lost = source.random() < share
        wait = 0.0
        if network in ("l1j5", "l5j20"):
            wait = source.uniform(0, 5 if network == "l1j5" else 20)
        elif network == "stall5":
            while sent >= end:
                begin = end - 100 * math.log(1 - source.random())
                end = begin + source.uniform(0, 5)
            wait = end - sent if sent >= begin else 0
        due = max(sent + wait, last)
        last = last if lost else due
        lines.append("lost" if lost else f"{due - sent:.3f}")
    return "\n".join(lines) + "\n"


def run(job):
    program, folder, case, seed = job
    # A packet a block; where packets are lost, two earlier ones go again with it. (Before redundancy is on there is one, so its
    # lines may straddle two blocks: a copy then comes a block earlier than it would by a wire.)
    at_once = 1 if case.network == "clean" else 3
    trace = Path(folder) / f"{case.block}-{case.network}-{seed}.txt"
    trace.write_text(wire(case.network, case.block / 48, at_once, seed))
    # Crystals as they are: 5 ppm apart, so that the blocks of the two take every place to each other.
    words = [program, "simulate", "--trace", str(trace), "--block", str(case.block), "--duration", f"{MINUTES}m", "--from", str(FROM),
             "--drift", "2.5", "--seed", str(seed), "--json", *case.options]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["streams"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    seeds = range(1, 3 if options.check else 6)
    all_good = True
    if not options.check:
        print("\n## The lab's cases on virtual time: milliseconds from mouth to ear, and glitches a minute\n")
        print("| Frames, network | Call | Mouth to ear, mean (p95) | Glitches a minute | Payload | Limits | Others, in the lab |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor() as pool:
        jobs = [(options.program, scratch, case, seed) for case in CASES for seed in seeds]
        found = list(pool.map(run, jobs))
    for index, case in enumerate(CASES):
        streams = [stream for job, streams in zip(jobs, found) if job[2] == case for stream in streams]
        delay = statistics.mean(s["mouthToEarMs"]["p50"] for s in streams)
        late = max(s["mouthToEarMs"]["p95"] for s in streams)
        glitches = statistics.mean(s["glitchesPerMinute"] for s in streams)
        rate = statistics.mean(s["payloadKilobitsPerSecond"] for s in streams)
        good = delay < case.delay and glitches <= case.glitches
        all_good &= good
        call = " ".join(case.options).replace("--", "")
        if options.check:
            print(f"scenario {'passed' if good else 'FAILED'}: playout: {case.block} frames, {case.network}, {call}: {delay:.2f} ms mouth to "
                  f"ear (below {case.delay}; p95 {late:.2f}), {glitches:.1f} glitches a minute (at most {case.glitches}), "
                  f"{rate:.0f} kb/s", flush=True)
        else:
            print(f"| {case.block}, {case.network} | {call} | {delay:.2f} ({late:.2f}) | {glitches:.1f} | {rate:.0f} kb/s | below "
                  f"{case.delay} ms, at most {case.glitches}{'' if good else ': **missed**'} | {case.rivals} |", flush=True)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
