"""Calls between two JACK servers, measured by Benchmarks/lab.

    jack.py LAB_PY     with LAB_BIN, LAB_SCRATCH and LAB_EARSHOT set; prints `scenario` lines
"""
import importlib.util
import sys

ATTEMPTS = 3
SECONDS = 10
# case, longest median from mouth to ear in ms, whether glitches count
CASES = [
    ("earshot", "codec=pcm", 64, 8.0, False),
    ("earshot", "codec=opus,frame=2.5", 64, 15.0, False),
    ("earshot", "codec=pcm", 128, 20.0, True),
]


def main():
    spec = importlib.util.spec_from_file_location("lab", sys.argv[1])
    lab = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lab)
    failed = 0
    try:
        for peer, options, frames, longest, clean in CASES:
            stalled = False
            for n in range(ATTEMPTS):
                r = lab.run(peer, options, frames, "clean", SECONDS, seed=n + 1)
                xruns = sum(int(x) for x in r.get("xruns", {}).values())
                busy = r.get("other_cpu", 0) > 40
                median = r.get("m2e_med")
                memory = max(r.get("rss_anon_mb", {}).get("earshot", [0]))
                alone = r.get("glitches_alone")
                good = (median is not None and median <= longest and alone is not None and memory < 60
                        and (not clean or alone == 0))
                text = r.get("error") or (
                    f"{options} at {frames} frames: mouth to ear median {median:.2f} ms (at most {longest:.0f}), p95 "
                    f"{r['lat']['p95'] + 2e3 * frames / 48000:.2f}; glitches {alone} and "
                    f"{sum(d['near_xrun'] for d in r['dirs'].values())} near an xrun"
                    f"{' (none but those allowed)' if clean else ''}, {xruns} xruns, other CPU {r['other_cpu']} %, "
                    f"RssAnon {memory:.0f} MB")
                if good:
                    break
                stalled |= bool(xruns) or busy
                print(f"scenario again{': the machine stalled' if xruns or busy else ''}: jack {text}", flush=True)
            # A machine that stalled in one of the attempts has not shown what the program can or cannot do.
            failed += not good and not stalled
            verdict = "passed" if good else "undecided, the machine stalled" if stalled else "FAILED"
            print(f"scenario {verdict}: jack {text}", flush=True)
    finally:
        lab.net_down()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
