# SPDX-License-Identifier: Apache-2.0
"""Calls between two JACK servers, measured by Benchmarks/lab in slowed time, all at once.

    jack.py LAB     with the lab's folder, and LAB_BIN, LAB_SCRATCH and LAB_EARSHOT set; prints `scenario` lines
"""
import json
import os
import sys

import slowed

sys.path.insert(0, sys.argv[1])
import rivals  # noqa: E402

# Options, frames, longest median mouth-to-ear delay in ms, and whether glitches count
CASES = [
    ("codec=pcm", 64, 8.0, False),
    ("codec=opus,frame=2.5", 64, 15.0, False),
    ("codec=pcm", 128, 20.0, True),
]


def measured(case, factor):
    options, frames, _, _ = case
    worker = rivals.worker(CASES.index(case), factor)
    try:
        print(json.dumps(("earshot", options, frames, "clean", "both", 0)), file=worker.stdin, flush=True)
        return json.loads(worker.stdout.readline())
    except (OSError, ValueError):
        return {"error": "the lab's worker ended"}
    finally:
        worker.terminate()
        worker.wait()


def judge(case, factor):
    options, frames, longest, clean = case
    r = measured(case, factor)
    if "error" in r:
        return False, False, f"jack {options} at {frames} frames: {r['error']}"
    xruns = sum(int(x) for x in r["xruns"].values())
    median, alone = r.get("m2e_med"), r["glitches_alone"]
    memory = max(r["rss_anon_mb"].get("earshot", [0]))
    good = median is not None and median <= longest and alone is not None and memory < 60 and (not clean or alone == 0)
    heard = "nothing was heard" if median is None else (
        f"mouth to ear median {median:.2f} ms (at most {longest:.0f}), p95 {r['lat']['p95'] + 2e3 * frames / 48000:.2f}")
    return good, xruns > 0, (
        f"jack {options} at {frames} frames: {heard}; glitches {alone} and {sum(d['near_xrun'] for d in r['dirs'].values())} near "
        f"an xrun{' (none but those allowed)' if clean else ''}, {xruns} xruns, RssAnon {memory:.0f} MB")


if __name__ == "__main__":
    os.environ["LAB_SECONDS"] = "10"
    slowed.library(os.environ["LAB_BIN"])
    sys.exit(1 if slowed.judged(CASES, judge) else 0)
